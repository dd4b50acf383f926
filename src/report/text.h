/* A growing text, for the page and its pictures. A failure is remembered in `status` and everything
 * after it does nothing, so that only the end needs checking. */
#ifndef SG_REPORT_TEXT_H
#define SG_REPORT_TEXT_H

#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

typedef struct sg_text {
    sg_allocator allocator;
    char *data; /* (size), and a zero byte once something was added */
    size_t size, capacity;
    sg_status status;
} sg_text;

void sg_text_begin(sg_text *text, const sg_allocator *allocator);
void sg_text_release(sg_text *text);

void sg_text_bytes(sg_text *text, const char *bytes, size_t size);
void sg_text_add(sg_text *text, const char *words);
void sg_text_format(sg_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Back to the first `size` bytes. */
void sg_text_cut(sg_text *text, size_t size);
/* For text that came from a file: made harmless for HTML and SVG, in elements and in quoted
 * attributes. Bytes that are not UTF-8 and control characters become U+FFFD. */
void sg_text_escape(sg_text *text, const char *words);
void sg_text_base64(sg_text *text, const unsigned char *bytes, size_t size);

/* A value for people, as HTML: three significant digits, "not finite" for infinities, a dash for
 * NaN. */
void sg_text_number(sg_text *text, double value);
/* A count with commas: 50,000. */
void sg_text_count(sg_text *text, double value);
/* A share of one: 41.2%. */
void sg_text_percent(sg_text *text, double share);
/* Bytes of memory: 812 MB, 1.3 GB. */
void sg_text_memory(sg_text *text, double bytes);
/* 51 s, 12 min 5 s, 3 h 20 min. */
void sg_text_duration(sg_text *text, double seconds);

#endif
