/* Rehearsals for programs: REHEARSAL_SCHEMA, described in docs/rehearse.md. Durations are seconds.
 */
#include <stdio.h>

#include "base/jsonw.h"
#include "base/timefmt.h"
#include "cli/rehearse_view.h"

static void key_seconds(struct jsonw *w, const char *key, int64_t usec) {
    char text[32];
    jsonw_key(w, key);
    if (usec < 0) {
        jsonw_null(w);
        return;
    }
    (void)snprintf(text, sizeof text, "%.3f", (double)usec / 1e6);
    jsonw_raw(w, text);
}

static void key_spread(struct jsonw *w, const char *key, const struct spread_of *v) {
    jsonw_kbegin(w, key, '{');
    key_seconds(w, "p10", v->p10);
    key_seconds(w, "p50", v->p50);
    key_seconds(w, "p90", v->p90);
    jsonw_end(w);
}

static const char *code_name(int code) {
    return code < 0 ? NULL : blocker_row((enum blocker_code)code)->name;
}

static void add_pods(struct jsonw *w, const struct rehearsal_node *n) {
    jsonw_kbegin(w, "pods", '[');
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct rehearsal_pod *p = &n->pods.p[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "namespace", p->ns);
        jsonw_kstr(w, "name", p->name);
        jsonw_kopt(w, "owner", p->owner);
        key_seconds(w, "asked", p->asked);
        key_seconds(w, "gone", p->gone);
        jsonw_kopt(w, "code", code_name(p->code));
        jsonw_kopt(w, "why", p->why);
        if (p->late)
            jsonw_kbool(w, "late", true);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_nodes(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "nodes", '[');
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sum_node *n = &m->nodes[i];
        const struct rehearsal_node *e = n->example;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "name", n->name);
        jsonw_kint(w, "drainedRuns", (int64_t)n->drained);
        key_spread(w, "began", &n->began);
        key_spread(w, "took", &n->took);
        jsonw_kstr(w, "phase", drain_phase_word(e->phase));
        jsonw_kopt(w, "error", e->error);
        jsonw_kopt(w, "code", code_name(e->code));
        jsonw_kint(w, "podsToGo", e->total);
        jsonw_kint(w, "podsLeft", e->left);
        if (e->emptied)
            jsonw_kbool(w, "emptied", true);
        add_pods(w, e);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_waits(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "waits", '[');
    for (size_t i = 0; i < m->n_waits; i++) {
        const struct sum_wait *x = &m->waits[i];
        const struct blocker_row *row = blocker_row(x->example->code);
        jsonw_begin(w, '{');
        jsonw_kstr(w, "code", row->name);
        jsonw_kopt(w, "kind", x->example->kind);
        jsonw_kopt(w, "object", x->example->object);
        jsonw_kopt(w, "message", x->example->message);
        jsonw_kopt(w, "check", rehearse_check(x->example));
        jsonw_kstr(w, "hint", row->hint);
        jsonw_kint(w, "runs", (int64_t)x->runs);
        jsonw_kint(w, "endlessRuns", (int64_t)x->open);
        jsonw_kint(w, "pods", x->pods);
        key_seconds(w, "begun", x->example->begun);
        key_spread(w, "waited", &x->waited);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_budgets(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "budgets", '[');
    for (size_t i = 0; i < m->n_budgets; i++) {
        const struct sum_budget *b = &m->budgets[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "namespace", b->example->ns);
        jsonw_kstr(w, "name", b->example->name);
        jsonw_kint(w, "allowedBefore", b->example->before);
        jsonw_kint(w, "allowedLeast", b->example->least);
        jsonw_kint(w, "pods", b->example->expected);
        jsonw_kint(w, "neededHealthy", b->example->desired);
        jsonw_kint(w, "closedRuns", (int64_t)b->closed_runs);
        key_spread(w, "closed", &b->closed);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_left(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "left", '[');
    for (size_t i = 0; i < m->n_pods; i++) {
        const struct sum_pod *p = &m->pods[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "node", p->node->name);
        jsonw_kstr(w, "namespace", p->pod->ns);
        jsonw_kstr(w, "name", p->pod->name);
        jsonw_kopt(w, "code", code_name(p->pod->code));
        jsonw_kstr(w, "why", p->pod->why);
        jsonw_kint(w, "runs", (int64_t)p->runs);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_failed(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "failedJobs", '[');
    for (size_t i = 0; i < m->n_pending; i++) {
        const struct rehearsal_pending *p = m->pending[i].example;
        if (p->pods)
            continue;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "workload", p->workload);
        jsonw_kstr(w, "why", p->why);
        jsonw_kint(w, "runs", (int64_t)m->pending[i].runs);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_pending(struct jsonw *w, const struct rehearse_sum *m) {
    jsonw_kbegin(w, "pending", '[');
    for (size_t i = 0; i < m->n_pending; i++) {
        const struct rehearsal_pending *p = m->pending[i].example;
        if (!p->pods)
            continue;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "workload", p->workload);
        jsonw_kint(w, "pods", p->pods);
        jsonw_kstr(w, "example", p->example);
        jsonw_kstr(w, "why", p->why);
        jsonw_kint(w, "runs", (int64_t)m->pending[i].runs);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_runs(struct jsonw *w, const struct rehearsal *runs, size_t n) {
    jsonw_kbegin(w, "runs", '[');
    for (size_t i = 0; i < n; i++) {
        size_t done = 0;
        for (size_t k = 0; k < runs[i].nodes.len; k++)
            done += runs[i].nodes.p[k].phase == DRAIN_DONE;
        jsonw_begin(w, '{');
        jsonw_kint(w, "seed", (int64_t)runs[i].seed);
        key_seconds(w, "took", runs[i].took);
        jsonw_kint(w, "drained", (int64_t)done);
        jsonw_kbool(w, "halted", runs[i].halted);
        jsonw_kint(w, "exitCode", runs[i].code);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void key_range(struct jsonw *w, const char *key, const int64_t range[2]) {
    jsonw_kbegin(w, key, '{');
    key_seconds(w, "least", range[0]);
    key_seconds(w, "most", range[1]);
    jsonw_end(w);
}

static void key_real(struct jsonw *w, const char *key, double v) {
    char text[32];
    (void)snprintf(text, sizeof text, "%g", v);
    jsonw_key(w, key);
    jsonw_raw(w, text);
}

static void add_lags(struct jsonw *w, const struct lags_basis *l) {
    jsonw_kbegin(w, "controlPlane", '{');
    jsonw_kint(w, "drains", (int64_t)l->drains);
    jsonw_kbool(w, "assumed", !l->drains);
    key_range(w, "answer", l->answer);
    key_range(w, "step", l->step);
    key_range(w, "budget", l->budget);
    key_range(w, "begin", l->begin);
    jsonw_kbegin(w, "times", '{');
    key_real(w, "least", l->times[0]);
    key_real(w, "most", l->times[1]);
    jsonw_end(w);
    jsonw_end(w);
}

static void add_assumed(struct jsonw *w, const struct rehearse_basis *b) {
    jsonw_kbegin(w, "assumed", '[');
    for (size_t i = 0; i < b->n_assumed; i++) {
        const struct rehearse_assumed *a = &b->assumed[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "code", blocker_row(a->code)->name);
        jsonw_kstr(w, "workload", a->workload);
        jsonw_kint(w, "pods", (int64_t)a->pods);
        jsonw_kstr(w, "example", a->example);
        jsonw_kstr(w, "why", a->why);
        jsonw_kstr(w, "here", a->here);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_basis(struct jsonw *w, const struct rehearse_sum *m,
                      const struct rehearse_basis *b) {
    char time[TIMEFMT_LEN];
    jsonw_kbegin(w, "basis", '{');
    jsonw_kstr(w, "source", b->source);
    jsonw_kstr(w, "taken", time_format(b->taken, false, time));
    jsonw_kint(w, "nodes", (int64_t)b->nodes);
    jsonw_kint(w, "pods", (int64_t)b->pods);
    jsonw_kint(w, "observations", (int64_t)b->observed);
    jsonw_kint(w, "startsObserved", (int64_t)b->ups);
    jsonw_kint(w, "workloadsStopped", (int64_t)b->stop.workloads);
    jsonw_kint(w, "stopsAssumed", (int64_t)b->stop.assumed);
    jsonw_kint(w, "workloadsStarted", (int64_t)b->start.workloads);
    jsonw_kint(w, "startsAssumed", (int64_t)b->start.assumed);
    add_lags(w, &b->lags);
    jsonw_kint(w, "podsMovedBefore", (int64_t)m->moved);
    jsonw_kint(w, "objectsNotSimulated", (int64_t)b->gaps.unknown);
    jsonw_kint(w, "objectsNotValid", (int64_t)b->gaps.invalid);
    add_assumed(w, b);
    jsonw_kbegin(w, "unread", '[');
    for (size_t i = 0; i < json_array_size(b->unread); i++)
        jsonw_str(w, json_str(json_array_get(b->unread, i), "resource"));
    jsonw_end(w);
    jsonw_end(w);
}

void rehearse_json(const struct rehearse_sum *sum, const struct rehearsal *runs,
                   const struct rehearse_basis *basis, struct str *out) {
    struct jsonw w;
    jsonw_init(&w, out, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", REHEARSAL_SCHEMA);
    jsonw_kint(&w, "exitCode", sum->code);
    jsonw_kint(&w, "wholeRuns", (int64_t)sum->whole);
    jsonw_kint(&w, "haltedRuns", (int64_t)sum->halted);
    key_seconds(&w, "haltAfter", REHEARSAL_HALT);
    key_spread(&w, "took", &sum->took);
    add_nodes(&w, sum);
    add_waits(&w, sum);
    add_budgets(&w, sum);
    add_left(&w, sum);
    add_pending(&w, sum);
    add_failed(&w, sum);
    add_runs(&w, runs, sum->runs);
    add_basis(&w, sum, basis);
    jsonw_end(&w);
}
