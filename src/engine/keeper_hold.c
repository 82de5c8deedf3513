/* Holdings: what the life cycle wants of each, and the Nodes that are changed for it. */
#include <stdlib.h>

#include "base/json.h"
#include "engine/keeper_internal.h"

enum {
    LEASE_EVERY_S = 2,  /* a lease is read again, until it has moved */
    DRAIN_AGAIN_S = 60, /* a drain that failed is begun again */
    LEFT_AGAIN_S =
        1,          /* an object that is there, and that the watch has not brought, is read again */
    TROUBLE_S = 10, /* that a Node cannot be written, or its pods not be watched, before it is told:
                     * as with the record. What is not allowed is told at once. */
};

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
    free(h->named_in);
    free(h->problem);
    free(h->unlisted);
    free(h->told);
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
        h->believed = h->still = true;
}

/* After a reboot what the node said before it went is still there for a while: only what has moved
 * since the new boot was seen counts. The same of one that says that it is steady. */
static bool believe(struct keeper *k, struct hold *h, const struct slot *slot,
                    const struct node *node) {
    bool news =
        slot->granted && (!str_same(slot->boot, keeper_boot(node)) || slot->state == SLOT_STEADY);
    if (!news)
        h->beat = heartbeat(node);
    if (!node_is_ready(node))
        return false;
    if (!news || slot->state == SLOT_RETURNED)
        return true;
    if (h->state != slot->state || !str_same(h->boot, keeper_boot(node))) {
        bool other = !str_same(slot->boot, keeper_boot(node));
        h->state = slot->state;
        str_replace(&h->boot, keeper_boot(node));
        h->lease = -1;
        h->lease_at = 0;
        h->steady_at = slot->state == SLOT_STEADY ? k->now.mono : 0;
        h->waited = false;
        /* The status that has brought the new boot: a kubelet says both at once. */
        h->believed = other && h->beat && h->beat != heartbeat(node);
        h->beat = heartbeat(node);
    }
    h->believed = h->believed || heartbeat(node) != h->beat;
    if (!h->believed)
        read_lease(k, h);
    return h->believed;
}

/* It has reported, and has stayed up in the boot that it was told to go in: for so long by the
 * clock of this leader, whatever those of others say, and it is heard of after that. One that went
 * down meanwhile is Ready for most of a minute still. */
static bool stays_up(struct keeper *k, struct hold *h, const struct slot *slot,
                     const struct node *node) {
    if (slot->state != SLOT_STEADY || !node_is_ready(node) || !h->steady_at)
        return false;
    int64_t due = h->steady_at + k->opts.same_boot;
    if (due > k->now.mono) {
        keeper_wake(k, due);
        return false;
    }
    if (!h->waited) {
        h->waited = true;
        h->still = false;
        h->lease = -1;
        h->lease_at = 0;
        h->beat = heartbeat(node);
    }
    h->still = h->still || heartbeat(node) != h->beat;
    if (!h->still)
        read_lease(k, h);
    return h->still;
}

/* --- what is known of it --- */

/* Whether the record of the node's cordon has this holding. It is asked at every step, and read
 * when the Node is another. */
static bool is_named(struct hold *h, const struct node *node) {
    if (!h->named_in || !str_same(h->named_in, node->meta.version)) {
        str_replace(&h->named_in, node->meta.version);
        h->named = cordon_names(node, h->id);
    }
    return h->named;
}

static enum maint_drain drain_of(struct keeper *k, const struct hold *h, const struct node *node,
                                 bool named) {
    /* What is left of an earlier holding's drain is not this one's. */
    const struct drain_node *n = h->draining ? drain_node(k->drain, h->node) : NULL;
    if ((h->draining || named) && !(named && node->unschedulable))
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

static enum maint_gate gate_of(struct keeper *k, const struct slot *slot, enum check_when at) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct gate_answer answer;
    const struct gate_who who = {slot->node, slot->operation, slot->by};
    /* One that has gone already is not kept from it any more. */
    bool late = at == CHECK_OPERATION && slot->state >= SLOT_GRANTED && keeper_has_begun(k, slot);
    return late ? keeper_gate_ask(k, &who, at, &arena, &answer)
                : keeper_gate(k, &who, at, &arena, &answer);
}

/* Back for long enough, and what it carries is well? One that was never told to go has not been
 * away. Whoever takes over begins to count anew. */
static bool has_settled(struct keeper *k, struct hold *h, const struct slot *slot,
                        const struct node *node) {
    if (!slot->granted || slot->state != SLOT_RETURNED)
        return true;
    if (gate_of(k, slot, CHECK_RETURN) != MAINT_PASS)
        return false;
    if (!k->opts.settle)
        return true;
    if (is_named(h, node) || !node_is_ready(node)) {
        h->back_at = 0;
        return false;
    }
    if (!h->back_at)
        h->back_at = k->now.mono;
    if (k->now.mono >= h->back_at + k->opts.settle)
        return true;
    keeper_wake(k, h->back_at + k->opts.settle);
    return false;
}

/* When a slot that is not granted yet is given back: nobody has asked for that long. One who asks
 * for a node that is drained is granted it, so that nobody is there who would be told; but one that
 * may have been told already may go. */
static int64_t forget_at(const struct keeper *k, const struct slot *slot) {
    if (slot->unsure)
        return INT64_MAX;
    bool idle = slot->state == SLOT_DRAINED && k->opts.unclaimed;
    return MAX_OF(slot->since, slot->asked) + (idle ? k->opts.unclaimed : k->opts.forget);
}

/* Whether the autoscaler was told for that holding: "ID", or "ID,WHAT IT SAID BEFORE". */
static bool is_kept(const struct node *node, const char *id) {
    const char *kept = map_get(node->meta.annotations, KEEPER_KEPT);
    size_t len = strlen(id);
    return kept && !strncmp(kept, id, len) && (!kept[len] || kept[len] == KEPT_WAS);
}

/* With a slot. */
static void slot_facts(struct keeper *k, struct hold *h, const struct slot *slot,
                       const struct node *node, struct maint_facts *f) {
    bool named = is_named(h, node);
    f->cordoned = named || is_marked(k, node) || is_kept(node, slot->id);
    f->lifted = named && !node->unschedulable;
    f->drain = drain_of(k, h, node, named);
    /* What was drained stays so only as long as it is cordoned, and up. */
    bool kept = named && node->unschedulable && streq(slot->boot, keeper_boot(node));
    if (slot->state == SLOT_DRAINED)
        f->drain = kept ? MAINT_DRAIN_DONE : MAINT_DRAIN_UNCORDONED;
    /* Also while it could not be written yet that it is drained. */
    if (f->drain == MAINT_DRAIN_DONE && keeper_late_pod(k, slot->node))
        f->drain = MAINT_DRAIN_AT_WORK;
    f->crowded = slot->state == SLOT_GRANTED && keeper_late_pod(k, slot->node);
    if (slot->state < SLOT_GRANTED && f->asks && !slot->unsure)
        wake_at(k, forget_at(k, slot) + SEC(1));
    if (f->drain == MAINT_DRAIN_DONE || slot->state == SLOT_GRANTED)
        f->to_operate = gate_of(k, slot, CHECK_OPERATION);
    f->node_ready = believe(k, h, slot, node);
    f->settled = has_settled(k, h, slot, node);
    f->same_boot = f->node_ready && stays_up(k, h, slot, node);
}

void keeper_facts(struct keeper *k, struct upkeep *u, const struct slot *slot, const char *name,
                  struct maint_facts *f) {
    const struct node *node = cluster_node(k->cluster, name);
    if (node && slot && !streq(strna(node->meta.uid), slot->uid))
        node = NULL;
    *f = (struct maint_facts){
        .operation = OPERATION_REBOOT,
        .by_request = true,
        .paused = k->stopped,
        .asks = slot && k->now.wall < forget_at(k, slot),
        .to_cordon = MAINT_PASS,
        .to_operate = MAINT_PASS,
        .to_return = MAINT_PASS,
        .slot = slot,
        .node_there = node,
        .node_down = !node || !node_is_ready(node),
        .node_ready = node && node_is_ready(node),
        .node_boot = node ? keeper_boot(node) : "",
        .restored = true,
        .settled = true,
    };
    if (node && slot)
        slot_facts(k, hold_of(k, slot->id, slot->node), slot, node, f);
    if (u)
        keeper_upkeep_facts(k, u, f);
}

/* That the watch does not know its object may be because it is late: it is read. */
static bool is_left(struct keeper *k, struct hold *h, const struct slot *slot) {
    if (h->left || h->left_action)
        return h->left;
    if (h->left_at > k->now.mono) {
        keeper_wake(k, h->left_at);
        return false;
    }
    h->left_action = actions_add(k->out, &k->cluster->actions,
                                 &(struct action){.verb = ACTION_READ,
                                                  .kind = &kind_maintenance,
                                                  .name = slot->by + strlen(KEEPER_BY_MAINTENANCE),
                                                  .grace = -1});
    return false;
}

static void left_answer(struct keeper *k, struct hold *h, const struct answer *a) {
    h->left_action = 0;
    h->left = a->outcome == KUBE_NOT_FOUND;
    h->left_at = k->now.mono + SEC(LEFT_AGAIN_S);
}

bool keeper_is_left(const struct keeper *k, const struct slot *slot) {
    const struct hold *h = k->leads && keeper_seems_left(k, slot) ? find(k, slot->id) : NULL;
    return h && h->left;
}

/* Where it is: by its object, or by its slot alone. One whose object is gone has been cancelled. */
static enum maint_act act_of(struct keeper *k, const struct slot *slot, struct maint_facts *f) {
    struct upkeep *u = keeper_upkeep_of(k, slot);
    struct hold *h = hold_of(k, slot->id, slot->node);
    keeper_facts(k, u, slot, slot->node, f);
    if (u) {
        h->left = false;
        return keeper_upkeep_act(k, u, f);
    }
    if (keeper_is_upkeep(slot)) {
        if (!is_left(k, h, slot))
            return MAINT_ACT_NONE;
        f->cancelled = true;
        f->operation = operation_find(slot->operation);
        /* What one was told that is not only held drained may be under way. */
        f->by_request = slot->granted && f->operation != OPERATION_DRAIN;
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

/* Not before it is sure that nothing is paused, and that no pod has come. */
static bool may_grant(struct keeper *k, struct hold *h) {
    if (!h->grant) {
        h->grant = keeper_want_read(k);
        h->list.done = false;
    }
    return keeper_list_pods(k, &h->list, h->node) && k->reads_done >= h->grant;
}

/* The watch tells of a pod on a node that was drained. It may be late, and the pod be gone. */
static bool has_come(struct keeper *k, struct hold *h) {
    if (!h->doubted) {
        h->doubted = true;
        h->list.done = false;
    }
    return keeper_list_pods(k, &h->list, h->node);
}

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
        enum maint_act act = act_of(k, slot, &f);
        if (act != MAINT_ACT_GRANT)
            h->grant = 0;
        if (act != MAINT_ACT_DRAIN_AGAIN)
            h->doubted = false;
        switch (act) {
        case MAINT_ACT_DRAINED:
            rc = slots_drained(s, h->id, f.node_boot, k->now.wall, arena, &err);
            break;
        case MAINT_ACT_DRAIN_AGAIN:
            if (has_come(k, h))
                rc = slots_drain_again(s, h->id, &err);
            break;
        case MAINT_ACT_GRANT:
            if (may_grant(k, h))
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

/* Annotations of a Node that go into a patch of ours; NULL takes one away. */
struct marks {
    struct {
        const char *key, *value;
    } list[4];
    size_t n;
};

static void mark(struct marks *m, const char *key, const char *value) {
    m->list[m->n].key = key;
    m->list[m->n++].value = value;
}

/* Puts them into the patch; makes one that is a compare-and-swap where there is none. */
static char *with_marks(const struct node *node, const char *patch, const struct marks *m) {
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
    for (size_t i = 0; i < m->n; i++)
        json_object_set_new(annotations, m->list[i].key,
                            m->list[i].value ? json_string(m->list[i].value) : json_null());
    return json_dumps(root, JSON_COMPACT);
}

uint64_t keeper_mark_ready(struct keeper *k, const struct node *node) {
    struct marks marks = {0};
    mark(&marks, SEED_MARK, SEED_READY);
    _cleanup_free_ char *patch = with_marks(node, "", &marks);
    return actions_add(k->out, &k->cluster->actions,
                       &(struct action){.verb = ACTION_PATCH,
                                        .kind = &kind_node,
                                        .name = node->meta.name,
                                        .body = patch,
                                        .grace = -1});
}

/* A node that is empty for a while looks like one that nobody needs. Whoever else has told the
 * autoscaler the same keeps what it has said; what said something else ("false") is put back
 * later. The text is to live as long as the marks. */
static void keep_from_autoscaler(const struct node *node, const char *id, struct marks *m,
                                 char **text) {
    const char *was = map_get(node->meta.annotations, AUTOSCALER_MARK);
    if (str_same(was, "true") || is_kept(node, id))
        return;
    *text = was ? xasprintf("%s%c%s", id, KEPT_WAS, was) : xstrdup(id);
    mark(m, AUTOSCALER_MARK, "true");
    mark(m, KEEPER_KEPT, *text);
}

/* Somebody may have changed what we have set: then that is theirs. */
static void give_to_autoscaler(const struct node *node, const char *id, struct marks *m) {
    if (!is_kept(node, id))
        return;
    const char *was = strchr(map_get(node->meta.annotations, KEEPER_KEPT), KEPT_WAS);
    if (str_same(map_get(node->meta.annotations, AUTOSCALER_MARK), "true"))
        mark(m, AUTOSCALER_MARK, was ? was + 1 : NULL);
    mark(m, KEEPER_KEPT, NULL);
}

/* What no machine has done by now is not done any more: the node is in service. */
static void call_off(const struct node *node, struct marks *m) {
    const char *what = map_get(node->meta.annotations, SIM_DO);
    if (str_same(what, "reboot") || str_same(what, "off"))
        mark(m, SIM_DO, NULL);
}

/* NULL: there is nothing to write, or it may not be: see the problem. */
static char *cordon_patch(struct keeper *k, struct hold *h, const struct node *node,
                          const struct slot *slot) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *reason = xasprintf("%s, policy %s", slot->operation, k->opts.policy);
    struct cordon_holder holder = {.id = h->id,
                                   .by = slot->by,
                                   .reason = reason,
                                   .since = k->now.wall + k->opts.drain.skew,
                                   .boot = keeper_boot(node)};
    struct node free_node = *node;
    if (keeper_is_left_by_seed(k, node)) /* that cordon is ours now */
        free_node.unschedulable = false;
    enum cordon_change change = cordon_take(&free_node, &holder, &patch, &err);
    if (change == CORDON_REFUSED) {
        str_replace(&h->problem, err_msg(&err));
        return NULL;
    }
    if (change == CORDON_NOTHING && is_marked(k, node) == k->opts.seed_marks)
        return NULL;
    struct marks marks = {0};
    if (k->opts.seed_marks)
        mark(&marks, SEED_MARK, SEED_REBOOTING);
    _cleanup_free_ char *kept = NULL;
    keep_from_autoscaler(node, h->id, &marks, &kept);
    return with_marks(node, str_get(&patch), &marks);
}

/* `ours`: it still has its slot. */
static char *release_patch(struct keeper *k, struct hold *h, const struct node *node, bool ours) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    bool stays;
    enum cordon_change change = cordon_release(node, h->id, false, &patch, &stays, &err);
    if (change == CORDON_REFUSED && cordon_names(node, h->id)) {
        str_replace(&h->problem, err_msg(&err));
        return NULL;
    }
    struct marks marks = {0};
    if (k->opts.seed_marks && !str_same(map_get(node->meta.annotations, SEED_MARK), SEED_READY))
        mark(&marks, SEED_MARK, SEED_READY);
    give_to_autoscaler(node, h->id, &marks);
    call_off(node, &marks);
    if (change != CORDON_WRITE && !marks.n)
        return NULL;
    if (change != CORDON_WRITE)
        str_reset(&patch);
    if (change != CORDON_WRITE && ours && keeper_is_left_by_seed(k, node))
        str_add(&patch, "{\"spec\":{\"unschedulable\":null}}"); /* taken over, never begun */
    return with_marks(node, str_get(&patch), &marks);
}

static void set_problem(struct keeper *k, struct hold *h, const char *text, bool denied) {
    if (!text)
        h->problem_at = 0;
    else if (!h->problem_at)
        h->problem_at = k->now.mono;
    str_replace(&h->problem, text);
    h->denied = text && denied;
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
    h->disowns = false;
    h->action = actions_add(
        k->out, &k->cluster->actions,
        &(struct action){.verb = ACTION_READ, .kind = &kind_node, .name = h->node, .grace = -1});
}

/* A node that was told to go, and that somebody has uncordoned since: whoever cordons it from now
 * on wants it to stay so when it is back. */
static bool is_disowned(const struct slot *slot, const struct node *node) {
    return (slot->state == SLOT_GRANTED || slot->state == SLOT_STEADY) &&
           cordon_is_lifted(node, slot->id);
}

static char *disown_patch(const struct hold *h, const struct node *node) {
    _cleanup_str_ struct str patch = STR_INIT;
    return cordon_disown(node, h->id, &patch) == CORDON_WRITE ? xstrdup(str_get(&patch)) : NULL;
}

/* Once, until it is another one. */
static void tell_problem(struct keeper *k, struct hold *h, const struct slot *slot) {
    if (h->problem && !str_same(h->problem, h->told))
        keeper_tell(k,
                    (struct keeper_note){.node = h->node,
                                         .by = slot ? slot->by : "",
                                         .operation = slot ? slot->operation : "",
                                         .slot = slot,
                                         .reason = REASON_DRAIN_FAILED,
                                         .warning = true},
                    "cannot be %s: %s", h->cordons ? "cordoned" : "uncordoned", h->problem);
    str_replace(&h->told, h->problem);
}

/* The record was read after the Node: is what we are about to write still wanted? */
static void work_write(struct keeper *k, struct hold *h) {
    const struct slot *slot = slots_holder(&k->record.slots, h->node);
    const struct node *node = (const struct node *)h->read;
    bool mine = slot && streq(slot->id, h->id);
    bool wanted = h->cordons
                      ? mine && slot->state == SLOT_TAKEN && streq(slot->uid, strna(node->meta.uid))
                  : h->disowns ? mine && is_disowned(slot, node)
                               : !mine || slot->state == SLOT_RETURNED;
    /* What the server says is good until it has taken one. */
    _cleanup_free_ char *was = h->problem;
    h->problem = NULL;
    _cleanup_free_ char *patch = !wanted      ? NULL
                                 : h->disowns ? disown_patch(h, node)
                                 : h->cordons ? cordon_patch(k, h, node, slot)
                                              : release_patch(k, h, node, mine);
    if (!patch) {
        tell_problem(k, h, slot);
        set_problem(k, h, h->problem, false);
        if (h->problem)
            work_failed(k, h);
        else
            work_over(k, h);
        return;
    }
    h->problem = was;
    was = NULL;
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
        const struct slot *slot = slots_holder(&k->record.slots, h->node);
        if (a->outcome != KUBE_CONFLICT)
            set_problem(k, h, a->message, a->outcome == KUBE_FORBIDDEN);
        if (!slot || !streq(slot->id, h->id)) /* of others the record tells */
            tell_problem(k, h, NULL);
        work_failed(k, h);
        return;
    }
    if (h->work == WORK_WRITE) {
        h->tries = 0;
        set_problem(k, h, NULL, false);
        work_over(k, h);
        return;
    }
    h->read = object_copy(&kind_node, a->obj);
    h->work = WORK_SURE;
    h->sure = keeper_want_read(k);
}

static void list_answer(struct keeper *k, struct hold *h, const struct answer *a) {
    keeper_list_answer(k, &h->list, a);
    str_replace(&h->unlisted, h->list.failed ? strna(a->message) : NULL);
}

bool keeper_holds_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->holds.len; i++) {
        struct hold *h = k->holds.p[i];
        if (h->lease_action == action)
            lease_answer(k, h, a);
        else if (h->list.action == action)
            list_answer(k, h, a);
        else if (h->left_action == action)
            left_answer(k, h, a);
        else if (h->action == action)
            work_answer(k, h, a);
        else
            continue;
        return true;
    }
    return false;
}

/* --- draining --- */

/* They come within a moment. Where they do not, a list of our own tells why. */
static bool pods_are_watched(struct keeper *k, struct hold *h) {
    if (!k->opts.watched || k->opts.watched(k->opts.arg, h->node)) {
        h->unwatched_at = 0;
        mem_clear(&h->unlisted);
        return true;
    }
    if (!h->unwatched_at) {
        h->unwatched_at = k->now.mono;
        h->list.done = false;
    }
    if (k->now.mono >= h->unwatched_at + SEC(TROUBLE_S))
        (void)keeper_list_pods(k, &h->list, h->node);
    else
        keeper_wake(k, h->unwatched_at + SEC(TROUBLE_S));
    return false;
}

bool keeper_hold_waits(struct keeper *k, const struct slot *slot, struct arena *arena,
                       struct gate_answer *out) {
    const struct hold *h = find(k, slot->id);
    bool drains = slot->state == SLOT_TAKEN;
    if (!h || (!drains && slot->state != SLOT_RETURNED))
        return false;
    int64_t due = h->problem_at + SEC(TROUBLE_S);
    if (h->problem_at && !h->denied && due > k->now.mono)
        keeper_wake(k, due);
    else if (h->problem_at)
        *out = (struct gate_answer){.verdict = MAINT_WAIT,
                                    .code = BLOCKER_CORDON_FAILED,
                                    .message = arena_printf(arena, "it cannot be %scordoned: %s",
                                                            drains ? "" : "un", h->problem)};
    else if (drains && h->unwatched_at && h->unlisted)
        *out = (struct gate_answer){
            .verdict = MAINT_WAIT,
            .code = h->list.denied ? BLOCKER_FORBIDDEN : BLOCKER_SERVER_TROUBLE,
            .message = arena_printf(arena, "its pods cannot be listed: %s", h->unlisted)};
    if (out->verdict == MAINT_PASS)
        return false;
    out->object = arena_printf(arena, "node/%s", h->node);
    return true;
}

static void drain_it(struct keeper *k, struct hold *h, const struct slot *slot) {
    const struct drain_node *n = drain_node(k->drain, h->node);
    if (!h->draining) {
        struct cordon_holder holder = {.id = h->id, .by = slot->by, .reason = slot->operation};
        if (!pods_are_watched(k, h))
            return;
        h->draining = drain_add(k->drain, h->node, &holder);
        if (!h->draining) /* something of the last one is still under way */
            keeper_wake(k, k->now.mono + SEC(1));
        return;
    }
    bool granted = slot->state == SLOT_GRANTED; /* nothing else comes of the end of this drain */
    bool crowded = !granted && n && n->phase == DRAIN_DONE && keeper_late_pod(k, h->node);
    if (!n || (n->phase != DRAIN_FAILED && !crowded && !(granted && drain_ended(n->phase))))
        return;
    /* A pod could not be evicted, for a reason that may be gone by now. */
    if (!h->drain_at)
        h->drain_at = k->now.mono + SEC(crowded ? 0 : DRAIN_AGAIN_S);
    if (h->drain_at > k->now.mono) {
        keeper_wake(k, h->drain_at);
        return;
    }
    h->drain_at = 0;
    h->draining = false;
    drain_drop(k->drain, h->node, "it is begun again");
    keeper_wake(k, k->now.mono + SEC(1));
}

/* No further pod is evicted; the cordon stays, and it is begun again. */
static void pause_drain(struct keeper *k, struct hold *h) {
    h->draining = false;
    h->drain_at = 0;
    drain_drop(k->drain, h->node, "it is paused");
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
        if (node && node->unschedulable && is_named(h, node))
            drain_it(k, h, slot);
        else if (!keeper_is_taken_over(k, slot) ||
                 (keeper_may_begin(k, slot) && gate_of(k, slot, CHECK_CORDON) == MAINT_PASS))
            work_begin(k, h, true);
        break;
    case MAINT_ACT_UNCORDON:
        work_begin(k, h, false);
        break;
    default:
        if (f.paused && h->draining && slot->state == SLOT_TAKEN)
            pause_drain(k, h);
        if (keeper_is_cleared(k, slot))
            drain_it(k, h, slot);
        if (node && is_disowned(slot, node)) {
            work_begin(k, h, false);
            h->disowns = h->work == WORK_READ;
        }
    }
}

/* Where a store has their nodes depends on chance. */
static int by_id(const void *a, const void *b) {
    const struct hold *const *x = a, *const *y = b;
    int c = strcmp((*x)->node, (*y)->node);
    return c ? c : strcmp((*x)->id, (*y)->id);
}

/* A cordon for a holding that is over: of a leader that was frozen while it lost it. */
static void sweep(struct keeper *k) {
    const struct object *obj;
    size_t had = k->holds.len;
    for (uint32_t i = 0; k->stirred && (obj = store_next(k->cluster->nodes, &i));) {
        const struct node *node = (const struct node *)obj;
        const char *record = map_get(node->meta.annotations, CORDON_ANNOTATION);
        const char *kept = map_get(node->meta.annotations, KEEPER_KEPT);
        const struct slot *slot = slots_holder(&k->record.slots, node->meta.name);
        if (kept && keeper_is_own_id(k, kept) && (!slot || !is_kept(node, slot->id))) {
            _cleanup_free_ char *id = xstrndup(kept, (size_t)(strchrnul(kept, KEPT_WAS) - kept));
            hold_of(k, id, node->meta.name);
        }
        if (!record || !strstr(record, "slot:"))
            continue;
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct cordon c;
        cordon_of(node, &arena, &c);
        for (size_t j = 0; j < c.n_holders; j++)
            if (keeper_is_own_id(k, c.holders[j].id) &&
                (!slot || !streq(slot->id, c.holders[j].id)))
                hold_of(k, c.holders[j].id, node->meta.name);
    }
    if (k->holds.len > had + 1)
        qsort(k->holds.p + had, k->holds.len - had, sizeof *k->holds.p, by_id);
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
    h->seen = node && (is_named(h, node) || is_kept(node, h->id));
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
        if (!slot || (slot->state != SLOT_TAKEN && !keeper_is_cleared(k, slot))) {
            drain_drop(k->drain, h->node, "its slot is not held for a drain any more");
            h->draining = false; /* one that begins again begins anew */
        }
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
    const struct slot *slot = s ? slots_holder(s, node) : NULL;
    /* Whoever answers looks whether a pod has come. */
    return slot && (slot->state == SLOT_TAKEN ? k->leads : slot->state <= SLOT_GRANTED);
}
