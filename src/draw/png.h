/* PNG pictures of at most 256 colours, inside a page. */
#ifndef SG_DRAW_PNG_H
#define SG_DRAW_PNG_H

#include "text/text.h"

/* The index that is drawn as nothing. */
enum { SG_PNG_CLEAR = 255 };

/* Adds a base64 PNG. `pixels` (height, width) are indices into `palette` (255 colours and the clear
 * one), top row first; the deflated size is small for smooth fields. */
void sgi_png_base64(sgi_text *out, const unsigned char *pixels, size_t width, size_t height,
                    const unsigned char palette[255][3]);

#endif
