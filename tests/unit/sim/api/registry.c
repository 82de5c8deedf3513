/* Writes: versions, names, finalizers, grace periods. */
#include "sim/api/registry.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_versions(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *a = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
                        "{\"metadata\":{\"name\":\"x\"},\"data\":{\"a\":\"1\"}}");
    sim_ask(&s, 409, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\"}}");
    json_t *same = sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/x",
                           "{\"data\":{\"a\":\"1\"}}");
    assert_true(json_equal(a, same)); /* nothing changed, no new version */
    json_t *b = sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/x",
                        "{\"data\":{\"a\":\"2\"}}");
    assert_string_not_equal(sim_str(a, "metadata.resourceVersion"),
                            sim_str(b, "metadata.resourceVersion"));
    char *old = json_dumps(a, 0);
    sim_ask(&s, 409, "PUT", "/api/v1/namespaces/default/configmaps/x", old);
    free(old);
    json_t *g = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
                        "{\"metadata\":{\"generateName\":\"gen-\"}}");
    assert_int_equal(strlen(sim_str(g, "metadata.name")), strlen("gen-") + 5);
    sim_ask(&s, 404, "POST", "/api/v1/namespaces/none/configmaps",
            "{\"metadata\":{\"name\":\"x\"}}");
    json_t *dry = sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All",
                          "{\"metadata\":{\"name\":\"dry\"}}");
    assert_null(sim_at(dry, "metadata.resourceVersion"));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/dry", NULL);
    sim_site_done(&s);
}

static void test_finalizers(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\",\"finalizers\":[\"a.b/c\"]}}");
    json_t *d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/x", NULL);
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-15T00:00:00Z");
    json_t *e = sim_ask(&s, 409, "POST", "/api/v1/namespaces/default/configmaps",
                        "{\"metadata\":{\"name\":\"x\"}}");
    assert_non_null(strstr(sim_str(e, "message"), "object is being deleted"));
    sim_ask(&s, 422, "PATCH", "/api/v1/namespaces/default/configmaps/x",
            "{\"metadata\":{\"finalizers\":[\"a.b/c\",\"d.e/f\"]}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/x",
            "{\"metadata\":{\"finalizers\":null}}");
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    sim_site_done(&s);
}

static void test_grace(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\",\"terminationGracePeriodSeconds\":"
            "30}}");
    json_t *d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p", NULL);
    assert_int_equal(sim_int(d, "metadata.deletionGracePeriodSeconds"), 30);
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-15T00:00:30Z");
    /* only shorter, never longer */
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p",
                "{\"gracePeriodSeconds\":60}");
    assert_int_equal(sim_int(d, "metadata.deletionGracePeriodSeconds"), 30);
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p",
                "{\"gracePeriodSeconds\":5}");
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-15T00:00:05Z");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p", "{\"gracePeriodSeconds\":0}");
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    /* without a node there is nothing to wait for */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}]}}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/q", NULL);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/q", NULL);
    sim_site_done(&s);
}

/* The words are those of a kube-apiserver v1.36.3. */
static void test_anothers_uid(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n\",\"uid\":\"\"}}");
    json_t *e =
        sim_ask(&s, 409, "PUT", "/api/v1/nodes/n", "{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"}}");
    assert_non_null(
        strstr(sim_str(e, "message"),
               "Operation cannot be fulfilled on nodes \"n\": StorageError: invalid "
               "object, Code: 4, Key: /registry/minions/n, ResourceVersion: 0, "
               "AdditionalErrorMsg: Precondition failed: UID in precondition: u, UID in "
               "object meta: "));
    /* a job that is deleted without a word leaves its pods behind */
    sim_ask(&s, 201, "POST", "/apis/batch/v1/namespaces/default/jobs",
            "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":"
            "\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    json_t *j = sim_ask(&s, 200, "DELETE", "/apis/batch/v1/namespaces/default/jobs/j", NULL);
    assert_string_equal(sim_str(j, "metadata.finalizers.0"), "orphan");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_finalizers),
        cmocka_unit_test(test_grace),
        cmocka_unit_test(test_anothers_uid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
