/* Tests of src/engine/fit_queue.c. Times and order are those of kube-scheduler's queue. */
#include "engine/fit_queue.h"

#include "fit_scene.h"

#include "base/prng.h"
#include "base/timefmt.h"

#define T0      SEC(1000)
#define CODE(c) (1u << (c))

/* `rest` begins within the metadata. */
static void put(struct scene *s, struct fit_queue *q, const char *name, const char *rest,
                int64_t now) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'namespace':'d','name':'%s','uid':'%s'%s}", name, name, rest);
    struct object *pod = scene_object(s, &kind_pod, json);
    fit_queue_put(q, (const struct pod *)pod, now);
    object_free(&kind_pod, s->pool, pod);
}

#define PRIORITY(n) "},'spec':{'priority':" n "}"

/* The name of the next one, or "". */
static const char *next(struct fit_queue *q, int64_t now) {
    struct fit_turn turn;
    bool due = fit_queue_due(q, now) <= now;
    if (!fit_queue_next(q, now, &turn)) {
        assert_false(due && fit_queue_due(q, now) <= now);
        return "";
    }
    assert_string_equal(turn.ns, "d");
    assert_string_equal(turn.uid, turn.name);
    return turn.name;
}

static void important_ones_first_then_by_age(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "a", PRIORITY("0"), T0);
    put(s, q, "b", "},'spec':{}", T0 + 1); /* none is 0 */
    put(s, q, "c", PRIORITY("5"), T0 + 2);
    put(s, q, "d", PRIORITY("-5"), T0);
    put(s, q, "e", PRIORITY("5"), T0 + 2); /* at the same time: as they came */
    assert_int_equal(fit_queue_len(q), 5);
    static const char *const want[] = {"c", "e", "a", "b", "d", ""};
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(next(q, T0 + 9), want[i]);
    assert_int_equal(fit_queue_len(q), 5); /* the scheduler has them */
    fit_queue_free(q);
}

static void a_pod_that_needs_no_node_is_forgotten(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    static const char *const over[] = {
        "},'spec':{'nodeName':'n'}",
        "},'status':{'phase':'Failed'}",
        ",'deletionTimestamp':'2026-11-15T08:00:00Z'}",
    };
    for (size_t i = 0; i < ARRAY_LEN(over); i++) {
        put(s, q, "p", PRIORITY("0"), T0);
        assert_int_equal(fit_queue_len(q), 1);
        put(s, q, "p", over[i], T0);
        assert_int_equal(fit_queue_len(q), 0);
        assert_string_equal(next(q, T0), "");
        assert_int_equal(fit_queue_due(q, T0), INT64_MAX);
    }
    put(s, q, "p", PRIORITY("0"), T0);
    fit_queue_remove(q, "d", "p");
    fit_queue_remove(q, "d", "p");
    assert_string_equal(next(q, T0), "");
    /* taken, and bound meanwhile */
    put(s, q, "p", PRIORITY("0"), T0);
    assert_string_equal(next(q, T0), "p");
    put(s, q, "p", over[0], T0);
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    assert_int_equal(fit_queue_len(q), 0);
    fit_queue_free(q);
}

static void gated_ones_wait_for_their_gates(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "p", "},'spec':{'schedulingGates':[{'name':'g'},{'name':'h'}]}", T0);
    assert_int_equal(fit_queue_len(q), 1);
    assert_string_equal(next(q, T0), "");
    fit_queue_event(q, UINT32_MAX, T0);
    assert_string_equal(next(q, T0), "");
    put(s, q, "p", "},'spec':{'schedulingGates':[{'name':'g'}]}", T0);
    assert_string_equal(next(q, T0 + SEC(3600)), "");
    put(s, q, "p", "},'spec':{}", T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_free(q);
}

/* Only what could help, and not sooner than others. */
static void those_that_fit_nowhere_wait_for_events(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    static const struct {
        uint32_t codes;
        unsigned helps;
    } rows[] = {
        {CODE(FIT_TAINT), FIT_EVENT_NODE},
        {CODE(FIT_UNSCHEDULABLE), FIT_EVENT_NODE},
        {CODE(FIT_RESOURCE), FIT_EVENT_NODE | FIT_EVENT_POD_GONE},
        {CODE(FIT_PORTS), FIT_EVENT_NODE | FIT_EVENT_POD_GONE},
        {CODE(FIT_POD), FIT_EVENT_STORAGE},
        {CODE(FIT_VOLUME_NONE), FIT_EVENT_NODE | FIT_EVENT_STORAGE},
        {CODE(FIT_SPREAD), FIT_EVENT_NODE | FIT_EVENT_POD_HERE | FIT_EVENT_POD_GONE},
        {CODE(FIT_AFFINITY),
         FIT_EVENT_NODE | FIT_EVENT_POD_HERE | FIT_EVENT_POD_GONE | FIT_EVENT_NAMESPACE},
        {CODE(FIT_TAINT) | CODE(FIT_POD), FIT_EVENT_NODE | FIT_EVENT_STORAGE},
        {CODE(FIT_NO_NODE), FIT_EVENT_NODE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned event = 1; event <= FIT_EVENT_NAMESPACE; event *= 2) {
            put(s, q, "p", PRIORITY("0"), T0);
            assert_string_equal(next(q, T0), "p");
            fit_queue_failed(q, "d", "p", rows[i].codes, T0);
            assert_string_equal(next(q, T0), "");
            fit_queue_event(q, event, T0 + SEC(60));
            assert_string_equal(next(q, T0 + SEC(60)), rows[i].helps & event ? "p" : "");
            fit_queue_remove(q, "d", "p");
        }
    }
    fit_queue_free(q);
}

/* Who came back early comes after all others; when nobody else is there, at once. */
static void back_off(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    int64_t now = T0;
    put(s, q, "p", PRIORITY("9"), now);
    assert_string_equal(next(q, now), "p");
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), now);
    fit_queue_event(q, FIT_EVENT_NODE, now);
    put(s, q, "q", PRIORITY("0"), now);
    assert_int_equal(fit_queue_due(q, now), now);
    assert_string_equal(next(q, now), "q");
    assert_string_equal(next(q, now), "p");
    assert_string_equal(next(q, now), "");
    /* 1, 2, 4, 8, 10, 10 seconds: after that it is as before */
    static const int seconds[] = {2, 4, 8, 10, 10, 10};
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        char rival[8];
        now += SEC(100);
        snprintf(rival, sizeof rival, "r%zu", i);
        fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), now);
        fit_queue_event(q, FIT_EVENT_NODE, now);
        put(s, q, rival, PRIORITY("0"), now);
        /* back-offs end with the second that they end in */
        assert_string_equal(next(q, now + SEC(seconds[i])), rival);
        put(s, q, "late", PRIORITY("0"), now + SEC(1));
        assert_string_equal(next(q, now + SEC(seconds[i] + 1)), "p");
        fit_queue_remove(q, "d", "late");
    }
    fit_queue_free(q);
}

static void nobody_waits_for_ever(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "p", PRIORITY("0"), T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    assert_int_equal(fit_queue_due(q, T0), T0 + SEC(300) + 1);
    assert_string_equal(next(q, T0 + SEC(300)), "");
    assert_string_equal(next(q, T0 + SEC(300) + 1), "p");
    fit_queue_free(q);
}

/* Something went wrong that no event will mend: only time. */
static void errors_are_tried_again_later(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "p", PRIORITY("0"), T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_failed(q, "d", "p", 0, T0);
    fit_queue_event(q, UINT32_MAX, T0);
    assert_string_equal(next(q, T0), ""); /* although nobody else wants a turn */
    assert_int_equal(fit_queue_due(q, T0), T0 + SEC(2));
    assert_string_equal(next(q, T0 + SEC(2)), "p");
    fit_queue_free(q);
}

static void what_happens_meanwhile_is_not_missed(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "p", PRIORITY("0"), T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_event(q, FIT_EVENT_NODE, T0);
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0); /* nothing happened this time */
    assert_string_equal(next(q, T0), "");
    fit_queue_event(q, FIT_EVENT_NODE, T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_event(q, FIT_EVENT_STORAGE, T0); /* no help */
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    assert_string_equal(next(q, T0), "");
    fit_queue_free(q);
}

static void a_pod_that_changes_its_mind_is_tried_again(void **state) {
    struct scene *s = *state;
    struct fit_queue *q = fit_queue_new(s->pool);
    put(s, q, "p", PRIORITY("0"), T0);
    assert_string_equal(next(q, T0), "p");
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    put(s, q, "p", PRIORITY("0") ",'status':{'phase':'Pending'}", T0); /* nothing new */
    assert_string_equal(next(q, T0), "");
    put(s, q, "p", "},'spec':{'priority':0,'tolerations':[{'operator':'Exists'}]}", T0);
    assert_string_equal(next(q, T0), "p");
    /* while the scheduler has it */
    put(s, q, "p", "},'spec':{'priority':0}", T0);
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    assert_string_equal(next(q, T0), "p");
    /* another pod of the same name begins anew */
    fit_queue_failed(q, "d", "p", CODE(FIT_TAINT), T0);
    struct object *pod =
        scene_object(s, &kind_pod, "{'metadata':{'namespace':'d','name':'p','uid':'other'}}");
    fit_queue_put(q, (const struct pod *)pod, T0);
    object_free(&kind_pod, s->pool, pod);
    struct fit_turn turn;
    assert_true(fit_queue_next(q, T0, &turn));
    assert_string_equal(turn.uid, "other");
    fit_queue_free(q);
}

/* Many pods, in and out: always in order, none lost, none twice. */
static void order_under_churn(void **state) {
    struct scene *s = *state;
    enum { PODS = 200, STEPS = 5000 };
    struct fit_queue *q = fit_queue_new(s->pool);
    struct prng r = {3};
    int priority[PODS];
    bool in[PODS] = {0};
    size_t n = 0;
    for (int step = 0; step < STEPS; step++) {
        int64_t now = T0 + step;
        size_t i = (size_t)prng_range(&r, 0, PODS);
        char name[24], rest[48];
        snprintf(name, sizeof name, "p%zu", i);
        if (prng_range(&r, 0, 3)) {
            if (!in[i]) {
                priority[i] = (int)prng_range(&r, -3, 4);
                n++;
            }
            in[i] = true;
            snprintf(rest, sizeof rest, "},'spec':{'priority':%d}", priority[i]);
            put(s, q, name, rest, now);
        } else {
            fit_queue_remove(q, "d", name);
            n -= in[i];
            in[i] = false;
        }
        assert_int_equal(fit_queue_len(q), n);
    }
    int last = INT32_MAX;
    for (; n; n--) {
        const char *name = next(q, T0 + STEPS);
        size_t i = (size_t)atoi(name + 1);
        assert_true(*name && in[i] && priority[i] <= last);
        last = priority[i];
        in[i] = false;
    }
    assert_string_equal(next(q, T0 + STEPS), "");
    fit_queue_free(q);
    fit_queue_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(important_ones_first_then_by_age),
        SCENE_TEST(a_pod_that_needs_no_node_is_forgotten),
        SCENE_TEST(gated_ones_wait_for_their_gates),
        SCENE_TEST(those_that_fit_nowhere_wait_for_events),
        SCENE_TEST(back_off),
        SCENE_TEST(nobody_waits_for_ever),
        SCENE_TEST(errors_are_tried_again_later),
        SCENE_TEST(what_happens_meanwhile_is_not_missed),
        SCENE_TEST(a_pod_that_changes_its_mind_is_tried_again),
        SCENE_TEST(order_under_churn),
    };
    return cmocka_run_group_tests_name("engine/fit_queue", tests, NULL, NULL);
}
