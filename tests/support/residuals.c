/* Problems with their engines: see residuals.h. */
#include "support/residuals.h"

#include <string.h>

#include "support/support.h"

const char problem_of_everything[] =
    "coordinates: {x: [-1, 1], y: [0, 1], t: [0, 1]}\n"
    "fields: [u, v]\n"
    "constants: {nu: 0.1}\n"
    "equations:\n"
    "  first: u_t + u*u_x + v*u_y - nu*lap(u) - sin(pi*x)*t\n"
    "  second: {expression: v_xy + u*v^2 = exp(-x^2), weight: 2}\n"
    "conditions:\n"
    "  start: {at: t = 0, u: -sin(pi*x), v: x*y, weight: 10, points: 37}\n"
    "  walls: {at: y = 0 | y = 1 | x = 1, u_n: x, v: 0, points: 101}\n"
    "  wrap: {periodic: [x, y], slopes: true, points: 53, weight: 3}\n"
    "points: 301\n"
    "network: {hidden: 2 x 9}\n"
    "inputs: {periodic: {x: 1}}\n";

void open_setup(setup *s, const char *text, const char *precision, int threads, sg_isa isa)
{
    const char *const sets[] = {precision};
    sg_diagnostic diagnostic = {0};
    sgi_arena arena;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    if (sgi_problem_read(&s->problem, "test", text, strlen(text), sets, 1, NULL, &diagnostic) !=
        SG_OK)
        fail_msg("%s\n%s", said(&diagnostic), text);
    sgi_arena_init(&arena, &heap);
    sg_jet_network_config config;
    assert_ok(sgi_problem_network(s->problem, &arena, &config));
    assert_ok(sg_jet_network_create(&s->network, &config, NULL));
    sg_jet_init init = sgi_problem_init(s->problem);
    assert_ok(sg_jet_network_initialize(s->network, &init));
    sgi_arena_clear(&arena);
    assert_ok(sg_pool_create(&s->pool, threads, NULL));
    sgi_residual_options options = {.type = config.type, .workers = threads, .isa = isa};
    assert_ok(sgi_residual_create(&s->residual, s->problem, &options, NULL));
    sg_jet_config engine = sg_jet_defaults();
    engine.network = s->network;
    engine.sets = sgi_residual_sets(s->residual);
    engine.set_count = (size_t)s->problem->set_count;
    engine.pool = s->pool;
    assert_ok(sg_jet_create(&s->engine, &engine, NULL));
    sgi_residual_begin(s->residual, 5, 77);
}

void close_setup(setup *s)
{
    sg_jet_destroy(s->engine);
    sgi_residual_destroy(s->residual);
    sg_pool_destroy(s->pool);
    sg_jet_network_destroy(s->network);
    sgi_problem_destroy(s->problem);
}
