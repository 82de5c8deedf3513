/* Those who ask whether they may go, and those who report that they are back. */
#include <stdlib.h>

#include "engine/keeper_internal.h"

enum {
    HOLD_MS = 700,   /* a question whose answer may change within that is held back */
    REFRESH_S = 600, /* that somebody still asks is written so often */
    HELD_S = 60,     /* and of one who holds a slot: it loses that when it asks no more */
    ASKED_S = 30,    /* what could not be written by then is not: it may have been served since */
    NAMES = 3,       /* of those who hold the slots */
    LAX_S = 10,      /* whoever leads gives a slot that is free in less */
    FRESH_MS = 1000, /* whoever leads believes the record so long after it was read */
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

/* What is not written yet is not written any more. */
static void forget_asked(struct keeper *k, const char *node) {
    for (size_t i = 0; i < k->asked.len; i++)
        if (streq(k->asked.p[i].node, node)) {
            asked_done(&k->asked.p[i]);
            k->asked.p[i] = k->asked.p[--k->asked.len];
            return;
        }
}

/* Whoever reports does not ask any more, whatever it has asked before. */
static void asks_no_more(struct keeper *k, const char *node) {
    for (size_t i = 0; i < k->tickets.len; i++)
        if (streq(k->tickets.p[i]->node, node))
            k->tickets.p[i]->asked = true;
    forget_asked(k, node);
}

void keeper_ask(struct keeper *k, uint64_t ticket, const char *node, enum keeper_question question,
                struct now now) {
    struct ticket *t = xnew(struct ticket);
    *t = (struct ticket){
        .id = ticket, .node = xstrdup(node), .question = question, .since = now.mono};
    if (question == KEEPER_STEADY)
        asks_no_more(k, node);
    *vec_push(&k->tickets) = t;
    k->dirty = true;
}

static void drop(struct keeper *k, size_t i) {
    ticket_free(k, k->tickets.p[i]);
    k->tickets.p[i] = k->tickets.p[--k->tickets.len];
}

/* Whether somebody waits to hear that this node may go. */
static bool is_asked_for(const struct keeper *k, const char *node) {
    for (size_t i = 0; i < k->tickets.len; i++)
        if (k->tickets.p[i]->question == KEEPER_MAY_GO && streq(k->tickets.p[i]->node, node))
            return true;
    return false;
}

void keeper_cancel(struct keeper *k, uint64_t ticket) {
    for (size_t i = 0; i < k->tickets.len; i++) {
        if (k->tickets.p[i]->id != ticket)
            continue;
        _cleanup_free_ char *node = xstrdup(k->tickets.p[i]->node);
        bool wished = k->tickets.p[i]->question == KEEPER_MAY_GO;
        drop(k, i);
        if (wished && !is_asked_for(k, node))
            forget_asked(k, node);
        return;
    }
}

/* --- words --- */

static bool reply(struct keeper *k, const struct ticket *t, enum keeper_say say, const char *text) {
    k->opts.reply(k->opts.arg, &(struct keeper_reply){t->id, say, text});
    return true;
}

/* ": w1, w2 and 3 more" */
static void add_others(struct keeper *k, const struct ticket *t, struct str *text) {
    const struct slots *s = &k->record.slots;
    size_t n = 0;
    for (size_t i = 0; i < s->list.len; i++)
        if (!streq(s->list.p[i].node, t->node) && n++ < NAMES)
            str_addf(text, "%s%s", n > 1 ? ", " : ": ", s->list.p[i].node);
    if (n > NAMES)
        str_addf(text, " and %zu more", n - NAMES);
    if (n)
        return;
    if (keeper_elsewhere(k))
        str_add(text, ": they are out for another policy");
    else if (keeper_down(k))
        str_add(text, ": nodes that are down take the slots");
    else
        str_addf(text, ": none, and policy %s lets none out", k->opts.policy);
}

/* What it waits for when there is a slot: somebody has to see to it, and may begin now. */
static void add_gate(const struct slot_wait *wait, struct str *text) {
    enum blocker_code code = wait->code ? blocker_find(wait->code) : BLOCKER_CODES;
    if (code != BLOCKER_CODES && !blocker_row(code)->clears_itself)
        str_addf(text, "; and %s%s%s: %s", wait->code, *wait->object ? " " : "", wait->object,
                 wait->message);
}

/* It begins as the seed's answer does, whatever the reason. */
static bool say_full(struct keeper *k, const struct ticket *t) {
    _cleanup_str_ struct str text = STR_INIT, why = STR_INIT;
    const struct node *node = cluster_node(k->cluster, t->node);
    const struct slot_wish *wish = slots_waits(&k->record.slots, t->node);
    str_add(&text, "other nodes rebooting");
    bool other = node && !keeper_is_counted_out(k, t->node) &&
                 !slots_holder(&k->record.slots, t->node) &&
                 keeper_full(k, node, &why) != BLOCKER_CODES;
    if (other)
        str_addf(&text, ": %s", str_get(&why));
    else
        add_others(k, t, &text);
    if (wish)
        add_gate(&wish->wait, &text);
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

const struct drain_blocker *keeper_blocker(const struct keeper *k, const char *node) {
    const struct drain_node *n = k->drain ? drain_node(k->drain, node) : NULL;
    return n ? keeper_blocker_of(n) : NULL;
}

/* Its Node cannot be written, as whoever leads knows by itself. */
static bool is_in_trouble(const struct keeper *k, const struct slot *slot) {
    const struct hold *h = keeper_hold_of(k, slot->id);
    return h && h->problem;
}

/* There is a slot left, which it has not been given. */
static bool say_unserved(struct keeper *k, const struct ticket *t, const struct slot_wish *wish) {
    if (k->leads || !wish || k->now.wall - wish->since < SEC(LAX_S))
        return reply(k, t, KEEPER_DRAINING, "a slot is free: it waits to be given it");
    return reply(k, t, KEEPER_TROUBLE,
                 "a slot is free, and it is not given it: no controller leads, or the one that "
                 "leads does not come to it");
}

/* Only whoever leads knows more than that. */
static bool say_draining(struct keeper *k, const struct ticket *t, const struct slot *slot) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct drain_node *n = k->drain ? drain_node(k->drain, t->node) : NULL;
    const struct hold *h = keeper_hold_of(k, slot->id);
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

/* A gate is shut for it. */
static bool say_gate(struct keeper *k, const struct ticket *t, const struct slot_wait *wait) {
    _cleanup_free_ char *text =
        xasprintf("%s%s%s: %s", wait->code, *wait->object ? " " : "", wait->object, wait->message);
    return reply(k, t, KEEPER_BLOCKED, text);
}

static bool say_trouble(struct keeper *k, const struct ticket *t) {
    const char *why = k->record.trouble ? k->record.trouble
                      : k->refused      ? k->refused
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

static int64_t refresh_of(const struct slot *slot) {
    return slot ? SEC(HELD_S) : SEC(REFRESH_S);
}

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
    if (same && k->now.wall - known < refresh_of(slot))
        return; /* as is written */
    keeper_stir(k);
    for (size_t i = 0; i < k->asked.len; i++)
        if (streq(k->asked.p[i].node, t->node)) {
            k->asked.p[i].at = k->now.wall;
            k->asked.p[i].came = k->now.mono;
            str_replace(&k->asked.p[i].boot, boot);
            return;
        }
    *vec_push(&k->asked) = (struct asked){
        .node = xstrdup(t->node), .at = k->now.wall, .came = k->now.mono, .boot = xstrdup(boot)};
}

static void read_node(struct keeper *k, struct ticket *t) {
    t->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){.verb = ACTION_READ, .kind = &kind_node, .name = t->node, .grace = -1});
}

/* A pod has come since it was drained. */
static bool say_late(struct keeper *k, const struct ticket *t, const struct pod *pod) {
    _cleanup_free_ char *text =
        xasprintf("pod %s/%s has come to the node since it was drained, and has to go first",
                  strna(pod->meta.ns), pod->meta.name);
    return reply(k, t, KEEPER_DRAINING, text);
}

/* The grant is in the record; now the Node, as it is at this moment. */
static bool verify(struct keeper *k, struct ticket *t, const struct slot *slot) {
    if (!is_sure(k, t))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    if (!t->action && !t->read_done)
        read_node(k, t);
    bool listed = keeper_list_pods(k, &t->list, t->node);
    if (!t->read_done || (!listed && !t->list.failed))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct node *node = (const struct node *)t->read;
    if (keeper_paused(k, slot)) /* whoever has heard it before may go; nobody hears it now */
        return reply(k, t, KEEPER_BLOCKED, keeper_paused(k, slot));
    if (!node || !listed)
        return say_trouble(k, t);
    if (!streq(strna(node->meta.uid), slot->uid))
        return reply(k, t, KEEPER_BLOCKED, "another node of that name held the slot");
    if (!slots_may_go(&k->record.slots, t->node, strna(node->meta.uid), keeper_boot(node)))
        return reply(k, t, KEEPER_BLOCKED,
                     "it has rebooted since it was granted: it is put back into service first");
    if (!node->unschedulable || !keeper_is_cordoned(node, slot->id))
        return reply(k, t, KEEPER_BLOCKED, "somebody has uncordoned the node since it was drained");
    const struct pod *late = keeper_late_pod(k, t->node);
    if (late)
        return say_late(k, t, late);
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
    const char *why = no_use(k, slot), *paused = keeper_paused(k, slot);
    if (!is_sure(k, t))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    if (paused || slot->wait.code)
        note_asked(k, t, slot); /* it is not for want of asking that nobody is told */
    if (why || paused)
        return reply(k, t, KEEPER_BLOCKED, paused ? paused : why);
    if (slot->wait.code)
        return say_gate(k, t, &slot->wait);
    bool listed = keeper_list_pods(k, &t->list, t->node);
    const struct pod *late = listed ? keeper_late_pod(k, t->node) : NULL;
    if (late) {
        note_asked(k, t, slot);
        return say_late(k, t, late);
    }
    if (t->list.failed ||
        is_over(k, t, KEEPER_PATIENCE)) /* whoever asked may have got the answer from another one */
        return say_trouble(k, t);
    if (listed && !t->grant) {
        t->grant = true;
        keeper_stir(k);
    }
    return false;
}

/* Its node is in other hands until they are done with it. */
static bool say_taken(struct keeper *k, const struct ticket *t, const struct slot *slot) {
    _cleanup_free_ char *text =
        xasprintf("the node is out of service for %s: %s", slot->by, slot->operation);
    return reply(k, t, KEEPER_BLOCKED, text);
}

/* True when it was answered. */
static bool may_go(struct keeper *k, struct ticket *t) {
    const struct slots *s = keeper_slots(k);
    if (!s)
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct slot *slot = slots_holder(s, t->node);
    if (slot && !keeper_goes_by_itself(k, slot))
        return say_taken(k, t, slot);
    if (slot && slot->state == SLOT_GRANTED)
        return verify(k, t, slot);
    if (slot && slot->state == SLOT_DRAINED)
        return wants_grant(k, t, slot);
    note_asked(k, t, slot);
    if (k->stopped)
        return reply(k, t, KEEPER_BLOCKED, k->stopped);
    const char *unguarded = slot ? NULL : keeper_unguarded(k);
    if (unguarded)
        return is_over(k, t, MSEC(HOLD_MS)) && reply(k, t, KEEPER_BLOCKED, unguarded);
    if (!slot && keeper_blind(k))
        return reply(k, t, KEEPER_TROUBLE, keeper_blind(k));
    const struct slot_wish *wish = slot ? NULL : slots_waits(s, t->node);
    if (wish && wish->wait.code && keeper_has_room(k, t->node))
        return say_gate(k, t, &wish->wait);
    t->hopes |= !slot && keeper_has_room(k, t->node);
    if (t->hopes && !is_over(k, t, MSEC(HOLD_MS)))
        return false;
    if (slot && slot->state == SLOT_TAKEN && slot->wait.code && !is_in_trouble(k, slot))
        return say_gate(k, t, &slot->wait);
    if (slot && slot->state == SLOT_TAKEN)
        return keeper_may_begin(k, slot) ? say_draining(k, t, slot) : say_full(k, t);
    if (slot)
        return reply(k, t, KEEPER_FULL, "the slot of its last reboot is being put back");
    if (k->refused)
        return say_trouble(k, t); /* whoever leads does not hear of it */
    return t->hopes && keeper_has_room(k, t->node) ? say_unserved(k, t, wish) : say_full(k, t);
}

/* --- is it back? --- */

/* Whether it can be said without a read of its own that there is nothing to report. Only whoever
 * leads gives slots out, so that it knows of each that it is there before anybody can be told to
 * go; that it leads still is believed for FRESH_MS after a read, in case it was frozen meanwhile.
 * What is being written at this moment is waited for. */
static bool is_idle(struct keeper *k, const struct ticket *t) {
    const struct slots *s = keeper_slots(k);
    const struct node *node = cluster_node(k->cluster, t->node);
    int64_t age = k->now.mono - k->confirmed;
    if (!s || !k->leads || s->fence != k->fence || k->write_action || !k->confirmed ||
        age > MSEC(FRESH_MS))
        return false;
    if (slots_holder(s, t->node) || slots_waits(s, t->node) || !node || node->unschedulable)
        return false;
    if (age > MSEC(FRESH_MS) / 2)
        keeper_want_read(k); /* so that the next ones need not wait for it */
    return true;
}

/* As the seed has it: whatever else the mark says is set right. Not of a node that is cordoned:
 * whoever has done that and the mark is not done with it. */
static bool wants_mark(const struct node *node) {
    const char *mark = map_get(node->meta.annotations, SEED_MARK);
    return !mark || (!streq(mark, SEED_READY) && !node->unschedulable);
}

/* The seed's mark: on the Node as the watch has it, and when that was too old on one that is read.
 * True when there is nothing to wait for. */
static bool is_marked_ready(struct keeper *k, struct ticket *t, const struct node *node) {
    if (t->marked || !k->opts.seed_marks || !node || !node_is_ready(node) || !wants_mark(node))
        return true;
    if (t->action)
        return false;
    if (t->late && !t->read_done) {
        read_node(k, t);
        return false;
    }
    const struct node *base = t->late ? (const struct node *)t->read : node;
    if (!base || !wants_mark(base))
        return true;
    t->marking = true;
    t->action = keeper_mark_ready(k, base);
    return false;
}

/* One that holds no slot, and for which there is nothing to do but that mark; one that has been
 * told to go by the seed's manager is taken over first. */
static bool has_none(struct keeper *k, struct ticket *t) {
    const struct node *node = cluster_node(k->cluster, t->node);
    if (node && keeper_is_left_by_seed(k, node))
        return is_over(k, t, KEEPER_PATIENCE) &&
               reply(k, t, KEEPER_UNREADY, "what another manager had begun is taken over first");
    if (node && keeper_is_to_recover(k, node))
        return is_over(k, t, KEEPER_PATIENCE) &&
               reply(k, t, KEEPER_TROUBLE,
                     "the record of who holds a slot was lost, and is made anew first: ask again");
    if (!is_marked_ready(k, t, node) && !is_over(k, t, KEEPER_PATIENCE))
        return false;
    return reply(k, t, KEEPER_NOTED, "it holds no slot");
}

static bool is_back(struct keeper *k, struct ticket *t) {
    if (is_idle(k, t))
        return has_none(k, t);
    if (!is_sure(k, t) || !keeper_slots(k))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t);
    const struct slot *slot = slots_holder(&k->record.slots, t->node);
    if (slot && keeper_seems_left(k, slot) && !keeper_is_left(k, slot))
        return is_over(k, t, KEEPER_PATIENCE) &&
               reply(k, t, KEEPER_TROUBLE,
                     "the Maintenance that has its slot is not known here: ask again");
    if (slot && !keeper_goes_by_itself(k, slot) && !keeper_is_left(k, slot))
        return reply(k, t, KEEPER_NOTED, "it holds no slot of its own");
    const struct slot_wish *wish = slots_waits(&k->record.slots, t->node);
    if ((wish && streq(wish->by, SLOTS_BY_CLIENT)) || (slot && slot->state <= SLOT_GRANTED))
        return is_over(k, t, KEEPER_PATIENCE) && say_trouble(k, t); /* it is being written */
    if (!slot)
        return has_none(k, t);
    const struct node *node = cluster_node(k->cluster, t->node);
    if (node && !node_is_ready(node))
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
                                 .by = SLOTS_BY_CLIENT,
                                 .boot = a->boot,
                                 .since = a->at,
                                 .asked = a->at};
        bool late = k->now.mono - a->came > SEC(ASKED_S) || k->opts.no_clients;
        if (late || slots_ask(s, &wish, refresh_of(slots_holder(s, a->node)), arena)) {
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
        bool heard = !slot || keeper_goes_by_itself(k, slot) || keeper_is_left(k, slot);
        if (t->question == KEEPER_STEADY && heard)
            changed |= !slots_report(s, t->node, k->now.wall);
        else if (t->grant && slot && slot->state == SLOT_DRAINED &&
                 keeper_goes_by_itself(k, slot) && !no_use(k, slot) && !keeper_paused(k, slot) &&
                 !keeper_late_pod(k, t->node))
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
    t->late = a->outcome == KUBE_CONFLICT;
    t->marked = !t->late;
    t->read_done = false;
    object_free(&kind_node, k->cluster->pool, t->read);
    t->read = NULL;
}

bool keeper_tickets_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->tickets.len; i++) {
        struct ticket *t = k->tickets.p[i];
        if (t->list.action == action) {
            keeper_list_answer(k, &t->list, a);
            return true;
        }
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
