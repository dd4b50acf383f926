"""The torch plug-in: catching dL/du, the step, names and layers, saving, closing, mistakes."""

import collections
import copy
import gc
import itertools
import pickle
import unittest
import warnings
import weakref

from support import Case, torch_or_skip

torch = torch_or_skip()

from torch import nn  # noqa: E402

import stablegrad  # noqa: E402
from stablegrad import StableGrad  # noqa: E402


def mlp(inputs=2, width=16, outputs=1, dtype=torch.float64):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                         nn.Linear(width, outputs)).to(dtype)


def derivative(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


def points(n, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, 2, generator=generator, dtype=torch.float64, requires_grad=True)


class PinnTest(Case):
    """Burgers: u_t + u u_x - nu u_xx inside, u = -sin(pi x) at t = 0."""

    nu = 0.01

    def forward(self, model):
        """(outputs, loss, dL/du by hand)"""
        inside, initial = points(30), points(11, seed=2)
        u = model(inside)
        g = derivative(u, inside)
        u_x, u_t = g[:, :1], g[:, 1:]
        u_xx = derivative(u_x, inside)[:, :1]
        r = u_t + u * u_x - self.nu * u_xx
        v = model(initial)
        d = v + torch.sin(torch.pi * initial[:, :1])
        loss = r.square().mean() + 10 * d.square().mean()
        by_hand = torch.cat([2 * r * u_x / 30, 20 * d / 11]).detach()
        return [u, v], loss, by_hand

    def test_nested_derivatives_are_not_the_signal(self):
        for backend, last in itertools.product(("c", "torch"), (nn.Identity, nn.Tanh)):
            for explicit in (False, True):
                model = mlp().append(last())
                sg = StableGrad(model, backend=backend)
                outputs, loss, by_hand = self.forward(model)
                loss.backward()
                report = sg.apply(outputs if explicit else None)
                self.assertEqual(report.outcome, "scaled")
                self.assert_relative(report.reference, by_hand.std(unbiased=False), 1e-12)

    def test_one_point_set_of_two(self):
        model = mlp()
        sg = StableGrad(model)
        outputs, loss, by_hand = self.forward(model)
        loss.backward()
        self.assert_relative(sg.apply(outputs[1]).reference, by_hand[30:].std(unbiased=False),
                             1e-12)

    def test_forward_and_loss_are_bit_identical(self):
        plain, watched = mlp(), mlp()
        sg = StableGrad(watched)
        (u1, v1), loss1, _ = self.forward(plain)
        (u2, v2), loss2, _ = self.forward(watched)
        self.assertTrue(torch.equal(u1, u2) and torch.equal(v1, v2) and torch.equal(loss1, loss2))
        loss1.backward()
        loss2.backward()
        for a, b in zip(plain.parameters(), watched.parameters()):
            self.assertTrue(torch.equal(a.grad, b.grad))
        sg.close()

    def test_loss_without_u(self):
        for backend in ("c", "torch"):
            model = mlp()
            sg = StableGrad(model, backend=backend)
            x = points(9)
            u = model(x)
            derivative(derivative(u, x)[:, :1], x).square().mean().backward()
            raw = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
            with self.assertWarnsRegex(UserWarning, "the loss does not depend on them"):
                report = sg.apply(u)
            self.assertEqual((report.outcome, report.reference, report.steps_no_reference),
                             ("no reference", 0, 1))
            for p, g in zip(model.parameters(), raw):
                self.assertTrue(p.grad is g is None or torch.equal(p.grad, g))


class SignalTest(Case):
    def test_ways_to_give_the_output(self):
        x = torch.linspace(-1, 1, 14, dtype=torch.float64).reshape(7, 2)
        expected = []
        for way in ("model", "watch", "retain_grad"):
            model = mlp()
            sg = StableGrad(model if way == "model" else model.named_parameters())
            u = model(x)
            if way == "watch":
                same = u
                u = sg.watch(u)
                self.assertTrue(torch.equal(u, same))
                self.assertIs(sg.watch(u), u)
            if way == "retain_grad":
                u.retain_grad()
            (u ** 3).mean().backward()
            expected.append((3 * u ** 2 / 7).std(unbiased=False).item())
            self.assert_relative(sg.apply(u).reference, expected[-1], 1e-12)
            self.assertEqual(expected[-1], expected[0])

    def test_backward_in_parts(self):
        """Two losses and two micro-batches: gradients at an output add up, outputs are joined."""
        model = mlp()
        sg = StableGrad(model)
        everything = []
        for seed in (1, 2):
            u = model(points(5, seed))
            u.sin().sum().backward(retain_graph=True)
            u.square().sum().backward()
            everything.append((u.cos() + 2 * u).detach())
        self.assert_relative(sg.apply().reference, torch.cat(everything).std(unbiased=False), 1e-12)

    def test_nested_outputs(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = mlp()

            def forward(self, x):
                u = self.net(x)
                return {"fields": (u, [2 * u]), "same": u, "text": "ignored", "fixed": x.detach()}
        model = Two()
        sg = StableGrad(model)
        out = model(points(6))
        u, twice = out["fields"][0], out["fields"][1][0]
        (u.square().sum() + twice.sin().sum()).backward()
        self.assertIs(out["same"], u)
        # Each output counts by the loss's own use of it, not through the other.
        both = torch.cat([2 * u, twice.cos()]).detach()
        self.assert_relative(sg.apply().reference, both.std(unbiased=False), 1e-12)

    def test_outputs_in_a_class_of_their_own(self):
        Pair = collections.namedtuple("Pair", "u v")

        class Two(nn.Linear):
            def forward(self, x):
                return Pair(super().forward(x), None)
        model = Two(2, 1).double()
        sg = StableGrad(model)
        out = model(points(6))
        self.assertIsInstance(out, Pair)
        out.u.sin().sum().backward()
        self.assert_relative(sg.apply(out).reference, out.u.cos().std(unbiased=False).detach(),
                             1e-12)

    def test_residual_scale_and_factor(self):
        model = mlp()
        r = torch.randn(20, 1, dtype=torch.float64)
        sg = StableGrad(model, reference="residual")
        loss = 0.5 * (model(points(20)) * r).square().sum()
        loss.backward()
        self.assert_relative(sg.apply(residual=[r[:5], r[5:]]).reference, r.std(unbiased=False),
                             1e-12)
        self.assert_relative(sg.apply(residual=r, factor=0.25).reference,
                             0.25 * r.std(unbiased=False), 1e-12)
        self.assertEqual(sg.apply(scale=torch.tensor(3.0)).reference, 3.0)

    def test_no_grad_and_forget(self):
        model = mlp()
        sg = StableGrad(model)
        with torch.no_grad():
            model(points(100))
        model(points(100))
        sg.forget()
        u = model(points(4))
        u.square().sum().backward()
        self.assert_relative(sg.apply().reference, (2 * u).std(unbiased=False).detach(), 1e-12)


class StepTest(Case):
    def backward(self, model, x=None):
        model.zero_grad(set_to_none=True)
        u = model(points(8) if x is None else x)
        u.square().mean().backward()
        return u

    def test_window(self):
        model = mlp()
        sg = StableGrad(model, start=1, until=2)
        outcomes = []
        for _ in range(3):
            u = self.backward(model)
            before = [p.grad.clone() for p in model.parameters()]
            outcomes.append(sg.apply(u).outcome)
            same = all(torch.equal(p.grad, b) for p, b in zip(model.parameters(), before))
            self.assertEqual(same, outcomes[-1] == "inactive")
        self.assertEqual(outcomes, ["inactive", "scaled", "inactive"])
        self.assertEqual(sg.last.steps_inactive, 2)

    def test_not_finite_step_is_a_no_op(self):
        for backend in ("c", "torch"):
            for kind in ("gradient", "signal"):
                model = mlp()
                sg = StableGrad(model, backend=backend)
                optimizer = torch.optim.AdamW(model.parameters())
                for step in range(3):
                    u = self.backward(model)
                    if step == 1 and kind == "gradient":
                        model[2].bias.grad[3] = float("inf")
                    if step == 1 and kind == "signal":
                        sg._capture._watched[0].gradient[0] = float("nan")
                    values = copy.deepcopy(model.state_dict())
                    state = pickle.dumps(optimizer.state_dict())
                    report = sg.apply(u)
                    optimizer.step()
                    unchanged = all(torch.equal(v, values[k]) for k, v in
                                    model.state_dict().items())
                    self.assertEqual(unchanged, step == 1)
                    self.assertEqual(pickle.dumps(optimizer.state_dict()) == state, step == 1)
                    self.assertEqual(report.skipped, step == 1)
                    self.assertEqual(report.signal_finite, not (step == 1 and kind == "signal"))
                self.assertEqual((sg.last.steps_scaled, sg.last.steps_not_finite), (2, 1))

    def test_frozen_shared_and_empty(self):
        class Odd(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(2, 2)
                self.second = nn.Linear(2, 2)
                self.second.weight = self.first.weight
                self.frozen = nn.Linear(2, 2).requires_grad_(False)
                self.nothing = nn.Parameter(torch.zeros(0))
                self.gain = nn.Parameter(torch.ones(()))

            def forward(self, x):
                return self.gain * self.frozen(self.second(self.first(x)))
        for backend in ("c", "torch"):
            torch.manual_seed(3)
            model = Odd()
            sg = StableGrad(model, backend=backend)
            u = model(torch.randn(5, 2))
            u.sin().sum().backward()
            report = sg.apply()
            counts = {b.name: b.count for b in report.blocks}
            self.assertEqual(counts, {"gain": 1, "first": 6, "second": 2, "frozen": 0})
            # One element: its size is its scale.
            self.assert_relative(abs(model.gain.grad.item()), report.reference, 1e-5)

    def test_a_model_that_is_one_layer(self):
        for backend in ("c", "torch"):
            model = nn.Linear(3, 2)
            sg = StableGrad(model, backend=backend)
            model(torch.randn(4, 3)).sin().sum().backward()
            self.assertEqual([(b.name, b.count) for b in sg.apply().blocks], [("weight", 8)])

    def test_biases_are_known_by_name(self):
        for backend in ("c", "torch"):
            torch.manual_seed(0)
            model = nn.MultiheadAttention(4, 2)
            sg = StableGrad(model, blocks="weight", reference=1.0, backend=backend)
            x = torch.randn(3, 2, 4)
            model(x, x, x)[0].sin().sum().backward()
            untouched = {b.name for b in sg.apply().blocks if b.factor == 1}
            self.assertEqual(untouched, {"in_proj_bias", "out_proj.bias"})

    def test_memory_formats(self):
        """channels_last fills its memory, transposed, sliced and expanded gradients do not all."""
        for backend in ("c", "torch"):
            weight = nn.Parameter(torch.zeros(6, 4, 3, 3))
            other = nn.Parameter(torch.zeros(5, 4))
            generator = torch.Generator().manual_seed(0)
            g = torch.randn(6, 4, 3, 3, generator=generator)
            h = torch.randn(4, 5, generator=generator)
            wide = torch.randn(5, 8, generator=generator)
            for first, second in ((g.contiguous(memory_format=torch.channels_last), h.t()),
                                  (g, wide[:, ::2]),
                                  (g[:1].expand(6, 4, 3, 3), wide[:, :1].expand(5, 4))):
                expected = [3.0 / (t.double().std(unbiased=False) + 1e-8) * t.double()
                            for t in (first, second)]
                weight.grad, other.grad = first, second
                sg = StableGrad([("a.weight", weight), ("b.weight", other)], reference=3.0,
                                backend=backend)
                sg.apply()
                self.assert_relative(weight.grad, expected[0], 1e-6)
                self.assert_relative(other.grad, expected[1], 1e-6)

    def test_change_of_precision(self):
        model = mlp(dtype=torch.float32)
        sg = StableGrad(model)
        sg.apply(self.backward(model, torch.rand(8, 2)))
        model.double()
        report = sg.apply(self.backward(model))
        self.assertEqual((report.outcome, report.steps_scaled), ("scaled", 2))
        model.bfloat16()
        report = sg.apply(self.backward(model, torch.rand(8, 2).bfloat16()))
        self.assertEqual((report.outcome, report.steps_scaled), ("scaled", 3))


class LifeTest(Case):
    def test_state_dict(self):
        model = mlp()
        sg = StableGrad(model, until=3, reference=1.0)
        for _ in range(2):
            sg.apply()
        saved = pickle.loads(pickle.dumps(sg.state_dict()))
        other = StableGrad(model, until=3, reference=1.0)
        other.load_state_dict(saved)
        outcomes = [other.apply().outcome for _ in range(2)]
        self.assertEqual(outcomes, ["scaled", "inactive"])
        self.assertEqual((other.step, other.last.steps_scaled), (4, 3))
        self.fails("not a state_dict", sg.load_state_dict, {"step": 1})
        self.fails("negative", sg.load_state_dict, {**saved, "step": -1})

    def test_scales_and_repr(self):
        model = mlp()
        sg = StableGrad(model, reference=2, until=10)
        self.assertEqual(sg.scales(), {})
        model(points(5)).sum().backward()
        sg.apply()
        self.assertEqual(list(sg.scales()), ["0", "2", "4"])
        self.assert_relative(sg.scales()["2"]["scaled_std"], 2, 1e-6)
        self.assertEqual(repr(sg), "StableGrad(6 parameters, reference=2.0, blocks='layer', "
                         "eps=1e-08, start=0, until=10, method='stablegrad', backend='auto', "
                         "step=1)")

    def test_closing(self):
        model = mlp()
        with StableGrad(model) as sg:
            model(points(5)).sum().backward()
            sg.apply()
        self.assertEqual(len(model._forward_hooks), 0)
        self.fails("used after close()", sg.apply)
        sg.close()

    def test_collected_without_closing(self):
        model = mlp()
        sg = StableGrad(model)
        u = model(points(5))
        u.sum().backward()
        sg.apply()
        handle, this = weakref.ref(sg._backends["c"]._scaler), weakref.ref(sg)
        del sg
        gc.collect()
        self.assertIsNone(this())
        self.assertIsNone(handle())
        model(points(5))  # the hook that is left does nothing


class MistakeTest(Case):
    def test_making(self):
        model = mlp()
        self.fails("backend is 'gpu'; it must be one of auto, c, torch", StableGrad, model,
                   backend="gpu")
        self.fails("method is 'adam'", StableGrad, model, method="adam")
        self.fails("named_parameters", StableGrad, model.parameters())
        self.fails("no parameters", StableGrad, nn.Tanh())
        self.fails("two parameters called 'w'", StableGrad,
                   [("w", torch.zeros(2)), ("w", torch.zeros(3))])
        self.fails("only real floating types", StableGrad, [("w", torch.zeros(2).cfloat())])

    def test_applying(self):
        model = mlp()
        sg = StableGrad(model)
        self.fails("no output was seen", sg.apply)
        u = model(points(4))
        v = u[:, :1] * 2
        v.sum().backward()
        self.fails("outputs[0] is not what the model returned", sg.apply, v)
        self.fails("scale is -1.0", sg.apply, scale=-1)
        self.fails("needs apply(residual=r)", StableGrad(model, reference="residual").apply)
        self.assertEqual(sg.step, 0)

    def test_what_is_no_output(self):
        model = mlp()
        sg = StableGrad(model)
        x = points(4)
        model(x).square().sum().backward()
        self.fails("outputs[0] is no output of the model", sg.apply, torch.rand(3))
        model(x).square().sum().backward()
        self.fails("outputs[1] is no output of the model", sg.apply, [model(x), x])
        model(x).square().sum().backward()
        self.fails("is no output of the model", sg.apply, model[0].weight)
        free = StableGrad(model.named_parameters())
        self.fails("is no output of the model", free.apply, torch.rand(3))
        self.fails("is no output of the model", free.apply, torch.rand(3, requires_grad=True))

    def test_apply_before_backward_is_said_once(self):
        for given in (False, True):
            model = mlp()
            sg = StableGrad(model)
            for step in range(3):
                model.zero_grad()
                u = model(points(4))
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    self.assertEqual(sg.apply(u if given else None).outcome, "no reference")
                texts = [str(w.message) for w in caught]
                self.assertEqual(len(texts), 1 if step == 0 else 0)
                self.assertTrue(step > 0 or "call apply after loss.backward()" in texts[0])
                self.assertTrue(step > 0 or caught[0].filename == __file__)
                u.square().sum().backward()

    def test_names_of_the_package(self):
        self.assertIn("StableGrad", dir(stablegrad))
        self.assertIn("Optimizer", dir(stablegrad))

    def test_tensors_that_c_cannot_reach(self):
        model = mlp().bfloat16()
        self.fails('backend="c" needs', StableGrad(model, backend="c", reference=1.0).apply)
        table = nn.Embedding(5, 3, sparse=True)
        sg = StableGrad(table)
        table(torch.tensor([1, 2])).sum().backward()
        self.fails("the gradient of 'weight' is sparse", sg.apply)


if __name__ == "__main__":
    unittest.main()
