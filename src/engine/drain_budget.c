/* How much of each budget is left, counting what we have spent and its status does not show yet.
 *
 * This is about politeness, not about safety: the API server decides. A request that would be
 * refused is not sent; a budget that says no for long is asked anyway now and then, in case that
 * what we see of it is wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/budget.h"
#include "engine/drain_internal.h"
#include "engine/guard.h"
#include "engine/podrole.h"

enum {
    UNSEEN_FOR = 3, /* seconds after which a spent disruption is in the status, or never will be */
    PROBE_FIRST = 30, /* seconds without a change until a budget is asked anyway */
    PROBE_MAX = 300,
    REFUSED_FIRST = 2, /* the same when the status allows but the server does not */
};

static uint32_t hash_of(const struct meta *m) {
    return hash_more(hash_bytes(m->name, strlen(m->name)), strna(m->ns), strlen(strna(m->ns)));
}

static struct ledger *ledger_find(struct drain *d, const struct meta *m) {
    return htab_find(&d->ledgers, hash_of(m), m);
}

struct ledger *drain_ledger(struct drain *d, const struct meta *m) {
    struct ledger *l = ledger_find(d, m);
    if (l)
        return l;
    l = xnew(struct ledger);
    l->ns = xstrdup(strna(m->ns));
    l->name = xstrdup(m->name);
    htab_insert(&d->ledgers, l);
    return l;
}

void drain_budgets_done(struct drain *d) {
    struct ledger *l;
    for (uint32_t i = 0; (l = htab_next(&d->ledgers, &i));) {
        for (size_t k = 0; k < l->gone.len; k++)
            free(l->gone.p[k].pod);
        vec_done(&l->gone);
        drain_explain_done(&l->explained);
        free(l->ns);
        free(l->name);
        free(l->refused);
        free(l);
    }
}

static void forget_spent(struct ledger *l, size_t i) {
    free(l->gone.p[i].pod);
    l->gone.p[i] = l->gone.p[--l->gone.len];
}

static bool waits_for(const struct dnode *n, const struct ledger *l) {
    for (size_t i = 0; i < n->waits.len; i++)
        if (n->waits.p[i] == l)
            return true;
    return false;
}

/* Pods that wait for it are looked at again. */
static void wake_waiters(struct drain *d, const struct ledger *l) {
    for (size_t i = 0; i < d->nodes.len; i++)
        d->nodes.p[i]->act |= waits_for(d->nodes.p[i], l);
    d->any_dirty = true;
}

/* What the budgets themselves were refused for may be over; a Retry-After is kept. */
static void unpause(struct drain *d, const struct ledger *l) {
    for (size_t i = 0; i < d->nodes.len; i++) {
        const struct dnode *n = d->nodes.p[i];
        for (size_t k = 0; waits_for(n, l) && k < n->pods.len; k++) {
            struct dpod *p = n->pods.p[k];
            if (p->pub.blocked && (p->pub.blocker.code == BLOCKER_MULTIPLE_PDBS ||
                                   p->pub.blocker.code == BLOCKER_PDB_BROKEN))
                p->not_before = 0;
        }
    }
}

void drain_budget_wait(struct drain *d, struct dnode *n, const struct pod *pod) {
    size_t count;
    const struct pdb *const *pdbs = pdbs_of_pod(d->cluster->pdbs, pod, &count);
    for (size_t i = 0; i < count; i++) {
        struct ledger *l = drain_ledger(d, &pdbs[i]->meta);
        if (!waits_for(n, l))
            *vec_push(&n->waits) = l;
    }
}

void drain_budget_changed(struct drain *d, const struct pdb *before, const struct pdb *after) {
    const struct pdb *pdb = after ? after : before;
    struct ledger *l = ledger_find(d, &pdb->meta);
    if (!l)
        return;
    wake_waiters(d, l);
    if (!after || after->allowed > 0)
        drain_explain_anew(&l->explained);
    unpause(d, l);
    mem_clear(&l->refused);
    l->probe = l->probe_delay = 0;
    /* The server takes from the budget before it answers us: what comes after the answer shows it.
     */
    while (l->gone.len)
        forget_spent(l, 0);
}

/* What its status allows and we have not used. */
static int64_t left(struct drain *d, struct ledger *l, const struct pdb *pdb) {
    for (size_t i = 0; i < l->gone.len;)
        if (d->now.mono - l->gone.p[i].at > SEC(UNSEEN_FOR)) {
            forget_spent(l, i);
        } else {
            drain_wake(d, l->gone.p[i].at + SEC(UNSEEN_FOR) + 1);
            i++;
        }
    return (int64_t)pdb->allowed - l->asking - (int64_t)l->gone.len;
}

/* Whether the server takes one from the budget for this pod. */
static bool is_counted(const struct pod *pod, const struct pdb *pdb) {
    if (pod_ready(pod))
        return true;
    if (str_same(pdb->unhealthy_policy, "AlwaysAllow"))
        return false;
    return !(pdb->healthy >= pdb->desired && pdb->desired > 0);
}

static int64_t probe_time(struct drain *d, struct ledger *l) {
    if (!l->probe) {
        l->probe_delay = SEC(l->refused ? REFUSED_FIRST : PROBE_FIRST);
        l->probe = d->now.mono + l->probe_delay + prng_range(&d->random, 0, l->probe_delay / 4);
    }
    return l->probe;
}

static struct budget_say must_wait(struct drain *d, struct ledger *l, enum blocker_code code,
                                   const struct pdb *pdb) {
    struct budget_say say = {
        .code = code, .pdb = pdb, .probe = l->asking ? INT64_MAX : probe_time(d, l)};
    say.go = say.probe <= d->now.mono;
    say.counted = true;
    return say;
}

/* Where minAvailable is a number, what is expected are the pods that there are, not those that
 * their owners want. One that has let a pod of ours go can allow something: it waits for the
 * successor, however long that takes. */
static bool is_proven(const struct ledger *l, const struct pdb *pdb) {
    return !l->used || !pdb->min_available.set || pdb->min_available.is_str;
}

struct budget_say drain_budget(struct drain *d, const struct pod *pod) {
    static const enum blocker_code codes[] = {[BUDGET_ALLOWS] = BLOCKER_PDB_NO_BUDGET,
                                              [BUDGET_WAITS] = BLOCKER_PDB_NO_BUDGET,
                                              [BUDGET_NEVER] = BLOCKER_PDB_UNSATISFIABLE,
                                              [BUDGET_FAILED] = BLOCKER_PDB_SYNC_FAILED,
                                              [BUDGET_MULTIPLE] = BLOCKER_MULTIPLE_PDBS};
    struct budget_say go = {.go = true, .probe = INT64_MAX};
    if (!d->cluster->budgets_known || !budget_is_asked(pod))
        return go;
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(d->cluster->pdbs, pod, &n);
    if (!n)
        return go;
    struct ledger *l = drain_ledger(d, &pdbs[0]->meta);
    enum budget_verdict verdict = budget_for_pod(pod, pdbs, n, &d->budget_owners);
    const struct guard *guard = budget_holds(verdict) ? guard_of(pdbs[0], pod) : NULL;
    if (guard) {
        struct budget_say wait = must_wait(d, l, guard->code, pdbs[0]);
        wait.guard = guard;
        return wait;
    }
    if (verdict == BUDGET_NEVER && !is_proven(l, pdbs[0]))
        verdict = BUDGET_WAITS;
    if (verdict != BUDGET_ALLOWS)
        return must_wait(d, l, codes[verdict], pdbs[0]);
    go.pdb = pdbs[0];
    if (l->refused && streq(l->refused, strna(pdbs[0]->meta.version)))
        return must_wait(d, l, BLOCKER_PDB_NO_BUDGET, pdbs[0]);
    go.counted = is_counted(pod, pdbs[0]);
    if (go.counted && left(d, l, pdbs[0]) <= 0) {
        /* Spent by ourselves a moment ago: its status will tell soon. */
        struct budget_say wait = must_wait(d, l, BLOCKER_PDB_NO_BUDGET, pdbs[0]);
        return wait;
    }
    return go;
}

void drain_budget_asked(struct drain *d, struct dpod *p, const struct pdb *pdb) {
    struct ledger *l = drain_ledger(d, &pdb->meta);
    l->asking++;
    if (l->probe && l->probe <= d->now.mono) {
        l->probe_delay = MIN_OF(l->probe_delay * 2, SEC(PROBE_MAX));
        l->probe = d->now.mono + l->probe_delay + prng_range(&d->random, 0, l->probe_delay / 4);
    }
    p->budget = drain_full_name(pdb->meta.ns, pdb->meta.name);
    str_replace(&p->budget_version, pdb->meta.version);
}

void drain_budget_answered(struct drain *d, struct dpod *p, bool accepted, bool refused) {
    _cleanup_free_ char *full = TAKE_PTR(p->budget);
    char *slash = full ? strchr(full, '/') : NULL;
    if (!slash)
        return;
    *slash = '\0';
    struct meta key = {.ns = full, .name = slash + 1};
    struct ledger *l = ledger_find(d, &key);
    if (!l)
        return;
    if (l->asking)
        l->asking--;
    wake_waiters(d, l);
    const struct pdb *pdb = (const struct pdb *)store_get(d->cluster->budgets, key.ns, key.name);
    if (accepted) {
        l->used = true;
        l->probe = l->probe_delay = 0; /* what we see of it is wrong: it is asked again soon */
        drain_explain_anew(&l->explained);
    }
    /* It may have come before the answer, too. */
    if (accepted && pdb && str_same(pdb->meta.version, p->budget_version))
        *vec_push(&l->gone) = (struct spent){xstrdup(p->pub.name), d->now.mono};
    if (refused && pdb && str_same(pdb->meta.version, p->budget_version)) {
        str_replace(&l->refused, pdb->meta.version);
        if (!l->probe)
            probe_time(d, l);
    }
}
