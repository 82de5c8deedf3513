/* Maintenances that have an object of their own: their phase is written there (keeper_phase.c)
 * before anything is done in it. */
#include <stdlib.h>
#include <string.h>

#include "engine/keeper_internal.h"
#include "model/version.h"

/* --- the list --- */

/* Where a store has them depends on chance: they are kept in the order of their names. */
static int by_name(const void *a, const void *b) {
    const struct upkeep *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int is_name(const void *name, const void *u) {
    return strcmp(name, (*(const struct upkeep *const *)u)->name);
}

static struct upkeep *find(const struct keeper *k, const char *name) {
    struct upkeep **found =
        k->upkeeps.len ? bsearch(name, k->upkeeps.p, k->upkeeps.len, sizeof *k->upkeeps.p, is_name)
                       : NULL;
    return found ? *found : NULL;
}

/* NULL: it is gone, and another of that name is not it. */
static const struct maintenance *object_of(const struct keeper *k, const struct upkeep *u) {
    const struct object *obj = store_get(k->opts.maintenances, NULL, u->name);
    return obj && streq(strna(obj->meta.uid), u->uid) ? (const struct maintenance *)obj : NULL;
}

/* One is kept after its object is gone, for as long as something is under way for it. */
struct upkeep *keeper_upkeep_of(const struct keeper *k, const struct slot *slot) {
    struct upkeep *u = str_starts(slot->by, KEEPER_BY_MAINTENANCE)
                           ? find(k, slot->by + strlen(KEEPER_BY_MAINTENANCE))
                           : NULL;
    return u && object_of(k, u) ? u : NULL;
}

bool keeper_holds_for(const struct keeper *k, const struct maintenance *m) {
    const struct slots *s = keeper_slots(k);
    const struct slot *slot = s ? slots_holder(s, strna(m->node)) : NULL;
    return slot && keeper_is_upkeep(slot) &&
           streq(slot->by + strlen(KEEPER_BY_MAINTENANCE), m->meta.name);
}

/* The Maintenance that a slot is held for. */
static const struct maintenance *held_for(const struct keeper *k, const struct slot *slot) {
    const char *name = slot->by + strlen(KEEPER_BY_MAINTENANCE);
    const struct object *obj =
        k->opts.maintenances ? store_get(k->opts.maintenances, NULL, name) : NULL;
    return (const struct maintenance *)obj;
}

bool keeper_goes_by_itself(const struct keeper *k, const struct slot *slot) {
    const struct maintenance *m = keeper_is_upkeep(slot) ? held_for(k, slot) : NULL;
    return !keeper_is_upkeep(slot) || (m && m->executor && m->executor->fleetlock);
}

bool keeper_has_begun(const struct keeper *k, const struct slot *slot) {
    const struct upkeep *u = keeper_upkeep_of(k, slot);
    const struct maintenance *m = u ? object_of(k, u) : NULL;
    enum maint_phase phase = m ? keeper_phase(m) : MAINT_GRANTED;
    bool first = phase == MAINT_GRANTED && u && u->work == MAINT_WORK_NONE;
    bool again = phase == MAINT_OPERATING && u->operates;
    bool held = str_same(slot->operation, operation_word(OPERATION_DRAIN));
    return held || !(first || again);
}

bool keeper_seems_left(const struct keeper *k, const struct slot *slot) {
    return keeper_is_upkeep(slot) && !held_for(k, slot);
}

const char *keeper_paused(const struct keeper *k, const struct slot *slot) {
    const struct upkeep *u = keeper_upkeep_of(k, slot);
    const struct maintenance *m = u ? object_of(k, u) : NULL;
    return k->stopped ? k->stopped : m && m->paused == 1 ? "its Maintenance is paused" : NULL;
}

bool keeper_is_upkeep(const struct slot *slot) {
    return str_starts(slot->by, KEEPER_BY_MAINTENANCE);
}

static void upkeep_free(struct upkeep *u) {
    free(u->name);
    free(u->uid);
    free(u->version);
    free(u->failure);
    free(u->why);
    free(u);
}

void keeper_upkeeps_done(struct keeper *k) {
    for (size_t i = 0; i < k->upkeeps.len; i++)
        upkeep_free(k->upkeeps.p[i]);
    vec_done(&k->upkeeps);
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

static enum maint_word word_of(const struct maintenance *m) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *said = NULL;
    if (maintenance_word(m, &said, &err) || !said)
        return MAINT_SAYS_NOTHING;
    return streq(said, "retry")  ? MAINT_SAYS_RETRY
           : streq(said, "skip") ? MAINT_SAYS_SKIP
                                 : MAINT_SAYS_ABORT;
}

/* What was begun has to show by then; one that was shut down may be off for as long as somebody
 * wants, and is waited for. */
int64_t keeper_upkeep_due(const struct keeper *k, const struct upkeep *u,
                          const struct maintenance *m, enum maint_phase phase,
                          const struct maint_facts *f) {
    bool off = f->operation == OPERATION_SHUTDOWN && f->node_down;
    if (!k->opts.return_timeout)
        return 0;
    switch (phase) {
    case MAINT_DRAINED:
        return u->asked_by;
    case MAINT_GRANTED:
        return f->by_request ? m->since + k->opts.return_timeout : 0;
    case MAINT_OPERATING:
        return MAX_OF(m->since, u->held_at) + k->opts.return_timeout;
    case MAINT_RETURNING:
        return off ? 0 : m->since + k->opts.return_timeout;
    default:
        return 0;
    }
}

/* A client that is not told because of a pause, or of a gate, is not late. */
static void count_client(struct keeper *k, struct upkeep *u, enum maint_phase phase,
                         const struct maint_facts *f) {
    if (phase != MAINT_DRAINED || f->paused || f->to_operate != MAINT_PASS)
        u->asked_by = 0;
    else if (!u->asked_by)
        u->asked_by = k->now.wall + k->opts.return_timeout;
}

/* Nobody is at work on it, and it is up, without a break for as long as a node has to stay in its
 * boot that reports without having rebooted. Whoever takes over begins to count anew. */
static bool stays_up(struct keeper *k, struct upkeep *u, enum maint_phase phase,
                     const struct maint_facts *f) {
    bool under_way = phase == MAINT_OPERATING || phase == MAINT_RETURNING;
    bool works = u->operates || u->work == MAINT_WORK_BEGUN;
    bool same = f->slot && f->node_there && str_same(f->slot->boot, f->node_boot);
    if (!under_way || works || !same || !f->node_ready) {
        u->up_at = 0;
        return false;
    }
    if (!u->up_at)
        u->up_at = k->now.mono;
    if (k->now.mono >= u->up_at + k->opts.same_boot)
        return true;
    keeper_wake(k, u->up_at + k->opts.same_boot);
    return false;
}

static void time_facts(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                       enum maint_phase phase, struct maint_facts *f) {
    count_client(k, u, phase, f);
    if (f->again && f->paused)
        u->held_at = k->now.wall;
    int64_t due = keeper_upkeep_due(k, u, m, phase, f);
    f->overdue = due && k->now.wall >= due;
    if (due && !f->overdue)
        keeper_wake(k, k->now.mono + (due - k->now.wall));
    f->still_up = stays_up(k, u, phase, f);
    int64_t clear = m->since + SEC(MAINT_DOUBT_S);
    f->doubtful = phase == MAINT_HALTED && str_same(m->phase_reason, "OperationFailed") &&
                  k->now.wall < clear;
    if (f->doubtful)
        keeper_wake(k, k->now.mono + (clear - k->now.wall));
}

const char *keeper_upkeep_unclear(const struct keeper *k, const struct maintenance *m) {
    return k->opts.unclear ? k->opts.unclear(k->opts.arg, m) : NULL;
}

const char *keeper_upkeep_waits(const struct keeper *k, const struct upkeep *u) {
    const struct maintenance *m = object_of(k, u);
    return m && keeper_phase(m) <= MAINT_QUEUED && !m->meta.deleted ? m->node : NULL;
}

static struct gate_who who_is(const struct maintenance *m, struct arena *arena) {
    const char *by = arena_printf(arena, KEEPER_BY_MAINTENANCE "%s", m->meta.name);
    return (struct gate_who){m->node, m->operation, by};
}

enum maint_gate keeper_upkeep_gate(const struct keeper *k, const struct maintenance *m,
                                   enum check_when at, struct arena *arena,
                                   struct gate_answer *out) {
    const struct gate_who who = who_is(m, arena);
    return keeper_gate_ask(k, &who, at, arena, out);
}

/* Whether it may have a slot. */
static enum maint_gate decide(struct keeper *k, const struct maintenance *m, struct arena *arena,
                              struct gate_answer *out) {
    const struct gate_who who = who_is(m, arena);
    return keeper_gate(k, &who, CHECK_CORDON, arena, out);
}

void keeper_upkeep_facts(struct keeper *k, struct upkeep *u, struct maint_facts *f) {
    const struct maintenance *m = object_of(k, u);
    enum maint_phase phase = keeper_phase(m);
    f->operation = operation_find(m->operation);
    f->by_request = m->executor && m->executor->fleetlock;
    f->cancelled = m->meta.deleted;
    f->paused = f->paused || m->paused == 1;
    f->asks = true;
    if (phase <= MAINT_QUEUED) {
        _cleanup_arena_ struct arena arena = ARENA_INIT;
        struct gate_answer answer;
        bool stays = phase == MAINT_QUEUED && k->checks && k->checks->unread;
        f->to_cordon = keeper_upkeep_unclear(k, m) ? MAINT_WAIT
                       : stays                     ? MAINT_PASS
                       : keeper_upkeep_waits(k, u)
                           ? decide(k, m, &arena, &answer)
                           : keeper_upkeep_gate(k, m, CHECK_CORDON, &arena, &answer);
    }
    f->word = word_of(m);
    f->work = u->work;
    /* Whoever led before may have begun it, and nobody does it twice. */
    if (phase == MAINT_OPERATING && u->work == MAINT_WORK_NONE)
        f->work = MAINT_WORK_BEGUN;
    f->again = phase == MAINT_OPERATING && u->operates;
    f->hasty = phase == MAINT_UNDOING && keeper_phase_before(m) < MAINT_GRANTED;
    time_facts(k, u, m, phase, f);
}

enum maint_act keeper_upkeep_act(struct keeper *k, struct upkeep *u, const struct maint_facts *f) {
    const struct maintenance *m = object_of(k, u);
    if (!m || !is_current(u, m))
        return MAINT_ACT_NONE;
    enum maint_phase phase = keeper_phase(m);
    if (maint_next(phase, keeper_phase_end(m), f))
        return MAINT_ACT_NONE; /* that is written first */
    return maint_act(phase, f);
}

static void write_blocker(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                          enum maint_phase phase, const struct maint_facts *f) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct own_wait wait;
    bool waits = keeper_upkeep_wait(k, u, m, phase, f, &arena, &wait);
    keeper_upkeep_blocked(k, u, m, phase, waits ? &wait : NULL);
}

/* --- steps --- */

/* One that is skipped is so until its node is Ready, or late. What is said about one that is under
 * way is kept until it is clear whether its node goes; what has led there was heard: one word, one
 * try. */
static bool still_heard(const struct maintenance *m, enum maint_phase phase,
                        const struct maint_facts *f) {
    if (phase == MAINT_OPERATING)
        return f->word != MAINT_SAYS_RETRY || !str_same(m->phase_reason, "Retried");
    if (phase == MAINT_RETURNING)
        return f->word == MAINT_SAYS_SKIP ? !f->overdue : !str_same(m->phase_reason, "Skipped");
    return phase == MAINT_HALTED;
}

/* The record, the stop of everything and the pods of the node were read after it was asked for;
 * once. */
static bool is_sure(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    if (!u->sure) {
        u->sure = keeper_want_read(k);
        u->list.done = false;
    }
    if (!keeper_list_pods(k, &u->list, m->node) || k->reads_done < u->sure)
        return false;
    u->sure = 0;
    return true;
}

static void operate(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    u->operates = false;
    u->work = MAINT_WORK_BEGUN;
    mem_clear(&u->failure);
    k->opts.operate(k->opts.arg, k, m);
}

static void step(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    enum maint_phase phase = keeper_phase(m);
    if (u->not_before > k->now.mono) {
        keeper_wake(k, u->not_before);
        return;
    }
    if (maint_ended(phase)) {
        u->unwritten = false;
        bool kept = own_has_finalizer(&m->meta, KEEPER_FINALIZER);
        if (kept && !(k->opts.needed && k->opts.needed(k->opts.arg, m)))
            keeper_upkeep_finalizer(k, u, m, false);
        return;
    }
    if (!own_has_finalizer(&m->meta, KEEPER_FINALIZER)) {
        if (!m->meta.deleted)
            keeper_upkeep_finalizer(k, u, m, true);
        return;
    }
    struct maint_facts f;
    const struct slot *slot = slot_of(k, u, m);
    if (slot && !store_fresh(k->cluster->nodes, NULL, m->node))
        return;
    keeper_facts(k, u, slot, m->node, &f);
    const struct maint_way *ways[MAINT_WAYS_MAX];
    size_t n = maint_ways_on(phase, keeper_phase_end(m), &f, ways);
    if (n) {
        keeper_phase_write(k, u, m, ways, n, &f);
        return;
    }
    u->unwritten = false;         /* or nothing comes of it */
    if (f.again && f.cancelled) { /* nobody begins it any more; somebody may have, before */
        u->operates = false;
        u->work = MAINT_WORK_NONE;
        keeper_stir(k);
        return;
    }
    bool held = k->opts.held && k->opts.held(k->opts.arg);
    bool begins = !held && maint_act(phase, &f) == MAINT_ACT_OPERATE && u->work == MAINT_WORK_NONE;
    bool operates = f.again && !f.lifted && !f.paused && !f.crowded && f.to_operate == MAINT_PASS;
    if (!begins && !operates)
        u->sure = 0;
    else if (!is_sure(k, u, m))
        return; /* that nothing is paused, and no pod has come */
    if (operates)
        operate(k, u, m);
    else if (f.word && !still_heard(m, phase, &f))
        keeper_upkeep_heard(k, u, m);
    else if (begins)
        u->work = MAINT_WORK_BEGUN; /* its phase is written first */
    else
        write_blocker(k, u, m, phase, &f);
    if (begins || operates)
        keeper_stir(k);
}

/* Those whose objects are gone; another of that name has nothing of the old one. */
static void forget(struct keeper *k) {
    size_t kept = 0;
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        struct upkeep *u = k->upkeeps.p[i];
        if (u->action || u->list.action || object_of(k, u))
            k->upkeeps.p[kept++] = u;
        else
            upkeep_free(u);
    }
    k->upkeeps.len = kept;
}

static void take_in(struct keeper *k) {
    VEC(struct upkeep *) more = {0};
    const struct object *obj;
    forget(k); /* before any step: they look for each other */
    for (uint32_t i = 0; (obj = store_next(k->opts.maintenances, &i));) {
        const struct maintenance *m = (const struct maintenance *)obj;
        if (find(k, m->meta.name) || !k->opts.owns(k->opts.arg, k, m))
            continue;
        struct upkeep *u = xnew(struct upkeep);
        u->name = xstrdup(m->meta.name);
        u->uid = xstrdup(strna(m->meta.uid));
        *vec_push(&more) = u;
    }
    for (size_t i = 0; i < more.len; i++)
        *vec_push(&k->upkeeps) = more.p[i];
    if (more.len)
        qsort(k->upkeeps.p, k->upkeeps.len, sizeof *k->upkeeps.p, by_name);
    vec_done(&more);
}

void keeper_upkeeps_stuck(struct keeper *k) {
    if (!k->opts.maintenances || !store_synced(k->opts.maintenances))
        return;
    take_in(k);
    _cleanup_free_ char *object = xasprintf("configmap/%s", k->map),
                        *text = xasprintf("the record of its policy's slots cannot be read: %s",
                                          k->record.trouble);
    const struct own_wait wait = own_wait_for(BLOCKER_RECORD_UNREADABLE, object, text);
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        struct upkeep *u = k->upkeeps.p[i];
        const struct maintenance *m = object_of(k, u);
        if (!m || !is_current(u, m) || maint_ended(keeper_phase(m)))
            continue;
        if (u->not_before > k->now.mono)
            keeper_wake(k, u->not_before);
        else
            keeper_upkeep_blocked(k, u, m, keeper_phase(m), &wait);
    }
}

void keeper_upkeeps_take_in(struct keeper *k) {
    if (k->opts.maintenances && store_synced(k->opts.maintenances))
        take_in(k);
}

void keeper_upkeeps_step(struct keeper *k) {
    if (!k->opts.maintenances || !store_synced(k->opts.maintenances))
        return;
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        const struct maintenance *m = object_of(k, k->upkeeps.p[i]);
        if (m && is_current(k->upkeeps.p[i], m))
            step(k, k->upkeeps.p[i], m);
    }
}

static bool asks(const struct maintenance *m) {
    return keeper_phase(m) == MAINT_QUEUED && !m->meta.deleted && m->paused != 1;
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
        if (!ours || (obj && asks((const struct maintenance *)obj) &&
                      k->opts.owns(k->opts.arg, k, (const struct maintenance *)obj)))
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

static void tell(struct keeper *k, const struct upkeep *u, const struct maintenance *m) {
    keeper_phase_tell(k, u, m, slot_of(k, u, m));
}

bool keeper_upkeeps_answer(struct keeper *k, uint64_t action, const struct answer *a) {
    for (size_t i = 0; i < k->upkeeps.len; i++) {
        struct upkeep *u = k->upkeeps.p[i];
        if (u->list.action == action) {
            keeper_list_answer(k, &u->list, a);
            return true;
        }
        if (u->action != action)
            continue;
        u->action = 0;
        if (a->outcome == KUBE_OK && a->obj) {
            str_replace(&u->version, a->obj->meta.version);
            u->tries = 0;
            if (u->n_ways)
                tell(k, u, (const struct maintenance *)a->obj);
        } else {
            /* What has not begun can still be taken back, or paused. */
            if (u->operates && u->n_ways && u->ways[0]->from == MAINT_GRANTED)
                u->work = MAINT_WORK_NONE;
            u->operates = false;
            u->not_before = keeper_backoff(k, ++u->tries);
        }
        u->n_ways = 0;
        return true;
    }
    return false;
}

void keeper_operated(struct keeper *k, const char *name, const char *failure) {
    struct upkeep *u = find(k, name);
    if (!u)
        return;
    u->work = failure ? MAINT_WORK_FAILED : MAINT_WORK_DONE;
    u->unwritten = true;
    if (failure)
        str_replace(&u->failure, failure);
    keeper_stir(k);
}

bool keeper_owes(const struct keeper *k) {
    for (size_t i = 0; i < k->upkeeps.len; i++)
        if (k->upkeeps.p[i]->unwritten && object_of(k, k->upkeeps.p[i]))
            return true;
    return false;
}
