"""The benchmark's rows in PyTorch: see peer_case.py for how it is called.

KIND nested: nested automatic differentiation as PINNs are commonly written.
KIND taylor: hand-written Taylor channels (value, first derivatives, one collapsed second one).
KIND compiled: torch.func, jvp of jvp, the whole step through torch.compile.
KIND taylor-compiled: the hand-written channels through torch.compile."""
import sys

import peer_case

import torch

torch.set_num_threads(peer_case.threads)
kind = sys.argv[1]


class Maps:
    sin, cos, cat = torch.sin, torch.cos, torch.cat
    frequencies = staticmethod(torch.from_numpy)


case = peer_case.Case()
shape = peer_case.PROBLEMS[case.problem]
silu = case.problem == "helmholtz"


def network(layers, x):
    a = peer_case.features(Maps, case.problem, x)
    for w, b in layers[:-1]:
        z = torch.nn.functional.linear(a, w, b)
        a = torch.nn.functional.silu(z) if silu else torch.tanh(z)
    return torch.nn.functional.linear(a, *layers[-1])


# ---- Hand-written Taylor channels ----------------------------------------------------------------


def feature_channels(x):
    """Features, their first derivatives along each coordinate, their second-order channel."""
    n, d = x.shape
    if shape["features"] == 2:
        firsts = [torch.zeros_like(x) for _ in range(d)]
        for i in range(d):
            firsts[i][:, i] = 1
        return x, firsts, torch.zeros_like(x)
    flow = case.problem == "burgers3d"
    value = peer_case.features(Maps, case.problem, x)
    raw, count = (1, 4) if flow else (3, 12)
    frequency = peer_case.PI * torch.arange(1, count + 1).float()
    sine, cosine = value[:, raw : raw + 3 * count], value[:, raw + 3 * count :]
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
        first[:, raw + i * count : raw + (i + 1) * count] = cosine[:, here] * frequency
        at = raw + 3 * count + i * count
        first[:, at : at + count] = -sine[:, here] * frequency
        firsts.append(first)
    square = (frequency**2).repeat(3)
    return value, firsts, torch.cat([torch.zeros(n, raw), -sine * square, -cosine * square], 1)


def taylor_channels(layers, x):
    value, firsts, second = feature_channels(x)
    for i, (w, b) in enumerate(layers):
        value = torch.nn.functional.linear(value, w, b)
        firsts = [f @ w.T for f in firsts]
        second = second @ w.T
        if i + 1 == len(layers):
            return value, firsts, second
        if silu:
            s = torch.sigmoid(value)
            g = s * (1 - s)
            d1 = s + value * g
            d2 = g * (2 + value * (1 - 2 * s))
            a = value * s
        else:
            a = torch.tanh(value)
            d1 = 1 - a * a
            d2 = -2 * a * d1
        squares = sum(firsts[k] * firsts[k] for k in shape["seconds"])
        second = d1 * second + d2 * squares
        firsts = [d1 * f for f in firsts]
        value = a


# ---- Automatic differentiation --------------------------------------------------------------------


def derivative(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


def nested_channels(layers, x):
    x.requires_grad_(True)
    u = network(layers, x)
    slopes = [derivative(u[:, k : k + 1], x) for k in range(shape["outputs"])]
    first = [torch.stack([s[:, i] for s in slopes], 1) for i in range(shape["coordinates"])]
    second = torch.stack(
        [sum(derivative(s[:, i : i + 1], x)[:, i] for i in shape["seconds"]) for s in slopes], 1
    )
    return u, first, second


def func_channels(layers, x):
    f = lambda y: network(layers, y)
    first, second = {}, 0
    for i in range(shape["coordinates"]):
        e = torch.zeros_like(x)
        e[:, i] = 1
        if i in shape["seconds"]:
            (u, first[i]), (_, curved) = torch.func.jvp(
                lambda y: torch.func.jvp(f, (y,), (e,)), (x,), (e,)
            )
            second = second + curved
        elif i in shape["firsts"]:
            first[i] = torch.func.jvp(f, (x,), (e,))[1]
    return u, first, second


channels = {"nested": nested_channels, "compiled": func_channels}.get(kind, taylor_channels)


def loss_at(layers, sets):
    equation = peer_case.residual(case.problem, *channels(layers, sets[0][0]))
    return case.total(equation, [[network(layers, x) for x in sides] for sides in sets[1:]])


if kind.endswith("compiled"):
    loss_at = torch.compile(loss_at)
layers = [
    (torch.from_numpy(w.copy()).requires_grad_(True), torch.from_numpy(b.copy()).requires_grad_(True))
    for w, b in case.layers
]
sets = [[torch.from_numpy(x) for x in sides] for sides in case.sets]


def step():
    for layer in layers:
        for p in layer:
            p.grad = None
    loss = loss_at(layers, sets)
    loss.backward()
    return loss.item()


loss = step()
case.check(loss, [(w.grad.numpy(), b.grad.numpy()) for w, b in layers])
peer_case.time_steps(step)
