"""What the peers of jet_bench share: the case it wrote, the problems, checking and timing.

jet_bench writes a folder with case.json (problem, depth, width, sets, loss) and case.bin (float32:
parameters, our gradient, then the points of each set, one array for each side and coordinate). A peer
takes the same weights and points, must come to the same loss and gradient, and is timed then:

    python peer_X.py KIND FOLDER THREADS [busy]     prints: seconds of its best step, peak megabytes
"""
import json
import os
import resource
import sys
import time

folder, threads = sys.argv[2], int(sys.argv[3])
busy = "busy" in sys.argv[4:]  # others use the machine: processor time counts where it is less
# One thread means one processor, for every pool that a framework may start.
if threads == 1:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ.setdefault("OMP_NUM_THREADS", str(threads))
# Waiting threads that spin hold each other up: on small batches two to three times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
import numpy  # noqa: E402

PI = 3.14159265358979323846

# Coordinates, outputs, features, frequencies of the waves; which first derivatives the equation
# reads, and along which coordinates it takes second ones.
PROBLEMS = {
    "burgers": dict(coordinates=2, outputs=1, features=2, firsts=[0, 1], seconds=[0]),
    "allen-cahn": dict(coordinates=2, outputs=1, features=2, firsts=[1], seconds=[0]),
    "heat": dict(coordinates=2, outputs=1, features=2, firsts=[1], seconds=[0]),
    "poisson": dict(coordinates=2, outputs=1, features=2, firsts=[], seconds=[0, 1]),
    "helmholtz": dict(coordinates=3, outputs=1, features=75, firsts=[], seconds=[0, 1, 2]),
    "burgers3d": dict(coordinates=4, outputs=3, features=25, firsts=[0, 1, 2, 3], seconds=[1, 2, 3]),
}


def residual(problem, u, first, second):
    """first[i] is u_i, second the sum of u_ii over the problem's `seconds`."""
    if problem == "burgers":
        return first[1] + u * first[0] - 1e-4 * second
    if problem == "allen-cahn":
        return first[1] - 1e-4 * second + 5 * u * u * u - 5 * u
    if problem == "heat":
        return first[1] - 0.1 * second
    if problem == "poisson":
        return -second - 1
    if problem == "helmholtz":
        return second * 1e-3 + u - 1
    return first[0] + sum(u[:, i : i + 1] * first[i + 1] for i in range(3)) - 0.05 * second


def features(xp, problem, x):
    """The input map, for any library with sin, cos, concatenate (as cat) and reshape."""
    if PROBLEMS[problem]["features"] == 2:
        return x
    flow = problem == "burgers3d"
    raw, space = (2 * x[:, :1] - 1, x[:, 1:]) if flow else (x, x)
    wave = xp.frequencies(PI * numpy.arange(1, 5 if flow else 13, dtype=numpy.float32))
    phase = (space[:, :, None] * wave).reshape(x.shape[0], -1)
    return xp.cat([raw, xp.sin(phase), xp.cos(phase)], 1)


class Case:
    def __init__(self):
        with open(os.path.join(folder, "case.json")) as file:
            head = json.load(file)
        data = numpy.fromfile(os.path.join(folder, "case.bin"), dtype=numpy.float32)
        self.problem, self.loss = head["problem"], head["loss"]
        shape = PROBLEMS[self.problem]
        sizes = [shape["features"]] + [head["width"]] * head["depth"] + [shape["outputs"]]
        count = sum(a * b + b for a, b in zip(sizes, sizes[1:]))
        self.layers = self.unflatten(sizes, data[:count])
        self.gradient = data[count : 2 * count]
        self.sets, at = [], 2 * count  # a set: one (items, coordinates) array for each side
        for items, sides in head["sets"]:
            block = data[at : at + items * sides * shape["coordinates"]]
            block = block.reshape(sides, shape["coordinates"], items).transpose(0, 2, 1)
            self.sets.append([numpy.ascontiguousarray(side) for side in block])
            at += items * sides * shape["coordinates"]
        assert at == len(data), "case.bin has another size"

    @staticmethod
    def unflatten(sizes, flat):
        """(weight (out, in), bias) of each layer."""
        layers, at = [], 0
        for inputs, outputs in zip(sizes, sizes[1:]):
            weight = flat[at : at + inputs * outputs].reshape(outputs, inputs)
            at += inputs * outputs
            layers.append((weight, flat[at : at + outputs]))
            at += outputs
        return layers

    def total(self, equation, sides):
        """The loss: mean square of the equation, of the conditions u = 1, of pairs."""
        loss = (equation * equation).mean()
        for values in sides:
            r = values[0] - (values[1] if len(values) == 2 else 1)
            loss = loss + (r * r).mean()
        return loss

    def check(self, loss, gradient):
        """gradient: (weight, bias) of each layer, as NumPy arrays."""
        flat = numpy.concatenate([part.ravel() for layer in gradient for part in layer])
        off = numpy.linalg.norm(flat - self.gradient) / numpy.linalg.norm(self.gradient)
        if not abs(loss - self.loss) <= 1e-3 * abs(self.loss) or not off <= 2e-3:
            sys.exit("disagrees: loss %g against %g, gradient off by %g" % (loss, self.loss, off))


def time_steps(step):
    """`step` waits for its result. Warm: it has been called before."""
    step()
    times, start = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < 1.5 and len(times) < 50):
        before, processor = time.perf_counter(), time.process_time()
        step()
        times.append(time.perf_counter() - before)
        if busy:
            times[-1] = min(times[-1], time.process_time() - processor)
        if time.perf_counter() - start > 12:
            break
    print(min(times), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
