/* The progress line: see progress.h. */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "printable.h"

enum {
    BAR = 16,
    LEAST_BAR = 8,
    FIRST_LINE = 10,
    LEAST_WIDTH = 40,
    PLAIN_WIDTH = 200,
    LINE_SIZE = 512
};

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
    *p = (progress){.to = to,
                    .first = first,
                    .steps = steps,
                    .next = first + FIRST_LINE,
                    .began = sgi_seconds(),
                    .part.stage = -1};
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
static double share_of(const progress *p, const progress_place *place)
{
    if (place->share > 0)
        return place->share;
    if (p->steps >= SG_STEPS_WITHOUT_END)
        return 0;
    return p->steps > 0 ? (double)place->done / (double)p->steps : 1;
}

/* Of the part of the run that the time left is of: the stage, if there are stages. */
static double share_of_part(const progress *p, const progress_place *place)
{
    return place->stage ? place->stage_share : share_of(p, place);
}

/* A stage takes the time that its own steps take, so what went before does not count. Where steps
 * alone do not tell, the first of a run only tells where it begins. */
static void enter_part(progress *p, const progress_place *place, double now)
{
    bool by_steps = !place->stage && !(place->share > 0);
    p->part.stage = place->stage;
    p->part.first = by_steps ? p->first : place->done;
    p->part.began = by_steps ? p->began : now;
    p->part.share =
        by_steps ? share_of(p, &(progress_place){.done = p->first}) : share_of_part(p, place);
}

static void append_bar(char *line, int cells, double share)
{
    char bar[BAR + 1];
    int filled = (int)(cells * share + 1e-9);
    memset(bar, ' ', (size_t)cells);
    memset(bar, '=', (size_t)filled);
    bar[cells] = '\0';
    append(line, LINE_SIZE, " [%s]", bar);
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

/* The speed, and the seconds left of the part once a share of it has passed that tells them. */
static void append_estimate(const progress *p, char *line, int width, const progress_place *place)
{
    char time[32];
    double passed = sgi_seconds() - p->part.began, share = share_of_part(p, place);
    if (place->done == p->part.first || !(passed > 0))
        return;
    double rate = (double)(place->done - p->part.first) / passed;
    append(line, width, rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
    if (place->endless || !(share > p->part.share))
        return;
    format_duration(passed * (1 - share) / (share - p->part.share), time, sizeof time);
    append(line, width, "  %s left", time);
    if (place->stage < place->stages)
        append(line, width, " of stage %d", place->stage);
}

/* The speed and the seconds of the whole run, which is over. */
static void append_time_taken(const progress *p, char *line, int width, int64_t done)
{
    char time[32];
    double passed = sgi_seconds() - p->began;
    double rate = passed > 0 ? (double)(done - p->first) / passed : 0;
    append(line, width, rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
    format_duration(passed, time, sizeof time);
    append(line, width, "  %s", time);
}

/* What the bar and the other values make room for. */
static void compose_needed(const progress *p, char line[LINE_SIZE], int width,
                           const progress_place *place, bool over, const sgi_value *values,
                           size_t count)
{
    line[0] = '\0';
    append(line, width, " %lld", (long long)place->done);
    if (p->steps < SG_STEPS_WITHOUT_END)
        append(line, width, "/%lld", (long long)p->steps);
    if (over)
        append_time_taken(p, line, width, place->done);
    else
        append_estimate(p, line, width, place);
    append_values(line, width, values, count < 1 ? count : 1);
}

/* The bar takes the room that the rest of the line leaves it. */
static void compose(const progress *p, char line[LINE_SIZE], const progress_place *place, bool over,
                    const sgi_value *values, size_t count)
{
    char needed[LINE_SIZE];
    int width = p->style == PROGRESS_LINE ? p->width - 1 : PLAIN_WIDTH;
    line[0] = '\0';
    append(line, width, "%-10s", p->label);
    int room = width - (int)strlen(line);
    compose_needed(p, needed, room, place, over, values, count);
    int cells = room - (int)strlen(needed) - (int)strlen(" []");
    cells = cells < BAR ? cells : BAR;
    if (p->style == PROGRESS_LINE && cells >= LEAST_BAR && p->share > 0)
        append_bar(line, cells, p->share);
    append(line, width, "%s", needed);
    if (count > 1)
        append_values(line, width, values + 1, count - 1);
}

static void erase(progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", p->to);
    p->drawn = p->style == PROGRESS_LANE && p->terminal; /* another process draws it again */
}

/* Plain lines come after each tenth of the run and, where nothing tells when it ends, after twice
 * as many steps as the last. */
static bool line_is_due(progress *p, const progress_place *place)
{
    int64_t tenth = (int64_t)(10 * share_of(p, place) + 1e-9); /* 0.3 is three tenths */
    bool due = tenth > p->tenth && tenth < 10;
    if (due)
        p->tenth = tenth;
    if (place->endless && place->done >= p->next) {
        p->next = 2 * place->done;
        due = true;
    }
    return due;
}

void progress_update(progress *p, const progress_place *place, const sgi_value *values,
                     size_t count)
{
    char line[LINE_SIZE];
    double now = sgi_seconds(), share = share_of(p, place);
    p->share = share;
    if (p->part.stage != place->stage)
        enter_part(p, place, now);
    if (p->board) {
        p->board->share = p->board_from + (p->board_to - p->board_from) * share;
        p->board->loss = values[0].value;
    }
    if (p->style == PROGRESS_LINE && now - p->shown >= 0.1) {
        compose(p, line, place, false, values, count);
        fprintf(p->to, "\r%s\033[K", line);
        fflush(p->to);
        p->shown = now;
        p->drawn = true;
    }
    bool plain = p->style == PROGRESS_PLAIN || (p->style == PROGRESS_LANE && !p->terminal);
    if (plain && line_is_due(p, place)) {
        compose(p, line, place, false, values, count);
        fprintf(p->to, "%s\n", line);
        fflush(p->to);
    }
}

void progress_end(progress *p, int64_t done, const sgi_value *values, size_t count)
{
    char line[LINE_SIZE];
    progress_place place = {.done = done};
    if (p->style == PROGRESS_NONE)
        return;
    erase(p);
    if (p->part.stage < 0) /* there was no step to take */
        p->share = share_of(p, &place);
    compose(p, line, &place, true, values, count);
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
