/* Restoring an optimizer from any bytes must be refused or leave an optimizer that can step. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stablegrad/stablegrad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    float value[5] = {1, 2, 3, 4, 5}, gradient[5] = {1, -1, 1, -1, 1};
    sg_params *params;
    sg_optim *optim;
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_span span = {"w", value, gradient, 5, SG_FLOAT32, 0, SG_ROLE_WEIGHT, 0};
    if (sg_params_create(&params, NULL) != SG_OK)
        return 0;
    if (sg_params_add(params, &span) == SG_OK &&
        sg_optim_create(&optim, params, &config, NULL, NULL) == SG_OK) {
        /* Half of the inputs start from a genuine header, so that the rest is reached too. */
        size_t own;
        const void *live = sg_optim_state(optim, &own);
        uint8_t *state = malloc(own > size ? own : size);
        if (state) {
            memcpy(state, live, own);
            memcpy(state, data, size);
            if (size > 16 && data[0] & 1)
                memcpy(state, live, 16);
            if (sg_optim_restore(optim, state, data && size > 16 && data[0] & 1 ? own : size) ==
                    SG_OK &&
                sg_optim_step(optim, NULL, NULL) != SG_OK)
                abort();
            free(state);
        }
        sg_optim_destroy(optim);
    }
    sg_params_destroy(params);
    return 0;
}
