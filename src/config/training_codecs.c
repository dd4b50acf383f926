/* Kinds of values of the training options: see codec.h. */
#include <math.h>
#include <string.h>

#include "config/codec.h"
#include "config/training.h"

static const struct {
    const char *word;
    int64_t step;
} step_words[] = {{"half", SG_STEP_HALF}, {"forever", SG_STEP_FOREVER}, {"margin", SG_STEP_MARGIN}};
enum { STEP_WORDS = sizeof step_words / sizeof step_words[0] };

static sg_status read_step(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    for (int i = 0; i < STEP_WORDS; i++)
        if (sgi_yaml_is(node, step_words[i].word)) {
            *(int64_t *)value = step_words[i].step;
            return SG_OK;
        }
    return sgi_read_whole(reader, option, node, value);
}

static void write_step(sgi_output *out, const void *value)
{
    int64_t step = *(const int64_t *)value;
    for (int i = 0; i < STEP_WORDS; i++)
        if (step == step_words[i].step)
            sgi_put(out, "%s", step_words[i].word);
    if (step >= 0)
        sgi_put(out, "%lld", (long long)step);
}

const sgi_codec sgi_codec_step = {.takes = "a step number, half, forever, or margin",
                                  .read = read_step,
                                  .write = write_step,
                                  .number = true};

static sg_status read_scale(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            void *value)
{
    sgi_reference_choice *choice = value;
    bool number = node->length > 0 && strchr("0123456789.-+", node->text[0]);
    if (!number)
        return sgi_read_choice(reader, option, node, &choice->kind);
    choice->kind = SG_REFERENCE_CONSTANT;
    sg_status status = sgi_read_real(reader, option, node, &choice->constant);
    if (status == SG_OK && choice->constant == 0)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    return status;
}

static void write_scale(sgi_output *out, const void *value)
{
    const sgi_reference_choice *choice = value;
    if (choice->kind == SG_REFERENCE_CONSTANT)
        sgi_put_number(out, choice->constant);
    else
        sgi_put_word(out, out->option->words, choice->kind);
}

const sgi_codec sgi_codec_scale = {
    .takes = "a word or a number above 0", .read = read_scale, .write = write_scale};

static sg_status wrong_piece(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "each of %s must be {from, until, factor} with from below until",
                       option->path);
    return SG_ERROR_FORMAT;
}

static sg_status read_piece(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            sg_schedule_term *term)
{
    static const char *const keys[] = {"from", "until", "factor"};
    double values[3];
    if (node->kind != SG_YAML_MAPPING || node->count != 6)
        return wrong_piece(reader, option, node);
    for (int i = 0; i < 3; i++) {
        const sgi_yaml *value = sgi_yaml_get(node, keys[i]);
        if (!value)
            return wrong_piece(reader, option, node);
        sgi_option each = *option;
        each.most = i < 2 ? 1e15 : option->most;
        sg_status status = sgi_read_real(reader, &each, value, &values[i]);
        if (status != SG_OK)
            return status;
    }
    *term = sg_schedule_interval((uint64_t)values[0], (uint64_t)values[1], values[2]);
    return sg_schedule_valid(term, 1) ? SG_OK : wrong_piece(reader, option, node);
}

static sg_status read_pieces(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             void *value)
{
    sgi_pieces *pieces = value;
    pieces->count = 0;
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_PIECES)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        sg_status status = read_piece(reader, option, item, &pieces->values[pieces->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static void write_pieces(sgi_output *out, const void *value)
{
    const sgi_pieces *pieces = value;
    sgi_put(out, "[");
    for (int i = 0; i < pieces->count; i++) {
        const sg_schedule_term *term = &pieces->values[i];
        sgi_put(out, "%s{from: %llu, until: %llu, factor: ", i ? ", " : "",
                (unsigned long long)term->from, (unsigned long long)term->until);
        sgi_put_number(out, term->value);
        sgi_put(out, "}");
    }
    sgi_put(out, "]");
}

const sgi_codec sgi_codec_pieces = {
    .takes = "a list of {from, until, factor}", .read = read_pieces, .write = write_pieces};
