/* Memory that runs out inside libraries: see guard.h. */
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "commands.h"

static _Noreturn void tell_and_end(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    _exit(EXIT_RUN_FAILED);
}

static void end_in_onednn(void)
{
    tell_and_end("stablegrad: out of memory in oneDNN\n");
}

/* oneDNN is C++, and throws through its C functions when memory runs out: nothing here could catch
 * that. What C++ calls before it throws can be replaced; it is looked for by name, because a build
 * without oneDNN has no C++ at all. */
static void guard_new(void)
{
    void *(*set_handler)(void (*)(void));
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    memcpy(&set_handler, &found, sizeof set_handler);
    if (found)
        (void)set_handler(end_in_onednn);
}

#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* these have a malloc of their own */
/* Some classes of oneDNN get their memory from here, and are constructed in it without a look. The
 * program's definition comes before the C library's, for oneDNN too. */
__attribute__((visibility("default"))) int posix_memalign(void **memory, size_t alignment,
                                                          size_t size)
{
    Dl_info caller;
    void *made = memalign(alignment, size);
    if (!made && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        strstr(caller.dli_fname, "libdnnl"))
        end_in_onednn();
    if (!made)
        return ENOMEM;
    *memory = made;
    return 0;
}
#endif

static void *memory_for_json(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        tell_and_end("stablegrad: out of memory\n");
    return memory;
}

void guard_memory(void)
{
    guard_new();
    /* When memory runs out in jansson, it may lose a character of what it reads, which it then
     * takes for another number or fails an assertion about, or a member of what is to be written.
     */
    json_set_alloc_funcs(memory_for_json, free);
}
