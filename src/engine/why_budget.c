/* Why a budget holds pods: its arithmetic, what is wrong with its other pods, and what would make
 * room in it. */
#include <stdlib.h>

#include "engine/budget.h"
#include "engine/guard.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/why_internal.h"
#include "model/selector.h"

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

static bool has_budget_pods(void *arg, const struct pdb *pdb) {
    return why_budget_pods(arg, pdb);
}

static const struct object *look_for_owner(void *arg, const struct kind *kind, const char *ns,
                                           const char *name) {
    return why_look(arg, kind, ns, name, NULL);
}

void why_owners_init(struct making *m) {
    budget_owners_init(&m->budget_owners, m->w->pdbs, look_for_owner, m);
    m->budget_owners.ready = has_budget_pods;
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
            out->template = s->template;
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
        out->template = d->template;
    }
}

/* --- what helps --- */

static void advise_scale(struct making *m, struct why_link *l, const struct pdb *pdb,
                         const struct why_owner *o) {
    int64_t healthy = l->code == BLOCKER_PDB_UNSATISFIABLE ? pdb->expected : pdb->healthy;
    struct remedy_owner owner = {
        .resource = o->resource, .ns = o->ns, .name = o->name, .replicas = o->replicas};
    struct remedies remedies;
    owner.shares_claim = o->deployment && template_has_claim(o->template);
    remedy_scale(m->arena, pdb, &owner, healthy, m->node ? m->node->meta.name : NULL, &remedies);
    why_use_remedies(m, l, &remedies);
}

/* For good when it never does, else with the pods that are healthy now. */
static void advise_budget(struct making *m, struct why_link *l, const struct pdb *pdb,
                          const struct why_owner *o) {
    struct remedies remedies;
    if (l->code == BLOCKER_PDB_UNSATISFIABLE)
        remedy_allow_one(m->arena, pdb, o->resource != NULL, &remedies);
    else
        remedy_allow_now(m->arena, pdb, &remedies);
    why_use_remedies(m, l, &remedies);
}

/* Pods of the target that are not ready themselves: whom do they serve? */
static void advise_policy(struct making *m, struct why_link *l, const struct pdb *pdb,
                          const struct pod *const *pods, size_t n) {
    size_t sick = 0;
    for (size_t i = 0; i < n; i++)
        sick += !pod_ready(pods[i]);
    if (!sick || str_same(pdb->unhealthy_policy, "AlwaysAllow"))
        return;
    struct remedies remedies;
    remedy_unready(m->arena, pdb, &remedies);
    why_use_remedies(m, l, &remedies);
}

/* By all of its pods, as far as they could be read. */
static void advise_sync_failed(struct making *m, struct why_link *l, const struct pdb *pdb) {
    size_t n;
    int ready = 0;
    struct remedies remedies;
    (void)why_budget_pods(m, pdb);
    _cleanup_free_ const struct pod **all = pdbs_pods(m->w->pdbs, pdb, &n);
    for (size_t i = 0; i < n; i++)
        ready += pod_ready(all[i]);
    remedy_sync_failed(m->arena, pdb, ready, &remedies);
    why_use_remedies(m, l, &remedies);
}

/* With the flags that such a drain of the node needs, or it would be refused as it is pasted. */
static void advise_override(struct making *m, struct why_link *l) {
    bool bare = false, data = false;
    size_t n;
    if (!m->node)
        return;
    const struct object *const *pods = store_find(m->w->pods, m->w->pods_by_node,
                                                  (struct store_key){m->node->meta.name, NULL}, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pod *pod = (const struct pod *)pods[i];
        bool goes = !pod->meta.deleted && !pod_finished(pod);
        bare |= goes && pod_role(pod) == POD_BARE;
        data |= goes && (pod_role(pod) == POD_BARE || pod_role(pod) == POD_MOVES) &&
                pod_has_local_data(pod);
    }
    why_link_remedy(m, l, bare || data ? WHY_RISK_DATA : WHY_RISK_SERVICE,
                    "delete pods instead of evicting them",
                    arena_printf(m->arena, "slipway drain %s --disable-eviction%s%s",
                                 why_shell(m, m->node->meta.name), bare ? " --force" : "",
                                 data ? " --delete-emptydir-data" : ""),
                    bare   ? "every budget on the node is ignored, and pods without a controller "
                             "are gone for good"
                    : data ? "every budget on the node is ignored, and data in emptyDir volumes is "
                             "lost"
                           : "every budget on the node is ignored");
}

/* --- causes --- */

/* By what the API server said when it refused to make it. */
static const char *missing_help(const char *message) {
    return strstr(message, "exceeded quota")      ? "raise the quota, or use less of it"
           : strstr(message, "service account")   ? "make its ServiceAccount again"
           : strstr(message, "admission webhook") ? "look at the webhook that denies it"
           : strstr(message, "being terminated")  ? "its namespace is being deleted"
                                                  : "mend what the message names";
}

/* Replicas that nobody has made: a quota, an admission webhook, an account that is gone. */
static void add_missing(struct making *m, struct why_link *l, const struct pdb *pdb,
                        const struct why_owner *o, size_t there) {
    const struct deployment *d = o->deployment;
    int64_t unmade = budget_unmade(pdb, &m->budget_owners);
    int64_t wanted = MAX_OF(pdb->expected + unmade, (int64_t)0);
    if (there >= (size_t)wanted)
        return;
    size_t n = (size_t)wanted - there;
    const struct condition *c = d ? condition_find(d->conditions, "ReplicaFailure") : NULL;
    bool failed = c && str_same(c->status, "True");
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "%zu replica%s that %s %s not there", n, n == 1 ? "" : "s",
             unmade ? "the owner of its pods wants" : "it counts on", n == 1 ? "is" : "are");
    if (failed)
        str_addf(&text, ": %s", strna(c->message));
    struct why_link *cause =
        why_link_new(m, WHY_NO_CODE, o->resource ? o->resource : "",
                     o->resource ? arena_printf(m->arena, "%s/%s", strna(o->ns), o->name) : "",
                     why_text(m, &text));
    cause->since = failed ? c->changed : 0;
    why_link_cause(m, l, cause);
    if (failed)
        why_link_remedy(m, l, WHY_RISK_NONE, missing_help(strna(c->message)),
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
        advise_budget(m, l, pdb, &owner);
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
    bool unmade = budget_unmade(pdb, &m->budget_owners) > 0; /* nor would one more be made */
    if (!(troubles & contagious) && !soon && !unmade)
        advise_scale(m, l, pdb, &owner);
    if (!soon) {
        advise_budget(m, l, pdb, &owner);
        advise_override(m, l);
    }
}

/* --- links --- */

struct why_link *why_budget_link(struct making *m, enum blocker_code code, const struct pdb *pdb,
                                 const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    budget_explain(pdb, &m->budget_owners, &text);
    if (code == BLOCKER_PDB_UNSATISFIABLE && !budget_uncounted(pdb))
        str_add(&text, ": never more, not even with all pods healthy");
    struct why_link *l =
        why_link_new(m, (int)code, kind_pdb.name, why_name(m, &pdb->meta), why_text(m, &text));
    why_link_pods(m, l, pods, n);
    const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
    if (c && !str_same(c->status, "True"))
        l->since = c->changed;
    if (budget_uncounted(pdb) && code == BLOCKER_PDB_UNSATISFIABLE) {
        struct remedies remedies;
        remedy_uncounted(m->arena, pdb, &remedies);
        why_use_remedies(m, l, &remedies);
        advise_override(m, l);
        return l;
    }
    if (code == BLOCKER_PDB_SYNC_FAILED) {
        advise_sync_failed(m, l, pdb);
        advise_override(m, l);
        return l;
    }
    add_causes(m, l, pdb, pods, n);
    return l;
}

/* No remedy changes the budget, or goes past it: that would take away what keeps the data. */
struct why_link *why_guard_link(struct making *m, const struct pdb *pdb, const struct pod *pod) {
    const struct guard *guard = guard_of(pdb, pod);
    struct why_link *l =
        why_link_new(m, (int)guard->code, kind_pdb.name, why_name(m, &pdb->meta), guard->words);
    l->blocks = m->node && m->node->unschedulable;
    l->severity = blocker_row(guard->code)->severity;
    if (!l->blocks)
        l->severity = SEVERITY_INFO;
    why_link_remedy(
        m, l, WHY_RISK_NONE, guard->hint,
        m->node ? arena_printf(m->arena, "slipway checks %s", why_shell(m, m->node->meta.name))
                : NULL,
        NULL);
    return l;
}

/* The same words as in a plan (engine/plan_tell.c), in both. */
struct why_link *why_dry_link(struct making *m, const struct pdb *pdb,
                              const struct moveout_pod *keeper, bool chance,
                              const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str text = STR_INIT;
    int gives = pdb->allowed + (int)n;
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + gives : MAX_OF(pdb->healthy - gives, 0);
    const char *field = max ? "maxUnavailable" : "minAvailable";
    budget_explain(pdb, &m->budget_owners, &text);
    str_addf(&text, "; the replacement of %s %s%s", strna(keeper->pod->meta.name),
             MOVEOUT_KEPT(keeper->unmade), chance ? MOVEOUT_BY_CHANCE : "");
    struct why_link *l = why_link_new(m, BLOCKER_PDB_NO_BUDGET, kind_pdb.name,
                                      why_name(m, &pdb->meta), why_text(m, &text));
    l->severity = chance ? SEVERITY_WARN : SEVERITY_ERROR;
    l->lasts = true; /* once it has come about */
    why_link_pods(m, l, pods, n);
    why_link_remedy(m, l, WHY_RISK_NONE,
                    arena_printf(m->arena,
                                 keeper->unmade
                                     ? "see to it that %s can be made again, as told below"
                                     : "make room for the replacement of %s, as told below",
                                 strna(keeper->pod->meta.name)),
                    NULL, NULL);
    why_link_remedy(
        m, l, WHY_RISK_SERVICE,
        arena_printf(m->arena, "let the budget allow %d at once (%s %d)", gives, field, value),
        remedy_patch(m->arena, pdb, arena_printf(m->arena, "\"%s\":%d", field, value)),
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
        str_addf(&names, "%s%s", i ? "," : "", strna(pdbs[i]->meta.name));
        if (budget_better(pdbs[i], kept, &m->budget_owners))
            kept = pdbs[i];
    }
    for (size_t i = 0; i < n_pdbs; i++)
        if (pdbs[i] != kept)
            spare = pdbs[i];
    struct why_link *l =
        why_link_new(m, BLOCKER_MULTIPLE_PDBS, kind_pdb.name,
                     arena_printf(m->arena, "%s/%s", strna(pods[0]->meta.ns), str_get(&names)),
                     arena_printf(m->arena,
                                  "%zu budgets select the same pod%s: the API server refuses every "
                                  "eviction, whatever they allow",
                                  n_pdbs, n == 1 ? "" : "s"));
    why_link_pods(m, l, pods, n);
    for (size_t i = 0; i < n_pdbs; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        budget_explain(pdbs[i], &m->budget_owners, &text);
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
