/* Tests of src/engine/drain_budget.c: how much of each budget is left, as far as we know. */
#include "engine/drain.h"

#include "support/drain_world.h"

/* n pods p0, p1, ... of one budget on one node. */
static void pods(struct drain_world *w, int n) {
    dw_node(w, "w0");
    for (int i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{}");
    }
}

#define allow(w, n) dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':%d}}", n)

static void only_as_many_as_the_budget_allows_are_asked(void **state) {
    struct drain_world *w = *state;
    pods(w, 5);
    dw_budget(w, "web", 2, 5, 3, 5);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/p0\nevict default/p1\n");
    assert_state(w, "p2", DRAIN_POD_BLOCKED);
    assert_blocked(w, "p2", BLOCKER_PDB_NO_BUDGET);
    assert_string_equal(dw_pod_view(w, "p2")->blocker.object, "default/web");
    assert_string_equal(dw_pod_view(w, "p2")->blocker.kind, "PodDisruptionBudget");
    dw_pass(w, SEC(600)); /* nobody answers: nothing more is asked */
    assert_wanted(w, "");
}

static void what_we_spent_is_not_spent_again_before_the_status_shows_it(void **state) {
    struct drain_world *w = *state;
    pods(w, 3);
    dw_budget(w, "web", 1, 3, 2, 3);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_pass(w, SEC(2));
    assert_wanted(w, ""); /* the status still says 1 */
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':0,'currentHealthy':2}}");
    dw_pass(w, SEC(20));
    assert_wanted(w, "");
    dw_remove(w, &kind_pod, "default", "p0");
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':1,'currentHealthy':3}}");
    dw_settle(w);
    assert_wanted(w, "evict default/p1\n"); /* the moment there is room */
}

/* The status came first, then the answers: what it shows already is not counted again. */
static void a_status_that_is_faster_than_the_answer(void **state) {
    struct drain_world *w = *state;
    pods(w, 3);
    dw_budget(w, "web", 2, 4, 2, 4);
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 2);
    dw_forget(w);
    allow(w, 0);
    allow(w, 1); /* both are taken from it, and one has become healthy since */
    dw_accept(w, ACTION_EVICT, "p0");
    dw_accept(w, ACTION_EVICT, "p1");
    dw_settle(w);
    assert_wanted(w, "evict default/p2\n");
}

/* A status that never tells (a controller that is down) does not stop the drain for ever. */
static void what_we_spent_is_forgotten_after_a_while(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_pass(w, SEC(3));
    assert_wanted(w, "");
    dw_pass(w, SEC(1));
    assert_wanted(w, "evict default/p1\n");
}

static void a_budget_that_says_no_is_asked_when_it_changes_and_not_before(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "web", 0, 1, 1, 2);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(29));
    assert_wanted(w, "patch nodes w0\n");
    assert_int_equal(dw_told(w,
                             "blocked PDBNoBudget default/web: maxUnavailable 1, needs 1 healthy "
                             "of 2, has 1, allows 0"),
                     1);
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':1,'currentHealthy':2}}");
    dw_settle(w);
    assert_wanted(w, "evict default/p0\n");
    assert_int_equal(dw_told(w, "unblocked"), 0); /* not yet: the server has not said yes */
    dw_accept(w, ACTION_EVICT, "p0");
    dw_settle(w);
    assert_int_equal(dw_told(w, "unblocked PDBNoBudget default/web"), 1);
}

/* What we see may be wrong: after long silence one of the pods asks anyway. */
static void after_long_silence_one_asks_anyway_and_less_and_less_often(void **state) {
    struct drain_world *w = *state;
    pods(w, 4);
    dw_budget(w, "web", 0, 3, 3, 4);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    int64_t last = w->now.mono, gap = 0, begin = w->now.mono;
    unsigned n = 0;
    while (w->now.mono - begin < SEC(3600)) {
        dw_pass(w, SEC(1));
        unsigned now = dw_under_way(w, ACTION_EVICT);
        assert_true(now <= 1);
        if (!now)
            continue;
        n++;
        gap = w->now.mono - last;
        last = w->now.mono;
        if (n == 1)
            assert_in_range(gap, SEC(30), SEC(39));
        dw_reply(w, ACTION_EVICT, w->open.p[0].name, KUBE_PDB_NO_BUDGET, -1);
        dw_settle(w);
    }
    assert_in_range(gap, SEC(300), SEC(376));
    assert_in_range(n, 8, 20);
    assert_int_equal(dw_told(w, "evicting"), n < 4 ? n : dw_told(w, "evicting"));
}

/* A status that changes, for whatever reason, is no silence. */
static void each_change_begins_the_silence_anew(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "web", 0, 1, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    for (int i = 0; i < 10; i++) {
        dw_pass(w, SEC(25));
        dw_edit_budget(w, "web", "{'metadata':{'labels':{'n':'%d'}}}", i);
    }
    dw_pass(w, SEC(29));
    assert_wanted(w, "");
    dw_pass(w, SEC(10));
    assert_wanted(w, "evict default/p0\n");
}

/* The server says no although the status says yes: not again at once. */
static void a_refusal_against_the_status_waits_for_a_new_one(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_reply(w, ACTION_EVICT, "p0", KUBE_PDB_NO_BUDGET, -1);
    dw_pass(w, MSEC(1900));
    assert_wanted(w, ""); /* neither p0 nor p1 */
    assert_blocked(w, "p0", BLOCKER_PDB_NO_BUDGET);
    dw_pass(w, MSEC(700));
    assert_int_equal(dw_asked(w, "evict"), 1);
    dw_reply(w, ACTION_EVICT, w->open.p[0].name, KUBE_PDB_NO_BUDGET, -1);
    dw_settle(w);
    dw_forget(w);
    dw_edit_budget(w, "web", "{'status':{'currentHealthy':3}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict"), 1); /* a new status: asked at once */
}

/* What was refused was refused by an older status than the one that there is now. */
static void a_refusal_that_a_new_status_has_overtaken(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    allow(w, 0);
    allow(w, 1);
    dw_reply(w, ACTION_EVICT, "p0", KUBE_PDB_NO_BUDGET, -1);
    dw_settle(w);
    assert_wanted(w, ""); /* not at once all the same */
    dw_pass(w, MSEC(751));
    assert_wanted(w, "evict default/p0\n");
}

static void a_status_that_is_not_observed_yet(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_edit_budget(w, "web", "{'metadata':{'generation':2}}");
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\n");
    assert_blocked(w, "p0", BLOCKER_PDB_NO_BUDGET);
    assert_non_null(strstr(dw_pod_view(w, "p0")->blocker.message, "not processed"));
    dw_edit_budget(w, "web", "{'status':{'observedGeneration':2}}");
    dw_settle(w);
    assert_wanted(w, "evict default/p0\n");
}

/* --- verdicts --- */

static void each_verdict_has_its_blocker(void **state) {
    (void)state;
    static const struct {
        const char *patch;
        enum blocker_code code;
    } rows[] = {
        {"{'spec':{'maxUnavailable':0}}", BLOCKER_PDB_UNSATISFIABLE},
        {"{'spec':{'maxUnavailable':null,'minAvailable':'100%'}}", BLOCKER_PDB_UNSATISFIABLE},
        {"{'status':{'desiredHealthy':2}}", BLOCKER_PDB_UNSATISFIABLE},
        {"{'status':{'conditions':[{'type':'DisruptionAllowed','status':'False','reason':"
         "'SyncFailed','message':'no scale'}]}}",
         BLOCKER_PDB_SYNC_FAILED},
        {"{}", BLOCKER_PDB_NO_BUDGET},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_world w;
        dw_init(&w);
        pods(&w, 1);
        dw_budget(&w, "web", 0, 1, 1, 2);
        dw_edit_budget(&w, "web", "%s", rows[i].patch);
        dw_start(&w, "w0", NULL);
        assert_int_equal(dw_asked(&w, "evict"), 0);
        assert_blocked(&w, "p0", rows[i].code);
        assert_true(*dw_pod_view(&w, "p0")->blocker.message != '\0');
        dw_done(&w);
    }
}

static void two_budgets_over_one_pod_are_both_named(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_budget(w, "web2", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(29));
    assert_wanted(w, "patch nodes w0\n"); /* the server would answer 500 */
    assert_blocked(w, "p0", BLOCKER_MULTIPLE_PDBS);
    const char *message = dw_pod_view(w, "p0")->blocker.message;
    assert_non_null(strstr(message, "web"));
    assert_non_null(strstr(message, "web2"));
    dw_remove(w, &kind_pdb, "default", "web2");
    dw_settle(w);
    assert_wanted(w, "evict default/p0\n");
}

/* kubectl fails at once; nobody shall wait for ever. */
static void pods_that_can_never_go_end_the_drain(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_budget(w, "web2", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(29));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_EVICTING);
    dw_pass(w, SEC(2));
    assert_int_equal(dw_view(w, 0)->phase, DRAIN_TIMED_OUT);
    assert_non_null(strstr(dw_view(w, 0)->error, "2 pods can never be evicted: default/p0 "
                                                 "(MultiplePDBs)"));
}

static void a_bare_pod_under_a_budget_is_told_what_to_do(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", DW_BARE);
    dw_budget(w, "web", 0, 1, 1, 1);
    w->opts.force = true;
    dw_start(w, "w0", NULL);
    const struct drain_blocker *b = &dw_pod_view(w, "a")->blocker;
    assert_non_null(strstr(b->message, "delete it to continue"));
    /* it has no replicas */
    assert_string_equal(drain_hint(b),
                        "delete the pod, or let the budget allow at least one disruption");
}

static void what_has_an_owner_can_have_more_replicas(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 1);
    dw_start(w, "w0", NULL);
    assert_string_equal(drain_hint(&dw_pod_view(w, "a")->blocker),
                        blocker_row(BLOCKER_PDB_UNSATISFIABLE)->hint);
}

/* --- unhealthy pods --- */

#define UNREADY "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}"

static void pods_that_are_not_ready_go_when_the_rest_is_healthy(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "sick1", "w0", UNREADY);
    dw_pod(w, "sick2", "w0", UNREADY);
    dw_pod(w, "well", "w0", "{}");
    dw_budget(w, "web", 0, 2, 2, 4);
    dw_start(w, "w0", NULL);
    /* Both: they take nothing from the budget. */
    assert_wanted(w, "patch nodes w0\nevict default/sick1\nevict default/sick2\n");
    assert_blocked(w, "well", BLOCKER_PDB_NO_BUDGET);
}

static void pods_that_are_not_ready_wait_when_the_rest_is_not(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "sick", "w0", UNREADY);
    dw_budget(w, "web", 0, 1, 2, 4);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\n");
    dw_edit_budget(w, "web", "{'spec':{'unhealthyPodEvictionPolicy':'AlwaysAllow'}}");
    dw_settle(w);
    assert_wanted(w, "evict default/sick\n");
}

/* Healthy ones needed: none is wanted, so that "enough are healthy" is not what the server means.
 */
static void an_unready_pod_of_a_budget_that_desires_nothing(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "sick", "w0", UNREADY);
    dw_budget(w, "web", 0, 0, 0, 1);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\n");
}

static void pending_pods_are_no_budgets_business(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "new", "w0", "{'status':{'phase':'Pending','conditions':null}}");
    dw_budget(w, "web", 0, 0, 1, 1);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/new\n");
}

/* --- budgets that cannot be read --- */

static void without_a_look_at_budgets_evictions_are_tried_blindly(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    w->c.budgets_known = false;
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_answer(w, dw_open(w, ACTION_EVICT, "p0"),
              &(struct answer){.outcome = KUBE_PDB_NO_BUDGET,
                               .message = "Cannot evict pod as it would violate the pod's "
                                          "disruption budget.",
                               .cause = "The disruption budget web needs 2 healthy pods and has 2 "
                                        "currently",
                               .retry_after = -1});
    dw_pass(w, SEC(2) - 1);
    assert_wanted(w, "");
    /* The server's sentence names the budget. */
    assert_blocked(w, "p0", BLOCKER_PDB_NO_BUDGET);
    assert_non_null(strstr(dw_pod_view(w, "p0")->blocker.message, "budget web needs 2"));
    dw_pass(w, SEC(1) + 2);
    assert_wanted(w, "evict default/p0\n");
    for (int i = 0; i < 10; i++) { /* with a back-off */
        dw_reply(w, ACTION_EVICT, "p0", KUBE_PDB_NO_BUDGET, -1);
        dw_pass(w, SEC(45) + 2);
        assert_int_equal(dw_under_way(w, ACTION_EVICT), 2);
    }
    assert_true(dw_asked(w, "evict default/p0") <= 11);
}

/* --- many nodes, one budget --- */

static void nodes_share_what_a_budget_allows(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_asked(w, "evict"), 1);
    dw_accept(w, ACTION_EVICT, "a");
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':0}}");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_pass(w, SEC(5));
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "evict default/b"), 0);
    dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':1}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/b"), 1);
}

static void a_failed_request_gives_back_what_it_had_taken(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_reply(w, ACTION_EVICT, "p0", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_wanted(w, "evict default/p1\n");
}

/* Also when it is a pod of another node that waited. */
static void and_to_a_pod_of_another_node(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", "w1", NULL);
    dw_forget(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_wanted(w, "evict default/b\n");
}

static void when_the_second_of_two_budgets_goes(void **state) {
    struct drain_world *w = *state;
    pods(w, 1);
    dw_budget(w, "also", 1, 2, 1, 2);
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_start(w, "w0", NULL);
    assert_blocked(w, "p0", BLOCKER_MULTIPLE_PDBS);
    dw_forget(w);
    dw_remove(w, &kind_pdb, "default", "web");
    dw_settle(w);
    assert_wanted(w, "evict default/p0\n");
}

/* minAvailable 2 of 3: while the third's successor does not exist, two of two must stay. */
static void a_budget_is_not_hopeless_because_we_just_used_it(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 1, 3, 2, 3);
    dw_edit_budget(w, "web", "{'spec':{'maxUnavailable':null,'minAvailable':2}}");
    dw_start(w, "w0", NULL);
    dw_accept(w, ACTION_EVICT, "p0");
    dw_edit_budget(w, "web",
                   "{'status':{'disruptionsAllowed':0,'currentHealthy':2,'expectedPods':2}}");
    dw_remove(w, &kind_pod, "default", "p0");
    dw_pass(w, SEC(20));
    assert_blocked(w, "p1", BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(dw_told(w, "PDBUnsatisfiable"), 0);
    /* A percentage goes by what the owners want. */
    dw_edit_budget(w, "web", "{'spec':{'minAvailable':'60%%'},'status':{'observedGeneration':9}}");
    dw_settle(w);
    assert_blocked(w, "p1", BLOCKER_PDB_UNSATISFIABLE);
}

/* A budget that is deleted and made anew has nothing of the old one's account. */
static void a_budget_that_goes_away_holds_nobody(void **state) {
    struct drain_world *w = *state;
    pods(w, 2);
    dw_budget(w, "web", 0, 2, 2, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_remove(w, &kind_pdb, "default", "web");
    dw_settle(w);
    assert_wanted(w, "evict default/p0\nevict default/p1\n");
}

/* It says whom it waits for, and asks as soon as the operator has let go. */
static void an_operator_lets_go(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "web", "w0", "{'metadata':{'labels':{'longhorn.io/component':'instance-manager'}}}");
    dw_budget(w, "web", 0, 1, 1, 1);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(5));
    assert_wanted(w, "patch nodes w0\n");
    assert_int_equal(
        dw_told(w, "blocked StorageNotOkToStop default/web: Longhorn keeps this budget"), 1);
    assert_int_equal(dw_told(w, "PDBUnsatisfiable"), 0);
    dw_remove(w, &kind_pdb, "default", "web");
    dw_settle(w);
    assert_wanted(w, "evict default/web\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(only_as_many_as_the_budget_allows_are_asked),
        DRAIN_TEST(what_we_spent_is_not_spent_again_before_the_status_shows_it),
        DRAIN_TEST(a_status_that_is_faster_than_the_answer),
        DRAIN_TEST(what_we_spent_is_forgotten_after_a_while),
        DRAIN_TEST(a_budget_that_says_no_is_asked_when_it_changes_and_not_before),
        DRAIN_TEST(after_long_silence_one_asks_anyway_and_less_and_less_often),
        DRAIN_TEST(each_change_begins_the_silence_anew),
        DRAIN_TEST(a_refusal_against_the_status_waits_for_a_new_one),
        DRAIN_TEST(a_refusal_that_a_new_status_has_overtaken),
        DRAIN_TEST(a_status_that_is_not_observed_yet),
        cmocka_unit_test(each_verdict_has_its_blocker),
        DRAIN_TEST(two_budgets_over_one_pod_are_both_named),
        DRAIN_TEST(pods_that_can_never_go_end_the_drain),
        DRAIN_TEST(a_bare_pod_under_a_budget_is_told_what_to_do),
        DRAIN_TEST(what_has_an_owner_can_have_more_replicas),
        DRAIN_TEST(pods_that_are_not_ready_go_when_the_rest_is_healthy),
        DRAIN_TEST(pods_that_are_not_ready_wait_when_the_rest_is_not),
        DRAIN_TEST(an_unready_pod_of_a_budget_that_desires_nothing),
        DRAIN_TEST(pending_pods_are_no_budgets_business),
        DRAIN_TEST(without_a_look_at_budgets_evictions_are_tried_blindly),
        DRAIN_TEST(nodes_share_what_a_budget_allows),
        DRAIN_TEST(a_failed_request_gives_back_what_it_had_taken),
        DRAIN_TEST(and_to_a_pod_of_another_node),
        DRAIN_TEST(when_the_second_of_two_budgets_goes),
        DRAIN_TEST(a_budget_is_not_hopeless_because_we_just_used_it),
        DRAIN_TEST(a_budget_that_goes_away_holds_nobody),
        DRAIN_TEST(an_operator_lets_go),
    };
    return cmocka_run_group_tests_name("engine/drain_budget", tests, NULL, NULL);
}
