/* Why a budget does not allow anything, in words: its arithmetic and, when that lasts, which of its
 * pods are not well. Worked out once for all pods that wait for it. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/budget.h"
#include "engine/drain_internal.h"
#include "engine/trouble.h"

enum {
    ASK_PEERS = 10,   /* seconds without an eviction until we look at its other pods */
    SPREAD = 2,       /* seconds: not all budgets in the same moment */
    PEERS_COME = 2,   /* seconds in which they come */
    PEERS_TRIES = 5,  /* looks at whether they have */
    PEERS_EVERY = 15, /* seconds between two looks at them, if nothing else happens */
    PEERS_SHOWN = 2,  /* of them, in a message */
};

void drain_explain_anew(struct explained *e) {
    e->since = 0;
    e->tries = 0;
}

void drain_explain_done(struct explained *e) {
    free(e->words);
    free(e->version);
}

/* False when they are not there yet. */
static bool add_troubles(struct drain *d, const struct pdb *pdb, struct str *out) {
    size_t n;
    unsigned shown = 0;
    const struct pod **list = cluster_peers(d->cluster, pdb, d->now.mono, &n);
    for (size_t i = 0; list && i < n && shown < PEERS_SHOWN; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        /* Those that leave are about to be replaced: the replacements tell more. */
        if (!list[i]->meta.deleted && pod_trouble(list[i], &text))
            str_addf(out, "%s %s %s", shown++ ? "," : ";", list[i]->meta.name, str_get(&text));
    }
    bool there = list != NULL;
    free(list);
    return there;
}

static void work_out(struct drain *d, struct explained *e, const struct pdb *pdb, bool lasts) {
    _cleanup_str_ struct str words = STR_INIT;
    budget_explain(pdb, &d->budget_owners, &words);
    size_t arithmetic = words.len;
    e->look_at = INT64_MAX;
    if (!lasts) { /* the arithmetic says it all */
    } else if (d->now.mono < e->ask_at) {
        e->look_at = e->ask_at;
    } else if (add_troubles(d, pdb, &words) || e->tries >= PEERS_TRIES) {
        e->look_at = d->now.mono + SEC(PEERS_EVERY);
    } else {
        e->tries++;
        e->look_at = d->now.mono + SEC(PEERS_COME);
    }
    if (!e->words || !streq(e->words, str_get(&words)))
        e->serial++;
    str_replace(&e->words, str_get(&words));
    str_replace(&e->version, pdb->meta.version);
    e->causes = words.len > arithmetic;
    e->lasts = lasts;
}

const struct explained *drain_explain(struct drain *d, const struct pdb *pdb, bool lasts) {
    struct explained *e = &drain_ledger(d, &pdb->meta)->explained;
    if (!e->since) {
        e->since = d->now.mono;
        e->ask_at = e->since + SEC(ASK_PEERS) + prng_range(&d->random, 0, SEC(SPREAD));
        e->look_at = MIN_OF(e->look_at, e->ask_at);
    }
    if (!e->words || e->lasts != lasts || !str_same(e->version, pdb->meta.version) ||
        d->now.mono >= e->look_at)
        work_out(d, e, pdb, lasts);
    drain_wake(d, e->look_at);
    return e;
}
