"""The two backends of the torch plug-in against each other, over every choice and edge rule, and
both against the golden values."""

import itertools
import math
import unittest

import numpy as np
from support import GOLDEN, Case, load_golden, torch_or_skip

torch = torch_or_skip()

from stablegrad import StableGrad  # noqa: E402

SHAPES = {"a.weight": (30, 7), "a.bias": (30,), "b.weight": (5000,), "b.bias": (1,), "c": (1,)}


def parameters(dtype, **special):
    """Named parameters with gradients of very different scales; `special` fills some of them."""
    generator = torch.Generator().manual_seed(7)
    result = []
    for i, (name, shape) in enumerate(SHAPES.items()):
        g = 10.0 ** (3 - 3 * i) * (torch.randn(shape, generator=generator).double() + 0.3)
        value = special.get(name.replace(".", "_"))
        if value is not None:
            g = torch.as_tensor(value, dtype=torch.float64).expand(shape).clone()
        parameter = torch.nn.Parameter(torch.zeros(shape, dtype=dtype))
        parameter.grad = g.to(dtype)
        result.append((name, parameter))
    return result


def run(backend, dtype, special, signal=None, **options):
    """(report, gradients) of one step; `signal` stands for dL/du or the residuals."""
    named = parameters(dtype, **special)
    sg = StableGrad(named, backend=backend, **options)
    u = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    u.grad = torch.linspace(-1, 3, 8, dtype=torch.float64) if signal is None else signal
    report = sg.apply(u, residual=u.grad)
    return report, [p.grad for _, p in named]


class AgreementTest(Case):
    def agree(self, dtype=torch.float64, special={}, **options):
        first, gradients = run("c", dtype, special, **options)
        second, others = run("torch", dtype, special, **options)
        a, b = first.as_dict(), second.as_dict()
        for x, y in zip(a.pop("blocks"), b.pop("blocks")):
            self.same(x, y)
        self.same(a, b)
        tolerance = 1e-12 if dtype == torch.float64 else 2e-7
        for g, h in zip(gradients, others):
            if g is None or h is None:
                self.assertIs(g, h)
            else:
                self.assert_relative(g, h, tolerance)
        return first, gradients

    def same(self, a, b):
        self.assertEqual(a.keys(), b.keys())
        for key, x in a.items():
            if isinstance(x, float) and math.isfinite(x):
                self.assert_relative(x, b[key], 1e-12)
            elif isinstance(x, float):
                self.assertFalse(math.isfinite(b[key]))
            else:
                self.assertEqual(x, b[key], key)

    def test_every_choice(self):
        for dtype, reference, blocks, method in itertools.product(
                (torch.float32, torch.float64), ("output", "residual", "norm", "inner", 0.5),
                ("layer", "tensor", "weight", "all"),
                ("stablegrad", "sign", "none", "znorm", "agc")):
            with self.subTest(dtype=dtype, reference=reference, blocks=blocks, method=method):
                report, _ = self.agree(dtype, reference=reference, blocks=blocks, method=method)
                self.assertEqual(report.outcome, "inactive" if method == "none" else "scaled")

    def test_agc_clips_each_row(self):
        named = parameters(torch.float64)
        weight = named[0][1]
        with torch.no_grad():
            weight.copy_(torch.arange(210.0).reshape(30, 7) + 1)
        before = weight.grad.clone()
        for backend in ("c", "torch"):
            weight.grad = before.clone()
            report = StableGrad(named, method="agc", blocks="tensor", backend=backend).apply()
            most = 0.01 * weight.detach().norm(dim=1)
            expected = before * torch.clamp(most / before.norm(dim=1), max=1.0)[:, None]
            self.assert_relative(weight.grad, expected, 1e-12)
            self.assert_relative(report.blocks[0].factor, expected.norm() / before.norm(), 1e-12)

    def test_agc_of_a_transposed_weight(self):
        weight = torch.nn.Parameter((torch.arange(35.0).reshape(7, 5) + 1).t())
        gradient = torch.arange(35.0).reshape(5, 7) - 3
        results = []
        for backend in ("c", "torch"):
            weight.grad = gradient.t().contiguous().t()
            StableGrad([("w", weight)], method="agc", backend=backend).apply()
            results.append(weight.grad.clone())
        self.assert_relative(results[0], results[1], 2e-7)
        self.assert_relative(results[0].norm(dim=1), 0.01 * weight.detach().norm(dim=1), 1e-6)

    def test_znorm_centres(self):
        for backend in ("c", "torch"):
            named = parameters(torch.float64)
            g = named[0][1].grad.clone()
            StableGrad(named, method="znorm", blocks="tensor", eps=0.0, backend=backend).apply()
            self.assert_relative(named[0][1].grad, (g - g.mean()) / g.std(unbiased=False), 1e-11)

    def test_no_spread_and_zero(self):
        for value in (0.1, 0.0):
            report, gradients = self.agree(special={"b_weight": value}, blocks="tensor")
            self.assertEqual(report.blocks[2].factor, 1)
            self.assertEqual(set(gradients[2].tolist()), {value})

    def test_equal_numbers_in_two_tensors(self):
        for value in (0.1, 1 / 3, 1e5 / 7, 1e-9 / 11):
            report, _ = self.agree(special={"a_weight": value, "a_bias": value})
            self.assertEqual((report.blocks[0].std, report.blocks[0].factor), (0, 1))

    def test_one_element_zero(self):
        report, _ = self.agree(special={"c": 0.0})
        self.assertEqual(report.blocks[-1].factor, 1)

    def test_overflow_leaves_the_block(self):
        for dtype, tiny in ((torch.float32, 1e-40), (torch.float64, 1e-310)):
            values = tiny * np.arange(1.0, 5001.0)
            report, _ = self.agree(dtype, {"b_weight": values}, reference=1e4, eps=0.0,
                                   blocks="tensor")
            self.assertEqual(report.blocks[2].factor, 1)
            self.assertNotEqual(report.blocks[0].factor, 1)

    def test_underflow_leaves_the_block(self):
        values = 2e33 * np.arange(1.0, 5001.0)
        report, _ = self.agree(torch.float32, {"b_weight": values}, reference=1e-5, blocks="tensor")
        self.assertEqual(report.blocks[2].factor, 1)

    def test_no_reference(self):
        report, gradients = self.agree(signal=torch.zeros(8, dtype=torch.float64))
        self.assertEqual(report.outcome, "no reference")
        for g, (_, p) in zip(gradients, parameters(torch.float64)):
            self.assertTrue(torch.equal(g, p.grad))

    def test_not_finite(self):
        for bad in (math.inf, -math.inf, math.nan):
            report, gradients = self.agree(special={"a_bias": bad})
            self.assertEqual(report.outcome, "not finite")
            self.assertEqual([b.finite for b in report.blocks], [False, True, True])
            self.assertEqual(gradients, [None] * 5)
            signal = torch.zeros(8, dtype=torch.float64)
            signal[3] = bad
            report, _ = self.agree(signal=signal)
            self.assertEqual((report.outcome, report.signal_finite), ("not finite", False))

    def test_guard_outside_the_window(self):
        report, _ = self.agree(special={"c": math.nan}, start=5)
        self.assertEqual(report.outcome, "not finite")


class HalfTest(Case):
    def test_sixteen_bits(self):
        for dtype in (torch.float16, torch.bfloat16):
            named = parameters(dtype, b_weight=1e-4 * np.arange(5000))
            raw = [p.grad.double() for _, p in named]
            report = StableGrad(named, reference=0.01, blocks="tensor").apply()
            self.assertEqual(report.outcome, "scaled")
            for block, g, (_, p) in zip(report.blocks, raw, named):
                std = g.abs().item() if g.numel() == 1 else g.std(unbiased=False)
                self.assert_relative(block.std, std, 1e-12)
                error = (p.grad.double() - block.factor * g).abs().max()
                self.assertLessEqual(error, torch.finfo(dtype).eps * (block.factor * g).abs().max())

    def test_values_that_would_overflow_are_left(self):
        named = parameters(torch.float16, b_weight=np.arange(5000.0))
        report = StableGrad(named, reference=1e5, blocks="tensor").apply()
        self.assertEqual(report.blocks[2].factor, 1)


class GoldenTest(Case):
    def test_factors_and_references(self):
        self.assertTrue(GOLDEN)
        for path, backend in itertools.product(GOLDEN, ("c", "torch")):
            golden, gradients = load_golden(path)
            named = [(n, torch.nn.Parameter(torch.zeros(g.shape, dtype=torch.float64)))
                     for n, g in gradients.items()]
            for reference, c, alpha in (("output", "sigma_out", "alpha_output"),
                                        ("residual", "sigma_residual", "alpha_residual"),
                                        ("norm", "c_norm", None), ("inner", "c_inner", None)):
                for name, p in named:
                    p.grad = torch.from_numpy(gradients[name].copy())
                sg = StableGrad(named, reference=reference, eps=golden["epsilon"], backend=backend)
                report = sg.apply(scale=golden[c])
                self.assert_relative(report.reference, golden[c], 1e-12)
                for block, expected in zip(report.blocks, golden["blocks"]):
                    self.assert_relative(block.std, expected["std"], 1e-12)
                    if alpha:
                        self.assert_relative(block.factor, expected[alpha], 1e-12)


if __name__ == "__main__":
    unittest.main()
