/* Tests of src/cli/snapshot_load.c. */
#include "rehearse_site.h"

static size_t count(struct sim *s, const struct resource *res) {
    (void)s;
    return shelf_len(res->shelf);
}

/* All that a snapshot has is in the copy, and it comes from a cluster of the same time. */
static void test_load(void **state) {
    (void)state;
    struct scenario *scenario;
    struct sim *from = site_scenario("happy", &scenario);
    struct snapshot_reader *file = site_file(from, NULL);
    struct habits *h = habits_new();
    for (int pass = 0; pass < 2; pass++) { /* from its beginning each time */
        struct sim *copy;
        struct snapshot_gaps gaps;
        habits_begin(h, 1);
        assert_int_equal(snapshot_load(file, &(struct sim_options){.seed = 1, .speed = 1}, h,
                                       pass == 0, &copy, &gaps, NULL),
                         0);
        assert_int_equal(gaps.unknown + gaps.invalid, 0);
        assert_int_equal(sim_world(copy)->clock.now, SITE_START);
        assert_int_equal(count(copy, sim_fleet(copy)->pods), count(from, sim_fleet(from)->pods));
        assert_int_equal(count(copy, sim_fleet(copy)->nodes), 6);
        sim_free(copy);
    }
    assert_true(habits_median(h, "shop-1/Deployment/web", HABIT_START) >= 0);
    snapshot_reader_free(file);
    habits_free(h);
    scenario_stop(scenario);
    sim_free(from);
    scenario_free(scenario);
}

static void test_gaps(void **state) {
    (void)state;
    struct habits *h = habits_new();
    struct snapshot_reader *file = site_file(
        NULL, "{\"apiVersion\":\"x.io/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"a\"}}\n"
              "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
              "\"namespace\":\"b\"},\"spec\":{\"containers\":[]}}");
    struct sim *copy;
    struct snapshot_gaps gaps;
    habits_begin(h, 1);
    assert_int_equal(snapshot_load(file, &(struct sim_options){.seed = 1, .speed = 1}, h, true,
                                   &copy, &gaps, NULL),
                     0);
    assert_int_equal(gaps.unknown, 1);
    assert_int_equal(gaps.invalid, 1);
    assert_non_null(strstr(gaps.first, "Pod \"a\" is invalid: "));
    assert_int_equal(shelf_len(sim_fleet(copy)->pods->shelf), 0);
    sim_free(copy);
    snapshot_reader_free(file);
    habits_free(h);
}

/* More pods than anybody can simulate. */
#define ABSURD(kind)                                                                               \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"" kind                                                 \
    "\",\"metadata\":{\"name\":\"a\",\"namespace\":\"x\"},\"spec\":{\"replicas\":2000000000,"      \
    "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":"  \
    "\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"c\"}]}}}}"

/* What is no object is told with its place, and nothing is left behind. */
static void test_bad(void **state) {
    (void)state;
    static const char *const bad[] = {"x",
                                      "{}",
                                      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
                                      ABSURD("Deployment"),
                                      ABSURD("StatefulSet"),
                                      ABSURD("ReplicaSet")};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct habits *h = habits_new();
        struct snapshot_reader *file = site_file(NULL, bad[i]);
        struct sim *copy = NULL;
        assert_true(snapshot_load(file, &(struct sim_options){.seed = 1, .speed = 1}, h, true,
                                  &copy, NULL, &err) < 0);
        assert_null(copy);
        assert_true(str_starts(err_msg(&err), "site:2: "));
        snapshot_reader_free(file);
        habits_free(h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
