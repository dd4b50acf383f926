#!/usr/bin/env python3
"""Keeps the errors of every seed in one file, and makes the tables of docs/accuracy.md from it.

    tools/accuracy_table.py docs/accuracy.csv                          the tables, in Markdown
    tools/accuracy_table.py docs/accuracy.csv runs/reproduce-accuracy-full ...
                                                     the same after adding what these folders have

The folders are those of `stablegrad reproduce accuracy`; with each error stands the instruction set it was computed
with. A method whose rate falls to the end of the budget has the error of a time from the budget of that time alone; the
others have all times that a run reached. What stands in the file for the same problem, method, seed and time is replaced
by what the budget of that time gave, and kept otherwise: so all methods of a column are of the same machine.
"""
import csv
import glob
import json
import os
import sys

TIMES = {"10 s": 10, "60 s": 60, "300 s": 300}
OWN_BUDGET = {"quick": 10, "hours": 60, "full": 300}
SCHEDULED = {"AdamW", "AdamW + StableGrad", "SOAP"}
METHODS = ["AdamW", "AdamW + StableGrad", "Levenberg-Marquardt", "kernel form", "SSBroyden", "L-BFGS", "SOAP"]
PUBLISHED = {
    "poisson": "6e-8, 1,000 s on a GPU; the paper 2.6e-5",
    "burgers": "8.3e-9, 74,000 iterations on a GPU",
    "burgers-shock": "1.1e-2, the paper",
    "allen-cahn": "1.9e-6, on a GPU",
}


def read(path):
    with open(path, newline="") as file:
        return {(r["problem"], r["method"], int(r["seed"]), int(r["seconds"])): (float(r["error"]), r["kernels"])
                for r in csv.DictReader(file)}


def write(path, errors):
    order = list(dict.fromkeys(problem for problem, *_ in errors))
    keys = sorted(errors, key=lambda k: (order.index(k[0]), METHODS.index(k[1]), k[2], k[3]))
    with open(path + ".new", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["problem", "method", "seed", "seconds", "error", "kernels"])
        rows.writerows([*key, f"{errors[key][0]:.2e}", errors[key][1]] for key in keys)
    os.replace(path + ".new", path)


def kernels_of(folder):
    found = set()
    for path in glob.glob(os.path.join(folder, "*", "*", "run.json")):
        with open(path) as file:
            found.add(json.load(file)["kernels"])
    if len(found) != 1:
        sys.exit(f"{folder} has runs of {len(found)} instruction sets, not of one")
    return found.pop()


def add(folder, errors):
    with open(os.path.join(folder, "reproduce.json")) as file:
        index = json.load(file)
    if index["experiment"] != "accuracy" or "tables" not in index:
        sys.exit(f"{folder} is not a reproduction of accuracy with tables")
    tables = {table["title"]: table for table in index["tables"]}
    if index["seeds"] > 1 and "Every seed" not in tables:
        sys.exit(f"{folder} has medians alone: 'stablegrad report {folder}' adds the errors of every seed")
    kernels = kernels_of(folder)
    seeds = tables.get("Every seed", tables["Relative L2 error"])  # of one seed there is but one table
    first = [int(text.split("=")[1]) for text in index["sets"] if text.startswith("training.seed=")]
    for row in seeds["rows"]:
        cells = dict(zip(seeds["columns"], row))
        for name, seconds in TIMES.items():
            key = cells["problem"], cells["method"], int(cells.get("seed", (first or [0])[-1])), seconds
            own = OWN_BUDGET[index["budget"]] == seconds
            fair = own or (cells["method"] not in SCHEDULED and key not in errors)
            if fair and cells.get(name) is not None:
                errors[key] = cells[name], kernels


def digits(error):
    return f"{error:.2g}" if error >= 0.0095 else f"{error:.1e}".replace("e-0", "e-")


def table(errors, seconds):
    """Medians over the seeds; a number of seeds that is not that of the whole table stands behind its median."""
    seeds = {}
    for (problem, method, _, time), (error, _) in sorted(errors.items(), key=lambda item: item[1]):
        if time == seconds:
            seeds.setdefault(problem, {}).setdefault(method, []).append(error)
    counts = [len(values) for row in seeds.values() for values in row.values()]
    if not counts:
        return
    usual = max(set(counts), key=counts.count)
    print(f"\nRelative L2 errors after {seconds} seconds of one core, "
          f"{'one seed' if usual == 1 else f'medians of {usual} seeds'}:\n")
    print("| | " + " | ".join(METHODS) + " | published best |\n" + "|---" * (len(METHODS) + 2) + "|")
    for problem in dict.fromkeys(key[0] for key in errors):
        row = seeds.get(problem, {})
        medians = {method: values[len(values) // 2] for method, values in row.items()}
        cells = []
        for method in METHODS:
            text = digits(medians[method]) if method in medians else "-"
            text = f"**{text}**" if medians and medians.get(method) == min(medians.values()) else text
            cells.append(text if len(row.get(method, [])) in (0, usual) else f"{text} ({len(row[method])})")
        if medians:
            print(f"| `{problem}` | " + " | ".join(cells) + f" | {PUBLISHED.get(problem, '-')} |")


if len(sys.argv) < 2:
    sys.exit(__doc__)
known = read(sys.argv[1])
for given in sys.argv[2:]:
    add(given, known)
if len(sys.argv) > 2:
    write(sys.argv[1], known)
for time in TIMES.values():
    table(known, time)
