/* Tests of controller/health.c: what is answered. The listener is net/server.c, and is tried with
 * the whole program in tests/cluster/test_operations.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controller/health.h"

struct fixture {
    const char *caches, *lease, *https;
    unsigned looked;
    struct metrics *metrics;
};

static const char *caches(void *arg) {
    return ((const struct fixture *)arg)->caches;
}

static const char *lease(void *arg) {
    return ((const struct fixture *)arg)->lease;
}

static const char *https(void *arg) {
    return ((const struct fixture *)arg)->https;
}

static void look(void *arg) {
    struct fixture *f = arg;
    f->looked++;
    metrics_forget_gauges(f->metrics);
    metrics_set(f->metrics, METRIC_LEADER, 1, NULL);
}

static const struct health_check checks[] = {{.name = "caches", .problem = caches},
                                             {.name = "lease", .problem = lease},
                                             {.name = "https", .problem = https, .minor = true},
                                             {0}};

static int ask(struct fixture *f, const char *method, const char *path, const char *accept,
               const char **type, struct str *body) {
    struct health_opts opts = {.checks = checks, .metrics = f->metrics, .gauges = look, .arg = f};
    str_reset(body);
    return health_answer(&opts, method, path, accept, type, body);
}

static void it_answers(void **state) {
    struct fixture f = {.metrics = metrics_new(0)};
    _cleanup_str_ struct str body = STR_INIT;
    const char *type;
    (void)state;
    f.caches = "not yet";
    assert_int_equal(ask(&f, "GET", "/healthz", NULL, &type, &body), 200);
    assert_string_equal(str_get(&body), "ok\n");
    assert_int_equal(ask(&f, "GET", "/readyz", NULL, &type, &body), 503);
    assert_string_equal(str_get(&body),
                        "[-]caches not yet\n[+]lease ok\n[+]https ok\nreadyz check failed\n");
    f.caches = NULL;
    f.lease = "who knows";
    assert_int_equal(ask(&f, "GET", "/readyz", NULL, &type, &body), 503);
    f.lease = NULL;
    assert_int_equal(ask(&f, "HEAD", "/readyz", NULL, &type, &body), 200);
    assert_string_equal(str_get(&body),
                        "[+]caches ok\n[+]lease ok\n[+]https ok\nreadyz check passed\n");
    f.https = "no certificate";
    assert_int_equal(ask(&f, "GET", "/readyz", NULL, &type, &body), 200);
    assert_string_equal(str_get(&body), "[+]caches ok\n[+]lease ok\n[-]https no certificate\n"
                                        "readyz check passed\n");
    assert_int_equal(f.looked, 0);
    metrics_free(f.metrics);
}

static void metrics_as_they_are_now(void **state) {
    struct fixture f = {.metrics = metrics_new(0)};
    _cleanup_str_ struct str body = STR_INIT;
    const char *type;
    (void)state;
    assert_int_equal(ask(&f, "GET", "/metrics", NULL, &type, &body), 200);
    assert_string_equal(type, EXPOSITION_TEXT);
    assert_non_null(strstr(str_get(&body), "\nslipway_leader 1\n"));
    assert_null(strstr(str_get(&body), "# EOF"));
    assert_int_equal(ask(&f, "GET", "/metrics", "application/openmetrics-text", &type, &body), 200);
    assert_string_equal(type, EXPOSITION_OPEN);
    assert_true(str_ends(str_get(&body), "\n# EOF\n"));
    assert_int_equal(f.looked, 2);
    metrics_free(f.metrics);
}

static void nothing_else(void **state) {
    struct fixture f = {.metrics = metrics_new(0)};
    _cleanup_str_ struct str body = STR_INIT;
    const char *type;
    (void)state;
    assert_int_equal(ask(&f, "GET", "/", NULL, &type, &body), 404);
    assert_int_equal(ask(&f, "GET", "/metrics/", NULL, &type, &body), 404);
    assert_int_equal(ask(&f, "POST", "/metrics", NULL, &type, &body), 405);
    assert_int_equal(ask(&f, "DELETE", "/healthz", NULL, &type, &body), 405);
    assert_int_equal(f.looked, 0);
    metrics_free(f.metrics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers),
        cmocka_unit_test(metrics_as_they_are_now),
        cmocka_unit_test(nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
