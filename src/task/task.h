/* An image task: what a task file says about data, network and training, checked.
 *
 * A task file is told from a problem file by its key `data`. Both are read by the same code from
 * tables of the same shape; the training options are the same rows. docs/images.md lists them. */
#ifndef SG_TASK_TASK_H
#define SG_TASK_TASK_H

#include "config/training.h"
#include "stablegrad/graph.h"
#include "stablegrad/images.h"

#define SGI_DATA_KIND_LIST(X)                                                                      \
    X(SG_DATA_CIFAR10, "cifar10")                                                                  \
    X(SG_DATA_CIFAR100, "cifar100")                                                                \
    X(SG_DATA_FOLDER, "folder")

typedef enum sgi_data_kind { SGI_DATA_KIND_LIST(SG_LIST_ENUM) } sgi_data_kind;

typedef struct sgi_data_settings {
    int kind;               /* sgi_data_kind */
    sgi_paths train, test;  /* of a folder: one each */
    int64_t size;           /* px of the square input */
    bool augment;           /* random resized crops of the training images; evaluation never */
    double area[2], aspect; /* of the crops */
    bool flip;
    double zoom; /* of evaluation */
    double mean[3], std[3];
    int64_t workers, ahead;
    int64_t test_images; /* evaluated each time; 0: all */
} sgi_data_settings;

/* Whether weights are calibrated after drawing them. */
#define SGI_CALIBRATION_LIST(X)                                                                    \
    X(SG_CALIBRATE_AUTO, "auto") /* when there is no norm */                                       \
    X(SG_CALIBRATE_YES, "yes", "yes=true=on")                                                      \
    X(SG_CALIBRATE_NO, "no", "no=false=off")

typedef enum sgi_calibration { SGI_CALIBRATION_LIST(SG_LIST_ENUM) } sgi_calibration;

typedef struct sgi_model_settings {
    int model; /* sg_model */
    int norm;  /* sg_norm */
    bool bias;
    double dropout, drop_path; /* < 0: the model's own */
    sgi_widths hidden;         /* of the mlp */
    int activation;            /* sg_act, of the mlp */
    int init;                  /* sg_init */
    double gain;               /* 0: the activation's own */
    int calibrate;             /* sgi_calibration */
    int precision;             /* sg_precision */
} sgi_model_settings;

typedef struct sgi_task_settings {
    const char *name, *title;
    sgi_data_settings data;
    sgi_model_settings network;
    sgi_training_settings training; /* steps 0: as many as `epochs` have */
    int64_t epochs, batch, observe_every;
    double smoothing;
} sgi_task_settings;

typedef struct sgi_task {
    sg_allocator allocator;
    sgi_arena arena;
    sgi_source *sources; /* the file, then each override */
    sgi_yaml *root;
    sgi_expressions *exprs; /* of constant expressions, as 5/3 */
    sgi_names names;
    sgi_task_settings settings;
} sgi_task;

/* As sgi_problem_read and sgi_problem_load. A path in the file is relative to the file's folder,
 * one in an override to the current folder. Whether the data exist is not checked here, but when
 * they are opened. */
SG_CHECKED sg_status sgi_task_read(sgi_task **task, const char *name, const char *text, size_t size,
                                   const char *const *overrides, size_t override_count,
                                   const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_task_destroy(sgi_task *task); /* NULL is allowed */

/* The whole task as text with every option and absolute paths: reading it gives the same task.
 * Release with sgi_release and the task's allocator. */
SG_CHECKED sg_status sgi_task_write(const sgi_task *task, char **text);

/* ---- Configurations for the rooms below ------------------------------------------------------ */

sg_image_view sgi_task_view(const sgi_task *task, bool training);
sg_model_options sgi_task_model(const sgi_task *task, int classes);
sg_init_config sgi_task_init(const sgi_task *task);
bool sgi_task_calibrates(const sgi_task *task);

/* The scaler's and the optimizer's, for a run of `steps`; `terms` (SG_MOST_PIECES + 2) receives the
 * schedule and must outlive the call that uses the configuration. */
sg_scale_config sgi_task_scale(const sgi_task *task, uint64_t steps);
sg_optim_config sgi_task_optim(const sgi_task *task, uint64_t steps, sg_schedule_term *terms);

/* ---- Shared by the files of this room ---------------------------------------------------------
 */

extern const sgi_option_table sgi_task_options;

/* What no single option can check. */
SG_CHECKED sg_status sgi_task_check(sgi_task *task, sgi_reader *reader);

#endif
