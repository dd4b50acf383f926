/* STL files: see stl.h. */
#include "files/stl.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"

enum { HEAD = 80, PREFIX = 84, RECORD = 50, WORD_MAX = 64, NUMBERS = 9 };

void sgi_stl_release(sgi_stl *stl)
{
    sgi_release(&stl->allocator, stl->corners);
    stl->corners = NULL;
    stl->count = 0;
}

/* ---- Binary -------------------------------------------------------------------------------- */

static uint32_t little_endian(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool is_binary(const char *data, size_t size)
{
    return size >= PREFIX && size - PREFIX == (uint64_t)little_endian(data + HEAD) * RECORD;
}

static sg_status parse_binary(const char *data, const char *path, sgi_stl *out,
                              sg_diagnostic *diagnostic)
{
    size_t count = little_endian(data + HEAD);
    if (count > SG_STL_MOST_TRIANGLES)
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "it has %zu triangles, more than %d", count, SG_STL_MOST_TRIANGLES);
    out->corners = sgi_allocate(&out->allocator, count * NUMBERS, sizeof *out->corners);
    if (!out->corners)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        const char *record = data + PREFIX + i * RECORD + 3 * sizeof(float); /* after the normal */
        for (size_t k = 0; k < NUMBERS; k++) {
            uint32_t bits = little_endian(record + 4 * k);
            float value;
            memcpy(&value, &bits, sizeof value);
            if (!isfinite(value))
                return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                     "triangle %zu has a coordinate that is not finite", i + 1);
            out->corners[i * NUMBERS + k] = value;
        }
    }
    return SG_OK;
}

/* ---- Text ---------------------------------------------------------------------------------- */

typedef struct scanner {
    const char *at, *end;
    size_t line;
    char word[WORD_MAX]; /* the newest, cut to fit */
    const char *path;
    sg_diagnostic *diagnostic;
} scanner;

static sg_status bad(const scanner *s, const char *what, const char *rest)
{
    (void)sgi_fail_file(s->diagnostic, SG_ERROR_FORMAT, s->path, "%s%s", what, rest);
    if (s->diagnostic)
        s->diagnostic->line = s->line < INT_MAX ? (int)s->line : INT_MAX;
    return SG_ERROR_FORMAT;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static void skip_line(scanner *s)
{
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

/* The next word; an empty one at the end of the text. */
static void take_word(scanner *s)
{
    size_t length = 0;
    for (; s->at < s->end && is_space(*s->at); s->at++)
        s->line += *s->at == '\n';
    for (; s->at < s->end && !is_space(*s->at); s->at++)
        if (length + 1 < WORD_MAX) /* words that matter are shorter */
            s->word[length++] = *s->at >= ' ' && *s->at < 127 ? *s->at : '?';
    s->word[length] = '\0';
}

/* Words are told apart without regard to case. */
static bool reads(const scanner *s, const char *word)
{
    size_t i = 0;
    for (; word[i] && s->word[i]; i++) {
        char c = s->word[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
            return false;
    }
    return word[i] == s->word[i];
}

static sg_status expect(scanner *s, const char *word)
{
    char text[2 * WORD_MAX + 32];
    take_word(s);
    if (reads(s, word))
        return SG_OK;
    if (s->word[0])
        snprintf(text, sizeof text, "'%s' should stand here, not '%s'", word, s->word);
    else
        snprintf(text, sizeof text, "the file ends where '%s' should stand", word);
    return bad(s, text, "");
}

static sg_status take_number(scanner *s, double *value)
{
    char text[WORD_MAX + 48], *end;
    take_word(s);
    *value = strtod(s->word, &end);
    if (s->word[0] && *end == '\0' && isfinite(*value) && fabs(*value) < 1e38)
        return SG_OK;
    if (s->word[0])
        snprintf(text, sizeof text, "'%s' is not a number that can be used", s->word);
    else
        snprintf(text, sizeof text, "the file ends where a number should stand");
    return bad(s, text, "");
}

static sg_status take_numbers(scanner *s, double values[3])
{
    sg_status status = SG_OK;
    for (int k = 0; k < 3 && status == SG_OK; k++)
        status = take_number(s, &values[k]);
    return status;
}

/* What follows the word `facet`. Normals of triangles without area may be anything. */
static sg_status take_facet(scanner *s, double corners[NUMBERS])
{
    sg_status status = expect(s, "normal");
    for (int k = 0; k < 3 && status == SG_OK; k++) {
        take_word(s);
        if (!s->word[0] || reads(s, "outer"))
            status = bad(s, "a normal has three numbers", "");
    }
    if (status == SG_OK)
        status = expect(s, "outer");
    if (status == SG_OK)
        status = expect(s, "loop");
    for (int k = 0; k < 3 && status == SG_OK; k++) {
        status = expect(s, "vertex");
        if (status == SG_OK)
            status = take_numbers(s, corners + (ptrdiff_t)3 * k);
    }
    if (status == SG_OK)
        status = expect(s, "endloop");
    return status == SG_OK ? expect(s, "endfacet") : status;
}

static sg_status add_facet(scanner *s, sgi_stl *out, size_t *capacity)
{
    double corners[NUMBERS];
    sg_status status = take_facet(s, corners);
    if (status != SG_OK)
        return status;
    if (out->count == SG_STL_MOST_TRIANGLES)
        return bad(s, "it has more triangles than a million", "");
    if (sgi_grow_array(&out->allocator, &out->corners, out->count, capacity, 256, sizeof corners) !=
        SG_OK)
        return sgi_fail_file(s->diagnostic, SG_ERROR_MEMORY, s->path, "out of memory");
    memcpy(out->corners + out->count++ * NUMBERS, corners, sizeof corners);
    return SG_OK;
}

static sg_status parse_text(scanner *s, sgi_stl *out)
{
    size_t capacity = 0;
    sg_status status = SG_OK;
    take_word(s);
    while (status == SG_OK && s->word[0]) {
        if (!reads(s, "solid"))
            return bad(s, "'solid' should stand here, not ", s->word);
        skip_line(s); /* its name */
        for (take_word(s); status == SG_OK && reads(s, "facet"); take_word(s)) {
            status = add_facet(s, out, &capacity);
            if (status != SG_OK)
                return status;
        }
        if (!reads(s, "endsolid"))
            return s->word[0] ? bad(s, "'facet' or 'endsolid' should stand here, not ", s->word)
                              : bad(s, "the file ends before 'endsolid'", "");
        skip_line(s);
        take_word(s);
    }
    return status;
}

sg_status sgi_stl_parse(const char *data, size_t size, const char *path, const sg_allocator *given,
                        sgi_stl *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_stl){.allocator = sgi_allocator_or_heap(given)};
    sg_status status;
    if (is_binary(data, size)) {
        status = parse_binary(data, path, out, diagnostic);
    } else {
        scanner s = {
            .at = data, .end = data + size, .line = 1, .path = path, .diagnostic = diagnostic};
        scanner look = s;
        take_word(&look);
        bool zero = size && memchr(data, '\0', size);
        if (!reads(&look, "solid") || zero) {
            if (size < PREFIX)
                return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                     "this is no STL file: it has only %zu bytes", size);
            uint32_t stated = little_endian(data + HEAD);
            return sgi_fail_file(
                diagnostic, SG_ERROR_FORMAT, path,
                "it states %lu triangles, which take %llu bytes, but has %zu: it is cut off or no "
                "STL file",
                (unsigned long)stated, (unsigned long long)PREFIX + (uint64_t)stated * RECORD,
                size);
        }
        status = parse_text(&s, out);
    }
    if (status == SG_OK && out->count == 0)
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path, "it has no triangles");
    return status;
}
