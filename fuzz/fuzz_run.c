/* Any bytes as the files of a run folder, as `list` and `train --resume` read them: refused with a
 * diagnostic, or a run whose columns are all there; its metrics can be cut at a step and then hold
 * whole lines only. */
#include <jansson.h>
#include <math.h>

#include "folder.h"
#include "runs/evaluations.h"
#include "runs/runs.h"
#include "train/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const sgi_runs *runs)
{
    for (size_t r = 0; r < runs->run_count; r++) {
        const sgi_run *run = &runs->runs[r];
        const sgi_columns *both[] = {&run->training, &run->evaluation};
        for (int k = 0; k < 2; k++)
            for (size_t c = 0; c < both[k]->count; c++) {
                const double *values = sgi_columns_find(both[k], both[k]->items[c].name);
                for (size_t i = 0; i < both[k]->rows; i++)
                    if (!values || (c == 0 && isnan(values[i])))
                        abort();
            }
        (void)sgi_evaluations_best(run, "validation", false);
        (void)sgi_evaluations_median(run, "validation");
        if (!sgi_run_text(run, NULL, "status") || !sgi_run_text(run, "host", "name"))
            abort();
    }
}

/* What is kept of the metrics are objects of steps up to the one that was asked for. */
static void check_kept(void)
{
    char path[128], line[1 << 16];
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder_path());
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strlen(line) + 1 == sizeof line)
            break; /* longer than this looks at */
        json_t *object = json_loads(line, 0, NULL);
        if (!json_is_integer(json_object_get(object, "step")) ||
            json_integer_value(json_object_get(object, "step")) > 5)
            abort();
        json_decref(object);
    }
    if (file)
        (void)fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_runs runs;
    sg_diagnostic diagnostic = {0};
    folder_fill(data, size);
    if (sgi_runs_read(&runs, folder_path(), true, NULL, &diagnostic) == SG_OK)
        walk(&runs);
    else if (!diagnostic.message[0])
        abort();
    sgi_runs_release(&runs);
    sgi_metrics metrics = {0};
    sg_status status = sgi_metrics_open(&metrics, folder_path(), 5, &diagnostic);
    sgi_metrics_close(&metrics);
    if (status == SG_OK)
        check_kept();
    return 0;
}
