"""Writes what PyTorch computes for a whole network: weights, a batch, and the results.

networks.py MODEL NORM BATCH SIZE CLASSES FILE: MODEL of torchvision (resnet18, resnet50,
efficientnet_v2_s) with NORM batch, none, group or layer, in training mode without dropout and
stochastic depth. FILE is a safetensors file with the state dict before the step (float), `images`,
`labels`, and `logits`, `loss`, `signal` (dL/dlogits), `grad.NAME` for every parameter, `after.NAME` for
the running statistics after the step and `eval` (the logits in evaluation mode after it).

Norm weights and biases are random; the last norm of a block has small weights, as trained networks
have, because at PyTorch's start a ResNet-50 with BatchNorm multiplies rounding errors: its float
gradients are 24% away from its double ones there.
"""
import math
import sys

import torch
import torchvision
from torchvision.models import efficientnet

import safetensors


def norm_layer(kind, eps):
    if kind == "batch":
        return lambda channels: torch.nn.BatchNorm2d(channels, eps=eps)
    if kind == "group":
        return lambda channels: torch.nn.GroupNorm(math.gcd(32, channels), channels, eps=eps)
    if kind == "layer":
        return lambda channels: torch.nn.GroupNorm(1, channels, eps=eps)
    return lambda channels: torch.nn.Identity()


def build(model, kind, classes, dropout=0.0, drop_path=0.0):
    """Dropout and stochastic depth off by default, so that the result has no chance in it."""
    if model == "efficientnet_v2_s":
        stages, last = efficientnet._efficientnet_conf(model)
        return efficientnet.EfficientNet(stages, dropout, drop_path, num_classes=classes,
                                         norm_layer=norm_layer(kind, 1e-3), last_channel=last)
    maker = getattr(torchvision.models, model)
    return maker(weights=None, num_classes=classes, norm_layer=norm_layer(kind, 1e-5))


def calibrate(net, images):
    """Unit std at every convolution and linear output, in order: gradients of a sensible size."""
    def hook(module, inputs, output):
        scale = output.std(unbiased=False)
        module.weight.data /= scale
        return output / scale
    layers = [m for m in net.modules() if isinstance(m, (torch.nn.Conv2d, torch.nn.Linear))]
    handles = [m.register_forward_hook(hook) for m in layers]
    with torch.no_grad():
        net(images)
    for handle in handles:
        handle.remove()


def pack(tensor):
    array = tensor.detach().contiguous().numpy()
    kinds = {"float32": "F32", "int64": "I64", "float64": "F64"}
    return kinds[str(array.dtype)], array.shape, array.tobytes()


def randomise(net):
    """Random norms and running statistics; small weights where a block's branch ends."""
    for name, module in net.named_modules():
        if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.GroupNorm)):
            last = name.endswith(("bn3", "block.1.1", "block.3.1"))
            torch.nn.init.uniform_(module.weight, *((0.02, 0.1) if last else (0.5, 1.5)))
            torch.nn.init.normal_(module.bias, std=0.1)


def step(net, images, labels):
    """All results of a training step and of the evaluation after it."""
    results = {}
    net.train()
    logits = net(images)
    logits.retain_grad()
    loss = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
    loss.backward()
    results.update(logits=logits, loss=loss, signal=logits.grad)
    results.update({"grad." + name: value.grad for name, value in net.named_parameters()})
    results.update({"after." + name: value.clone() for name, value in net.named_buffers()
                    if value.dtype.is_floating_point})
    net.eval()
    with torch.no_grad():
        results["eval"] = net(images)
    return results


def main():
    model, kind, path = sys.argv[1], sys.argv[2], sys.argv[6]
    batch, size, classes = (int(a) for a in sys.argv[3:6])
    torch.manual_seed(1)
    torch.set_num_threads(2)
    net = build(model, kind, classes)
    images = torch.randn(batch, 3, size, size)
    labels = torch.randint(classes, (batch,))
    if kind == "none":
        calibrate(net, images)
    randomise(net)
    tensors = {name: pack(value.clone()) for name, value in net.state_dict().items()}
    tensors.update(images=pack(images), labels=pack(labels))
    tensors.update({name: pack(value) for name, value in step(net, images, labels).items()})
    safetensors.write(path, tensors, {"model": model, "norm": kind})


if __name__ == "__main__":
    main()
