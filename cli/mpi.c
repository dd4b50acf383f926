/* Ranks by MPI: see ranks_module.h. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ranks_module.h"

/* Elements of one sum of MPI: long ones are faster in pieces, and MPI counts in int. */
enum { PIECE = 1 << 18, MOST_BYTES = 1 << 28 };

/* A wait looks again at once for as long as the sum itself may take; after that it sleeps in
 * between, because the one that is waited for may need this processor. Sums move on only while MPI
 * is asked, so to sleep earlier would slow them down. */
static const double BUSY = 2e-3, BUSY_PER_BYTE = 1 / 200e6; /* seconds */

static void rest(void)
{
    struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
}

/* Waits for a request no longer than patience allows: a machine that is cut off answers never. */
static int await(MPI_Request *request, const ranks_module *m, size_t bytes)
{
    double began = sgi_seconds(), busy = BUSY + BUSY_PER_BYTE * (double)bytes;
    for (int done = 0;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (done)
            return 0;
        double waited = sgi_seconds() - began;
        if (waited > m->patience)
            return 1;
        if (waited > busy)
            rest();
        else if (m->crowded)
            sched_yield();
    }
}

/* The analyser knows MPI_Wait alone, which cannot give up. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static int sum(void *module, void *values, sg_type type, size_t count)
{
    const ranks_module *m = module;
    MPI_Datatype kind = type == SG_FLOAT32 ? MPI_FLOAT : MPI_DOUBLE;
    size_t size = type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
    for (size_t begin = 0; begin < count; begin += PIECE) {
        size_t rest_of = count - begin, n = rest_of < PIECE ? rest_of : PIECE;
        MPI_Request request;
        if (MPI_Iallreduce(MPI_IN_PLACE, (char *)values + begin * size, (int)n, kind, MPI_SUM,
                           MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
            await(&request, m, n * size) != 0)
            return 1;
    }
    return 0;
}

static int broadcast(void *module, void *bytes, size_t size, int from)
{
    const ranks_module *m = module;
    MPI_Request request;
    if (size > MOST_BYTES)
        return 1;
    return MPI_Ibcast(bytes, (int)size, MPI_BYTE, from, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
           await(&request, m, size) != 0;
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* MPI_Abort asks the launcher to end the others. Should the way there be cut as well, this process
 * must not wait for it. */
static void end_all(int code)
{
    fflush(NULL);
    alarm(5);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

static void leave(void)
{
    MPI_Finalize();
}

/* ---- Processors ------------------------------------------------------------------------------ */

/* Where the launcher has bound nobody, all ranks of a host may run on all its processors, and would
 * each start a thread for every one. Each is given its share of them. */
static void share_processors(ranks_module *m, MPI_Comm host, int place)
{
    cpu_set_t own, first_one, share;
    int same = 1, everywhere = 0;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        return;
    first_one = own;
    MPI_Bcast(&first_one, sizeof own, MPI_BYTE, 0, host);
    same = CPU_EQUAL(&own, &first_one) ? 1 : 0;
    MPI_Allreduce(&same, &everywhere, 1, MPI_INT, MPI_MIN, host);
    int processors = CPU_COUNT(&own);
    if (!everywhere || m->neighbours == 1)
        return;
    m->crowded = processors < m->neighbours;
    CPU_ZERO(&share);
    int first = m->crowded ? place % processors : processors * place / m->neighbours;
    int last = m->crowded ? first + 1 : processors * (place + 1) / m->neighbours;
    for (size_t cpu = 0, k = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &own)) {
            if (k >= (size_t)first && k < (size_t)last)
                CPU_SET(cpu, &share);
            k++;
        }
    (void)!sched_setaffinity(0, sizeof share, &share); /* without it, slower */
}

bool open_ranks_module(ranks_module *m, char *reason, size_t size)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int provided, place, length;
    MPI_Comm host;
    double patience = m->patience;
    *m = (ranks_module){.patience = patience,
                        .sum = sum,
                        .broadcast = broadcast,
                        .end_all = end_all,
                        .leave = leave};
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
        snprintf(reason, size, "MPI could not be started");
        return false;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->count);
    if (gethostname(m->host, sizeof m->host - 1) != 0)
        m->host[0] = '\0';
    MPI_Get_library_version(library, &length);
    snprintf(m->version, sizeof m->version, "%.*s", (int)strcspn(library, ",\n"), library);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) !=
        MPI_SUCCESS) {
        snprintf(reason, size, "MPI cannot tell which ranks share a machine");
        return false;
    }
    MPI_Comm_rank(host, &place);
    MPI_Comm_size(host, &m->neighbours);
    share_processors(m, host, place);
    MPI_Comm_free(&host);
    return true;
}
