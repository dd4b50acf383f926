/* The table of a problem file's options; what they set is in settings.h. */
#ifndef SG_PROBLEM_OPTIONS_H
#define SG_PROBLEM_OPTIONS_H

#include "config/options.h"

extern const sgi_option_table sgi_problem_options;

#endif
