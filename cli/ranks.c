/* One of several ranks: see ranks.h. */
#include "ranks.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "commands.h"
#include "ranks_module.h"
#include "training.h"
#include "work.h"

enum { REASON_SIZE = 1024, MOST_ORIGIN = 1 << 20 };

static ranks_module module;
static sg_ranks ranks;
static bool apart; /* each rank works by itself */
static sg_isa common_isa;

const sg_ranks *our_ranks(void)
{
    return ranks.count > 1 && !apart ? &ranks : NULL;
}

/* ---- How the program was started --------------------------------------------------------------
 */

typedef struct launch {
    int rank, count;
    const char *by;
    bool mute; /* by a launcher that does not tell the processes of each other */
} launch;

static int number_in(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? (int)strtol(text, NULL, 10) : otherwise;
}

static launch find_launch(void)
{
    static const struct {
        const char *count, *rank, *by;
    } known[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"},
                 {"PMI_SIZE", "PMI_RANK", "its launcher"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getenv(known[i].count))
            return (launch){number_in(known[i].rank, 0), number_in(known[i].count, 1), known[i].by,
                            false};
    int tasks = number_in("SLURM_STEP_NUM_TASKS", 1);
    if (tasks > 1 && getenv("SLURM_PROCID"))
        return (launch){number_in("SLURM_PROCID", 0), tasks, "srun", !getenv("PMIX_RANK")};
    return (launch){0, 1, NULL, false};
}

/* What is wrong when a sum does not come back. */
static void complain_of_silence(void)
{
    complain("rank %d of %d on %s: the other ranks have not answered for %g s: one of them has "
             "ended, hangs, or is cut off (--patience)",
             ranks.rank, ranks.count, module.host, module.patience);
}

/* ---- Joining ----------------------------------------------------------------------------------
 */

/* The module lies beside the program, or where it is installed. */
static void *load_module(void)
{
    static const char *const folders[] = {"", SG_MODULE_FOLDER "/"};
    char program[SG_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    void *found = NULL;
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++) {
        char path[SG_PATH_SIZE];
        int size = snprintf(path, sizeof path, "%s/%s" RANKS_MODULE_FILE, program, folders[i]);
        if (size > 0 && size < SG_PATH_SIZE && access(path, F_OK) == 0) {
            found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
            if (!found)
                complain("%s", dlerror());
        }
    }
    return found;
}

static int refuse(const launch *l, const char *why)
{
    if (l->rank == 0)
        complain("%s started this as one of %d processes, %s", l->by, l->count, why);
    return EXIT_BAD_INPUT;
}

/* The lowest instruction set that a rank has: all compute with the same one. */
static bool agree_on_isa(void)
{
    bool agreed = true;
    common_isa = sg_isa_resolve(SG_ISA_AUTO);
    for (int i = SG_ISA_AUTO + 1; i < SG_ISA_COUNT && agreed; i++) {
        double have = sg_isa_resolve((sg_isa)i) != SG_ISA_AUTO;
        agreed = ranks.sum(ranks.context, &have, SG_FLOAT64, 1) == 0;
        if (have == ranks.count)
            common_isa = (sg_isa)i;
    }
    return agreed;
}

static int join(const launch *l, double patience)
{
    open_ranks_function *open;
    char reason[REASON_SIZE] = "";
    if (l->mute)
        return refuse(l, "but did not connect them: srun --mpi=pmix does");
    void *library = load_module(), *entry = library ? dlsym(library, RANKS_MODULE_ENTRY) : NULL;
    if (!entry)
        return refuse(l, "but this build has no MPI, and each would train alone. Debian's "
                         "libopenmpi-dev, then build anew");
    memcpy(&open, &entry, sizeof open);
    module.patience = patience;
    if (!open(&module, reason, sizeof reason)) {
        complain("rank %d of %d: %s", l->rank, l->count, reason);
        return EXIT_RUN_FAILED;
    }
    if (module.count != l->count) {
        module.leave();
        return refuse(l, "but they do not find each other: it belongs to another MPI than the one "
                         "that this program was built with");
    }
    ranks = (sg_ranks){module.rank, module.count, module.sum, &module};
    if (!agree_on_isa()) {
        complain_of_silence();
        return EXIT_RUN_FAILED;
    }
    return EXIT_DONE;
}

sg_isa isa_of_ranks(void)
{
    return our_ranks() ? common_isa : SG_ISA_AUTO;
}

bool describe_ranks(char *text, size_t size)
{
    if (!our_ranks())
        return false;
    snprintf(text, size, "%d, with %s%s", ranks.count, module.version,
             module.crowded ? "; there are more of them on this host than processors, which is slow"
                            : "");
    return true;
}

/* ---- Jobs -------------------------------------------------------------------------------------
 */

typedef enum order { ORDER_TRAIN, ORDER_LANES, ORDER_END } order;

/* What goes before a job: fixed size, the same program on all ranks. */
typedef struct message {
    order order;
    int code; /* ORDER_END */
    bool resume, insist;
    sg_isa isa;
    size_t origin_size;
    char folder[SG_PATH_SIZE];
} message;

void complain_of_lost_ranks(const char *go_on)
{
    complain_of_silence();
    fprintf(stderr, "its newest checkpoint is whole; to go on: stablegrad %s --resume\n", go_on);
}

/* From the first rank to all; a rank that cannot be reached ends the program. */
static void pass_on(void *bytes, size_t size)
{
    if (module.broadcast(&module, bytes, size, 0) == 0)
        return;
    complain_of_silence();
    module.end_all(EXIT_RUN_FAILED);
}

void announce_job(const rank_job *job)
{
    if (!our_ranks())
        return;
    message m = {.order = ORDER_TRAIN,
                 .resume = job->resume,
                 .insist = job->insist,
                 .isa = job->isa,
                 .origin_size = job->origin_size};
    snprintf(m.folder, sizeof m.folder, "%s", job->folder);
    pass_on(&m, sizeof m);
    pass_on((void *)(uintptr_t)job->origin, job->origin_size);
}

bool all_are_ready(sg_status status, const sg_diagnostic *diagnostic)
{
    if (!our_ranks())
        return status == SG_OK;
    char text[REASON_SIZE] = "", reason[REASON_SIZE] = "";
    double missing = status != SG_OK;
    int who = -1;
    if (ranks.sum(ranks.context, &missing, SG_FLOAT64, 1) != 0)
        return false;
    if (missing == 0)
        return true;
    for (int r = 0; r < ranks.count && who < 0; r++) { /* the first that is to blame has the word */
        double it = r == ranks.rank && status != SG_OK && status != SG_ERROR_REDUCE;
        if (ranks.sum(ranks.context, &it, SG_FLOAT64, 1) != 0)
            return false;
        who = it > 0 ? r : -1;
    }
    sgi_diagnostic_line(diagnostic, reason, sizeof reason);
    if (ranks.rank == who)
        snprintf(text, sizeof text, "rank %d of %d on %s: %.800s", ranks.rank, ranks.count,
                 module.host, reason[0] ? reason : sg_status_text(status));
    if (who > 0 && module.broadcast(&module, text, sizeof text, who) == 0 && ranks.rank == 0)
        complain("%s", text);
    return false;
}

void end_all_ranks(int code)
{
    if (our_ranks())
        module.end_all(code);
}

/* A rank that fails alone says why. One that fails together with the first leaves it the word: by
 * then that has ended all. */
static int fail_alone(const sg_diagnostic *diagnostic, sg_status status)
{
    char text[REASON_SIZE];
    sleep(1);
    sgi_diagnostic_line(diagnostic, text, sizeof text);
    if (status == SG_ERROR_REDUCE)
        complain_of_silence();
    else
        complain("rank %d of %d on %s: %s", ranks.rank, ranks.count, module.host,
                 text[0] ? text : sg_status_text(status));
    module.end_all(exit_code_of(status));
    return EXIT_RUN_FAILED;
}

static int take_part_with(const message *m, sgi_subject *subject, sg_pool *pool)
{
    sg_diagnostic diagnostic = {0};
    sgi_train_result result;
    sgi_train_config config = {.subject = subject,
                               .folder = m->folder,
                               .resume = m->resume,
                               .insist = m->insist,
                               .threads = sg_pool_threads(pool),
                               .stop = &stop_requested,
                               .ranks = our_ranks(),
                               .pool = pool};
    sg_status status = sgi_train(&config, &result, &diagnostic, NULL);
    return status == SG_OK ? EXIT_DONE : fail_alone(&diagnostic, status);
}

/* Trains what the first rank has announced. */
static int take_part(const message *m, const char *origin, sg_pool *pool)
{
    sg_diagnostic diagnostic = {0};
    sgi_subject *subject = NULL;
    int code = EXIT_DONE;
    work w = {0};
    sg_status status = load_origin(&w, origin, m->origin_size, &diagnostic);
    if (all_are_ready(status, &diagnostic)) {
        status = w.kind->subject(&subject, w.file, pool, m->isa, &diagnostic);
        if (all_are_ready(status, &diagnostic))
            code = take_part_with(m, subject, pool);
    }
    sgi_subject_destroy(subject);
    close_work(&w);
    return code;
}

/* The largest exit code of all ranks, which arrive one after the other, however late. */
static int worst_of_all(int own)
{
    static const int codes[] = {EXIT_INTERRUPTED, EXIT_BAD_INPUT, EXIT_RUN_FAILED};
    int worst = EXIT_DONE;
    double patience = module.patience;
    module.patience = INFINITY;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        double have = own == codes[i];
        if (ranks.sum(ranks.context, &have, SG_FLOAT64, 1) != 0)
            return EXIT_RUN_FAILED;
        if (have > 0 && worst == EXIT_DONE)
            worst = codes[i];
    }
    module.patience = patience;
    return worst;
}

static int work_apart(int (*what)(void *context), void *context)
{
    apart = true;
    int code = what(context);
    fflush(NULL);
    apart = false;
    return worst_of_all(code);
}

int run_ranks_as_lanes(const char *folder, int (*what)(void *context), void *context)
{
    message m = {.order = ORDER_LANES};
    snprintf(m.folder, sizeof m.folder, "%s", folder);
    pass_on(&m, sizeof m);
    return work_apart(what, context);
}

/* What a rank needs to be a lane of a comparison. */
typedef struct lane_job {
    const cli_arguments *arguments;
    const char *folder;
} lane_job;

static int follow_lane(void *context)
{
    const lane_job *job = context;
    return compare_as_lane(job->arguments, job->folder, ranks.rank, ranks.count);
}

/* All but the first rank: takes part in whatever is announced, until the end is. */
static int follow(const cli_arguments *arguments)
{
    sg_pool *pool = open_pool(arguments);
    if (!pool) {
        module.end_all(EXIT_RUN_FAILED);
        return EXIT_RUN_FAILED;
    }
    leave_signals_to_others();
    watch_signals();
    for (int code = EXIT_DONE;;) {
        message m;
        double patience = module.patience;
        module.patience = INFINITY; /* between two trainings the first rank may take its time */
        pass_on(&m, sizeof m);
        module.patience = patience;
        if (m.order == ORDER_END || code != EXIT_DONE) {
            sg_pool_destroy(pool);
            return m.code;
        }
        if (m.order == ORDER_LANES) {
            (void)work_apart(follow_lane, &(lane_job){arguments, m.folder});
            continue;
        }
        char *origin = m.origin_size <= MOST_ORIGIN ? malloc(m.origin_size) : NULL;
        if (!origin) {
            complain("rank %d of %d on %s: out of memory", ranks.rank, ranks.count, module.host);
            module.end_all(EXIT_RUN_FAILED);
            return EXIT_RUN_FAILED;
        }
        pass_on(origin, m.origin_size);
        code = take_part(&m, origin, pool);
        free(origin);
    }
}

static int lead(const cli_command *command, const cli_arguments *arguments)
{
    int code = command->run(arguments);
    message m = {.order = ORDER_END, .code = code};
    pass_on(&m, sizeof m);
    return code;
}

int run_as_rank(const cli_command *command, const cli_arguments *arguments)
{
    launch l = find_launch();
    if (l.count < 2)
        return command->run(arguments);
    if (!command->trains)
        return l.rank == 0 ? command->run(arguments) : EXIT_DONE;
    wait_passively(); /* MPI cannot be joined twice */
    int code = join(&l, (double)arguments->patience);
    if (code != EXIT_DONE)
        return code;
    code = ranks.rank == 0 ? lead(command, arguments) : follow(arguments);
    module.leave();
    return ranks.rank == 0 ? code : EXIT_DONE;
}
