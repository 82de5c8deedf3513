/* What a PodDisruptionBudget says about the next eviction. */
#include "engine/budget.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/podrole.h"

/* "0", 0, "0%". */
static bool is_zero(const struct intstr *v) {
    return v->set && (v->is_str ? strtol(strna(v->str), NULL, 10) == 0 : v->val <= 0);
}

static bool is_all(const struct intstr *v) {
    return v->set && v->is_str && strtol(strna(v->str), NULL, 10) >= 100;
}

static bool sync_failed(const struct pdb *pdb) {
    const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
    return c && str_same(c->reason, "SyncFailed");
}

/* A controller that fails from the beginning says so, and never which generation it has seen. */
static bool observed(const struct pdb *pdb) {
    return pdb->observed_generation >= pdb->meta.generation ||
           (!pdb->observed_generation && sync_failed(pdb));
}

/* Of pods without a controller none is expected, and whoever expects none allows none (the
 * disruption controller's updatePdbStatus). A controller that has not seen the pods yet has not
 * counted healthy ones either. */
bool budget_uncounted(const struct pdb *pdb) {
    return observed(pdb) && !sync_failed(pdb) && pdb->expected <= 0 && pdb->healthy > 0 &&
           pdb->allowed <= 0;
}

/* --- what the owners of its pods want --- */

struct known_wish {
    const struct pdb *pdb;
    int64_t pods; /* or BUDGET_UNKNOWN */
};

static uint32_t wish_hash(const void *entry) {
    const struct known_wish *w = entry;
    return hash_bytes(&w->pdb, sizeof w->pdb);
}

static bool wish_equal(const void *entry, const void *pdb) {
    return ((const struct known_wish *)entry)->pdb == pdb;
}

static const struct htab_ops wish_ops = {wish_hash, wish_equal};

void budget_owners_init(struct budget_owners *o, struct pdbs *pdbs, budget_look_fn *look,
                        void *arg) {
    *o = (struct budget_owners){.pdbs = pdbs, .look = look, .arg = arg};
    htab_init(&o->known, &wish_ops);
}

void budget_owners_forget(struct budget_owners *o) {
    void *entry;
    for (uint32_t i = 0; (entry = htab_next(&o->known, &i));)
        free(entry);
    htab_done(&o->known);
    htab_init(&o->known, &wish_ops);
}

void budget_owners_done(struct budget_owners *o) {
    budget_owners_forget(o);
    htab_done(&o->known);
}

const struct object *budget_look_stores(void *arg, const struct kind *kind, const char *ns,
                                        const char *name) {
    const struct budget_stores *s = arg;
    const struct store *store = kind == &kind_stateful_set ? s->stateful_sets : s->replica_sets;
    return store ? store_get(store, ns, name) : NULL;
}

const struct object *budget_look_cluster(void *arg, const struct kind *kind, const char *ns,
                                         const char *name) {
    const struct lookup *l = cluster_look(arg, kind, strna(ns), name);
    return l->known == KNOWN_THERE ? l->obj : NULL;
}

/* The pods that the owner of this one wants; BUDGET_UNKNOWN. */
static int64_t wish_of(struct budget_owners *o, const struct pod *pod, const struct owner *owner) {
    bool stateful = str_same(owner->kind, "StatefulSet");
    if (!str_same(owner->api_version, "apps/v1") || str_empty(owner->name) ||
        (!stateful && !str_same(owner->kind, "ReplicaSet")))
        return BUDGET_UNKNOWN;
    const struct object *obj = o->look(o->arg, stateful ? &kind_stateful_set : &kind_replica_set,
                                       pod->meta.ns, owner->name);
    if (!obj || !str_same(obj->meta.uid, owner->uid))
        return BUDGET_UNKNOWN;
    int32_t replicas = stateful ? ((const struct stateful_set *)obj)->replicas
                                : ((const struct replica_set *)obj)->replicas;
    return replicas == ABSENT32 ? 1 : replicas;
}

/* Owners of the pods so far; pods of one are next to each other, mostly. */
struct wishing {
    VEC(const char *) uids;
    int64_t pods;
};

static bool add_wish(struct budget_owners *o, struct wishing *w, const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    if (!owner) { /* nobody makes it again: it is all that is wanted */
        w->pods += !pod->meta.deleted;
        return true;
    }
    for (size_t i = w->uids.len; i-- > 0;)
        if (str_same(w->uids.p[i], owner->uid))
            return true;
    int64_t wish = wish_of(o, pod, owner);
    if (wish == BUDGET_UNKNOWN)
        return false;
    *vec_push(&w->uids) = owner->uid;
    w->pods += wish;
    return true;
}

/* Of all its pods. Where the owners want fewer than there are, not all of its pods are known, or
 * some are about to go: then nobody can tell. */
static int64_t count_wishes(struct budget_owners *o, const struct pdb *pdb) {
    size_t n;
    struct wishing w = {.uids = VEC_INIT};
    if (o->ready && !o->ready(o->arg, pdb))
        return BUDGET_UNKNOWN;
    _cleanup_free_ const struct pod **pods = pdbs_pods(o->pdbs, pdb, &n);
    bool known = n > 0;
    for (size_t i = 0; known && i < n; i++)
        known = add_wish(o, &w, pods[i]);
    vec_done(&w.uids);
    return known && w.pods >= pdb->expected ? w.pods : BUDGET_UNKNOWN;
}

static int64_t wished(struct budget_owners *o, const struct pdb *pdb) {
    if (!o)
        return BUDGET_UNKNOWN;
    struct known_wish *w = htab_find(&o->known, hash_bytes(&pdb, sizeof pdb), pdb);
    if (!w) {
        w = xnew(struct known_wish);
        *w = (struct known_wish){pdb, count_wishes(o, pdb)};
        htab_insert(&o->known, w);
    }
    return w->pods;
}

/* By its status nothing is ever to spare, and its status counts the pods that there are. */
static bool hangs_on_owners(const struct pdb *pdb) {
    return pdb->min_available.set && !pdb->min_available.is_str && observed(pdb) &&
           pdb->allowed <= 0 && !sync_failed(pdb) && pdb->expected > 0 &&
           pdb->desired >= pdb->expected;
}

int64_t budget_unmade(const struct pdb *pdb, struct budget_owners *o) {
    int64_t pods = hangs_on_owners(pdb) ? wished(o, pdb) : BUDGET_UNKNOWN;
    return pods == BUDGET_UNKNOWN ? 0 : pods - pdb->expected;
}

int64_t budget_spare(const struct pdb *pdb, struct budget_owners *o) {
    if (pdb->expected <= 0)
        return BUDGET_UNKNOWN;
    return MAX_OF(pdb->expected + budget_unmade(pdb, o) - pdb->desired, (int64_t)0);
}

/* Not even with all its pods made, and healthy. As long as nobody knows how many these are, one
 * that is not well may be the reason why others are not made. */
static bool never_spares(const struct pdb *pdb, struct budget_owners *o) {
    if (pdb->expected <= 0 || pdb->desired < pdb->expected)
        return false;
    if (!hangs_on_owners(pdb))
        return true;
    int64_t pods = wished(o, pdb);
    return pods == BUDGET_UNKNOWN ? pdb->healthy >= pdb->expected : pdb->desired >= pods;
}

/* --- verdicts --- */

enum budget_verdict budget_verdict(const struct pdb *pdb, struct budget_owners *o) {
    /* The spec alone decides these, also before the controller has looked. */
    bool hopeless = is_zero(&pdb->max_unavailable) || is_all(&pdb->min_available);
    if (!observed(pdb))
        return hopeless ? BUDGET_NEVER : BUDGET_WAITS;
    if (pdb->allowed > 0)
        return BUDGET_ALLOWS;
    if (sync_failed(pdb))
        return BUDGET_FAILED;
    hopeless = hopeless || budget_uncounted(pdb) || never_spares(pdb, o);
    return hopeless ? BUDGET_NEVER : BUDGET_WAITS;
}

bool budget_is_asked(const struct pod *pod) {
    return !pod_finished(pod) && !str_same(pod->phase, "Pending") && !pod->meta.deleted;
}

enum budget_verdict budget_for_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n,
                                   struct budget_owners *o) {
    if (!n || !budget_is_asked(pod))
        return BUDGET_ALLOWS;
    if (n > 1)
        return BUDGET_MULTIPLE;
    /* A pod that is not ready keeps nobody's service up. */
    if (!pod_ready(pod)) {
        if (str_same(pdbs[0]->unhealthy_policy, "AlwaysAllow"))
            return BUDGET_ALLOWS;
        if (pdbs[0]->healthy >= pdbs[0]->desired && pdbs[0]->desired > 0)
            return BUDGET_ALLOWS;
    }
    return budget_verdict(pdbs[0], o);
}

static int hope(const struct pdb *pdb, struct budget_owners *o) {
    enum budget_verdict v = budget_verdict(pdb, o);
    return v == BUDGET_ALLOWS ? 2 : v == BUDGET_WAITS ? 1 : 0;
}

bool budget_better(const struct pdb *a, const struct pdb *b, struct budget_owners *o) {
    if (hope(a, o) != hope(b, o))
        return hope(a, o) > hope(b, o);
    if (a->expected != b->expected)
        return a->expected > b->expected;
    return a->allowed < b->allowed;
}

static void add_intstr(struct str *out, const char *name, const struct intstr *v) {
    if (!v->set)
        return;
    if (v->is_str)
        str_addf(out, "%s %s", name, strna(v->str));
    else
        str_addf(out, "%s %d", name, v->val);
}

void budget_rule(const struct pdb *pdb, struct str *out) {
    add_intstr(out, "maxUnavailable", &pdb->max_unavailable);
    add_intstr(out, "minAvailable", &pdb->min_available);
}

void budget_explain(const struct pdb *pdb, struct budget_owners *o, struct str *out) {
    budget_rule(pdb, out);
    if (!observed(pdb)) {
        str_add(out, ", not processed by its controller yet");
        return;
    }
    if (sync_failed(pdb)) {
        const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
        str_addf(out, ", its controller cannot compute it%s%s", c->message ? ": " : "",
                 strna(c->message));
        return;
    }
    if (budget_uncounted(pdb)) {
        str_addf(out, ", counts none of its %d healthy pod%s: no controller, allows 0 for ever",
                 pdb->healthy, pdb->healthy == 1 ? "" : "s");
        return;
    }
    str_addf(out, ", needs %d healthy of %d, has %d, allows %d", pdb->desired, pdb->expected,
             pdb->healthy, pdb->allowed);
    int64_t unmade = budget_unmade(pdb, o);
    int64_t wanted = pdb->expected + unmade;
    if (unmade > 0)
        str_addf(out, "; %lld are wanted, and %lld of them %s not made yet", (long long)wanted,
                 (long long)unmade, unmade == 1 ? "is" : "are");
    /* The server takes an eviction off what is allowed at once; its controller takes the pod off
     * the healthy ones later. Until then the numbers are a riddle. */
    size_t evicted = list_len(pdb->disrupted);
    if (evicted && pdb->allowed <= 0 && pdb->healthy > pdb->desired)
        str_addf(out, "; %zu pod%s that %s evicted %s still counted as healthy", evicted,
                 evicted == 1 ? "" : "s", evicted == 1 ? "was" : "were",
                 evicted == 1 ? "is" : "are");
}

static int64_t share(const struct intstr *v, int64_t of) {
    if (!v->is_str)
        return v->val;
    int64_t percent = strtol(strna(v->str), NULL, 10);
    percent = MAX_OF((int64_t)0, MIN_OF(percent, (int64_t)100)); /* the server accepts no others */
    return (percent * of + 99) / 100;                            /* both percentages round up */
}

int64_t budget_allows_with(const struct pdb *pdb, int64_t healthy, int64_t more) {
    int64_t expected = pdb->expected + more;
    int64_t needs = pdb->max_unavailable.set ? expected - share(&pdb->max_unavailable, expected)
                                             : share(&pdb->min_available, expected);
    return healthy + more - MAX_OF(needs, (int64_t)0);
}
