/* Manual page and completion: see generate.h. */
#include "generate.h"

#include <string.h>

#include "arguments.h"
#include "stablegrad/version.h"
#include "work.h"

/* Text for roff: backslashes and leading dots are escaped, hyphens kept as such. */
static void put_roff(const char *text, FILE *to)
{
    bool line_start = true;
    for (const char *c = text; *c; c++) {
        if (line_start && (*c == '.' || *c == '\''))
            fputs("\\&", to);
        if (*c == '\\')
            fputs("\\e", to);
        else if (*c == '-')
            fputs("\\-", to);
        else
            fputc(*c, to);
        line_start = *c == '\n';
    }
}

static void put_options(const cli_command *command, FILE *to)
{
    for (size_t i = 0; i < option_count; i++) {
        if (!accepts(command, options[i].name) || strcmp(options[i].name, "help") == 0)
            continue;
        fputs(".TP\n\\fB", to);
        put_roff("--", to);
        put_roff(options[i].name, to);
        fprintf(to, "\\fR%s%s\n", options[i].value ? " " : "",
                options[i].value ? options[i].value : "");
        put_roff(options[i].help, to);
        fputc('\n', to);
    }
}

static void put_keys(const work_kind *kind, const char *heading, const char *sentence, FILE *to)
{
    if (!kind->keys)
        return;
    fprintf(to, ".SH %s\n%s\n", heading, sentence);
    for (size_t i = 0; i < kind->keys->count; i++) {
        const sgi_option *row = &kind->keys->rows[i];
        fputs(".TP\n\\fB", to);
        put_roff(row->path, to);
        fputs("\\fR\n", to);
        put_roff(row->help ? row->help : "", to);
        if (row->initial && row->initial[0]) {
            fputs(" (default: ", to);
            put_roff(row->initial, to);
            fputs(")", to);
        }
        fputc('\n', to);
    }
}

void print_manual(FILE *to)
{
    fprintf(to, ".TH STABLEGRAD 1 \"\" \"stablegrad %s\" \"User Commands\"\n", sg_version());
    fputs(".SH NAME\nstablegrad \\- solve PDEs written in a text file with deep networks\n"
          ".SH SYNOPSIS\n.B stablegrad\n.I COMMAND\n[\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n"
          ".SH DESCRIPTION\n"
          "A problem file states coordinates, fields, equations and conditions as a paper does.\n"
          "The program trains a network until it satisfies them. StableGrad rescales the gradient\n"
          "of each layer after every backward pass. A run leaves a folder with the solution, the\n"
          "metrics and a report.\n",
          to);
    for (size_t i = 0; i < command_count; i++) {
        const cli_command *c = &commands[i];
        fprintf(to, ".SH STABLEGRAD %s\n.B stablegrad %s\n%s\n.PP\n", c->name, c->name,
                c->operands);
        put_roff(c->summary, to);
        fputs(".\n", to);
        put_options(c, to);
        if (c->details) {
            fputs(".PP\n.nf\n", to);
            put_roff(c->details, to);
            fputs(".fi\n", to);
        }
    }
    put_keys(&problem_work, "KEYS OF A PROBLEM",
             "What a problem file may say, and \\-\\-set may change.", to);
    put_keys(&image_work, "KEYS OF A TASK ON IMAGES",
             "What a task file may say, and \\-\\-set may change.", to);
    fputs(".SH EXIT STATUS\n.TP\n0\neverything was done\n.TP\n1\nthe run failed: a loss that is "
          "not finite, a disk that is full\n.TP\n2\nthe "
          "input is wrong: an option, a file, a value in it\n.TP\n130\ninterrupted; a checkpoint "
          "was written\n"
          ".SH FILES\n.TP\nruns/NAME\\-NNNN\na run: problem.yaml, run.json, metrics.jsonl,\n"
          "checkpoints, field.npz, field.vti, report.html\n",
          to);
}

static void put_variants(const work_kind *kind, FILE *to)
{
    for (size_t i = 0; i < kind->variant_count; i++)
        fprintf(to, "%s ", kind->variants[i].name);
}

/* The keys of a kind that `other` does not have too. */
static void put_set_keys(const work_kind *kind, const work_kind *other, FILE *to)
{
    for (size_t i = 0; kind->keys && i < kind->keys->count; i++) {
        const char *path = kind->keys->rows[i].path;
        if (!strchr(path, '*') && !(other && sgi_option_find(other->keys, path)))
            fprintf(to, "%s= ", path);
    }
}

void print_completion(FILE *to)
{
    fputs("# bash completion for stablegrad\n"
          "# One reply a line, so that names may have spaces.\n"
          "_stablegrad_words() {\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n}\n"
          "# The last of several words between commas.\n"
          "_stablegrad_list() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} first=\n"
          "    case $word in *,*) first=${word%,*}, ;; esac\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$first\" -W \"$1\" -- \"${word##*,}\")\n"
          "    compopt -o nospace 2>/dev/null\n}\n"
          "_stablegrad() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
          "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words='",
          to);
    for (size_t i = 0; i < command_count; i++)
        fprintf(to, "%s ", commands[i].name);
    fputs("--help --version'\n    else\n        case $command in\n", to);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(to, "        %s) words='", commands[i].name);
        for (size_t k = 0; k < option_count; k++)
            if (accepts(&commands[i], options[k].name))
                fprintf(to, "--%s ", options[k].name);
        fputs("' ;;\n", to);
    }
    fputs("        esac\n    fi\n"
          "    case $before in\n"
          "    --variants) _stablegrad_list '",
          to);
    put_variants(&problem_work, to);
    put_variants(&image_work, to);
    fputs("'; return ;;\n    --set) _stablegrad_words '", to);
    put_set_keys(&problem_work, NULL, to);
    put_set_keys(&image_work, &problem_work, to);
    fputs("'; compopt -o nospace 2>/dev/null; return ;;\n"
          "    --isa) _stablegrad_words 'auto generic avx2 avx512'; return ;;\n"
          "    --precision) _stablegrad_words 'float double'; return ;;\n"
          "    esac\n"
          "    case $word in\n"
          "    -*) _stablegrad_words \"$words\" ;;\n"
          "    *)\n"
          "        if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "            _stablegrad_words \"$words\"\n"
          "            return\n"
          "        fi\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "        case $command in\n"
          "        train | compare | check)\n"
          "            words=$(stablegrad list --json 2>/dev/null |\n"
          "                sed -n 's/^{\"problem\":\"\\([^\"]*\\)\".*/\\1/p')\n"
          "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W \"$words\" -- "
          "\"$word\")\n"
          "            ;;\n"
          "        esac\n"
          "        ;;\n"
          "    esac\n}\ncomplete -o filenames -F _stablegrad stablegrad\n",
          to);
}
