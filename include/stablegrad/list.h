/* Every enumeration of the library is written once, as a list such as
 *
 *     #define SG_COLOUR_LIST(X)
 *         X(SG_COLOUR_RED, "red")
 *         X(SG_COLOUR_BLUE, "blue", "blue=azure", "Blue")
 *
 * (with backslashes at the ends of its lines). From the list follow the enumeration, the number of
 * its values, the function that gives a value's name, the words for it in problem files and in
 * run.json, and the tables of the Python package.
 *
 * A row has two to four columns: the constant; the name; the words for it in problem files, where
 * they differ from the name (the word that is written, and after each `=` a synonym that is read
 * too); and the name in running text, where that differs.
 *
 * The numeric values are part of the ABI: append to a list, never reorder it. */
#ifndef STABLEGRAD_LIST_H
#define STABLEGRAD_LIST_H

/* The enumerators of a list: enum sg_colour { SG_COLOUR_LIST(SG_LIST_ENUM) }. */
#define SG_LIST_ENUM(code, ...) code,

/* How many there are: (0 SG_COLOUR_LIST(SG_LIST_COUNT)). */
#define SG_LIST_COUNT(code, ...) +1

#endif
