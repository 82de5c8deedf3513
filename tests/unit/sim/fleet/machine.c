/* Machines: registering, heartbeats, reboots, words. */
#include "sim/fleet/machine.h"

#include "base/utf8.h"
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
    json_t *n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    char boot[64];
    (void)snprintf(boot, sizeof boot, "%s", sim_str(n, "status.nodeInfo.bootID"));
    assert_int_equal(strlen(boot), UUID_LEN);
    assert_int_equal(strlen(sim_str(n, "status.nodeInfo.machineID")), 32);
    json_t *l = sim_ask(&s, 200, "GET",
                        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", NULL);
    char renewed[64];
    (void)snprintf(renewed, sizeof renewed, "%s", sim_str(l, "spec.renewTime"));
    sim_pass(&s, SEC(15));
    l = sim_ask(&s, 200, "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1",
                NULL);
    assert_true(strcmp(sim_str(l, "spec.renewTime"), renewed) > 0);
    struct machine *m = machine_find(s.fleet, "n1");
    assert_non_null(m);
    machine_reboot(m);
    assert_int_equal(m->state, MACHINE_DOWN);
    sim_pass(&s, SEC(60));
    assert_int_equal(m->state, MACHINE_UP);
    n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    assert_string_not_equal(sim_str(n, "status.nodeInfo.bootID"), boot);
    /* one that is not a machine's */
    sim_ask(&s, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"ghost\"}}");
    assert_null(machine_find(s.fleet, "ghost"));
    sim_ask(&s, 200, "DELETE", "/api/v1/nodes/n1", NULL);
    assert_null(machine_find(s.fleet, "n1"));
    assert_int_equal(machine_count(s.fleet), 0);
    sim_site_done(&s);
}

/* What others say of a node outlives the kubelet's reports, and its reboots. */
static void test_conditions(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_ask_as(
        &s, 200, "PATCH", "/api/v1/nodes/n1/status", NULL, "application/strategic-merge-patch+json",
        "{\"status\":{\"conditions\":[{\"type\":\"Drained\",\"status\":\"True\",\"reason\":\"Ok\","
        "\"lastHeartbeatTime\":null,\"lastTransitionTime\":null}]}}");
    const char *since = NULL;
    char first[64] = "", beat[64] = "";
    for (int round = 0; round < 3; round++) {
        json_t *n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL), *c;
        size_t i;
        int drained = 0, ready = 0;
        json_array_foreach(sim_at(n, "status.conditions"), i, c) {
            drained +=
                !strcmp(sim_str(c, "type"), "Drained") && !strcmp(sim_str(c, "reason"), "Ok");
            if (strcmp(sim_str(c, "type"), "Ready") != 0)
                continue;
            ready++;
            assert_string_equal(sim_str(c, "status"), "True");
            since = sim_str(c, "lastTransitionTime");
            if (round == 0)
                (void)snprintf(first, sizeof first, "%s", since);
            if (round == 1) /* a heartbeat and no transition */
                assert_string_equal(since, first);
            assert_true(strcmp(sim_str(c, "lastHeartbeatTime"), beat) > 0);
            (void)snprintf(beat, sizeof beat, "%s", sim_str(c, "lastHeartbeatTime"));
        }
        assert_int_equal(drained, 1);
        assert_int_equal(ready, 1);
        if (round == 1)
            machine_reboot(machine_find(s.fleet, "n1"));
        sim_pass(&s, SEC(400));
    }
    sim_site_done(&s);
}

static void test_delays(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    static const struct {
        const char *text;
        int64_t low, high;
    } rows[] = {
        {"2s", SEC(2), SEC(2)},
        {"1s-3s", SEC(1), SEC(3)},
        {"500ms-500ms", MSEC(500), MSEC(500)},
        {"never", INT64_MAX, INT64_MAX},
        {"nonsense", 1, 1},
        {"3s-1s", 1, 1},
        {"-5s", 1, 1},
        {"", 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair *map = NULL;
        struct pair one = {pool_str(s.world->pool, "sim.slipway.dev/stop", 20),
                           pool_str(s.world->pool, rows[i].text, strlen(rows[i].text))};
        map = (struct pair *)pool_blob(s.world->pool, &type_pair, &one, sizeof one);
        for (int k = 0; k < 20; k++) {
            const char *word;
            int64_t d = machine_delay(s.fleet, map, NULL, "stop", 1, 1, &word);
            assert_true(d >= rows[i].low && d <= rows[i].high);
        }
        pool_unref(s.world->pool, map);
    }
    sim_site_done(&s);
}

static void test_annotation_check(void **state) {
    (void)state;
    static const struct {
        const char *key, *value;
        bool good;
    } rows[] = {
        {"start", "2s", true},       {"start", "0", true},
        {"start", "10s-2s", false},  {"start", "stuck", false},
        {"ready", "never", true},    {"stop", "stuck", true},
        {"stop", "Never", false},    {"run", "1s-", false},
        {"run", "-1s", false},       {"boot", "", false},
        {"boot", "nonsense", false}, {"provision", "1s-2s", true},
        {"attach", "1 s", false},    {"detach", "never", true},
        {"exit", "0", true},         {"exit", "255", true},
        {"exit", "256", false},      {"exit", "-1", false},
        {"exit", "x", false},        {"exit", "1x", false},
        {"exit", "", false},         {"exit", "99999999999999999999", false},
        {"do", "hang", true},        {"do", "explode", false},
        {"do", "", false},           {"machine", "anything", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_free_ char *key = xasprintf("sim.slipway.dev/%s", rows[i].key);
        int rc = machine_annotation_check(key, rows[i].value, &err);
        if (!rc != rows[i].good)
            fail_msg("%s: \"%s\" is %s", key, rows[i].value, rc ? "refused" : "taken");
        if (rc)
            assert_true(strstr(err_msg(&err), key) && strstr(err_msg(&err), rows[i].value));
    }
    assert_int_equal(machine_annotation_check("example.com/boot", "nonsense", NULL), 0);
    /* What is shown of a long one ends with a whole character. */
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str large = STR_INIT;
    str_add(&large, "x");
    for (int i = 0; i < 100000; i++)
        str_add(&large, "\u00fc");
    assert_int_not_equal(machine_annotation_check("sim.slipway.dev/boot", str_get(&large), &err),
                         0);
    assert_true(strlen(err_msg(&err)) < 300);
    assert_true(utf8_valid(err_msg(&err), strlen(err_msg(&err))));
}

/* How often the object with this name was complained of, all values together. */
static int64_t complaints(struct sim_site *s, const char *ns, const char *name) {
    char target[256];
    (void)snprintf(target, sizeof target, "/api/v1/namespaces/%s/events", ns);
    json_t *list = sim_ask(s, 200, "GET", target, NULL), *e;
    int64_t n = 0;
    size_t i;
    json_array_foreach(sim_at(list, "items"), i, e) {
        if (strcmp(sim_str(e, "reason"), "BadAnnotation") != 0 ||
            strcmp(sim_str(e, "involvedObject.name"), name) != 0)
            continue;
        assert_string_equal(sim_str(e, "type"), "Warning");
        assert_string_equal(sim_str(e, "source.component"), "slipway-sim");
        n += sim_int(e, "count");
    }
    return n;
}

static void annotate(struct sim_site *s, const char *target, const char *key, const char *value) {
    _cleanup_free_ char *body =
        xasprintf("{\"metadata\":{\"annotations\":{\"sim.slipway.dev/%s\":\"%s\"}}}", key, value);
    sim_ask_as(s, 200, "PATCH", target, NULL, "application/merge-patch+json", body);
}

/* Slips through the API are told once for each value, and the default counts. */
static void test_bad_annotations(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    struct machine *m = machine_find(s.fleet, "n1");
    assert_int_equal(complaints(&s, "default", "n1"), 0);
    annotate(&s, "/api/v1/nodes/n1", "boot", "nonsense");
    sim_pass(&s, SEC(700)); /* with reports of the kubelet's */
    assert_int_equal(complaints(&s, "default", "n1"), 1);
    annotate(&s, "/api/v1/nodes/n1", "start", "10s-2s");
    assert_int_equal(complaints(&s, "default", "n1"), 2);
    annotate(&s, "/api/v1/nodes/n1", "boot", "never");
    assert_int_equal(complaints(&s, "default", "n1"), 2);
    annotate(&s, "/api/v1/nodes/n1", "boot", "soon");
    assert_int_equal(complaints(&s, "default", "n1"), 3);
    annotate(&s, "/api/v1/nodes/n1", "do", "explode");
    assert_int_equal(complaints(&s, "default", "n1"), 4);
    assert_int_equal(m->state, MACHINE_UP);
    json_t *n = sim_ask(&s, 200, "GET", "/api/v1/nodes/n1", NULL);
    const json_t *annotations = sim_at(n, "metadata.annotations");
    assert_null(json_object_get(annotations, "sim.slipway.dev/do"));
    annotate(&s, "/api/v1/nodes/n1", "do", "reboot");
    assert_int_equal(m->state, MACHINE_DOWN);
    sim_pass(&s, SEC(19));
    assert_int_equal(m->state, MACHINE_DOWN);
    sim_pass(&s, SEC(22));
    assert_int_equal(m->state, MACHINE_UP);
    assert_int_equal(complaints(&s, "default", "n1"), 4);

    sim_ask(&s, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
    sim_pass(&s, SEC(5));
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/other/pods",
            "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"sim.slipway.dev/exit\":\"x\"}},"
            "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    sim_pass(&s, SEC(30));
    assert_int_equal(complaints(&s, "other", "p"), 1);
    sim_ask(&s, 201, "POST", "/apis/storage.k8s.io/v1/storageclasses",
            "{\"metadata\":{\"name\":\"sc\",\"annotations\":{\"sim.slipway.dev/attach\":\"x\"}},"
            "\"provisioner\":\"p\"}");
    assert_int_equal(complaints(&s, "default", "sc"), 1);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_annotation_check),
        cmocka_unit_test(test_bad_annotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
