#!/usr/bin/env python3
"""Writes problems/kuramoto-sivashinsky.npz, the reference of that problem.

    u_t + 5 u u_x + 0.5 u_xx + 0.005 u_xxxx = 0,  u(x, 0) = -sin(pi x),  x in [-1, 1] periodic

Fourier modes in space, and in time the exponential method ETDRK4 of Cox and Matthews with the
contour integrals of Kassam and Trefethen. It is run with two steps in time and two numbers of modes, and the
largest differences are printed. Needs NumPy.
"""
import sys

import numpy as np


def solve(modes, steps, end, outputs):
    x = -1 + 2 * np.arange(modes) / modes
    k = np.pi * np.fft.rfftfreq(modes, 1 / modes)
    linear = 0.5 * k**2 - 0.005 * k**4
    h = end / steps
    roots = np.exp(1j * np.pi * (np.arange(1, 65) - 0.5) / 64)
    z = h * linear[:, None] + roots[None, :]
    whole, half = np.exp(h * linear), np.exp(h * linear / 2)
    q = h * np.mean((np.exp(z / 2) - 1) / z, axis=1).real
    a = h * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3, axis=1).real
    b = h * np.mean((2 + z + np.exp(z) * (z - 2)) / z**3, axis=1).real
    c = h * np.mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3, axis=1).real
    keep = np.abs(k) < 2 / 3 * np.max(np.abs(k))

    def advect(v):
        return -2.5j * k * keep * np.fft.rfft(np.fft.irfft(v, modes) ** 2)

    v = np.fft.rfft(-np.sin(np.pi * x))
    fields = [np.fft.irfft(v, modes)]
    for step in range(1, steps + 1):
        nv = advect(v)
        va = half * v + q * nv
        na = advect(va)
        vb = half * v + q * na
        nb = advect(vb)
        vc = half * va + q * (2 * nb - nv)
        nc = advect(vc)
        v = whole * v + a * nv + 2 * b * (na + nb) + c * nc
        if step % (steps // (outputs - 1)) == 0:
            fields.append(np.fft.irfft(v, modes))
    return x, np.array(fields)


def main():
    end, outputs = 0.5, 51
    x, u = solve(256, 20000, end, outputs)
    print("half the step     %.1e" % np.abs(solve(256, 10000, end, outputs)[1] - u).max())
    print("twice the modes   %.1e" % np.abs(solve(512, 20000, end, outputs)[1][:, ::2] - u).max())
    path = sys.argv[1] if len(sys.argv) > 1 else "problems/kuramoto-sivashinsky.npz"
    points = np.append(x[::2], 1.0)
    field = np.column_stack([u[:, ::2], u[:, 0]])
    np.savez_compressed(path, x=points, t=np.linspace(0, end, outputs), u=field.T)
    print("largest value     %.3f" % np.abs(u).max())


if __name__ == "__main__":
    main()
