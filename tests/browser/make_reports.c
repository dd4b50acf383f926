/* Writes example folders and their reports below the folder named on the command line, for the
 * browser to look at. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "support/folders.h"
#include "support/folders_images.h"
#include "support/support.h"

static const char *place;

static void report(const char *folder)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_report_write(folder, NULL, &diagnostic);
    assert_string_equal(diagnostic.message, "");
    assert_ok(status);
}

static void make_images(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        image_kind kind;
        int seeds; /* 0: one run */
        int steps;
    } all[] = {{"compare-images", IMAGES_BATCHNORM, 1, IMAGES_STEPS},
               {"compare-images-seeds", IMAGES_BATCHNORM, 2, IMAGES_STEPS},
               {"run-images", IMAGES_STABLEGRAD, 0, IMAGES_STEPS},
               {"run-images-sign", IMAGES_SIGN, 0, IMAGES_STEPS},
               {"run-images-young", IMAGES_BATCHNORM, 0, 120}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char folder[4096];
        (void)snprintf(folder, sizeof folder, "%s/%s", place, all[i].name);
        if (all[i].seeds)
            folder_image_comparison(folder, all[i].seeds);
        else
            folder_image_run(folder, all[i].kind, 1, all[i].steps);
        report(folder);
    }
}

static void make(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        folder_kind kind;
        int seeds; /* 0: one run */
        int steps;
    } all[] = {{"compare-burgers", FOLDER_BURGERS, 1, 5000},
               {"compare-burgers3d", FOLDER_BURGERS3D, 1, 5000},
               {"compare-seeds", FOLDER_HELMHOLTZ, 3, 5000},
               {"run-ode", FOLDER_ODE, 0, 5000},
               {"compare-ode", FOLDER_ODE, 1, 5000},
               {"run-burgers", FOLDER_BURGERS, 0, 5000},
               {"run-heat", FOLDER_HEAT, 0, 3210}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char folder[4096];
        (void)snprintf(folder, sizeof folder, "%s/%s", place, all[i].name);
        if (all[i].seeds)
            folder_comparison(folder, all[i].kind, all[i].seeds);
        else
            folder_run(folder, all[i].kind, true, 1, all[i].steps);
        if (strcmp(all[i].name, "run-ode") == 0) /* kernels that were measured */
            folder_diagnoses(folder, 1);
        report(folder);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    place = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(make), cmocka_unit_test(make_images)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
