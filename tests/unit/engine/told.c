/* Tests of src/engine/told.c: Events as drains write them. */
#include "engine/told.h"

#include "support/world.h"

#define AT(minute) "2026-11-15T08:0" minute ":00Z"
#define EVENT(name, reason, message, last)                                                         \
    "{'metadata':{'namespace':'default','name':'" name                                             \
    "'},'involvedObject':{'kind':'Node','name':"                                                   \
    "'w1'},'reason':'" reason "','message':'" message "','lastTimestamp':'" AT(last) "'}"
#define BLOCKED(message) EVENT("e", "DrainBlocked", message, "5")

struct scene {
    struct world w;
    struct store *events;
};

static void begin(struct scene *s) {
    world_init(&s->w);
    s->events = store_new(&kind_event, s->w.pool);
}

static void end(struct scene *s) {
    store_free(s->events);
    world_done(&s->w);
}

static const struct kube_event *add(struct scene *s, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    struct object *obj = object_new(&kind_event);
    struct codec codec;
    _cleanup_err_ struct err err = ERR_INIT;
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    codec_init(&codec, s->w.pool);
    if (codec_json(&codec, kind_event.type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    assert_true(store_put(s->events, obj));
    return (const struct kube_event *)obj;
}

static void what_is_told_is_taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *json;
        bool ok;
        enum blocker_code code;
        const char *object, *message;
    } cases[] = {
        {BLOCKED("PDBNoBudget shop/web: needs 2: has 1"), true, BLOCKER_PDB_NO_BUDGET, "shop/web",
         "needs 2: has 1"},
        /* of the node itself */
        {BLOCKED("NodeUnreachable: it does not answer"), true, BLOCKER_NODE_UNREACHABLE, "",
         "it does not answer"},
        {BLOCKED("Forbidden : "), true, BLOCKER_FORBIDDEN, "", ""},
        /* nobody of ours has written these */
        {BLOCKED("PDBNoBudgets shop/web: x"), false, BLOCKER_CODES, "", ""},
        {BLOCKED("PDBNoBudget shop/web"), false, BLOCKER_CODES, "", ""},
        {BLOCKED("PDBNoBudget"), false, BLOCKER_CODES, "", ""},
        {BLOCKED(": "), false, BLOCKER_CODES, "", ""},
        {BLOCKED(""), false, BLOCKER_CODES, "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene s;
        struct told t;
        begin(&s);
        const struct kube_event *e = add(&s, cases[i].json);
        assert_int_equal(told_parse(e, &t), cases[i].ok);
        if (cases[i].ok) {
            assert_int_equal(t.code, cases[i].code);
            assert_true(view_eq(t.object, view_of(cases[i].object)));
            assert_string_equal(t.message, cases[i].message);
            assert_int_equal(t.since, e->last); /* it has no other time */
            assert_int_equal(t.last, e->last);
        }
        end(&s);
    }
}

static void whom_it_is_about(void **state) {
    (void)state;
    struct scene s;
    begin(&s);
    const struct kube_event *e = add(&s, BLOCKED("Forbidden: x"));
    const struct node *w1 = world_add(&s.w, &kind_node, "{'metadata':{'name':'w1'}}");
    const struct node *w2 = world_add(&s.w, &kind_node, "{'metadata':{'name':'w2'}}");
    assert_true(told_about(e, w1, "DrainBlocked"));
    assert_false(told_about(e, w1, "DrainUnblocked"));
    assert_false(told_about(e, w2, "DrainBlocked"));
    end(&s);
}

static bool is_over(const char *later) {
    struct scene s;
    struct told t;
    begin(&s);
    const struct node *node = world_add(&s.w, &kind_node, "{'metadata':{'name':'w1'}}");
    assert_true(told_parse(add(&s, BLOCKED("PDBNoBudget shop/web: x")), &t));
    add(&s, later);
    bool over = told_over(s.events, node, &t);
    end(&s);
    return over;
}

static void what_is_over_is_told(void **state) {
    (void)state;
    assert_true(is_over(EVENT("f", "DrainUnblocked", "PDBNoBudget", "5")));
    assert_true(is_over(EVENT("f", "DrainUnblocked", "PDBNoBudget", "6")));
    assert_false(is_over(EVENT("f", "DrainUnblocked", "PDBNoBudget", "4"))); /* of an earlier one */
    assert_false(is_over(EVENT("f", "DrainUnblocked", "BarePod", "6")));
    assert_false(is_over(EVENT("f", "DrainBlocked", "PDBNoBudget", "6")));
}

static void how_the_last_drain_ended(void **state) {
    (void)state;
    struct scene s;
    begin(&s);
    const struct pod *named =
        world_add(&s.w, &kind_pod, "{'metadata':{'namespace':'x','name':'a'}}");
    const struct pod *longer =
        world_add(&s.w, &kind_pod, "{'metadata':{'namespace':'x','name':'a-1'}}");
    const struct {
        const char *spec, *status, *reason, *message;
        bool ended, denied, pod;
    } cases[] = {
        {"true", "False", TOLD_ENDED, "late; still there: x/a (AdmissionDenied x/a)", true, true,
         true},
        {"true", "False", TOLD_ENDED, "late; still there: x/b (AdmissionDenied x/b)", true, true,
         false},
        {"true", "False", TOLD_ENDED, "late; still there: x/a (PDBNoBudget x/b)", true, false,
         false},
        {"true", "False", TOLD_ENDED, "", false, false, false},
        {"true", "False", "SlipwayDrained", "all gone", false, false, false},
        {"true", "True", TOLD_ENDED, "late", false, false, false},
        {"false", "False", TOLD_ENDED, "late", false, false, false}, /* it is in service again */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_free_ char *json =
            xasprintf("{'metadata':{'name':'w%zu'},'spec':{'unschedulable':%s},'status':{"
                      "'conditions':[{'type':'DrainInProgress','status':'%s','reason':'%s',"
                      "'message':'%s'}]}}",
                      i, cases[i].spec, cases[i].status, cases[i].reason, cases[i].message);
        const struct condition *last = told_end(world_add(&s.w, &kind_node, json));
        assert_int_equal(last != NULL, cases[i].ended);
        assert_int_equal(last && told_denied(last), cases[i].denied);
        assert_int_equal(last && told_denied_pod(last, named), cases[i].pod);
        assert_false(last && told_denied_pod(last, longer));
    }
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_taken_apart),
        cmocka_unit_test(whom_it_is_about),
        cmocka_unit_test(what_is_over_is_told),
        cmocka_unit_test(how_the_last_drain_ended),
    };
    return cmocka_run_group_tests_name("engine/told", tests, NULL, NULL);
}
