/* What stands in the object of a Maintenance: the phase that it is in and the steps that led there,
 * what it waits for, and the finalizer that keeps it until its node is what it was. */
#include <string.h>

#include "engine/keeper_internal.h"

enum {
    JOURNAL = 20,       /* transitions that are kept */
    BLOCKER_EVERY_S = 5 /* what it waits for is written so often, at most */
};

/* --- reading --- */

enum maint_phase keeper_phase(const struct maintenance *m) {
    return maint_phase_find(m->phase);
}

enum maint_phase keeper_phase_end(const struct maintenance *m) {
    for (size_t i = 0; i < n_maint_ways; i++)
        if (maint_ways[i].to == MAINT_UNDOING && str_same(maint_ways[i].reason, m->phase_reason))
            return maint_way_end(&maint_ways[i]);
    return MAINT_FAILED;
}

enum maint_phase keeper_phase_before(const struct maintenance *m) {
    size_t n = list_len(m->journal);
    return n ? maint_phase_find(m->journal[n - 1].from) : MAINT_PENDING;
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

void keeper_upkeep_finalizer(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                             bool on) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    own_patch_begin(&w, &body, &m->meta);
    own_write_finalizers(&w, &m->meta, KEEPER_FINALIZER, on);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, NULL, &body);
}

void keeper_upkeep_heard(struct keeper *k, struct upkeep *u, const struct maintenance *m) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    own_patch_begin(&w, &body, &m->meta);
    jsonw_kbegin(&w, "annotations", '{');
    jsonw_key(&w, OWN_WORD_ANNOTATION);
    jsonw_null(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, NULL, &body);
}

static void write_journal(struct jsonw *w, const struct maintenance *m,
                          const struct maint_way *const *ways, size_t n, int64_t now) {
    size_t had = list_len(m->journal), skip = had + n > JOURNAL ? had + n - JOURNAL : 0;
    jsonw_kbegin(w, "journal", '[');
    for (size_t i = skip; i < had; i++) {
        jsonw_begin(w, '{');
        own_write_time(w, "time", m->journal[i].time);
        jsonw_kopt(w, "from", m->journal[i].from);
        jsonw_kstr(w, "to", strna(m->journal[i].to));
        jsonw_kopt(w, "reason", m->journal[i].reason);
        jsonw_end(w);
    }
    for (size_t i = 0; i < n; i++) {
        jsonw_begin(w, '{');
        own_write_time(w, "time", now);
        jsonw_kstr(w, "from", maint_phases[ways[i]->from].word);
        jsonw_kstr(w, "to", maint_phases[ways[i]->to].word);
        jsonw_kstr(w, "reason", ways[i]->reason);
        jsonw_end(w);
    }
    jsonw_end(w);
}

/* What it was undone for, which its end is for, too. */
static const struct maint_way *cause_of(const struct maintenance *m, const struct maint_way *way) {
    for (size_t i = 0; maint_ended(way->to) && i < n_maint_ways; i++)
        if (way->from == MAINT_UNDOING && maint_ways[i].to == MAINT_UNDOING &&
            str_same(maint_ways[i].reason, m->phase_reason))
            return &maint_ways[i];
    return way;
}

/* Whoever has carried it out tells more than the way does. */
static const char *why_of(const struct upkeep *u, const struct maint_way *way,
                          const struct maint_way *cause, struct arena *arena) {
    if (u->failure && streq(way->reason, "OperationFailed"))
        return u->failure;
    bool gone = cause != way && streq(cause->reason, "NodeGone");
    return cause == way || gone ? cause->meaning
                                : arena_printf(arena, "%s %s", cause->meaning, way->meaning);
}

void keeper_phase_write(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                        const struct maint_way *const *ways, size_t n,
                        const struct maint_facts *f) {
    _cleanup_str_ struct str body = STR_INIT;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct jsonw w;
    const struct maint_way *way = ways[n - 1];
    const struct maint_way *cause = cause_of(m, way);
    const char *why = why_of(u, way, cause, &arena);
    bool complete = way->to == MAINT_COMPLETE,
         failed = way->to == MAINT_FAILED || way->to == MAINT_CANCELLED;
    own_patch_begin(&w, &body, &m->meta);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_kint(&w, "observedGeneration", m->meta.generation);
    jsonw_kstr(&w, "phase", maint_phases[way->to].word);
    jsonw_kstr(&w, "reason", cause->reason);
    own_write_time(&w, "since", k->now.wall);
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
    const struct own_said said[] = {
        {"Complete", complete, cause->reason, complete ? why : ""},
        {"Failed", failed, cause->reason, failed ? why : ""},
        {"Progressing", !complete && !failed, cause->reason, why},
    };
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        own_write_condition(&w, m->conditions, m->meta.generation, k->now.wall, &said[i]);
    jsonw_end(&w);
    write_journal(&w, m, ways, n, k->now.wall);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, "status", &body);
    memcpy(u->ways, ways, n * sizeof *ways);
    u->n_ways = n;
    str_replace(&u->why, why);
    u->since = m->since;
    if (way->to == MAINT_OPERATING) /* one that goes by itself is only waited for again */
        u->operates = !f->by_request && (u->work == MAINT_WORK_BEGUN || way->from == MAINT_HALTED);
}

void keeper_upkeep_blocked(struct keeper *k, struct upkeep *u, const struct maintenance *m,
                           enum maint_phase phase, const struct own_wait *wait) {
    _cleanup_str_ struct str body = STR_INIT;
    /* That one goes on, or stands still, is not news that can wait. */
    bool silent = !m->blocker || str_empty(m->blocker->code);
    if (own_blocker_is(m->blocker, wait))
        return;
    if (u->blocker_at > k->now.mono && !(silent && phase == MAINT_HALTED)) {
        keeper_wake(k, u->blocker_at);
        return;
    }
    u->blocker_at = k->now.mono + SEC(BLOCKER_EVERY_S);
    struct jsonw w;
    own_patch_begin(&w, &body, &m->meta);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    if (str_empty(m->phase)) /* it has not gone anywhere yet */
        jsonw_kstr(&w, "phase", maint_phases[phase].word);
    own_write_blocker(&w, m->blocker, wait, k->now.wall);
    jsonw_end(&w);
    jsonw_end(&w);
    patch(k, u, "status", &body);
}

void keeper_phase_tell(struct keeper *k, const struct upkeep *u, const struct maintenance *m,
                       const struct slot *slot) {
    _cleanup_free_ char *by = xasprintf(KEEPER_BY_MAINTENANCE "%s", u->name);
    for (size_t i = 0; i < u->n_ways; i++) {
        const struct maint_way *way = u->ways[i];
        bool last = i + 1 == u->n_ways;
        keeper_tell(
            k,
            (struct keeper_note){.node = m->node,
                                 .maintenance = u->name,
                                 .by = by,
                                 .operation = m->operation,
                                 .slot = slot,
                                 .reason = way->reason,
                                 .warning = way->to == MAINT_HALTED || way->to == MAINT_FAILED,
                                 .moves = true,
                                 .from = way->from,
                                 .to = way->to,
                                 .since = i ? m->since : u->since},
            "is %s by maintenance %s: %s", maint_phases[way->to].word, u->name,
            last ? strna(u->why) : way->meaning);
    }
}
