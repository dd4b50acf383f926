"""The two ways the torch plug-in measures and scales: the C library in place on CPU tensors, and
torch operations for everything else. Both give the same reports and the same gradients."""

import ctypes
import math

import torch

from . import _library as c
from . import _rules as rules
from ._handles import Handle, make_pool, pointer_of
from ._names import layer_numbers, layer_of, role_of
from ._parameters import rows_of
from ._report import report_from_c
from ._scaler import Reduction, c_config

C_TYPES = {torch.float32: c.TYPES.index("float32"), torch.float64: c.TYPES.index("float64")}


def reachable(tensor):
    """Whether the C library can work on the tensor's memory."""
    return tensor.device.type == "cpu" and tensor.dtype in C_TYPES


def is_dense(tensor):
    """Whether the elements fill one stretch of memory in some order, as in channels_last. The
    statistics and the scaling do not depend on the order."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


class CBackend:
    """The C library. Handles are made for the tensors' types and counts, and made again when those
    change (model.double())."""

    def __init__(self, config, names, threads, reduce):
        self._config = config
        self._names = names
        self._layers = layer_numbers([layer_of(name) for name in names])
        self._pool = make_pool(threads if threads is not None else torch.get_num_threads())
        self._reduction = Reduction(reduce)
        self._shapes = None
        self._params = self._scaler = None
        self._values = None  # of AGC, alive while the library may look at them

    def close(self):
        for handle in (self._scaler, self._params, self._pool):
            if handle is not None:
                handle.close()

    def signal(self, pairs, factor):
        """Moments of (gradient or None, count) pairs, times `factor`."""
        total = rules.Moments()
        for gradient, count in pairs:
            if gradient is None:
                total.merge(rules.Moments(count))
                continue
            values = gradient if reachable(gradient) else gradient.double().cpu()
            values = values if is_dense(values) else values.contiguous()
            one = c.Moments()
            c.library().sg_moments_add(ctypes.byref(one), values.data_ptr(),
                                       C_TYPES[values.dtype], values.numel(), factor)
            total.merge(one)
        return total

    def run(self, step, parameters, signal, scale):
        """Measures the parameters' gradients and scales them in place; the report."""
        lib = c.library()
        self._make(parameters)
        scaler = self._scaler.pointer
        copies = self._bind(parameters)
        moments = c.Moments(signal.count, signal.mean, signal.m2)
        lib.sg_scaler_observe_moments(scaler, ctypes.byref(moments))
        if scale is not None:
            lib.sg_scaler_observe_scale(scaler, scale)
        try:
            lib.sg_scaler_measure(scaler, step)
        finally:
            self._reduction.reraise()
        lib.sg_scaler_apply(scaler)
        report = report_from_c(lib.sg_scaler_report(scaler).contents)
        if report.outcome == "scaled":
            for parameter, values in copies:
                parameter.grad = values
        return report

    def _make(self, parameters):
        shapes = [(C_TYPES[p.dtype], p.numel()) for p in parameters]
        if shapes == self._shapes:
            return
        lib = c.library()
        params = Handle(lambda out: lib.sg_params_create(out, None), lib.sg_params_destroy)
        for name, layer, (kind, count), parameter in zip(self._names, self._layers, shapes,
                                                         parameters):
            value = parameter.data_ptr() if self._config.method == "agc" else None
            span = c.Span(name.encode(), value, None, count, kind, layer,
                          c.ROLES.index(role_of(name)), rows_of(parameter.shape))
            lib.sg_params_add(params.pointer, ctypes.byref(span))
        settings = c_config(self._config, self._reduction.callback)
        scaler = Handle(
            lambda out: lib.sg_scaler_create(out, params.pointer, ctypes.byref(settings),
                                             pointer_of(self._pool), None),
            lib.sg_scaler_destroy, params, self._pool, self._reduction)
        self._params, self._scaler, self._shapes = params, scaler, shapes

    def _bind(self, parameters):
        """Points the library at the gradients. Returns (parameter, copy) for those that do not
        fill their memory, such as expanded ones: the copy is scaled in their place."""
        bind, params = c.library().sg_params_bind, self._params.pointer
        rows = self._config.method == "agc"  # the only method to which the order matters
        self._values = [p.detach().contiguous() for p in parameters] if rows else None
        copies = []
        for i, parameter in enumerate(parameters):
            values = parameter.grad
            if values is not None and not (values.is_contiguous() if rows else is_dense(values)):
                values = values.contiguous()
                copies.append((parameter, values))
            bind(params, i, self._values[i].data_ptr() if rows else None,
                 None if values is None else values.data_ptr())
        return copies


class TorchBackend:
    """Torch operations on any device and any floating type; statistics in float64."""

    def __init__(self, config, names, reduce):
        self._config = config
        self._reduce = reduce
        self._roles = [role_of(name) for name in names]
        self._block_names = block_names(config.blocks, names)

    def close(self):
        pass

    def signal(self, pairs, factor):
        """Moments of (gradient or None, count) pairs, times `factor`."""
        total = rules.Moments()
        measured = iter(_moments([g for g, _ in pairs if g is not None]))
        for gradient, count in pairs:
            one = rules.Moments(count) if gradient is None else next(measured)
            total.merge(rules.Moments(one.count, one.mean * factor, one.m2 * factor * factor))
        return total

    def run(self, step, parameters, signal, scale):
        """Measures the parameters' gradients and scales them in place; the report."""
        blocks = self._blocks(parameters)
        report = rules.measure(self._config, step, list(blocks.values()), signal, scale,
                               self._reduce_list if self._reduce else None)
        if report.outcome == "scaled" and self._config.method == "agc":
            return self._clip(report, blocks, parameters)
        if report.outcome == "scaled":
            factors = {b.name: b.factor for b in report.blocks}
            for name, parameter in zip(self._block_names, parameters):
                if parameter.grad is not None:
                    self._scale(parameter, blocks[name], factors[name])
        return report

    def _clip(self, report, blocks, parameters):
        """AGC: clips the gradients row by row; the report with what is left of each block."""
        left = dict.fromkeys(blocks, 0.0)
        for name, parameter in zip(self._block_names, parameters):
            if parameter.grad is not None and blocks[name].touched:
                left[name] += self._clip_rows(parameter)
        factors = [math.sqrt(left[b.name] / b.moments.norm2())
                   if b.touched and left[b.name] < b.moments.norm2() else 1.0
                   for b in blocks.values()]
        return rules.with_factors(report, list(blocks.values()), factors)

    def _clip_rows(self, parameter):
        """|g|^2 of what is left."""
        config, gradient = self._config, parameter.grad
        rows = max(rows_of(gradient.shape), 1)
        with torch.no_grad():
            norms = gradient.double().reshape(rows, -1).norm(dim=1)
            most = parameter.double().reshape(rows, -1).norm(dim=1)
            most = config.threshold * most.clamp(min=config.floor)
            clipped = torch.isfinite(most) & (norms > most)
            factors = torch.where(clipped, most / norms, torch.ones_like(norms))
            if bool(clipped.any()):
                shape = (-1,) + (1,) * (gradient.dim() - 1) if rows > 1 else (1,) * gradient.dim()
                scaled = gradient.double().mul_(factors.reshape(shape)).to(gradient.dtype)
                parameter.grad = scaled
            return float((factors * norms).square().sum())

    def _blocks(self, parameters):
        """This step's blocks by name, in the order of the parameters."""
        blocks = {}
        measured = iter(_moments([p.grad for p in parameters if p.grad is not None]))
        for name, role, parameter in zip(self._block_names, self._roles, parameters):
            limits = _range(parameter.dtype)
            block = blocks.setdefault(
                name, rules.Block(name, True, limits, rules.Moments()))
            block.touched = not (self._config.blocks == "weight" and role == "bias")
            block.range = min(block.range, limits, key=lambda r: r.largest)
            if parameter.grad is not None:
                block.moments.merge(next(measured))
        return blocks

    def _scale(self, parameter, block, factor):
        sign = self._config.method == "sign" and block.touched
        centred = self._config.method == "znorm" and block.scalable(1.0, self._config.eps)
        if not sign and not centred and factor == 1:
            return
        gradient = parameter.grad
        if not is_dense(gradient):  # an expanded one cannot be written in place
            parameter.grad = gradient = gradient.contiguous()
        with torch.no_grad():
            if sign:
                gradient.sign_()
            elif centred:
                gradient.copy_(gradient.double().sub_(block.centre()).mul_(factor))
            elif torch.finfo(gradient.dtype).bits < 32:  # a 16-bit factor would be too coarse
                gradient.copy_(gradient.float().mul_(factor))
            else:
                gradient.mul_(factor)

    def _reduce_list(self, values):
        tensor = torch.tensor(values, dtype=torch.float64)
        self._reduce(tensor.numpy())
        return tensor.tolist()


def _moments(tensors):
    """The Moments of each tensor, computed where it lies, with one transfer per device."""
    by_device = {}
    for i, tensor in enumerate(tensors):
        x = tensor.detach().double()
        mean = x.mean()
        m2 = (x - mean).square().sum()
        by_device.setdefault(tensor.device, []).append((i, torch.stack((mean, m2))))
    result = [None] * len(tensors)
    for pairs in by_device.values():
        numbers = torch.stack([pair for _, pair in pairs]).tolist()
        for (i, _), (mean, m2) in zip(pairs, numbers):
            result[i] = rules.Moments(tensors[i].numel(), mean, m2)
    return result


def _range(dtype):
    """What elements of the type hold; 16-bit ones are multiplied in float32."""
    values = torch.finfo(dtype)
    factor = torch.finfo(torch.float32) if values.bits < 32 else values
    return rules.Range(values.max, factor.tiny, factor.max)


def block_names(blocks, names):
    """The block of each parameter. The model's own parameters are one layer, called by the first
    of them."""
    if blocks == "all":
        return ["all"] * len(names)
    if blocks != "layer":
        return list(names)
    root = next((name for name in names if not layer_of(name)), None)
    return [layer_of(name) or root for name in names]
