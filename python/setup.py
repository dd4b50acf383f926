"""Takes a copy of the C library along, when one was built beside this checkout or is named by
STABLEGRAD_LIBRARY; pyproject.toml has everything else."""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

NAMES = ("libstablegrad.so", "libstablegrad.dylib")


def built_library():
    """The library to take along, or None: then the package looks for one when it is used."""
    given = os.environ.get("STABLEGRAD_LIBRARY")
    beside = Path(__file__).resolve().parents[1] / "build" / "release" / "src"
    for path in [Path(given)] if given else [beside / name for name in NAMES]:
        if path.exists():
            return path
    return None


class WithLibrary(build_py):
    def run(self):
        super().run()
        library = built_library()
        if library is None:
            print("libstablegrad is not built: the package is installed without it")
            return
        suffix = ".dylib" if ".dylib" in library.name else ".so"
        shutil.copyfile(library, Path(self.build_lib) / "stablegrad" / f"libstablegrad{suffix}")


class OneMachine(Distribution):
    """A package with a library in it is one for this kind of machine."""

    def has_ext_modules(self):
        return built_library() is not None


setup(cmdclass={"build_py": WithLibrary}, distclass=OneMachine)
