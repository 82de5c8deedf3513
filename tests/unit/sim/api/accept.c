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
    /* of a list it is PartialObjectMetadataList */
    assert_int_equal(accept_parse(partial, OFFER_TABLE | OFFER_LIST, &a, &f), -1);
    assert_int_equal(f.code, 406);
}

static void test_refused(void **state) {
    (void)state;
    _cleanup_failure_ struct failure f = FAILURE_INIT;
    struct accept a;
    assert_int_equal(accept_parse("text/html", OFFER_TABLE, &a, &f), -1);
    assert_int_equal(f.code, 406);
    assert_non_null(strstr(f.message, "406: Not Acceptable"));
    assert_int_equal(accept_parse(",,;;=,", 0, &a, &f), -1);
    assert_int_equal(
        accept_parse("application/json;as=Nope;v=v1;g=meta.k8s.io", OFFER_TABLE, &a, &f), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
