/* Texts of objects. */
#include "sim/record.h"

#include "sim/scenario.h"
#include "sim/schema/text.h"
#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_splice(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    _cleanup_json_ json_t *v =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "kind", "Pod", "apiVersion", "v1",
                  "metadata", "name", "p", "uid", "u", "status", "phase", "Pending");
    struct record *a = record_of(&s.world->codec, &kind_pod, v, 7, NULL);
    assert_string_equal(a->json,
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\","
                        "\"uid\":\"u\",\"resourceVersion\":\"7\"},\"status\":{\"phase\":"
                        "\"Pending\"}}");
    assert_string_equal(record_as(pod, a)->phase, "Pending");
    struct record *b =
        record_with_status(&s.world->codec, a, VIEW("{\"phase\":\"Running\"}"), 1234, NULL);
    assert_string_equal(record_as(pod, b)->phase, "Running");
    assert_string_equal(b->obj->meta.version, "1234");
    assert_int_equal(b->version, 1234);
    /* the old one is as it was */
    assert_string_equal(record_as(pod, a)->phase, "Pending");
    struct record *c = record_with_status(&s.world->codec, b, (struct view){0}, 9, NULL);
    assert_string_equal(record_as(pod, c)->phase, "Running");
    _cleanup_json_ json_t *back = record_json(c);
    assert_string_equal(sim_str(back, "metadata.resourceVersion"), "9");
    record_unref(a);
    record_unref(b);
    record_unref(c);
    sim_site_done(&s);
}

static void test_refused(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    /* what does not decode is no record */
    _cleanup_json_ json_t *v =
        json_pack("{s:{s:s}, s:{s:i}}", "metadata", "name", "p", "status", "phase", 7);
    _cleanup_err_ struct err err = ERR_INIT;
    assert_null(record_of(&s.world->codec, &kind_pod, v, 7, &err));
    assert_non_null(err.msg);
    record_unref(NULL);
    sim_site_done(&s);
}

/* What is asked for often, and what versions share. */
static void test_parts(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct codec *c = &s.world->codec;
    _cleanup_json_ json_t *v = json_loads(
        "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/"
        "v1\",\"metadata\":{\"name\":\"d\",\"uid\":\"u\"},"
        "\"spec\":{\"replicas\":2},\"status\":{\"replicas\":1,\"conditions\":[{\"type\":\"A\"}]}}",
        0, NULL);
    struct record *a = record_of(c, &kind_deployment, v, 9, NULL);
    _cleanup_json_ json_t *status = record_status(a);
    assert_int_equal(sim_int(status, "replicas"), 1);
    struct view conditions = record_status_member(c, a, "conditions");
    assert_int_equal(conditions.len, strlen("[{\"type\":\"A\"}]"));
    assert_memory_equal(conditions.p, "[{\"type\":\"A\"}]", conditions.len);
    assert_int_equal(record_status_member(c, a, "none").len, 0);
    assert_int_equal(sim_int(record_spec(a), "replicas"), 2);
    assert_null(json_object_get(record_body(a), "metadata"));
    /* another status: the same body, decoded numbers of its own */
    struct record *b = record_with_status(c, a, VIEW("{\"replicas\":77}"), 10, NULL);
    assert_ptr_equal(record_body(a), record_body(b));
    assert_int_equal(record_as(deployment, b)->now, 77);
    assert_int_equal(record_as(deployment, b)->replicas, 2);
    assert_null(record_as(deployment, b)->conditions);
    assert_int_equal(record_as(deployment, a)->now, 1);
    assert_non_null(record_as(deployment, a)->conditions);
    /* a piece of the spec, in front of the status; the version is one digit longer */
    size_t at = (size_t)(strstr(b->json, "\"replicas\":2") - b->json) + strlen("\"replicas\":");
    struct record *d = record_splice(c, b, at, 1, VIEW("12345"), 100, NULL);
    assert_int_equal(record_as(deployment, d)->replicas, 12345);
    assert_int_equal(record_as(deployment, d)->now, 77);
    struct view text = record_status_text(d);
    assert_memory_equal(text.p, "{\"replicas\":77}", text.len);
    assert_string_equal(d->obj->meta.version, "100");
    assert_int_equal(sim_int(record_spec(d), "replicas"), 12345);
    /* a status that does not decode is refused, and nothing is lost */
    _cleanup_err_ struct err err = ERR_INIT;
    assert_null(record_with_status(c, d, VIEW("{\"replicas\":\"x\"}"), 101, &err));
    assert_non_null(err.msg);
    record_unref(a);
    record_unref(b);
    record_unref(d);
    /* one that has no status yet */
    _cleanup_json_ json_t *bare = json_pack("{s:{s:s}}", "metadata", "name", "p");
    struct record *e = record_of(c, &kind_pod, bare, 1, NULL);
    assert_int_equal(record_status_text(e).len, 0);
    _cleanup_json_ json_t *none = record_status(e);
    assert_int_equal(json_object_size(none), 0);
    struct record *f = record_with_status(c, e, VIEW("{\"phase\":\"Running\"}"), 2, NULL);
    assert_string_equal(record_as(pod, f)->phase, "Running");
    assert_memory_equal(record_status_text(f).p, "{\"phase\":\"Running\"}", 19);
    record_unref(e);
    record_unref(f);
    sim_site_done(&s);
}

/* Nothing is stored that could not be read again. */
static void test_too_deep(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *v = json_object();
    for (int i = 0; i < 1100; i++)
        v = json_pack("{s:o}", "a", v);
    json_object_set_new(v, "metadata", json_pack("{s:s}", "name", "p"));
    _cleanup_err_ struct err err = ERR_INIT;
    assert_null(record_of(&s.world->codec, &kind_any, v, 1, &err));
    assert_non_null(err.msg);
    json_decref(v);
    sim_site_done(&s);
}

static char *printed(const struct kind *kind, const struct object *obj) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    object_print(kind, &w, obj);
    return str_take(&out);
}

struct watcher {
    struct sim *sim;
    size_t n;
};

/* Whichever way a record came about, it is the same as if made from a tree: in canonical form, and
 * with everything decoded. */
static void check(void *arg, struct shelf *shelf, const struct change *change) {
    struct watcher *w = arg;
    const struct record *r = change->after;
    struct codec codec;
    codec_init(&codec, sim_world(w->sim)->pool);
    _cleanup_json_ json_t *v = record_json(r), *canonical = NULL;
    const struct resource *res =
        api_resource_of_kind(sim_api(w->sim), json_str(v, "apiVersion"), json_str(v, "kind"));
    assert_non_null(res);
    assert_ptr_equal(res->shelf, shelf);
    if (res->schema) {
        assert_int_equal(schema_canonical(res->schema, v, &canonical, NULL, NULL), 0);
        _cleanup_str_ struct str text = STR_INIT;
        text_value(canonical, &text);
        assert_string_equal(r->json, str_get(&text));
    }
    struct object *fresh = object_new(r->kind);
    assert_int_equal(codec_json(&codec, r->kind->type, record_text(r), fresh, NULL), 0);
    _cleanup_free_ char *a = printed(r->kind, r->obj), *b = printed(r->kind, fresh);
    assert_string_equal(a, b);
    object_free(r->kind, r->pool, fresh);
    codec_done(&codec);
    w->n++;
}

static void test_busy_clusters(void **state) {
    (void)state;
    static const char *const names[] = {"happy",         "stateful", "crash-loop",   "reboot-hang",
                                        "control-plane", "full",     "flapping-node"};
    size_t all = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct scenario *scenario = NULL;
        assert_int_equal(scenario_load(names[i], &scenario, NULL), 0);
        struct sim *sim = sim_new(&(struct sim_options){.seed = i, .start = SIM_START});
        struct watcher w = {.sim = sim};
        world_listen(sim_world(sim), check, &w);
        assert_int_equal(scenario_begin(scenario, sim, 0, NULL), 0);
        scenario_play(scenario, NULL, NULL);
        struct snapshot *nodes = shelf_snapshot(sim_fleet(sim)->nodes->shelf);
        fleet_set_meta(sim_fleet(sim), sim_fleet(sim)->nodes, nodes->items[0], "annotations",
                       "sim.slipway.dev/do", "reboot");
        snapshot_unref(nodes);
        clock_run(&sim_world(sim)->clock, sim_world(sim)->clock.now + SEC(900));
        assert_true(w.n > 100);
        all += w.n;
        world_unlisten(sim_world(sim), check, &w);
        scenario_stop(scenario);
        sim_free(sim);
        scenario_free(scenario);
    }
    assert_true(all > 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splice),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_busy_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
