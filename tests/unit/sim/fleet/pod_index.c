/* Pods by node, owner and namespace. */
#include "sim/fleet/pod_index.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_index(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct pod_index *x = s.fleet->pod_index;
    assert_int_equal(pods_on_node(x, "n").len, 0);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"b\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"c\",\"labels\":{\"app\":\"x\"},\"ownerReferences\":[{"
            "\"apiVersion\":\"apps/"
            "v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\",\"uid\":\"u1\",\"controller\":true}]},"
            "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    assert_int_equal(pods_on_node(x, "n").len, 2);
    assert_int_equal(pods_in_namespace(x, "default").len, 3);
    assert_int_equal(pods_without_owner(x, "default").len, 2);
    assert_int_equal(pods_of_owner(x, "u1").len, 1);
    assert_string_equal(pods_of_owner(x, "u1").p[0]->obj->meta.name, "c");
    /* the index has the present record */
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/a/status",
            "{\"status\":{\"phase\":\"Running\"}}");
    struct pod_list l = pods_on_node(x, "n");
    assert_ptr_equal(l.p[0], shelf_get(s.fleet->pods->shelf, "default", l.p[0]->obj->meta.name));
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0", NULL);
    assert_int_equal(pods_on_node(x, "n").len, 1);
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods?gracePeriodSeconds=0", NULL);
    assert_int_equal(pods_in_namespace(x, "default").len, 0);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
