/* What the commands share: see session.h. */
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "files/file.h"
#include "ranks.h"
#include "text/nearest.h"

enum { COMMAND_SIZE = 2048, MOST_JSON = 16 << 20 };

volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t silent;
static char command_line[COMMAND_SIZE];
static char **arguments_given;

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool holds(const char *folder, const char *name)
{
    char path[SG_PATH_SIZE];
    return sgi_run_path(path, folder, name) == SG_OK && is_file(path);
}

bool is_a_run(const char *path)
{
    return holds(path, "run.json");
}

bool is_a_comparison(const char *path)
{
    return holds(path, "compare.json");
}

bool is_a_reproduction(const char *path)
{
    return holds(path, "reproduce.json");
}

json_t *read_json(const char *folder, const char *name)
{
    char path[SG_PATH_SIZE], *text;
    size_t size;
    if (sgi_run_path(path, folder, name) != SG_OK ||
        sgi_file_read(path, MOST_JSON, NULL, &text, &size, NULL) != SG_OK)
        return NULL;
    json_t *object = json_loadb(text, size, 0, NULL);
    free(text);
    return object;
}

/* Beside an installed program lies ../share/stablegrad/problems; in a build tree the sources'. */
bool problem_folder(char path[SG_PATH_SIZE])
{
    char program[SG_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        char *slash = strrchr(program, '/');
        if (slash) {
            *slash = '\0';
            int written = snprintf(path, SG_PATH_SIZE, "%s/../share/stablegrad/problems", program);
            if (written > 0 && written < SG_PATH_SIZE && is_folder(path))
                return true;
        }
    }
    snprintf(path, SG_PATH_SIZE, "%s", SG_SOURCE_PROBLEMS);
    return is_folder(path);
}

bool copy_path(char path[SG_PATH_SIZE], const char *from)
{
    int length = snprintf(path, SG_PATH_SIZE, "%s", from);
    if (length > 0 && length < SG_PATH_SIZE)
        return true;
    if (length > 0)
        complain("the path %s is too long", from);
    else
        complain("a path is empty");
    return false;
}

/* The shipped problem whose name is nearest. */
static void suggest_problem(const char *name, sg_diagnostic *diagnostic)
{
    char folder[SG_PATH_SIZE], own[SG_PATH_SIZE];
    sgi_nearest nearest;
    size_t length = strcspn(name, ".");
    int size = snprintf(own, sizeof own, "%s.yaml", name);
    if (size > 0 && size < SG_PATH_SIZE && is_file(own)) {
        sgi_diagnostic_suggest(diagnostic, "did you mean '%s'?", own);
        return;
    }
    DIR *shipped = !strchr(name, '/') && problem_folder(folder) ? opendir(folder) : NULL;
    sgi_nearest_begin(&nearest, name, length);
    for (struct dirent *entry; shipped && (entry = readdir(shipped));) {
        char candidate[64];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".yaml") != 0)
            continue;
        snprintf(candidate, sizeof candidate, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        sgi_nearest_offer(&nearest, candidate);
    }
    if (shipped)
        closedir(shipped);
    sgi_nearest_suggest(&nearest, diagnostic);
    if (!diagnostic->suggestion[0])
        snprintf(diagnostic->suggestion, sizeof diagnostic->suggestion,
                 "'stablegrad list' shows the problems that come with the program");
}

void explain_path(const char *path, sg_diagnostic *diagnostic)
{
    char *hint = diagnostic->suggestion;
    size_t size = sizeof diagnostic->suggestion;
    if (!is_folder(path)) {
        if (access(path, F_OK) != 0)
            suggest_problem(path, diagnostic);
        return;
    }
    if (is_a_reproduction(path)) {
        (void)sgi_fail_file(diagnostic, SG_ERROR_IO, path,
                            "is the folder of a reproduction, not a problem file");
        snprintf(hint, size, "its tables: stablegrad report %s", path);
        return;
    }
    bool comparison = is_a_comparison(path), run = !comparison && is_a_run(path);
    (void)sgi_fail_file(diagnostic, SG_ERROR_IO, path, "is %s, not a problem file",
                        comparison ? "a comparison"
                        : run      ? "the folder of a run"
                                   : "a folder");
    if (run)
        snprintf(hint, size,
                 "to go on with it: stablegrad train %s --resume; its problem: %s/problem.yaml",
                 path, path);
    else if (comparison)
        snprintf(hint, size, "to go on with it: stablegrad compare %s --resume", path);
}

void find_problem(const char *name, char path[SG_PATH_SIZE])
{
    char folder[SG_PATH_SIZE];
    snprintf(path, SG_PATH_SIZE, "%s", name);
    if (is_file(path) || strchr(name, '/') || !problem_folder(folder))
        return;
    char shipped[SG_PATH_SIZE];
    int length = snprintf(shipped, sizeof shipped, "%s/%s.yaml", folder, name);
    if (length <= 0 || length >= SG_PATH_SIZE || !is_file(shipped))
        return;
    snprintf(path, SG_PATH_SIZE, "%s", shipped);
    char own[SG_PATH_SIZE];
    length = snprintf(own, sizeof own, "%s.yaml", name);
    if (length < SG_PATH_SIZE && is_file(own))
        warn("%s is the problem that comes with the program, not the file %s here", name, own);
}

int exit_code_of(sg_status status)
{
    switch (status) {
    case SG_OK:
        return EXIT_DONE;
    case SG_ERROR_FORMAT:
    case SG_ERROR_ARGUMENT:
    case SG_ERROR_STATE:
    case SG_ERROR_UNSUPPORTED:
        return EXIT_BAD_INPUT;
    default:
        return EXIT_RUN_FAILED;
    }
}

/* A file that is not there is as wrong an input as one with a mistake in it. */
int exit_code_of_input(sg_status status)
{
    return status == SG_ERROR_IO ? EXIT_BAD_INPUT : exit_code_of(status);
}

sg_pool *open_pool(const cli_arguments *arguments)
{
    sg_pool *pool = NULL;
    int threads = arguments->threads > 1024 ? 1024 : (int)arguments->threads;
    sg_status status = sg_pool_create(&pool, threads, NULL);
    if (status != SG_OK)
        complain("cannot start %d threads: %s", threads, sg_status_text(status));
    return pool;
}

bool read_isa(const cli_arguments *arguments, sg_isa *isa)
{
    *isa = isa_of_ranks();
    if (!arguments->isa)
        return true;
    for (int i = SG_ISA_AUTO; i < SG_ISA_COUNT; i++)
        if (strcmp(arguments->isa, sg_isa_name((sg_isa)i)) == 0) {
            *isa = (sg_isa)i;
            if (sg_isa_resolve(*isa) != SG_ISA_AUTO)
                return true;
            complain("this processor cannot run --isa %s", arguments->isa);
            return false;
        }
    char names[128];
    size_t used = 0;
    for (int i = 0; i < SG_ISA_COUNT && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i == 0                  ? ""
                                 : i + 1 == SG_ISA_COUNT ? " or "
                                                         : ", ",
                                 sg_isa_name((sg_isa)i));
    complain("--isa takes %s, not '%s'", names, arguments->isa);
    return false;
}

static void on_signal(int number)
{
    static const char text[] = "stablegrad: stops after this step; again to end at once\n";
    stop_requested = 1;
    signal(number, SIG_DFL); /* the next one ends the program */
    if (silent)
        return;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
}

void leave_signals_to_others(void)
{
    silent = 1;
}

void watch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART; /* a line that is being written is written whole */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static size_t put(size_t used, const char *text)
{
    size_t length = strlen(text), room = sizeof command_line - 1 - used;
    length = length < room ? length : room;
    memcpy(command_line + used, text, length);
    command_line[used + length] = '\0';
    return used + length;
}

/* An argument as a shell reads it back: in single quotes, which end before a single quote inside
 * and begin again behind it. */
static size_t put_quoted(size_t used, const char *argument)
{
    used = put(used, "'");
    for (const char *c = argument; *c; c++) {
        const char text[2] = {*c, 0};
        used = put(used, *c == '\'' ? "'\\''" : text);
    }
    return put(used, "'");
}

void remember_command(int argc, char **argv)
{
    arguments_given = argv;
    size_t used = put(0, "stablegrad");
    for (int i = 1; i < argc; i++) {
        bool plain =
            argv[i][0] && strcspn(argv[i], " '\"\\$&;|<>(){}*?[]#~`!\t\n") == strlen(argv[i]);
        used = put(used, " ");
        used = plain ? put(used, argv[i]) : put_quoted(used, argv[i]);
    }
}

const char *command_text(void)
{
    return command_line;
}

void wait_passively(void)
{
    char program[SG_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || !arguments_given || length < 1 ||
        setenv("OMP_WAIT_POLICY", "passive", 1) != 0)
        return;
    program[length] = '\0';
    fflush(NULL);
    execv(program, arguments_given); /* when it returns, threads spin: slower, not wrong */
}

void format_thousands(uint64_t value, char *text, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    if (size > 0)
        text[used < size ? used : size - 1] = '\0';
}

void print_line(json_t *object, int digits)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits));
    fputc('\n', stdout);
    json_decref(object);
}
