/* Tests of src/engine/plan_play.c: when what happens. */
#include "plan_site.h"

static void what_nothing_holds_goes_at_once(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_verdict(f, "b", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(pod_of(f, "a")->evicted, 0);
    assert_int_equal(pod_of(f, "a")->gone, SEC(10));
    assert_int_equal(pod_of(f, "a")->back, SEC(5));
    assert_int_equal(f->plan.makespan, SEC(10));
    assert_int_equal(f->plan.bounds[f->plan.binds].least, SEC(10));
    assert_int_equal(f->plan.binds, TERM_NODE);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
}

static void an_empty_node_takes_no_time(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.n, 1);
    assert_int_equal(f->plan.makespan, 0);
    assert_int_equal(node_of(f, "w0")->ends, 0);
}

/* A StatefulSet's successor has the name, and cannot come before the pod is gone. */
static void a_stateful_pod_comes_back_when_it_is_gone(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    dw_put(&f->w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},'spec':{'replicas':2}}");
    for (int i = 0; i < 2; i++) {
        char name[8];
        snprintf(name, sizeof name, "db-%d", i);
        dw_pod(&f->w, name, "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    }
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "db-0")->back, SEC(15));
    assert_int_equal(pod_of(f, "db-1")->evicted, SEC(15));
    assert_int_equal(f->plan.makespan, SEC(25));
    assert_int_equal(f->plan.bounds[TERM_BUDGET].least, SEC(25));
}

/* Four nodes of one pod each under --max-unavailable 2: ten seconds, twice. */
static void slots_are_kept_and_used(void **state) {
    struct plan_site *f = *state;
    for (int i = 0; i < 5; i++) {
        char name[8], pod[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(pod, sizeof pod, "p%d", i);
        node(f, name, 110);
        if (i < 4)
            dw_pod(&f->w, pod, name, "{}");
    }
    f->w.opts.max_unavailable.value = 2;
    make(f, "w0", "w1", "w2", "w3", NULL);
    assert_int_equal(f->plan.most_at_once, 2);
    assert_int_equal(f->plan.bounds[TERM_SLOTS].least, SEC(20));
    assert_int_equal(f->plan.binds, TERM_SLOTS);
    assert_true(f->plan.makespan >= SEC(20));
    /* A successor may come to a node that is drained later, and has to go once more. */
    assert_true(f->plan.makespan <= SEC(30));
}

/* A node that is never done would keep its slot: the others come first. */
static void hopeless_nodes_come_last(void **state) {
    struct plan_site *f = *state;
    node(f, "w0", 110);
    node(f, "w1", 110);
    node(f, "w2", 110);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "a", "w1", "{}");
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w1")->begins, 0);
    assert_int_equal(node_of(f, "w0")->begins, SEC(10));
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(f->plan.drained, SEC(10));
    assert_string_equal(f->plan.nodes[0].name, "w1");
}

/* Two nodes that share a budget, and one that does not: the second slot is for that one. */
static void nodes_in_each_others_way_do_not_go_together(void **state) {
    struct plan_site *f = *state;
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        node(f, name, 110);
    }
    dw_pod(&f->w, "a0", "w0", "{}");
    dw_pod(&f->w, "a1", "w1", "{}");
    dw_pod(&f->w, "free", "w2", "{'metadata':{'labels':{'app':'free'}}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.max_unavailable.value = 2;
    f->times.start = SEC(100);
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(node_of(f, "w2")->begins, 0);
    /* a1 waits for a0's successor; nothing else does. */
    assert_int_equal(pod_of(f, "a1")->evicted, SEC(100));
    assert_int_equal(f->plan.makespan, SEC(110));
    assert_int_equal(f->plan.bounds[TERM_BUDGET].least, SEC(110));
}

/* A StatefulSet's pod that came to a node has its name there, and with it its place among the pods
 * of the node: it is asked to go before db-1, takes what the budget allows, and finds no room. */
static void a_successor_has_its_place_by_name(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_pod(&f->w, "db-1", "w1", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "db-0", PLAN_HOMELESS);
    assert_verdict(f, "db-1", PLAN_NEVER);
    assert_code(f, "db-1", BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_NEVER);
}

/* The grace period of the rule or of --grace-period is what it takes, when that is shorter. */
static void a_shorter_grace_period_is_faster(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    f->own_times = true;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.makespan, ASSUMED_STOP);
    assert_int_equal(f->plan.assumed, 1);
    f->w.opts.grace = 3;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.makespan, SEC(3));
    f->w.opts.grace = 300;
    make(f, "w0", NULL);
    assert_int_equal(f->plan.makespan, ASSUMED_STOP);
    rules_are(f, "- {name: web, match: {namespaces: [default]}, grace: 1s}\n");
    make(f, "w0", NULL);
    assert_int_equal(f->plan.makespan, SEC(1));
}

/* --max-zones 1: nodes of the second zone begin when the first one is empty. */
static void one_zone_at_a_time(void **state) {
    struct plan_site *f = *state;
    nodes(f, 5);
    for (int i = 0; i < 4; i++) {
        char name[8], pod[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(pod, sizeof pod, "p%d", i);
        dw_pod(&f->w, pod, name, DW_BARE);
        dw_edit_node(&f->w, name, "{'metadata':{'labels':{'topology.kubernetes.io/zone':'%c'}}}",
                     i % 2 ? 'b' : 'a');
    }
    f->w.opts.force = true;
    f->w.opts.max_zones = 1;
    make(f, "w0", "w1", "w2", "w3", NULL);
    assert_int_equal(f->plan.most_at_once, 2);
    assert_int_equal(node_of(f, "w0")->begins, node_of(f, "w2")->begins);
    assert_int_equal(node_of(f, "w1")->begins, node_of(f, "w3")->begins);
    assert_int_not_equal(node_of(f, "w0")->begins, node_of(f, "w1")->begins);
    assert_int_equal(f->plan.makespan, SEC(20));
}

/* limit_of(): a percentage of the nodes to be drained, rounded down, but one at least. */
static void percentages_and_parallel_limit(void **state) {
    struct plan_site *f = *state;
    static const struct {
        struct limit out;
        unsigned parallel;
        size_t most;
    } cases[] = {{{0, false}, 0, 4},  {{50, true}, 0, 2}, {{49, true}, 0, 1}, {{1, true}, 0, 1},
                 {{100, true}, 0, 4}, {{3, false}, 2, 2}, {{1, false}, 3, 1}, {{9, false}, 0, 4}};
    nodes(f, 5);
    for (int i = 0; i < 4; i++) {
        char name[8], pod[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(pod, sizeof pod, "p%d", i);
        dw_pod(&f->w, pod, name, DW_BARE);
    }
    f->w.opts.force = true;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        f->w.opts.max_unavailable = cases[i].out;
        f->w.opts.parallel = cases[i].parallel;
        make(f, "w0", "w1", "w2", "w3", NULL);
        assert_int_equal(f->plan.most_at_once, cases[i].most);
    }
}

static void the_order_of_the_names_when_that_is_wanted(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 1, "w2", DW_BARE);
    pods(f, "b", 1, "w0", DW_BARE);
    pods(f, "c", 1, "w1", DW_BARE);
    f->w.opts.force = true;
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w2", "w0", "w1", NULL);
    assert_string_equal(f->plan.nodes[0].name, "w2");
    assert_string_equal(f->plan.nodes[1].name, "w0");
    assert_string_equal(f->plan.nodes[2].name, "w1");
    assert_int_equal(f->plan.nodes[2].begins, SEC(20));
}

/* The only other node is drained second: the pod has to go twice, and finds the first node again
 * only because that is uncordoned as soon as it is done. */
static void a_pod_that_comes_to_a_node_which_is_drained_later_goes_again(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.uncordon_when_done = true;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(node_of(f, "w1")->begins, SEC(10));
    assert_int_equal(node_of(f, "w1")->ends, SEC(20));
    assert_int_equal(f->plan.makespan, SEC(20));
}

/* The emptiest node is drained second. Its mark makes the scheduler take another. */
static void replacements_avoid_nodes_whose_turn_comes(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    pods(f, "x", 30, "w2", "{'metadata':{'labels':{'app':'x'}}}");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(f->plan.makespan, SEC(20));
    f->w.opts.avoid_next = true;
    make(f, "w0", "w1", NULL);
    assert_string_equal(pod_of(f, "a")->to, "w2");
    assert_string_equal(pod_of(f, "b")->to, "w2");
    assert_int_equal(node_of(f, "w1")->ends, SEC(10)); /* there is nothing to move from it */
    /* It forbids nothing: where no other has room, they come to it all the same. */
    dw_edit_node(&f->w, "w2", "{'spec':{'unschedulable':true}}");
    make(f, "w0", "w1", NULL);
    assert_int_equal(node_of(f, "w1")->ends, SEC(20));
    assert_verdict(f, "a", PLAN_HOMELESS); /* in the end */
    assert_null(pod_of(f, "a")->to);
}

/* One that terminates leaves its node whatever becomes of that: who waits for room finds it there,
 * although its turn does not come. */
static void what_leaves_makes_room_before_its_turn(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    node(f, "w0", 110);
    node(f, "w1", 1);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "held", "w0",
           "{'metadata':{'ownerReferences':null,'finalizers':['example.com/hold']}}");
    dw_pod(&f->w, "z", "w1", "{'metadata':{'labels':{'app':'z'},'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall + SEC(20), false, when));
    f->w.opts.force = true;
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(pod_of(f, "a")->back, SEC(25));
    assert_verdict(f, "z", PLAN_GOES);
    assert_int_equal(pod_of(f, "z")->gone, SEC(20));
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_UNSURE);
}

/* A node that has come back has no mark, and is better than those that have. */
static void what_has_come_back_is_not_avoided(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w1", "{}");
    pods(f, "x", 3, "w2", "{'metadata':{'labels':{'app':'x'}}}");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = f->w.opts.uncordon_when_done = f->w.opts.avoid_next = true;
    make(f, "w0", "w1", "w2", NULL);
    assert_string_equal(pod_of(f, "a")->to, "w0");
    assert_string_equal(pod_of(f, "x0")->to, "w1"); /* empty by now */
    assert_int_equal(f->plan.makespan, SEC(20));
}

/* drain_admit.c: where all may go together they begin as they are given, even who is never done;
 * only where they need turns is such a one last. */
static void hopeless_nodes_have_their_place_when_all_go(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    dw_pod(&f->w, "held", "w0",
           "{'metadata':{'labels':{'app':'h'},'annotations':{'karpenter.sh/do-not-disrupt':'true'}}"
           "}");
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    dw_budget(&f->w, "web", 1, 2, 1, 2);
    make(f, "w0", "w1", NULL);
    assert_int_equal(pod_of(f, "a")->evicted, 0);
    assert_int_equal(pod_of(f, "b")->evicted, SEC(5));
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", NULL);
    assert_int_equal(pod_of(f, "b")->evicted, 0);
    assert_int_equal(node_of(f, "w1")->ends, SEC(10));
    assert_true(pod_of(f, "a")->evicted >= SEC(10));
}

/* A node that a pod needs a flag for is left alone at once: it is in nobody's way. */
static void refused_nodes_keep_nobody_waiting(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    dw_pod(&f->w, "bare2", "w1", DW_BARE);
    dw_pod(&f->w, "held", "w2",
           "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(&f->w, "a", "w2", "{}");
    f->w.opts.max_unavailable.value = 1;
    make(f, "w0", "w1", "w2", NULL);
    assert_verdict(f, "bare", PLAN_NEVER);
    assert_verdict(f, "bare2", PLAN_NEVER);
    assert_code(f, "bare2", BLOCKER_BARE_POD);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(pod_of(f, "a")->evicted, 0);
    assert_int_equal(f->plan.most_at_once, 1);
    f->w.opts.max_unavailable.value = 0;
    make(f, "w0", "w1", "w2", NULL);
    assert_int_equal(f->plan.most_at_once, 3); /* they are out of service all the same */
}

/* To where it comes nothing is evicted from: it stays there. */
static void nothing_goes_again_from_a_refused_node(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "bare", "w1", DW_BARE);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_string_equal(pod_of(f, "a")->to, "w1");
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
}

/* A pod that got away has gone, even if its replacement came to a node that it does not get away
 * from: that node is the one that is not done. */
static void a_replacement_that_is_stuck_is_not_the_pod(void **state) {
    struct plan_site *f = *state;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "held", "w1",
           "{'metadata':{'labels':{'app':'h'},'annotations':{'karpenter.sh/do-not-disrupt':'true'}}"
           "}");
    rules_are(f, "- {name: first, match: {labels: {matchLabels: {app: h}}}, order: -1}\n");
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a", PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_GOES);
    assert_int_equal(node_of(f, "w0")->ends, SEC(10));
    assert_int_equal(node_of(f, "w1")->verdict, PLAN_UNSURE);
    assert_int_equal(node_of(f, "w1")->ends, PLAN_NO_TIME);
}

/* Nodes without pods are done the moment they begin: several begin at one moment, one after the
 * other, and the one that is never done is the last of them. */
static void nodes_are_in_the_order_in_which_they_begin(void **state) {
    struct plan_site *f = *state;
    nodes(f, 6);
    dw_pod(&f->w, "held", "w3",
           "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    f->w.opts.max_unavailable.value = 1;
    make(f, "w1", "w3", "w5", NULL);
    assert_string_equal(f->plan.nodes[0].name, "w1");
    assert_string_equal(f->plan.nodes[1].name, "w5");
    assert_string_equal(f->plan.nodes[2].name, "w3");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f->plan.nodes[i].begins, 0);
    assert_int_equal(f->plan.nodes[1].ends, 0);
    assert_int_equal(f->plan.nodes[2].ends, PLAN_NO_TIME);
}

/* With a timeout who does not get through makes way for the next, and the plan says which. */
static void a_timeout_frees_the_slot(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 3, "w0", "{}");
    dw_pod(&f->w, "held", "w1",
           "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(&f->w, "held2", "w2",
           "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(&f->w, "b", "w2", "{'metadata':{'labels':{'app':'b'}}}");
    dw_budget(&f->w, "web", 1, 4, 3, 4);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w1", "w2", "w0", NULL);
    assert_verdict(f, "b", PLAN_UNSURE); /* w1 is never done */
    assert_says(f, "b", "does not get its turn");
    f->w.opts.timeout = SEC(12);
    make(f, "w1", "w2", "w0", NULL);
    assert_int_equal(node_of(f, "w2")->begins, SEC(12));
    assert_verdict(f, "b", PLAN_GOES);
    assert_int_equal(pod_of(f, "b")->gone, SEC(22));
    /* One by one, five seconds apart, ten to stop: the third goes as the time is up. */
    assert_int_equal(node_of(f, "w0")->begins, SEC(24));
    assert_int_equal(node_of(f, "w0")->ends, PLAN_NO_TIME);
    assert_int_equal(node_of(f, "w0")->verdict, PLAN_UNSURE);
    f->times.start = SEC(15);
    make(f, "w1", "w2", "w0", NULL);
    assert_verdict(f, "a0", PLAN_GOES);
    assert_verdict(f, "a1", PLAN_UNSURE);
    assert_says(f, "a1", "; its node is given up after 12s");
    assert_int_equal(pod_of(f, "a1")->evicted, PLAN_NO_TIME);
    assert_int_equal(f->plan.makespan, PLAN_NO_TIME);
    f->times.start = SEC(1);
    f->w.opts.timeout = SEC(13);
    make(f, "w0", NULL);
    assert_int_equal(f->plan.makespan, SEC(12)); /* just in time */
}

/* What a node that was given up had of a budget is for others. */
static void a_late_node_gives_its_budget_back(void **state) {
    struct plan_site *f = *state;
    nodes(f, 4);
    pods(f, "a", 3, "w0", "{}");
    pods(f, "b", 1, "w1", "{}");
    dw_budget(&f->w, "web", 1, 4, 3, 4);
    f->times.start = SEC(20);
    f->w.opts.timeout = SEC(31);
    f->w.opts.max_unavailable.value = 1;
    f->w.opts.in_order = true;
    make(f, "w0", "w1", NULL);
    assert_verdict(f, "a1", PLAN_WAITS);
    assert_int_equal(pod_of(f, "a1")->evicted, SEC(20));
    assert_verdict(f, "a2", PLAN_UNSURE);
    assert_int_equal(node_of(f, "w1")->begins, SEC(31));
    assert_verdict(f, "b0", PLAN_WAITS); /* for the successor of a1, and for nobody of w0 */
    assert_int_equal(pod_of(f, "b0")->evicted, SEC(40));
}

/* A pod that terminates already gives its budget nothing back before it is gone. */
static void what_leaves_already_is_not_evicted_again(void **state) {
    struct plan_site *f = *state;
    char when[TIMEFMT_LEN];
    nodes(f, 2);
    dw_pod(&f->w, "soon", "w0", "{'metadata':{'deletionTimestamp':'%s'}}",
           time_format(f->w.now.wall + SEC(25), false, when));
    make(f, "w0", NULL);
    assert_int_equal(pod_of(f, "soon")->gone, SEC(25));
    assert_int_equal(f->plan.bounds[TERM_NODE].least, 0); /* it may stop sooner */
    assert_int_equal(f->plan.makespan, SEC(25));
}

/* The same plan, to the byte, however often it is made. */
static void the_same_input_has_the_same_plan(void **state) {
    struct plan_site *f = *state;
    nodes(f, 8);
    for (int i = 0; i < 6; i++) {
        char prefix[8], name[8];
        snprintf(prefix, sizeof prefix, "p%d-", i);
        snprintf(name, sizeof name, "w%d", i);
        pods(f, prefix, i + 1, name, "{}");
    }
    dw_budget(&f->w, "web", 2, 21, 19, 21);
    f->w.opts.max_unavailable.value = 2;
    _cleanup_str_ struct str first = STR_INIT, again = STR_INIT;
    for (int k = 0; k < 3; k++) {
        struct str *out = k ? &again : &first;
        str_reset(out);
        make(f, "w0", "w1", "w2", "w3", "w4", "w5", NULL);
        for (size_t i = 0; i < f->plan.n; i++) {
            const struct plan_node *n = &f->plan.nodes[i];
            str_addf(out, "%s %lld %lld\n", n->name, (long long)n->begins, (long long)n->ends);
            for (size_t p = 0; p < n->n_pods; p++)
                str_addf(out, "  %s %lld %s\n", n->pods[p].pod->meta.name,
                         (long long)n->pods[p].evicted, strna(n->pods[p].to));
        }
        if (k)
            assert_string_equal(str_get(&again), str_get(&first));
    }
    assert_true(f->plan.makespan >= f->plan.bounds[f->plan.binds].least);
}

/* A pod of the budget was made just now and will be ready: that is what the others wait for. One
 * that crashes, or that is long overdue, is not waited for. */
static void pods_that_are_just_starting_count_soon(void **state) {
    struct plan_site *f = *state;
    nodes(f, 3);
    char when[TIMEFMT_LEN];
    dw_pod(&f->w, "a", "w0", "{}");
    dw_budget(&f->w, "web", 0, 1, 1, 2);
    dw_pod(&f->w, "b", "w1",
           "{'metadata':{'creationTimestamp':'%s'},'status':{'phase':'Pending','conditions':[{"
           "'type':'Ready','status':'False'}]}}",
           time_format(f->w.now.wall - SEC(2), false, when));
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_WAITS);
    assert_int_equal(pod_of(f, "a")->evicted, SEC(8)); /* ten seconds are assumed, two are over */
    dw_edit_pod(&f->w, "b", "{'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z'}}");
    make(f, "w0", NULL);
    assert_verdict(f, "a", PLAN_UNSURE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(pods_that_are_just_starting_count_soon),
        PLAN_TEST(what_nothing_holds_goes_at_once),
        PLAN_TEST(an_empty_node_takes_no_time),
        PLAN_TEST(a_stateful_pod_comes_back_when_it_is_gone),
        PLAN_TEST(slots_are_kept_and_used),
        PLAN_TEST(hopeless_nodes_come_last),
        PLAN_TEST(nodes_in_each_others_way_do_not_go_together),
        PLAN_TEST(a_successor_has_its_place_by_name),
        PLAN_TEST(a_shorter_grace_period_is_faster),
        PLAN_TEST(one_zone_at_a_time),
        PLAN_TEST(percentages_and_parallel_limit),
        PLAN_TEST(the_order_of_the_names_when_that_is_wanted),
        PLAN_TEST(a_pod_that_comes_to_a_node_which_is_drained_later_goes_again),
        PLAN_TEST(replacements_avoid_nodes_whose_turn_comes),
        PLAN_TEST(what_leaves_makes_room_before_its_turn),
        PLAN_TEST(what_has_come_back_is_not_avoided),
        PLAN_TEST(hopeless_nodes_have_their_place_when_all_go),
        PLAN_TEST(refused_nodes_keep_nobody_waiting),
        PLAN_TEST(nothing_goes_again_from_a_refused_node),
        PLAN_TEST(a_replacement_that_is_stuck_is_not_the_pod),
        PLAN_TEST(nodes_are_in_the_order_in_which_they_begin),
        PLAN_TEST(a_timeout_frees_the_slot),
        PLAN_TEST(a_late_node_gives_its_budget_back),
        PLAN_TEST(what_leaves_already_is_not_evicted_again),
        PLAN_TEST(the_same_input_has_the_same_plan),
    };
    return cmocka_run_group_tests_name("engine/plan_play", tests, NULL, NULL);
}
