/* Tests of src/cli/finding_json.c. */
#include "cli/finding_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void is_written(const struct check_finding *f, const char *wanted) {
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    finding_json(&w, f);
    assert_string_equal(str_get(&text), wanted);
}

static void a_finding_is_an_object(void **state) {
    (void)state;
    struct check_finding f = {.check = check_find("longhorn"),
                              .verdict = CHECK_DENY,
                              .when = CHECK_CORDON | CHECK_OPERATION,
                              .code = BLOCKER_LAST_REPLICA,
                              .node = "w1",
                              .kind = "Volume",
                              .ns = "x",
                              .name = "pvc-1",
                              .evidence = "it is the \"last\" one",
                              .hint = "add another",
                              .ends = "there is another"};
    is_written(&f, "{\"check\":\"longhorn\",\"verdict\":\"deny\",\"node\":\"w1\",\"before\":["
                   "\"cordon\",\"operation\"],\"code\":\"LastReplica\",\"object\":{\"kind\":"
                   "\"Volume\",\"namespace\":\"x\",\"name\":\"pvc-1\"},\"message\":\"it is the "
                   "\\\"last\\\" one\",\"hint\":\"add another\",\"overWhen\":\"there is "
                   "another\"}");
}

static void what_there_is_not_is_left_out(void **state) {
    (void)state;
    struct check_finding f = {.check = check_find("etcd"),
                              .verdict = CHECK_PASS,
                              .when = CHECK_RETURN,
                              .code = BLOCKER_CODES,
                              .node = "w1",
                              .evidence = "all is well"};
    is_written(&f, "{\"check\":\"etcd\",\"verdict\":\"pass\",\"node\":\"w1\",\"before\":[\"next\"],"
                   "\"message\":\"all is well\"}");
}

static void the_same_of_another_node(void **state) {
    (void)state;
    struct check_finding a = {.check = check_find("etcd"), .node = "w1", .evidence = "e"}, b = a;
    b.node = "w2";
    assert_true(finding_same(&a, &b));
    b.evidence = "f";
    assert_false(finding_same(&a, &b));
    b = a;
    b.when = CHECK_CORDON;
    assert_false(finding_same(&a, &b));
}

static void every_gate_has_a_word(void **state) {
    (void)state;
    unsigned all = 0;
    enum check_when when;
    for (size_t i = 0; finding_gate(i, &when); i++)
        all |= when;
    assert_int_equal(all, CHECK_CORDON | CHECK_OPERATION | CHECK_RETURN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_an_object),
        cmocka_unit_test(what_there_is_not_is_left_out),
        cmocka_unit_test(the_same_of_another_node),
        cmocka_unit_test(every_gate_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
