/* Bodies: formats, kinds, unknown fields, DeleteOptions. */
#include "sim/api/body.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_formats(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask_as(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", NULL, "application/yaml",
               "metadata: {name: 'y'}\ndata: {a: 'yes'}\n");
    json_t *y = sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/y",
                           "application/vnd.kubernetes.protobuf", NULL, NULL);
    assert_null(y); /* no JSON */
    assert_memory_equal(str_get(&s.last.body), "k8s", 4);
    /* the same bytes are understood when they are sent */
    _cleanup_str_ struct str sent = STR_INIT;
    str_addn(&sent, s.last.body.p, s.last.body.len);
    struct api_request put = {.method = "PUT",
                              .target = "/api/v1/namespaces/default/configmaps/y",
                              .content_type = "application/vnd.kubernetes.protobuf",
                              .body = {sent.p, sent.len}};
    api_reply_done(&s.last);
    api_serve(s.api, &put, &s.last);
    assert_int_equal(s.last.code, 200);
    sim_ask_as(&s, 415, "POST", "/api/v1/namespaces/default/configmaps", NULL, "text/plain", "{}");
    /* broken protobuf is refused */
    for (size_t n = 0; n < sent.len; n++) {
        put.body.len = n;
        api_reply_done(&s.last);
        api_serve(s.api, &put, &s.last);
        assert_in_range(s.last.code, n + 8 < sent.len ? 400 : 200, 499);
    }
    sim_site_done(&s);
}

static void test_fields(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *odd = "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"},"
                      "\"nope\":1,\"data\":{\"a\":\"1\",\"a\":\"2\"}}";
    json_t *e = sim_ask(&s, 400, "POST",
                        "/api/v1/namespaces/default/configmaps?fieldValidation=Strict", odd);
    assert_non_null(strstr(sim_str(e, "message"), "duplicate field \"data.a\""));
    assert_non_null(strstr(sim_str(e, "message"), "unknown field \"nope\""));
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All", odd);
    assert_int_equal(s.last.warnings.len, 2);
    sim_ask(&s, 201, "POST",
            "/api/v1/namespaces/default/configmaps?dryRun=All&fieldValidation=Ignore", odd);
    assert_int_equal(s.last.warnings.len, 0);
    sim_ask(&s, 400, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"}}");
    sim_ask(&s, 400, "POST", "/api/v1/namespaces/default/configmaps", "[]");
    sim_site_done(&s);
}

static void test_delete_options(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"x\"}}");
    sim_ask(&s, 422, "DELETE", "/api/v1/namespaces/default/configmaps/x",
            "{\"propagationPolicy\":\"Never\"}");
    sim_ask(&s, 400, "DELETE", "/api/v1/namespaces/default/configmaps/x",
            "{\"gracePeriodSeconds\":\"soon\"}");
    sim_ask(&s, 409, "DELETE", "/api/v1/namespaces/default/configmaps/x",
            "{\"preconditions\":{\"uid\":\"other\"}}");
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/x?dryRun=All", NULL);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    sim_ask(
        &s, 200, "DELETE",
        "/api/v1/namespaces/default/configmaps/x?gracePeriodSeconds=0&propagationPolicy=Background",
        NULL);
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    sim_site_done(&s);
}

/* The words are those of a kube-apiserver v1.36.3. */
static void test_unreadable(void **state) {
    (void)state;
    static const struct {
        const char *path, *body, *message;
    } rows[] = {
        {"pods", "[]",
         "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; "
         "json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion "
         "string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
         "\"json:\\\"kind,omitempty\\\"\" } (5b5d)"},
        {"pods", "{                                   ",
         "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; "
         "json parse error: unexpected end of JSON input ({                              ...)"},
        {"pods", "x",
         "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; "
         "json parse error: invalid character 'x' looking for beginning of value (78)"},
        {"pods", "{\"apiVersion\":\"a/b/c\"}",
         "the object provided is unrecognized (must be of type Pod): unexpected GroupVersion "
         "string: a/b/c ({\"apiVersion\":\"a/b/c\"})"},
        {"pods", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}",
         "ConfigMap in version \"v1\" cannot be handled as a Pod: converting (v1.ConfigMap) to "
         "(core.Pod): unknown conversion"},
        {"pods", "{\"apiVersion\":\"v7\",\"kind\":\"Pod\"}",
         "Pod in version \"v7\" cannot be handled as a Pod: no kind \"Pod\" is registered for "
         "version \"v7\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""},
    };
    struct sim_site s;
    sim_site_init(&s, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/%s", rows[i].path);
        json_t *e = sim_ask(&s, 400, "POST", path, rows[i].body);
        assert_string_equal(sim_str(e, "message"), rows[i].message);
    }
    /* the type of the body comes first, before options that are wrong too */
    sim_ask_as(&s, 415, "POST", "/api/v1/namespaces/default/pods?fieldValidation=Maybe", NULL,
               "text/plain", "{}");
    sim_ask(&s, 422, "POST", "/api/v1/namespaces/default/pods?fieldValidation=Maybe", "{}");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_delete_options),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
