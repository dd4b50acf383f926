/* PNG pictures of at most 256 colours, inside a page. */
#ifndef SG_REPORT_PNG_H
#define SG_REPORT_PNG_H

#include "report/text.h"

/* The index that is drawn as nothing. */
enum { SG_PNG_CLEAR = 255 };

/* Adds a base64 PNG. `pixels` (height, width) are indices into `palette` (255 colours and the clear
 * one), top row first; the deflated size is small for smooth fields. */
void sg_png_base64(sg_text *out, const unsigned char *pixels, size_t width, size_t height,
                   const unsigned char palette[255][3]);

#endif
