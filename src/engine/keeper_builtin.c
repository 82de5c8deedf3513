/* The built-in policy holds only where there is no Policy. Nobody is told of the first one at once:
 * a watch of a kind that the server does not have yet begins a while after it has got it. So a slot
 * is given only after a list of the Policies has found none, which began when there was somebody to
 * give it to. Who holds one already is served without. */
#include <stdlib.h>

#include "engine/keeper_internal.h"

/* Milliseconds for which a list that has come is believed: a write that is in a conflict is done
 * again by then, and one who was frozen meanwhile lists again. */
enum { BELIEVED_MS = 1000 };

static void forget(struct none_look *n) {
    mem_clear(&n->node);
    n->wanted = n->found = false;
}

bool keeper_builtin_holds(struct keeper *k, const char *node) {
    struct none_look *n = &k->none;
    if (!k->opts.builtin)
        return true;
    bool same = str_same(n->node, node);
    if (same && n->found && k->now.mono - n->came <= MSEC(BELIEVED_MS))
        return true;
    if (same && (n->wanted || n->action))
        return false;
    forget(n);
    n->node = xstrdup(node);
    n->wanted = true;
    return false;
}

/* One that is under way for somebody else comes to its end first. */
void keeper_builtin_step(struct keeper *k) {
    struct none_look *n = &k->none;
    if (!n->wanted || n->action)
        return;
    if (n->not_before > k->now.mono) {
        keeper_wake(k, n->not_before);
        return;
    }
    n->wanted = false;
    n->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){
            .verb = ACTION_CONFIRM, .kind = &kind_policy, .name = n->node, .grace = -1});
}

bool keeper_builtin_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    struct none_look *n = &k->none;
    if (!n->action || action != n->action)
        return false;
    n->action = 0;
    if (a->outcome == KUBE_OK || a->outcome == KUBE_NOT_FOUND) {
        mem_clear(&n->trouble);
        n->tries = 0;
        n->came = k->now.mono;
        n->found = n->node && !n->wanted; /* else it began before whoever is to have it now */
        return true;
    }
    free(n->trouble);
    n->trouble = a->outcome == KUBE_EXISTS
                     ? xstrdup("there are Policies by now, and they have not been read yet")
                     : xasprintf("the built-in policy holds only without any Policy, and whether "
                                 "there is one cannot be read: %s",
                                 a->message);
    n->not_before = keeper_backoff(k, ++n->tries);
    if (!n->wanted)
        forget(n);
    keeper_wake(k, n->not_before);
    return true;
}

void keeper_builtin_spent(struct keeper *k) {
    if (!k->none.wanted && !k->none.action)
        forget(&k->none);
}

void keeper_builtin_done(struct keeper *k) {
    forget(&k->none);
    mem_clear(&k->none.trouble);
    k->none = (struct none_look){0};
}
