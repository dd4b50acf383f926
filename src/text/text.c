/* A growing text: see text.h. */
#include "text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void sgi_text_begin(sgi_text *text, const sg_allocator *allocator)
{
    *text = (sgi_text){.allocator = sgi_allocator_or_heap(allocator)};
}

void sgi_text_release(sgi_text *text)
{
    sgi_release(&text->allocator, text->data);
    text->data = NULL;
    text->size = text->capacity = 0;
}

/* Room for `more` bytes and the zero after them. */
static int reserve(sgi_text *text, size_t more)
{
    if (text->status != SG_OK)
        return 0;
    if (more < text->capacity - text->size)
        return 1;
    size_t capacity = text->capacity ? text->capacity : 4096;
    while (capacity - text->size <= more && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    char *data = capacity - text->size <= more
                     ? NULL
                     : sgi_enlarge(&text->allocator, text->data, text->size, capacity, 1);
    if (!data) {
        text->status = SG_ERROR_MEMORY;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void sgi_text_bytes(sgi_text *text, const char *bytes, size_t size)
{
    if (size == 0 || !reserve(text, size))
        return;
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = 0;
}

void sgi_text_add(sgi_text *text, const char *words)
{
    sgi_text_bytes(text, words, strlen(words));
}

void sgi_text_cut(sgi_text *text, size_t size)
{
    if (size >= text->size)
        return;
    text->size = size;
    text->data[size] = 0;
}

void sgi_text_format(sgi_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length <= 0 || !reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    (void)vsnprintf(text->data + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

/* The length of the valid UTF-8 character at `at`, or 0. */
static size_t character(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (length == 4 && at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

void sgi_text_escape(sgi_text *text, const char *words)
{
    const unsigned char *at = (const unsigned char *)words;
    while (*at) {
        size_t length = character(at);
        if (length == 0 || (*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f) {
            sgi_text_add(text, *at == '\r' ? "" : "\xef\xbf\xbd");
            at++;
            continue;
        }
        const char *entity = *at == '&'    ? "&amp;"
                             : *at == '<'  ? "&lt;"
                             : *at == '>'  ? "&gt;"
                             : *at == '"'  ? "&quot;"
                             : *at == '\'' ? "&#39;"
                                           : NULL;
        if (entity)
            sgi_text_add(text, entity);
        else
            sgi_text_bytes(text, (const char *)at, length);
        at += length;
    }
}

void sgi_text_base64(sgi_text *text, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        if (have > 1)
            bits |= (uint32_t)bytes[i + 1] << 8;
        if (have > 2)
            bits |= bytes[i + 2];
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        have > 1 ? digits[bits >> 6 & 63] : '=',
                        have > 2 ? digits[bits & 63] : '='};
        sgi_text_bytes(text, four, 4);
    }
}

/* With a typographic minus, which is as wide as a digit. */
static void add_plain(sgi_text *text, const char *plain)
{
    for (; *plain; plain++)
        if (*plain == '-')
            sgi_text_add(text, "−");
        else
            sgi_text_bytes(text, plain, 1);
}

void sgi_text_number(sgi_text *text, double value)
{
    double size = fabs(value);
    if (isnan(value))
        sgi_text_add(text, "–");
    else if (isinf(value))
        sgi_text_add(text, "not finite");
    else if (value == 0)
        sgi_text_add(text, "0");
    else {
        /* From 99.95 on three digits leave none after the point. */
        bool plain = size >= 0.1 && size < 999.5;
        char digits[40];
        (void)snprintf(digits, sizeof digits,
                       !plain          ? "%.2e"
                       : size >= 99.95 ? "%.0f"
                                       : "%#.3g",
                       value);
        sgi_text_add(text, plain ? "" : "<span class=\"n\">"); /* not broken at the minus */
        add_plain(text, digits);
        sgi_text_add(text, plain ? "" : "</span>");
    }
}

void sgi_text_count(sgi_text *text, double value)
{
    if (!isfinite(value)) {
        sgi_text_number(text, value);
        return;
    }
    char plain[40];
    int length = snprintf(plain, sizeof plain, "%.0f", fabs(value) < 1e15 ? value : 1e15);
    for (int i = 0; i < length; i++) {
        sgi_text_add(text, plain[i] == '-' ? "−" : "");
        if (plain[i] != '-')
            sgi_text_bytes(text, plain + i, 1);
        if (plain[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
            sgi_text_add(text, ",");
    }
}

void sgi_text_percent(sgi_text *text, double share)
{
    if (isfinite(share))
        sgi_text_format(text, "%.1f%%", 100 * share);
    else
        sgi_text_number(text, share);
}

void sgi_text_rate(sgi_text *text, double rate)
{
    if (rate < 100)
        sgi_text_format(text, "%.3g", rate);
    else
        sgi_text_count(text, rate);
}

void sgi_text_memory(sgi_text *text, double bytes)
{
    if (!isfinite(bytes))
        sgi_text_number(text, bytes);
    else if (bytes < 999.5e6)
        sgi_text_format(text, "%.0f MB", fmax(bytes, 0) / 1e6);
    else
        sgi_text_format(text, "%.*f GB", bytes < 99.95e9, bytes / 1e9);
}

void sgi_text_duration(sgi_text *text, double seconds)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e12) {
        sgi_text_number(text, NAN);
        return;
    }
    long whole = lround(seconds);
    if (seconds < 10)
        sgi_text_format(text, "%.1f s", seconds);
    else if (whole < 60)
        sgi_text_format(text, "%ld s", whole);
    else if (whole < 3600)
        sgi_text_format(text, "%ld min %ld s", whole / 60, whole % 60);
    else
        sgi_text_format(text, "%ld h %ld min", whole / 3600, whole / 60 % 60);
}
