/* The table of options: see settings.h. Order is the order in written files. */
#include <math.h>

#include "pinn/settings.h"

#define TOP(member)       offsetof(sg_settings, member)
#define CONDITION(member) offsetof(sg_condition_settings, member)
#define SECTION(path, help)                                                                        \
    {                                                                                              \
        path, SG_OPTION_SECTION, 0, 0, 0, NULL, NULL, help                                         \
    }
#define TEXT(path, at, initial, help)                                                              \
    {                                                                                              \
        path, SG_OPTION_TEXT, at, 0, 0, NULL, initial, help                                        \
    }
#define BOOL(path, at, initial, help)                                                              \
    {                                                                                              \
        path, SG_OPTION_BOOL, at, 0, 0, NULL, initial, help                                        \
    }
#define CHOICE(path, at, words, initial, help)                                                     \
    {                                                                                              \
        path, SG_OPTION_CHOICE, at, 0, 0, words, initial, help                                     \
    }
#define COUNT(path, at, least, initial, help)                                                      \
    {                                                                                              \
        path, SG_OPTION_INTEGER, at, least, 1e12, NULL, initial, help                              \
    }
#define REAL(path, at, least, most, initial, help)                                                 \
    {                                                                                              \
        path, SG_OPTION_REAL, at, least, most, NULL, initial, help                                 \
    }
#define OTHER(path, type, at, least, most, initial, help)                                          \
    {                                                                                              \
        path, type, at, least, most, NULL, initial, help                                           \
    }

/* Betas lie in [0, 1). */
#define BELOW_ONE 0.9999999

const sg_option sg_options[] = {
    TEXT("name", TOP(name), "", "what runs are called; by default the file's name"),
    TEXT("title", TOP(title), "", "one line for reports"),
    SECTION("coordinates", "each with its range: {x: [-1, 1], t: [0, 1]}; t is time"),
    SECTION("fields", "the unknowns, the network's outputs"),
    SECTION("constants", "named numbers; expressions of other constants are allowed"),
    SECTION("definitions", "named expressions; their derivatives can be used too, phi_x"),
    SECTION("equations", "each an expression that should be 0, or left = right"),
    {"equations.*.weight", SG_OPTION_REAL, offsetof(sg_equation_settings, weight), 0, 1e30, NULL,
     "1", "factor of this equation's mean square in the loss"},
    SECTION("equations.*.expression", "the equation, when it is given with a weight"),
    SECTION("conditions", "what holds on faces of the domain"),
    SECTION("conditions.*.at", "where: t = 0, or x = -1 | x = 1, or boundary"),
    OTHER("conditions.*.periodic", SG_OPTION_COORDINATES, CONDITION(periodic), 0, 0, "none",
          "coordinates whose two faces are tied together, in place of `at`"),
    BOOL("conditions.*.slopes", CONDITION(slopes), "false",
         "of a periodic condition: tie the first derivatives too"),
    SECTION("conditions.*.expression", "any expression that should be 0, or left = right"),
    COUNT("conditions.*.points", CONDITION(points), 1, "1024", "points (or pairs) per step"),
    REAL("conditions.*.weight", CONDITION(weight), 0, 1e30, "1",
         "factor of this condition's mean square in the loss"),
    COUNT("points", TOP(points), 1, "4096", "points in the domain per step"),
    SECTION("reference", "the exact solution: {u: expression}, or cole_hopf"),

    OTHER("inputs.raw", SG_OPTION_COORDINATES, TOP(inputs.raw), 0, 0, "all",
          "coordinates that the network sees as they are: all, none, or a list"),
    BOOL("inputs.scale", TOP(inputs.scale), "true", "rescale those to [-1, 1]"),
    OTHER("inputs.fourier.frequencies", SG_OPTION_FREQUENCIES, TOP(inputs.frequencies), 0, 1e6, "0",
          "add sin(pi f x) and cos(pi f x): 12 for f = 1..12, or a list"),
    OTHER("inputs.fourier.of", SG_OPTION_COORDINATES, TOP(inputs.fourier_of), 0, 0, "all",
          "of these coordinates"),
    OTHER("inputs.periodic", SG_OPTION_HARMONICS, TOP(inputs.periodic), 0, SG_MOST_FREQUENCIES,
          "{}", "harmonics of the domain's own period: {x: 4}"),
    COUNT("inputs.random.count", TOP(inputs.random_count), 0, "0", "random waves to add"),
    REAL("inputs.random.std", TOP(inputs.random_std), 0, 1e9, "1",
         "deviation of their frequencies"),
    COUNT("inputs.random.seed", TOP(inputs.random_seed), 0, "0", "which ones"),

    OTHER("network.hidden", SG_OPTION_WIDTHS, TOP(network.hidden), 1, 65536, "4 x 64",
          "hidden layers: 4 x 64, or a list of widths"),
    CHOICE("network.activation", TOP(network.activation), "tanh silu sin gelu softplus", "tanh",
           "between layers"),
    REAL("network.frequency", TOP(network.frequency), 1e-9, 1e9, "30", "of the sin activation"),
    CHOICE("network.init.fan", TOP(network.fan), "in out average", "in",
           "which fan the weights' variance divides by"),
    CHOICE("network.init.distribution", TOP(network.distribution), "normal uniform siren", "normal",
           "of the weights"),
    OTHER("network.init.gain", SG_OPTION_GAIN, TOP(network.gain), 0, 1e9, "1",
          "deviation times the root of the fan; auto for the activation's own"),
    CHOICE("network.precision", TOP(network.precision), "float=float32 double=float64", "float",
           "of weights and derivatives"),

    CHOICE("training.optimizer.name", TOP(training.optimizer), "adamw adam sgd", "adamw",
           "with PyTorch's semantics"),
    REAL("training.optimizer.rate", TOP(training.rate), 0, 1e6, "1e-3", "learning rate"),
    OTHER("training.optimizer.betas", SG_OPTION_PAIR, TOP(training.betas), 0, BELOW_ONE,
          "[0.9, 0.999]", "of adam and adamw"),
    REAL("training.optimizer.eps", TOP(training.eps), 0, 1, "1e-8", "of adam and adamw"),
    REAL("training.optimizer.decay", TOP(training.decay), 0, 1e6, "0", "weight decay"),
    REAL("training.optimizer.momentum", TOP(training.momentum), 0, 1, "0", "of sgd"),
    REAL("training.optimizer.dampening", TOP(training.dampening), 0, 1, "0", "of sgd"),
    BOOL("training.optimizer.nesterov", TOP(training.nesterov), "false", "of sgd"),
    COUNT("training.schedule.warmup", TOP(training.warmup), 0, "0",
          "steps of linear warm-up, from `start` times the rate"),
    REAL("training.schedule.start", TOP(training.warmup_start), 0, 1, "0",
         "factor at the first warm-up step"),
    CHOICE("training.schedule.then", TOP(training.then), "constant cosine", "constant",
           "after the warm-up, to the last step"),
    REAL("training.schedule.floor", TOP(training.floor), 0, 1, "0",
         "factor that the cosine ends at"),
    OTHER("training.schedule.pieces", SG_OPTION_PIECES, TOP(training.pieces), 0, 1e6, "[]",
          "further factors: a list of {from, until, factor}"),
    REAL("training.clip", TOP(training.clip), 0, 1e30, "0", "largest gradient norm; 0 is off"),
    COUNT("training.steps", TOP(training.steps), 1, "10000", "optimizer steps"),
    COUNT("training.seed", TOP(training.seed), 0, "0", "of weights and points"),
    CHOICE("training.stablegrad.method", TOP(training.method), "stablegrad=on sign none=off",
           "stablegrad", "what is done to each block's gradient"),
    COUNT("training.stablegrad.from", TOP(training.from), 0, "0", "first step that is rescaled"),
    OTHER("training.stablegrad.until", SG_OPTION_STEP, TOP(training.until), 0, 1e15, "half",
          "first step that is not any more: a number, half, or forever"),
    {"training.stablegrad.reference", SG_OPTION_SCALE, TOP(training.reference), 0, 1e30,
     "output residual norm inner", "output", "the common scale; or a number"},
    CHOICE("training.stablegrad.blocks", TOP(training.blocks), "layer tensor weight all", "layer",
           "what is rescaled together"),
    REAL("training.stablegrad.eps", TOP(training.scale_eps), 0, 1, "1e-8",
         "added to each block's deviation"),
    COUNT("training.log_every", TOP(training.log_every), 1, "100", "steps between metrics"),
    COUNT("training.evaluate_every", TOP(training.evaluate_every), 1, "1000",
          "steps between comparisons with the reference"),
    COUNT("training.checkpoint_every", TOP(training.checkpoint_every), 1, "5000",
          "steps between checkpoints"),

    OTHER("evaluation.grid", SG_OPTION_GRID, TOP(evaluation.grid), 2, 1e6, "101",
          "points along each coordinate: 101, or 256 x 100, or a list"),
    COUNT("evaluation.points", TOP(evaluation.points), 1, "16384",
          "validation points in the domain"),
    COUNT("evaluation.condition_points", TOP(evaluation.condition_points), 1, "4096",
          "validation points of each condition"),
    COUNT("evaluation.chunk", TOP(evaluation.chunk), 1, "65536", "points evaluated at a time"),
};

const size_t sg_option_count = sizeof sg_options / sizeof sg_options[0];

const sg_shorthand sg_shorthands[] = {
    {"inputs.fourier", "frequencies"},
    {"training.optimizer", "name"},
    {"training.schedule", "then"},
    {"training.stablegrad", "method"},
};

const size_t sg_shorthand_count = sizeof sg_shorthands / sizeof sg_shorthands[0];
