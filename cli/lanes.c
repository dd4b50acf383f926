/* Whole runs side by side: see lanes.h. */
#include "lanes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress.h"
#include "session.h"

enum { MOST_LANES = 1024, BAR = 16, LINE_SIZE = 512 };

/* What workers get done together on one run, over what they would on as many runs:
 * docs/scaling.md. */
static const double TOGETHER = 0.95;

/* How long all runs take in so many lanes, in units of a run by one worker. */
static double time_of(size_t runs, int workers, int lanes)
{
    int each = workers / lanes;
    size_t rounds = (runs + (size_t)lanes - 1) / (size_t)lanes;
    return (double)rounds / (each > 1 ? each * TOGETHER : 1);
}

int choose_lanes(size_t runs, int workers, bool whole)
{
    int best = 1, most = workers < MOST_LANES ? workers : MOST_LANES;
    for (int lanes = whole ? workers : 2; lanes <= most && (size_t)lanes <= runs; lanes++)
        if (time_of(runs, workers, lanes) <= time_of(runs, workers, best))
            best = lanes;
    return best;
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

/* Appends what a lane is at, as far as it fits within the width; false when it does not. */
static bool append_lane(char *line, int width, const lane *l)
{
    char part[64];
    size_t used = strlen(line);
    int length = l->share < 1 && isfinite(l->loss)
                     ? snprintf(part, sizeof part, "  %s %.1e", l->label, l->loss)
                     : 0;
    if (length <= 0 || used + (size_t)length >= (size_t)width)
        return length <= 0;
    memcpy(line + used, part, (size_t)length + 1);
    return true;
}

static void draw(lanes *l)
{
    double share = 0, passed = sgi_seconds() - l->began;
    char bar[BAR + 1] = "", left[32], line[LINE_SIZE];
    int width = terminal_width(stdout);
    width = width <= LINE_SIZE ? width : LINE_SIZE;
    for (int i = 0; i < l->count; i++)
        share += l->places[i].share / l->count;
    if (!(share > 0))
        return;
    int filled = (int)(BAR * share);
    memset(bar, ' ', BAR);
    memset(bar, '=', (size_t)(filled > BAR ? BAR : filled));
    format_duration(passed * (1 - share) / share, left, sizeof left);
    snprintf(line, sizeof line, "%d at a time [%s]  %.0f %%  %s left", l->count, bar, 100 * share,
             left);
    for (int i = 0; i < l->count && append_lane(line, width, &l->places[i]); i++)
        continue;
    printf("\r%s\033[K", line);
    fflush(stdout);
    l->drawn = true;
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
    for (int i = 0; i < count; i++)
        l.places[i].loss = NAN;
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
