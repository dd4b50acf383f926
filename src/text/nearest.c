/* The nearest name: see nearest.h. */
#include "text/nearest.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAME = 63 };

void sgi_nearest_begin(sgi_nearest *nearest, const char *name, size_t length)
{
    if (length > MOST_NAME)
        length = MOST_NAME;
    *nearest = (sgi_nearest){name, length, (length < 6 ? 1 : (int)(length / 3)) + 1, ""};
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance of two names of at most MOST_NAME characters. */
static int distance(const char *a, size_t m, const char *b, size_t n)
{
    int rows[3][MOST_NAME + 1];
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int cost = a[i - 1] != b[j - 1];
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void sgi_nearest_offer(sgi_nearest *nearest, const char *candidate)
{
    size_t n = strlen(candidate);
    if (n == 0 || n > MOST_NAME || nearest->length == 0)
        return;
    int d = distance(nearest->name, nearest->length, candidate, n);
    if (d > 0 && n == nearest->length && strncasecmp(nearest->name, candidate, n) == 0)
        d = 1; /* only capitals differ */
    bool nearer = d < nearest->distance;
    bool alike = d == nearest->distance && nearest->best[0] && n == nearest->length &&
                 strlen(nearest->best) != n;
    if ((!nearer && !alike) || (size_t)d >= n)
        return;
    nearest->distance = d;
    memcpy(nearest->best, candidate, n + 1);
}

void sgi_nearest_suggest(const sgi_nearest *nearest, sg_diagnostic *diagnostic)
{
    if (nearest->best[0])
        sgi_diagnostic_suggest(diagnostic, "did you mean '%s'?", nearest->best);
}
