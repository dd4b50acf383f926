/* What the library makes of the lists of its public headers: see stablegrad/list.h. */
#ifndef SG_BASE_LIST_H
#define SG_BASE_LIST_H

#include "stablegrad/list.h"

/* The columns of a row after its constant. Not every row has all columns: whoever uses these macros
 * appends what stands in for a missing one. */
#define SGI_LIST_FIRST(first, ...)                first
#define SGI_LIST_SECOND(first, second, ...)       second
#define SGI_LIST_THIRD(first, second, third, ...) third

/* The names of a list: static const char *const names[] = {SG_COLOUR_LIST(SGI_LIST_NAME)}. */
#define SGI_LIST_NAME(code, ...) SGI_LIST_FIRST(__VA_ARGS__, ),

/* Their names in running text. */
#define SGI_LIST_TITLE(code, ...)                                                                  \
    SGI_LIST_THIRD(__VA_ARGS__, SGI_LIST_FIRST(__VA_ARGS__, ), SGI_LIST_FIRST(__VA_ARGS__, ), ),

/* The words of a list for sgi_codec_choice, each after a space: its words, or its name when it has
 * no others. SGI_LIST_NO_WORD holds the place of a value that no word stands for. */
#define SGI_LIST_WORD(code, ...)    " " SGI_LIST_SECOND(__VA_ARGS__, __VA_ARGS__, )
#define SGI_LIST_NO_WORD(code, ...) " #"
#define SGI_LIST_NOTHING(code, ...) /* for texts that leave such values out */

/* names[value], "unknown" for a value that is not in the list. */
static inline const char *sgi_list_name(const char *const *names, int count, int value)
{
    return value >= 0 && value < count ? names[value] : "unknown";
}

#endif
