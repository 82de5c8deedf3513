/* What a drain looks at on a node that is cordoned, before it touches a pod: whether it may, what
 * has to be said first, and, when nothing shall be changed, what would happen. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/podrole.h"

enum {
    CORDONS_FOR = 5,   /* seconds that a node's cordon holds up the evictions of others */
    CORDONS_USUAL = 1, /* seconds that nobody wonders about */
};

/* "cannot delete X: a, b", as kubectl's aggregate of errors. */
static char *refusals(const struct dnode *n) {
    _cleanup_str_ struct str all = STR_INIT;
    unsigned sorts = 0;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct drain_pod *p = &n->pods.p[i]->pub;
        bool seen = false;
        if (p->state != DRAIN_POD_REFUSED)
            continue;
        for (size_t k = 0; k < i && !seen; k++)
            seen = n->pods.p[k]->pub.state == DRAIN_POD_REFUSED &&
                   str_same(n->pods.p[k]->pub.why, p->why);
        if (seen)
            continue;
        str_addf(&all, "%scannot delete %s: ", sorts++ ? ", " : "", strna(p->why));
        bool first = true;
        for (size_t k = i; k < n->pods.len; k++) {
            const struct drain_pod *q = &n->pods.p[k]->pub;
            if (q->state != DRAIN_POD_REFUSED || !str_same(q->why, p->why))
                continue;
            str_addf(&all, "%s%s/%s", first ? "" : ", ", q->ns, q->name);
            first = false;
        }
    }
    return sorts > 1 ? xasprintf("[%s]", str_get(&all)) : str_take(&all);
}

/* The warning about a pod, or NULL: what shall finish by itself is not deleted. */
static const char *warning_of(const struct dpod *p) {
    bool waits = p->rule.action == RULE_WAIT && !p->finished && p->pub.state == DRAIN_POD_QUEUED;
    return waits ? NULL : p->pub.why;
}

/* "ignoring DaemonSet-managed Pods: a, b; deleting Pods ...: c". */
static void warn(struct drain *d, struct dnode *n) {
    _cleanup_str_ struct str all = STR_INIT;
    for (size_t i = 0; i < n->pods.len; i++) {
        const char *why = warning_of(n->pods.p[i]);
        bool seen = !why;
        for (size_t k = 0; k < i && !seen; k++)
            seen = str_same(warning_of(n->pods.p[k]), why);
        if (seen)
            continue;
        str_addf(&all, "%s%s: ", all.len ? "; " : "", why);
        bool first = true;
        for (size_t k = i; k < n->pods.len; k++) {
            const struct drain_pod *q = &n->pods.p[k]->pub;
            if (!str_same(warning_of(n->pods.p[k]), why))
                continue;
            str_addf(&all, "%s%s/%s", first ? "" : ", ", q->ns, q->name);
            first = false;
        }
    }
    if (all.len)
        drain_tell(d, NOTE_WARNINGS, n, NULL, str_get(&all));
}

/* All pods on the node have been adopted: everything that had to be read was. */
bool drain_all_known(const struct drain *d, const struct dnode *n) {
    size_t count;
    const struct pod *const *list = cluster_pods_on(d->cluster, n->pub.name, &count);
    for (size_t i = 0; i < count; i++) {
        const char *uid = list[i]->meta.uid;
        if (uid && filter_selects(&d->opts, list[i]) &&
            !htab_find(&d->pods, hash_bytes(uid, strlen(uid)), uid))
            return false;
    }
    return true;
}

/* What has to be read first, and cannot be for now. */
void drain_block_by_reads(struct drain *d, struct dnode *n) {
    const struct lookup *l = d->cluster->troubled;
    if (!l)
        return;
    _cleanup_free_ char *name = drain_full_name(l->ns, l->name);
    drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, l->kind->name, name, "cannot be read: %s",
                     strna(l->why));
}

/* Whether others are still being cordoned that began with us: what is evicted now could be put
 * there and would be evicted again. Nobody is waited for for long. */
static bool others_come(struct drain *d, struct dnode *n) {
    int64_t until = n->batch->began + SEC(CORDONS_FOR);
    if (!n->batch->cordoning || until <= d->now.mono)
        return false;
    drain_wake(d, until);
    if (d->now.mono < n->batch->began + SEC(CORDONS_USUAL)) {
        drain_wake(d, n->batch->began + SEC(CORDONS_USUAL));
        return true;
    }
    drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, "Node", n->pub.name,
                     "%u of the nodes that began with it cannot be cordoned yet",
                     n->batch->cordoning);
    return true;
}

/* What a drain would wait for, and not only for others before it. It becomes the pod's blocker. */
static void would_wait(struct drain *d, struct dpod *p, const struct pod *pod) {
    const struct dnode *n = p->node;
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    const char *finalizer = pod ? pod_finalizer(pod) : NULL;
    bool stuck =
        pod && pod->meta.deleted && drain_server_now(d) - pod->meta.deleted > SEC(POD_STUCK_AFTER);
    if (p->rule.action == RULE_HOLD)
        drain_pod_block(d, p, BLOCKER_DO_NOT_DISRUPT, "Pod", name, "it is marked %s", p->rule.name);
    else if (p->rule.action == RULE_WAIT && !p->finished)
        drain_pod_block(d, p, BLOCKER_JOB_RUNNING, "Pod", name, "until it has finished (%s)",
                        p->rule.name);
    else if (p->pinned)
        drain_pod_block(d, p, BLOCKER_PINNED, "Pod", name, "%s declares spec.nodeName %s",
                        p->pub.owner, n->pub.name);
    else if (node && node_is_lost(node))
        drain_pod_block(d, p, BLOCKER_NODE_UNREACHABLE, "Node", n->pub.name,
                        "the node does not answer: whether its pods have stopped cannot be known");
    else if (finalizer && (stuck || !pod->meta.deleted))
        drain_pod_block(d, p, BLOCKER_FINALIZER_STUCK, "Pod", name, "it has the finalizer %s",
                        finalizer);
    else if (stuck)
        drain_pod_block(d, p, BLOCKER_TERMINATING_STUCK, "Pod", name,
                        "its grace period is over and it still terminates");
    else if (pod && !pod->meta.deleted && !d->opts.disable_eviction)
        drain_evict_judge(d, p, pod);
    if (!p->pub.blocked && pod && !pod->meta.deleted && pod_may_return(pod))
        drain_pod_block(d, p, BLOCKER_RETURNS, "Pod", name,
                        "it tolerates node.kubernetes.io/unschedulable: the scheduler may put it "
                        "back on the cordoned node");
}

int drain_foreseen_order(const void *a, const void *b) {
    const struct drain_foreseen *x = a, *y = b;
    int c = strcmp(x->node, y->node);
    c = c ? c : strcmp(x->ns, y->ns);
    return c ? c : strcmp(x->name, y->name);
}

static const struct drain_foreseen *foreseen(const struct drain *d, const char *node,
                                             const char *ns, const char *name) {
    struct drain_foreseen key = {.node = node, .ns = ns, .name = name};
    return d->opts.n_foreseen ? bsearch(&key, d->opts.foreseen, d->opts.n_foreseen, sizeof key,
                                        drain_foreseen_order)
                              : NULL;
}

bool drain_only_asked(const struct dpod *p) {
    return !p->rule.deadline && p->rule.delete_after < 0 && p->rule.force_after < 0;
}

/* Nothing but somebody's help makes it go: what a plan calls never. */
static bool would_never_go(struct drain *d, struct dpod *p, const struct pod *pod) {
    if (!drain_only_asked(p))
        return false;
    switch ((int)(p->pub.blocked ? p->pub.blocker.code : BLOCKER_CODES)) {
    case BLOCKER_MULTIPLE_PDBS:
    case BLOCKER_PDB_UNSATISFIABLE:
    case BLOCKER_PDB_SYNC_FAILED:
    case BLOCKER_PINNED:
        return true;
    case BLOCKER_RETURNS:
        return pod && pod_wants_one_node(pod);
    default:
        break;
    }
    const struct drain_foreseen *f = foreseen(d, p->node->pub.name, p->pub.ns, p->pub.name);
    if (f)
        drain_pod_block(d, p, f->code, "", f->object, "%s", f->message);
    return f;
}

/* kubectl's dry run says that every pod goes; what a drain would wait for is said beside it, and
 * what never goes is not said to. */
static void rehearse(struct drain *d, struct dpod *p) {
    const struct pod *pod = (const struct pod *)store_get(d->cluster->pods, p->pub.ns, p->pub.name);
    if (p->pub.state == DRAIN_POD_QUEUED)
        drain_tell(d, NOTE_POD_EVICTING, p->node, p, NULL);
    would_wait(d, p, pod);
    p->pub.never = would_never_go(d, p, pod);
    const struct drain_blocker *b = &p->pub.blocker;
    if (!p->pub.blocked || p->pub.never || !blocker_row(b->code)->clears_itself)
        return; /* what only somebody's help ends is told at once */
    _cleanup_free_ char *self = drain_full_name(p->pub.ns, p->pub.name);
    bool own = str_same(b->object, self);
    _cleanup_free_ char *why =
        xasprintf("it would be waited for: %s%s%s: %s", blocker_row(b->code)->name, own ? "" : " ",
                  own ? "" : strna(b->object), b->message);
    drain_tell(d, NOTE_REMARK, p->node, p, why);
}

static bool is_never(const struct drain_pod *p) {
    return p->never;
}

/* Of a node that would not be drained, as the server's dry run has it. */
static void goes(struct dpod *p) {
    if (p->pub.state != DRAIN_POD_QUEUED || p->pub.blocked)
        return;
    p->pub.state = DRAIN_POD_GONE;
    p->node->pub.gone++;
}

static void rehearse_all(struct drain *d, struct dnode *n) {
    unsigned never = 0;
    for (size_t i = 0; i < n->pods.len; i++) {
        enum drain_pod_state state = n->pods.p[i]->pub.state;
        if (state == DRAIN_POD_QUEUED || state == DRAIN_POD_LEAVING)
            rehearse(d, n->pods.p[i]);
        never += n->pods.p[i]->pub.never;
    }
    for (size_t i = 0; never && i < n->pods.len; i++)
        goes(n->pods.p[i]);
    if (never) {
        _cleanup_free_ char *left = drain_pod_names(n, is_never);
        drain_node_end(d, n, DRAIN_TIMED_OUT, "%u pod%s can never be evicted: %s", never,
                       never == 1 ? "" : "s", left);
    } else {
        drain_node_end(d, n, DRAIN_DONE, "%s", "");
    }
}

bool drain_node_look(struct drain *d, struct dnode *n) {
    unsigned refused = 0, forbidden = 0;
    drain_pods_look(d, n);
    if (!drain_all_known(d, n)) {
        drain_block_by_reads(d, n);
        return false;
    }
    for (size_t i = 0; i < n->pods.len; i++) {
        refused += n->pods.p[i]->pub.state == DRAIN_POD_REFUSED;
        forbidden += n->pods.p[i]->forbidden;
    }
    n->pub.access = refused && refused == forbidden;
    if (refused) {
        _cleanup_free_ char *why = refusals(n);
        drain_node_end(d, n, DRAIN_REFUSED, "%s", why);
        return false;
    }
    if (d->opts.dry_run == DRY_RUN_NONE && others_come(d, n))
        return false;
    warn(d, n);
    if (d->opts.dry_run == DRY_RUN_CLIENT) {
        rehearse_all(d, n);
        return false;
    }
    return true;
}
