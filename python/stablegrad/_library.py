"""The C library: where it is found, and its functions and structs as ctypes sees them.

The structs mirror include/stablegrad/*.h field by field. They may change between minor versions,
so a library of another minor version is refused.
"""

import ctypes
import ctypes.util
import functools
import os
import warnings
from collections.abc import Sequence
from ctypes import POINTER, Structure
from ctypes import c_bool, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path

from ._errors import StableGradError
from ._version import __version__

FOREVER = 2**64 - 1


class Names(Sequence):
    """The names of a C enumeration in the order of its values, asked of the library when they are
    first looked at."""

    def __init__(self, function):
        self._function = function

    @functools.cached_property
    def _names(self):
        return _names_of(getattr(library(), self._function))

    def __getitem__(self, index):
        return self._names[index]

    def __len__(self):
        return len(self._names)


def _names_of(function):
    names = []
    while function(len(names)) != b"unknown":
        names.append(function(len(names)).decode())
    return tuple(names)


SHARDINGS = Names("sg_sharding_name")
ROLES = Names("sg_role_name")
OPTIMIZERS = Names("sg_optim_name")
ISAS = Names("sg_isa_name")

# What the rules written in Python (_rules.py) do themselves, without the library; a library that
# has other names is refused.
METHODS = ("stablegrad", "sign", "none", "znorm", "agc")
REFERENCES = ("output", "residual", "norm", "inner", "constant")
BLOCKS = ("layer", "tensor", "weight", "all")
HANDOVERS = ("convert", "keep", "restart")
TYPES = ("float32", "float64")
OUTCOMES = ("scaled", "inactive", "no reference", "not finite")
_KNOWN = {"sg_method_name": METHODS, "sg_reference_name": REFERENCES, "sg_blocks_name": BLOCKS,
          "sg_handover_name": HANDOVERS, "sg_type_name": TYPES, "sg_outcome_name": OUTCOMES}

ReduceFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_double), c_size_t)


class Span(Structure):
    _fields_ = [("name", c_char_p), ("value", c_void_p), ("gradient", c_void_p),
                ("count", c_size_t), ("type", c_int), ("layer", c_int), ("role", c_int),
                ("rows", c_size_t)]


class Moments(Structure):
    _fields_ = [("count", c_double), ("mean", c_double), ("m2", c_double)]


class ScaleConfig(Structure):
    _fields_ = [("method", c_int), ("reference", c_int), ("blocks", c_int),
                ("constant", c_double), ("eps", c_double), ("start", c_uint64),
                ("until", c_uint64), ("handover", c_int), ("reduce", ReduceFunction),
                ("reduce_context", c_void_p), ("sharding", c_int), ("isa", c_int),
                ("threshold", c_double), ("floor", c_double), ("scalars", c_bool)]


class BlockReport(Structure):
    _fields_ = [("name", c_char_p), ("count", c_size_t), ("std", c_double), ("norm2", c_double),
                ("factor", c_double), ("scaled_std", c_double), ("finite", c_bool)]


class ScaleReport(Structure):
    _fields_ = [("step", c_uint64), ("outcome", c_int), ("reference", c_double),
                ("ratio_raw", c_double), ("ratio_scaled", c_double), ("block_count", c_size_t),
                ("blocks", POINTER(BlockReport)), ("signal_finite", c_bool),
                ("steps_scaled", c_uint64), ("steps_inactive", c_uint64),
                ("steps_no_reference", c_uint64), ("steps_not_finite", c_uint64)]


class ScheduleTerm(Structure):
    _fields_ = [("kind", c_int), ("start", c_uint64), ("until", c_uint64), ("value", c_double)]


class OptimConfig(Structure):
    _fields_ = [("kind", c_int), ("rate", c_double), ("beta1", c_double), ("beta2", c_double),
                ("eps", c_double), ("decay", c_double), ("momentum", c_double),
                ("dampening", c_double), ("nesterov", c_bool), ("clip_norm", c_double),
                ("schedule", POINTER(ScheduleTerm)), ("schedule_count", c_size_t), ("isa", c_int),
                ("groups", c_size_t), ("refresh", c_size_t)]


class StepInfo(Structure):
    _fields_ = [("step", c_uint64), ("skipped", c_bool), ("rate", c_double),
                ("gradient_norm", c_double), ("clip_factor", c_double), ("rescaled", c_bool),
                ("handed_over", c_bool)]


_handle, _out = c_void_p, POINTER(c_void_p)

# name: (result, arguments). A c_int result is a status unless the name is in _PLAIN_INT.
_FUNCTIONS = {
    "sg_version": (c_char_p, []),
    "sg_status_text": (c_char_p, [c_int]),
    "sg_method_name": (c_char_p, [c_int]),
    "sg_reference_name": (c_char_p, [c_int]),
    "sg_blocks_name": (c_char_p, [c_int]),
    "sg_handover_name": (c_char_p, [c_int]),
    "sg_sharding_name": (c_char_p, [c_int]),
    "sg_role_name": (c_char_p, [c_int]),
    "sg_type_name": (c_char_p, [c_int]),
    "sg_outcome_name": (c_char_p, [c_int]),
    "sg_optim_name": (c_char_p, [c_int]),
    "sg_isa_name": (c_char_p, [c_int]),
    "sg_params_create": (c_int, [_out, c_void_p]),
    "sg_params_destroy": (None, [_handle]),
    "sg_params_add": (c_int, [_handle, POINTER(Span)]),
    "sg_params_bind": (c_int, [_handle, c_size_t, c_void_p, c_void_p]),
    "sg_pool_create": (c_int, [_out, c_int, c_void_p]),
    "sg_pool_destroy": (None, [_handle]),
    "sg_pool_threads": (c_int, [_handle]),
    "sg_moments_add": (None, [POINTER(Moments), c_void_p, c_int, c_size_t, c_double]),
    "sg_moments_std": (c_double, [POINTER(Moments)]),
    "sg_scale_defaults": (ScaleConfig, []),
    "sg_scaler_create": (c_int, [_out, _handle, POINTER(ScaleConfig), _handle, c_void_p]),
    "sg_scaler_destroy": (None, [_handle]),
    "sg_scaler_observe": (c_int, [_handle, c_void_p, c_int, c_size_t, c_double]),
    "sg_scaler_observe_moments": (c_int, [_handle, POINTER(Moments)]),
    "sg_scaler_observe_scale": (c_int, [_handle, c_double]),
    "sg_scaler_measure": (c_int, [_handle, c_uint64]),
    "sg_scaler_apply": (c_int, [_handle]),
    "sg_scaler_report": (POINTER(ScaleReport), [_handle]),
    "sg_scaler_set_counters": (None, [_handle, POINTER(c_uint64)]),
    "sg_schedule_constant": (ScheduleTerm, [c_double]),
    "sg_schedule_cosine": (ScheduleTerm, [c_uint64, c_uint64, c_double]),
    "sg_schedule_warmup": (ScheduleTerm, [c_uint64, c_double]),
    "sg_schedule_interval": (ScheduleTerm, [c_uint64, c_uint64, c_double]),
    "sg_schedule_factor": (c_double, [POINTER(ScheduleTerm), c_size_t, c_uint64]),
    "sg_optim_defaults": (OptimConfig, [c_int]),
    "sg_optim_create": (c_int, [_out, _handle, POINTER(OptimConfig), _handle, c_void_p]),
    "sg_optim_destroy": (None, [_handle]),
    "sg_optim_step": (c_int, [_handle, _handle, POINTER(StepInfo)]),
    "sg_optim_handover": (c_int, [_handle, _handle, POINTER(c_bool)]),
    "sg_optim_steps": (c_uint64, [_handle]),
    "sg_optim_skipped": (c_uint64, [_handle]),
    "sg_optim_rate": (c_double, [_handle]),
    "sg_optim_set_rate": (c_int, [_handle, c_double]),
    "sg_optim_set_rate_factor": (c_int, [_handle, c_size_t, c_double]),
    "sg_optim_state": (c_void_p, [_handle, POINTER(c_size_t)]),
    "sg_optim_restore": (c_int, [_handle, c_void_p, c_size_t]),
}
_PLAIN_INT = {"sg_pool_threads"}


class NotFound(StableGradError):
    """There is no library at all; one that is there and does not fit is another error."""


@functools.lru_cache(maxsize=None)
def library_found():
    """Whether there is a library; says once if not."""
    try:
        library()
    except NotFound as error:
        warnings.warn(f'{error}. Until then backend="auto" uses torch operations, which give the '
                      "same results more slowly.", stacklevel=2)
        return False
    return True


def _candidates():
    """Where the library may be, first choice first. A path must exist; a bare name is given to
    the system's loader."""
    package = Path(__file__).resolve().parent
    names = ("libstablegrad.so", "libstablegrad.dylib")
    for folder in (package, package.parents[1] / "build" / "release" / "src"):
        for name in names:
            if (folder / name).exists():
                yield str(folder / name)
    found = ctypes.util.find_library("stablegrad")
    if found:
        yield found
    yield "libstablegrad.so.0"


def _open():
    given = os.environ.get("STABLEGRAD_LIBRARY")
    if given:
        try:
            return ctypes.CDLL(given)
        except OSError as error:
            raise StableGradError(f"STABLEGRAD_LIBRARY={given}: {error}") from None
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise NotFound(
        "libstablegrad was not found: set STABLEGRAD_LIBRARY to the path of libstablegrad.so, or "
        "build it in the checkout (cmake --preset release && cmake --build --preset release) and "
        "install the package again (pip install ./python)")


def _raise_on_error(result, function, _arguments):
    if result != 0:
        text = library().sg_status_text(result).decode()
        raise StableGradError(f"{text} ({function.__name__})", result)
    return result


@functools.lru_cache(maxsize=None)
def library():
    """The loaded library. Its functions that return a status raise StableGradError instead."""
    lib = _open()
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise StableGradError(f"the library {lib._name} has no function {name}") from None
        function.restype, function.argtypes = result, arguments
        if result is c_int and name not in _PLAIN_INT:
            function.errcheck = _raise_on_error
    version = lib.sg_version().decode()
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise StableGradError(
            f"the library {lib._name} is version {version}, this package needs {__version__}")
    for name, known in _KNOWN.items():
        theirs = _names_of(getattr(lib, name))
        if theirs != known:
            raise StableGradError(f"the library {lib._name} has {', '.join(theirs)} ({name}), this "
                                  f"package {', '.join(known)}")
    return lib
