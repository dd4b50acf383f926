"""What a parameter's name says about it."""


def layer_of(name):
    """The module path: "net.0.weight" -> "net.0"; "" for a parameter of the model itself."""
    return name.rpartition(".")[0]


def role_of(name):
    """"bias" for bias, in_proj_bias, bias_ih_l0 and the like, else "weight"."""
    last = name.rpartition(".")[2]
    is_bias = last == "bias" or last.endswith("_bias") or last.startswith("bias_")
    return "bias" if is_bias else "weight"


def layer_numbers(layers):
    """A number for each entry, equal for equal layers, counted in order of appearance."""
    numbers = {}
    return [numbers.setdefault(layer, len(numbers)) for layer in layers]
