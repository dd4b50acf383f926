/* A PDE solved from C. The problem, heat in a rod, is given as text; a network is trained on it and
 * compared with the exact solution. To build it:
 *
 *     cc solve_pde.c $(pkg-config --cflags --libs stablegrad-pinn) */
#include <stdio.h>
#include <string.h>

#include <stablegrad/pinn.h>

static const char problem[] =
    "coordinates: {x: [0, 1], t: [0, 1]}\n"
    "fields: [u]\n"
    "equations: {heat: u_t = 0.1*u_xx}\n"
    "conditions:\n"
    "  start: {at: t = 0, u: sin(pi*x), points: 128, weight: 10}\n"
    "  ends: {at: x = 0 | x = 1, u: 0, points: 128, weight: 10}\n"
    "reference: {u: exp(-0.1*pi^2*t)*sin(pi*x)}\n"
    "points: 512\n"
    "network: {hidden: 2 x 24}\n"
    "training: {steps: 1500, optimizer: {rate: 5e-3}, schedule: cosine}\n";

static bool show(void *context, const sg_pinn_step *step)
{
    (void)context;
    if (step->step % 250 == 0)
        printf("step %4d  loss %.2e\n", (int)step->step, step->loss.total);
    return true; /* go on */
}

int main(void)
{
    const char *const wanted[] = {"u", "u_x"};
    const double point[] = {0.25, 0.5};
    double values[2], exact;
    sg_pinn *pinn;
    sg_pinn_train_config config = {.step = show};
    sg_pinn_error errors[2]; /* of u, and of all fields together */
    sg_diagnostic diagnostic;
    char text[1024];
    if (sg_pinn_read(&pinn, "heat", problem, strlen(problem), NULL, 0, NULL, &diagnostic) !=
        SG_OK) {
        sg_diagnostic_format(&diagnostic, text, sizeof text);
        fputs(text, stderr);
        return 2;
    }
    sg_status status = sg_pinn_train(pinn, &config, NULL, NULL);
    if (status == SG_OK)
        status = sg_pinn_evaluate(pinn, wanted, 2, point, 1, values, NULL, NULL);
    if (status == SG_OK)
        status = sg_pinn_exact(pinn, point, 1, &exact, NULL);
    if (status == SG_OK)
        status = sg_pinn_errors(pinn, errors, NULL);
    sg_pinn_close(pinn);
    if (status != SG_OK) {
        fprintf(stderr, "stablegrad: %s\n", sg_status_text(status));
        return 1;
    }
    printf("u(0.25, 0.5) = %.5f, exact %.5f, u_x = %.4f\n", values[0], exact, values[1]);
    printf("relative L2 error %.2e\n", errors[0].relative_l2);
    return errors[0].relative_l2 < 0.05 ? 0 : 1;
}
