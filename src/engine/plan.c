/* What a drain would do: pods are judged here; the play (plan_play.c) tells the rest. */
#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/budget.h"
#include "engine/filter.h"
#include "engine/maker.h"
#include "engine/moveout.h"
#include "engine/plan_internal.h"
#include "engine/podrole.h"

enum {
    STUCK_AFTER = POD_STUCK_AFTER,
    STARTS_WITHIN = 30, /* seconds beyond thrice the usual that a pod is said to be starting */
};

const char *plan_verdict_word(enum plan_verdict v) {
    static const char *const words[] = {
        [PLAN_STAYS] = "stays",       [PLAN_GOES] = "goes",     [PLAN_WAITS] = "waits",
        [PLAN_HOMELESS] = "homeless", [PLAN_UNSURE] = "unsure", [PLAN_NEVER] = "never",
    };
    return words[v];
}

/* --- judging --- */

const char *plan_full_name(const struct planning *g, const struct meta *m) {
    return m->ns ? arena_printf(g->arena, "%s/%s", m->ns, m->name)
                 : arena_printf(g->arena, "%s", strna(m->name));
}

void plan_judge(struct ppod *p, enum plan_verdict verdict, enum blocker_code code,
                const char *object, const char *message) {
    p->pub->verdict = verdict;
    p->pub->blocker =
        (struct plan_blocker){.code = code, .object = object, .message = message, .help = ""};
    p->unsure = verdict == PLAN_NEVER || verdict == PLAN_UNSURE;
}

void plan_judge_guard(struct ppod *p, const struct guard *guard, const char *budget) {
    plan_judge(p, PLAN_UNSURE, guard->code, budget, guard->words);
    p->pub->blocker.help = guard->hint;
}

static uint32_t name_hash(const char *name) {
    return hash_bytes(name, strlen(name));
}

static uint32_t budget_hash(const void *entry) {
    const struct pbudget *b = entry;
    return hash_bytes(&b->pdb, sizeof b->pdb);
}

static bool budget_equal(const void *entry, const void *pdb) {
    return ((const struct pbudget *)entry)->pdb == pdb;
}

static const struct htab_ops budget_ops = {budget_hash, budget_equal};

static int budget_number(struct planning *g, const struct pdb *pdb) {
    struct pbudget *b = htab_find(&g->by_pdb, hash_bytes(&pdb, sizeof pdb), pdb);
    if (b)
        return b->number;
    b = xnew(struct pbudget);
    b->pdb = pdb;
    b->number = (int)g->budgets.len;
    b->name = plan_full_name(g, &pdb->meta);
    b->cap = MAX_OF(MAX_OF((int)budget_spare(pdb, &g->budget_owners), pdb->allowed), 1);
    *vec_push(&g->budgets) = b;
    htab_insert(&g->by_pdb, b);
    return b->number;
}

/* Many pods may wait for one budget: its words are made once. */
const char *plan_budget_words(struct planning *g, struct pbudget *b) {
    _cleanup_str_ struct str words = STR_INIT;
    if (b->words)
        return b->words;
    budget_explain(b->pdb, &g->budget_owners, &words);
    return b->words = arena_strndup(g->arena, str_get(&words), words.len);
}

static void judge_budget(struct planning *g, struct ppod *p, struct pbudget *b,
                         enum budget_verdict verdict) {
    const struct guard *guard = budget_holds(verdict) ? guard_of(b->pdb, p->pod) : NULL;
    if (guard) {
        plan_judge_guard(p, guard, b->name);
    } else if (verdict == BUDGET_NEVER && !plan_surge_helps(p, b->pdb)) {
        plan_judge(p, PLAN_NEVER, BLOCKER_PDB_UNSATISFIABLE, b->name, plan_budget_words(g, b));
        if (budget_uncounted(b->pdb))
            p->pub->blocker.help = BUDGET_UNCOUNTED_HELP;
        else if (!meta_controller(&p->pod->meta))
            p->pub->blocker.help = BLOCKER_BARE_BUDGET_HINT;
    } else if (verdict == BUDGET_FAILED) {
        plan_judge(p, PLAN_NEVER, BLOCKER_PDB_SYNC_FAILED, b->name, plan_budget_words(g, b));
    }
}

static void judge_budgets(struct planning *g, struct ppod *p) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(g->in->cluster->pdbs, p->pod, &n);
    if (!n || g->in->opts->disable_eviction || !budget_is_asked(p->pod) ||
        !g->in->cluster->budgets_known)
        return;
    bool past = p->delete_at >= 0; /* a rule does not wait for ever */
    enum budget_verdict verdict = budget_for_pod(p->pod, pdbs, n, &g->budget_owners);
    if (n > 1) {
        _cleanup_str_ struct str names = STR_INIT;
        for (size_t i = 0; i < n; i++)
            str_addf(&names, "%s%s", i ? ", " : "", pdbs[i]->meta.name);
        if (!past)
            plan_judge(p, PLAN_NEVER, BLOCKER_MULTIPLE_PDBS, plan_full_name(g, &p->pod->meta),
                       arena_printf(g->arena, "%zu budgets select it: %s", n, str_get(&names)));
        return;
    }
    /* One that is not ready may go without asking: budget_for_pod() knows. */
    if (!pod_ready(p->pod) && verdict == BUDGET_ALLOWS)
        return;
    p->budget = budget_number(g, pdbs[0]);
    if (!past)
        judge_budget(g, p, g->budgets.p[p->budget], verdict);
}

/* Of one that something else keeps: its budgets keep it as well, and for good, unless it ends by
 * itself. "; ..." or "". */
static const char *also_never(struct planning *g, const struct pod *pod) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(g->in->cluster->pdbs, pod, &n);
    _cleanup_str_ struct str words = STR_INIT;
    if (g->in->opts->disable_eviction || !g->in->cluster->budgets_known)
        return "";
    enum budget_verdict v = budget_for_pod(pod, pdbs, n, &g->budget_owners);
    if (v == BUDGET_MULTIPLE)
        return arena_printf(g->arena, "; besides, %zu budgets select it: none of them lets it go",
                            n);
    if (v != BUDGET_FAILED && (v != BUDGET_NEVER || guard_of(pdbs[0], pod)))
        return "";
    budget_explain(pdbs[0], &g->budget_owners, &words);
    return arena_printf(g->arena, "; besides, the budget %s never lets it go: %s",
                        plan_full_name(g, &pdbs[0]->meta), str_get(&words));
}

static bool is_terminating(const struct planning *g, const char *ns) {
    const struct ns *o =
        g->in->namespaces ? (const struct ns *)store_get(g->in->namespaces, NULL, ns) : NULL;
    return o && (o->meta.deleted || str_same(o->phase, "Terminating"));
}

/* It terminates already. */
static void judge_leaving(struct planning *g, struct ppod *p) {
    const struct pod *pod = p->pod;
    const char *name = plan_full_name(g, &pod->meta);
    _cleanup_str_ struct str finalizers = STR_INIT;
    pod_foreign_finalizers(pod, &finalizers);
    if (finalizers.len)
        plan_judge(p, PLAN_UNSURE, BLOCKER_FINALIZER_STUCK, name,
                   arena_printf(g->arena, PLAN_FINALIZER, str_get(&finalizers)));
    else if (g->begun_at - pod->meta.deleted <= SEC(STUCK_AFTER))
        p->leaves_at = MAX_OF(pod->meta.deleted - g->begun_at, 0);
    else
        plan_judge(p, PLAN_UNSURE, BLOCKER_TERMINATING_STUCK, name,
                   "its grace period is over and it still terminates");
}

/* Where its successor goes is the scheduler's choice, and the node that pods leave is the emptier
 * one. A drain evicts what comes back a few times, then it waits. */
static void judge_returning(struct planning *g, struct ppod *p, const struct node *node) {
    bool alone = pod_wants_one_node(p->pod);
    plan_judge(p, alone ? PLAN_NEVER : PLAN_UNSURE, BLOCKER_RETURNS,
               plan_full_name(g, &p->pod->meta),
               alone ? arena_printf(g->arena,
                                    "it tolerates node.kubernetes.io/unschedulable and asks for %s "
                                    "alone: it comes back there",
                                    node->meta.name)
                     : "it tolerates node.kubernetes.io/unschedulable: the scheduler may put it "
                       "back on the cordoned node");
}

static void keep_remade(const struct planning *g, struct ppod *p, const struct remade *remade) {
    struct remade *kept = arena_new(g->arena, struct remade);
    *kept = *remade;
    p->unmade = kept;
}

/* Of one that goes: whether anybody knows what is made in its place. */
static void judge_maker(struct planning *g, struct ppod *p) {
    const struct cluster *c = g->in->cluster;
    struct maker maker = maker_find(p->pod, c->replica_sets, c->stateful_sets, g->in->jobs);
    p->doubt = moveout_beyond(p->pod);
    if (!p->doubt && p->back != BACK_NEVER)
        p->doubt = maker_doubt(g->arena, p->pod, &maker);
}

/* And whether anything is. */
static void judge_remake(struct planning *g, struct ppod *p) {
    struct remade remade;
    /* A rule that deletes it in the end does not wait for its second replica. */
    bool second = p->surges && p->delete_at < 0;
    if (!(second ? remake_judge_second : remake_judge)(&g->remake, p->pod, &remade))
        return;
    keep_remade(g, p, &remade);
}

/* When it is known of all which of them go: those count together. */
static void judge_remaking(struct planning *g) {
    for (size_t i = 0; i < g->pods.len; i++)
        if (!g->pods.p[i].unsure && g->pods.p[i].leaves_at < 0)
            judge_remake(g, &g->pods.p[i]);
    for (size_t i = 0; i < g->pods.len; i++) {
        struct ppod *p = &g->pods.p[i];
        struct remade remade = p->unmade ? *p->unmade : (struct remade){.end = REMAKE_WELL};
        if (!p->unsure && p->leaves_at < 0 && remake_judge_rest(&g->remake, p->pod, &remade))
            keep_remade(g, p, &remade);
    }
}

/* Sets the budget and what is in its way. */
static void judge_pod(struct planning *g, struct ppod *p, const struct rule_verdict *rule,
                      const struct filter *f, const struct node *node) {
    const struct pod *pod = p->pod;
    const struct owner *o = meta_controller(&pod->meta);
    p->refused = f->verdict == FILTER_REFUSED;
    if (p->refused)
        plan_judge(p, PLAN_NEVER, f->code, plan_full_name(g, &pod->meta), f->why);
    else if (node_is_lost(node)) /* before all else: what is said of its pods is old */
        plan_judge(p, PLAN_UNSURE, BLOCKER_NODE_UNREACHABLE, node->meta.name,
                   "the node does not answer: nobody can tell whether its pods have stopped");
    else if (pod->meta.deleted)
        judge_leaving(g, p);
    else if (is_terminating(g, pod->meta.ns))
        plan_judge(p, PLAN_UNSURE, BLOCKER_NAMESPACE_TERMINATING, strna(pod->meta.ns),
                   "the namespace is being deleted: the pod goes with it");
    else if (rule->action == RULE_HOLD)
        plan_judge(p, PLAN_UNSURE, BLOCKER_DO_NOT_DISRUPT, plan_full_name(g, &pod->meta),
                   arena_printf(g->arena,
                                "it is marked %s: a drain waits until the mark is taken off, or it "
                                "is gone%s",
                                rule->name, also_never(g, pod)));
    else if (rule->action == RULE_WAIT && !pod_finished(pod))
        plan_judge(p, PLAN_UNSURE, BLOCKER_JOB_RUNNING, plan_full_name(g, &pod->meta),
                   arena_printf(g->arena, "it shall finish by itself (%s)", rule->name));
    else if (filter_pinned(g->in->cluster, pod, node->meta.name, true) == KNOWN_THERE)
        plan_judge(p, PLAN_NEVER, BLOCKER_PINNED, plan_full_name(g, &pod->meta),
                   arena_printf(g->arena, "%s %s declares spec.nodeName %s", strna(o->kind),
                                strna(o->name), node->meta.name));
    else
        judge_budgets(g, p);
    if (!p->unsure && p->leaves_at < 0 && pod_may_return(pod))
        judge_returning(g, p, node);
    if (!p->unsure && p->leaves_at < 0)
        judge_maker(g, p);
}

static enum comes_back comes_back(const struct planning *g, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || pod_finished(pod) || is_terminating(g, pod->meta.ns))
        return BACK_NEVER; /* nobody can make pods in a namespace that goes */
    if (str_same(o->kind, "StatefulSet"))
        return BACK_WHEN_GONE;
    /* The successor of one that terminates is there already. */
    return pod->meta.deleted ? BACK_NEVER : BACK_AT_ONCE;
}

/* As a rehearsal has it (sim/fleet/worker.c). */
static int64_t stop_most(const struct planning *g, const struct pod *pod,
                         const struct rule_verdict *rule, bool seen) {
    int64_t grace = rule->grace >= 0          ? rule->grace
                    : g->in->opts->grace >= 0 ? g->in->opts->grace
                    : pod->spec               ? pod->spec->grace
                                              : -1;
    if (grace < 0 || grace > INT64_MAX / (2 * USEC_PER_SEC))
        return INT64_MAX;
    return SEC(grace) + (seen && grace ? KILL_TAKES : 0);
}

/* A pod that is there. */
static void add_pod(struct planning *g, unsigned number, const struct pod *pod) {
    struct pnode *n = &g->nodes.p[number];
    struct plan_pod *pub = &n->pub->pods[n->pub->n_pods++];
    struct rule_verdict rule;
    struct filter f = filter_pod(g->in->opts, g->in->cluster, g->begun_at, pod);
    rules_apply(g->rules, pod, &rule);
    *pub = (struct plan_pod){.pod = pod,
                             .verdict = PLAN_STAYS,
                             .why = strna(f.why),
                             .evicted = PLAN_NO_TIME,
                             .gone = PLAN_NO_TIME,
                             .back = PLAN_NO_TIME};
    if (rule.action == RULE_SKIP && f.verdict != FILTER_STAYS) {
        pub->why = arena_printf(g->arena, "skipping Pods by rule %s", rule.name);
        return;
    }
    if (f.verdict == FILTER_UNKNOWN) /* a DaemonSet's, which cannot be looked up */
        f = g->in->opts->ignore_daemonsets
                ? (struct filter){.verdict = FILTER_STAYS}
                : (struct filter){FILTER_REFUSED, "pods of DaemonSets", BLOCKER_DAEMON_POD};
    if (f.verdict == FILTER_STAYS)
        return;
    struct pod_durations d = durations_of(g->durations, pod);
    if (pod_finished(pod))
        d.stop = 0; /* only its object is left */
    if (g->in->times)
        d = g->in->times(g->in->times_arg, pod, d);
    d.stop = MIN_OF(d.stop, stop_most(g, pod, &rule, d.stop_seen));
    if (rule.force_after >= 0)
        d.stop = MIN_OF(d.stop, rule.force_after);
    g->timed |= rule.deadline > 0;
    struct ppod p = {.pub = pub,
                     .pod = pod,
                     .node = number,
                     .budget = -1,
                     .owner = -1,
                     .d = d,
                     .back = comes_back(g, pod),
                     .order = rule.order,
                     .grace = pod->spec ? pod->spec->grace : 0,
                     .leaves_at = PLAN_NO_TIME,
                     .delete_at = rule.delete_after >= 0 ? rule.delete_after : rule.force_after,
                     .force_at = rule.force_after,
                     .deadline = rule.deadline,
                     .rule = rule.name,
                     .finalizer = pod_finalizer(pod)};
    pub->verdict = PLAN_GOES;
    pub->why = "";
    plan_surge(g, &p);
    judge_pod(g, &p, &rule, &f, n->pub->node);
    plan_await(g, &p);
    n->hopeless |= p.unsure || p.finalizer;
    *vec_push(&n->pods) = (unsigned)g->pods.len;
    if (p.budget >= 0)
        *vec_push(&g->budgets.p[p.budget]->all) = (unsigned)g->pods.len;
    *vec_push(&g->pods) = p;
}

/* All that would go, from a node that nothing goes from. */
static void judge_rest(struct planning *g, struct pnode *n, enum plan_verdict verdict,
                       struct plan_blocker why) {
    n->hopeless = true;
    for (size_t i = 0; i < n->own; i++) {
        struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (p->unsure || p->leaves_at >= 0)
            continue;
        plan_judge(p, verdict, why.code, why.object, why.message);
        p->pub->follows = n->refused;
    }
}

/* A drain touches nothing on a node on which a pod needs a flag that was not given. */
static void refuse_all(struct planning *g, struct pnode *n) {
    for (size_t i = 0; i < n->own; i++) {
        const struct ppod *p = &g->pods.p[n->pods.p[i]];
        if (!p->refused)
            continue;
        n->refused = true;
        struct plan_blocker why = p->pub->blocker;
        why.message = "nothing is evicted from its node because of it";
        judge_rest(g, n, PLAN_NEVER, why);
        return;
    }
}

enum plan_verdict plan_finding_verdict(const struct check_finding *f) {
    return !f ? PLAN_GOES : f->verdict == CHECK_DENY ? PLAN_NEVER : PLAN_UNSURE;
}

const char *plan_finding_object(const struct planning *g, const struct check_finding *f) {
    return f->name && f->ns ? arena_printf(g->arena, "%s/%s", f->ns, f->name) : strna(f->name);
}

/* Nor on one whose cordon a check does not agree to. */
static void refuse_finding(struct planning *g, struct pnode *n) {
    const struct check_finding *f = n->pub->finding;
    if (!f)
        return;
    judge_rest(g, n, plan_finding_verdict(f),
               (struct plan_blocker){f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code,
                                     plan_finding_object(g, f),
                                     arena_printf(g->arena, PLAN_NO_CORDON ": %s: %s",
                                                  f->check->name, strna(f->evidence)),
                                     "", false, NULL});
}

static void add_pods(struct planning *g, unsigned number) {
    struct pnode *n = &g->nodes.p[number];
    size_t count, kept = 0;
    const struct pod *const *list = cluster_pods_on(g->in->cluster, n->pub->name, &count);
    const struct pod **sorted = xcalloc(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        if (filter_selects(g->in->opts, list[i]))
            sorted[kept++] = list[i];
    qsort(sorted, kept, sizeof *sorted, pod_compare);
    n->pub->pods = arena_alloc(g->arena, (kept + 1) * sizeof *n->pub->pods);
    for (size_t i = 0; i < kept; i++)
        add_pod(g, number, sorted[i]);
    n->own = n->pods.len;
    refuse_all(g, n);
    refuse_finding(g, n);
    free(sorted);
}

int64_t plan_ready_at(const struct planning *g, const struct pod *pod) {
    struct pod_durations d = durations_of(g->durations, pod);
    if (pod_ready(pod) || pod->meta.deleted || pod_finished(pod) || str_empty(pod->node_name))
        return -1;
    for (size_t i = 0; i < list_len(pod->containers); i++)
        if (pod->containers[i].restarts || pod->containers[i].state.terminated)
            return -1;
    int64_t age = g->begun_at - pod->meta.created;
    return age > 3 * d.start + SEC(STARTS_WITHIN) ? -1 : MAX_OF(d.start - age, SEC(1));
}

/* A StatefulSet's pod that somebody has just evicted has no successor yet: that is made when it is
 * gone. When it will be ready, or -1. */
static int64_t made_again_at(const struct planning *g, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    _cleanup_str_ struct str finalizers = STR_INIT;
    if (!pod->meta.deleted || !o || !str_same(o->kind, "StatefulSet") ||
        g->begun_at - pod->meta.deleted > SEC(STUCK_AFTER) || is_terminating(g, pod->meta.ns))
        return -1;
    pod_foreign_finalizers(pod, &finalizers);
    if (finalizers.len)
        return -1;
    return MAX_OF(pod->meta.deleted - g->begun_at, 0) + durations_of(g->durations, pod).start;
}

/* Budgets that are short of pods which are just starting, or are about to, have them soon. */
static void add_heals(struct planning *g, struct pbudget *b) {
    size_t n;
    if (b->pdb->healthy >= b->pdb->expected)
        return;
    const struct pod **pods = pdbs_pods(g->in->cluster->pdbs, b->pdb, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t at = pods[i]->meta.deleted ? made_again_at(g, pods[i]) : plan_ready_at(g, pods[i]);
        if (at >= 0)
            *vec_push(&b->heals) = at;
    }
    free(pods);
}

/* --- nodes --- */

static uint32_t node_hash(const void *entry) {
    return name_hash(((const struct pnode *)entry)->pub->name);
}

static bool node_equal(const void *entry, const void *name) {
    return streq(((const struct pnode *)entry)->pub->name, name);
}

static const struct htab_ops node_ops = {node_hash, node_equal};

struct pnode *plan_node_find(const struct planning *g, const char *name) {
    return htab_find(&g->by_name, name_hash(name), name);
}

static unsigned zone_number(struct planning *g, const struct node *node) {
    const char *zone = node_zone(node);
    for (size_t i = 0; i < g->nodes.len; i++) {
        const struct pnode *n = &g->nodes.p[i];
        if (streq(node_zone(n->pub->node), zone))
            return n->zone;
    }
    return g->zones++;
}

static void add_nodes(struct planning *g) {
    const struct plan_input *in = g->in;
    struct plan_node *all = arena_alloc(g->arena, (in->n_names + 1) * sizeof *all);
    vec_reserve(&g->nodes, in->n_names);
    for (size_t i = 0; i < in->n_names; i++) {
        const struct node *node = cluster_node(in->cluster, in->names[i]);
        if (!node || plan_node_find(g, in->names[i]))
            continue;
        struct plan_node *pub = &all[g->nodes.len];
        *pub = (struct plan_node){.name = node->meta.name, .node = node};
        unsigned zone = in->opts->max_zones ? zone_number(g, node) : 0;
        *vec_push(&g->nodes) = (struct pnode){.pub = pub, .zone = zone};
        htab_insert(&g->by_name, &g->nodes.p[g->nodes.len - 1]);
    }
    g->zones += !g->zones;
    g->out->nodes = all;
    g->out->n = g->nodes.len;
}

void plan_correct(struct plan *plan, struct plan_node *node, struct plan_pod *pod,
                  enum plan_verdict verdict, struct plan_blocker blocker) {
    plan->count[pod->verdict]--;
    node->count[pod->verdict]--;
    plan->count[verdict]++;
    node->count[verdict]++;
    pod->verdict = verdict;
    pod->blocker = blocker;
    node->verdict = MAX_OF(plan_finding_verdict(node->finding), node->itself);
    for (int v = PLAN_GOES; v < PLAN_VERDICTS; v++)
        if (node->count[v])
            node->verdict = MAX_OF(node->verdict, (enum plan_verdict)v);
    if (verdict < PLAN_UNSURE)
        return;
    pod->evicted = pod->gone = pod->back = node->ends = plan->makespan = PLAN_NO_TIME;
    pod->to = NULL;
    plan->drained = 0;
    for (size_t i = 0; i < plan->n; i++)
        plan->drained = MAX_OF(plan->drained, plan->nodes[i].ends);
}

/* True: something was short, so that chance has a say in what is told. */
static bool make_once(const struct plan_input *in, struct arena *arena, bool compare,
                      struct plan *out) {
    struct planning g = {.in = in, .arena = arena, .out = out, .begun_at = in->now};
    *out = (struct plan){0};
    g.timed = in->opts->timeout > 0;
    g.rules = in->opts->rules ? in->opts->rules : (g.own_rules = rules_new());
    g.durations = durations_new(in->cluster->pods);
    struct remake_stores stores = {.jobs = in->jobs,
                                   .accounts = in->accounts,
                                   .replica_sets = in->cluster->replica_sets,
                                   .stateful_sets = in->cluster->stateful_sets};
    g.remake = (struct remake)REMAKE_INIT(arena, remake_look, &stores);
    g.remake.how = in->opts->disable_eviction ? JOB_POD_DELETED : JOB_POD_EVICTED;
    g.remake.keep_all = in->opts->surge;
    remake_quotas(&g.remake, in->quotas, NULL);
    budget_owners_init(&g.budget_owners, in->cluster->pdbs, budget_look_cluster, in->cluster);
    htab_init(&g.by_name, &node_ops);
    htab_init(&g.by_pdb, &budget_ops);
    add_nodes(&g);
    plan_checks(&g);
    for (unsigned i = 0; i < g.nodes.len; i++)
        add_pods(&g, i);
    judge_remaking(&g);
    for (size_t i = 0; i < g.budgets.len; i++)
        add_heals(&g, g.budgets.p[i]);
    plan_sets(&g);
    g.own_pods = g.pods.len;
    g.limit = MAX_OF(drain_limit(in->opts, g.nodes.len), 1u);
    for (size_t i = 0; i < g.nodes.len; i++)
        plan_least(&g, &g.nodes.p[i]);
    bool greedy;
    unsigned *order = plan_order(&g, &greedy);
    plan_order_settle(&g, order, &greedy);
    size_t sure = plan_chance(&g, order, greedy, plan_tries(&g));
    if (compare)
        plan_better(&g, sure);
    plan_play_room(&g, order, greedy);
    plan_tell(&g);
    plan_bounds(&g);
    plan_budgets(&g);
    room_free(g.room);
    free(order);
    for (size_t i = 0; i < g.budgets.len; i++) {
        vec_done(&g.budgets.p[i]->all);
        vec_done(&g.budgets.p[i]->queue);
        vec_done(&g.budgets.p[i]->heals);
        free(g.budgets.p[i]);
    }
    for (size_t i = 0; i < g.nodes.len; i++)
        vec_done(&g.nodes.p[i].pods);
    plan_sets_done(&g);
    vec_done(&g.pods);
    vec_done(&g.budgets);
    vec_done(&g.nodes);
    vec_done(&g.owners);
    htab_done(&g.by_name);
    htab_done(&g.by_pdb);
    durations_free(g.durations);
    remake_done(&g.remake);
    budget_owners_done(&g.budget_owners);
    rules_free(g.own_rules);
    return g.scarce;
}

static bool is_as_given(const struct plan_input *in, const struct plan *p) {
    for (size_t i = 0; i < p->n; i++)
        if (!streq(in->names[i], p->nodes[i].name))
            return false;
    return p->n == in->n_names;
}

static size_t count_sure(const struct plan *p) {
    size_t sure = 0;
    for (size_t i = 0; i < p->n; i++)
        sure += p->nodes[i].ends != PLAN_NO_TIME;
    return sure;
}

/* Whoever carries the plan out, and who looks whether it still holds, begins with its nodes in its
 * order: where chance has a say, what is told is what comes of that. With `compare` other limits
 * are looked at. */
static void make_twice(const struct plan_input *in, struct arena *arena, bool compare,
                       struct plan *out) {
    bool scarce = make_once(in, arena, compare, out);
    struct drain_opts opts = *in->opts;
    struct plan_input again = *in;
    size_t limit = out->better_limit;
    if (!scarce || (in->opts->in_order && is_as_given(in, out)))
        return;
    opts.in_order = true;
    const char **names = arena_alloc(arena, (out->n + 1) * sizeof *names);
    for (size_t i = 0; i < out->n; i++)
        names[i] = out->nodes[i].name;
    again.opts = &opts;
    again.names = names;
    again.n_names = out->n;
    make_once(&again, arena, false, out);
    out->better_limit = limit;
}

/* The plan with this limit. */
static void make_limited(const struct plan_input *in, size_t limit, struct arena *arena,
                         struct plan *out) {
    struct drain_opts opts = *in->opts;
    struct plan_input other = *in;
    opts.parallel = (unsigned)limit;
    other.opts = &opts;
    make_twice(&other, arena, false, out);
}

void plan_make(const struct plan_input *in, struct arena *arena, struct plan *out) {
    _cleanup_arena_ struct arena spare = ARENA_INIT;
    struct plan limited;
    make_twice(in, arena, true, out);
    size_t limit = out->better_limit, sure = count_sure(out);
    out->better_limit = out->better_nodes = 0;
    if (!limit)
        return;
    /* That it is better was tried, in other circumstances than those of a plan: what is said is
     * what whoever makes that plan reads in it. */
    make_limited(in, limit, in->adopt ? arena : &spare, &limited);
    size_t nodes = count_sure(&limited);
    if (nodes <= sure)
        return;
    if (in->adopt) {
        *out = limited;
        out->better_limit = out->better_nodes = 0;
        out->adopted_limit = limit;
        out->without_nodes = sure;
    } else {
        out->better_limit = limit;
        out->better_nodes = nodes;
    }
}
