/* Evictions by the rules of the real server. */
#include "sim/api/subresources.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_budget(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *evict =
        "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}";
    sim_ask(&s, 404, "POST", "/api/v1/namespaces/default/pods/p/eviction", evict);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/p/status",
            "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
            "\"True\"}]}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"x\"}}}}");
    /* nobody has computed it yet */
    json_t *e = sim_ask(&s, 429, "POST", "/api/v1/namespaces/default/pods/p/eviction", evict);
    assert_int_equal(sim_int(e, "details.retryAfterSeconds"), 10);
    assert_int_equal(s.last.retry_after, 10);
    sim_ask(&s, 200, "PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
            "{\"status\":{\"observedGeneration\":1,\"disruptionsAllowed\":0,\"currentHealthy\":1,"
            "\"desiredHealthy\":1,\"expectedPods\":1}}");
    e = sim_ask(&s, 429, "POST", "/api/v1/namespaces/default/pods/p/eviction", evict);
    assert_string_equal(sim_str(e, "details.causes.0.message"),
                        "The disruption budget b needs 1 healthy pods and has 1 currently");
    assert_null(sim_at(e, "details.retryAfterSeconds"));
    sim_ask(
        &s, 200, "PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
        "{\"status\":{\"disruptionsAllowed\":1,\"currentHealthy\":2,\"observedGeneration\":3}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods/p/eviction?dryRun=All", evict);
    json_t *b =
        sim_ask(&s, 200, "GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b", NULL);
    assert_int_equal(sim_int(b, "status.disruptionsAllowed"), 1);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods/p/eviction", evict);
    b = sim_ask(&s, 200, "GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b", NULL);
    assert_int_equal(sim_int(b, "status.disruptionsAllowed"), 0);
    assert_string_equal(sim_str(b, "status.disruptedPods.p"), "2026-11-15T00:00:00Z");
    /* what the controller has seen, not what is there now: UpdateDisruptionAllowedCondition() */
    assert_string_equal(sim_str(b, "status.conditions.0.status"), "False");
    assert_int_equal(sim_int(b, "status.conditions.0.observedGeneration"), 3);
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "metadata.deletionTimestamp"), "2026-11-15T00:00:30Z");
    assert_string_equal(sim_str(p, "status.conditions.1.type"), "DisruptionTarget");
    sim_site_done(&s);
}

static void test_two_budgets(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/p/status",
            "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
            "\"True\"}]}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"selector\":{}}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"selector\":{}}}");
    json_t *e = sim_ask(&s, 500, "POST", "/api/v1/namespaces/default/pods/p/eviction",
                        "{\"metadata\":{\"name\":\"p\"}}");
    assert_non_null(strstr(sim_str(e, "message"), "more than one PodDisruptionBudget"));
    sim_ask(&s, 400, "POST", "/api/v1/namespaces/default/pods/p/eviction",
            "{\"metadata\":{\"name\":\"q\"}}");
    sim_site_done(&s);
}

/* Unknown fields, as fieldValidation has it; and types, of which the schema knows. */
static void test_decoding(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}]}}");
#define EVICT "/api/v1/namespaces/default/pods/p/eviction"
    const char *odd = "{\"metadata\":{\"name\":\"p\"},\"x\":1,\"deleteOptions\":{\"y\":2}}";
    sim_ask(&s, 201, "POST", EVICT "?dryRun=All", odd);
    assert_int_equal(s.last.warnings.len, 2);
    assert_string_equal(s.last.warnings.p[0], "unknown field \"x\"");
    assert_string_equal(s.last.warnings.p[1], "unknown field \"deleteOptions.y\"");
    sim_ask(&s, 201, "POST", EVICT "?dryRun=All&fieldValidation=Ignore", odd);
    assert_int_equal(s.last.warnings.len, 0);
    json_t *e = sim_ask(&s, 400, "POST", EVICT "?fieldValidation=Strict", odd);
    assert_string_equal(sim_str(e, "message"),
                        "Eviction in version \"v1\" cannot be handled as a Eviction: strict "
                        "decoding error: unknown field \"x\", unknown field \"deleteOptions.y\"");
    e = sim_ask(&s, 400, "POST", EVICT "?fieldValidation=Strict",
                "{\"apiVersion\":\"policy/v1beta1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
                "\"p\"},\"x\":1}");
    assert_string_equal(sim_str(e, "message"),
                        "Eviction in version \"v1beta1\" cannot be handled as a Eviction: strict "
                        "decoding error: unknown field \"x\"");
    e = sim_ask(&s, 400, "POST", EVICT,
                "{\"metadata\":{\"name\":\"p\"},\"deleteOptions\":{\"gracePeriodSeconds\":\"x\"}}");
    assert_string_equal(sim_str(e, "message"),
                        "Eviction in version \"v1\" cannot be handled as a Eviction: json: cannot "
                        "unmarshal string into Go struct field "
                        "DeleteOptions.deleteOptions.gracePeriodSeconds of type int64");
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_two_budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
