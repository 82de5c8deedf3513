/* What has changed of what a saved plan rests on. */
#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/plan_file.h"
#include "model/workload.h"

static const struct plan_node *node_now(const struct plan *p, const char *name) {
    for (size_t i = 0; i < p->n; i++)
        if (streq(p->nodes[i].name, name))
            return &p->nodes[i];
    return NULL;
}

/* --- pods ---
 *
 * The pods of a controller come and go, and a restart gives all of them other names, another
 * ReplicaSet and other nodes. What the plan rests on is what it says of their workload
 * (model/workload.h); a bare pod is itself. */

static bool stays(const char *verdict) {
    return streq(verdict, plan_verdict_word(PLAN_STAYS));
}

static bool drains(const char *verdict) {
    return streq(verdict, plan_verdict_word(PLAN_GOES)) ||
           streq(verdict, plan_verdict_word(PLAN_WAITS));
}

/* That it goes at once or a little later is the same: how much a budget allows comes and goes all
 * the time. That the budget itself is another one is told of the budget. */
static const char *means(const char *verdict) {
    return drains(verdict) ? "drains" : verdict;
}

/* A pod, then or now. */
struct told_pod {
    const char *ns, *name, *uid, *owner; /* owner: "ReplicaSet/web-7c9d"; "" */
    const char *verdict;
    const char *message; /* of its blocker; "" */
};

static struct told_pod pod_then(const struct saved_pod *p) {
    return (struct told_pod){p->ns, p->name, p->uid, p->owner, p->verdict, p->message};
}

static struct told_pod pod_now(const struct plan_pod *p, struct arena *arena) {
    const struct owner *o = meta_controller(&p->pod->meta);
    const struct meta *m = &p->pod->meta;
    return (struct told_pod){
        .ns = strna(m->ns),
        .name = strna(m->name),
        .uid = strna(m->uid),
        .owner = o ? arena_printf(arena, "%s/%s", strna(o->kind), strna(o->name)) : "",
        .verdict = plan_verdict_word(p->verdict),
        .message = p->verdict > PLAN_GOES ? strna(p->blocker.message) : ""};
}

/* The node's check is told of the node. */
static bool follows_check(const struct told_pod *p) {
    return str_starts(p->message, PLAN_NO_CORDON);
}

/* A Job's pods end when they are done, and the next Job has others. */
static bool is_of_job(const struct told_pod *p) {
    return str_starts(p->owner, "Job/");
}

static const char *workload(const struct told_pod *p, struct arena *arena) {
    _cleanup_str_ struct str name = STR_INIT;
    const char *slash = strchr(p->owner, '/');
    _cleanup_free_ char *kind = slash ? xstrndup(p->owner, (size_t)(slash - p->owner)) : NULL;
    workload_name_of(p->ns, p->name, kind, slash ? slash + 1 : NULL, &name);
    return arena_strndup(arena, str_get(&name), name.len);
}

/* A pod of which something else is true now than then; one that is gone has no `now`, one that has
 * come no `then`. */
struct change {
    const struct saved_node *node;
    const struct saved_pod *then;
    const struct plan_pod *now;
    const char *lost, *found; /* what is said of a pod of a workload then, or now, and of one less,
                                 or one more, the other time; NULL: it is none that counts */
    bool another;             /* and the two have nothing in common but the name */
};

struct changes {
    struct arena arena;
    struct htab known;       /* workloads of which the plan has pods that shall go */
    VEC(struct change) list; /* by node, in the order of the plan */
    size_t told;
};

static uint32_t word_hash(const void *word) {
    return hash_bytes(word, strlen(word));
}

static bool word_equal(const void *word, const void *key) {
    return streq(word, key);
}

static const struct htab_ops word_ops = {word_hash, word_equal};

static void learn(struct changes *c, const struct plan_file *f) {
    htab_init(&c->known, &word_ops);
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->nodes[i].n_pods; k++) {
            struct told_pod p = pod_then(&f->nodes[i].pods[k]);
            const char *name = workload(&p, &c->arena);
            if (!stays(p.verdict) && !htab_find(&c->known, word_hash(name), name))
                htab_insert(&c->known, (void *)name);
        }
}

/* "default/Deployment/web homeless" */
static const char *what_is_said(struct changes *c, const struct told_pod *p) {
    return arena_printf(&c->arena, "%s %s", workload(p, &c->arena), means(p->verdict));
}

/* Of one that is not there any more, or of which something else is said. That a controller's pod
 * would go, and is gone, leaves less to do. */
static const char *lost(struct changes *c, const struct told_pod *p) {
    bool left = *p->owner && (drains(p->verdict) || follows_check(p));
    return stays(p->verdict) || left || is_of_job(p) ? NULL : what_is_said(c, p);
}

/* Of one that was not there, or of which something else was said. */
static const char *found(struct changes *c, const struct told_pod *p) {
    bool would = drains(p->verdict) || follows_check(p);
    const char *name = workload(p, &c->arena);
    bool known = *p->owner && htab_find(&c->known, word_hash(name), name);
    return stays(p->verdict) || (would && (known || is_of_job(p))) ? NULL : what_is_said(c, p);
}

/* Whether it is another pod than it was, and not one that its controller has made again. */
static bool is_another(struct changes *c, const struct told_pod *a, const struct told_pod *b) {
    if (streq(a->uid, b->uid))
        return false;
    return !*a->owner || !streq(workload(a, &c->arena), workload(b, &c->arena));
}

static bool is_chance(const struct told_pod *p) {
    return strstr(p->message, PLAN_IS_CHANCE);
}

/* Nobody relies on what was said to be chance: that it is certain now, or the other way round of
 * what was not said to drain, is the same. */
static bool by_chance(const struct told_pod *a, const struct told_pod *b) {
    return !stays(a->verdict) && !stays(b->verdict) && !drains(a->verdict) &&
           (is_chance(a) || is_chance(b));
}

static bool same_is_said(const struct told_pod *a, const struct told_pod *b) {
    return streq(means(a->verdict), means(b->verdict)) || by_chance(a, b) || follows_check(a) ||
           follows_check(b);
}

/* The two have one name. */
static void note_both(struct changes *c, const struct saved_node *node,
                      const struct saved_pod *then, const struct plan_pod *now) {
    struct told_pod a = pod_then(then), b = pod_now(now, &c->arena);
    bool another = is_another(c, &a, &b);
    if ((stays(a.verdict) && stays(b.verdict)) || (!another && same_is_said(&a, &b)))
        return;
    *vec_push(&c->list) =
        (struct change){.node = node,
                        .then = then,
                        .now = now,
                        .another = another,
                        /* What shall go and does not is never less to do. */
                        .lost = stays(b.verdict) ? what_is_said(c, &a) : lost(c, &a),
                        .found = found(c, &b)};
}

static void note_gone(struct changes *c, const struct saved_node *node,
                      const struct saved_pod *then) {
    struct told_pod a = pod_then(then);
    const char *said = lost(c, &a);
    if (said)
        *vec_push(&c->list) = (struct change){.node = node, .then = then, .lost = said};
}

static void note_come(struct changes *c, const struct saved_node *node,
                      const struct plan_pod *now) {
    struct told_pod b = pod_now(now, &c->arena);
    const char *said = found(c, &b);
    if (said)
        *vec_push(&c->list) = (struct change){.node = node, .now = now, .found = said};
}

static int order(const struct saved_pod *a, const struct plan_pod *b) {
    int c = strcmp(a->ns, strna(b->pod->meta.ns));
    return c ? c : strcmp(a->name, strna(b->pod->meta.name));
}

/* Goes through the pods of a node, then and now, which are by namespace and name. */
static void note_pods(struct changes *c, const struct saved_node *a, const struct plan_node *b) {
    for (size_t i = 0, k = 0; i < a->n_pods || k < b->n_pods;) {
        int x = i == a->n_pods ? 1 : k == b->n_pods ? -1 : order(&a->pods[i], &b->pods[k]);
        if (x < 0)
            note_gone(c, a, &a->pods[i]);
        else if (x > 0)
            note_come(c, a, &b->pods[k]);
        else
            note_both(c, a, &a->pods[i], &b->pods[k]);
        i += x <= 0;
        k += x >= 0;
    }
}

/* --- one for another --- */

static int by_lost(const void *x, const void *y) {
    const struct change *const *a = x, *const *b = y;
    return strcmp((*a)->lost, (*b)->lost);
}

static int by_found(const void *x, const void *y) {
    const struct change *const *a = x, *const *b = y;
    return strcmp((*a)->found, (*b)->found);
}

static struct change **sorted(struct changes *c, bool of_lost, size_t *n) {
    struct change **list = arena_alloc(&c->arena, (c->list.len + 1) * sizeof(struct change *));
    *n = 0;
    for (size_t i = 0; i < c->list.len; i++)
        if (of_lost ? c->list.p[i].lost : c->list.p[i].found)
            list[(*n)++] = &c->list.p[i];
    qsort(list, *n, sizeof(struct change *), of_lost ? by_lost : by_found);
    return list;
}

/* As many pods of a workload of which the same is said as there were, wherever they are. */
static void pair_off(struct changes *c) {
    size_t n, m;
    struct change **then = sorted(c, true, &n), **now = sorted(c, false, &m);
    for (size_t i = 0, k = 0; i < n && k < m;) {
        int x = strcmp(then[i]->lost, now[k]->found);
        if (x == 0)
            then[i]->lost = now[k]->found = NULL;
        i += x <= 0;
        k += x >= 0;
    }
}

/* --- telling --- */

static void add_why(const struct plan_pod *p, struct str *out) {
    if (p->verdict > PLAN_GOES)
        str_addf(out, " (%s %s: %s)", blocker_row(p->blocker.code)->name, p->blocker.object,
                 p->blocker.message);
}

static size_t tell_change(const struct change *x, struct str *out) {
    const char *node = x->node->name;
    if (x->another) {
        str_addf(out, "~ pod %s/%s on %s is another one\n", x->then->ns, x->then->name, node);
        return 1;
    }
    if (!x->lost && !x->found)
        return 0;
    if (!x->now) {
        str_addf(out, "- pod %s/%s on %s is gone\n", x->then->ns, x->then->name, node);
        return 1;
    }
    str_addf(out, "%c pod %s/%s on %s: %s", x->then ? '~' : '+', strna(x->now->pod->meta.ns),
             strna(x->now->pod->meta.name), node, plan_verdict_word(x->now->verdict));
    if (x->then)
        str_addf(out, ", was %s", x->then->verdict);
    add_why(x->now, out);
    str_addc(out, '\n');
    return 1;
}

/* Those of the node, which are the next in the list. */
static size_t tell_pods(struct changes *c, const struct saved_node *node, struct str *out) {
    size_t n = 0;
    while (c->told < c->list.len && c->list.p[c->told].node == node)
        n += tell_change(&c->list.p[c->told++], out);
    return n;
}

/* --- nodes --- */

static const char *said(const struct saved_node *n, const char *check) {
    for (size_t i = 0; i < n->n_findings; i++)
        if (streq(n->findings[i].check, check))
            return n->findings[i].verdict;
    return NULL;
}

/* The worst of what it says. */
static const struct check_finding *says(const struct plan_node *n, const char *check) {
    for (size_t i = 0; i < n->n_findings; i++)
        if (streq(n->findings[i]->check->name, check))
            return n->findings[i];
    return NULL;
}

static bool is_first_of_check(const struct plan_node *n, size_t i) {
    return says(n, n->findings[i]->check->name) == n->findings[i];
}

/* A line for each check whose word to the node's cordon is another one. */
static size_t checks_changed(const struct saved_node *a, const struct plan_node *b,
                             struct str *out) {
    size_t n = 0;
    for (size_t i = 0; i < b->n_findings; i++) {
        const struct check_finding *f = b->findings[i];
        const char *now = check_verdict_name(f->verdict), *then = said(a, f->check->name);
        if (!is_first_of_check(b, i) || (then && streq(then, now)))
            continue;
        str_addf(out, "~ node %s: check %s says %s, said %s (%s)\n", a->name, f->check->name, now,
                 then ? then : check_verdict_name(CHECK_PASS), strna(f->evidence));
        n++;
    }
    for (size_t i = 0; i < a->n_findings; i++) {
        const struct saved_finding *f = &a->findings[i];
        if (says(b, f->check) || said(a, f->check) != f->verdict)
            continue;
        str_addf(out, "~ node %s: check %s says %s, said %s\n", a->name, f->check,
                 check_verdict_name(CHECK_PASS), f->verdict);
        n++;
    }
    return n;
}

/* What is told of none of its pods. */
static size_t verdict_changed(const struct saved_node *a, const struct plan_node *b,
                              struct str *out) {
    const char *now = plan_verdict_word(b->verdict);
    bool drained = streq(means(a->verdict), "drains") || stays(a->verdict);
    if (!b->blocker.message || !drained || b->verdict <= PLAN_WAITS)
        return 0;
    str_addf(out, "~ node %s: %s, was %s (%s%s%s: %s)\n", a->name, now, a->verdict,
             blocker_row(b->blocker.code)->name, *b->blocker.object ? " " : "", b->blocker.object,
             b->blocker.message);
    return 1;
}

/* What comes in the place of its pods was known, and is not any more: a template has changed. */
static size_t unknown_now(const struct saved_node *a, const struct plan_node *b, struct str *out) {
    const char *code = blocker_row(BLOCKER_ROOM_UNKNOWN)->name;
    if (!b->blocker.message || b->blocker.code != BLOCKER_ROOM_UNKNOWN || streq(a->code, code))
        return 0;
    str_addf(out, "~ node %s: %s %s: %s\n", a->name, code, b->blocker.object, b->blocker.message);
    return 1;
}

static bool same_node(const struct saved_node *a, const struct plan_node *b) {
    return b && streq(a->uid, strna(b->node->meta.uid));
}

static size_t tell_node(struct changes *c, const struct saved_node *a, const struct plan_node *b,
                        struct str *out) {
    if (!same_node(a, b)) {
        str_addf(out, b ? "~ node %s is another one\n" : "- node %s is gone\n", a->name);
        return 1;
    }
    size_t n = checks_changed(a, b, out);
    n += tell_pods(c, a, out);
    n += n ? 0 : verdict_changed(a, b, out);
    return n ? n : unknown_now(a, b, out);
}

static size_t nodes_changed(const struct plan_file *f, const struct plan *now, struct str *out) {
    struct changes c = {.arena = ARENA_INIT, .list = VEC_INIT};
    size_t n = 0;
    learn(&c, f);
    for (size_t i = 0; i < f->n; i++) {
        const struct plan_node *b = node_now(now, f->nodes[i].name);
        if (same_node(&f->nodes[i], b))
            note_pods(&c, &f->nodes[i], b);
    }
    pair_off(&c);
    for (size_t i = 0; i < f->n; i++)
        n += tell_node(&c, &f->nodes[i], node_now(now, f->nodes[i].name), out);
    vec_done(&c.list);
    htab_done(&c.known);
    arena_done(&c.arena);
    return n;
}

/* --- budgets --- */

static const char *or_none(const char *text) {
    return *text ? text : "none";
}

static size_t budget_differs(const struct plan_budget *a, const struct plan_budget *b,
                             struct str *out) {
    const struct {
        const char *what, *then, *now;
    } parts[] = {{"", a->rule, b->rule},
                 {"selector ", a->selector, b->selector},
                 {"unhealthyPodEvictionPolicy ", a->unhealthy, b->unhealthy}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!streq(parts[i].then, parts[i].now)) {
            str_addf(out, "~ budget %s: %s%s, was %s\n", a->name, parts[i].what,
                     or_none(parts[i].now), or_none(parts[i].then));
            return 1;
        }
    /* With fewer pods the same words allow less. */
    if (b->spare == PLAN_NO_COUNT || b->spare >= a->needs)
        return 0;
    str_addf(out, "~ budget %s: can do without %d pod%s at a time, and the plan needs %d\n",
             a->name, b->spare, b->spare == 1 ? "" : "s", a->needs);
    return 1;
}

/* None of the pods that go is one of its own any more. That is no change as long as it is what it
 * was: its pods may have moved, or be fewer. */
static size_t budget_unused(const struct plan_budget *then, const struct store *budgets,
                            struct str *out) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    const char *slash = strchr(then->name, '/');
    struct plan_budget now;
    const struct object *pdb =
        slash ? store_get(budgets, arena_strndup(&arena, then->name, (size_t)(slash - then->name)),
                          slash + 1)
              : NULL;
    if (!pdb) {
        str_addf(out, "- budget %s (%s) is gone\n", then->name, then->rule);
        return 1;
    }
    plan_budget_of((const struct pdb *)pdb, &arena, &now);
    return budget_differs(then, &now, out);
}

static size_t budgets_changed(const struct plan_file *f, const struct plan *now,
                              const struct store *budgets, struct str *out) {
    size_t i = 0, k = 0, n = 0;
    while (f->has_budgets && (i < f->n_budgets || k < now->n_budgets)) {
        int c = i == f->n_budgets     ? 1
                : k == now->n_budgets ? -1
                                      : strcmp(f->budgets[i].name, now->budgets[k].name);
        if (c == 0) {
            n += budget_differs(&f->budgets[i], &now->budgets[k], out);
        } else if (c < 0) {
            n += budget_unused(&f->budgets[i], budgets, out);
        } else {
            str_addf(out, "+ budget %s: %s\n", now->budgets[k].name, now->budgets[k].rule);
            n++;
        }
        i += c <= 0;
        k += c >= 0;
    }
    return n;
}

size_t plan_file_compare(const struct plan_file *f, const struct plan *now,
                         const struct store *budgets, struct str *out) {
    size_t n = nodes_changed(f, now, out);
    return n + budgets_changed(f, now, budgets, out);
}

bool plan_file_foreign(const struct plan_file *f, const struct plan *now) {
    for (size_t i = 0; i < f->n; i++) {
        const struct plan_node *b = node_now(now, f->nodes[i].name);
        if (same_node(&f->nodes[i], b))
            return false;
    }
    return true;
}
