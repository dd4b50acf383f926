/* run.json: see record.h. */
#include "train/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "stablegrad/version.h"

enum { TEXT_SIZE = 256 };

/* The processor's name, or "unknown". */
static void read_machine(char text[TEXT_SIZE])
{
    char line[TEXT_SIZE];
    snprintf(text, TEXT_SIZE, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, TEXT_SIZE, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

json_t *sgi_record_scaling(const sg_scale_config *scale, const sgi_training_settings *training)
{
    bool margin = training->until == SG_STEP_MARGIN;
    json_t *object = json_object();
    json_object_set_new(object, "method", json_string(sg_method_name(scale->method)));
    json_object_set_new(object, "reference", json_string(sg_reference_name(scale->reference)));
    json_object_set_new(object, "blocks", json_string(sg_blocks_name(scale->blocks)));
    json_object_set_new(object, "from", json_integer((json_int_t)scale->from));
    json_object_set_new(object, "handover", json_string(sg_handover_name(scale->handover)));
    json_object_set_new(object, "until",
                        margin                       ? json_string("margin")
                        : scale->until == SG_FOREVER ? json_null()
                                                     : json_integer((json_int_t)scale->until));
    return object;
}

/* adam_eps is the eps beside each element's own scale, which the report holds against c. SGD has
 * none, and NovoGrad's stands beside the norm of a tensor: a number of another kind would only
 * mislead. */
void sgi_record_optimizer(json_t *object, const sgi_training_settings *training)
{
    sgi_json_text(object, "optimizer", sgi_training_optimizer(training));
    if (training->optimizer != SG_OPTIM_SGD && training->optimizer != SG_OPTIM_NOVOGRAD &&
        !sgi_training_is_second(training))
        json_object_set_new(object, "adam_eps", sgi_json_number(training->eps));
}

/* Which process writes this, on which machine; whether it still runs is told by its lock
 * (run_lock.h). */
static void describe_process(json_t *object)
{
    char host[TEXT_SIZE] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    sgi_json_text(object, "host", host);
    json_object_set_new(object, "process", json_integer((json_int_t)getpid()));
}

sg_status sgi_record_write(const sgi_run_record *record, sg_diagnostic *diagnostic)
{
    const sgi_train_config *config = record->config;
    const sgi_subject *subject = config->subject;
    char machine[TEXT_SIZE];
    read_machine(machine);
    json_t *object = json_object();
    json_object_set_new(object, "format", json_integer(1));
    sgi_json_text(object, "task", subject->type->kind);
    sgi_json_text(object, "name", subject->name);
    sgi_json_text(object, "title", subject->title);
    sgi_json_text(object, "variant", config->variant);
    sgi_json_text(object, "label", config->label);
    json_object_set_new(object, "ranks", json_integer(config->ranks ? config->ranks->count : 1));
    json_object_set_new(object, "seed", json_integer((json_int_t)subject->training->seed));
    json_object_set_new(object, "threads", json_integer(config->threads));
    sgi_json_text(object, "version", sg_version());
    sgi_json_text(object, "machine", machine);
    sgi_json_text(object, "command", config->command);
    sgi_json_text(object, "started", record->started);
    json_object_set_new(object, "seconds", sgi_json_number(record->seconds));
    json_object_set_new(object, "steps_done", json_integer((json_int_t)record->steps_done));
    uint64_t steps = subject->over ? record->steps_done : subject->steps;
    json_object_set_new(object, "steps", json_integer((json_int_t)steps));
    sgi_json_text(object, "status", record->state);
    describe_process(object);
    sgi_json_text(object, "reason", record->reason);
    sgi_record_optimizer(object, subject->training);
    subject->type->describe(subject, object);
    json_t *seals = json_object();
    json_object_set_new(seals, "problem.yaml", sgi_seal_json(&record->problem));
    json_object_set_new(seals, "metrics.jsonl", sgi_seal_json(&record->metrics));
    json_object_set_new(object, "seals", seals);
    sgi_seal_close(object);
    return sgi_json_write(config->folder, "run.json", object, diagnostic);
}

sg_status sgi_record_complete(const char *folder, sg_diagnostic *diagnostic)
{
    char path[SG_PATH_SIZE];
    json_error_t error;
    if (sgi_run_path(path, folder, "run.json") != SG_OK)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, folder, "the path is too long");
    json_t *object = json_load_file(path, 0, &error);
    if (!json_is_object(object)) {
        json_decref(object);
        return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "%s", error.text);
    }
    sgi_json_text(object, "status", "complete");
    sgi_seal_close(object);
    return sgi_json_write(folder, "run.json", object, diagnostic);
}
