/* The folder of a reproduction as a whole: its index reproduce.json and its report.
 *
 *     {"experiment": "table1", "budget": "hours", "seeds": 1, "sets": ["training.steps=20"],
 *      "command": "...", "tables": [...]}
 */
#ifndef SG_REPRODUCE_REPRODUCTION_H
#define SG_REPRODUCE_REPRODUCTION_H

#include <jansson.h>

#include "reproduce/results.h"
#include "reproduce/tables.h"

#define SG_REPRODUCE_FILE "reproduce.json"

/* The experiment or the budget of a name, NULL or -1 if there is none. */
const sgi_experiment *sgi_find_experiment(const char *name);
int sgi_find_budget(const char *name);

/* The tables of what is in the folder; the first says how far the runs have come. `index` is
 * reproduce.json. */
void sgi_reproduction_tables(const sgi_results *results, const json_t *index, sgi_tables *tables);

/* What the budget and --set have changed, for the head of the tables: "quick: 1,000 of 50,000
 * steps; with training.seed=3". */
void sgi_reproduction_head(const sgi_results *results, const json_t *index, sgi_text *out);

/* Writes folder/report.html. `tables` are those of sgi_reproduction_tables. */
SG_CHECKED sg_status sgi_reproduction_report(const sgi_results *results, const json_t *index,
                                             const json_t *tables, sg_diagnostic *diagnostic);

#endif
