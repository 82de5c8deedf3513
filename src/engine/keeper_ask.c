/* Those who ask whether they may go, and those who report that they are back. */
#include <stdlib.h>

#include "engine/keeper_internal.h"

enum {
    HOLD_MS = 700,   /* a question whose answer may change within that is held back */
    REFRESH_S = 600, /* that somebody still asks is written so often */
    ASKED_S = 30,    /* what could not be written by then is not: it may have been served since */
    NAMES = 3,       /* of those who hold the slots */
};

static void asked_done(struct asked *a) {
    free(a->node);
    free(a->boot);
}

static void ticket_free(struct keeper *k, struct ticket *t) {
    object_free(&kind_node, k->cluster->pool, t->read);
    free(t->node);
    free(t);
}

void keeper_tickets_done(struct keeper *k) {
    for (size_t i = 0; i < k->tickets.len; i++)
        ticket_free(k, k->tickets.p[i]);
    vec_done(&k->tickets);
    for (size_t i = 0; i < k->asked.len; i++)
        asked_done(&k->asked.p[i]);
    vec_done(&k->asked);
}

/* Whoever reports does not ask any more, whatever it has asked before. */
static void forget_asked(struct keeper *k, const char *node) {
    for (size_t i = 0; i < k->tickets.len; i++)
        if (streq(k->tickets.p[i]->node, node))
            k->tickets.p[i]->asked = true;
    for (size_t i = 0; i < k->asked.len; i++)
        if (streq(k->asked.p[i].node, node)) {
            asked_done(&k->asked.p[i]);
            k->asked.p[i] = k->asked.p[--k->asked.len];
            return;
        }
}

void keeper_ask(struct keeper *k, uint64_t ticket, const char *node, enum keeper_question question,
                struct now now) {
    struct ticket *t = xnew(struct ticket);
    *t = (struct ticket){
        .id = ticket, .node = xstrdup(node), .question = question, .since = now.mono};
    if (question == KEEPER_STEADY)
        forget_asked(k, node);
    *vec_push(&k->tickets) = t;
    k->dirty = true;
}

static void drop(struct keeper *k, size_t i) {
    ticket_free(k, k->tickets.p[i]);
    k->tickets.p[i] = k->tickets.p[--k->tickets.len];
}

void keeper_cancel(struct keeper *k, uint64_t ticket) {
    for (size_t i = 0; i < k->tickets.len; i++)
        if (k->tickets.p[i]->id == ticket) {
            drop(k, i);
            return;
        }
}

/* --- words --- */

static bool reply(struct keeper *k, const struct ticket *t, enum keeper_say say, const char *text) {
    k->opts.reply(k->opts.arg, &(struct keeper_reply){t->id, say, text});
    return true;
}

/* "other nodes rebooting: w1, w2 and 3 more" */
static bool say_full(struct keeper *k, const struct ticket *t) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct slots *s = &k->record.slots;
    str_add(&text, "other nodes rebooting");
    for (size_t i = 0; i < s->list.len && i < NAMES; i++)
        str_addf(&text, "%s%s", i ? ", " : ": ", s->list.p[i].node);
    if (s->list.len > NAMES)
        str_addf(&text, " and %zu more", s->list.len - NAMES);
    if (!s->list.len)
        str_add(&text, ": nodes that are down take the slots");
    return reply(k, t, KEEPER_FULL, str_get(&text));
}

/* The first of its pods that waits for something, the ones first that wait for somebody's help. */
const struct drain_blocker *keeper_blocker_of(const struct drain_node *n) {
    const struct drain_blocker *found = n->blocked ? &n->blocker : NULL;
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct drain_pod *p = n->pods[i];
        if (!p->blocked)
            continue;
        if (!blocker_row(p->blocker.code)->clears_itself)
            return &p->blocker;
        if (!found)
            found = &p->blocker;
    }
    return found;
}

/* Only whoever leads knows more than that. */
static bool say_draining(struct keeper *k, const struct ticket *t, const struct slot *slot) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct drain_node *n = k->drain ? drain_node(k->drain, t->node) : NULL;
    const struct hold *h = slot ? keeper_hold_of(k, slot->id) : NULL;
    const struct drain_blocker *b = n ? keeper_blocker_of(n) : NULL;
    bool stuck = b && !blocker_row(b->code)->clears_itself;
    str_add(&text, "pods still evicting");
    if (h && h->problem) {
        str_addf(&text, ": the node cannot be cordoned: %s", h->problem);
        stuck = true;
    } else if (n && drain_ended(n->phase) && n->phase != DRAIN_DONE) {
        str_addf(&text, ": %s", strna(n->error));
        stuck = true;
    } else if (n && n->total) {
        str_addf(&text, ": %u of %u gone", n->gone, n->total);
    }
    if (b)
        str_addf(&text, "; %s %s: %s", blocker_row(b->code)->name, b->object, b->message);
    return reply(k, t, stuck ? KEEPER_BLOCKED : KEEPER_DRAINING, str_get(&text));
}

static bool say_trouble(struct keeper *k, const struct ticket *t) {
    const char *why = k->record.trouble ? k->record.trouble
                      : k->trouble      ? k->trouble
                                        : "the API server has not answered in time";
    return reply(k, t, KEEPER_TROUBLE, why);
}

/* --- waiting --- */

static bool is_over(struct keeper *k, const struct ticket *t, int64_t limit) {
    if (k->now.mono >= t->since + limit)
        return true;
    keeper_wake(k, t->since + limit);
    return false;
}

/* True when the record is one of a read that began after the question had come. */
static bool is_sure(struct keeper *k, struct ticket *t) {
    if (!t->sure)
        t->sure = keeper_want_read(k);
    return k->reads_done >= t->sure;
}

/* --- may it go? --- */

static void note_asked(struct keeper *k, struct ticket *t, const struct slot *slot) {
    const struct slot_wish *wish = slots_waits(&k->record.slots, t->node);
    int64_t known = slot && slot->state < SLOT_GRANTED ? slot->asked : wish ? wish->asked : 0;
    if (t->asked)
        return;
    t->asked = true;
    if (k->now.mono - t->since > KEEPER_PATIENCE)
        return; /* we were frozen: it has asked somebody else since */
    const struct node *node = cluster_node(k->cluster, t->node);
    const char *boot = node ? keeper_boot(node) : "";
    bool same = (slot && slot->state < SLOT_GRANTED) || (wish && str_same(wish->boot, boot));
    if (same && k->now.wall - known < SEC(REFRESH_S))
        return; /* as is written */
    keeper_stir(k);
    for (size_t i = 0; i < k->asked.len; i++)
        if (streq(k->asked.p[i].node, t->node)) {
            k->asked.p[i].at = k->now.wall;
            k->asked.p[i].came = k->now.mono;
            str_replace(&k->asked.p[i].boot, boot);
            return;
        }
    *vec_push(&k->asked) =
        (struct asked){.node = xstrdup(t->node), .at = k->now.wall, .came = k->now.mono};
}

static void read_node(struct keeper *k, struct ticket *t) {
    t->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){.verb = ACTION_READ, .kind = &kind_node, .name = t->node, .grace = -1});
}

/* The grant is in the record; now the Node, as it is at this moment. */
static bool verify(struct keeper *k, struct ticket *t, const struct slot *slot) {
    if (!is_sure(k, t))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    if (!t->action && !t->read_done)
        read_node(k, t);
    if (!t->read_done)
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct node *node = (const struct node *)t->read;
    if (!node)
        return say_trouble(k, t);
    if (!streq(strna(node->meta.uid), slot->uid))
        return reply(k, t, KEEPER_BLOCKED, "another node of that name held the slot");
    if (!slots_may_go(&k->record.slots, t->node, strna(node->meta.uid), keeper_boot(node)))
        return reply(k, t, KEEPER_BLOCKED,
                     "it has rebooted since it was granted: it is put back into service first");
    if (!node->unschedulable || !keeper_is_cordoned(node, slot->id))
        return reply(k, t, KEEPER_BLOCKED, "somebody has uncordoned the node since it was drained");
    return reply(k, t, KEEPER_GO, "granted: the node is drained and may reboot");
}

/* Why the grant would be of no use, as far as is known; NULL: it would. */
static const char *no_use(const struct keeper *k, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, slot->node);
    if (!node || !streq(strna(node->meta.uid), slot->uid))
        return "the node that held the slot is gone";
    if (!streq(slot->boot, keeper_boot(node)))
        return "it has rebooted since it was drained: it is put back into service first";
    return keeper_is_cordoned(node, slot->id)
               ? NULL
               : "somebody has uncordoned the node since it was drained";
}

/* It is drained, and asks: the grant is written (keeper_tickets_change()), and then it is told. */
static bool wants_grant(struct keeper *k, struct ticket *t, const struct slot *slot) {
    const char *why = no_use(k, slot);
    if (!is_sure(k, t))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    if (why)
        return reply(k, t, KEEPER_BLOCKED, why);
    if (is_over(k, t, KEEPER_PATIENCE)) /* whoever asked may have got the answer from another one */
        return say_trouble(k, t);
    if (!t->grant) {
        t->grant = true;
        keeper_stir(k);
    }
    return false;
}

/* True when it was answered. */
static bool may_go(struct keeper *k, struct ticket *t) {
    const struct slots *s = keeper_slots(k);
    if (!s)
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct slot *slot = slots_holder(s, t->node);
    if (slot && slot->state == SLOT_GRANTED)
        return verify(k, t, slot);
    if (slot && slot->state == SLOT_DRAINED)
        return wants_grant(k, t, slot);
    note_asked(k, t, slot);
    t->hopes |= !slot && keeper_has_room(k);
    if (t->hopes && !is_over(k, t, MSEC(HOLD_MS)))
        return false;
    if (slot && slot->state == SLOT_TAKEN)
        return say_draining(k, t, slot);
    if (slot)
        return reply(k, t, KEEPER_FULL, "the slot of its last reboot is being put back");
    return t->hopes && keeper_has_room(k) ? say_draining(k, t, NULL) : say_full(k, t);
}

/* --- is it back? --- */

/* The seed's mark, the first time: on the Node as it is now. True when there is nothing to wait
 * for. */
static bool is_marked_ready(struct keeper *k, struct ticket *t, const struct node *node) {
    const struct node *read = (const struct node *)t->read;
    if (t->marked || !k->opts.seed_marks || !node || !keeper_node_ready(node) ||
        map_has(node->meta.annotations, SEED_MARK))
        return true;
    if (t->action)
        return false;
    if (!t->read_done) {
        read_node(k, t);
        return false;
    }
    if (!read || map_has(read->meta.annotations, SEED_MARK))
        return true;
    t->marking = true;
    t->action = keeper_mark_ready(k, read);
    return false;
}

/* One that holds no slot, and for which there is nothing to do but that mark; one that has been
 * told to go by the seed's manager is taken over first. */
static bool has_none(struct keeper *k, struct ticket *t) {
    const struct node *node = cluster_node(k->cluster, t->node);
    const char *mark = node ? map_get(node->meta.annotations, SEED_MARK) : NULL;
    if (k->opts.seed_marks && str_same(mark, SEED_REBOOTING))
        return is_over(k, t, KEEPER_PATIENCE) &&
               reply(k, t, KEEPER_UNREADY, "what another manager had begun is taken over first");
    if (!is_marked_ready(k, t, node) && !is_over(k, t, KEEPER_PATIENCE))
        return false;
    return reply(k, t, KEEPER_NOTED, "it holds no slot");
}

static bool is_back(struct keeper *k, struct ticket *t) {
    if (!is_sure(k, t) || !keeper_slots(k))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct slot *slot = slots_holder(&k->record.slots, t->node);
    if (slots_waits(&k->record.slots, t->node) || (slot && slot->state <= SLOT_GRANTED))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t); /* it is being written */
    if (!slot)
        return has_none(k, t);
    const struct node *node = cluster_node(k->cluster, t->node);
    if (node && !keeper_node_ready(node))
        return reply(k, t, KEEPER_UNREADY,
                     "the node is not Ready yet; it is put back into service when it is");
    return is_over(k, t, MSEC(HOLD_MS)) &&
           reply(k, t, KEEPER_NOTED, "noted: the node is being put back into service");
}

/* --- all of them --- */

void keeper_tickets_step(struct keeper *k) {
    for (size_t i = 0; i < k->tickets.len;) {
        struct ticket *t = k->tickets.p[i];
        if (t->question == KEEPER_MAY_GO ? may_go(k, t) : is_back(k, t))
            drop(k, i);
        else
            i++;
    }
}

bool keeper_tickets_change(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = false;
    size_t kept = 0;
    for (size_t i = 0; i < k->asked.len; i++) {
        struct asked *a = &k->asked.p[i];
        struct slot_wish wish = {.node = a->node,
                                 .operation = operation_word(OPERATION_REBOOT),
                                 .by = "fleetlock",
                                 .boot = a->boot,
                                 .since = a->at,
                                 .asked = a->at};
        bool late = k->now.mono - a->came > SEC(ASKED_S);
        if (late || slots_ask(s, &wish, SEC(REFRESH_S), arena)) {
            asked_done(a); /* it is there, or not wanted any more */
            continue;
        }
        a->sent = true;
        k->asked.p[kept++] = *a;
        changed = true;
    }
    k->asked.len = kept;
    for (size_t i = 0; i < k->tickets.len; i++) {
        const struct ticket *t = k->tickets.p[i];
        const struct slot *slot = slots_holder(s, t->node);
        _cleanup_err_ struct err err = ERR_INIT;
        if (t->question == KEEPER_STEADY)
            changed |= !slots_report(s, t->node, k->now.wall);
        else if (t->grant && slot && slot->state == SLOT_DRAINED && !no_use(k, slot))
            changed |= !slots_grant(s, slot->id, k->now.wall, &err);
    }
    return changed;
}

/* What was written once is not written again: it may have reported meanwhile, somewhere else. */
void keeper_tickets_written(struct keeper *k, bool done) {
    size_t kept = 0;
    for (size_t i = 0; i < k->asked.len; i++) {
        struct asked *a = &k->asked.p[i];
        if (done && a->sent) {
            asked_done(a);
            continue;
        }
        a->sent = false;
        k->asked.p[kept++] = *a;
    }
    k->asked.len = kept;
}

/* What was written meanwhile is read first. */
static void marked(struct keeper *k, struct ticket *t, const struct answer *a) {
    t->marking = false;
    t->marked = a->outcome != KUBE_CONFLICT;
    t->read_done = false;
    object_free(&kind_node, k->cluster->pool, t->read);
    t->read = NULL;
}

bool keeper_tickets_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->tickets.len; i++) {
        struct ticket *t = k->tickets.p[i];
        if (t->action != action)
            continue;
        t->action = 0;
        if (t->marking) {
            marked(k, t, a);
            return true;
        }
        t->read_done = true;
        if (a->outcome == KUBE_OK && a->obj)
            t->read = object_copy(&kind_node, a->obj);
        else
            str_replace(&k->trouble, a->message);
        return true;
    }
    return false;
}
