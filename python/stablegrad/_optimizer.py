"""AdamW, Adam, SGD, LAMB, NovoGrad and Adam-mini over NumPy arrays, in place."""

import ctypes
import dataclasses

from ._errors import StableGradError, choose
from ._handles import Closing, Handle, make_pool, pointer_of
from ._library import ISAS, OPTIMIZERS, StepInfo, library
from ._parameters import as_parameters
from .schedule import term_array


@dataclasses.dataclass(frozen=True)
class Step:
    """What one step of an optimizer did."""

    step: int  # counted from 0; skipped steps count too
    skipped: bool  # nothing was changed but the step number: a gradient was not finite
    rate: float  # learning rate with the schedule
    gradient_norm: float  # global norm, scaled, before clipping; 0 when it was not needed
    clip_factor: float
    rescaled: bool  # the moments are in the units of rescaled gradients
    handed_over: bool  # that changed with this step


class Optimizer(Closing):
    """`kind` is "adamw", "adam" or "sgd" with PyTorch's semantics and defaults, or "lamb",
    "novograd", "adam-mini", "multiadam" or "soap" with their authors'; `parameters` is a
    Parameters, or spans as it takes them, each with a value. "multiadam" has one group of losses
    here, which makes it an AdamW with other betas.

    Options: rate, beta1, beta2, eps, decay, momentum, dampening, nesterov, clip_norm (0: off),
    refresh (of soap, in steps).
    `schedule` is a list of terms, see the module `schedule`.
    """

    _OPTIONS = ("rate", "beta1", "beta2", "eps", "decay", "momentum", "dampening", "nesterov",
                "clip_norm", "refresh")

    def __init__(self, parameters, kind="adamw", *, schedule=(), threads=1, isa="auto", **options):
        lib = library()
        config = lib.sg_optim_defaults(choose("kind", kind, OPTIMIZERS))
        for name, value in options.items():
            choose("an option", name, self._OPTIONS)
            setattr(config, name, value)
        terms = term_array(schedule)
        config.schedule, config.schedule_count = terms, len(terms)
        config.isa = choose("isa", isa, ISAS)
        self.parameters = as_parameters(parameters)
        self._pool = make_pool(threads)
        self._handle = Handle(
            lambda out: lib.sg_optim_create(out, self.parameters.pointer, ctypes.byref(config),
                                            pointer_of(self._pool), None),
            lib.sg_optim_destroy, self.parameters, self._pool)

    @property
    def pointer(self):
        return self._handle.pointer

    def step(self, scaler=None):
        """Takes one step, with the factors of a Scaler that has measured it; returns a Step."""
        info = StepInfo()
        library().sg_optim_step(self.pointer, pointer_of(scaler), ctypes.byref(info))
        return Step(info.step, info.skipped, info.rate, info.gradient_norm, info.clip_factor,
                    info.rescaled, info.handed_over)

    def handover(self, scaler=None):
        """Takes the moments to the units of the step that `scaler` has measured, or of raw
        gradients; `step` does it by itself with a scaler. Returns whether the units changed."""
        changed = ctypes.c_bool()
        library().sg_optim_handover(self.pointer, pointer_of(scaler), ctypes.byref(changed))
        return changed.value

    @property
    def steps(self):
        """How many steps were taken or skipped so far."""
        return library().sg_optim_steps(self.pointer)

    @property
    def skipped(self):
        return library().sg_optim_skipped(self.pointer)

    @property
    def rate(self):
        """The learning rate of the next step, with the schedule. Set it to change the base."""
        return library().sg_optim_rate(self.pointer)

    @rate.setter
    def rate(self, value):
        library().sg_optim_set_rate(self.pointer, value)

    def set_rate_factor(self, name, factor):
        """Multiplies the learning rate of one parameter; 0 freezes it."""
        library().sg_optim_set_rate_factor(self.pointer, self.parameters.index(name), factor)

    def state(self):
        """Step counts and moment estimates as bytes, in this machine's byte order."""
        size = ctypes.c_size_t()
        address = library().sg_optim_state(self.pointer, ctypes.byref(size))
        return ctypes.string_at(address, size.value)

    def restore(self, state):
        """Copies back what `state()` returned."""
        if not isinstance(state, (bytes, bytearray)):
            raise StableGradError(f"state must be bytes, not {type(state).__name__}")
        library().sg_optim_restore(self.pointer, bytes(state), len(state))

    def close(self):
        self._handle.close()
        if self._pool is not None:
            self._pool.close()
