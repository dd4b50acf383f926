"""The package's one exception."""


class StableGradError(RuntimeError):
    """Bad input or a failing environment. `status` is the C library's code, or None when the
    mistake was found before the library was asked."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


def choose(name, value, choices):
    """The place of `value` in `choices`; an error that lists them if it is none of them."""
    if value not in choices:
        raise StableGradError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return choices.index(value)


def number(name, value):
    """`value` as a float; an error that names it if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise StableGradError(f"{name} is {value!r}; it must be a number") from None
