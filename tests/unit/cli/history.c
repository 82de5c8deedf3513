/* Tests of src/cli/history.c. */
#include "cli/history.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static int read_text(const char *text, struct habits *h, struct history_seen *seen,
                     struct err *err) {
    char path[] = "/tmp/slipway-history.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int rc = history_read(path, h, seen, err);
    unlink(path);
    return rc;
}

static void test_read(void **state) {
    (void)state;
    struct habits *h = habits_new();
    struct history_seen n = {99, 99};
    assert_int_equal(
        read_text("{\"v\":1,\"workload\":\"a/Deployment/w\",\"stop\":8.5}\n"
                  "\n"
                  "{\"v\":1,\"workload\":\"a/Deployment/w\",\"stop\":9,\"up\":3,"
                  "\"later\":{\"x\":1}}\n"
                  "{\"v\":1,\"workload\":\"a/Depl{\"v\":1,\"workload\":\"b\",\"up\":7}\n"
                  "{\"v\":1,\"workload\":\"a/Pod/p\",\"up\":0}\n"
                  "{\"v\":1,\"workload\":\"a/Pod/p\",\"st", /* a drain that was killed */
                  h, &n, NULL),
        0);
    assert_int_equal(n.observations, 4);
    assert_int_equal(n.cut, 1); /* a drain that was killed, and another that went on behind it */
    assert_int_equal(habits_median(h, "a/Deployment/w", HABIT_STOP), MSEC(8500));
    assert_int_equal(habits_median(h, "a/Deployment/w", HABIT_UP), SEC(3));
    assert_int_equal(habits_median(h, "a/Pod/p", HABIT_UP), 0);
    assert_int_equal(read_text("", h, &n, NULL), 0);
    assert_int_equal(n.observations + n.cut, 0);
    habits_free(h);
}

static void test_bad(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"x\n", ":1: this is no line of a history"},
        {"{\"v\":1,\"wor\n", ": no line of it is whole"},
        {"{}\n", ":1: this is no line of a history"},
        {"[1]\n", ":1: this is no line of a history"},
        {"{\"v\":1,\"workload\":\"a\",\"stop\":1}\n{\"v\":1}\n", ":2: this is no line"},
        {"{\"v\":2,\"workload\":\"a\",\"stop\":1}\n", "a newer slipway has written it"},
        {"{\"v\":1,\"workload\":\"a\"}\n", "neither \"stop\" nor \"up\""},
        {"{\"v\":1,\"workload\":\"a\",\"stop\":-1}\n", "neither \"stop\" nor \"up\""},
        {"{\"v\":1,\"workload\":\"a\",\"stop\":\"1\"}\n", "neither \"stop\" nor \"up\""},
        {"{\"v\":1,\"workload\":\"a\",\"stop\":1e300}\n", "neither \"stop\" nor \"up\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct habits *h = habits_new();
        struct history_seen seen;
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(read_text(bad[i][0], h, &seen, &err), -EINVAL);
        if (!strstr(err_msg(&err), bad[i][1]))
            fail_msg("%s: %s", bad[i][0], err_msg(&err));
        habits_free(h);
    }
    struct history_seen seen;
    assert_true(history_read("/nonexistent", NULL, &seen, NULL) < 0);
}

/* What is written is read. */
static void test_line(void **state) {
    (void)state;
    const struct drain_node node = {.name = "w1"};
    struct drain_pod pod = {.ns = "shop",
                            .name = "web-fd59b56bd-x2x\"",
                            .owner = "ReplicaSet/web-fd59b56bd",
                            .state = DRAIN_POD_GONE,
                            .accepted = SEC(1794729600),
                            .gone = SEC(1794729600) + MSEC(12345)};
    _cleanup_str_ struct str out = STR_INIT;
    history_line(&node, &pod, SEC(1794729613), &out);
    assert_int_equal(out.p[out.len - 1], '\n');
    assert_int_equal(strcspn(out.p, "\n"), out.len - 1);
    _cleanup_json_ json_t *v = json_loads(out.p, 0, NULL);
    assert_string_equal(json_str(v, "workload"), "shop/Deployment/web");
    assert_string_equal(json_str(v, "time"), "2026-11-15T08:00:13Z");
    assert_string_equal(json_str(v, "node"), "w1");
    struct habits *h = habits_new();
    struct history_seen n;
    assert_int_equal(read_text(str_get(&out), h, &n, NULL), 0);
    assert_int_equal(habits_median(h, "shop/Deployment/web", HABIT_STOP), MSEC(12345));
    habits_free(h);
    /* what says nothing about how long it takes */
    struct drain_pod others[3] = {pod, pod, pod};
    others[0].state = DRAIN_POD_LEAVING;
    others[1].accepted = 0;
    others[2].gone = others[2].accepted - 1;
    str_reset(&out);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        history_line(&node, &others[i], SEC(1), &out);
    assert_int_equal(out.len, 0);
    /* without a controller */
    pod.owner = "";
    history_line(NULL, &pod, SEC(1), &out);
    assert_non_null(strstr(str_get(&out), "\"shop/Pod/web-fd59b56bd-x2x\\\"\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
