/* Which form a client gets. */
#include "sim/api/accept.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_order(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct accept a;
    assert_int_equal(accept_parse(NULL, 0, &a, &f), 0);
    assert_int_equal(a.format, KUBE_JSON);
    const char *proto = "application/vnd.kubernetes.protobuf,application/json";
    assert_int_equal(accept_parse(proto, OFFER_PROTOBUF, &a, &f), 0);
    assert_int_equal(a.format, KUBE_PROTOBUF);
    /* what cannot be had is passed over */
    assert_int_equal(accept_parse(proto, 0, &a, &f), 0);
    assert_int_equal(a.format, KUBE_JSON);
    assert_int_equal(accept_parse("text/html, */*;q=0.1", 0, &a, &f), 0);
    assert_int_equal(accept_parse("application/yaml", 0, &a, &f), 0);
    assert_true(a.yaml);
}

static void test_forms(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct accept a;
    const char *table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    assert_int_equal(accept_parse(table, OFFER_TABLE, &a, &f), 0);
    assert_int_equal(a.as, ACCEPT_TABLE);
    assert_int_equal(accept_parse(table, 0, &a, &f), 0);
    assert_int_equal(a.as, ACCEPT_OBJECT);
    const char *partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    assert_int_equal(accept_parse(partial, OFFER_TABLE, &a, &f), 0);
    assert_int_equal(a.as, ACCEPT_PARTIAL);
    assert_false(a.list);
    assert_false(a.beta);
    const char *list = "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io";
    assert_int_equal(accept_parse(list, OFFER_TABLE, &a, &f), 0);
    assert_true(a.list);
    assert_true(a.beta);
}

static void test_refused(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct accept a;
    assert_int_equal(accept_parse("text/html", OFFER_TABLE | OFFER_STREAM, &a, &f), -1);
    assert_non_null(strstr(f.message, ", application/vnd.kubernetes.protobuf;stream=watch"));
    failure_done(&f);
    f = FAILURE_INIT;
    assert_int_equal(accept_parse("text/html", OFFER_TABLE, &a, &f), -1);
    assert_null(strstr(f.message, "stream"));
    failure_done(&f);
    f = FAILURE_INIT;
    /* routes know no half of a type, their handlers do */
    assert_int_equal(accept_parse("application/*", OFFER_TABLE | OFFER_CUSTOM, &a, &f), 0);
    assert_int_equal(accept_parse("application/*", OFFER_TABLE, &a, &f), -1);
    assert_int_equal(f.code, 406);
    assert_non_null(strstr(f.message, "406: Not Acceptable"));
    assert_true(f.details);
    failure_done(&f);
    f = FAILURE_INIT;
    /* the route takes it, and its handler finds no form */
    assert_int_equal(
        accept_parse("application/json;as=Table;v=v2;g=meta.k8s.io", OFFER_TABLE, &a, &f), -1);
    assert_string_equal(f.message, "only the following media types are accepted: application/json, "
                                   "application/yaml, application/vnd.kubernetes.protobuf");
    assert_false(f.details);
    assert_int_equal(accept_parse(",,;;=,", 0, &a, &f), -1);
    assert_int_equal(
        accept_parse("application/json;as=Nope;v=v1;g=meta.k8s.io", OFFER_TABLE, &a, &f), -1);
}

#define PARTIAL  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
#define PARTIALS "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

/* Whether a form fits is seen when the answer is there: after what else can go wrong, and after a
 * write (transformResponseObject() in apiserver's pkg/endpoints/handlers/response.go). */
static void test_forms_that_do_not_fit(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    const char *maps = "/api/v1/namespaces/default/configmaps";
    json_t *e = sim_ask_as(&s, 406, "POST", maps, PARTIALS, "application/json",
                           "{\"metadata\":{\"name\":\"x\"}}");
    assert_string_equal(sim_str(e, "message"), "you requested PartialObjectMetadataList, but the "
                                               "requested object is not a list (*core.ConfigMap)");
    assert_string_equal(sim_str(e, "reason"), "NotAcceptable");
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps/x", NULL);
    sim_ask_as(&s, 404, "GET", "/api/v1/namespaces/default/configmaps/y", PARTIALS, NULL, NULL);
    e = sim_ask_as(&s, 406, "GET", "/apis/policy/v1/poddisruptionbudgets", PARTIAL, NULL, NULL);
    assert_string_equal(sim_str(e, "message"),
                        "you requested PartialObjectMetadata, but the requested object is a list "
                        "(*policy.PodDisruptionBudgetList)");
    e = sim_ask_as(&s, 406, "GET", "/apis/coordination.k8s.io/v1/leases", PARTIAL, NULL, NULL);
    assert_non_null(strstr(sim_str(e, "message"), "(*coordination.LeaseList)"));
    sim_ask_as(&s, 400, "GET", "/api/v1/configmaps?fieldSelector=x%3D1", PARTIAL, NULL, NULL);
    e = sim_ask_as(&s, 200, "GET", "/api/v1/namespaces/none/configmaps", PARTIALS, NULL, NULL);
    assert_true(json_is_null(sim_at(e, "items")));
    e = sim_ask_as(&s, 200, "GET", maps, "application/json;as=Table;v=v1beta1;g=meta.k8s.io", NULL,
                   NULL);
    assert_string_equal(sim_str(e, "apiVersion"), "meta.k8s.io/v1beta1");
    assert_string_equal(sim_str(e, "rows.0.object.apiVersion"), "meta.k8s.io/v1beta1");
    sim_site_done(&s);
}

/* What a kube-apiserver v1.36.3 has answered to these. */
static void test_weights(void **state) {
    (void)state;
    static const struct {
        const char *header;
        char form; /* j, y or p */
    } rows[] = {
        {"application/json;q=0.1,application/yaml;q=0.9", 'y'},
        {"application/yaml;q=0.5, application/json", 'j'},
        {"application/yaml;q=0.5,application/json;q=0.5", 'y'},
        {"*/*,application/yaml", 'y'},
        {"application/*,application/yaml;q=0.9", 'y'},
        {"*/*;q=0.9,application/yaml;q=0.1", 'y'},
        {"application/json;q=0", 'j'},
        {"application/json;q=x,application/yaml;q=0.9", 'y'},
        {"application/yaml;q=2,application/json", 'y'},
        {"application/json;q=-1,application/yaml;q=0.1", 'y'},
        {"application/json; q = 0.1,application/yaml;q=0.9", 'y'},
        {"application/yaml;q=1.,application/json;q=.5", 'y'},
        {"application/yaml;q=1e-1,application/json;q=.5", 'j'},
        {"application/json;Q=0.1,application/yaml;q=0.9", 'j'},
        {"application,application/yaml", 'y'},
        {"application/json;charset=utf8,application/yaml", 'j'},
        {"*/*;q=0.1,application/vnd.kubernetes.protobuf;q=0.05", 'p'},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_failure_ struct failure f = FAILURE_INIT;
        struct accept a;
        assert_int_equal(accept_parse(rows[i].header, OFFER_PROTOBUF | OFFER_TABLE, &a, &f), 0);
        char form = a.yaml ? 'y' : a.format == KUBE_PROTOBUF ? 'p' : 'j';
        if (form != rows[i].form)
            fail_msg("%s: %c", rows[i].header, form);
    }
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct accept a;
    const char *partial = "*/*,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    assert_int_equal(accept_parse(partial, OFFER_TABLE, &a, &f), 0);
    assert_int_equal(a.as, ACCEPT_PARTIAL);
    /* more than anybody sends */
    _cleanup_str_ struct str many = STR_INIT;
    for (size_t i = 0; i < 5000; i++)
        str_add(&many, "a/b;q=0.1,");
    str_add(&many, "application/json");
    assert_int_equal(accept_parse(str_get(&many), OFFER_TABLE, &a, &f), -1);
    assert_int_equal(f.code, 406);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights), cmocka_unit_test(test_forms_that_do_not_fit),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
