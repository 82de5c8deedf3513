/* Nodes whose turn is still to come are marked (engine/next_mark.h), so that pods move once. Nobody
 * waits for the marks, and a drain does not fail because they cannot be written; those that it has
 * set and has not come to it takes off again. */
#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/next_mark.h"

enum {
    MARKS_MAX = 8,  /* that are written at a time */
    MARK_TRIES = 4, /* each */
    MARK_RETRY_MS = 200,
};

static bool is_wanted(const struct dnode *n, const struct node *node) {
    return n->pub.phase == DRAIN_WAITING && n->mark == MARK_NONE && !node->unschedulable;
}

/* It ended without having been cordoned, or its cordon was ours before it had the mark. */
static bool is_left(const struct dnode *n, const struct node *node) {
    return drain_ended(n->pub.phase) && n->mark == MARK_SET && next_marked(node);
}

static void write_mark(struct drain *d, struct dnode *n, const struct node *node, bool on) {
    _cleanup_str_ struct str patch = STR_INIT;
    next_mark_patch(node, on ? NEXT_OF_DRAIN : NULL, &patch);
    n->mark_action = drain_request(d,
                                   &(struct action){.verb = ACTION_PATCH,
                                                    .kind = &kind_node,
                                                    .name = n->pub.name,
                                                    .body = str_get(&patch),
                                                    .grace = -1,
                                                    .minor = true},
                                   n, NULL, NULL);
    d->marking++;
}

/* True: nothing more can be written now. */
static bool step_mark(struct drain *d, struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    if (!node || n->mark_action || n->action || n->mark == MARK_GIVEN_UP)
        return false;
    if (n->mark == MARK_NONE && next_marked(node))
        n->mark = MARK_SET; /* by an earlier run */
    bool on = is_wanted(n, node);
    if (!on && !is_left(n, node))
        return false;
    if (n->mark_at > d->now.mono || !store_fresh(d->cluster->nodes, NULL, n->pub.name)) {
        drain_wake(d, MAX_OF(n->mark_at, d->now.mono + MSEC(MARK_RETRY_MS)));
        return false;
    }
    if (d->marking >= MARKS_MAX)
        return true;
    write_mark(d, n, node, on);
    return false;
}

void drain_marks_step(struct drain *d) {
    if (!d->opts.avoid_next || d->opts.dry_run != DRY_RUN_NONE)
        return;
    for (size_t i = 0; i < d->nodes.len; i++)
        if (step_mark(d, d->nodes.p[i]))
            return;
}

bool drain_mark_answer(struct drain *d, const struct request *r, const struct answer *a) {
    struct dnode *n = r->node;
    if (n->mark_action != r->id)
        return false;
    bool on = n->mark == MARK_NONE;
    n->mark_action = 0;
    d->marking--;
    bool passes = kube_outcome_row(a->outcome)->retry || a->outcome == KUBE_CONFLICT;
    if (a->outcome == KUBE_OK || (a->outcome == KUBE_UNKNOWN && on)) {
        n->mark = on ? MARK_SET : MARK_GIVEN_UP; /* off: there is nothing more to do */
        n->mark_tries = 0;
    } else if (passes && ++n->mark_tries < MARK_TRIES) {
        n->mark_at = d->now.mono + drain_pause(d, a, n->mark_tries, MSEC(MARK_RETRY_MS), SEC(5));
    } else {
        n->mark = MARK_GIVEN_UP;
        if (!on)
            drain_tell(d, NOTE_REMARK, n, NULL,
                       "it keeps the taint " NEXT_TAINT "; 'slipway uncordon' takes it off");
    }
    return true;
}

bool drain_mark_left(const struct drain *d, const struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    return n->mark_action ||
           (d->opts.avoid_next && node && n->mark == MARK_SET && is_left(n, node));
}
