/* What would block a drain somewhere: one pass over the pods, then a report by cause. */
#include "engine/lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/attached.h"
#include "engine/budget.h"
#include "engine/guard.h"
#include "engine/lint_internal.h"
#include "engine/maker.h"
#include "engine/moveout.h"
#include "engine/podrole.h"
#include "engine/rules.h"

enum {
    /* As a drain counts (engine/drain_pod.c): kubelets report within 10 s or so. */
    STUCK_AFTER = POD_STUCK_AFTER,
};

/* --- tables --- */

static const struct lint_row rows[] = {
    [LINT_MAX_ZERO] = {"max-unavailable-zero", LINT_NEVER, BLOCKER_PDB_UNSATISFIABLE,
                       "budget allows no disruption: maxUnavailable 0",
                       "budgets allow no disruption: maxUnavailable 0"},
    [LINT_SINGLE] = {"single-replica", LINT_NEVER, BLOCKER_PDB_UNSATISFIABLE,
                     "budget needs the only replica that there is",
                     "budgets need the only replica that there is"},
    [LINT_MIN_ALL] = {"min-available-all", LINT_NEVER, BLOCKER_PDB_UNSATISFIABLE,
                      "budget needs all replicas that there are",
                      "budgets need all replicas that there are"},
    [LINT_UNCOUNTED] = {"counts-no-pods", LINT_NEVER, BLOCKER_PDB_UNSATISFIABLE,
                        "budget counts none of its pods, which have no controller, and so allows "
                        "nothing",
                        "budgets count none of their pods, which have no controller, and so allow "
                        "nothing"},
    [LINT_SYNC_FAILED] = {"budget-not-computed", LINT_NEVER, BLOCKER_PDB_SYNC_FAILED,
                          "budget cannot be computed by its controller",
                          "budgets cannot be computed by their controller"},
    [LINT_OVERLAP] = {"overlapping-budgets", LINT_NEVER, BLOCKER_MULTIPLE_PDBS,
                      "set of budgets overlaps: the server evicts none of the pods in common",
                      "sets of budgets overlap: the server evicts none of the pods in common"},
    [LINT_DRY] = {"budget-runs-dry", LINT_NEVER, BLOCKER_PDB_NO_BUDGET,
                  "budget runs dry during a drain: replacements find no room and stay Pending",
                  "budgets run dry during a drain: replacements find no room and stay Pending"},
    [LINT_LOST] = {"node-unreachable", LINT_WAITS, BLOCKER_NODE_UNREACHABLE,
                   "node does not answer: nobody can tell whether its pods stop",
                   "nodes do not answer: nobody can tell whether their pods stop"},
    [LINT_PINNED] = {"pinned", LINT_NEVER, BLOCKER_PINNED,
                     "workload names a node in its template: its pods are put back there",
                     "workloads name a node in their template: their pods are put back there"},
    [LINT_BARE] = {"bare-pod", LINT_REFUSED, BLOCKER_BARE_POD,
                   "pod has no controller: nothing brings it back",
                   "pods have no controller: nothing brings them back"},
    [LINT_EMPTY_DIR] = {"empty-dir", LINT_REFUSED, BLOCKER_LOCAL_STORAGE,
                        "workload has emptyDir data, which is lost when a pod goes",
                        "workloads have emptyDir data, which is lost when a pod goes"},
    [LINT_CHANCE] = {"budget-may-run-dry", LINT_WAITS, BLOCKER_PDB_NO_BUDGET,
                     "budget may run dry during a drain: who gets the last places is chance",
                     "budgets may run dry during a drain: who gets the last places is chance"},
    [LINT_UNREAD] = {"room-unknown", LINT_WAITS, BLOCKER_FORBIDDEN,
                     "workload has volumes that cannot be looked at: whether there is room is not "
                     "known",
                     "workloads have volumes that cannot be looked at: whether there is room is "
                     "not known"},
    [LINT_DOUBT] = {"replacement-unknown", LINT_WAITS, BLOCKER_ROOM_UNKNOWN,
                    "workload makes something else of its pods, or maybe nothing: what comes in "
                    "their place is not known",
                    "workloads make something else of their pods, or maybe nothing: what comes in "
                    "their place is not known"},
    [LINT_UNHEALTHY] = {"unhealthy-held", LINT_WAITS, BLOCKER_PDB_NO_BUDGET,
                        "budget keeps pods that are not ready anyway",
                        "budgets keep pods that are not ready anyway"},
    [LINT_SHORT] = {"nothing-to-spare", LINT_WAITS, BLOCKER_PDB_NO_BUDGET,
                    "budget has nothing to spare now, since some of its pods are not ready",
                    "budgets have nothing to spare now, since some of their pods are not ready"},
    [LINT_MARK] = {"do-not-disrupt", LINT_WAITS, BLOCKER_DO_NOT_DISRUPT,
                   "pod is marked as not to be evicted", "pods are marked as not to be evicted"},
    [LINT_JOB] = {"wait-completed", LINT_WAITS, BLOCKER_JOB_RUNNING,
                  "pod is marked as to be waited for until it has finished",
                  "pods are marked as to be waited for until they have finished"},
    [LINT_NAMESPACE] = {"namespace-terminating", LINT_WAITS, BLOCKER_NAMESPACE_TERMINATING,
                        "namespace is being deleted: its pods go with it, they are not evicted",
                        "namespaces are being deleted: their pods go with them, they are not "
                        "evicted"},
    [LINT_STUCK] = {"terminating-stuck", LINT_WAITS, BLOCKER_TERMINATING_STUCK,
                    "pod should have stopped long ago and still terminates",
                    "pods should have stopped long ago and still terminate"},
    [LINT_HELD] = {"finalizer-stuck", LINT_WAITS, BLOCKER_FINALIZER_STUCK,
                   "pod was asked to go, and a finalizer keeps it",
                   "pods were asked to go, and a finalizer keeps them"},
    [LINT_FINALIZER] = {"finalizer", LINT_WAITS, BLOCKER_FINALIZER_STUCK,
                        "workload has pods with a finalizer: a drain waits until that is taken off",
                        "workloads have pods with a finalizer: a drain waits until that is taken "
                        "off"},
    [LINT_ATTACHED] = {"volume-still-attached", LINT_WAITS, BLOCKER_VOLUME_ATTACHED,
                       "node has volumes that no pod there uses, and that do not get off it",
                       "nodes have volumes that no pod there uses, and that do not get off them"},
    [LINT_ORDERED] = {"ordered-stuck", LINT_DOWN, BLOCKER_NOT_RESCHEDULED,
                      "StatefulSet makes no pod anew before an earlier one is ready",
                      "StatefulSets make no pod anew before an earlier one is ready"},
    [LINT_NO_ROOM] = {"no-room", LINT_DOWN, BLOCKER_NO_ROOM,
                      "workload finds no room elsewhere: evicted, its pods stay Pending",
                      "workloads find no room elsewhere: evicted, their pods stay Pending"},
    [LINT_JOB_FAILS] = {"job-would-fail", LINT_DOWN, BLOCKER_JOB_WOULD_FAIL,
                        "Job fails for good when a drain evicts its pods",
                        "Jobs fail for good when a drain evicts their pods"},
    [LINT_UNMADE] = {"replacement-refused", LINT_DOWN, BLOCKER_REPLACEMENT_REFUSED,
                     "workload cannot make its pods again: evicted, they are gone",
                     "workloads cannot make their pods again: evicted, they are gone"},
    [LINT_LOCAL] = {"local-volume", LINT_DOWN, BLOCKER_LOCAL_PV,
                    "workload has its data on a disk of the node: its pods stay Pending until the "
                    "node is back",
                    "workloads have their data on a disk of the node: their pods stay Pending "
                    "until the node is back"},
    [LINT_RETURNS] = {"tolerates-cordon", LINT_WAITS, BLOCKER_RETURNS,
                      "workload tolerates cordons: its pods may come back to the node",
                      "workloads tolerate cordons: their pods may come back to the node"},
    [LINT_SCHEDULER] = {"other-scheduler", LINT_REMARK, BLOCKER_OTHER_SCHEDULER,
                        "workload has a scheduler of its own: whether there is room is not known",
                        "workloads have a scheduler of their own: whether there is room is not "
                        "known"},
    [LINT_BEYOND] = {"not-judged", LINT_REMARK, BLOCKER_ROOM_UNKNOWN,
                     "workload asks for something that is not looked at: whether there is room is "
                     "not known",
                     "workloads ask for something that is not looked at: whether there is room is "
                     "not known"},
    [LINT_GUARD] = {"operator-guard", LINT_REMARK, WHY_NO_CODE,
                    "budget is an operator's own: it lets go by itself when a node is cordoned and "
                    "its data is safe",
                    "budgets are operators' own: they let go by themselves when a node is cordoned "
                    "and their data is safe"},
    [LINT_NOTHING] = {"selects-nothing", LINT_REMARK, WHY_NO_CODE,
                      "budget selects no pod, and so guards nothing",
                      "budgets select no pod, and so guard nothing"},
};

const struct lint_row *lint_row(enum lint_cause cause) {
    return &rows[cause];
}

enum severity lint_severity(enum lint_cause cause) {
    const struct lint_row *row = &rows[cause];
    if (row->effect == LINT_REMARK || row->code == WHY_NO_CODE)
        return SEVERITY_INFO;
    enum severity own = blocker_row((enum blocker_code)row->code)->severity;
    return row->effect == LINT_NEVER ? SEVERITY_ERROR : own;
}

const char *lint_effect_word(enum lint_effect effect) {
    static const char *const words[] = {[LINT_NEVER] = "never",
                                        [LINT_REFUSED] = "refused",
                                        [LINT_WAITS] = "waits",
                                        [LINT_DOWN] = "down",
                                        [LINT_REMARK] = "remark"};
    return words[effect];
}

/* --- collecting --- */

static uint32_t hash_of(enum lint_cause cause, const void *key) {
    return hash_more(hash_bytes(&key, sizeof key), &cause, sizeof cause);
}

static uint32_t bucket_hash(const void *entry) {
    const struct bucket *b = entry;
    return hash_of(b->cause, b->key);
}

static bool bucket_equal(const void *entry, const void *key) {
    const struct bucket *a = entry, *b = key;
    return a->cause == b->cause && a->key == b->key && a->n_pdbs == b->n_pdbs &&
           (!a->n_pdbs || memcmp(a->pdbs, b->pdbs, a->n_pdbs * sizeof *a->pdbs) == 0);
}

static const struct htab_ops bucket_ops = {bucket_hash, bucket_equal};

static uint32_t pointer_hash(const void *entry) {
    return hash_bytes(&entry, sizeof entry);
}

static bool pointer_equal(const void *entry, const void *key) {
    return entry == key;
}

static const struct htab_ops pointer_ops = {pointer_hash, pointer_equal};

struct bucket *lint_note(struct linting *l, enum lint_cause cause, const void *key,
                         const struct pod *pod, const struct pdb *const *pdbs, size_t n_pdbs) {
    struct bucket probe = {.cause = cause, .key = key, .pdbs = pdbs, .n_pdbs = n_pdbs};
    struct bucket *b = htab_find(&l->buckets, hash_of(cause, key), &probe);
    if (!b) {
        b = xnew(struct bucket);
        *b = probe;
        htab_insert(&l->buckets, b);
        *vec_push(&l->list) = b;
        if (pod)
            lint_owner_of(l, pod, &b->owner);
    }
    if (pod)
        *vec_push(&b->pods) = pod;
    return b;
}

static int32_t count_or_one(int32_t replicas) {
    return replicas == ABSENT32 ? 1 : replicas;
}

const char *lint_doubt(const struct linting *l, const struct pod *pod) {
    const struct lint_input *in = l->in;
    struct maker maker = maker_find(pod, in->replica_sets, in->stateful_sets, in->jobs);
    return maker_doubt(l->arena, pod, &maker);
}

static const void *find(const struct store *store, const char *ns, const char *name) {
    return store ? store_get(store, ns, name) : NULL;
}

/* Every owner that a server has written down has a uid. */
static const void *key_of(const struct owner *o) {
    return o->uid ? o->uid : o->name;
}

static void own_by_set(struct lint_owner *out, const struct stateful_set *s) {
    out->resource = "statefulset";
    out->replicas = count_or_one(s->replicas);
    out->template = s->template;
    out->pinned = s->template ? s->template->spec.node_name : NULL;
    out->set = s;
}

static void own_by_replicas(const struct linting *l, struct lint_owner *out,
                            const struct replica_set *r) {
    const struct owner *up = meta_controller(&r->meta);
    out->pinned = r->template ? r->template->spec.node_name : NULL;
    if (!up) {
        out->resource = "replicaset";
        out->replicas = count_or_one(r->replicas);
        return;
    }
    const struct deployment *d =
        str_same(up->kind, "Deployment") ? find(l->in->deployments, r->meta.ns, up->name) : NULL;
    out->kind = strna(up->kind);
    out->name = strna(up->name);
    out->key = key_of(up);
    if (!d)
        return;
    out->resource = "deployment";
    out->replicas = count_or_one(d->replicas);
    out->template = d->template;
}

void lint_owner_of(const struct linting *l, const struct pod *pod, struct lint_owner *out) {
    const struct owner *o = meta_controller(&pod->meta);
    *out = (struct lint_owner){.kind = kind_pod.name, .name = pod->meta.name, .key = pod};
    if (!o)
        return;
    *out = (struct lint_owner){.kind = strna(o->kind), .name = strna(o->name), .key = key_of(o)};
    if (!str_same(o->api_version, "apps/v1"))
        return;
    const struct stateful_set *s =
        streq(out->kind, "StatefulSet") ? find(l->in->stateful_sets, pod->meta.ns, o->name) : NULL;
    const struct replica_set *r =
        streq(out->kind, "ReplicaSet") ? find(l->in->replica_sets, pod->meta.ns, o->name) : NULL;
    if (s)
        own_by_set(out, s);
    if (r)
        own_by_replicas(l, out, r);
}

/* --- one pod --- */

static void note_own(struct linting *l, enum lint_cause cause, const struct pod *pod,
                     const struct lint_owner *owner) {
    lint_note(l, cause, owner->key, pod, NULL, 0);
}

/* Which of the reasons for "never" it is: each has another fix. */
static enum lint_cause never_cause(const struct pdb *pdb) {
    const struct intstr *max = &pdb->max_unavailable;
    if (max->set && (max->is_str ? strtol(strna(max->str), NULL, 10) == 0 : max->val <= 0))
        return LINT_MAX_ZERO;
    if (budget_uncounted(pdb))
        return LINT_UNCOUNTED;
    return pdb->expected == 1 ? LINT_SINGLE : LINT_MIN_ALL;
}

static void look_at_budgets(struct linting *l, const struct pod *pod, const struct pdb *const *pdbs,
                            size_t n) {
    enum lint_cause cause;
    enum budget_verdict verdict = budget_for_pod(pod, pdbs, n, &l->budget_owners);
    if (budget_holds(verdict) && guard_of_pod(pod, pdbs, n)) {
        lint_note(l, LINT_GUARD, pdbs[0], pod, pdbs, n);
        return;
    }
    switch (verdict) {
    case BUDGET_MULTIPLE:
        cause = LINT_OVERLAP;
        break;
    case BUDGET_NEVER:
        cause = never_cause(pdbs[0]);
        break;
    case BUDGET_FAILED:
        cause = LINT_SYNC_FAILED;
        break;
    case BUDGET_WAITS:
        cause = pod_ready(pod) ? LINT_SHORT : LINT_UNHEALTHY;
        break;
    default:
        return;
    }
    lint_note(l, cause, pdbs[0], pod, pdbs, n);
}

const struct ns *lint_terminating(const struct linting *l, const struct pod *pod) {
    const struct ns *ns = find(l->in->namespaces, NULL, pod->meta.ns);
    return ns && (ns->meta.deleted || str_same(ns->phase, "Terminating")) ? ns : NULL;
}

void lint_set_unmade(struct linting *l, const struct pod *pod) {
    htab_insert(&l->unmade, (void *)pod);
}

bool lint_is_unmade(const struct linting *l, const struct pod *pod) {
    return htab_find(&l->unmade, pointer_hash(pod), pod) != NULL;
}

/* Whether a volume of it is on a disk of its node. */
static bool local_volume(const struct linting *l, const struct pod *pod) {
    const struct volume *list = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; list && i < list_len(list); i++) {
        const struct pvc *claim =
            list[i].claim ? find(l->in->claims, pod->meta.ns, list[i].claim->claim) : NULL;
        const struct pv *pv =
            claim && claim->volume_name ? find(l->in->volumes, NULL, claim->volume_name) : NULL;
        if (pv && volume_is_local(pv))
            return true;
    }
    return false;
}

bool lint_on_disk(const struct linting *l, const struct pod *pod) {
    return guard_is_on_disk(pod) || local_volume(l, pod);
}

static bool has_foreign_finalizer(const struct pod *pod) {
    _cleanup_str_ struct str names = STR_INIT;
    if (list_len(pod->meta.finalizers))
        pod_foreign_finalizers(pod, &names);
    return names.len > 0;
}

/* One that was asked to go, and does not. Of a node that does not answer that is no news. */
static void look_at_leaving(struct linting *l, const struct pod *pod) {
    /* deletionTimestamp is when the grace period ends. */
    bool late = l->in->now - pod->meta.deleted > SEC(STUCK_AFTER);
    if (node_is_lost(find(l->in->nodes, NULL, pod->node_name)))
        return;
    if (has_foreign_finalizer(pod) && (late || pod_finished(pod)))
        lint_note(l, LINT_HELD, pod, pod, NULL, 0);
    else if (late)
        lint_note(l, LINT_STUCK, pod, pod, NULL, 0);
}

/* Of a pod that a drain would ask to go. */
static void look_at_going(struct linting *l, const struct pod *pod, const struct pdb *const *pdbs,
                          size_t n_pdbs) {
    struct rule_verdict rule;
    struct lint_owner owner;
    const char *doubt;
    rules_apply(l->rules, pod, &rule);
    if (rule.action == RULE_SKIP)
        return;
    lint_owner_of(l, pod, &owner);
    if (rule.action == RULE_HOLD)
        lint_note(l, LINT_MARK, pod, pod, NULL, 0);
    if (rule.action == RULE_WAIT)
        lint_note(l, LINT_JOB, pod, pod, NULL, 0);
    if (pod_role(pod) == POD_BARE) {
        note_own(l, LINT_BARE, pod, &owner);
        *vec_push(&l->force) = pod->node_name;
    }
    if (pod_has_local_data(pod)) {
        note_own(l, LINT_EMPTY_DIR, pod, &owner);
        *vec_push(&l->empty_dir) = pod->node_name;
    }
    if (owner.pinned && str_same(owner.pinned, pod->node_name))
        note_own(l, LINT_PINNED, pod, &owner);
    else if (pod_may_return(pod))
        note_own(l, LINT_RETURNS, pod, &owner);
    const struct ns *ns = lint_terminating(l, pod);
    if (ns)
        lint_note(l, LINT_NAMESPACE, ns, pod, NULL, 0);
    if (pod_role(pod) == POD_MOVES && lint_on_disk(l, pod)) /* another is not made again */
        note_own(l, LINT_LOCAL, pod, &owner);
    if (pod_role(pod) == POD_MOVES && moveout_placed_by_other(pod))
        note_own(l, LINT_SCHEDULER, pod, &owner);
    else if (pod_role(pod) == POD_MOVES && moveout_beyond(pod))
        note_own(l, LINT_BEYOND, pod, &owner);
    else if (pod_role(pod) == POD_MOVES && (doubt = lint_doubt(l, pod)))
        lint_note(l, LINT_DOUBT, owner.key, pod, NULL, 0)->why = doubt;
    if (has_foreign_finalizer(pod))
        note_own(l, LINT_FINALIZER, pod, &owner);
    look_at_budgets(l, pod, pdbs, n_pdbs);
}

/* All pods of a set that may be stuck are collected, wherever they are; lint_tell() looks at their
 * order. */
static void look_at_set(struct linting *l, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || !str_same(o->kind, "StatefulSet"))
        return;
    const struct stateful_set *s = find(l->in->stateful_sets, pod->meta.ns, o->name);
    if (s && !str_same(s->pod_management, "Parallel") && s->ready < count_or_one(s->replicas))
        lint_note(l, LINT_ORDERED, key_of(o), pod, NULL, 0);
}

static void look_at_pod(struct linting *l, const struct pod *pod) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(l->in->pdbs, pod, &n);
    for (size_t i = 0; i < n; i++)
        if (!htab_find(&l->selected, pointer_hash(pdbs[i]), pdbs[i]))
            htab_insert(&l->selected, (void *)pdbs[i]);
    look_at_set(l, pod);
    if (!pod->node_name)
        return;
    switch (pod_role(pod)) {
    case POD_MOVES:
    case POD_BARE:
        look_at_going(l, pod, pdbs, n);
        return;
    case POD_LEAVING:
        look_at_leaving(l, pod);
        return;
    case POD_FINISHED:
        if (pod->meta.deleted)
            look_at_leaving(l, pod);
        return;
    case POD_DAEMON:
    case POD_MIRROR:
        return;
    }
}

/* What an operator keeps for later selects nothing most of the time, and rightly so: budgets with a
 * controller (Rook, CloudNativePG), and those of Zalando's operator for critical operations. */
static bool is_kept_for_later(const struct pdb *pdb) {
    return list_len(pdb->meta.owners) || str_ends(strna(pdb->meta.name), "-critical-op-pdb");
}

static void look_at_idle_budgets(struct linting *l) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(l->in->budgets, &i));) {
        const struct pdb *pdb = (const struct pdb *)obj;
        if (htab_find(&l->selected, pointer_hash(pdb), pdb) || is_kept_for_later(pdb))
            continue;
        const struct pdb **one = arena_alloc(l->arena, sizeof *one);
        one[0] = pdb;
        lint_note(l, LINT_NOTHING, pdb, NULL, one, 1);
    }
}

/* One that has to wait for what a node says. */
static bool has_to_stop(const struct pod *pod) {
    enum pod_role role = pod_role(pod);
    return role == POD_MOVES || role == POD_BARE || role == POD_LEAVING;
}

static const struct pv *volume_of(void *arg, const char *name) {
    return find(arg, NULL, name);
}

/* In the order of the stores: those of one node are told together. */
static void look_at_attached(struct linting *l) {
    const struct lint_input *in = l->in;
    const struct object *obj;
    for (uint32_t i = 0;
         in->attachments && in->volumes && (obj = store_next(in->attachments, &i));) {
        const struct volume_attachment *va = (const struct volume_attachment *)obj;
        const struct node *node = find(in->nodes, NULL, strna(va->node_name));
        struct attached left = {0};
        size_t n;
        if (!node || !attached_is_stuck(va, node, in->now))
            continue;
        const struct object *const *pods =
            store_find(in->pods, in->pods_by_node, (struct store_key){node->meta.name, NULL}, &n);
        attached_add(&left, va, (const struct pod *const *)pods, n, volume_of, (void *)in->volumes);
        if (!left.first)
            continue;
        struct bucket *b = lint_note(l, LINT_ATTACHED, node, NULL, NULL, 0);
        b->node = node;
        b->attached.n++;
        if (!b->attached.first || strcmp(va->pv, b->attached.first->pv) < 0)
            b->attached.first = va;
    }
}

static void look_at_lost_nodes(struct linting *l) {
    const struct object *obj;
    for (uint32_t i = 0; l->in->nodes && (obj = store_next(l->in->nodes, &i));) {
        size_t n;
        if (!node_is_lost((const struct node *)obj))
            continue;
        const struct object *const *pods = store_find(l->in->pods, l->in->pods_by_node,
                                                      (struct store_key){obj->meta.name, NULL}, &n);
        for (size_t k = 0; k < n; k++)
            if (has_to_stop((const struct pod *)pods[k]))
                lint_note(l, LINT_LOST, obj, (const struct pod *)pods[k], NULL, 0);
    }
}

/* --- the report --- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts and removes doubles; returns how many are left. */
static size_t unique(const char **names, size_t n) {
    size_t kept = 0;
    if (n)
        qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++)
        if (!kept || !streq(names[kept - 1], names[i]))
            names[kept++] = names[i];
    return kept;
}

static int compare_pointers(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return (x > y) - (x < y);
}

static void place(struct linting *l, const struct bucket *b, struct lint_finding *f) {
    const char **nodes = arena_alloc(l->arena, (b->pods.len + 1) * sizeof *nodes);
    size_t n = 0;
    if (b->node)
        nodes[n++] = b->node->meta.name;
    for (size_t i = 0; i < b->pods.len; i++)
        if (b->pods.p[i]->node_name)
            nodes[n++] = b->pods.p[i]->node_name;
    f->nodes = nodes;
    f->n_nodes = unique(nodes, n);
    f->pods = (unsigned)b->pods.len;
    f->example = b->pods.len ? strna(b->pods.p[0]->meta.name) : "";
}

static int compare_findings(const void *a, const void *b) {
    const struct lint_finding *x = a, *y = b;
    if (x->n_nodes != y->n_nodes)
        return x->n_nodes < y->n_nodes ? 1 : -1;
    int c = strcmp(x->ns, y->ns);
    c = c ? c : strcmp(x->name, y->name);
    return c ? c : strcmp(x->kind, y->kind);
}

static void report_group(struct linting *l, enum lint_cause cause, struct lint_group *g) {
    size_t n = 0, at = 0;
    *g = (struct lint_group){.cause = cause};
    for (size_t i = 0; i < l->list.len; i++)
        n += l->list.p[i]->cause == cause;
    struct lint_finding *list = arena_alloc(l->arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < l->list.len; i++) {
        struct bucket *b = l->list.p[i];
        if (b->cause != cause)
            continue;
        struct lint_finding *f = &list[g->n];
        if (b->pods.len)
            qsort(b->pods.p, b->pods.len, sizeof b->pods.p[0], pod_compare);
        *f = (struct lint_finding){.example = ""};
        place(l, b, f);
        lint_tell(l, b, f);
        if (!f->text) /* looked at closely it is none */
            continue;
        g->n++;
        g->pods += f->pods;
        at += f->n_nodes;
    }
    if (g->n)
        qsort(list, g->n, sizeof *list, compare_findings);
    const char **nodes = arena_alloc(l->arena, (at + 1) * sizeof *nodes);
    at = 0;
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < list[i].n_nodes; k++)
            nodes[at++] = list[i].nodes[k];
    g->findings = list;
    g->nodes = nodes;
    g->n_nodes = unique(nodes, at);
}

static void report(struct linting *l, struct lint *out) {
    struct lint_group *groups = arena_alloc(l->arena, LINT_CAUSES * sizeof *groups);
    size_t n = 0, at = 0;
    for (int effect = 0; effect < LINT_EFFECTS; effect++)
        for (int cause = 0; cause < LINT_CAUSES; cause++) {
            if ((int)rows[cause].effect != effect)
                continue;
            report_group(l, (enum lint_cause)cause, &groups[n]);
            at += lint_blocks((enum lint_effect)effect) ? groups[n].n_nodes : 0;
            n += groups[n].n > 0;
        }
    const char **blocked = arena_alloc(l->arena, (at + 1) * sizeof *blocked);
    at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; lint_blocks(rows[groups[i].cause].effect) && k < groups[i].n_nodes; k++)
            blocked[at++] = groups[i].nodes[k];
    *out = (struct lint){.groups = groups,
                         .n = n,
                         .nodes = store_len(l->in->nodes),
                         .pods = store_len(l->in->pods),
                         .budgets = store_len(l->in->budgets),
                         .roomed = l->roomed,
                         .rough = l->rough,
                         .unexplained = l->unexplained,
                         .blocked = blocked,
                         .n_blocked = unique(blocked, at)};
}

void lint_make(const struct lint_input *in, struct arena *arena, struct lint *out) {
    struct linting l = {.in = in, .arena = arena, .rules = rules_new()};
    const struct object *obj;
    htab_init(&l.buckets, &bucket_ops);
    htab_init(&l.selected, &pointer_ops);
    htab_init(&l.unmade, &pointer_ops);
    l.sets = (struct budget_stores){in->replica_sets, in->stateful_sets};
    budget_owners_init(&l.budget_owners, in->pdbs, budget_look_stores, &l.sets);
    for (uint32_t i = 0; (obj = store_next(in->pods, &i));)
        look_at_pod(&l, (const struct pod *)obj);
    look_at_lost_nodes(&l);
    look_at_attached(&l);
    look_at_idle_budgets(&l);
    lint_look_at_remaking(&l);
    if (in->pool)
        lint_look_for_room(&l);
    if (l.force.len)
        qsort(l.force.p, l.force.len, sizeof l.force.p[0], compare_pointers);
    if (l.empty_dir.len)
        qsort(l.empty_dir.p, l.empty_dir.len, sizeof l.empty_dir.p[0], compare_pointers);
    report(&l, out);
    for (size_t i = 0; i < l.list.len; i++) {
        vec_done(&l.list.p[i]->pods);
        free(l.list.p[i]);
    }
    vec_done(&l.list);
    vec_done(&l.force);
    vec_done(&l.empty_dir);
    htab_done(&l.buckets);
    htab_done(&l.selected);
    htab_done(&l.unmade);
    rules_free(l.rules);
    budget_owners_done(&l.budget_owners);
}
