"""NumPy arrays described to the C library as named spans of memory."""

import ctypes
from collections.abc import Mapping

import numpy as np

from ._errors import StableGradError, choose
from ._handles import Closing, Handle
from ._library import ROLES, TYPES, Span, library
from ._names import layer_numbers, layer_of, role_of


def check_array(what, array):
    """Refuses what the library cannot work on in place."""
    if not isinstance(array, np.ndarray):
        raise StableGradError(f"{what} must be a NumPy array, not {type(array).__name__}")
    if array.dtype.name not in TYPES or not array.dtype.isnative:
        raise StableGradError(f"{what} is {array.dtype.str}; it must be native float32 or float64")
    if not array.flags.c_contiguous:
        raise StableGradError(f"{what} is not contiguous (use np.ascontiguousarray)")
    if not array.flags.aligned or not array.flags.writeable:
        raise StableGradError(f"{what} must be aligned and writeable")
    if array.size == 0:
        raise StableGradError(f"{what} is empty")
    return array


def check_pair(name, value, gradient):
    """Refuses a value and a gradient that do not belong together."""
    if value is not None and gradient is not None:
        if value.shape != gradient.shape or value.dtype != gradient.dtype:
            raise StableGradError(
                f"'{name}': the value is {value.dtype}{list(value.shape)}, "
                f"the gradient {gradient.dtype}{list(gradient.shape)}")


def rows_of(shape):
    """How many outputs an array belongs to; 0: it is not divided, as a bias."""
    return shape[0] if len(shape) > 1 else 0


class Parameters(Closing):
    """An ordered set of named arrays, shared by the scalers and optimizers made from it.

    `spans` is a dict {name: gradient} or {name: (value, gradient)}, or a list of tuples
    (name, gradient, layer, role), (name, value, gradient) or (name, value, gradient, layer, role).
    Layers are any hashable labels; without them they are the names up to the last dot. The role is
    "weight" or "bias". The arrays are used in place and kept alive.
    """

    def __init__(self, spans):
        entries = [_entry(span) for span in (_from_dict(spans) if isinstance(spans, Mapping)
                                             else spans)]
        if not entries:
            raise StableGradError("there are no parameters")
        lib = library()
        self._handle = Handle(lambda out: lib.sg_params_create(out, None), lib.sg_params_destroy)
        self.names = [entry[0] for entry in entries]
        self._arrays = []
        numbers = layer_numbers([entry[3] for entry in entries])
        for (name, value, gradient, _, role), layer in zip(entries, numbers):
            self._add(name, value, gradient, layer, role)

    def _add(self, name, value, gradient, layer, role):
        model = value if value is not None else gradient
        if model is None:
            raise StableGradError(f"'{name}' has neither a value nor a gradient")
        _check(name, value, gradient)
        span = Span(name.encode(), _address(value), _address(gradient), model.size,
                    TYPES.index(model.dtype.name), layer, choose(f"role of '{name}'", role, ROLES),
                    rows_of(model.shape))
        library().sg_params_add(self.pointer, ctypes.byref(span))
        self._arrays.append((value, gradient, model.shape, model.dtype))

    @property
    def pointer(self):
        return self._handle.pointer

    def __len__(self):
        return len(self.names)

    def index(self, name):
        """The place of the span of that name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise StableGradError(f"there is no parameter '{name}'") from None

    def bind(self, name, gradient):
        """Points a parameter at another gradient of the same shape and type; None: no gradient
        until the next bind, the parameter is passed over."""
        i = self.index(name)
        value, _, shape, dtype = self._arrays[i]
        if gradient is not None:
            check_array(f"the gradient of '{name}'", gradient)
            if gradient.shape != shape or gradient.dtype != dtype:
                raise StableGradError(
                    f"the gradient of '{name}' is {gradient.dtype}{list(gradient.shape)}; "
                    f"it was {dtype}{list(shape)}")
        library().sg_params_bind(self.pointer, i, _address(value), _address(gradient))
        self._arrays[i] = (value, gradient, shape, dtype)

    def close(self):
        """Frees the C handle; scalers and optimizers made from it must be closed already."""
        self._handle.close()


def as_parameters(spans):
    """`spans` if it is a Parameters already, else one made from it."""
    return spans if isinstance(spans, Parameters) else Parameters(spans)


def _from_dict(spans):
    for name, arrays in spans.items():
        value, gradient = arrays if isinstance(arrays, tuple) else (None, arrays)
        yield name, value, gradient


def _entry(span):
    """(name, value, gradient, layer, role) from any of the accepted tuples."""
    if len(span) == 3:
        name, value, gradient = span
        return name, value, gradient, layer_of(name) or name, role_of(name)
    if len(span) == 4:
        name, gradient, layer, role = span
        return name, None, gradient, layer, role
    if len(span) == 5:
        return tuple(span)
    raise StableGradError("a span is (name, gradient, layer, role), (name, value, gradient) or "
                          f"(name, value, gradient, layer, role), not {len(span)} items")


def _check(name, value, gradient):
    if value is not None:
        check_array(f"the value of '{name}'", value)
    if gradient is not None:
        check_array(f"the gradient of '{name}'", gradient)
    check_pair(name, value, gradient)


def _address(array):
    return None if array is None else array.ctypes.data
