/* Times as Kubernetes' printers show them. Durations are those of apimachinery's
 * pkg/util/duration/duration_test.go. */
#include "sim/api/human.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MIN(n)  SEC(60 * (int64_t)(n))
#define HOUR(n) SEC(3600 * (int64_t)(n))
#define DAY(n)  HOUR(24 * (int64_t)(n))

static void test_duration(void **state) {
    (void)state;
    static const struct {
        int64_t usec;
        const char *text;
    } rows[] = {
        {SEC(1), "1s"},
        {SEC(70), "70s"},
        {SEC(190), "3m10s"},
        {MIN(70), "70m"},
        {HOUR(47), "47h"},
        {HOUR(49), "2d1h"},
        {DAY(8) + HOUR(2), "8d"},
        {DAY(367), "367d"},
        {DAY(365 * 2 + 25), "2y25d"},
        {DAY(365 * 8 + 2), "8y"},
        {0, "0s"},
        {SEC(1) - 1, "0s"},
        {-1, "0s"},
        {-SEC(1), "0s"},
        {-SEC(2) + 1, "0s"},
        {-SEC(2), "<invalid>"},
        {-DAY(5), "<invalid>"},
        {INT64_MIN, "<invalid>"},
        {INT64_MAX, "292y"}, /* as long as Go can count */
        {DAY(365 * 291), "291y"},
        {DAY(365 * 1000), "292y"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[TIMEFMT_LEN];
        assert_string_equal(human_duration(rows[i].usec, buf), rows[i].text);
    }
}

static void test_time(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool known;
        int64_t usec;
    } rows[] = {
        {"2026-11-15T08:00:00Z", true, SEC(1794729600)},
        {"2026-11-15T08:00:00.25Z", true, SEC(1794729600) + MSEC(250)},
        {"1970-01-01T00:00:00Z", true, 0},
        {"0001-01-01T00:00:00Z", false, 0},
        {"0001-01-01T00:00:01Z", true, SEC(-62135596799)},
        {"", false, 0},
        {"yesterday", false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_json_ json_t *value = json_string(rows[i].text);
        int64_t usec = -7;
        assert_int_equal(human_time(value, &usec), rows[i].known);
        assert_int_equal(usec, rows[i].known ? rows[i].usec : -7);
    }
    int64_t usec = -7;
    json_t *number = json_integer(5);
    assert_false(human_time(NULL, &usec));
    assert_false(human_time(json_null(), &usec));
    assert_false(human_time(number, &usec));
    assert_int_equal(usec, -7);
    json_decref(number);
}

static void test_since(void **state) {
    (void)state;
    char buf[TIMEFMT_LEN];
    _cleanup_json_ json_t *when = json_string("1970-01-01T00:01:00Z");
    assert_string_equal(human_since(SEC(60), when, buf), "0s");
    assert_string_equal(human_since(SEC(360), when, buf), "5m");
    assert_string_equal(human_since(SEC(0), when, buf), "<invalid>");
    assert_string_equal(human_since(SEC(360), NULL, buf), "<unknown>");
    assert_string_equal(human_since(SEC(360), json_null(), buf), "<unknown>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_since),
    };
    return cmocka_run_group_tests_name("human", tests, NULL, NULL);
}
