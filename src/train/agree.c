/* Agreements among ranks: see agree.h. */
#include "train/agree.h"

#include "base/hash.h"
#include "base/params.h"
#include "base/ranks.h"
#include "scale/scaler.h"

static sg_status failed(sg_diagnostic *diagnostic)
{
    return sgi_fail(diagnostic, SG_ERROR_REDUCE, "the other ranks cannot be reached");
}

sg_status sgi_agree_to_stop(const sg_ranks *ranks, bool *stop, sg_diagnostic *diagnostic)
{
    double who = *stop;
    if (!sgi_ranks_sum(ranks, &who, SG_FLOAT64, 1))
        return failed(diagnostic);
    *stop = who > 0;
    return SG_OK;
}

static uint64_t hash_weights(const sgi_subject *subject, uint64_t file, uint64_t step)
{
    const sg_params *params = sgi_scaler_look(subject->scaler).params;
    uint64_t hash = sgi_hash(file, &step, sizeof step);
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        hash = sgi_hash(hash, span->value, span->count * sgi_type_size(span->type));
    }
    return hash;
}

/* A double holds half of a hash exactly, and the sum of as many halves as there are ranks. */
sg_status sgi_agree_on_weights(const sg_ranks *ranks, const sgi_subject *subject, uint64_t file,
                               uint64_t step, sg_diagnostic *diagnostic)
{
    if (!ranks || ranks->count == 1)
        return SG_OK;
    uint64_t hash = hash_weights(subject, file, step);
    double own[2] = {(double)(uint32_t)hash, (double)(uint32_t)(hash >> 32)};
    double sums[2] = {own[0], own[1]}, count = ranks->count;
    if (!sgi_ranks_sum(ranks, sums, SG_FLOAT64, 2))
        return failed(diagnostic);
    double differs = sums[0] != count * own[0] || sums[1] != count * own[1];
    if (!sgi_ranks_sum(ranks, &differs, SG_FLOAT64, 1))
        return failed(diagnostic);
    if (differs == 0)
        return SG_OK;
    return sgi_fail(
        diagnostic, SG_ERROR_STATE,
        "step %llu: the ranks do not have the same file and weights. They need the same "
        "files, the same version of the program, and processors that compute alike",
        (unsigned long long)step);
}
