/* The activation passes of the vector tables. Simple chains (the value, up to four first
 * derivatives and one combination of first and pure second ones) and towers (third and fourth
 * derivatives along one coordinate) have loops in which the shape of the chain and the activation
 * are constants, so that the compiler removes every decision; other chains follow the table of
 * terms. Both compute the transcendental function once for a point and
 * feature. In what follows `step` is the distance from a channel to the next. */
typedef struct pass {
    const real *z;
    real *a;
    real *memo;
    real *moved; /* adjoint or tangent, in and out */
} pass;

/* tanh' and the others follow from tanh itself: nothing more to keep. */
static SG_INLINE bool has_memo(sg_activation activation)
{
    return activation != SG_ACTIVATION_TANH;
}

static SG_INLINE void derivatives_at(sg_activation activation, real frequency, const pass *at,
                                     int most, value *d)
{
    value memo = has_memo(activation) ? sgi_load(at->memo) : sgi_splat(0);
    activation_derivatives(activation, sgi_load(at->z), sgi_load(at->a), memo, frequency, most, d);
}

static SG_INLINE value value_at(sg_activation activation, real frequency, const pass *at)
{
    value memo, f = activation_value(activation, sgi_load(at->z), frequency, &memo);
    sgi_store(at->a, f);
    if (has_memo(activation))
        sgi_store(at->memo, memo);
    return memo;
}

/* The coefficients of the squares at a point. */
typedef struct squares {
    real at[SG_CHAIN_FIRSTS];
} squares;

static SG_INLINE value weighted_squares(const squares *square, int firsts, const value *z)
{
    value sum = z[0] * z[0] * square->at[0];
    for (int j = 1; j < firsts; j++)
        sum += z[j] * z[j] * square->at[j];
    return sum;
}

/* a_j = f' z_j for the first derivatives, and L[a] = f' L[z] + f'' sum_j square_j z_j^2 for the
 * last channel. */
static SG_INLINE void simple_forward_at(sg_activation activation, int firsts, bool second,
                                        const sgi_activate *args, const squares *square,
                                        const pass *at, size_t step)
{
    real frequency = (real)args->frequency;
    value d[3], z[SG_CHAIN_FIRSTS];
    value memo = value_at(activation, frequency, at);
    if (firsts == 0)
        return;
    activation_derivatives(activation, sgi_load(at->z), sgi_load(at->a), memo, frequency,
                           second ? 2 : 1, d);
#pragma GCC unroll 8
    for (int j = 0; j < firsts; j++) {
        z[j] = sgi_load(at->z + (size_t)(j + 1) * step);
        sgi_store(at->a + (size_t)(j + 1) * step, d[1] * z[j]);
    }
    size_t last = (size_t)(firsts + 1) * step;
    if (second)
        sgi_store(at->a + last,
                  d[1] * sgi_load(at->z + last) + d[2] * weighted_squares(square, firsts, z));
}

/* The transpose of simple_forward_at. With A, A_j and A_L the adjoints of a, a_j and L[a]:
 *
 *     z    <- f' A + f'' (sum_j z_j A_j + L[z] A_L) + f''' A_L sum_j square_j z_j^2
 *     z_j  <- f' A_j + 2 f'' A_L square_j z_j
 *     L[z] <- f' A_L */
static SG_INLINE void simple_reverse_at(sg_activation activation, int firsts, bool second,
                                        const sgi_activate *args, const squares *square,
                                        const pass *at, size_t step)
{
    value d[4], z[SG_CHAIN_FIRSTS];
    derivatives_at(activation, (real)args->frequency, at, second ? 3 : firsts ? 2 : 1, d);
    value curved = sgi_splat(0), sum = d[1] * sgi_load(at->moved), given;
    size_t last = (size_t)(firsts + 1) * step;
    if (second) {
        given = sgi_load(at->moved + last);
        curved = sgi_load(at->z + last) * given;
    }
#pragma GCC unroll 8
    for (int j = 0; j < firsts; j++) {
        z[j] = sgi_load(at->z + (size_t)(j + 1) * step);
        value adjoint = sgi_load(at->moved + (size_t)(j + 1) * step);
        curved += z[j] * adjoint;
        value to = d[1] * adjoint;
        if (second)
            to += d[2] * given * (z[j] * (2 * square->at[j]));
        sgi_store(at->moved + (size_t)(j + 1) * step, to);
    }
    if (firsts)
        sum += d[2] * curved;
    if (second) {
        sum += d[3] * given * weighted_squares(square, firsts, z);
        sgi_store(at->moved + last, d[1] * given);
    }
    sgi_store(at->moved, sum);
}

typedef enum pass_kind { FORWARD, REVERSE, TANGENT } pass_kind;

static SG_INLINE pass pass_at(const pass *all, size_t at)
{
    return (pass){all->z + at, all->a + at, all->memo ? all->memo + at : NULL,
                  all->moved ? all->moved + at : NULL};
}

static SG_INLINE void simple_loop(pass_kind kind, sg_activation activation, int firsts, bool second,
                                  const sgi_activate *args, const pass *all)
{
    size_t step = (size_t)args->points * (size_t)args->stride;
    squares square;
    for (int p = 0; p < args->points; p++) {
        for (int j = 0; j < firsts && second; j++)
            square.at[j] =
                coefficient_at(args, p, args->chain->square[j], args->chain->square_varying[j]);
        for (int i = 0; i < args->width; i += LANES) {
            pass at = pass_at(all, (size_t)p * (size_t)args->stride + (size_t)i);
            if (kind == FORWARD)
                simple_forward_at(activation, firsts, second, args, &square, &at, step);
            else
                simple_reverse_at(activation, firsts, second, args, &square, &at, step);
        }
    }
}

#include "kernel/tower_body.h"

/* Any chain, by its table. Tangents always come here: they are rare, and not worth loops of their
 * own. */
static SG_INLINE void general_loop(pass_kind kind, sg_activation activation,
                                   const sgi_activate *args, const pass *all)
{
    size_t step = (size_t)args->points * (size_t)args->stride;
    value d[SG_CHAIN_FACTORS + 2];
    for (int p = 0; p < args->points; p++)
        for (int i = 0; i < args->width; i += LANES) {
            pass at = pass_at(all, (size_t)p * (size_t)args->stride + (size_t)i);
            if (kind == FORWARD)
                value_at(activation, (real)args->frequency, &at);
            derivatives_at(activation, (real)args->frequency, &at, SG_CHAIN_FACTORS + 1, d);
            if (kind == FORWARD)
                chain_forward(args, p, d, at.z, at.a, step);
            else if (kind == REVERSE)
                chain_reverse(args, p, d, at.z, at.moved, step);
            else
                chain_tangent(args, p, d, at.z, at.moved, step);
        }
}

/* Calls simple_loop with the shape of the chain as constants. */
static SG_INLINE void simple_pass(pass_kind kind, sg_activation activation,
                                  const sgi_activate *args, const pass *all)
{
    switch (2 * args->chain->firsts + args->chain->second) {
#define SG_CASE(firsts, second)                                                                    \
    case 2 * firsts + second:                                                                      \
        simple_loop(kind, activation, firsts, second, args, all);                                  \
        break;
        SG_CASE(0, 0)
        SG_CASE(1, 0)
        SG_CASE(2, 0)
        SG_CASE(3, 0)
        SG_CASE(4, 0)
        SG_CASE(1, 1)
        SG_CASE(2, 1)
        SG_CASE(3, 1)
        SG_CASE(4, 1)
#undef SG_CASE
    default:
        break;
    }
}

static SG_INLINE void any_pass(pass_kind kind, sg_activation activation, const sgi_activate *args,
                               const pass *all)
{
    if (kind != TANGENT && args->chain->simple && !args->general)
        simple_pass(kind, activation, args, all);
    else if (kind != TANGENT && args->chain->tower.order > 0 && !args->general)
        tower_pass(kind, activation, args, all);
    else
        general_loop(kind, activation, args, all);
}

/* Calls the pass with the activation as a constant. */
static SG_INLINE void choose_activation(pass_kind kind, const sgi_activate *args, const pass *all)
{
    switch (args->activation) {
#define SG_CASE(code, name)                                                                        \
    case code:                                                                                     \
        any_pass(kind, code, args, all);                                                           \
        break;
        SG_ACTIVATION_LIST(SG_CASE)
#undef SG_CASE
    }
}

static void activate(const sgi_activate *args, const void *z, void *a, void *memo)
{
    choose_activation(FORWARD, args, &(pass){z, a, memo, NULL});
}

/* The passes below only read `a` and `memo`. */
static void activate_reverse(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *adjoint)
{
    choose_activation(REVERSE, args,
                      &(pass){z, (void *)(uintptr_t)a, (void *)(uintptr_t)memo, adjoint});
}

static void activate_tangent(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *tangent)
{
    choose_activation(TANGENT, args,
                      &(pass){z, (void *)(uintptr_t)a, (void *)(uintptr_t)memo, tangent});
}
