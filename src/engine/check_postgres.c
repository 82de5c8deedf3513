/* The checks of PostgreSQL clusters, CloudNativePG's and Zalando's: complete before, an instance
 * left elsewhere, the primary gone before the node is operated on, complete again after. */
#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/guard.h"
#include "engine/podrole.h"

/* What both operators have in common. */
struct database {
    const struct kind *kind;
    const struct meta *object;
    const char *what;                   /* "PostgreSQL cluster shop/main" */
    const char *wanted_in, *primary_in; /* where it says so */
    int32_t wanted;                     /* instances; ABSENT32 */
    const struct pod **pods;            /* its instances */
    size_t n;
    const struct pod *primary;
    const char *sick; /* what is wrong with it, or NULL */
    enum blocker_code sick_code;
    size_t lacking; /* how many instances are not ready, when that is all that is wrong; else 0 */
    bool consent;   /* its owner has opened a maintenance window */
    const char *single_hint, *primary_hint, *primary_ends;
};

/* Seen from one node. */
struct side {
    size_t here, ready, staying; /* instances on the node; ready ones; ready ones that stay */
    bool primary;
};

static struct side look(const struct check_run *r, const struct database *d, const char *node) {
    struct side s = {0};
    for (size_t i = 0; i < d->n; i++) {
        bool ready = pod_ready(d->pods[i]) && !d->pods[i]->meta.deleted;
        s.here += str_same(d->pods[i]->node_name, node);
        s.ready += ready;
        s.staying += ready && !run_lost(r, d->pods[i]->node_name);
    }
    s.primary = d->primary && str_same(d->primary->node_name, node);
    return s;
}

static struct check_finding *find(struct check_run *r, const struct database *d, const char *node,
                                  enum check_verdict verdict, unsigned when, enum blocker_code code,
                                  const char *evidence) {
    return run_find(r, node, verdict, when, code, d->kind, d->object, evidence);
}

/* Only one instance is wanted, and it is here. */
static void judge_single(struct check_run *r, const struct database *d, const char *node) {
    const unsigned both = CHECK_CORDON | CHECK_OPERATION;
    if (d->consent) {
        run_remark(r, node, both, BLOCKER_LAST_REPLICA, d->kind, d->object,
                   run_printf(r,
                              "%s has one instance, which stops with the node; its maintenance "
                              "window is open",
                              d->what));
        return;
    }
    struct check_finding *f = find(
        r, d, node, CHECK_DENY, both, BLOCKER_LAST_REPLICA,
        run_printf(r, "%s has one instance, which runs on this node: it can go nowhere", d->what));
    f->hint = d->single_hint;
    f->ends = run_printf(r, "%s has a ready instance on another node", d->what);
}

/* Every instance that is not ready is on this node: who goes to mend it makes nothing worse. */
static bool own_fault(const struct database *d, const char *node) {
    size_t here = 0;
    for (size_t i = 0; i < d->n; i++)
        if (!pod_ready(d->pods[i])) {
            if (!str_same(d->pods[i]->node_name, node))
                return false;
            here++;
        }
    return here && here == d->lacking;
}

static void judge_going(struct check_run *r, const struct database *d, const char *node) {
    const unsigned both = CHECK_CORDON | CHECK_OPERATION;
    struct side s = look(r, d, node);
    if (!s.here)
        return;
    if (d->wanted == ABSENT32) {
        find(r, d, node, CHECK_WAIT, both, BLOCKER_CHECK_UNKNOWN,
             run_printf(r, "%s does not say how many instances it wants (%s)", d->what,
                        d->wanted_in));
        return;
    }
    if (d->wanted < 1) {
        find(r, d, node, CHECK_WAIT, both, BLOCKER_CHECK_UNKNOWN,
             run_printf(r, "%s wants %d instances and has %zu on this node", d->what, d->wanted,
                        s.here))
            ->ends = "its pods are gone, or it says how many it wants";
        return;
    }
    if (d->wanted == 1) {
        judge_single(r, d, node);
        return;
    }
    if (!s.staying)
        find(r, d, node, CHECK_WAIT, both, BLOCKER_LAST_REPLICA,
             run_printf(r,
                        "%s has %zu of %d instances ready, none of them on a node that stays in "
                        "service",
                        d->what, s.ready, d->wanted))
            ->ends = run_printf(r, "%s has a ready instance on another node", d->what);
    if (d->sick && own_fault(d, node))
        run_remark(r, node, CHECK_CORDON, d->sick_code, d->kind, d->object,
                   run_printf(r, "%s; those that are not ready are on this node", d->sick));
    else if (d->sick)
        find(r, d, node, CHECK_WAIT, CHECK_CORDON, d->sick_code, d->sick)->ends = run_printf(
            r, "all %d instances of %s are ready and nothing is under way", d->wanted, d->what);
    if (!d->primary) {
        find(r, d, node, CHECK_WAIT, both, BLOCKER_CHECK_UNKNOWN,
             run_printf(r, "nobody can tell which pod is the primary of %s (%s)", d->what,
                        d->primary_in));
    } else if (s.primary && s.staying) {
        struct check_finding *f =
            find(r, d, node, CHECK_WAIT, CHECK_OPERATION, BLOCKER_PRIMARY_ON_NODE,
                 run_printf(
                     r, "the primary of %s, pod %s, runs here; %zu ready instance%s elsewhere",
                     d->what, d->primary->meta.name, s.staying, s.staying == 1 ? " is" : "s are"));
        f->hint = d->primary_hint;
        f->ends = d->primary_ends;
    }
    run_pass(r, node,
             run_printf(r, "%s: %zu of %d instances are ready on nodes that stay", d->what,
                        s.staying, d->wanted));
}

/* An instance with a local volume waits for its node and is nowhere until it runs. */
static void judge_back(struct check_run *r, const struct database *d, const char *node) {
    bool mine = false;
    size_t ready = 0;
    for (size_t i = 0; i < d->n; i++) {
        mine = mine || !d->pods[i]->node_name || str_same(d->pods[i]->node_name, node);
        ready += pod_ready(d->pods[i]);
    }
    if (!mine)
        return;
    if (d->sick)
        find(r, d, node, CHECK_WAIT, CHECK_RETURN, d->sick_code, d->sick)->ends =
            run_printf(r, "all instances of %s are ready and nothing is under way", d->what);
    run_pass(r, node, run_printf(r, "%s: all instances are ready (%zu)", d->what, ready));
}

static void judge(struct check_run *r, const struct database *d) {
    const char *node;
    for (size_t i = 0; (node = run_next(r, &i));)
        judge_going(r, d, node);
    for (size_t i = 0; i < r->back.n; i++)
        judge_back(r, d, r->back.p[i]);
}

/* --- CloudNativePG --- */

#define CNPG_HEALTHY "Cluster in healthy state"

/* Poolers and jobs have the cluster's label too. */
static void keep_instances(const struct pod **pods, size_t *n) {
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (!map_has(pods[i]->meta.labels, "cnpg.io/poolerName") &&
            !map_has(pods[i]->meta.labels, "cnpg.io/jobRole"))
            pods[kept++] = pods[i];
    *n = kept;
}

/* Nothing is under way but what instances that are not ready bring about: the operator neither
 * moves the primary nor makes, upgrades or mends anything. */
static bool is_settled(const struct cnpg_cluster *c) {
    return str_same(c->primary, c->target_primary) &&
           (streq(c->phase, CNPG_HEALTHY) ||
            streq(c->phase, "Waiting for the instances to become active"));
}

static void judge_cnpg(struct check_run *r, const struct cnpg_cluster *c, struct database *d) {
    d->sick_code = BLOCKER_STORAGE_NOT_OK;
    if (str_empty(c->phase)) {
        d->sick = run_printf(r, "%s says nothing about its state (status.phase)", d->what);
        d->sick_code = BLOCKER_CHECK_UNKNOWN;
    } else if (c->instances != ABSENT32 && c->ready < c->instances) {
        d->sick = run_printf(r, "%s has %d of %d instances ready (%s)", d->what, c->ready,
                             c->instances, c->phase);
        if (c->ready >= 0 && is_settled(c))
            d->lacking = (size_t)(c->instances - c->ready);
    } else if (!str_same(c->primary, c->target_primary)) {
        d->sick = run_printf(r, "%s is switching its primary from %s to %s", d->what,
                             strna(c->primary), strna(c->target_primary));
    } else if (!streq(c->phase, CNPG_HEALTHY)) {
        d->sick = run_printf(r, "%s: %s%s%s", d->what, c->phase,
                             str_empty(c->phase_reason) ? "" : ": ", strna(c->phase_reason));
    }
    for (size_t i = 0; i < d->n; i++)
        if (str_same(d->pods[i]->meta.name, c->primary))
            d->primary = d->pods[i];
}

void check_cnpg(struct check_run *r) {
    struct check_objects clusters = run_sorted(r, SOURCE_CNPG_CLUSTERS);
    for (size_t i = 0; i < clusters.n; i++) {
        const struct cnpg_cluster *c = (const struct cnpg_cluster *)clusters.p[i];
        struct database d = {
            .kind = &kind_cnpg_cluster,
            .object = &c->meta,
            .wanted_in = "spec.instances",
            .primary_in = "status.currentPrimary",
            .what = run_printf(r, "PostgreSQL cluster %s/%s", strna(c->meta.ns), c->meta.name),
            .wanted = c->instances,
            .consent = c->maintenance,
            .single_hint = "set spec.instances to 2, or open spec.nodeMaintenanceWindow for the "
                           "outage",
            .primary_hint = guards[GUARD_CNPG_PRIMARY].hint,
            .primary_ends = "status.currentPrimary is a pod on another node",
        };
        d.pods = run_pods(r, SOURCE_CNPG_PODS, c->meta.ns, "cnpg.io/cluster", c->meta.name, &d.n);
        keep_instances(d.pods, &d.n);
        judge_cnpg(r, c, &d);
        judge(r, &d);
    }
}

/* --- Zalando --- */

static void judge_zalando(struct check_run *r, const struct postgresql *p, struct database *d) {
    size_t ready = 0;
    d->sick_code = BLOCKER_STORAGE_NOT_OK;
    for (size_t i = 0; i < d->n; i++) {
        ready += pod_ready(d->pods[i]);
        if (str_same(map_get(d->pods[i]->meta.labels, "spilo-role"), "master") &&
            (!d->primary || pod_ready(d->pods[i])))
            d->primary = d->pods[i];
    }
    if (str_empty(p->status)) {
        d->sick = run_printf(r, "%s says nothing about its state (status.PostgresClusterStatus)",
                             d->what);
        d->sick_code = BLOCKER_CHECK_UNKNOWN;
    } else if (!streq(p->status, "Running")) {
        d->sick = run_printf(r, "%s is %s", d->what, p->status);
    } else if (p->instances != ABSENT32 && p->instances > 0 && ready < (size_t)p->instances) {
        d->sick = run_printf(r, "%s has %zu of %d instances ready", d->what, ready, p->instances);
        d->lacking = (size_t)p->instances - ready;
    }
}

void check_zalando(struct check_run *r) {
    struct check_objects all = run_sorted(r, SOURCE_POSTGRESQLS);
    for (size_t i = 0; i < all.n; i++) {
        const struct postgresql *p = (const struct postgresql *)all.p[i];
        struct database d = {
            .kind = &kind_postgresql,
            .object = &p->meta,
            .wanted_in = "spec.numberOfInstances",
            .primary_in = "the pods' label spilo-role",
            .what = run_printf(r, "PostgreSQL cluster %s/%s", strna(p->meta.ns), p->meta.name),
            .wanted = p->instances,
            .single_hint = "set spec.numberOfInstances to 2; until then its budget refuses the "
                           "eviction of the master",
            .primary_hint = guards[GUARD_ZALANDO_MASTER].hint,
            .primary_ends = "the pod with the label spilo-role=master is on another node",
        };
        d.pods =
            run_pods(r, SOURCE_POSTGRESQL_PODS, p->meta.ns, "cluster-name", p->meta.name, &d.n);
        judge_zalando(r, p, &d);
        judge(r, &d);
    }
}
