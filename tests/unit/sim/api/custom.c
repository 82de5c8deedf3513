/* Custom resources: served when their definition is accepted, gone with it. */
#include "sim/api/custom.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_life(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *defs = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const char *ships = "/apis/example.com/v1/namespaces/default/ships";
    sim_ask(&s, 404, "GET", ships, NULL);
    sim_ask(
        &s, 201, "POST", defs,
        "{\"metadata\":{\"name\":\"ships.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"ships\",\"kind\":\"Ship\"},\"versions\":["
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
        "\"object\",\"properties\":{\"masts\":{\"type\":\"integer\",\"default\":2,\"maximum\":5}}},"
        "\"status\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}}}]}}");
    sim_pass(&s, SEC(1));
    json_t *d =
        sim_ask(&s, 200, "GET",
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.example.com", NULL);
    assert_string_equal(sim_str(d, "status.acceptedNames.kind"), "Ship");
    json_t *x = sim_ask(&s, 201, "POST", ships,
                        "{\"apiVersion\":\"example.com/"
                        "v1\",\"kind\":\"Ship\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"nope\":1}"
                        ",\"status\":{\"a\":1}}");
    assert_int_equal(sim_int(x, "spec.masts"), 2);
    assert_null(sim_at(x, "spec.nope"));
    assert_null(sim_at(x, "status"));
    sim_ask(&s, 422, "PATCH", "/apis/example.com/v1/namespaces/default/ships/x",
            "{\"spec\":{\"masts\":9}}");
    x = sim_ask(&s, 200, "PATCH", "/apis/example.com/v1/namespaces/default/ships/x/status",
                "{\"status\":{\"a\":1},\"spec\":{\"masts\":3}}");
    assert_int_equal(sim_int(x, "spec.masts"), 2);
    assert_int_equal(sim_int(x, "status.a"), 1);
    assert_int_equal(sim_int(x, "metadata.generation"), 1);
    sim_ask_as(&s, 415, "PATCH", "/apis/example.com/v1/namespaces/default/ships/x", NULL,
               "application/strategic-merge-patch+json", "{}");
    /* a watch ends with its kind */
    sim_ask(&s, 200, "DELETE",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.example.com", NULL);
    sim_pass(&s, SEC(5));
    sim_ask(&s, 404, "GET", ships, NULL);
    sim_ask(&s, 404, "GET",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ships.example.com", NULL);
    sim_site_done(&s);
}

/* The words are those of the server's handler of custom resources. */
static void test_deprecated(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(
        &s, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "{\"metadata\":{\"name\":\"ships.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":\"Cluster\",\"names\":{\"plural\":\"ships\",\"kind\":\"Ship\"},\"versions\":["
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\"}}},{\"name\":\"v1beta1\",\"served\":true,\"storage\":false,"
        "\"deprecated\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
    sim_pass(&s, SEC(1));
    sim_ask(&s, 200, "GET", "/apis/example.com/v1/ships", NULL);
    assert_int_equal(s.last.warnings.len, 0);
    sim_ask(&s, 200, "GET", "/apis/example.com/v1beta1/ships", NULL);
    assert_int_equal(s.last.warnings.len, 1);
    assert_string_equal(s.last.warnings.p[0],
                        "example.com/v1beta1 Ship is deprecated; use example.com/v1 Ship");
    sim_ask(&s, 404, "GET", "/apis/example.com/v1beta1/ships/none", NULL);
    assert_int_equal(s.last.warnings.len, 1);
    sim_site_done(&s);
}

/* The words of the decoder, with those of the handler before them unless it was a patch. */
static void test_undecodable(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "{\"metadata\":{\"name\":\"ships.example.com\"},\"spec\":{\"group\":\"example.com\","
            "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"ships\",\"kind\":\"Ship\"},"
            "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
            "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
    sim_pass(&s, SEC(1));
    json_t *e = sim_ask(&s, 400, "POST", "/apis/example.com/v1/namespaces/default/ships",
                        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Ship\",\"metadata\":{"
                        "\"name\":7}}");
    assert_string_equal(
        sim_str(e, "message"),
        "Ship in version \"v1\" cannot be handled as a Ship: json: cannot unmarshal "
        "number into Go struct field ObjectMeta.name of type string");
    sim_ask(&s, 201, "POST", "/apis/example.com/v1/namespaces/default/ships",
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Ship\",\"metadata\":{\"name\":\"x\"}}");
    e = sim_ask(&s, 422, "PATCH", "/apis/example.com/v1/namespaces/default/ships/x",
                "{\"metadata\":{\"labels\":[1]}}");
    assert_null(strstr(sim_str(e, "message"), "cannot be handled"));
    e = sim_ask_as(&s, 422, "PATCH",
                   "/apis/example.com/v1/namespaces/default/ships/x?fieldValidation=Ignore", NULL,
                   "application/merge-patch+json", "[]");
    assert_non_null(strstr(sim_str(e, "message"), "\"[]\": couldn't get version/kind; json parse "
                                                  "error: json: cannot unmarshal array into"));
    sim_site_done(&s);
}

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/* A definition in group names.dev; `names` begins with a comma or is empty. */
static void define(struct sim_site *s, const char *plural, const char *kind, const char *names) {
    _cleanup_free_ char *body = xasprintf(
        "{\"metadata\":{\"name\":\"%s.names.dev\"},\"spec\":{\"group\":\"names.dev\",\"scope\":"
        "\"Cluster\",\"names\":{\"plural\":\"%s\",\"kind\":\"%s\"%s},\"versions\":[{\"name\":"
        "\"v1\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}"
        "}",
        plural, plural, kind, names);
    sim_ask(s, 201, "POST", DEFINITIONS, body);
    sim_pass(s, SEC(1));
}

static const char *names_reason(struct sim_site *s, const char *plural) {
    _cleanup_free_ char *path = xasprintf(DEFINITIONS "/%s.names.dev", plural);
    const json_t *d = sim_ask(s, 200, "GET", path, NULL);
    for (size_t i = 0; i < json_array_size(sim_at(d, "status.conditions")); i++) {
        const json_t *c = json_array_get(sim_at(d, "status.conditions"), i);
        if (streq(json_str(c, "type"), "NamesAccepted"))
            return json_str(c, "reason");
    }
    return "";
}

/* A change of one definition is no work for the others, however many there are. */
static void test_work(void **state) {
    (void)state;
    enum { MANY = 40 };
    struct sim_site s;
    sim_site_init(&s, false);
    struct custom_work before[MANY];
    for (int i = 0; i < MANY; i++) {
        _cleanup_free_ char *plural = xasprintf("k%ds", i), *kind = xasprintf("K%d", i);
        define(&s, plural, kind, "");
    }
    for (int i = 0; i < MANY; i++) {
        _cleanup_free_ char *name = xasprintf("k%ds.names.dev", i);
        before[i] = custom_work(s.api, name);
        /* once to accept its names, once to serve it */
        assert_int_equal(before[i].settled, 2);
        assert_int_equal(before[i].checked, 1);
        assert_int_equal(before[i].compiled, 1);
    }
    /* a label is not even a reason to look at its own schemas */
    sim_ask(&s, 200, "PATCH", DEFINITIONS "/k7s.names.dev",
            "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    sim_pass(&s, SEC(1));
    struct custom_work now = custom_work(s.api, "k7s.names.dev");
    assert_int_equal(now.settled, before[7].settled + 1);
    assert_int_equal(now.checked, before[7].checked);
    assert_int_equal(now.compiled, before[7].compiled);
    /* other schemas are */
    sim_ask(
        &s, 200, "PATCH", DEFINITIONS "/k7s.names.dev",
        "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
        "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\","
        "\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"new\"}}}}}}}]}}");
    sim_pass(&s, SEC(1));
    now = custom_work(s.api, "k7s.names.dev");
    assert_int_equal(now.checked, before[7].checked + 1);
    assert_int_equal(now.compiled, before[7].compiled + 1);
    json_t *x = sim_ask(&s, 201, "POST", "/apis/names.dev/v1/k7s",
                        "{\"apiVersion\":\"names.dev/v1\",\"kind\":\"K7\",\"metadata\":{\"name\":"
                        "\"x\"},\"spec\":{}}");
    assert_string_equal(sim_str(x, "spec.a"), "new");
    /* nor is the end of one, when nobody wants its names */
    sim_ask(&s, 200, "DELETE", DEFINITIONS "/k8s.names.dev", NULL);
    sim_pass(&s, SEC(5));
    sim_ask(&s, 404, "GET", DEFINITIONS "/k8s.names.dev", NULL);
    assert_int_equal(custom_work(s.api, "k8s.names.dev").settled, 0);
    for (int i = 0; i < MANY; i++) {
        _cleanup_free_ char *name = xasprintf("k%ds.names.dev", i);
        now = custom_work(s.api, name);
        if (i != 7 && i != 8)
            assert_memory_equal(&now, &before[i], sizeof now);
    }
    sim_site_done(&s);
}

/* Names are free again with the definition that had them, wherever it stands in the alphabet; only
 * those who want them are looked at. */
static void test_freed_by_deletion(void **state) {
    (void)state;
    static const char *const plurals[] = {"afters", "zzz"};
    for (size_t i = 0; i < ARRAY_LEN(plurals); i++) {
        struct sim_site s;
        sim_site_init(&s, false);
        _cleanup_free_ char *path = xasprintf("/apis/names.dev/v1/%s", plurals[i]);
        define(&s, "firsts", "Same", "");
        define(&s, "bystanders", "Bystander", "");
        define(&s, "rivals", "Rival", ",\"shortNames\":[\"bystander\"]");
        define(&s, plurals[i], "Same", "");
        assert_string_equal(names_reason(&s, plurals[i]), "ListKindConflict");
        assert_string_equal(names_reason(&s, "rivals"), "ShortNamesConflict");
        sim_ask(&s, 404, "GET", path, NULL);
        uint64_t rival = custom_work(s.api, "rivals.names.dev").settled;
        sim_ask(&s, 200, "DELETE", DEFINITIONS "/firsts.names.dev", NULL);
        sim_pass(&s, SEC(1));
        sim_ask(&s, 404, "GET", DEFINITIONS "/firsts.names.dev", NULL);
        assert_string_equal(names_reason(&s, plurals[i]), "NoConflicts");
        sim_ask(&s, 200, "GET", path, NULL);
        assert_string_equal(names_reason(&s, "rivals"), "ShortNamesConflict");
        assert_int_equal(custom_work(s.api, "rivals.names.dev").settled, rival);
        /* one that was never served goes as well */
        define(&s, "thirds", "Same", "");
        sim_ask(&s, 200, "DELETE", DEFINITIONS "/thirds.names.dev", NULL);
        sim_pass(&s, SEC(1));
        sim_ask(&s, 404, "GET", DEFINITIONS "/thirds.names.dev", NULL);
        sim_site_done(&s);
    }
}

/* The names that are served are those that were accepted last; what is expected here is what a
 * kube-apiserver v1.36.3 does. */
static void test_freed_by_change(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    define(&s, "ships", "Ship", ",\"shortNames\":[\"sh\"]");
    define(&s, "boats", "Boat", "");
    sim_ask(&s, 200, "PATCH", DEFINITIONS "/boats.names.dev",
            "{\"spec\":{\"names\":{\"shortNames\":[\"sh\",\"bo\"]}}}");
    sim_pass(&s, SEC(1));
    assert_string_equal(names_reason(&s, "boats"), "ShortNamesConflict");
    json_t *d = sim_ask(&s, 200, "GET", "/apis/names.dev/v1", NULL);
    assert_string_equal(sim_str(d, "resources.0.name"), "boats");
    assert_null(sim_at(d, "resources.0.shortNames"));
    sim_ask(&s, 200, "PATCH", DEFINITIONS "/ships.names.dev",
            "{\"spec\":{\"names\":{\"shortNames\":[\"shi\"]}}}");
    sim_pass(&s, SEC(1));
    assert_string_equal(names_reason(&s, "boats"), "NoConflicts");
    d = sim_ask(&s, 200, "GET", "/apis/names.dev/v1", NULL);
    assert_string_equal(sim_str(d, "resources.0.shortNames.0"), "sh");
    assert_string_equal(sim_str(d, "resources.0.shortNames.1"), "bo");
    assert_string_equal(sim_str(d, "resources.1.shortNames.0"), "shi");
    /* its own plural is taken, too */
    sim_ask(&s, 200, "PATCH", DEFINITIONS "/ships.names.dev",
            "{\"spec\":{\"names\":{\"singular\":\"ships\"}}}");
    sim_pass(&s, SEC(1));
    assert_string_equal(names_reason(&s, "ships"), "SingularConflict");
    sim_site_done(&s);
}

/* One whose objects are held by a finalizer waits for them, and has its names until then. */
static void test_held(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    define(&s, "firsts", "Same", "");
    define(&s, "afters", "Same", "");
    sim_ask(&s, 201, "POST", "/apis/names.dev/v1/firsts",
            "{\"apiVersion\":\"names.dev/v1\",\"kind\":\"Same\",\"metadata\":{\"name\":\"x\","
            "\"finalizers\":[\"a.dev/b\"]}}");
    sim_ask(&s, 200, "DELETE", DEFINITIONS "/firsts.names.dev", NULL);
    sim_pass(&s, SEC(10));
    assert_string_equal(names_reason(&s, "firsts"), "NoConflicts");
    assert_string_equal(names_reason(&s, "afters"), "ListKindConflict");
    sim_ask(&s, 200, "PATCH", "/apis/names.dev/v1/firsts/x",
            "{\"metadata\":{\"finalizers\":null}}");
    sim_pass(&s, SEC(10));
    sim_ask(&s, 404, "GET", DEFINITIONS "/firsts.names.dev", NULL);
    assert_string_equal(names_reason(&s, "afters"), "NoConflicts");
    sim_ask(&s, 200, "GET", "/apis/names.dev/v1/afters", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undecodable),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_freed_by_deletion),
        cmocka_unit_test(test_freed_by_change),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_deprecated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
