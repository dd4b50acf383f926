/* The optimizers' loops, written once and compiled for each instruction set and both types.
 * A file for an instruction set defines SG_TABLE, the name of its table, and includes this. */
#include <math.h>
#include <string.h>

#include "optim/kernels.h"

#define REAL    float
#define SQRT    sqrtf
#define NAME(f) f##_f32
#include "optim/kernels_template.h"
#undef REAL
#undef SQRT
#undef NAME

#define REAL    double
#define SQRT    sqrt
#define NAME(f) f##_f64
#include "optim/kernels_template.h"
#undef REAL
#undef SQRT
#undef NAME

const sgi_optim_kernels SG_TABLE = {
    .adam = {adam_f32, adam_f64},
    .sgd = {sgd_f32, sgd_f64},
    .lamb_look = {lamb_look_f32, lamb_look_f64},
    .lamb_move = {lamb_move_f32, lamb_move_f64},
    .squares = {squares_f32, squares_f64},
    .multiply = {multiply_f32, multiply_f64},
    .average = {average_f32, average_f64},
    .divide = {divide_f32, divide_f64},
    .move = {move_f32, move_f64},
    .dot = {dot_f32, dot_f64},
    .orthonormal = {orthonormal_f32, orthonormal_f64},
};
