"""The rules of the method in plain Python, from moments to factors.

For gradients that the C library cannot reach, such as those on a GPU. The C library is the
definition (src/scale/scaler.c and factors.c); the tests hold the two against each other.
"""

import dataclasses
import math
import sys

from ._errors import StableGradError
from ._library import OUTCOMES
from ._report import COUNTERS, BlockReport, Report


@dataclasses.dataclass
class Moments:
    """Count, mean and sum of squared deviations of a set of numbers."""

    count: float = 0.0
    mean: float = 0.0
    m2: float = 0.0

    def merge(self, other):
        """Adds another set (Chan, Golub and LeVeque)."""
        if other.count == 0:
            return
        count = self.count + other.count
        delta = other.mean - self.mean
        self.mean += delta * (other.count / count)
        self.m2 += other.m2 + delta * delta * (self.count * other.count / count)
        self.count = count

    def std(self):
        """Population standard deviation; |mean| of one number, 0 of none."""
        if self.count == 0:
            return 0.0
        if self.count == 1:
            return abs(self.mean)
        std = math.sqrt(self.m2 / self.count)
        # Equal numbers leave a trace of the mean's rounding error: that is no spread.
        return 0.0 if std <= 8 * sys.float_info.epsilon * abs(self.mean) else std

    def norm2(self):
        return self.m2 + self.count * self.mean * self.mean


@dataclasses.dataclass
class Range:
    """What a block's elements and a factor of theirs can hold."""

    largest: float
    factor_smallest: float
    factor_largest: float


@dataclasses.dataclass
class Block:
    """One block in one step."""

    name: str
    touched: bool  # False: never scaled
    range: Range
    moments: Moments

    def takes_part(self):
        return self.touched and self.moments.std() > 0

    def scalable(self, c, eps):
        """False for a block without spread or whose scaled values would leave the range."""
        if not self.takes_part():
            return False
        alpha = c / (self.moments.std() + eps)
        # No element is further from the mean than sqrt(m2).
        bound = abs(self.moments.mean) + math.sqrt(self.moments.m2)
        return (self.range.factor_smallest <= alpha <= self.range.factor_largest and
                alpha * bound <= self.range.largest)

    def factor(self, c, eps):
        """alpha; 1 for a block that is left as it is."""
        return c / (self.moments.std() + eps) if self.scalable(c, eps) else 1.0

    def centre(self):
        """What ZNorm takes off: the mean, but 0 of one number, whose deviation is |g|."""
        return self.moments.mean if self.moments.count > 1 else 0.0


def measure(config, step, blocks, signal, scale, reduce=None):
    """The Report of step `step`, its counters 0. `signal` is the observed Moments, `scale` the
    reference scale itself or None; `reduce` sums a list of floats over all ranks. The factors of
    AGC, which depend on the values, are left at 1."""
    finite = all(math.isfinite(b.moments.m2) for b in blocks)
    if reduce is not None:
        signal, finite = _reduced(signal, finite, reduce)
    if (finite and config.active(step) and config.needs_signal() and scale is None and
            signal.count == 0):
        raise StableGradError("the reference scale needs a signal and none was observed this step")
    signal_finite = math.isfinite(signal.m2)
    outcome, c = _decide(config, step, blocks, signal, scale, finite)
    scaling = outcome == "scaled" and config.method in ("stablegrad", "znorm")
    target = c if config.method == "stablegrad" else 1.0
    reports = tuple(_block_report(b, b.factor(target, config.eps) if scaling else 1.0)
                    for b in blocks)
    return Report(step, outcome, c, _ratio(blocks, [r.std for r in reports]),
                  _ratio(blocks, [r.scaled_std for r in reports]), signal_finite, reports,
                  *([0] * len(COUNTERS)))


def with_factors(report, blocks, factors):
    """The report with other factors of its blocks."""
    reports = tuple(dataclasses.replace(r, factor=f, scaled_std=f * r.std)
                    for r, f in zip(report.blocks, factors))
    return dataclasses.replace(report, blocks=reports,
                               ratio_scaled=_ratio(blocks, [r.scaled_std for r in reports]))


def counted(report, counters):
    """The report with the counters raised by its outcome; `counters` is changed too."""
    counters[COUNTERS[OUTCOMES.index(report.outcome)]] += 1
    return dataclasses.replace(report, **counters)


def _reduced(signal, finite, reduce):
    """The signal's moments over all ranks: first the global mean, then deviations from it."""
    count, total = reduce([signal.count, signal.count * signal.mean])
    mean = total / count if count > 0 else 0.0
    shift = signal.mean - mean
    squares = signal.m2 + signal.count * shift * shift if signal.count else 0.0
    squares, bad = reduce([squares, 0.0 if finite else 1.0])
    return Moments(count, mean, squares), bad == 0


def _decide(config, step, blocks, signal, scale, finite):
    """The outcome and the reference scale."""
    if not finite:
        return "not finite", 0.0
    if not config.active(step):
        return "inactive", 0.0
    if config.method != "stablegrad":  # the others have no reference
        return "scaled", 0.0
    if config.needs_signal() and scale is None and not math.isfinite(signal.m2):
        return "not finite", 0.0
    c = _reference(config, blocks, signal, scale)
    if not math.isfinite(c):
        return "not finite", c
    return ("scaled" if c > 0 else "no reference"), c


def _reference(config, blocks, signal, scale):
    if config.reference == "constant":
        return config.constant
    if config.reference not in ("norm", "inner"):
        return signal.std() if scale is None else scale
    kept = scaled = 0.0
    for block in filter(Block.takes_part, blocks):
        norm2, sigma = block.moments.norm2(), block.moments.std() + config.eps
        kept += norm2
        scaled += norm2 / sigma / sigma if config.reference == "norm" else norm2 / sigma
    if not (kept > 0 and scaled > 0):
        return 0.0
    return math.sqrt(kept / scaled) if config.reference == "norm" else kept / scaled


def _block_report(block, factor):
    m = block.moments
    finite = math.isfinite(m.m2)
    std = m.std()
    return BlockReport(block.name, int(m.count), std, m.norm2(), factor, factor * std, finite)


def _ratio(blocks, stds):
    stds = [s for block, s in zip(blocks, stds) if block.takes_part()]
    low, high = (min(stds), max(stds)) if stds else (0.0, 0.0)
    return high / low if low > 0 and math.isfinite(low) else 1.0
