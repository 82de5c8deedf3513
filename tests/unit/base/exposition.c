/* Tests of base/exposition.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exposition.h"

/* A gauge with labels, a counter without, one bound. */
static void write_some(struct str *out, bool open) {
    struct exposition e;
    exposition_init(&e, out, open);
    exposition_family(&e, "a_gauge", EXPOSE_GAUGE, "Something that goes up and down.");
    struct exposition_label labels[] = {{"node", "w1"}, {"why", "\"a\\b\"\n\xff"}, {"none", NULL}};
    exposition_sample(&e, "", labels, 3, 1.5);
    exposition_family(&e, "b_total", EXPOSE_COUNTER, "Something that goes up.");
    exposition_sample(&e, "", NULL, 0, 3);
    exposition_family(&e, "c", EXPOSE_UNKNOWN, "Somebody else's.");
    exposition_end(&e);
}

static void plain(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    write_some(&out, false);
    assert_string_equal(str_get(&out),
                        "# HELP a_gauge Something that goes up and down.\n"
                        "# TYPE a_gauge gauge\n"
                        "a_gauge{node=\"w1\",why=\"\\\"a\\\\b\\\"\\n\xef\xbf\xbd\",none=\"\"} 1.5\n"
                        "# HELP b_total Something that goes up.\n"
                        "# TYPE b_total counter\n"
                        "b_total 3\n"
                        "# HELP c Somebody else's.\n"
                        "# TYPE c untyped\n");
}

/* The family of a counter has another name, what is untyped another word, and there is an end. */
static void open_metrics(void **state) {
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    write_some(&out, true);
    assert_string_equal(str_get(&out),
                        "# HELP a_gauge Something that goes up and down.\n"
                        "# TYPE a_gauge gauge\n"
                        "a_gauge{node=\"w1\",why=\"\\\"a\\\\b\\\"\\n\xef\xbf\xbd\",none=\"\"} 1.5\n"
                        "# HELP b Something that goes up.\n"
                        "# TYPE b counter\n"
                        "b_total 3\n"
                        "# HELP c Somebody else's.\n"
                        "# TYPE c unknown\n"
                        "# EOF\n");
}

static void numbers(void **state) {
    static const struct {
        double value;
        const char *plain, *open;
    } rows[] = {
        {0.005, "0.005", "0.005"},
        {30, "30", "30.0"},
        {INFINITY, "+Inf", "+Inf"},
        {-INFINITY, "-Inf", "-Inf"},
        {NAN, "NaN", "NaN"},
        {1794848400.125, "1794848400.125", "1794848400.125"}, /* a point in time */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int open = 0; open < 2; open++) {
            _cleanup_str_ struct str out = STR_INIT;
            struct exposition e;
            exposition_init(&e, &out, open);
            exposition_number(&e, rows[i].value, &out);
            assert_string_equal(str_get(&out), open ? rows[i].open : rows[i].plain);
        }
}

static void accept(void **state) {
    (void)state;
    assert_false(exposition_wants_open(NULL));
    assert_false(exposition_wants_open(""));
    assert_false(exposition_wants_open("text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
    assert_false(exposition_wants_open("application/openmetrics-text-not"));
    assert_true(exposition_wants_open("application/openmetrics-text"));
    assert_true(exposition_wants_open("text/html, Application/OpenMetrics-Text ;version=1.0.0"));
    assert_true(exposition_wants_open("application/openmetrics-text;version=1.0.0;q=0.5,*/*"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(open_metrics),
        cmocka_unit_test(numbers),
        cmocka_unit_test(accept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
