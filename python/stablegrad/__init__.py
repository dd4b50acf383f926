"""StableGrad: backward scale control for deep networks.

For PyTorch: StableGrad. For NumPy arrays: Parameters, Scaler, Optimizer, schedule.
PyTorch is imported when StableGrad is first asked for, so NumPy users need not have it.
"""

from . import schedule
from ._errors import StableGradError
from ._optimizer import Optimizer, Step
from ._parameters import Parameters
from ._report import BlockReport, Report
from ._scaler import Scaler
from ._version import __version__

__all__ = ["BlockReport", "Optimizer", "Parameters", "Report", "Scaler", "StableGrad",
           "StableGradError", "Step", "schedule", "__version__"]


def __dir__():
    return sorted(set(globals()) | set(__all__))


def __getattr__(name):
    if name == "StableGrad":
        from ._torch import StableGrad
        return StableGrad
    raise AttributeError(f"module 'stablegrad' has no attribute '{name}'")
