/* Requests under way: whom their answers are for. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/drain_internal.h"

static uint32_t hash_id(uint64_t id) {
    return hash_bytes(&id, sizeof id);
}

static uint32_t request_hash(const void *entry) {
    return hash_id(((const struct request *)entry)->id);
}

static bool request_equal(const void *entry, const void *id) {
    return ((const struct request *)entry)->id == *(const uint64_t *)id;
}

static const struct htab_ops request_ops = {request_hash, request_equal};

void drain_requests_init(struct drain *d) {
    htab_init(&d->requests, &request_ops);
}

void drain_requests_done(struct drain *d) {
    void *r;
    for (uint32_t i = 0; (r = htab_next(&d->requests, &i));)
        free(r);
    htab_done(&d->requests);
}

/* Counts it with the others of its sort. */
static void count(struct drain *d, const struct request *r, int by) {
    unsigned more = (unsigned)by;
    r->node->requests += more;
    if (r->minor)
        d->minors += more;
    else if (!r->pod && !r->confirm)
        d->writing += more;
    if (r->pod) {
        d->asking += more;
        r->node->asking += more;
    }
}

uint64_t drain_request(struct drain *d, const struct action *a, struct dnode *n, struct dpod *p,
                       struct dconfirm *c) {
    struct request *r = xnew(struct request);
    *r = (struct request){actions_add(d->out, &d->cluster->actions, a), n, p, c, a->minor};
    htab_insert(&d->requests, r);
    count(d, r, 1);
    return r->id;
}

bool drain_request_take(struct drain *d, uint64_t id, struct request *out) {
    struct request *r = htab_remove(&d->requests, hash_id(id), &id);
    if (!r)
        return false;
    count(d, r, -1);
    *out = *r;
    free(r);
    return true;
}
