/* Tests of controller/metrics.c. */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controller/metrics.h"

/* What Prometheus asks of names, and what a page needs. */
static void rows(void **state) {
    (void)state;
    for (size_t i = 0; i < METRICS; i++) {
        const struct metric_row *row = &metric_rows[i];
        assert_non_null(row->name);
        for (const char *p = row->name; *p; p++)
            assert_true(islower((unsigned char)*p) || *p == '_' ||
                        (isdigit((unsigned char)*p) && row->compat != COMPAT_NONE));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(row->name, metric_rows[j].name);
        if (row->compat == COMPAT_NONE) {
            assert_true(str_starts(row->name, "slipway_") || str_starts(row->name, "process_"));
            assert_int_equal(row->type == EXPOSE_COUNTER, str_ends(row->name, "_total"));
            assert_true(row->type != EXPOSE_UNKNOWN);
        }
        assert_int_equal(row->type == EXPOSE_HISTOGRAM, row->bounds != NULL);
        for (const double *b = row->bounds; b && b[0] && b[1]; b++)
            assert_true(b[0] < b[1]);
        assert_true(isupper((unsigned char)row->help[0]) || isdigit((unsigned char)row->help[0]));
        assert_int_equal(row->help[strlen(row->help) - 1], '.');
        assert_null(strpbrk(row->help, "\\\"\n"));
    }
}

static void counts(void **state) {
    struct metrics *m = metrics_new(0);
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    METRIC_ADD(m, METRIC_EVICTIONS, 1, "evicted");
    METRIC_ADD(m, METRIC_EVICTIONS, 1, "gone");
    METRIC_ADD(m, METRIC_EVICTIONS, 2, "evicted");
    metrics_raise(m, METRIC_PROCESS_CPU, 0.5, NULL);
    metrics_raise(m, METRIC_PROCESS_CPU, 0.75, NULL);
    metrics_write(m, false, &out);
    assert_non_null(strstr(str_get(&out), "\nslipway_evictions_total{outcome=\"evicted\"} 3\n"
                                          "slipway_evictions_total{outcome=\"gone\"} 1\n"));
    assert_non_null(strstr(str_get(&out), "\nprocess_cpu_seconds_total 0.75\n"));
    assert_null(strstr(str_get(&out), "slipway_leader")); /* nobody has said */
    metrics_free(m);
}

static void gauges_are_of_now(void **state) {
    struct metrics *m = metrics_new(0);
    _cleanup_str_ struct str out = STR_INIT;
    (void)state;
    METRIC_SET(m, METRIC_SLOTS_HELD, 1, "a");
    METRIC_ADD(m, METRIC_EVICTIONS, 1, "gone");
    metrics_forget_gauges(m);
    METRIC_SET(m, METRIC_SLOTS_HELD, 2, "b");
    metrics_write(m, false, &out);
    assert_null(strstr(str_get(&out), "policy=\"a\""));
    assert_non_null(strstr(str_get(&out), "slipway_slots_held{policy=\"b\"} 2\n"));
    assert_non_null(strstr(str_get(&out), "evictions_total"));
    metrics_free(m);
}

/* A value that is on a bound is below it; buckets add up. */
static void histograms(void **state) {
    struct metrics *m = metrics_new(0);
    _cleanup_str_ struct str out = STR_INIT, open = STR_INIT;
    (void)state;
    METRIC_OBSERVE(m, METRIC_PHASE_DURATION, 5, "p", "Draining", "ok");
    METRIC_OBSERVE(m, METRIC_PHASE_DURATION, 5.5, "p", "Draining", "ok");
    METRIC_OBSERVE(m, METRIC_PHASE_DURATION, 9000, "p", "Draining", "ok");
    metrics_write(m, false, &out);
#define SERIES "{policy=\"p\",phase=\"Draining\",outcome=\"ok\""
    assert_non_null(strstr(str_get(&out), "_bucket" SERIES ",le=\"1\"} 0\n"));
    assert_non_null(strstr(str_get(&out), "_bucket" SERIES ",le=\"5\"} 1\n"));
    assert_non_null(strstr(str_get(&out), "_bucket" SERIES ",le=\"15\"} 2\n"));
    assert_non_null(strstr(str_get(&out), "_bucket" SERIES ",le=\"7200\"} 2\n"));
    assert_non_null(strstr(str_get(&out), "_bucket" SERIES ",le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(str_get(&out), "_sum" SERIES "} 9010.5\n"));
    assert_non_null(strstr(str_get(&out), "_count" SERIES "} 3\n"));
    metrics_write(m, true, &open);
    assert_non_null(strstr(str_get(&open), "_bucket" SERIES ",le=\"5.0\"} 1\n"));
    metrics_free(m);
}

static void names_of_others(void **state) {
    _cleanup_err_ struct err err = ERR_INIT;
    unsigned found = 99;
    (void)state;
    assert_int_equal(metrics_compat("", &found, NULL), 0);
    assert_int_equal(found, 0);
    assert_int_equal(metrics_compat("kured,fleetlock", &found, NULL), 0);
    assert_int_equal(found, COMPAT_KURED | COMPAT_FLEETLOCK);
    assert_int_equal(metrics_compat("airlock", &found, NULL), 0);
    assert_int_equal(found, COMPAT_AIRLOCK);
    assert_int_equal(metrics_compat("kure", &found, &err), -EINVAL);
    assert_int_equal(found, COMPAT_AIRLOCK);
    assert_non_null(strstr(err_msg(&err), "\"kure\""));
    assert_int_equal(metrics_compat("kured,,airlock", &found, NULL), -EINVAL);

    for (unsigned compat = 0; compat < 2; compat++) {
        struct metrics *m = metrics_new(compat ? COMPAT_KURED : 0);
        _cleanup_str_ struct str out = STR_INIT;
        METRIC_SET(m, METRIC_KURED_REBOOT_REQUIRED, 1, "w1");
        METRIC_ADD(m, METRIC_FLEETLOCK_TRANSITIONS, 1, "default");
        metrics_write(m, false, &out);
        assert_int_equal(compat, strstr(str_get(&out), "kured_reboot_required{node") != NULL);
        assert_null(strstr(str_get(&out), "fleetlock"));
        metrics_free(m);
    }
}

/* Before the first request. */
static void others_count_from_nothing(void **state) {
    (void)state;
    struct metrics *m = metrics_new(COMPAT_AIRLOCK | COMPAT_FLEETLOCK);
    _cleanup_str_ struct str out = STR_INIT;
    metrics_write(m, false, &out);
    assert_non_null(strstr(str_get(&out), "\nairlock_v1_pre_reboot_incoming_requests_total 0\n"));
    assert_non_null(strstr(str_get(&out), "\nairlock_v1_steady_state_incoming_requests_total 0\n"));
    assert_non_null(strstr(str_get(&out), "\nfleetlock_lock_request_count 0\n"));
    assert_non_null(strstr(str_get(&out), "\nfleetlock_unlock_request_count 0\n"));
    assert_null(strstr(str_get(&out), "kured"));
    metrics_free(m);
}

static void nobody_counts(void **state) {
    (void)state;
    METRIC_ADD(NULL, METRIC_EVICTIONS, 1, "gone");
    METRIC_OBSERVE(NULL, METRIC_FLEETLOCK_DURATION, 1, "pre-reboot");
    assert_int_equal(metrics_compat_of(NULL), 0);
    metrics_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(counts),
        cmocka_unit_test(histograms),
        cmocka_unit_test(gauges_are_of_now),
        cmocka_unit_test(names_of_others),
        cmocka_unit_test(others_count_from_nothing),
        cmocka_unit_test(nobody_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
