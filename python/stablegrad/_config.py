"""The choices of the method, checked, as NumPy and PyTorch users give them."""

import dataclasses
import math

from ._errors import StableGradError, choose, number
from ._library import BLOCKS, FOREVER, HANDOVERS, METHODS, REFERENCES


@dataclasses.dataclass(frozen=True)
class Config:
    method: str
    reference: str
    blocks: str
    constant: float
    eps: float
    start: int
    until: int
    handover: str
    threshold: float
    floor: float

    def active(self, step):
        """Whether the method is in force at `step`."""
        return self.method != "none" and self.start <= step < self.until

    def needs_signal(self):
        """Whether an active step needs a signal or a scale from the caller."""
        return self.method == "stablegrad" and self.reference in ("output", "residual")


def make_config(method, reference, blocks, eps, start, until, handover, threshold=0.01,
                floor=1e-3):
    """`reference` is a name, or a number for a constant; `until` None means forever."""
    constant = 1.0
    if not isinstance(reference, str):
        constant = number("reference", reference)
        if not (math.isfinite(constant) and constant > 0):
            raise StableGradError(f"reference is {reference!r}; a number must be finite and > 0")
        reference = "constant"
    elif reference == "constant":
        raise StableGradError("for a constant reference give the number itself")
    choose("method", method, METHODS)
    choose("reference", reference, REFERENCES)
    choose("blocks", blocks, BLOCKS)
    choose("handover", handover, HANDOVERS)
    eps = number("eps", eps)
    if not (math.isfinite(eps) and eps >= 0):
        raise StableGradError(f"eps is {eps!r}; it must be finite and >= 0")
    for name, value in (("threshold", threshold), ("floor", floor)):
        if not (math.isfinite(number(name, value)) and value > 0):
            raise StableGradError(f"{name} is {value!r}; it must be finite and > 0")
    until = FOREVER if until is None else int(until)
    if not 0 <= int(start) <= until <= FOREVER:
        raise StableGradError(f"the window is [{start}, {until}); it must have 0 <= start <= until")
    return Config(method, reference, blocks, constant, eps, int(start), until, handover,
                  float(threshold), float(floor))
