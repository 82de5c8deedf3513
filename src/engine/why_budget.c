/* Why a budget holds pods: its arithmetic, what is wrong with its other pods, and what would make
 * room in it. */
#include <stdlib.h>

#include "engine/budget.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/why_internal.h"
#include "model/selector.h"

enum {
    /* More replicas than that are no quick help. */
    MORE_MAX = 3,
};

/* --- the pods and their owner --- */

/* As after -l; "" selects everything, as an empty selector does. */
static void print_selector(const struct label_selector *sel, struct str *out) {
    for (size_t i = 0; i < list_len(sel->labels); i++)
        str_addf(out, "%s%s=%s", out->len ? "," : "", sel->labels[i].key,
                 strna(sel->labels[i].value));
    if (!list_len(sel->exprs))
        return;
    str_add(out, out->len ? "," : "");
    requirements_print(out, sel->exprs);
}

bool why_budget_pods(struct making *m, const struct pdb *pdb) {
    _cleanup_str_ struct str selector = STR_INIT;
    if (!pdb->selector) /* it selects nothing */
        return true;
    print_selector(pdb->selector, &selector);
    return why_has(m, &(struct why_want){.what = WHY_WANT_BUDGET_PODS,
                                         .kind = &kind_pod,
                                         .ns = pdb->meta.ns,
                                         .selector = str_get(&selector)});
}

static int32_t replicas_or_one(int32_t replicas) {
    return replicas == ABSENT32 ? 1 : replicas;
}

void why_owner_of(struct making *m, const struct pod *pod, struct why_owner *out) {
    const struct owner *o = meta_controller(&pod->meta);
    *out = (struct why_owner){.ns = pod->meta.ns};
    if (!o || !str_same(o->api_version, "apps/v1"))
        return;
    if (str_same(o->kind, "StatefulSet")) {
        const struct stateful_set *s = why_look(m, &kind_stateful_set, pod->meta.ns, o->name, NULL);
        if (s) {
            out->resource = "statefulset";
            out->name = s->meta.name;
            out->replicas = replicas_or_one(s->replicas);
        }
        return;
    }
    if (!str_same(o->kind, "ReplicaSet"))
        return;
    const struct replica_set *r = why_look(m, &kind_replica_set, pod->meta.ns, o->name, NULL);
    const struct owner *up = r ? meta_controller(&r->meta) : NULL;
    if (r && !up) {
        out->resource = "replicaset";
        out->name = r->meta.name;
        out->replicas = replicas_or_one(r->replicas);
    }
    if (!up || !str_same(up->kind, "Deployment"))
        return;
    const struct deployment *d = why_look(m, &kind_deployment, pod->meta.ns, up->name, NULL);
    if (d) {
        out->resource = "deployment";
        out->name = d->meta.name;
        out->replicas = replicas_or_one(d->replicas);
        out->deployment = d;
    }
}

/* --- what helps --- */

static void advise_scale(struct making *m, struct why_link *l, const struct pdb *pdb,
                         const struct why_owner *o) {
    int64_t healthy = l->code == BLOCKER_PDB_UNSATISFIABLE ? pdb->expected : pdb->healthy;
    if (!o->resource || pdb->expected <= 0)
        return;
    if (o->deployment && o->replicas == 1 && m->node && budget_allows_with(pdb, healthy, 1) > 0) {
        why_link_remedy(
            m, l, WHY_RISK_LOW, "let the drain make a second replica first",
            arena_printf(m->arena, "slipway drain %s --surge", why_shell(m, m->node->meta.name)),
            "needs room for one pod more");
        return;
    }
    for (int more = 1; more <= MORE_MAX; more++) {
        if (budget_allows_with(pdb, healthy, more) <= 0)
            continue;
        why_link_remedy(
            m, l, WHY_RISK_LOW,
            more == 1 ? "one replica more" : arena_printf(m->arena, "%d replicas more", more),
            arena_printf(m->arena, "kubectl -n %s scale %s %s --replicas=%lld",
                         why_shell(m, strna(o->ns)), o->resource, why_shell(m, o->name),
                         (long long)o->replicas + more),
            streq(o->resource, "statefulset") ? "a new member joins; it needs room and a volume"
                                              : "needs room; an autoscaler may take it back");
        return;
    }
}

static const char *patch_command(struct making *m, const struct pdb *pdb, const char *spec) {
    return arena_printf(m->arena, "kubectl -n %s patch pdb %s --type=merge -p '{\"spec\":{%s}}'",
                        why_shell(m, strna(pdb->meta.ns)), why_shell(m, strna(pdb->meta.name)),
                        spec);
}

/* The budget as it would allow one eviction with the pods that are healthy now. */
static void advise_budget(struct making *m, struct why_link *l, const struct pdb *pdb) {
    if (pdb->healthy < 1 || pdb->expected < 1)
        return;
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + 1 : pdb->healthy - 1;
    const char *field = max ? "maxUnavailable" : "minAvailable";
    const char *cost = pdb->healthy == 1 ? "none serves until the new one is ready"
                                         : arena_printf(m->arena, "%d of %d serve meanwhile",
                                                        pdb->healthy - 1, pdb->expected);
    why_link_remedy(m, l, WHY_RISK_SERVICE,
                    arena_printf(m->arena, "let the budget allow one (%s %d)", field, value),
                    patch_command(m, pdb, arena_printf(m->arena, "\"%s\":%d", field, value)), cost);
}

/* Pods of the target that are not ready themselves: whom do they serve? */
static void advise_policy(struct making *m, struct why_link *l, const struct pdb *pdb,
                          const struct pod *const *pods, size_t n) {
    size_t sick = 0;
    for (size_t i = 0; i < n; i++)
        sick += !pod_ready(pods[i]);
    if (!sick || str_same(pdb->unhealthy_policy, "AlwaysAllow"))
        return;
    why_link_remedy(m, l, WHY_RISK_LOW, "let pods go that are not ready anyway",
                    patch_command(m, pdb, "\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\""),
                    "also one that was about to become ready");
}

static void advise_override(struct making *m, struct why_link *l) {
    if (!m->node)
        return;
    why_link_remedy(m, l, WHY_RISK_SERVICE, "delete pods instead of evicting them",
                    arena_printf(m->arena, "slipway drain %s --disable-eviction",
                                 why_shell(m, m->node->meta.name)),
                    "every budget on the node is ignored");
}

/* --- causes --- */

/* Replicas that nobody has made: a quota, an admission webhook. */
static void add_missing(struct making *m, struct why_link *l, const struct pdb *pdb,
                        const struct why_owner *o, size_t there) {
    const struct deployment *d = o->deployment;
    if (pdb->expected < 0 || there >= (size_t)pdb->expected)
        return;
    size_t n = (size_t)pdb->expected - there;
    const struct condition *c = d ? condition_find(d->conditions, "ReplicaFailure") : NULL;
    bool failed = c && str_same(c->status, "True");
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%zu replica%s that it counts on %s not there", n, n == 1 ? "" : "s",
             n == 1 ? "is" : "are");
    if (failed)
        str_addf(&text, ": %s", strna(c->message));
    struct why_link *cause =
        why_link_new(m, WHY_NO_CODE, o->resource ? o->resource : "",
                     o->resource ? arena_printf(m->arena, "%s/%s", strna(o->ns), o->name) : "",
                     why_text(m, &text));
    cause->since = failed ? c->changed : 0;
    why_link_cause(m, l, cause);
    if (failed)
        why_link_remedy(m, l, WHY_RISK_NONE, "make room for the missing replica: look at quotas",
                        arena_printf(m->arena, "kubectl -n %s describe %s %s",
                                     why_shell(m, strna(o->ns)), o->resource,
                                     why_shell(m, o->name)),
                        NULL);
}

static void add_causes(struct making *m, struct why_link *l, const struct pdb *pdb,
                       const struct pod *const *own, size_t n_own) {
    size_t n;
    struct why_owner owner;
    why_owner_of(m, own[0], &owner);
    if (!why_budget_pods(m, pdb)) {
        advise_budget(m, l, pdb);
        return;
    }
    _cleanup_free_ const struct pod **all = pdbs_pods(m->w->pdbs, pdb, &n);
    for (size_t i = 1; i < n; i++) /* of equal ones it is the one that was asked about */
        if (all[i] == m->pod) {
            memmove(&all[1], &all[0], i * sizeof *all);
            all[0] = m->pod;
        }
    unsigned troubles = why_add_troubles(m, l, all, n);
    bool observed = pdb->observed_generation >= pdb->meta.generation;
    if (observed && l->code == BLOCKER_PDB_NO_BUDGET)
        add_missing(m, l, pdb, &owner, n);
    /* What passes: pods that start, pods that leave, a controller that has not looked yet. */
    const unsigned passing = 1u << WHY_TROUBLE_STARTING | 1u << WHY_TROUBLE_LEAVING;
    bool soon = l->code == BLOCKER_PDB_NO_BUDGET && !(troubles & ~passing);
    if (soon && observed && (troubles || pdb->disrupted))
        why_link_remedy(m, l, WHY_RISK_NONE, "wait until they are ready", NULL, NULL);
    if (!observed)
        why_link_remedy(m, l, WHY_RISK_NONE,
                        "wait for its controller; if that lasts, look at kube-controller-manager",
                        NULL, NULL);
    advise_policy(m, l, pdb, own, n_own);
    /* A new replica of what crashes or finds no room would do the same. */
    const unsigned contagious = 1u << WHY_TROUBLE_CRASH | 1u << WHY_TROUBLE_IMAGE |
                                1u << WHY_TROUBLE_CONFIG | 1u << WHY_TROUBLE_NO_NODE |
                                1u << WHY_TROUBLE_MOUNT | 1u << WHY_TROUBLE_UNREADY;
    if (!(troubles & contagious) && !soon)
        advise_scale(m, l, pdb, &owner);
    if (!soon) {
        advise_budget(m, l, pdb);
        advise_override(m, l);
    }
}

/* --- links --- */

struct why_link *why_budget_link(struct making *m, enum blocker_code code, const struct pdb *pdb,
                                 const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    budget_explain(pdb, &text);
    if (code == BLOCKER_PDB_UNSATISFIABLE)
        str_add(&text, ": never more, not even with all pods healthy");
    struct why_link *l =
        why_link_new(m, (int)code, kind_pdb.name, why_name(m, &pdb->meta), why_text(m, &text));
    why_link_pods(m, l, pods, n);
    const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
    if (c && !str_same(c->status, "True"))
        l->since = c->changed;
    if (code == BLOCKER_PDB_SYNC_FAILED) {
        why_link_remedy(m, l, WHY_RISK_NONE,
                        "give its pods a controller that can be scaled, or a number in "
                        "minAvailable",
                        arena_printf(m->arena, "kubectl -n %s describe pdb %s",
                                     why_shell(m, strna(pdb->meta.ns)),
                                     why_shell(m, strna(pdb->meta.name))),
                        NULL);
        advise_override(m, l);
        return l;
    }
    add_causes(m, l, pdb, pods, n);
    return l;
}

/* The same words as in a plan (engine/plan_tell.c), in both. */
struct why_link *why_dry_link(struct making *m, const struct pdb *pdb, const struct pod *keeper,
                              bool chance, const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    int gives = pdb->allowed + (int)n;
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + gives : MAX_OF(pdb->healthy - gives, 0);
    const char *field = max ? "maxUnavailable" : "minAvailable";
    budget_explain(pdb, &text);
    str_addf(&text, "; the replacement of %s fits nowhere%s", strna(keeper->meta.name),
             chance ? MOVEOUT_BY_CHANCE : "");
    struct why_link *l = why_link_new(m, BLOCKER_PDB_NO_BUDGET, kind_pdb.name,
                                      why_name(m, &pdb->meta), why_text(m, &text));
    l->severity = chance ? SEVERITY_WARN : SEVERITY_ERROR;
    l->lasts = true; /* once it has come about */
    why_link_pods(m, l, pods, n);
    why_link_remedy(m, l, WHY_RISK_NONE,
                    arena_printf(m->arena, "make room for the replacement of %s, as told below",
                                 strna(keeper->meta.name)),
                    NULL, NULL);
    why_link_remedy(
        m, l, WHY_RISK_SERVICE,
        arena_printf(m->arena, "let the budget allow %d at once (%s %d)", gives, field, value),
        patch_command(m, pdb, arena_printf(m->arena, "\"%s\":%d", field, value)),
        pdb->healthy > gives ? arena_printf(m->arena, "%d of %d serve until there is room",
                                            pdb->healthy - gives, pdb->expected)
                             : "none serves until there is room");
    advise_override(m, l);
    return l;
}

struct why_link *why_luck_link(struct making *m, const struct pdb *pdb, const struct pod *winner,
                               const struct pod *loser) {
    struct why_link *l = why_link_new(
        m, BLOCKER_PDB_NO_BUDGET, kind_pdb.name, why_name(m, &pdb->meta),
        arena_printf(m->arena, MOVEOUT_LUCK, strna(winner->meta.name), strna(loser->meta.name)));
    why_link_remedy(m, l, WHY_RISK_NONE, "make room for both", NULL, NULL);
    return l;
}

struct why_link *why_budgets_link(struct making *m, const struct pdb *const *pdbs, size_t n_pdbs,
                                  const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str names = STR_INIT;
    const struct pdb *spare = pdbs[0], *kept = pdbs[0];
    for (size_t i = 0; i < n_pdbs; i++) {
        str_addf(&names, "%s%s", i ? ", " : "", strna(pdbs[i]->meta.name));
        if (budget_better(pdbs[i], kept))
            kept = pdbs[i];
    }
    for (size_t i = 0; i < n_pdbs; i++)
        if (pdbs[i] != kept)
            spare = pdbs[i];
    struct why_link *l =
        why_link_new(m, BLOCKER_MULTIPLE_PDBS, kind_pdb.name,
                     arena_printf(m->arena, "%s/{%s}", strna(pods[0]->meta.ns), str_get(&names)),
                     arena_printf(m->arena,
                                  "%zu budgets select the same pod%s: the API server refuses every "
                                  "eviction, whatever they allow",
                                  n_pdbs, n == 1 ? "" : "s"));
    why_link_pods(m, l, pods, n);
    for (size_t i = 0; i < n_pdbs; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        budget_explain(pdbs[i], &text);
        struct why_link *c = why_link_new(m, WHY_NO_CODE, kind_pdb.name,
                                          why_name(m, &pdbs[i]->meta), why_text(m, &text));
        c->severity = SEVERITY_INFO;
        why_link_cause(m, l, c);
    }
    if (n_pdbs == 2)
        why_link_remedy(
            m, l, WHY_RISK_LOW,
            arena_printf(m->arena, "keep one of them, for instance %s", strna(kept->meta.name)),
            arena_printf(m->arena, "kubectl -n %s delete pdb %s",
                         why_shell(m, strna(spare->meta.ns)),
                         why_shell(m, strna(spare->meta.name))),
            arena_printf(m->arena, "%s alone guards the pods then", strna(kept->meta.name)));
    else
        why_link_remedy(m, l, WHY_RISK_LOW,
                        "change their selectors so that one is left for each pod",
                        arena_printf(m->arena, "kubectl -n %s get pdb -o yaml",
                                     why_shell(m, strna(pods[0]->meta.ns))),
                        "pods that none selects any more have no budget");
    advise_override(m, l);
    return l;
}
