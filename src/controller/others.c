/* Others who are at work on our nodes. */
#include "controller/others.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/reason.h"

static void tell_of_rival(const struct others *o, const char *node, const struct rival_row *rival) {
    bool held = policies_slot(o->policies, node);
    _cleanup_free_ char *text =
        xasprintf("has another manager at work: %s %s%s", rival->name, rival->doing,
                  held ? "; it holds a slot here, and the other one does not know that"
                       : "; its policy counts it only while it is down");
    o->tell(o->arg, node, REASON_RIVAL_AT_WORK, text);
}

/* It was to wait until it is told, and somebody has not waited. */
static bool was_not_told(const struct others *o, const char *node) {
    const struct slot *slot = policies_slot(o->policies, node);
    return slot && slot->state < SLOT_GRANTED;
}

void others_node(const struct others *o, const struct node *before, const struct node *after,
                 int64_t now) {
    const struct rival_row *was = before ? rival_on_node(before) : NULL, *is = rival_on_node(after);
    if (is && is != was && is != rival_by_lock(&o->signs, after->meta.name, now))
        tell_of_rival(o, after->meta.name, is);
    if (before && str_same(before->meta.uid, after->meta.uid) && !str_empty(before->info.boot_id) &&
        !streq(keeper_boot(before), keeper_boot(after)) && was_not_told(o, after->meta.name))
        o->tell(o->arg, after->meta.name, REASON_REBOOTED_BY_OTHERS,
                "has rebooted while it was being drained, and was not told that it may go");
}

void others_pod(const struct others *o, const struct pod *before, const struct pod *after) {
    const struct rival_row *was = before ? rival_of_pod(before) : NULL, *is = rival_of_pod(after);
    if (is && is != was && !str_empty(after->node_name))
        tell_of_rival(o, after->node_name, is);
}

struct locking {
    const struct others *o;
    const struct kured_lock *before;
    int64_t now;
};

static void on_lock(void *arg, const char *name, const struct rival_row *rival) {
    const struct locking *l = arg;
    const struct node *node = (const struct node *)store_get(l->o->nodes, NULL, name);
    if (node && rival != rival_on_node(node) &&
        !(l->before && rival_of_lock(l->before, name, l->now)))
        tell_of_rival(l->o, name, rival);
}

void others_lock(const struct others *o, const struct kured_lock *before,
                 const struct kured_lock *after, int64_t now) {
    struct locking l = {o, before, now};
    rival_locks(after, now, on_lock, &l);
}
