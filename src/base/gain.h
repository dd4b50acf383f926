/* The gain of an activation f: 1 / sqrt(E f(z)^2) for standard normal z. Weights with the standard
 * deviation gain / sqrt(fan) keep the second moment of the signal from layer to layer. It is sqrt 2
 * for ReLU, 1.677 for SiLU and 1.593 for tanh. The customary 5/3 for tanh is another convention,
 * which lets the signal grow. */
#ifndef SG_BASE_GAIN_H
#define SG_BASE_GAIN_H

/* `f` is called with `context`. 1 for a function that vanishes. */
double sgi_gain(double (*f)(const void *context, double z), const void *context);

#endif
