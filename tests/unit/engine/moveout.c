/* Tests of src/engine/moveout.c. The scheduler's words are those of kube-scheduler v1.36
 * (pkg/scheduler/framework/types.go, FitError). */
#include "engine/moveout.h"

#include "base/timefmt.h"
#include "lint_site.h"

#define RS "ReplicaSet"

struct ground {
    struct site site;
    struct moveout_stores stores;
    struct moveout out;
};

static int begin(void **state) {
    struct ground *g = xnew(struct ground);
    site_init(&g->site);
    *state = g;
    return 0;
}

static int end(void **state) {
    struct ground *g = *state;
    moveout_done(&g->out);
    fit_free(g->out.fit);
    site_done(&g->site);
    free(g);
    return 0;
}

/* Nodes have 4 CPUs. */
static void put(struct ground *g, const char *name, const char *node, int cpu, const char *more) {
    site_put(&g->site, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s','uid':'%s','labels':{'app':'a'}" SITE_OWNER(
                 RS, "a-1") "},'spec':{'nodeName':'%s','containers':[{'name':'c','resources':{"
                            "'requests':{'cpu':'%d'}}}]%s},'status':{'phase':'Running',"
                            "'conditions':[{'type':'Ready','status':'True'}]}}",
             name, name, node, cpu, more);
}

static void fill(struct ground *g) {
    struct site *s = &g->site;
    g->stores = (struct moveout_stores){.nodes = s->w.nodes,
                                        .pods = s->w.pods,
                                        .namespaces = s->namespaces,
                                        .volumes = s->volumes,
                                        .claims = s->claims,
                                        .classes = s->classes};
    g->out = (struct moveout){.fit = fit_new(s->w.pool),
                              .stores = &g->stores,
                              .least_priority = moveout_least_priority(s->w.pods),
                              .careful = true};
    moveout_fill(g->out.fit, &g->stores);
}

static const struct pod *pod_of(struct ground *g, const char *name) {
    const struct pod *pod = (const struct pod *)store_get(g->site.w.pods, "x", name);
    assert_non_null(pod);
    return pod;
}

static struct moveout_pod *add(struct ground *g, const char *name) {
    size_t n;
    const struct pod *pod = pod_of(g, name);
    const struct pdb *const *pdbs = pdbs_of_pod(g->site.w.pdbs, pod, &n);
    return moveout_add(&g->out, pod, moveout_budget(pod, pdbs, n));
}

static void play(struct ground *g, const char *node) {
    moveout_play(&g->out, (const struct node *)store_get(g->site.w.nodes, NULL, node));
}

static enum moveout_end end_of(const struct ground *g, const char *name) {
    for (size_t i = 0; i < g->out.pods.len; i++)
        if (streq(g->out.pods.p[i].pod->meta.name, name))
            return g->out.pods.p[i].end;
    fail_msg("no %s", name);
    return MOVEOUT_STAYS;
}

static void budget(struct ground *g, int allowed) {
    _cleanup_free_ char *status =
        xasprintf("'expectedPods':3,'currentHealthy':3,'desiredHealthy':%d,'disruptionsAllowed':%d",
                  3 - allowed, allowed);
    site_budget(&g->site, "a", "'maxUnavailable':1", status);
}

/* --- one node --- */

static void the_node_itself_is_no_place(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 1, "");
    fill(g);
    add(g, "a");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_PLACED);
    assert_string_equal(fit_pod_node(g->out.fit, "x", "a"), "w2");
    moveout_undo(&g->out);
    assert_string_equal(fit_pod_node(g->out.fit, "x", "a"), "w1");
    assert_int_equal(g->out.pods.len, 0);
}

#define PENDING_B                                                                                  \
    "{'metadata':{'namespace':'x','name':'b','uid':'b'},'spec':{'containers':[{'name':'c',"        \
    "'resources':{'requests':{'cpu':'%d'}}}]%s},'status':{'phase':'Pending'}}"
#define APART                                                                                      \
    ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"          \
    "'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'a'}}}]}}"

static void zone_node(struct ground *g, const char *name) {
    site_put(&g->site, &kind_node,
             "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s','zone':'z'}},"
             "'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110'}}}",
             name, name);
}

/* Who waits for a node already has it before anybody goes. */
static void who_waits_already_takes_room(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 3, "");
    site_put(&g->site, &kind_pod, PENDING_B, 2, "");
    fill(g);
    add(g, "a");
    moveout_wait(&g->out, g->site.w.pods);
    assert_string_equal(fit_pod_node(g->out.fit, "x", "b"), "w2");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
    moveout_undo(&g->out);
    assert_string_equal(fit_pod_node(g->out.fit, "x", "b"), "w2"); /* for the next node, too */
    moveout_done(&g->out);
    assert_null(fit_pod_node(g->out.fit, "x", "b"));
    g->out = (struct moveout){.fit = g->out.fit};
}

/* `b` waits until `a` has gone; there is room for one of both. */
static enum moveout_end played_with_one_kept_out(struct ground *g, const char *owner) {
    zone_node(g, "w1");
    zone_node(g, "w2");
    site_put(&g->site, &kind_pod,
             "{'metadata':{'namespace':'x','name':'a','uid':'a','labels':{'app':'a'},"
             "'ownerReferences':[{'apiVersion':'apps/v1','kind':'%s','name':'s','uid':'s',"
             "'controller':true}]},'spec':{'nodeName':'w1','containers':[{'name':'c',"
             "'resources':{'requests':{'cpu':'3'}}}]},'status':{'phase':'Running'}}",
             owner);
    site_put(&g->site, &kind_pod, PENDING_B, 2, APART);
    fill(g);
    add(g, "a");
    moveout_wait(&g->out, g->site.w.pods);
    assert_null(fit_pod_node(g->out.fit, "x", "b"));
    play(g, "w1");
    enum moveout_end end = end_of(g, "a");
    moveout_undo(&g->out);
    assert_null(fit_pod_node(g->out.fit, "x", "b"));
    assert_string_equal(fit_pod_node(g->out.fit, "x", "a"), "w1");
    return end;
}

/* The next pod of a StatefulSet has to wait for the name, and comes too late. */
static void who_waits_for_somebody_to_go(void **state) {
    assert_int_equal(played_with_one_kept_out(*state, "StatefulSet"), MOVEOUT_HOMELESS);
}

/* What a ReplicaSet makes is there before its pod has gone. */
static void who_waits_for_somebody_to_go_and_is_late(void **state) {
    assert_int_equal(played_with_one_kept_out(*state, RS), MOVEOUT_PLACED);
}

/* What is played again is the same: who is not made again is not then either. */
static void who_is_not_made_is_not_the_second_time(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 1, "");
    fill(g);
    add(g, "a")->unmade = true;
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
    moveout_rewind(&g->out);
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
}

/* 3 pods, a budget that allows one, no room: the first goes and stays Pending, and with it what
 * the budget had. */
static void a_budget_runs_dry(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 1, "");
    put(g, "b", "w1", 1, "");
    put(g, "c", "w1", 1, "");
    put(g, "full", "w2", 4, "");
    budget(g, 1);
    fill(g);
    for (int i = 0; i < 2; i++) { /* the picture is as it was before */
        const struct pdb *pdb = add(g, "a")->budget;
        assert_non_null(pdb);
        add(g, "b");
        add(g, "c");
        play(g, "w1");
        assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
        assert_int_equal(end_of(g, "b"), MOVEOUT_STAYS);
        assert_int_equal(end_of(g, "c"), MOVEOUT_STAYS);
        assert_ptr_equal(moveout_keeper(&g->out, pdb)->pod, pod_of(g, "a"));
        assert_string_equal(fit_pod_node(g->out.fit, "x", "b"), "w1");
        assert_null(fit_pod_node(g->out.fit, "x", "a"));
        moveout_undo(&g->out);
        assert_string_equal(fit_pod_node(g->out.fit, "x", "a"), "w1");
    }
}

static bool is_lucky(const struct ground *g, const char *name) {
    for (size_t i = 0; i < g->out.pods.len; i++)
        if (streq(g->out.pods.p[i].pod->meta.name, name))
            return g->out.pods.p[i].lucky;
    fail_msg("no %s", name);
    return false;
}

/* One that no budget selects. */
static void put_rival(struct ground *g, const char *name, int cpu) {
    site_put(&g->site, &kind_pod,
             "{'metadata':{'namespace':'x','name':'%s','uid':'%s'" SITE_OWNER(
                 RS, "r-1") "},'spec':{'nodeName':'w1','containers':[{'name':'c','resources':{"
                            "'requests':{'cpu':'%d'}}}]},'status':{'phase':'Running',"
                            "'conditions':[{'type':'Ready','status':'True'}]}}",
             name, name, cpu);
}

/* One place, and two that leave at the same time want it: whoever gets it decides whether the
 * budget runs dry. One that waits may get away if it is the budget's, the next never. */
static void who_gets_the_last_place_is_chance(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put_rival(g, "a-rival", 1);
    put(g, "b1", "w1", 1, "");
    put(g, "b2", "w1", 1, "");
    put(g, "b3", "w1", 1, "");
    put(g, "full", "w2", 3, "");
    budget(g, 1);
    fill(g);
    for (int i = 0; i < 2; i++) {
        const struct pod *winner, *loser;
        const struct pdb *pdb = add(g, "b1")->budget;
        add(g, "b2");
        add(g, "b3");
        add(g, "a-rival");
        play(g, "w1");
        assert_int_equal(end_of(g, "a-rival"), MOVEOUT_PLACED);
        assert_int_equal(end_of(g, "b1"), MOVEOUT_HOMELESS);
        assert_int_equal(end_of(g, "b2"), MOVEOUT_STAYS);
        assert_int_equal(end_of(g, "b3"), MOVEOUT_STAYS);
        assert_true(is_lucky(g, "b2"));
        assert_false(is_lucky(g, "b3"));
        assert_false(moveout_chance(&g->out, pdb, &winner, &loser)); /* none got away by luck */
        assert_string_equal(fit_pod_node(g->out.fit, "x", "a-rival"), "w2");
        moveout_undo(&g->out);
    }
}

/* The same, and it came out well. */
static void who_got_the_last_place_had_luck(void **state) {
    struct ground *g = *state;
    const struct pod *winner, *loser;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "b1", "w1", 1, "");
    put(g, "b2", "w1", 1, "");
    put_rival(g, "c-rival", 1);
    put(g, "full", "w2", 3, "");
    budget(g, 1);
    fill(g);
    const struct pdb *pdb = add(g, "b1")->budget;
    add(g, "b2");
    add(g, "c-rival");
    play(g, "w1");
    assert_int_equal(end_of(g, "b1"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "b2"), MOVEOUT_HOMELESS);
    assert_int_equal(end_of(g, "c-rival"), MOVEOUT_HOMELESS);
    assert_true(moveout_chance(&g->out, pdb, &winner, &loser));
    assert_ptr_equal(winner, pod_of(g, "c-rival"));
    assert_ptr_equal(loser, pod_of(g, "b1"));
    assert_string_equal(fit_pod_node(g->out.fit, "x", "b1"), "w2");
    moveout_rewind(&g->out); /* and again from the beginning */
    assert_string_equal(fit_pod_node(g->out.fit, "x", "b1"), "w1");
    play(g, "w1");
    assert_int_equal(end_of(g, "b1"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "b2"), MOVEOUT_HOMELESS);
}

/* A rival that needs more than there is takes nothing away: nothing is chance. */
static void without_a_rival_nothing_is_chance(void **state) {
    struct ground *g = *state;
    const struct pod *winner, *loser;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put_rival(g, "a-rival", 4);
    put(g, "b1", "w1", 1, "");
    put(g, "b2", "w1", 1, "");
    put(g, "b3", "w1", 1, "");
    put(g, "full", "w2", 3, "");
    budget(g, 1);
    fill(g);
    const struct pdb *pdb = add(g, "b1")->budget;
    add(g, "b2");
    add(g, "b3");
    add(g, "a-rival");
    play(g, "w1");
    assert_int_equal(end_of(g, "b1"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "b2"), MOVEOUT_HOMELESS);
    assert_int_equal(end_of(g, "b3"), MOVEOUT_STAYS);
    assert_false(is_lucky(g, "b3"));
    assert_false(moveout_chance(&g->out, pdb, &winner, &loser));
}

/* As drains ask them: who needs longest to stop is asked first, and has the place. */
static void long_grace_goes_first(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 1, ",'terminationGracePeriodSeconds':30");
    put(g, "b", "w1", 1, ",'terminationGracePeriodSeconds':300");
    put(g, "full", "w2", 3, "");
    fill(g);
    add(g, "a");
    add(g, "b");
    play(g, "w1");
    assert_int_equal(end_of(g, "b"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
}

/* One that terminates elsewhere makes room, unless it should have been gone long ago. */
static void pods_that_leave_make_room(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 3, "");
    site_put(&g->site, &kind_pod,
             "{'metadata':{'namespace':'x','name':'going','uid':'going','deletionTimestamp':"
             "'2026-01-01T00:00:00Z'},'spec':{'nodeName':'w2','containers':[{'name':'c',"
             "'resources':{'requests':{'cpu':'3'}}}]},'status':{'phase':'Running'}}");
    int64_t deleted = pod_of(g, "going")->meta.deleted;
    const int64_t times[] = {deleted + SEC(MOVEOUT_LEAVES_WITHIN),
                             deleted + SEC(MOVEOUT_LEAVES_WITHIN + 1)};
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        fit_free(g->out.fit);
        moveout_done(&g->out);
        fill(g);
        fit_free(g->out.fit);
        g->out.fit = fit_new(g->site.w.pool);
        g->stores.now = times[i];
        moveout_fill(g->out.fit, &g->stores);
        add(g, "a");
        play(g, "w1");
        assert_int_equal(end_of(g, "a"), i ? MOVEOUT_HOMELESS : MOVEOUT_PLACED);
    }
}

/* What comes back is given to the next. */
static void with_room_a_budget_lasts(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 1, "");
    put(g, "b", "w1", 1, "");
    put(g, "c", "w1", 1, "");
    budget(g, 1);
    fill(g);
    const struct pdb *pdb = add(g, "a")->budget;
    add(g, "b");
    add(g, "c");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "c"), MOVEOUT_PLACED);
    assert_null(moveout_keeper(&g->out, pdb));
}

/* A budget of two that one replacement without a place leaves with one: all others get away. */
static void what_is_left_of_a_budget_serves_the_others(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 3, "");
    put(g, "b", "w1", 1, "");
    put(g, "c", "w1", 1, "");
    put(g, "d", "w2", 2, "");
    budget(g, 2);
    fill(g);
    add(g, "a");
    add(g, "b");
    add(g, "c");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
    assert_int_equal(end_of(g, "b"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "c"), MOVEOUT_PLACED);
}

/* One that something else keeps takes no room away from those that go. */
static void the_last_come_last(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 2, "");
    put(g, "b", "w1", 2, "");
    put(g, "c", "w2", 2, "");
    fill(g);
    add(g, "a")->last = true;
    add(g, "b");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
    assert_int_equal(end_of(g, "b"), MOVEOUT_PLACED);
}

/* A pod may be away from its like only once those have left: it is tried again. */
static void what_leaves_later_makes_room(void **state) {
    struct ground *g = *state;
    static const char apart[] =
        ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
        "'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'b'}}}]}}";
    for (int i = 1; i <= 2; i++)
        site_put(&g->site, &kind_node,
                 "{'metadata':{'name':'w%d','labels':{'zone':'one'}},'status':{'allocatable':{"
                 "'cpu':'4','pods':'110'}}}",
                 i);
    put(g, "a", "w1", 1, apart);
    site_pod(&g->site, "z", "w1", "b", "", true, ",'nodeSelector':{'none':'there'}");
    fill(g);
    add(g, "a");
    add(g, "z");
    play(g, "w1");
    assert_int_equal(end_of(g, "z"), MOVEOUT_HOMELESS);
    assert_int_equal(end_of(g, "a"), MOVEOUT_PLACED);
}

/* --- volumes --- */

#define CLAIM(name, more)                                                                          \
    "{'metadata':{'namespace':'x','name':'" name "','uid':'" name                                  \
    "'},'spec':{'accessModes':['ReadWriteOnce'],"                                                  \
    "'resources':{'requests':{'storage':'1Gi'}}" more "}}"

static void which_volumes_are_judged(void **state) {
    struct ground *g = *state;
    site_put(&g->site, &kind_pvc, CLAIM("bound", ",'volumeName':'v'"));
    site_put(&g->site, &kind_pvc, CLAIM("free", ",'storageClassName':'late'"));
    put(g, "none", "w1", 1, "");
    put(g, "bound", "w1", 1,
        ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'bound'}}]");
    put(g, "free", "w1", 1,
        ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'free'}}]");
    fill(g);
    assert_true(moveout_judged(&g->stores, pod_of(g, "none")));
    assert_true(moveout_judged(&g->stores, pod_of(g, "bound")));
    assert_true(moveout_judged(&g->stores, pod_of(g, "free")));
    put(g, "device", "w1", 1, ",'resourceClaims':[{'name':'gpu','resourceClaimName':'g'}]");
    assert_false(moveout_judged(&g->stores, pod_of(g, "device")));
    assert_false(moveout_unread(&g->stores, pod_of(g, "device")));
    assert_null(moveout_beyond(pod_of(g, "none")));
    g->stores.classes = NULL; /* nobody can tell where it may be made */
    assert_true(moveout_judged(&g->stores, pod_of(g, "bound")));
    assert_false(moveout_judged(&g->stores, pod_of(g, "free")));
    g->stores.claims = NULL;
    assert_true(moveout_judged(&g->stores, pod_of(g, "none")));
    assert_false(moveout_judged(&g->stores, pod_of(g, "bound")));
}

/* The claim of an ephemeral volume is made anew with its pod: the volume that it has now, which
 * only its node can use, does not matter. */
static void ephemeral_claims_are_made_anew(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    site_put(&g->site, &kind_storage_class,
             "{'metadata':{'name':'late'},'provisioner':'example.com/disk','volumeBindingMode':"
             "'WaitForFirstConsumer'}");
    site_put(&g->site, &kind_pv,
             "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':["
             "'ReadWriteOnce'],'storageClassName':'late','claimRef':{'namespace':'x','name':"
             "'a-d'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
             "'kubernetes.io/hostname','operator':'In','values':['w1']}]}]}}},'status':{'phase':"
             "'Bound'}}");
    site_put(&g->site, &kind_pvc,
             "{'metadata':{'namespace':'x','name':'a-d','uid':'c','annotations':{"
             "'pv.kubernetes.io/bind-completed':'yes'},'ownerReferences':[{'apiVersion':'v1',"
             "'kind':'Pod','name':'a','uid':'a','controller':true}]},'spec':{'volumeName':'v',"
             "'storageClassName':'late','accessModes':['ReadWriteOnce'],'resources':{'requests':{"
             "'storage':'1Gi'}}},'status':{'phase':'Bound'}}");
    put(g, "a", "w1", 1,
        ",'volumes':[{'name':'d','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':["
        "'ReadWriteOnce'],'storageClassName':'late','resources':{'requests':{'storage':'1Gi'}}}}}}"
        "]");
    fill(g);
    assert_true(moveout_judged(&g->stores, pod_of(g, "a")));
    for (int i = 0; i < 2; i++) {
        add(g, "a");
        play(g, "w1");
        assert_int_equal(end_of(g, "a"), MOVEOUT_PLACED);
        assert_string_equal(fit_pod_node(g->out.fit, "x", "a"), "w2");
        moveout_undo(&g->out);
        /* As it is, the volume ties the pod to w1. */
        struct fit_verdict v;
        struct pod next = moveout_successor(pod_of(g, "a"));
        assert_false(fit_check(g->out.fit, &next, "w2", &v));
    }
}

static void a_volume_of_one_node(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    site_put(&g->site, &kind_pv,
             "{'metadata':{'name':'v'},'spec':{'local':{'path':'/d'},'nodeAffinity':{'required':{"
             "'nodeSelectorTerms':[{'matchExpressions':[{'key':'kubernetes.io/hostname','operator'"
             ":'In','values':['w1']}]}]}}}}");
    site_put(&g->site, &kind_pvc,
             "{'metadata':{'namespace':'x','name':'c','uid':'c','annotations':{"
             "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'v'}}");
    put(g, "a", "w1", 1, ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'c'}}]");
    fill(g);
    add(g, "a");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_HOMELESS);
}

/* --- the rest --- */

/* Who is more important than some other pod gets its place: where that one goes is not judged. */
static void who_pushes_others_aside_has_a_place(void **state) {
    struct ground *g = *state;
    site_node(&g->site, "w1");
    site_node(&g->site, "w2");
    put(g, "a", "w1", 2, ",'priority':10");
    put(g, "b", "w1", 2, ",'priority':10,'preemptionPolicy':'Never'");
    put(g, "c", "w2", 4, ",'priority':1");
    fill(g);
    assert_int_equal(g->out.least_priority, 1);
    add(g, "a");
    add(g, "b");
    play(g, "w1");
    assert_int_equal(end_of(g, "a"), MOVEOUT_PLACED);
    assert_int_equal(end_of(g, "b"), MOVEOUT_HOMELESS);
}

static void whose_budget_is_asked(void **state) {
    struct ground *g = *state;
    size_t n;
    budget(g, 1);
    put(g, "a", "w1", 1, "");
    site_pod(&g->site, "sick", "w1", "a", SITE_OWNER(RS, "a-1"), false, "");
    const struct pdb *const *pdbs = pdbs_of_pod(g->site.w.pdbs, pod_of(g, "a"), &n);
    assert_int_equal(n, 1);
    assert_ptr_equal(moveout_budget(pod_of(g, "a"), pdbs, n), pdbs[0]);
    assert_null(moveout_budget(pod_of(g, "sick"), pdbs, n)); /* it serves nobody */
    assert_null(moveout_budget(pod_of(g, "a"), NULL, 0));
}

static void the_second_half_is_left_out(void **state) {
    struct ground *g = *state;
    struct arena *a = &g->site.arena;
    assert_string_equal(
        moveout_words(a, "0/3 nodes are available: 3 Insufficient cpu. no new claims to "
                         "deallocate, preemption: 0/3 nodes are available."),
        "0/3 nodes are available: 3 Insufficient cpu");
    /* before 1.34 */
    assert_string_equal(moveout_words(a, "0/1 nodes are available: 1 Too many pods. preemption: "
                                         "0/1 nodes are available."),
                        "0/1 nodes are available: 1 Too many pods");
    assert_string_equal(moveout_words(a, "0/4 nodes are available: 4 cannot allocate all claims. "
                                         "still not schedulable, preemption: 0/4 nodes are "
                                         "available: 4 Preemption is not helpful for scheduling."),
                        "0/4 nodes are available: 4 cannot allocate all claims");
    assert_string_equal(moveout_words(a, "0/1 nodes are available: 1 cannot allocate all claims. "
                                         "deallocation of ResourceClaim completed, preemption: x"),
                        "0/1 nodes are available: 1 cannot allocate all claims");
    assert_string_equal(moveout_words(a, "something else."), "something else");
    assert_string_equal(moveout_words(a, ""), "");
    assert_string_equal(moveout_words(a, "..."), "");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_node_itself_is_no_place),
        TEST(who_waits_already_takes_room),
        TEST(who_waits_for_somebody_to_go),
        TEST(who_waits_for_somebody_to_go_and_is_late),
        TEST(who_is_not_made_is_not_the_second_time),
        TEST(a_budget_runs_dry),
        TEST(who_gets_the_last_place_is_chance),
        TEST(who_got_the_last_place_had_luck),
        TEST(without_a_rival_nothing_is_chance),
        TEST(long_grace_goes_first),
        TEST(pods_that_leave_make_room),
        TEST(with_room_a_budget_lasts),
        TEST(what_is_left_of_a_budget_serves_the_others),
        TEST(the_last_come_last),
        TEST(what_leaves_later_makes_room),
        TEST(which_volumes_are_judged),
        TEST(ephemeral_claims_are_made_anew),
        TEST(a_volume_of_one_node),
        TEST(who_pushes_others_aside_has_a_place),
        TEST(whose_budget_is_asked),
        TEST(the_second_half_is_left_out),
    };
    return cmocka_run_group_tests_name("engine/moveout", tests, NULL, NULL);
}
