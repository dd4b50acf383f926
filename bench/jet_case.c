/* See jet_case.h. */
#include "jet_case.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *open_in(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "wb");
}

static bool write_head(const bench_case *c, const sg_jet *jet, const char *folder)
{
    static const char *const names[] = {"burgers",   "poisson", "helmholtz",
                                        "burgers3d", "heat",    "allen-cahn"};
    FILE *file = open_in(folder, "case.json");
    if (!file)
        return false;
    fprintf(file, "{\"problem\": \"%s\", \"depth\": %d, \"width\": %d, \"loss\": %.9g, \"sets\": [",
            names[c->row->problem], c->row->depth, c->row->width, bench_loss(c, jet));
    for (size_t s = 0; s < c->set_count; s++)
        fprintf(file, "%s[%zu, %d]", s ? ", " : "", c->sets[s].items, c->sets[s].points_per_item);
    fprintf(file, "]}\n");
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

/* The points of one set, one array for each side and coordinate. */
static bool write_points(const bench_case *c, size_t s, FILE *file)
{
    const sg_jet_set *set = &c->sets[s];
    int arrays = sg_jet_network_coordinates(c->network) * set->points_per_item;
    float *memory = malloc((size_t)arrays * set->items * sizeof *memory);
    void *coordinates[16];
    if (!memory || arrays > 16) {
        free(memory);
        return false;
    }
    for (int a = 0; a < arrays; a++)
        coordinates[a] = memory + (size_t)a * set->items;
    set->points(set->context, s, 0, set->items, 0, coordinates);
    size_t count = (size_t)arrays * set->items;
    bool good = fwrite(memory, sizeof *memory, count, file) == count;
    free(memory);
    return good;
}

bool bench_write_case(const bench_case *c, const sg_jet *jet, const char *folder)
{
    size_t parameters = sg_jet_network_parameters(c->network);
    FILE *file = open_in(folder, "case.bin");
    if (!file)
        return false;
    bool good =
        fwrite(sg_jet_network_values(c->network), sizeof(float), parameters, file) == parameters &&
        fwrite(sg_jet_network_gradients(c->network), sizeof(float), parameters, file) == parameters;
    for (size_t s = 0; s < c->set_count && good; s++)
        good = write_points(c, s, file);
    return fclose(file) == 0 && good && write_head(c, jet, folder);
}
