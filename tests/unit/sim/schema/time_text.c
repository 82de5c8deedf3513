/* Tests of schema/time_text: the expected texts are those of metav1.Time and metav1.MicroTime. */
#include "sim/schema/time_text.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct {
    const char *text;
    bool micro;
    const char *expected;
} good[] =
    {
        {"2026-11-15T08:00:00Z", false, "2026-11-15T08:00:00Z"},
        {"2026-11-15T08:00:00+01:00", false, "2026-11-15T07:00:00Z"},
        {"2026-11-15T08:00:00.999Z", false, "2026-11-15T08:00:00Z"},
        {"2026-11-15T08:00:00,5Z", false, "2026-11-15T08:00:00Z"},
        {"0001-01-01T00:00:00Z", false, "null"},
        {"0001-01-01T00:00:01Z", false, "0001-01-01T00:00:01Z"},
        {"1970-01-01T00:00:00Z", false, "1970-01-01T00:00:00Z"},
        {"1969-12-31T23:59:59Z", false, "1969-12-31T23:59:59Z"},
        {"2000-02-29T00:00:00Z", false, "2000-02-29T00:00:00Z"},
        {"2024-02-29T12:00:00-24:60", false, "2024-03-01T13:00:00Z"},
        {"9999-12-31T23:59:59Z", false, "9999-12-31T23:59:59Z"},
        {"0000-01-01T00:00:00Z", false, "0000-01-01T00:00:00Z"},
        {"2026-11-15T8:00:00Z", false, "2026-11-15T08:00:00Z"},
        {"1600-02-29T00:00:00Z", false, "1600-02-29T00:00:00Z"},
        {"2100-03-01T00:00:00Z", false, "2100-03-01T00:00:00Z"},
        {"2026-11-15T08:00:00.123456Z", true, "2026-11-15T08:00:00.123456Z"},
        {"2026-11-15T08:00:00.000000Z", true, "2026-11-15T08:00:00.000000Z"},
        {"2026-11-15T08:00:00.999999+01:00", true, "2026-11-15T07:00:00.999999Z"},
        {"1969-12-31T23:59:59.999999Z", true, "1969-12-31T23:59:59.999999Z"},
        {"0001-01-01T00:00:00.000000Z", true, "null"},
        {"0001-01-01T00:00:00.000001Z", true, "0001-01-01T00:00:00.000001Z"},
        {"9999-12-31T23:59:59.999999Z", true, "9999-12-31T23:59:59.999999Z"},
        {"0000-01-01T00:00:00.000000Z", true, "0000-01-01T00:00:00.000000Z"},
        {"2026-11-15T08:00:00,123456Z", true, "2026-11-15T08:00:00.123456Z"},
},
  bad[] = {
      {"", false,
       "parsing time \"\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"2006\""},
      {"x", false,
       "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\""},
      {"2026", false,
       "parsing time \"2026\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"-\""},
      {"2026-11-15", false,
       "parsing time \"2026-11-15\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\""},
      {"2026-11-15T08:00:00", false,
       "parsing time \"2026-11-15T08:00:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" "
       "as \"Z07:00\""},
      {"2026-11-15 08:00:00Z", false,
       "parsing time \"2026-11-15 08:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \" "
       "08:00:00Z\" as \"T\""},
      {"2026-13-15T08:00:00Z", false, "parsing time \"2026-13-15T08:00:00Z\": month out of range"},
      {"2026-00-15T08:00:00Z", false, "parsing time \"2026-00-15T08:00:00Z\": month out of range"},
      {"2026-11-31T08:00:00Z", false, "parsing time \"2026-11-31T08:00:00Z\": day out of range"},
      {"2026-11-00T08:00:00Z", false, "parsing time \"2026-11-00T08:00:00Z\": day out of range"},
      {"2023-02-29T00:00:00Z", false, "parsing time \"2023-02-29T00:00:00Z\": day out of range"},
      {"2100-02-29T00:00:00Z", false, "parsing time \"2100-02-29T00:00:00Z\": day out of range"},
      {"2026-11-15T24:00:00Z", false, "parsing time \"2026-11-15T24:00:00Z\": hour out of range"},
      {"2026-11-15T08:60:00Z", false, "parsing time \"2026-11-15T08:60:00Z\": minute out of range"},
      {"2026-11-15T08:00:60Z", false, "parsing time \"2026-11-15T08:00:60Z\": second out of range"},
      {"2026-11-15T08:00:00z", false,
       "parsing time \"2026-11-15T08:00:00z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"z\" "
       "as \"Z07:00\""},
      {"2026-11-15t08:00:00Z", false,
       "parsing time \"2026-11-15t08:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"t08:00:00Z\" as \"T\""},
      {"2026-11-15T08:00:00+0100", false,
       "parsing time \"2026-11-15T08:00:00+0100\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"+0100\" as \"Z07:00\""},
      {"2026-11-15T08:00:00+25:00", false,
       "parsing time \"2026-11-15T08:00:00+25:00\": time zone offset hour out of range"},
      {"2026-11-15T08:00:00+00:61", false,
       "parsing time \"2026-11-15T08:00:00+00:61\": time zone offset minute out of range"},
      {"2026-11-15T08:00:00*01:00", false,
       "parsing time \"2026-11-15T08:00:00*01:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"*01:00\" as \"Z07:00\""},
      {"2026-11-15T08:00:00Zx", false, "parsing time \"2026-11-15T08:00:00Zx\": extra text: \"x\""},
      {"2026-11-15T08:00:00.Z", false,
       "parsing time \"2026-11-15T08:00:00.Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\".Z\" as \"Z07:00\""},
      {"20a6-11-15T08:00:00Z", false,
       "parsing time \"20a6-11-15T08:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"20a6-11-15T08:00:00Z\" as \"2006\""},
      {"2026-1-15T08:00:00Z", false,
       "parsing time \"2026-1-15T08:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"1-15T08:00:00Z\" as \"01\""},
      {"\303\251\"\\\012", false,
       "parsing time \"\\xc3\\xa9\\\"\\\\\\x0a\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"\\xc3\\xa9\\\"\\\\\\x0a\" as \"2006\""},
      {"2026-11-15T08:00:00Z", true,
       "parsing time \"2026-11-15T08:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
       "parse \"Z\" as \".000000\""},
      {"2026-11-15T08:00:00.12345Z", true,
       "parsing time \"2026-11-15T08:00:00.12345Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \".12345Z\" as \".000000\""},
      {"2026-11-15T08:00:00.1234567Z", true,
       "parsing time \"2026-11-15T08:00:00.1234567Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \"7Z\" as \"Z07:00\""},
      {"2026-11-15T08:00:00.12345xZ", true,
       "parsing time \"2026-11-15T08:00:00.12345xZ\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \".12345xZ\" as \".000000\""},
      {"2026-11-15T08:00:00:123456Z", true,
       "parsing time \"2026-11-15T08:00:00:123456Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \":123456Z\" as \".000000\""},
      {"", true,
       "parsing time \"\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"2006\""},
};

static void times(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        char buf[TIME_TEXT_LEN];
        int64_t t;
        if (time_text_parse(good[i].text, strlen(good[i].text), good[i].micro, &t, &err))
            fail_msg("%s: %s", good[i].text, err_msg(&err));
        assert_true(time_text_valid(t));
        assert_string_equal(t == TIME_TEXT_ZERO ? "null" : time_text_format(t, good[i].micro, buf),
                            good[i].expected);
    }
}

static void no_times(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        int64_t t = 7;
        if (time_text_parse(bad[i].text, strlen(bad[i].text), bad[i].micro, &t, &err) != -EINVAL)
            fail_msg("%s is a time", bad[i].text);
        assert_string_equal(err_msg(&err), bad[i].expected);
        assert_int_equal(t, 7);
    }
}

static void instants(void **state) {
    (void)state;
    int64_t t;
    assert_int_equal(time_text_parse("1970-01-01T00:00:00Z", 20, false, &t, NULL), 0);
    assert_int_equal(t, 0);
    assert_int_equal(time_text_parse("2026-11-15T08:00:00.000001Z", 27, true, &t, NULL), 0);
    assert_int_equal(t, INT64_C(1794729600000001)); /* date -d 2026-11-15T08:00:00Z +%s */
}

/* Every day of ten thousand years prints as what reads as it. */
static void all_days(void **state) {
    (void)state;
    const int64_t day = INT64_C(86400) * 1000000;
    char buf[TIME_TEXT_LEN], before[TIME_TEXT_LEN] = "";
    int64_t first, t, n = 0;
    assert_int_equal(time_text_parse("0000-01-01T00:00:00Z", 20, false, &first, NULL), 0);
    for (int64_t at = first; time_text_valid(at); at += day, n++) {
        time_text_format(at, false, buf);
        assert_int_equal(time_text_parse(buf, strlen(buf), false, &t, NULL), 0);
        assert_int_equal(t, at);
        assert_true(strcmp(before, buf) < 0);
        memcpy(before, buf, sizeof before);
    }
    assert_int_equal(n, 3652425); /* 25 times 400 years */
}

/* Only by its zone does a time leave the years that can be printed. */
static void outside(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    int64_t t;
    assert_int_equal(time_text_parse("0000-01-01T00:00:00+01:00", 25, false, &t, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "year out of range"));
    assert_int_equal(time_text_parse("9999-12-31T23:59:59-01:00", 25, false, &t, NULL), -EINVAL);
    assert_false(time_text_valid(INT64_MAX));
    assert_false(time_text_valid(INT64_MIN));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),    cmocka_unit_test(no_times), cmocka_unit_test(instants),
        cmocka_unit_test(all_days), cmocka_unit_test(outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
