/* Files of mistakes: see malformed.h. */
#include "support/malformed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { MOST_OVERRIDES = 4 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Cuts `text` at the next line that starts with `mark`; returns what follows that mark. */
static char *cut(char *text, const char *mark)
{
    size_t n = strlen(mark);
    char *at = text;
    if (strncmp(at, mark, n) != 0) {
        char line[16];
        snprintf(line, sizeof line, "\n%s", mark);
        at = strstr(text, line);
        if (!at)
            return NULL;
        at++;
    }
    char *rest = at + n;
    *at = 0;
    return rest;
}

/* One case: a title line, #set lines, the file, ----, the answer. */
static void check_case(char *block, malformed_reader *read)
{
    char *expected = cut(block, "----\n"), *text = strchr(block, '\n');
    const char *overrides[MOST_OVERRIDES];
    size_t count = 0;
    assert_non_null(expected);
    assert_non_null(text);
    *text++ = 0;
    while (strncmp(text, "#set ", 5) == 0) {
        assert_true(count < MOST_OVERRIDES);
        overrides[count++] = text + 5;
        text = strchr(text, '\n');
        assert_non_null(text);
        *text++ = 0;
    }
    sg_diagnostic diagnostic;
    char answer[4096];
    sg_status status = read(text, strlen(text), overrides, count, &diagnostic);
    sg_diagnostic_format(&diagnostic, answer, sizeof answer);
    if (status != SG_ERROR_FORMAT || strcmp(answer, expected) != 0)
        fail_msg("%s: %s\n%s\nexpected\n%s", block, sg_status_name(status), answer, expected);
}

void check_malformed(const char *path, int least, malformed_reader *read)
{
    char *all = read_file(path);
    int count = 0;
    for (char *block = cut(all, "#### "); block; count++) {
        char *next = cut(block, "#### ");
        check_case(block, read);
        block = next;
    }
    assert_true(count >= least);
    print_message("%d malformed files\n", count);
    free(all);
}

/* The rows of the table that begins with this head, each between newlines; cut out of a copy. */
static char *table_of(const char *text, const char *head)
{
    const char *at = strstr(text, head);
    if (!at)
        fail_msg("no table begins with %s", head);
    at += strlen(head);
    const char *end = strstr(at, "\n\n");
    assert_non_null(end);
    char *rows = strndup(at, (size_t)(end - at) + 1);
    assert_non_null(rows);
    return rows;
}

static size_t lines_of(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* A row of its name, with each of its words. */
static void check_choice(const char *rows, const sgi_option *option)
{
    char name[128];
    snprintf(name, sizeof name, "`%s`", option->path);
    const char *at = strstr(rows, name), *words = option->words;
    if (!at)
        fail_msg("the table of choices lacks %s", name);
    size_t length = strcspn(at, "\n");
    for (size_t n; *words; words += n + strspn(words + n, " ")) {
        char word[64];
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)strcspn(words, "= "), words);
        const char *found = strstr(at, word);
        if (word[0] != '#' && (!found || found > at + length))
            fail_msg("the row of %s lacks %s", name, word);
    }
}

void check_documented(const sgi_option_table *table, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, SG_TEST_DATA "/../docs/%s", name);
    char *text = read_file(path), *choices = table_of(text, "\n| choice | values |\n|---|---|");
    char *options = table_of(text, "\n| option | default | what it does |\n|---|---|---|");
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const sgi_option *option = &table->rows[i];
        char line[512];
        if (option->codec == &sgi_codec_section)
            continue;
        const char *initial = option->initial ? option->initial : "",
                   *quote = initial[0] ? "`" : "";
        snprintf(line, sizeof line, "\n| `%s` | %s%s%s | %s |\n", option->path, quote, initial,
                 quote, option->help);
        if (!strstr(options, line))
            fail_msg("docs/%s lacks the line%s", name, line);
        if (option->codec == &sgi_codec_choice)
            check_choice(choices, option);
        count++;
    }
    assert_int_equal(lines_of(options), count + 1); /* and no row of an option that is gone */
    free(options);
    free(choices);
    free(text);
}
