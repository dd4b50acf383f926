"""The benchmark's rows in PyTorch, for jet_bench: loss and gradient of one step, float.

usage: jet_torch.py nested|taylor DEPTH WIDTH INTERIOR REST PROBLEM THREADS

`nested` takes input derivatives by nested automatic differentiation, as PINNs are commonly written;
`taylor` carries hand-written Taylor channels (value, first derivatives, one collapsed second one)
through the layers and calls backward once. Prints seconds per step and peak resident megabytes.
"""
import os
import resource
import sys
import time

# Two thread pools, OpenMP's and OpenBLAS's, otherwise spin against each other: on small batches the
# default is two to three times slower than this.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
import torch  # noqa: E402

PI = 3.14159265358979323846


class Network(torch.nn.Module):
    """The input map, then DEPTH hidden layers; `channels` is the Taylor forward pass."""

    def __init__(self, problem, depth, width):
        super().__init__()
        self.problem = problem
        features = {"burgers": 2, "poisson": 2, "helmholtz": 75, "burgers3d": 25}[problem]
        outputs = 3 if problem == "burgers3d" else 1
        sizes = [features] + [width] * depth + [outputs]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.silu = problem == "helmholtz"
        for layer in self.layers:
            torch.nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            torch.nn.init.zeros_(layer.bias)
        count = 12 if problem == "helmholtz" else 4
        self.register_buffer("frequency", PI * torch.arange(1, count + 1).float())

    def features(self, x):
        if self.problem in ("burgers", "poisson"):
            return x
        raw, space = (x, x) if self.problem == "helmholtz" else (2 * x[:, :1] - 1, x[:, 1:])
        phase = (space[:, :, None] * self.frequency).flatten(1)
        return torch.cat([raw, torch.sin(phase), torch.cos(phase)], 1)

    def forward(self, x):
        a = self.features(x)
        for layer in self.layers[:-1]:
            z = layer(a)
            a = torch.nn.functional.silu(z) if self.silu else torch.tanh(z)
        return self.layers[-1](a)

    def feature_channels(self, x):
        """Features, their first derivatives along each coordinate, their second-order channel."""
        n, d = x.shape
        if self.problem in ("burgers", "poisson"):
            firsts = [torch.zeros_like(x) for _ in range(d)]
            for i in range(d):
                firsts[i][:, i] = 1
            return x, firsts, torch.zeros_like(x)
        flow = self.problem == "burgers3d"
        space = x[:, 1:] if flow else x
        count = len(self.frequency)
        phase = (space[:, :, None] * self.frequency).flatten(1)
        sine, cosine = torch.sin(phase), torch.cos(phase)
        value = torch.cat([2 * x[:, :1] - 1 if flow else x, sine, cosine], 1)
        raw = 1 if flow else 3
        firsts = []
        if flow:
            first = torch.zeros_like(value)
            first[:, 0] = 2
            firsts.append(first)
        for i in range(3):
            first = torch.zeros_like(value)
            if not flow:
                first[:, i] = 1
            here = slice(i * count, (i + 1) * count)
            first[:, raw + i * count : raw + (i + 1) * count] = cosine[:, here] * self.frequency
            at = raw + 3 * count + i * count
            first[:, at : at + count] = -sine[:, here] * self.frequency
            firsts.append(first)
        square = (self.frequency**2).repeat(3)
        second = torch.cat([torch.zeros(n, raw), -sine * square, -cosine * square], 1)
        return value, firsts, second

    def channels(self, x):
        """Value, first derivatives, and u_xx (burgers) or the Laplacian (others)."""
        curved = {"burgers": [0], "poisson": [0, 1], "helmholtz": [0, 1, 2], "burgers3d": [1, 2, 3]}
        curved = curved[self.problem]
        value, firsts, second = self.feature_channels(x)
        for i, layer in enumerate(self.layers):
            value = layer(value)
            firsts = [f @ layer.weight.T for f in firsts]
            second = second @ layer.weight.T
            if i + 1 == len(self.layers):
                return value, firsts, second
            if self.silu:
                s = torch.sigmoid(value)
                g = s * (1 - s)
                d1 = s + value * g
                d2 = g * (2 + value * (1 - 2 * s))
                a = value * s
            else:
                a = torch.tanh(value)
                d1 = 1 - a * a
                d2 = -2 * a * d1
            squares = sum(firsts[k] * firsts[k] for k in curved)
            second = d1 * second + d2 * squares
            firsts = [d1 * f for f in firsts]
            value = a


def derivative(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


def nested_channels(net, x):
    """What `channels` returns, by nested automatic differentiation."""
    x.requires_grad_(True)
    u = net(x)
    d = x.shape[1]
    if net.problem == "burgers3d":
        slopes = [derivative(u[:, k : k + 1], x) for k in range(3)]
        firsts = [torch.stack([s[:, i] for s in slopes], 1) for i in range(d)]
        second = torch.stack(
            [sum(derivative(s[:, i : i + 1], x)[:, i] for i in (1, 2, 3)) for s in slopes], 1
        )
        return u, firsts, second
    slope = derivative(u, x)
    firsts = [slope[:, i : i + 1] for i in range(d)]
    curved = [0] if net.problem == "burgers" else range(d)
    second = sum(derivative(firsts[i], x)[:, i : i + 1] for i in curved)
    return u, firsts, second


def residual(problem, u, firsts, second):
    if problem == "burgers":
        return firsts[1] + u * firsts[0] - 1e-4 * second
    if problem == "poisson":
        return -second - 1
    if problem == "helmholtz":
        return second * 1e-3 + u - 1
    return firsts[0] + sum(u[:, i : i + 1] * firsts[i + 1] for i in range(3)) - 0.05 * second


def step(net, kind, interior, rest):
    problem = net.problem
    d = {"burgers": 2, "poisson": 2, "helmholtz": 3, "burgers3d": 4}[problem]
    net.zero_grad()
    x = torch.rand(interior, d)
    channels = nested_channels(net, x) if kind == "nested" else net.channels(x)
    loss = residual(problem, *channels).square().mean()
    if problem == "burgers3d":
        loss = loss + (net(torch.rand(rest // 2, d)) - 1).square().mean()
        pair = net(torch.rand(rest // 2, d)) - net(torch.rand(rest // 2, d))
        loss = loss + pair.square().mean()
    else:
        loss = loss + (net(torch.rand(rest, d)) - 1).square().mean()
    loss.backward()
    return loss.item()


def check(net):
    """Both kinds must mean the same thing."""
    x = torch.rand(16, {"burgers": 2, "poisson": 2, "helmholtz": 3, "burgers3d": 4}[net.problem])
    u, firsts, second = net.channels(x.clone())
    v, slopes, curved = nested_channels(net, x.clone())
    for a, b in [(u, v), (second, curved)] + list(zip(firsts, slopes)):
        assert (a - b).abs().max() <= 1e-3 * (1 + b.abs().max()), "the two kinds disagree"


def main():
    kind, depth, width, interior, rest, problem, threads = sys.argv[1:8]
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    net = Network(problem, int(depth), int(width))
    check(net)
    step(net, kind, int(interior), int(rest))
    times = []
    start = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < 1 and len(times) < 20):
        before = time.perf_counter()
        step(net, kind, int(interior), int(rest))
        times.append(time.perf_counter() - before)
        if time.perf_counter() - start > 12:
            break
    times.sort()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(times[len(times) // 2], memory)


if __name__ == "__main__":
    main()
