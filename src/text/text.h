/* A growing text, for the page and its pictures. A failure is remembered in `status` and everything
 * after it does nothing, so that only the end needs checking. */
#ifndef SG_TEXT_TEXT_H
#define SG_TEXT_TEXT_H

#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

typedef struct sgi_text {
    sg_allocator allocator;
    char *data; /* (size), and a zero byte once something was added */
    size_t size, capacity;
    sg_status status;
} sgi_text;

void sgi_text_begin(sgi_text *text, const sg_allocator *allocator);
void sgi_text_release(sgi_text *text);

void sgi_text_bytes(sgi_text *text, const char *bytes, size_t size);
void sgi_text_add(sgi_text *text, const char *words);
void sgi_text_format(sgi_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Back to the first `size` bytes. */
void sgi_text_cut(sgi_text *text, size_t size);
/* For text that came from a file: made harmless for HTML and SVG, in elements and in quoted
 * attributes. Bytes that are not UTF-8 and control characters become U+FFFD. */
void sgi_text_escape(sgi_text *text, const char *words);
void sgi_text_base64(sgi_text *text, const unsigned char *bytes, size_t size);

/* A value for people, as HTML: three significant digits, "not finite" for infinities, a dash for
 * NaN. */
void sgi_text_number(sgi_text *text, double value);
/* A count with commas: 50,000. */
void sgi_text_count(sgi_text *text, double value);
/* A share of one: 41.2%. */
void sgi_text_percent(sgi_text *text, double share);
/* Bytes of memory: 812 MB, 1.3 GB. */
void sgi_text_memory(sgi_text *text, double bytes);
/* So many a second: 9.04, 16,900. */
void sgi_text_rate(sgi_text *text, double rate);
/* 51 s, 12 min 5 s, 3 h 20 min. */
void sgi_text_duration(sgi_text *text, double seconds);

#endif
