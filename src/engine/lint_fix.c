/* The words of a finding, and what mends it: commands that can be pasted, the least risky first. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/checks.h"
#include "engine/guard.h"
#include "engine/lint_internal.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/remedy.h"
#include "engine/rules.h"

enum { FIXES_MAX = 6 };

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"
#define REVISION_LABEL      "controller-revision-hash"

/* One finding as it is made. */
struct telling {
    struct linting *l;
    struct arena *arena;
    const struct bucket *b;
    struct lint_finding *f;
    struct why_remedy fixes[FIXES_MAX];
    size_t n;
};

/* --- helpers --- */

static const char *shell(const struct telling *t, const char *word) {
    return shell_word(t->arena, strna(word));
}

static const char *keep(const struct telling *t, const struct str *text) {
    return arena_strndup(t->arena, str_get(text), text->len);
}

/* Kept in the order of risk; among equals the first stays first. */
static void fix(struct telling *t, enum why_risk risk, const char *text, const char *command,
                const char *cost) {
    size_t at = t->n;
    if (t->n == FIXES_MAX)
        return;
    while (at && t->fixes[at - 1].risk > risk)
        at--;
    memmove(&t->fixes[at + 1], &t->fixes[at], (t->n - at) * sizeof t->fixes[0]);
    t->fixes[at] = (struct why_remedy){risk, text, command ? command : "", cost ? cost : ""};
    t->n++;
}

static const char *plural(size_t n, const char *one, const char *few) {
    return n == 1 ? one : few;
}

static void name(struct telling *t, const char *kind, const char *ns, const char *word) {
    t->f->kind = kind;
    t->f->ns = strna(ns);
    t->f->name = strna(word);
}

static void use_remedies(struct telling *t, const struct remedies *r) {
    for (size_t i = 0; i < r->n; i++)
        fix(t, r->list[i].risk, r->list[i].text, r->list[i].command, r->list[i].cost);
}

static struct remedy_owner owner_of(const struct telling *t) {
    const struct lint_owner *o = &t->b->owner;
    return (struct remedy_owner){.resource = o->resource,
                                 .ns = t->f->ns,
                                 .name = o->name,
                                 .replicas = o->replicas,
                                 .shares_claim = !o->set && template_has_claim(o->template)};
}

/* --- budgets --- */

/* Whoever keeps the budget would set it back. */
static void fix_by_patching(struct telling *t, const struct pdb *pdb, enum why_risk risk,
                            const char *text, const char *spec, const char *cost) {
    const struct owner *o = meta_controller(&pdb->meta);
    if (o) {
        fix(t, WHY_RISK_NONE,
            arena_printf(t->arena, "%s %s keeps this budget: change it there", strna(o->kind),
                         strna(o->name)),
            NULL, NULL);
        cost = arena_printf(t->arena, "%s; %s %s may set it back", cost, strna(o->kind),
                            strna(o->name));
    }
    fix(t, risk, text, remedy_patch(t->arena, pdb, spec), cost);
}

static void tell_never(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    struct remedy_owner owner = owner_of(t);
    struct remedies remedies;
    if (t->b->cause == LINT_UNCOUNTED) {
        remedy_uncounted(t->arena, pdb, &remedies);
        use_remedies(t, &remedies);
        return;
    }
    if (!pdb->max_unavailable.set) {
        remedy_scale(t->arena, pdb, &owner, pdb->expected, t->f->n_nodes ? t->f->nodes[0] : NULL,
                     &remedies);
        use_remedies(t, &remedies);
    }
    remedy_allow_one(t->arena, pdb, owner.resource != NULL, &remedies);
    use_remedies(t, &remedies);
}

/* By all of its pods, as `why` counts them. */
static void tell_sync_failed(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    size_t n;
    int ready = 0;
    struct remedies remedies;
    _cleanup_free_ const struct pod **all = pdbs_pods(t->l->in->pdbs, pdb, &n);
    for (size_t i = 0; i < n; i++)
        ready += pod_ready(all[i]);
    remedy_sync_failed(t->arena, pdb, ready, &remedies);
    use_remedies(t, &remedies);
}

/* A pod of the budget that is not ready and not asked to leave, or NULL. */
static const struct pod *sick_one(const struct telling *t, const struct pdb *pdb) {
    size_t n;
    const struct pod *sick = NULL;
    _cleanup_free_ const struct pod **all = pdbs_pods(t->l->in->pdbs, pdb, &n);
    for (size_t i = 0; i < n && !sick; i++)
        if (!pod_ready(all[i]) && !pod_finished(all[i]))
            sick = all[i];
    return sick;
}

static void tell_short(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    const struct pod *sick = sick_one(t, pdb);
    if (pdb->observed_generation < pdb->meta.generation) {
        fix(t, WHY_RISK_NONE,
            "wait for its controller; if that lasts, look at kube-controller-manager", NULL, NULL);
        return;
    }
    if (sick)
        fix(t, WHY_RISK_NONE,
            arena_printf(t->arena, "find out why %s is not ready", strna(sick->meta.name)),
            arena_printf(t->arena, "slipway why %s/%s", shell(t, sick->meta.ns),
                         shell(t, sick->meta.name)),
            NULL);
    else if (budget_unmade(pdb, &t->l->budget_owners) > 0 && t->b->owner.resource)
        fix(t, WHY_RISK_NONE,
            arena_printf(t->arena, "find out why %s %s has not made all its pods", t->b->owner.kind,
                         t->b->owner.name),
            arena_printf(t->arena, "kubectl -n %s describe %s %s", shell(t, t->f->ns),
                         t->b->owner.resource, shell(t, t->b->owner.name)),
            NULL);
    struct remedies remedies;
    remedy_allow_now(t->arena, pdb, &remedies);
    use_remedies(t, &remedies);
}

static void tell_unhealthy(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    const struct pod *first = t->b->pods.p[0];
    fix(t, WHY_RISK_NONE,
        arena_printf(t->arena, "find out why %s is not ready", strna(first->meta.name)),
        arena_printf(t->arena, "slipway why %s/%s", shell(t, first->meta.ns),
                     shell(t, first->meta.name)),
        NULL);
    struct remedies remedies;
    remedy_unready(t->arena, pdb, &remedies);
    use_remedies(t, &remedies);
}

/* What each node would have to be given at once; more of the pods may be on one node than are held
 * there. */
static int most_on_a_node(const struct telling *t) {
    int most = 0;
    for (size_t i = 0; i < t->f->n_nodes; i++) {
        int here = 0;
        for (size_t k = 0; k < t->b->pods.len; k++)
            here += str_same(t->b->pods.p[k]->node_name, t->f->nodes[i]);
        most = MAX_OF(most, here);
    }
    return most;
}

/* The same words as in a plan and in why. */
static void tell_dry(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    bool chance = t->b->cause == LINT_CHANCE;
    int gives = pdb->allowed + most_on_a_node(t);
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + gives : MAX_OF(pdb->healthy - gives, 0);
    t->f->text = t->b->luck ? t->b->why
                            : arena_printf(t->arena, "%s; the replacement of %s %s%s", t->f->text,
                                           strna(t->b->why), MOVEOUT_KEPT(t->b->unmade),
                                           chance ? MOVEOUT_BY_CHANCE : "");
    fix(t, WHY_RISK_NONE, "add a node, or free what is missing",
        arena_printf(t->arena, "slipway why %s --room", shell(t, t->f->nodes[0])), NULL);
    fix_by_patching(
        t, pdb, WHY_RISK_SERVICE, arena_printf(t->arena, "let the budget allow %d at once", gives),
        arena_printf(t->arena, "\"%s\":%d", max ? "maxUnavailable" : "minAvailable", value),
        arena_printf(t->arena, "%s, until there is room",
                     pdb->healthy > gives ? arena_printf(t->arena, "%d of %d serve",
                                                         pdb->healthy - gives, pdb->expected)
                                          : "none serves"));
}

/* Nothing is to be mended, and least of all the budget. */
static void tell_guard(struct telling *t) {
    const struct guard *guard = guard_of(t->b->pdbs[0], t->b->pods.p[0]);
    t->f->text = guard->words;
    fix(t, WHY_RISK_NONE,
        arena_printf(t->arena, "leave it alone; see what %s says to a drain",
                     check_find(guard->check)->title),
        arena_printf(t->arena, "slipway checks %s", shell(t, t->f->nodes[0])), NULL);
}

static void tell_overlap(struct telling *t) {
    const struct bucket *b = t->b;
    const struct pdb *kept = b->pdbs[0];
    _cleanup_str_ struct str names = STR_INIT, spare = STR_INIT, text = STR_INIT;
    size_t others = 0;
    for (size_t i = 0; i < b->n_pdbs; i++) {
        str_addf(&names, "%s%s", i ? "," : "", strna(b->pdbs[i]->meta.name));
        if (budget_better(b->pdbs[i], kept, &t->l->budget_owners))
            kept = b->pdbs[i];
    }
    for (size_t i = 0; i < b->n_pdbs; i++) {
        size_t n;
        if (b->pdbs[i] == kept)
            continue;
        str_addf(&spare, " %s", shell(t, b->pdbs[i]->meta.name));
        _cleanup_free_ const struct pod **all = pdbs_pods(t->l->in->pdbs, b->pdbs[i], &n);
        for (size_t k = 0; k < n; k++) {
            size_t by;
            pdbs_of_pod(t->l->in->pdbs, all[k], &by);
            others += by == 1;
        }
    }
    name(t, kind_pdb.name, kept->meta.ns, keep(t, &names));
    str_addf(&text, "%zu budgets select the same %s", b->n_pdbs,
             plural(b->pods.len, "pod", "pods"));
    t->f->text = keep(t, &text);
    const char *cost =
        others ? arena_printf(t->arena, "%zu other pod%s no budget then", others,
                              plural(others, " has", "s have"))
               : arena_printf(t->arena, "%s alone guards the pods then", strna(kept->meta.name));
    fix(t, WHY_RISK_LOW,
        arena_printf(t->arena, "keep %s, delete the other%s", strna(kept->meta.name),
                     b->n_pdbs > 2 ? "s" : ""),
        arena_printf(t->arena, "kubectl -n %s delete pdb%s", shell(t, kept->meta.ns),
                     str_get(&spare)),
        cost);
}

static void tell_budget(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    _cleanup_str_ struct str text = STR_INIT;
    name(t, kind_pdb.name, pdb->meta.ns, pdb->meta.name);
    budget_explain(pdb, &t->l->budget_owners, &text);
    t->f->text = keep(t, &text);
    switch (t->b->cause) {
    case LINT_SYNC_FAILED:
        tell_sync_failed(t);
        break;
    case LINT_SHORT:
        tell_short(t);
        break;
    case LINT_UNHEALTHY:
        tell_unhealthy(t);
        break;
    case LINT_DRY:
    case LINT_CHANCE:
        tell_dry(t);
        break;
    case LINT_GUARD:
        tell_guard(t);
        break;
    case LINT_NOTHING:
        t->f->text = "no pod has the labels that it selects";
        fix(t, WHY_RISK_LOW, "delete it, if what it guarded is gone for good",
            arena_printf(t->arena, "kubectl -n %s delete pdb %s", shell(t, pdb->meta.ns),
                         shell(t, pdb->meta.name)),
            "what is scaled to 0 comes back without it");
        break;
    default:
        tell_never(t);
    }
}

/* --- pods and workloads --- */

static int compare_pointers(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return (x > y) - (x < y);
}

/* A drain of the first of the nodes, with all flags that it needs. */
static const char *drain_command(const struct telling *t) {
    const struct linting *l = t->l;
    const char *node = NULL;
    for (size_t i = 0; i < t->b->pods.len && !node; i++)
        if (streq(t->b->pods.p[i]->node_name, t->f->nodes[0]))
            node = t->b->pods.p[i]->node_name; /* the pool's own: compared by address */
    bool force = l->force.len && bsearch(&node, l->force.p, l->force.len, sizeof l->force.p[0],
                                         compare_pointers) != NULL;
    bool data = l->empty_dir.len && bsearch(&node, l->empty_dir.p, l->empty_dir.len,
                                            sizeof l->empty_dir.p[0], compare_pointers) != NULL;
    return arena_printf(t->arena, "slipway drain %s%s%s", shell(t, node), force ? " --force" : "",
                        data ? " --delete-emptydir-data" : "");
}

static void tell_bare(struct telling *t) {
    t->f->text = "no controller makes it anew";
    struct remedies remedies;
    remedy_bare(t->arena, t->b->pods.p[0], t->b->pods.len, drain_command(t), false,
                pod_has_local_data(t->b->pods.p[0]), &remedies);
    use_remedies(t, &remedies);
}

static void tell_empty_dir(struct telling *t) {
    t->f->text = arena_printf(t->arena, "%u pod%s with emptyDir volumes", t->f->pods,
                              plural(t->f->pods, "", "s"));
    struct remedies remedies;
    remedy_empty_dir(drain_command(t), &remedies);
    use_remedies(t, &remedies);
}

static void tell_pinned(struct telling *t) {
    const struct lint_owner *o = &t->b->owner;
    t->f->text = arena_printf(t->arena, "its template has nodeName %s", o->pinned);
    struct remedy_owner owner = owner_of(t);
    struct remedies remedies;
    remedy_pinned(t->arena, &owner, &remedies);
    use_remedies(t, &remedies);
}

static void tell_returns(struct telling *t) {
    struct remedy_owner owner = owner_of(t);
    struct remedies remedies;
    t->f->text = "it tolerates " UNSCHEDULABLE_TAINT;
    remedy_returns(t->arena, &owner, t->b->owner.template, &remedies);
    use_remedies(t, &remedies);
}

static void tell_mark(struct telling *t) {
    struct rule_verdict rule;
    bool job = t->b->cause == LINT_JOB;
    rules_apply(t->l->rules, t->b->pods.p[0], &rule);
    struct remedies remedies;
    t->f->text = arena_printf(t->arena, "the mark %s", rule.name);
    remedy_mark(t->arena, t->b->pods.p[0], 1, rule.name, job, &remedies);
    use_remedies(t, &remedies);
}

static void tell_stuck(struct telling *t) {
    const struct pod *pod = t->b->pods.p[0];
    char when[TIMEFMT_LEN];
    _cleanup_str_ struct str text = STR_INIT;
    bool held = list_len(pod->meta.finalizers) > 0;
    str_addf(&text, "should have stopped by %s", time_format(pod->meta.deleted, false, when));
    for (size_t i = 0; i < list_len(pod->meta.finalizers); i++)
        str_addf(&text, "%s%s", i ? ", " : "; its finalizers: ", pod->meta.finalizers[i]);
    t->f->text = keep(t, &text);
    struct remedies remedies;
    if (held)
        remedy_finalizer(t->arena, pod, true, &remedies);
    else
        remedy_stuck(t->arena, pod, &remedies);
    use_remedies(t, &remedies);
}

static void tell_finalizer(struct telling *t) {
    _cleanup_str_ struct str names = STR_INIT;
    pod_foreign_finalizers(t->b->pods.p[0], &names);
    t->f->text = arena_printf(t->arena, "the finalizer %s", str_get(&names));
    struct remedies remedies;
    remedy_finalizer(t->arena, t->b->pods.p[0], false, &remedies);
    use_remedies(t, &remedies);
}

static void tell_lost(struct telling *t) {
    const char *node = t->b->pods.p[0]->node_name;
    const struct node *n = (const struct node *)store_get(t->l->in->nodes, NULL, node);
    struct remedies remedies;
    _cleanup_str_ struct str text = STR_INIT;
    name(t, kind_node.name, NULL, node);
    node_lost_explain(n, &text);
    t->f->text = keep(t, &text);
    remedy_lost_node(t->arena, node, &remedies);
    use_remedies(t, &remedies);
}

/* What the namespace controller says, where it does. */
static void tell_namespace(struct telling *t) {
    const char *ns = t->b->pods.p[0]->meta.ns;
    struct remedies remedies;
    name(t, kind_namespace.name, NULL, ns);
    t->f->text = "it is being deleted: its pods go with it, they are not evicted";
    remedy_namespace(t->arena, ns, &remedies);
    use_remedies(t, &remedies);
}

static void tell_local(struct telling *t) {
    t->f->text =
        t->b->why
            ? t->b->why
            : arena_printf(t->arena, "%u pod%s with %s", t->f->pods, plural(t->f->pods, "", "s"),
                           guard_is_on_disk(t->b->pods.p[0]) ? "data on disks of the node"
                                                             : "a volume that no other node has");
    struct remedies remedies;
    remedy_local_volume(&remedies);
    use_remedies(t, &remedies);
}

static void tell_no_room(struct telling *t) {
    const struct pod *pod = t->b->pods.p[0];
    struct remedy_owner owner = owner_of(t);
    struct remedies remedies;
    t->f->text = t->b->why;
    if (pod_wants_one_node(pod)) { /* no room anywhere else would help */
        remedy_one_node(t->arena, pod, &owner, &remedies);
        use_remedies(t, &remedies);
        return;
    }
    fix(t, WHY_RISK_NONE, "add a node, or free what is missing",
        arena_printf(t->arena, "slipway why %s --room", shell(t, t->f->nodes[0])), NULL);
}

static void tell_unmade(struct telling *t) {
    struct remedies remedies;
    t->f->text = t->b->remade->text;
    remedy_unmade(t->arena, t->b->remade, &remedies);
    use_remedies(t, &remedies);
}

static void tell_scheduler(struct telling *t) {
    t->f->text = arena_printf(t->arena, "scheduler %s", t->b->pods.p[0]->spec->scheduler);
    fix(t, WHY_RISK_NONE, blocker_row(BLOCKER_OTHER_SCHEDULER)->hint, NULL, NULL);
}

static void tell_beyond(struct telling *t) {
    t->f->text = moveout_beyond(t->b->pods.p[0]);
    fix(t, WHY_RISK_NONE, blocker_row(BLOCKER_ROOM_UNKNOWN)->hint, NULL, NULL);
}

static void tell_doubt(struct telling *t) {
    t->f->text = t->b->why;
    fix(t, WHY_RISK_NONE, blocker_row(BLOCKER_ROOM_UNKNOWN)->hint, NULL, NULL);
}

/* As `why` says it of the node. */
static void tell_attached(struct telling *t) {
    _cleanup_str_ struct str text = STR_INIT;
    const char *node = t->b->node->meta.name;
    struct remedies remedies;
    name(t, kind_node.name, NULL, node);
    attached_explain(&t->b->attached, &text);
    t->f->text = keep(t, &text);
    remedy_attached(t->arena, t->b->attached.first, node, &remedies);
    use_remedies(t, &remedies);
}

/* --- StatefulSets in order --- */

static long ordinal(const struct pod *pod) {
    const char *dash = strrchr(strna(pod->meta.name), '-');
    char *end;
    long n = dash ? strtol(dash + 1, &end, 10) : -1;
    return dash && dash[1] && !*end && n >= 0 ? n : -1;
}

/* The controller goes through the pods from the first on and stops at one that is not ready: those
 * after it are not made anew. */
static void tell_ordered(struct telling *t) {
    const struct bucket *b = t->b;
    const struct stateful_set *set = b->owner.set;
    const struct pod *sick = NULL;
    const char **nodes = arena_alloc(t->arena, (b->pods.len + 1) * sizeof *nodes);
    size_t after = 0, n = 0;
    for (size_t i = 0; i < b->pods.len; i++) {
        const struct pod *p = b->pods.p[i];
        bool well = pod_ready(p) && !p->meta.deleted;
        if (!well && ordinal(p) >= 0 && (!sick || ordinal(p) < ordinal(sick)))
            sick = p;
    }
    for (size_t i = 0; sick && i < t->f->n_nodes; i++) {
        size_t here = 0;
        for (size_t k = 0; k < b->pods.len; k++)
            here += ordinal(b->pods.p[k]) > ordinal(sick) && b->pods.p[k]->node_name &&
                    streq(b->pods.p[k]->node_name, t->f->nodes[i]);
        if (here)
            nodes[n++] = t->f->nodes[i];
        after += here;
    }
    if (!after || !set)
        return;
    t->f->nodes = nodes;
    t->f->n_nodes = n;
    t->f->pods = (unsigned)after;
    t->f->example = strna(sick->meta.name);
    t->f->text = arena_printf(t->arena,
                              "%s is not ready: evicted, %zu pod%s after it would not "
                              "be made anew",
                              t->f->example, after, plural(after, "", "s"));
    const char *revision = map_get(sick->meta.labels, REVISION_LABEL);
    if (revision && set->update_revision && !streq(revision, set->update_revision))
        fix(t, WHY_RISK_LOW, "let it be made anew from the present template",
            arena_printf(t->arena, "kubectl -n %s delete pod %s", shell(t, sick->meta.ns),
                         shell(t, sick->meta.name)),
            "it is of an earlier revision, and not ready anyway");
    fix(t, WHY_RISK_NONE, "find out why it is not ready",
        arena_printf(t->arena, "slipway why %s/%s", shell(t, sick->meta.ns),
                     shell(t, sick->meta.name)),
        NULL);
}

/* As a plan of the nodes says it. */
static void tell_unread(struct telling *t) {
    size_t n = t->b->pods.len;
    t->f->text = arena_printf(t->arena, MOVEOUT_UNREAD, n, plural(n, "", "s"));
    fix(t, WHY_RISK_NONE, MOVEOUT_UNREAD_HELP, NULL, NULL);
}

void lint_tell(struct linting *l, const struct bucket *b, struct lint_finding *out) {
    static void (*const tell[LINT_CAUSES])(struct telling *) = {
        [LINT_OVERLAP] = tell_overlap,     [LINT_PINNED] = tell_pinned,
        [LINT_BARE] = tell_bare,           [LINT_EMPTY_DIR] = tell_empty_dir,
        [LINT_MARK] = tell_mark,           [LINT_JOB] = tell_mark,
        [LINT_STUCK] = tell_stuck,         [LINT_HELD] = tell_stuck,
        [LINT_LOST] = tell_lost,           [LINT_FINALIZER] = tell_finalizer,
        [LINT_ORDERED] = tell_ordered,     [LINT_NO_ROOM] = tell_no_room,
        [LINT_LOCAL] = tell_local,         [LINT_RETURNS] = tell_returns,
        [LINT_UNREAD] = tell_unread,       [LINT_NAMESPACE] = tell_namespace,
        [LINT_JOB_FAILS] = tell_unmade,    [LINT_UNMADE] = tell_unmade,
        [LINT_SCHEDULER] = tell_scheduler, [LINT_BEYOND] = tell_beyond,
        [LINT_DOUBT] = tell_doubt,         [LINT_ATTACHED] = tell_attached,
    };
    struct telling t = {.l = l, .arena = l->arena, .b = b, .f = out};
    if (b->pods.len) {
        const struct pod *pod = b->pods.p[0];
        bool own = b->cause == LINT_MARK || b->cause == LINT_JOB || b->cause == LINT_STUCK ||
                   b->cause == LINT_HELD;
        name(&t, own ? kind_pod.name : b->owner.kind, pod->meta.ns,
             own ? pod->meta.name : b->owner.name);
    }
    if (tell[b->cause])
        tell[b->cause](&t);
    else
        tell_budget(&t);
    struct why_remedy *fixes = arena_alloc(l->arena, (t.n + 1) * sizeof *fixes);
    memcpy(fixes, t.fixes, t.n * sizeof *fixes);
    out->fixes = fixes;
    out->n_fixes = t.n;
}
