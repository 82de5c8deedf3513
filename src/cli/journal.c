/* What the journal of a Maintenance tells. */
#include "cli/journal.h"

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/maintenance.h"

size_t journal_spans(const struct maintenance *m, struct arena *arena,
                     const struct journal_span **out) {
    size_t steps = list_len(m->journal), n = 0;
    struct journal_span *spans = arena_alloc(arena, (steps + 2) * sizeof *spans);
    *out = spans;
    if (steps && maint_phase_find(m->journal[0].from) == MAINT_PENDING && m->meta.created)
        spans[n++] = (struct journal_span){maint_phases[MAINT_PENDING].word, m->meta.created,
                                           m->journal[0].time};
    for (size_t i = 0; i < steps; i++) {
        const struct own_transition *t = &m->journal[i];
        if (maint_ended(maint_phase_find(t->to)))
            break;
        spans[n++] = (struct journal_span){strna(t->to), t->time,
                                           i + 1 < steps ? m->journal[i + 1].time : 0};
    }
    return n;
}

int64_t journal_ended(const struct maintenance *m) {
    size_t steps = list_len(m->journal);
    if (!maint_ended(maint_phase_find(m->phase)))
        return 0;
    return steps ? m->journal[steps - 1].time : m->since;
}

void journal_text(const struct maintenance *m, int64_t now, struct str *out) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct journal_span *spans;
    size_t n = journal_spans(m, &arena, &spans), said = 0;
    for (size_t i = 0; i < n; i++) {
        char took[TIMEFMT_LEN];
        int64_t usec = (spans[i].ended ? spans[i].ended : now) - spans[i].began;
        if (usec < SEC(1) && spans[i].ended)
            continue;
        str_addf(out, "%s%s %s", said++ ? ", " : "", spans[i].phase, duration_format(usec, took));
    }
}

void journal_write(struct jsonw *w, const struct maintenance *m, int64_t now) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const struct journal_span *spans;
    size_t n = journal_spans(m, &arena, &spans);
    char at[TIMEFMT_LEN];
    jsonw_kbegin(w, "phases", '[');
    for (size_t i = 0; i < n; i++) {
        int64_t end = spans[i].ended ? spans[i].ended : now;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "phase", spans[i].phase);
        jsonw_kstr(w, "began", time_format(spans[i].began, false, at));
        if (spans[i].ended)
            jsonw_kstr(w, "ended", time_format(spans[i].ended, false, at));
        jsonw_kint(w, "seconds", MAX_OF(end - spans[i].began, 0) / USEC_PER_SEC);
        jsonw_end(w);
    }
    jsonw_end(w);
}
