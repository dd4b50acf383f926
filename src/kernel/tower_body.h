/* Third and fourth derivatives along one coordinate: see sgi_tower. With z_1, z_2, z_3 for the
 * derivatives of z along it, y for the first derivative beside them and c_k, b for the
 * coefficients, the chain rule gives
 *
 *     a_1  = f' z_1
 *     a_2  = f' z_2 + f'' z_1^2
 *     a_3  = f' z_3 + f'' 3 z_1 z_2 + f''' z_1^3
 *     L[a] = f' L[z] + f'' s_2 + f''' s_3 + f'''' s_4
 *
 *     s_2  = c_2 z_1^2 + c_3 3 z_1 z_2 + c_4 (4 z_1 z_3 + 3 z_2^2) + b y^2
 *     s_3  = c_3 z_1^3 + c_4 6 z_1^2 z_2
 *     s_4  = c_4 z_1^4 */
typedef struct tower_point {
    real c[SG_CHAIN_FACTORS + 1], square;
} tower_point;

/* z[0] is y. */
typedef struct tower_values {
    value z[SG_CHAIN_FACTORS], s[SG_CHAIN_FACTORS + 1];
} tower_values;

static SG_INLINE void tower_sums(int order, bool beside, const tower_point *point, tower_values *v)
{
    const real *c = point->c;
    value *z = v->z, square = z[1] * z[1];
    v->s[2] = square * c[2] + z[1] * z[2] * (3 * c[3]);
    v->s[3] = square * z[1] * c[3];
    if (order > 3) {
        v->s[2] += (z[1] * z[3] * 4 + z[2] * z[2] * 3) * c[4];
        v->s[3] += square * z[2] * (6 * c[4]);
        v->s[4] = square * square * c[4];
    }
    if (beside)
        v->s[2] += z[0] * z[0] * point->square;
}

/* How far the channel of z_k (k = 0: y) is from that of the value; k = order: that of L. */
static SG_INLINE size_t tower_at(const sgi_tower *tower, bool beside, int k, size_t step)
{
    int channel = k == 0 ? tower->beside : k == 1 ? tower->first : k + beside;
    return (size_t)channel * step;
}

static SG_INLINE void tower_load(const sgi_tower *tower, int order, bool beside, const real *from,
                                 size_t step, value *to)
{
#pragma GCC unroll 8
    for (int k = beside ? 0 : 1; k < order; k++)
        to[k] = sgi_load(from + tower_at(tower, beside, k, step));
}

static SG_INLINE void tower_forward_at(sg_activation activation, int order, bool beside,
                                       const sgi_activate *args, const tower_point *point,
                                       const pass *at, size_t step)
{
    const sgi_tower *tower = &args->chain->tower;
    real frequency = (real)args->frequency;
    value d[SG_CHAIN_FACTORS + 1];
    tower_values v;
    value memo = value_at(activation, frequency, at), *z = v.z;
    activation_derivatives(activation, sgi_load(at->z), sgi_load(at->a), memo, frequency, order, d);
    tower_load(tower, order, beside, at->z, step, z);
    tower_sums(order, beside, point, &v);
    if (beside)
        sgi_store(at->a + tower_at(tower, beside, 0, step), d[1] * z[0]);
    sgi_store(at->a + tower_at(tower, beside, 1, step), d[1] * z[1]);
    sgi_store(at->a + tower_at(tower, beside, 2, step), d[1] * z[2] + d[2] * (z[1] * z[1]));
    if (order > 3)
        sgi_store(at->a + tower_at(tower, beside, 3, step),
                  d[1] * z[3] + d[2] * (z[1] * z[2] * 3) + d[3] * (z[1] * z[1] * z[1]));
    size_t last = tower_at(tower, beside, order, step);
    value sum = d[1] * sgi_load(at->z + last) + d[2] * v.s[2] + d[3] * v.s[3];
    if (order > 3)
        sum += d[4] * v.s[4];
    sgi_store(at->a + last, sum);
}

/* What the adjoint of z gets from the adjoints `up` of a_k and `given` of L[a]; `last` is L[z]. */
static SG_INLINE value tower_value_adjoint(int order, bool beside, const value *d,
                                           const tower_values *v, const value *up, value given,
                                           value last)
{
    const value *z = v->z;
    value curved = last * given + z[1] * up[1] + z[2] * up[2];
    value third = v->s[2] * given + z[1] * z[1] * up[2], fourth = v->s[3] * given;
    if (beside)
        curved += z[0] * up[0];
    if (order > 3) {
        curved += z[3] * up[3];
        third += z[1] * z[2] * 3 * up[3];
        fourth += z[1] * z[1] * z[1] * up[3];
    }
    value sum = d[2] * curved + d[3] * third + d[4] * fourth;
    return order > 3 ? sum + d[5] * (v->s[4] * given) : sum;
}

/* The transpose of tower_forward_at: each sum by each of its factors. */
static SG_INLINE void tower_reverse_at(sg_activation activation, int order, bool beside,
                                       const sgi_activate *args, const tower_point *point,
                                       const pass *at, size_t step)
{
    const sgi_tower *tower = &args->chain->tower;
    const real *c = point->c;
    value d[SG_CHAIN_FACTORS + 2], up[SG_CHAIN_FACTORS];
    tower_values v;
    value *z = v.z;
    derivatives_at(activation, (real)args->frequency, at, order + 1, d);
    tower_load(tower, order, beside, at->z, step, z);
    tower_load(tower, order, beside, at->moved, step, up);
    tower_sums(order, beside, point, &v);
    size_t last = tower_at(tower, beside, order, step);
    value given = sgi_load(at->moved + last), two = d[2] * given, three = d[3] * given;
    value sum = tower_value_adjoint(order, beside, d, &v, up, given, sgi_load(at->z + last));
    value square = z[1] * z[1];
    value first = d[1] * up[1] + d[2] * (z[1] * 2 * up[2]) + three * (square * (3 * c[3])) +
                  two * (z[1] * (2 * c[2]) + z[2] * (3 * c[3]));
    value second = d[1] * up[2] + two * (z[1] * (3 * c[3]));
    if (order > 3) {
        first += d[2] * (z[2] * 3 * up[3]) + d[3] * (square * 3 * up[3]) +
                 two * (z[3] * (4 * c[4])) + three * (z[1] * z[2] * (12 * c[4])) +
                 d[4] * given * (square * z[1] * (4 * c[4]));
        second +=
            d[2] * (z[1] * 3 * up[3]) + two * (z[2] * (6 * c[4])) + three * (square * (6 * c[4]));
        sgi_store(at->moved + tower_at(tower, beside, 3, step),
                  d[1] * up[3] + two * (z[1] * (4 * c[4])));
    }
    if (beside)
        sgi_store(at->moved + tower_at(tower, beside, 0, step),
                  d[1] * up[0] + two * (z[0] * (2 * point->square)));
    sgi_store(at->moved, d[1] * sgi_load(at->moved) + sum);
    sgi_store(at->moved + tower_at(tower, beside, 1, step), first);
    sgi_store(at->moved + tower_at(tower, beside, 2, step), second);
    sgi_store(at->moved + last, d[1] * given);
}

static SG_INLINE void tower_loop(pass_kind kind, sg_activation activation, int order, bool beside,
                                 const sgi_activate *args, const pass *all)
{
    const sgi_tower *tower = &args->chain->tower;
    size_t step = (size_t)args->points * (size_t)args->stride;
    tower_point point;
    for (int p = 0; p < args->points; p++) {
        for (int k = 2; k <= order; k++)
            point.c[k] = coefficient_at(args, p, tower->coefficient[k], tower->varying[k]);
        point.square = coefficient_at(args, p, tower->square, tower->square_varying);
        for (int i = 0; i < args->width; i += LANES) {
            pass at = pass_at(all, (size_t)p * (size_t)args->stride + (size_t)i);
            if (kind == FORWARD)
                tower_forward_at(activation, order, beside, args, &point, &at, step);
            else
                tower_reverse_at(activation, order, beside, args, &point, &at, step);
        }
    }
}

/* Calls tower_loop with the shape of the chain as constants. */
static SG_INLINE void tower_pass(pass_kind kind, sg_activation activation, const sgi_activate *args,
                                 const pass *all)
{
    const sgi_tower *tower = &args->chain->tower;
    if (tower->order == 3 && !tower->beside)
        tower_loop(kind, activation, 3, false, args, all);
    else if (tower->order == 3)
        tower_loop(kind, activation, 3, true, args, all);
    else if (!tower->beside)
        tower_loop(kind, activation, 4, false, args, all);
    else
        tower_loop(kind, activation, 4, true, args, all);
}
