/* Tests of src/cli/rehearse_assumed.c. */
#include "cli/rehearse_assumed.h"

#include "rehearse_site.h"

#define POD(name, owner, more)                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"default\",\"name\":"    \
    "\"" name "\",\"uid\":\"u-" name "\",\"creationTimestamp\":\"2026-11-15T07:00:00Z\"," owner    \
    "},\"spec\":{\"nodeName\":\"w1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" more       \
    "},\"status\":{\"phase\":\"Running\"}}"
#define OWNED(version, kind, name)                                                                 \
    "\"ownerReferences\":[{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"" name  \
    "\",\"uid\":\"u\",\"controller\":true}]"

static size_t assumed_with(const char *more, const char *node, struct arena *arena,
                           const struct rehearse_assumed **out) {
    struct scenario *scenario;
    struct sim *from = site_scenario("happy", &scenario), *copy;
    struct snapshot_reader *file = site_file(from, more);
    struct habits *habits = habits_new();
    _cleanup_err_ struct err err = ERR_INIT;
    habits_begin(habits, 1);
    if (snapshot_load(file, &(struct sim_options){.seed = 1, .speed = 1}, habits, true, &copy, NULL,
                      &err))
        fail_msg("%s", err_msg(&err));
    size_t n = rehearse_assumed(sim_fleet(copy), &node, 1, NULL, arena, out);
    sim_free(copy);
    snapshot_reader_free(file);
    habits_free(habits);
    scenario_stop(scenario);
    sim_free(from);
    scenario_free(scenario);
    return n;
}

static void nothing_is_assumed_of_known_owners(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct rehearse_assumed *a;
    assert_int_equal(assumed_with(NULL, "w1", &arena, &a), 0);
}

static void what_is_assumed(void **state) {
    (void)state;
    static const struct {
        const char *pod;
        enum blocker_code code;
        const char *workload, *why, *here;
    } cases[] = {
        {POD("etl-1", OWNED("argoproj.io/v1alpha1", "Workflow", "etl"), ""), BLOCKER_ROOM_UNKNOWN,
         "default/Workflow/etl", "whether Workflow etl makes them again, and when, nobody can tell",
         "here they are made again at once, as they are"},
        {POD("etl-1", OWNED("batch.volcano.sh/v1alpha1", "Job", "v"),
             ",\"schedulerName\":\"volcano\""),
         BLOCKER_OTHER_SCHEDULER, "default/Job/v", "scheduler volcano places them",
         "here Kubernetes' own does"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        const struct rehearse_assumed *a;
        assert_int_equal(assumed_with(cases[i].pod, "w2", &arena, &a), 0); /* it is elsewhere */
        assert_int_equal(assumed_with(cases[i].pod, "w1", &arena, &a), 1);
        assert_int_equal(a->code, cases[i].code);
        assert_string_equal(a->workload, cases[i].workload);
        assert_string_equal(a->example, "etl-1");
        assert_int_equal(a->pods, 1);
        assert_string_equal(a->why, cases[i].why);
        assert_string_equal(a->here, cases[i].here);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_assumed_of_known_owners),
        cmocka_unit_test(what_is_assumed),
    };
    return cmocka_run_group_tests_name("cli/rehearse_assumed", tests, NULL, NULL);
}
