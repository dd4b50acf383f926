/* Networks for other programs: an ONNX graph and a file of C compute what the library does. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "files/file.h"
#include "files/onnx.h"
#include "support/folders.h"
#include "support/onnx.h"
#include "support/support.h"

enum { POINTS = 24, MOST_VALUES = 40 };

/* What is exported: networks of every kind. `values` is what the file of C has, in its order. */
static const struct {
    const char *text, *values;
} cases[] = {
    {"name: plain\ncoordinates: {x: [-1, 3], t: [0, 2]}\nfields: [u]\n"
     "equations: {a: u_t = u*u_x + u_xx}\nnetwork: {hidden: 3 x 9}\n",
     "u u_x u_t u_xx"},
    {"name: 3-waves\ncoordinates: {x: [0, 2], y: [0, 1]}\nfields: [u, v]\n"
     "equations: {a: u_xxy + v_xxxx = v, b: v_xy = u}\n"
     "network: {hidden: [7, 5], activation: silu, precision: double}\n"
     "inputs: {raw: y, fourier: [1, 2.5], periodic: {x: 3}, random: {count: 4, std: 1}}\n",
     "u v u_x u_y v_x v_y v_xy u_xxy v_xxxx"},
    {"name: sine\ncoordinates: {int: [0, 2]}\nfields: [values]\nequations: {a: values_intint = 1}\n"
     "network: {hidden: 2 x 8, activation: sin, frequency: 3}\ninputs: {scale: false}\n",
     "values values_int values_intint"},
    {"name: gelu\ncoordinates: {x: [0, 2], y: [0, 1]}\nfields: [u]\n"
     "equations: {a: u_xxxx + 2*u_xxyy + u_yyyy = 1}\nnetwork: {hidden: 2 x 8, activation: gelu}\n",
     "u u_x u_y u_xxxx u_xxyy u_yyyy"},
    {"name: soft\ncoordinates: {x: [0, 2]}\nfields: [u]\nequations: {a: u_xxxx = 1}\n"
     "network: {hidden: 2 x 8, activation: softplus}\n",
     "u u_x u_xxxx"},
    {"name: linear\ncoordinates: {x: [0, 2]}\nfields: [u]\nequations: {a: u_x = 1}\n"
     "network: {hidden: []}\n",
     "u u_x"},
    {"name: exact\ncoordinates: {x: [0.2, 0.9], t: [0, 1]}\nfields: [u, v]\n"
     "equations: {a: u_tt = u_xx, b: v_t = u}\nnetwork: {hidden: 2 x 8, precision: double}\n"
     "conditions:\n"
     "  start: {at: t = 0, exact: true, u: sin(x) + tan(x)*cosh(x) - sech(x)/sinh(x), u_t: "
     "x^2.5}\n"
     "  ends: {at: x = 0.2, exact: true, v: \"where(t < 0.5, log1p(t), atan2(t, x - 0.5))"
     " + max(t, 0.3)*min(t, 0.7) + expm1(t) + cbrt(t - 1.4) + asin(x) + acos(x) + atan(t)"
     " + log2(1 + t) + log10(1 + t) + log(1 + t) + sqrt(t + 1) + abs(t - 0.5) + sign(t - 0.5)"
     " + floor(3*t) + erf(t) + erfc(t) + asinh(t) + acosh(2 + t) + atanh(t/2) + exp(-t)"
     " + where(t <= 0.25, 1, 2) + where(t == 0.5, 1, 2) + where(t != 0.5, 1, 2) + tanh(t) + "
     "cos(t)\"}\n",
     "u v u_x u_t v_x v_t u_tt u_xx"},
    {"name: units\ncoordinates: {x: [0, 0.01], t: [0, 20]}\nfields: [T]\n"
     "scales: {T: {size: 80, offset: 293}}\nequations: {a: T_t = 1e-6*T_xx}\n"
     "conditions: {b: {at: t = 0, T: 293}}\nnetwork: {hidden: [5]}\n"
     "inputs: {fourier: 2}\n",
     "T T_x T_t T_xx"},
    {"name: windows\ncoordinates: {x: [0, 2], t: [-1, 1]}\nfields: [u, v]\n"
     "equations: {a: u_t = v_xx, b: v_t = u}\nnetwork: {hidden: 2 x 8}\n"
     "inputs: {periodic: {x: 2}, raw: [t]}\nwindows: [-0.5, 0.3, 1]\n"
     "conditions: {start: {at: t = -1, u: 0, v: 1}, ends: {at: x = 0, u: t, exact: true}}\n",
     "u v u_x u_t v_x v_t v_xx"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* The networks of windows, or the only one. */
static size_t networks_of(const sg_pinn *pinn)
{
    return pinn->pieces.count > 0 ? pinn->pieces.count : 1;
}

static const sg_jet_network *network_of(const sg_pinn *pinn, size_t n)
{
    return pinn->pieces.count > 0 ? pinn->windows[n] : sg_pinn_network(pinn);
}

static sg_pinn *open_case(size_t i, const sg_allocator *allocator)
{
    sg_pinn *pinn;
    sg_diagnostic diagnostic = {0};
    const char *text = cases[i].text;
    if (sg_pinn_read(&pinn, "test", text, strlen(text), NULL, 0, allocator, &diagnostic) != SG_OK)
        fail_msg("case %zu: %s", i, said(&diagnostic));
    /* Biases begin at 0, where a sign or a place that is wrong would not be seen. */
    for (size_t n = 0; n < networks_of(pinn); n++) {
        const sg_jet_network *network = network_of(pinn, n);
        void *values = sg_jet_network_values(network);
        for (size_t k = 0; k < sg_jet_network_parameters(network); k++)
            if (sg_jet_network_type(network) == SG_FLOAT32)
                ((float *)values)[k] += (float)(0.1 * sin((double)(k + n)));
            else
                ((double *)values)[k] += 0.1 * sin((double)(k + n));
    }
    pinn->pieces.ready = pinn->pieces.count;
    return pinn;
}

/* Points of the domain, row by row. */
static void make_points(const sg_pinn *pinn, double *points)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    size_t width = information->coordinate_count;
    for (size_t i = 0; i < POINTS; i++)
        for (size_t c = 0; c < width; c++) {
            const sg_pinn_coordinate *k = &information->coordinates[c];
            points[i * width + c] =
                k->lower + (k->upper - k->lower) * fmod(0.13 + 0.618 * (double)(i + 7 * c), 1);
        }
}

/* The same network in double: what a file that computes in double must give. */
static sg_pinn *in_double(size_t i, const sg_pinn *pinn)
{
    sg_pinn *other;
    sg_diagnostic diagnostic = {0};
    const char *set = "network.precision=double";
    assert_ok(sg_pinn_read(&other, "test", cases[i].text, strlen(cases[i].text), &set, 1, NULL,
                           &diagnostic));
    other->pieces.ready = other->pieces.count;
    for (size_t n = 0; n < networks_of(pinn); n++) {
        double *to = sg_jet_network_values(network_of(other, n));
        const void *from = sg_jet_network_values(network_of(pinn, n));
        for (size_t k = 0; k < sg_jet_network_parameters(network_of(pinn, n)); k++)
            to[k] = sg_jet_network_type(network_of(pinn, n)) == SG_FLOAT32
                        ? (double)((const float *)from)[k]
                        : ((const double *)from)[k];
    }
    return other;
}

static void compare_onnx(size_t i, const char *path, sg_type type)
{
    sg_pinn *pinn = open_case(i, NULL), *other = in_double(i, pinn);
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    size_t width = information->coordinate_count, fields = information->field_count, size;
    double points[POINTS * 2], wanted[2 * POINTS], columns[2][POINTS], results[2][POINTS];
    sg_diagnostic diagnostic = {0};
    char *data;
    if (sgi_export_onnx(path, pinn, type, "a run", &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_ok(sgi_file_read(path, 1 << 20, NULL, &data, &size, NULL));
    onnx_model *model = onnx_read(data, size);
    assert_int_equal(model->form, SG_ONNX_FORM);
    assert_int_equal(model->opset, SG_ONNX_OPSET);
    assert_int_equal(model->type, type == SG_FLOAT32 ? SG_ONNX_FLOAT : SG_ONNX_DOUBLE);
    assert_int_equal(model->input_count, width);
    assert_int_equal(model->output_count, fields);
    make_points(pinn, points);
    for (size_t c = 0; c < width; c++) {
        assert_string_equal(model->inputs[c], information->coordinates[c].name);
        for (size_t p = 0; p < POINTS; p++)
            columns[c][p] = points[p * width + c];
    }
    onnx_run(model, POINTS, (const double *const[]){columns[0], columns[1]},
             (double *[]){results[0], results[1]});
    assert_ok(
        sg_pinn_evaluate(other, information->fields, fields, points, POINTS, wanted, NULL, NULL));
    for (size_t f = 0; f < fields; f++) {
        assert_string_equal(model->outputs[f], information->fields[f]);
        for (size_t p = 0; p < POINTS; p++)
            /* Weights that were rounded to float differ in the eighth digit. */
            assert_close(results[f][p], wanted[f * POINTS + p], type == SG_FLOAT64 ? 1e-12 : 1e-5);
    }
    onnx_free(model);
    free(data);
    sg_pinn_close(other);
    sg_pinn_close(pinn);
}

static void a_graph_computes_the_fields(void **state)
{
    char *folder = folder_temporary(), path[400];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/m.onnx", folder);
    for (size_t i = 0; i < CASES; i++) {
        compare_onnx(i, path, SG_FLOAT64);
        compare_onnx(i, path, SG_FLOAT32);
    }
    folder_remove(folder);
}

/* Splits at blanks; returns how many. */
static size_t split(const char *text, char names[MOST_VALUES][24], const char **list)
{
    size_t count = 0;
    for (int used; sscanf(text, "%23s%n", names[count], &used) == 1; text += used) {
        list[count] = names[count];
        count++;
    }
    return count;
}

typedef void all_values(const double *point, double *values);

static void *symbol(void *library, const char *prefix, const char *name)
{
    char whole[200];
    (void)snprintf(whole, sizeof whole, "%s_%s", prefix, name);
    void *found = dlsym(library, whole);
    if (!found)
        fail_msg("the file has no function %s", whole);
    return found;
}

static void compare_c(size_t i, const char *folder, const char *prefix)
{
    sg_pinn *pinn = open_case(i, NULL), *other = in_double(i, pinn);
    size_t width = sg_pinn_describe(pinn)->coordinate_count;
    size_t fields = sg_pinn_describe(pinn)->field_count;
    double points[POINTS * 2], wanted[MOST_VALUES * POINTS], got[MOST_VALUES];
    char names[MOST_VALUES][24], path[400], command[1200];
    const char *list[MOST_VALUES];
    sg_diagnostic diagnostic = {0};
    (void)snprintf(path, sizeof path, "%s/m%zu.c", folder, i);
    if (sgi_export_c(path, pinn, "a run */ of mine", &diagnostic) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    (void)snprintf(command, sizeof command,
                   SG_TEST_COMPILER " -std=c99 -Wall -Wextra -Wshadow -Wstrict-prototypes "
                                    "-pedantic -Werror -O1 -ffp-contract=off -shared -fPIC "
                                    "-o %s/m%zu.so %s/m%zu.c -lm",
                   folder, i, folder, i);
    assert_int_equal(system(command), 0);
    (void)snprintf(path, sizeof path, "%s/m%zu.so", folder, i);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    size_t count = split(cases[i].values, names, list);
    make_points(pinn, points);
    assert_ok(sg_pinn_evaluate(other, list, count, points, POINTS, wanted, NULL, NULL));
    for (size_t p = 0; p < POINTS; p++) {
        ((all_values *)symbol(library, prefix, "values"))(points + p * width, got);
        for (size_t k = 0; k < count; k++)
            assert_close(got[k], wanted[k * POINTS + p], 1e-12);
        ((all_values *)symbol(library, prefix, "fields"))(points + p * width, got);
        for (size_t k = 0; k < fields; k++)
            assert_close(got[k], wanted[k * POINTS + p], 1e-12);
        ((all_values *)symbol(library, prefix, "gradient"))(points + p * width, got);
        for (size_t k = 0; k < fields * width; k++)
            assert_close(got[k], wanted[(fields + k) * POINTS + p], 1e-12);
    }
    double last = width == 1
                      ? ((double (*)(double))symbol(library, prefix, list[count - 1]))(points[0])
                      : ((double (*)(double, double))symbol(library, prefix, list[count - 1]))(
                            points[0], points[1]);
    assert_close(last, wanted[(count - 1) * POINTS], 1e-12);
    dlclose(library);
    sg_pinn_close(other);
    sg_pinn_close(pinn);
}

static void a_file_of_c_computes_fields_and_derivatives(void **state)
{
    static const char *const prefixes[CASES] = {"plain",  "p3_waves", "sine",  "gelu",   "soft",
                                                "linear", "exact",    "units", "windows"};
    char *folder = folder_temporary();
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        compare_c(i, folder, prefixes[i]);
    folder_remove(folder);
}

static void a_place_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    sg_diagnostic diagnostic = {0};
    sg_pinn *pinn = open_case(0, NULL);
    assert_status(sgi_export_onnx("/dev/null/m.onnx", pinn, SG_FLOAT32, "", &diagnostic),
                  SG_ERROR_IO);
    assert_string_equal(diagnostic.file, "/dev/null/m.onnx");
    assert_status(sgi_export_c("/dev/null/m.c", pinn, "", &diagnostic), SG_ERROR_IO);
    assert_string_equal(diagnostic.file, "/dev/null/m.c");
    sg_pinn_close(pinn);
}

static sg_status export_both(const sg_allocator *allocator, void *context)
{
    const char *folder = context;
    char path[400];
    sg_pinn *pinn;
    sg_status status =
        sg_pinn_read(&pinn, "test", cases[6].text, strlen(cases[6].text), NULL, 0, allocator, NULL);
    if (status != SG_OK)
        return status;
    (void)snprintf(path, sizeof path, "%s/m.onnx", folder);
    status = sgi_export_onnx(path, pinn, SG_FLOAT32, "", NULL);
    (void)snprintf(path, sizeof path, "%s/m.c", folder);
    if (status == SG_OK)
        status = sgi_export_c(path, pinn, "", NULL);
    sg_pinn_close(pinn);
    return status;
}

static void memory_may_run_out(void **state)
{
    char *folder = folder_temporary();
    (void)state;
    some_allocations_fail(export_both, folder, 30);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_computes_the_fields),
        cmocka_unit_test(a_file_of_c_computes_fields_and_derivatives),
        cmocka_unit_test(a_place_that_cannot_be_written_is_told),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
