/* stablegrad new FILE: a commented problem that runs as it is, or a task on images. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "files/file.h"

static const char problem[] =
    "# The heat equation on a rod: u_t = k u_xx, ends kept at zero, one sine wave at the start.\n"
    "#\n"
    "#     stablegrad check FILE      look for mistakes, and test whether the reference solves it\n"
    "#     stablegrad train FILE      solve it; the results are written to runs/\n"
    "#\n"
    "# Only coordinates, fields and equations are needed; everything else has a default, and any\n"
    "# value can be set on the command line: --set training.steps=5000\n"
    "name: heat\n"
    "\n"
    "coordinates: {x: [0, 1], t: [0, 1]} # each with its range: the domain is a box\n"
    "fields: [u]                         # the unknowns; a system has several\n"
    "constants: {k: 0.1}                 # numbers that the expressions below can name\n"
    "\n"
    "# Each equation is an expression that should be zero, or two sides with '='. Derivatives are\n"
    "# written by subscript: u_t, u_xx, u_xy; lap(u) is the Laplacian in the space coordinates.\n"
    "equations:\n"
    "  heat: u_t = k*u_xx\n"
    "\n"
    "# Where a field is prescribed: `at` names faces, joined by '|'. The other side of each field "
    "may\n"
    "# be any expression of the coordinates. `weight` is the term's weight in the loss.\n"
    "conditions:\n"
    "  initial: {at: t = 0, u: sin(pi*x), points: 256, weight: 10}\n"
    "  ends: {at: x = 0 | x = 1, u: 0, points: 256, weight: 10}\n"
    "\n"
    "points: 2048 # so many points inside the domain, drawn anew in every step\n"
    "\n"
    "# The exact solution, if there is one: errors are measured against it.\n"
    "reference:\n"
    "  u: exp(-k*pi^2*t)*sin(pi*x)\n"
    "\n"
    "network: {hidden: 4 x 32, activation: tanh}\n"
    "\n"
    "training:\n"
    "  optimizer: {name: adamw, rate: 2e-3, decay: 0}\n"
    "  schedule: cosine\n"
    "  steps: 3000\n"
    "  stablegrad: {until: half} # gradients are rescaled in the first half of the steps\n"
    "\n"
    "# Small errors in a minute, by a method of second order in double; and one after the other:\n"
    "# training: {optimizer: levenberg, seconds: 60}\n"
    "# training: {stages: [{optimizer: adamw, steps: 1000}, {optimizer: levenberg, seconds: "
    "60}]}\n";

static const char images[] =
    "# A network that tells images apart, without BatchNorm, kept alive by StableGrad.\n"
    "#\n"
    "#     stablegrad check FILE      what the network is, its memory, and the time of a step\n"
    "#     stablegrad train FILE      train it; the results are written to runs/\n"
    "#     stablegrad compare FILE    train it with BatchNorm, without, and with StableGrad\n"
    "#\n"
    "# Only data.train and data.test are needed; everything else has a default, and any value can "
    "be\n"
    "# set on the command line: --set data.train=/data/train.bin\n"
    "name: images\n"
    "\n"
    "data:\n"
    "  kind: folder  # of CLASS/IMAGE with .jpg and .png files; or cifar10, cifar100: binary "
    "files\n"
    "  train: data/train\n"
    "  test: data/test\n"
    "  size: 64      # side of the square that the network sees, in pixels\n"
    "  crop: {area: [0.3, 1]} # the share of a training image that a random crop covers\n"
    "\n"
    "network:\n"
    "  model: resnet50 # or resnet18, efficientnet_v2_s, mlp\n"
    "  norm: none      # or batch, group, layer\n"
    "\n"
    "training:\n"
    "  epochs: 10\n"
    "  batch: 64\n"
    "  optimizer: {name: adamw, rate: 1e-3, decay: 1e-3}\n"
    "  schedule: cosine\n"
    "  stablegrad: {until: forever} # in place of BatchNorm, so to the end of the run\n";

int run_new(const cli_arguments *arguments)
{
    const char *path = arguments->operands[0];
    const char *start = arguments->images ? images : problem;
    struct stat info;
    bool there = lstat(path, &info) == 0;
    if (there && !S_ISREG(info.st_mode)) { /* a device, a pipe, a folder, or a link to anywhere */
        complain("%s is not a regular file and is left alone", path);
        return EXIT_BAD_INPUT;
    }
    if (there && !arguments->force) {
        complain("%s exists already; --force overwrites it", path);
        return EXIT_BAD_INPUT;
    }
    sg_diagnostic diagnostic = {0};
    if (sgi_file_write(path, start, strlen(start), NULL, &diagnostic) != SG_OK) {
        tell(&diagnostic);
        return EXIT_RUN_FAILED;
    }
    if (!arguments->quiet)
        printf("wrote %s\nnext  stablegrad check %s\n      stablegrad train %s\n", path, path,
               path);
    return EXIT_DONE;
}
