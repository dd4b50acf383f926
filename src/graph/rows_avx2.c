/* The rows of rows.h for one instruction set; the flags are in cmake/isa.cmake. */
#define LANES 8
#define TABLE sgi_rows_avx2
#include "graph/rows_body.h"
