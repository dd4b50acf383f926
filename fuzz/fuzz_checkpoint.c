/* Any safetensors file as a checkpoint: refused with a diagnostic, or loaded. A file without a
 * checksum gets one first, which a mutation would otherwise never pass; what was loaded is saved
 * and loaded again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/safetensors.h"
#include "train/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sg_jet_network *network;
static sg_params *params;
static sg_optim *optim;

static void set_up(void)
{
    static const int hidden[] = {3};
    sg_jet_network_config config = sg_jet_network_defaults();
    sg_optim_config settings = sg_optim_defaults(SG_OPTIM_ADAMW);
    config.hidden = hidden;
    config.hidden_count = 1;
    if (sg_jet_network_create(&network, &config, NULL) != SG_OK ||
        sg_params_create(&params, NULL) != SG_OK ||
        sg_jet_network_register(network, params) != SG_OK ||
        sg_optim_create(&optim, params, &settings, NULL, NULL) != SG_OK)
        abort();
}

/* Writes the tensors and notes of the input as a file with a checksum. */
static bool sum_up(const char *from, const char *to)
{
    sgi_safetensors *file;
    sgi_tensor tensors[64];
    sgi_tensor_note notes[64];
    sg_diagnostic diagnostic = {0};
    if (sgi_safetensors_open(&file, from, NULL, &diagnostic) != SG_OK)
        return false;
    size_t count = sgi_safetensors_count(file), note_count = sgi_safetensors_note_count(file);
    bool done = count <= 64 && note_count <= 64;
    for (size_t i = 0; done && i < count; i++)
        tensors[i] = *sgi_safetensors_at(file, i);
    for (size_t i = 0; done && i < note_count; i++)
        notes[i] = *sgi_safetensors_note_at(file, i);
    done = done && sgi_safetensors_write(to, tensors, count, notes, note_count, NULL) == SG_OK;
    sgi_safetensors_close(file);
    return done;
}

static void load(const char *path, const char *to)
{
    sgi_progress progress = {0}, again = {0};
    sg_diagnostic diagnostic = {0};
    sgi_kept_state state = sgi_kept_optim(optim);
    if (sgi_checkpoint_load(path, network, &state, &progress, NULL, &diagnostic) != SG_OK) {
        if (!diagnostic.message[0])
            abort();
        return;
    }
    if (sgi_checkpoint_save(to, network, &state, &progress, NULL, &diagnostic) != SG_OK ||
        sgi_checkpoint_load(to, network, &state, &again, NULL, &diagnostic) != SG_OK ||
        again.step != progress.step || again.seed != progress.seed)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char from[64], to[64];
    if (!network)
        set_up();
    int memory = memfd_create("fuzz", 0);
    if (memory < 0)
        return 0;
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", memory);
    (void)snprintf(to, sizeof to, "/tmp/sg_fuzz_checkpoint_%ld", (long)getpid());
    if (write(memory, data, size) == (ssize_t)size) {
        load(from, to);
        if (sum_up(from, to))
            load(to, to);
    }
    (void)remove(to);
    (void)close(memory);
    return 0;
}
