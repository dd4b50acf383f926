#!/usr/bin/env python3
"""Writes the reference solutions that come with the problems schroedinger and allen-cahn, and the picture of the problem
image, to the folder given (problems/).  Needs NumPy.

Both equations are solved with Fourier series in x, in double precision: the nonlinear Schroedinger equation by Strang's
splitting composed to fourth order (Yoshida), whose parts are exact, and Allen-Cahn by Runge-Kutta steps of fourth order
with an integrating factor.  Halving the time step and doubling the series changes no value by more than is printed."""
import sys
import zipfile
import io
import numpy as np


def schroedinger(modes, steps, times):
    """i h_t + h_xx/2 + |h|^2 h = 0, period 30, h = 2 sech(x) at t = 0."""
    x = -15 + 30 * np.arange(modes) / modes
    k = 2 * np.pi * np.fft.fftfreq(modes, 30 / modes)
    h = (2 / np.cosh(x)).astype(complex)
    dt = times[-1] / steps
    w = 1 / (2 - 2 ** (1 / 3))
    saved, every = [h.copy()], steps // (len(times) - 1)
    for n in range(1, steps + 1):
        for part in (w, 1 - 2 * w, w):
            s = part * dt
            h = h * np.exp(0.5j * s * abs(h) ** 2)
            h = np.fft.ifft(np.exp(-0.5j * k**2 * s) * np.fft.fft(h))
            h = h * np.exp(0.5j * s * abs(h) ** 2)
        if n % every == 0:
            saved.append(h.copy())
    return x, np.array(saved)


def allen_cahn(modes, steps, times):
    """u_t = 1e-4 u_xx - 5 u^3 + 5 u, period 2, u = x^2 cos(pi x) at t = 0."""
    x = -1 + 2 * np.arange(modes) / modes
    k = 2 * np.pi * np.fft.rfftfreq(modes, 2 / modes)
    dt = times[-1] / steps
    half = np.exp((5 - 1e-4 * k**2) * dt / 2)
    v = np.fft.rfft(x**2 * np.cos(np.pi * x))
    force = lambda v: np.fft.rfft(-5 * np.fft.irfft(v, modes) ** 3)
    saved, every = [np.fft.irfft(v, modes)], steps // (len(times) - 1)
    for n in range(1, steps + 1):
        a = force(v)
        b = force(half * (v + dt / 2 * a))
        c = force(half * v + dt / 2 * b)
        d = force(half * half * v + dt * half * c)
        v = half * half * (v + dt / 6 * a) + dt / 6 * (2 * half * (b + c) + d)
        if n % every == 0:
            saved.append(np.fft.irfft(v, modes))
    return x, np.array(saved)


def picture(n):
    """A small picture with edges, slopes and a fine pattern, values in 0 .. 1."""
    y, x = np.meshgrid(np.linspace(1, -1, n), np.linspace(-1, 1, n), indexing="ij")
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    image = 0.35 + 0.25 * y
    image = np.where(radius < 0.8, 0.5 + 0.4 * np.cos(7 * angle + 9 * radius), image)
    image = np.where(radius < 0.25, 0.95 - 0.8 * radius, image)
    return np.where((abs(x) > 0.9) | (abs(y) > 0.9), 0.5 + 0.4 * np.sign(np.sin(24 * (x + y))), image)


def save(path, **arrays):
    """An .npz with fixed dates, so that the same numbers are the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.save(data, array)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data.getvalue(), zipfile.ZIP_DEFLATED)


def main(folder):
    times = np.linspace(0, np.pi / 2, 41)
    x, h = schroedinger(1024, 8000, times)
    _, coarse = schroedinger(512, 4000, times)
    print("schroedinger: converged to %.1e" % abs(h[:, ::2] - coarse).max())
    h = np.concatenate([h, h[:, :1]], 1)[:, ::8]
    x = np.append(x, 15)[::8]
    save(folder + "/schroedinger.npz", x=x, t=times, u=h.real.astype("f4"), v=h.imag.astype("f4"))
    times = np.linspace(0, 1, 41)
    x, u = allen_cahn(4096, 8000, times)
    _, coarse = allen_cahn(2048, 4000, times)
    print("allen-cahn: converged to %.1e" % abs(u[:, ::2] - coarse).max())
    u = np.concatenate([u, u[:, :1]], 1)[:, ::32]
    x = np.append(x, 1)[::32]
    save(folder + "/allen-cahn.npz", x=x, t=times, u=u.astype("f4"))
    n = 64
    axis = np.linspace(-1, 1, n)
    save(folder + "/image.npz", x=axis, y=axis, brightness=picture(n)[::-1].T.astype("f4"))


main(sys.argv[1])
