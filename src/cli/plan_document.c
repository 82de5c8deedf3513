/* A plan as a document. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/finding_json.h"
#include "cli/plan_text.h"

#define NO_DIGEST "----------------" /* as long as one */

static void write_seconds(struct jsonw *w, const char *key, int64_t usec) {
    char text[32];
    if (usec == PLAN_NO_TIME)
        return;
    snprintf(text, sizeof text, "%lld.%03lld", (long long)(usec / USEC_PER_SEC),
             (long long)(usec % USEC_PER_SEC / 1000));
    jsonw_key(w, key);
    jsonw_raw(w, text);
}

static void write_blocker(struct jsonw *w, const struct plan_blocker *b) {
    const struct blocker_row *row = blocker_row(b->code);
    jsonw_kbegin(w, "blocker", '{');
    jsonw_kstr(w, "code", row->name);
    jsonw_kopt(w, "object", b->object);
    jsonw_kstr(w, "message", b->message);
    jsonw_kopt(w, "help", b->help);
    jsonw_kstr(w, "hint", row->hint);
    jsonw_kstr(w, "clears", row->clears_itself ? "auto" : "operator");
    jsonw_end(w);
}

static void write_pod(struct jsonw *w, const struct plan_pod *p) {
    const struct owner *o = meta_controller(&p->pod->meta);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "namespace", strna(p->pod->meta.ns));
    jsonw_kstr(w, "name", p->pod->meta.name);
    jsonw_kstr(w, "uid", strna(p->pod->meta.uid));
    if (o) {
        _cleanup_free_ char *owner = xasprintf("%s/%s", strna(o->kind), strna(o->name));
        jsonw_kstr(w, "owner", owner);
    }
    jsonw_kstr(w, "verdict", plan_verdict_word(p->verdict));
    if (p->verdict == PLAN_STAYS)
        jsonw_kopt(w, "why", p->why);
    if (p->verdict > PLAN_GOES)
        write_blocker(w, &p->blocker);
    write_seconds(w, "evicted", p->evicted);
    write_seconds(w, "gone", p->gone);
    write_seconds(w, "back", p->back);
    jsonw_kopt(w, "to", p->to);
    jsonw_end(w);
}

static void write_node(struct jsonw *w, const struct plan_node *n) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", n->name);
    jsonw_kstr(w, "uid", strna(n->node->meta.uid));
    jsonw_kstr(w, "verdict", plan_verdict_word(n->verdict));
    if (n->finding) {
        jsonw_kbegin(w, "checks", '[');
        for (size_t i = 0; i < n->n_findings; i++)
            finding_json(w, n->findings[i]);
        jsonw_end(w);
    }
    if (n->n_later) {
        jsonw_kbegin(w, "later", '[');
        for (size_t i = 0; i < n->n_later; i++)
            finding_json(w, n->later[i]);
        jsonw_end(w);
    }
    if (n->blocker.message)
        write_blocker(w, &n->blocker);
    write_seconds(w, "begins", n->begins);
    write_seconds(w, "ends", n->ends);
    write_seconds(w, "least", n->least);
    jsonw_kbegin(w, "pods", '[');
    for (size_t i = 0; i < n->n_pods; i++)
        write_pod(w, &n->pods[i]);
    jsonw_end(w);
    jsonw_end(w);
}

static void write_budgets(struct jsonw *w, const struct plan *p) {
    jsonw_kbegin(w, "budgets", '[');
    for (size_t i = 0; i < p->n_budgets; i++) {
        const struct plan_budget *b = &p->budgets[i];
        jsonw_begin(w, '{');
        jsonw_kstr(w, "name", b->name);
        jsonw_kstr(w, "rule", b->rule);
        jsonw_kstr(w, "selector", b->selector);
        jsonw_kopt(w, "unhealthyPodEvictionPolicy", b->unhealthy);
        if (b->spare != PLAN_NO_COUNT)
            jsonw_kint(w, "spare", b->spare);
        jsonw_kint(w, "needs", b->needs);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void write_bounds(struct jsonw *w, const struct plan *p) {
    static const char *const words[] = {[TERM_NODE] = "node",
                                        [TERM_BUDGET] = "budget",
                                        [TERM_SLOTS] = "slots",
                                        [TERM_ZONES] = "zones",
                                        [TERM_RATE] = "rate"};
    jsonw_kbegin(w, "lowerBound", '{');
    write_seconds(w, "seconds", p->bounds[p->binds].least);
    write_seconds(w, "certain", p->certain);
    jsonw_kstr(w, "binds", words[p->binds]);
    jsonw_kbegin(w, "terms", '[');
    for (int i = 0; i < PLAN_TERMS; i++) {
        if (!*p->bounds[i].message)
            continue;
        jsonw_begin(w, '{');
        jsonw_kstr(w, "term", words[i]);
        write_seconds(w, "seconds", p->bounds[i].least);
        jsonw_kopt(w, "object", p->bounds[i].object);
        jsonw_kstr(w, "message", p->bounds[i].message);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_end(w);
}

/* What the times rest on. */
static void write_basis(struct jsonw *w, const struct plan *p) {
    jsonw_kbegin(w, "basis", '{');
    write_seconds(w, "stopAssumed", ASSUMED_STOP);
    write_seconds(w, "startAssumed", ASSUMED_START);
    jsonw_kint(w, "startsAssumed", (int64_t)p->assumed);
    jsonw_kint(w, "stopsAssumed", (int64_t)p->stops_assumed);
    jsonw_kint(w, "stopsSeen", (int64_t)p->stops_seen);
    jsonw_kint(w, "volumesLeftOut", (int64_t)p->attached);
    jsonw_end(w);
}

static void write_better(struct jsonw *w, const struct plan *p) {
    if (p->adopted_limit) {
        jsonw_kbegin(w, "adopted", '{');
        jsonw_kint(w, "parallel", (int64_t)p->adopted_limit);
        jsonw_kint(w, "without", (int64_t)p->without_nodes);
        jsonw_end(w);
    }
    if (!p->better_limit)
        return;
    jsonw_kbegin(w, "better", '{');
    jsonw_kint(w, "parallel", (int64_t)p->better_limit);
    jsonw_kint(w, "nodes", (int64_t)p->better_nodes);
    jsonw_end(w);
}

/* --- what it rests on --- */

struct digest {
    uint32_t a, b;
};

static void add(struct digest *d, const char *text) {
    const char *t = strna(text);
    d->a = hash_more(d->a, t, strlen(t) + 1);
    d->b = hash_more(d->b ^ 0x9e3779b9u, t, strlen(t) + 1);
}

static void add_number(struct digest *d, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    add(d, text);
}

static void add_node(struct digest *d, const struct plan_node *n) {
    add(d, n->name);
    add(d, n->node->meta.uid);
    add(d, n->finding ? n->finding->evidence : "");
    add_number(d, (int64_t)n->n_pods);
    for (size_t k = 0; k < n->n_pods; k++) {
        add(d, n->pods[k].pod->meta.uid);
        add(d, plan_verdict_word(n->pods[k].verdict));
    }
}

void plan_id(const struct plan_shown *shown, char out[static 17]) {
    const struct plan *plan = shown->plan;
    struct digest d = {1, 2};
    add_number(&d, (int64_t)shown->n_flags);
    for (size_t i = 0; i < shown->n_flags; i++)
        add(&d, shown->flags[i]);
    add(&d, shown->rules);
    for (size_t i = 0; i < plan->n; i++)
        add_node(&d, &plan->nodes[i]);
    for (size_t i = 0; i < plan->n_budgets; i++) {
        const struct plan_budget *b = &plan->budgets[i];
        add(&d, b->name);
        add(&d, b->rule);
        add(&d, b->selector);
        add(&d, b->unhealthy);
    }
    snprintf(out, 17, "%08x%08x", d.a, d.b);
}

/* --- the document --- */

void plan_hash(const char *text, size_t len, char out[static 17]) {
    snprintf(out, 17, "%08x%08x", hash_bytes(text, len),
             hash_more(hash_bytes("plan", 4), text, len));
}

void plan_digest(const json_t *document, char out[static 17]) {
    _cleanup_json_ json_t *rest = json_copy((json_t *)document);
    json_object_del(rest, "digest");
    _cleanup_free_ char *text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS);
    plan_hash(strna(text), strlen(strna(text)), out);
}

/* Whoever edits the file by hand does not know how. */
static void sign(struct str *text) {
    _cleanup_json_ json_t *doc = json_loadb(str_get(text), text->len, 0, NULL);
    char *place = doc ? strstr(text->p, "\"" NO_DIGEST "\"") : NULL;
    char digest[17];
    if (!place)
        return;
    plan_digest(doc, digest);
    memcpy(place + 1, digest, sizeof digest - 1);
}

void plan_document(const struct plan_shown *shown, struct str *out) {
    const struct plan *p = shown->plan;
    char when[TIMEFMT_LEN], id[17];
    struct jsonw w;
    plan_id(shown, id);
    jsonw_init(&w, out, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", PLAN_SCHEMA);
    jsonw_kstr(&w, "id", id);
    jsonw_kstr(&w, "operation", "drain");
    jsonw_kstr(&w, "server", shown->cluster);
    jsonw_kstr(&w, "made", time_format(shown->now, false, when));
    jsonw_kbool(&w, "serverAsked", shown->asked);
    if (shown->n_unread) {
        jsonw_kbegin(&w, "unread", '[');
        for (size_t i = 0; i < shown->n_unread; i++)
            jsonw_str(&w, shown->unread[i]);
        jsonw_end(&w);
    }
    jsonw_kopt(&w, "rules", shown->rules);
    jsonw_kstr(&w, "digest", NO_DIGEST);
    jsonw_kbegin(&w, "flags", '[');
    for (size_t i = 0; i < shown->n_flags; i++)
        jsonw_str(&w, shown->flags[i]);
    jsonw_end(&w);
    jsonw_kint(&w, "mostAtOnce", (int64_t)p->most_at_once);
    write_seconds(&w, "seconds", p->makespan);
    write_seconds(&w, "drained", p->drained);
    write_bounds(&w, p);
    write_basis(&w, p);
    write_better(&w, p);
    write_budgets(&w, p);
    jsonw_kbegin(&w, "pods", '{');
    for (int i = 0; i < PLAN_VERDICTS; i++)
        jsonw_kint(&w, plan_verdict_word((enum plan_verdict)i), (int64_t)p->count[i]);
    jsonw_end(&w);
    jsonw_kbegin(&w, "nodes", '[');
    for (size_t i = 0; i < p->n; i++)
        write_node(&w, &p->nodes[i]);
    jsonw_end(&w);
    jsonw_end(&w);
    sign(out);
}
