/* die_at N COMMAND...: runs a command and kills it where it is about to make its N-th system call
 * that changes a file: a write, a rename, a sync, a file opened for writing. With N = 0 it is not
 * killed, and the number of such calls is printed on standard error.
 *
 * Ends with 137 when the command was killed, with 77 where processes cannot be traced, else as the
 * command did. Writes to standard output and error do not count. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED = 137, UNABLE = 77, SYSCALL_STOP = SIGTRAP | 0x80 };

static bool opens_for_writing(unsigned long long flags)
{
    return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
}

static bool changes_a_file(const struct __ptrace_syscall_info *info)
{
    const unsigned long long *given = (const unsigned long long *)(const void *)info->entry.args;
    switch (info->entry.nr) {
    case SYS_openat:
        return opens_for_writing(given[2]);
#ifdef SYS_open
    case SYS_open:
        return opens_for_writing(given[1]);
#endif
    case SYS_write:
    case SYS_writev:
        return given[0] > 2;
#ifdef SYS_rename
    case SYS_rename:
    case SYS_link:
    case SYS_unlink:
    case SYS_mkdir:
#endif
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_pwrite64:
    case SYS_ftruncate:
    case SYS_fsync:
    case SYS_fdatasync:
        return true;
    default:
        return false;
    }
}

static int start(char **command)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return UNABLE;
    raise(SIGSTOP);
    execvp(command[0], command);
    perror(command[0]);
    return 126;
}

/* Lets every thread run on, counting; returns what the first process ended with. */
static int follow(pid_t child, long at)
{
    long count = 0;
    int status;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != child)
                continue;
            if (at == 0)
                fprintf(stderr, "%ld\n", count);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        int signal_number = WSTOPSIG(status);
        if (signal_number == SYSCALL_STOP) {
            struct __ptrace_syscall_info info;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) > 0 &&
                info.op == PTRACE_SYSCALL_INFO_ENTRY && changes_a_file(&info) && ++count == at)
                kill(child, SIGKILL);
            signal_number = 0;
        } else if (signal_number == SIGTRAP || signal_number == SIGSTOP) {
            signal_number = 0; /* of the tracing itself */
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)signal_number);
    }
    return UNABLE;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: die_at N COMMAND...\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0)
        return start(argv + 2);
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL,
               (void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) !=
            0)
        return UNABLE;
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    return follow(child, strtol(argv[1], NULL, 10));
}
