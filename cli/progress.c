/* The progress line: see progress.h. */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "printable.h"

enum { BAR = 16, LEAST_WIDTH = 40, LINE_SIZE = 512 };

void format_duration(double seconds, char *text, size_t size)
{
    long s = lround(seconds);
    if (s < 100)
        snprintf(text, size, "%ld s", s);
    else if (s < 3600)
        snprintf(text, size, "%ld min %02ld s", s / 60, s % 60);
    else
        snprintf(text, size, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

void format_estimate(double seconds, char *text, size_t size)
{
    char duration[32];
    format_duration(seconds, duration, sizeof duration);
    if (lround(seconds) == 0)
        snprintf(text, size, "under a second");
    else
        snprintf(text, size, "about %s", duration);
}

int terminal_width(FILE *to)
{
    struct winsize size;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH)
        return size.ws_col;
    return 80;
}

void progress_begin(progress *p, FILE *to, bool quiet, const char *label, int64_t first,
                    int64_t steps)
{
    *p = (progress){
        .to = to, .first = first, .steps = steps, .began = sgi_seconds(), .first_share = -1};
    p->style = quiet ? PROGRESS_NONE : isatty(fileno(to)) ? PROGRESS_LINE : PROGRESS_PLAIN;
    p->width = terminal_width(to);
    p->terminal = isatty(fileno(to));
    snprintf(p->label, sizeof p->label, "%s", label);
}

void progress_to_board(progress *p, lane *board, double from, double to)
{
    p->board = board;
    p->board_from = from;
    p->board_to = to;
    board->share = from;
    board->loss = NAN;
    memcpy(board->label, p->label, sizeof board->label);
    if (p->style != PROGRESS_NONE)
        p->style = PROGRESS_LANE;
    p->drawn = p->terminal; /* the line of all runs */
}

/* Appends to `line` what fits within `width` columns; what does not fit is left out whole. */
__attribute__((format(printf, 3, 4))) static bool append(char *line, int width, const char *format,
                                                         ...)
{
    char part[LINE_SIZE];
    size_t used = strlen(line);
    va_list list;
    va_start(list, format);
    int length = vsnprintf(part, sizeof part, format, list);
    va_end(list);
    if (length < 0 || used + (size_t)length > (size_t)width || used + (size_t)length >= LINE_SIZE)
        return false;
    memcpy(line + used, part, (size_t)length + 1);
    return true;
}

/* Of the run, in [0, 1]. */
static double share_of(const progress *p, int64_t done)
{
    return p->share > 0 ? p->share : p->steps > 0 ? (double)done / (double)p->steps : 1;
}

/* Seconds that are left, by what passed since the start. */
static double time_left(const progress *p, int64_t done, double passed)
{
    double start = p->share > 0 ? p->first_share : share_of(p, p->first);
    double share = share_of(p, done);
    return share > start ? passed * (1 - share) / (share - start) : passed;
}

static void append_bar(char *line, int width, const progress *p, int64_t done)
{
    char bar[BAR + 1];
    int filled = (int)(BAR * share_of(p, done) + 1e-9);
    memset(bar, ' ', BAR);
    memset(bar, '=', (size_t)filled);
    bar[BAR] = '\0';
    append(line, width, " [%s]", bar);
}

static void append_values(char *line, int width, const sgi_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = values[i].title;
        double value = values[i].value;
        bool fits = !isfinite(value) ? append(line, width, "  %s not finite", name)
                    : values[i].look == SG_LOOK_POWER
                        ? append(line, width, "  %s %.1e", name, value)
                    : values[i].look == SG_LOOK_SHARE
                        ? append(line, width, "  %s %.1f %%", name, 100 * value)
                    : values[i].look == SG_LOOK_DIGITS
                        ? append(line, width, "  %s %.4g", name, value)
                        : append(line, width, value < 100 ? "  %s %.2f" : "  %s %.0f", name, value);
        if (!fits)
            return;
    }
}

/* `last`: the run is over, and the time is what it took. */
static void compose(const progress *p, char line[LINE_SIZE], int width, int64_t done,
                    const sgi_value *values, size_t count, bool last)
{
    double passed = sgi_seconds() - p->began;
    double rate = passed > 0 ? (double)(done - p->first) / passed : 0;
    char time[32];
    format_duration(last ? passed : time_left(p, done, passed), time, sizeof time);
    line[0] = '\0';
    append(line, width, "%-10s", p->label);
    if (p->style == PROGRESS_LINE && width >= 72)
        append_bar(line, width, p, done);
    append(line, width, " %lld", (long long)done);
    if (p->steps < SG_STEPS_WITHOUT_END)
        append(line, width, "/%lld", (long long)p->steps);
    append(line, width, rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
    append(line, width, "  %s%s", time, last ? "" : " left");
    append_values(line, width, values, count);
}

static void erase(progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", p->to);
    p->drawn = p->style == PROGRESS_LANE && p->terminal; /* another process draws it again */
}

void progress_update(progress *p, int64_t done, double share, const sgi_value *values, size_t count)
{
    char line[LINE_SIZE];
    double now = sgi_seconds();
    p->share = share;
    if (p->first_share < 0) /* the first step of this run is done already */
        p->first_share = share;
    if (p->board) {
        p->board->share = p->board_from + (p->board_to - p->board_from) * share_of(p, done);
        p->board->loss = values[0].value;
    }
    if (p->style == PROGRESS_LINE && now - p->shown >= 0.1) {
        compose(p, line, p->width - 1, done, values, count, false);
        fprintf(p->to, "\r%s\033[K", line);
        fflush(p->to);
        p->shown = now;
        p->drawn = true;
    }
    int64_t tenth = (int64_t)(10 * share_of(p, done) + 1e-9); /* 0.3 is three tenths */
    bool plain = p->style == PROGRESS_PLAIN || (p->style == PROGRESS_LANE && !p->terminal);
    if (plain && tenth > p->tenth && tenth < 10) {
        p->tenth = tenth;
        compose(p, line, 200, done, values, count, false);
        fprintf(p->to, "%s\n", line);
        fflush(p->to);
    }
}

void progress_end(progress *p, int64_t done, const sgi_value *values, size_t count)
{
    char line[LINE_SIZE];
    if (p->style == PROGRESS_NONE)
        return;
    erase(p);
    compose(p, line, p->style == PROGRESS_LINE ? p->width - 1 : 200, done, values, count, true);
    fprintf(p->to, "%s\n", line);
    fflush(p->to);
}

void progress_say(progress *p, const char *sentence)
{
    if (p->style == PROGRESS_NONE)
        return;
    erase(p);
    if (p->style == PROGRESS_LANE)
        fprintf(p->to, "%s: ", p->label);
    put_message(sentence, p->to);
    fputc('\n', p->to);
    fflush(p->to);
}
