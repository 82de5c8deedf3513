/* What the checks are written with: which nodes go, findings, sentences, majorities. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/podrole.h"

/* --- nodes --- */

static int by_name(const void *key, const void *entry) {
    return strcmp(key, *(const char *const *)entry);
}

static const char *const *find(const struct check_names *names, const char *name) {
    if (!name || !names->n)
        return NULL;
    return bsearch(name, names->p, names->n, sizeof *names->p, by_name);
}

static bool has(const struct check_names *names, const char *name) {
    return find(names, name);
}

const char *run_next(struct check_run *r, size_t *i) {
    r->at = *i < r->going.n ? r->going.p[*i] : NULL;
    ++*i;
    return r->at;
}

const char *const *run_asked(const struct check_run *r, const char *node) {
    return find(&r->going, node);
}

bool run_going(const struct check_run *r, const char *node) {
    if (r->alone)
        return node && r->at && streq(node, r->at);
    return has(&r->going, node);
}

bool run_out(const struct check_run *r, const char *node) {
    return has(&r->out, node);
}

bool run_lost(const struct check_run *r, const char *node) {
    return run_going(r, node) || run_out(r, node);
}

const char *const *run_back(const struct check_run *r, const char *node) {
    return find(&r->back, node);
}

const char *run_unfit(const struct check_run *r, const char *node) {
    if (str_empty(node))
        return "is not known";
    if (run_out(r, node))
        return "is out of service";
    if (run_going(r, node))
        return "would go at the same time";
    const struct node *n = (const struct node *)store_get(r->world->nodes, NULL, node);
    if (!n)
        return "does not exist";
    const struct node_condition *ready = node_condition_find(n->conditions, "Ready");
    if (!ready || !str_same(ready->c.status, "True"))
        return "is not Ready";
    return n->unschedulable ? "is cordoned" : NULL;
}

/* --- reading --- */

const struct store *run_store(const struct check_run *r, enum check_source_id source) {
    const struct check_input *in = &r->world->inputs[source];
    return in->read == READ_DONE ? in->store : NULL;
}

const char *run_unread(enum check_source_id source, const struct object *obj) {
    uint32_t at = check_sources[source].kind->unread;
    return at ? *(const char *const *)((const char *)obj + at) : NULL;
}

struct check_objects run_sorted(struct check_run *r, enum check_source_id source) {
    const struct store *s = run_store(r, source);
    struct check_objects *o = &r->sorted[source];
    if (s && !o->p) {
        size_t n = 0;
        _cleanup_free_ const struct object **all = store_sorted(s, &n);
        o->p = arena_alloc(r->arena, (n + 1) * sizeof *o->p);
        for (size_t i = 0; i < n; i++)
            if (!run_unread(source, all[i]))
                o->p[o->n++] = all[i];
    }
    return *o;
}

struct check_objects run_within(struct check_run *r, enum check_source_id source, const char *ns) {
    struct check_objects all = run_sorted(r, source);
    size_t low = 0, high = all.n, n = 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(strna(all.p[mid]->meta.ns), strna(ns)) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + n < all.n && str_same(all.p[low + n]->meta.ns, ns))
        n++;
    return (struct check_objects){n ? all.p + low : NULL, n};
}

const struct pod **run_pods(struct check_run *r, enum check_source_id source, const char *ns,
                            const char *label, const char *value, size_t *n) {
    struct check_objects all = run_within(r, source, ns);
    const struct pod **pods = arena_alloc(r->arena, (all.n + 1) * sizeof *pods);
    *n = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct pod *pod = (const struct pod *)all.p[i];
        const char *got = map_get(pod->meta.labels, label);
        if (got && (!value || streq(got, value)) && !pod_finished(pod))
            pods[(*n)++] = pod;
    }
    return pods;
}

/* --- findings --- */

/* Not longer than a sentence, and not cut within a character. */
static const char *shorten(const struct check_run *r, const char *text) {
    if (strlen(text) <= CHECK_EVIDENCE)
        return text;
    int len = CHECK_EVIDENCE;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return run_printf(r, "%.*s...", len, text);
}

struct check_finding *run_find(struct check_run *r, const char *node, enum check_verdict verdict,
                               unsigned when, enum blocker_code code, const struct kind *kind,
                               const struct meta *object, const char *evidence) {
    struct check_finding *f = vec_push(&r->findings);
    *f = (struct check_finding){
        .check = r->check,
        .verdict = verdict,
        .when = when,
        .code = code,
        .node = node,
        .kind = kind ? kind->name : NULL,
        .ns = object ? object->ns : NULL,
        .name = object ? object->name : NULL,
        .evidence = shorten(r, evidence),
    };
    if (verdict != CHECK_PASS) {
        f->hint = blocker_row(code)->hint;
        f->ends = blocker_row(code)->ends;
    }
    return f;
}

static size_t count_unread(const struct store *s, enum check_source_id source) {
    const struct object *obj;
    size_t n = 0;
    for (uint32_t i = 0; s && (obj = store_next(s, &i));)
        n += run_unread(source, obj) != NULL;
    return n;
}

/* A release that changes a field makes all of them odd: a few names are enough. */
static void tell_unread(struct check_run *r, enum check_source_id source) {
    const struct store *s = run_store(r, source);
    const struct kind *kind = check_sources[source].kind;
    size_t odd = count_unread(s, source), told = 0, n = 0;
    _cleanup_free_ const struct object **all = odd ? store_sorted(s, &n) : NULL;
    for (size_t i = 0; i < n && told < CHECK_NAMES; i++) {
        const char *why = run_unread(source, all[i]);
        if (!why)
            continue;
        why = ++told == CHECK_NAMES && odd > CHECK_NAMES
                  ? run_printf(r, "%s; and %zu more %s", why, odd - told, kind->resource)
                  : run_printf(r, "%s", why);
        for (size_t k = 0; k < r->going.n + r->back.n; k++) {
            bool goes = k < r->going.n;
            run_find(r, goes ? r->going.p[k] : r->back.p[k - r->going.n], CHECK_WAIT,
                     goes ? CHECK_CORDON | CHECK_OPERATION : CHECK_RETURN, BLOCKER_CHECK_UNKNOWN,
                     kind, &all[i]->meta, why);
        }
    }
}

void run_tell_unread(struct check_run *r) {
    for (unsigned i = 0; i < r->check->n_reads; i++)
        if (r->check->reads[i].need != NEED_NOT)
            tell_unread(r, r->check->reads[i].source);
}

void run_pass(struct check_run *r, const char *node, const char *evidence) {
    run_find(r, node, CHECK_PASS, run_back(r, node) ? CHECK_RETURN : CHECK_CORDON | CHECK_OPERATION,
             BLOCKER_CODES, NULL, NULL, evidence);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void run_settle(struct check_run *r) {
    size_t kept = r->from;
    struct check_names held = {
        arena_alloc(r->arena, (r->findings.len - r->from + 1) * sizeof *held.p), 0};
    for (size_t i = r->from; i < r->findings.len; i++)
        if (r->findings.p[i].verdict != CHECK_PASS && r->findings.p[i].node)
            held.p[held.n++] = r->findings.p[i].node;
    qsort(held.p, held.n, sizeof *held.p, compare_names);
    for (size_t i = r->from; i < r->findings.len; i++) {
        const struct check_finding f = r->findings.p[i];
        bool pass = f.verdict == CHECK_PASS && f.code == BLOCKER_CODES; /* no remark */
        if (!pass || !has(&held, f.node))
            r->findings.p[kept++] = f;
    }
    r->findings.len = kept;
}

void run_remark(struct check_run *r, const char *node, unsigned when, enum blocker_code code,
                const struct kind *kind, const struct meta *object, const char *evidence) {
    run_find(r, node, CHECK_PASS, when, code, kind, object, evidence);
}

/* --- sentences --- */

void check_list_add(struct check_list *l, const char *name) {
    if (l->n < CHECK_NAMES)
        l->first[l->n] = name;
    l->n++;
}

const char *run_list(const struct check_run *r, const struct check_list *l) {
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t i = 0; i < MIN_OF(l->n, (size_t)CHECK_NAMES); i++)
        str_addf(&s, "%s%s", i ? ", " : "", strna(l->first[i]));
    if (l->n > CHECK_NAMES)
        str_addf(&s, " and %zu more", l->n - CHECK_NAMES);
    return arena_strndup(r->arena, str_get(&s), s.len);
}

/* --- majorities --- */

/* The group without the nodes that go or are out, and without this one alone. */
struct loss {
    size_t healthy; /* now */
    size_t left;    /* healthy ones that stay */
    size_t here;    /* members of this node */
    struct check_list sick;
    /* Nodes with healthy members: out of service; and those that go together, this one among
     * them, so that the same is said of all. */
    struct check_list away, along;
};

/* Once for each node, whose members need not follow one another. */
static bool is_first_on(const struct check_group *g, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (g->members[k].healthy && str_same(g->members[k].node, g->members[i].node))
            return false;
    return true;
}

static struct loss count_loss(const struct check_run *r, const struct check_group *g,
                              const char *node) {
    struct loss loss = {0};
    for (size_t i = 0; i < g->n; i++) {
        const struct check_member *m = &g->members[i];
        loss.here += str_same(m->node, node);
        loss.healthy += m->healthy;
        loss.left += m->healthy && !run_lost(r, m->node);
        if (!m->healthy)
            check_list_add(&loss.sick, m->name);
        else if (run_lost(r, m->node) && is_first_on(g, i))
            check_list_add(run_going(r, m->node) ? &loss.along : &loss.away, m->node);
    }
    return loss;
}

/* "; out of service: cp1": the members that are counted out although they are healthy. */
static const char *lost_elsewhere(const struct check_run *r, const struct loss *loss) {
    const char *away =
        loss->away.n ? run_printf(r, "; out of service: %s", run_list(r, &loss->away)) : "";
    return loss->along.n > 1
               ? run_printf(r, "%s; at the same time: %s", away, run_list(r, &loss->along))
               : away;
}

/* What helps against what is missing, in the order in which it helps. */
static const char *quorum_hint(const struct check_run *r, const struct loss *loss) {
    _cleanup_str_ struct str s = STR_INIT;
    if (loss->sick.n)
        str_addf(&s, "bring the members that are not healthy back: %s", run_list(r, &loss->sick));
    if (loss->away.n)
        str_addf(&s, "%swait until %s %s back in service (slipway uncordon, when that is done)",
                 s.len ? "; " : "", run_list(r, &loss->away), loss->away.n == 1 ? "is" : "are");
    if (loss->along.n > 1)
        str_addf(&s, "%stake one node at a time, and let each come back before the next",
                 s.len ? "; " : "");
    return s.len ? arena_strndup(r->arena, str_get(&s), s.len)
                 : blocker_row(BLOCKER_QUORUM_AT_RISK)->hint;
}

static void judge_loss(struct check_run *r, const struct check_group *g, const char *node) {
    struct loss loss = count_loss(r, g, node);
    size_t need = g->total / 2 + 1;
    if (!loss.here)
        return;
    if (loss.left >= need) {
        run_pass(r, node,
                 run_printf(r, "%s: %zu of %zu members stay healthy, %zu are needed", g->what,
                            loss.left, g->total, need));
        return;
    }
    size_t wanted = MAX_OF(g->total, g->wanted);
    bool never = loss.here > wanted || wanted - loss.here < wanted / 2 + 1;
    const char *sick =
        loss.sick.n ? run_printf(r, " (not healthy: %s)", run_list(r, &loss.sick)) : "";
    const char *evidence =
        run_printf(r, "%s has %zu member%s, %zu healthy%s; %zu would be left, %zu %s needed%s",
                   g->what, g->total, plural(g->total), loss.healthy, sick, loss.left, need,
                   need == 1 ? "is" : "are", lost_elsewhere(r, &loss));
    struct check_finding *f =
        run_find(r, node, never ? CHECK_DENY : CHECK_WAIT, never ? g->deny_when : g->wait_when,
                 BLOCKER_QUORUM_AT_RISK, g->kind, g->object, evidence);
    f->hint = never ? "there is no majority without this node: add members on other nodes"
                    : quorum_hint(r, &loss);
    if (never)
        f->ends = "it has so many members on other nodes that these are a majority";
}

static void judge_return(struct check_run *r, const struct check_group *g) {
    for (size_t i = 0; i < g->n; i++) {
        const struct check_member *m = &g->members[i];
        if (!run_back(r, m->node))
            continue;
        if (m->healthy)
            run_pass(r, m->node, run_printf(r, "%s: member %s is healthy", g->what, m->name));
        else
            run_find(
                r, m->node, CHECK_WAIT, CHECK_RETURN, BLOCKER_QUORUM_AT_RISK, g->kind, g->object,
                run_printf(r, "%s: member %s on the node is not healthy yet", g->what, m->name));
    }
}

void run_quorum(struct check_run *r, const struct check_group *g) {
    const char *node;
    for (size_t i = 0; (node = run_next(r, &i));)
        judge_loss(r, g, node);
    judge_return(r, g);
}
