/* Drains: takes the pods off nodes, one or many at once, and says at every moment why it waits.
 *
 * Pure. Somebody feeds it (struct cluster is kept current, drain_poke() after each change), calls
 * drain_step() and carries out what it wants; answers come back with drain_answer(). The same code
 * runs in the command line, the controller, the agent and the simulator.
 *
 *     drain_new() -> { drain_step() -> actions -> drain_answer() | drain_poke() | time } -> over
 *
 * A node goes through its phases (enum drain_phase) when there is room for it; its pods go through
 * theirs (enum drain_pod_state). What a user sees are the notes: one for each transition, in order,
 * each exactly once. The rest (how many pods, which blockers, since when) can be read at any time.
 *
 * Nothing disruptive is decided on a node that our own cordon has not come back for (store_fresh),
 * nor after somebody else has uncordoned it. Evictions go to the API with the pod's UID; deletion
 * instead of eviction happens only with disable_eviction or where a rule says so. */
#ifndef ENGINE_DRAIN_H
#define ENGINE_DRAIN_H

#include "engine/action.h"
#include "engine/blocker.h"
#include "engine/checks.h"
#include "engine/cluster.h"
#include "engine/cordon.h"
#include "engine/rules.h"
#include "engine/tokens.h"

enum dry_run { DRY_RUN_NONE, DRY_RUN_CLIENT, DRY_RUN_SERVER };

/* A number of nodes, or a percentage of those to be drained (rounded down, at least one). */
struct limit {
    unsigned value; /* 0: no limit */
    bool percent;
};

/* A pod that never goes, as somebody knows who looks further than a drain does: a plan. */
struct drain_foreseen {
    const char *node, *ns, *name;
    enum blocker_code code;
    const char *object, *message;
};
int drain_foreseen_order(const void *a, const void *b);

struct drain_opts {
    /* kubectl's */
    bool force, ignore_daemonsets, delete_emptydir, disable_eviction;
    int64_t grace;                          /* seconds; negative: each pod's own */
    int64_t timeout;                        /* microseconds a node; 0: none */
    int64_t skip_wait;                      /* seconds; 0: off */
    const struct requirement *pod_selector; /* NULL: all pods */
    enum dry_run dry_run;
    /* ours */
    struct limit max_unavailable; /* nodes on their way out at once; drained ones do not count */
    unsigned parallel;            /* nodes worked on at once; 0: any */
    unsigned max_zones;           /* zones with a node out at once; 0: any */
    bool avoid_next;              /* nodes whose turn is still to come are marked: next_mark.h */
    bool in_order;                /* nodes begin in the order of their names, as a plan has it */
    double rate;                  /* evictions a second, all nodes together; 0: no limit */
    struct tokens *tokens;        /* instead: shared with other drains, whom it outlives; or NULL */
    int64_t detach_timeout;       /* microseconds to wait for volumes; 0: as long as the drain */
    bool surge;                   /* one replica more of Deployments that have one */
    bool wait_rescheduled;        /* a node is done when the owners of its pods are well again */
    bool uncordon_on_abort;       /* what we cordoned, when stopped or failed */
    bool cordoned;                /* the caller cordons: a node begins when its holder has done so,
                                   * and nothing is written to it for that */
    bool uncordon_when_done;      /* each node as soon as it is drained: a rolling rehearsal */
    bool keep_record;             /* false: no Events and no conditions on the node */
    /* What storage and quorums say is obeyed: kept current by the caller, who tells with
     * drain_checks_changed(). NULL: nobody is asked. */
    const struct check_world *checks;
    unsigned skip_checks;      /* bit i: row i of their table is not asked */
    int64_t checks_now;        /* wall clock that they go by; 0: the drain's own. In a copy nobody
                                * writes their objects anew, and they are none the older for it */
    const struct rules *rules; /* NULL: the built-in ones (foreign marks only) */
    /* A dry run of the client meets it as well; by drain_foreseen_order(). */
    const struct drain_foreseen *foreseen;
    size_t n_foreseen;
    struct cordon_holder holder; /* who cordons: id, by, reason */
    uint64_t seed;               /* of the jitter */
    int64_t skew; /* microseconds that the server's clock is ahead of ours, as far as is known */
};

/* How many of so many nodes may be on their way out at once. */
unsigned drain_limit(const struct drain_opts *opts, size_t nodes);

/* --- what can be read --- */

enum drain_phase {
    DRAIN_WAITING,   /* for room under the budget, or for a check */
    DRAIN_CORDONING, /* the cordon is being written or has not been seen back */
    DRAIN_CHECKING,  /* looks at what is there before anything is touched */
    DRAIN_EVICTING,
    DRAIN_DETACHING, /* no pods left; volumes are */
    DRAIN_RETURNING, /* the owners of its pods are not well again yet */
    DRAIN_UNDOING,   /* the cordon is being taken back */
    DRAIN_DONE,      /* the rest are ends */
    DRAIN_REFUSED,   /* pods that must not be touched without a flag, or a check: nothing was
                        evicted */
    DRAIN_TIMED_OUT, /* blocked for longer than the timeout */
    DRAIN_FAILED,    /* an error, see `error` */
    DRAIN_STOPPED,   /* told to stop */
};
static inline bool drain_ended(enum drain_phase p) {
    return p >= DRAIN_DONE;
}
/* "draining"; one word, lower case. */
const char *drain_phase_word(enum drain_phase p);

enum drain_pod_state {
    DRAIN_POD_STAYS,   /* DaemonSet, mirror, skipped: `why` says it */
    DRAIN_POD_QUEUED,  /* its turn has not come: order, rate */
    DRAIN_POD_BLOCKED, /* see `blocker` */
    DRAIN_POD_SENT,    /* a request is under way */
    DRAIN_POD_LEAVING, /* accepted, or terminating by itself */
    DRAIN_POD_GONE,
    DRAIN_POD_REFUSED, /* needs a flag that was not given */
    DRAIN_POD_FAILED,  /* will not be tried again, see `error` */
};

/* Why something waits. Texts are the drain's and valid until the next call that changes it. */
struct drain_blocker {
    enum blocker_code code;
    const char *kind;    /* of the object: "PodDisruptionBudget", "Pod", "Node"; "" when none */
    const char *object;  /* "web/frontend" */
    const char *message; /* with numbers */
    const char *hint;    /* what to do, where that is not what the code says; or NULL */
    int64_t since;       /* wall clock */
    unsigned attempts;
};
/* What to do. */
static inline const char *drain_hint(const struct drain_blocker *b) {
    return b->hint ? b->hint : blocker_row(b->code)->hint;
}

struct drain_pod {
    const char *ns, *name, *uid, *owner; /* owner: "ReplicaSet/frontend-7c9d" or "" */
    enum drain_pod_state state;
    const char *why;        /* of STAYS and REFUSED: kubectl's words */
    enum blocker_code code; /* of REFUSED */
    const char *error;      /* of FAILED */
    bool late;              /* it came after the cordon */
    bool deleted;           /* by deletion, not by eviction */
    bool skipped_wait;      /* not waited for: --skip-wait-for-delete-timeout */
    bool blocked;
    bool never; /* in a dry run of the client: only somebody's help would make it go */
    struct drain_blocker blocker;      /* when blocked */
    int64_t first_try, accepted, gone; /* wall clock, 0 */
    int64_t answer;                    /* microseconds from asking to that acceptance */
    /* How long it takes to go says nothing about others of its workload: it had ended when it was
     * asked, or was given less time than its own grace period. */
    bool odd;
};

struct drain_node {
    const char *name;
    enum drain_phase phase;
    int64_t since, started, ended; /* wall clock: of the phase; of the drain; 0 */
    int64_t deadline;              /* wall clock, 0 */
    bool was_cordoned;             /* before us */
    bool cordoned_by_us;
    bool emptied;           /* drained: at most the cordon is still to be taken back */
    const char *error;      /* of REFUSED, TIMED_OUT, FAILED: one sentence */
    bool gated;             /* WAITING for a check, not for its turn: see `blocker` */
    bool denied;            /* REFUSED by a check: see `error` */
    enum blocker_code code; /* of what is denied */
    bool access;    /* REFUSED or FAILED for want of connection, credentials or permission */
    unsigned total; /* pods that shall go, also late ones */
    unsigned gone, leaving, blocked_pods, failed, stays;
    struct drain_pod *const *pods; /* sorted by namespace and name; gone ones too */
    size_t n_pods;
    bool blocked; /* the node itself waits: for room, for volumes, for its owners */
    struct drain_blocker blocker;
};

/* --- notes --- */

enum drain_note_kind {
    NOTE_CORDONED,         /* node */
    NOTE_ALREADY_CORDONED, /* node */
    NOTE_CORDON_FAILED,    /* node, text */
    NOTE_UNCORDONED,       /* node */
    NOTE_PHASE,            /* node: `before` -> node->phase */
    NOTE_WARNINGS,         /* node, text: kubectl's line of warnings */
    NOTE_POD_EVICTING, /* pod: its turn has come; told before it is asked, or a budget refuses */
    NOTE_POD_DELETING, /* pod: the same by deletion */
    NOTE_POD_GONE,     /* pod */
    NOTE_POD_LATE,     /* pod: it came after the cordon, text: how */
    NOTE_POD_SKIPPED_WAIT, /* pod */
    NOTE_POD_FAILED,       /* pod, text */
    /* node, pod or NULL: a blocker; what may end by itself is told when it has lasted for three
     * seconds. Pods of a node that wait for the same thing are told of once. */
    NOTE_BLOCKED,
    NOTE_UNBLOCKED, /* the same: it ended */
    NOTE_ESCALATED, /* pod, text: what a rule made of it */
    NOTE_SURGE,     /* pod, text: what happens to its Deployment */
    NOTE_REMARK,    /* node or NULL, text */
};

struct drain_note {
    enum drain_note_kind kind;
    int64_t time; /* wall clock */
    const struct drain_node *node;
    const struct drain_pod *pod;
    const struct drain_blocker *blocker; /* of BLOCKED and UNBLOCKED */
    enum drain_phase before;
    const char *text;
};
typedef void drain_note_fn(void *arg, const struct drain_note *note);

/* --- life --- */

struct drain;

/* `names`: the nodes, in the order in which they were asked for; those that do not exist fail by
 * themselves. The cluster must outlive it. */
struct drain *drain_new(const struct drain_opts *opts, struct cluster *cluster,
                        const char *const *names, size_t n, drain_note_fn *note, void *arg);
void drain_free(struct drain *d);
/* A sentence about a drain of the node that was begun and has not ended, and by whom: another
 * process is at it, or one was killed. NULL: there is none. */
const char *drain_unended(const struct node *node, struct arena *arena);

/* For those who drain as long as they live: another node, held by `holder` (copied). False while
 * one of that name is still there. */
bool drain_add(struct drain *d, const char *name, const struct cordon_holder *holder);
/* Nothing more is done with it; it ends as DRAIN_STOPPED if it had not ended, and is forgotten when
 * nothing of it is under way any more. */
void drain_drop(struct drain *d, const char *name, const char *why);
/* NULL: there is none of that name. Valid until the next step. */
const struct drain_node *drain_node(struct drain *d, const char *name);

/* Something in the cluster has changed. NULL: anything may have. */
void drain_poke(struct drain *d, const struct kind *kind, const struct object *before,
                const struct object *after);
/* Something in what the checks decide by has changed. */
void drain_checks_changed(struct drain *d);
/* Decides. Adds to `out` what is to be done now. */
void drain_step(struct drain *d, struct now now, struct actions *out);
/* How an action ended; false when it is none of ours. */
bool drain_answer(struct drain *d, uint64_t action, const struct answer *answer, struct now now);
/* When drain_step() wants to be called at the latest, monotonic; INT64_MAX: never. */
int64_t drain_next(const struct drain *d);
/* No new evictions; what is under way is waited for no longer than its answer. */
void drain_stop(struct drain *d, const char *why);
/* All nodes have ended and nothing is under way. */
bool drain_over(const struct drain *d);

const struct drain_node *const *drain_nodes(const struct drain *d, size_t *n);

#endif
