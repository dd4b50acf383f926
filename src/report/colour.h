/* Colour maps, made in the OKLab colour space, where equal distances look equal.
 *
 * Sequential: lightness rises evenly from a dark violet over blue and green to a light yellow, so
 * the order of values survives colour blindness and grey print. Diverging: a light grey in the
 * middle, blue below and red-brown above, both darkening evenly. */
#ifndef SG_REPORT_COLOUR_H
#define SG_REPORT_COLOUR_H

typedef enum sg_colour_map { SG_MAP_SEQUENTIAL, SG_MAP_DIVERGING } sg_colour_map;

/* The colour at `share` in 0 .. 1 (0.5 is the middle of a diverging map). */
void sg_colour_at(sg_colour_map map, double share, unsigned char rgb[3]);

/* The same as "#rrggbb". */
void sg_colour_hex(sg_colour_map map, double share, char hex[8]);

#endif
