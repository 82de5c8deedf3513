/* A tiny Kubernetes API for one Lease, on the virtual loop: reads, creation, merge patches and
 * replacements with a compare-and-swap on the resourceVersion. Each candidate reaches it over a
 * link of its own, which can be slow, lose requests or answers, and break.
 *
 * A request that was sent can be carried out long after its sender has given up: links do not
 * reach for what is under way. */
#ifndef SUPPORT_MINI_LEASE_H
#define SUPPORT_MINI_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/prng.h"
#include "kube/transport.h"
#include "net/loop.h"

struct mini_lease;

struct mini_link {
    struct kube_transport transport; /* freed with kube_transport_free() */
    struct mini_lease *lease;
    struct prng prng;

    /* knobs, for requests that start later */
    int64_t there, back; /* how long the ways take at most, microseconds */
    bool steady;         /* they always take so long */
    bool cut;            /* no connection */
    bool hang;           /* requests get lost, nobody says so */
    bool lose;           /* answers get lost: carried out, then a reset */
    bool late;           /* answers come even after the request's timeout */
    int code;            /* answered with this error, not carried out; 0: no */
    bool refuse_writes;  /* every write conflicts */
    int faults;          /* of a thousand requests so many suffer any of these */

    /* counts */
    unsigned gets, writes;
};

struct mini_lease *mini_lease_new(struct loop *loop);
void mini_lease_free(struct mini_lease *m); /* after its links */
struct mini_link *mini_lease_link(struct mini_lease *m, uint64_t seed);

/* The Lease as it is; NULL: none. */
const json_t *mini_lease_get(const struct mini_lease *m);
/* Text in which quotes are written as apostrophes; NULL deletes it. */
void mini_lease_set(struct mini_lease *m, const char *text);
/* A member of its spec, "" or -1 when absent. */
const char *mini_lease_str(const struct mini_lease *m, const char *key);
int64_t mini_lease_int(const struct mini_lease *m, const char *key);
/* Changes one member of the spec, as somebody else would. */
void mini_lease_put(struct mini_lease *m, const char *key, json_t *value);
/* When it was last written. */
int64_t mini_lease_changed(const struct mini_lease *m);

#endif
