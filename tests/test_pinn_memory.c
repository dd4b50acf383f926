/* What a trainer says that it needs against what it took from its allocator, for methods of both
 * orders, with refinement, causal weights, integrals, stages and windows; and what is asked for in
 * advance of the matrices of SOAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/pinn.h"
#include "support/support.h"

#define TEXT                                                                                       \
    "coordinates: {x: [0, 1], t: [0, 1]}\n"                                                        \
    "fields: [u]\n"                                                                                \
    "equations: {heat: u_t - 0.1*u_xx}\n"                                                          \
    "conditions:\n"                                                                                \
    "  start: {at: t = 0, u: sin(pi*x), points: 400}\n"                                            \
    "  ends: {at: x = 0 | x = 1, u: 0, points: 400}\n"                                             \
    "points: 3000\n"                                                                               \
    "network: {hidden: 3 x 24, precision: double}\n"

/* An allocator that knows how many bytes are held now. Their number stands in front of them. */
static void *take(void *context, size_t alignment, size_t size)
{
    char *memory = NULL;
    if (posix_memalign((void **)&memory, alignment, alignment + size) != 0)
        return NULL;
    *(size_t *)(void *)memory = size;
    *(size_t *)context += size;
    return memory + alignment;
}

static void give_back(void *context, void *memory)
{
    char *at = (char *)memory - SG_ALIGNMENT;
    *(size_t *)context -= *(size_t *)(void *)at;
    free(at);
}

static sg_pinn *read_text(const char *text)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "test.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    return pinn;
}

/* Bytes that a trainer of the problem says it needs, which are what it holds. */
static double stated(const char *text)
{
    size_t held = 0;
    sg_allocator allocator = {take, give_back, &held};
    sg_pinn *pinn = read_text(text);
    sg_pinn_trainer *trainer;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, &allocator));
    size_t windows = pinn->pieces.count > 0 ? pinn->pieces.count : 1;
    double network = 2.0 * sizeof(double) * (double)windows *
                     (double)sg_jet_network_parameters(sg_pinn_network(pinn));
    double memory = (double)sgi_pinn_trainer_memory(trainer), holds = (double)held + network;
    /* A percent for what the parts take while they are made, and for the trainer itself. The
     * problem of a window is as little counted as that of a run without. */
    double problem = windows > 1 ? 1 << 18 : 0;
    if (!(memory > 0.99 * holds - problem && memory < 1.01 * holds))
        fail_msg("%s\nsays %.0f bytes, and holds %.0f", text, memory, holds);
    assert_true(sgi_problem_bytes(pinn->problem) < memory);
    sg_pinn_trainer_destroy(trainer);
    assert_int_equal(held, 0);
    sg_pinn_close(pinn);
    return memory;
}

static void what_is_stated_is_what_is_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TEXT,
        TEXT "training: {optimizer: soap}\n",
        TEXT "training: {optimizer: multiadam}\n",
        TEXT "training: {optimizer: levenberg}\n",
        TEXT "training: {optimizer: kernel, points: {most: 1000}, causal: 1}\n",
        TEXT "training: {optimizer: ssbroyden}\n",
        TEXT "training: {optimizer: lbfgs}\n",
        TEXT "training: {causal: 1}\n",
        TEXT "training: [{optimizer: soap}, {optimizer: levenberg}, {optimizer: bfgs}]\n",
        TEXT "refinement: rad\n",
        TEXT "refinement: {method: rar-d, most: 20000}\n",
        TEXT "refinement: r3\n",
        TEXT "windows: 3\n",
        TEXT "windows: 3\ntraining: {optimizer: soap}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)stated(texts[i]);
    assert_true(stated(TEXT "refinement: rad\n") > stated(TEXT));
}

/* The engine that finds integrals before a gradient, of both batches. */
static void integrals_are_counted(void **state)
{
    (void)state;
#define MEAN                                                                                       \
    "coordinates: {x: [0, 1]}\nfields: [u]\nequations: {a: u_xx = -2}\n"                           \
    "network: {hidden: 3 x 24, precision: double}\nconditions:\n  end: {at: x = 0, u: 0}\n"
    double without = stated(MEAN "  mean: {at: x = 1, u: 0, points: 100}\n");
    double with = stated(MEAN "  mean: {over: domain, u: 1/6, points: 100}\n");
    assert_true(with > 1.2 * without);
    (void)stated(MEAN "  mean: {over: domain, u: 1/6, points: 100}\n"
                      "training: {optimizer: levenberg}\n");
}

/* What SOAP keeps beside AdamW's two moments is known before anything is taken. */
static void matrices_of_soap_are_asked_for(void **state)
{
    (void)state;
    static const char *const texts[] = {TEXT, TEXT "training: {optimizer: soap}\n"};
    double taken[2], asked[2];
    for (int k = 0; k < 2; k++) {
        sg_pinn *pinn = read_text(texts[k]);
        asked[k] = sgi_problem_bytes(pinn->problem);
        taken[k] = stated(texts[k]);
        sg_pinn_close(pinn);
    }
    assert_relative(asked[1] - asked[0], taken[1] - taken[0], 0.02); /* but for alignment */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stated_is_what_is_taken),
        cmocka_unit_test(integrals_are_counted),
        cmocka_unit_test(matrices_of_soap_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
