/* A cluster as a whole: it repeats itself to the byte, and settles. */
#include "sim/sim.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct tape {
    struct str text;
};
static void note(void *arg, const struct kind *kind, const struct change *c) {
    struct tape *t = arg;
    str_addf(&t->text, "%d %s ", (int)c->type, kind->name);
    str_addn(&t->text, c->after->json, c->after->len);
    str_addc(&t->text, '\n');
}

/* An hour of a small cluster with some trouble. */
static void live(uint64_t seed, struct tape *t) {
    struct sim_site s;
    sim_site_seed(&s, true, seed);
    s.world->log = note;
    s.world->log_arg = t;
    char name[8];
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        sim_add_node(&s, name);
    }
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":6,\"selector\":{"
            "\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    sim_ask(&s, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"maxUnavailable\":1,\"selector\":{"
            "\"matchLabels\":{\"app\":\"web\"}}}}");
    sim_pass(&s, SEC(60));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"metadata\":{\"annotations\":{\"sim.slipway.dev/do\":\"off\"}}}");
    sim_pass(&s, SEC(1800));
    sim_ask(&s, 200, "PATCH", "/api/v1/nodes/n1",
            "{\"metadata\":{\"annotations\":{\"sim.slipway.dev/do\":\"on\"}}}");
    sim_pass(&s, SEC(1740));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/web", NULL);
    assert_int_equal(sim_int(d, "status.availableReplicas"), 6);
    sim_site_done(&s);
}

static void test_repeats(void **state) {
    (void)state;
    struct tape a = {0}, b = {0}, c = {0};
    live(11, &a);
    live(11, &b);
    live(12, &c);
    assert_true(a.text.len > 100000);
    assert_int_equal(a.text.len, b.text.len);
    assert_memory_equal(a.text.p, b.text.p, a.text.len);
    assert_true(a.text.len != c.text.len || memcmp(a.text.p, c.text.p, a.text.len) != 0);
    str_done(&a.text);
    str_done(&b.text);
    str_done(&c.text);
}

static void test_settles(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, true);
    sim_add_node(&s, "n1");
    sim_add_node(&s, "n2");
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/deployments",
            "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":3,\"selector\":{"
            "\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    assert_true(sim_settle(s.sim, SEC(300)));
    json_t *d = sim_ask(&s, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/web", NULL);
    assert_int_equal(sim_int(d, "status.readyReplicas"), 3);
    assert_int_equal(sim_node_count(s.sim), 2);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
