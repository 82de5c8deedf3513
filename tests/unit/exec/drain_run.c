/* Drains of simulated clusters through the client, the executor and the engine. */
#include "exec/drain_run.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define NODE "/api/v1/nodes/"

static const char *member(struct drain_site *s, const char *target, const char *path) {
    return strna(sim_str(sim_ask(&s->sim, 200, "GET", target, NULL), path));
}

static void a_node_is_emptied(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 3);
    site_deployment(&s, "web", 6);
    drain_site_pass(&s, SEC(60));
    unsigned before = site_pods_on(&s, "w0");
    assert_true(before > 0);
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(600)));
    assert_string_equal(str_get(&s.failure), "");
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    assert_int_equal(site_told_count(&s, "evicting "), before);
    assert_int_equal(site_told_count(&s, "gone "), before);
    assert_true(site_told(&s, "cordoned w0"));
    assert_true(site_told(&s, "drained w0"));
    json_t *node = sim_ask(&s.sim, 200, "GET", NODE "w0", NULL);
    assert_true(json_is_true(sim_at(node, "spec.unschedulable")));
    assert_non_null(strstr(strna(json_string_value(json_object_get(
                               sim_at(node, "metadata.annotations"), "slipway.dev/cordon"))),
                           "cli/test"));
    drain_site_done(&s);
}

static void a_budget_is_waited_for(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_budget(&s, "web", "'maxUnavailable':1");
    drain_site_pass(&s, SEC(60));
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(600)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    assert_int_equal(site_pods_on(&s, "w1"), 4);
    drain_site_done(&s);
}

static void a_budget_that_never_allows_ends_with_the_timeout(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 2);
    site_budget(&s, "web", "'maxUnavailable':0");
    drain_site_pass(&s, SEC(60));
    unsigned before = site_pods_on(&s, "w0");
    struct drain_opts o = drain_site_opts();
    o.timeout = SEC(300);
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(310)));
    const struct drain_node *n = site_node(&s, "w0");
    assert_int_equal(n->phase, DRAIN_TIMED_OUT);
    assert_int_equal(site_pods_on(&s, "w0"), before);
    assert_int_equal(n->blocked_pods, before);
    assert_int_equal(n->pods[0]->blocker.code, BLOCKER_PDB_UNSATISFIABLE);
    assert_string_equal(n->pods[0]->blocker.object, "default/web");
    assert_int_equal(site_told_count(&s, "blocked PDB"), 1);
    drain_site_done(&s);
}

static void a_bare_pod_is_refused_and_nothing_is_touched(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_pod(&s, "alone", "w0", NULL);
    drain_site_pass(&s, SEC(60));
    unsigned before = site_pods_on(&s, "w0");
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(60)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_REFUSED);
    assert_string_equal(site_node(&s, "w0")->error,
                        "cannot delete Pods that declare no controller (use --force to override): "
                        "default/alone");
    assert_int_equal(site_pods_on(&s, "w0"), before);
    assert_int_equal(site_told_count(&s, "evicting "), 0);
    drain_site_kill(&s);
    o.force = true;
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(120)));
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    assert_true(site_told(&s, "already cordoned w0"));
    drain_site_done(&s);
}

static void somebody_elses_uncordon_stops_it(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_budget(&s, "web", "'maxUnavailable':0");
    drain_site_pass(&s, SEC(60));
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(30)));
    site_patch(&s, NODE "w0", "{'spec':{'unschedulable':null}}");
    assert_true(drain_site_run(&s, SEC(5)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_FAILED);
    assert_non_null(strstr(site_node(&s, "w0")->error, "somebody uncordoned"));
    drain_site_done(&s);
}

/* Nobody asked for it by name: an autoscaler took it away in the meantime. */
static void one_that_was_selected_and_is_gone_is_left_out(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    struct drain_opts o = drain_site_opts();
    s.selected = true;
    drain_site_start(&s, &o, "w9", "w0", "w8", "w1", NULL);
    assert_true(drain_site_run(&s, SEC(60)));
    assert_string_equal(str_get(&s.failure), "");
    assert_non_null(strstr(str_get(&s.remarks), "nodes \"w9\" not found\n"));
    assert_non_null(strstr(str_get(&s.remarks), "nodes \"w8\" not found\n"));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_node(&s, "w1")->phase, DRAIN_DONE);
    drain_site_done(&s);
}

static void a_node_that_does_not_exist_ends_before_it_begins(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 1);
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", "w9", NULL);
    assert_true(drain_site_run(&s, SEC(60)));
    assert_string_equal(str_get(&s.failure), ": nodes \"w9\" not found");
    assert_string_equal(member(&s, NODE "w0", "spec.unschedulable"), "");
    drain_site_done(&s);
}

static void killed_and_started_again_it_goes_on(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 3);
    site_deployment(&s, "web", 9);
    site_budget(&s, "web", "'maxUnavailable':1");
    drain_site_pass(&s, SEC(60));
    struct drain_opts o = drain_site_opts();
    for (int i = 0; i < 20; i++) {
        drain_site_start(&s, &o, "w0", NULL);
        if (drain_site_run(&s, MSEC(700)))
            break;
        drain_site_kill(&s);
    }
    if (!s.run)
        drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(600)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    drain_site_done(&s);
}

static void stopped_it_says_what_is_left(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_budget(&s, "web", "'maxUnavailable':0");
    drain_site_pass(&s, SEC(60));
    struct drain_opts o = drain_site_opts();
    o.uncordon_on_abort = true;
    drain_site_start(&s, &o, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(10)));
    drain_run_stop(s.run, "interrupted");
    assert_true(drain_site_run(&s, SEC(10)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_STOPPED);
    assert_true(site_told(&s, "uncordoned w0"));
    json_t *node = sim_ask(&s.sim, 200, "GET", NODE "w0", NULL);
    assert_null(sim_at(node, "spec.unschedulable"));
    drain_site_done(&s);
}

static void several_nodes_go_together(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 6);
    site_deployment(&s, "web", 12);
    site_budget(&s, "web", "'maxUnavailable':2");
    drain_site_pass(&s, SEC(60));
    struct drain_opts o = drain_site_opts();
    o.max_unavailable = (struct limit){50, true};
    drain_site_start(&s, &o, "w0", "w1", "w2", "w3", NULL);
    assert_true(drain_site_run(&s, SEC(900)));
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        assert_int_equal(site_node(&s, name)->phase, DRAIN_DONE);
        assert_int_equal(site_pods_on(&s, name), 0);
    }
    drain_site_done(&s);
}

static void a_dry_run_changes_nothing(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    drain_site_pass(&s, SEC(60));
    unsigned before = site_pods_on(&s, "w0");
    struct drain_opts o = drain_site_opts();
    for (int dry = DRY_RUN_CLIENT; dry <= DRY_RUN_SERVER; dry++) {
        o.dry_run = (enum dry_run)dry;
        drain_site_start(&s, &o, "w0", NULL);
        assert_true(drain_site_run(&s, SEC(60)));
        assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
        drain_site_kill(&s);
    }
    assert_int_equal(site_told_count(&s, "evicting "), 2 * before);
    assert_int_equal(site_pods_on(&s, "w0"), before);
    json_t *node = sim_ask(&s.sim, 200, "GET", NODE "w0", NULL);
    assert_null(sim_at(node, "spec.unschedulable"));
    drain_site_done(&s);
}

static void a_pinned_statefulset_is_named(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_post(
        &s, "/apis/apps/v1/namespaces/default/statefulsets",
        "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'db'},'spec':{"
        "'replicas':1,'serviceName':'db','selector':{'matchLabels':{'app':'db'}},'template':{"
        "'metadata':{'labels':{'app':'db'}},'spec':{'nodeName':'w0','containers':[{'name':'c',"
        "'image':'i'}]}}}}");
    drain_site_pass(&s, SEC(60));
    assert_int_equal(site_pods_on(&s, "w0"), 1);
    struct drain_opts o = drain_site_opts();
    o.timeout = SEC(300);
    drain_site_start(&s, &o, "w0", NULL);
    assert_true(drain_site_run(&s, SEC(320)));
    const struct drain_node *n = site_node(&s, "w0");
    assert_int_equal(n->phase, DRAIN_TIMED_OUT);
    assert_non_null(strstr(str_get(&s.told), "PinnedToNode default/db-0"));
    assert_non_null(strstr(str_get(&s.told), "the StatefulSet must be deleted"));
    drain_site_done(&s);
}

/* Every request is lost once, after it was carried out: the drain ends as if nothing had been. */
static void lost_answers_change_nothing(void **state) {
    (void)state;
    for (unsigned nth = 1; nth <= 25; nth++) {
        struct drain_site s;
        drain_site_init(&s, 3);
        site_deployment(&s, "web", 6);
        site_budget(&s, "web", "'maxUnavailable':1");
        drain_site_pass(&s, SEC(60));
        kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_LOSE,
                                                          .lanes = 1 << KUBE_LANE_CALL,
                                                          .nth = nth});
        struct drain_opts o = drain_site_opts();
        drain_site_start(&s, &o, "w0", NULL);
        assert_true(drain_site_run(&s, SEC(600)));
        assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
        assert_int_equal(site_pods_on(&s, "w0"), 0);
        assert_int_equal(site_told_count(&s, "cordoned w0"), 1);
        drain_site_done(&s);
    }
}

static void what_keeps_a_budget_closed_is_named(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_budget(&s, "web", "'maxUnavailable':1");
    drain_site_pass(&s, SEC(60));
    /* No other node takes the replacement. */
    site_patch(&s, NODE "w1", "{'spec':{'unschedulable':true}}");
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(60)));
    const struct drain_node *n = site_node(&s, "w0");
    const struct drain_pod *waiting = NULL;
    for (size_t i = 0; i < n->n_pods; i++)
        if (n->pods[i]->state == DRAIN_POD_BLOCKED)
            waiting = n->pods[i];
    assert_non_null(waiting);
    assert_int_equal(waiting->blocker.code, BLOCKER_PDB_NO_BUDGET);
    assert_non_null(
        strstr(waiting->blocker.message, "needs 3 healthy of 4, has 3, allows 0; web-"));
    assert_non_null(strstr(waiting->blocker.message, "is Pending: 0/2 nodes are available"));
    drain_site_done(&s);
}

/* Who may do no more than kubectl drain needs: nodes by name, pods by lists. */
static void kubectls_permissions_are_enough(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 3);
    site_deployment(&s, "web", 6);
    site_budget(&s, "web", "'maxUnavailable':1");
    drain_site_pass(&s, SEC(60));
    static const char *const forbidden[] = {"/api/v1/nodes?", "watch=1", "/poddisruptionbudgets",
                                            "/volumeattachments", "/apis/apps/v1/namespaces"};
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++)
        kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                          .code = 403,
                                                          .method = "GET",
                                                          .path = forbidden[i]});
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    /* Its own cordon is read at once, although nodes are read every three seconds. */
    drain_site_pass(&s, MSEC(1500));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_EVICTING);
    assert_true(drain_site_run(&s, SEC(900)));
    assert_string_equal(str_get(&s.failure), "");
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    assert_non_null(strstr(str_get(&s.remarks), "may not watch"));
    assert_non_null(strstr(str_get(&s.remarks), "evictions are tried blindly"));
    drain_site_done(&s);
}

/* The watch of the pods is late: the node was empty when it was listed, and got a pod before the
 * cordon. */
static void a_pod_that_the_watch_is_late_with_is_not_left_behind(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                      .code = 403,
                                                      .path = "/api/v1/pods?watch=1"});
    /* between the first list of the pods and the cordon */
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                      .method = "PATCH",
                                                      .path = "/api/v1/nodes/w0?",
                                                      .delay = SEC(1)});
    struct drain_opts o = drain_site_opts();
    o.force = true;
    drain_site_start(&s, &o, "w0", NULL);
    drain_site_pass(&s, MSEC(200));
    site_pod(&s, "late", "w0", NULL);
    assert_true(drain_site_run(&s, SEC(120)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    assert_int_equal(site_pods_on(&s, "w0"), 0);
    assert_true(site_told(&s, "gone default/late"));
    drain_site_done(&s);
}

/* The other pods of a budget are read only to explain: that they cannot be read stops nothing. */
static void what_only_explains_stops_nothing(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    site_deployment(&s, "web", 4);
    site_budget(&s, "web", "'maxUnavailable':1");
    drain_site_pass(&s, SEC(60));
    site_patch(&s, NODE "w1", "{'spec':{'unschedulable':true}}");
    kube_fault_add(s.fault,
                   &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE, .path = "labelSelector="});
    struct drain_opts o = drain_site_opts();
    drain_site_start(&s, &o, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(120)));
    assert_string_equal(str_get(&s.failure), "");
    site_patch(&s, NODE "w1", "{'spec':{'unschedulable':null}}");
    assert_true(drain_site_run(&s, SEC(600)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    drain_site_done(&s);
}

/* --- storage and quorums --- */

static void define_machines(struct drain_site *s) {
    site_post(s, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
              "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
              "'metadata':{'name':'virtualmachineinstances.kubevirt.io'},'spec':{'group':"
              "'kubevirt.io','scope':'Namespaced','names':{'plural':'virtualmachineinstances',"
              "'kind':'VirtualMachineInstance'},'versions':[{'name':'v1','served':true,'storage':"
              "true,'schema':{'openAPIV3Schema':{'type':'object',"
              "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
    drain_site_pass(s, SEC(2)); /* until it is served */
}

#define MACHINES "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"

/* One that w0 must not be taken from. */
static void add_machine(struct drain_site *s) {
    site_post(s, MACHINES,
              "{'apiVersion':'kubevirt.io/v1','kind':'VirtualMachineInstance','metadata':{'name':"
              "'vm'},'spec':{'evictionStrategy':'LiveMigrate'},'status':{'nodeName':'w0','phase':"
              "'Running','conditions':[{'type':'LiveMigratable','status':'False','message':'no'}]"
              "}}");
}

static void a_check_that_denies_is_obeyed(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    s.checks = true;
    define_machines(&s);
    add_machine(&s);
    struct drain_opts opts = drain_site_opts();
    drain_site_start(&s, &opts, "w0", "w1", NULL);
    assert_true(drain_site_run(&s, SEC(600)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_REFUSED);
    assert_true(site_node(&s, "w0")->denied);
    assert_int_equal(site_node(&s, "w1")->phase, DRAIN_DONE);
    drain_site_done(&s);
}

/* What cannot be read is waited for, and seen when it can be. */
static void a_kind_that_can_be_read_again_lets_it_go_on(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    s.checks = true;
    define_machines(&s);
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                      .path = "/apis/kubevirt.io/v1",
                                                      .code = 403});
    struct drain_opts opts = drain_site_opts();
    drain_site_start(&s, &opts, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(60)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_WAITING);
    assert_int_equal(site_node(&s, "w0")->blocker.code, BLOCKER_CHECK_UNKNOWN);
    kube_fault_clear(s.fault);
    assert_true(drain_site_run(&s, SEC(120)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_DONE);
    drain_site_done(&s);
}

/* Budgets are lost, and done without, while the checks are still being read: it does not begin
 * without them. */
static void it_does_not_begin_before_the_checks_are_read(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    s.checks = true;
    define_machines(&s);
    add_machine(&s);
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_TRUNCATE,
                                                      .path = "/poddisruptionbudgets?watch",
                                                      .bytes = 4000,
                                                      .count = 1});
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                      .path = "/poddisruptionbudgets",
                                                      .code = 403});
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                      .path = "/virtualmachineinstances"});
    struct drain_opts opts = drain_site_opts();
    drain_site_start(&s, &opts, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(5)));
    for (int i = 0; i < 30; i++) { /* more than 4,000 bytes */
        _cleanup_free_ char *name = xasprintf("budget-%d", i);
        site_budget(&s, name, "'maxUnavailable':1");
    }
    assert_false(drain_site_run(&s, SEC(20)));
    assert_non_null(strstr(str_get(&s.remarks), "cannot list poddisruptionbudgets"));
    assert_string_equal(str_get(&s.told), "");
    kube_fault_clear(s.fault);
    assert_true(drain_site_run(&s, SEC(600)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_REFUSED);
    assert_false(site_told(&s, "cordoned w0"));
    drain_site_done(&s);
}

/* Ctrl-C is not to wait for a server that does not answer. */
static void an_interruption_does_not_wait_for_the_checks(void **state) {
    (void)state;
    struct drain_site s;
    drain_site_init(&s, 2);
    s.checks = true;
    define_machines(&s);
    kube_fault_add(s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                      .path = "/virtualmachineinstances"});
    struct drain_opts opts = drain_site_opts();
    drain_site_start(&s, &opts, "w0", NULL);
    assert_false(drain_site_run(&s, SEC(5)));
    drain_run_stop(s.run, "interrupted");
    assert_true(drain_site_run(&s, SEC(2)));
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_STOPPED);
    assert_string_equal(site_node(&s, "w0")->error, "interrupted: not begun");
    drain_site_pass(&s, SEC(60)); /* the checks are late, and nobody wants them */
    assert_int_equal(site_node(&s, "w0")->phase, DRAIN_STOPPED);
    drain_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_emptied),
        cmocka_unit_test(a_budget_is_waited_for),
        cmocka_unit_test(a_budget_that_never_allows_ends_with_the_timeout),
        cmocka_unit_test(a_bare_pod_is_refused_and_nothing_is_touched),
        cmocka_unit_test(somebody_elses_uncordon_stops_it),
        cmocka_unit_test(one_that_was_selected_and_is_gone_is_left_out),
        cmocka_unit_test(a_node_that_does_not_exist_ends_before_it_begins),
        cmocka_unit_test(killed_and_started_again_it_goes_on),
        cmocka_unit_test(stopped_it_says_what_is_left),
        cmocka_unit_test(several_nodes_go_together),
        cmocka_unit_test(a_dry_run_changes_nothing),
        cmocka_unit_test(a_pinned_statefulset_is_named),
        cmocka_unit_test(lost_answers_change_nothing),
        cmocka_unit_test(what_keeps_a_budget_closed_is_named),
        cmocka_unit_test(kubectls_permissions_are_enough),
        cmocka_unit_test(a_pod_that_the_watch_is_late_with_is_not_left_behind),
        cmocka_unit_test(what_only_explains_stops_nothing),
        cmocka_unit_test(a_check_that_denies_is_obeyed),
        cmocka_unit_test(a_kind_that_can_be_read_again_lets_it_go_on),
        cmocka_unit_test(it_does_not_begin_before_the_checks_are_read),
        cmocka_unit_test(an_interruption_does_not_wait_for_the_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
