"""Weights cross over to PyTorch and back: a network trained by the program gives the same values and
derivatives there, and weights written from there are evaluated by the program."""

import csv
import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from support import ROOT, torch_or_skip

torch = torch_or_skip()
PROGRAM = os.environ["STABLEGRAD_PROGRAM"]


def read_safetensors(path):
    """The tensors of a file, by the format's description alone."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    types = {"F32": np.float32, "F64": np.float64, "U8": np.uint8}
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(body[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
        for name, t in header.items()
    }


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, t in tensors.items():
        raw = np.ascontiguousarray(t, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


class Network(torch.nn.Module):
    """What a PyTorch user would write for heat.yaml: 3 x 32 tanh on coordinates rescaled to [-1, 1]."""

    def __init__(self):
        super().__init__()
        sizes = [2, 32, 32, 32, 1]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, points):
        h = 2 * points - 1
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


class Weights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.run_program("train", ROOT / "problems" / "heat.yaml", "--quiet", "--out", self.folder / "run",
                         "--set", "training.steps=50", "--set", "network.hidden=3x32", "--set", "evaluation.grid=11x11")

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def evaluate(self, *source):
        table = self.run_program("eval", *source, "--grid", "7x5", "--fields", "u,u_x,u_xx", "--precision", "double")
        return np.array(list(csv.reader(table.splitlines()))[1:], float)

    def expect(self, network, table):
        points = torch.tensor(table[:, :2], dtype=torch.float64, requires_grad=True)
        u = network.double()(points)
        (first,) = torch.autograd.grad(u.sum(), points, create_graph=True)
        (second,) = torch.autograd.grad(first[:, 0].sum(), points)
        for column, values in zip((2, 3, 4), (u[:, 0], first[:, 0], second[:, 0])):
            np.testing.assert_allclose(table[:, column], values.detach().numpy(), rtol=1e-10, atol=1e-12)

    def test_trained_weights_load_in_pytorch(self):
        network = Network()
        tensors = read_safetensors(self.folder / "run" / "weights.safetensors")
        network.load_state_dict({name: torch.tensor(t) for name, t in tensors.items()}, strict=True)
        self.expect(network, self.evaluate(self.folder / "run"))

    def test_pytorch_weights_load_in_the_program(self):
        torch.manual_seed(3)
        network = Network()
        path = self.folder / "from_torch.safetensors"
        write_safetensors(path, {name: p.detach().numpy() for name, p in network.state_dict().items()})
        self.expect(network, self.evaluate(path, "--problem", self.folder / "run" / "problem.yaml"))


if __name__ == "__main__":
    unittest.main()
