/* Every number of the paper that an experiment is compared with, and where it stands there. */
#ifndef SG_REPRODUCE_PAPER_H
#define SG_REPRODUCE_PAPER_H

#include <stddef.h>

/* Table 1, means of three seeds. `adamw` and `stablegrad` are the values on validation points. */
typedef struct sgi_paper_pinn {
    const char *part;     /* "poisson-6" */
    const char *quantity; /* as the tables name it */
    const char *column;   /* of the evaluations */
    double adamw, stablegrad;
} sgi_paper_pinn;
extern const sgi_paper_pinn sgi_paper_table1[];
extern const size_t sgi_paper_table1_count;

/* Table 2 (appendix B.1): the StableGrad run on 3-D Burgers. */
typedef struct sgi_paper_epoch {
    double epoch;
    double validation, rho, rho_sg, stability, margin, e_lin, r_std_raw, r_std_scaled;
} sgi_paper_epoch;
enum { SG_PAPER_EPOCHS = 8 };
extern const sgi_paper_epoch sgi_paper_table2[SG_PAPER_EPOCHS];

/* Appendix B.1, at epoch 5,000: validation loss of either run. StableGrad is below the first of
 * them "around epoch 1000". */
extern const double sgi_paper_final_adamw, sgi_paper_final_stablegrad, sgi_paper_passed;

/* Appendix B.2: the multipliers of ten intervals of 500 epochs (table 3), and how many times the
 * validation loss of the schedule is that of StableGrad. */
enum { SG_PAPER_MULTIPLIERS = 10, SG_PAPER_RATIOS = 5 };
extern const double sgi_paper_multipliers[SG_PAPER_MULTIPLIERS];
typedef struct sgi_paper_ratio {
    double epoch, ratio;
} sgi_paper_ratio;
extern const sgi_paper_ratio sgi_paper_ratios[SG_PAPER_RATIOS];
extern const double sgi_paper_final_schedule;

/* Appendix B.2, at the last checkpoint: largest over smallest relative update, and the largest
 * share of one block in the squared length of the update. */
typedef struct sgi_paper_geometry {
    double spread, energy;
} sgi_paper_geometry;
extern const sgi_paper_geometry sgi_paper_geometry_schedule, sgi_paper_geometry_stablegrad;

/* Figure 2, EfficientNetV2-S on CIFAR-100: best top-1 in % with BatchNorm, without, without but
 * with StableGrad; appendix C.2: with signs. NaN: no number is given, the run stops. */
enum { SG_PAPER_CNNS = 4 };
extern const double sgi_paper_figure2[SG_PAPER_CNNS];

#endif
