/* Reviews and bindings. */
#include "sim/api/subresources.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_access(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    json_t *r =
        sim_ask(&s, 201, "POST", path,
                "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}");
    assert_true(json_is_true(sim_at(r, "status.allowed")));
    json_t *e = sim_ask(&s, 422, "POST", path, "{\"spec\":{}}");
    assert_non_null(strstr(sim_str(e, "message"), "exactly one of"));
    sim_ask(&s, 405, "GET", path, NULL);
    sim_site_done(&s);
}

static void test_binding(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}]}}");
    const char *bind =
        "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods/p/binding", bind);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "spec.nodeName"), "n1");
    sim_ask(&s, 409, "POST", "/api/v1/namespaces/default/pods/p/binding", bind);
    sim_site_done(&s);
}

static void test_refused_bindings(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *path = "/api/v1/namespaces/default/pods/p/binding";
    sim_ask(&s, 201, "POST", "/api/v1/nodes",
            "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"topology.kubernetes.io/zone\":\"z\","
            "\"other\":\"x\"}}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}],"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    json_t *e = sim_ask(&s, 500, "POST", path, "{\"metadata\":{\"name\":\"p\"},\"target\":{}}");
    assert_string_equal(sim_str(e, "message"), "target.name: Required value");
    sim_ask(&s, 400, "POST", path, "{\"metadata\":{\"name\":\"q\"},\"target\":{\"name\":\"n1\"}}");
    const char *bind =
        "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    e = sim_ask(&s, 409, "POST", path, bind);
    assert_non_null(strstr(sim_str(e, "message"), "pod p has non-empty .spec.schedulingGates"));
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/p",
            "{\"spec\":{\"schedulingGates\":null}}");
    sim_ask(&s, 201, "POST", path, bind);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    const json_t *labels = sim_at(p, "metadata.labels");
    assert_int_equal(json_object_size(labels), 1);
    assert_string_equal(json_string_value(json_object_get(labels, "topology.kubernetes.io/zone")),
                        "z");
    sim_site_done(&s);
}

/* What stands in the body and is no field of it, and what stands there twice. */
static void test_unknown_fields(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}]}}");
    static const struct {
        const char *path, *body, *doubled, *kind, *unknown[3];
    } rows[] = {
        {"/api/v1/namespaces/default/pods/p/binding",
         "{\"metadata\":{\"name\":\"p\"},\"x\":1,\"target\":{\"y\":2,\"name\":\"n\"}}",
         "{\"metadata\":{\"name\":\"p\",\"name\":\"p\"},\"target\":{\"name\":\"n\"}}",
         "Binding",
         {"x", "target.y"}},
        {"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         "{\"x\":1,\"spec\":{\"y\":2,\"resourceAttributes\":{\"verb\":\"get\",\"z\":3}}}",
         "{\"metadata\":{\"name\":\"p\",\"name\":\"p\"},\"spec\":{}}",
         "SelfSubjectAccessReview",
         {"x", "spec.y", "spec.resourceAttributes.z"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[256];
        size_t n = rows[i].unknown[2] ? 3 : 2;
        (void)snprintf(path, sizeof path, "%s?dryRun=All", rows[i].path);
        sim_ask(&s, 201, "POST", path, rows[i].body);
        assert_int_equal(s.last.warnings.len, n);
        _cleanup_str_ struct str want = STR_INIT;
        str_addf(&want, "%s in version \"v1\" cannot be handled as a %s: strict decoding error: ",
                 rows[i].kind, rows[i].kind);
        for (size_t k = 0; k < n; k++) {
            char text[64];
            (void)snprintf(text, sizeof text, "unknown field \"%s\"", rows[i].unknown[k]);
            assert_string_equal(s.last.warnings.p[k], text);
            str_addf(&want, "%s%s", k ? ", " : "", text);
        }
        (void)snprintf(path, sizeof path, "%s?dryRun=All&fieldValidation=Ignore", rows[i].path);
        sim_ask(&s, 201, "POST", path, rows[i].body);
        assert_int_equal(s.last.warnings.len, 0);
        (void)snprintf(path, sizeof path, "%s?dryRun=All&fieldValidation=Strict", rows[i].path);
        json_t *e = sim_ask(&s, 400, "POST", path, rows[i].body);
        assert_string_equal(sim_str(e, "message"), str_get(&want));
        e = sim_ask(&s, 400, "POST", path, rows[i].doubled);
        assert_non_null(strstr(sim_str(e, "message"), "duplicate field \"metadata.name\""));
    }
    json_t *e =
        sim_ask(&s, 400, "POST", rows[0].path, "{\"metadata\":{\"name\":\"p\"},\"target\":7}");
    assert_string_equal(sim_str(e, "message"),
                        "Binding in version \"v1\" cannot be handled as a Binding: json: cannot "
                        "unmarshal number into Go struct field Binding.target of type "
                        "v1.ObjectReference");
    sim_site_done(&s);
}

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static json_t *review(struct sim_site *s, int code, const char *meta, const char *attributes) {
    char body[1024];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{%s},\"spec\":{\"resourceAttributes\":{\"verb\":\"get\"%s}}}",
                   meta, attributes);
    return sim_ask(s, code, "POST", REVIEWS, body);
}

/* In the words of a kube-apiserver v1.36.3. */
static void test_refused_reviews(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *e = review(&s, 422, "\"name\":\"x\"", "");
    assert_string_equal(sim_str(e, "message"), ".authorization.k8s.io \"\" is invalid: metadata: "
                                               "Invalid value: {\"name\":\"x\"}: must be empty");
    assert_null(sim_at(e, "details.kind"));
    assert_string_equal(sim_str(e, "details.group"), "authorization.k8s.io");
    /* of what is the server's own nothing is left to complain about */
    json_t *r = review(&s, 201,
                       "\"namespace\":\"x\",\"uid\":\"u\",\"selfLink\":\"/x\",\"labels\":{},"
                       "\"creationTimestamp\":\"2020-01-01T00:00:00Z\"",
                       "");
    assert_int_equal(json_object_size(sim_at(r, "metadata")), 0);
    e = sim_ask(&s, 422, "POST", REVIEWS,
                "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\"},\"nonResourceAttributes\":{"
                "\"path\":\"/a\",\"verb\":\"get\"}}}");
    assert_string_equal(sim_str(e, "details.causes.0.message"),
                        "Invalid value: {\"Path\":\"/a\",\"Verb\":\"get\"}: cannot be specified in "
                        "combination with resourceAttributes");
    static const struct {
        const char *attributes, *field, *message;
    } rows[] = {
        {",\"fieldSelector\":{\"rawSelector\":\"a=b\",\"requirements\":[{\"key\":\"a\","
         "\"operator\":\"In\",\"values\":[\"b\"]}]}",
         "spec.resourceAttributes.fieldSelector.rawSelector",
         "Invalid value: \"a=b\": may not specified at the same time as requirements"},
        {",\"labelSelector\":{}", "spec.resourceAttributes.labelSelector.requirements",
         "Required value: when spec.resourceAttributes.labelSelector is specified, requirements or "
         "rawSelector is required"},
        {",\"fieldSelector\":{\"requirements\":[{\"key\":\"\",\"operator\":\"Foo\"}]}",
         "spec.resourceAttributes.fieldSelector.requirements[0].key",
         "Required value: must be specified"},
        {",\"labelSelector\":{\"requirements\":[{\"key\":\"b\",\"operator\":\"DoesNotExist\","
         "\"values\":[\"x\"]}]}",
         "spec.resourceAttributes.labelSelector.requirements[0].values",
         "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
        {",\"labelSelector\":{\"requirements\":[{\"key\":\"b\",\"operator\":\"In\"}]}",
         "spec.resourceAttributes.labelSelector.requirements[0].values",
         "Required value: must be specified when `operator` is 'In' or 'NotIn'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        e = review(&s, 422, "", rows[i].attributes);
        assert_int_equal(json_array_size(sim_at(e, "details.causes")), 1);
        assert_string_equal(sim_str(e, "details.causes.0.field"), rows[i].field);
        assert_string_equal(sim_str(e, "details.causes.0.message"), rows[i].message);
    }
    r = review(&s, 201, "", ",\"labelSelector\":{\"rawSelector\":\"(((\"}");
    assert_true(json_is_true(sim_at(r, "status.allowed")));
    assert_string_equal(sim_str(r, "status.evaluationError"),
                        "spec.resourceAttributes.labelSelector ignored due to parse error");
    r = review(
        &s, 201, "",
        ",\"fieldSelector\":{\"requirements\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":"
        "[\"b\"]},{\"key\":\"a\",\"operator\":\"Exists\"}]}");
    assert_string_equal(
        sim_str(r, "status.evaluationError"),
        "spec.resourceAttributes.fieldSelector partially ignored due to parse error");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_fields),   cmocka_unit_test(test_refused_reviews),
        cmocka_unit_test(test_access),           cmocka_unit_test(test_binding),
        cmocka_unit_test(test_refused_bindings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
