/* What was ordered of the controller and is not over. */
#include "cli/orders.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/maintenance.h"
#include "engine/own_status.h"

static bool is_over(const struct rollout *r) {
    return str_same(r->phase, "Complete");
}

/* One that a Rollout has made is told of with it. */
static bool is_a_rollouts(const struct maintenance *m) {
    const struct owner *o = meta_controller(&m->meta);
    return o && str_same(o->kind, kind_rollout.name);
}

static const char *phase_or_pending(const char *phase) {
    return str_empty(phase) ? maint_phases[MAINT_PENDING].word : phase;
}

void orders_take(const struct store *rollouts, const struct store *maintenances,
                 struct arena *arena, struct orders *out) {
    size_t n_rollouts = 0, n_others = 0;
    _cleanup_free_ const struct object **rolls = store_sorted(rollouts, &n_rollouts);
    _cleanup_free_ const struct object **others = store_sorted(maintenances, &n_others);
    struct order *rows = arena_alloc(arena, (n_rollouts + n_others) * sizeof *rows + 1);
    size_t n = 0;
    for (size_t i = 0; i < n_rollouts; i++) {
        const struct rollout *r = (const struct rollout *)rolls[i];
        if (!is_over(r))
            rows[n++] = (struct order){.name = arena_printf(arena, "rollout/%s", r->meta.name),
                                       .operation = strna(r->operation),
                                       .phase = phase_or_pending(r->phase),
                                       .counts = r->counts,
                                       .blocker = r->blocker,
                                       .since = r->meta.created};
    }
    for (size_t i = 0; i < n_others; i++) {
        const struct maintenance *m = (const struct maintenance *)others[i];
        if (!is_a_rollouts(m) && !maint_ended(maint_phase_find(m->phase)))
            rows[n++] = (struct order){.name = arena_printf(arena, "maintenance/%s", m->meta.name),
                                       .operation = strna(m->operation),
                                       .phase = phase_or_pending(m->phase),
                                       .node = strna(m->node),
                                       .blocker = m->blocker,
                                       .since = m->meta.created};
    }
    *out = (struct orders){rows, n};
}

const char *order_progress(const struct order *o, struct arena *arena) {
    if (o->node)
        return o->node;
    const char *failed =
        o->counts.failed > 0 ? arena_printf(arena, ", %d failed", o->counts.failed) : "";
    return arena_printf(arena, "%d of %d nodes done%s", o->counts.complete, o->counts.total,
                        failed);
}

const char *order_waits(const struct order *o, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    if (o->blocker)
        own_blocker_text(o->blocker, &text);
    return arena_printf(arena, "%s", str_get(&text));
}

static void write_order(struct jsonw *w, const struct order *o) {
    char since[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", o->name);
    jsonw_kstr(w, "operation", o->operation);
    jsonw_kstr(w, "phase", o->phase);
    jsonw_kopt(w, "node", o->node);
    if (!o->node) {
        jsonw_kint(w, "total", o->counts.total);
        jsonw_kint(w, "complete", o->counts.complete);
        jsonw_kint(w, "failed", o->counts.failed);
    }
    if (o->since)
        jsonw_kstr(w, "since", time_format(o->since, false, since));
    if (o->blocker) {
        jsonw_kopt(w, "code", o->blocker->code);
        jsonw_kopt(w, "object", o->blocker->object);
        jsonw_kopt(w, "message", o->blocker->message);
        jsonw_kopt(w, "hint", o->blocker->hint);
        if (o->blocker->deadline)
            jsonw_kstr(w, "deadline", time_format(o->blocker->deadline, false, since));
        jsonw_kopt(w, "then", o->blocker->then);
    }
    jsonw_end(w);
}

void orders_write(struct jsonw *w, const struct orders *o) {
    jsonw_kbegin(w, "orders", '[');
    for (size_t i = 0; i < o->n; i++)
        write_order(w, &o->rows[i]);
    jsonw_end(w);
}
