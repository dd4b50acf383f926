/* The options of a problem file: see options.h. Order is the order in written files. */
#include "problem/options.h"

#include "config/training_rows.h"
#include "domain/sequence.h"
#include "problem/settings.h"
#include "problem/unknowns.h"

#define TOP(member)       offsetof(sgi_settings, member)
#define EQUATION(member)  offsetof(sgi_equation_settings, member)
#define CONDITION(member) offsetof(sgi_condition_settings, member)
#define UNKNOWN(member)   offsetof(sgi_unknown, member)
#define DATA(member)      offsetof(sgi_measured_settings, member)
#define DISTRIBUTIONS     SG_POINTS_LIST(SGI_LIST_WORD)
/* A step or an evaluation of more points than this would take an hour. */
#define POINTS(path, at, initial, help)                                                            \
    {                                                                                              \
        path, &sgi_codec_integer, at, 1, 1e9, NULL, initial, help                                  \
    }

#define UNKNOWN_ROWS                                                                               \
    CHOICE("training.stablegrad.unknowns", TOP(training.unknowns), "auto leave block", "auto",     \
           "whether the gradient of an unknown constant is left as it is, as auto does for sgd, "  \
           "or is a block of its own"),

static const sgi_option rows[] = {
    TEXT("name", TOP(name), "", "the name of the runs; by default that of the file"),
    TEXT("title", TOP(title), "", "a title of one line for the report"),
    SECTION("coordinates",
            "the coordinates, each with its range: {x: [-1, 1], t: [0, 1]}; t is time"),
    SECTION("shapes", "what a domain is made of: {hole: {disc: {center: [0, 0], radius: 1}}}"),
    SECTION("domain", "shapes joined by +, cut by - and intersected by &: plate - hole"),
    SECTION("fields", "the unknown functions, which are the outputs of the network"),
    SECTION("constants", "named numbers; each may be an expression of the others"),
    SECTION("definitions", "named expressions; their derivatives have names too, as phi_x"),
    SECTION("unknowns", "constants that training finds: {k: {start: 0.5, bounds: [0.1, 10]}}"),
    REAL("unknowns.*.start", UNKNOWN(start), -1e300, 1e300, NULL,
         "the value that training begins with; k: 0.5 is short for k: {start: 0.5}"),
    OTHER("unknowns.*.bounds", bounds, UNKNOWN(lower), -1e300, 1e300, "[-inf, inf]",
          "what the value stays strictly between; either may be infinite"),
    REAL("unknowns.*.scale", UNKNOWN(scale), 1e-300, 1e300, NULL,
         "the size of a change: by default that of the start, or of the bounds"),
    REAL("unknowns.*.rate", UNKNOWN(rate), 1e-9, 1e9, "1",
         "factor of the learning rate; optimizers of second order need none"),
    SECTION("scales",
            "sizes of coordinates and fields: auto, or {x: 0.01, T: {size: 80, offset: 293}}"),
    SECTION("equations", "the equations, each an expression that should be 0, or left = right"),
    SECTION("equations.*.expression", "the equation, when it is given with a weight or a region"),
    SECTION("equations.*.in", "the shape that this equation holds in; by default the whole domain"),
    {"equations.*.points", &sgi_codec_integer, EQUATION(points), 0, 1e9, NULL, "0",
     "points in the region of this equation in each step; 0 means the region's share of `points`"},
    REAL("equations.*.weight", EQUATION(weight), 0, 1e30, "1",
         "factor of this equation's mean square in the loss"),
    SECTION("conditions", "what holds on the faces of the domain, each with a name of its own"),
    SECTION("conditions.*.at",
            "where the condition holds: t = 0, x = -1 | x = 1, boundary, hole.boundary, or a part "
            "as boundary & x < 0"),
    SECTION("conditions.*.over",
            "in place of `at`: where to integrate; the integral of the left side has the value"),
    OTHER("conditions.*.periodic", coordinates, CONDITION(periodic), 0, 0, "none",
          "coordinates whose two opposite faces are tied together, in place of `at`"),
    BOOL(
        "conditions.*.slopes", CONDITION(slopes), "false",
        "in a periodic condition, tie the first derivatives along the coordinate together as well"),
    BOOL("conditions.*.exact", CONDITION(exact), "false",
         "let the fields have these values exactly, by the form of the solution, without points"),
    SECTION("conditions.*.distance",
            "of an exact condition: an expression that is 0 at its place and above 0 elsewhere"),
    SECTION("conditions.*.expression", "any expression that should be 0, or left = right"),
    POINTS("conditions.*.points", CONDITION(points), "1024",
           "points of this condition in each step, or pairs of points if it is periodic"),
    REAL("conditions.*.weight", CONDITION(weight), 0, 1e30, "1",
         "factor of this condition's mean square in the loss"),
    CHOICE("conditions.*.sampling", CONDITION(sampling), "default" DISTRIBUTIONS, "default",
           "how this condition's points are drawn; default means as `sampling` says for all"),
    OTHER("conditions.*.renew", renewal, CONDITION(renew), 1, 1e12, "default",
          "when this condition's points are drawn anew; default means as `sampling` says for all"),
    BOOL("conditions.*.refine", CONDITION(refine), "false",
         "let `refinement` choose the points of this condition too"),
    SECTION("data", "measured values, each set with a name of its own: {probes: {file: PATH}}"),
    SECTION("data.*.file", "where the values are: .csv, .npz, .mat or COMSOL text"),
    SECTION("data.*.sum", "of the file's content; one that has changed is refused"),
    SECTION("data.*.values", "in place of a file: {x: [0, 0.5], u: [1, 2]}"),
    SECTION("data.*.columns", "the columns of coordinates and fields: {x: X, u: temperature}"),
    SECTION("data.*.order", "the coordinates of a grid's dimensions, where lengths do not tell"),
    SECTION("data.*.factors", "what the numbers of a coordinate are multiplied by: {x: 0.001}"),
    SECTION("data.*.observe", "expressions and the columns of their values: {u_x: flux}"),
    SECTION("data.*.std", "standard deviations: a number, a column, or one for each expression"),
    REAL("data.*.weight", DATA(weight), 0, 1e30, "1",
         "factor of this data set's mean square in the loss"),
    {"data.*.points", &sgi_codec_integer, DATA(points), 0, 1e9, NULL, "0",
     "rows of this data set in each step, all of them in turn; 0 means all in every step"},
    REAL("data.*.hold_out", DATA(hold_out), 0, 1e15, "0",
         "rows that are not trained on: a part of them, below 1, or their number"),
    CHOICE("data.*.outside", DATA(skip_outside), "refuse skip", "refuse",
           "what becomes of rows outside the domain"),
    POINTS("points", TOP(points), "4096", "points inside the domain in each step"),
    CHOICE("sampling.distribution", TOP(sampling.distribution), WORDS(DISTRIBUTIONS), "uniform",
           "how points are drawn: by chance, evenly as latin, sobol and halton do it, or a grid"),
    OTHER("sampling.renew", renewal, TOP(sampling.renew), 1, 1e12, "1",
          "steps after which points are drawn anew: 1 for fresh points in every step, or never"),
    CHOICE("refinement.method", TOP(refinement.method), WORDS(SG_REFINE_LIST(SGI_LIST_WORD)),
           "none", "how points of the domain are chosen by the residual: rad, rar-d, r3, or none"),
    COUNT("refinement.every", TOP(refinement.every), 1, "100",
          "steps between two times that points are chosen"),
    {"refinement.candidates", &sgi_codec_integer, TOP(refinement.candidates), 1, 1e6, NULL, "5",
     "points for each point of a set that rad and rar-d choose from"},
    OTHER("refinement.power", share, TOP(refinement.power), 0, 16, "auto",
          "power of the residual in the weights of rad and rar-d; auto is 1 and 2"),
    OTHER("refinement.floor", share, TOP(refinement.floor), 0, 1e6, "auto",
          "added to the weights of rad and rar-d, whose mean is 1 before; auto is 1 and 0"),
    COUNT("refinement.add", TOP(refinement.add), 0, "0",
          "points that rar-d adds to a set each time; 0 means a tenth of those it starts with"),
    {"refinement.most", &sgi_codec_integer, TOP(refinement.most), 0, 1e9, NULL, "0",
     "points of a set at which rar-d stops; 0 means twice those it starts with"},
    SECTION("reference", "the exact solution: {u: expression}, or cole_hopf; or {file: PATH}"),

    OTHER("inputs.raw", coordinates, TOP(inputs.raw), 0, 0, "all",
          "coordinates that the network sees themselves: all, none, or a list"),
    BOOL("inputs.scale", TOP(inputs.scale), "true",
         "rescale the coordinates of `inputs.raw` from their range to [-1, 1]"),
    OTHER("inputs.fourier.frequencies", frequencies, TOP(inputs.frequencies), 0, 1e6, "0",
          "also show the network sin(pi f x) and cos(pi f x); 12 stands for f = 1 to 12, a list "
          "for its values"),
    OTHER("inputs.fourier.of", coordinates, TOP(inputs.fourier_of), 0, 0, "all",
          "the coordinates that the Fourier features are made of"),
    OTHER("inputs.periodic", harmonics, TOP(inputs.periodic), 0, SG_MOST_FREQUENCIES, "{}",
          "harmonics of the length of a coordinate's range that the network also sees: {x: 4}"),
    COUNT("inputs.random.count", TOP(inputs.random_count), 0, "0",
          "number of waves of random frequency that the network also sees"),
    REAL("inputs.random.std", TOP(inputs.random_std), 0, 1e9, "1",
         "standard deviation of the frequencies of the random waves"),
    SEED("inputs.random.seed", TOP(inputs.random_seed), "0",
         "seed that the random waves are drawn with"),

    OTHER("network.hidden", widths, TOP(network.hidden), 1, 65536, "4 x 64",
          "the hidden layers: 4 x 64 for four of width 64, or a list of widths"),
    CHOICE("network.activation", TOP(network.activation), WORDS(SG_ACTIVATION_LIST(SGI_LIST_WORD)),
           "tanh", "the activation function between the layers"),
    REAL("network.frequency", TOP(network.frequency), 1e-9, 1e9, "30",
         "what the sin activation multiplies its argument by"),
    CHOICE("network.init.fan", TOP(network.fan), WORDS(SG_FAN_LIST(SGI_LIST_WORD)), "in",
           "the fan that the variance of the initial weights is divided by"),
    CHOICE("network.init.distribution", TOP(network.distribution),
           WORDS(SG_DISTRIBUTION_LIST(SGI_LIST_WORD)), "normal",
           "the distribution of the initial weights"),
    OTHER("network.init.gain", gain, TOP(network.gain), 0, 1e9, "1",
          "standard deviation of the initial weights times the root of the fan; auto takes that of "
          "the activation"),
    CHOICE("network.precision", TOP(network.precision), WORDS(SG_TYPE_LIST(SGI_LIST_WORD)), "float",
           "the type of the weights and of all derivatives"),

    OTHER(
        "windows.ends", windows, TOP(windows), -1e30, 1e30, "0",
        "parts of the range of t, each with a network of its own that goes on from the one before: "
        "their number, or the list of times at which they end"),
    BOOL("windows.anew", TOP(windows_anew), "false",
         "let each window start from drawn weights in place of those of the window before"),

    SECTION("initial", "what training starts from in place of drawn weights: {weights: PATH}"),
    SECTION("initial.weights", "the folder of a run, or a .safetensors file, of the same network"),
    SECTION("initial.sum", "the sum of that file, which a run writes; another content is refused"),

    SECTION("training.stages",
            "parts of the training, one after the other: [{optimizer: adamw, steps: 2000}, ...]"),
    REAL("training.seconds", TOP(training.seconds), 0, 1e9, "0",
         "seconds of steps after which training ends, or goes on to its next stage; 0: no limit"),
    CHOICE("training.clock", TOP(training.clock), WORDS(SGI_CLOCK_LIST(SGI_LIST_WORD)), "wall",
           "what these seconds are: wall, on the clock, or cpu, what the process computed over its "
           "threads"),
    REAL("training.tolerance", TOP(training.tolerance), 0, 1e30, "0",
         "loss at which training ends, or goes on to its next stage; 0: however low it is"),
    COUNT("training.points.start", TOP(training.points_start), 1, "700",
          "points in the domain that optimizers of second order begin with; 2000 for all but "
          "levenberg and kernel, and never more than a given `most`"),
    COUNT("training.points.every", TOP(training.points_every), 0, "8",
          "steps after which they are drawn anew, where the residual is large; 0: never; 100 for "
          "all but levenberg and kernel"),
    COUNT("training.points.most", TOP(training.points_most), 0, "0",
          "points to which they may grow; 0 means five residuals for each parameter, or 4000 "
          "for networks of more than 5000"),
    REAL("training.causal.eps", TOP(training.causal_eps), 0, 1e30, "0",
         "how strongly the loss of earlier times holds back the equations at later ones; 0: not"),
    OTHER("training.causal.chunks", integer, TOP(training.causal_chunks), 2, 10000, "32",
          "parts of the range of t, each with a weight of its own"),
    CHOICE("training.metric", TOP(training.metric), WORDS(SGI_METRIC_LIST(SGI_LIST_WORD)), "auto",
           "what levenberg and kernel measure a step by: columns, stablegrad or none; auto is "
           "columns for levenberg and stablegrad for kernel"),
    CHOICE("training.solver", TOP(training.solve), WORDS(SGI_SOLVE_LIST(SGI_LIST_WORD)), "cholesky",
           "how kernel solves for its step: cholesky, or cg, which needs no matrix"),
    TRAINING_ROWS(
        TOP(training), OPTIMIZER_WORDS SGI_SECOND_LIST(SGI_LIST_WORD),
        "the optimizer: adamw, adam and sgd as PyTorch has them, a neighbour of the method, or "
        "levenberg, kernel, lbfgs, bfgs, ssbfgs or ssbroyden, which are of second order",
        COUNT("training.steps", TOP(training.steps), 1, "10000",
              "how many steps the optimizer takes; 500 for levenberg and kernel, 5000 for the "
              "others of second order"),
        "seed of the initial weights and of all points", "half",
        "forever, or margin (ends and begins again as diagnose measures)", "layer", UNKNOWN_ROWS,
        COUNT("training.log_every", TOP(training.log_every), 1, "100",
              "steps between two lines of metrics; 1 for levenberg and kernel, 20 for the others "
              "of second order"),
        COUNT("training.evaluate_every", TOP(training.evaluate_every), 0, "0",
              "steps between two evaluations; 0 means a twentieth of all steps, but at most 1000; "
              "10 for levenberg and kernel, 200 for the others of second order"),
        COUNT("training.checkpoint_every", TOP(training.checkpoint_every), 1, "5000",
              "steps between two checkpoints; 50 for levenberg and kernel, 1000 for the others of "
              "second order")),

    OTHER("evaluation.grid", grid, TOP(evaluation.grid), 2, 1e6, "101",
          "points of the evaluation grid along each coordinate: 101, or 256 x 100, or a list"),
    OTHER("evaluation.maps", maps, TOP(evaluation.maps), 0, 0, "none",
          "definitions or derivatives that the report and field.npz show beside the fields"),
    POINTS("evaluation.points", TOP(evaluation.points), "16384", "validation points in the domain"),
    POINTS("evaluation.condition_points", TOP(evaluation.condition_points), "4096",
           "validation points of each condition"),
    POINTS("evaluation.chunk", TOP(evaluation.chunk), "65536",
           "points that are evaluated at a time, which bounds the memory"),

    COUNT("diagnose.every", TOP(diagnose.every), 0, "0",
          "steps between two measurements of the kernels; 0 means none, or with "
          "training.stablegrad.until margin a fiftieth of all steps, but at most 500"),
    COUNT("diagnose.residuals", TOP(diagnose.residuals), 0, "3072",
          "residuals that the kernels are measured on, at most; 0 means those of a training step"),
};

static const sgi_shorthand shorthands[] = {
    {"training", "stages", true},
    {"initial", "weights", false},
    {"windows", "ends", false},
    {"sampling", "distribution", false},
    {"refinement", "method", false},
    {"inputs.fourier", "frequencies", false},
    {"training.optimizer", "name", false},
    {"training.schedule", "then", false},
    {"training.causal", "eps", false},
    {"training.stablegrad", "method", false},
};

static const sgi_item items[] = {{"equations", "an equation"},
                                 {"conditions", "a condition"},
                                 {"unknowns", "an unknown"},
                                 {"data", "a data set"}};

const sgi_option_table sgi_problem_options = {
    .what = "a problem",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .shorthands = shorthands,
    .shorthand_count = sizeof shorthands / sizeof shorthands[0],
    .items = items,
    .item_count = sizeof items / sizeof items[0],
    .repeated = "training.stages",
    .repeats = "training",
};
