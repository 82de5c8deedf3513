/* Tests of src/engine/drain_evict.c: pods are asked to go, and what comes of it. */
#include "engine/drain.h"

#include "support/drain_world.h"

static struct rules *rules_of(struct drain_world *w, const char *text) {
    struct rules *r = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (rules_parse(text, strlen(text), "rules.yaml", &r, &err))
        fail_msg("%s", err_msg(&err));
    w->opts.rules = r;
    return r;
}

#define RULES "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n"

/* One node with one pod that has been asked to go. */
static void one_pod(struct drain_world *w) {
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 1);
    dw_forget(w);
}

/* A webhook says no, however often it is asked. */
static void denied_for(struct drain_world *w, int seconds) {
    for (int i = 0; i < seconds; i++) {
        if (dw_under_way(w, ACTION_EVICT))
            dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
        dw_pass(w, SEC(1));
    }
    if (dw_under_way(w, ACTION_EVICT))
        dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
}

/* --- what happens after each outcome --- */

/* The refusals that pass: which blocker, and when it is asked again. */
static const struct {
    enum kube_outcome outcome;
    int64_t retry_after;
    enum blocker_code code;
    int64_t min, max; /* milliseconds */
} passing[] = {
    {KUBE_NOT_YET, -1, BLOCKER_EVICTION_IN_PROGRESS, 2000, 3000},
    {KUBE_NOT_YET, 20, BLOCKER_EVICTION_IN_PROGRESS, 20000, 20000},
    {KUBE_DENIED, -1, BLOCKER_ADMISSION_DENIED, 10000, 15000},
    {KUBE_NS_TERMINATING, -1, BLOCKER_NAMESPACE_TERMINATING, 2000, 3000},
    {KUBE_PDB_BROKEN, -1, BLOCKER_PDB_BROKEN, 10000, 15000},
    {KUBE_PDB_MULTIPLE, -1, BLOCKER_MULTIPLE_PDBS, 10000, 15000},
    {KUBE_TIMED_OUT, 10, BLOCKER_SERVER_TROUBLE, 10000, 10000},
    {KUBE_SERVER_ERROR, -1, BLOCKER_SERVER_TROUBLE, 500, 750},
    {KUBE_UNREACHABLE, -1, BLOCKER_SERVER_TROUBLE, 500, 750},
    {KUBE_UNKNOWN, -1, BLOCKER_SERVER_TROUBLE, 500, 750},
    {KUBE_TOO_NEW, -1, BLOCKER_SERVER_TROUBLE, 500, 750},
    {KUBE_EXPIRED, -1, BLOCKER_SERVER_TROUBLE, 500, 750},
    {KUBE_UNAUTHORIZED, -1, BLOCKER_SERVER_TROUBLE, 2000, 3000},
    {KUBE_THROTTLED, -1, BLOCKER_RATE_LIMITED, 1000, 1500},
    {KUBE_THROTTLED, 7, BLOCKER_RATE_LIMITED, 7000, 7000},
    /* of a budget that we do not see yet */
    {KUBE_PDB_NO_BUDGET, -1, BLOCKER_PDB_NO_BUDGET, 500, 750},
    {KUBE_PDB_NOT_OBSERVED, 10, BLOCKER_PDB_NO_BUDGET, 10000, 10000},
    /* a server that means harm: 600 seconds are the most */
    {KUBE_THROTTLED, INT64_MAX, BLOCKER_RATE_LIMITED, 600000, 600000},
    {KUBE_SERVER_ERROR, INT64_MAX, BLOCKER_SERVER_TROUBLE, 600000, 600000},
    {KUBE_PDB_NO_BUDGET, INT64_MAX, BLOCKER_PDB_NO_BUDGET, 600000, 600000},
};

static void each_refusal_that_passes_has_its_blocker_and_its_time(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(passing); i++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            struct drain_world w;
            dw_init(&w);
            w.opts.seed = seed * 1000003;
            one_pod(&w);
            dw_reply(&w, ACTION_EVICT, "a", passing[i].outcome, passing[i].retry_after);
            dw_settle(&w);
            assert_state(&w, "a", DRAIN_POD_BLOCKED);
            assert_blocked(&w, "a", passing[i].code);
            assert_int_equal(dw_view(&w, 0)->blocked_pods, 1);
            assert_int_equal(dw_pod_view(&w, "a")->blocker.since, w.now.wall);
            assert_true(*dw_pod_view(&w, "a")->blocker.message != '\0');
            dw_pass(&w, MSEC(passing[i].min) - 1);
            if (dw_asked(&w, "evict"))
                fail_msg("row %zu: too early", i);
            dw_pass(&w, MSEC(passing[i].max - passing[i].min) + 2);
            if (dw_asked(&w, "evict default/a\n") != 1)
                fail_msg("row %zu: %u times", i, dw_asked(&w, "evict"));
            /* It is the same pod that goes: told once, and over once. */
            dw_accept(&w, ACTION_EVICT, "a");
            dw_settle(&w);
            assert_state(&w, "a", DRAIN_POD_LEAVING);
            assert_false(dw_pod_view(&w, "a")->blocked);
            assert_int_equal(dw_view(&w, 0)->blocked_pods, 0);
            dw_remove(&w, &kind_pod, "default", "a");
            dw_settle(&w);
            assert_phase(&w, 0, DRAIN_DONE);
            assert_int_equal(dw_told(&w, "evicting"), 0); /* only the first time */
            assert_int_equal(dw_told(&w, "gone default/a"), 1);
            assert_int_equal(dw_told(&w, "blocked "), 2 * dw_told(&w, "unblocked "));
            dw_done(&w);
        }
}

static void each_refusal_that_does_not_pass_ends_the_pod(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        bool access;
    } rows[] = {{KUBE_FORBIDDEN, true}, {KUBE_NO_CREDENTIALS, true},
                {KUBE_INVALID, false},  {KUBE_UNSUPPORTED, false},
                {KUBE_EXISTS, false},   {KUBE_NOT_KUBERNETES, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", "{}");
        dw_pod(&w, "b", "w0", "{}");
        dw_start(&w, "w0", NULL);
        dw_reply(&w, ACTION_EVICT, "a", rows[i].outcome, -1);
        dw_pass(&w, SEC(600));
        assert_state(&w, "a", DRAIN_POD_FAILED);
        assert_string_equal(dw_pod_view(&w, "a")->error,
                            kube_outcome_row(rows[i].outcome)->meaning);
        assert_phase(&w, 0, DRAIN_EVICTING); /* the others go on */
        dw_accept(&w, ACTION_EVICT, "b");
        dw_settle(&w);
        dw_remove(&w, &kind_pod, "default", "b");
        dw_settle(&w);
        assert_phase(&w, 0, DRAIN_FAILED);
        assert_non_null(strstr(dw_view(&w, 0)->error, "default/a"));
        assert_int_equal(dw_view(&w, 0)->access, rows[i].access);
        assert_int_equal(dw_view(&w, 0)->failed, 1);
        assert_int_equal(dw_told(&w, "failed default/a"), 1);
        assert_int_equal(dw_asked(&w, "evict default/a"), 1);
        dw_done(&w);
    }
}

static void trouble_that_lasts_is_asked_less_and_less_often(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    int64_t before = w->now.mono, gap = 0;
    for (int i = 0; i < 12; i++) {
        dw_reply(w, ACTION_EVICT, "a", KUBE_SERVER_ERROR, -1);
        dw_settle(w);
        before = w->now.mono;
        while (!dw_under_way(w, ACTION_EVICT)) {
            int64_t next = drain_next(w->d);
            assert_true(next > w->now.mono && next - before <= SEC(45));
            w->now.wall += next - w->now.mono;
            w->now.mono = next;
            dw_settle(w);
        }
        gap = w->now.mono - before;
    }
    assert_in_range(gap, SEC(30), SEC(45));
    assert_int_equal(dw_told(w, "blocked ServerTrouble"), 1); /* not once for each try */
    assert_int_equal(dw_pod_view(w, "a")->blocker.attempts, 12);
}

/* A token that is replaced at the wrong moment must not end a drain that has waited for long. */
static void one_rejected_token_after_many_tries_is_not_the_end(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    for (int i = 0; i < 8; i++) {
        dw_reply(w, ACTION_EVICT, "a", KUBE_NOT_YET, -1);
        dw_pass(w, SEC(45));
    }
    dw_reply(w, ACTION_EVICT, "a", KUBE_UNAUTHORIZED, -1);
    dw_pass(w, SEC(45));
    assert_int_equal(dw_told(w, "failed"), 0);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 1);
}

static void a_token_that_is_never_accepted_is(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    for (int i = 0; i < 20 && dw_under_way(w, ACTION_EVICT); i++) {
        dw_reply(w, ACTION_EVICT, "a", KUBE_UNAUTHORIZED, -1);
        dw_pass(w, SEC(45));
    }
    assert_phase(w, 0, DRAIN_FAILED);
    assert_true(dw_view(w, 0)->access);
}

static void gone_on_the_server_but_not_in_the_store_is_asked_again_and_not_told(void **state) {
    struct drain_world *w = *state;
    for (int i = 0; i < 2; i++) {
        if (i)
            dw_kill(w);
        one_pod(w);
        dw_reply(w, ACTION_EVICT, "a", i ? KUBE_CONFLICT : KUBE_NOT_FOUND, -1);
        dw_settle(w);
        assert_state(w, "a", DRAIN_POD_QUEUED);
        assert_int_equal(dw_under_way(w, ACTION_EVICT), 0);
        dw_pass(w, MSEC(750));
        assert_int_equal(dw_under_way(w, ACTION_EVICT), 1);
        dw_remove(w, &kind_pod, "default", "a");
        dw_settle(w);
        assert_state(w, "a", DRAIN_POD_GONE);
        assert_phase(w, 0, DRAIN_EVICTING); /* its answer is on the way */
        dw_reply(w, ACTION_EVICT, "a", KUBE_NOT_FOUND, -1);
        dw_settle(w);
        assert_phase(w, 0, DRAIN_DONE);
        assert_int_equal(dw_told(w, "gone default/a"), 1);
        assert_int_equal(dw_told(w, "blocked"), 0);
    }
}

/* The server says it is gone, and the watch does not: that is said in the end. */
static void a_contradiction_that_lasts_is_said(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    for (int i = 0; i < 6; i++) {
        dw_reply(w, ACTION_EVICT, "a", i % 2 ? KUBE_CONFLICT : KUBE_NOT_FOUND, -1);
        dw_pass(w, SEC(45));
    }
    assert_true(dw_pod_view(w, "a")->blocked);
    assert_int_equal(dw_told(w, "blocked ServerTrouble default/a"), 1);
}

/* --- throttling --- */

static void a_throttled_answer_holds_back_all_nodes(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w1", "{}");
    dw_start(w, "w0", "w1", NULL);
    dw_forget(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_THROTTLED, 5);
    dw_reply(w, ACTION_EVICT, "b", KUBE_SERVER_ERROR, -1);
    dw_pass(w, SEC(5) - 1);
    assert_wanted(w, "");
    dw_pass(w, 1);
    assert_wanted(w, "evict default/a\nevict default/b\n");
}

/* --- the token bucket --- */

static void the_bucket_lets_so_many_through_a_second(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_node(w, "w1");
    for (int i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%02d", i);
        dw_pod(w, name, i % 2 ? "w0" : "w1", "{}");
    }
    w->opts.rate = 4;
    dw_start(w, "w0", "w1", NULL);
    assert_int_equal(dw_asked(w, "evict"), 4); /* a second's worth at once */
    dw_pass(w, MSEC(260));
    assert_int_equal(dw_asked(w, "evict"), 5);
    dw_pass(w, MSEC(1000));
    assert_in_range(dw_asked(w, "evict"), 8, 9);
    dw_pass(w, SEC(2));
    assert_in_range(dw_asked(w, "evict"), 16, 17);
    dw_pass(w, SEC(10));
    assert_int_equal(dw_asked(w, "evict"), 20);
    assert_true(w->steps < 80);
}

static void less_than_one_a_second_is_possible(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        dw_pod(w, name, "w0", "{}");
    }
    w->opts.rate = 0.1;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "evict"), 1);
    assert_state(w, "p2", DRAIN_POD_QUEUED);
    dw_pass(w, MSEC(9900));
    assert_int_equal(dw_asked(w, "evict"), 1);
    dw_pass(w, MSEC(200));
    assert_int_equal(dw_asked(w, "evict"), 2);
    dw_pass(w, SEC(60)); /* the bucket holds one: pauses are not saved up */
    assert_int_equal(dw_asked(w, "evict"), 3);
}

/* --- who goes first --- */

static void those_that_take_longest_to_stop_begin_first(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'spec':{'terminationGracePeriodSeconds':5}}");
    dw_pod(w, "b", "w0", "{'spec':{'terminationGracePeriodSeconds':600}}");
    dw_pod(w, "c", "w0", "{'spec':{'terminationGracePeriodSeconds':60}}");
    dw_pod(w, "d", "w0", "{'spec':{'terminationGracePeriodSeconds':60}}");
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/b\nevict default/c\nevict default/d\n"
                     "evict default/a\n");
}

static void grace_is_the_pods_own_or_what_was_asked_for(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->opts.grace = 0;
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_open(w, ACTION_EVICT, "a")->grace, 0);
    assert_string_equal(dw_open(w, ACTION_EVICT, "a")->uid, "uid-a");
    dw_kill(w);
    w->opts.grace = -1;
    dw_start(w, "w0", NULL);
    assert_true(dw_open(w, ACTION_EVICT, "a")->grace < 0);
}

static void without_eviction_they_are_deleted_whatever_the_budget_says(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 1);
    w->opts.disable_eviction = true;
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\ndelete default/a\n");
    assert_string_equal(dw_open(w, ACTION_DELETE, "a")->uid, "uid-a");
    assert_int_equal(dw_told(w, "deleting default/a"), 1);
    assert_int_equal(dw_told(w, "escalated"), 0);
    dw_accept(w, ACTION_DELETE, "a");
    dw_settle(w);
    assert_true(dw_pod_view(w, "a")->deleted);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
}

/* --- finished pods --- */

static void finished_pods_go_without_asking_a_budget_or_a_flag(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "done", "w0", "{'status':{'phase':'Succeeded'}}");
    dw_pod(w, "bare", "w0",
           "{'metadata':{'ownerReferences':null},'status':{'phase':'Failed'},"
           "'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}");
    dw_budget(w, "web", 0, 0, 1, 1);
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/bare\nevict default/done\n");
}

static void what_says_nothing_about_how_long_others_take(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "done", "w0", "{'status':{'phase':'Succeeded'}}");
    dw_pod(w, "runs", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_true(dw_pod_view(w, "done")->odd);
    assert_false(dw_pod_view(w, "runs")->odd);
    dw_kill(w);
    dw_pod(w, "own", "w0", "{'spec':{'terminationGracePeriodSeconds':5}}");
    dw_pod(w, "less", "w0", "{'spec':{'terminationGracePeriodSeconds':6}}");
    w->opts.grace = 5;
    dw_start(w, "w0", NULL);
    assert_false(dw_pod_view(w, "own")->odd);
    assert_true(dw_pod_view(w, "less")->odd);
}

/* --- rules --- */

static void lower_orders_are_gone_before_higher_ones_begin(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: first, match: {labels: {matchLabels: {app: "
                                        "front}}}, order: -5}\n"
                                        "- {name: last, match: {owners: [StatefulSet]}, order: "
                                        "10}\n");
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "front", "w0", "{'metadata':{'labels':{'app':'front'}}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_start(w, "w0", NULL);
    dw_forget(w);
    assert_state(w, "a", DRAIN_POD_QUEUED);
    assert_int_equal(dw_under_way(w, ACTION_EVICT), 1);
    dw_accept(w, ACTION_EVICT, "front");
    dw_pass(w, SEC(10));
    assert_wanted(w, ""); /* it has not gone yet */
    dw_remove(w, &kind_pod, "default", "front");
    dw_settle(w);
    assert_wanted(w, "evict default/a\n");
    dw_accept(w, ACTION_EVICT, "a");
    dw_settle(w);
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_wanted(w, "evict default/db-0\n");
    dw_kill(w);
    rules_free(r);
}

/* What must be gone first has failed: the rest is not begun, and the node ends. */
static void a_lower_order_that_fails_holds_the_higher_ones_back(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: last, match: {labels: {matchLabels: {app: db}}}, "
                                        "order: 10}\n");
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{'metadata':{'labels':{'app':'db'}}}");
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_FORBIDDEN, -1);
    dw_settle(w);
    assert_int_equal(dw_asked(w, "default/b"), 0);
    assert_phase(w, 0, DRAIN_FAILED);
    assert_true(drain_over(w->d));
    dw_kill(w);
    rules_free(r);
}

static void a_rule_can_skip_pods(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: cache, match: {labels: {matchLabels: {app: "
                                        "web}}}, action: skip}\n");
    dw_node(w, "w0");
    w->opts.delete_emptydir = true;
    dw_pod(w, "a", "w0", "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}");
    dw_pod(w, "b", "w0", "{'metadata':{'labels':{'app':'other'}}}");
    dw_start(w, "w0", NULL);
    assert_state(w, "a", DRAIN_POD_STAYS);
    assert_non_null(strstr(dw_pod_view(w, "a")->why, "cache"));
    assert_int_equal(dw_view(w, 0)->stays, 1);
    assert_int_equal(dw_view(w, 0)->total, 1);
    assert_int_equal(dw_asked(w, "evict"), 1);
    dw_kill(w);
    rules_free(r);
}

static void a_rule_can_wait_for_the_end_of_a_job(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: jobs, match: {owners: [Job]}, action: wait}\n");
    dw_node(w, "w0");
    dw_pod(w, "job", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}");
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(3600));
    assert_blocked(w, "job", BLOCKER_JOB_RUNNING);
    assert_int_equal(dw_asked(w, "evict"), 0);
    dw_edit_pod(w, "job", "{'status':{'phase':'Succeeded'}}");
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/job\n"), 1);
    dw_kill(w);
    rules_free(r);
}

/* Promise 5: each wait has its deadline where one was written. */
static void waiting_for_a_job_has_the_deadline_of_its_rule(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: jobs, match: {owners: [Job]}, action: wait, "
                                        "deadline: 10m}\n");
    dw_node(w, "w0");
    dw_pod(w, "job", "w0", "{'metadata':{" DW_OWNER("batch/v1", "Job", "once") "}}");
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(599));
    assert_blocked(w, "job", BLOCKER_JOB_RUNNING);
    dw_pass(w, SEC(2));
    assert_state(w, "job", DRAIN_POD_FAILED);
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    dw_kill(w);
    rules_free(r);
}

static void a_mark_holds_a_pod_until_it_is_taken_off(void **state) {
    struct drain_world *w = *state;
    const char *mark = "cluster-autoscaler.kubernetes.io/safe-to-evict";
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'metadata':{'annotations':{'%s':'false'}}}", mark);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(3600));
    assert_blocked(w, "a", BLOCKER_DO_NOT_DISRUPT);
    assert_non_null(strstr(dw_pod_view(w, "a")->blocker.message, mark));
    assert_int_equal(dw_asked(w, "evict"), 0);
    dw_edit_pod(w, "a", "{'metadata':{'annotations':{'%s':null}}}", mark);
    dw_settle(w);
    assert_int_equal(dw_asked(w, "evict default/a\n"), 1);
}

static void the_grace_of_a_rule(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: slow, match: {namespaces: [default]}, grace: "
                                        "90s}\n");
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_open(w, ACTION_EVICT, "a")->grace, 90);
    dw_kill(w);
    rules_free(r);
}

/* A budget was the cause: that is a wait that took too long, and not a failure. */
static void the_deadline_of_a_rule_is_a_timeout(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: web, match: {namespaces: [default]}, deadline: "
                                        "5m}\n");
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 301; i++) {
        if (i < 299)
            assert_blocked(w, "a", BLOCKER_PDB_NO_BUDGET);
        dw_pass(w, SEC(1));
        if (dw_under_way(w, ACTION_EVICT)) /* asked anyway, now and then */
            dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    }
    dw_settle(w);
    assert_state(w, "a", DRAIN_POD_FAILED);
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_non_null(strstr(dw_pod_view(w, "a")->error, "the deadline of rule web, 5m"));
    assert_int_equal(dw_told(w, "failed default/a"), 1);
    assert_int_equal(dw_asked(w, "delete"), 0);
    dw_kill(w);
    rules_free(r);
}

/* What is named as failed was tried; what comes after it in order was not, and is said apart. A
 * pod that failed for another reason makes it a failure. */
static void what_was_not_tried_is_not_called_a_failure(void **state) {
    (void)state;
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        struct drain_world w;
        dw_init(&w);
        struct rules *r = rules_of(
            &w, RULES "- {name: web, match: {labels: {matchLabels: {app: web}}}, deadline: 1m}\n"
                      "- {name: last, match: {labels: {matchLabels: {app: last}}}, order: 10}\n");
        dw_node(&w, "w0");
        dw_pod(&w, "a", "w0", "{'metadata':{'labels':{'app':'web'}}}");
        dw_pod(&w, "b", "w0", "{'metadata':{'labels':{'app':'other'}}}");
        dw_pod(&w, "z", "w0", "{'metadata':{'labels':{'app':'last'}}}");
        dw_budget(&w, "web", 0, 1, 1, 2);
        dw_start(&w, "w0", NULL);
        if (forbidden)
            dw_reply(&w, ACTION_EVICT, "b", KUBE_FORBIDDEN, -1);
        else
            dw_accept(&w, ACTION_EVICT, "b");
        if (!forbidden)
            dw_remove(&w, &kind_pod, "default", "b");
        for (int i = 0; i < 62; i++) {
            dw_pass(&w, SEC(1));
            if (dw_under_way(&w, ACTION_EVICT))
                dw_reply(&w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
        }
        dw_settle(&w);
        assert_phase(&w, 0, forbidden ? DRAIN_FAILED : DRAIN_TIMED_OUT);
        const char *error = dw_view(&w, 0)->error;
        const char *start = forbidden ? "2 pods could not be evicted (default/a, default/b): "
                                      : "1 pod could not be evicted (default/a): ";
        assert_int_equal(strncmp(error, start, strlen(start)), 0);
        assert_non_null(strstr(error, "; not tried: default/z"));
        dw_done(&w);
        rules_free(r);
    }
}

/* It began, and does not end: that is what the deadline is for. */
static void the_deadline_counts_for_a_pod_that_terminates_too(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: web, match: {namespaces: [default]}, deadline: "
                                        "5m}\n");
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(301));
    assert_state(w, "a", DRAIN_POD_FAILED);
    dw_kill(w);
    rules_free(r);
}

#define LADDER                                                                                     \
    RULES "- {name: web, match: {namespaces: [default]}, escalate: [{after: 5m, to: delete}, "     \
          "{after: 10m, to: force}]}\n"

/* Past the budget: that is told, also of a pod that the budget never let us ask for. */
static void a_deletion_past_the_budget_is_told(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(20));
    assert_int_equal(dw_asked(w, "evict"), 0);
    denied_for(w, 281);
    assert_int_equal(dw_told(w, "escalated default/a: deleted instead of evicted"), 1);
    assert_int_equal(dw_asked(w, "delete default/a"), 1);
    dw_kill(w);
    rules_free(r);
}

static void evict_then_delete_then_force(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_start(w, "w0", NULL);
    dw_forget(w);
    denied_for(w, 299);
    assert_int_equal(dw_asked(w, "delete"), 0);
    dw_forget(w);
    dw_pass(w, SEC(2)); /* also in the middle of a back-off of two minutes */
    assert_wanted(w, "delete default/a\n");
    assert_int_equal(dw_told(w, "escalated default/a: deleted instead of evicted"), 1);
    dw_accept(w, ACTION_DELETE, "a");
    dw_pass(w, SEC(298));
    assert_wanted(w, "");
    dw_pass(w, SEC(2));
    assert_wanted(w, "delete default/a grace=0\n");
    assert_int_equal(dw_told(w, "escalated default/a: deleted by force"), 1);
    assert_string_equal(dw_open(w, ACTION_DELETE, "a")->uid, "uid-a");
    dw_accept(w, ACTION_DELETE, "a");
    dw_pass(w, SEC(3600));
    assert_wanted(w, ""); /* once */
    dw_kill(w);
    rules_free(r);
}

/* By force without a deletion before, in the middle of a pause that was meant for evictions. */
static void a_rule_may_go_straight_to_force(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, RULES "- {name: web, match: {namespaces: [default]}, escalate: "
                                        "[{after: 5m, to: force}]}\n");
    one_pod(w);
    denied_for(w, 299);
    assert_int_equal(dw_asked(w, "delete"), 0);
    dw_forget(w);
    dw_pass(w, SEC(1));
    assert_wanted(w, "delete default/a grace=0\n");
    dw_kill(w);
    rules_free(r);
}

/* What the server has asked for holds for every request. */
static void an_escalation_waits_as_long_as_the_server_asks(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    one_pod(w);
    dw_reply(w, ACTION_EVICT, "a", KUBE_NOT_YET, 400);
    dw_pass(w, SEC(399));
    assert_wanted(w, "");
    dw_pass(w, SEC(1));
    assert_wanted(w, "delete default/a\n");
    dw_kill(w);
    rules_free(r);
}

/* The last rung fails, too: as politely as all others. */
static void a_forced_deletion_that_fails_is_tried_again_with_a_back_off(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(601));
    assert_int_equal(dw_under_way(w, ACTION_DELETE), 1);
    dw_forget(w);
    dw_reply(w, ACTION_DELETE, "a", KUBE_SERVER_ERROR, -1);
    dw_settle(w);
    assert_wanted(w, "");
    dw_pass(w, SEC(60));
    assert_int_equal(dw_asked(w, "delete default/a grace=0"), 1);
    assert_int_equal(dw_told(w, "escalated"), 0); /* that was told before */
    dw_kill(w);
    rules_free(r);
}

static void a_forced_deletion_that_is_forbidden_is_not_repeated_for_ever(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    one_pod(w);
    dw_accept(w, ACTION_EVICT, "a");
    dw_pass(w, SEC(601));
    dw_forget(w);
    for (int i = 0; i < 50 && dw_under_way(w, ACTION_DELETE); i++) {
        dw_reply(w, ACTION_DELETE, "a", KUBE_FORBIDDEN, -1);
        dw_settle(w);
    }
    assert_true(dw_asked(w, "delete") <= 1);
    dw_kill(w);
    rules_free(r);
}

static void an_escalation_is_told_also_when_it_has_to_wait_for_a_token(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    w->opts.rate = 0.01;
    dw_start(w, "w0", NULL); /* a has the first token, b waits for the second: 100 s */
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_BROKEN, 300);
    dw_pass(w, SEC(101));
    dw_reply(w, ACTION_EVICT, "b", KUBE_PDB_BROKEN, 150);
    dw_pass(w, SEC(160)); /* b has the third token, too */
    dw_reply(w, ACTION_EVICT, "b", KUBE_PDB_BROKEN, 600);
    dw_forget(w);
    dw_pass(w, SEC(50)); /* a shall be deleted, and there is none */
    assert_wanted(w, "");
    dw_pass(w, SEC(60));
    assert_wanted(w, "delete default/a\n");
    assert_int_equal(dw_told(w, "escalated default/a"), 1);
    dw_kill(w);
    rules_free(r);
}

static void nothing_is_deleted_without_a_rule(void **state) {
    struct drain_world *w = *state;
    one_pod(w);
    int64_t begin = w->now.mono;
    while (w->now.mono - begin < SEC(7200)) {
        if (dw_under_way(w, ACTION_EVICT))
            dw_reply(w, ACTION_EVICT, "a", KUBE_DENIED, -1);
        dw_pass(w, SEC(30));
    }
    assert_int_equal(dw_asked(w, "delete"), 0);
    assert_int_equal(dw_told(w, "escalated"), 0);
}

/* A mark that was taken off after long: its first try is now, and it is an eviction. */
static void a_pod_that_was_held_is_evicted_first(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{'metadata':{'annotations':{'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(3600));
    dw_forget(w);
    dw_edit_pod(w, "a", "{'metadata':{'annotations':null}}");
    dw_settle(w);
    assert_wanted(w, "evict default/a\n");
    denied_for(w, 299);
    assert_int_equal(dw_asked(w, "delete"), 0);
    dw_forget(w);
    dw_pass(w, SEC(1));
    assert_wanted(w, "delete default/a\n");
    dw_kill(w);
    rules_free(r);
}

/* The operator follows our advice after long: the pod has its whole grace period then. */
static void a_pod_that_was_pinned_is_not_forced_the_moment_it_terminates(void **state) {
    struct drain_world *w = *state;
    struct rules *r = rules_of(w, LADDER);
    char at[TIMEFMT_LEN];
    dw_node(w, "w0");
    dw_put(w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},"
           "'spec':{'template':{'spec':{'nodeName':'w0'}}}}");
    dw_pod(w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_start(w, "w0", NULL);
    assert_blocked(w, "db-0", BLOCKER_PINNED);
    dw_pass(w, SEC(1200));
    dw_forget(w);
    dw_edit_pod(w, "db-0", "{'metadata':{'deletionTimestamp':'%s'}}",
                time_format(w->now.wall + SEC(60), false, at));
    dw_pass(w, SEC(599));
    assert_wanted(w, "");
    dw_pass(w, SEC(2));
    assert_wanted(w, "delete default/db-0 grace=0\n"); /* ten minutes from then, as written */
    dw_kill(w);
    rules_free(r);
}

static void a_label_that_says_skip_counts_also_when_it_comes_later(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    dw_start(w, "w0", NULL);
    dw_forget(w);
    dw_edit_pod(w, "a", "{'metadata':{'labels':{'cluster.x-k8s.io/drain':'skip'}}}");
    dw_settle(w);
    assert_state(w, "a", DRAIN_POD_STAYS);
    assert_phase(w, 0, DRAIN_DONE);
    assert_wanted(w, "");
    assert_int_equal(dw_view(w, 0)->total, 0);
    assert_int_equal(dw_view(w, 0)->stays, 1);
    assert_int_equal(dw_view(w, 0)->blocked_pods, 0);
}

/* --- a second replica first --- */

#define DEPLOYMENT                                                                                 \
    "{'metadata':{'namespace':'default','name':'front','uid':'uid-front','generation':1},"         \
    "'spec':{'replicas':1,'selector':{'matchLabels':{'app':'front'}}},"                            \
    "'status':{'observedGeneration':1,'replicas':1,'availableReplicas':1,'updatedReplicas':1,"     \
    "'readyReplicas':1}}"
#define FRONT_SET                                                                                  \
    "{'metadata':{'namespace':'default','name':'front-1','uid':'uid-front-1','generation':1,"      \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'front','uid':"         \
    "'uid-front','controller':true}]},'spec':{'replicas':1},'status':{'observedGeneration':1,"     \
    "'availableReplicas':1}}"

static int64_t replicas(struct drain_world *w) {
    return json_integer_value(
        dw_at(dw_doc(w, &kind_deployment, "default", "front"), "spec.replicas"));
}

static void begin_surge(struct drain_world *w) {
    w->opts.surge = true;
    w->c.owners_watched = true;
    dw_node(w, "w0");
    dw_put(w, &kind_deployment, DEPLOYMENT);
    dw_put(w, &kind_replica_set, FRONT_SET);
    dw_pod(
        w, "front-a", "w0",
        "{'metadata':{'labels':{'app':'front'}," DW_OWNER("apps/v1", "ReplicaSet", "front-1") "}}");
    dw_start(w, "w0", NULL);
    assert_int_equal(dw_asked(w, "evict"), 0);
    assert_blocked(w, "front-a", BLOCKER_SURGE_PENDING);
    dw_patched(w, dw_open(w, ACTION_PATCH, "front"), true);
    dw_settle(w);
    assert_int_equal(replicas(w), 2);
    assert_int_equal(dw_asked(w, "evict"), 0); /* it is not available yet */
    dw_edit(w, &kind_replica_set, "default", "front-1",
            "{'metadata':{'generation':2},'spec':{'replicas':2},'status':{'observedGeneration':2,"
            "'replicas':2,'availableReplicas':2,'readyReplicas':2}}");
    dw_edit(w, &kind_deployment, "default", "front",
            "{'metadata':{'generation':2},'status':{'observedGeneration':2,'replicas':2,"
            "'availableReplicas':2,'updatedReplicas':2,'readyReplicas':2}}");
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "evict default/front-a"), 1);
}

static void a_single_replica_gets_a_second_one_first(void **state) {
    struct drain_world *w = *state;
    begin_surge(w);
    dw_accept(w, ACTION_EVICT, "front-a");
    dw_settle(w);
    assert_false(drain_over(w->d));
    dw_remove(w, &kind_pod, "default", "front-a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    dw_pass(w, SEC(3));
    dw_patched(w, dw_open(w, ACTION_PATCH, "front"), true);
    dw_pass(w, SEC(1));
    assert_int_equal(replicas(w), 1); /* and its count back */
    assert_true(drain_over(w->d));
}

static void it_gets_its_count_back_when_the_drain_is_stopped(void **state) {
    struct drain_world *w = *state;
    begin_surge(w);
    dw_reply(w, ACTION_EVICT, "front-a", KUBE_DENIED, -1);
    drain_stop(w->d, "interrupted");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_STOPPED);
    assert_false(drain_over(w->d)); /* not before it has */
    dw_pass(w, SEC(3));
    dw_patched(w, dw_open(w, ACTION_PATCH, "front"), true);
    dw_pass(w, SEC(1));
    assert_int_equal(replicas(w), 1);
    assert_true(drain_over(w->d));
}

/* A clock that is far ahead of the server's: the pod is overdue the moment that it terminates. */
static void and_when_its_pod_is_not_waited_for(void **state) {
    struct drain_world *w = *state;
    w->opts.skip_wait = 5;
    begin_surge(w);
    dw_reply(w, ACTION_EVICT, "front-a", KUBE_OK, -1);
    dw_edit_pod(w, "front-a", "{'metadata':{'deletionTimestamp':'2026-11-15T07:00:00Z'}}");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(dw_pod_view(w, "front-a")->skipped_wait);
    dw_pass(w, SEC(3));
    dw_patched(w, dw_open(w, ACTION_PATCH, "front"), true);
    dw_pass(w, SEC(1));
    assert_int_equal(replicas(w), 1);
    assert_true(drain_over(w->d));
}

/* Killed when the second one was there, and started again: it is there, and is not taken away and
 * given once more. */
static void a_second_replica_of_an_earlier_run_is_gone_on_with(void **state) {
    struct drain_world *w = *state;
    begin_surge(w);
    dw_kill(w);
    dw_forget(w);
    dw_start(w, "w0", NULL);
    dw_pass(w, SEC(1));
    assert_int_equal(dw_asked(w, "evict default/front-a"), 1);
    assert_int_equal(dw_asked(w, "patch deployments"), 0);
    assert_int_equal(replicas(w), 2);
}

/* --- dry runs --- */

static void a_dry_run_of_the_server_asks_each_pod_once(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    w->opts.dry_run = DRY_RUN_SERVER;
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0 dry\nevict default/a dry\nevict default/b dry\n");
    dw_reply(w, ACTION_EVICT, "a", KUBE_PDB_NO_BUDGET, -1);
    dw_pass(w, SEC(100)); /* b's answer takes long */
    assert_wanted(w, "");
    dw_reply(w, ACTION_EVICT, "b", KUBE_OK, -1);
    dw_pass(w, SEC(100));
    assert_wanted(w, "");
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_string_equal(dw_view(w, 0)->error,
                        "1 pod would be refused now: default/a (PDBNoBudget)");
    assert_true(drain_over(w->d));
}

/* What says nothing about the pod is no answer. */
static void a_dry_run_asks_again_after_trouble(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->opts.dry_run = DRY_RUN_SERVER;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_SERVER_ERROR, -1);
    dw_pass(w, SEC(1));
    dw_reply(w, ACTION_EVICT, "a", KUBE_THROTTLED, 3);
    dw_pass(w, SEC(3));
    dw_reply(w, ACTION_EVICT, "a", KUBE_OK, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_asked(w, "evict default/a dry"), 3);
    dw_kill(w);
    /* A webhook that asks to wait is not asked for ever. */
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 20 && dw_under_way(w, ACTION_EVICT); i++) {
        dw_reply(w, ACTION_EVICT, "a", KUBE_NOT_YET, -1);
        dw_pass(w, SEC(45));
    }
    assert_phase(w, 0, DRAIN_TIMED_OUT);
}

static void a_dry_run_that_goes_well_changes_nothing(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    w->opts.dry_run = DRY_RUN_SERVER;
    w->opts.keep_record = true;
    dw_start(w, "w0", NULL);
    dw_reply(w, ACTION_EVICT, "a", KUBE_OK, -1);
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    assert_wanted(w, "patch nodes w0 dry\nevict default/a dry\n");
    assert_int_equal(dw_told(w, "evicting default/a"), 1);
}

static void a_dry_run_of_the_client_asks_nobody(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    w->opts.dry_run = DRY_RUN_CLIENT;
    w->opts.keep_record = true;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_wanted(w, "");
    assert_int_equal(dw_told(w, "cordoned w0\n"), 1);
    assert_int_equal(dw_told(w, "evicting default/a"), 1);
    assert_int_equal(dw_told(w, "evicting default/b"), 1);
}

/* kubectl says that all go. What a drain would wait for is said as well, and stays with the pod. */
static void a_dry_run_of_the_client_says_what_would_be_waited_for(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "free", "w0", "{'metadata':{'labels':{'app':'free'}}}");
    dw_pod(w, "held", "w0",
           "{'metadata':{'labels':{'app':'held'},'finalizers':['example.com/upload']}}");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 1, 1, 2);
    w->opts.dry_run = DRY_RUN_CLIENT;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_wanted(w, "");
    assert_false(dw_pod_view(w, "free")->blocked);
    assert_true(dw_pod_view(w, "held")->blocked);
    assert_int_equal(dw_pod_view(w, "held")->blocker.code, BLOCKER_FINALIZER_STUCK);
    assert_true(dw_pod_view(w, "a")->blocked);
    assert_int_equal(dw_pod_view(w, "a")->blocker.code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(dw_told(w, "it would be waited for: PDBNoBudget default/web: "), 1);
}

/* What nobody's patience helps is not said to be drained: the same that a plan calls never. */
static void a_dry_run_of_the_client_meets_what_never_goes(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "free", "w0", "{'metadata':{'labels':{'app':'free'}}}");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 1, 2, 1, 2);
    dw_budget(w, "web2", 1, 2, 1, 2);
    w->opts.dry_run = DRY_RUN_CLIENT;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_wanted(w, "");
    assert_string_equal(dw_view(w, 0)->error,
                        "1 pod can never be evicted: default/a (MultiplePDBs)");
    assert_int_equal(dw_pod_view(w, "free")->state, DRAIN_POD_GONE);
    assert_false(dw_pod_view(w, "free")->never);
    assert_true(dw_pod_view(w, "a")->never);
}

/* Who plans knows more: that there is no room, and a budget runs dry because of that. */
static void a_dry_run_of_the_client_meets_what_is_foreseen(void **state) {
    struct drain_world *w = *state;
    const struct drain_foreseen known[] = {
        {"w0", "default", "a", BLOCKER_PDB_NO_BUDGET, "default/web", "it runs dry"},
        {"w1", "default", "b", BLOCKER_PDB_NO_BUDGET, "default/web", "it runs dry"}};
    dw_node(w, "w0");
    dw_node(w, "w1");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{}"); /* of the other node it is known */
    dw_pod(w, "c", "w1", "{}");
    w->opts.dry_run = DRY_RUN_CLIENT;
    w->opts.foreseen = known;
    w->opts.n_foreseen = ARRAY_LEN(known);
    dw_start(w, "w0", "w1", NULL);
    assert_phase(w, 0, DRAIN_TIMED_OUT);
    assert_phase(w, 1, DRAIN_DONE);
    assert_string_equal(dw_pod_view(w, "a")->blocker.message, "it runs dry");
    assert_false(dw_pod_view(w, "b")->never);
    assert_wanted(w, "");
}

/* A rule that deletes in the end gets past any budget. */
static void a_dry_run_of_the_client_knows_rules(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_budget(w, "web", 0, 2, 2, 2);
    struct rules *r = rules_of(
        w,
        RULES "- {name: web, match: {namespaces: [default]}, escalate: [{after: 5m, to: delete}]}");
    w->opts.dry_run = DRY_RUN_CLIENT;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_true(dw_pod_view(w, "a")->blocked);
    rules_free(r);
}

static void a_dry_run_on_a_lost_node_says_so(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_edit_node(w, "w0", "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}");
    dw_pod(w, "a", "w0", "{}");
    w->opts.dry_run = DRY_RUN_CLIENT;
    dw_start(w, "w0", NULL);
    assert_phase(w, 0, DRAIN_DONE);
    assert_int_equal(dw_pod_view(w, "a")->blocker.code, BLOCKER_NODE_UNREACHABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_that_passes_has_its_blocker_and_its_time),
        cmocka_unit_test(each_refusal_that_does_not_pass_ends_the_pod),
        DRAIN_TEST(trouble_that_lasts_is_asked_less_and_less_often),
        DRAIN_TEST(one_rejected_token_after_many_tries_is_not_the_end),
        DRAIN_TEST(a_token_that_is_never_accepted_is),
        DRAIN_TEST(gone_on_the_server_but_not_in_the_store_is_asked_again_and_not_told),
        DRAIN_TEST(a_throttled_answer_holds_back_all_nodes),
        DRAIN_TEST(the_bucket_lets_so_many_through_a_second),
        DRAIN_TEST(less_than_one_a_second_is_possible),
        DRAIN_TEST(those_that_take_longest_to_stop_begin_first),
        DRAIN_TEST(grace_is_the_pods_own_or_what_was_asked_for),
        DRAIN_TEST(without_eviction_they_are_deleted_whatever_the_budget_says),
        DRAIN_TEST(finished_pods_go_without_asking_a_budget_or_a_flag),
        DRAIN_TEST(what_says_nothing_about_how_long_others_take),
        DRAIN_TEST(lower_orders_are_gone_before_higher_ones_begin),
        DRAIN_TEST(a_lower_order_that_fails_holds_the_higher_ones_back),
        DRAIN_TEST(a_rule_can_skip_pods),
        DRAIN_TEST(a_rule_can_wait_for_the_end_of_a_job),
        DRAIN_TEST(waiting_for_a_job_has_the_deadline_of_its_rule),
        DRAIN_TEST(a_mark_holds_a_pod_until_it_is_taken_off),
        DRAIN_TEST(the_grace_of_a_rule),
        DRAIN_TEST(the_deadline_of_a_rule_is_a_timeout),
        cmocka_unit_test(what_was_not_tried_is_not_called_a_failure),
        DRAIN_TEST(the_deadline_counts_for_a_pod_that_terminates_too),
        DRAIN_TEST(a_deletion_past_the_budget_is_told),
        DRAIN_TEST(evict_then_delete_then_force),
        DRAIN_TEST(a_rule_may_go_straight_to_force),
        DRAIN_TEST(an_escalation_waits_as_long_as_the_server_asks),
        DRAIN_TEST(a_forced_deletion_that_fails_is_tried_again_with_a_back_off),
        DRAIN_TEST(a_forced_deletion_that_is_forbidden_is_not_repeated_for_ever),
        DRAIN_TEST(an_escalation_is_told_also_when_it_has_to_wait_for_a_token),
        DRAIN_TEST(nothing_is_deleted_without_a_rule),
        DRAIN_TEST(a_pod_that_was_held_is_evicted_first),
        DRAIN_TEST(a_pod_that_was_pinned_is_not_forced_the_moment_it_terminates),
        DRAIN_TEST(a_label_that_says_skip_counts_also_when_it_comes_later),
        DRAIN_TEST(a_single_replica_gets_a_second_one_first),
        DRAIN_TEST(it_gets_its_count_back_when_the_drain_is_stopped),
        DRAIN_TEST(and_when_its_pod_is_not_waited_for),
        DRAIN_TEST(a_second_replica_of_an_earlier_run_is_gone_on_with),
        DRAIN_TEST(a_dry_run_of_the_server_asks_each_pod_once),
        DRAIN_TEST(a_dry_run_asks_again_after_trouble),
        DRAIN_TEST(a_dry_run_that_goes_well_changes_nothing),
        DRAIN_TEST(a_dry_run_of_the_client_asks_nobody),
        DRAIN_TEST(a_dry_run_of_the_client_says_what_would_be_waited_for),
        DRAIN_TEST(a_dry_run_of_the_client_meets_what_never_goes),
        DRAIN_TEST(a_dry_run_of_the_client_meets_what_is_foreseen),
        DRAIN_TEST(a_dry_run_of_the_client_knows_rules),
        DRAIN_TEST(a_dry_run_on_a_lost_node_says_so),
        DRAIN_TEST(a_contradiction_that_lasts_is_said),
    };
    return cmocka_run_group_tests_name("engine/drain_evict", tests, NULL, NULL);
}
