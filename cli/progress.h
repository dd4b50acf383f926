/* The progress of a run: one line rewritten in place on a terminal, a few plain lines elsewhere,
 * JSON objects with --json, nothing with --quiet. */
#ifndef SG_CLI_PROGRESS_H
#define SG_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/training.h"
#include "lanes.h"
#include "train/metrics.h"

/* PROGRESS_LANE: on a terminal the last line alone, since other processes write to it too. */
typedef enum progress_style {
    PROGRESS_LINE,
    PROGRESS_PLAIN,
    PROGRESS_NONE,
    PROGRESS_LANE
} progress_style;

typedef struct progress {
    FILE *to;
    progress_style style;
    int width;           /* of the terminal */
    char label[24];      /* what runs: "adamw", "stablegrad" */
    int64_t first;       /* the step this run started from */
    int64_t steps;       /* the step it ends at */
    double began, shown; /* seconds: start, and the last time the line was drawn */
    double share;        /* of the run that was done at last */
    struct {
        int stage;     /* -1: not known yet, 0: the whole run */
        int64_t first; /* the step it started from */
        double began;  /* seconds */
        double share;  /* of it that was done then */
    } part;            /* of the run, which the speed and the time left are of */
    int64_t tenth;     /* plain lines: tenths of the run that were told */
    int64_t next;      /* the same without an end: the step of the next one */
    bool drawn;        /* a line without line break is on the terminal */
    bool terminal;
    lane *board; /* PROGRESS_LANE: where the share of all, the loss and the label are noted */
    double board_from, board_to;
} progress;

/* Where a run is. */
typedef struct progress_place {
    int64_t done;       /* steps */
    double share;       /* of the run, in (0, 1], where steps alone do not tell; 0: they do */
    int stage, stages;  /* the stage of training, from 1, of how many; 0: none */
    double stage_share; /* of that stage that is done */
    bool endless;       /* nothing tells when the stage, or the run without stages, will end */
} progress_place;

/* Has the progress of a run noted on a board, as the part of all from one share to another, and not
 * shown. A quiet one stays quiet. */
void progress_to_board(progress *p, lane *board, double from, double to);

/* Chooses the style from `quiet` and what `to` is. */
void progress_begin(progress *p, FILE *to, bool quiet, const char *label, int64_t first,
                    int64_t steps);

/* Tells how far the run is. values[0] is shown before all else, the others as far as they fit. */
void progress_update(progress *p, const progress_place *place, const sgi_value *values,
                     size_t count);

/* The last line, with the time it took instead of the time left. */
void progress_end(progress *p, int64_t done, const sgi_value *values, size_t count);

/* Says a sentence above the line. */
void progress_say(progress *p, const char *sentence);

/* Columns; 80 where it is not known. */
int terminal_width(FILE *to);

/* "about 51 s", "under a second". */
void format_estimate(double seconds, char *text, size_t size);

/* "51 s", "3 min 20 s", "1 h 05 min". */
void format_duration(double seconds, char *text, size_t size);

#endif
