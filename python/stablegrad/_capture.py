"""Catching dL/du, the gradient of the loss at the network's outputs.

A hook on each output sees every backward pass that goes through it. A PINN's derivatives u_x, u_xx
come from such passes too, made with create_graph=True: those are not the loss, and are told apart
by the gradient mode, which is on inside the hook for them and off in the final loss.backward().

The loop is given a view of each output, and the hook is on the view. A last layer such as tanh
saves its result for the backward pass, so u_x depends on it; through the view only the loss's own
use of u is seen.
"""

import weakref
from collections.abc import Mapping

import torch

from ._errors import StableGradError


class _Watched:
    """One output: how many values it has, and the gradient that has reached it so far."""

    __slots__ = ("tensor", "count", "gradient")

    def __init__(self, tensor):
        self.tensor = weakref.ref(tensor)
        self.count = tensor.numel()
        self.gradient = None

    def add(self, gradient):
        if torch.is_grad_enabled():
            return
        gradient = gradient.detach()
        self.gradient = gradient if self.gradient is None else self.gradient + gradient


class Capture:
    """The outputs seen since the last clear(). `hooked`: a model shows all of its outputs."""

    def __init__(self, hooked=False):
        self._watched = []
        self._hooked_model = hooked

    def watch(self, outputs):
        """Hooks every output that requires a gradient; returns the outputs to use instead. Lists,
        tuples and dicts are made again; containers of other types keep their tensors, without the
        views."""
        return self._replace(outputs, {})

    def _replace(self, outputs, views):
        if isinstance(outputs, torch.Tensor):
            if id(outputs) not in views:
                views[id(outputs)] = self._hooked(outputs)
            return views[id(outputs)]
        if type(outputs) in (list, tuple):
            return type(outputs)([self._replace(part, views) for part in outputs])
        if type(outputs) is dict:
            return {key: self._replace(part, views) for key, part in outputs.items()}
        for tensor in tensors_in(outputs):
            self._hook(tensor)
        return outputs

    def _hooked(self, tensor):
        """A view of the tensor, hooked; the tensor itself when it needs none."""
        if not tensor.requires_grad or self._find(tensor) is not None:
            return tensor
        view = tensor.view_as(tensor)
        self._hook(view)
        return view

    def _hook(self, tensor):
        if tensor.requires_grad and self._find(tensor) is None:
            entry = _Watched(tensor)
            tensor.register_hook(entry.add)
            self._watched.append(entry)

    def clear(self):
        self._watched = []

    def signal(self, outputs):
        """Pairs (gradient or None, count of values) for the given outputs, or for every output
        seen when `outputs` is None. None stands for zeros: the loss does not touch the output."""
        if outputs is None:
            return [(entry.gradient, entry.count) for entry in self._watched]
        return [self._gradient_of(t, i) for i, t in enumerate(tensors_in(outputs))]

    def _find(self, tensor):
        for entry in self._watched:
            if entry.tensor() is tensor:
                return entry
        return None

    def _gradient_of(self, tensor, place):
        entry = self._find(tensor)
        if entry is not None:
            return entry.gradient, entry.count
        if not tensor.requires_grad or (tensor.is_leaf and (self._hooked_model or
                                                            tensor.grad is None)):
            raise StableGradError(
                f"outputs[{place}] is no output of the model: no operation of the network made it. "
                "Give u, as in u = model(x), or nothing: sg.apply()")
        if tensor.is_leaf or tensor.retains_grad:
            return tensor.grad, tensor.numel()
        raise StableGradError(
            f"outputs[{place}] is not what the model returned since the last apply; give the "
            "model's own output, or use u = sg.watch(u) before derivatives are taken of it")


def tensors_in(outputs):
    """Every tensor in a tensor, or in nested lists, tuples and dicts of them."""
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    if isinstance(outputs, Mapping):
        outputs = list(outputs.values())
    if isinstance(outputs, (list, tuple)):
        return [t for part in outputs for t in tensors_in(part)]
    return []
