/* Claims on pods, and which go first. */
#include "sim/fleet/workload.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_claim(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct fleet *f = s.fleet;
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/replicasets",
            "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":"
            "{\"app\":\"x\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    struct record *rs = shelf_get(f->replica_sets->shelf, "default", "x");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"image\":\"i\"}]}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"b\",\"labels\":{\"app\":\"other\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    struct pod_set mine = {0};
    workload_claim(f, f->replica_sets, rs, record_as(replica_set, rs)->selector, NULL, NULL, &mine);
    assert_int_equal(mine.v.len, 1); /* adopted */
    json_t *a = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/a", NULL);
    assert_string_equal(sim_str(a, "metadata.ownerReferences.0.name"), "x");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/a",
            "{\"metadata\":{\"labels\":{\"app\":\"gone\"}}}");
    struct pod_set none = {0};
    workload_claim(f, f->replica_sets, rs, record_as(replica_set, rs)->selector, NULL, NULL, &none);
    assert_int_equal(none.v.len, 0); /* let go */
    a = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/pods/a", NULL);
    assert_int_equal(json_array_size(sim_at(a, "metadata.ownerReferences")), 0);
    pod_set_done(&mine);
    pod_set_done(&none);
    sim_site_done(&s);
}

/* More sets of labels than it remembers, in any order: each gets its own answer, every time. */
static void test_matcher(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct pair want[] = {{"app", "x"}};
    const struct pair *list = pool_blob(
        s.world->pool, &type_pair,
        (struct pair[]){{pool_str(s.world->pool, "app", 3), pool_str(s.world->pool, "x", 1)}},
        sizeof want);
    struct label_selector selector = {.labels = list};
    struct matcher m = {.selector = &selector};
    const struct pair *labels[100];
    for (int i = 0; i < 100; i++) {
        char zone[8];
        int n = snprintf(zone, sizeof zone, "z%d", i);
        struct pair two[] = {
            {pool_str(s.world->pool, "app", 3), pool_str(s.world->pool, i % 3 ? "x" : "y", 1)},
            {pool_str(s.world->pool, "zone", 4), pool_str(s.world->pool, zone, (size_t)n)}};
        labels[i] = pool_blob(s.world->pool, &type_pair, two, sizeof two);
    }
    for (int i = 0; i < 1000; i++) {
        int k = i * 37 % 100;
        assert_int_equal(matcher_match(&m, labels[k]), k % 3 != 0);
        assert_false(matcher_match(&m, NULL));
    }
    /* nothing selects nothing */
    struct matcher none = {.selector = NULL};
    assert_false(matcher_match(&none, labels[1]));
    for (int i = 0; i < 100; i++)
        pool_unref(s.world->pool, labels[i]);
    pool_unref(s.world->pool, list);
    sim_site_done(&s);
}

static void check_marks(struct sim_site *s, const char *text, unsigned expected) {
    struct object *pod = object_new(&kind_pod);
    assert_int_equal(codec_json(&s->world->codec, kind_pod.type, view_of(text), pod, NULL), 0);
    assert_int_equal(pod_marks_of((const struct pod *)pod), expected);
    object_free(&kind_pod, s->world->pool, pod);
}

static void test_marks(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    check_marks(&s, "{\"status\":{\"phase\":\"Running\"}}", MARK_KNOWN | MARK_ACTIVE);
    check_marks(&s,
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
                "\"status\":\"True\"}]}}",
                MARK_KNOWN | MARK_ACTIVE | MARK_READY);
    check_marks(&s,
                "{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"status\":{"
                "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                MARK_KNOWN | MARK_READY);
    check_marks(&s, "{\"status\":{\"phase\":\"Failed\"}}", MARK_KNOWN);
    sim_site_done(&s);
}

static void test_rank(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"placed\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"ready\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"nodeName\":\"n\"}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/pods/ready/status",
            "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
            "\"True\"}]}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/pods",
            "{\"metadata\":{\"name\":\"waiting\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
            "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    struct pod_set set = {0};
    const char *names[] = {"ready", "waiting", "placed"};
    for (size_t i = 0; i < 3; i++)
        *vec_push(&set.v) = record_ref(shelf_get(s.fleet->pods->shelf, "default", names[i]));
    pod_set_rank(&set, s.world->clock.now);
    assert_string_equal(set.v.p[0]->obj->meta.name, "waiting"); /* without a node first */
    assert_string_equal(set.v.p[1]->obj->meta.name, "placed");  /* then what does not run */
    assert_string_equal(set.v.p[2]->obj->meta.name, "ready");
    pod_set_done(&set);
    struct intstr percent = {.str = "50%", .set = 1, .is_str = 1}, number = {.val = 3, .set = 1};
    assert_int_equal(intstr_of(&percent, 7, true), 4);
    assert_int_equal(intstr_of(&percent, 7, false), 3);
    assert_int_equal(intstr_of(&number, 7, true), 3);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_matcher),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
