/* Tests of base/timefmt.c; the C library's calendar and kubectl's table of steps are the judges. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/timefmt.h"

#define MIN(n)  (SEC(60) * (n))
#define HOUR(n) (MIN(60) * (n))
#define DAY(n)  (HOUR(24) * (n))

/* Far out of reach of a real time, to see that a failed parse leaves it alone. */
#define UNTOUCHED INT64_MIN

static bool parse(const char *s, int64_t *usec) {
    return time_parse(s, strlen(s), usec);
}

static void test_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t usec;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:01Z", SEC(1)},
        {"1969-12-31T23:59:59Z", SEC(-1)},
        {"2026-11-15T08:00:00Z", SEC(1794729600)},
        {"2026-11-15t08:00:00z", SEC(1794729600)},
        {"2026-11-15T09:30:00+01:30", SEC(1794729600)},
        {"2026-11-15T00:00:00-08:00", SEC(1794729600)},
        {"2026-11-15T08:00:00-00:00", SEC(1794729600)},
        {"2026-11-15T08:00:00.5Z", SEC(1794729600) + 500000},
        {"2026-11-15T08:00:00.000001Z", SEC(1794729600) + 1},
        {"2026-11-15T08:00:00.123456789Z", SEC(1794729600) + 123456},
        {"2026-11-15T08:00:00.99999999999999999999999999Z", SEC(1794729600) + 999999},
        {"2000-02-29T00:00:00Z", SEC(951782400)},
        {"2024-02-29T00:00:00Z", SEC(1709164800)},
        {"2016-12-31T23:59:60Z", SEC(1483228800)},   /* a leap second */
        {"0001-01-01T00:00:00Z", SEC(-62135596800)}, /* Go's zero time */
        {"9999-12-31T23:59:59.999999Z", SEC(253402300799) + 999999},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t usec = UNTOUCHED;
        assert_true(parse(rows[i].text, &usec));
        assert_int_equal(usec, rows[i].usec);
    }
}

static void test_parse_refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "2026-11-15",
        "2026-11-15T08:00:00",
        "2026-11-15 08:00:00Z",
        "2026-11-15T08:00Z",
        "2026-11-15T08:00:00Zx",
        "2026-11-15T08:00:00.Z",
        "2026-11-15T08:00:00.5",
        "2026-11-15T08:00:00,5Z",
        "2026-11-15T08:00:00+01",
        "2026-11-15T08:00:00+0100",
        "2026-11-15T08:00:00+24:00",
        "2026-11-15T08:00:00+01:60",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T08:60:00Z",
        "2026-11-15T08:00:61Z",
        "+2026-11-15T08:00:00Z",
        "-026-11-15T08:00:00Z",
        "20266-11-15T08:00:00Z",
        "2026-1-15T08:00:00Z",
        " 2026-11-15T08:00:00Z",
        "2026-11-15T08:00:00Z ",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t usec = UNTOUCHED;
        assert_false(parse(bad[i], &usec));
        assert_int_equal(usec, UNTOUCHED);
    }
}

/* Every prefix of a time is none, and is not read past its end (the sanitizer watches). */
static void test_parse_stays_within(void **state) {
    (void)state;
    static const char text[] = "2026-11-15T08:00:00.123456+01:00";
    for (size_t n = 0; n < sizeof text; n++) {
        char *exact = malloc(n ? n : 1);
        memcpy(exact, text, n);
        int64_t usec = UNTOUCHED;
        assert_int_equal(time_parse(exact, n, &usec), n == sizeof text - 1);
        free(exact);
    }
}

static int64_t random_between(int64_t low, int64_t high) {
    uint64_t r = (uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random();
    return low + (int64_t)(r % (uint64_t)(high - low));
}

/* Against gmtime() and timegm() over ten thousand years. */
static void test_against_libc(void **state) {
    (void)state;
    srandom(5);
    for (int i = 0; i < 100000; i++) {
        int64_t sec = random_between(-62135596800, 253402300800);
        int64_t frac = random() % 1000000;
        time_t t = (time_t)sec;
        struct tm tm;
        gmtime_r(&t, &tm);
        char expected[80], micro[80], buf[TIMEFMT_LEN];
        snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        snprintf(micro, sizeof micro, "%.19s.%06dZ", expected, (int)frac);
        assert_string_equal(time_format(SEC(sec) + frac, false, buf), expected);
        assert_string_equal(time_format(SEC(sec) + frac, true, buf), micro);
        int64_t back = UNTOUCHED;
        assert_true(parse(micro, &back));
        assert_int_equal(back, SEC(sec) + frac);
        assert_true(parse(expected, &back));
        assert_int_equal(back, SEC(sec));
        assert_int_equal(timegm(&tm), sec);
    }
}

static void test_format_extremes(void **state) {
    (void)state;
    char buf[TIMEFMT_LEN];
    assert_string_equal(time_format(0, false, buf), "1970-01-01T00:00:00Z");
    assert_string_equal(time_format(-1, true, buf), "1969-12-31T23:59:59.999999Z");
    assert_string_equal(time_format(-1, false, buf), "1969-12-31T23:59:59Z");
    assert_string_equal(time_format(INT64_MAX, true, buf), "294247-01-10T04:00:54.775807Z");
    assert_true(strlen(time_format(INT64_MIN, true, buf)) < TIMEFMT_LEN);
}

static void test_http(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "Sun, 15 Nov 2026 08:00:00",
        "Sun, 15 Nov 2026 08:00:00 UTC",
        "Sun, 15 Nov 2026 08:00:00 GMT ",
        "Sun, 15 Nov 2026 8:00:00 GMT",
        "Mon, 15 Nov 2026 08:00:00 GMT", /* it was a Sunday */
        "Sun, 15 nov 2026 08:00:00 GMT",
        "Sun, 15 Foo 2026 08:00:00 GMT",
        "Tue, 31 Feb 2026 08:00:00 GMT",
        "Sun, 00 Nov 2026 08:00:00 GMT",
        "Sun, 15 Nov 2026 24:00:00 GMT",
        "Sun, 15 Nov 2026 08:60:00 GMT",
        "Sun, 15 Nov 2026 08:00:61 GMT",
        "Sun, 15 Nov 2026 08.00.00 GMT",
        "Sunday, 15-Nov-26 08:00:00 GMT",
        "Sun Nov 15 08:00:00 2026",
        "2026-11-15T08:00:00Z",
    };
    int64_t usec = UNTOUCHED;
    assert_true(time_parse_http("Sun, 15 Nov 2026 08:00:00 GMT", &usec));
    assert_int_equal(usec, SEC(1794729600));
    usec = UNTOUCHED;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(time_parse_http(bad[i], &usec));
        assert_int_equal(usec, UNTOUCHED);
    }
    srandom(6);
    for (int i = 0; i < 20000; i++) {
        time_t t = (time_t)random_between(-62135596800, 253402300800);
        struct tm tm;
        char day[40], text[80];
        gmtime_r(&t, &tm);
        strftime(day, sizeof day, "%a, %d %b", &tm);
        snprintf(text, sizeof text, "%s %04d %02d:%02d:%02d GMT", day, tm.tm_year + 1900,
                 tm.tm_hour, tm.tm_min, tm.tm_sec);
        assert_true(time_parse_http(text, &usec));
        assert_int_equal(usec, SEC(t));
    }
}

/* The steps of kubectl: k8s.io/apimachinery pkg/util/duration, HumanDuration(). */
static void test_duration_steps(void **state) {
    (void)state;
    static const struct {
        int64_t usec;
        const char *text;
    } rows[] = {
        {0, "0s"},
        {1, "0s"},
        {999999, "0s"},
        {-1, "0s"},
        {INT64_MIN, "0s"},
        {SEC(1), "1s"},
        {SEC(60), "60s"},
        {SEC(119), "119s"},
        {SEC(120) - 1, "119s"},
        {SEC(120), "2m"},
        {SEC(121), "2m1s"},
        {MIN(4) + SEC(12), "4m12s"},
        {MIN(9) + SEC(59), "9m59s"},
        {MIN(10), "10m"},
        {MIN(10) + SEC(59), "10m"},
        {MIN(179) + SEC(59), "179m"},
        {HOUR(3), "3h"},
        {HOUR(3) + SEC(59), "3h"},
        {HOUR(3) + MIN(31), "3h31m"},
        {HOUR(7) + MIN(59), "7h59m"},
        {HOUR(8), "8h"},
        {HOUR(8) + MIN(59), "8h"},
        {HOUR(47) + MIN(59), "47h"},
        {HOUR(48), "2d"},
        {HOUR(48) + MIN(59), "2d"},
        {DAY(2) + HOUR(4), "2d4h"},
        {DAY(7) + HOUR(23), "7d23h"},
        {DAY(8), "8d"},
        {DAY(8) + HOUR(23), "8d"},
        {DAY(2 * 365) - 1, "729d"},
        {DAY(2 * 365), "2y"},
        {DAY(2 * 365 + 38), "2y38d"},
        {DAY(8 * 365) - 1, "7y364d"},
        {DAY(8 * 365), "8y"},
        {DAY(8 * 365 + 364), "8y"},
        {INT64_MAX, "292471y"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[TIMEFMT_LEN];
        assert_string_equal(duration_format(rows[i].usec, buf), rows[i].text);
    }
}

static void test_duration_format_limit(void **state) {
    (void)state;
    static const struct {
        int64_t usec;
        const char *text;
    } rows[] = {
        {-1, "0s"},     {0, "0s"},           {1, "1us"},           {1500, "1500us"},
        {1000, "1ms"},  {10001, "10ms"},     {MSEC(500), "500ms"}, {SEC(1) - 1, "999ms"},
        {SEC(1), "1s"}, {SEC(130), "2m10s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[TIMEFMT_LEN];
        assert_string_equal(duration_format_limit(rows[i].usec, buf), rows[i].text);
    }
}

static void test_duration_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t usec;
    } rows[] = {
        {"0", 0},
        {"0s", 0},
        {"-0", 0},
        {"90", SEC(90)},
        {"1.5", MSEC(1500)},
        {"90s", SEC(90)},
        {"5m", MIN(5)},
        {"1h30m", HOUR(1) + MIN(30)},
        {"1h0m0.5s", HOUR(1) + MSEC(500)},
        {"500ms", MSEC(500)},
        {"7us", 7},
        {"7\xc2\xb5s", 7}, /* micro sign */
        {"7\xce\xbcs", 7}, /* Greek mu */
        {"1500ns", 1},
        {"999ns", 0},
        {"500ns500ns", 1},
        {"1.1s", 1100000},
        {"0.000007s", 7},
        {"0.3s", 300000},
        {"4.35s", 4350000},
        {"1.000000000000000000000001s", SEC(1)},
        {".5s", MSEC(500)},
        {"1.s", SEC(1)},
        {"+5s", SEC(5)},
        {"-1m30s", -SEC(90)},
        {"30m1h", HOUR(1) + MIN(30)},
        {"2562047788h", HOUR(INT64_C(2562047788))},
        {"9223372036854775807us", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t usec = UNTOUCHED;
        assert_int_equal(duration_parse(rows[i].text, &usec, &err), 0);
        assert_int_equal(usec, rows[i].usec);
        assert_null(err.msg);
    }
}

static void test_duration_parse_refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "x",
        "s",
        "-",
        "+",
        ".",
        ".s",
        "5 m",
        " 5m",
        "5m ",
        "5x",
        "5d",
        "1e3",
        "1E3",
        "1e3s",
        "0x10",
        "0X10",
        "0x10s",
        "5M",
        "1h30",
        "1h30 m",
        "--5s",
        "+-5s",
        "5s-3s",
        "1,5s",
        "1..5s",
        "1.5.5s",
        "inf",
        "nan",
        "5mss",
        "5\xc2\xb5",
        "1h,",
        "5smh",
        "99999999999999999999s",
        "2562047789h",
        "9223372036854775808us",
        "9223372036854775807us1us",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t usec = UNTOUCHED;
        assert_int_equal(duration_parse(bad[i], &usec, &err), -EINVAL);
        assert_int_equal(usec, UNTOUCHED);
    }
    struct err err = ERR_INIT;
    int64_t usec;
    duration_parse("5 minutes", &usec, &err);
    assert_string_equal(err_msg(&err),
                        "\"5 minutes\" is no duration: write for example 90s, 5m, 1h30m or 0");
    err_done(&err);
    assert_int_equal(duration_parse("x", &usec, NULL), -EINVAL);
}

/* Random sums of terms, against arithmetic. */
static void test_duration_parse_random(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t usec;
    } units[] = {{"h", HOUR(1)}, {"m", MIN(1)}, {"s", SEC(1)}, {"ms", 1000}, {"us", 1}};
    srandom(9);
    for (int i = 0; i < 20000; i++) {
        char text[200] = "";
        int64_t expected = 0, usec = UNTOUCHED;
        for (long terms = 1 + random() % 4; terms > 0; terms--) {
            size_t u = (size_t)random() % 5;
            int64_t n = random() % 100000, tenths = u < 4 ? random() % 10 : 0;
            sprintf(text + strlen(text), "%" PRId64 ".%" PRId64 "%s", n, tenths, units[u].name);
            expected += n * units[u].usec + tenths * units[u].usec / 10;
        }
        assert_int_equal(duration_parse(text, &usec, NULL), 0);
        assert_int_equal(usec, expected);
    }
}

/* Expected values are what time.Duration's String() prints. */
static void durations_as_go_prints_them(void **state) {
    (void)state;
    static const struct {
        int64_t usec;
        const char *text;
    } rows[] = {
        {0, "0s"},
        {SEC(1), "1s"},
        {SEC(60), "1m0s"},
        {SEC(90), "1m30s"},
        {SEC(120), "2m0s"},
        {SEC(3600), "1h0m0s"},
        {SEC(36000) + SEC(61), "10h1m1s"},
        {MSEC(1500), "1.5s"},
        {MSEC(250), "250ms"},
        {1500, "1.5ms"},
        {-SEC(5), "-5s"},
        {SEC(61) + 1, "1m1.000001s"},
        {7, "7\302\265s"},
    };
    char buf[TIMEFMT_LEN];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(duration_format_go(rows[i].usec, buf), rows[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_as_go_prints_them),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_parse_stays_within),
        cmocka_unit_test(test_against_libc),
        cmocka_unit_test(test_format_extremes),
        cmocka_unit_test(test_http),
        cmocka_unit_test(test_duration_steps),
        cmocka_unit_test(test_duration_format_limit),
        cmocka_unit_test(test_duration_parse),
        cmocka_unit_test(test_duration_parse_refuses),
        cmocka_unit_test(test_duration_parse_random),
    };
    return cmocka_run_group_tests_name("timefmt", tests, NULL, NULL);
}
