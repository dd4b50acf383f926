/* The paper's numbers: see paper.h. */
#include <math.h>

#include "reproduce/paper.h"

#define L2       "relative L2 error", "error/all/relative_l2"
#define PDE(set) "PDE loss", "validation/terms/" set
#define IC       "IC loss", "validation/terms/initial"
#define BC       "BC loss", "validation/terms/boundary"

const sgi_paper_pinn sgi_paper_table1[] = {
    {"burgers-6", L2, 1.3e-1, 8.5e-2},
    {"burgers-6", PDE("momentum"), 1.0e-3, 6.3e-4},
    {"burgers-6", IC, 1.2e-5, 7.6e-6},
    {"burgers-6", BC, 4.6e-8, 1.8e-8},
    {"burgers-12", L2, 1.6e-1, 1.1e-2},
    {"burgers-12", PDE("momentum"), 6.8e-3, 9.0e-4},
    {"burgers-12", IC, 8.2e-5, 8.7e-6},
    {"burgers-12", BC, 4.7e-8, 3.1e-8},
    {"poisson-6", L2, 6.5e-5, 2.6e-5},
    {"poisson-6", PDE("poisson"), 8.6e-6, 1.8e-6},
    {"poisson-6", BC, 7.9e-9, 1.7e-9},
    {"poisson-12", L2, 5.9e-5, 3.8e-5},
    {"poisson-12", PDE("poisson"), 4.0e-6, 3.1e-6},
    {"poisson-12", BC, 7.7e-9, 3.5e-9},
    {"helmholtz-6", L2, 4.6e-3, 3.1e-3},
    {"helmholtz-6", PDE("helmholtz"), 6.0e-6, 6.0e-6},
    {"helmholtz-6", BC, 1.9e-8, 1.7e-8},
    {"helmholtz-12", L2, 6.5e-3, 2.3e-3},
    {"helmholtz-12", PDE("helmholtz"), 1.0e-5, 6.6e-6},
    {"helmholtz-12", BC, 2.5e-8, 1.7e-8},
};
const size_t sgi_paper_table1_count = sizeof sgi_paper_table1 / sizeof sgi_paper_table1[0];

const sgi_paper_epoch sgi_paper_table2[SG_PAPER_EPOCHS] = {
    {500, 8.28e-4, 0.51, 3.40, 0.134, 2.66, 2.63e-3, 42.7, 1},
    {1000, 2.59e-4, 2.15, 5.89, 0.097, 3.45, 1.32e-3, 136.0, 1},
    {2000, 1.42e-4, 9.49, 11.88, 0.059, 2.05, 1.46e-3, 282.2, 1},
    {2500, 1.31e-4, 13.03, 13.76, 0.050, 0.378, 1.66e-3, 316.2, 1},
    {3000, 1.37e-4, 15.82, 14.99, 0.044, -1.153, 1.77e-3, 334.3, 1},
    {3500, 1.57e-4, 13.87, 13.43, 0.042, -0.722, 2.80e-3, 300.1, 1},
    {4000, 1.43e-4, 10.76, 11.63, 0.042, 0.622, 4.18e-3, 227.5, 1},
    {5000, 8.47e-5, 14.19, 14.50, 0.034, 0.0646, 2.88e-3, 295.0, 1},
};

const double sgi_paper_final_adamw = 2.72e-4, sgi_paper_final_stablegrad = 8.473e-5,
             sgi_paper_passed = 1000;

const double sgi_paper_multipliers[SG_PAPER_MULTIPLIERS] = {5.114545, 4.355357, 3.303698, 2.603073,
                                                            2.214707, 1.795869, 1.487962, 1.336904,
                                                            1.139297, 0.950362};
const sgi_paper_ratio sgi_paper_ratios[SG_PAPER_RATIOS] = {
    {500, 6.59}, {1000, 7.76}, {2000, 4.38}, {3000, 2.54}, {5000, 2.08}};
const double sgi_paper_final_schedule = 1.762e-4;

const sgi_paper_geometry sgi_paper_geometry_schedule = {398.7, 0.782},
                         sgi_paper_geometry_stablegrad = {77.5, 0.350};

const double sgi_paper_figure2[SG_PAPER_CNNS] = {75, NAN, 77, 1};
