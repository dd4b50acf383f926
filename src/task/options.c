/* The options of an image task: see config/options.h. Order is the order in written files. */
#include "config/training_rows.h"
#include "task/task.h"

#define TOP(member) offsetof(sgi_task_settings, member)
/* Whole numbers that the loader bounds. */
#define BOUNDED(path, at, least, most, initial, help)                                              \
    OTHER(path, integer, at, least, most, initial, help)
/* What is divided by, and shares of an image, must not vanish. */
#define ABOVE_ZERO 1e-9

static const sgi_option rows[] = {
    TEXT("name", TOP(name), "", "the name of the runs; by default that of the file"),
    TEXT("title", TOP(title), "", "a title of one line for the report"),

    CHOICE("data.kind", TOP(data.kind), WORDS(SGI_DATA_KIND_LIST(SGI_LIST_WORD)), "cifar100",
           "binary files of CIFAR, or folders of CLASS/IMAGE with JPEG and PNG files"),
    OTHER("data.train", paths, TOP(data.train), 0, 0, NULL,
          "images to train on: a file or a list of files, or one folder if the kind is folder"),
    OTHER("data.test", paths, TOP(data.test), 0, 0, NULL,
          "images to evaluate on, in the same form"),
    BOUNDED("data.size", TOP(data.size), 1, 16384, "64",
            "side of the square that the network sees, in pixels"),
    BOOL("data.augment", TOP(data.augment), "true",
         "train on random crops and mirror images; an evaluation never does"),
    OTHER("data.crop.area", pair, TOP(data.area), ABOVE_ZERO, 1, "[0.08, 1]",
          "the smallest and the largest share of the image that a crop may cover"),
    REAL("data.crop.aspect", TOP(data.aspect), 1, 100, "4/3",
         "a crop's width over height lies between 1/aspect and aspect"),
    BOOL("data.flip", TOP(data.flip), "true", "mirror training images, each with probability 1/2"),
    REAL("data.zoom", TOP(data.zoom), 0.01, 100, "8/7",
         "in an evaluation the shorter side is resized to zoom times size, then the centre is cut "
         "out"),
    OTHER("data.mean", triple, TOP(data.mean), -1e6, 1e6, "[0.485, 0.456, 0.406]",
          "subtracted from red, green and blue, which lie in [0, 1]"),
    OTHER("data.std", triple, TOP(data.std), ABOVE_ZERO, 1e30, "[0.229, 0.224, 0.225]",
          "what red, green and blue are divided by afterwards"),
    BOUNDED("data.workers", TOP(data.workers), 1, 1024, "1",
            "number of threads that prepare images"),
    BOUNDED("data.ahead", TOP(data.ahead), 1, 1024, "3",
            "number of batches that those threads keep ready"),
    COUNT("data.test_images", TOP(data.test_images), 0, "0",
          "how many test images an evaluation takes, from the first on; 0 means all"),

    CHOICE("network.model", TOP(network.model), WORDS(SG_MODEL_LIST(SGI_LIST_WORD)),
           "efficientnet_v2_s", "one of torchvision's architectures, or a multilayer perceptron"),
    CHOICE("network.norm", TOP(network.norm), WORDS(SG_NORM_LIST(SGI_LIST_WORD)), "none",
           "the normalisation in the places where the model has BatchNorm"),
    BOOL("network.bias", TOP(network.bias), "false",
         "with norm none, give each convolution a bias in place of the norm"),
    OTHER("network.dropout", share, TOP(network.dropout), 0, BELOW_ONE, "auto",
          "dropout before the classifier of efficientnet_v2_s; auto takes the model's own"),
    OTHER("network.drop_path", share, TOP(network.drop_path), 0, BELOW_ONE, "auto",
          "stochastic depth of the last block of efficientnet_v2_s; auto takes the model's own"),
    OTHER("network.hidden", widths, TOP(network.hidden), 1, 65536, "4 x 256",
          "the hidden layers of the mlp: 4 x 256 for four of width 256, or a list of widths"),
    CHOICE("network.activation", TOP(network.activation), WORDS(SG_ACT_LIST(SGI_LIST_WORD)), "tanh",
           "the activation function of the mlp"),
    CHOICE("network.init.kind", TOP(network.init), WORDS(SG_INIT_LIST(SGI_LIST_WORD)), "default",
           "how the weights begin: as in torchvision, or normal by fan-in or fan-out"),
    OTHER("network.init.gain", gain, TOP(network.gain), 0, 1e9, "auto",
          "gain of fan_in and fan_out; auto takes that of the activation before the layer"),
    CHOICE("network.init.calibrate", TOP(network.calibrate),
           WORDS(SGI_CALIBRATION_LIST(SGI_LIST_WORD)), "auto",
           "scale the weights until every layer's output on one batch has unit deviation; auto "
           "does so with norm none"),
    CHOICE("network.precision", TOP(network.precision),
           WORDS(SG_PRECISION_LIST(SGI_LIST_WORD, SGI_LIST_NO_WORD)), "float",
           "the type that products are computed in; weights and sums are always float"),

    COUNT("training.epochs", TOP(epochs), 1, "10", "number of passes over the training images"),
    BOUNDED("training.batch", TOP(batch), 1, 1 << 20, "64", "number of images in a step"),
    REAL("training.smoothing", TOP(smoothing), 0, BELOW_ONE, "0",
         "share by which the labels are smoothed"),
    BOUNDED("training.observe_every", TOP(observe_every), 1, 1e12, "50",
            "steps between two looks at the statistics of the activations"),
    TRAINING_ROWS(TOP(training), OPTIMIZER_WORDS, OPTIMIZER_HELP,
                  COUNT("training.steps", TOP(training.steps), 0, "0",
                        "how many steps the optimizer takes, in place of epochs; 0 means as many "
                        "as the epochs have"),
                  "seed of the initial weights, of the order of images, of crops and of dropout",
                  "forever", "or forever", "tensor", ,
                  COUNT("training.log_every", TOP(training.log_every), 1, "20",
                        "steps between two lines of metrics"),
                  COUNT("training.evaluate_every", TOP(training.evaluate_every), 0, "0",
                        "steps between two evaluations; 0 evaluates after each epoch"),
                  COUNT("training.checkpoint_every", TOP(training.checkpoint_every), 0, "0",
                        "steps between two checkpoints; 0 writes one after each epoch")),
};

static const sgi_shorthand shorthands[] = {
    {"training.optimizer", "name", false},
    {"training.schedule", "then", false},
    {"training.stablegrad", "method", false},
    {"network.init", "kind", false},
};

const sgi_option_table sgi_task_options = {
    .what = "an image task",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .shorthands = shorthands,
    .shorthand_count = sizeof shorthands / sizeof shorthands[0],
};
