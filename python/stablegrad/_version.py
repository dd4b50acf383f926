"""The package's version: that of include/stablegrad/version.h, which a test compares."""

__version__ = "0.1.0"
