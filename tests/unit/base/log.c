/* Tests of base/log.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/timefmt.h"

struct tape {
    int fds[2];
    struct log log;
    char text[65536];
};

static int setup(void **state) {
    static struct tape tape;
    tape = (struct tape){.log.level = LOG_TRACE};
    if (pipe2(tape.fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    tape.log.fd = tape.fds[1];
    *state = &tape;
    return 0;
}

static int teardown(void **state) {
    struct tape *tape = *state;
    close(tape->fds[0]);
    close(tape->fds[1]);
    return 0;
}

/* Everything that was logged since the last call. */
static const char *played(struct tape *tape) {
    ssize_t n = read(tape->fds[0], tape->text, sizeof tape->text - 1);
    tape->text[n > 0 ? n : 0] = '\0';
    return tape->text;
}

static void test_levels(void **state) {
    struct tape *tape = *state;
    tape->log.level = LOG_INFO;
    log_error(&tape->log, "a");
    log_warn(&tape->log, "b");
    log_info(&tape->log, "c %d", 3);
    log_debug(&tape->log, "d");
    log_trace(&tape->log, "e");
    assert_string_equal(played(tape), "error: a\nwarning: b\ninfo: c 3\n");
    tape->log.level = LOG_ERROR;
    log_warn(&tape->log, "b");
    assert_string_equal(played(tape), "");
    tape->log.level = LOG_TRACE;
    log_debug(&tape->log, "d");
    log_trace(&tape->log, "e");
    assert_string_equal(played(tape), "debug: d\ntrace: e\n");
}

static void test_enabled(void **state) {
    struct tape *tape = *state;
    tape->log.level = LOG_WARN;
    assert_true(log_enabled(&tape->log, LOG_ERROR));
    assert_true(log_enabled(&tape->log, LOG_WARN));
    assert_false(log_enabled(&tape->log, LOG_INFO));
    assert_false(log_enabled(NULL, LOG_ERROR));
}

static void test_null_is_silent(void **state) {
    struct tape *tape = *state;
    log_error(NULL, "nobody hears this");
    assert_string_equal(played(tape), "");
}

/* One line stays one line, whatever a server sends. */
static void test_foreign_text(void **state) {
    struct tape *tape = *state;
    log_warn(&tape->log, "server says: %s", "a\nerror: forged\x1b[2J\xff");
    assert_string_equal(played(tape), "warning: server says: a\\nerror: forged\\x1b[2J\\xff\n");
}

static int64_t fixed_clock(void *arg) {
    return *(int64_t *)arg;
}

static void test_timestamps(void **state) {
    struct tape *tape = *state;
    int64_t now = SEC(1794729600) + 999999;
    tape->log.now = fixed_clock;
    tape->log.now_arg = &now;
    log_info(&tape->log, "without");
    tape->log.timestamps = true;
    log_info(&tape->log, "with");
    tape->log.now = NULL;
    log_info(&tape->log, "no clock");
    assert_string_equal(played(tape),
                        "info: without\n2026-11-15T08:00:00Z info: with\ninfo: no clock\n");
}

/* A line is one object, whatever is in it; what is empty is left out. */
static void test_json(void **state) {
    struct tape *tape = *state;
    int64_t now = SEC(1794729600) + 5;
    const struct log_field fields[] = {{"node", "w1"}, {"policy", NULL}, {"by", "a\"b"}};
    log_fields(&tape->log, LOG_INFO, fields, 3, "node %s", "w1");
    tape->log.json = true;
    tape->log.now = fixed_clock;
    tape->log.now_arg = &now;
    log_fields(&tape->log, LOG_WARN, fields, 3, "a\n%s", "b");
    log_info(&tape->log, "plain");
    tape->log.level = LOG_WARN;
    log_fields(&tape->log, LOG_INFO, fields, 3, "not this");
    assert_string_equal(
        played(tape),
        "info: node w1\n"
        "{\"ts\":\"2026-11-15T08:00:00.000005Z\",\"level\":\"warning\",\"msg\":\"a\\nb\","
        "\"node\":\"w1\",\"by\":\"a\\\"b\"}\n"
        "{\"ts\":\"2026-11-15T08:00:00.000005Z\",\"level\":\"info\",\"msg\":\"plain\"}\n");
}

static void test_long_line(void **state) {
    struct tape *tape = *state;
    log_info(&tape->log, "%20000d", 7);
    const char *text = played(tape);
    assert_int_equal(strlen(text), strlen("info: ") + 20000 + 1);
    assert_string_equal(text + strlen(text) - 3, " 7\n");
}

/* A log that cannot be written is no reason to fail. */
static void test_closed(void **state) {
    struct tape *tape = *state;
    tape->log.fd = -1;
    log_error(&tape->log, "into the void");
    assert_string_equal(played(tape), "");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_levels),       TEST(test_enabled),    TEST(test_null_is_silent),
        TEST(test_foreign_text), TEST(test_timestamps), TEST(test_long_line),
        TEST(test_closed),       TEST(test_json),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
