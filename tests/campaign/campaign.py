#!/usr/bin/env python3
"""Attacks on runs: whatever happens to a training process or to its files, work is not lost, and not lied about.

    campaign.py PROGRAM DIE_AT [--images MAKE_IMAGES] [--kills N] [--every N] [--bits N] [--disks N] [--writers N]
                [--methods N]

For a PDE, and with MAKE_IMAGES for a network on images:

    kills    N runs are killed at random moments, and resumed until they are complete
    every    a run is killed at every N-th system call that changes a file (1: at each), and resumed
    bits     N bits are flipped, one at a time, in the files of runs that are then resumed, evaluated and reported
    disks    N sizes of disks that are too small; afterwards the run is resumed with room enough
    writers  N times two processes begin, or resume, the same run at once

and for a PDE by each method that keeps more than an optimizer's moments, and by stages of several:

    methods  a run is killed at N places, and resumed

After each the run is made complete, and must be as one that nothing happened to: the same weights, best weights and
field, the same lines of metrics but for times, no temporary files, no lock, and "complete" in its record. Nothing but
the standard library is needed. Ends with 1 if anything was not so; 77 where processes cannot be traced.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROBLEM = """name: small
coordinates: {x: [0, 1], t: [0, 1]}
fields: [u]
constants: {k: 0.1}
equations: {heat: u_t - k*u_xx}
conditions:
  initial: {at: t = 0, u: sin(pi*x), points: 32, weight: 10}
  ends: {at: x = 0 | x = 1, u: 0, points: 32, weight: 10}
points: 256
reference: {u: exp(-k*pi^2*t)*sin(pi*x)}
network: {hidden: 2 x 12, activation: tanh}
training: {steps: 60, log_every: 5, evaluate_every: 10, checkpoint_every: 10, stablegrad: {until: 40}}
evaluation: {grid: 11 x 9, points: 100, condition_points: 20}
"""
TASK = """name: quarters
data: {kind: cifar10, train: train.bin, test: test.bin, size: 16, zoom: 1, flip: false, crop: {area: [0.8, 1]}}
network: {model: mlp, hidden: 2 x 16, activation: relu, norm: none}
training: {epochs: 4, batch: 16, optimizer: {name: adamw, rate: 3e-3}, log_every: 4, evaluate_every: 6,
           checkpoint_every: 5, observe_every: 10}
"""
METHODS = {  # what stands under `training`
    "levenberg": "{optimizer: levenberg, points: {start: 60, every: 3}, STEPS}",
    "kernel": "{optimizer: {name: kernel, momentum: 0.9}, points: {start: 40, every: 3}, STEPS}",
    "kernel-cg": "{optimizer: kernel, solver: cg, metric: columns, points: {start: 40, every: 3}, STEPS}",
    "causal": "{optimizer: levenberg, causal: 5, points: {start: 60, every: 3}, STEPS}",
    "lbfgs": "{optimizer: lbfgs, causal: {eps: 5, chunks: 7}, points: {start: 100, every: 5}, STEPS}",
    "bfgs": "{optimizer: bfgs, points: {start: 100, every: 5}, STEPS}",
    "ssbfgs": "{optimizer: ssbfgs, points: {start: 100, every: 5}, STEPS}",
    "ssbroyden": "{optimizer: ssbroyden, points: {start: 100, every: 5}, STEPS}",
    "soap": "{optimizer: soap, STEPS}",
    "stages": "[{optimizer: adamw, STEPS}, {optimizer: levenberg, points: {start: 60, every: 3}, STEPS}, "
              "{optimizer: ssbroyden, points: {start: 100, every: 5}, STEPS}]",
}
STEPS = "steps: 14, log_every: 1, evaluate_every: 4, checkpoint_every: 3"
TIMES = ("seconds", "cpu_seconds", "images_per_second", "waited")
BOUND = 300  # seconds that a command may take on a busy machine before it is said to hang


class Kind:
    def __init__(self, name, file, files):
        self.name, self.file, self.files = name, file, files
        self.whole, self.seconds = None, None


class Campaign:
    def __init__(self, program, die_at, seed, first):
        self.first, self.mount = first, False
        self.program, self.die_at = os.path.abspath(program), os.path.abspath(die_at)
        self.random = random.Random(seed)
        self.failures = []
        self.number = 0

    def start(self, arguments, prefix=(), **more):
        return subprocess.Popen([*prefix, self.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", **more)

    def run(self, *arguments, **more):
        process = self.start(arguments, **more)
        try:
            process.out, process.err = process.communicate(timeout=BOUND)
        except subprocess.TimeoutExpired:
            process.kill()
            process.out, process.err = process.communicate()
            self.fail("hangs: " + " ".join(arguments))
        return process

    def fail(self, what, folder=None):
        print("FAILED", what, flush=True)
        if folder and os.path.isdir(folder):
            kept = f"failed-{len(self.failures)}"
            shutil.copytree(folder, kept, symlinks=True)
            print("  kept as", os.path.abspath(kept))
        self.failures.append(what)

    def folder(self):
        self.number += 1
        return f"runs/case-{self.number}"

    def train(self, kind, folder):
        """The command that begins a run, or goes on with it."""
        if os.path.exists(folder + "/problem.yaml"):
            return ["train", folder, "--resume", "--quiet", "--threads", "1"]
        return ["train", kind.file, "--out", folder, "--quiet", "--threads", "1"]

    def undisturbed(self, kind):
        kind.whole = "whole-" + kind.name
        began = time.monotonic()
        process = self.run("train", kind.file, "--out", kind.whole, "--quiet", "--threads", "1")
        kind.seconds = time.monotonic() - began
        if process.returncode != 0:
            sys.exit(process.err)
        self.check(kind, kind.whole, "undisturbed")

    # What a run must be like.

    def state(self, folder):
        """What `list` calls a run; None when it does not list it."""
        for line in self.run("list", "--json").out.splitlines():
            entry = json.loads(line)
            if entry.get("run") == folder:
                return entry["status"]
        return None

    def check(self, kind, folder, what):
        """Fails unless the run is as the undisturbed one."""
        wrong = []
        record = json.load(open(folder + "/run.json"))
        if record["status"] != "complete" or record["steps_done"] != record["steps"]:
            wrong.append(f"the record says {record['status']} at step {record['steps_done']}")
        left = [name for name in os.listdir(folder) if name.endswith(".part") or name == "run.lock"]
        if left:
            wrong.append("left behind: " + ", ".join(left))
        for name in kind.files:
            if not same(folder + "/" + name, kind.whole + "/" + name):
                wrong.append(name + " differs")
        if not os.path.exists(folder + "/report.html"):
            wrong.append("no report")
        try:
            lines, whole = metrics(folder), metrics(kind.whole)
            if lines != whole:
                wrong.append("metrics differ: " + first_difference(lines, whole))
        except ValueError as error:
            wrong.append(f"metrics: {error}")
        if wrong:
            self.fail(f"{kind.name}, {what}: " + "; ".join(wrong), folder)
        return not wrong

    def complete(self, kind, folder, what):
        """Goes on with a run to its end and checks it; then it must have nothing left to do."""
        process = self.run(*self.train(kind, folder))
        if process.returncode != 0:
            self.fail(f"{kind.name}, {what}: resuming ended with {process.returncode}: {process.err.strip()}", folder)
        elif self.check(kind, folder, what):
            again = self.run("train", folder, "--resume")
            if again.returncode != 0 or "nothing is missing" not in again.out:
                self.fail(f"{kind.name}, {what}: a complete run is not left alone", folder)
        shutil.rmtree(folder)

    # The attacks.

    def kills(self, kind, count):
        killed = runs = 0
        while killed < count:
            folder, hits = self.folder(), 0
            runs += 1
            while killed < count:
                process = self.start(self.train(kind, folder))
                try:
                    process.wait(self.random.uniform(0, 1.2 * kind.seconds))
                    process.communicate()
                    break
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    killed += 1
                    hits += 1
                if self.state(folder) == "running":
                    self.fail(f"{kind.name}: a killed run is said to be running", folder)
            self.complete(kind, folder, f"killed {hits} times")
        print(f"kills    {kind.name}: {killed} kills at random moments over {runs} runs", flush=True)

    def every(self, kind, step):
        folder = self.folder()
        counted = self.run(*self.train(kind, folder), prefix=[self.die_at, "0"])
        if counted.returncode == 77:
            print("every    processes cannot be traced here")
            sys.exit(77)
        calls = int(counted.err.split()[-1])
        shutil.rmtree(folder)
        places = range(self.first, calls + 1, step)
        for n in places:
            folder = self.folder()
            self.run(*self.train(kind, folder), prefix=[self.die_at, str(n)])
            if self.state(folder) == "running":
                self.fail(f"{kind.name}: a run killed at call {n} is said to be running", folder)
            self.complete(kind, folder, f"killed at call {n} of {calls}")
        print(f"every    {kind.name}: killed at {len(places)} of {calls} calls that change a file", flush=True)

    def methods(self, places):
        """Killed at `places` places of each run, after its first quarter: there is a checkpoint by then."""
        for name, training in METHODS.items():
            text = re.sub("(?m)^training:.*$", "training: " + training.replace("STEPS", STEPS), PROBLEM)
            open(name + ".yaml", "w").write(text)
            kind = Kind(name, name + ".yaml", ["weights.safetensors", "best.safetensors", "field.npz"])
            kind.whole = "whole-" + name
            counted = self.run("train", kind.file, "--out", kind.whole, "--quiet", "--threads", "2", prefix=[self.die_at, "0"])
            if counted.returncode == 77:
                sys.exit(77)
            calls = int(counted.err.split()[-1])
            for place in range(1, places + 1):
                folder, n = self.folder(), calls // 4 + calls * 3 * place // (4 * places + 4)
                died = self.run(*self.train(kind, folder), prefix=[self.die_at, str(n)])
                if died.returncode != 137 or not os.path.exists(folder + "/last.safetensors"):
                    self.fail(f"{name}: not killed after a checkpoint, at call {n} of {calls}")
                self.complete(kind, folder, f"killed at call {n} of {calls}")
        print(f"methods  {', '.join(METHODS)}: each killed at {places} places", flush=True)

    def look(self, kind, folder):
        """What a user sees of a complete run: exit codes, words, and the files that come of it."""
        seen = []
        commands = [["train", folder, "--resume", "--threads", "1"], ["report", folder], ["list"],
                    ["eval", folder, "--threads", "1", *(["--grid", "5x5"] if kind.name == "pde" else [])],
                    ["eval", folder, "--best", "--threads", "1", *(["--grid", "5x5"] if kind.name == "pde" else [])]]
        for command in commands:
            process = self.run(*command)
            seen.append((process.returncode, without_times(process.out), without_times(process.err)))
        page = open(folder + "/report.html", errors="replace").read() if os.path.exists(folder + "/report.html") else ""
        seen.append((0, without_times(page), ""))
        return seen

    def bits(self, kind, count):
        # A run that is half done, as a kill leaves it, and one that is complete.
        half = self.folder()
        self.run("train", kind.file, "--out", half, "--quiet", "--threads", "1", prefix=[self.die_at, str(self.middle(kind))])
        counts = {"refused": 0, "told": 0, "harmless": 0}
        folder = "runs/flipped"
        sound = self.look(kind, self.copy(kind.whole, folder))
        for i in range(count):
            source = half if i % 2 else kind.whole
            self.copy(source, folder)
            names = sorted(name for name in os.listdir(folder) if name not in ("run.lock", "report.html"))
            name = self.random.choice(names)
            place = flip(folder + "/" + name, self.random)
            verdict = self.judge_resumed(kind, folder) if i % 2 else self.judge_complete(kind, folder, sound)
            if verdict in counts:
                counts[verdict] += 1
            else:
                self.fail(f"{kind.name}: bit {place} of {name} of a {'half done' if i % 2 else 'complete'} run: {verdict}", folder)
        shutil.rmtree(half)
        print(f"bits     {kind.name}: {count} flipped: " + ", ".join(f"{n} {what}" for what, n in counts.items()), flush=True)

    def middle(self, kind):
        """A call in the middle of an undisturbed run, after its third checkpoint or so."""
        folder = self.folder()
        counted = self.run(*self.train(kind, folder), prefix=[self.die_at, "0"])
        shutil.rmtree(folder)
        return int(counted.err.split()[-1]) * 6 // 10

    def copy(self, source, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        return folder

    def judge_resumed(self, kind, folder):
        process = self.run(*[word for word in self.train(kind, folder) if word != "--quiet"])
        if process.returncode != 0:
            return "refused" if process.err.strip() else "no word"
        words = process.out + process.err
        if re.search(r"going on from the checkpoint|no checkpoint yet|was changed|damaged|not read", words):
            return "told"
        differs = [name for name in kind.files if not same(folder + "/" + name, kind.whole + "/" + name)]
        if differs:
            best = self.run("eval", folder, "--best", "--threads", "1")
            if differs == ["best.safetensors"] and best.returncode != 0:
                return "refused"
            return "silently other: " + ", ".join(differs)
        return "harmless" if metrics_or_none(folder) == metrics(kind.whole) else "silently other metrics"

    def judge_complete(self, kind, folder, sound):
        seen = self.look(kind, folder)
        if seen == sound:
            return "harmless"
        if any(code != 0 for code, _, _ in seen):
            return "refused"
        words = " ".join(o + e for _, o, e in seen).replace("nothing is missing", "")
        if re.search(r"was changed|is made again|cannot be read|could not be read|field\.npz: ", words):
            return "told"
        for before, after in zip(sound, seen):
            if before != after:
                return "silently other: " + first_difference(after[1].splitlines(), before[1].splitlines())
        return "silently other"

    def disks(self, kind, count):
        """A file system that is too small where one can be mounted, else files that may not grow beyond a size."""
        disk = "disk"
        os.makedirs(disk, exist_ok=True)
        need = sum(os.path.getsize(kind.whole + "/" + name) for name in os.listdir(kind.whole)) // 1024 + 64
        mounted = self.mount and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk],
                                                capture_output=True).returncode == 0
        failed = 0
        try:
            for i in range(count):
                size = 8 + need * i // count
                folder = disk + "/run"
                if mounted:
                    subprocess.run(["mount", "-o", f"remount,size={size}k", disk], check=True)
                process = self.run(*self.train(kind, folder), preexec_fn=None if mounted else lambda: small_files(size * 1024 // 4))
                complete = os.path.exists(folder + "/run.json") and json.load(open(folder + "/run.json"))["status"] == "complete"
                if (process.returncode == 0) != complete or (process.returncode != 0 and not process.err.strip()):
                    self.fail(f"{kind.name}: {size} kB ended with {process.returncode}, complete: {complete}", folder)
                failed += process.returncode != 0
                if mounted:
                    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
                self.complete(kind, folder, f"a disk of {size} kB")
        finally:
            if mounted:
                subprocess.run(["umount", disk])
        print(f"disks    {kind.name}: {count} sizes from 8 to {8 + need * (count - 1) // count} kB "
              f"({'a file system' if mounted else 'a limit for each file'}), {failed} too small", flush=True)

    def writers(self, kind, count):
        for i in range(count):
            folder = self.folder()
            if i % 2:  # both resume what a kill left
                self.run(*self.train(kind, folder), prefix=[self.die_at, str(self.random.randint(30, 90))])
            pair = [self.start(self.train(kind, folder)) for _ in range(2)]
            ends = []
            for process in pair:
                _, err = process.communicate()
                ends.append((process.returncode, err))
            codes = sorted(code for code, _ in ends)
            refused = [err for code, err in ends if code == 2]
            # The second may come when the first has ended: then it begins nothing, or finds a complete run.
            known = all("is training this run" in err or "not empty" in err or "holds" in err for err in refused)
            if codes not in ([0, 0], [0, 2]) or not known:
                self.fail(f"{kind.name}: two writers ended with {ends}", folder)
            self.complete(kind, folder, "two writers")
        print(f"writers  {kind.name}: {count} times two at once", flush=True)


def small_files(limit):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def flip(path, generator):
    data = bytearray(open(path, "rb").read())
    place = generator.randrange(8 * len(data))
    data[place // 8] ^= 1 << place % 8
    open(path, "wb").write(data)
    return place


def same(a, b):
    return os.path.exists(a) and os.path.exists(b) and open(a, "rb").read() == open(b, "rb").read()


def metrics(folder):
    """The lines of metrics.jsonl without times; ValueError when one is broken or told twice."""
    text = open(folder + "/metrics.jsonl").read()
    if not text.endswith("\n"):
        raise ValueError("no newline at the end")
    lines, seen = [], set()
    for line in text.splitlines():
        entry = json.loads(line)
        key = (entry["step"], "validation" in entry)
        if key in seen:
            raise ValueError(f"step {entry['step']} is told twice")
        seen.add(key)
        lines.append({k: v for k, v in entry.items() if k not in TIMES})
    return lines


def metrics_or_none(folder):
    try:
        return metrics(folder)
    except ValueError:
        return None


def without_times(text):
    """Without what differs from one run to the next."""
    text = re.sub(r"[0-9.]+/s\b|[0-9]+ (s|min|h)\b|[0-9.]+ (images/s|ms)\b", "", text)
    return re.sub(r"[0-9]{4}-[0-9-]+T[0-9:]+Z?", "", text)


def first_difference(a, b):
    for x, y in zip(a, b):
        if x != y:
            return f"{str(x)[:200]} instead of {str(y)[:200]}"
    return f"{len(a)} lines instead of {len(b)}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("die_at")
    options.add_argument("--images")
    options.add_argument("--only", choices=("pde", "images"))
    for name in ("kills", "every", "bits", "disks", "writers", "methods"):
        options.add_argument("--" + name, type=int, default=0)
    options.add_argument("--mount", action="store_true", help="small disks are mounted, which takes root")
    options.add_argument("--first", type=int, default=1, help="the first call that --every kills at")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    maker = os.path.abspath(given.images) if given.images else None
    campaign = Campaign(given.program, given.die_at, given.seed, given.first)
    campaign.mount = given.mount
    work = tempfile.mkdtemp(prefix="sg_campaign_")
    os.chdir(work)
    os.mkdir("runs")
    open("small.yaml", "w").write(PROBLEM)
    weights = ["weights.safetensors", "best.safetensors"]
    kinds = [Kind("pde", "small.yaml", [*weights, "field.npz", "field.vti"])]
    if maker:
        subprocess.run([maker, "train.bin", "100", "1"], check=True)
        subprocess.run([maker, "test.bin", "40", "2"], check=True)
        open("quarters.yaml", "w").write(TASK)
        kinds.append(Kind("images", "quarters.yaml", weights))
    attacks = [name for name in ("kills", "every", "bits", "disks", "writers") if getattr(given, name)]
    for kind in kinds:
        if attacks and given.only in (None, kind.name):
            campaign.undisturbed(kind)
            for attack in attacks:
                getattr(campaign, attack)(kind, getattr(given, attack))
    if given.methods:
        campaign.methods(given.methods)
    print(f"{given.only or 'both kinds'}: {len(campaign.failures)} failures", flush=True)
    if campaign.failures:
        print("in", work)
        sys.exit(1)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
