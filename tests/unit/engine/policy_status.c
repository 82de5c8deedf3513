/* Tests of engine/policy_status.c. */
#include "engine/policy_status.h"

#include "support/keeper_world.h"

#define NOW SEC(1794729600)

struct fixture {
    struct pool *pool;
    struct policy *p;
    struct slots slots;
    struct policy_seen seen;
};

/* As dw_vjson(). */
__attribute__((format(printf, 1, 2))) static json_t *json_of(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    return doc;
}

static void load(struct fixture *f, const char *status, const char *meta) {
    _cleanup_free_ char *text =
        xasprintf("{'metadata':{'name':'p','uid':'u','generation':3,'resourceVersion':'7'%s},"
                  "'spec':{},'status':%s}",
                  meta, status);
    json_t *doc = json_of("%s", text);
    if (f->p)
        object_free(&kind_policy, f->pool, (struct object *)f->p);
    f->p = (struct policy *)kw_decode(f->pool, &kind_policy, doc);
    json_decref(doc);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->pool = pool_new(type_drop);
    f->seen = (struct policy_seen){.nodes = 5, .limit = 2, .slots = &f->slots};
    load(f, "{}", "");
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    object_free(&kind_policy, f->pool, (struct object *)f->p);
    slots_done(&f->slots);
    pool_free(f->pool);
    free(f);
    return 0;
}

static void one_holds(struct fixture *f) {
    *vec_push(&f->slots.list) = (struct slot){.node = "w1"};
    *vec_push(&f->slots.waiting) = (struct slot_wish){.node = "w2"};
}

#define READY                                                                                      \
    "'conditions':[{'type':'Ready','status':'True','reason':'InForce','message':'it is obeyed',"   \
    "'lastTransitionTime':'2026-11-15T07:00:00Z','observedGeneration':3}]"
#define WRITTEN                                                                                    \
    "{'observedGeneration':3,'nodes':5,'held':1,'waiting':1,'free':1,'holders':['w1']," READY "}"

/* What is written, nothing writes again. */
static void once(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str body = STR_INIT;
    one_holds(f);
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    assert_string_equal(
        str_get(&body),
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{\"observedGeneration\":3,"
        "\"nodes\":5,\"held\":1,\"waiting\":1,\"free\":1,\"holders\":[\"w1\"],\"conditions\":[{"
        "\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"InForce\",\"message\":\"it is "
        "obeyed\",\"lastTransitionTime\":\"2026-11-15T08:00:00Z\",\"observedGeneration\":3}]}}");
    load(f, WRITTEN, "");
    assert_false(policy_status_patch(f->p, &f->seen, NOW, &body));
}

static void each_change_is_seen(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str body = STR_INIT;
    one_holds(f);
    load(f, WRITTEN, "");
    f->seen.limit = 3; /* one more is free */
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    f->seen.limit = 0; /* fewer than are held: none is free */
    str_reset(&body);
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    assert_non_null(strstr(str_get(&body), "\"free\":0"));
    f->seen.limit = 2;
    f->seen.nodes = 6;
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    f->seen.nodes = 5;
    f->slots.list.p[0].node = "w3"; /* as many, but another one */
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    f->slots.list.p[0].node = "w1";
    load(f, WRITTEN, ",'generation':4");
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
}

static void one_that_cannot_be_used(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str body = STR_INIT;
    f->seen = (struct policy_seen){.problem = "spec.drain: no such word"};
    load(f, WRITTEN, "");
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    assert_non_null(strstr(str_get(&body), "\"status\":\"False\",\"reason\":\"Invalid\","
                                           "\"message\":\"spec.drain: no such word\""));
    assert_null(strstr(str_get(&body), "held")); /* what is there stays */
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body));
}

static void one_whose_nodes_another_has(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str body = STR_INIT;
    f->seen.shared = "policy b has nodes of it, too";
    load(f, WRITTEN, "");
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    assert_non_null(strstr(str_get(&body), "\"status\":\"False\",\"reason\":\"NodesShared\","
                                           "\"message\":\"policy b has nodes of it, too\""));
}

static void it_cannot_vanish_while_somebody_holds(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str body = STR_INIT;
    /* Before anybody does: to one that goes already none can be added. */
    assert_true(policy_finalizer_patch(f->p, &f->seen, &body));
    assert_string_equal(str_get(&body), "{\"metadata\":{\"resourceVersion\":\"7\",\"finalizers\":["
                                        "\"" POLICY_FINALIZER "\"]}}");
    one_holds(f);
    load(f, "{}", ",'deletionTimestamp':'2026-11-15T07:00:00Z','finalizers':['other']");
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body));
    load(f, "{}", ",'finalizers':['other','" POLICY_FINALIZER "']");
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body));
    load(f, "{}",
         ",'deletionTimestamp':'2026-11-15T07:00:00Z','finalizers':['other','" POLICY_FINALIZER
         "']");
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body));
    f->slots.list.len = 0; /* the last one leaves */
    load(f, "{}", ",'finalizers':['other','" POLICY_FINALIZER "']");
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body)); /* the next one may come */
    load(f, "{}",
         ",'deletionTimestamp':'2026-11-15T07:00:00Z','finalizers':['other','" POLICY_FINALIZER
         "']");
    str_reset(&body);
    assert_true(policy_finalizer_patch(f->p, &f->seen, &body));
    assert_non_null(strstr(str_get(&body), "\"finalizers\":[\"other\"]"));
    str_reset(&body);
    assert_true(policy_status_patch(f->p, &f->seen, NOW, &body));
    assert_non_null(strstr(str_get(&body), "\"reason\":\"Deleting\""));
    f->seen.slots = NULL; /* who knows */
    assert_false(policy_finalizer_patch(f->p, &f->seen, &body));
}

int main(void) {
#define STATUS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        STATUS_TEST(once),
        STATUS_TEST(each_change_is_seen),
        STATUS_TEST(one_that_cannot_be_used),
        STATUS_TEST(one_whose_nodes_another_has),
        STATUS_TEST(it_cannot_vanish_while_somebody_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
