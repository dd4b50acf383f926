/* stablegrad train FILE: solve one problem. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "run_state.h"
#include "training.h"

const char train_details[] =
    "FILE is a problem file or the name of a shipped problem, which 'stablegrad list' shows. With\n"
    "--resume it may also be the folder of a run. The results are written to the next free folder\n"
    "runs/NAME-NNNN, or to the folder that --out names.\n"
    "\n"
    "Started several times by mpirun or srun, the processes train one run together.\n"
    "\n"
    "  stablegrad train burgers --set network.hidden=12x64 --set training.steps=5000\n"
    "  mpirun -n 4 stablegrad train burgers3d\n"
    "  stablegrad train runs/burgers-0001 --resume --set training.steps=80000\n";

/* What there is to say of a complete run before it is left as it is, or made whole. */
static void tell_complete(const work *w, const char *folder, const run_end *end)
{
    char further[160];
    const char *name = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
    printf("%s is complete (%" PRId64 " of %" PRId64 " steps)", name, end->done, end->steps);
    if (end->missing[0]) {
        printf(", but what is missing is made again: %s\n", end->missing);
        return;
    }
    if (w->kind->further)
        w->kind->further(w->file, end->steps, end->early, further, sizeof further);
    else
        snprintf(further, sizeof further, "--set training.steps=%" PRId64,
                 end->steps + end->steps * 3 / 5);
    printf(" and nothing is missing.%s%s\n", further[0] ? " To train further: " : "", further);
}

static training training_of(const cli_arguments *arguments, const work *w, sg_pool *pool,
                            sg_isa isa, const char *folder, bool resume, const char *go_on)
{
    return (training){.arguments = arguments,
                      .work = w,
                      .pool = pool,
                      .isa = isa,
                      .folder = folder,
                      .resume = resume,
                      .heading = true,
                      .variant = "train",
                      .shown = "train",
                      .go_on = go_on,
                      .reports = true};
}

/* The report, and the results whether or not it could be written. Returns an exit code. */
static int end_run(const training *t, int code, const sgi_train_result *result)
{
    bool reported = finish_run(t, code == EXIT_DONE);
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

/* Trains what is left to train, and makes what is missing; the caller holds the lock. */
static int go_on_with(const training *t, const run_end *end)
{
    sgi_train_result result;
    if (end->complete) {
        if (!t->arguments->quiet && !t->arguments->json)
            tell_complete(t->work, t->folder, end);
        if (strcmp(end->missing, "report.html") == 0)
            return finish_run(t, true) ? EXIT_DONE : EXIT_RUN_FAILED;
        if (!end->trainable) {
            complain("%s: without a checkpoint they cannot be made", t->folder);
            return EXIT_RUN_FAILED;
        }
    }
    int code = train_and_tell(t, &result);
    return code == EXIT_BAD_INPUT ? code : end_run(t, code, &result); /* refused: nothing changed */
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
    training t = training_of(arguments, &w, pool, isa, folder, true, go_on);
    sgi_run_lock lock = {0};
    run_end end = end_of(folder, &w, true);
    warn_of_changes(folder);
    code = EXIT_DONE;
    if (end.complete && !end.missing[0]) {
        tidy_folder(folder);
        tell_complete(&w, folder, &end);
    } else if (lock_run(&lock, folder, &code)) {
        end = end_of(folder, &w, true); /* as it is now that no other process changes it */
        code = go_on_with(&t, &end);
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
    training t = training_of(arguments, &w, pool, isa, folder, false, go_on);
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
