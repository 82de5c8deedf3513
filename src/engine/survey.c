/* A look at the nodes. */
#include "engine/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/budget.h"
#include "engine/guard.h"
#include "engine/next_mark.h"
#include "engine/podrole.h"
#include "engine/reason.h"
#include "engine/rules.h"
#include "engine/told.h"

enum {
    /* A pod that still terminates this long after its grace period ended is stuck: kubelets report
     * within 10 s or so. */
    STUCK_AFTER = POD_STUCK_AFTER,
};

/* Seed 002's mark: of its own reboot manager, or ours. Those of others: engine/rivals.h. */
#define SEED_MARK_KEY   "rebootmanager/status"
#define SEED_MARK_VALUE "Rebooting"
/* Flatcar's update operator waits for its turn. */
#define NEEDED_MARK "flatcar-linux-update.v1.flatcar-linux.net/reboot-needed"

const char *node_phase_word(enum node_phase phase) {
    static const char *const words[] = {
        [NODE_IDLE] = "Idle",          [NODE_CORDONED] = "Cordoned", [NODE_DRAINING] = "Draining",
        [NODE_WAITING] = "Waiting",    [NODE_BLOCKED] = "Blocked",   [NODE_DRAINED] = "Drained",
        [NODE_REBOOTING] = "Rebooting"};
    return words[phase];
}

struct taking {
    struct pdbs *pdbs;
    struct budget_owners *owners;
    struct rules *rules; /* as a drain has them that is given none: marks */
    struct arena *arena;
    int64_t now;
    VEC(struct survey_blocker) blockers; /* of the node at hand */
};

/* Adds a pod to the blocker of this code and object, or makes one. */
static void block(struct taking *t, enum blocker_code code, const char *object, const char *message,
                  unsigned pods) {
    for (size_t i = 0; i < t->blockers.len; i++) {
        struct survey_blocker *b = &t->blockers.p[i];
        if (b->code == code && streq(b->object, object)) {
            b->pods += pods;
            return;
        }
    }
    *vec_push(&t->blockers) =
        (struct survey_blocker){.code = code, .object = object, .message = message, .pods = pods};
}

static const char *full_name(struct taking *t, const struct meta *meta) {
    return meta->ns ? arena_printf(t->arena, "%s/%s", meta->ns, meta->name)
                    : arena_printf(t->arena, "%s", strna(meta->name));
}

static void look_at_budgets(struct taking *t, const struct survey_node *sn, const struct pod *pod) {
    static const enum blocker_code codes[] = {
        [BUDGET_WAITS] = BLOCKER_PDB_NO_BUDGET,
        [BUDGET_NEVER] = BLOCKER_PDB_UNSATISFIABLE,
        [BUDGET_FAILED] = BLOCKER_PDB_SYNC_FAILED,
    };
    size_t n;
    const struct pdb *const *budgets = pdbs_of_pod(t->pdbs, pod, &n);
    enum budget_verdict verdict = budget_for_pod(pod, budgets, n, t->owners);
    _cleanup_str_ struct str words = STR_INIT;
    if (verdict == BUDGET_ALLOWS)
        return;
    if (verdict == BUDGET_MULTIPLE) {
        _cleanup_str_ struct str set = STR_INIT;
        str_addf(&set, "%s/", strna(pod->meta.ns));
        for (size_t i = 0; i < n; i++) {
            str_addf(&words, "%s%s", i ? ", " : "", budgets[i]->meta.name);
            str_addf(&set, "%s%s", i ? "," : "", budgets[i]->meta.name);
        }
        block(t, BLOCKER_MULTIPLE_PDBS, full_name(t, &pod->meta),
              arena_printf(t->arena, "pod %s is selected by %zu budgets: %s",
                           full_name(t, &pod->meta), n, str_get(&words)),
              1);
        t->blockers.p[t->blockers.len - 1].budgets =
            arena_strndup(t->arena, str_get(&set), set.len);
        return;
    }
    const char *name = full_name(t, &budgets[0]->meta);
    const struct guard *guard = budget_holds(verdict) ? guard_of(budgets[0], pod) : NULL;
    if (guard) { /* what a drain ends is in nobody's way before it has begun */
        if (sn->node->unschedulable)
            block(t, guard->code, name, arena_printf(t->arena, "budget %s: %s", name, guard->words),
                  1);
        return;
    }
    budget_explain(budgets[0], t->owners, &words);
    block(t, codes[verdict], name, arena_printf(t->arena, "budget %s: %s", name, str_get(&words)),
          1);
}

static bool is_true(const struct node *node, const char *type, int64_t *since) {
    const struct node_condition *c = node_condition_find(node->conditions, type);
    bool yes = c && str_same(c->c.status, "True");
    if (yes)
        *since = c->c.changed;
    return yes;
}

static bool is_drained(const struct node *node) {
    int64_t since;
    return node->unschedulable && is_true(node, "DrainInProgress", &since);
}

/* One that was asked to go, and does not. */
static void look_at_leaving(struct taking *t, struct survey_node *sn, const struct pod *pod) {
    /* deletionTimestamp is when the grace period ends. */
    bool late = t->now - pod->meta.deleted > SEC(STUCK_AFTER);
    char when[TIMEFMT_LEN];
    const char *name = full_name(t, &pod->meta);
    _cleanup_str_ struct str finalizers = STR_INIT;
    sn->leaving++;
    sn->stuck += late;
    if (node_is_lost(sn->node))
        return; /* which is why */
    pod_foreign_finalizers(pod, &finalizers);
    if (finalizers.len && (late || pod_finished(pod)))
        block(t, BLOCKER_FINALIZER_STUCK, name,
              arena_printf(t->arena, "pod %s is kept by the finalizer %s", name,
                           str_get(&finalizers)),
              1);
    else if (late)
        block(t, BLOCKER_TERMINATING_STUCK, name,
              arena_printf(t->arena, "pod %s should have stopped by %s", name,
                           time_format(pod->meta.deleted, false, when)),
              1);
}

/* A drain that has not come to it yet does not hang on it. */
static void look_at_finalizers(struct taking *t, const struct survey_node *sn,
                               const struct pod *pod) {
    _cleanup_str_ struct str names = STR_INIT;
    pod_foreign_finalizers(pod, &names);
    if (!names.len || is_drained(sn->node))
        return;
    const char *text = arena_strndup(t->arena, str_get(&names), names.len);
    block(t, BLOCKER_FINALIZER_STUCK, text,
          arena_printf(t->arena, "pods with the finalizer %s: a drain waits until it is taken off",
                       text),
          1);
}

/* What a drain that has begun waits for it tells itself: it may have other rules. */
static void look_at_marks(struct taking *t, const struct survey_node *sn, const struct pod *pod,
                          const struct rule_verdict *rule) {
    const char *name = full_name(t, &pod->meta);
    if (is_drained(sn->node))
        return;
    if (rule->action == RULE_HOLD)
        block(t, BLOCKER_DO_NOT_DISRUPT, name,
              arena_printf(t->arena, "pod %s is marked %s", name, rule->name), 1);
    else if (rule->action == RULE_WAIT)
        block(t, BLOCKER_JOB_RUNNING, name,
              arena_printf(t->arena, "pod %s shall finish by itself (%s)", name, rule->name), 1);
}

/* The pods of one owner are one blocker. */
static void look_at_returning(struct taking *t, const struct survey_node *sn,
                              const struct pod *pod) {
    if (!pod_may_return(pod) || is_drained(sn->node))
        return;
    const struct owner *o = meta_controller(&pod->meta);
    const char *object = arena_printf(t->arena, "%s/%s", strna(pod->meta.ns), strna(o->name));
    block(t, BLOCKER_RETURNS, object,
          arena_printf(t->arena, "pods of %s %s tolerate the cordon and may come back",
                       strna(o->kind), object),
          1);
}

static void look_at_pod(struct taking *t, struct survey_node *sn, const struct pod *pod) {
    enum pod_role role = pod_role(pod);
    struct rule_verdict rule;
    sn->pods++;
    if (!sn->rival)
        sn->rival = rival_of_pod(pod);
    if (role == POD_LEAVING || (role == POD_FINISHED && pod->meta.deleted)) {
        look_at_leaving(t, sn, pod);
        return;
    }
    rules_apply(t->rules, pod, &rule);
    if (rule.action == RULE_SKIP) {
        sn->stays++;
        return;
    }
    switch (role) {
    case POD_DAEMON:
    case POD_MIRROR:
        sn->stays++;
        return;
    case POD_FINISHED:
        sn->moves++;
        return;
    case POD_LEAVING:
        return;
    case POD_BARE:
        block(t, BLOCKER_BARE_POD, full_name(t, &pod->meta),
              arena_printf(t->arena, "pod %s has no controller", full_name(t, &pod->meta)), 1);
        break;
    case POD_MOVES:
        break;
    }
    sn->moves++;
    if (pod_has_local_data(pod))
        block(t, BLOCKER_LOCAL_STORAGE, "", "pods with emptyDir data", 1);
    look_at_marks(t, sn, pod, &rule);
    look_at_returning(t, sn, pod);
    look_at_finalizers(t, sn, pod);
    look_at_budgets(t, sn, pod);
}

static void look_at_health(struct survey_node *sn) {
    const struct node_condition *c = node_condition_find(sn->node->conditions, "Ready");
    sn->ready_reason = "";
    sn->ready = NODE_UNKNOWN;
    if (c) {
        sn->ready_since = c->c.changed;
        sn->ready_reason = strna(c->c.reason);
        if (str_same(c->c.status, "True"))
            sn->ready = NODE_READY;
        else if (str_same(c->c.status, "False"))
            sn->ready = NODE_NOT_READY;
    }
    if (sn->ready == NODE_READY)
        sn->ready_reason = "";
}

/* Once its pods are counted: one that does not answer keeps them, one that says that it is not well
 * may. Where none has to stop that is in nobody's way; its status shows it. */
static void tell_health(struct taking *t, const struct survey_node *sn) {
    const char *reason = sn->ready_reason;
    if (sn->ready == NODE_READY)
        return;
    if (node_is_lost(sn->node))
        block(t, BLOCKER_NODE_UNREACHABLE, "",
              arena_printf(t->arena, "the node does not answer%s%s", *reason ? ": " : "", reason),
              sn->moves + sn->leaving);
    else if (sn->moves + sn->leaving)
        block(t, BLOCKER_NODE_NOT_READY, "",
              arena_printf(t->arena, "the node is not Ready%s%s", *reason ? ": " : "", reason), 0);
}

/* What an admission webhook or policy refused the last drain of a node that is still cordoned:
 * nobody finds it by looking at objects. A drain at work tells it itself. */
static void look_at_end(struct taking *t, const struct survey_node *sn,
                        const struct object *const *pods, size_t n) {
    const struct condition *end = told_end(sn->node);
    for (size_t i = 0; i < n && end; i++) {
        const struct pod *pod = (const struct pod *)pods[i];
        if (pod->meta.deleted || !told_denied_pod(end, pod))
            continue;
        block(t, BLOCKER_ADMISSION_DENIED, full_name(t, &pod->meta),
              arena_printf(t->arena, "the last drain did not get through: %s", end->message), 1);
        t->blockers.p[t->blockers.len - 1].since = end->changed;
    }
}

bool survey_holds(const struct survey_blocker *b) {
    if (b->later)
        return false;
    if (b->code == BLOCKER_NODE_UNREACHABLE && !b->pods) /* nothing has to stop there */
        return b->told;
    return b->told || (b->code != BLOCKER_BARE_POD && b->code != BLOCKER_LOCAL_STORAGE &&
                       b->code != BLOCKER_NODE_NOT_READY);
}

/* As `why` tells apart what waits and what is blocked. */
static enum node_phase held_phase(enum blocker_code code) {
    return blocker_row(code)->clears_itself ? NODE_WAITING : NODE_BLOCKED;
}

/* Our controller sets the seed's mark with the cordon: what it does with the node the conditions
 * say, as long as the node is there. */
static bool is_marked(const struct survey_node *sn) {
    return str_same(map_get(sn->node->meta.annotations, SEED_MARK_KEY), SEED_MARK_VALUE) &&
           (sn->cordon.owner != CORDON_SLIPWAY || sn->ready != NODE_READY);
}

static void set_rebooting(struct survey_node *sn) {
    sn->phase = NODE_REBOOTING;
    sn->phase_since = sn->ready == NODE_READY ? sn->cordon.since : sn->ready_since;
}

bool survey_is_marked(const struct node *node) {
    return str_same(map_get(node->meta.annotations, NEEDED_MARK), "true");
}

static void look_at_phase(struct survey_node *sn) {
    const struct node *node = sn->node;
    sn->needs_reboot = survey_is_marked(node);
    sn->next_mark = next_marked_by(node, NEXT_OF_DRAIN);
    const struct rival_row *rival = rival_on_node(node);
    if (rival)
        sn->rival = rival;
    if (is_marked(sn) || (rival && rival->reboots)) {
        set_rebooting(sn);
        return;
    }
    if (!node->unschedulable) /* what its conditions say is of an earlier time */
        return;
    if (is_true(node, "DrainInProgress", &sn->phase_since)) {
        sn->phase = NODE_DRAINING;
        sn->heard = MAX_OF(sn->heard, sn->phase_since);
        for (size_t i = 0; i < sn->n_blockers; i++)
            if (survey_holds(&sn->blockers[i]))
                sn->phase = MAX_OF(sn->phase, held_phase(sn->blockers[i].code));
    } else if (is_true(node, "Drained", &sn->phase_since)) {
        sn->phase = NODE_DRAINED;
    } else {
        sn->phase = NODE_CORDONED;
        sn->phase_since = sn->cordon.since;
    }
}

enum severity survey_severity(const struct survey_blocker *b) {
    return b->denied ? SEVERITY_ERROR : blocker_row(b->code)->severity;
}

/* Errors before warnings, then by code, then what holds more pods, then by name. */
static int compare_blockers(const void *a, const void *b) {
    const struct survey_blocker *x = a, *y = b;
    int sx = (int)survey_severity(x), sy = (int)survey_severity(y);
    if (sx != sy)
        return sy - sx;
    if (x->code != y->code)
        return (int)x->code - (int)y->code;
    if (x->pods != y->pods)
        return x->pods < y->pods ? 1 : -1;
    return strcmp(x->object, y->object);
}

static void keep_blockers(struct arena *arena, struct survey_blocker *list, size_t n,
                          struct survey_node *sn) {
    if (!n)
        return;
    qsort(list, n, sizeof *list, compare_blockers);
    struct survey_blocker *copy = arena_alloc(arena, n * sizeof *copy);
    memcpy(copy, list, n * sizeof *copy);
    sn->blockers = copy;
    sn->n_blockers = n;
}

static void look_at_node(struct taking *t, struct survey_node *sn, const struct store *pods,
                         unsigned by_node) {
    size_t n;
    struct store_key key = {sn->node->meta.name, NULL};
    t->blockers.len = 0;
    look_at_health(sn);
    cordon_of(sn->node, t->arena, &sn->cordon);
    cordon_judge(sn->node, t->now, &sn->cordon);
    const struct object *const *list = store_find(pods, by_node, key, &n);
    for (size_t i = 0; i < n; i++)
        look_at_pod(t, sn, (const struct pod *)list[i]);
    tell_health(t, sn);
    look_at_end(t, sn, list, n);
    keep_blockers(t->arena, t->blockers.p, t->blockers.len, sn);
    look_at_phase(sn);
}

void survey_take(const struct store *nodes, const struct store *pods, unsigned by_node,
                 struct pdbs *pdbs, struct budget_owners *owners, survey_filter *filter,
                 void *filter_arg, int64_t now, struct arena *arena, struct survey *out) {
    size_t n, kept = 0;
    const struct object **sorted = store_sorted(nodes, &n);
    struct taking t = {
        .pdbs = pdbs, .owners = owners, .rules = rules_new(), .arena = arena, .now = now};
    struct survey_node *list = arena_alloc(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        const struct node *node = (const struct node *)sorted[i];
        if (filter && !filter(filter_arg, node))
            continue;
        list[kept].node = node;
        look_at_node(&t, &list[kept++], pods, by_node);
    }
    vec_done(&t.blockers);
    rules_free(t.rules);
    free(sorted);
    *out = (struct survey){.nodes = list, .n = kept, .now = now};
}

/* --- whose lock they are in --- */

static int by_node_name(const void *name, const void *row) {
    return strcmp(name, ((const struct survey_node *)row)->node->meta.name);
}

static void on_lock(void *arg, const char *node, const struct rival_row *rival) {
    const struct survey *s = arg;
    struct survey_node *sn =
        s->n ? bsearch(node, s->nodes, s->n, sizeof *s->nodes, by_node_name) : NULL;
    if (!sn)
        return;
    sn->rival = sn->rival ? sn->rival : rival;
    if (rival->reboots)
        set_rebooting(sn);
}

void survey_locks(struct survey *s, const struct store *locks) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(locks, &i));)
        rival_locks((const struct kured_lock *)obj, s->now, on_lock, s);
}

/* --- what owners say --- */

static void add_blocker(struct survey_node *sn, struct survey_blocker b, struct arena *arena) {
    struct survey_blocker *list = arena_alloc(arena, (sn->n_blockers + 1) * sizeof *list);
    for (size_t i = 0; i < sn->n_blockers; i++) {
        list[i] = sn->blockers[i];
        if (list[i].code != b.code || !streq(list[i].object, b.object))
            continue;
        return; /* it is known */
    }
    list[sn->n_blockers] = b;
    keep_blockers(arena, list, sn->n_blockers + 1, sn);
}

/* The same, of one pod more. */
static void count_pod(struct survey_node *sn, struct survey_blocker b, struct arena *arena) {
    for (size_t i = 0; i < sn->n_blockers; i++)
        if (sn->blockers[i].code == b.code && streq(sn->blockers[i].object, b.object)) {
            struct survey_blocker *copy = arena_alloc(arena, sn->n_blockers * sizeof *copy);
            memcpy(copy, sn->blockers, sn->n_blockers * sizeof *copy);
            copy[i].pods++;
            sn->blockers = copy;
            return;
        }
    add_blocker(sn, b, arena);
}

/* The pods of one owner are one blocker. */
static void pin(struct survey_node *sn, const struct pod *pod, struct arena *arena) {
    const struct owner *o = meta_controller(&pod->meta);
    const char *object = arena_printf(arena, "%s/%s", strna(pod->meta.ns), strna(o->name));
    struct survey_blocker b = {
        .code = BLOCKER_PINNED,
        .object = object,
        .message = arena_printf(arena, "the template of %s %s names the node: its pods come back",
                                strna(o->kind), object),
        .pods = 1,
    };
    count_pod(sn, b, arena);
}

void survey_lacks(struct survey *s, bool pods, bool budgets) {
    s->no_pods = pods;
    s->no_budgets = budgets;
    for (size_t i = 0; i < s->n; i++)
        s->nodes[i].no_pods = pods;
}

void survey_pins(struct survey *s, const struct store *pods, unsigned by_node,
                 const struct store *replica_sets, const struct store *stateful_sets,
                 struct arena *arena) {
    for (size_t i = 0; i < s->n; i++) {
        struct survey_node *sn = &s->nodes[i];
        size_t n;
        const struct object *const *list =
            store_find(pods, by_node, (struct store_key){sn->node->meta.name, NULL}, &n);
        bool any = false;
        for (size_t k = 0; k < n; k++) {
            const struct pod *pod = (const struct pod *)list[k];
            const char *to =
                pod_role(pod) == POD_MOVES ? pod_pinned_to(pod, replica_sets, stateful_sets) : NULL;
            if (!to || !str_same(to, sn->node->meta.name))
                continue;
            pin(sn, pod, arena);
            any = true;
        }
        if (any)
            look_at_phase(sn);
    }
}

/* --- what namespaces say --- */

static bool is_terminating(const struct store *namespaces, const char *ns) {
    const struct ns *o = (const struct ns *)store_get(namespaces, NULL, strna(ns));
    return o && (o->meta.deleted || str_same(o->phase, "Terminating"));
}

void survey_namespaces(struct survey *s, const struct store *pods, unsigned by_node,
                       const struct store *namespaces, struct arena *arena) {
    for (size_t i = 0; i < s->n; i++) {
        struct survey_node *sn = &s->nodes[i];
        size_t n;
        const struct object *const *list =
            store_find(pods, by_node, (struct store_key){sn->node->meta.name, NULL}, &n);
        bool any = false;
        for (size_t k = 0; k < n; k++) {
            const struct pod *pod = (const struct pod *)list[k];
            enum pod_role role = pod_role(pod);
            if ((role != POD_MOVES && role != POD_BARE) ||
                !is_terminating(namespaces, pod->meta.ns))
                continue;
            count_pod(sn,
                      (struct survey_blocker){.code = BLOCKER_NAMESPACE_TERMINATING,
                                              .object = strna(pod->meta.ns),
                                              .message = "the namespace is being deleted: its pods "
                                                         "go with it, and are not evicted",
                                              .pods = 1},
                      arena);
            any = true;
        }
        if (any)
            look_at_phase(sn);
    }
}

/* --- what drains have told --- */

bool survey_drains(const struct survey *s) {
    for (size_t i = 0; i < s->n; i++)
        if (node_phase_drains(s->nodes[i].phase))
            return true;
    return false;
}

bool survey_wants_events(const struct survey *s) {
    for (size_t i = 0; i < s->n; i++)
        if (s->nodes[i].next_mark)
            return true;
    return survey_drains(s);
}

static struct survey_blocker blocker_told(const struct told *t, struct arena *arena) {
    return (struct survey_blocker){.code = t->code,
                                   .object = arena_strndup(arena, t->object.p, t->object.len),
                                   .message = t->message,
                                   .pods = 1,
                                   .since = t->since,
                                   .told = true};
}

/* What can be seen without a drain is seen; of that only since when it is in the way is news. */
static bool is_seen(enum blocker_code code) {
    switch (code) {
    case BLOCKER_MULTIPLE_PDBS:
    case BLOCKER_PDB_UNSATISFIABLE:
    case BLOCKER_PDB_SYNC_FAILED:
    case BLOCKER_PDB_NO_BUDGET:
    case BLOCKER_BARE_POD:
    case BLOCKER_LOCAL_STORAGE:
    case BLOCKER_TERMINATING_STUCK:
    case BLOCKER_FINALIZER_STUCK:
    case BLOCKER_NODE_NOT_READY:
    case BLOCKER_NODE_UNREACHABLE:
        return true;
    default:
        return false;
    }
}

/* It is seen as well, under the name of its owner or namespace, if these may be read. */
static bool is_listed(const struct survey_node *sn, enum blocker_code code) {
    bool shared = code == BLOCKER_PINNED || code == BLOCKER_NAMESPACE_TERMINATING;
    for (size_t i = 0; shared && i < sn->n_blockers; i++)
        if (sn->blockers[i].code == code)
            return true;
    return false;
}

size_t survey_told(const struct store *events, const struct node *node, int64_t since,
                   struct arena *arena, const struct survey_blocker **out) {
    VEC(struct survey_blocker) list = VEC_INIT;
    const struct object *obj;
    struct told said;
    for (uint32_t i = 0; (obj = store_next(events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        if (told_about(e, node, REASON_DRAIN_BLOCKED) && told_last(e) >= since &&
            told_parse(e, &said) && !told_over(events, node, &said))
            *vec_push(&list) = blocker_told(&said, arena);
    }
    size_t n = list.len;
    struct survey_blocker *kept = arena_alloc(arena, (n + 1) * sizeof *kept);
    if (n)
        memcpy(kept, list.p, n * sizeof *kept);
    *out = kept;
    vec_done(&list);
    return n;
}

/* When its drain was last heard of. */
static void hear(struct survey_node *sn, const struct store *events) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        if (str_same(e->object.kind, "Node") && str_same(e->object.name, sn->node->meta.name) &&
            str_starts(strna(e->reason), "Drain"))
            sn->heard = MAX_OF(sn->heard, told_last(e));
    }
}

static void tell_node(struct survey_node *sn, const struct store *events, struct arena *arena) {
    VEC(struct survey_blocker) list = VEC_INIT;
    const struct survey_blocker *told;
    size_t n = survey_told(events, sn->node, sn->phase_since, arena, &told);
    hear(sn, events);
    for (size_t i = 0; i < sn->n_blockers; i++)
        *vec_push(&list) = sn->blockers[i];
    for (size_t i = 0; i < n; i++) {
        struct survey_blocker *same = NULL;
        for (size_t k = 0; k < list.len && !same; k++)
            if (list.p[k].code == told[i].code && streq(list.p[k].object, told[i].object))
                same = &list.p[k];
        if (same) {
            same->since = same->since ? MIN_OF(same->since, told[i].since) : told[i].since;
            same->told = true;
        } else if (!is_seen(told[i].code) && !is_listed(sn, told[i].code)) {
            *vec_push(&list) = told[i];
        }
    }
    keep_blockers(arena, list.p, list.len, sn);
    look_at_phase(sn);
    vec_done(&list);
}

/* A node that is not cordoned yet has no condition that tells of its drain. The mark says that one
 * is to come to it, and the last that was heard of it is that it is held up: by whom, since when.
 */
static void tell_waiting(struct survey_node *sn, const struct store *events, struct arena *arena) {
    const struct object *obj;
    struct told said;
    hear(sn, events);
    for (uint32_t i = 0; (obj = store_next(events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        if (!told_about(e, sn->node, REASON_DRAIN_BLOCKED) || told_last(e) < sn->heard ||
            !told_parse(e, &said) || told_over(events, sn->node, &said))
            continue;
        struct survey_blocker b = blocker_told(&said, arena);
        b.pods = 0; /* it is the node that waits */
        add_blocker(sn, b, arena);
        sn->phase = MAX_OF(sn->phase, held_phase(said.code));
        sn->phase_since = said.since;
        sn->waits_for_it = str_empty(e->instance) ? "somebody" : e->instance;
    }
}

void survey_tell(struct survey *s, const struct store *events, struct arena *arena) {
    for (size_t i = 0; i < s->n; i++)
        if (node_phase_drains(s->nodes[i].phase))
            tell_node(&s->nodes[i], events, arena);
        else if (s->nodes[i].phase == NODE_IDLE && s->nodes[i].next_mark)
            tell_waiting(&s->nodes[i], events, arena);
}

/* --- what checks say --- */

static struct survey_blocker blocker_of(const struct check_finding *f, struct arena *arena) {
    return (struct survey_blocker){
        .code = f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code,
        .object = !f->name           ? ""
                  : str_empty(f->ns) ? f->name
                                     : arena_printf(arena, "%s/%s", f->ns, f->name),
        .message = arena_printf(arena, "%s: %s", f->check->name, f->evidence),
    };
}

static bool is_out(const struct survey_node *sn) {
    return sn->phase != NODE_IDLE && !sn->waits_for_it;
}

static bool says_so(const struct survey_node *sn, const struct check_finding *f) {
    bool out = is_out(sn);
    return f->verdict != CHECK_PASS && f->when & (out ? CHECK_OPERATION : CHECK_CORDON);
}

static struct survey_node *node_of(const struct survey *s, const char *name) {
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        int c = strcmp(s->nodes[middle].node->meta.name, strna(name));
        if (!c)
            return &s->nodes[middle];
        if (c < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

void survey_check(struct survey *s, const struct checks *found, struct arena *arena) {
    for (size_t i = 0; i < found->n; i++) {
        const struct check_finding *f = &found->list[i];
        struct survey_node *sn = node_of(s, f->node);
        if (!sn || !says_so(sn, f))
            continue;
        struct survey_blocker b = blocker_of(f, arena);
        /* A drain asks when the pods are gone, and is not held up by what denies the rest. */
        b.denied = f->verdict == CHECK_DENY && !is_out(sn);
        b.later = is_out(sn) && (f->verdict == CHECK_DENY || sn->moves || sn->leaving);
        add_blocker(sn, b, arena);
        if (is_out(sn))
            look_at_phase(sn);
    }
}
