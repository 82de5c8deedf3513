/* The checks of etcd: clusters of the etcd-operator, and the control plane's own. */
#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/podrole.h"

/* --- etcd-operator --- */

/* A cluster as it was told by whoever knows most of it. */
struct told {
    struct check_member *voters;
    size_t n;
    struct check_list learners, unsettled;
};

static const struct pod *pod_of(const struct check_run *r, const char *ns, const char *name) {
    return name ? (const struct pod *)store_get(run_store(r, SOURCE_ETCD_CLUSTER_PODS), ns, name)
                : NULL;
}

static void tell(const struct check_run *r, struct told *t, const char *ns, const char *name,
                 bool healthy, bool learner) {
    const struct pod *pod = pod_of(r, ns, name);
    if (learner)
        check_list_add(&t->learners, name);
    else
        t->voters[t->n++] =
            (struct check_member){str_empty(name) ? "without a name" : name,
                                  pod ? pod->node_name : NULL, healthy && pod && pod_ready(pod)};
}

/* From EtcdMembers, where the release has them. */
static void tell_members(struct check_run *r, const struct etcd_cluster *c, struct told *t) {
    struct check_objects all = run_within(r, SOURCE_ETCD_MEMBERS, c->meta.ns);
    t->voters = arena_alloc(r->arena, (all.n + 1) * sizeof *t->voters);
    for (size_t i = 0; i < all.n; i++) {
        const struct etcd_member *m = (const struct etcd_member *)all.p[i];
        if (!str_same(m->cluster, c->meta.name))
            continue;
        bool settled = str_same(m->phase, "Ready") && !m->meta.deleted;
        if (!settled)
            check_list_add(&t->unsettled, run_printf(r, "%s (%s)", m->meta.name,
                                                     str_empty(m->phase) ? "no phase" : m->phase));
        tell(r, t, m->meta.ns, m->meta.name, m->healthy && settled, m->learner);
    }
}

/* From the cluster's status. */
static void tell_status(const struct check_run *r, const struct etcd_cluster *c, struct told *t) {
    size_t n = list_len(c->peers);
    t->voters = arena_alloc(r->arena, (n + 1) * sizeof *t->voters);
    for (size_t i = 0; i < n; i++)
        tell(r, t, c->meta.ns, c->peers[i].name, c->peers[i].healthy, c->peers[i].learner);
}

/* From its pods: releases before the status. */
static void tell_pods(const struct check_run *r, const struct pod **pods, size_t n,
                      struct told *t) {
    t->voters = arena_alloc(r->arena, (n + 1) * sizeof *t->voters);
    for (size_t i = 0; i < n; i++)
        t->voters[t->n++] =
            (struct check_member){pods[i]->meta.name, pods[i]->node_name, pod_ready(pods[i])};
}

/* Membership is changing: a second change at the same time is one too many. */
static void judge_change(struct check_run *r, const struct etcd_cluster *c, const struct told *t,
                         const char *what) {
    size_t size = c->size > 0 ? (size_t)c->size : 0;
    const char *problem = NULL;
    if (t->unsettled.n)
        problem =
            run_printf(r, "%s: members that are not settled: %s", what, run_list(r, &t->unsettled));
    else if (t->learners.n)
        problem = run_printf(r, "%s: learners that wait to be promoted: %s", what,
                             run_list(r, &t->learners));
    else if (t->n < size)
        problem = run_printf(r, "%s has %zu of %zu members", what, t->n, size);
    for (size_t i = 0; problem && i < r->going.n; i++)
        for (size_t k = 0; k < t->n; k++)
            if (str_same(t->voters[k].node, r->going.p[i])) {
                run_find(r, r->going.p[i], CHECK_WAIT, CHECK_CORDON, BLOCKER_QUORUM_AT_RISK,
                         &kind_etcd_cluster, &c->meta, problem)
                    ->ends = run_printf(r, "%s has all its members, and all of them vote", what);
                break;
            }
}

/* Members whose pods are not there are of no use to tell which nodes matter. */
static void judge_unknown(struct check_run *r, const struct etcd_cluster *c,
                          const struct pod **pods, size_t n, const char *what) {
    for (size_t i = 0; i < r->going.n; i++)
        for (size_t k = 0; k < n; k++)
            if (str_same(pods[k]->node_name, r->going.p[i])) {
                run_find(
                    r, r->going.p[i], CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION,
                    BLOCKER_CHECK_UNKNOWN, &kind_etcd_cluster, &c->meta,
                    run_printf(r,
                               "%s says neither how many members it wants (spec.size) nor which it "
                               "has (status.members)",
                               what));
                break;
            }
}

static size_t count_unread(const struct check_run *r, const struct etcd_cluster *c) {
    const struct store *members = run_store(r, SOURCE_ETCD_MEMBERS);
    const struct object *obj;
    size_t n = 0;
    for (uint32_t i = 0; members && (obj = store_next(members, &i));)
        n += run_unread(SOURCE_ETCD_MEMBERS, obj) && str_same(obj->meta.ns, c->meta.ns);
    return n;
}

static void judge_cluster(struct check_run *r, const struct etcd_cluster *c) {
    struct told t = {0};
    size_t n = 0;
    const char *what = run_printf(r, "etcd cluster %s/%s", strna(c->meta.ns), c->meta.name);
    const struct pod **pods =
        run_pods(r, SOURCE_ETCD_CLUSTER_PODS, c->meta.ns, "controller", c->meta.name, &n);
    tell_members(r, c, &t);
    if (!t.n && !t.learners.n)
        tell_status(r, c, &t);
    bool by_pods = !t.n && !t.learners.n;
    if (by_pods)
        tell_pods(r, pods, n, &t);
    if (by_pods && c->size <= 0) {
        judge_unknown(r, c, pods, n, what);
        return;
    }
    judge_change(r, c, &t, what);
    size_t size = c->size > 0 ? (size_t)c->size : 0;
    struct check_group g = {
        .kind = &kind_etcd_cluster,
        .object = &c->meta,
        .what = what,
        .members = t.voters,
        .n = t.n,
        .total = by_pods ? MAX_OF(t.n, size) : t.n,
        /* Members that could not be read may be its own: without them nothing is "never". */
        .wanted = MAX_OF(size, t.n + count_unread(r, c)),
        .wait_when = CHECK_CORDON | CHECK_OPERATION,
        .deny_when = CHECK_CORDON | CHECK_OPERATION,
    };
    run_quorum(r, &g);
}

void check_etcd_operator(struct check_run *r) {
    struct check_objects clusters = run_sorted(r, SOURCE_ETCD_CLUSTERS);
    for (size_t i = 0; i < clusters.n; i++)
        judge_cluster(r, (const struct etcd_cluster *)clusters.p[i]);
}

/* --- the control plane --- */

bool check_is_etcd(const struct pod *pod) {
    return str_same(pod->meta.ns, "kube-system") &&
           str_same(map_get(pod->meta.labels, "component"), "etcd");
}

void check_etcd(struct check_run *r) {
    size_t n = 0;
    const struct pod **pods = run_pods(r, SOURCE_ETCD_PODS, "kube-system", "component", "etcd", &n);
    struct check_member *members = arena_alloc(r->arena, (n + 1) * sizeof *members);
    for (size_t i = 0; i < n; i++)
        members[i] =
            (struct check_member){pods[i]->meta.name, pods[i]->node_name, pod_ready(pods[i])};
    struct check_group g = {
        .what = "control-plane etcd",
        .members = members,
        .n = n,
        .total = n,
        .wait_when = CHECK_CORDON | CHECK_OPERATION,
        /* The only control-plane node can be drained like any other: its etcd goes on running.
         * There is no other order in which it could be done, so that nobody waits for anything. */
        .deny_when = CHECK_OPERATION,
    };
    run_quorum(r, &g);
}
