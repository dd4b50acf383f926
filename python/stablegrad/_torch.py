"""StableGrad for a PyTorch training loop: after loss.backward(), before optimizer.step()."""

import dataclasses
import math
import warnings
import weakref

import torch

from ._capture import Capture, tensors_in
from ._config import make_config
from ._errors import StableGradError, choose, number
from ._handles import Closing
from ._handover import Handover
from ._library import FOREVER, library_found
from ._report import COUNTERS
from ._rules import Moments, counted
from ._torch_backends import CBackend, TorchBackend, block_names, reachable

BACKENDS = ("auto", "c", "torch")


class StableGrad(Closing):
    """Brings every layer's gradient to one common scale, in place.

        sg = StableGrad(model, until=25000)
        ...
        loss.backward()
        sg.apply(outputs)
        optimizer.step()

    model: a torch.nn.Module, whose outputs are then watched by themselves, or an iterable of
        (name, parameter) pairs; then use u = sg.watch(u) on what the network returns.
    reference: "output", "residual", "norm", "inner", or a number.
    blocks: "layer" (a module's own parameters together), "tensor", "weight" (biases untouched),
        "all".
    start, until: active for start <= step < until, counted in calls of apply; None: for ever.
    method: "stablegrad", "none" (statistics and guard only), or a method to compare with: "sign"
        (g <- sign(g)), "znorm" (g <- (g - mean) / std), "agc" (the gradient of each output's
        weights is clipped to `threshold` times their norm, which counts as `floor` at least).
    backend: "c" works in place on CPU tensors, "torch" on any device; "auto" picks per step.
    threads: of the C library; None: as many as torch uses.
    process_group: of torch.distributed, when every rank holds the same averaged gradients, as
        under DistributedDataParallel; apply is then a collective call.
    optimizer: of torch.optim, or a list of them, whose moments are taken care of when the gradients
        change between rescaled and raw at either end of the window.
    handover: how: "convert" takes them to the new units, "keep" leaves them as they are, "restart"
        forgets them.
    """

    def __init__(self, model, reference="output", blocks="layer", eps=1e-8, start=0, until=None,
                 method="stablegrad", backend="auto", threads=None, process_group=None,
                 optimizer=None, handover="convert", threshold=0.01, floor=1e-3):
        self.config = make_config(method, reference, blocks, eps, start, until, handover,
                                  threshold, floor)
        choose("backend", backend, BACKENDS)
        self._backend = backend
        self._threads = threads
        self._names, self._parameters = _named_parameters(model)
        self._handover = Handover(handover, self._names, block_names(blocks, self._names),
                                  _optimizers(optimizer))
        self._group = process_group
        self._ranks = 1 if process_group is None else _world_size(process_group)
        self._backends = {}
        hooked = isinstance(model, torch.nn.Module) and self.config.reference == "output"
        self._capture = Capture(hooked)
        self._hook = None
        self._warned = False  # that a step had no reference
        if hooked:
            this = weakref.ref(self)  # the model must not keep this object alive
            self._hook = model.register_forward_hook(
                lambda _module, _inputs, outputs: _watch_from_hook(this, outputs))
        self.step = 0
        self._counters = dict.fromkeys(COUNTERS, 0)
        self.last = None  # the Report of the last step
        self._closed = False

    # ---- The step ------------------------------------------------------------------------------

    def watch(self, outputs):
        """Watches dL/du of outputs that are not a hooked model's own: u = sg.watch(u), right after
        the forward pass. Returns equal outputs, to be used from there on."""
        if self.config.needs_signal() and self.config.active(self.step):
            return self._capture.watch(outputs)
        return outputs

    def forget(self):
        """Forgets the outputs seen since the last apply, for example of an evaluation that was
        not under torch.no_grad()."""
        self._capture.clear()

    def apply(self, outputs=None, *, residual=None, scale=None, factor=1.0):
        """Measures and scales the gradients of this step in place; returns the Report.

        outputs: the network's outputs (a tensor, or lists of them for several point sets);
            None: every output of the model since the last apply.
        residual: for reference="residual", the weighted residuals r with loss = |r|^2 / 2.
        scale: this step's reference scale itself, in place of either.
        factor: multiplies the signal; with a GradScaler 1/scaler.get_scale(), after its unscale_.

        What the reference does not use is ignored. If a gradient is not finite, every gradient is
        set to None, so that optimizer.step() changes nothing.
        """
        if self._closed:
            raise StableGradError("used after close()")
        try:
            self._check_gradients()
            backend = self._choose_backend()
            signal, scale = self._signal(backend, outputs, residual, scale, factor)
        finally:
            self._capture.clear()
        report = backend.run(self.step, self._parameters, signal, scale)
        if report.outcome == "no reference":
            self._warn()
        if report.skipped:
            for parameter in self._parameters:
                parameter.grad = None
        handed_over = self._handover.step(self.config, report, self._parameters)
        self.last = dataclasses.replace(counted(report, self._counters), handed_over=handed_over)
        self.step += 1
        return self.last

    def _warn(self):
        """Says once why a step was left unscaled: most often apply is in the wrong place."""
        if self._warned:
            return
        self._warned = True
        if all(parameter.grad is None for parameter in self._parameters):
            why = ("no parameter has a gradient: call apply after loss.backward() and before "
                   "optimizer.step()")
        elif self.config.reference == "output":
            why = ("no gradient reached the outputs: either apply was called before "
                   "loss.backward(), or the loss does not depend on them")
        else:
            why = "its reference scale is 0"
        warnings.warn(f"StableGrad left step {self.step} unscaled, because {why}. This is said "
                      'once; report.outcome is "no reference" at every such step.',
                      stacklevel=3)

    def _check_gradients(self):
        for name, parameter in zip(self._names, self._parameters):
            if parameter.grad is not None and parameter.grad.layout != torch.strided:
                raise StableGradError(f"the gradient of '{name}' is sparse; only dense ones can be "
                                      "scaled (for an embedding: sparse=False)")

    def _choose_backend(self):
        all_reachable = all(reachable(p) for p in self._parameters)
        if self._backend == "c" and not all_reachable:
            raise StableGradError('backend="c" needs float32 or float64 parameters on the CPU')
        name = "c" if self._backend != "torch" and all_reachable else "torch"
        if name == "c" and self._backend == "auto" and not library_found():
            name = "torch"
        if name not in self._backends:
            reduce = None if self._group is None else self._reduce
            self._backends[name] = (
                CBackend(self.config, self._names, self._threads, reduce) if name == "c" else
                TorchBackend(self.config, self._names, reduce))
        return self._backends[name]

    def _signal(self, backend, outputs, residual, scale, factor):
        """(Moments of the signal, given scale or None) of this step."""
        if not (self.config.needs_signal() and self.config.active(self.step)):
            return Moments(), None
        if scale is not None:
            scale = number("scale", scale)
            if not (math.isfinite(scale) and scale >= 0):
                raise StableGradError(f"scale is {scale}; it must be finite and >= 0")
            return Moments(), scale
        if self.config.reference == "residual":
            if residual is None:
                raise StableGradError('reference="residual" needs apply(residual=r)')
            pairs = [(t.detach(), t.numel()) for t in tensors_in(residual)]
            # Each rank's |r|^2 / 2 is its own loss; the loss of the group is their average.
            return backend.signal(pairs, factor / math.sqrt(self._ranks)), None
        pairs = self._capture.signal(outputs)
        if not pairs and self._group is None:  # a rank may have none; the group must have one
            raise StableGradError(
                "no output was seen since the last apply: call the model with gradients enabled, "
                "or use u = sg.watch(u) on the network's outputs")
        return backend.signal(pairs, factor / self._ranks), None

    def _reduce(self, values):
        """Sums a float64 NumPy array over the group's ranks, in place."""
        tensor = torch.from_numpy(values)
        if torch.distributed.get_backend(self._group) == "nccl":
            on_device = tensor.cuda()
            torch.distributed.all_reduce(on_device, group=self._group)
            tensor.copy_(on_device)
        else:
            torch.distributed.all_reduce(tensor, group=self._group)

    # ---- Looking, saving, closing --------------------------------------------------------------

    def scales(self):
        """{block: {"std", "factor", "scaled_std"}} of the last step, to log; {} before it."""
        return {} if self.last is None else self.last.scales()

    def state_dict(self):
        """The step number, the counters, and the units that the gradients are in."""
        return {"step": self.step, "counters": dict(self._counters),
                "handover": self._handover.state_dict()}

    def load_state_dict(self, state):
        try:
            step = int(state["step"])
            counters = {name: int(state["counters"][name]) for name in COUNTERS}
        except (KeyError, TypeError, ValueError):
            raise StableGradError("this is not a state_dict of StableGrad") from None
        if step < 0 or min(counters.values()) < 0:
            raise StableGradError("the state_dict has negative numbers")
        self._handover.load_state_dict(state.get("handover", {}))
        self.step, self._counters = step, counters
        self._capture.clear()

    def close(self):
        """Takes the hook off the model and frees the C handles; the gradients stay as they are."""
        self._closed = True
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        for backend in self._backends.values():
            backend.close()
        self._capture.clear()

    def __repr__(self):
        c = self.config
        reference = c.constant if c.reference == "constant" else repr(c.reference)
        until = None if c.until == FOREVER else c.until
        return (f"StableGrad({len(self._names)} parameters, reference={reference}, "
                f"blocks={c.blocks!r}, eps={c.eps}, start={c.start}, until={until}, "
                f"method={c.method!r}, backend={self._backend!r}, step={self.step})")


def _watch_from_hook(reference, outputs):
    this = reference()
    return outputs if this is None else this.watch(outputs)


def _optimizers(given):
    """A tuple of torch optimizers."""
    given = () if given is None else (
        tuple(given) if isinstance(given, (list, tuple)) else (given,))
    for optimizer in given:
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise StableGradError(f"optimizer is {type(optimizer).__name__}; give one of "
                                  "torch.optim, or a list of them")
    return given


def _world_size(group):
    return torch.distributed.get_world_size(group)


def _named_parameters(model):
    """Names and parameters, each parameter once, under its first name."""
    pairs = model.named_parameters() if isinstance(model, torch.nn.Module) else model
    found, names = {}, set()
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], torch.Tensor)):
            raise StableGradError("give a torch.nn.Module, or (name, parameter) pairs such as "
                                  "model.named_parameters()")
        name, parameter = pair
        if not parameter.is_floating_point():
            raise StableGradError(f"'{name}' is {parameter.dtype}; only real floating types can be "
                                  "scaled")
        if name in names:
            raise StableGradError(f"there are two parameters called '{name}'")
        if parameter.numel() > 0 and id(parameter) not in found:
            found[id(parameter)] = (name, parameter)
            names.add(name)
    if not found:
        raise StableGradError("the model has no parameters")
    return [name for name, _ in found.values()], [p for _, p in found.values()]
