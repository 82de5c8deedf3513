/* Tests of src/engine/drain_admit.c: which nodes may begin. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* Nodes w0, w1, ... with a pod each that does not go by itself: a0, a1, ... */
static void nodes(struct drain_world *w, int n) {
    for (int i = 0; i < n; i++) {
        char node[8], pod[8], label[40];
        snprintf(node, sizeof node, "w%d", i);
        snprintf(pod, sizeof pod, "a%d", i);
        snprintf(label, sizeof label, "app%d", i);
        dw_node(w, node);
        dw_pod(w, pod, node, "{'metadata':{'labels':{'app':'%s'}}}", label);
    }
}

static void start(struct drain_world *w, int n) {
    static const char *const names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9"};
    w->d = drain_new(&w->opts, &w->c, names, (size_t)n, dw_on_note, w);
    dw_settle(w);
}

/* "EEWW": a letter for each node. */
static const char *phases(struct drain_world *w) {
    static const char letters[] = {
        [DRAIN_WAITING] = 'W',   [DRAIN_CORDONING] = 'C', [DRAIN_CHECKING] = 'K',
        [DRAIN_EVICTING] = 'E',  [DRAIN_DETACHING] = 'V', [DRAIN_RETURNING] = 'R',
        [DRAIN_UNDOING] = 'U',   [DRAIN_DONE] = 'D',      [DRAIN_REFUSED] = 'X',
        [DRAIN_TIMED_OUT] = 'T', [DRAIN_FAILED] = 'F',    [DRAIN_STOPPED] = 'S',
    };
    size_t n;
    const struct drain_node *const *list = drain_nodes(w->d, &n);
    str_reset(&w->text);
    for (size_t i = 0; i < n; i++)
        str_addc(&w->text, letters[list[i]->phase]);
    return str_get(&w->text);
}

static void leave(struct drain_world *w, const char *pod) {
    dw_accept(w, ACTION_EVICT, pod);
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", pod);
    dw_settle(w);
}

static void without_a_limit_all_begin(void **state) {
    struct drain_world *w = *state;
    nodes(w, 5);
    start(w, 5);
    assert_string_equal(phases(w), "EEEEE");
}

static void a_limit_is_filled_up_as_room_appears(void **state) {
    struct drain_world *w = *state;
    nodes(w, 5);
    w->opts.max_unavailable.value = 2;
    start(w, 5);
    assert_string_equal(phases(w), "EEWWW");
    leave(w, "a1"); /* not a wave: the other one is not waited for */
    assert_string_equal(phases(w), "EDEWW");
    leave(w, "a2");
    assert_string_equal(phases(w), "EDDEW");
    dw_reply(w, ACTION_EVICT, "a3", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_string_equal(phases(w), "EDDFE"); /* a failed one makes room, too */
    leave(w, "a0");
    leave(w, "a4");
    assert_string_equal(phases(w), "DDDFD");
    assert_true(drain_over(w->d));
}

static void percentages_are_rounded_down_and_at_least_one(void **state) {
    (void)state;
    static const struct {
        unsigned percent;
        const char *phases;
    } cases[] = {{1, "EWWWW"},  {39, "EWWWW"},  {40, "EEWWW"},  {79, "EEEWW"},
                 {99, "EEEEW"}, {100, "EEEEE"}, {250, "EEEEE"}, {0, "EEEEE"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_world w;
        dw_init(&w);
        nodes(&w, 5);
        w.opts.max_unavailable = (struct limit){cases[i].percent, true};
        start(&w, 5);
        assert_string_equal(phases(&w), cases[i].phases);
        dw_done(&w);
    }
}

static void of_two_limits_the_smaller_one_counts(void **state) {
    (void)state;
    static const struct {
        unsigned parallel, out;
        const char *phases;
    } cases[] = {{2, 3, "EEWWW"}, {3, 2, "EEWWW"}, {0, 2, "EEWWW"},
                 {2, 0, "EEWWW"}, {9, 9, "EEEEE"}, {0, 0, "EEEEE"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_world w;
        dw_init(&w);
        nodes(&w, 5);
        w.opts.parallel = cases[i].parallel;
        w.opts.max_unavailable.value = cases[i].out;
        start(&w, 5);
        assert_string_equal(phases(&w), cases[i].phases);
        dw_done(&w);
    }
}

static void waiting_for_room_is_said_and_ends(void **state) {
    struct drain_world *w = *state;
    nodes(w, 2);
    w->opts.max_unavailable.value = 1;
    start(w, 2);
    const struct drain_node *n = dw_view(w, 1);
    assert_true(n->blocked);
    assert_int_equal(n->blocker.code, BLOCKER_MAX_UNAVAILABLE);
    assert_string_equal(n->blocker.message, "1 of at most 1 nodes are on their way out");
    assert_int_equal(n->started, 0);
    assert_int_equal(n->deadline, 0);
    dw_pass(w, SEC(3600));
    assert_int_equal(dw_told(w, "blocked MaxUnavailableReached"), 1);
    assert_int_equal(dw_asked(w, "patch nodes w1"), 0); /* it is not cordoned either */
    leave(w, "a0");
    assert_false(n->blocked);
    assert_int_equal(n->started, w->now.wall);
    assert_int_equal(dw_told(w, "unblocked MaxUnavailableReached"), 1);
}

/* --- zones --- */

static void zone(struct drain_world *w, const char *node, const char *name) {
    dw_edit_node(w, node, "{'metadata':{'labels':{'topology.kubernetes.io/zone':'%s'}}}", name);
}

static void nodes_of_one_zone_go_together_and_others_wait(void **state) {
    struct drain_world *w = *state;
    nodes(w, 5);
    zone(w, "w0", "a");
    zone(w, "w1", "b");
    zone(w, "w2", "a");
    zone(w, "w3", "c");
    zone(w, "w4", "b");
    w->opts.max_zones = 1;
    start(w, 5);
    assert_string_equal(phases(w), "EWEWW");
    assert_non_null(strstr(dw_view(w, 1)->blocker.message, "zone"));
    leave(w, "a0");
    assert_string_equal(phases(w), "DWEWW"); /* the zone is still in work */
    leave(w, "a2");
    assert_string_equal(phases(w), "DEDWE");
    leave(w, "a4");
    leave(w, "a1");
    assert_string_equal(phases(w), "DDDED");
}

static void two_zones_under_a_limit_of_nodes(void **state) {
    struct drain_world *w = *state;
    nodes(w, 4);
    zone(w, "w0", "a");
    zone(w, "w1", "a");
    zone(w, "w2", "b");
    zone(w, "w3", "c");
    w->opts.max_zones = 2;
    w->opts.max_unavailable.value = 3;
    start(w, 4);
    assert_string_equal(phases(w), "EEEW");
    leave(w, "a0");
    assert_string_equal(phases(w), "DEEW"); /* room for a node, none for a zone */
    leave(w, "a1");
    assert_string_equal(phases(w), "DDEE");
}

static void nodes_without_a_zone_are_one_together(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    zone(w, "w1", "a");
    w->opts.max_zones = 1;
    start(w, 3);
    assert_string_equal(phases(w), "EWE");
}

/* --- who gets in whose way --- */

static void of_those_that_wait_the_one_in_nobodys_way_begins(void **state) {
    struct drain_world *w = *state;
    nodes(w, 4);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_budget(w, "web", 1, 2, 1, 2);
    w->opts.max_unavailable.value = 2;
    start(w, 4);
    assert_string_equal(phases(w), "EWEW"); /* w1 would wait for the budget that w0 uses */
    leave(w, "a2");
    assert_string_equal(phases(w), "EWDE");
    leave(w, "a3");
    assert_string_equal(phases(w), "EEDD"); /* better than nobody */
}

/* More pods than a budget allows at once are in nobody's way as long as nobody else is out. */
static void a_node_is_not_in_its_own_way(void **state) {
    struct drain_world *w = *state;
    nodes(w, 2);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w0", "{}");
    dw_pod(w, "web2", "w0", "{}");
    dw_budget(w, "web", 1, 3, 2, 3);
    w->opts.max_unavailable.value = 1;
    start(w, 2);
    assert_string_equal(phases(w), "EW");
}

static void a_budget_with_room_for_both_is_in_nobodys_way(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_budget(w, "web", 2, 4, 2, 4);
    w->opts.max_unavailable.value = 2;
    start(w, 3);
    assert_string_equal(phases(w), "EEW");
}

/* What stays, or is on its way, wants nothing from a budget. */
static void pods_that_do_not_move_are_not_counted(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    dw_put(w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
    dw_pod(w, "d0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}}");
    dw_pod(w, "gone", "w0", "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:10Z'}}");
    dw_pod(w, "web1", "w1", "{}");
    dw_budget(w, "web", 1, 2, 1, 2);
    w->opts.max_unavailable.value = 2;
    start(w, 3);
    assert_string_equal(phases(w), "EEW");
}

static void the_one_with_the_fewest_conflicts_when_all_have_some(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_pod(w, "web2", "w1", "{}");
    dw_pod(w, "web3", "w2", "{}");
    dw_budget(w, "web", 1, 4, 3, 4);
    w->opts.max_unavailable.value = 2;
    start(w, 3);
    assert_string_equal(phases(w), "EWE");
}

/* A plan has thought about it already. */
static void in_the_order_of_a_plan_conflicts_do_not_count(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_pod(w, "web2", "w1", "{}");
    dw_pod(w, "web3", "w2", "{}");
    dw_budget(w, "web", 1, 4, 3, 4);
    w->opts.max_unavailable.value = 2;
    w->opts.in_order = true;
    start(w, 3);
    assert_string_equal(phases(w), "EEW");
}

static void a_budget_that_says_nonsense_does_no_harm(void **state) {
    struct drain_world *w = *state;
    nodes(w, 2);
    dw_pod(w, "web0", "w0", "{}");
    dw_pod(w, "web1", "w1", "{}");
    dw_budget(w, "web", -2000000000, 0, 0, 0);
    w->opts.max_unavailable.value = 1;
    start(w, 2);
    assert_string_equal(phases(w), "EW");
}

static void those_that_wait_are_not_begun_after_a_stop(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    w->opts.max_unavailable.value = 1;
    start(w, 3);
    drain_stop(w->d, "interrupted");
    dw_accept(w, ACTION_EVICT, "a0");
    dw_settle(w);
    assert_string_equal(phases(w), "SSS");
    assert_string_equal(dw_view(w, 2)->error, "interrupted: not begun");
    assert_int_equal(dw_asked(w, "patch"), 1);
}

/* One that can never be drained would keep the only place for ever. */
static void the_hopeless_come_last(void **state) {
    struct drain_world *w = *state;
    nodes(w, 3);
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'never','uid':'u','generation':1},'spec':{"
           "'maxUnavailable':0,'selector':{'matchLabels':{'app':'app0'}}},'status':{"
           "'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':1,'desiredHealthy':1,"
           "'expectedPods':1}}");
    w->opts.max_unavailable.value = 1;
    start(w, 3);
    assert_string_equal(phases(w), "WEW");
    leave(w, "a1");
    assert_string_equal(phases(w), "WDE");
    leave(w, "a2");
    assert_string_equal(phases(w), "EDD"); /* and is tried all the same */
}

/* Whoever gives an order wants it. */
static void not_against_an_order(void **state) {
    struct drain_world *w = *state;
    nodes(w, 2);
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'never','uid':'u','generation':1},'spec':{"
           "'maxUnavailable':0,'selector':{'matchLabels':{'app':'app0'}}},'status':{"
           "'observedGeneration':1,'disruptionsAllowed':0,'currentHealthy':1,'desiredHealthy':1,"
           "'expectedPods':1}}");
    w->opts.max_unavailable.value = 1;
    w->opts.in_order = true;
    start(w, 2);
    assert_string_equal(phases(w), "EW");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(without_a_limit_all_begin),
        DRAIN_TEST(a_limit_is_filled_up_as_room_appears),
        DRAIN_TEST(the_hopeless_come_last),
        DRAIN_TEST(not_against_an_order),
        cmocka_unit_test(percentages_are_rounded_down_and_at_least_one),
        cmocka_unit_test(of_two_limits_the_smaller_one_counts),
        DRAIN_TEST(waiting_for_room_is_said_and_ends),
        DRAIN_TEST(nodes_of_one_zone_go_together_and_others_wait),
        DRAIN_TEST(two_zones_under_a_limit_of_nodes),
        DRAIN_TEST(nodes_without_a_zone_are_one_together),
        DRAIN_TEST(of_those_that_wait_the_one_in_nobodys_way_begins),
        DRAIN_TEST(a_node_is_not_in_its_own_way),
        DRAIN_TEST(a_budget_with_room_for_both_is_in_nobodys_way),
        DRAIN_TEST(pods_that_do_not_move_are_not_counted),
        DRAIN_TEST(the_one_with_the_fewest_conflicts_when_all_have_some),
        DRAIN_TEST(in_the_order_of_a_plan_conflicts_do_not_count),
        DRAIN_TEST(a_budget_that_says_nonsense_does_no_harm),
        DRAIN_TEST(those_that_wait_are_not_begun_after_a_stop),
    };
    return cmocka_run_group_tests_name("engine/drain_admit", tests, NULL, NULL);
}
