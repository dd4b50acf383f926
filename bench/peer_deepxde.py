"""The benchmark's rows in DeepXDE on PyTorch: see peer_case.py for how it is called.

Its network and its lazily evaluated jacobian and hessian, as its own training step uses them."""
import os

import peer_case

os.environ["DDE_BACKEND"] = "pytorch"
import torch  # noqa: E402

torch.set_num_threads(peer_case.threads)
import deepxde as dde  # noqa: E402


class Maps:
    sin, cos, cat = torch.sin, torch.cos, torch.cat
    frequencies = staticmethod(torch.from_numpy)


case = peer_case.Case()
shape = peer_case.PROBLEMS[case.problem]
sizes = [len(case.layers[0][0][0])] + [len(b) for _, b in case.layers]
net = dde.nn.FNN(sizes, "silu" if case.problem == "helmholtz" else "tanh", "Glorot normal")
if shape["features"] > 2:
    net.apply_feature_transform(lambda x: peer_case.features(Maps, case.problem, x))
with torch.no_grad():
    for linear, (w, b) in zip(net.linears, case.layers):
        linear.weight.copy_(torch.from_numpy(w.copy()))
        linear.bias.copy_(torch.from_numpy(b.copy()))
sets = [[torch.from_numpy(x) for x in sides] for sides in case.sets]
sets[0][0].requires_grad_(True)


def derivatives(x):
    u = net(x)
    outputs = range(shape["outputs"])
    first = {
        j: torch.cat([dde.grad.jacobian(u, x, i=k, j=j) for k in outputs], 1)
        for j in shape["firsts"]
    }
    second = sum(
        torch.cat(
            [dde.grad.hessian(u, x, component=k if len(outputs) > 1 else 0, i=j, j=j) for k in outputs], 1
        )
        for j in shape["seconds"]
    )
    return u, first, second


def step():
    net.zero_grad()
    equation = peer_case.residual(case.problem, *derivatives(sets[0][0]))
    loss = case.total(equation, [[net(x) for x in sides] for sides in sets[1:]])
    loss.backward()
    dde.grad.clear()
    return loss.item()


loss = step()
case.check(loss, [(l.weight.grad.numpy(), l.bias.grad.numpy()) for l in net.linears])
peer_case.time_steps(step)
