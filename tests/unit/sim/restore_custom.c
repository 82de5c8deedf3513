/* Tests of src/sim/restore_custom.c: custom resources of a copy are there to be read. */
#include "copy_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet/original.h"

#define DEFINITION                                                                                 \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"metadata\":{\"name\":\"volumes.longhorn.io\"},\"spec\":{\"group\":\"longhorn.io\","         \
    "\"names\":{\"plural\":\"volumes\",\"kind\":\"Volume\"},\"scope\":\"Namespaced\","             \
    "\"versions\":[{\"name\":\"v1beta2\",\"served\":true,\"storage\":true,\"schema\":{"            \
    "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}"
#define VOLUME                                                                                     \
    "{\"apiVersion\":\"longhorn.io/v1beta2\",\"kind\":\"Volume\",\"metadata\":{\"name\":\"v\","    \
    "\"namespace\":\"store\",\"uid\":\"6ba7b810-9dad-41d1-80b4-00c04fd430c8\","                    \
    "\"creationTimestamp\":\"2026-11-15T08:00:00Z\",\"resourceVersion\":\"77\"},"                  \
    "\"spec\":{\"numberOfReplicas\":2},\"status\":{\"robustness\":\"degraded\"}}"
#define VOLUMES "/apis/longhorn.io/v1beta2/namespaces/store/volumes"

static void test_read(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SEC(1794729600));
    assert_int_equal(copy_put(&c, DEFINITION, NULL), 0);
    assert_int_equal(copy_put(&c, VOLUME, NULL), 0);
    assert_int_equal(restore_kept(c.restore), 2);
    assert_int_equal(restore_dropped(c.restore) + restore_refused(c.restore, NULL), 0);
    copy_end(&c);
    /* before the clock has moved, and long after */
    for (int i = 0; i < 2; i++) {
        json_t *v = sim_ask(&c.to, 200, "GET", VOLUMES "/v", NULL);
        assert_string_equal(sim_str(v, "metadata.uid"), "6ba7b810-9dad-41d1-80b4-00c04fd430c8");
        assert_string_equal(sim_str(v, "metadata.creationTimestamp"), "2026-11-15T08:00:00Z");
        assert_string_equal(sim_str(v, "status.robustness"), "degraded");
        assert_int_equal(json_integer_value(sim_at(v, "spec.numberOfReplicas")), 2);
        json_t *found = sim_ask(&c.to, 200, "GET", "/apis/longhorn.io/v1beta2", NULL);
        assert_int_equal(json_array_size(json_object_get(found, "resources")), 1);
        sim_pass(&c.to, SEC(3600));
    }
    copy_done(&c);
}

/* Without its definition it is of an unknown kind; what no server would have stored is left out. */
static void test_not_kept(void **state) {
    (void)state;
    struct copy_site c;
    _cleanup_err_ struct err err = ERR_INIT;
    const char *why = NULL;
    copy_begin(&c, SEC(1794729600));
    assert_int_equal(copy_put(&c, VOLUME, NULL), 0);
    assert_int_equal(restore_dropped(c.restore), 1);
    assert_int_equal(copy_put(&c,
                              "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
                              "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"x.y.z\"},"
                              "\"spec\":{\"group\":\"other\",\"scope\":\"Namespaced\"}}",
                              NULL),
                     0);
    assert_int_equal(restore_refused(c.restore, &why), 1);
    assert_non_null(strstr(why, "x.y.z"));
    assert_int_equal(copy_put(&c, DEFINITION, NULL), 0);
    assert_true(copy_put(&c,
                         "{\"apiVersion\":\"longhorn.io/v1beta2\",\"kind\":\"Volume\","
                         "\"metadata\":{\"name\":\"v\"}}",
                         &err) < 0);
    assert_non_null(strstr(err_msg(&err), "has no namespace"));
    copy_end(&c);
    copy_done(&c);
}

/* What a custom resource owns has no controller in the copy, though the owner is there. */
static void test_owner_is_a_stranger(void **state) {
    (void)state;
    struct copy_site c;
    copy_begin(&c, SEC(1794729600));
    assert_int_equal(copy_put(&c, DEFINITION, NULL), 0);
    assert_int_equal(copy_put(&c, VOLUME, NULL), 0);
    assert_int_equal(
        copy_put(&c,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                 "\"namespace\":\"store\",\"ownerReferences\":[{\"apiVersion\":"
                 "\"longhorn.io/v1beta2\",\"kind\":\"Volume\",\"name\":\"v\",\"controller\":true,"
                 "\"uid\":\"6ba7b810-9dad-41d1-80b4-00c04fd430c8\"}]},\"spec\":{\"containers\":["
                 "{\"name\":\"c\",\"image\":\"i\"}]}}",
                 NULL),
        0);
    copy_end(&c);
    assert_true(original_is_stranger(c.to.fleet->original, "6ba7b810-9dad-41d1-80b4-00c04fd430c8"));
    sim_pass(&c.to, SEC(600));
    sim_ask(&c.to, 200, "GET", "/api/v1/namespaces/store/pods/p", NULL);
    copy_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_not_kept),
        cmocka_unit_test(test_owner_is_a_stranger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
