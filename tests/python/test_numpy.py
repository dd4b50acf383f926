"""The NumPy level: Parameters, Scaler, Optimizer, schedules, and where the library is found."""

import json
import math
import os
import re
import subprocess
import sys
import unittest

import numpy as np
from support import GOLDEN, ROOT, Case, load_golden

import stablegrad
from stablegrad import Optimizer, Parameters, Scaler, schedule


def gradients(dtype=np.float64):
    rng = np.random.default_rng(0)
    return {"a.weight": (1e-5 * rng.standard_normal((40, 30))).astype(dtype),
            "a.bias": (1e-5 * rng.standard_normal(40)).astype(dtype),
            "b.weight": (3 + 1e2 * rng.standard_normal(77)).astype(dtype)}


class GoldenTest(Case):
    def test_factors_and_references(self):
        self.assertTrue(GOLDEN)
        for path in GOLDEN:
            golden, grads = load_golden(path)
            for reference, c, alpha in (("output", golden["sigma_out"], "alpha_output"),
                                        ("residual", golden["sigma_residual"], "alpha_residual"),
                                        ("norm", golden["c_norm"], None),
                                        ("inner", golden["c_inner"], None)):
                with self.subTest(path=path.name, reference=reference):
                    scaler = Scaler(grads, reference=reference, eps=golden["epsilon"])
                    if alpha:
                        scaler.observe(c)
                    report = scaler.measure(0)
                    self.assert_relative(report.reference, c, 1e-12)
                    self.assertEqual(len(report.blocks), len(golden["blocks"]))
                    for block, expected in zip(report.blocks, golden["blocks"]):
                        self.assert_relative(block.std, expected["std"], 1e-12)
                        self.assert_relative(block.norm2, expected["norm2"], 1e-12)
                        if alpha:
                            self.assert_relative(block.factor, expected[alpha], 1e-12)

    def test_adamw_step(self):
        for path in GOLDEN:
            golden, grads = load_golden(path)
            values = {}
            for i, (w, b) in enumerate(zip(golden["weights"], golden["biases"])):
                values[f"layers.{i}.weight"], values[f"layers.{i}.bias"] = np.array(w), np.array(b)
            params = Parameters({n: (values[n], grads[n]) for n in values})
            scaler = Scaler(params, eps=golden["epsilon"])
            optimizer = Optimizer(params, "adamw", rate=1e-3, decay=0)
            scaler.observe(golden["sigma_out"])
            scaler.measure(0)
            step = optimizer.step(scaler)
            self.assertEqual((step.step, step.skipped, step.rate), (0, False, 1e-3))
            for i, after in enumerate(golden["after_step_weights"]):
                np.testing.assert_allclose(values[f"layers.{i}.weight"], after, rtol=0, atol=1e-12)


class ScalerTest(Case):
    def test_scales_in_place(self):
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
            grads = gradients(dtype)
            raw = {n: g.astype(float) for n, g in grads.items()}
            signal = np.random.default_rng(1).standard_normal((50, 2))
            with Scaler(grads, eps=1e-3) as scaler:
                scaler.observe(signal[:20])
                scaler.observe(signal[20:])
                report = scaler.measure(0)
                scaler.apply()
            block = np.concatenate([raw["a.weight"].ravel(), raw["a.bias"]])
            alpha = signal.std() / (block.std() + 1e-3)
            self.assertEqual([b.name for b in report.blocks], ["a", "b"])
            self.assert_relative(report.reference, signal.std(), 1e-12)
            self.assert_relative(report.blocks[0].factor, alpha, 1e-12)
            self.assert_relative(grads["a.weight"], alpha * raw["a.weight"], tolerance)
            self.assert_relative(grads["a.bias"], alpha * raw["a.bias"], tolerance)
            ratio = raw["b.weight"].std() / block.std()
            self.assert_relative(report.ratio_raw, ratio, 1e-12)
            self.assertLess(report.ratio_scaled, ratio)

    def test_spans_as_tuples(self):
        g = gradients()
        spans = [("x", g["a.weight"], 0, "weight"), ("y", g["a.bias"], "top", "bias"),
                 ("z", g["b.weight"], 0, "weight")]
        report = Scaler(spans, reference=2.0).measure(0)
        self.assertEqual([b.count for b in report.blocks], [1200 + 77, 40])
        report = Scaler(spans, reference=2.0, blocks="weight").measure(0)
        self.assertEqual([b.factor == 1 for b in report.blocks], [False, True, False])

    def test_every_choice(self):
        for method in ("stablegrad", "sign", "none"):
            for reference in ("output", "residual", "norm", "inner", 0.5):
                for blocks, count in (("layer", 2), ("tensor", 3), ("weight", 3), ("all", 1)):
                    grads = gradients()
                    scaler = Scaler(grads, method=method, reference=reference, blocks=blocks,
                                    threads=2)
                    scaler.observe(np.arange(5.0))
                    report = scaler.measure(3)
                    scaler.apply()
                    self.assertEqual(len(report.blocks), count)
                    self.assertEqual(report.outcome,
                                     "inactive" if method == "none" else "scaled")
                    if method == "sign":
                        self.assertEqual(set(np.abs(grads["a.weight"]).ravel()), {1.0})

    def test_window_and_counters(self):
        scaler = Scaler(gradients(), reference="norm", start=2, until=4)
        outcomes = [scaler.measure(step).outcome for step in range(5)]
        self.assertEqual(outcomes, ["inactive"] * 2 + ["scaled"] * 2 + ["inactive"])
        self.assertEqual((scaler.report.steps_scaled, scaler.report.steps_inactive), (2, 3))
        scaler.set_counters(dict(steps_scaled=10, steps_inactive=0, steps_no_reference=3,
                                 steps_not_finite=1))
        scaler.measure(2)
        self.assertEqual((scaler.report.steps_scaled, scaler.report.steps_no_reference), (11, 3))

    def test_edges(self):
        grads = gradients()
        scaler = Scaler(grads)
        scaler.observe_zeros(10)
        self.assertEqual(scaler.measure(0).outcome, "no reference")
        grads["b.weight"][5] = math.nan
        before = grads["a.weight"].copy()
        scaler.observe(1.0)
        report = scaler.measure(1)
        scaler.apply()
        self.assertTrue(report.skipped)
        self.assertEqual([b.finite for b in report.blocks], [True, False])
        np.testing.assert_array_equal(grads["a.weight"], before)

    def test_reduction_over_ranks(self):
        def two_equal_ranks(values):
            values *= 2

        def broken(values):
            raise OSError("the network is down")
        signal = np.arange(7.0)
        scaler = Scaler(gradients(), reduce=two_equal_ranks)
        scaler.observe(signal)
        self.assert_relative(scaler.measure(0).reference, signal.std(), 1e-12)
        scaler = Scaler(gradients(), reduce=broken)
        scaler.observe(signal)
        with self.assertRaisesRegex(OSError, "network is down"):
            scaler.measure(0)

    def test_report_is_json(self):
        report = Scaler(gradients(), reference="norm").measure(0)
        again = json.loads(json.dumps(report.as_dict()))
        self.assertEqual(again["blocks"][1]["name"], "b")
        self.assertEqual(set(report.scales()["a"]), {"std", "factor", "scaled_std"})


class ErrorTest(Case):
    def test_arrays(self):
        g = np.zeros((4, 4))
        frozen = g.copy()
        frozen.flags.writeable = False
        self.fails("must be a NumPy array, not list", Scaler, {"w": [1.0]})
        self.fails("the gradient of 'w' is <i8", Scaler, {"w": g.astype("<i8")})
        self.fails("native", Scaler, {"w": g.astype(">f8")})
        self.fails("not contiguous", Scaler, {"w": g[:, :2]})
        self.fails("is empty", Scaler, {"w": g[:0]})
        self.fails("writeable", Scaler, {"w": frozen})
        self.fails("the value is float64[4, 4], the gradient float64[4]", Scaler, {"w": (g, g[0])})
        self.fails("no parameters", Scaler, {})
        self.fails("neither", Scaler, [("w", None, None)])
        self.fails("2 items", Scaler, [("w", g)])
        self.fails("role of 'w' is 'gain'", Scaler, [("w", g, 0, "gain")])
        error = self.fails("registered already", Scaler, [("w", g, 0, "bias")] * 2)
        self.assertEqual(error.status, 4)

    def test_choices(self):
        g = gradients()
        self.fails("method is 'x'; it must be one of stablegrad, sign, none, znorm, agc", Scaler, g, method="x")
        self.fails("output, residual", Scaler, g, reference="outputs")
        self.fails("give the number itself", Scaler, g, reference="constant")
        self.fails("> 0", Scaler, g, reference=-1)
        self.fails("must be a number", Scaler, g, reference=None)
        self.fails("blocks is 'layers'", Scaler, g, blocks="layers")
        self.fails("eps is -1.0", Scaler, g, eps=-1)
        self.fails("window is [5, 3)", Scaler, g, start=5, until=3)
        self.fails("isa is 'mmx'", Scaler, g, isa="mmx")

    def test_order_and_signal(self):
        scaler = Scaler(gradients())
        self.fails("needs another call before it", scaler.apply)
        self.fails("none was observed this step", scaler.measure, 0)
        self.fails("outside its documented range", scaler.observe, -1.0)
        scaler.close()
        self.fails("used after close()", scaler.measure, 0)

    def test_binding(self):
        params = Parameters(gradients())
        self.fails("no parameter 'c'", params.bind, "c", None)
        self.fails("it was float64[40]", params.bind, "a.bias", np.zeros(41))
        params.bind("b.weight", None)
        report = Scaler(params, reference=1.0).measure(0)
        self.assertEqual((report.blocks[1].count, report.blocks[1].factor), (0, 1))

    def test_optimizer(self):
        p = {"w": (np.ones(3), np.ones(3))}
        self.fails("kind is 'lion'", Optimizer, p, "lion")
        self.fails("an option is 'lr'", Optimizer, p, lr=1)
        self.fails("documented range", Optimizer, p, rate=-1)
        self.fails("documented range", Optimizer, {"w": np.ones(3)})
        optimizer = Optimizer(p)
        other = Scaler(gradients(), reference=1.0)
        other.measure(0)
        self.fails("different parameter sets", optimizer.step, other)
        self.fails("does not belong", optimizer.restore, b"x" * len(optimizer.state()))
        self.fails("must be bytes", optimizer.restore, "x")


class OptimizerTest(Case):
    def test_against_the_formula(self):
        value, gradient = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, -1.0])
        optimizer = Optimizer([("w", value, gradient)], "sgd", rate=0.1, momentum=0.9, decay=0.01)
        expected, velocity = value.copy(), 0.0
        for _ in range(20):
            velocity = 0.9 * velocity + gradient + 0.01 * expected
            expected = expected - 0.1 * velocity
            optimizer.step()
        self.assert_relative(value, expected, 1e-13)

    def test_state_and_rates(self):
        def make():
            value = np.linspace(1, 2, 9, dtype=np.float32)
            return value, Optimizer([("w", value, np.cos(value))], rate=0.01,
                                    schedule=[schedule.warmup(4, 0.5), schedule.cosine(20)])
        value, first = make()
        for _ in range(5):
            first.step()
        saved_value, saved = value.copy(), first.state()
        first.step()
        value2, second = make()
        value2[:] = saved_value
        second.restore(saved)
        self.assertEqual((second.steps, second.skipped), (5, 0))
        second.step()
        np.testing.assert_array_equal(value, value2)
        self.assert_relative(second.rate, 0.01 * (1 + math.cos(math.pi * 6 / 20)) / 2, 1e-14)
        second.rate = 0.0
        second.step()
        second.rate = 0.01
        second.set_rate_factor("w", 0)
        second.step()
        np.testing.assert_array_equal(value, value2)

    def test_clipping_and_skipping(self):
        gradient = np.full(4, 3.0)
        optimizer = Optimizer([("w", np.zeros(4), gradient)], "sgd", rate=1.0, clip_norm=1.0)
        step = optimizer.step()
        self.assert_relative(step.gradient_norm, 6.0, 1e-14)
        self.assert_relative(step.clip_factor, 1 / (6 + 1e-6), 1e-14)
        gradient[0] = np.inf
        self.assertTrue(optimizer.step().skipped)
        self.assertEqual((optimizer.steps, optimizer.skipped), (2, 1))

    def test_schedules(self):
        terms = [schedule.constant(0.5), schedule.interval(3, 5, 0.1)]
        self.assertEqual([round(schedule.factor(terms, s), 12) for s in (2, 3, 4, 5)],
                         [0.5, 0.05, 0.05, 0.5])


class PackageTest(Case):
    def python(self, code, **environment):
        keep = {k: v for k, v in os.environ.items() if k != "STABLEGRAD_LIBRARY"}
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**keep, "PYTHONPATH": str(ROOT / "python"), **environment})

    def test_version_is_the_header_s(self):
        text = (ROOT / "include/stablegrad/version.h").read_text()
        numbers = re.findall(r"#define SG_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
        self.assertEqual(stablegrad.__version__, ".".join(numbers))

    def test_numpy_level_does_not_import_torch(self):
        code = "import sys, stablegrad; stablegrad.Scaler; sys.exit('torch' in sys.modules)"
        self.assertEqual(self.python(code).returncode, 0)

    def test_library_of_the_environment_is_the_one(self):
        code = "import stablegrad; stablegrad.schedule.constant(1)"
        result = self.python(code, STABLEGRAD_LIBRARY="/nowhere/libstablegrad.so")
        self.assertIn("STABLEGRAD_LIBRARY=/nowhere/libstablegrad.so", result.stderr)

    @unittest.skipUnless(sys.platform == "linux", "names the C library of Linux")
    def test_another_library_is_refused(self):
        code = "import stablegrad; stablegrad.schedule.constant(1)"
        result = self.python(code, STABLEGRAD_LIBRARY="libc.so.6")
        self.assertIn("has no function sg_version", result.stderr)

    def test_names_are_the_library_s(self):
        from stablegrad import _library as c
        self.assertEqual(tuple(c.OPTIMIZERS)[:3], ("adamw", "adam", "sgd"))
        self.assertEqual(tuple(c.ISAS)[:2], ("auto", "generic"))
        self.assertEqual(c.ROLES.index("bias"), 1)
        self.assertEqual(tuple(c.SHARDINGS), ("replicated", "sharded"))

    def test_library_with_other_names_is_refused(self):
        code = ("from stablegrad import _library as c\n"
                "c._KNOWN['sg_reference_name'] = ('output', 'constant')\n"
                "c.library()")
        result = self.python(code)
        self.assertIn("has output, residual, norm, inner, constant", result.stderr)
        self.assertIn("(sg_reference_name), this package output, constant", result.stderr)

    def test_importable_without_the_library(self):
        code = "import stablegrad; stablegrad.Scaler"
        self.assertEqual(self.python(code, STABLEGRAD_LIBRARY="/nowhere").returncode, 0)

    def test_unknown_attribute(self):
        with self.assertRaises(AttributeError):
            stablegrad.stable_grad


if __name__ == "__main__":
    unittest.main()
