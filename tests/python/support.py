"""What the tests of the package share."""

import json
import sys
import unittest
from pathlib import Path

import numpy as np

from stablegrad import StableGradError

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.json"))


def torch_or_skip():
    """PyTorch, or the end of this test program with ctest's code for "skipped"."""
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        sys.exit(77)
    torch.set_num_threads(1)
    return torch


def load_golden(path):
    """A golden file, and its gradients as {"layers.0.weight": array, ...}."""
    golden = json.loads(path.read_text())
    gradients = {}
    for i, (weight, bias) in enumerate(zip(golden["grad_weights"], golden["grad_biases"])):
        gradients[f"layers.{i}.weight"] = np.array(weight)
        gradients[f"layers.{i}.bias"] = np.array(bias)
    return golden, gradients


class Case(unittest.TestCase):
    def assert_relative(self, actual, expected, tolerance):
        """|a - b| <= tolerance * |b|, element by element."""
        actual, expected = np.asarray(actual, float), np.asarray(expected, float)
        self.assertEqual(actual.shape, expected.shape)
        error = np.abs(actual - expected)
        self.assertTrue(np.all(error <= tolerance * np.abs(expected)),
                        f"largest difference {error.max()} of {expected}")

    def fails(self, text, function, *args, **kwargs):
        """The StableGradError of the call, whose message contains `text`."""
        with self.assertRaises(StableGradError) as caught:
            function(*args, **kwargs)
        self.assertIn(text, str(caught.exception))
        return caught.exception
