/* A transport that does harm: it wraps another one and injects faults by rules, so that tests and
 * rehearsals meet what networks and overloaded servers do.
 *
 * Everything it does follows from the seed, the rules and the order of the calls, and it waits only
 * on loop timers: with a virtual loop and a deterministic inner transport a run repeats exactly.
 *
 * For each call the rules are asked in order; the first that matches and fires is applied, the rest
 * of the call is left alone. A call that no rule fires for goes through unchanged. The promises of
 * transport.h hold: done once, no callback inside kube_start() or kube_cancel(), cancel anywhere,
 * the request's own `timeout` and `idle` (the inner transport keeps them as long as it is not
 * silenced, this one while it is). */
#ifndef KUBE_TRANSPORT_FAULT_H
#define KUBE_TRANSPORT_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/transport.h"
#include "net/loop.h"

enum kube_fault_kind {
    KUBE_FAULT_STATUS,   /* an answer with `code` and `body`; the request is not forwarded */
    KUBE_FAULT_REFUSE,   /* -ECONNREFUSED, not sent */
    KUBE_FAULT_LOSE,     /* carried out to its end, but the answer is lost: -ECONNRESET, sent */
    KUBE_FAULT_TRUNCATE, /* -ECONNRESET after `bytes` of the body, or at its end if it is shorter */
    KUBE_FAULT_STALL,    /* silence after `bytes` of the body (0: not even a head comes), for
                          * `delay`, then all of the rest; for ever when `delay` is 0 */
    KUBE_FAULT_SPLIT,    /* the body in pieces of at most `bytes` (0: 1) */
    KUBE_FAULT_CORRUPT,  /* byte number `bytes` of the body is changed */
};
enum { KUBE_FAULT_KINDS = KUBE_FAULT_CORRUPT + 1 };

struct kube_fault_rule {
    enum kube_fault_kind kind;

    /* which calls: all of what is given must match */
    const char *method; /* NULL: any */
    const char *path;   /* a part of the path with its query; NULL: any */
    unsigned lanes;     /* bits 1 << KUBE_LANE_...; 0: any */

    /* how often */
    double probability; /* of each matching call; 0: all of them */
    unsigned nth;       /* only this one of the matching calls that no earlier rule took, from 1;
                         * 0: any */
    unsigned count;     /* at most so many times; 0: no limit */

    /* what */
    int code;            /* STATUS */
    const char *body;    /* STATUS: NULL: a Status object for the code */
    int64_t retry_after; /* STATUS: seconds; 0: no such header */
    bool flow_control;   /* STATUS: looks like a refusal by priority and fairness */
    int64_t delay;       /* microseconds: STATUS and REFUSE answer that late; STALL */
    size_t bytes;
};

struct kube_fault;

/* Takes over `inner` and frees it with itself. Rules are copied. */
struct kube_fault *kube_fault_new(struct kube_transport *inner, struct loop *loop, uint64_t seed,
                                  const struct kube_fault_rule *rules, size_t n);
/* To be used, and freed, as any other. */
struct kube_transport *kube_fault_transport(struct kube_fault *f);

/* Rules at run time, for calls that start later. Returns the new rule's number; kube_fault_new()
 * numbers from 0. kube_fault_clear() removes all rules and starts numbering anew. */
size_t kube_fault_add(struct kube_fault *f, const struct kube_fault_rule *rule);
void kube_fault_clear(struct kube_fault *f);

/* What was done so far. */
struct kube_fault_stats {
    uint64_t calls; /* started, harmed or not */
    uint64_t injected[KUBE_FAULT_KINDS];
};
const struct kube_fault_stats *kube_fault_stats(const struct kube_fault *f);
/* How often rule number `i` has fired. */
unsigned kube_fault_fired(const struct kube_fault *f, size_t i);

#endif
