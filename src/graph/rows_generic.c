/* The rows of rows.h in the compiler's generic vectors. */
#define LANES 16
#define TABLE sgi_rows_generic
#include "graph/rows_body.h"
