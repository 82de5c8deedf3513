/* Tests of src/engine/remedy.c. */
#include "engine/remedy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct pdb budget = {.meta = {.ns = "x", .name = "a"},
                                  .max_unavailable = {.set = true}};

static void in_the_order_of_risk(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct remedies r;
    remedy_lost_node(&arena, "w1", &r);
    assert_int_equal(r.n, 2);
    assert_true(r.list[0].risk == WHY_RISK_NONE && r.list[1].risk == WHY_RISK_DATA);
    assert_string_equal(r.list[1].command, "kubectl taint node w1 node.kubernetes.io/"
                                           "out-of-service=nodeshutdown:NoExecute");
    remedy_sync_failed(&arena, &budget, 3, &r);
    assert_int_equal(r.n, 2);
    assert_string_equal(r.list[1].command,
                        "kubectl -n x patch pdb a --type=merge -p "
                        "'{\"spec\":{\"maxUnavailable\":null,\"minAvailable\":2}}'");
    assert_string_equal(r.list[1].cost, "2 of 3 serve meanwhile; it does not follow the number of "
                                        "pods");
    remedy_sync_failed(&arena, &budget, 0, &r);
    assert_non_null(strstr(r.list[1].command, "\"minAvailable\":0"));
    remedy_unready(&arena, &budget, &r);
    assert_int_equal(r.list[0].risk, WHY_RISK_LOW);
    remedy_namespace(&arena, "old", &r);
    assert_string_equal(r.list[0].command, "kubectl get namespace old -o yaml");
}

/* Names come from the cluster. */
static void names_are_quoted(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct remedies r;
    remedy_lost_node(&arena, "a; b", &r);
    assert_string_equal(r.list[0].command, "kubectl describe node 'a; b'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_order_of_risk),
        cmocka_unit_test(names_are_quoted),
    };
    return cmocka_run_group_tests_name("remedy", tests, NULL, NULL);
}
