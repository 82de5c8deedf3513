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

static int read_lags(const char *text, struct habits *h, struct lags *lags,
                     struct history_seen *seen, struct err *err) {
    char path[] = "/tmp/slipway-history.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    int rc = history_read(path, h, lags, seen, err);
    unlink(path);
    return rc;
}

static int read_text(const char *text, struct habits *h, struct history_seen *seen,
                     struct err *err) {
    return read_lags(text, h, NULL, seen, err);
}

static void test_read(void **state) {
    (void)state;
    struct habits *h = habits_new();
    struct history_seen n = {99, 99, 99};
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
    assert_int_equal(n.ups, 2);
    assert_int_equal(n.cut, 1); /* a drain that was killed, and another that went on behind it */
    assert_int_equal(habits_median(h, "a/Deployment/w", HABIT_STOP), MSEC(8500));
    assert_int_equal(habits_median(h, "a/Deployment/w", HABIT_UP), SEC(3));
    assert_int_equal(habits_median(h, "a/Pod/p", HABIT_UP), 0);
    assert_int_equal(read_text("", h, &n, NULL), 0);
    assert_int_equal(n.observations + n.cut, 0);
    habits_free(h);
}

/* A drain may wait for a pod for days, and writes it down: that is no habit, but the rest of the
 * file is as good as it was. */
static void test_long(void **state) {
    (void)state;
    struct habits *h = habits_new();
    struct lags lags = {0};
    struct history_seen n;
    assert_int_equal(
        read_lags("{\"v\":1,\"workload\":\"a/Pod/p\",\"stop\":259200.5,\"answer\":0.02}\n"
                  "{\"v\":1,\"workload\":\"a/Pod/p\",\"stop\":86400}\n"
                  "{\"v\":1,\"workload\":\"a/Pod/q\",\"stop\":9,\"begin\":90000}\n",
                  h, &lags, &n, NULL),
        0);
    assert_int_equal(n.observations, 2);
    assert_int_equal(habits_median(h, "a/Pod/p", HABIT_STOP), SEC(86400));
    assert_int_equal(habits_median(h, "a/Pod/q", HABIT_STOP), SEC(9));
    assert_int_equal(lags_basis(&lags).drains, 1);
    assert_int_equal(lags_basis(&lags).begin[1], 0);
    /* a line that says nothing is whole all the same */
    assert_int_equal(
        read_text("{\"v\":1,\"workload\":\"a/Pod/p\",\"up\":90000}\n{\"v\":\n", h, &n, NULL), 0);
    assert_int_equal(n.observations, 0);
    assert_int_equal(n.cut, 1);
    lags_done(&lags);
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
    assert_true(history_read("/nonexistent", NULL, NULL, &seen, NULL) < 0);
}

/* What is written is read. */
static void test_line(void **state) {
    (void)state;
    const struct drain_node node = {.name = "w1"};
    struct history_log log = {.drain = "drain-1"};
    struct drain_pod pod = {.ns = "shop",
                            .name = "web-fd59b56bd-x2x\"",
                            .owner = "ReplicaSet/web-fd59b56bd",
                            .state = DRAIN_POD_GONE,
                            .accepted = SEC(1794729600),
                            .gone = SEC(1794729600) + MSEC(12345),
                            .answer = MSEC(31)};
    _cleanup_str_ struct str out = STR_INIT;
    history_line(&log, &node, &pod, SEC(1794729613), &out);
    assert_int_equal(out.p[out.len - 1], '\n');
    assert_int_equal(strcspn(out.p, "\n"), out.len - 1);
    _cleanup_json_ json_t *v = json_loads(out.p, 0, NULL);
    assert_string_equal(json_str(v, "workload"), "shop/Deployment/web");
    assert_string_equal(json_str(v, "time"), "2026-11-15T08:00:13Z");
    assert_string_equal(json_str(v, "node"), "w1");
    assert_string_equal(json_str(v, "drain"), "drain-1");
    struct habits *h = habits_new();
    struct lags lags = {0};
    struct history_seen n;
    assert_int_equal(read_lags(str_get(&out), h, &lags, &n, NULL), 0);
    struct lags_basis basis = lags_basis(&lags);
    assert_int_equal(basis.drains, 1);
    assert_int_equal(basis.answer[1], MSEC(31));
    lags_done(&lags);
    assert_int_equal(habits_median(h, "shop/Deployment/web", HABIT_STOP), MSEC(12345));
    habits_free(h);
    /* what says nothing about how long it takes */
    struct drain_pod others[4] = {pod, pod, pod, pod};
    others[0].state = DRAIN_POD_LEAVING;
    others[1].accepted = 0;
    others[2].gone = others[2].accepted - 1;
    others[3].odd = true;
    str_reset(&out);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        history_line(&log, &node, &others[i], SEC(1), &out);
    assert_int_equal(out.len, 0);
    /* without a controller */
    pod.owner = "";
    history_line(&log, NULL, &pod, SEC(1), &out);
    assert_non_null(strstr(str_get(&out), "\"shop/Pod/web-fd59b56bd-x2x\\\"\""));
}

/* The same of a pod that has started. */
static void test_start_line(void **state) {
    (void)state;
    static const struct pod pod = {.meta = {.name = "web-fd59b56bd-b7k", .ns = "shop"},
                                   .node_name = "w2"};
    struct start_seen start = {.pod = &pod, .up = MSEC(3214), .place = MSEC(87)};
    _cleanup_str_ struct str out = STR_INIT;
    struct history_log log = {.drain = "drain-1"};
    history_start_line(&log, &start, SEC(1794729613), &out);
    assert_string_equal(str_get(&out),
                        "{\"v\":1,\"time\":\"2026-11-15T08:00:13Z\",\"drain\":\"drain-1\","
                        "\"workload\":\"shop/Pod/web-fd59b56bd-b7k\",\"pod\":"
                        "\"web-fd59b56bd-b7k\",\"node\":\"w2\",\"up\":3.214,\"place\":0.087}\n");
    start.place = -1;
    log.drain = "drain-2";
    history_start_line(&log, &start, SEC(1794729613), &out);
    history_log_done(&log);
    assert_null(strstr(strchr(str_get(&out), '\n'), "place"));
    struct habits *h = habits_new();
    struct lags lags = {0};
    struct history_seen n;
    assert_int_equal(read_lags(str_get(&out), h, &lags, &n, NULL), 0);
    assert_int_equal(n.observations, 2);
    assert_int_equal(n.ups, 2);
    assert_int_equal(habits_median(h, "shop/Pod/web-fd59b56bd-b7k", HABIT_UP), MSEC(3214));
    struct lags_basis basis = lags_basis(&lags);
    assert_int_equal(basis.drains, 1); /* the other has nothing to say about it */
    assert_int_equal(basis.step[0], MSEC(87) / 2);
    lags_done(&lags);
    habits_free(h);
}

/* How long a pod waits after the one that it has waited for is ready. */
static void test_turn(void **state) {
    (void)state;
    static const struct {
        int64_t first, accepted, turn; /* milliseconds; turn -1: it has not waited */
    } cases[] = {
        {500, 10250, 250},
        {500, 21000, 1000},
        {500, 9000, -1},
        {10100, 10250, -1},
        {500, 31000, 11000} /* the other workload is not its own */,
    };
    static const struct pod web = {.meta = {.name = "web", .ns = "shop"}, .node_name = "w2"},
                            other = {.meta = {.name = "other", .ns = "shop"}, .node_name = "w2"};
    struct history_log log = {.drain = "d"};
    _cleanup_str_ struct str out = STR_INIT;
    history_start_line(&log, &(struct start_seen){.pod = &web}, MSEC(10000), &out);
    history_start_line(&log, &(struct start_seen){.pod = &web}, MSEC(20000), &out);
    history_start_line(&log, &(struct start_seen){.pod = &other}, MSEC(30000), &out);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct drain_pod pod = {.ns = "shop",
                                      .name = "web",
                                      .state = DRAIN_POD_GONE,
                                      .first_try = MSEC(cases[i].first),
                                      .accepted = MSEC(cases[i].accepted),
                                      .gone = MSEC(50000)};
        str_reset(&out);
        history_line(&log, NULL, &pod, MSEC(50000), &out);
        _cleanup_json_ json_t *v = json_loads(str_get(&out), 0, NULL);
        const json_t *turn = json_object_get(v, "turn");
        assert_int_equal(turn ? (int)(json_number_value(turn) * 1000 + 0.5) : -1, cases[i].turn);
    }
    history_log_done(&log);
}

/* How long a drain takes to begin is told once, and never when it had to wait. */
static void test_begin(void **state) {
    (void)state;
    static const struct {
        enum drain_phase phase;
        enum blocker_code code; /* BLOCKER_CODES: it does not wait */
        bool told;
    } cases[] = {
        {DRAIN_WAITING, BLOCKER_CODES, true},
        {DRAIN_WAITING, BLOCKER_MAX_UNAVAILABLE, true}, /* the others have begun */
        {DRAIN_WAITING, BLOCKER_CHECK_UNKNOWN, false},
        {DRAIN_CORDONING, BLOCKER_FORBIDDEN, false},
        {DRAIN_DETACHING, BLOCKER_VOLUME_ATTACHED, true},
    };
    const struct drain_pod pod = {.ns = "shop",
                                  .name = "web",
                                  .state = DRAIN_POD_GONE,
                                  .first_try = SEC(903),
                                  .accepted = SEC(904),
                                  .gone = SEC(905)};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct history_log log = {.drain = "d", .started = SEC(3)};
        const struct drain_node node = {.name = "w1", .phase = cases[i].phase};
        _cleanup_str_ struct str out = STR_INIT;
        if (cases[i].code != BLOCKER_CODES)
            history_waits(&log, &node, &(struct drain_blocker){.code = cases[i].code});
        struct drain_pod odd = pod, later = pod;
        odd.odd = true; /* it has no line, but was the first */
        later.first_try = SEC(904);
        history_line(&log, &node, &odd, SEC(905), &out);
        history_line(&log, &node, &later, SEC(905), &out);
        history_line(&log, &node, &pod, SEC(905), &out);
        const char *first = strstr(str_get(&out), "\"begin\":900.000");
        assert_int_equal(first != NULL, cases[i].told);
        assert_null(first ? strstr(first + 1, "\"begin\"") : NULL);
        history_log_done(&log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),       cmocka_unit_test(test_bad),  cmocka_unit_test(test_line),
        cmocka_unit_test(test_start_line), cmocka_unit_test(test_turn), cmocka_unit_test(test_long),
        cmocka_unit_test(test_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
