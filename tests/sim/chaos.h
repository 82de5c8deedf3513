/* A transport to a simulated API that does harm: it loses requests and answers, delays them, lets
 * them arrive after their sender has given up or died, answers with errors what it has carried out,
 * and lets streams fall silent, lag behind or break off.
 *
 * It knows what the process on its other side has been told (chaos_known()), which is what that
 * process can be blamed for. Everything follows from the seed and the order of the calls.
 *
 * kube/transport_fault.h harms any transport by rules; this one is for the simulator alone, because
 * it must know the moment at which a request is carried out. */
#ifndef TESTS_SIM_CHAOS_H
#define TESTS_SIM_CHAOS_H

#include "kube/transport.h"
#include "net/loop.h"
#include "sim/api/api.h"
#include "sim/pace.h"

enum chaos_kind {
    CHAOS_EVICT,
    CHAOS_DELETE_POD,
    CHAOS_PATCH_NODE,
    CHAOS_PATCH_STATUS,      /* of a node */
    CHAOS_PATCH_SLOTS,       /* the record, or its first one */
    CHAOS_PATCH_MAINTENANCE, /* its status, or its finalizer */
    CHAOS_LEASE,             /* of a leader */
    CHAOS_PATCH_OTHER,
    CHAOS_EVENT,
    CHAOS_OTHER, /* any other write */
    CHAOS_WRITES,
    CHAOS_GET = CHAOS_WRITES,
    CHAOS_LIST,
    CHAOS_WATCH,
    CHAOS_KINDS,
};

enum chaos_fault {
    CHAOS_REFUSED, /* no connection: never carried out */
    CHAOS_RESET,   /* the connection breaks before the answer */
    CHAOS_SILENCE, /* no answer at all; a write that is carried out may be so much later */
    CHAOS_LATE,    /* the answer takes seconds; of streams: everything does */
    CHAOS_CUT,     /* the connection breaks within the answer or, of streams, some time later */
    CHAOS_409,
    CHAOS_410,
    CHAOS_429,       /* without Retry-After and without a cause */
    CHAOS_429_AFTER, /* with Retry-After */
    CHAOS_429_FLOW,  /* by priority and fairness, plain text */
    CHAOS_500,
    CHAOS_503,
    CHAOS_504,
    CHAOS_KILLED, /* the process dies while the request is under way */
    CHAOS_FAULTS,
};

/* Writes: whether it was carried out all the same. Reads: always "lost". */
struct chaos_counts {
    uint64_t calls[CHAOS_KINDS];
    uint64_t faults[CHAOS_KINDS][CHAOS_FAULTS][2]; /* [1]: carried out */
};

void chaos_counts_add(struct chaos_counts *to, const struct chaos_counts *from);
/* Prints them; whether each fault has happened `wanted` times to each kind of write that there
 * was. */
bool chaos_table(const struct chaos_counts *c, unsigned wanted);

/* Whether a fault is one that can happen to this kind of call, carried out or not. */
bool chaos_possible(enum chaos_kind kind, enum chaos_fault fault, bool applied);
const char *chaos_kind_word(enum chaos_kind kind);
const char *chaos_fault_word(enum chaos_fault fault);

/* Where a request goes: "/api/v1/namespaces/a/pods/b/eviction?x=y". Texts are NULL when absent. */
struct chaos_target {
    char text[256];
    const char *group, *ns, *resource, *name, *sub;
    char
        selected[64]; /* the value of metadata.name= or spec.nodeName= in a field selector, or "" */
};
void chaos_target(const char *path, struct chaos_target *out);
enum chaos_kind chaos_kind(const char *method, const char *path, const struct chaos_target *target);

struct chaos_request {
    uint64_t number;
    enum chaos_kind kind;
    const char *method, *path;
    struct chaos_target target;
    struct view body;
    unsigned process; /* which one sent it: chaos_killed() counts */
};

struct chaos_hooks {
    /* The process has sent it. */
    void (*sent)(void *arg, const struct chaos_request *req);
    /* It is carried out, from the one to the other. */
    void (*serving)(void *arg, const struct chaos_request *req);
    void (*served)(void *arg, const struct chaos_request *req, const struct api_reply *reply);
    /* What the process was told: an HTTP status, or 0 for no answer. `retry_after` is in seconds,
     * or -1. */
    void (*told)(void *arg, const struct chaos_request *req, int code, int64_t retry_after);
    /* The process shall die: called from a timer of the loop. */
    void (*kill)(void *arg);
    void *arg;
};

struct chaos_options {
    uint64_t seed;
    double write_faults, read_faults; /* shares */
    bool no_watch;                    /* watching is forbidden (403) */
    bool slow;                        /* every answer takes up to seconds */
    struct chaos_hooks hooks;
    struct chaos_counts *counts; /* added to */
};

struct chaos;

struct chaos *chaos_new(struct loop *loop, struct api *api, struct pace *pace,
                        const struct chaos_options *opts);
void chaos_free(struct chaos *c);
struct kube_transport *chaos_transport(struct chaos *c);

/* No new faults from now on, and answers come at once; what lags or is silent stays so. */
void chaos_quiet(struct chaos *c);
/* Until that time (of the loop) the server has no connection for it, or nothing but errors. */
void chaos_outage(struct chaos *c, int64_t until);
/* Between the two the process dies: what it has under way is carried out later or not at all. */
void chaos_killing(struct chaos *c);
void chaos_killed(struct chaos *c);

/* The process is stopped, or goes on: what is on its way to it waits until then. */
void chaos_freeze(struct chaos *c, bool frozen);

/* The process has been told everything that happened to these objects by this time (wall clock of
 * the world), 0 for nothing: of a resource as a whole ("nodes"), narrowed by what its watches
 * select ("w1"). */
int64_t chaos_known(const struct chaos *c, const char *resource, const char *selected);
/* Requests that the process has under way, for an object; NULL: any. */
unsigned chaos_pending(const struct chaos *c, enum chaos_kind kind, const char *ns,
                       const char *name);

#endif
