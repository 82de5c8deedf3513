/* Tests of src/cli/pausing.c: what a pause does not stop. What users see of it is in
 * tests/cli/test_pause.py. */
#include "cli/pausing.h"

#include "support/own_sample.h"

static const char *goes_on(struct own_sample *f, const struct own_target *t) {
    _cleanup_str_ struct str text = STR_INIT;
    return pausing_goes_on(&f->all, t, &text) ? arena_printf(&f->arena, "%s", str_get(&text)) : "";
}

static void of_a_maintenance(void **state) {
    struct own_sample *f = *state;
    static const struct {
        const char *phase, *said;
    } cases[] = {
        {"Pending", ""},
        {"Draining", ""},
        {"Granted", ""},
        {"Halted", ""},
        {"Operating", "was told to go"},
        {"Returning", "was told to go"},
        {"Restoring", "is being put back into service"},
        {"Undoing", "is being put back into service"},
        {"Failed", "it is over already: Failed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_free_ char *name = xasprintf("m%zu", i);
        struct own_target t = own_sample_maintenance(f, name, cases[i].phase, NULL, false);
        const char *said = goes_on(f, &t);
        assert_true(*cases[i].said ? strstr(said, cases[i].said) != NULL : !*said);
        assert_true(pausing_is(&t, false));
    }
}

static void of_a_rollout(void **state) {
    struct own_sample *f = *state;
    struct own_target t = own_sample_rollout(f, "r", "Progressing");
    own_sample_maintenance(f, "w1", "Complete", "r", false);
    assert_string_equal(goes_on(f, &t), "");
    own_sample_maintenance(f, "w2", "Draining", "r", false);
    own_sample_maintenance(f, "w3", "Operating", "r", false);
    own_sample_maintenance(f, "w4", "Operating", NULL, false);
    assert_string_equal(goes_on(f, &t), "no further node is begun; those that were go on: w[2-3]");
}

int main(void) {
    const struct CMUnitTest tests[] = {OWN_TEST(of_a_maintenance), OWN_TEST(of_a_rollout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
