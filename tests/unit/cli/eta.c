/* Tests of cli/eta: medians, what is left of one node and of many, when nobody knows. */
#include "cli/eta.h"

#include "drain_sample.h"

#define NOW (T0 + SEC(1000))

static void medians(void **state) {
    (void)state;
    struct eta_samples *s = xnew(struct eta_samples);
    assert_int_equal(eta_median(s), -1);
    eta_add(s, SEC(9));
    eta_add(s, -1); /* the clock was set back: no duration */
    eta_add(s, SEC(1));
    assert_int_equal(eta_median(s), -1);
    eta_add(s, SEC(4));
    assert_int_equal(eta_median(s), SEC(4));
    eta_add(s, SEC(6));
    assert_int_equal(eta_median(s), SEC(5));
    /* The newest count. */
    for (int i = 0; i < ETA_KEPT; i++)
        eta_add(s, SEC(100));
    assert_int_equal(eta_median(s), SEC(100));
    free(s);
}

static void what_notes_teach(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_DONE);
    struct drain_pod *p = pod_add(&f, n, "a", "b", DRAIN_POD_GONE);
    n->started = T0;
    n->ended = T0 + SEC(50);
    p->first_try = T0 + SEC(1);
    p->gone = T0 + SEC(21);
    eta_note(e, &(struct drain_note){.kind = NOTE_POD_GONE, .node = n, .pod = p});
    eta_note(e, &(struct drain_note){.kind = NOTE_PHASE, .node = n});
    assert_int_equal(e->pods.n, 1);
    assert_int_equal(e->pods.kept[0], SEC(20));
    assert_int_equal(e->nodes.n, 1);
    assert_int_equal(e->nodes.kept[0], SEC(50));
    /* A pod that left by itself says nothing, nor does a node that did not get there. */
    p->first_try = 0;
    n->phase = DRAIN_TIMED_OUT;
    eta_note(e, &(struct drain_note){.kind = NOTE_POD_GONE, .node = n, .pod = p});
    eta_note(e, &(struct drain_note){.kind = NOTE_PHASE, .node = n});
    eta_note(e, &(struct drain_note){.kind = NOTE_REMARK});
    assert_int_equal(e->pods.n, 1);
    assert_int_equal(e->nodes.n, 1);
    fleet_done(&f);
    free(e);
}

static void add_samples(struct eta_samples *s, int64_t duration) {
    for (int i = 0; i < ETA_ENOUGH; i++)
        eta_add(s, duration);
}

static int64_t left_of(const struct eta *e, const struct fleet *f) {
    return eta_left(e, fleet_nodes(f), f->n, NOW).usec;
}

static void nobody_knows(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    n->started = NOW - SEC(10);
    pods_fill(&f, n, 1, 4);
    assert_int_equal(left_of(e, &f), -1);
    eta_add(&e->pods, SEC(20));
    eta_add(&e->pods, SEC(20));
    assert_int_equal(left_of(e, &f), -1);
    eta_add(&e->pods, SEC(20));
    assert_true(left_of(e, &f) > 0);
    /* All that is left has not begun: nobody can tell when it will. */
    n->phase = DRAIN_WAITING;
    assert_int_equal(left_of(e, &f), -1);
    n->phase = DRAIN_DONE;
    assert_int_equal(left_of(e, &f), 0);
    fleet_done(&f);
    free(e);
}

static void one_node_by_its_pods(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    add_samples(&e->pods, SEC(20));
    n->started = NOW - SEC(60);
    /* One pod is leaving since 5 s: 15 of 20 are left. */
    struct drain_pod *p = pod_add(&f, n, "a", "b", DRAIN_POD_LEAVING);
    p->first_try = NOW - SEC(5);
    assert_int_equal(left_of(e, &f), SEC(15));
    /* It takes longer than the others: any moment. */
    p->first_try = NOW - SEC(50);
    assert_int_equal(left_of(e, &f), 0);
    /* One that leaves without us needs all of it. */
    p->first_try = 0;
    assert_int_equal(left_of(e, &f), SEC(20));
    /* Six are gone in 60 s, and four have not begun: ten seconds each. */
    n->gone = 6;
    for (int i = 0; i < 4; i++)
        pod_add(&f, n, "a", "c", DRAIN_POD_QUEUED);
    assert_int_equal(left_of(e, &f), SEC(40));
    fleet_done(&f);
    free(e);
}

static void many_nodes(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    add_samples(&e->nodes, SEC(100));
    for (int i = 0; i < 2; i++)
        fleet_add(&f, "a", DRAIN_EVICTING)->started = NOW - SEC(i ? 70 : 20);
    assert_int_equal(left_of(e, &f), SEC(80));
    /* Two places, free after 30 and 80 s; three more nodes of 100 s: 30 + 100 + 100 and 80 + 100.
     */
    for (int i = 0; i < 3; i++)
        fleet_add(&f, "b", DRAIN_WAITING);
    assert_int_equal(left_of(e, &f), SEC(230));
    fleet_done(&f);
    free(e);
}

/* The blocked one holds its place, and how long is unknown. */
static void blocked_ones_are_left_out(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    add_samples(&e->nodes, SEC(100));
    struct drain_node *n = fleet_add(&f, "a", DRAIN_EVICTING);
    n->started = NOW - SEC(60);
    pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED),
              (struct drain_blocker){.code = BLOCKER_MULTIPLE_PDBS, .since = NOW});
    fleet_add(&f, "b", DRAIN_EVICTING)->started = NOW - SEC(90);
    struct eta_left left = eta_left(e, fleet_nodes(&f), f.n, NOW);
    assert_int_equal(left.usec, SEC(10));
    assert_int_equal(left.excluded, 1);
    assert_false(left.stuck);
    left = eta_left(e, fleet_nodes(&f), 1, NOW);
    assert_int_equal(left.usec, -1);
    assert_int_equal(left.excluded, 1);
    /* Nothing else is left: how long it waits is what matters. */
    assert_true(left.stuck);
    assert_int_equal(left.gives_up, -1);
    n->deadline = NOW + SEC(250);
    left = eta_left(e, fleet_nodes(&f), 1, NOW);
    assert_int_equal(left.gives_up, SEC(250));
    _cleanup_str_ struct str text = STR_INIT;
    eta_text(&left, &text);
    assert_string_equal(str_get(&text), "gives up in 4m10s");
    n->deadline = 0;
    left = eta_left(e, fleet_nodes(&f), 1, NOW);
    str_reset(&text);
    eta_text(&left, &text);
    assert_string_equal(str_get(&text), "waits without a limit");
    /* One that waits for its turn goes on afterwards. */
    fleet_add(&f, "c", DRAIN_WAITING);
    f.nodes[1]->phase = DRAIN_DONE;
    left = eta_left(e, fleet_nodes(&f), f.n, NOW);
    assert_false(left.stuck);
    fleet_done(&f);
    free(e);
}

static void absurd_times(void **state) {
    (void)state;
    struct eta *e = xnew(struct eta);
    struct fleet f = {0};
    add_samples(&e->nodes, INT64_MAX / 2);
    fleet_add(&f, "a", DRAIN_EVICTING)->started = NOW + SEC(1000); /* another clock */
    for (int i = 0; i < 9; i++)
        fleet_add(&f, "b", DRAIN_WAITING);
    assert_int_equal(left_of(e, &f), INT64_MAX);
    _cleanup_str_ struct str out = STR_INIT;
    eta_text(&(struct eta_left){.usec = INT64_MAX}, &out);
    assert_int_equal(strncmp(str_get(&out), "about ", 6), 0);
    fleet_done(&f);
    free(e);
}

static void texts(void **state) {
    (void)state;
    static const struct {
        int64_t usec;
        unsigned excluded;
        const char *text;
    } rows[] = {
        {-1, 0, "? left"},
        {-1, 2, "? left (excluding 2 blocked)"},
        {0, 0, "almost done"},
        {SEC(41), 0, "about 41s left"},
        {SEC(134), 0, "about 2m10s left"},
        {SEC(12 * 60 + 40), 0, "about 13m left"},
        {SEC(4799), 1, "about 1h20m left (excluding 1 blocked)"},
        {SEC(50 * 3600), 0, "about 2d02h left"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        eta_text(&(struct eta_left){.usec = rows[i].usec, .excluded = rows[i].excluded}, &out);
        assert_string_equal(str_get(&out), rows[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),      cmocka_unit_test(what_notes_teach),
        cmocka_unit_test(nobody_knows), cmocka_unit_test(one_node_by_its_pods),
        cmocka_unit_test(many_nodes),   cmocka_unit_test(blocked_ones_are_left_out),
        cmocka_unit_test(absurd_times), cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
