/* Tests of src/cli/orders.c: what is not over, and what is said of it. */
#include "cli/orders.h"

#include "support/own_sample.h"

static void what_is_not_over(void **state) {
    struct own_sample *f = *state;
    struct orders o;
    own_sample_maintenance(f, "a", "Draining", "r", false);
    own_sample_maintenance(f, "b", "Halted", NULL, false);
    own_sample_maintenance(f, "c", "Complete", NULL, false);
    own_sample_rollout(f, "done", "Complete");
    own_sample_rollout(f, "r", "Progressing");
    orders_take(f->all.rollouts, f->all.maintenances, &f->arena, &o);
    assert_int_equal(o.n, 2);
    assert_string_equal(o.rows[0].name, "rollout/r");
    assert_string_equal(o.rows[0].phase, "Progressing");
    assert_null(o.rows[0].node);
    assert_string_equal(o.rows[1].name, "maintenance/b");
    assert_string_equal(o.rows[1].phase, "Halted");
    assert_string_equal(order_progress(&o.rows[1], &f->arena), "b");
    assert_string_equal(order_waits(&o.rows[1], &f->arena), "");
}

static void in_words_and_as_a_document(void **state) {
    struct own_sample *f = *state;
    const struct own_blocker b = {
        .code = "PDBNoBudget", .object = "shop/web", .message = "needs 2, has 2"};
    const struct order rows[] = {
        {.name = "rollout/kernel",
         .operation = "Reboot",
         .phase = "Failed",
         .counts = {.total = 50, .complete = 3, .failed = 1}},
        {.name = "maintenance/m",
         .operation = "Drain",
         .phase = "Draining",
         .node = "w1",
         .blocker = &b},
    };
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    assert_string_equal(order_progress(&rows[0], &f->arena), "3 of 50 nodes done, 1 failed");
    assert_string_equal(order_waits(&rows[1], &f->arena), "PDBNoBudget shop/web: needs 2, has 2");
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    orders_write(&w, &(struct orders){rows, 2});
    jsonw_end(&w);
    assert_string_equal(
        str_get(&out),
        "{\"orders\":[{\"name\":\"rollout/kernel\",\"operation\":\"Reboot\",\"phase\":\"Failed\","
        "\"total\":50,\"complete\":3,\"failed\":1},{\"name\":\"maintenance/m\",\"operation\":"
        "\"Drain\",\"phase\":\"Draining\",\"node\":\"w1\",\"code\":\"PDBNoBudget\",\"object\":"
        "\"shop/web\",\"message\":\"needs 2, has 2\"}]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        OWN_TEST(what_is_not_over),
        OWN_TEST(in_words_and_as_a_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
