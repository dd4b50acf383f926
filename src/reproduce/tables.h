/* Tables of results. They are built as JSON, which is what `--json` prints and reproduce.json
 * keeps; the terminal's table and the report's are written from it.
 *
 *     {"title": "Table 1", "head": "quick: 1,000 of 50,000 steps", "columns": ["problem", "paper"],
 *      "rows": [["poisson", 6.5e-5]], "notes": ["One sentence."]}
 *
 * A cell is a text, a number, or null for what is not known. What does not fit into memory makes
 * `failed` true, and the tables are not to be used. */
#ifndef SG_REPRODUCE_TABLES_H
#define SG_REPRODUCE_TABLES_H

#include <jansson.h>
#include <stdbool.h>

#include "text/text.h"

typedef struct sgi_tables {
    json_t *list;         /* of tables */
    json_t *rows, *notes; /* of the newest */
    json_t *row;          /* the newest of `rows` */
    bool failed;
} sgi_tables;

void sgi_tables_begin(sgi_tables *tables);
void sgi_tables_release(sgi_tables *tables);

/* A new table; `columns` is a list that ends with NULL. */
void sgi_table_begin(sgi_tables *tables, const char *title, const char *const *columns);
/* A new row of it, and its cells one after the other. */
void sgi_table_row(sgi_tables *tables);
void sgi_table_text(sgi_tables *tables, const char *text);
void sgi_table_number(sgi_tables *tables, double value); /* not finite: null */
__attribute__((format(printf, 2, 3))) void sgi_table_format(sgi_tables *tables, const char *format,
                                                            ...);
/* A sentence under the table. */
__attribute__((format(printf, 2, 3))) void sgi_table_note(sgi_tables *tables, const char *format,
                                                          ...);

/* Says in every table what was reduced. */
void sgi_tables_head(sgi_tables *tables, const char *head);

/* Three cells: the paper's value, ours, ours over the paper's. */
void sgi_table_beside(sgi_tables *tables, double paper, double ours);
/* A verdict: "holds", "does not hold", or "open" while `known` is false. */
void sgi_table_verdict(sgi_tables *tables, bool known, bool holds);

/* A row of a sentence and its verdict. */
void sgi_table_claim(sgi_tables *tables, const char *text, bool known, bool holds);

/* A cell as text: three significant digits, "-" for null. */
void sgi_cell_text(const json_t *cell, char *text, size_t size);

/* Whether a column is one of texts, which stand on the left. */
bool sgi_column_is_text(const json_t *table, size_t column);

/* A table as HTML. */
void sgi_table_html(sgi_text *out, const json_t *table);

#endif
