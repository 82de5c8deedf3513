/* Tests of src/engine/next_mark.c. */
#include "engine/next_mark.h"

#include "support/drain_world.h"

static const struct node *node(struct drain_world *w, const char *taints) {
    dw_put(w, &kind_node, "{'metadata':{'name':'w0','uid':'u'},'spec':{'taints':%s}}", taints);
    return (const struct node *)store_get(w->c.nodes, NULL, "w0");
}

/* What the patch makes of the node. */
static const char *patched(struct drain_world *w, const struct node *n, const char *whose) {
    _cleanup_str_ struct str patch = STR_INIT;
    next_mark_patch(n, whose, &patch);
    json_t *doc = json_loads(str_get(&patch), 0, NULL);
    assert_non_null(doc);
    assert_string_equal(dw_str(doc, "metadata.resourceVersion"), n->meta.version);
    _cleanup_free_ char *text = json_dumps(dw_at(doc, "spec"), JSON_COMPACT);
    str_reset(&w->text);
    str_add(&w->text, text);
    json_decref(doc);
    return str_get(&w->text);
}

#define MARK "{\"key\":\"slipway.dev/next\",\"effect\":\"PreferNoSchedule\"}"

static void it_is_put_on_and_taken_off(void **state) {
    struct drain_world *w = *state;
    const struct node *n = node(w, "null");
    assert_false(next_marked(n));
    assert_string_equal(patched(w, n, NEXT_OF_DRAIN), "{\"taints\":[" MARK "]}");
    n = node(w, "[{'key':'slipway.dev/next','effect':'PreferNoSchedule'}]");
    assert_true(next_marked(n));
    assert_string_equal(patched(w, n, NEXT_OF_DRAIN), "{\"taints\":[" MARK "]}"); /* once */
    assert_string_equal(patched(w, n, NULL), "{\"taints\":[]}");
}

static void it_says_whose_it_is(void **state) {
    struct drain_world *w = *state;
    const struct node *n = node(w, "[{'key':'slipway.dev/next','effect':'PreferNoSchedule'}]");
    assert_true(next_marked_by(n, NEXT_OF_DRAIN));
    assert_false(next_marked_by(n, NEXT_OF_ROLLOUT));
    assert_string_equal(
        patched(w, n, NEXT_OF_ROLLOUT),
        "{\"taints\":[{\"key\":\"slipway.dev/next\",\"value\":\"rollout\",\"effect\":"
        "\"PreferNoSchedule\"}]}");
    n = node(w, "[{'key':'slipway.dev/next','value':'rollout','effect':'PreferNoSchedule'}]");
    assert_true(next_marked(n) && next_marked_by(n, NEXT_OF_ROLLOUT));
    assert_false(next_marked_by(n, NEXT_OF_DRAIN));
    n = node(w, "[{'key':'other','value':'rollout','effect':'PreferNoSchedule'}]");
    assert_false(next_marked(n) || next_marked_by(n, NEXT_OF_ROLLOUT));
}

/* A list is replaced as a whole: nothing of the others may be lost. */
static void other_taints_stay_as_they_are(void **state) {
    struct drain_world *w = *state;
    const struct node *n =
        node(w, "[{'key':'a','value':'b','effect':'NoExecute','timeAdded':'2026-11-15T08:00:00Z'},"
                "{'key':'slipway.dev/next','effect':'PreferNoSchedule'},"
                "{'key':'c','effect':'NoSchedule'}]");
    assert_string_equal(
        patched(w, n, NULL),
        "{\"taints\":[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoExecute\",\"timeAdded\":"
        "\"2026-11-15T08:00:00Z\"},{\"key\":\"c\",\"effect\":\"NoSchedule\"}]}");
}

static void others_drop_it_with_their_own_patch(void **state) {
    struct drain_world *w = *state;
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &text, false);
    jsonw_begin(&j, '{');
    next_mark_drop(&j, node(w, "[{'key':'c','effect':'NoSchedule'}]"));
    jsonw_end(&j);
    assert_string_equal(str_get(&text), "{}"); /* not theirs to touch */
    str_reset(&text);
    jsonw_init(&j, &text, false);
    jsonw_begin(&j, '{');
    next_mark_drop(&j, node(w, "[{'key':'slipway.dev/next','effect':'PreferNoSchedule'}]"));
    jsonw_end(&j);
    assert_string_equal(str_get(&text), "{\"taints\":[]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(it_is_put_on_and_taken_off),
        DRAIN_TEST(it_says_whose_it_is),
        DRAIN_TEST(other_taints_stay_as_they_are),
        DRAIN_TEST(others_drop_it_with_their_own_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
