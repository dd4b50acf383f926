/* Reports as texts: see pages.h. */
#include "support/pages.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "support/folders.h"
#include "support/support.h"

size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

/* Every element that is opened is closed, in order: a check of the writer, not of HTML. */
static void assert_well_formed(const char *html)
{
    static const char *const empty[] = {"meta", "link", "!DOCTYPE", "path",  "image",
                                        "rect", "br",   "input",    "circle"};
    char stack[64][16];
    size_t depth = 0;
    for (const char *at = html; (at = strchr(at, '<')); at++) {
        char name[16] = "";
        (void)sscanf(at + 1, "%15[^ >/\n]", name);
        bool closes_none = false;
        for (size_t e = 0; e < sizeof empty / sizeof empty[0]; e++)
            closes_none |= strcmp(name, empty[e]) == 0;
        if (at[1] == '/') {
            (void)sscanf(at + 2, "%15[^>]", name);
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], name);
        } else if (!closes_none) {
            assert_true(depth < 64);
            strcpy(stack[depth++], name);
            /* Style and script hold characters that are not elements. */
            if (strcmp(name, "style") == 0)
                at = strstr(at, "</style>") - 1;
            if (strcmp(name, "script") == 0)
                at = strstr(at, "</script>") - 1;
        }
    }
    assert_int_equal(depth, 0);
}

char *page_of(const char *folder, const char *const *order, size_t count)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_report_write(folder, NULL, &diagnostic);
    assert_string_equal(said(&diagnostic), "");
    assert_ok(status);
    char *html = folder_text(folder, "report.html");
    assert_well_formed(html);
    assert_true(strlen(html) < 3000000);
    assert_null(strstr(html, "http:"));
    assert_null(strstr(html, "https:"));
    assert_null(strstr(html, " nan")); /* a coordinate or a value; base64 has no spaces */
    assert_null(strstr(html, "\"nan"));
    assert_null(strstr(html, " -nan"));
    const char *at = html;
    for (size_t i = 0; i < count; i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
    return html;
}

static sg_status write_page(const sg_allocator *allocator, void *folder)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_report_write(folder, allocator, &diagnostic);
    if (status != SG_OK)
        assert_non_null(strstr(said(&diagnostic), "out of memory"));
    return status;
}

void page_allocations_fail(char *folder)
{
    some_allocations_fail(write_page, folder, 201);
}

char *sub(const char *folder, const char *name)
{
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
