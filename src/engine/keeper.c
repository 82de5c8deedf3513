/* The slots of a policy: life, the record and its writes. */
#include "engine/keeper.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "engine/keeper_internal.h"
#include "engine/stop.h"
#include "model/version.h"

enum {
    LABEL_MAX = 63,      /* characters of a label's value, as Kubernetes has it */
    READ_GAP_MS = 2,     /* between two reads of the record: those who wait share them */
    RETRY_FIRST_MS = 20, /* after a write that did not succeed */
    RETRY_MAX_MS = 5000,
    REFUSED_S = 10, /* writes must have failed for so long before somebody is told: time for a new
                     * connection, and for another API server to take over */
};

/* --- small things that all files need --- */

void keeper_stir(struct keeper *k) {
    k->dirty = k->act = true;
}

void keeper_wake(struct keeper *k, int64_t at) {
    if (at > k->now.mono)
        k->next = MIN_OF(k->next, at);
    else
        keeper_stir(k);
}

int64_t keeper_backoff(struct keeper *k, unsigned tries) {
    return k->now.mono +
           action_backoff(&k->random, tries, MSEC(RETRY_FIRST_MS), MSEC(RETRY_MAX_MS));
}

void keeper_tell(struct keeper *k, struct keeper_note note, const char *fmt, ...) {
    if (!k->opts.note)
        return;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    note.policy = k->opts.policy;
    note.text = text;
    k->opts.note(k->opts.arg, &note);
}

void keeper_depose(struct keeper *k, const char *why) {
    if (!k->leads)
        return;
    keeper_follow(k);
    if (k->opts.deposed)
        k->opts.deposed(k->opts.arg, why);
}

uint64_t keeper_want_read(struct keeper *k) {
    if (k->reads_wanted <= k->reads_sent) {
        k->reads_wanted = k->reads_sent + 1;
        k->dirty = true;
    }
    return k->reads_wanted;
}

/* --- life --- */

struct keeper *keeper_new(const struct keeper_opts *opts, struct cluster *cluster,
                          struct store *maps) {
    struct keeper *k = xnew(struct keeper);
    k->opts = *opts;
    k->cluster = cluster;
    k->maps = maps;
    k->map = xasprintf(SLOTS_MAP "%s", opts->policy);
    if (!opts->drain.rules)
        k->opts.drain.rules = k->own_rules = rules_new();
    k->random.state = opts->seed;
    k->record.slots = SLOTS_INIT;
    keeper_stir(k);
    k->next = INT64_MAX;
    return k;
}

static void record_done(struct slot_record *r) {
    slots_done(&r->slots);
    arena_done(&r->arena);
    free(r->version);
    free(r->trouble);
    *r = (struct slot_record){0};
}

void keeper_free(struct keeper *k) {
    if (!k)
        return;
    keeper_holds_done(k);
    keeper_upkeeps_done(k);
    keeper_tickets_done(k);
    drain_free(k->drain);
    keeper_gates_forget(k);
    keeper_builtin_done(k);
    record_done(&k->record);
    vec_done(&k->taking.nodes);
    arena_done(&k->taking.arena);
    rules_free(k->own_rules);
    free(k->map);
    free(k->stopped);
    free(k->stop_version);
    free(k->trouble);
    free(k->refused);
    free(k);
}

/* A node that is drained now may be granted its slot at once. */
static void on_drain_note(void *arg, const struct drain_note *note) {
    struct keeper *k = arg;
    if (note->kind == NOTE_PHASE)
        keeper_stir(k);
    if (k->opts.drain_note)
        k->opts.drain_note(k->opts.arg, note);
}

void keeper_lead(struct keeper *k, int32_t fence) {
    if (k->leads && k->fence == fence)
        return;
    keeper_follow(k);
    k->leads = true;
    k->fence = fence;
    struct drain_opts opts = k->opts.drain;
    opts.cordoned = true;
    k->checks = k->opts.checks ? k->opts.checks(k->opts.arg) : NULL;
    opts.checks = k->checks;
    k->drain = drain_new(&opts, k->cluster, NULL, 0, on_drain_note, k);
    k->stirred = true;
    /* A keeper that is made anew for the same leader finds its own term in the record, however old
     * the watch's picture of it is. */
    k->lead_after = keeper_want_read(k);
    k->taken_in = k->takes_in = false;
    keeper_stir(k);
}

void keeper_follow(struct keeper *k) {
    k->leads = false;
    if (k->lost) /* what it is now is for others to say */
        record_done(&k->record);
    k->lost = k->empties = false;
    keeper_holds_done(k);
    keeper_upkeeps_done(k);
    drain_free(k->drain);
    k->drain = NULL;
    keeper_gates_forget(k);
    keeper_builtin_done(k);
    k->checks = NULL;
    keeper_stir(k);
}

const struct slots *keeper_slots(const struct keeper *k) {
    return k->record.known && !k->record.trouble ? &k->record.slots : NULL;
}

const char *keeper_refused(const struct keeper *k) {
    return k->refused && k->now.mono - k->refused_at >= SEC(REFUSED_S) ? k->refused : NULL;
}

const char *keeper_trouble(const struct keeper *k) {
    return k->record.trouble;
}

struct drain *keeper_drain(struct keeper *k) {
    return k->drain;
}

/* --- the record --- */

/* Of somebody without an object of its own the slot alone tells how far it is. */
static struct keeper_note note_of(const struct keeper *k, const struct slot *was,
                                  const struct slot *is) {
    const struct slot *slot = is ? is : was;
    const struct node *node = cluster_node(k->cluster, slot->node);
    struct maint_seen from = {.phase = MAINT_QUEUED};
    if (was)
        from = maint_seen(was, node);
    struct keeper_note note = {.node = slot->node,
                               .by = slot->by,
                               .operation = slot->operation,
                               .slot = slot,
                               .moves = !keeper_is_upkeep(slot),
                               .from = from.phase,
                               .since = from.since};
    note.to = is ? maint_seen(is, node).phase : MAINT_CANCELLED;
    return note;
}

static void tell_state(struct keeper *k, struct keeper_note note) {
    switch (note.slot->state) {
    case SLOT_TAKEN:
        if (note.from == MAINT_DRAINED) {
            note.reason = REASON_DRAINED_AGAIN;
            note.warning = true;
            keeper_tell(k, note, "is drained again: a pod that must go has come to it");
            break;
        }
        note.reason = REASON_SLOT_TAKEN;
        keeper_tell(k, note, "holds a slot of policy %s: it is cordoned and drained",
                    k->opts.policy);
        break;
    case SLOT_DRAINED:
        note.reason = REASON_DRAINED;
        keeper_tell(k, note, "%s",
                    keeper_goes_by_itself(k, note.slot) ? "is drained and may go when it asks"
                                                        : "is drained");
        break;
    case SLOT_GRANTED:
        note.reason = REASON_GRANTED;
        keeper_tell(k, note, "%s",
                    keeper_goes_by_itself(k, note.slot)
                        ? "was told that it may go"
                        : "is out of service for its Maintenance, which goes on");
        break;
    case SLOT_STEADY:
        note.reason = REASON_STEADY;
        keeper_tell(k, note, "has reported that it is steady");
        break;
    default:
        note.reason = REASON_RETURNING;
        keeper_tell(k, note, "is put back into service");
    }
}

/* For the audit: who has let it go. */
static void tell_approval(struct keeper *k, const struct slot *slot) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const char *who = k->opts.approval ? keeper_approval(k, slot->node, slot->by, &arena) : NULL;
    struct keeper_note note = {.node = slot->node,
                               .by = slot->by,
                               .operation = slot->operation,
                               .slot = slot,
                               .reason = REASON_APPROVED};
    if (who)
        keeper_tell(k, note, "is taken out of service with the approval of %s", who);
}

/* A gate has shut, or is open again. */
static void tell_gate(struct keeper *k, const struct slot *slot, const char *node, const char *by,
                      const char *operation, const struct slot_wait *wait) {
    struct keeper_note note = {.node = node,
                               .by = by,
                               .operation = operation,
                               .slot = slot,
                               .reason = wait->code ? REASON_GATE_SHUT : REASON_GATES_OPEN,
                               .warning = wait->code};
    if (!wait->code)
        keeper_tell(k, note, "waits for no gate of policy %s any more", k->opts.policy);
    else
        keeper_tell(k, note, "waits: %s%s%s: %s", wait->code, *wait->object ? " " : "",
                    wait->object, wait->message);
}

/* The gate that is shut for one that waits; NULL: none. That the API server is in trouble is no
 * news of each of them. */
static const char *gate_of(const struct slot_wish *wish) {
    const char *code = wish ? wish->wait.code : NULL;
    return str_same(code, blocker_row(BLOCKER_SERVER_TROUBLE)->name) ? NULL : code;
}

/* It was told to go, and it went. */
static bool has_rebooted(const struct keeper *k, const struct slot *slot) {
    const struct node *node = cluster_node(k->cluster, slot->node);
    return slot->granted && node && streq(strna(node->meta.uid), slot->uid) &&
           !streq(keeper_boot(node), slot->boot);
}

/* What is new since the last one, for people. */
static void tell_changes(struct keeper *k, const struct slots *old, const struct slots *new) {
    for (size_t i = 0; i < new->list.len; i++) {
        const struct slot *s = &new->list.p[i], *was = slots_holder(old, s->node);
        bool same = was && streq(was->id, s->id);
        if (!same)
            tell_approval(k, s);
        if (!same || was->state != s->state)
            tell_state(k, note_of(k, same ? was : NULL, s));
        if (!str_same(same ? was->wait.code : NULL, s->wait.code))
            tell_gate(k, s, s->node, s->by, s->operation, &s->wait);
    }
    for (size_t i = 0; i < new->waiting.len; i++) {
        const struct slot_wish *wish = &new->waiting.p[i], *was = slots_waits(old, wish->node);
        if (!str_same(gate_of(was), gate_of(wish)))
            tell_gate(k, NULL, wish->node, wish->by, wish->operation, &wish->wait);
    }
    for (size_t i = 0; i < old->list.len; i++) {
        const struct slot *was = &old->list.p[i], *s = slots_holder(new, was->node);
        if (s && streq(s->id, was->id))
            continue;
        struct keeper_note note = note_of(k, was, NULL);
        note.reason = REASON_SLOT_RELEASED;
        if (has_rebooted(k, was))
            note.to = MAINT_COMPLETE;
        keeper_tell(k, note, "holds no slot of policy %s any more", k->opts.policy);
    }
}

/* It has holders, as whoever leads has written it. */
static bool is_ours(const struct keeper *k) {
    const struct slot_record *r = &k->record;
    return k->leads && r->known && !r->trouble && r->slots.list.len && r->slots.fence == k->fence;
}

/* Somebody has deleted it, or what is in it (the object is of that version then). A node that was
 * told to go goes all the same: who holds a slot holds it still, as whoever leads knows. */
static void keep_lost(struct keeper *k, const char *version) {
    struct slot_record *r = &k->record;
    for (size_t i = 0; !k->lost && i < r->slots.list.len; i++) {
        const struct slot *slot = &r->slots.list.p[i];
        keeper_tell(k,
                    (struct keeper_note){.node = slot->node,
                                         .by = slot->by,
                                         .operation = slot->operation,
                                         .slot = slot,
                                         .reason = REASON_RECORD_LOST,
                                         .warning = true},
                    "holds a slot of policy %s, and somebody has %s the ConfigMap %s that "
                    "said so: it is written again ('slipway unlock' lets a slot go)",
                    k->opts.policy, version ? "emptied" : "deleted", k->map);
    }
    str_replace(&r->version, version);
    k->lost = true;
    k->empties = false; /* what was sent for an older one is not carried out any more */
    keeper_stir(k);
}

/* No write of ours, by whichever replica, takes the term back or leaves no text. Only whoever leads
 * takes holders away: one without any, where it has not done so, is of a replica that has found
 * nothing, unless it has the term, which that does not know. Of the first term nobody can tell. */
static bool is_emptied(const struct keeper *k, const char *text, const struct slots *new) {
    bool anew = (k->lost || !k->fence) && !k->empties && !new->list.len;
    return str_empty(text) || new->fence < k->fence || anew;
}

void keeper_learn(struct keeper *k, const struct config_map *map) {
    struct slot_record *r = &k->record, new = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    if (!map && r->version && is_ours(k)) {
        keep_lost(k, NULL);
        return;
    }
    if (map && r->known && version_compare(map->meta.version, r->version) <= 0)
        return;
    if (!map && r->known && !r->version)
        return;
    new.known = true;
    new.version = map ? xstrdup(strna(map->meta.version)) : NULL;
    const char *text = map ? map_get(map->data, SLOTS_KEY) : NULL;
    if (slots_parse(view_of(strna(text)), &new.arena, &new.slots, &err) < 0)
        new.trouble = xstrdup(err_msg(&err));
    if (map && is_ours(k) && !new.trouble &&is_emptied(k, text, &new.slots)) {
        keep_lost(k, new.version);
        record_done(&new);
        return;
    }
    if (k->leads && r->known && !new.trouble && !r->trouble)
        tell_changes(k, &r->slots, &new.slots);
    record_done(r);
    *r = new;
    k->lost = k->empties = false;
    keeper_stir(k);
    k->census_known = false;
    if (k->leads && r->slots.fence > k->fence)
        keeper_depose(k, "a later leader has been at the slots");
}

/* What the watch has brought. That the object is gone is believed when a read says so. */
static void look_at_store(struct keeper *k) {
    if (!store_synced(k->maps))
        return;
    const struct config_map *map =
        (const struct config_map *)store_get(k->maps, k->opts.ns, k->map);
    bool lost = k->record.version && version_compare(store_version(k->maps), k->record.version) > 0;
    if (map)
        keeper_learn(k, map);
    else if ((lost || !k->record.known) && k->reads_wanted <= k->reads_done)
        keeper_want_read(k);
}

static uint64_t read_map(struct keeper *k, const char *name) {
    return actions_add(k->out, &k->cluster->actions,
                       &(struct action){.verb = ACTION_READ,
                                        .kind = &kind_config_map,
                                        .ns = k->opts.ns,
                                        .name = name,
                                        .grace = -1});
}

static void send_read(struct keeper *k) {
    if (k->read_action || k->stop_action || k->reads_wanted <= k->reads_done)
        return;
    if (k->read_at > k->now.mono) {
        keeper_wake(k, k->read_at);
        return;
    }
    k->reads_sent++;
    k->read_began = k->now.mono;
    k->record_read = k->stop_read = false;
    k->read_action = read_map(k, k->map);
    k->stop_action = read_map(k, STOP_MAP);
}

static void read_failed(struct keeper *k, const struct answer *a) {
    str_replace(&k->trouble, a->message);
    k->read_at = keeper_backoff(k, ++k->read_tries);
    k->reads_wanted = MAX_OF(k->reads_wanted, k->reads_sent + 1);
}

static void read_came(struct keeper *k) {
    if (!k->record_read || !k->stop_read)
        return;
    k->read_tries = 0;
    k->read_at = k->now.mono + MSEC(READ_GAP_MS);
    mem_clear(&k->trouble);
    k->reads_done = k->reads_sent;
    k->confirmed = k->read_began;
}

static void read_answer(struct keeper *k, const struct answer *a) {
    k->read_action = 0;
    keeper_stir(k);
    if (a->outcome != KUBE_OK && a->outcome != KUBE_NOT_FOUND) {
        read_failed(k, a);
        return;
    }
    keeper_learn(k, a->outcome == KUBE_OK ? (const struct config_map *)a->obj : NULL);
    k->record_read = true;
    read_came(k);
}

/* --- the stop of everything --- */

static void learn_stop(struct keeper *k, const struct config_map *map) {
    if (map && k->stop_version && version_compare(map->meta.version, k->stop_version) <= 0)
        return;
    if (!map && !k->stop_version)
        return;
    free(k->stopped);
    k->stopped = stop_text(map);
    str_replace(&k->stop_version, map ? strna(map->meta.version) : NULL);
    keeper_stir(k);
}

static void stop_answer(struct keeper *k, const struct answer *a) {
    k->stop_action = 0;
    keeper_stir(k);
    if (a->outcome != KUBE_OK && a->outcome != KUBE_NOT_FOUND) {
        read_failed(k, a);
        return;
    }
    learn_stop(k, a->outcome == KUBE_OK ? (const struct config_map *)a->obj : NULL);
    k->stop_read = true;
    read_came(k);
}

/* As look_at_store(). */
static void look_for_stop(struct keeper *k) {
    if (!store_synced(k->maps))
        return;
    const struct config_map *map =
        (const struct config_map *)store_get(k->maps, k->opts.ns, STOP_MAP);
    bool lost = k->stop_version && version_compare(store_version(k->maps), k->stop_version) > 0;
    if (map)
        learn_stop(k, map);
    else if (lost && k->reads_wanted <= k->reads_done)
        keeper_want_read(k);
}

/* --- writing it --- */

const char *keeper_policy_of(const struct config_map *map) {
    const char *label = map_get(map->meta.labels, SLOTS_LABEL);
    if (str_starts(map->meta.name, SLOTS_MAP))
        return map->meta.name + strlen(SLOTS_MAP);
    return str_empty(label) ? map->meta.name : label;
}

/* As much of the policy's name as may be in a label, which ends in a letter or a digit. */
static void add_label(const struct keeper *k, struct jsonw *w) {
    size_t len = strlen(k->opts.policy);
    if (len > LABEL_MAX)
        for (len = LABEL_MAX; len && !isalnum((unsigned char)k->opts.policy[len - 1]);)
            len--;
    jsonw_key(w, SLOTS_LABEL);
    jsonw_strn(w, k->opts.policy, len);
}

static void add_body(const struct keeper *k, const struct slots *s, struct str *body) {
    _cleanup_str_ struct str record = STR_INIT;
    struct jsonw w;
    slots_write(s, &record);
    jsonw_init(&w, body, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "ConfigMap");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", k->map);
    jsonw_kstr(&w, "namespace", k->opts.ns);
    jsonw_kopt(&w, "resourceVersion", k->record.version);
    jsonw_kbegin(&w, "labels", '{');
    add_label(k, &w);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_kbegin(&w, "data", '{');
    jsonw_kstr(&w, SLOTS_KEY, str_get(&record));
    jsonw_end(&w);
    jsonw_end(&w);
}

bool keeper_is_anew(const struct slots *s) {
    return !s->fence && !s->list.len;
}

/* All that is to be changed, in one compare-and-swap. */
static bool change(struct keeper *k, struct slots *s, struct arena *arena) {
    _cleanup_err_ struct err err = ERR_INIT;
    bool changed = false;
    if (k->leads) {
        bool anew = keeper_is_anew(s);
        int rc = slots_adopt(s, k->fence, &err);
        if (rc < 0) {
            keeper_depose(k, err_msg(&err));
            return false;
        }
        changed = !rc || k->lost;
        if (anew && !k->taken_in) /* in the term 0 there is nothing to adopt */
            changed |= keeper_recover(k, s, arena);
        changed |= keeper_recover_later(k, s, arena);
    }
    changed |= keeper_tickets_change(k, s, arena);
    if (k->leads) {
        changed |= keeper_upkeeps_change(k, s, arena);
        changed |= keeper_holds_change(k, s, arena);
        changed |= keeper_give(k, s, arena);
        changed |= keeper_gates_change(k, s, arena);
    }
    return changed;
}

/* The record is as whoever leads wants it. */
static void take_in(struct keeper *k) {
    if (!k->taken_in)
        keeper_stir(k);
    k->taken_in = true;
}

static void forget_taking(struct keeper *k) {
    k->taking.nodes.len = 0;
    arena_done(&k->taking.arena);
    k->taking.arena = ARENA_INIT;
}

/* Before it is written: other policies count them from now on. */
static void note_taking(struct keeper *k, const struct slots *s) {
    for (size_t i = 0; i < s->list.len; i++) {
        const char *node = s->list.p[i].node;
        if (!slots_holder(&k->record.slots, node))
            *vec_push(&k->taking.nodes) = arena_strndup(&k->taking.arena, node, strlen(node));
    }
}

bool keeper_each_out(const struct keeper *k, keeper_out_fn *fn, void *arg) {
    const struct slot_record *r = &k->record;
    for (size_t i = 0; i < k->taking.nodes.len; i++)
        fn(arg, k->taking.nodes.p[i]);
    for (size_t i = 0; i < r->slots.list.len; i++)
        fn(arg, r->slots.list.p[i].node);
    bool adopted = r->slots.fence == k->fence && (k->taken_in || !keeper_is_anew(&r->slots));
    return r->trouble || (r->known && (!k->leads || adopted));
}

static void write_record(struct keeper *k) {
    const struct slot_record *r = &k->record;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    if (k->write_action || !r->known || r->trouble || k->reads_done < k->write_after)
        return;
    if (k->leads && keeper_is_anew(&r->slots) && !store_synced(k->cluster->nodes))
        return; /* whose cordons tell who held one */
    if (k->write_at > k->now.mono) {
        keeper_wake(k, k->write_at);
        return;
    }
    forget_taking(k); /* the record has it, or it was not written */
    struct slots copy = {.fence = r->slots.fence, .rest = r->slots.rest};
    vec_reserve(&copy.list, r->slots.list.len + 1);
    vec_reserve(&copy.waiting, r->slots.waiting.len + 1);
    for (size_t i = 0; i < r->slots.list.len; i++)
        *vec_push(&copy.list) = r->slots.list.p[i];
    for (size_t i = 0; i < r->slots.waiting.len; i++)
        *vec_push(&copy.waiting) = r->slots.waiting.p[i];
    if (change(k, &copy, &arena)) {
        _cleanup_str_ struct str body = STR_INIT;
        add_body(k, &copy, &body);
        note_taking(k, &copy);
        k->takes_in = k->leads;
        k->empties |= k->leads && !copy.list.len;
        k->write_action =
            actions_add(k->out, &k->cluster->actions,
                        &(struct action){.verb = r->version ? ACTION_PATCH : ACTION_CREATE,
                                         .kind = &kind_config_map,
                                         .ns = k->opts.ns,
                                         .name = k->map,
                                         .body = str_get(&body),
                                         .grace = -1});
    } else {
        mem_clear(&k->refused);
        if (k->leads)
            take_in(k);
    }
    slots_done(&copy);
}

/* Whatever became of it: nothing is written before the record was read again. */
static void write_answer(struct keeper *k, const struct answer *a) {
    k->write_action = 0;
    keeper_stir(k);
    keeper_tickets_written(k, a->outcome == KUBE_OK);
    if (a->outcome == KUBE_OK && a->obj) {
        k->write_tries = 0;
        mem_clear(&k->trouble);
        mem_clear(&k->refused);
        if (k->taking.nodes.len)
            keeper_builtin_spent(k);
        if (k->takes_in)
            take_in(k);
        keeper_learn(k, (const struct config_map *)a->obj);
        return;
    }
    if (a->outcome != KUBE_CONFLICT && a->outcome != KUBE_EXISTS) {
        str_replace(&k->trouble, a->message);
        if (!k->refused)
            k->refused_at = k->now.mono;
        free(k->refused);
        k->refused =
            xasprintf("the ConfigMap %s/%s cannot be written: %s", k->opts.ns, k->map, a->message);
    }
    k->write_at = keeper_backoff(k, ++k->write_tries);
    k->write_after = keeper_want_read(k);
}

/* --- steps --- */

void keeper_poke(struct keeper *k, const struct kind *kind, const struct object *before,
                 const struct object *after) {
    if (k->drain)
        drain_poke(k->drain, kind, before, after);
    keeper_stir(k);
    if (!kind || kind == &kind_config_map || kind == &kind_node)
        k->stirred = true;
    if (!kind || kind == &kind_config_map || kind == &kind_node)
        k->census_known = false;
    if (!kind || kind == &kind_node)
        keeper_gates_stale(k);
}

/* The record is to be adopted first. */
static void lead(struct keeper *k) {
    const struct slots *s = keeper_slots(k);
    if (k->record.trouble)
        keeper_upkeeps_stuck(k);
    if (!s || s->fence != k->fence || (keeper_is_anew(s) && !k->taken_in) ||
        k->reads_done < k->lead_after || !store_synced(k->cluster->nodes))
        return;
    keeper_upkeeps_take_in(k); /* whom the gates are asked about, too */
    keeper_gates_look(k, s);
    keeper_upkeeps_step(k);
    keeper_holds_step(k);
}

void keeper_step(struct keeper *k, struct now now, struct actions *out) {
    int64_t due = k->next;
    k->now = now;
    k->out = out;
    k->act = k->act || due <= now.mono;
    do {
        bool act = k->act;
        k->next = act ? INT64_MAX : due;
        k->dirty = k->act = false;
        if (act) {
            look_at_store(k);
            look_for_stop(k);
        }
        if (act && k->leads)
            lead(k);
        keeper_tickets_step(k);
        if (act)
            write_record(k);
        keeper_builtin_step(k);
        send_read(k);
        if (k->drain && (act || drain_next(k->drain) <= now.mono))
            drain_step(k->drain, now, out);
        due = k->next;
    } while (k->dirty);
    k->out = NULL;
}

bool keeper_answer(struct keeper *k, uint64_t action, const struct answer *a, struct now now) {
    k->now = now;
    if (action == k->read_action)
        read_answer(k, a);
    else if (action == k->stop_action)
        stop_answer(k, a);
    else if (action == k->write_action)
        write_answer(k, a);
    else if (!keeper_holds_answer(k, action, a) && !keeper_upkeeps_answer(k, action, a) &&
             !keeper_tickets_answer(k, action, a) && !keeper_builtin_answer(k, action, a))
        if (!k->drain || !drain_answer(k->drain, action, a, now))
            return false;
    keeper_stir(k);
    return true;
}

int64_t keeper_next(const struct keeper *k) {
    int64_t next = k->dirty ? 0 : k->next;
    return k->drain ? MIN_OF(next, drain_next(k->drain)) : next;
}
