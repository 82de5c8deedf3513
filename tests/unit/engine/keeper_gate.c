/* Tests of src/engine/keeper_gate.c: slots, grants and returns wait for what the checks say, and
 * for somebody's approval. The verdicts are the checks' own tests' (check_*.c); here machines stand
 * for what is denied and for what a drain ends, and the members of an etcd for what only one node
 * at a time may be lost of. */
#include "engine/keeper.h"

#include "engine/approval.h"
#include "engine/gate.h"
#include "engine/stop.h"
#include "support/keeper_world.h"

static struct check_world world;
static struct store *machines;
static struct pool *pool;

static const struct check_world *checks_of(void *arg) {
    const struct kw_replica *r = arg;
    world.nodes = r->c.nodes;
    world.inputs[SOURCE_ETCD_PODS].store = r->c.pods;
    return &world;
}

static int setup(void **state) {
    kw_setup(state);
    struct kw *w = *state;
    pool = pool_new(type_drop);
    machines = store_new(&kind_vmi, pool);
    world = (struct check_world){0};
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = machines};
    world.inputs[SOURCE_ETCD_PODS] = (struct check_input){.read = READ_DONE};
    w->opts.checks = checks_of;
    return 0;
}

static int teardown(void **state) {
    kw_teardown(state);
    store_free(machines);
    pool_free(pool);
    return 0;
}

#define GATE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* A virtual machine; one that cannot be migrated keeps its node. `node` "": it is gone. */
static void machine(struct kw *w, const char *name, const char *node, bool can) {
    char version[24];
    snprintf(version, sizeof version, "%llu", (unsigned long long)++w->version);
    if (*node) {
        json_t *doc = json_pack(
            "{s:{s:s,s:s,s:s},s:{s:s},s:{s:s,s:s,s:[{s:s,s:s,s:s}]}}", "metadata", "namespace", "x",
            "name", name, "resourceVersion", version, "spec", "evictionStrategy", "LiveMigrate",
            "status", "nodeName", node, "phase", "Running", "conditions", "type", "LiveMigratable",
            "status", can ? "True" : "False", "message", "its disk is not shared");
        store_put(machines, kw_decode(pool, &kind_vmi, doc));
        json_decref(doc);
    } else {
        store_remove(machines, "x", name, version);
    }
    if (w->r[0].k)
        keeper_checks_changed(w->r[0].k);
}

/* A node with a member of the control plane's etcd. */
static void member(struct kw *w, const char *node, bool ready) {
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'kube-system','name':'etcd-%s','uid':'uid-etcd-%s','labels':{"
           "'component':'etcd'},'annotations':{'kubernetes.io/config.mirror':'x'}},"
           "'spec':{'nodeName':'%s'},'status':{'phase':'Running','conditions':[{'type':'Ready',"
           "'status':'%s'}]}}",
           node, node, node, ready ? "True" : "False");
    if (w->r[0].k) {
        kw_settle(w);
        keeper_checks_changed(w->r[0].k);
    }
}

static void members(struct kw *w) {
    kw_nodes(w, "w1", "w2", "w3", NULL);
    member(w, "w1", true);
    member(w, "w2", true);
    member(w, "w3", true);
}

static void upkeep(struct kw *w, const char *name, const char *node, const char *operation) {
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':1},'spec':{'node':'%s',"
           "'operation':'%s','policy':'default'%s}}",
           name, name, node, operation,
           streq(operation, "Drain") ? "" : ",'executor':{'exec':{'command':['true']}}");
}

static const char *status(struct kw *w, const char *name, const char *path) {
    return dw_str(kw_doc(w, &kind_maintenance, NULL, name), path);
}

static void approve_maintenance(struct kw *w, const char *name) {
    kw_edit(w, &kind_maintenance, NULL, name,
            "{'metadata':{'annotations':{'" APPROVAL_ANNOTATION
            "':'{\\\"v\\\":1,\\\"by\\\":\\\"alice\\\"}'}}}");
}

static void what_is_denied_gets_no_slot(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    machine(w, "vm", "w1", false);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(2));
    assert_slots(w, "; w1");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_int_equal(
        dw_count(&w->told, "warning GateShut w1: waits: NotMigratable x/vm: kubevirt:"), 1);
    /* Every replica says why, and it is not for want of slots. */
    for (unsigned i = 0; i < 2; i++) {
        const struct kw_reply *r = kw_answer(w, i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_BLOCKED);
        assert_true(str_starts(r->text, "NotMigratable x/vm: kubevirt: "));
    }
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_GO); /* others go past it */
    /* Then it waits for both, and hears of the one that needs somebody already now. */
    kw_pass(w, SEC(2));
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_true(str_starts(r->text, "other nodes rebooting: w2; and NotMigratable x/vm: "));
}

/* As the metrics have it. */
static void why_one_gets_no_slot(void **state) {
    struct kw *w = *state;
    const struct slot_wish w1 = {.node = "w1", .by = SLOTS_BY_CLIENT}, gone = {.node = "w9"};
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    struct keeper *k = w->r[0].k;
    assert_int_equal(keeper_wish_blocker(k, &w1), BLOCKER_CODES);
    assert_int_equal(keeper_wish_blocker(k, &gone), BLOCKER_CODES);
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_GO);
    assert_int_equal(keeper_wish_blocker(k, &w1), BLOCKER_MAX_UNAVAILABLE);
    kw_put(w, &kind_config_map,
           "{'metadata':{'namespace':'" KW_NS "','name':'" STOP_MAP "','labels':{'" SLOTS_LABEL
           "':''}},'data':{}}");
    kw_pass(w, SEC(2));
    assert_int_equal(keeper_wish_blocker(k, &w1), BLOCKER_MANUAL_HOLD);
}

static void it_goes_when_the_gate_opens(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    machine(w, "vm", "w1", false);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    machine(w, "vm", "", false);
    kw_pass(w, SEC(3));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted");
}

static void what_is_not_known_is_waited_for(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    world.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_FAILED, .why = "forbidden"};
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(1));
    r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "CheckUnknown"));
    assert_non_null(strstr(r->text, "forbidden"));
    assert_slots(w, "; w1");
}

/* Whoever begins to lead has read nothing: nobody goes, and no alarm is raised. */
static void what_was_not_looked_at_yet_is_waited_for_in_silence(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    world.unread = true;
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    upkeep(w, "m2", "w2", "Drain");
    kw_pass(w, SEC(3));
    assert_slots(w, "; w1");
    assert_int_equal(dw_count(&w->told, "GateShut"), 0);
    assert_string_equal(status(w, "m2", "status.phase"), "Pending");
    world.unread = false;
    keeper_checks_changed(w->r[0].k);
    kw_pass(w, SEC(3));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

static void a_check_that_is_skipped_is_not_asked(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    machine(w, "vm", "w1", false);
    w->opts.drain.skip_checks = 1u << (check_find("kubevirt") - checks_table);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* Two slots, and a quorum that bears the loss of one: whoever takes one shuts the others out. */
static void a_slot_that_is_taken_shuts_the_gate_of_others(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    members(w);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_ask(w, 0, "w2", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted; w2");
    const struct kw_reply *r = kw_answer(w, 1, "w2", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_true(str_starts(r->text, "QuorumAtRisk"));
    /* Back: the next one goes only when the member is well. */
    member(w, "w1", false);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 returned; w2");
    assert_false(kw_is_cordoned(w, "w1"));
    member(w, "w1", true);
    kw_pass(w, SEC(60));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_GO);
}

/* What a drain ends is waited for before the grant. */
static void nothing_is_granted_before_the_checks_let_it(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    machine(w, "vm", "w1", true);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 taken");
    assert_int_equal(kw_pods_on(w, "w1"), 0);
    machine(w, "vm", "", true);
    kw_pass(w, SEC(15));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* It is drained and has not asked again yet: what is found meanwhile keeps it, whoever it asks. */
static void a_gate_that_shuts_after_the_drain_keeps_the_grant(void **state) {
    struct kw *w = *state;
    members(w);
    w->lazy_pods = true;
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_DRAINING);
    kw_delete(w, &kind_pod, "default", "p1");
    kw_pass(w, SEC(2));
    assert_slots(w, "w1 drained");
    member(w, "w2", false);
    kw_pass(w, SEC(3));
    for (unsigned i = 0; i < 2; i++) {
        const struct kw_reply *r = kw_answer(w, i, "w1", KEEPER_MAY_GO);
        assert_int_equal(r->say, KEEPER_BLOCKED);
        assert_true(str_starts(r->text, "QuorumAtRisk"));
    }
    assert_slots(w, "w1 drained");
    member(w, "w2", true);
    kw_pass(w, SEC(3));
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

static void a_maintenance_says_which_gate_is_shut(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    machine(w, "vm", "w1", false);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "m1", "status.phase"), "Pending");
    assert_string_equal(status(w, "m1", "status.blocker.code"), "NotMigratable");
    assert_string_equal(status(w, "m1", "status.blocker.object"), "x/vm");
    assert_slots(w, "");
    machine(w, "vm", "", false);
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "m1", "status.phase"), "Operating");
}

/* With an only member of etcd: it can be drained, and not rebooted. */
/* Whoever leads next asks before it says anything of one that it has just found. */
static void another_leader_finds_the_gate_shut(void **state) {
    struct kw *w = *state;
    machine(w, "vm", "w1", false);
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    kw_pass(w, SEC(5));
    assert_string_equal(status(w, "m1", "status.phase"), "Pending");
    str_reset(&w->told);
    kw_kill(w, 0);
    keeper_lead(w->r[1].k, 2);
    kw_pass(w, SEC(60));
    assert_null(strstr(str_get(&w->told), "Queued"));
    assert_string_equal(status(w, "m1", "status.phase"), "Pending");
}

static void what_only_the_operation_breaks_can_be_drained(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    member(w, "w1", true);
    kw_start(w);
    upkeep(w, "reboot", "w1", "Reboot");
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "reboot", "status.phase"), "Pending");
    assert_string_equal(status(w, "reboot", "status.blocker.code"), "QuorumAtRisk");
    assert_false(kw_is_cordoned(w, "w1"));
    kw_ask_delete(w, &kind_maintenance, "reboot");
    upkeep(w, "drain", "w1", "Drain");
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "drain", "status.phase"), "Granted");
}

static void a_maintenance_waits_for_its_approval(void **state) {
    struct kw *w = *state;
    w->opts.approval = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Drain");
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "m1", "status.phase"), "Pending");
    assert_string_equal(status(w, "m1", "status.blocker.code"), "ApprovalNeeded");
    approve_maintenance(w, "m1");
    kw_pass(w, SEC(30));
    assert_string_equal(status(w, "m1", "status.phase"), "Granted");
    assert_int_equal(
        dw_count(&w->told, "Approved w1: is taken out of service with the approval of alice\n"), 1);
}

/* Of a client's node, and once: it is of the boot in which it was given. */
static void a_node_that_asks_waits_for_its_approval(void **state) {
    struct kw *w = *state;
    w->opts.approval = true;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(2));
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "ApprovalNeeded: "));
    assert_non_null(strstr(r->text, "'slipway approve node/w1'"));
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" APPROVAL_ANNOTATION
            "':'{\\\"v\\\":1,\\\"by\\\":\\\"alice\\\",\\\"boot\\\":\\\"boot-1\\\"}'}}}");
    kw_pass(w, SEC(3));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(2));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_BLOCKED);
    assert_slots(w, "; w1");
}

/* A newer release has written who holds it cordoned: it would keep a slot for nothing. */
static void a_node_that_cannot_be_cordoned_gets_no_slot(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" CORDON_ANNOTATION "':'{\\'v\\':99}'}}}");
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, CORDON_ANNOTATION " cannot be read"));
    assert_non_null(strstr(str_get(&w->told), "warning GateShut w1: waits: "));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_GO); /* others go past it */
}

/* It came while the node held its slot. */
static void what_cannot_be_cordoned_any_more_is_told(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    w->fault.verb = ACTION_PATCH;
    w->fault.kind = &kind_node;
    w->fault.outcome = KUBE_SERVER_ERROR;
    w->fault.times = 3;
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_settle(w);
    kw_edit(w, &kind_node, NULL, "w1",
            "{'metadata':{'annotations':{'" CORDON_ANNOTATION "':'{\\'v\\':99}'}}}");
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 taken");
    assert_int_equal(dw_count(&w->told, "warning DrainFailed w1: cannot be cordoned: "), 1);
}

/* --- what is told of their answers --- */

static struct str said;

static void on_said(void *arg, const struct keeper_said *s) {
    (void)arg;
    str_addf(&said, "%s %s %s %s", s->node, s->by, s->gate, gate_word(s->verdict));
    if (s->shut)
        str_addf(&said, " after %lld s", (long long)(s->shut / SEC(1)));
    str_add(&said, "\n");
}

static void add_said(void *arg, const struct keeper_said *s) {
    struct str *out = arg;
    assert_string_equal(s->policy, "default");
    str_addf(out, "%s%s/%s %s %s", out->len ? "; " : "", s->node, s->by, s->gate,
             gate_word(s->verdict));
}

/* Of all gates. */
static void assert_stands(struct kw *w, unsigned i, const char *expect) {
    _cleanup_str_ struct str out = STR_INIT;
    keeper_each_said(w->r[i].k, add_said, &out);
    assert_string_equal(str_get(&out), expect);
}

static void assert_said(const char *expect) {
    assert_string_equal(str_get(&said), expect);
    str_reset(&said);
}

static int said_teardown(void **state) {
    str_done(&said);
    return teardown(state);
}

#define AT_CORDON(who, checks)                                                                     \
    who " cordon pass; " who " executor pass; " who " checks " checks "; " who " approval pass"

/* Once, however often they are asked, and by the one alone that decides. */
static void answers_are_told_when_they_are_news(void **state) {
    struct kw *w = *state;
    w->opts.said = on_said;
    kw_nodes(w, "w1", NULL);
    machine(w, "vm", "w1", false);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(2));
    assert_said("w1 fleetlock cordon pass\nw1 fleetlock executor pass\nw1 fleetlock checks deny\n"
                "w1 fleetlock approval pass\n");
    assert_stands(w, 0, AT_CORDON("w1/fleetlock", "deny"));
    assert_stands(w, 1, "");
    for (unsigned i = 0; i < 10; i++) {
        kw_pass(w, SEC(60));
        kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    }
    assert_said("");
    machine(w, "vm", "", false);
    kw_pass(w, SEC(5));
    /* The next step is another question, and once it may go nobody asks any more. */
    assert_non_null(strstr(str_get(&said), "w1 fleetlock checks pass after 60"));
    assert_int_equal(dw_count(&said, "w1 fleetlock checks pass after"), 1);
    assert_int_equal(dw_count(&said, "w1 fleetlock checks pass\n"), 1);
    assert_int_equal(dw_count(&said, "\n"), 2);
    assert_slots(w, "w1 drained");
    assert_stands(w, 0, "w1/fleetlock checks pass");
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_pass(w, SEC(60));
    assert_stands(w, 0, "");
    str_reset(&said);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(60));
    assert_said("w1 fleetlock checks pass\n"); /* of its return */
    assert_slots(w, "");
    assert_stands(w, 0, "");
}

static void nobody_stands_at_a_gate_who_has_gone_away(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    machine(w, "vm", "w1", false);
    machine(w, "wm", "w2", false);
    kw_start(w);
    upkeep(w, "m1", "w1", "Reboot");
    kw_ask(w, 0, "w2", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_stands(w, 0,
                  AT_CORDON("w2/fleetlock", "deny") "; " AT_CORDON("w1/maintenance/m1", "deny"));
    kw_ask_delete(w, &kind_maintenance, "m1");
    kw_pass(w, SEC(5));
    assert_stands(w, 0, AT_CORDON("w2/fleetlock", "deny"));
    kw_pass(w, SEC(3600)); /* nor does it ask any more */
    assert_stands(w, 0, "");
    kw_ask(w, 0, "w2", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_stands(w, 0, AT_CORDON("w2/fleetlock", "deny"));
    keeper_follow(w->r[0].k);
    assert_stands(w, 0, "");
}

/* Two wait for the same node, and one of them holds its slot: each has its own answers, once. */
static void two_of_one_node(void **state) {
    struct kw *w = *state;
    w->opts.said = on_said;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    upkeep(w, "m1", "w1", "Drain");
    kw_pass(w, SEC(5));
    upkeep(w, "m2", "w1", "Drain");
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted");
    assert_string_equal(status(w, "m2", "status.phase"), "Queued");
    str_reset(&said);
    kw_pass(w, SEC(3600));
    assert_said("");
    assert_stands(w, 0, AT_CORDON("w1/maintenance/m2", "pass"));
}

#define SAID_TEST(f) cmocka_unit_test_setup_teardown(f, setup, said_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        GATE_TEST(what_is_denied_gets_no_slot),
        GATE_TEST(why_one_gets_no_slot),
        GATE_TEST(it_goes_when_the_gate_opens),
        GATE_TEST(what_is_not_known_is_waited_for),
        GATE_TEST(what_was_not_looked_at_yet_is_waited_for_in_silence),
        GATE_TEST(a_check_that_is_skipped_is_not_asked),
        GATE_TEST(a_slot_that_is_taken_shuts_the_gate_of_others),
        GATE_TEST(nothing_is_granted_before_the_checks_let_it),
        GATE_TEST(a_gate_that_shuts_after_the_drain_keeps_the_grant),
        GATE_TEST(a_maintenance_says_which_gate_is_shut),
        GATE_TEST(another_leader_finds_the_gate_shut),
        GATE_TEST(what_only_the_operation_breaks_can_be_drained),
        GATE_TEST(a_maintenance_waits_for_its_approval),
        GATE_TEST(a_node_that_asks_waits_for_its_approval),
        KEEPER_TEST(a_node_that_cannot_be_cordoned_gets_no_slot),
        KEEPER_TEST(what_cannot_be_cordoned_any_more_is_told),
        SAID_TEST(answers_are_told_when_they_are_news),
        SAID_TEST(nobody_stands_at_a_gate_who_has_gone_away),
        SAID_TEST(two_of_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
