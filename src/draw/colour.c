/* Colour maps: see colour.h. Björn Ottosson's OKLab, in its polar form. */
#include "draw/colour.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

static unsigned char encode(double linear)
{
    double clipped = fmin(fmax(linear, 0), 1);
    double s = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * pow(clipped, 1 / 2.4) - 0.055;
    return (unsigned char)lround(255 * s);
}

static double cube(double x)
{
    return x * x * x;
}

/* Lightness 0 .. 1, chroma, hue in degrees, to sRGB; colours outside it lose chroma, not hue. */
static void to_rgb(double lightness, double chroma, double hue, unsigned char rgb[3])
{
    for (;; chroma *= 0.97) {
        double a = chroma * cos(hue * pi / 180), b = chroma * sin(hue * pi / 180);
        double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
        double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
        double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
        double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
        int inside = 1;
        for (int i = 0; i < 3; i++)
            inside &= linear[i] > -0.001 && linear[i] < 1.001;
        if (!inside && chroma > 0.005)
            continue;
        for (int i = 0; i < 3; i++)
            rgb[i] = encode(linear[i]);
        return;
    }
}

void sgi_colour_at(sgi_colour_map map, double share, unsigned char rgb[3])
{
    double t = fmin(fmax(share, 0), 1);
    if (map == SG_MAP_SEQUENTIAL) {
        to_rgb(0.24 + 0.68 * t, 0.125 + 0.03 * t, 300 - 195 * t, rgb);
        return;
    }
    double side = fabs(2 * t - 1);
    double lightness = 0.965 - 0.545 * side, chroma = 0.19 * pow(side, 0.8) * (1 - 0.25 * side);
    to_rgb(lightness, chroma, t < 0.5 ? 255 - 8 * side : 45 - 18 * side, rgb);
}

void sgi_colour_hex(sgi_colour_map map, double share, char hex[8])
{
    unsigned char rgb[3];
    sgi_colour_at(map, share, rgb);
    (void)snprintf(hex, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}
