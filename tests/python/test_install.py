"""The package as pip installs it, with the library inside, and without any library."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python"

NUMPY = """
import numpy, stablegrad
w, g = numpy.ones(4), numpy.arange(4.0)
scaler = stablegrad.Scaler(stablegrad.Parameters({"a.weight": (w, g)}))
scaler.observe(numpy.array([0.1, 0.2]))
print(scaler.measure(0).outcome, stablegrad.__file__)
"""

TORCH = """
import warnings, torch, stablegrad
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        model = torch.nn.Linear(2, 1)
        sg = stablegrad.StableGrad(model)
        for _ in range(2):
            u = model(torch.rand(4, 2))
            u.square().mean().backward()
            print(sg.apply(u).outcome, list(sg._backends))
print([str(w.message)[:27] for w in caught])
try:
    stablegrad.StableGrad(model, reference=1.0, backend="c").apply()
except stablegrad.StableGradError as error:
    print("c:", error)
"""


def has(module):
    return importlib.util.find_spec(module) is not None


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_python(self, *arguments, **environment):
        """What Python prints, run elsewhere with the packages of this folder."""
        kept = {k: v for k, v in os.environ.items() if k not in ("STABLEGRAD_LIBRARY", "PYTHONPATH")}
        result = subprocess.run([sys.executable, *arguments], cwd=self.folder, text=True,
                                env={**kept, "PYTHONPATH": str(self.folder / "site"), **environment},
                                capture_output=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    @unittest.skipUnless(has("pip") and has("setuptools"), "needs pip and setuptools")
    def test_pip_install_brings_the_library(self):
        shutil.copytree(PACKAGE, self.folder / "python")  # pip builds inside
        self.run_python("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
                        "--no-index", "--target", "site", "./python",
                        STABLEGRAD_LIBRARY=os.environ["STABLEGRAD_LIBRARY"])
        printed = self.run_python("-c", NUMPY)
        self.assertIn("scaled", printed)
        self.assertIn(str(self.folder / "site"), printed)

    @unittest.skipUnless(has("torch"), "needs PyTorch")
    def test_without_a_library_torch_does_it_and_says_so_once(self):
        shutil.copytree(PACKAGE / "stablegrad", self.folder / "site" / "stablegrad")
        lines = self.run_python("-c", TORCH).splitlines()
        self.assertEqual(lines[:4], ["scaled ['torch']"] * 4)
        self.assertEqual(lines[4], "['libstablegrad was not found']")
        self.assertIn("pip install ./python", lines[5])


if __name__ == "__main__":
    unittest.main()
