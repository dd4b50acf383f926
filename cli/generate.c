/* Manual page and completion: see generate.h. */
#include "generate.h"

#include <string.h>

#include "arguments.h"
#include "stablegrad/version.h"

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
    fputs(".SH EXIT STATUS\n.TP\n0\neverything was done\n.TP\n1\nthe run failed: a loss that is "
          "not finite, a disk that is full\n.TP\n2\nthe "
          "input is wrong: an option, a file, a value in it\n.TP\n130\ninterrupted; a checkpoint "
          "was written\n"
          ".SH FILES\n.TP\nruns/NAME\\-NNNN\na run: problem.yaml, run.json, metrics.jsonl,\n"
          "checkpoints, field.npz, field.vti, report.html\n",
          to);
}

void print_completion(FILE *to)
{
    fputs("# bash completion for stablegrad\n_stablegrad() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
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
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
          "    *)\n"
          "        if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "            COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        else\n"
          "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        fi\n"
          "        ;;\n"
          "    esac\n}\ncomplete -o filenames -F _stablegrad stablegrad\n",
          to);
}
