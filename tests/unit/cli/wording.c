/* Tests of src/cli/wording.c: what each word means for what. What users see of it is in
 * tests/cli/test_pause.py. */
#include "cli/wording.h"

#include "support/own_sample.h"

/* "w2 -w3": those that are told, and those that are deleted; or the reason why not. */
static const char *plan(struct own_sample *f, struct own_target t, enum wording word) {
    struct wording_steps steps = {0};
    _cleanup_str_ struct str text = STR_INIT;
    const char *why = wording_plan(&f->all, &t, word, &f->arena, &steps);
    assert_true(!why == (steps.list.len > 0));
    for (size_t i = 0; i < steps.list.len; i++)
        str_addf(&text, "%s%s%s", i ? " " : "", steps.list.p[i].deletes ? "-" : "",
                 steps.list.p[i].target.obj->meta.name);
    vec_done(&steps.list);
    return why ? why : arena_printf(&f->arena, "%s", str_get(&text));
}

static void of_a_maintenance(void **state) {
    struct own_sample *f = *state;
    static const struct {
        const char *phase;
        bool deleted;
        const char *retry, *abort;
    } cases[] = {
        {"Halted", false, "m0", "m0"},
        {"Halted", true, "it is being cancelled", "-m1"},
        {"Draining", false,
         "it is Draining, and only one that is under way or Halted waits for that word", "-m2"},
        {"Draining", true, "it is being cancelled", "-m3"},
        {"Complete", false, "it is over already: Complete", "it is over already: Complete"},
        {"Cancelled", true, "it is over already: Cancelled", "it is over already: Cancelled"},
        {"Operating", false, "m6", "-m6"}, /* heard when it is clear whether its node goes */
        {"Returning", false, "m7", "-m7"},
        {"Granted", false,
         "it is Granted, and only one that is under way or Halted waits for that word", "-m8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_free_ char *name = xasprintf("m%zu", i);
        struct own_target t =
            own_sample_maintenance(f, name, cases[i].phase, NULL, cases[i].deleted);
        assert_string_equal(plan(f, t, WORDING_RETRY), cases[i].retry);
        assert_string_equal(plan(f, t, WORDING_SKIP), cases[i].retry);
        assert_string_equal(plan(f, t, WORDING_ABORT), cases[i].abort);
    }
}

static void of_a_rollout(void **state) {
    struct own_sample *f = *state;
    struct own_target r = own_sample_rollout(f, "r", "Failed");
    assert_string_equal(plan(f, r, WORDING_SKIP), "none of its nodes is Halted");
    own_sample_maintenance(f, "w1", "Halted", "r", false);
    own_sample_maintenance(f, "w2", "Failed", "r", false);
    own_sample_maintenance(f, "w3", "Cancelled", "r", false);
    own_sample_maintenance(f, "w4", "Draining", "r", false);
    own_sample_maintenance(f, "w5", "Halted", NULL, false);
    own_sample_maintenance(f, "w6", "Halted", "r", true);
    assert_string_equal(plan(f, r, WORDING_RETRY), "w1 -w2 -w3 r");
    assert_string_equal(plan(f, r, WORDING_SKIP), "w1");
    assert_string_equal(plan(f, r, WORDING_ABORT), "-r");
    assert_string_equal(plan(f, own_sample_rollout(f, "done", "Complete"), WORDING_ABORT),
                        "it is over already: Complete");
}

int main(void) {
    const struct CMUnitTest tests[] = {OWN_TEST(of_a_maintenance), OWN_TEST(of_a_rollout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
