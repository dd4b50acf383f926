"""Writes tests/data/optim_torch.h: what PyTorch's optimizers make of deterministic gradients.

    python3 tests/record_optim_torch.py > tests/data/optim_torch.h

tests/test_optim_torch.c repeats the cases with ours. Gradients and starting values are small
fractions of powers of two, so both languages form the same bits in float and in double.
"""

import warnings

import torch

COUNTS = (5, 7, 1)
STEPS = (10, 100)  # after how many steps the values are recorded
LEAST = 0.05  # a recorded value is never nearer to 0, so that relative errors mean something

# Each case: name, PyTorch's class, its options, clip norm, scheduler (or None), absent gradients.
CASES = [
    ("adamw", "AdamW", dict(lr=0.002, weight_decay=0.01), 0, (), False),
    ("adamw, other betas", "AdamW",
     dict(lr=0.01, betas=(0.8, 0.95), weight_decay=0.1), 0, (), False),
    ("adam", "Adam", dict(lr=0.002), 0, (), False),
    ("adam, L2, large eps", "Adam", dict(lr=0.002, weight_decay=0.05, eps=1e-3), 0, (), False),
    ("sgd", "SGD", dict(lr=0.001), 0, (), False),
    ("sgd, decay", "SGD", dict(lr=0.001, weight_decay=0.05), 0, (), False),
    ("sgd, momentum", "SGD", dict(lr=0.001, momentum=0.75), 0, (), False),
    ("sgd, dampening", "SGD",
     dict(lr=0.002, momentum=0.9, dampening=0.3, weight_decay=0.01), 0, (), False),
    ("sgd, nesterov", "SGD",
     dict(lr=0.001, momentum=0.8, nesterov=True, weight_decay=0.01), 0, (), False),
    ("adamw, clipped", "AdamW", dict(lr=0.005, weight_decay=0.01), 1.0, (), False),
    ("sgd, clipped", "SGD", dict(lr=0.002, momentum=0.9), 2.0, (), False),
    ("adamw, cosine to a floor", "AdamW", dict(lr=0.005, weight_decay=0.01), 0,
     (("cosine", 100, 0.1),), False),
    ("adamw, warm-up and cosine", "AdamW", dict(lr=0.005, weight_decay=0.01), 0,
     (("warmup", 12, 0.25), ("cosine", 100, 0.0)), False),
    ("sgd, warm-up", "SGD", dict(lr=0.002, momentum=0.9), 0, (("warmup", 40, 0.1),), False),
    ("adamw, milestones", "AdamW", dict(lr=0.005), 0, (("milestones", 30, 60, 0.25),), False),
    ("adamw, absent gradients", "AdamW", dict(lr=0.005, weight_decay=0.01), 0, (), True),
    ("sgd, absent gradients", "SGD", dict(lr=0.002, momentum=0.9, dampening=0.5), 0, (), True),
]


def start(span, i):
    return (1 - 2 * (i % 2)) * (1.5 + (span + i) / 8)


def gradient(step, span, i):
    return ((step * 37 + span * 11 + i * 5) % 64 - 24) / 64 * (1, 1 / 64, 4)[span]


def is_absent(step, span):
    return span > 0 and (step + span) % 3 == 1


def scheduler(optimizer, term):
    kind, *numbers = term
    lr = optimizer.param_groups[0]["lr"]
    if kind == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, numbers[0], numbers[1] * lr)
    if kind == "warmup":
        return torch.optim.lr_scheduler.LinearLR(optimizer, numbers[1], 1.0, numbers[0])
    return torch.optim.lr_scheduler.MultiStepLR(optimizer, numbers[:2], numbers[2])


def run(case, dtype):
    """The values of all spans after each of STEPS, one list each."""
    _, kind, options, clip, terms, absent = case
    spans = [torch.nn.Parameter(torch.tensor([start(s, i) for i in range(n)], dtype=dtype))
             for s, n in enumerate(COUNTS)]
    optimizer = getattr(torch.optim, kind)(spans, foreach=False, **options)
    # Cosine first: a scheduler reads the learning rate when it is made.
    schedulers = [scheduler(optimizer, t) for t in sorted(terms)]
    recorded = []
    for step in range(max(STEPS)):
        for s, (span, n) in enumerate(zip(spans, COUNTS)):
            span.grad = None
            if not (absent and is_absent(step, s)):
                span.grad = torch.tensor([gradient(step, s, i) for i in range(n)], dtype=dtype)
        if clip:
            torch.nn.utils.clip_grad_norm_(spans, clip)
        optimizer.step()
        for one in schedulers:
            one.step()
        if step + 1 in STEPS:
            recorded.append([v for span in spans for v in span.tolist()])
    assert min(abs(v) for values in recorded for v in values) > LEAST, (case[0], recorded)
    return recorded


def c_terms(terms):
    texts = {"cosine": "{{SG_SCHEDULE_COSINE, 0, {0}, {1}}}",
             "warmup": "{{SG_SCHEDULE_WARMUP, 0, {0}, {1}}}",
             "milestones": "{{SG_SCHEDULE_INTERVAL, {0}, SG_FOREVER, {2}}}, "
                           "{{SG_SCHEDULE_INTERVAL, {1}, SG_FOREVER, {2}}}"}
    return ", ".join(texts[kind].format(*numbers) for kind, *numbers in terms)


def c_config(kind, options, clip):
    names = {"lr": "rate", "weight_decay": "decay"}
    fields = [f".kind = SG_OPTIM_{kind.upper()}"]
    options = {"weight_decay": 0.01 if kind == "AdamW" else 0, **options}
    if kind != "SGD":
        options = {"eps": 1e-8, "betas": (0.9, 0.999), **options}
    for name, value in options.items():
        if name == "betas":
            fields += [f".beta1 = {value[0]}", f".beta2 = {value[1]}"]
        else:
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            fields.append(f".{names.get(name, name)} = {text}")
    if clip:
        fields.append(f".clip_norm = {clip}")
    return "{" + ", ".join(fields) + "}"


def c_values(recorded, digits):
    return "{" + ", ".join("{" + ", ".join(f"{v:.{digits}g}" for v in values) + "}"
                           for values in recorded) + "}"


def main():
    warnings.simplefilter("error")
    print(f"/* Written by tests/record_optim_torch.py with PyTorch {torch.__version__}: "
          f"values after {STEPS[0]} and {STEPS[1]} steps. */")
    print("/* clang-format off */")
    print("static const recorded_case recorded_cases[] = {")
    for case in CASES:
        name, kind, options, clip, terms, absent = case
        print(f'    {{"{name}", {str(absent).lower()},')
        print(f"     {c_config(kind, options, clip)},")
        count = sum(2 if t[0] == "milestones" else 1 for t in terms)
        print(f"     {count}, {{{c_terms(terms) or '{0}'}}},")
        print(f"     {c_values(run(case, torch.float32), 9)},")
        print(f"     {c_values(run(case, torch.float64), 17)}}},")
    print("};")


if __name__ == "__main__":
    main()
