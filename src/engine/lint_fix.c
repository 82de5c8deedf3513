/* The words of a finding, and what mends it: commands that can be pasted, the least risky first. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/lint_internal.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/rules.h"

enum {
    /* More replicas than that are no quick help. */
    MORE_MAX = 3,
    FIXES_MAX = 4,
};

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

/* --- budgets --- */

/* A second replica would want the same volume, which most cannot be given twice. */
static bool shares_a_claim(const struct lint_owner *o) {
    const struct volume *v = o->template && !o->set ? o->template->spec.volumes : NULL;
    for (size_t i = 0; v && i < list_len(v); i++)
        if (v[i].claim)
            return true;
    return false;
}

static void fix_by_scaling(struct telling *t, const struct pdb *pdb) {
    const struct lint_owner *o = &t->b->owner;
    if (!o->resource || !o->replicas || pdb->expected < 1 || shares_a_claim(o))
        return;
    for (int more = 1; more <= MORE_MAX; more++) {
        if (budget_allows_with(pdb, pdb->expected, more) <= 0)
            continue;
        fix(t, WHY_RISK_LOW,
            more == 1 ? "one replica more" : arena_printf(t->arena, "%d replicas more", more),
            arena_printf(t->arena, "kubectl -n %s scale %s %s --replicas=%lld",
                         shell(t, pdb->meta.ns), o->resource, shell(t, o->name),
                         (long long)o->replicas + more),
            o->set ? "a new member joins; it needs room and a volume"
                   : "needs room; an autoscaler may take it back");
        if (more == 1 && o->replicas == 1 && streq(o->resource, "deployment") && t->f->n_nodes)
            fix(t, WHY_RISK_LOW, "or let the drain make a second replica first, for the time being",
                arena_printf(t->arena, "slipway drain %s --surge", shell(t, t->f->nodes[0])),
                "needs room for one pod more");
        return;
    }
}

static const char *patch_command(const struct telling *t, const struct pdb *pdb, const char *spec) {
    return arena_printf(t->arena, "kubectl -n %s patch pdb %s --type=merge -p '{\"spec\":{%s}}'",
                        shell(t, pdb->meta.ns), shell(t, pdb->meta.name), spec);
}

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
    fix(t, risk, text, patch_command(t, pdb, spec), cost);
}

static const char *serve_meanwhile(const struct telling *t, int left, int of) {
    return left < 1 ? "none serves until the new one is ready"
                    : arena_printf(t->arena, "%d of %d serve meanwhile", left, of);
}

/* A budget that needs so many gives one away, with all of its pods healthy. Where the number of
 * replicas can be asked for, it follows that number. */
static void fix_by_allowing_one(struct telling *t, const struct pdb *pdb) {
    int expected = MAX_OF(pdb->expected, 1);
    const char *cost = serve_meanwhile(t, expected - 1, expected);
    if (pdb->max_unavailable.set)
        fix_by_patching(t, pdb, WHY_RISK_SERVICE, "let the budget allow one at a time",
                        "\"maxUnavailable\":1", cost);
    else if (t->b->owner.resource)
        fix_by_patching(t, pdb, WHY_RISK_SERVICE, "let the budget allow one at a time",
                        "\"minAvailable\":null,\"maxUnavailable\":1", cost);
    else
        fix_by_patching(t, pdb, WHY_RISK_SERVICE, "let the budget allow one at a time",
                        arena_printf(t->arena, "\"minAvailable\":%d", expected - 1), cost);
}

static void tell_never(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    if (!pdb->max_unavailable.set)
        fix_by_scaling(t, pdb);
    fix_by_allowing_one(t, pdb);
}

/* minAvailable as a number asks nobody for the number of replicas. */
static void tell_sync_failed(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    int ready = 0;
    for (size_t i = 0; i < t->b->pods.len; i++)
        ready += pod_ready(t->b->pods.p[i]);
    int least = MAX_OF(ready - 1, 0);
    const struct condition *c = lint_sync_failed(pdb);
    if (c && pdb->observed_generation < pdb->meta.generation)
        t->f->text = arena_printf(t->arena, "its controller cannot compute it: %s",
                                  str_empty(c->message) ? "it does not say why" : c->message);
    fix_by_patching(t, pdb, WHY_RISK_SERVICE, "say how many must stay, as a number",
                    arena_printf(t->arena, "\"maxUnavailable\":null,\"minAvailable\":%d", least),
                    arena_printf(t->arena, "%s; it does not follow the number of pods",
                                 serve_meanwhile(t, least, ready)));
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
    if (pdb->healthy < 1 || pdb->expected < 1)
        return;
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + 1 : pdb->healthy - 1;
    fix_by_patching(
        t, pdb, WHY_RISK_SERVICE, "let the budget allow one as it is now",
        arena_printf(t->arena, "\"%s\":%d", max ? "maxUnavailable" : "minAvailable", value),
        serve_meanwhile(t, pdb->healthy - 1, pdb->expected));
}

static void tell_unhealthy(struct telling *t) {
    const struct pdb *pdb = t->b->pdbs[0];
    const struct pod *first = t->b->pods.p[0];
    fix(t, WHY_RISK_NONE,
        arena_printf(t->arena, "find out why %s is not ready", strna(first->meta.name)),
        arena_printf(t->arena, "slipway why %s/%s", shell(t, first->meta.ns),
                     shell(t, first->meta.name)),
        NULL);
    fix_by_patching(t, pdb, WHY_RISK_LOW, "let pods go that are not ready anyway",
                    "\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\"",
                    "also one that is about to become ready");
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
    t->f->text = t->b->luck
                     ? t->b->why
                     : arena_printf(t->arena, "%s; the replacement of %s fits nowhere%s",
                                    t->f->text, strna(t->b->why), chance ? MOVEOUT_BY_CHANCE : "");
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

static void tell_overlap(struct telling *t) {
    const struct bucket *b = t->b;
    const struct pdb *kept = b->pdbs[0];
    _cleanup_str_ struct str names = STR_INIT, spare = STR_INIT, text = STR_INIT;
    size_t others = 0;
    for (size_t i = 0; i < b->n_pdbs; i++) {
        str_addf(&names, "%s%s", i ? "," : "", strna(b->pdbs[i]->meta.name));
        if (budget_better(b->pdbs[i], kept))
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
    budget_explain(pdb, &text);
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

static const char *kubectl_pod(const struct telling *t, const char *verb, const char *after) {
    const struct pod *pod = t->b->pods.p[0];
    return arena_printf(t->arena, "kubectl -n %s %s %s%s", shell(t, pod->meta.ns), verb,
                        shell(t, pod->meta.name), after);
}

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
    fix(t, WHY_RISK_NONE, "keep a copy to make it again from",
        kubectl_pod(t, "get pod",
                    arena_printf(t->arena, " -o yaml > %s.yaml", shell(t, t->f->example))),
        NULL);
    fix(t, WHY_RISK_SERVICE, "let the drain take it", drain_command(t), "it is gone for good");
}

static void tell_empty_dir(struct telling *t) {
    t->f->text = arena_printf(t->arena, "%u pod%s with emptyDir volumes", t->f->pods,
                              plural(t->f->pods, "", "s"));
    fix(t, WHY_RISK_DATA, "let the drain throw it away", drain_command(t),
        "the data is lost: save what matters first");
}

static void tell_pinned(struct telling *t) {
    const struct lint_owner *o = &t->b->owner;
    t->f->text = arena_printf(t->arena, "its template has nodeName %s", o->pinned);
    if (!o->resource)
        return;
    fix(t, WHY_RISK_LOW, "take the node out of the template",
        arena_printf(t->arena,
                     "kubectl -n %s patch %s %s --type=json -p "
                     "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/nodeName\"}]'",
                     shell(t, t->f->ns), o->resource, shell(t, o->name)),
        "its pods are made anew, on other nodes");
}

/* The place in the template of a toleration that a cordon does not keep out; -1: none. */
static int toleration_at(const struct pod_template *template) {
    const struct toleration *list = template->spec.tolerations;
    for (size_t i = 0; i < list_len(list); i++) {
        bool effect = str_empty(list[i].effect) || streq(list[i].effect, "NoSchedule");
        if (effect && (str_empty(list[i].key) || streq(list[i].key, UNSCHEDULABLE_TAINT)))
            return (int)i;
    }
    return -1;
}

static void tell_returns(struct telling *t) {
    const struct lint_owner *o = &t->b->owner;
    int at = o->template ? toleration_at(o->template) : -1;
    t->f->text = "it tolerates " UNSCHEDULABLE_TAINT;
    if (o->resource && at >= 0)
        fix(t, WHY_RISK_LOW, "take the toleration out of the template",
            arena_printf(t->arena,
                         "kubectl -n %s patch %s %s --type=json -p "
                         "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/tolerations/%d\"}]'",
                         shell(t, t->f->ns), o->resource, shell(t, o->name), at),
            "its pods are made anew");
}

static void tell_mark(struct telling *t) {
    struct rule_verdict rule;
    bool job = t->b->cause == LINT_JOB;
    rules_apply(t->l->rules, t->b->pods.p[0], &rule);
    size_t len = strcspn(rule.name, "=");
    t->f->text = arena_printf(t->arena, "the mark %s", rule.name);
    fix(t, WHY_RISK_NONE, "wait until it has finished", NULL, NULL);
    fix(t, WHY_RISK_SERVICE, "take the mark off",
        kubectl_pod(t, job ? "label pod" : "annotate pod",
                    arena_printf(t->arena, " %.*s-", (int)len, rule.name)),
        "what it does is interrupted");
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
    fix(t, WHY_RISK_NONE, "find out what it waits for", kubectl_pod(t, "describe pod", ""), NULL);
    if (held)
        fix(t, WHY_RISK_DATA, "take its finalizers off",
            kubectl_pod(t, "patch pod", " --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
            "what they guard is never done");
    else
        fix(t, WHY_RISK_DATA, "remove its object although it may still run",
            kubectl_pod(t, "delete pod", " --grace-period=0 --force"),
            "two pods may write to one volume");
}

static void tell_finalizer(struct telling *t) {
    _cleanup_str_ struct str names = STR_INIT;
    pod_foreign_finalizers(t->b->pods.p[0], &names);
    t->f->text = arena_printf(t->arena, "the finalizer %s", str_get(&names));
    fix(t, WHY_RISK_NONE, "find out who takes it off, and whether that is at work",
        kubectl_pod(t, "describe pod", ""), NULL);
}

static void tell_lost(struct telling *t) {
    const char *node = t->b->pods.p[0]->node_name;
    const struct node *n = (const struct node *)store_get(t->l->in->nodes, NULL, node);
    const struct node_condition *c = n ? node_condition_find(n->conditions, "Ready") : NULL;
    char when[TIMEFMT_LEN];
    name(t, kind_node.name, NULL, node);
    t->f->text = c && c->c.changed ? arena_printf(t->arena, "it was heard of until %s",
                                                  time_format(c->c.changed, false, when))
                                   : "its condition Ready is Unknown";
    fix(t, WHY_RISK_NONE, "bring it back: it then tells what has stopped",
        arena_printf(t->arena, "kubectl describe node %s", shell(t, node)), NULL);
    fix(t, WHY_RISK_DATA,
        "if it is off for certain, say so (and take the taint off when it is back)",
        arena_printf(
            t->arena,
            "kubectl taint node %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
            shell(t, node)),
        "if it still runs, two pods write to one volume");
}

static void tell_local(struct telling *t) {
    t->f->text = t->b->why ? t->b->why
                           : arena_printf(t->arena, "%u pod%s with a volume that no other node has",
                                          t->f->pods, plural(t->f->pods, "", "s"));
    fix(t, WHY_RISK_SERVICE, "drain only if the node comes back with its disk", NULL,
        "down as long as the node is");
}

static void tell_no_room(struct telling *t) {
    t->f->text = t->b->why;
    fix(t, WHY_RISK_NONE, "add a node, or free what is missing",
        arena_printf(t->arena, "slipway why %s --room", shell(t, t->f->nodes[0])), NULL);
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
        [LINT_OVERLAP] = tell_overlap, [LINT_PINNED] = tell_pinned,
        [LINT_BARE] = tell_bare,       [LINT_EMPTY_DIR] = tell_empty_dir,
        [LINT_MARK] = tell_mark,       [LINT_JOB] = tell_mark,
        [LINT_STUCK] = tell_stuck,     [LINT_HELD] = tell_stuck,
        [LINT_LOST] = tell_lost,       [LINT_FINALIZER] = tell_finalizer,
        [LINT_ORDERED] = tell_ordered, [LINT_NO_ROOM] = tell_no_room,
        [LINT_LOCAL] = tell_local,     [LINT_RETURNS] = tell_returns,
        [LINT_UNREAD] = tell_unread,
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
