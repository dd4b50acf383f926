"""The hand-over of a torch optimizer's moments between rescaled and raw gradients."""

import copy
import itertools
import unittest
import warnings

import numpy as np

from support import Case, torch_or_skip

torch = torch_or_skip()

from torch import nn  # noqa: E402

import stablegrad  # noqa: E402
from stablegrad import StableGrad  # noqa: E402

STEPS, SWITCH = 40, 20
OPTIMIZERS = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, eps=0),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, eps=0, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, eps=0, momentum=0.9, centered=True),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01, eps=0),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01, eps=0),
}


def model_of(dtype=torch.float64):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)).to(dtype)


def set_gradients(model, step, drifting=False):
    """Gradients that depend on the step alone, of another size in each layer."""
    generator = torch.Generator().manual_seed(step if drifting else 0)
    for name, parameter in model.named_parameters():
        size = (1e-2 if name.startswith("0") else 3.0) * (0.9**step if drifting else 1)
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.grad = (size * (noise + 0.3)).to(parameter.dtype)


def run(model, optimizer, sg, steps, drifting=False):
    """Takes the steps; returns those that handed over."""
    handed_over = []
    for step in steps:
        set_gradients(model, step, drifting)
        if sg.apply(scale=0.05).handed_over:
            handed_over.append(step)
        optimizer.step()
    return handed_over


def values(model):
    return torch.cat([p.detach().double().flatten() for p in model.parameters()])


class ConstantFactorsTest(Case):
    """A constant factor drops out of these optimizers: switching must not show."""

    def distance(self, kind, dtype, backend, start, until, how):
        model, plain = model_of(dtype), model_of(dtype)
        optimizer, other = OPTIMIZERS[kind](model.parameters()), OPTIMIZERS[kind](plain.parameters())
        sg = StableGrad(model, start=start, until=until, backend=backend, optimizer=optimizer,
                        handover=how)
        off = StableGrad(plain, method="none")
        events = run(model, optimizer, sg, range(STEPS))
        run(plain, other, off, range(STEPS))
        self.assertEqual(events, [s for s in (start, until) if 0 < s < STEPS])
        return (values(model) - values(plain)).abs().max().item()

    def test_trajectory_is_unchanged(self):
        windows = ((0, SWITCH), (SWITCH, STEPS), (10, 30))
        for kind, window in itertools.product(OPTIMIZERS, windows):
            with self.subTest(kind=kind, window=window):
                self.assertLess(self.distance(kind, torch.float64, "c", *window, "convert"), 1e-12)
                self.assertGreater(self.distance(kind, torch.float64, "c", *window, "keep"), 1e-3)
        self.assertLess(self.distance("adamw", torch.float32, "c", 0, SWITCH, "convert"), 1e-5)
        self.assertLess(self.distance("adamw", torch.float64, "torch", 10, 30, "convert"), 1e-12)


class AgainstTheLibraryTest(Case):
    """Whatever the factors: the same as the C library's own optimizers."""

    def library(self, kind, method, clip, **options):
        model = model_of()
        arrays = {name: (p.detach().numpy().copy(), np.zeros(tuple(p.shape)))
                  for name, p in model.named_parameters()}
        params = stablegrad.Parameters(arrays)
        scaler = stablegrad.Scaler(params, method=method, start=5, until=30)
        optimizer = stablegrad.Optimizer(params, kind, rate=0.01, **options)
        events = []
        for step in range(STEPS):
            set_gradients(model, step, True)
            for name, p in model.named_parameters():
                arrays[name][1][...] = p.grad.numpy()
            scaler.observe(0.05)
            scaler.measure(step)
            if optimizer.step(scaler).handed_over:
                events.append(step)
        return np.concatenate([v.ravel() for v, _ in arrays.values()]), events

    def test_same_values(self):
        pairs = (("adamw", {"decay": 0.01}, lambda p: torch.optim.AdamW(p, lr=0.01)),
                 ("sgd", {"momentum": 0.9}, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)))
        for (kind, options, make), method in itertools.product(
                pairs, ("stablegrad", "sign", "znorm", "agc")):
            with self.subTest(kind=kind, method=method):
                expected, events = self.library(kind, method, 0, **options)
                for backend in ("c", "torch"):
                    model = model_of()
                    optimizer = make(model.parameters())
                    sg = StableGrad(model, method=method, start=5, until=30, backend=backend,
                                    optimizer=optimizer)
                    self.assertEqual(run(model, optimizer, sg, range(STEPS), True), events)
                    self.assertEqual(events, [5, 30])
                    self.assert_relative(values(model).numpy(), expected, 1e-11)


class RulesTest(Case):
    def test_restart(self):
        model = model_of()
        optimizer = torch.optim.AdamW(model.parameters())
        sg = StableGrad(model, until=3, blocks="weight", optimizer=[optimizer], handover="restart")
        run(model, optimizer, sg, range(4), True)
        for name, parameter in model.named_parameters():
            # Biases were never rescaled: they keep what they had.
            self.assertEqual(int(optimizer.state[parameter]["step"]),
                             4 if name.endswith("bias") else 1)

    def test_never_rescaled_is_untouched(self):
        results = []
        for method in ("stablegrad", "none"):
            model = model_of()
            optimizer = torch.optim.AdamW(model.parameters())
            sg = StableGrad(model, start=2, until=9, blocks="weight", method=method,
                            optimizer=optimizer)
            run(model, optimizer, sg, range(20), True)
            results.append(model)
        for (name, a), (_, b) in zip(*(m.named_parameters() for m in results)):
            self.assertEqual(torch.equal(a, b), name.endswith("bias"), name)

    def test_resume_on_either_side(self):
        whole = model_of(torch.float32)
        optimizer = torch.optim.AdamW(whole.parameters())
        sg = StableGrad(whole, start=5, until=SWITCH, optimizer=optimizer)
        saved = {}
        for step in range(STEPS):
            if step in (3, 10, SWITCH - 1, SWITCH, SWITCH + 1):
                saved[step] = copy.deepcopy((whole.state_dict(), optimizer.state_dict(),
                                             sg.state_dict()))
            run(whole, optimizer, sg, [step], True)
        for step, (weights, moments, scaling) in saved.items():
            part = model_of(torch.float32)
            other = torch.optim.AdamW(part.parameters())
            again = StableGrad(part, start=5, until=SWITCH, optimizer=other)
            part.load_state_dict(weights)
            other.load_state_dict(moments)
            again.load_state_dict(scaling)
            run(part, other, again, range(step, STEPS), True)
            self.assertTrue(torch.equal(values(part), values(whole)), f"resumed at {step}")

    def test_a_skipped_step_hands_nothing_over(self):
        model = model_of()
        optimizer = torch.optim.AdamW(model.parameters())
        sg = StableGrad(model, until=2, optimizer=optimizer)
        run(model, optimizer, sg, range(2))
        set_gradients(model, 2)
        model[0].weight.grad[0, 0] = float("nan")
        self.assertFalse(sg.apply(scale=0.05).handed_over)
        self.assertEqual(run(model, optimizer, sg, [3]), [3])

    def test_what_cannot_be_converted_is_said(self):
        class Odd(torch.optim.Adam):
            def step(self, closure=None):
                super().step(closure)
                for parameter in self.param_groups[0]["params"]:
                    self.state[parameter]["curvature"] = torch.ones_like(parameter)

        model = model_of()
        optimizer = Odd(model.parameters())
        sg = StableGrad(model, until=3, optimizer=optimizer)
        run(model, optimizer, sg, range(3))
        before = copy.deepcopy(optimizer.state_dict())
        set_gradients(model, 3)
        with self.assertWarnsRegex(UserWarning, "Odd.*curvature"):
            sg.apply(scale=0.05)
        for key, state in optimizer.state_dict()["state"].items():
            self.assertTrue(torch.equal(state["exp_avg"], before["state"][key]["exp_avg"]))

    def test_no_optimizer_is_said_unless_kept(self):
        model = model_of()
        optimizer = torch.optim.AdamW(model.parameters())
        sg = StableGrad(model, until=3)
        with self.assertWarnsRegex(UserWarning, "optimizer=.*keep"):
            run(model, optimizer, sg, range(5))
        kept = StableGrad(model, until=3, handover="keep")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(run(model, optimizer, kept, range(5)), [3])

    def test_mistakes(self):
        self.fails("handover", StableGrad, model_of(), handover="drop")
        self.fails("optimizer is str", StableGrad, model_of(), optimizer="adamw")
        sg = StableGrad(model_of())
        state = sg.state_dict()
        state["handover"]["records"]["0.weight"] = [-1, 1]
        self.fails("cannot be", sg.load_state_dict, state)
        self.fails("not a state_dict", sg.load_state_dict, {"step": 0, "counters": state["counters"]})


if __name__ == "__main__":
    unittest.main()
