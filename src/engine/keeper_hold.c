/* Holdings: what the life cycle wants of each, and the Nodes that are changed for it. */
#include <stdlib.h>

#include "base/json.h"
#include "engine/keeper_internal.h"

enum {
    LEASE_EVERY_S = 2,  /* a lease is read again, until it has moved */
    DRAIN_AGAIN_S = 60, /* a drain that failed is begun again */
};

bool keeper_node_ready(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    return c && str_same(c->c.status, "True");
}

const char *keeper_boot(const struct node *node) {
    return str_empty(node->info.boot_id) ? "-" : node->info.boot_id;
}

static int64_t heartbeat(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "Ready");
    return c ? c->heartbeat : 0;
}

bool keeper_is_cordoned(const struct node *node, const char *id) {
    return node->unschedulable && cordon_names(node, id);
}

static bool is_marked(const struct keeper *k, const struct node *node) {
    return k->opts.seed_marks &&
           str_same(map_get(node->meta.annotations, SEED_MARK), SEED_REBOOTING);
}

/* --- holdings --- */

static struct hold *find(const struct keeper *k, const char *id) {
    for (size_t i = 0; i < k->holds.len; i++)
        if (streq(k->holds.p[i]->id, id))
            return k->holds.p[i];
    return NULL;
}

const struct hold *keeper_hold_of(const struct keeper *k, const char *id) {
    return find(k, id);
}

static struct hold *hold_of(struct keeper *k, const char *id, const char *node) {
    struct hold *h = find(k, id);
    if (h)
        return h;
    h = xnew(struct hold);
    h->id = xstrdup(id);
    h->node = xstrdup(node);
    h->lease = -1;
    h->state = SLOT_STATES;
    *vec_push(&k->holds) = h;
    return h;
}

static void hold_free(struct keeper *k, struct hold *h) {
    object_free(&kind_node, k->cluster->pool, h->read);
    free(h->id);
    free(h->node);
    free(h->boot);
    free(h->problem);
    free(h);
}

void keeper_holds_done(struct keeper *k) {
    for (size_t i = 0; i < k->holds.len; i++)
        hold_free(k, k->holds.p[i]);
    vec_done(&k->holds);
}

/* --- is it really Ready? --- */

static void read_lease(struct keeper *k, struct hold *h) {
    if (h->lease_action)
        return;
    if (h->lease_at > k->now.mono) {
        keeper_wake(k, h->lease_at);
        return;
    }
    h->lease_action = actions_add(k->out, &k->cluster->actions,
                                  &(struct action){.verb = ACTION_READ,
                                                   .kind = &kind_lease,
                                                   .ns = "kube-node-lease",
                                                   .name = h->node,
                                                   .grace = -1});
}

static void lease_answer(struct keeper *k, struct hold *h, const struct answer *a) {
    h->lease_action = 0;
    h->lease_at = k->now.mono + SEC(LEASE_EVERY_S);
    if (a->outcome != KUBE_OK || !a->obj)
        return; /* the status may tell */
    int64_t renewed = ((const struct lease *)a->obj)->renewed;
    if (h->lease < 0)
        h->lease = renewed;
    else if (renewed != h->lease)
        h->believed = true;
}

/* After a reboot what the node said before it went is still there for a while: only what has moved
 * since the new boot was seen counts. The same of one that says that it is steady. */
static bool believe(struct keeper *k, struct hold *h, const struct slot *slot,
                    const struct node *node) {
    bool news =
        slot->granted && (!str_same(slot->boot, keeper_boot(node)) || slot->state == SLOT_STEADY);
    if (!news)
        h->beat = heartbeat(node);
    if (!keeper_node_ready(node))
        return false;
    if (!news || slot->state == SLOT_RETURNED)
        return true;
    if (h->state != slot->state || !str_same(h->boot, keeper_boot(node))) {
        bool other = !str_same(slot->boot, keeper_boot(node));
        h->state = slot->state;
        str_replace(&h->boot, keeper_boot(node));
        h->lease = -1;
        h->lease_at = 0;
        /* The status that has brought the new boot: a kubelet says both at once. */
        h->believed = other && h->beat && h->beat != heartbeat(node);
        h->beat = heartbeat(node);
    }
    h->believed = h->believed || heartbeat(node) != h->beat;
    if (!h->believed)
        read_lease(k, h);
    return h->believed;
}

/* --- what is known of it --- */

static enum maint_drain drain_of(struct keeper *k, const struct hold *h, const struct node *node) {
    /* What is left of an earlier holding's drain is not this one's. */
    const struct drain_node *n = h->draining ? drain_node(k->drain, h->node) : NULL;
    if ((h->draining || cordon_names(node, h->id)) && !keeper_is_cordoned(node, h->id))
        return MAINT_DRAIN_UNCORDONED;
    if (!n)
        return MAINT_DRAIN_NONE;
    switch (n->phase) {
    case DRAIN_DONE:
        return MAINT_DRAIN_DONE;
    case DRAIN_REFUSED:
        return MAINT_DRAIN_REFUSED;
    case DRAIN_TIMED_OUT:
        return MAINT_DRAIN_TIMED_OUT;
    default:
        return MAINT_DRAIN_AT_WORK;
    }
}

static void wake_at(struct keeper *k, int64_t wall) {
    keeper_wake(k, k->now.mono + wall - k->now.wall);
}

/* With a slot. */
static void slot_facts(struct keeper *k, struct hold *h, const struct slot *slot,
                       const struct node *node, struct maint_facts *f) {
    bool steady = slot->state == SLOT_STEADY;
    f->cordoned = cordon_names(node, slot->id) || is_marked(k, node);
    f->drain = drain_of(k, h, node);
    /* What was drained stays so only as long as it is cordoned, and up. */
    bool kept = keeper_is_cordoned(node, slot->id) && streq(slot->boot, keeper_boot(node));
    if (slot->state == SLOT_DRAINED)
        f->drain = kept ? MAINT_DRAIN_DONE : MAINT_DRAIN_UNCORDONED;
    if (slot->state < SLOT_GRANTED && f->asks)
        wake_at(k, MAX_OF(slot->since, slot->asked) + k->opts.forget + SEC(1));
    f->node_ready = believe(k, h, slot, node);
    f->same_boot = steady && f->node_ready && k->now.wall - slot->steady >= k->opts.same_boot;
    if (steady && !f->same_boot)
        keeper_wake(k, k->now.mono + MAX_OF(slot->steady + k->opts.same_boot - k->now.wall,
                                            SEC(LEASE_EVERY_S)));
}

void keeper_facts(struct keeper *k, struct upkeep *u, const struct slot *slot, const char *name,
                  struct maint_facts *f) {
    const struct node *node = cluster_node(k->cluster, name);
    if (node && slot && !streq(strna(node->meta.uid), slot->uid))
        node = NULL;
    *f = (struct maint_facts){
        .operation = OPERATION_REBOOT,
        .by_request = true,
        .asks = slot && k->now.wall - MAX_OF(slot->since, slot->asked) < k->opts.forget,
        .to_cordon = MAINT_PASS,
        .to_operate = MAINT_PASS,
        .to_return = MAINT_PASS,
        .slot = slot,
        .node_there = node,
        .node_ready = node && keeper_node_ready(node),
        .node_boot = node ? keeper_boot(node) : "",
        .restored = true,
        .settled = true,
    };
    if (node && slot)
        slot_facts(k, hold_of(k, slot->id, slot->node), slot, node, f);
    if (u)
        keeper_upkeep_facts(k, u, f);
}

/* Where it is: by its object, or by its slot alone. One whose object is gone has been cancelled. */
static enum maint_act act_of(struct keeper *k, const struct slot *slot, struct maint_facts *f) {
    struct upkeep *u = keeper_upkeep_of(k, slot);
    keeper_facts(k, u, slot, slot->node, f);
    if (u)
        return keeper_upkeep_act(k, u, f);
    if (keeper_is_upkeep(slot)) {
        f->cancelled = true;
        f->by_request = slot->granted;
    }
    enum maint_phase phase = maint_resume(slot), end = MAINT_CANCELLED;
    const struct maint_way *way;
    while ((way = maint_next(phase, end, f))) {
        phase = way->to;
        if (phase == MAINT_UNDOING)
            end = maint_way_end(way);
    }
    return maint_act(phase, f);
}

/* --- the record --- */

bool keeper_holds_change(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = false;
    for (size_t i = 0; i < k->holds.len; i++) {
        struct hold *h = k->holds.p[i];
        const struct slot *slot = slots_holder(&k->record.slots, h->node);
        _cleanup_err_ struct err err = ERR_INIT;
        struct maint_facts f;
        int rc = 1;
        if (!slot || !streq(slot->id, h->id) || !store_fresh(k->cluster->nodes, NULL, h->node) ||
            h->work)
            continue;
        switch (act_of(k, slot, &f)) {
        case MAINT_ACT_DRAINED:
            rc = slots_drained(s, h->id, f.node_boot, arena, &err);
            break;
        case MAINT_ACT_GRANT:
            rc = slots_grant(s, h->id, k->now.wall, &err);
            break;
        case MAINT_ACT_RETURN:
            rc = slots_return(s, h->id, &err);
            break;
        case MAINT_ACT_FREE:
            rc = slots_free(s, h->id, &err);
            break;
        default:
            break;
        }
        changed |= !rc; /* what is not possible any more was changed by a report, just now */
    }
    return changed;
}

/* --- the Node --- */

/* Puts the seed's mark into a patch of ours; makes one that is a compare-and-swap where there is
 * none. */
static char *with_mark(const struct node *node, const char *patch, const char *mark) {
    _cleanup_json_ json_t *root = *patch ? json_loads(patch, 0, NULL) : json_object();
    json_t *meta = json_object_get(root, "metadata");
    if (!meta) {
        meta = json_object();
        json_object_set_new(root, "metadata", meta);
        json_object_set_new(meta, "resourceVersion", json_string(strna(node->meta.version)));
    }
    json_t *annotations = json_object_get(meta, "annotations");
    if (!json_is_object(annotations)) {
        annotations = json_object();
        json_object_set_new(meta, "annotations", annotations);
    }
    json_object_set_new(annotations, SEED_MARK, json_string(mark));
    return json_dumps(root, JSON_COMPACT);
}

uint64_t keeper_mark_ready(struct keeper *k, const struct node *node) {
    _cleanup_free_ char *patch = with_mark(node, "", SEED_READY);
    return actions_add(k->out, &k->cluster->actions,
                       &(struct action){.verb = ACTION_PATCH,
                                        .kind = &kind_node,
                                        .name = node->meta.name,
                                        .body = patch,
                                        .grace = -1});
}

/* What the seed's manager has cordoned is ours now. */
static bool cordoned_by_seed(const struct keeper *k, const struct node *node) {
    return is_marked(k, node) && node->unschedulable &&
           !map_has(node->meta.annotations, CORDON_ANNOTATION);
}

/* NULL: there is nothing to write, or it may not be: see the problem. */
static char *cordon_patch(struct keeper *k, struct hold *h, const struct node *node,
                          const struct slot *slot) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *reason = xasprintf("%s, policy %s", slot->operation, k->opts.policy);
    struct cordon_holder holder = {
        .id = h->id, .by = slot->by, .reason = reason, .since = k->now.wall + k->opts.drain.skew};
    struct node free_node = *node;
    if (cordoned_by_seed(k, node))
        free_node.unschedulable = false;
    enum cordon_change change = cordon_take(&free_node, &holder, &patch, &err);
    if (change == CORDON_REFUSED) {
        str_replace(&h->problem, err_msg(&err));
        return NULL;
    }
    if (change == CORDON_NOTHING && is_marked(k, node) == k->opts.seed_marks)
        return NULL;
    return k->opts.seed_marks ? with_mark(node, str_get(&patch), SEED_REBOOTING) : str_take(&patch);
}

static char *release_patch(struct keeper *k, struct hold *h, const struct node *node) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    bool stays;
    enum cordon_change change = cordon_release(node, h->id, false, &patch, &stays, &err);
    if (change == CORDON_REFUSED && cordon_names(node, h->id)) {
        str_replace(&h->problem, err_msg(&err));
        return NULL;
    }
    bool marked =
        k->opts.seed_marks && !str_same(map_get(node->meta.annotations, SEED_MARK), SEED_READY);
    if (change != CORDON_WRITE && !marked)
        return NULL;
    return k->opts.seed_marks
               ? with_mark(node, change == CORDON_WRITE ? str_get(&patch) : "", SEED_READY)
               : str_take(&patch);
}

static void work_over(struct keeper *k, struct hold *h) {
    object_free(&kind_node, k->cluster->pool, h->read);
    h->read = NULL;
    h->work = WORK_NONE;
    h->action = 0;
    keeper_stir(k);
}

static void work_failed(struct keeper *k, struct hold *h) {
    work_over(k, h);
    h->not_before = keeper_backoff(k, ++h->tries);
}

static void work_begin(struct keeper *k, struct hold *h, bool cordons) {
    if (h->work)
        return;
    if (h->not_before > k->now.mono) {
        keeper_wake(k, h->not_before);
        return;
    }
    h->work = WORK_READ;
    h->cordons = cordons;
    h->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){.verb = ACTION_READ, .kind = &kind_node, .name = h->node, .grace = -1});
}

/* The record was read after the Node: is what we are about to write still wanted? */
static void work_write(struct keeper *k, struct hold *h) {
    const struct slot *slot = slots_holder(&k->record.slots, h->node);
    const struct node *node = (const struct node *)h->read;
    bool mine = slot && streq(slot->id, h->id);
    bool wanted = h->cordons
                      ? mine && slot->state == SLOT_TAKEN && streq(slot->uid, strna(node->meta.uid))
                      : !mine || slot->state == SLOT_RETURNED;
    mem_clear(&h->problem);
    _cleanup_free_ char *patch = !wanted      ? NULL
                                 : h->cordons ? cordon_patch(k, h, node, slot)
                                              : release_patch(k, h, node);
    if (!patch) {
        if (h->problem)
            work_failed(k, h);
        else
            work_over(k, h);
        return;
    }
    h->work = WORK_WRITE;
    h->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){
            .verb = ACTION_PATCH, .kind = &kind_node, .name = h->node, .body = patch, .grace = -1});
}

static void work_answer(struct keeper *k, struct hold *h, const struct answer *a) {
    h->action = 0;
    if (a->outcome == KUBE_NOT_FOUND) {
        work_over(k, h);
        h->not_before = keeper_backoff(k, ++h->tries); /* the watch will tell */
        return;
    }
    if (a->outcome != KUBE_OK || !a->obj) {
        if (a->outcome != KUBE_CONFLICT)
            str_replace(&h->problem, a->message);
        work_failed(k, h);
        return;
    }
    if (h->work == WORK_WRITE) {
        h->tries = 0;
        mem_clear(&h->problem);
        work_over(k, h);
        return;
    }
    h->read = object_copy(&kind_node, a->obj);
    h->work = WORK_SURE;
    h->sure = keeper_want_read(k);
}

bool keeper_holds_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->holds.len; i++) {
        struct hold *h = k->holds.p[i];
        if (h->lease_action == action)
            lease_answer(k, h, a);
        else if (h->action == action)
            work_answer(k, h, a);
        else
            continue;
        return true;
    }
    return false;
}

/* --- draining --- */

static void drain_it(struct keeper *k, struct hold *h, const struct slot *slot) {
    const struct drain_node *n = drain_node(k->drain, h->node);
    if (!h->draining) {
        struct cordon_holder holder = {.id = h->id, .by = slot->by, .reason = slot->operation};
        if (k->opts.watched && !k->opts.watched(k->opts.arg, h->node))
            return;
        h->draining = drain_add(k->drain, h->node, &holder);
        if (!h->draining) /* something of the last one is still under way */
            keeper_wake(k, k->now.mono + SEC(1));
        return;
    }
    if (!n || n->phase != DRAIN_FAILED)
        return;
    /* A pod could not be evicted, for a reason that may be gone by now. */
    if (!h->drain_at)
        h->drain_at = k->now.mono + SEC(DRAIN_AGAIN_S);
    if (h->drain_at > k->now.mono) {
        keeper_wake(k, h->drain_at);
        return;
    }
    h->drain_at = 0;
    h->draining = false;
    drain_drop(k->drain, h->node, "it is begun again");
    keeper_wake(k, k->now.mono + SEC(1));
}

static void hold_step(struct keeper *k, struct hold *h, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, h->node);
    struct maint_facts f;
    if (h->work == WORK_SURE && k->reads_done >= h->sure)
        work_write(k, h);
    if (h->work || !store_fresh(k->cluster->nodes, NULL, h->node))
        return;
    switch (act_of(k, slot, &f)) {
    case MAINT_ACT_DRAIN:
        if (node && keeper_is_cordoned(node, h->id))
            drain_it(k, h, slot);
        else
            work_begin(k, h, true);
        break;
    case MAINT_ACT_UNCORDON:
        work_begin(k, h, false);
        break;
    default:
        break;
    }
}

/* A cordon for a holding that is over: of a leader that was frozen while it lost it. */
static void sweep(struct keeper *k) {
    _cleanup_free_ char *prefix = xasprintf("slot:%s:", k->opts.policy);
    const struct object *obj;
    for (uint32_t i = 0; k->stirred && (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        const char *record = map_get(node->meta.annotations, CORDON_ANNOTATION);
        if (!record || !strstr(record, prefix))
            continue;
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct cordon c;
        cordon_of(node, &arena, &c);
        const struct slot *slot = slots_holder(&k->record.slots, node->meta.name);
        for (size_t j = 0; j < c.n_holders; j++)
            if (str_starts(c.holders[j].id, prefix) && (!slot || !streq(slot->id, c.holders[j].id)))
                hold_of(k, c.holders[j].id, node->meta.name);
    }
    k->stirred = false;
}

static void orphan_step(struct keeper *k, struct hold *h) {
    const struct node *node = cluster_node(k->cluster, h->node);
    if (h->work == WORK_SURE && k->reads_done >= h->sure)
        work_write(k, h);
    if (h->work)
        return;
    if (!store_fresh(k->cluster->nodes, NULL, h->node))
        return;
    h->seen = node && cordon_names(node, h->id);
    if (h->seen)
        work_begin(k, h, false);
}

void keeper_holds_step(struct keeper *k) {
    size_t kept = 0;
    const struct slots *s = keeper_slots(k);
    for (size_t i = 0; i < k->holds.len; i++)
        k->holds.p[i]->seen = k->holds.p[i]->work != WORK_NONE;
    for (size_t i = 0; i < s->list.len; i++)
        hold_of(k, s->list.p[i].id, s->list.p[i].node)->seen = true;
    sweep(k);
    for (size_t i = 0; i < k->holds.len; i++) {
        struct hold *h = k->holds.p[i];
        const struct slot *slot = slots_holder(s, h->node);
        bool mine = slot && streq(slot->id, h->id);
        if (!mine || slot->state != SLOT_TAKEN)
            if (!slot || mine || slot->state != SLOT_TAKEN)
                drain_drop(k->drain, h->node, "its slot is not held for a drain any more");
        if (mine)
            hold_step(k, h, slot);
        else
            orphan_step(k, h);
    }
    for (size_t i = 0; i < k->holds.len; i++) {
        struct hold *h = k->holds.p[i];
        if (h->seen || h->work)
            k->holds.p[kept++] = h;
        else
            hold_free(k, h);
    }
    k->holds.len = kept;
}

bool keeper_needs_pods(const struct keeper *k, const char *node) {
    const struct slots *s = keeper_slots(k);
    const struct slot *slot = s && k->leads ? slots_holder(s, node) : NULL;
    return slot && slot->state == SLOT_TAKEN;
}
