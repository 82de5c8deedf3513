/* Which nodes may begin: as many together as the limits allow, the ones first that get in each
 * other's way least. Not in waves: a node begins the moment there is room for it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/contention.h"
#include "engine/drain_internal.h"

static bool is_out(const struct dnode *n) {
    return n->pub.phase != DRAIN_WAITING && !drain_ended(n->pub.phase);
}

unsigned drain_limit(const struct drain_opts *opts, size_t nodes) {
    unsigned limit = opts->parallel, out = opts->max_unavailable.value;
    if (out && opts->max_unavailable.percent)
        out = MAX_OF(1u, (unsigned)(nodes * out / 100));
    if (!limit || (out && out < limit))
        limit = out;
    return limit ? limit : (unsigned)nodes;
}

static const char *zone_of(const struct drain *d, const struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    return node ? node_zone(node) : "";
}

/* The zones of nodes that are on their way out; names are the nodes' own. */
struct zones {
    const char **p;
    size_t len, cap;
};

static bool zone_is_out(const struct zones *z, const char *zone) {
    for (size_t i = 0; i < z->len; i++)
        if (streq(z->p[i], zone))
            return true;
    return false;
}

static void zone_goes(struct zones *z, const char *zone) {
    if (!zone_is_out(z, zone))
        *vec_push(z) = zone;
}

/* Whether a node of this zone would be in one zone too many. */
static bool zone_full(const struct drain *d, const struct zones *z, const struct dnode *n) {
    unsigned max = d->opts.max_zones;
    return max && z->len >= max && !zone_is_out(z, zone_of(d, n));
}

bool drain_zone_differs(const struct node *a, const struct node *b) {
    return !a || !b || !streq(node_zone(a), node_zone(b));
}

/* --- who gets in whose way --- */

enum { CANDIDATES = 50 }; /* looked at for one admission: enough to find one in nobody's way */

/* `any`: in their order, whoever is in whose way. */
static struct dnode *choose(struct drain *d, const struct contention *out,
                            const struct zones *zones, bool any) {
    struct dnode *best = NULL;
    unsigned least = 0, seen = 0;
    for (size_t i = 0; i < d->nodes.len && seen < CANDIDATES; i++) {
        struct dnode *n = d->nodes.p[i];
        if (n->pub.phase != DRAIN_WAITING || zone_full(d, zones, n) || !drain_gate_open(d, n))
            continue;
        unsigned c = any ? 0 : contention_of(out, n->pub.name, !d->opts.disable_eviction);
        seen++;
        if (!best || c < least) {
            best = n;
            least = c;
        }
        if (!least)
            break; /* the first in order that is in nobody's way */
    }
    return best;
}

/* Those of one moment are one batch. */
static struct batch *batch_now(struct drain *d) {
    struct batch *last = d->batches.len ? d->batches.p[d->batches.len - 1] : NULL;
    if (last && last->began == d->now.mono)
        return last;
    struct batch *b = xnew(struct batch);
    b->began = d->now.mono;
    *vec_push(&d->batches) = b;
    return b;
}

static void begin(struct drain *d, struct dnode *n) {
    n->batch = batch_now(d);
    n->pub.started = d->now.wall;
    if (d->opts.timeout) {
        /* Anew when the evictions begin: until then it bounds the cordon. */
        n->deadline = d->now.mono + d->opts.timeout;
        n->pub.deadline = d->now.wall + d->opts.timeout;
    }
    drain_node_enter(d, n, DRAIN_CORDONING);
    drain_gate_used(d);
    drain_checks_skipped(d, n);
}

/* To all that wait; most of them know it already. */
static void say_why(struct drain *d, unsigned out, unsigned limit) {
    bool zones = out < limit;
    _cleanup_free_ char *why =
        zones ? xasprintf("nodes of at most %u zone%s may be on their way out", d->opts.max_zones,
                          d->opts.max_zones == 1 ? "" : "s")
              : xasprintf("%u of at most %u nodes are on their way out", out, limit);
    for (size_t i = 0; i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        if (n->pub.phase != DRAIN_WAITING || n->gate == GATE_SHUT ||
            (n->pub.blocked && str_same(n->pub.blocker.message, why)))
            continue;
        n->touched = true;
        drain_node_block(d, n, zones ? BLOCKER_MAX_ZONES : BLOCKER_MAX_UNAVAILABLE, "Node", "",
                         "%s", why);
    }
}

/* As many as there is room for. */
static void fill(struct drain *d, unsigned limit, unsigned *out) {
    struct contention wants;
    struct zones zones = VEC_INIT;
    struct dnode *n;
    contention_init(&wants, d->cluster, &d->budget_owners);
    for (size_t i = 0; i < d->nodes.len; i++)
        if (is_out(d->nodes.p[i])) {
            contention_add(&wants, d->nodes.p[i]->pub.name);
            zone_goes(&zones, zone_of(d, d->nodes.p[i]));
        }
    bool any = d->opts.in_order || limit >= d->nodes.len;
    while (*out < limit) {
        drain_gates(d);
        n = choose(d, &wants, &zones, any);
        if (!n)
            break;
        begin(d, n);
        contention_add(&wants, n->pub.name);
        zone_goes(&zones, zone_of(d, n));
        ++*out;
    }
    contention_done(&wants);
    vec_done(&zones);
}

void drain_admit(struct drain *d) {
    unsigned limit = drain_limit(&d->opts, d->nodes.len), out = 0, waiting = 0;
    d->room |= drain_checks_due(d);
    if (d->stopped || !d->room)
        return;
    d->room = false;
    for (size_t i = 0; i < d->nodes.len; i++) {
        out += is_out(d->nodes.p[i]);
        waiting += d->nodes.p[i]->pub.phase == DRAIN_WAITING;
    }
    bool all = limit >= d->nodes.len && !d->opts.max_zones && !d->opts.checks;
    for (size_t i = 0; all && waiting && i < d->nodes.len; i++)
        if (d->nodes.p[i]->pub.phase == DRAIN_WAITING)
            begin(d, d->nodes.p[i]);
    if (all)
        return;
    if (waiting && out < limit)
        fill(d, limit, &out);
    else
        d->checks_look = 0; /* when there is room */
    if (waiting)
        say_why(d, out, limit);
}
