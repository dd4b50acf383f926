"""The hand-over: when gradients change between rescaled and raw, the moments of a torch optimizer
are taken to the new units. What the C library does in src/optim/handover.c, for state tensors that
are known by name; the tests hold the two against each other."""

import math
import warnings

import torch

from ._errors import StableGradError
from ._names import role_of

# What of a parameter's record a step keeps.
_MEMORY = 0.9

# The power of the gradient's unit that a state tensor is in, by the names of torch.optim; 0 for
# what does not depend on it.
_POWERS = {
    "exp_avg": 1, "momentum_buffer": 1, "grad_avg": 1, "exp_inf": 1, "prev": 1,
    "exp_avg_sq": 2, "max_exp_avg_sq": 2, "square_avg": 2, "sum": 2, "row_var": 2, "col_var": 2,
    "variance": 2,
    "step": 0, "mu_product": 0, "acc_delta": 0, "step_size": 0, "eta": 0, "mu": 0, "ax": 0,
}
# Where a name means something else: this momentum is of gradients over their own size.
_POWERS_OF = {"RMSprop": {"momentum_buffer": 0}}


class Handover:
    """`blocks` has the name of each parameter's block; `optimizers` may be empty."""

    def __init__(self, how, names, blocks, optimizers):
        self._how = how
        self._names = names
        self._blocks = blocks
        self._optimizers = optimizers
        self.rescaled = False
        self._records = {}  # name: [square of what the last gradients were multiplied by, weight]

    def step(self, config, report, parameters):
        """Before the optimizer's step that `report` is about: hands over if the gradients change
        units with it. Returns whether they did, after steps in other units."""
        if report.skipped:
            return False
        gains = {b.name: _gain(config, report, b) for b in report.blocks}
        norms = {b.name: b.norm2 for b in report.blocks}
        rescaled = report.outcome == "scaled"
        # A step without a reference is no end of rescaling.
        changed = rescaled != self.rescaled and (rescaled or report.outcome == "inactive")
        handed_over = changed and bool(self._records)
        if handed_over and self._how != "keep":
            self._change(parameters, gains if rescaled else {})
        if changed:
            self.rescaled = rescaled
        for name, block, parameter in zip(self._names, self._blocks, parameters):
            if parameter.grad is not None:
                self._record(name, gains[block], norms[block])
        return handed_over

    def _record(self, name, gain, weight):
        record = self._records.setdefault(name, [0.0, 0.0])
        record[1] = _MEMORY * record[1] + weight
        if record[1] > 0:
            record[0] += weight / record[1] * (gain * gain - record[0])

    def _change(self, parameters, gains):
        """To units where gradients are multiplied by `gains` of their blocks, 1 without."""
        if not self._can_change(parameters):
            return
        for name, block, parameter in zip(self._names, self._blocks, parameters):
            square, weight = self._records.get(name, (1.0, 0.0))
            gain = gains.get(block, 1.0)
            factor = gain / math.sqrt(square) if weight > 0 and square > 0 else 1.0
            if factor == 1:
                continue
            for optimizer in self._optimizers:
                if self._how == "restart":
                    optimizer.state.pop(parameter, None)
                else:
                    _convert(optimizer, parameter, factor)
            self._records[name] = [0.0, 0.0] if self._how == "restart" else [gain * gain, weight]

    def _can_change(self, parameters):
        if not self._optimizers:
            warnings.warn(
                "the gradients change between rescaled and raw here, and the optimizer's moments "
                "stay in the old units, so that the next steps are off: give "
                "StableGrad(optimizer=...), or say handover=\"keep\"", stacklevel=5)
            return False
        for optimizer in self._optimizers:
            unknown = {key for parameter in parameters
                       for key, _, power in _tensors(optimizer, parameter) if power is None}
            if unknown and self._how == "convert":
                warnings.warn(
                    f"the moments of {type(optimizer).__name__} stay in the old units: it is not "
                    f"known what {', '.join(sorted(unknown))} in its state is; handover=\"restart\" "
                    "forgets its moments instead", stacklevel=5)
                return False
        return True

    # ---- Saving --------------------------------------------------------------------------------

    def state_dict(self):
        return {"rescaled": self.rescaled,
                "records": {name: list(record) for name, record in self._records.items()}}

    def load_state_dict(self, state):
        try:
            records = {name: [float(x) for x in state["records"][name]]
                       for name in self._names if name in state["records"]}
            rescaled = bool(state["rescaled"])
        except (KeyError, TypeError, ValueError):
            raise StableGradError("this is not a state_dict of StableGrad") from None
        if any(len(r) != 2 or not all(math.isfinite(x) and x >= 0 for x in r)
               for r in records.values()):
            raise StableGradError("the state_dict has factors that cannot be")
        self.rescaled, self._records = rescaled, records


def _gain(config, report, block):
    """What the block's gradient was multiplied by; signs have the root mean square 1, and what is
    centred loses its mean."""
    touched = config.blocks != "weight" or role_of(block.name) != "bias"
    if report.outcome == "scaled" and config.method == "sign" and touched and block.norm2 > 0:
        return math.sqrt(block.count / block.norm2)
    if report.outcome == "scaled" and config.method == "znorm" and block.count > 1 and (
            block.factor != 1):
        return block.factor * math.sqrt(block.count / block.norm2) * block.std
    return block.factor


def _tensors(optimizer, parameter):
    """(key, tensor, power) of the parameter's state; power None: not known."""
    powers = dict(_POWERS)
    for kind in type(optimizer).__mro__:
        powers.update(_POWERS_OF.get(kind.__name__, {}))
    for key, value in optimizer.state.get(parameter, {}).items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            yield key, value, powers.get(key)


def _convert(optimizer, parameter, factor):
    with torch.no_grad():
        for _, tensor, power in _tensors(optimizer, parameter):
            for _ in range(power):  # one after the other: a square may leave the range of float
                tensor.mul_(factor)
