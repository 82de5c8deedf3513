/* Discovery and OpenAPI through the API. */
#include "sim/api/documents.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_documents(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *v = sim_ask(&s, 200, "GET", "/version", NULL);
    assert_string_equal(sim_str(v, "major"), "1");
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1", NULL);
    assert_string_equal(sim_str(l, "kind"), "APIResourceList");
    sim_ask(&s, 200, "GET", "/apis/apps", NULL);
    json_t *o = sim_ask(&s, 200, "GET", "/openapi/v3", NULL);
    assert_non_null(json_object_get(sim_at(o, "paths"), "apis/apps/v1"));
    json_t *d = sim_ask(&s, 200, "GET", "/openapi/v3/apis/apps/v1", NULL);
    assert_string_equal(sim_str(d, "openapi"), "3.0.0");
    json_t *v2 = sim_ask(&s, 200, "GET", "/openapi/v2", NULL);
    assert_non_null(json_object_get(sim_at(v2, "definitions"), "io.k8s.api.core.v1.Pod"));
    char tag[20];
    (void)snprintf(tag, sizeof tag, "%s", s.last.etag);
    struct api_request again = {.method = "GET", .target = "/openapi/v2", .if_none_match = tag};
    api_reply_done(&s.last);
    api_serve(s.api, &again, &s.last);
    assert_int_equal(s.last.code, 304);
    sim_ask_as(&s, 406, "GET", "/openapi/v2", "text/html", NULL, NULL);
    /* Of the documents these are routes with a method, the others answer to any. */
    sim_ask(&s, 405, "POST", "/api", "{}");
    sim_ask(&s, 405, "HEAD", "/api/v1", NULL);
    sim_ask(&s, 405, "POST", "/version", "{}");
    sim_ask(&s, 200, "POST", "/apis", "{}");
    sim_ask(&s, 200, "DELETE", "/apis/apps", NULL);
    const char *type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    json_t *a = sim_ask_as(&s, 200, "GET", "/apis", type, NULL, NULL);
    assert_string_equal(sim_str(a, "kind"), "APIGroupDiscoveryList");
    char etag[20];
    (void)snprintf(etag, sizeof etag, "%s", s.last.etag);
    struct api_request req = {
        .method = "GET", .target = "/apis", .accept = type, .if_none_match = etag};
    api_reply_done(&s.last);
    api_serve(s.api, &req, &s.last);
    assert_int_equal(s.last.code, 304);
    assert_int_equal(s.last.body.len, 0);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
