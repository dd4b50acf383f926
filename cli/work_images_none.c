/* A build without networks on images: see work.h. */
#include "work.h"

const work_kind *const image_work = NULL;
