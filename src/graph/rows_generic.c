/* The rows of rows.h in the compiler's generic vectors. Eight lanes, because oneDNN has fast
 * convolutions for blocks of 8 channels wherever there is AVX2, and for blocks of 16 only with
 * AVX-512: on other processors a layer in blocks of 16 falls back to its reference code (four steps
 * of ResNet-18 took 31 s instead of 1 s). */
#define LANES 8
#define TABLE sgi_rows_generic
#include "graph/rows_body.h"
