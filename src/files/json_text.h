/* A JSON value as text.
 *
 * In place of json_dumps, whose buffer grows: when memory runs out in the middle of that, jansson
 * 2.14 leaves the name of a member out, goes on, and returns text that is no JSON. Here the length
 * is asked for first, and nothing has to grow. */
#ifndef SG_FILES_JSON_TEXT_H
#define SG_FILES_JSON_TEXT_H

#include <stdlib.h>

#include <jansson.h>

/* The text, to be given to free(); NULL when memory ran out. `json` may be NULL, as json_dumps has
 * it. */
static inline char *sgi_json_dump(const json_t *json, size_t flags)
{
    size_t size = json ? json_dumpb(json, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text && json_dumpb(json, text, size, flags) != size) {
        free(text);
        text = NULL;
    }
    if (text)
        text[size] = '\0';
    return text;
}

#endif
