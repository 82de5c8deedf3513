/* Tests of src/cli/plan_document.c: the document is JSON, has what docs/plan.md says, and nothing
 * that does not happen has a time. What the plan in it says is tested in tests/unit/engine. */
#include "cli/plan_text.h"

#include "../engine/plan_site.h"

/* To be given back with json_decref(). */
static json_t *document(struct plan_site *f) {
    _cleanup_str_ struct str text = STR_INIT;
    char *flags[] = {(char *)"--force", (char *)"--reason=it's \"late\""};
    static const char *const unread[] = {"persistentvolumes", "persistentvolumeclaims"};
    json_error_t error;
    plan_document(&(struct plan_shown){.plan = &f->plan,
                                       .cluster = "https://127.0.0.1:6443",
                                       .flags = flags,
                                       .n_flags = ARRAY_LEN(flags),
                                       .unread = unread,
                                       .n_unread = f->no_storage ? 2 : 0,
                                       .now = f->w.now.wall},
                  &text);
    json_t *doc = json_loads(str_get(&text), JSON_REJECT_DUPLICATES, &error);
    if (!doc)
        fail_msg("%s in line %d of %s", error.text, error.line, str_get(&text));
    return doc;
}

static double number(json_t *doc, const char *path) {
    json_t *v = dw_at(doc, path);
    if (!json_is_number(v))
        fail_msg("%s is no number", path);
    return json_number_value(v);
}

/* Exactly these members, each once. */
static void assert_members(json_t *obj, const char *names) {
    _cleanup_str_ struct str got = STR_INIT;
    const char *key;
    json_t *value;
    json_object_foreach(obj, key, value) {
        str_addf(&got, "%s%s", got.len ? " " : "", key);
    }
    assert_string_equal(str_get(&got), names);
}

static void what_goes_has_its_times(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    pods(f, "a", 2, "w0", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->times.start = MSEC(5250);
    make(f, "w0", NULL);
    json_t *doc = document(f);
    assert_members(doc, "schema id operation server made serverAsked digest flags mostAtOnce "
                        "seconds drained lowerBound basis budgets pods nodes");
    assert_string_equal(dw_str(doc, "schema"), "slipway.plan/1.1");
    assert_int_equal(strlen(dw_str(doc, "id")), 16);
    assert_members(dw_at(doc, "budgets.0"), "name rule selector spare needs");
    assert_string_equal(dw_str(doc, "budgets.0.selector"), "app=web");
    assert_string_equal(dw_str(doc, "operation"), "drain");
    assert_string_equal(dw_str(doc, "server"), "https://127.0.0.1:6443");
    assert_string_equal(dw_str(doc, "made"), "2026-11-15T08:00:00Z");
    assert_string_equal(dw_str(doc, "flags.1"), "--reason=it's \"late\"");
    assert_true(number(doc, "mostAtOnce") == 1);
    assert_true(number(doc, "seconds") == 15.25);
    assert_true(number(doc, "drained") == 15.25);
    assert_members(dw_at(doc, "lowerBound"), "seconds certain binds terms");
    assert_true(number(doc, "lowerBound.seconds") == 15.25);
    assert_string_equal(dw_str(doc, "lowerBound.binds"), "node");
    assert_int_equal(json_array_size(dw_at(doc, "lowerBound.terms")), 2);
    assert_members(dw_at(doc, "lowerBound.terms.1"), "term seconds object message");
    assert_string_equal(dw_str(doc, "lowerBound.terms.1.term"), "budget");
    assert_string_equal(dw_str(doc, "lowerBound.terms.1.object"), "default/web");
    assert_members(dw_at(doc, "pods"), "stays goes waits homeless unsure never");
    assert_true(number(doc, "pods.goes") == 1 && number(doc, "pods.waits") == 1);
    assert_members(dw_at(doc, "nodes.0"), "name uid verdict begins ends least pods");
    assert_string_equal(dw_str(doc, "nodes.0.uid"), "uid-w0");
    assert_string_equal(dw_str(doc, "nodes.0.verdict"), "waits");
    assert_members(dw_at(doc, "nodes.0.pods.0"),
                   "namespace name uid owner verdict evicted gone back to");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.owner"), "ReplicaSet/web");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.to"), "w1");
    assert_members(dw_at(doc, "nodes.0.pods.1"),
                   "namespace name uid owner verdict blocker evicted gone back to");
    assert_members(dw_at(doc, "nodes.0.pods.1.blocker"), "code object message hint clears");
    assert_string_equal(dw_str(doc, "nodes.0.pods.1.blocker.code"), "PDBNoBudget");
    assert_true(number(doc, "nodes.0.pods.1.evicted") == 5.25);
    json_decref(doc);
}

/* No time, no place: absent, not 0, not -1, not "". */
static void what_does_not_happen_is_absent(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "d", "w0", "{'metadata':{" DW_OWNER("example.com/v1", "DaemonSet", "agent") "}}");
    make(f, "w0", NULL);
    json_t *doc = document(f);
    assert_null(dw_at(doc, "seconds"));
    assert_true(number(doc, "drained") == 0);
    assert_members(dw_at(doc, "nodes.0"), "name uid verdict begins least pods");
    assert_members(dw_at(doc, "nodes.0.pods.0"), "namespace name uid verdict blocker");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.verdict"), "never");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.blocker.code"), "BarePod");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.blocker.clears"), "operator");
    assert_members(dw_at(doc, "nodes.0.pods.1"), "namespace name uid owner verdict why");
    assert_string_equal(dw_str(doc, "nodes.0.pods.1.why"), "ignoring DaemonSet-managed Pods");
    json_decref(doc);
}

/* What could not be read is told, and what nobody knows because of it. */
static void what_was_not_read_is_told(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}");
    f->no_storage = true;
    make(f, "w0", NULL);
    json_t *doc = document(f);
    assert_string_equal(dw_str(doc, "unread.1"), "persistentvolumeclaims");
    assert_members(dw_at(doc, "nodes.0"), "name uid verdict blocker begins least pods");
    assert_string_equal(dw_str(doc, "nodes.0.verdict"), "unsure");
    assert_members(dw_at(doc, "nodes.0.blocker"), "code object message help hint clears");
    assert_string_equal(dw_str(doc, "nodes.0.blocker.code"), "Forbidden");
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.verdict"), "goes");
    json_decref(doc);
}

static void an_empty_plan_is_a_document(void **state) {
    struct plan_site *f = *state;
    make(f, NULL);
    json_t *doc = document(f);
    assert_int_equal(json_array_size(dw_at(doc, "nodes")), 0);
    assert_int_equal(json_array_size(dw_at(doc, "lowerBound.terms")), 0);
    assert_true(number(doc, "seconds") == 0);
    json_decref(doc);
}

/* Names that no server should let through come out as they are, within JSON. */
static void hostile_texts_stay_texts(void **state) {
    struct plan_site *f = *state;
    nodes(f, 1);
    dw_put(&f->w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'a\\u001b[2J\\n\\\"},{','uid':'u'},"
           "'spec':{'nodeName':'w0'},'status':{'phase':'Running'}}");
    make(f, "w0", NULL);
    json_t *doc = document(f);
    assert_string_equal(dw_str(doc, "nodes.0.pods.0.name"), "a\x1b[2J\n\"},{");
    json_decref(doc);
}

/* --- the id --- */

static const char *id_with(struct plan_site *f, const char *flag, const char *rules,
                           char out[static 17]) {
    char *flags[] = {(char *)flag};
    make(f, "w0", NULL);
    plan_id(&(struct plan_shown){.plan = &f->plan, .flags = flags, .n_flags = 1, .rules = rules},
            out);
    assert_int_equal(strlen(out), 16);
    assert_int_equal(strspn(out, "0123456789abcdef"), 16);
    return out;
}

static const char *id_of(struct plan_site *f, char out[static 17]) {
    return id_with(f, "--eviction-rate=20", "", out);
}

/* It is another one when something has changed that the plan rests on, and only then. */
static void the_id_is_of_what_the_plan_rests_on(void **state) {
    struct plan_site *f = *state;
    char ids[8][17], same[17];
    size_t n = 0;
    nodes(f, 3);
    pods(f, "a", 2, "w0", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    id_of(f, ids[n++]);
    assert_string_equal(id_of(f, same), ids[0]);
    f->w.now.wall += SEC(3600);
    assert_string_equal(id_of(f, same), ids[0]);
    dw_pod(&f->w, "elsewhere", "w1", "{}");
    assert_string_equal(id_of(f, same), ids[0]);
    dw_budget(&f->w, "web", 1, 3, 2, 3); /* a new resourceVersion */
    assert_string_equal(id_of(f, same), ids[0]);
    dw_pod(&f->w, "a2", "w0", "{}");
    id_of(f, ids[n++]);
    dw_edit_pod(&f->w, "a2", "{'metadata':{'uid':'another'}}");
    id_of(f, ids[n++]);
    budget_of(f, "second", "web", 1, 3, 2, 3);
    id_of(f, ids[n++]);
    id_with(f, "--timeout=60s", "", ids[n++]);
    id_with(f, "--holder=night", "", ids[n++]);
    id_with(f, "--holder=night", "0123456789abcdef", ids[n++]);
    dw_edit_node(&f->w, "w0", "{'metadata':{'uid':'reinstalled'}}");
    id_of(f, ids[n++]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ids[i], ids[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(what_goes_has_its_times),   PLAN_TEST(what_does_not_happen_is_absent),
        PLAN_TEST(what_was_not_read_is_told), PLAN_TEST(an_empty_plan_is_a_document),
        PLAN_TEST(hostile_texts_stay_texts),  PLAN_TEST(the_id_is_of_what_the_plan_rests_on),
    };
    return cmocka_run_group_tests_name("cli/plan_document", tests, NULL, NULL);
}
