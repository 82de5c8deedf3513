/* Tests of src/engine/filter.c: kubectl's filters, in kubectl's order and words
 * (kubectl/pkg/drain/filters.go). */
#include "engine/drain.h"

#include "model/selector.h"
#include "support/drain_world.h"

#define DAEMON    "'metadata':{" DW_OWNER("apps/v1", "DaemonSet", "agent") "}"
#define EMPTY_DIR "'spec':{'volumes':[{'name':'v','emptyDir':{}}]}"
#define MIRROR    "'metadata':{'annotations':{'kubernetes.io/config.mirror':'hash'}}"
#define SUCCEEDED "'status':{'phase':'Succeeded'}"
#define FAILED    "'status':{'phase':'Failed'}"

#define DAEMON_FATAL  "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
#define STORAGE_FATAL "Pods with local storage (use --delete-emptydir-data to override)"
#define BARE_FATAL    "Pods that declare no controller (use --force to override)"

/* Each row is one pod with one set of flags: what kubectl's filters make of it. */
enum { IGNORE = 1, EMPTYDIR = 2, FORCE = 4, ORPHAN = 8 };
static const struct {
    unsigned flags;
    const char *pod;
    enum drain_pod_state state;
    const char *why; /* NULL: nothing is said */
} rows[] = {
    /* a managed pod */
    {0, "{}", DRAIN_POD_SENT, NULL},
    {FORCE | EMPTYDIR | IGNORE, "{}", DRAIN_POD_SENT, NULL},
    /* of a DaemonSet */
    {0, "{" DAEMON "}", DRAIN_POD_REFUSED, DAEMON_FATAL},
    {FORCE, "{" DAEMON "}", DRAIN_POD_REFUSED, DAEMON_FATAL},
    {IGNORE, "{" DAEMON "}", DRAIN_POD_STAYS, "ignoring DaemonSet-managed Pods"},
    {IGNORE, "{" DAEMON "," EMPTY_DIR "}", DRAIN_POD_STAYS, "ignoring DaemonSet-managed Pods"},
    {0, "{" DAEMON "," SUCCEEDED "}", DRAIN_POD_SENT, NULL},
    {0, "{" DAEMON "," FAILED "}", DRAIN_POD_SENT, NULL},
    /* whose DaemonSet is gone */
    {ORPHAN | IGNORE, "{" DAEMON "}", DRAIN_POD_REFUSED, "daemonsets.apps \"agent\" not found"},
    {ORPHAN, "{" DAEMON "}", DRAIN_POD_REFUSED, "daemonsets.apps \"agent\" not found"},
    {ORPHAN | FORCE, "{" DAEMON "}", DRAIN_POD_SENT, "daemonsets.apps \"agent\" not found"},
    {ORPHAN | FORCE, "{" DAEMON "," EMPTY_DIR "}", DRAIN_POD_REFUSED, STORAGE_FATAL},
    /* mirror pods: silently, whatever else they are */
    {0, "{" MIRROR "}", DRAIN_POD_STAYS, NULL},
    {0, "{" MIRROR "," EMPTY_DIR "}", DRAIN_POD_STAYS, NULL},
    {0, "{'metadata':{'annotations':{'kubernetes.io/config.mirror':''},'ownerReferences':null}}",
     DRAIN_POD_STAYS, NULL},
    {FORCE, "{" MIRROR "," SUCCEEDED "}", DRAIN_POD_STAYS, NULL},
    /* local storage */
    {0, "{" EMPTY_DIR "}", DRAIN_POD_REFUSED, STORAGE_FATAL},
    {FORCE, "{" EMPTY_DIR "}", DRAIN_POD_REFUSED, STORAGE_FATAL},
    {EMPTYDIR, "{" EMPTY_DIR "}", DRAIN_POD_SENT, "deleting Pods with local storage"},
    {0, "{" EMPTY_DIR "," SUCCEEDED "}", DRAIN_POD_SENT, NULL},
    {0, "{" EMPTY_DIR "," FAILED "}", DRAIN_POD_SENT, NULL},
    {0, "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}", DRAIN_POD_SENT, NULL},
    {0, "{'spec':{'volumes':[{'name':'v','ephemeral':{}}]}}", DRAIN_POD_SENT, NULL},
    /* bare ones */
    {0, DW_BARE, DRAIN_POD_REFUSED, BARE_FATAL},
    {EMPTYDIR | IGNORE, DW_BARE, DRAIN_POD_REFUSED, BARE_FATAL},
    {FORCE, DW_BARE, DRAIN_POD_SENT, "deleting Pods that declare no controller"},
    {0, "{'metadata':{'ownerReferences':null}," SUCCEEDED "}", DRAIN_POD_SENT, NULL},
    {0, "{'metadata':{'ownerReferences':null}," FAILED "}", DRAIN_POD_SENT, NULL},
    {0, "{'metadata':{'ownerReferences':null},'status':{'phase':'Pending'}}", DRAIN_POD_REFUSED,
     BARE_FATAL},
    {FORCE, "{'metadata':{'ownerReferences':null}," EMPTY_DIR "}", DRAIN_POD_REFUSED,
     STORAGE_FATAL},
    {FORCE | EMPTYDIR, "{'metadata':{'ownerReferences':null}," EMPTY_DIR "}", DRAIN_POD_SENT,
     "deleting Pods that declare no controller"},
    /* an owner that is no controller is none */
    {0,
     "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'x','uid':'u'}"
     "]}}",
     DRAIN_POD_REFUSED, BARE_FATAL},
    /* a controller of any kind will do, whether it exists or not */
    {0, "{'metadata':{" DW_OWNER("example.com/v1", "Thing", "x") "}}", DRAIN_POD_SENT, NULL},
    /* where kubectl is wrong: a DaemonSet of another group is one */
    {0, "{'metadata':{" DW_OWNER("apps.kruise.io/v1alpha1", "DaemonSet", "k") "}}",
     DRAIN_POD_REFUSED, DAEMON_FATAL},
    {IGNORE, "{'metadata':{" DW_OWNER("apps.kruise.io/v1alpha1", "DaemonSet", "k") "}}",
     DRAIN_POD_STAYS, "ignoring DaemonSet-managed Pods"},
};

static void every_row_of_the_filters(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        if (!(rows[i].flags & ORPHAN))
            dw_put(&w, &kind_daemon_set, "{'metadata':{'namespace':'default','name':'agent'}}");
        w.opts.ignore_daemonsets = rows[i].flags & IGNORE;
        w.opts.delete_emptydir = rows[i].flags & EMPTYDIR;
        w.opts.force = rows[i].flags & FORCE;
        dw_pod(&w, "p", "w0", "%s", rows[i].pod);
        dw_start(&w, "w0", NULL);
        const struct drain_pod *p = dw_pod_view(&w, "p");
        if (p->state != rows[i].state || !str_same(p->why, rows[i].why))
            fail_msg("row %zu: state %d, %s", i, (int)p->state, strna(p->why));
        if (rows[i].state == DRAIN_POD_REFUSED) {
            _cleanup_free_ char *error = xasprintf("cannot delete %s: default/p", rows[i].why);
            assert_phase(&w, 0, DRAIN_REFUSED);
            assert_string_equal(dw_view(&w, 0)->error, error);
        } else if (rows[i].why) {
            _cleanup_free_ char *warning = xasprintf("warning w0: %s: default/p\n", rows[i].why);
            assert_int_equal(dw_told(&w, warning), 1);
        } else {
            assert_int_equal(dw_told(&w, "warning"), 0);
        }
        assert_int_equal(dw_asked(&w, "evict"), rows[i].state == DRAIN_POD_SENT);
        dw_done(&w);
    }
}

static void a_daemonset_that_may_not_be_read_is_an_error(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "p", "w0", "{" DAEMON "}");
    w->opts.force = true;
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_answer(w, dw_open(w, ACTION_READ, "agent"),
              &(struct answer){.outcome = KUBE_FORBIDDEN,
                               .message = "daemonsets.apps \"agent\" is forbidden",
                               .retry_after = -1});
    dw_settle(w);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_string_equal(dw_view(w, 0)->error,
                        "cannot delete daemonsets.apps \"agent\" is forbidden: default/p");
    assert_true(dw_view(w, 0)->access);
}

/* A pod that must not be touched is refused with every permission there is. */
static void a_refusal_is_no_want_of_permission(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "p", "w0", "{" DAEMON "}");
    dw_pod(w, "q", "w0", DW_BARE);
    w->by_hand_reads = true;
    dw_start(w, "w0", NULL);
    dw_answer(w, dw_open(w, ACTION_READ, "agent"),
              &(struct answer){.outcome = KUBE_FORBIDDEN,
                               .message = "daemonsets.apps \"agent\" is forbidden",
                               .retry_after = -1});
    dw_settle(w);
    assert_phase(w, 0, DRAIN_REFUSED);
    assert_false(dw_view(w, 0)->access);
}

static void pods_that_are_long_overdue_are_skipped_silently(void **state) {
    (void)state;
    static const struct {
        int64_t skip;
        const char *deleted;
        bool skipped;
    } cases[] = {
        {10, "2026-11-15T07:59:49Z", true},  {10, "2026-11-15T07:59:50Z", false},
        {10, "2026-11-15T08:00:30Z", false}, {0, "2026-11-15T07:00:00Z", false},
        {1, "2020-01-01T00:00:00Z", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        w.opts.skip_wait = cases[i].skip;
        w.opts.force = true; /* a bare one, which is skipped before all else */
        dw_pod(&w, "p", "w0", "{'metadata':{'deletionTimestamp':'%s','ownerReferences':null}}",
               cases[i].deleted);
        dw_start(&w, "w0", NULL);
        assert_int_equal(dw_pod_view(&w, "p")->state == DRAIN_POD_STAYS, cases[i].skipped);
        assert_int_equal(dw_told(&w, "warning"), !cases[i].skipped);
        assert_int_equal(dw_view(&w, 0)->phase == DRAIN_DONE, cases[i].skipped);
        dw_done(&w);
    }
}

static void only_the_pods_that_are_selected(void **state) {
    struct drain_world *w = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_selector_ struct selector only = {0};
    if (selector_parse("app in (web),tier!=cache", &only, &err))
        fail_msg("%s", err_msg(&err));
    w->opts.pod_selector = only.list;
    dw_node(w, "w0");
    dw_pod(w, "a", "w0", "{}");
    dw_pod(w, "b", "w0", "{'metadata':{'labels':{'tier':'cache'}}}");
    dw_pod(w, "c", "w0", "{'metadata':{'labels':{'app':'db'},'ownerReferences':null}}");
    dw_start(w, "w0", NULL);
    assert_wanted(w, "patch nodes w0\nevict default/a\n");
    assert_int_equal(dw_view(w, 0)->n_pods, 1);
    dw_accept(w, ACTION_EVICT, "a");
    dw_remove(w, &kind_pod, "default", "a");
    dw_settle(w);
    assert_phase(w, 0, DRAIN_DONE);
    dw_kill(w);
}

/* --- who gets onto a cordoned node --- */

static void which_tolerations_tolerate_the_cordon(void **state) {
    (void)state;
    static const struct {
        const char *tolerations;
        bool tolerates;
    } cases[] = {
        {"[]", false},
        {"[{'operator':'Exists'}]", true},
        {"[{'operator':'Exists','effect':'NoSchedule'}]", true},
        /* not allowed by the server, and understood by the scheduler */
        {"[{'operator':'Equal'}]", true},
        {"[{'operator':'Equal','value':'x'}]", false},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Lt','value':'5'}]", false},
        {"[{'operator':'Exists','effect':'NoExecute'}]", false},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]", true},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Exists','effect':'NoSchedule'}]",
         true},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Exists','effect':'NoExecute'}]",
         false},
        /* Equal is what is meant when nothing is said; the taint's value is empty */
        {"[{'key':'node.kubernetes.io/unschedulable'}]", true},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Equal','value':''}]", true},
        {"[{'key':'node.kubernetes.io/unschedulable','operator':'Equal','value':'true'}]", false},
        {"[{'key':'node.kubernetes.io/not-ready','operator':'Exists'}]", false},
        {"[{'key':'x','operator':'Exists'},{'operator':'Exists'}]", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct drain_world w;
        dw_init(&w);
        dw_node(&w, "w0");
        dw_pod(&w, "first", "w0", "{}");
        dw_start(&w, "w0", NULL);
        dw_pass(&w, SEC(10));
        dw_pod(&w, "late", "w0", "{'spec':{'tolerations':%s}}", cases[i].tolerations);
        dw_settle(&w);
        if (dw_told(&w, "it tolerates node.kubernetes.io/unschedulable") != cases[i].tolerates)
            fail_msg("%s", cases[i].tolerations);
        dw_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_filters),
        DRAIN_TEST(a_daemonset_that_may_not_be_read_is_an_error),
        DRAIN_TEST(a_refusal_is_no_want_of_permission),
        cmocka_unit_test(pods_that_are_long_overdue_are_skipped_silently),
        DRAIN_TEST(only_the_pods_that_are_selected),
        cmocka_unit_test(which_tolerations_tolerate_the_cordon),
    };
    return cmocka_run_group_tests_name("engine/filter", tests, NULL, NULL);
}
