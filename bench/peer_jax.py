"""The benchmark's rows in JAX, jit-compiled: see peer_case.py for how it is called.

KIND nested: input derivatives by nested forward mode (jvp of jvp, which is what is fastest here).
KIND jet: second derivatives by jax.experimental.jet, first ones by jvp.
The gradient of the weights is reverse mode over the whole step."""
import sys

import peer_case

import jax
import jax.numpy as jnp
from jax.experimental import jet

kind = sys.argv[1]


class Maps:
    sin, cos = staticmethod(jnp.sin), staticmethod(jnp.cos)
    cat = staticmethod(jnp.concatenate)
    frequencies = staticmethod(jnp.asarray)


case = peer_case.Case()
shape = peer_case.PROBLEMS[case.problem]
act = jax.nn.silu if case.problem == "helmholtz" else jnp.tanh
if case.problem == "helmholtz":
    act = lambda z: z * jax.lax.logistic(z)  # jet knows no rule for the custom derivative of silu


def network(layers, x):
    a = peer_case.features(Maps, case.problem, x)
    for w, b in layers[:-1]:
        a = act(a @ w.T + b)
    w, b = layers[-1]
    return a @ w.T + b


def along(x, i):
    return jnp.zeros_like(x).at[:, i].set(1)


def second_order(f, x, i):
    """u, u_i, u_ii"""
    e = along(x, i)
    if kind == "jet":
        u, (first, second) = jet.jet(f, (x,), ((e, jnp.zeros_like(x)),))
        return u, first, second
    (u, first), (_, second) = jax.jvp(lambda y: jax.jvp(f, (y,), (e,)), (x,), (e,))
    return u, first, second


def derivatives(layers, x):
    f = lambda y: network(layers, y)
    first, second = {}, 0
    for i in shape["seconds"]:
        u, first[i], curved = second_order(f, x, i)
        second = second + curved
    for i in shape["firsts"]:
        if i not in first:
            first[i] = jax.jvp(f, (x,), (along(x, i),))[1]
    return u, first, second


def loss(layers, sets):
    equation = peer_case.residual(case.problem, *derivatives(layers, sets[0][0]))
    return case.total(equation, [[network(layers, x) for x in sides] for sides in sets[1:]])


step = jax.jit(jax.value_and_grad(loss))
layers = [(jnp.asarray(w), jnp.asarray(b)) for w, b in case.layers]
sets = [[jnp.asarray(x) for x in sides] for sides in case.sets]
value, gradient = step(layers, sets)
case.check(float(value), jax.device_get(gradient))
peer_case.time_steps(lambda: jax.block_until_ready(step(layers, sets)))
