/* Tests of src/engine/survey.c. */
#include "engine/survey.h"

#include <stdio.h>

#include "support/world.h"

#include "base/str.h"

#define NOW         (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */
#define OWNED(kind) "'ownerReferences':[{'kind':'" kind "','name':'o','uid':'u','controller':true}]"
#define READY                                                                                      \
    "'status':{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'2026-11-15T07:" \
    "00:00Z'}]}"

#define MARKED_OURS                                                                                \
    "{'metadata':{'name':'n','annotations':{'rebootmanager/status':'Rebooting',"                   \
    "'slipway.dev/cordon':'{\\\"v\\\":1,\\\"before\\\":false,\\\"holders\\\":[{\\\"id\\\":"        \
    "\\\"slot:default:1\\\",\\\"by\\\":\\\"x\\\"}]}'}},'spec':{'unschedulable':true},"
#define POD_READY "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}"

static void counts_pods_by_what_a_drain_does_with_them(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}," READY "}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a'," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b'," OWNED(
                  "DaemonSet") "},'spec':{'nodeName':'n1'}}");
    world_add(
        &w, &kind_pod,
        "{'metadata':{'namespace':'x','name':'c','deletionTimestamp':'2026-11-15T07:59:30Z'," OWNED(
            "ReplicaSet") "},'spec':{'nodeName':'n1'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'d'," OWNED(
                  "Job") "},'spec':{'nodeName':'n1'},'status':{'phase':'Succeeded'}}");
    world_add(&w, &kind_pod, "{'metadata':{'namespace':'x','name':'pending'," OWNED("Job") "}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.nodes[0].node->meta.name, "n1");
    assert_int_equal(s.nodes[0].ready, NODE_READY);
    assert_int_equal(s.nodes[0].ready_since, NOW - INT64_C(3600) * 1000000);
    assert_int_equal(s.nodes[0].pods, 4);
    assert_int_equal(s.nodes[0].moves, 2);
    assert_int_equal(s.nodes[0].stays, 1);
    assert_int_equal(s.nodes[0].leaving, 1);
    assert_int_equal(s.nodes[0].stuck, 0);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    assert_int_equal(s.nodes[1].pods, 0);
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW + INT64_C(60) * 1000000,
                &arena, &s);
    assert_int_equal(s.nodes[0].leaving, 1);
    assert_int_equal(s.nodes[0].stuck, 1); /* its time is long over */
    world_done(&w);
}

static void names_what_blocks_the_worst_first(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'False','"
              "reason':'KubeletNotReady'}]}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare'},'spec':{'nodeName':'n1','volumes':[{'"
              "name':'t','emptyDir':{}}]}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'w1','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'w2','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'one','labels':{'app':'one'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'two','labels':{'app':'w','tier':'t'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':'2026-11-15T07:55:"
              "00Z'," OWNED("ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    /* the same labels in another namespace are none of the budget's business */
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'y','name':'w1','labels':{'app':'w'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'w'},'spec':{'maxUnavailable':1,'selector':{'"
              "matchLabels':{'app':'w'}}},'status':{'currentHealthy':2,'desiredHealthy':2,'"
              "expectedPods':3}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'t'},'spec':{'maxUnavailable':1,'selector':{'"
              "matchLabels':{'tier':'t'}}},'status':{'disruptionsAllowed':1,'currentHealthy':2,'"
              "desiredHealthy':1,'expectedPods':2}}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'one'},'spec':{'minAvailable':1,'selector':{'"
              "matchLabels':{'app':'one'}}},'status':{'currentHealthy':1,'desiredHealthy':1,'"
              "expectedPods':1}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'z','name':'odd','labels':{'app':'odd'}," OWNED(
                  "Odd") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'z','name':'odd'},'spec':{'maxUnavailable':1,'selector':{"
              "'matchLabels':{'app':'odd'}}},'status':{'conditions':[{'type':'DisruptionAllowed',"
              "'status':'False','reason':'SyncFailed','message':'no scale'}]}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    static const struct {
        enum blocker_code code;
        const char *object;
        unsigned pods;
        const char *message;
    } want[] = {
        {BLOCKER_MULTIPLE_PDBS, "x/two", 1, "pod x/two is selected by 2 budgets: t, w"},
        {BLOCKER_PDB_UNSATISFIABLE, "x/one", 1,
         "budget x/one: minAvailable 1, needs 1 healthy of 1, has 1, allows 0"},
        {BLOCKER_PDB_SYNC_FAILED, "z/odd", 1,
         "budget z/odd: maxUnavailable 1, its controller cannot compute it: no scale"},
        {BLOCKER_PDB_NO_BUDGET, "x/w", 2,
         "budget x/w: maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0"},
        {BLOCKER_BARE_POD, "x/bare", 1, "pod x/bare has no controller"},
        {BLOCKER_LOCAL_STORAGE, "", 1, "pods with emptyDir data"},
        {BLOCKER_TERMINATING_STUCK, "x/late", 1,
         "pod x/late should have stopped by 2026-11-15T07:55:00Z"},
        {BLOCKER_NODE_NOT_READY, "", 0, "the node is not Ready: KubeletNotReady"},
    };
    assert_int_equal(s.n, 1);
    assert_int_equal(s.nodes[0].ready, NODE_NOT_READY);
    assert_int_equal(s.nodes[0].n_blockers, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct survey_blocker *b = &s.nodes[0].blockers[i];
        assert_int_equal(b->code, want[i].code);
        assert_string_equal(b->object, want[i].object);
        assert_int_equal(b->pods, want[i].pods);
        assert_string_equal(b->message, want[i].message);
    }
    world_done(&w);
}

static bool only_n2(void *arg, const struct node *node) {
    return streq(node->meta.name, arg);
}

static void a_filter_leaves_the_others_out(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, only_n2, "n2", NOW, &arena, &s);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.nodes[0].node->meta.name, "n2");
    assert_int_equal(s.nodes[0].ready, NODE_UNKNOWN); /* no condition at all */
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, only_n2, "n3", NOW, &arena, &s);
    assert_int_equal(s.n, 0);
    world_done(&w);
}

/* A node's phase comes from its own conditions and marks, and only while it is cordoned. */
static void phases(void **state) {
    (void)state;
    static const struct {
        const char *node;
        enum node_phase phase;
        bool reboot;
    } cases[] = {
        {"{'metadata':{'name':'n'}," READY "}", NODE_IDLE, false},
        {"{'metadata':{'name':'n'},'spec':{'unschedulable':true}}", NODE_CORDONED, false},
        {"{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{'conditions':[{'type':"
         "'DrainInProgress','status':'True'}]}}",
         NODE_DRAINING, false},
        {"{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{'conditions':[{'type':"
         "'DrainInProgress','status':'False'},{'type':'Drained','status':'True'}]}}",
         NODE_DRAINED, false},
        /* somebody has uncordoned it since */
        {"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Drained','status':'True'}]}}",
         NODE_IDLE, false},
        {"{'metadata':{'name':'n','annotations':{'rebootmanager/status':'Rebooting'}},'spec':{"
         "'unschedulable':true}}",
         NODE_REBOOTING, false},
        {"{'metadata':{'name':'n','annotations':{'rebootmanager/status':'Rebooting'}},'spec':{"
         "'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable','effect':"
         "'NoSchedule','timeAdded':'2026-11-15T07:50:00Z'}]},'status':{'conditions':[{'type':"
         "'Ready','status':'True'}]}}",
         NODE_REBOOTING, false},
        /* our controller has cordoned it for its reboot, and what it does the conditions say */
        {MARKED_OURS "'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Drained',"
                     "'status':'True'}]}}",
         NODE_DRAINED, false},
        {MARKED_OURS "'status':{'conditions':[{'type':'Ready','status':'False'},{'type':'Drained',"
                     "'status':'True'}]}}",
         NODE_REBOOTING, false},
        {"{'metadata':{'name':'n','annotations':{'rebootmanager/status':'Ready'}}}", NODE_IDLE,
         false},
        {"{'metadata':{'name':'n','annotations':{'weave.works/kured-reboot-in-progress':'x'}}}",
         NODE_REBOOTING, false},
        {"{'metadata':{'name':'n','annotations':{"
         "'flatcar-linux-update.v1.flatcar-linux.net/reboot-needed':'true'}}}",
         NODE_IDLE, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct survey s;
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        world_init(&w);
        world_add(&w, &kind_node, cases[i].node);
        survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
        assert_int_equal(s.nodes[0].phase, cases[i].phase);
        if (strstr(cases[i].node, "timeAdded") && cases[i].phase == NODE_REBOOTING)
            assert_true(s.nodes[0].phase_since > 0);
        assert_int_equal(s.nodes[0].needs_reboot, cases[i].reboot);
        assert_int_equal(survey_drains(&s), cases[i].phase == NODE_DRAINING);
        assert_int_equal(s.nodes[0].rival != NULL, strstr(cases[i].node, "kured") != NULL);
        world_done(&w);
    }
}

#define DRAINING                                                                                   \
    "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':[{'type':"     \
    "'Ready','status':'True'},{'type':'DrainInProgress','status':'True','lastTransitionTime':"     \
    "'2026-11-15T07:50:00Z'}]}}"

/* What may well pass by itself is not blocked: as `why` says it. */
static void a_drain_that_waits(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, DRAINING);
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a-1','labels':{'app':'a'},'ownerReferences':[{"
              "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'a','uid':'u','controller':true}]"
              "},'spec':{'nodeName':'n1'}," POD_READY "}");
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'maxUnavailable':1,'selector':{}},"
              "'status':{'desiredHealthy':1,'currentHealthy':1,'expectedPods':2}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].blockers[0].code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(s.nodes[0].phase, NODE_WAITING);
    assert_string_equal(node_phase_word(s.nodes[0].phase), "Waiting");
    assert_true(survey_drains(&s));
    world_done(&w);
}

/* What needs a flag does not hold up a drain that has begun; a budget does. */
static void a_drain_that_is_blocked(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, DRAINING);
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'bare','labels':{'app':'a'}},"
              "'spec':{'nodeName':'n1'}," POD_READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_int_equal(s.nodes[0].phase, NODE_DRAINING);
    assert_int_equal(s.nodes[0].phase_since, NOW - INT64_C(600) * 1000000);
    world_add(&w, &kind_pdb,
              "{'metadata':{'namespace':'x','name':'a'},'spec':{'maxUnavailable':0,'selector':{}},"
              "'status':{}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].phase, NODE_BLOCKED);
    world_done(&w);
}

static void add_event(struct world *w, struct store *events, const char *name, const char *node,
                      const char *reason, const char *time, const char *message) {
    struct object *obj = object_new(&kind_event);
    struct codec codec;
    struct err err = ERR_INIT;
    _cleanup_free_ char *text = xasprintf(
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\"},\"involvedObject\":{\"kind\":"
        "\"Node\",\"name\":\"%s\"},\"reason\":\"%s\",\"message\":\"%s\",\"firstTimestamp\":"
        "\"2026-11-15T%sZ\",\"lastTimestamp\":\"2026-11-15T%sZ\"}",
        name, node, reason, message, time, time);
    codec_init(&codec, w->pool);
    memset(obj, 0, kind_event.type->size);
    assert_int_equal(
        codec_json(&codec, kind_event.type, (struct view){text, strlen(text)}, obj, &err), 0);
    codec_done(&codec);
    assert_true(store_put(events, obj));
}

/* Only what this drain has told, has not taken back, and cannot be seen without it. */
static void what_a_drain_has_told(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    struct store *events = store_new(&kind_event, w.pool);
    world_add(&w, &kind_node, DRAINING);
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}," READY "}");
    add_event(&w, events, "a", "n1", "DrainBlocked", "07:52:00",
              "LastReplica x/pvc-1: the only healthy replica");
    add_event(&w, events, "b", "n1", "DrainBlocked", "07:53:00", "AdmissionDenied x/p: no");
    add_event(&w, events, "c", "n1", "DrainUnblocked", "07:54:00", "AdmissionDenied");
    add_event(&w, events, "d", "n1", "DrainBlocked", "07:40:00", "ReturnsToNode x/p: earlier");
    add_event(&w, events, "e", "n1", "DrainBlocked", "07:55:00", "PDBNoBudget x/w: over by now");
    add_event(&w, events, "f", "n1", "DrainBlocked", "07:55:00", "no code at all");
    add_event(&w, events, "g", "n1", "DrainBlocked", "07:55:00", "");
    add_event(&w, events, "h", "n2", "DrainBlocked", "07:55:00", "LastReplica x/pvc-2: other");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].phase, NODE_DRAINING);
    const struct survey_blocker *told;
    /* all of it, also what can be seen: LastReplica and PDBNoBudget; and with the earlier one */
    int64_t minute = INT64_C(60) * 1000000;
    assert_int_equal(survey_told(events, s.nodes[0].node, NOW - 10 * minute, &arena, &told), 2);
    assert_true(told[0].told && told[1].told);
    assert_int_equal(survey_told(events, s.nodes[0].node, NOW - 20 * minute, &arena, &told), 3);
    assert_int_equal(survey_told(events, s.nodes[0].node, NOW, &arena, &told), 0);
    survey_tell(&s, events, &arena);
    assert_int_equal(s.nodes[0].phase, NODE_BLOCKED);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    const struct survey_blocker *b = &s.nodes[0].blockers[0];
    assert_int_equal(b->code, BLOCKER_LAST_REPLICA);
    assert_string_equal(b->object, "x/pvc-1");
    assert_string_equal(b->message, "the only healthy replica");
    assert_int_equal(b->since, NOW - INT64_C(480) * 1000000);
    assert_true(b->told);
    assert_int_equal(s.nodes[1].n_blockers, 0); /* nobody drains it */
    store_free(events);
    world_done(&w);
}

/* Of the last drain of a node that is still cordoned: who it was refused, and is still there. */
static void what_the_last_drain_was_refused(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    static const char node[] =
        "{'metadata':{'name':'%s'},'spec':{'unschedulable':%s},'status':{'conditions':[{'type':"
        "'Ready','status':'True'},{'type':'DrainInProgress','status':'False','reason':"
        "'SlipwayDrainEnded','message':'timeout; still there: x/%s-1 (AdmissionDenied x/%s-1), "
        "x/gone (AdmissionDenied x/gone)','lastTransitionTime':'2026-11-15T07:50:00Z'}]}}";
    static const char pod[] =
        "{'metadata':{'namespace':'x','name':'%s-1','ownerReferences':[{'kind':'ReplicaSet','name':"
        "'r','uid':'u','controller':true}]},'spec':{'nodeName':'%s'},'status':{'phase':'Running'}}";
    for (int i = 1; i <= 2; i++) { /* the second is in service again */
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        _cleanup_free_ char *n = xasprintf(node, name, i == 1 ? "true" : "false", name, name);
        _cleanup_free_ char *p = xasprintf(pod, name, name);
        world_add(&w, &kind_node, n);
        world_add(&w, &kind_pod, p);
    }
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].phase, NODE_CORDONED);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    const struct survey_blocker *b = &s.nodes[0].blockers[0];
    assert_int_equal(b->code, BLOCKER_ADMISSION_DENIED);
    assert_string_equal(b->object, "x/n1-1");
    assert_int_equal(b->since, NOW - INT64_C(600) * 1000000);
    assert_non_null(strstr(b->message, "the last drain did not get through: timeout"));
    assert_int_equal(s.nodes[1].n_blockers, 0);
    world_done(&w);
}

static struct check_finding finding(const char *node, enum check_verdict verdict, unsigned when,
                                    enum blocker_code code, const char *name) {
    return (struct check_finding){.check = check_find("longhorn"),
                                  .verdict = verdict,
                                  .when = when,
                                  .code = code,
                                  .node = node,
                                  .kind = "Volume",
                                  .ns = "x",
                                  .name = name,
                                  .evidence = "it is so"};
}

/* Before the cordon to nodes that are idle, after it to the others; what passes is no news. */
static void what_checks_say(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'},'spec':{'unschedulable':true}," READY "}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n3'}," READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    const struct check_finding list[] = {
        finding("n1", CHECK_DENY, CHECK_CORDON | CHECK_OPERATION, BLOCKER_LAST_REPLICA, "a"),
        finding("n9", CHECK_DENY, CHECK_CORDON, BLOCKER_LAST_REPLICA, "a"),
        finding("n1", CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK, "b"),
        finding("n2", CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK, "b"),
        finding("n2", CHECK_WAIT, CHECK_CORDON, BLOCKER_LAST_REPLICA, "c"),
        finding("n1", CHECK_WAIT, CHECK_CORDON, BLOCKER_CODES, NULL),
        finding("n3", CHECK_PASS, CHECK_CORDON, BLOCKER_QUORUM_AT_RISK, "d"),
    };
    survey_check(&s, &(struct checks){.list = list, .n = ARRAY_LEN(list)}, &arena);
    assert_int_equal(s.nodes[0].n_blockers, 2);
    assert_int_equal(s.nodes[0].blockers[0].code, BLOCKER_LAST_REPLICA);
    assert_string_equal(s.nodes[0].blockers[0].object, "x/a");
    assert_string_equal(s.nodes[0].blockers[0].message, "longhorn: it is so");
    assert_int_equal(survey_severity(&s.nodes[0].blockers[0]), SEVERITY_ERROR); /* as in a plan */
    assert_int_equal(survey_severity(&s.nodes[0].blockers[1]), SEVERITY_WARN);
    assert_int_equal(s.nodes[0].blockers[1].code, BLOCKER_CHECK_UNKNOWN);
    assert_string_equal(s.nodes[0].blockers[1].object, "");
    assert_int_equal(s.nodes[0].phase, NODE_IDLE);
    assert_int_equal(s.nodes[1].n_blockers, 1);
    assert_int_equal(s.nodes[1].blockers[0].code, BLOCKER_STORAGE_NOT_OK);
    assert_int_equal(s.nodes[2].n_blockers, 0);
    world_done(&w);
}

/* When the pods are gone a drain waits for what stands in the way of its end: not before, and not
 * for what only forbids the rest. */
static void what_checks_say_to_the_end_of_a_drain(void **state) {
    (void)state;
    static const char drains[] =
        "{'metadata':{'name':'%s'},'spec':{'unschedulable':true},'status':{'conditions':[{'type':"
        "'Ready','status':'True'},{'type':'DrainInProgress','status':'True'}]}}";
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    for (int i = 1; i <= 3; i++) {
        char name[4] = {'n', (char)('0' + i), 0};
        _cleanup_free_ char *json = xasprintf(drains, name);
        world_add(&w, &kind_node, json);
    }
    world_add(&w, &kind_pod,
              "{'metadata':{'name':'p','namespace':'x','ownerReferences':[{'kind':'ReplicaSet',"
              "'name':'r','controller':true}]},'spec':{'nodeName':'n2'}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    const struct check_finding list[] = {
        finding("n1", CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK, "b"),
        finding("n2", CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK, "b"),
        finding("n3", CHECK_DENY, CHECK_OPERATION, BLOCKER_QUORUM_AT_RISK, "c"),
    };
    survey_check(&s, &(struct checks){.list = list, .n = ARRAY_LEN(list)}, &arena);
    assert_int_equal(s.nodes[0].phase, NODE_WAITING);
    assert_int_equal(s.nodes[1].phase, NODE_DRAINING);
    assert_int_equal(s.nodes[2].phase, NODE_DRAINING);
    for (int i = 0; i < 3; i++)
        assert_int_equal(s.nodes[i].n_blockers, 1);
    world_done(&w);
}

static const struct survey_blocker *find(const struct survey_node *sn, enum blocker_code code) {
    for (size_t i = 0; i < sn->n_blockers; i++)
        if (sn->blockers[i].code == code)
            return &sn->blockers[i];
    return NULL;
}

#define DRAINED_SINCE(time)                                                                        \
    "{'type':'DrainInProgress','status':'True','reason':'SlipwayDrain','lastTransitionTime':"      \
    "'" time "'}"

/* The same code as `why` and a plan have; its pods are not told of one by one. */
static void a_node_that_does_not_answer(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':["
              "{'type':'Ready','status':'Unknown','reason':'NodeStatusUnknown'}," DRAINED_SINCE(
                  "2026-11-15T07:50:00Z") "]}}");
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n2'},'spec':{'unschedulable':true},'status':{'conditions':["
              "{'type':'Ready','status':'Unknown'}," DRAINED_SINCE("2026-11-15T07:50:00Z") "]}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n3'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n4'}}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'first'," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n3'}," POD_READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'late','deletionTimestamp':'2026-11-15T07:55:"
              "00Z'," OWNED("ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_int_equal(s.nodes[0].blockers[0].code, BLOCKER_NODE_UNREACHABLE);
    assert_int_equal(s.nodes[0].blockers[0].pods, 1);
    assert_string_equal(s.nodes[0].blockers[0].message,
                        "the node does not answer: NodeStatusUnknown");
    assert_int_equal(s.nodes[0].phase, NODE_BLOCKED);
    /* nothing has to stop on the second */
    assert_int_equal(s.nodes[1].blockers[0].code, BLOCKER_NODE_UNREACHABLE);
    assert_int_equal(s.nodes[1].phase, NODE_DRAINING);
    /* a new node that has not said anything yet is none that has been lost */
    assert_int_equal(s.nodes[2].blockers[0].code, BLOCKER_NODE_NOT_READY);
    /* nor is one in the way of anything on which nothing has to stop */
    assert_int_equal(s.nodes[3].ready, NODE_UNKNOWN);
    assert_int_equal(s.nodes[3].n_blockers, 0);
    world_done(&w);
}

static void finalizers(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':["
              "{'type':'Ready','status':'True'}," DRAINED_SINCE("2026-11-15T07:50:00Z") "]}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}," READY "}");
    /* stopped, and still there */
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'a','finalizers':['example.com/f'],"
              "'deletionTimestamp':'2026-11-15T07:59:55Z'," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'},'status':{'phase':'Failed'}}");
    /* the drain has not come to this one */
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'b','finalizers':['example.com/f']," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    for (int i = 0; i < 2; i++) {
        _cleanup_free_ char *pod =
            xasprintf("{'metadata':{'namespace':'x','name':'c%d','finalizers':['example.com/f',"
                      "'batch.kubernetes.io/job-tracking']," OWNED(
                          "ReplicaSet") "},'spec':{'nodeName':'n2'}," POD_READY "}",
                      i);
        world_add(&w, &kind_pod, pod);
    }
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'j','finalizers':["
              "'batch.kubernetes.io/job-tracking']," OWNED(
                  "Job") "},'spec':{'nodeName':'n2'}," POD_READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_int_equal(s.nodes[0].blockers[0].code, BLOCKER_FINALIZER_STUCK);
    assert_string_equal(s.nodes[0].blockers[0].object, "x/a");
    assert_string_equal(s.nodes[0].blockers[0].message,
                        "pod x/a is kept by the finalizer example.com/f");
    assert_int_equal(s.nodes[0].phase, NODE_BLOCKED);
    assert_int_equal(s.nodes[0].leaving, 1);
    assert_int_equal(s.nodes[0].moves, 1);
    assert_int_equal(s.nodes[1].n_blockers, 1);
    assert_string_equal(s.nodes[1].blockers[0].object, "example.com/f");
    assert_int_equal(s.nodes[1].blockers[0].pods, 2);
    world_done(&w);
}

static void put_own(struct world *w, struct store *store, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(store_kind(store));
    struct codec codec;
    struct err err = ERR_INIT;
    codec_init(&codec, w->pool);
    assert_int_equal(
        codec_json(&codec, store_kind(store)->type, (struct view){text, strlen(text)}, obj, &err),
        0);
    codec_done(&codec);
    assert_true(store_put(store, obj));
}

#define OWNED_BY(kind, name)                                                                       \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'" kind "','name':'" name                   \
    "','uid':'u','controller':true}]"

static void pods_that_are_pinned(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    struct store *sets = store_new(&kind_replica_set, w.pool);
    struct store *stateful = store_new(&kind_stateful_set, w.pool);
    put_own(&w, sets,
            "{'metadata':{'namespace':'x','name':'r'},'spec':{'template':{'spec':{'nodeName':"
            "'n1'}}}}");
    put_own(&w, stateful,
            "{'metadata':{'namespace':'x','name':'s'},'spec':{'template':{'spec':{}}}}");
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':["
              "{'type':'Ready','status':'True'}," DRAINED_SINCE("2026-11-15T07:50:00Z") "]}}");
    for (int i = 0; i < 3; i++) {
        _cleanup_free_ char *pod =
            xasprintf("{'metadata':{'namespace':'x','name':'p%d'," OWNED_BY(
                          "ReplicaSet", "r") "},'spec':{'nodeName':'n1'}," POD_READY "}",
                      i);
        world_add(&w, &kind_pod, pod);
    }
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'s-0'," OWNED_BY(
                  "StatefulSet", "s") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].phase, NODE_DRAINING);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    survey_pins(&s, w.pods, w.by_node, sets, stateful, &arena);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    const struct survey_blocker *b = find(&s.nodes[0], BLOCKER_PINNED);
    assert_string_equal(b->object, "x/r");
    assert_int_equal(b->pods, 3);
    assert_int_equal(s.nodes[0].phase, NODE_BLOCKED);
    /* what the drain has told of one of these pods is no second reason; and it is a sign of life */
    struct store *events = store_new(&kind_event, w.pool);
    put_own(&w, events,
            "{'metadata':{'namespace':'default','name':'e'},'reason':'DrainBlocked','message':"
            "'PinnedToNode x/p0: put back','involvedObject':{'kind':'Node','name':'n1'},"
            "'lastTimestamp':'2026-11-15T07:58:00Z'}");
    assert_int_equal(s.nodes[0].heard, NOW - INT64_C(600) * 1000000);
    survey_tell(&s, events, &arena);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_int_equal(s.nodes[0].heard, NOW - INT64_C(120) * 1000000);
    store_free(events);
    store_free(sets);
    store_free(stateful);
    world_done(&w);
}

/* A drain that waits before its cordon has left nothing on the node but the mark. */
static void a_drain_that_has_not_begun_waits(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    struct store *events = store_new(&kind_event, w.pool);
    for (int i = 1; i <= 3; i++) {
        _cleanup_free_ char *node =
            xasprintf("{'metadata':{'name':'n%d'},'spec':{%s}," READY "}", i,
                      i == 3 ? ""
                             : "'taints':[{'key':'slipway.dev/next','effect':"
                               "'PreferNoSchedule'}]");
        world_add(&w, &kind_node, node);
        _cleanup_free_ char *event = xasprintf(
            "{'metadata':{'name':'e%d','namespace':'default'},'involvedObject':{'kind':'Node',"
            "'name':'n%d'},'reason':'DrainBlocked','message':'StorageNotOkToStop x/v: longhorn: "
            "it is degraded','reportingInstance':'alice@ops','firstTimestamp':"
            "'2026-11-15T07:50:00Z','lastTimestamp':'2026-11-15T07:58:00Z'}",
            i, i);
        put_own(&w, events, event);
    }
    /* Of n2 something else was heard since. */
    put_own(&w, events,
            "{'metadata':{'name':'f','namespace':'default'},'involvedObject':{'kind':'Node','name':"
            "'n2'},'reason':'DrainUnblocked','message':'StorageNotOkToStop','firstTimestamp':"
            "'2026-11-15T07:59:00Z','lastTimestamp':'2026-11-15T07:59:00Z'}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_true(survey_wants_events(&s) && !survey_drains(&s));
    survey_tell(&s, events, &arena);
    assert_int_equal(s.nodes[0].phase, NODE_WAITING);
    assert_string_equal(s.nodes[0].waits_for_it, "alice@ops");
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_string_equal(s.nodes[0].blockers[0].object, "x/v");
    assert_int_equal(s.nodes[0].blockers[0].pods, 0);
    assert_int_equal(s.nodes[0].heard, NOW - INT64_C(120) * 1000000);
    assert_int_equal(s.nodes[1].phase, NODE_IDLE);
    assert_int_equal(s.nodes[2].phase, NODE_IDLE);
    /* The check says the same of it: that is no second reason, and no other phase. */
    const struct check_finding list[] = {
        finding("n1", CHECK_WAIT, CHECK_CORDON, BLOCKER_STORAGE_NOT_OK, "v"),
        finding("n1", CHECK_DENY, CHECK_OPERATION, BLOCKER_QUORUM_AT_RISK, "c"),
    };
    survey_check(&s, &(struct checks){.list = list, .n = ARRAY_LEN(list)}, &arena);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    assert_int_equal(s.nodes[0].phase, NODE_WAITING);
    store_free(events);
    world_done(&w);
}

/* The server does not evict them, and they go all the same: as `why` and a plan have it. */
static void namespaces_that_go(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    struct store *namespaces = store_new(&kind_namespace, w.pool);
    put_own(&w, namespaces, "{'metadata':{'name':'x'},'status':{'phase':'Terminating'}}");
    put_own(&w, namespaces, "{'metadata':{'name':'y'},'status':{'phase':'Active'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    for (int i = 0; i < 3; i++) {
        _cleanup_free_ char *pod =
            xasprintf("{'metadata':{'namespace':'%s','name':'p%d'," OWNED(
                          "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}",
                      i < 2 ? "x" : "y", i);
        world_add(&w, &kind_pod, pod);
    }
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    survey_namespaces(&s, w.pods, w.by_node, namespaces, &arena);
    assert_int_equal(s.nodes[0].n_blockers, 1);
    const struct survey_blocker *b = find(&s.nodes[0], BLOCKER_NAMESPACE_TERMINATING);
    assert_string_equal(b->object, "x");
    assert_int_equal(b->pods, 2);
    store_free(namespaces);
    world_done(&w);
}

static void marks_of_nodes_to_come(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'taints':[{'key':'slipway.dev/next','effect':"
              "'PreferNoSchedule'}]}," READY "}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_true(s.nodes[0].next_mark);
    assert_int_equal(s.nodes[0].phase, NODE_IDLE);
    world_done(&w);
}

/* What an idle node's pods would have a drain wait for; what one that has begun waits for, it tells
 * itself. */
static void marks_and_pods_that_come_back(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    world_add(&w, &kind_pod,
              "{'metadata':{'namespace':'x','name':'held','annotations':{"
              "'cluster-autoscaler.kubernetes.io/safe-to-evict':'false'}," OWNED(
                  "ReplicaSet") "},'spec':{'nodeName':'n1'}," POD_READY "}");
    for (int i = 0; i < 2; i++) {
        _cleanup_free_ char *json =
            xasprintf("{'metadata':{'namespace':'x','name':'back-%d'," OWNED(
                          "ReplicaSet") "},'spec':{'nodeName':'n1','tolerations':[{'operator':"
                                        "'Exists'}]}," POD_READY "}",
                      i);
        world_add(&w, &kind_pod, json);
    }
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 2);
    assert_int_equal(s.nodes[0].blockers[0].code, BLOCKER_RETURNS);
    assert_string_equal(s.nodes[0].blockers[0].object, "x/o");
    assert_int_equal(s.nodes[0].blockers[0].pods, 2);
    assert_int_equal(s.nodes[0].blockers[1].code, BLOCKER_DO_NOT_DISRUPT);
    assert_string_equal(s.nodes[0].blockers[1].object, "x/held");
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n1'},'spec':{'unschedulable':true},'status':{'conditions':[{"
              "'type':'Ready','status':'True'},{'type':'DrainInProgress','status':'True'}]}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    world_done(&w);
}

/* Of a node in service it is nobody's business: a drain makes its operator let go. */
static void what_operators_guard_blocks_who_is_out(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}," READY "}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'},'spec':{'unschedulable':true}," READY "}");
    for (int i = 1; i < 3; i++) {
        char json[512];
        snprintf(json, sizeof json,
                 "{'metadata':{'namespace':'x','name':'im-%d','labels':{'im':'%d',"
                 "'longhorn.io/component':'instance-manager'}," OWNED(
                     "InstanceManager") "},"
                                        "'spec':{'nodeName':'n%d'}," POD_READY "}",
                 i, i, i);
        world_add(&w, &kind_pod, json);
        snprintf(json, sizeof json,
                 "{'metadata':{'namespace':'x','name':'im-%d'},'spec':{'minAvailable':1,'selector':"
                 "{'matchLabels':{'im':'%d'}}},'status':{'currentHealthy':1,'desiredHealthy':1,"
                 "'expectedPods':1}}",
                 i, i);
        world_add(&w, &kind_pdb, json);
    }
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    assert_int_equal(s.nodes[0].n_blockers, 0);
    assert_int_equal(s.nodes[1].n_blockers, 1);
    assert_int_equal(s.nodes[1].blockers[0].code, BLOCKER_STORAGE_NOT_OK);
    assert_string_equal(s.nodes[1].blockers[0].object, "x/im-2");
    assert_non_null(strstr(s.nodes[1].blockers[0].message, "Longhorn keeps this budget"));
    world_done(&w);
}

/* Its mark is not on the Node, but in a DaemonSet. */
static void locked_by_kured(void **state) {
    (void)state;
    struct world w;
    struct survey s;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    world_init(&w);
    struct store *locks = store_new(&kind_kured_lock, w.pool);
    struct object *lock = object_new(&kind_kured_lock);
    struct codec codec;
    codec_init(&codec, w.pool);
    assert_int_equal(
        codec_json(
            &codec, kind_kured_lock.type,
            view_of(
                "{\"metadata\":{\"name\":\"k\",\"namespace\":\"a\",\"annotations\":{\"" KURED_LOCK
                "\":\"{\\\"maxOwners\\\":3,\\\"locks\\\":[{\\\"nodeID\\\":\\\"n2\\\"},{"
                "\\\"nodeID\\\":\\\"n4\\\"},{\\\"nodeID\\\":\\\"n0\\\"}]}\"}}}"),
            lock, NULL),
        0);
    codec_done(&codec);
    store_put(locks, lock);
    world_add(&w, &kind_node, "{'metadata':{'name':'n1'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n2'}}");
    world_add(&w, &kind_node, "{'metadata':{'name':'n3'}}");
    world_add(&w, &kind_node,
              "{'metadata':{'name':'n4'},'spec':{'taints':[{'key':'karpenter.sh/disrupted'}]}}");
    survey_take(w.nodes, w.pods, w.by_node, w.pdbs, NULL, NULL, NULL, NOW, &arena, &s);
    survey_locks(&s, locks);
    assert_null(s.nodes[0].rival);
    assert_string_equal(s.nodes[1].rival->name, "kured");
    assert_null(s.nodes[2].rival);
    assert_string_equal(s.nodes[3].rival->name, "Karpenter"); /* one is named */
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(s.nodes[i].phase, i % 2 ? NODE_REBOOTING : NODE_IDLE);
    store_free(locks);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locked_by_kured),
        cmocka_unit_test(a_node_that_does_not_answer),
        cmocka_unit_test(finalizers),
        cmocka_unit_test(pods_that_are_pinned),
        cmocka_unit_test(namespaces_that_go),
        cmocka_unit_test(marks_of_nodes_to_come),
        cmocka_unit_test(counts_pods_by_what_a_drain_does_with_them),
        cmocka_unit_test(names_what_blocks_the_worst_first),
        cmocka_unit_test(a_filter_leaves_the_others_out),
        cmocka_unit_test(phases),
        cmocka_unit_test(a_drain_that_waits),
        cmocka_unit_test(a_drain_that_is_blocked),
        cmocka_unit_test(what_a_drain_has_told),
        cmocka_unit_test(what_the_last_drain_was_refused),
        cmocka_unit_test(what_checks_say),
        cmocka_unit_test(what_checks_say_to_the_end_of_a_drain),
        cmocka_unit_test(a_drain_that_has_not_begun_waits),
        cmocka_unit_test(marks_and_pods_that_come_back),
        cmocka_unit_test(what_operators_guard_blocks_who_is_out),
    };
    return cmocka_run_group_tests_name("engine/survey", tests, NULL, NULL);
}
