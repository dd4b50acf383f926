"""What a step did, for logging."""

import dataclasses

from ._library import OUTCOMES

COUNTERS = ("steps_scaled", "steps_inactive", "steps_no_reference", "steps_not_finite")


@dataclasses.dataclass(frozen=True)
class BlockReport:
    name: str
    count: int  # elements that had a gradient, on this rank
    std: float  # raw; |g| for a block of one element
    norm2: float  # |g|^2, raw
    factor: float  # 1 where the block is left as it is
    scaled_std: float
    finite: bool


@dataclasses.dataclass(frozen=True)
class Report:
    step: int
    outcome: str  # "scaled", "inactive", "no reference" or "not finite"
    reference: float  # c; 0 when none was computed
    ratio_raw: float  # R_std: largest over smallest block std
    ratio_scaled: float
    signal_finite: bool
    blocks: tuple  # of BlockReport
    steps_scaled: int  # counters over the life of the scaler
    steps_inactive: int
    steps_no_reference: int
    steps_not_finite: int
    handed_over: bool = False  # the moments of the optimizers changed units: see StableGrad

    @property
    def skipped(self):
        """Whether the step must not be taken: a gradient or the signal is not finite."""
        return self.outcome == "not finite"

    def scales(self):
        """{block name: {"std", "factor", "scaled_std"}}, plain numbers."""
        return {b.name: {"std": b.std, "factor": b.factor, "scaled_std": b.scaled_std}
                for b in self.blocks}

    def as_dict(self):
        """Everything as plain dicts, lists and numbers, ready for JSON."""
        result = dataclasses.asdict(self)
        result["blocks"] = list(result["blocks"])
        return result


def report_from_c(report):
    """A copy of an sg_scale_report."""
    blocks = tuple(
        BlockReport(b.name.decode(), b.count, b.std, b.norm2, b.factor, b.scaled_std, b.finite)
        for b in report.blocks[:report.block_count])
    return Report(report.step, OUTCOMES[report.outcome], report.reference, report.ratio_raw,
                  report.ratio_scaled, report.signal_finite, blocks,
                  *(getattr(report, name) for name in COUNTERS))
