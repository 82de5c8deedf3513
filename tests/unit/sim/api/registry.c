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
    /* more than 64 bits of nanoseconds: a time.Duration goes round */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}],\"nodeName\":\"n\",\"terminationGracePeriodSeconds\":1000000000000000000}}");
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/r", NULL);
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "1807-03-30T06:19:32Z");
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/r",
                "{\"gracePeriodSeconds\":5}");
    /* of what went round the seconds were kept, and not their fraction */
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-15T00:00:04Z");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}],\"nodeName\":\"n\",\"terminationGracePeriodSeconds\":9223372036854775807}}");
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/t", NULL);
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-14T23:59:59Z");
    d = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/t",
                "{\"gracePeriodSeconds\":7}");
    assert_string_equal(sim_str(d, "metadata.deletionTimestamp"), "2026-11-15T00:00:07Z");
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

/* Delete() in pkg/registry/core/namespace/storage/storage.go. */
static void test_namespace_preconditions(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *ns = sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"x\"}}");
    _cleanup_str_ struct str uid = STR_INIT, version = STR_INIT;
    str_addf(&uid,
             "Operation cannot be fulfilled on namespaces \"x\": Precondition failed: UID in "
             "precondition: other, UID in object meta: %s",
             sim_str(ns, "metadata.uid"));
    str_addf(&version,
             "Operation cannot be fulfilled on namespaces \"x\": Precondition failed: "
             "ResourceVersion in precondition: 1, ResourceVersion in object meta: %s",
             sim_str(ns, "metadata.resourceVersion"));
    json_t *e = sim_ask(&s, 409, "DELETE", "/api/v1/namespaces/x",
                        "{\"preconditions\":{\"uid\":\"other\",\"resourceVersion\":\"1\"}}");
    assert_string_equal(sim_str(e, "message"), str_get(&uid));
    assert_string_equal(sim_str(e, "details.kind"), "namespaces");
    e = sim_ask(&s, 409, "DELETE", "/api/v1/namespaces/x",
                "{\"preconditions\":{\"resourceVersion\":\"1\"}}");
    assert_string_equal(sim_str(e, "message"), str_get(&version));
    sim_site_done(&s);
}

/* The handler compares the namespaces before anybody looks for the object. */
static void test_other_namespace(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *e = sim_ask(&s, 400, "PUT", "/api/v1/namespaces/default/configmaps/none",
                        "{\"metadata\":{\"name\":\"none\",\"namespace\":\"elsewhere\"}}");
    assert_string_equal(sim_str(e, "message"),
                        "the namespace of the provided object does not match "
                        "the namespace sent on the request");
    sim_ask(&s, 404, "PUT", "/api/v1/namespaces/default/configmaps/none",
            "{\"metadata\":{\"name\":\"none\"}}");
    sim_site_done(&s);
}

/* What etcd would refuse is refused, and changes nothing. */
static void test_sizes(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const struct {
        size_t size;
        int code;
        const char *message;
    } rows[] = {
        {1400000, 201, ""},
        {1570000, 201, ""},
        {1573000, 500, "etcdserver: request is too large"},
        {2090000, 500, "etcdserver: request is too large"},
        {2100000, 500,
         "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str body = STR_INIT;
        str_addf(&body,
                 "{\"metadata\":{\"name\":\"p%zu\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                 "\"image\":\"i\",\"env\":[{\"name\":\"E\",\"value\":\"",
                 i);
        for (size_t k = 0; k < rows[i].size; k++)
            str_addc(&body, 'x');
        str_add(&body, "\"}]}]}}");
        json_t *v =
            sim_ask(&s, rows[i].code, "POST", "/api/v1/namespaces/default/pods", str_get(&body));
        if (rows[i].code == 201)
            continue;
        assert_true(str_starts(sim_str(v, "message"), rows[i].message));
        assert_null(json_object_get(v, "reason"));
        char path[64];
        snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/p%zu", i);
        sim_ask(&s, 404, "GET", path, NULL);
        /* a dry run is not stored */
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods?dryRun=All", str_get(&body));
    }
    sim_site_done(&s);
}

/* Names that no key can have. */
static void test_segments(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const struct {
        const char *name, *why;
    } rows[] = {
        {"..", "Name parameter invalid: \"..\": may not be '..'"},
        {"%2e", "Name parameter invalid: \".\": may not be '.'"},
        {"a%25b", "Name parameter invalid: \"a%b\": may not contain '%'"},
    };
    static const char *const methods[] = {"GET", "DELETE", "PATCH"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(methods); k++) {
            char path[64];
            snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", rows[i].name);
            json_t *v = sim_ask(&s, 400, methods[k], path, k == 2 ? "{}" : NULL);
            assert_string_equal(sim_str(v, "message"), rows[i].why);
        }
    json_t *v = sim_ask(&s, 400, "GET", "/api/v1/nodes//status", NULL);
    assert_string_equal(sim_str(v, "message"), "name must be provided");
    sim_site_done(&s);
}

/* NUL does not cut a name short. */
static void test_nul(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *v = sim_ask(&s, 422, "POST", "/api/v1/namespaces/default/configmaps",
                        "{\"metadata\":{\"name\":\"x\\u0000y\"}}");
    assert_true(str_starts(sim_str(v, "message"), "ConfigMap \"x\\x00y\" is invalid: "));
    sim_ask(&s, 400, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\",\"namespace\":\"default\\u0000y\"}}");
    sim_ask(&s, 400, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"kind\":\"ConfigMap\\u0000y\",\"metadata\":{\"name\":\"x\"}}");
    sim_ask(&s, 422, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\"},\"data\":{\"a\\u0000\":\"b\"}}");
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"a\":\"b\\u0000\"}},"
            "\"data\":{\"a\":\"b\\u0000c\"}}");
    v = sim_ask(&s, 422, "PATCH", "/api/v1/namespaces/default/configmaps/x",
                "{\"metadata\":{\"labels\":{\"a\":\"b\\u0000c\"}}}");
    assert_non_null(strstr(sim_str(v, "message"), "\"b\\x00c\""));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    assert_non_null(strstr(sim_text(&s), "b\\u0000c"));
    sim_site_done(&s);
}

/* A lease that is put where there was none is made; a rehearsal leaves the version that was sent.
 */
static void test_made_by_put(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *lease = "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"1\"}}";
    json_t *l =
        sim_ask(&s, 201, "PUT",
                "/apis/coordination.k8s.io/v1/namespaces/default/leases/x?dryRun=All", lease);
    assert_string_equal(sim_str(l, "metadata.resourceVersion"), "1");
    l = sim_ask(&s, 201, "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/x", lease);
    assert_string_not_equal(sim_str(l, "metadata.resourceVersion"), "1");
    sim_site_done(&s);
}

/* Delete() in pkg/registry/core/namespace/storage/storage.go: marked once, then gone when nothing
 * is waited for. */
static void test_namespace_without_finalizers(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"x\"}}");
    json_t *ns = sim_ask(&s, 200, "PUT", "/api/v1/namespaces/x/finalize",
                         "{\"metadata\":{\"name\":\"x\"},\"spec\":{}}");
    assert_null(sim_at(ns, "spec.finalizers"));
    ns = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/x", NULL);
    assert_string_equal(sim_str(ns, "status.phase"), "Terminating");
    assert_non_null(sim_str(ns, "metadata.deletionTimestamp"));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/x", NULL);
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/x", NULL);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/x", NULL);
    /* its own finalizers hold it too */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces",
            "{\"metadata\":{\"name\":\"y\",\"finalizers\":[\"example.com/hold\"]}}");
    sim_ask(&s, 200, "PUT", "/api/v1/namespaces/y/finalize",
            "{\"metadata\":{\"name\":\"y\",\"finalizers\":[\"example.com/hold\"]},\"spec\":{}}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/y", NULL);
    ns = sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/y", NULL);
    assert_int_equal(sim_int(ns, "metadata.deletionGracePeriodSeconds"), 0);
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/y", "{\"metadata\":{\"finalizers\":null}}");
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/y", NULL);
    sim_site_done(&s);
}

/* As etcd: when it is full nothing more is taken, and what is deleted makes room. */
static void test_quota(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    uint64_t before = s.world->stored;
    assert_true(before > 0 && before < 100000);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"b\"},\"data\":{\"k\":\"v\"}}");
    assert_true(s.world->stored > before);
    s.world->stored += WORLD_QUOTA - before; /* as if there were so much more */
    json_t *said = sim_ask(&s, 500, "POST", "/api/v1/namespaces/default/configmaps",
                           "{\"metadata\":{\"name\":\"c\"}}");
    assert_string_equal(sim_str(said, "message"), "etcdserver: mvcc: database space exceeded");
    sim_ask(&s, 500, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"y\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All",
            "{\"metadata\":{\"name\":\"c\"}}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/b", NULL);
    assert_int_equal(s.world->stored, WORLD_QUOTA);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"c\"}}");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quota),           cmocka_unit_test(test_namespace_without_finalizers),
        cmocka_unit_test(test_made_by_put),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_segments),        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_other_namespace), cmocka_unit_test(test_namespace_preconditions),
        cmocka_unit_test(test_versions),        cmocka_unit_test(test_finalizers),
        cmocka_unit_test(test_grace),           cmocka_unit_test(test_anothers_uid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
