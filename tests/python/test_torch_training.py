"""Whole trainings: the plug-in against the method written a second time, in plain torch below.

The factor is formed in double and rounded once in both, so even a network that amplifies rounding
errors ends within 1e-6 after 50 steps."""

import unittest

from support import Case, torch_or_skip

torch = torch_or_skip()

from torch import nn  # noqa: E402

from stablegrad import StableGrad  # noqa: E402

STEPS = 50


def scale_by_hand(model, adjoint, eps=1e-8):
    """StableGrad, reference "output", blocks "layer", as the paper states it."""
    c = adjoint.double().std(unbiased=False)
    for module in model.modules():
        own = [p for p in module.parameters(recurse=False) if p.grad is not None]
        if own:
            sigma = torch.cat([p.grad.double().flatten() for p in own]).std(unbiased=False)
            alpha = (c / (sigma + eps)).item()
            for p in own:
                p.grad = alpha * p.grad


def train(make_model, make_batch, make_loss, make_optimizer, backend):
    """(losses, final parameters); `backend` None: by hand."""
    torch.manual_seed(0)
    model = make_model()
    optimizer = make_optimizer(model.parameters())
    sg = StableGrad(model, backend=backend) if backend else None
    losses = []
    for step in range(STEPS):
        x, y = make_batch(step)
        optimizer.zero_grad()
        u = model(x)
        if sg is None:
            u.retain_grad()
        loss = make_loss(u, y)
        loss.backward()
        if sg is None:
            scale_by_hand(model, u.grad)
        else:
            assert sg.apply(u).outcome == "scaled"
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach() for p in model.parameters()]


class TrainingTest(Case):
    def compare(self, *parts):
        losses, expected = train(*parts, None)
        self.assertLess(losses[-1], 0.9 * losses[0])  # it does train
        for backend in ("c", "torch"):
            again, values = train(*parts, backend)
            self.assert_relative(again, losses, 1e-6)
            for a, b in zip(values, expected):
                self.assertLessEqual((a - b).norm().item(), 1e-6 * b.norm().item())

    def test_mlp_adamw(self):
        def model():
            layers = [nn.Linear(2, 32), nn.Tanh()]
            for _ in range(6):
                layers += [nn.Linear(32, 32), nn.Tanh()]
            return nn.Sequential(*layers, nn.Linear(32, 1))

        def batch(step):
            x = torch.rand(64, 2, generator=torch.Generator().manual_seed(step))
            return x, torch.sin(3 * x[:, :1]) * x[:, 1:]
        self.compare(model, batch, nn.functional.mse_loss,
                     lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0))

    def test_resnet18_sgd(self):
        try:
            from torchvision.models import resnet18
        except ImportError:
            self.skipTest("torchvision is not installed")

        def batch(step):
            generator = torch.Generator().manual_seed(step % 2)
            return (torch.randn(4, 3, 32, 32, generator=generator),
                    torch.randint(10, (4,), generator=generator))
        self.compare(lambda: resnet18(num_classes=10), batch, nn.functional.cross_entropy,
                     lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=2e-5))


if __name__ == "__main__":
    unittest.main()
