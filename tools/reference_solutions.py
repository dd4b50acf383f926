#!/usr/bin/env python3
"""Writes the reference solutions that come with the problems schroedinger, allen-cahn, kuramoto-sivashinsky, zabusky-kruskal,
cavity and cavity-corners, and the picture of the problem image, to the folder given (problems/).  Needs NumPy, and some
minutes.

The first four are solved with Fourier series in x, in double precision: the nonlinear Schroedinger equation by Strang's
splitting composed to fourth order (Yoshida), whose parts are exact, Allen-Cahn by Runge-Kutta steps of fourth order
with an integrating factor, and the other two by the exponential method ETDRK4 of Cox and Matthews with the contour
integrals of Kassam and Trefethen.  Halving the time step and doubling the series changes no value by more than is
printed.  The flow in the cavity is extrapolated from differences of second order on two grids."""
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


def advection(modes, steps, times, speed, linear, start):
    """u_t + speed u u_x = L u, period 2, where L multiplies the wave exp(i k x) by linear(k)."""
    x = -1 + 2 * np.arange(modes) / modes
    k = np.pi * np.fft.rfftfreq(modes, 1 / modes)
    h, each = times[-1] / steps, linear(k).astype(complex)
    z = h * each[:, None] + np.exp(2j * np.pi * (np.arange(1, 65) - 0.5) / 64)[None, :]
    whole, half = np.exp(h * each), np.exp(h * each / 2)
    q = h * np.mean((np.exp(z / 2) - 1) / z, axis=1)
    a = h * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3, axis=1)
    b = h * np.mean((2 + z + np.exp(z) * (z - 2)) / z**3, axis=1)
    c = h * np.mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3, axis=1)
    slope = -0.5j * speed * k * (k < 2 / 3 * k[-1])
    advect = lambda v: slope * np.fft.rfft(np.fft.irfft(v, modes) ** 2)
    v = np.fft.rfft(start(x))
    saved, every = [np.fft.irfft(v, modes)], steps // (len(times) - 1)
    for n in range(1, steps + 1):
        nv = advect(v)
        va = half * v + q * nv
        na = advect(va)
        vb = half * v + q * na
        nb = advect(vb)
        vc = half * va + q * (2 * nb - nv)
        v = whole * v + a * nv + 2 * b * (na + nb) + c * advect(vc)
        if n % every == 0:
            saved.append(np.fft.irfft(v, modes))
    return x, np.array(saved)


def save_advection(folder, name, modes, steps, times, *equation):
    """At 129 points."""
    x, u = advection(modes, steps, times, *equation)
    _, coarse = advection(modes // 2, steps // 2, times, *equation)
    print("%s: converged to %.1e" % (name, abs(u[:, ::2] - coarse).max()))
    u = np.concatenate([u, u[:, :1]], 1)[:, :: modes // 128]
    x = np.append(x, 1)[:: modes // 128]
    save(folder + "/" + name + ".npz", x=x, t=times, u=u.astype("f4"))


def cavity(n, nu):
    """The flow in a unit square whose upper side moves, u and v on n x n cells.  The unknowns are the stream function p and
    z = lap(p), with differences of second order; z of a wall is that of a mirrored p.  Newton's matrix has a block for each
    line of the grid and its neighbours."""
    h, m = 1 / n, n - 1
    p, z = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))  # [y, x]
    one, zero, slope = np.eye(m), np.zeros((m, m)), (np.eye(m, k=1) - np.eye(m, k=-1)) / (2 * h)
    across = (np.eye(m, k=1) - 4 * one + np.eye(m, k=-1)) / h**2
    left, right = np.zeros((m, m)), np.zeros((m, m))
    left[0, 0] = right[-1, -1] = 2 / h**2  # z of the wall by p of the point beside it
    lap = lambda a: (a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1] - 4 * a[1:-1, 1:-1]) / h**2
    along_x = lambda a: (a[1:-1, 2:] - a[1:-1, :-2]) / (2 * h)
    along_y = lambda a: (a[2:, 1:-1] - a[:-2, 1:-1]) / (2 * h)
    change = 1
    while change > 1e-12:
        z[0], z[n], z[:, 0], z[:, n] = 2 * p[1] / h**2, 2 * (p[m] + h) / h**2, 2 * p[:, 1] / h**2, 2 * p[:, m] / h**2
        px, py, zx, zy = along_x(p), along_y(p), along_x(z), along_y(z)
        f = np.concatenate([lap(p) - z[1:-1, 1:-1], py * zx - px * zy - nu * lap(z)], 1)
        ahead, rest = [], []
        for j in range(m):
            by_p = -zy[j][:, None] * slope + py[j][:, None] * (right - left) / (2 * h) - nu * (left + right) / h**2
            own = np.block([[across, -one], [by_p, py[j][:, None] * slope - nu * across]])
            turn, pull = np.diag(zx[j]) / (2 * h), np.diag(px[j]) / (2 * h)
            below = np.block([[one / h**2, zero], [-turn, pull - nu * one / h**2]])
            above = np.block([[one / h**2, zero], [turn, -pull - nu * one / h**2]])
            own[m:, :m] += (below[m:, m:] * (j == 0) + above[m:, m:] * (j == m - 1)) * 2 / h**2
            r = f[j]
            if j > 0:
                own, r = own - below @ ahead[-1], r - below @ rest[-1]
            solved = np.linalg.solve(own, np.concatenate([above, r[:, None]], 1))
            ahead.append(solved[:, :-1])
            rest.append(solved[:, -1])
        d = rest[-1]
        change = 0
        for j in range(m - 1, -1, -1):
            d = d if j == m - 1 else rest[j] - ahead[j] @ d
            p[j + 1, 1:-1] -= d[:m]
            z[j + 1, 1:-1] -= d[m:]
            change = max(change, abs(d[:m]).max())
    return along_y(p).T, -along_x(p).T  # inside, [x, y]


def extrapolated_cavity(n, nu):
    """u and v at the inner points of 32 x 32 cells, from n / 2 and n cells."""
    coarse, fine = cavity(n // 2, nu), cavity(n, nu)
    at = lambda a, k: a[k - 1 :: k, k - 1 :: k]
    return [(4 * at(b, n // 32) - at(a, n // 64)) / 3 for a, b in zip(coarse, fine)]


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
    kuramoto = (5, lambda k: 0.5 * k**2 - 0.005 * k**4, lambda x: -np.sin(np.pi * x))
    save_advection(folder, "kuramoto-sivashinsky", 512, 20000, np.linspace(0, 0.5, 51), *kuramoto)
    korteweg = (1, lambda k: 1j * 0.022**2 * k**3, lambda x: np.cos(np.pi * x))
    save_advection(folder, "zabusky-kruskal", 1024, 40000, np.linspace(0, 1, 41), *korteweg)
    fine, coarse = extrapolated_cavity(192, 0.01), extrapolated_cavity(128, 0.01)
    change = np.maximum(abs(fine[0] - coarse[0]), abs(fine[1] - coarse[1]))
    fine = [np.where(change < 1e-4, f, np.nan) for f in fine]  # not in the corners beside the lid
    print("cavity: %d of 961 points, converged to %.1e" % ((change < 1e-4).sum(), change[change < 1e-4].max()))
    axis = np.arange(1, 32) / 32
    save(folder + "/cavity.npz", x=axis, y=axis, u=fine[0].astype("f4"), v=fine[1].astype("f4"))
    n = 64
    axis = np.linspace(-1, 1, n)
    save(folder + "/image.npz", x=axis, y=axis, brightness=picture(n)[::-1].T.astype("f4"))


main(sys.argv[1])
