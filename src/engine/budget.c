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

enum budget_verdict budget_verdict(const struct pdb *pdb) {
    /* The spec alone decides these, also before the controller has looked. */
    bool hopeless = is_zero(&pdb->max_unavailable) || is_all(&pdb->min_available);
    if (!observed(pdb))
        return hopeless ? BUDGET_NEVER : BUDGET_WAITS;
    if (pdb->allowed > 0)
        return BUDGET_ALLOWS;
    if (sync_failed(pdb))
        return BUDGET_FAILED;
    /* desired is what must stay, expected what there is when all are well. */
    hopeless |= budget_uncounted(pdb) || (pdb->expected > 0 && pdb->desired >= pdb->expected);
    return hopeless ? BUDGET_NEVER : BUDGET_WAITS;
}

bool budget_is_asked(const struct pod *pod) {
    return !pod_finished(pod) && !str_same(pod->phase, "Pending") && !pod->meta.deleted;
}

enum budget_verdict budget_for_pod(const struct pod *pod, const struct pdb *const *pdbs, size_t n) {
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
    return budget_verdict(pdbs[0]);
}

static int hope(const struct pdb *pdb) {
    enum budget_verdict v = budget_verdict(pdb);
    return v == BUDGET_ALLOWS ? 2 : v == BUDGET_WAITS ? 1 : 0;
}

bool budget_better(const struct pdb *a, const struct pdb *b) {
    if (hope(a) != hope(b))
        return hope(a) > hope(b);
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

void budget_explain(const struct pdb *pdb, struct str *out) {
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
