/* The slots of a policy: life, the record and its writes. */
#include "engine/keeper.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/jsonw.h"
#include "engine/keeper_internal.h"
#include "model/version.h"

enum {
    READ_GAP_MS = 2,     /* between two reads of the record: those who wait share them */
    RETRY_FIRST_MS = 20, /* after a write that did not succeed */
    RETRY_MAX_MS = 5000,
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
    int64_t delay = MSEC(RETRY_FIRST_MS);
    for (unsigned i = 1; i < tries && delay < MSEC(RETRY_MAX_MS); i++)
        delay *= 2;
    delay = MIN_OF(delay, MSEC(RETRY_MAX_MS));
    return k->now.mono + delay + prng_range(&k->random, 0, delay / 2);
}

void keeper_tell(struct keeper *k, const char *node, bool warning, const char *reason,
                 const char *fmt, ...) {
    if (!k->opts.note)
        return;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    k->opts.note(k->opts.arg, &(struct keeper_note){node, reason, text, warning});
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
    k->map = xasprintf("slipway-slots-%s", opts->policy);
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
    record_done(&k->record);
    free(k->map);
    free(k->trouble);
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
    k->drain = drain_new(&opts, k->cluster, NULL, 0, on_drain_note, k);
    k->stirred = true;
    keeper_stir(k);
}

void keeper_follow(struct keeper *k) {
    k->leads = false;
    keeper_holds_done(k);
    keeper_upkeeps_done(k);
    drain_free(k->drain);
    k->drain = NULL;
    keeper_stir(k);
}

const struct slots *keeper_slots(const struct keeper *k) {
    return k->record.known && !k->record.trouble ? &k->record.slots : NULL;
}

struct drain *keeper_drain(struct keeper *k) {
    return k->drain;
}

/* --- the record --- */

/* What is new since the last one, for people. */
static void tell_changes(struct keeper *k, const struct slots *old, const struct slots *new) {
    for (size_t i = 0; i < new->list.len; i++) {
        const struct slot *s = &new->list.p[i], *was = slots_holder(old, s->node);
        if (was && streq(was->id, s->id) && was->state == s->state)
            continue;
        switch (s->state) {
        case SLOT_TAKEN:
            keeper_tell(k, s->node, false, "SlotTaken",
                        "holds a slot of policy %s: it is cordoned and drained", k->opts.policy);
            break;
        case SLOT_DRAINED:
            keeper_tell(k, s->node, false, "Drained", "is drained and may go when it asks");
            break;
        case SLOT_GRANTED:
            keeper_tell(k, s->node, false, "Granted", "was told that it may go");
            break;
        case SLOT_STEADY:
            keeper_tell(k, s->node, false, "Steady", "has reported that it is steady");
            break;
        default:
            keeper_tell(k, s->node, false, "Returning", "is put back into service");
        }
    }
    for (size_t i = 0; i < old->list.len; i++) {
        const struct slot *was = &old->list.p[i], *s = slots_holder(new, was->node);
        if (!s || !streq(s->id, was->id))
            keeper_tell(k, was->node, false, "SlotReleased", "holds no slot of policy %s any more",
                        k->opts.policy);
    }
}

void keeper_learn(struct keeper *k, const struct config_map *map) {
    struct slot_record *r = &k->record, new = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    if (map && r->known && version_compare(map->meta.version, r->version) <= 0)
        return;
    if (!map && r->known && !r->version)
        return;
    new.known = true;
    new.version = map ? xstrdup(strna(map->meta.version)) : NULL;
    const char *text = map ? map_get(map->data, SLOTS_KEY) : NULL;
    if (slots_parse(view_of(strna(text)), &new.arena, &new.slots, &err) < 0)
        new.trouble = xstrdup(err_msg(&err));
    if (k->leads && r->known && !new.trouble && !r->trouble)
        tell_changes(k, &r->slots, &new.slots);
    record_done(r);
    *r = new;
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

static void send_read(struct keeper *k) {
    if (k->read_action || k->reads_wanted <= k->reads_done)
        return;
    if (k->read_at > k->now.mono) {
        keeper_wake(k, k->read_at);
        return;
    }
    k->reads_sent++;
    k->read_action = actions_add(k->out, &k->cluster->actions,
                                 &(struct action){.verb = ACTION_READ,
                                                  .kind = &kind_config_map,
                                                  .ns = k->opts.ns,
                                                  .name = k->map,
                                                  .grace = -1});
}

static void read_answer(struct keeper *k, const struct answer *a) {
    k->read_action = 0;
    keeper_stir(k);
    if (a->outcome != KUBE_OK && a->outcome != KUBE_NOT_FOUND) {
        str_replace(&k->trouble, a->message);
        k->read_at = keeper_backoff(k, ++k->read_tries);
        k->reads_wanted = MAX_OF(k->reads_wanted, k->reads_sent + 1);
        return;
    }
    k->read_tries = 0;
    k->read_at = k->now.mono + MSEC(READ_GAP_MS);
    mem_clear(&k->trouble);
    keeper_learn(k, a->outcome == KUBE_OK ? (const struct config_map *)a->obj : NULL);
    k->reads_done = k->reads_sent;
}

/* --- writing it --- */

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
    jsonw_kstr(&w, SLOTS_LABEL, k->opts.policy);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_kbegin(&w, "data", '{');
    jsonw_kstr(&w, SLOTS_KEY, str_get(&record));
    jsonw_end(&w);
    jsonw_end(&w);
}

/* All that is to be changed, in one compare-and-swap. */
static bool change(struct keeper *k, struct slots *s, struct arena *arena) {
    _cleanup_err_ struct err err = ERR_INIT;
    bool changed = false;
    if (k->leads) {
        int rc = slots_adopt(s, k->fence, &err);
        if (rc < 0) {
            keeper_depose(k, err_msg(&err));
            return false;
        }
        changed = !rc;
    }
    changed |= keeper_tickets_change(k, s, arena);
    if (k->leads) {
        changed |= keeper_upkeeps_change(k, s, arena);
        changed |= keeper_holds_change(k, s, arena);
        changed |= keeper_give(k, s, arena);
    }
    return changed;
}

static void write_record(struct keeper *k) {
    const struct slot_record *r = &k->record;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    if (k->write_action || !r->known || r->trouble || k->reads_done < k->write_after)
        return;
    if (k->write_at > k->now.mono) {
        keeper_wake(k, k->write_at);
        return;
    }
    struct slots copy = {.fence = r->slots.fence};
    vec_reserve(&copy.list, r->slots.list.len + 1);
    vec_reserve(&copy.waiting, r->slots.waiting.len + 1);
    for (size_t i = 0; i < r->slots.list.len; i++)
        *vec_push(&copy.list) = r->slots.list.p[i];
    for (size_t i = 0; i < r->slots.waiting.len; i++)
        *vec_push(&copy.waiting) = r->slots.waiting.p[i];
    if (change(k, &copy, &arena)) {
        _cleanup_str_ struct str body = STR_INIT;
        add_body(k, &copy, &body);
        k->write_action =
            actions_add(k->out, &k->cluster->actions,
                        &(struct action){.verb = r->version ? ACTION_PATCH : ACTION_CREATE,
                                         .kind = &kind_config_map,
                                         .ns = k->opts.ns,
                                         .name = k->map,
                                         .body = str_get(&body),
                                         .grace = -1});
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
        keeper_learn(k, (const struct config_map *)a->obj);
        return;
    }
    if (a->outcome != KUBE_CONFLICT && a->outcome != KUBE_EXISTS)
        str_replace(&k->trouble, a->message);
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
    if (!kind || kind == &kind_node)
        k->census_known = false;
}

/* The record is to be adopted first. */
static void lead(struct keeper *k) {
    const struct slots *s = keeper_slots(k);
    if (!s || s->fence != k->fence || !store_synced(k->cluster->nodes))
        return;
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
        if (act)
            look_at_store(k);
        if (act && k->leads)
            lead(k);
        keeper_tickets_step(k);
        if (act)
            write_record(k);
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
    else if (action == k->write_action)
        write_answer(k, a);
    else if (!keeper_holds_answer(k, action, a) && !keeper_upkeeps_answer(k, action, a) &&
             !keeper_tickets_answer(k, action, a))
        if (!k->drain || !drain_answer(k->drain, action, a, now))
            return false;
    keeper_stir(k);
    return true;
}

int64_t keeper_next(const struct keeper *k) {
    int64_t next = k->dirty ? 0 : k->next;
    return k->drain ? MIN_OF(next, drain_next(k->drain)) : next;
}
