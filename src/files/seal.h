/* Seals: sums over what was written, by which a change of it is seen later. They guard against
 * damage, not against malice; a change of a single byte is always seen. In a header, for rooms that
 * share no library. */
#ifndef SG_FILES_SEAL_H
#define SG_FILES_SEAL_H

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "files/json_text.h"

/* The member of an object that seals the others. */
#define SG_SEAL_KEY "seal"

/* Of a text that grows; {0} is that of an empty one. */
typedef struct sgi_seal {
    uint64_t bytes, sum;
} sgi_seal;

static inline void sgi_seal_add(sgi_seal *seal, const void *data, size_t size)
{
    if (size == 0)
        return;
    seal->sum = sgi_hash(seal->bytes == 0 ? SG_HASH_START : seal->sum, data, size);
    seal->bytes += size;
}

static inline json_t *sgi_seal_json(const sgi_seal *seal)
{
    char text[32];
    json_t *object = json_object();
    snprintf(text, sizeof text, "%016" PRIx64, seal->sum);
    json_object_set_new(object, "bytes", json_integer((json_int_t)seal->bytes));
    json_object_set_new(object, "sum", json_string(text));
    return object;
}

/* Whether a file is not as it was when it was sealed; false without a seal. What was added since is
 * no change unless the seal is of the whole. Nor is a file that is shorter: a run that resumes cuts
 * its lines before it seals them. */
static inline bool sgi_seal_is_broken(const json_t *seal, const char *data, size_t size, bool whole)
{
    const char *text = json_string_value(json_object_get(seal, "sum"));
    json_int_t bytes = json_integer_value(json_object_get(seal, "bytes"));
    if (!text || bytes < 0)
        return false;
    if (whole && (uint64_t)bytes != size)
        return true;
    if ((uint64_t)bytes > size)
        return false;
    sgi_seal now = {0};
    sgi_seal_add(&now, data, (size_t)bytes);
    return strtoull(text, NULL, 16) != now.sum;
}

/* Of all members but the seal itself. */
static inline sgi_seal sgi_seal_of(const json_t *object)
{
    sgi_seal seal = {0};
    json_t *rest = json_copy((json_t *)object);
    (void)json_object_del(rest, SG_SEAL_KEY);
    char *text = sgi_json_dump(rest, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text)
        sgi_seal_add(&seal, text, strlen(text));
    free(text);
    json_decref(rest);
    return seal;
}

/* A JSON object that carries its own seal. */
static inline void sgi_seal_close(json_t *object)
{
    sgi_seal seal = sgi_seal_of(object);
    json_object_set_new(object, SG_SEAL_KEY, sgi_seal_json(&seal));
}

static inline bool sgi_seal_was_opened(const json_t *object)
{
    const json_t *own = json_object_get(object, SG_SEAL_KEY);
    sgi_seal seal = sgi_seal_of(object);
    json_t *now = sgi_seal_json(&seal);
    bool opened = own && !json_equal(own, now);
    json_decref(now);
    return opened;
}

#endif
