/* Dates, times and durations as formats. */
#include "structural_test.h"

static void check(bool (*format)(struct view), const char *const *texts, size_t n, bool wanted) {
    for (size_t i = 0; i < n; i++)
        if (format(view_of(texts[i])) != wanted)
            fail_msg("%s", texts[i]);
}
#define CHECK(format, wanted, ...)                                                                 \
    do {                                                                                           \
        static const char *const texts_[] = {__VA_ARGS__};                                         \
        check(format, texts_, ARRAY_LEN(texts_), wanted);                                          \
    } while (0)

static void test_date(void **state) {
    (void)state;
    CHECK(format_date, true, "2026-11-15", "2024-02-29", "2000-02-29", "0000-01-01");
    CHECK(format_date, false, "", "2025-02-29", "1900-02-29", "2026-13-01", "2026-00-01",
          "2026-11-31", "2026-11-00", "26-11-15", "2026-1-5", "2026-11-15 ", "2026/11/15");
}

static void test_datetime(void **state) {
    (void)state;
    CHECK(format_datetime, true, "2026-11-15T10:00:00Z", "2026-11-15t10:00:00z",
          "2026-11-15T10:00:00.5Z", "2026-11-15T10:00:00+05:00", "2026-11-15T10:00:00+99:99",
          /* oddities of the server's pattern */
          "2026-11-15T10:00:00x5Z", "2026-11-15T10:00:00ZTanything",
          "2026-11-15T10:00:00\xc3\xa9\x35Z");
    CHECK(format_datetime, false, "", "2026-11-15", "2026-11-15T", "2026-11-15T10:00:00",
          "2026-11-15T24:00:00Z", "2026-11-15T10:60:00Z", "2026-11-15T10:00:60Z",
          "2026-11-15 10:00:00Z", "2026-11-15T10:00:00.Z", "2026-11-15T10:00:00-0500",
          "2026-02-30T10:00:00Z", "T10:00:00Z", "2026-11-15T1", "2026-11-15T10:00:00\n5Z");
}

static void test_duration(void **state) {
    (void)state;
    CHECK(format_duration, true, "5m", "1h30m", "1.5h", "-1h", "+1h", "0", "-0", ".5s", "1.s",
          "10\xc2\xb5s", "10\xce\xbcs", "9223372036854775807ns", "-9223372036854775808ns",
          /* Scala's */
          "1 day", "5 seconds", "3 weeks ago", "1hr", "1 wk", "1 NANO", "x1s", "1\ts",
          "99999999999h");
    CHECK(format_duration, false, "", "1", "five", "1e3", ".s", "1 Mo", "1hrs", "1 wks",
          "99999999999999999999 s", "1 day 99999999999999999999 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_date),
        cmocka_unit_test(test_datetime),
        cmocka_unit_test(test_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
