/* stablegrad train FILE: solve one problem. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "training.h"

const char train_details[] =
    "FILE is a problem file or the name of a shipped problem, which 'stablegrad list' shows. With\n"
    "--resume it may also be the folder of a run. The results are written to the next free folder\n"
    "runs/NAME-NNNN, or to the folder that --out names.\n"
    "\n"
    "  stablegrad train burgers --set network.hidden=12x64 --set training.steps=5000\n"
    "  stablegrad train runs/burgers-0001 --resume --set training.steps=80000\n";

/* Says so when there is nothing left to do. */
static bool is_complete(const char *folder, const work *w)
{
    json_t *record = read_record(folder);
    int64_t done = json_integer_value(json_object_get(record, "steps_done"));
    int64_t steps = w->kind->steps(w->file, record);
    json_decref(record);
    if (done < steps || steps == 0) /* 0: not known before the images were counted */
        return false;
    const char *name = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
    printf("%s is complete (%" PRId64 " of %" PRId64
           " steps). To train further: --set training.steps=%" PRId64 "\n",
           name, done, steps, steps + steps * 3 / 5);
    return true;
}

/* The report, and the results whether or not it could be written. Returns an exit code. */
static int end_run(const training *t, int code, const sgi_train_result *result)
{
    bool reported = write_report(t->folder) == SG_OK;
    if (!t->arguments->quiet && !t->arguments->json) {
        if (code == EXIT_DONE) {
            printf("\n");
            print_result(result);
        }
        if (reported)
            printf("\nreport  %s/report.html\n", t->folder);
    }
    return code == EXIT_DONE && !reported ? EXIT_RUN_FAILED : code;
}

static int resume_run(const cli_arguments *arguments, sg_pool *pool, sg_isa isa)
{
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    int code = EXIT_BAD_INPUT;
    work w;
    if (!find_run(arguments, folder))
        return EXIT_BAD_INPUT;
    if (is_a_comparison(folder)) {
        complain("%s is a comparison; to go on with it: stablegrad compare %s --resume", folder,
                 folder);
        return EXIT_BAD_INPUT;
    }
    if (sgi_run_path(path, folder, "problem.yaml") != SG_OK) {
        complain("%s: the path is too long", folder);
        return EXIT_BAD_INPUT;
    }
    if (!open_work(&w, arguments, path, NULL, 0, &code))
        return code;
    char go_on[SG_PATH_SIZE + 8];
    snprintf(go_on, sizeof go_on, "train %s", folder);
    training t = {arguments, &w, pool, isa, folder, true, true, "train", "train", go_on};
    sgi_run_lock lock = {0};
    code = EXIT_DONE;
    if (!is_complete(folder, &w) && lock_run(&lock, folder, &code)) {
        sgi_train_result result;
        code = end_run(&t, train_and_tell(&t, &result), &result);
    }
    sgi_run_lock_release(&lock);
    close_work(&w);
    return code;
}

/* The folder of a new run, which this process holds; *made: it was not there before. */
static sg_status make_folder(const cli_arguments *arguments, const work *w,
                             char folder[SG_PATH_SIZE], sgi_run_lock *lock, bool *made)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = SG_ERROR_ARGUMENT;
    *made = true;
    if (!arguments->out)
        status = sgi_run_create(folder, "runs", w->kind->name(w->file), &diagnostic);
    else if (copy_path(folder, arguments->out))
        status = sgi_run_claim(lock, folder, made, &diagnostic);
    if (status == SG_OK && !arguments->out)
        status = sgi_run_lock_take(lock, folder, &diagnostic);
    if (status != SG_OK && diagnostic.message[0])
        tell(&diagnostic);
    return status;
}

static int new_run(const cli_arguments *arguments, sg_pool *pool, sg_isa isa)
{
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    int code;
    bool made;
    sgi_run_lock lock = {0};
    work w;
    find_problem(arguments->operands[0], path);
    if (!open_work(&w, arguments, path, NULL, 0, &code))
        return code;
    sg_status status = make_folder(arguments, &w, folder, &lock, &made);
    if (status != SG_OK) {
        close_work(&w);
        return exit_code_of(status);
    }
    sgi_train_result result;
    char go_on[SG_PATH_SIZE + 8];
    snprintf(go_on, sizeof go_on, "train %s", folder);
    training t = {arguments, &w, pool, isa, folder, false, true, "train", "train", go_on};
    code = train_and_tell(&t, &result);
    bool begun = !sgi_run_is_empty(folder);
    if (begun)
        code = end_run(&t, code, &result);
    sgi_run_lock_release(&lock);
    if (!begun && made)
        rmdir(folder);
    close_work(&w);
    return code;
}

int run_train(const cli_arguments *arguments)
{
    sg_isa isa;
    if (!read_isa(arguments, &isa))
        return EXIT_BAD_INPUT;
    sg_pool *pool = open_pool(arguments);
    if (!pool)
        return EXIT_RUN_FAILED;
    watch_signals();
    int code = arguments->resume ? resume_run(arguments, pool, isa) : new_run(arguments, pool, isa);
    sg_pool_destroy(pool);
    return code;
}
