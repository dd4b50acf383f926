/* Whole runs side by side: see lanes.h. */
#include "lanes.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress.h"
#include "session.h"

enum { MOST_LANES = 1024, BAR = 16 };

/* What workers get done together on one run, over what they would on as many runs:
 * docs/scaling.md. */
static const double TOGETHER = 0.95;

int choose_lanes(size_t runs, int workers)
{
    if (runs < 2 || workers < 2 || workers > MOST_LANES)
        return 1;
    size_t w = (size_t)workers, rounds = (runs + w - 1) / w;
    return (double)(rounds * w) * TOGETHER <= (double)runs ? workers : 1;
}

typedef struct lanes {
    int count, alive, worst;
    pid_t process[MOST_LANES];
    lane *places; /* (count), shared */
    bool told;    /* to stop */
    double began;
    bool drawn;
} lanes;

/* One of the processes. It ends with the one that started it. */
static _Noreturn void be_lane(const lanes *l, int index, lane_work *work, void *context,
                              pid_t parent)
{
    leave_signals_to_others();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_INTERRUPTED);
    int code = work(context, index, &l->places[index]);
    if (fflush(NULL) != 0 && code == EXIT_DONE)
        code = EXIT_RUN_FAILED;
    _exit(code);
}

static void note_end(lanes *l, pid_t process, int status)
{
    for (int i = 0; i < l->count; i++) {
        if (l->process[i] != process)
            continue;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_RUN_FAILED;
        if (WIFSIGNALED(status))
            complain("a process that trained some of the runs was ended by signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        l->process[i] = 0;
        l->alive--;
        l->worst = code > l->worst ? code : l->worst;
    }
}

static void pass_on_stop(lanes *l)
{
    for (int i = 0; i < l->count && !l->told; i++)
        if (l->process[i] > 0)
            kill(l->process[i], SIGTERM);
    l->told = true;
}

static void draw(lanes *l)
{
    double share = 0;
    char bar[BAR + 1] = "", left[32];
    for (int i = 0; i < l->count; i++)
        share += l->places[i].share / l->count;
    double passed = sgi_seconds() - l->began;
    int filled = (int)(BAR * share);
    memset(bar, ' ', BAR);
    memset(bar, '=', (size_t)(filled < 0 ? 0 : filled > BAR ? BAR : filled));
    format_duration(share > 0 ? passed * (1 - share) / share : 0, left, sizeof left);
    if (share > 0)
        printf("\r%d at a time [%s]  %.0f %%  %s left\033[K", l->count, bar, 100 * share, left);
    fflush(stdout);
    l->drawn = share > 0;
}

static void await(lanes *l, bool show)
{
    const struct timespec moment = {0, 100000000};
    while (l->alive > 0) {
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            note_end(l, ended, status);
            continue;
        }
        if (ended < 0 && errno != EINTR)
            return;
        if (stop_requested)
            pass_on_stop(l);
        if (show)
            draw(l);
        nanosleep(&moment, NULL);
    }
}

int run_lanes(int count, lane_work *work, void *context, bool quiet)
{
    lanes l = {.count = count, .began = sgi_seconds()};
    size_t bytes = (size_t)count * sizeof *l.places;
    pid_t parent = getpid();
    l.places = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l.places == MAP_FAILED) {
        complain("out of memory");
        return EXIT_RUN_FAILED;
    }
    fflush(NULL); /* or each of them would print it once more */
    for (int i = 0; i < count; i++) {
        l.process[i] = fork();
        if (l.process[i] == 0)
            be_lane(&l, i, work, context, parent);
        if (l.process[i] < 0) {
            complain("no more processes can be started: %s", strerror(errno));
            l.worst = EXIT_RUN_FAILED;
            break;
        }
        l.alive++;
    }
    if (l.worst != EXIT_DONE)
        pass_on_stop(&l);
    await(&l, !quiet && isatty(STDOUT_FILENO));
    if (l.drawn)
        printf("\r\033[K");
    munmap(l.places, bytes);
    return l.worst;
}
