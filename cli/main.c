/* The program: stablegrad COMMAND ... Each command is one file; arguments.c reads the line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "commands.h"
#include "generate.h"
#include "guard.h"
#include "ranks.h"
#include "session.h"
#include "stablegrad/version.h"
#include "text/nearest.h"

const cli_command commands[] = {
    {"train", "FILE", 1, 1, "set threads seed out resume insist isa patience quiet json",
     "Train a network to solve the problem, or the task on images, in FILE", train_details,
     run_train, true},
    {"compare", "FILE", 1, 1, "set threads seed seeds variants out resume isa patience quiet json",
     "Train with and without StableGrad from the same start, and compare", compare_details,
     run_compare, true},
    {"eval", "RUN", 1, 1,
     "problem grid points fields residuals precision best out force threads json",
     "Evaluate a trained network at points or on a grid", eval_details, run_eval, false},
    {"export", "RUN FILE", 2, 2, "problem grid fields residuals precision best threads force",
     "Write the solution as .npz, .csv, .vti or .vtu, or the network as .onnx or .c",
     export_details, run_export, false},
    {"diagnose", "RUN", 1, 1, "step set threads json",
     "Measure kernels, stability and the theorem's margin at a checkpoint", diagnose_details,
     run_diagnose, false},
    {"reproduce", "[WHAT]", 0, 1,
     "budget seeds only set threads out resume isa patience quiet json",
     "Repeat an experiment of the paper beside the paper's numbers, or list them",
     reproduce_details, run_reproduce, true},
    {"check", "FILE", 1, 1, "set threads seconds json",
     "Check a file without training, and whether the reference solves it", NULL, run_check, false},
    {"report", "RUN", 1, 1, "quiet", "Write the report of a run or of a comparison anew", NULL,
     run_report, false},
    {"new", "FILE", 1, 1, "images force quiet", "Write a commented problem to start from", NULL,
     run_new, false},
    {"list", "", 0, 0, "json", "List the shipped problems and the runs in this folder", NULL,
     run_list, false},
    {"help", "[COMMAND]", 0, 1, "", "Explain the program or one of its commands", NULL, run_help,
     false},
};
const size_t command_count = sizeof commands / sizeof commands[0];

int run_help(const cli_arguments *arguments)
{
    if (arguments->operand_count == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(arguments->operands[0], "man") == 0) {
        print_manual(stdout);
        return EXIT_DONE;
    }
    if (strcmp(arguments->operands[0], "completion") == 0) {
        print_completion(stdout);
        return EXIT_DONE;
    }
    const cli_command *command = find_command(arguments->operands[0]);
    if (!command) {
        complain("there is no command '%s'", arguments->operands[0]);
        return EXIT_BAD_INPUT;
    }
    print_help(command, stdout);
    return EXIT_DONE;
}

static int complain_about_command(const char *name)
{
    sgi_nearest nearest;
    complain("there is no command '%s'", name);
    sgi_nearest_begin(&nearest, name, strlen(name));
    for (size_t i = 0; i < command_count; i++)
        sgi_nearest_offer(&nearest, commands[i].name);
    if (nearest.best[0])
        fprintf(stderr, "did you mean '%s'?  ", nearest.best);
    fprintf(stderr, "see: stablegrad --help\n");
    return EXIT_BAD_INPUT;
}

static int run_program(int argc, char **argv)
{
    cli_arguments arguments;
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("stablegrad %s\n", sg_version());
        return EXIT_DONE;
    }
    const cli_command *command = find_command(argv[1]);
    if (!command)
        return complain_about_command(argv[1]);
    if (!read_arguments(command, argc, argv, &arguments))
        return EXIT_BAD_INPUT;
    if (arguments.help) {
        print_help(command, stdout);
        return EXIT_DONE;
    }
    remember_command(argc, argv);
    return run_as_rank(command, &arguments);
}

/* If stdin, stdout or stderr is closed, the next file that is opened would get its number, and the
 * progress line would be written into that file. So each gets a stand-in, which refuses reading and
 * writing, and a failure to print is reported as usual. When the reader of a pipe goes away, that
 * ends the printing but not the training. */
static bool guard_standard_files(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor)
            return false;
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* What was printed may still lie in the buffer: a full disk shows only here. */
int main(int argc, char **argv)
{
    if (!guard_standard_files())
        return EXIT_RUN_FAILED;
    guard_memory();
    int code = run_program(argc, argv);
    bool failed = ferror(stdout) != 0;
    failed = fclose(stdout) != 0 || failed;
    if (!failed)
        return code;
    complain("the output could not be written");
    return code == EXIT_DONE ? EXIT_RUN_FAILED : code;
}
