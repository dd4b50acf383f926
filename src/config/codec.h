/* How one kind of value is read from a file and written to one, and what such code is made of.
 *
 * For the files that hold codecs: codecs.c (those of every table), training_codecs.c,
 * problem/codecs.c. A codec is one row under its two functions:
 *
 *     const sgi_codec sgi_codec_bool = {
 *         .takes = "true or false", .read = read_bool, .write = write_bool}; */
#ifndef SG_CONFIG_CODEC_H
#define SG_CONFIG_CODEC_H

#include "config/options.h"

/* Text that is written as far as there is room; `length` counts all of it. */
typedef struct sgi_output {
    char *text;
    size_t capacity, length;
    const sgi_option *option; /* the row that is written */
    const sgi_names *names;   /* of the file */
} sgi_output;

struct sgi_codec {
    const char *takes; /* what a value looks like: "a number" */
    /* Reads `node` into `value`, the member that the row's offset points at. */
    sg_status (*read)(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                      void *value);
    /* Writes it so that reading gives the same value. */
    void (*write)(sgi_output *out, const void *value);
    bool number; /* it is one number, perhaps with words for some: not a list */
};

/* ---- Mistakes ----------------------------------------------------------------------------- */

/* How messages name an option: its path, or "'points' of a condition". */
const char *sgi_option_label(const sgi_reader *reader, const sgi_option *option, char text[96]);

/* Reports that the option must be `wanted`; SG_ERROR_FORMAT. */
sg_status sgi_option_wrong(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           const char *wanted);

/* ---- Parts of reading --------------------------------------------------------------------- */

/* A number, or an expression of constants, in the option's range; and a whole one. */
SG_CHECKED sg_status sgi_read_real(sgi_reader *reader, const sgi_option *option,
                                   const sgi_yaml *node, double *value);
SG_CHECKED sg_status sgi_read_whole(sgi_reader *reader, const sgi_option *option,
                                    const sgi_yaml *node, int64_t *value);
/* The number of one of the option's words. */
SG_CHECKED sg_status sgi_read_choice(sgi_reader *reader, const sgi_option *option,
                                     const sgi_yaml *node, int *value);
/* The numbers of "6 x 64" or "256x128": how many there are, 0 if the text is something else. */
int sgi_split_product(const char *text, double *numbers, int most);
/* Refuses `node`, because `what` in it ("a width") is at most `most`. */
sg_status sgi_option_exceeds(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             const char *what, double most);
/* Whether a number is whole and in the option's range. */
bool sgi_is_whole(double value, const sgi_option *option);

/* ---- Parts of writing --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) void sgi_put(sgi_output *out, const char *format, ...);
void sgi_put_number(sgi_output *out, double value);
void sgi_put_numbers(sgi_output *out, const double *values, int count); /* [1, 2] */
void sgi_put_text(sgi_output *out, const char *text);                   /* in quotes */
void sgi_put_word(sgi_output *out, const char *words, int index);

#endif
