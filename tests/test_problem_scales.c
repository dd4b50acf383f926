/* Units: a problem with `scales` and its twin in numbers about 1 have the same losses, gradients
 * and training; everything that the user sees is in the user's units; sizes that are found, and
 * mistakes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinn/pinn.h"
#include "pinn/quantities.h"
#include "problem/check.h"
#include "problem/remarks.h"
#include "problem/scales.h"
#include "support/support.h"

#define SMALL                                                                                      \
    "network: {hidden: 2 x 9, precision: double, init: {gain: 2}}\n"                               \
    "points: 150\n"

static sg_pinn *open_pinn(const char *problem, const char *override)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic;
    if (sg_pinn_read(&pinn, "p.yaml", problem, strlen(problem), &override, override ? 1 : 0, NULL,
                     &diagnostic))
        fail_msg("%s\n%s", problem, said(&diagnostic));
    return pinn;
}

/* The plate of millimetres, seconds and kelvin: x = 0.01 X, t = 10 s, T = 293 + 80 u, so that 1e-6
 * m^2/s is 1e-6 * 10 / 0.01^2 = 0.1. */
#define MM_HEAD "coordinates: {x: [0, 0.01], t: [0, 10]}\nfields: [T]\nconstants: {a: 1e-6}\n"
#define MM_BODY                                                                                    \
    "equations: {heat: T_t = a*T_xx}\n"                                                            \
    "conditions:\n"                                                                                \
    "  initial: {at: t = 0, T: 293 + 80*sin(pi*x/0.01), points: 64, weight: 10}\n"                 \
    "  ends: {at: x = 0 | x = 0.01, T: 293, points: 32, weight: 10}\n"                             \
    "reference: {T: 293 + 80*exp(-a*(pi/0.01)^2*t)*sin(pi*x/0.01)}\n" SMALL
#define ONE                                                                                        \
    "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [u]\n"                                           \
    "equations: {heat: u_t = 0.1*u_xx}\n"                                                          \
    "conditions:\n"                                                                                \
    "  initial: {at: t = 0, u: sin(pi*x), points: 64, weight: 10}\n"                               \
    "  ends: {at: x = 0 | x = 1, u: 0, points: 32, weight: 10}\n"                                  \
    "reference: {u: exp(-0.1*pi^2*t)*sin(pi*x)}\n" SMALL

/* Problems and their twins. In a twin every residual is of size 1 by the rule of scales.h. */
static const struct {
    const char *name, *units, *twin;
} twins[] = {
    {"auto", MM_HEAD "scales: auto\n" MM_BODY, ONE},
    {"given", MM_HEAD "scales: {x: 1e-2, t: 10, T: {size: 80, offset: 293}}\n" MM_BODY, ONE},
    {"mixed", MM_HEAD "scales: {T: {size: 80, offset: 290 + 3}}\n" MM_BODY, ONE},
    {"nonlinear, periodic",
     "coordinates: {x: [0, 500], t: [0, 20]}\nfields: [v]\n"
     "scales: {v: 25}\n"
     "equations: {flow: v_t + v*v_x = 250*v_xx}\n"
     "conditions:\n"
     "  start: {at: t = 0, v: 25*sin(2*pi*x/500), points: 40}\n"
     "  wrap: {periodic: x, slopes: true, points: 30, weight: 3}\n" SMALL,
     "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [v]\n"
     "equations: {flow: v_t + v*v_x = 0.02*v_xx}\n"
     "conditions:\n"
     "  start: {at: t = 0, v: sin(2*pi*x), points: 40}\n"
     "  wrap: {periodic: x, slopes: true, points: 30, weight: 3}\n" SMALL},
    {"exact",
     MM_HEAD "scales: auto\nequations: {heat: T_t = a*T_xx}\n"
             "conditions:\n"
             "  start: {at: t = 0, T: 293 + 80*sin(pi*x/0.01), exact: true}\n"
             "  ends: {at: x = 0 | x = 0.01, T: 293, exact: true}\n" SMALL,
     "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [u]\nequations: {heat: u_t = 0.1*u_xx}\n"
     "conditions:\n"
     "  start: {at: t = 0, u: sin(pi*x), exact: true}\n"
     "  ends: {at: x = 0 | x = 1, u: 0, exact: true}\n" SMALL},
    {"hole, normals, integral",
     "coordinates: {x: [0, 2e-3], y: [0, 2e-3]}\nfields: [p]\n"
     "shapes: {hole: {disc: {center: [1e-3, 1e-3], radius: 4e-4}}}\ndomain: box - hole\n"
     "scales: {x: 2e-3, y: 2e-3, p: {size: 5e4, offset: 1e5}}\n"
     "equations: {darcy: lap(p) = 0}\n"
     "conditions:\n"
     "  inlet: {at: x = 0, p: 1.5e5, points: 20}\n"
     "  rim: {at: hole.boundary, p_n: 0, points: 40, weight: 2}\n"
     "  outlet: {over: x = 2e-3, p: 1e5*2e-3, points: 50}\n" SMALL,
     "coordinates: {x: [0, 1], y: [0, 1]}\nfields: [p]\n"
     "shapes: {hole: {disc: {center: [0.5, 0.5], radius: 0.2}}}\ndomain: box - hole\n"
     "equations: {darcy: lap(p) = 0}\n"
     "conditions:\n"
     "  inlet: {at: x = 0, p: 1, points: 20}\n"
     "  rim: {at: hole.boundary, p_n: 0, points: 40, weight: 2}\n"
     "  outlet: {over: x = 1, p: 0, points: 50}\n" SMALL},
    {"materials, fourth order, waves",
     "coordinates: {x: [-1e-6, 1e-6]}\nfields: [w, v]\n"
     "scales: {x: 1e-6, w: 1e-9, v: 1e-9}\n"
     "shapes: {left: {interval: {from: -1e-6, to: 0}}, right: box - left}\n"
     "inputs: {fourier: 2, scale: false}\n"
     "equations:\n"
     "  a: {expression: w_xxxx = 3e15, in: left}\n"
     "  b: {expression: v_xxxx = 0, in: right}\n"
     "conditions:\n"
     "  meet: {at: x = 0, w: v, w_x: v_x, w_xx: v_xx, w_xxx: v_xxx}\n"
     "  ends: {at: x = -1e-6, w: 0, w_xx: 1e3}\n" SMALL,
     "coordinates: {x: [-1, 1]}\nfields: [w, v]\n"
     "shapes: {left: {interval: {from: -1, to: 0}}, right: box - left}\n"
     "inputs: {fourier: 2, scale: false}\n"
     "equations:\n"
     "  a: {expression: w_xxxx = 3, in: left}\n"
     "  b: {expression: v_xxxx = 0, in: right}\n"
     "conditions:\n"
     "  meet: {at: x = 0, w: v, w_x: v_x, w_xx: v_xx, w_xxx: v_xxx}\n"
     "  ends: {at: x = -1, w: 0, w_xx: 1}\n" SMALL},
    {"data with deviations, an unknown constant",
     MM_HEAD
     "unknowns: {h: {start: 2e-7, bounds: [0, 1e-3]}}\nscales: {T: {size: 80, offset: 293}}\n"
     "equations: {heat: T_t = (a + h)*T_xx}\n"
     "data: {probes: {values: {x: [0.001, 0.005, 0.002], t: [1, 5, 7], hot: [300, nan, 320],"
     " flux: [800, 1600, 0]}, observe: {T: hot, T_x: flux}, std: {T: 2, T_x: 400},"
     " weight: 3}}\n" SMALL,
     "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [u]\n"
     "unknowns: {h: {start: 0.02, bounds: [0, 100]}}\n"
     "equations: {heat: u_t = (0.1 + h)*u_xx}\n"
     "data: {probes: {values: {x: [0.1, 0.5, 0.2], t: [0.1, 0.5, 0.7], hot: [7/80, nan, 27/80],"
     " flux: [0.1, 0.2, 0]}, observe: {u: hot, u_x: flux}, std: {u: 2/80, u_x: 400*0.01/80},"
     " weight: 3}}\n" SMALL},
    {"data without deviations",
     MM_HEAD "scales: {T: {size: 80, offset: 293}}\nequations: {heat: T_t = a*T_xx}\n"
             "data: {probes: {values: {x: [0.001, 0.005], t: [1, 5], T: [300, nan]}}}\n" SMALL,
     "coordinates: {x: [0, 1], t: [0, 1]}\nfields: [u]\nequations: {heat: u_t = 0.1*u_xx}\n"
     "data: {probes: {values: {x: [0.1, 0.5], t: [0.1, 0.5], u: [0.0875, nan]}}}\n" SMALL},
};
enum { TWINS = sizeof twins / sizeof *twins };

/* ---- The same losses, gradients and steps ------------------------------------------------------
 */

static void assert_near(const char *name, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1e-12 + fabs(b))))
        fail_msg("%s: %.17g, its twin %.17g", name, a, b);
}

/* In double the two differ by rounding alone: of coordinates and of the constants that sizes are
 * folded into. Derivatives of order four have lost some digits. */
static void test_losses_and_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < TWINS; i++) {
        sg_pinn *pinns[] = {open_pinn(twins[i].units, NULL), open_pinn(twins[i].twin, NULL)};
        size_t n = sg_jet_network_parameters(sg_pinn_network(pinns[0]));
        assert_int_equal(n, sg_jet_network_parameters(sg_pinn_network(pinns[1])));
        sg_pinn_batch *batches[2];
        sg_pinn_batch_config config = sg_pinn_batch_defaults();
        sg_pinn_loss losses[2];
        for (int k = 0; k < 2; k++) {
            assert_ok(sg_pinn_batch_create(&batches[k], pinns[k], &config, NULL));
            sg_pinn_draw(batches[k], 3);
            sg_pinn_gradient(batches[k], NULL, &losses[k]);
        }
        assert_near(twins[i].name, losses[0].total, losses[1].total, 1e-9);
        for (size_t t = 0; t < sg_pinn_describe(pinns[0])->term_count; t++)
            assert_near(twins[i].name, losses[0].terms[t].value, losses[1].terms[t].value, 1e-9);
        const double *a = sg_jet_network_gradients(sg_pinn_network(pinns[0]));
        const double *b = sg_jet_network_gradients(sg_pinn_network(pinns[1]));
        double difference = 0, size = 0;
        for (size_t k = 0; k < n; k++) {
            difference += (a[k] - b[k]) * (a[k] - b[k]);
            size += b[k] * b[k];
        }
        if (!(sqrt(difference) <= 1e-9 * sqrt(size)))
            fail_msg("%s: gradients differ by %g of %g", twins[i].name, sqrt(difference),
                     sqrt(size));
        for (int k = 0; k < 2; k++) {
            sg_pinn_batch_destroy(batches[k]);
            sg_pinn_close(pinns[k]);
        }
    }
}

static double train(sg_pinn *pinn, int steps)
{
    sg_pinn_trainer *trainer;
    sg_pinn_loss loss;
    sg_pinn_step step;
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
    for (int i = 0; i < steps; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    sg_pinn_trainer_validate(trainer, &loss);
    double total = loss.total;
    sg_pinn_trainer_destroy(trainer);
    return total;
}

/* After some steps of each optimizer rounding has grown, but not to what a reader would see; and
 * the loss has fallen, which it would not without `scales`. The largest error is that of the twin,
 * in kelvin. */
static void test_steps(void **state)
{
    (void)state;
    static const struct {
        const char *override;
        int steps;
        double below; /* of the loss at the end, in times of that at the start */
    } cases[] = {
        {"training={optimizer: {rate: 1e-2}, stablegrad: off, steps: 120}", 120, 0.5},
        {"training={optimizer: {rate: 1e-2}, stablegrad: {until: forever}, steps: 120}", 120, 0.5},
        {"training={optimizer: levenberg, steps: 12, points: {start: 100}}", 12, 1e-3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double losses[2], errors[2], begin = 0;
        for (int k = 0; k < 2; k++) {
            sg_pinn *pinn = open_pinn(k ? twins[0].twin : twins[0].units, cases[i].override);
            sg_pinn_error error[2];
            begin = k ? begin : train(pinn, 0);
            losses[k] = train(pinn, cases[i].steps);
            assert_ok(sg_pinn_errors(pinn, error, NULL));
            errors[k] = error[0].largest;
            sg_pinn_close(pinn);
        }
        assert_near(cases[i].override, losses[0], losses[1], 1e-3);
        assert_near(cases[i].override, errors[0] / 80, errors[1], 1e-3);
        assert_true(losses[0] < cases[i].below * begin);
    }
}

/* In float, derivatives of order four by nanometres are beyond 1e38 in the user's units. */
static void test_float_range(void **state)
{
    (void)state;
    static const char units[] = "coordinates: {x: [0, 1e-10]}\nfields: [w]\nscales: {w: 1e-12}\n"
                                "equations: {beam: w_xxxx = 1e28}\n"
                                "conditions: {ends: {at: boundary, w: 0, w_xx: 0}}\n"
                                "network: {hidden: 2 x 9}\npoints: 100\n";
    static const char twin[] = "coordinates: {x: [0, 1]}\nfields: [w]\n"
                               "equations: {beam: w_xxxx = 1}\n"
                               "conditions: {ends: {at: boundary, w: 0, w_xx: 0}}\n"
                               "network: {hidden: 2 x 9}\npoints: 100\n";
    double losses[2];
    for (int k = 0; k < 2; k++) {
        sg_pinn *pinn = open_pinn(k ? twin : units, NULL);
        losses[k] = train(pinn, 20);
        sg_pinn_close(pinn);
    }
    assert_true(isfinite(losses[0]));
    assert_near("float", losses[0], losses[1], 1e-2);
}

/* ---- What the user sees ------------------------------------------------------------------------
 */

/* Values and derivatives of the two networks, which have the same weights. */
static void test_values_in_units(void **state)
{
    (void)state;
    static const char *const units[] = {"T", "T_x", "T_t", "T_xx", "T_t - a*T_xx"};
    static const char *const names[] = {"u", "u_x", "u_t", "u_xx", "u_t - 0.1*u_xx"};
    static const double sizes[] = {80, 80 / 0.01, 80 / 10.0, 80 / 1e-4, 8};
    static const double scaled[] = {0.2, 0.3, 0.7, 0.9};
    double points[] = {0.002, 3, 0.007, 9}, a[10], b[10];
    sg_pinn *mm = open_pinn(twins[0].units, NULL), *one = open_pinn(twins[0].twin, NULL);
    assert_ok(sg_pinn_evaluate(mm, units, 5, points, 2, a, NULL, NULL));
    assert_ok(sg_pinn_evaluate(one, names, 5, scaled, 2, b, NULL, NULL));
    for (int k = 0; k < 10; k++)
        assert_near(units[k / 2], a[k] - (k < 2 ? 293 : 0), sizes[k / 2] * b[k], 1e-9);
    sg_pinn_close(mm);
    sg_pinn_close(one);
}

/* Residuals of the equations, as field.npz has them. */
static void test_residuals_in_units(void **state)
{
    (void)state;
    double points[] = {0.002, 3, 0.007, 9}, a[2], b[2], *arrays[] = {a};
    static const char *const name[] = {"T_t - a*T_xx"};
    sg_pinn *mm = open_pinn(twins[0].units, NULL);
    sgi_places places = {NULL, points, 2};
    assert_ok(sgi_quantities_evaluate(mm->problem, &mm->problem->sets[0], sg_pinn_network(mm),
                                      &places, arrays, NULL, NULL));
    assert_ok(sg_pinn_evaluate(mm, name, 1, points, 2, b, NULL, NULL));
    assert_near("residual", a[0], b[0], 1e-9);
    assert_near("residual", a[1], b[1], 1e-9);
    sg_pinn_close(mm);
}

/* A reference that is off by a hundredth of the size is found, though it is far less than 293. */
static void test_reference_is_judged_by_size(void **state)
{
    (void)state;
    sgi_check check;
    sg_pinn *mm = open_pinn(twins[0].units, NULL);
    assert_ok(sgi_problem_check(mm->problem, &check));
    assert_true(check.passed);
    assert_close(check.rows[0].scale, 8, 1);
    sgi_check_release(mm->problem, &check);
    sg_pinn_close(mm);
}

/* ---- Sizes that are found ----------------------------------------------------------------------
 */

static sgi_problem *read_problem(const char *text, const char *override)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    if (sgi_problem_read(&problem, "p.yaml", text, strlen(text), &override, override ? 1 : 0, NULL,
                         &diagnostic))
        fail_msg("%s\n%s", text, said(&diagnostic));
    return problem;
}

#define ROD "coordinates: {x: [0, 0.01], t: [0, 10]}\nfields: [T]\nscales: auto\n"
#define BAR "coordinates: {x: [0, 0.1]}\nfields: [T]\nscales: auto\n"

static void test_auto(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double size, offset;
        const char *origin;
    } cases[] = {
        {ROD "equations: {heat: T_t = 1e-6*T_xx}\nconditions:\n"
             "  start: {at: t = 0, T: 293}\n  hot: {at: x = 0, T: 373}\n",
         80, 293, "condition 'start', condition 'hot'"},
        /* about 0, whichever way it is written */
        {ROD "equations: {heat: T_t = 1e-6*T_xx}\nconditions:\n"
             "  start: {at: t = 0, expression: 5*T = 1000*sin(pi*x/0.01)}\n",
         200, 0, "condition 'start'"},
        {ROD "equations: {heat: T_t = 1e-6*T_xx}\nconditions:\n"
             "  start: {at: t = 0, T: -300 - 20*x/0.01, exact: true}\n",
         20, -300, "condition 'start'"},
        /* a flux: 5000 K/m over 10 cm; an ambient temperature; a source: q L^2 / k */
        {BAR "equations: {heat: T_xx = 0}\nconditions:\n"
             "  cold: {at: x = 0, T: 2000}\n  flux: {at: x = 0.1, T_n: 5000}\n",
         500, 2000, "condition 'flux', condition 'cold'"},
        {BAR "equations: {heat: T_xx = 0}\nconditions:\n"
             "  hot: {at: x = 0, T: 400}\n  air: {at: x = 0.1, T_n + 15*(T - 300): 0}\n",
         100, 300, "condition 'hot', condition 'air'"},
        {BAR "equations: {heat: 20*T_xx = -1e6}\nconditions: {ends: {at: boundary, T: 0}}\n", 500,
         0, "equation 'heat'"},
        {BAR "equations: {heat: T_xx = 0}\nconditions: {ends: {at: boundary, T: 300}}\n", 300, 0,
         "condition 'ends'"},
        {BAR "equations: {heat: T_xx = 0}\n"
             "data: {air: {values: {x: [0, 0.01, 0.02], T: [300, nan, 310]}, std: 2}}\n",
         10, 300, "data set 'air'"},
        {BAR "equations: {heat: T_xx = 0}\nconditions: {ends: {at: boundary, T_x: T}}\n"
             "reference: {T: 1e-6*exp(x)}\n",
         1.11e-6, 0, "condition 'ends', the reference"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgi_problem *problem = read_problem(cases[i].text, NULL);
        const sgi_scale *scale = &problem->scales.fields[0];
        if (!(fabs(scale->size - cases[i].size) <= 0.01 * cases[i].size) ||
            !(fabs(scale->offset - cases[i].offset) <= 0.01 * cases[i].size) ||
            strcmp(scale->origin, cases[i].origin) != 0)
            fail_msg("%s\nsize %g, offset %g, %s", cases[i].text, scale->size, scale->offset,
                     scale->origin);
        assert_string_equal(problem->scales.coordinates[0].origin, "its range");
        sgi_problem_destroy(problem);
    }
}

/* The resolved problem has the sizes that were found, and reads as the same problem. */
static void test_resolved(void **state)
{
    (void)state;
    char *text, *again;
    sgi_problem *problem = read_problem(twins[0].units, NULL);
    assert_ok(sgi_problem_write(problem, &text));
    assert_non_null(strstr(text, "scales:\n  x: 0.01\n  t: 10\n  T: {size: 80, offset: 293}\n"));
    sgi_problem *copy = read_problem(text, NULL);
    assert_ok(sgi_problem_write(copy, &again));
    assert_string_equal(text, again);
    sgi_release(&problem->allocator, text);
    sgi_release(&copy->allocator, again);
    sgi_problem_destroy(copy);
    sgi_problem_destroy(problem);
    problem = read_problem(twins[0].twin, NULL);
    assert_ok(sgi_problem_write(problem, &text));
    assert_null(strstr(text, "scales"));
    assert_null(problem->transforms);
    sgi_release(&problem->allocator, text);
    sgi_problem_destroy(problem);
}

static void test_remarks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *override, *remark; /* NULL: none */
    } cases[] = {
        {twins[0].units, NULL, NULL},
        {twins[0].twin, NULL, NULL},
        {MM_HEAD MM_BODY, NULL, "'T' has values of the size 3.7e+02"},
        {MM_HEAD MM_BODY, "constants.a=2", "'T' has values of the size 3.7e+02"},
        {"coordinates: {x: [0, 1e-3]}\nfields: [u]\nequations: {a: u_xx = 1e6}\n"
         "conditions: {ends: {at: boundary, u: 0}}\n",
         NULL, "the residuals of 'a' are about 1e+06 times those of 'ends'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgi_problem *problem = read_problem(cases[i].text, cases[i].override);
        sgi_remarks remarks;
        bool found = false;
        assert_ok(sgi_problem_remarks(problem, &remarks));
        for (int k = 0; k < remarks.count; k++)
            found = found || (strstr(remarks.texts[k], "scales: auto") &&
                              (!cases[i].remark || strstr(remarks.texts[k], cases[i].remark)));
        if (found != (cases[i].remark != NULL))
            fail_msg("%zu: %s", i, remarks.count ? remarks.texts[0] : "no remark");
        sgi_problem_destroy(problem);
    }
}

/* ---- Mistakes ----------------------------------------------------------------------------------
 */

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *scales, *message, *suggestion;
    } cases[] = {
        {"80", "'scales' must be sizes by name, or auto", "as in  scales:"},
        {"automatic", "'scales' must be sizes by name, or auto", "as in  scales:"},
        {"[1, 2]", "'scales' must be sizes by name, or auto", "as in  scales:"},
        {"{}", "'scales' must be sizes by name, or auto", "as in  scales:"},
        {"{a: 3}", "'a' in 'scales' is neither a coordinate nor a field", ""},
        {"{T: 0}", "the scale of 'T' must be a size above 0", "offset"},
        {"{T: -80}", "the scale of 'T' must be a size above 0", "offset"},
        {"{x: 1e40}", "the scale of 'x' must be a size above 0", ""},
        {"{T: 1/0}", "this is not a finite number in the scale of 'T'", ""},
        {"{T: hot}", "unknown name 'hot' in the scale of 'T'", ""},
        {"{T: x}", "", ""},
        {"{T: [80, 293]}", "the scale of 'T' must be a number", "auto"},
        {"{T: }", "the scale of 'T' must be a number", "auto"},
        {"{T: {}}", "the scale of 'T' needs the number  size", "size: 80"},
        {"{T: {offset: 293}}", "the scale of 'T' needs the number  size", "size: 80"},
        {"{T: {size: auto, offset: 3}}", "the scale of 'T' needs the number  size", "size: 80"},
        {"{T: {size: 80, shift: 3}}", "the scale of 'T' has a size and an offset, and nothing else",
         "size: 80"},
        {"{T: {size: 80, offset: 1e31}}", "the scale of 'T' has an offset beyond 1e30", ""},
        {"{T: {size: {}, offset: 1}}", "the scale of 'T' must be a number", ""},
        {"{x: {size: 1, offset: 2}}", "the scale of 'x' has no offset", "-1 to 1"},
        {"{T: 80, T: 90}", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        snprintf(text, sizeof text, MM_HEAD "scales: %s\n" MM_BODY, cases[i].scales);
        sg_status status =
            sgi_problem_read(&problem, "p.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic);
        if (status != SG_ERROR_FORMAT || !strstr(diagnostic.message, cases[i].message) ||
            !strstr(diagnostic.suggestion, cases[i].suggestion))
            fail_msg("%s: status %d, %s / %s", cases[i].scales, status, diagnostic.message,
                     diagnostic.suggestion);
        assert_true(diagnostic.line == 4);
    }
}

/* Sizes that nothing tells. */
static void test_not_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *suggestion;
    } cases[] = {
        {"coordinates: {x: [0, 1]}\nfields: [u, p]\nscales: auto\n"
         "equations: {a: u_xx = p_x, b: u_x = 0}\nconditions: {in: {at: x = 0, u: 2, p: 0}}\n",
         "the size of the field 'p' cannot be found", "scales: {p: 1}"},
        {"coordinates: {x: [0, 1]}\nfields: [heat]\nscales: {haet: 1}\n"
         "equations: {a: heat_x = 0}\nconditions: {in: {at: x = 0, heat: 2}}\n",
         "'haet' in 'scales' is neither a coordinate nor a field", "did you mean 'heat'?"},
        {"coordinates: {x: [0, 1]}\nfields: [u]\nscales: {u: 1}\n"
         "equations: {a: u_x*sqrt(-1 - u^2) = 0}\nconditions: {in: {at: x = 0, u: 2}}\n",
         "the size of equation 'a' cannot be found", "offset"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        sg_status status = sgi_problem_read(&problem, "p.yaml", cases[i].text,
                                            strlen(cases[i].text), NULL, 0, NULL, &diagnostic);
        if (status != SG_ERROR_FORMAT || !strstr(diagnostic.message, cases[i].message) ||
            !strstr(diagnostic.suggestion, cases[i].suggestion))
            fail_msg("%zu: status %d, %s / %s", i, status, diagnostic.message,
                     diagnostic.suggestion);
    }
}

static sg_status read_and_look(const sg_allocator *allocator, void *context)
{
    const char *text = context;
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    sgi_remarks remarks;
    sg_status status =
        sgi_problem_read(&problem, "p.yaml", text, strlen(text), NULL, 0, allocator, &diagnostic);
    if (status == SG_OK)
        status = sgi_problem_remarks(problem, &remarks);
    sgi_problem_destroy(problem);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    static const char exact[] =
        MM_HEAD "scales: auto\nequations: {heat: T_t = a*T_xx}\n"
                "conditions:\n"
                "  start: {at: t = 0, T: 293 + 80*sin(pi*x/0.01), exact: true}\n"
                "  ends: {at: x = 0 | x = 0.01, T: 293}\n"
                "reference: {T: 293 + 80*exp(-a*(pi/0.01)^2*t)*sin(pi*x/0.01)}\n";
    static const char plain[] = MM_HEAD "equations: {heat: T_t = a*T_xx}\n"
                                        "conditions: {start: {at: t = 0, T: 293}}\n";
    each_allocation_fails(read_and_look, (void *)(uintptr_t)exact, 7);
    each_allocation_fails(read_and_look, (void *)(uintptr_t)plain, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_and_gradients),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_float_range),
        cmocka_unit_test(test_values_in_units),
        cmocka_unit_test(test_residuals_in_units),
        cmocka_unit_test(test_reference_is_judged_by_size),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_resolved),
        cmocka_unit_test(test_remarks),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
