/* Student's t: how far from an estimate the truth may lie when the noise was estimated, too. */
#ifndef SG_PINN_STUDENT_H
#define SG_PINN_STUDENT_H

/* The t that a fraction `probability`, in (0.5, 1), lies below, with `degrees` > 0 degrees of
 * freedom; INFINITY: of the normal distribution. */
double sgi_student(double probability, double degrees);

#endif
