/* Lists that confirm what the watches say, before a node is called empty: a watch does not tell
 * what it is late with. */
#include "base/mem.h"
#include "engine/drain_internal.h"

enum { RETRY_MS = 100, RETRY_MAX = 10 };

bool drain_confirm(struct drain *d, struct dnode *n, struct dconfirm *c, const struct kind *kind) {
    if (c->done || d->opts.dry_run != DRY_RUN_NONE)
        return true;
    if (!c->action && c->not_before <= d->now.mono)
        c->action = drain_request(
            d,
            &(struct action){
                .verb = ACTION_CONFIRM, .kind = kind, .name = n->pub.name, .grace = -1},
            n, NULL, c);
    drain_wake(d, c->not_before);
    return false;
}

void drain_confirm_block(struct drain *d, struct dnode *n, const struct dconfirm *c,
                         const struct kind *kind) {
    if (c->why)
        drain_node_block(d, n, BLOCKER_SERVER_TROUBLE, "Node", n->pub.name,
                         "cannot list its %s: %s", kind->resource, c->why);
}

void drain_confirm_answer(struct drain *d, struct dconfirm *c, const struct answer *a) {
    c->action = 0;
    c->done = a->outcome == KUBE_OK;
    str_replace(&c->why, c->done ? NULL : a->message);
    if (!c->done)
        c->not_before = d->now.mono + drain_pause(d, a, ++c->tries, MSEC(RETRY_MS), SEC(RETRY_MAX));
}
