"""Records what PyTorch computes, in double, for one small network of each kind of layer.

layers.py FILE writes, for each case, CASE.images, CASE.labels, CASE.logits, CASE.loss, the parameters as
CASE.p.NAME and their gradients as CASE.g.NAME; everything rounded to float. The tests build the same
networks by hand (tests/test_graph_layers.c).
"""
import sys

import torch
from torch import nn

import safetensors
from networks import pack


class Excite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.fc2(torch.nn.functional.silu(self.fc1(s))))


class Residual(nn.Module):
    """y = act(norm(conv(x)) + x), or with the activation inside the branch."""

    def __init__(self, channels, norm, act):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, channels, 3, padding=1, bias=False), norm
        self.act = act

    def forward(self, x):
        return self.act(self.norm(self.conv(x)) + x)


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def conv(*args, **kwargs):
    return nn.Conv2d(*args, **kwargs)


def cases():
    stem = lambda channels: conv(3, channels, 3, padding=1)
    tail = lambda channels: [Mean(), nn.Linear(channels, 5)]
    make = lambda *layers: nn.Sequential(*layers)
    yield "conv", make(stem(20), conv(20, 24, 3, stride=2, padding=1), *tail(24))
    yield "conv1x1", make(stem(20), nn.ReLU(), conv(20, 12, 1, bias=False), *tail(12))
    yield "grouped", make(stem(32), conv(32, 64, 3, padding=1, groups=2), *tail(64))
    yield "depthwise", make(stem(32), conv(32, 32, 3, padding=1, groups=32, bias=False), *tail(32))
    for stride in (1, 2):
        yield f"depthwise_small{stride}", make(conv(3, 32, 3, stride=3, padding=1),
                                               conv(32, 32, 3, stride=stride, padding=1, groups=32), *tail(32))
    for name, act in (("relu", nn.ReLU), ("silu", nn.SiLU), ("tanh", nn.Tanh), ("sigmoid", nn.Sigmoid)):
        yield name, make(stem(20), act(), conv(20, 16, 3, padding=1), act(), *tail(16))
    yield "batchnorm", make(stem(20), nn.BatchNorm2d(20), nn.SiLU(), *tail(20))
    yield "batchnorm_relu", make(stem(20), nn.BatchNorm2d(20, eps=1e-3), nn.ReLU(), *tail(20))
    yield "groupnorm", make(stem(20), nn.GroupNorm(4, 20), nn.SiLU(), *tail(20))
    yield "layernorm", make(stem(20), nn.GroupNorm(1, 20), nn.Tanh(), *tail(20))
    yield "maxpool", make(stem(20), nn.MaxPool2d(3, 2, 1), *tail(20))
    yield "averagepool", make(stem(20), nn.AvgPool2d(3, 2, 1), *tail(20))
    yield "excite", make(stem(20), nn.SiLU(), Excite(20, 6), *tail(20))
    yield "excite_norm", make(stem(20), nn.BatchNorm2d(20), nn.SiLU(), Excite(20, 6), *tail(20))
    yield "residual", make(stem(20), Residual(20, nn.Identity(), nn.Identity()), *tail(20))
    yield "residual_relu", make(stem(20), Residual(20, nn.Identity(), nn.ReLU()), *tail(20))
    yield "residual_silu", make(stem(20), Residual(20, nn.Identity(), nn.SiLU()), *tail(20))
    yield "residual_norm", make(stem(20), Residual(20, nn.BatchNorm2d(20), nn.ReLU()), *tail(20))
    yield "residual_twice", make(stem(20), Residual(20, nn.BatchNorm2d(20), nn.Identity()),
                                 Residual(20, nn.GroupNorm(4, 20), nn.Identity()), *tail(20))
    yield "flatten", make(stem(4), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 36, 5))
    yield "mlp", make(nn.Flatten(), nn.Linear(108, 19), nn.Tanh(), nn.Linear(19, 5))
    yield "mlp_batch", make(nn.Flatten(), nn.Linear(108, 19), nn.BatchNorm1d(19), nn.ReLU(), nn.Linear(19, 5))
    yield "mlp_layer", make(nn.Flatten(), nn.Linear(108, 19), nn.LayerNorm(19), nn.SiLU(), nn.Linear(19, 5))


def main():
    torch.manual_seed(3)
    tensors = {}
    images, labels = torch.randn(2, 3, 6, 6), torch.tensor([3, 1])
    tensors["images"], tensors["labels"] = pack(images), pack(labels)
    for name, net in cases():
        for parameter in net.parameters():
            parameter.data += 0.1 * torch.randn_like(parameter)
        before = {key: value.clone() for key, value in net.named_parameters()}
        net = net.double()
        logits = net(images.double())
        loss = nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
        loss.backward()
        tensors[name + ".logits"], tensors[name + ".loss"] = pack(logits.float()), pack(loss.float())
        for key, value in net.named_parameters():
            tensors[f"{name}.p.{key}"] = pack(before[key])
            tensors[f"{name}.g.{key}"] = pack(value.grad.float())
    safetensors.write(sys.argv[1], tensors)


if __name__ == "__main__":
    main()
