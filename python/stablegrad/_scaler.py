"""StableGrad over NumPy arrays: measure the gradients, then scale them in place."""

import ctypes

import numpy as np

from ._config import make_config
from ._errors import choose, number
from ._handles import Closing, Handle, make_pool, pointer_of
from ._library import BLOCKS, HANDOVERS, ISAS, METHODS, OUTCOMES, REFERENCES, SHARDINGS, TYPES
from ._library import Moments, ReduceFunction, library
from ._parameters import as_parameters
from ._report import COUNTERS, report_from_c


def c_config(config, reduce, sharding="replicated", isa="auto"):
    """An sg_scale_config; `reduce` is a ReduceFunction, which the caller keeps alive."""
    result = library().sg_scale_defaults()
    result.method = METHODS.index(config.method)
    result.reference = REFERENCES.index(config.reference)
    result.blocks = BLOCKS.index(config.blocks)
    result.constant, result.eps = config.constant, config.eps
    result.start, result.until = config.start, config.until
    result.threshold, result.floor = config.threshold, config.floor
    result.handover = HANDOVERS.index(config.handover)
    result.reduce = reduce
    result.sharding = choose("sharding", sharding, SHARDINGS)
    result.isa = choose("isa", isa, ISAS)
    return result


class Reduction:
    """A Python function that sums an array over all ranks in place, as C calls it.

    An exception cannot pass through C: it is kept, C sees a failure, and `reraise` throws it."""

    def __init__(self, function):
        self._function = function
        self._error = None
        self.callback = ReduceFunction(self._call) if function else ReduceFunction()

    def _call(self, _context, values, count):
        try:
            self._function(np.ctypeslib.as_array(values, (count,)))
            return 0
        except BaseException as error:  # not only Exception: nothing may cross the C frames
            self._error = error
            return 1

    def reraise(self):
        error, self._error = self._error, None
        if error is not None:
            raise error


class Scaler(Closing):
    """StableGrad over a Parameters, or over spans as Parameters takes them.

    A step is: observe the signal (once for each point set), measure(step), apply(), or hand the
    scaler to Optimizer.step, which multiplies inside its own pass.

    `reference` is "output", "residual", "norm", "inner" or a number; `blocks` is "layer", "tensor",
    "weight" or "all"; active for start <= step < until. `handover` is "convert", "keep" or
    "restart": what an Optimizer does with its moments when the gradients change units at either
    end of that window. `threads` 0: one for each processor.
    `method` is "stablegrad", "sign", "none", "znorm" or "agc", whose `threshold` and `floor` are.
    `reduce`, for several ranks, sums a float64 array over all ranks in place.
    """

    def __init__(self, parameters, *, reference="output", blocks="layer", eps=1e-8, start=0,
                 until=None, method="stablegrad", handover="convert", threads=1, isa="auto",
                 reduce=None, sharding="replicated", threshold=0.01, floor=1e-3):
        self.parameters = as_parameters(parameters)
        self.config = make_config(method, reference, blocks, eps, start, until, handover,
                                  threshold, floor)
        self._reduction = Reduction(reduce)
        self._pool = make_pool(threads)
        lib = library()
        settings = c_config(self.config, self._reduction.callback, sharding, isa)
        self._handle = Handle(
            lambda out: lib.sg_scaler_create(out, self.parameters.pointer, ctypes.byref(settings),
                                             pointer_of(self._pool), None),
            lib.sg_scaler_destroy, self.parameters, self._pool, self._reduction)

    @property
    def pointer(self):
        return self._handle.pointer

    def observe(self, signal, factor=1.0):
        """Adds this step's signal: dL/du at the outputs or the weighted residuals, as an array,
        times `factor`; or this step's reference scale itself, as a number."""
        if np.ndim(signal) == 0:
            scale = number("the scale", signal) * factor
            library().sg_scaler_observe_scale(self.pointer, scale)
            return
        values = np.ascontiguousarray(signal)
        if values.dtype.name not in TYPES:
            values = values.astype(np.float64)
        library().sg_scaler_observe(self.pointer, values.ctypes.data,
                                    TYPES.index(values.dtype.name), values.size, factor)

    def observe_zeros(self, count):
        """Adds `count` zeros to the signal: outputs that the loss does not touch."""
        moments = Moments(count, 0, 0)
        library().sg_scaler_observe_moments(self.pointer, ctypes.byref(moments))

    def measure(self, step):
        """Computes the statistics, the reference scale and the factors of step `step`, counted
        from 0; returns the report."""
        try:
            library().sg_scaler_measure(self.pointer, step)
        finally:
            self._reduction.reraise()
        return self.report

    def apply(self):
        """Multiplies the gradients in place; nothing is done unless the outcome is "scaled"."""
        library().sg_scaler_apply(self.pointer)

    @property
    def report(self):
        """The Report of the last measured step."""
        return report_from_c(library().sg_scaler_report(self.pointer).contents)

    def set_counters(self, counters):
        """Sets the report's counters when a run is resumed: a dict of COUNTERS' names."""
        values = (ctypes.c_uint64 * len(OUTCOMES))(*(counters[name] for name in COUNTERS))
        library().sg_scaler_set_counters(self.pointer, values)

    def close(self):
        self._handle.close()
        if self._pool is not None:
            self._pool.close()
