/* Paths, methods, who may ask, and what an error looks like. */
#include "sim/api/api.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_paths(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 200, "GET", "/healthz", NULL);
    assert_string_equal(sim_text(&s), "ok");
    sim_ask(&s, 200, "GET", "/livez?verbose", NULL);
    assert_non_null(strstr(sim_text(&s), "livez check passed"));
    sim_ask(&s, 404, "GET", "/nope", NULL);
    assert_string_equal(sim_text(&s), "404 page not found\n");
    json_t *e = sim_ask(&s, 404, "GET", "/api/v1/nopes", NULL);
    assert_string_equal(sim_str(e, "message"), "the server could not find the requested resource");
    e = sim_ask(&s, 405, "POST", "/api/v1/nodes/x", "{}");
    assert_string_equal(sim_str(e, "reason"), "MethodNotAllowed");
    sim_ask(&s, 405, "BREW", "/api/v1/nodes", NULL);
    /* What a custom resource of namespaces lacks without one is not a method but the page. */
    sim_ask(&s, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "{\"metadata\":{\"name\":\"ships.g.io\"},\"spec\":{\"group\":\"g.io\",\"scope\":"
            "\"Namespaced\",\"names\":{\"plural\":\"ships\",\"kind\":\"Ship\"},\"versions\":[{"
            "\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
            "\"type\":\"object\"}}}]}}");
    sim_pass(&s, SEC(5));
    sim_ask(&s, 404, "POST", "/apis/g.io/v1/ships", "{}");
    assert_string_equal(sim_text(&s), "404 page not found\n");
    sim_ask(&s, 404, "DELETE", "/apis/g.io/v1/ships", NULL);
    assert_string_equal(sim_text(&s), "404 page not found\n");
    sim_ask(&s, 200, "GET", "/apis/g.io/v1/ships", NULL);
    json_t *root = sim_ask(&s, 200, "GET", "/", NULL);
    assert_true(json_array_size(sim_at(root, "paths")) > 10);
    sim_site_done(&s);
}

static void test_furniture(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces", NULL);
    assert_int_equal(json_array_size(sim_at(l, "items")), 4);
    json_t *svc = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/services/kubernetes", NULL);
    assert_string_equal(sim_str(svc, "spec.clusterIP"), "10.96.0.1");
    sim_site_done(&s);
}

static void test_anonymous(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct api_request req = {.method = "GET", .target = "/api/v1/nodes", .anonymous = true};
    api_reply_done(&s.last);
    api_serve(s.api, &req, &s.last);
    assert_int_equal(s.last.code, 403);
    assert_non_null(strstr(sim_text(&s), "system:anonymous"));
    api_reply_done(&s.last);
    req.target = "/version";
    api_serve(s.api, &req, &s.last);
    assert_int_equal(s.last.code, 200);
    sim_site_done(&s);
}

static void test_hostile(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const char *const targets[] = {"",
                                          "x",
                                          "//",
                                          "/api//",
                                          "/api/v1/%00",
                                          "/api/v1/%",
                                          "/%zz",
                                          "/api/v1/namespaces/../pods",
                                          "/a/b/c/d/e/f/g/h/i/j/k/l",
                                          "/api/v1/pods?watch=1&limit=-5&resourceVersion=%ff"};
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "", "X"};
    static const char *const bodies[] = {"", "{", "[]", "null", "{\"metadata\":7}", "\xff\xfe"};
    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        for (size_t k = 0; k < ARRAY_LEN(methods); k++)
            for (size_t b = 0; b < ARRAY_LEN(bodies); b++) {
                struct api_request req = {
                    .method = methods[k], .target = targets[i], .body = view_of(bodies[b])};
                api_reply_done(&s.last);
                api_serve(s.api, &req, &s.last);
                assert_in_range(s.last.code, 200, 599);
            }
    sim_site_done(&s);
}

static void test_withheld(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    api_withhold(s.api, "apps", "deployments", "nobody has read it");
    for (int i = 0; i < 2; i++) {
        const char *path =
            i ? "/apis/apps/v1/namespaces/default/deployments/x" : "/apis/apps/v1/deployments";
        json_t *e = sim_ask(&s, 403, "GET", path, NULL);
        assert_string_equal(sim_str(e, "reason"), "Forbidden");
        assert_non_null(strstr(sim_str(e, "message"), "nobody has read it"));
    }
    sim_ask(&s, 200, "GET", "/apis/apps/v1/statefulsets", NULL);
    sim_ask(&s, 200, "GET", "/apis/apps/v1", NULL);
    assert_non_null(strstr(sim_text(&s), "\"deployments\""));
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_withheld),  cmocka_unit_test(test_paths),
        cmocka_unit_test(test_furniture), cmocka_unit_test(test_anonymous),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
