/* Tests of src/cli/ordering.c: who carries it out, what it is called, what is made. What users see
 * of it is in tests/cli/test_reboot.py. */
#include "cli/ordering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define NOW SEC(1794830700) /* 2026-11-16T12:05:00Z */

static void who_does_it(void **state) {
    (void)state;
    static char *command[] = {"power", "off"};
    static const struct {
        enum operation op;
        const char *by;
        int n_command;
        const char *word, *url, *error;
    } cases[] = {
        {OPERATION_REBOOT, NULL, 0, "fleetlock", NULL, NULL},
        {OPERATION_REBOOT, "sim", 0, "sim", NULL, NULL},
        {OPERATION_REBOOT, "http=http://x/y", 0, NULL, "http://x/y", NULL},
        {OPERATION_REBOOT, NULL, 2, NULL, NULL, NULL},
        {OPERATION_REBOOT, "sim", 2, NULL, NULL, "once"},
        {OPERATION_REBOOT, "me", 0, NULL, NULL, "not \"me\""},
        {OPERATION_REBOOT, "http=", 0, NULL, NULL, "not \"http=\""},
        {OPERATION_REBOOT, "http=ftp://x", 0, NULL, NULL, "begins with http:// or https://"},
        {OPERATION_SHUTDOWN, NULL, 0, NULL, NULL, "say who carries it out"},
        {OPERATION_SHUTDOWN, "fleetlock", 0, NULL, NULL, "is for reboots"},
        {OPERATION_SHUTDOWN, NULL, 2, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct ordering_by by;
        int rc =
            ordering_parse_by(cases[i].op, cases[i].by, cases[i].n_command, command, &by, &err);
        assert_int_equal(rc != 0, cases[i].error != NULL);
        if (rc) {
            assert_non_null(strstr(err_msg(&err), cases[i].error));
            continue;
        }
        assert_true(str_same(by.word, cases[i].word));
        assert_true(str_same(by.url, cases[i].url));
        assert_int_equal(by.n_command, cases[i].n_command);
    }
}

static void names_tell_what_and_when(void **state) {
    (void)state;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    char node[254];
    assert_string_equal(ordering_name(OPERATION_REBOOT, "w1", NOW, &arena),
                        "reboot-w1-20261116-120500");
    assert_string_equal(ordering_name(OPERATION_SHUTDOWN, NULL, NOW, &arena),
                        "shutdown-20261116-120500");
    memset(node, 'x', sizeof node - 1);
    node[sizeof node - 1] = '\0';
    assert_true(strlen(ordering_name(OPERATION_SHUTDOWN, node, NOW, &arena)) <= 253);
}

static void one_node_or_several(void **state) {
    (void)state;
    static const char *const nodes[] = {"w1", "w2", "w4"};
    static const char *const command[] = {"power", "off"};
    _cleanup_str_ struct str one = STR_INIT, many = STR_INIT;
    const struct ordering_by fleetlock = {.word = "fleetlock"},
                             exec = {.command = command, .n_command = 2};
    ordering_write(&(struct ordering_order){.operation = OPERATION_REBOOT,
                                            .name = "a",
                                            .reason = "kernel",
                                            .nodes = nodes,
                                            .n_nodes = 1,
                                            .by = &fleetlock},
                   &one);
    assert_string_equal(str_get(&one),
                        "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"Maintenance\","
                        "\"metadata\":{\"name\":\"a\"},\"spec\":{\"operation\":\"Reboot\","
                        "\"reason\":\"kernel\",\"node\":\"w1\",\"executor\":{\"fleetlock\":{}}}}");
    ordering_write(&(struct ordering_order){.operation = OPERATION_SHUTDOWN,
                                            .name = "b",
                                            .nodes = nodes,
                                            .n_nodes = 3,
                                            .by = &exec},
                   &many);
    assert_string_equal(str_get(&many),
                        "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"Rollout\","
                        "\"metadata\":{\"name\":\"b\"},\"spec\":{\"operation\":\"Shutdown\","
                        "\"nodes\":[\"w[1-2,4]\"],\"executor\":{\"exec\":{\"command\":[\"power\","
                        "\"off\"]}}}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_it),
        cmocka_unit_test(names_tell_what_and_when),
        cmocka_unit_test(one_node_or_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
