/* The rows of rows.h for one instruction set; the flags are in cmake/isa.cmake. */
#define LANES 16
#define TABLE sgi_rows_avx512
#include "graph/rows_body.h"
