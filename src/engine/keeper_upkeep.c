/* Maintenances that have an object of their own: their phase is written there before anything is
 * done in it. */
#include <stdlib.h>

#include "base/jsonw.h"
#include "base/suggest.h"
#include "engine/keeper_internal.h"
#include "model/version.h"

enum {
    JOURNAL = 20,       /* transitions that are kept */
    OPERATE_S = 900,    /* an operation that has shown nothing for so long has failed */
    BLOCKER_EVERY_S = 5 /* what it waits for is written so often, at most */
};

/* --- words --- */

static enum operation operation_of(const char *word) {
    for (unsigned i = 0; i < OPERATIONS; i++)
        if (str_same(word, operation_word((enum operation)i)))
            return (enum operation)i;
    return OPERATIONS;
}

static enum maint_phase phase_of(const struct maintenance *m) {
    for (unsigned i = 0; i < MAINT_PHASES; i++)
        if (str_same(m->phase, maint_phases[i].word))
            return (enum maint_phase)i;
    return MAINT_PENDING;
}

/* How it ends once it is undone: that is in the way that has led there. */
static enum maint_phase end_of(const struct maintenance *m) {
    for (size_t i = 0; i < n_maint_ways; i++)
        if (maint_ways[i].to == MAINT_UNDOING && str_same(maint_ways[i].reason, m->phase_reason))
            return maint_way_end(&maint_ways[i]);
    return MAINT_FAILED;
}

static enum maint_word word_of(const struct maintenance *m) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *said = NULL;
    if (maintenance_word(m, &said, &err) || !said)
        return MAINT_SAYS_NOTHING;
    return streq(said, "retry")  ? MAINT_SAYS_RETRY
           : streq(said, "skip") ? MAINT_SAYS_SKIP
                                 : MAINT_SAYS_ABORT;
}

static bool has_finalizer(const struct maintenance *m) {
    for (size_t i = 0; i < list_len(m->meta.finalizers); i++)
        if (streq(m->meta.finalizers[i], KEEPER_FINALIZER))
            return true;
    return false;
}

/* --- the list --- */

static struct upkeep *find(const struct keeper *k, const char *name) {
    for (size_t i = 0; i < k->upkeeps.len; i++)
        if (streq(k->upkeeps.p[i]->name, name))
            return k->upkeeps.p[i];
    return NULL;
}

struct upkeep *keeper_upkeep_of(const struct keeper *k, const struct slot *slot) {
    return str_starts(slot->by, KEEPER_BY_MAINTENANCE)
               ? find(k, slot->by + strlen(KEEPER_BY_MAINTENANCE))
               : NULL;
}

bool keeper_is_upkeep(const struct slot *slot) {
    return str_starts(slot->by, KEEPER_BY_MAINTENANCE);
}

static void upkeep_free(struct upkeep *u) {
    free(u->name);
    free(u->uid);
    free(u->version);
    free(u->failure);
    free(u);
}

void keeper_upkeeps_done(struct keeper *k) {
    for (size_t i = 0; i < k->upkeeps.len; i++)
        upkeep_free(k->upkeeps.p[i]);
    vec_done(&k->upkeeps);
}

static const struct maintenance *object_of(const struct keeper *k, const struct upkeep *u) {
    return (const struct maintenance *)store_get(k->opts.maintenances, NULL, u->name);
}

/* Its slot, if it is its own. */
static const struct slot *slot_of(const struct keeper *k, const struct upkeep *u,
                                  const struct maintenance *m) {
    const struct slot *slot = slots_holder(&k->record.slots, m->node);
    return slot && keeper_upkeep_of(k, slot) == u ? slot : NULL;
}

/* What we have written has come back. */
static bool is_current(const struct upkeep *u, const struct maintenance *m) {
    return !u->action && version_compare(m->meta.version, u->version) >= 0;
}

/* --- facts --- */

static bool operation_failed(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                             enum maint_phase phase) {
    if (phase != MAINT_OPERATING)
        return false;
    int64_t due = m->since + SEC(OPERATE_S);
    if (k->now.wall < due) {
        keeper_wake(k, k->now.mono + (due - k->now.wall));
        return u->work == MAINT_WORK_FAILED;
    }
    if (!u->failure)
        u->failure = xstrdup("nothing has come of it in time");
    return true;
}

void keeper_upkeep_facts(struct keeper *k, struct upkeep *u, struct maint_facts *f) {
    const struct maintenance *m = object_of(k, u);
    enum maint_phase phase = phase_of(m);
    f->operation = operation_of(m->operation);
    f->by_request = m->executor && m->executor->fleetlock;
    f->cancelled = m->meta.deleted;
    f->paused = m->paused == 1;
    f->asks = true;
    f->word = word_of(m);
    f->work = u->work;
    /* Whoever led before may have begun it, and nobody does it twice. */
    if (phase == MAINT_OPERATING && u->work == MAINT_WORK_NONE)
        f->work = MAINT_WORK_BEGUN;
    if (operation_failed(k, u, m, phase))
        f->work = MAINT_WORK_FAILED;
}

enum maint_act keeper_upkeep_act(struct keeper *k, struct upkeep *u, const struct maint_facts *f) {
    const struct maintenance *m = object_of(k, u);
    if (!m || !is_current(u, m))
        return MAINT_ACT_NONE;
    enum maint_phase phase = phase_of(m);
    if (maint_next(phase, end_of(m), f))
        return MAINT_ACT_NONE; /* that is written first */
    return maint_act(phase, f);
}

/* --- writing --- */

static void patch(struct keeper *k, struct upkeep *u, const char *subresource,
                  const struct str *body) {
    u->action = actions_add(k->out, &k->cluster->actions,
                            &(struct action){.verb = ACTION_PATCH,
                                             .kind = &kind_maintenance,
                                             .name = u->name,
                                             .subresource = subresource,
                                             .body = str_get(body),
                                             .grace = -1});
}

static void begin_patch(struct jsonw *w, struct str *body, const struct maintenance *m) {
    jsonw_init(w, body, false);
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kstr(w, "resourceVersion", strna(m->meta.version));
}

/* The finalizer keeps the object until the node is what it was. */
static void write_finalizer(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                            bool on) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    begin_patch(&w, &body, m);
    jsonw_kbegin(&w, "finalizers", '[');
    for (size_t i = 0; i < list_len(m->meta.finalizers); i++)
        if (!streq(m->meta.finalizers[i], KEEPER_FINALIZER))
            jsonw_str(&w, m->meta.finalizers[i]);
    if (on)
        jsonw_str(&w, KEEPER_FINALIZER);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, NULL, &body);
}

/* It was heard. */
static void take_word_off(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    begin_patch(&w, &body, m);
    jsonw_kbegin(&w, "annotations", '{');
    jsonw_key(&w, OWN_WORD_ANNOTATION);
    jsonw_null(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, NULL, &body);
}

static void write_time(struct jsonw *w, const char *key, int64_t at) {
    char buf[TIMEFMT_LEN];
    jsonw_kstr(w, key, time_format(at, false, buf));
}

static void write_condition(struct jsonw *w, const struct maintenance *m, int64_t now,
                            const char *type, bool is, const char *reason, const char *message) {
    const char *status = is ? "True" : "False";
    int64_t since = now;
    for (size_t i = 0; i < list_len(m->conditions); i++)
        if (str_same(m->conditions[i].c.type, type) && str_same(m->conditions[i].c.status, status))
            since = m->conditions[i].c.changed;
    jsonw_begin(w, '{');
    jsonw_kstr(w, "type", type);
    jsonw_kstr(w, "status", status);
    jsonw_kstr(w, "reason", reason);
    jsonw_kstr(w, "message", message);
    write_time(w, "lastTransitionTime", since);
    jsonw_kint(w, "observedGeneration", m->meta.generation);
    jsonw_end(w);
}

static void write_journal(struct jsonw *w, const struct maintenance *m, enum maint_phase from,
                          const struct maint_way *way, int64_t now) {
    size_t had = list_len(m->journal), skip = had >= JOURNAL ? had - JOURNAL + 1 : 0;
    jsonw_kbegin(w, "journal", '[');
    for (size_t i = skip; i < had; i++) {
        jsonw_begin(w, '{');
        write_time(w, "time", m->journal[i].time);
        jsonw_kopt(w, "from", m->journal[i].from);
        jsonw_kstr(w, "to", strna(m->journal[i].to));
        jsonw_kopt(w, "reason", m->journal[i].reason);
        jsonw_end(w);
    }
    jsonw_begin(w, '{');
    write_time(w, "time", now);
    jsonw_kstr(w, "from", maint_phases[from].word);
    jsonw_kstr(w, "to", maint_phases[way->to].word);
    jsonw_kstr(w, "reason", way->reason);
    jsonw_end(w);
    jsonw_end(w);
}

/* A step on the way. */
static void write_way(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                      const struct maint_way *way, const struct maint_facts *f) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    const char *why = way->to == MAINT_HALTED && u->failure ? u->failure : way->meaning;
    bool complete = way->to == MAINT_COMPLETE,
         failed = way->to == MAINT_FAILED || way->to == MAINT_CANCELLED;
    begin_patch(&w, &body, m);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_kint(&w, "observedGeneration", m->meta.generation);
    jsonw_kstr(&w, "phase", maint_phases[way->to].word);
    jsonw_kstr(&w, "reason", way->reason);
    write_time(&w, "since", k->now.wall);
    if (f->slot) {
        jsonw_kstr(&w, "slot", f->slot->id);
        jsonw_kopt(&w, "bootBefore", f->slot->boot);
    }
    if (f->slot && !str_empty(f->node_boot) && !streq(f->slot->boot, f->node_boot) &&
        f->slot->granted)
        jsonw_kstr(&w, "bootAfter", f->node_boot);
    jsonw_key(&w, "blocker");
    jsonw_null(&w);
    jsonw_kbegin(&w, "conditions", '[');
    write_condition(&w, m, k->now.wall, "Complete", complete, way->reason, complete ? why : "");
    write_condition(&w, m, k->now.wall, "Failed", failed, way->reason, failed ? why : "");
    write_condition(&w, m, k->now.wall, "Progressing", !complete && !failed, way->reason, why);
    jsonw_end(&w);
    write_journal(&w, m, phase_of(m), way, k->now.wall);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, "status", &body);
    u->told = way;
    if (way->to == MAINT_OPERATING)
        u->operates = u->work == MAINT_WORK_BEGUN || way->from == MAINT_HALTED;
}

/* --- why it waits --- */

struct wait {
    enum blocker_code code;
    const char *object, *message;
};

static bool waits_for(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                      enum maint_phase phase, struct wait *out, struct str *text) {
    const struct drain_node *n = drain_node(k->drain, m->node);
    const struct drain_blocker *b = n ? keeper_blocker_of(n) : NULL;
    if (phase == MAINT_DRAINING && b) {
        *out = (struct wait){b->code, b->object, b->message};
        return true;
    }
    if (phase == MAINT_QUEUED) {
        const struct slots *s = &k->record.slots;
        str_addf(text, "%zu of %zu slots of policy %s are held", s->list.len, keeper_limit(k),
                 k->opts.policy);
        for (size_t i = 0; i < s->list.len && i < 3; i++)
            str_addf(text, "%s%s", i ? ", " : ": ", s->list.p[i].node);
        *out = (struct wait){BLOCKER_MAX_UNAVAILABLE, "", str_get(text)};
        return true;
    }
    (void)u;
    return false;
}

/* What it waits for, if that is another than is written there. */
static void write_blocker(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                          enum maint_phase phase) {
    _cleanup_str_ struct str text = STR_INIT, body = STR_INIT;
    struct wait wait;
    bool waits = waits_for(k, u, m, phase, &wait, &text);
    const struct own_blocker *was = m->blocker;
    if (!waits && !was)
        return;
    if (waits && was && str_same(was->code, blocker_row(wait.code)->name) &&
        str_same(was->object, wait.object) && str_same(was->message, wait.message))
        return;
    if (u->blocker_at > k->now.mono) {
        keeper_wake(k, u->blocker_at);
        return;
    }
    u->blocker_at = k->now.mono + SEC(BLOCKER_EVERY_S);
    struct jsonw w;
    begin_patch(&w, &body, m);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_key(&w, "blocker");
    if (waits) {
        bool same = was && str_same(was->code, blocker_row(wait.code)->name);
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "code", blocker_row(wait.code)->name);
        jsonw_kopt(&w, "object", wait.object);
        jsonw_kstr(&w, "message", wait.message);
        jsonw_kstr(&w, "hint", blocker_row(wait.code)->hint);
        write_time(&w, "since", same && was->since ? was->since : k->now.wall);
        jsonw_end(&w);
    } else {
        jsonw_null(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, "status", &body);
}

/* --- steps --- */

/* One that is skipped is so until its node is Ready. */
static bool still_heard(enum maint_phase phase, enum maint_word word) {
    return phase == MAINT_HALTED || (phase == MAINT_RETURNING && word == MAINT_SAYS_SKIP);
}

static void step(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    enum maint_phase phase = phase_of(m);
    if (u->not_before > k->now.mono) {
        keeper_wake(k, u->not_before);
        return;
    }
    if (maint_ended(phase)) {
        if (has_finalizer(m))
            write_finalizer(k, u, m, false);
        return;
    }
    if (!has_finalizer(m)) {
        if (!m->meta.deleted)
            write_finalizer(k, u, m, true);
        return;
    }
    struct maint_facts f;
    const struct slot *slot = slot_of(k, u, m);
    if (slot && !store_fresh(k->cluster->nodes, NULL, m->node))
        return;
    keeper_facts(k, u, slot, m->node, &f);
    const struct maint_way *way = maint_next(phase, end_of(m), &f);
    if (way) {
        write_way(k, u, m, way, &f);
        return;
    }
    if (phase == MAINT_OPERATING && u->operates) {
        u->operates = false;
        u->work = MAINT_WORK_BEGUN;
        mem_clear(&u->failure);
        k->opts.operate(k->opts.arg, k, m);
        keeper_stir(k);
        return;
    }
    if (f.word && !still_heard(phase, f.word)) {
        take_word_off(k, u, m);
        return;
    }
    if (maint_act(phase, &f) == MAINT_ACT_OPERATE && u->work == MAINT_WORK_NONE) {
        u->work = MAINT_WORK_BEGUN; /* its phase is written first */
        keeper_stir(k);
        return;
    }
    write_blocker(k, u, m, phase);
}

/* Those whose objects are gone; another of that name has nothing of the old one. */
static void forget(struct keeper *k) {
    size_t kept = 0;
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        struct upkeep *u = k->upkeeps.p[i];
        const struct maintenance *m = object_of(k, u);
        if (u->action || (m && streq(strna(m->meta.uid), u->uid)))
            k->upkeeps.p[kept++] = u;
        else
            upkeep_free(u);
    }
    k->upkeeps.len = kept;
}

void keeper_upkeeps_step(struct keeper *k) {
    const struct object *obj;
    if (!k->opts.maintenances || !store_synced(k->opts.maintenances))
        return;
    forget(k); /* before any step: they look for each other */
    for (uint32_t i = 0; (obj = store_next(k->opts.maintenances, &i));) {
        const struct maintenance *m = (const struct maintenance *)obj;
        if (find(k, m->meta.name) || !k->opts.owns(k->opts.arg, k, m))
            continue;
        struct upkeep *u = xnew(struct upkeep);
        u->name = xstrdup(m->meta.name);
        u->uid = xstrdup(strna(m->meta.uid));
        *vec_push(&k->upkeeps) = u;
    }
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        const struct maintenance *m = object_of(k, k->upkeeps.p[i]);
        if (m && is_current(k->upkeeps.p[i], m))
            step(k, k->upkeeps.p[i], m);
    }
}

static bool asks(const struct maintenance *m) {
    return phase_of(m) == MAINT_QUEUED && !m->meta.deleted && m->paused != 1;
}

/* A wish that is left over would be given a slot. */
static bool withdraw(const struct keeper *k, struct slots *s) {
    size_t kept = 0, had = s->waiting.len;
    if (!k->opts.maintenances || !store_synced(k->opts.maintenances))
        return false;
    for (size_t i = 0; i < had; i++) {
        const struct slot_wish *wish = &s->waiting.p[i];
        bool ours = str_starts(wish->by, KEEPER_BY_MAINTENANCE);
        const struct object *obj =
            ours ? store_get(k->opts.maintenances, NULL, wish->by + strlen(KEEPER_BY_MAINTENANCE))
                 : NULL;
        if (!ours || (obj && asks((const struct maintenance *)obj)))
            s->waiting.p[kept++] = *wish;
    }
    s->waiting.len = kept;
    return kept < had;
}

bool keeper_upkeeps_change(struct keeper *k, struct slots *s, struct arena *arena) {
    bool changed = withdraw(k, s);
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        const struct upkeep *u = k->upkeeps.p[i];
        const struct maintenance *m = object_of(k, u);
        if (!m || !is_current(u, m) || !asks(m))
            continue;
        _cleanup_free_ char *by = xasprintf(KEEPER_BY_MAINTENANCE "%s", u->name);
        struct slot_wish wish = {.node = m->node,
                                 .operation = m->operation,
                                 .by = by,
                                 .since = k->now.wall,
                                 .asked = k->now.wall};
        changed |= !slots_ask(s, &wish, k->opts.forget / 4, arena);
    }
    return changed;
}

bool keeper_upkeeps_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        struct upkeep *u = k->upkeeps.p[i];
        if (u->action != action)
            continue;
        u->action = 0;
        if (a->outcome == KUBE_OK && a->obj) {
            str_replace(&u->version, a->obj->meta.version);
            u->tries = 0;
            if (u->told)
                keeper_tell(k, ((const struct maintenance *)a->obj)->node,
                            u->told->to == MAINT_HALTED || u->told->to == MAINT_FAILED,
                            u->told->reason, "is %s by maintenance %s: %s",
                            maint_phases[u->told->to].word, u->name, u->told->meaning);
        } else {
            /* What has not begun can still be taken back, or paused. */
            if (u->operates && u->told && u->told->from == MAINT_GRANTED)
                u->work = MAINT_WORK_NONE;
            u->operates = false;
            u->not_before = keeper_backoff(k, ++u->tries);
        }
        u->told = NULL;
        return true;
    }
    return false;
}

void keeper_operated(struct keeper *k, const char *name, const char *failure) {
    struct upkeep *u = find(k, name);
    if (!u)
        return;
    if (failure) {
        u->work = MAINT_WORK_FAILED;
        str_replace(&u->failure, failure);
    }
    keeper_stir(k);
}
