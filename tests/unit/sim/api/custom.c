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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undecodable),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_deprecated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
