/* Pods on machines: start, ready, exit, crash, stop, reboot. */
#include "sim/fleet/worker.h"

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
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"},\"annotations\":{\"sim."
            "slipway.dev/start\":\"5s\",\"sim.slipway.dev/ready\":\"5s\",\"sim.slipway.dev/"
            "stop\":\"8s\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
            "\"nodeName\":\"n1\"}}");
    sim_pass(&s, SEC(4));
    assert_string_equal(
        sim_str(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL), "status.phase"),
        "Pending");
    sim_pass(&s, SEC(2));
    json_t *p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_string_equal(sim_str(p, "status.phase"), "Running");
    assert_true(json_is_false(sim_at(p, "status.containerStatuses.0.ready")));
    sim_pass(&s, SEC(5));
    p = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    assert_true(json_is_true(sim_at(p, "status.containerStatuses.0.ready")));
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p", NULL);
    sim_pass(&s, SEC(7));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    sim_pass(&s, SEC(2));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    sim_site_done(&s);
}

static void test_grace_and_power(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"x\"},\"annotations\":{\"sim."
            "slipway.dev/"
            "stop\":\"never\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
            "\"nodeName\":\"n1\",\"terminationGracePeriodSeconds\":20}}");
    sim_pass(&s, SEC(10));
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/pods/p", NULL);
    sim_pass(&s, SEC(19));
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    sim_pass(&s, SEC(2));
    sim_ask(&s, 404, "GET", "/api/v1/namespaces/default/pods/p", NULL);
    /* without power nothing ends, and after it containers start again */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\"}}");
    sim_pass(&s, SEC(10));
    machine_off(machine_find(s.fleet, "n1"));
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"r\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n1\"}}");
    sim_pass(&s, SEC(20));
    assert_string_equal(
        sim_str(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/r", NULL), "status.phase"),
        "Pending");
    machine_on(machine_find(s.fleet, "n1"));
    sim_pass(&s, SEC(20));
    json_t *q = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/q", NULL);
    assert_int_equal(sim_int(q, "status.containerStatuses.0.restartCount"), 1);
    assert_true(json_is_true(sim_at(q, "status.containerStatuses.0.ready")));
    assert_string_equal(
        sim_str(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/r", NULL), "status.phase"),
        "Running");
    sim_site_done(&s);
}

static void test_ends(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"ok\",\"labels\":{\"app\":\"x\"},\"annotations\":{\"sim."
            "slipway.dev/"
            "run\":\"3s\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
            "\"nodeName\":\"n1\",\"restartPolicy\":\"Never\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"bad\",\"labels\":{\"app\":\"x\"},\"annotations\":{\"sim."
            "slipway.dev/run\":\"3s\",\"sim.slipway.dev/"
            "exit\":\"7\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
            "\"nodeName\":\"n1\",\"restartPolicy\":\"Never\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"loop\",\"labels\":{\"app\":\"x\"},\"annotations\":{\"sim."
            "slipway.dev/run\":\"3s\",\"sim.slipway.dev/"
            "exit\":\"1\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
            "\"nodeName\":\"n1\"}}");
    sim_pass(&s, SEC(15));
    assert_string_equal(sim_str(sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/ok", NULL),
                                "status.phase"),
                        "Succeeded");
    json_t *b = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/bad", NULL);
    assert_string_equal(sim_str(b, "status.phase"), "Failed");
    assert_int_equal(sim_int(b, "status.containerStatuses.0.state.terminated.exitCode"), 7);
    sim_pass(&s, SEC(300));
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/loop", NULL);
    assert_true(sim_int(l, "status.containerStatuses.0.restartCount") >= 3);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_grace_and_power),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
