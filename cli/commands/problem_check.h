/* `stablegrad check` of a PDE. */
#ifndef SG_CLI_PROBLEM_CHECK_H
#define SG_CLI_PROBLEM_CHECK_H

#include "pinn/pinn.h"
#include "session.h"

/* Tells everything; returns an exit code. */
int check_problem(sgi_problem *problem, const cli_arguments *arguments);

/* Seconds of a training step without the optimizer's pass, by one or two of them; NaN when the
 * problem cannot be set up. Points may be taken out of the problem for that. */
double time_problem(sgi_problem *problem, sg_pool *pool);

/* Two lines: "burgers3d  4 x 96 tanh, 30,723 parameters, 3,072 points per step" and "channels u u_x
 * ...".
 */
void print_problem(const sg_pinn *pinn, const sg_pinn_batch *batch);

#endif
