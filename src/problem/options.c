/* The options of a problem file: see options.h. Order is the order in written files. */
#include "problem/options.h"

#include "config/training_rows.h"
#include "problem/settings.h"

#define TOP(member)       offsetof(sgi_settings, member)
#define CONDITION(member) offsetof(sgi_condition_settings, member)

static const sgi_option rows[] = {
    TEXT("name", TOP(name), "", "what runs are called; by default the file's name"),
    TEXT("title", TOP(title), "", "one line for reports"),
    SECTION("coordinates", "each with its range: {x: [-1, 1], t: [0, 1]}; t is time"),
    SECTION("fields", "the unknowns, the network's outputs"),
    SECTION("constants", "named numbers; expressions of other constants are allowed"),
    SECTION("definitions", "named expressions; their derivatives can be used too, phi_x"),
    SECTION("equations", "each an expression that should be 0, or left = right"),
    {"equations.*.weight", &sgi_codec_real, offsetof(sgi_equation_settings, weight), 0, 1e30, NULL,
     "1", "factor of this equation's mean square in the loss"},
    SECTION("equations.*.expression", "the equation, when it is given with a weight"),
    SECTION("conditions", "what holds on faces of the domain"),
    SECTION("conditions.*.at", "where: t = 0, or x = -1 | x = 1, or boundary"),
    OTHER("conditions.*.periodic", coordinates, CONDITION(periodic), 0, 0, "none",
          "coordinates whose two faces are tied together, in place of `at`"),
    BOOL("conditions.*.slopes", CONDITION(slopes), "false",
         "of a periodic condition: tie the first derivatives too"),
    SECTION("conditions.*.expression", "any expression that should be 0, or left = right"),
    COUNT("conditions.*.points", CONDITION(points), 1, "1024", "points (or pairs) per step"),
    REAL("conditions.*.weight", CONDITION(weight), 0, 1e30, "1",
         "factor of this condition's mean square in the loss"),
    COUNT("points", TOP(points), 1, "4096", "points in the domain per step"),
    SECTION("reference", "the exact solution: {u: expression}, or cole_hopf"),

    OTHER("inputs.raw", coordinates, TOP(inputs.raw), 0, 0, "all",
          "coordinates that the network sees as they are: all, none, or a list"),
    BOOL("inputs.scale", TOP(inputs.scale), "true", "rescale those to [-1, 1]"),
    OTHER("inputs.fourier.frequencies", frequencies, TOP(inputs.frequencies), 0, 1e6, "0",
          "add sin(pi f x) and cos(pi f x): 12 for f = 1..12, or a list"),
    OTHER("inputs.fourier.of", coordinates, TOP(inputs.fourier_of), 0, 0, "all",
          "of these coordinates"),
    OTHER("inputs.periodic", harmonics, TOP(inputs.periodic), 0, SG_MOST_FREQUENCIES, "{}",
          "harmonics of the domain's own period: {x: 4}"),
    COUNT("inputs.random.count", TOP(inputs.random_count), 0, "0", "random waves to add"),
    REAL("inputs.random.std", TOP(inputs.random_std), 0, 1e9, "1",
         "deviation of their frequencies"),
    SEED("inputs.random.seed", TOP(inputs.random_seed), "0", "which ones"),

    OTHER("network.hidden", widths, TOP(network.hidden), 1, 65536, "4 x 64",
          "hidden layers: 4 x 64, or a list of widths"),
    CHOICE("network.activation", TOP(network.activation), WORDS(SG_ACTIVATION_LIST(SGI_LIST_WORD)),
           "tanh", "between layers"),
    REAL("network.frequency", TOP(network.frequency), 1e-9, 1e9, "30", "of the sin activation"),
    CHOICE("network.init.fan", TOP(network.fan), WORDS(SG_FAN_LIST(SGI_LIST_WORD)), "in",
           "which fan the weights' variance divides by"),
    CHOICE("network.init.distribution", TOP(network.distribution),
           WORDS(SG_DISTRIBUTION_LIST(SGI_LIST_WORD)), "normal", "of the weights"),
    OTHER("network.init.gain", gain, TOP(network.gain), 0, 1e9, "1",
          "deviation times the root of the fan; auto for the activation's own"),
    CHOICE("network.precision", TOP(network.precision), WORDS(SG_TYPE_LIST(SGI_LIST_WORD)), "float",
           "of weights and derivatives"),

    TRAINING_ROWS(TOP(training),
                  COUNT("training.steps", TOP(training.steps), 1, "10000", "optimizer steps"),
                  "of weights and points", "half", "layer", "100",
                  COUNT("training.evaluate_every", TOP(training.evaluate_every), 0, "0",
                        "steps between evaluations; 0: a twentieth of the steps, at most 1000"),
                  COUNT("training.checkpoint_every", TOP(training.checkpoint_every), 1, "5000",
                        "steps between checkpoints")),

    OTHER("evaluation.grid", grid, TOP(evaluation.grid), 2, 1e6, "101",
          "points along each coordinate: 101, or 256 x 100, or a list"),
    COUNT("evaluation.points", TOP(evaluation.points), 1, "16384",
          "validation points in the domain"),
    COUNT("evaluation.condition_points", TOP(evaluation.condition_points), 1, "4096",
          "validation points of each condition"),
    COUNT("evaluation.chunk", TOP(evaluation.chunk), 1, "65536", "points evaluated at a time"),
};

static const sgi_shorthand shorthands[] = {
    {"inputs.fourier", "frequencies"},
    {"training.optimizer", "name"},
    {"training.schedule", "then"},
    {"training.stablegrad", "method"},
};

static const sgi_item items[] = {{"equations", "an equation"}, {"conditions", "a condition"}};

const sgi_option_table sgi_problem_options = {
    .what = "a problem",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .shorthands = shorthands,
    .shorthand_count = sizeof shorthands / sizeof shorthands[0],
    .items = items,
    .item_count = sizeof items / sizeof items[0],
};
