/* Every enumeration of the library is written once, as a list
 *
 *     #define SG_COLOUR_LIST(X)             X(SG_COLOUR_RED, "red")  X(SG_COLOUR_BLUE, "blue",
 * "blue=azure")
 *
 * from which follow the enumeration, how many values it has, the function that gives a value's
 * name, the words that problem files take for it, what run.json says, and the tables of the Python
 * package. A row is the value's constant and its name. Where they differ from the name there follow
 * the words of problem files (the one that is written, then its synonyms after `=`), and after them
 * the name in running text.
 *
 * The numeric values are part of the ABI: append to a list, never reorder. */
#ifndef STABLEGRAD_LIST_H
#define STABLEGRAD_LIST_H

/* The enumerators of a list: enum sg_colour { SG_COLOUR_LIST(SG_LIST_ENUM) }. */
#define SG_LIST_ENUM(code, ...) code,

/* How many there are: (0 SG_COLOUR_LIST(SG_LIST_COUNT)). */
#define SG_LIST_COUNT(code, ...) +1

#endif
