/* Seals: what was added to a file is no change of it, what was changed in it is. */
#include "files/seal.h"
#include "support/support.h"

static json_t *sealed(const char *text)
{
    sgi_seal seal = {0};
    sgi_seal_add(&seal, text, strlen(text));
    return sgi_seal_json(&seal);
}

/* Whether the seal of one text is broken by another. */
static bool breaks(const char *before, const char *after, bool whole)
{
    json_t *seal = sealed(before);
    bool broken = sgi_seal_is_broken(seal, after, strlen(after), whole);
    json_decref(seal);
    return broken;
}

static void changes_are_seen(void **state)
{
    (void)state;
    assert_false(breaks("one\n", "one\n", true));
    assert_false(breaks("one\n", "one\ntwo\n", false));
    assert_true(breaks("one\n", "one\ntwo\n", true));
    assert_true(breaks("one\n", "0ne\ntwo\n", false));
    assert_true(breaks("one\n", "0ne\n", true));
    assert_false(breaks("one\ntwo\n", "one\n", false)); /* a run that resumes cuts its lines */
    assert_false(sgi_seal_is_broken(NULL, "one", 3, true));
}

/* The metrics of a run that was killed before its first checkpoint were sealed when they were
 * empty. */
static void what_begins_empty_may_grow(void **state)
{
    (void)state;
    json_t *seal = sgi_seal_json(&(sgi_seal){0});
    assert_false(sgi_seal_is_broken(seal, "", 0, true));
    assert_false(sgi_seal_is_broken(seal, "one\n", 4, false));
    assert_true(sgi_seal_is_broken(seal, "one\n", 4, true));
    json_decref(seal);
}

static void pieces_are_one_text(void **state)
{
    (void)state;
    sgi_seal seal = {0};
    sgi_seal_add(&seal, "on", 2);
    sgi_seal_add(&seal, "", 0);
    sgi_seal_add(&seal, "e\n", 2);
    json_t *object = sgi_seal_json(&seal);
    assert_false(sgi_seal_is_broken(object, "one\n", 4, true));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(what_begins_empty_may_grow),
        cmocka_unit_test(pieces_are_one_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
