/* Tests of src/cli/own_target.c: which kind a word stands for, and whose a Maintenance is. What
 * users see of it is in tests/cli/test_pause.py. */
#include "cli/own_target.h"

#include "support/own_sample.h"

static void words_of_kubectl(void **state) {
    (void)state;
    static const struct {
        const char *word;
        const struct kind *kind;
    } cases[] = {
        {"maintenance", &kind_maintenance},
        {"maintenances", &kind_maintenance},
        {"Maintenance", &kind_maintenance},
        {"swm", &kind_maintenance},
        {"maintenances.slipway.dev", &kind_maintenance},
        {"maintenance.slipway.dev", &kind_maintenance},
        {"rollout", &kind_rollout},
        {"rollouts", &kind_rollout},
        {"swr", &kind_rollout},
        {"policy", NULL},
        {"main", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_ptr_equal(own_target_kind(cases[i].word, strlen(cases[i].word)), cases[i].kind);
    assert_ptr_equal(own_target_kind("swm/x", 3), &kind_maintenance);
}

static void whose_they_are(void **state) {
    struct own_sample *f = *state;
    size_t n;
    own_sample_maintenance(f, "b", "Queued", "r", false);
    own_sample_maintenance(f, "a", "Queued", "r", false);
    own_sample_maintenance(f, "c", "Queued", "other", false);
    own_sample_maintenance(f, "d", "Queued", NULL, false);
    struct own_target r = own_sample_rollout(f, "r", "Progressing");
    _cleanup_free_ const struct maintenance **list =
        own_maintenances_of(&f->all, (const struct rollout *)r.obj, &n);
    assert_int_equal(n, 2);
    assert_string_equal(list[0]->meta.name, "a");
    assert_string_equal(list[1]->meta.name, "b");
    assert_string_equal(own_target_name(&r, &f->arena), "rollout/r");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_kubectl),
        OWN_TEST(whose_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
