/* How the rows of a table of options are written. For the files that hold a table; see options.h.
 */
#ifndef SG_CONFIG_OPTION_ROWS_H
#define SG_CONFIG_OPTION_ROWS_H

#include "base/list.h"
#include "config/options.h"

#define SECTION(path, help)                                                                        \
    {                                                                                              \
        path, &sgi_codec_section, 0, 0, 0, NULL, NULL, help                                        \
    }
#define TEXT(path, at, initial, help)                                                              \
    {                                                                                              \
        path, &sgi_codec_text, at, 0, 0, NULL, initial, help                                       \
    }
#define BOOL(path, at, initial, help)                                                              \
    {                                                                                              \
        path, &sgi_codec_bool, at, 0, 0, NULL, initial, help                                       \
    }
#define CHOICE(path, at, words, initial, help)                                                     \
    {                                                                                              \
        path, &sgi_codec_choice, at, 0, 0, words, initial, help                                    \
    }
#define COUNT(path, at, least, initial, help)                                                      \
    {                                                                                              \
        path, &sgi_codec_integer, at, least, 1e12, NULL, initial, help                             \
    }
/* A seed may be a date and a time; every whole number up to 2^53 is exact in a double. */
#define SEED(path, at, initial, help)                                                              \
    {                                                                                              \
        path, &sgi_codec_integer, at, 0, 9007199254740992.0, NULL, initial, help                   \
    }
#define REAL(path, at, least, most, initial, help)                                                 \
    {                                                                                              \
        path, &sgi_codec_real, at, least, most, NULL, initial, help                                \
    }
#define OTHER(path, kind, at, least, most, initial, help)                                          \
    {                                                                                              \
        path, &sgi_codec_##kind, at, least, most, NULL, initial, help                              \
    }

/* The words of a list of a public header, as WORDS(SG_METHOD_LIST(SGI_LIST_WORD)): word i is value
 * i of the enumeration. */
#define WORDS(list) (&(list)[1]) /* past the space before the first */

/* Betas, for one, lie in [0, 1). */
#define BELOW_ONE 0.9999999

#endif
