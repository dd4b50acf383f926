/* Colour maps, made in the OKLab colour space, where equal distances look equal.
 *
 * Sequential: lightness rises evenly from a dark violet over blue and green to a light yellow, so
 * the order of values survives colour blindness and grey print. Diverging: a light grey in the
 * middle, blue below and red-brown above, both darkening evenly. */
#ifndef SG_DRAW_COLOUR_H
#define SG_DRAW_COLOUR_H

typedef enum sgi_colour_map { SG_MAP_SEQUENTIAL, SG_MAP_DIVERGING } sgi_colour_map;

/* The colour at `share` in 0 .. 1 (0.5 is the middle of a diverging map). */
void sgi_colour_at(sgi_colour_map map, double share, unsigned char rgb[3]);

/* The same as "#rrggbb". */
void sgi_colour_hex(sgi_colour_map map, double share, char hex[8]);

#endif
