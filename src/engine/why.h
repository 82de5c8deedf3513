/* Why: the chain of causes behind a node that does not get drained, or a pod that does not go or
 * does not become ready, and what would help, in the order of its risk.
 *
 * Pure: stores in, a small tree out. Equal things are one link: thirty pods of a Deployment that
 * wait for one budget are a link with a count and one name.
 *
 *     struct why_world world = {...};
 *     do { why_node(&world, "w1", &arena, &why); } while (somebody has read what was asked for);
 *
 * What is needed beyond the target depends on what is found, so nobody reads a whole cluster in
 * advance: the world's `ask` is called for each thing that matters, and says whether it is there.
 * `why.complete` is false as long as something is not yet there; the answer is then a draft. What
 * cannot be had at all (no permission) is left out of the chain and named in `why.unread`. */
#ifndef ENGINE_WHY_H
#define ENGINE_WHY_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "engine/checks.h"
#include "engine/cluster.h"
#include "engine/cordon.h"
#include "engine/fit.h"
#include "model/pdbs.h"
#include "model/store.h"

/* --- what is needed --- */

enum why_want_kind {
    WHY_WANT_OBJECT,      /* one object: kind, ns, name */
    WHY_WANT_NODE_PODS,   /* the pods of node `name` */
    WHY_WANT_BUDGETS,     /* all budgets of namespace `ns`; NULL: of all */
    WHY_WANT_BUDGET_PODS, /* the pods of namespace `ns` that `selector` selects */
    WHY_WANT_QUOTAS,      /* all ResourceQuotas of namespace `ns`; NULL: of all */
    WHY_WANT_ATTACHMENTS, /* all VolumeAttachments */
    WHY_WANT_EVENTS,      /* those about one object: kind, ns, name */
    WHY_WANT_ROOM,        /* a picture of the whole cluster: world.fit, and all nodes */
    /* In it: all volumes, claims and StorageClasses. Asked for when it is there. */
    WHY_WANT_VOLUMES,
};

struct why_want {
    enum why_want_kind what;
    const struct kind *kind;
    const char *ns, *name, *selector; /* valid during the call */
};

/* KNOWN_THERE: it is in its store (lists: all of it). KNOWN_GONE: there is no such object. */
typedef enum known why_ask_fn(void *arg, const struct why_want *want);

struct why_world {
    struct store *nodes, *pods, *budgets;
    unsigned pods_by_node; /* index of pods: store_key_node */
    struct pdbs *pdbs;     /* over pods and budgets */
    struct store *replica_sets, *stateful_sets, *deployments, *daemon_sets, *namespaces, *volumes,
        *claims, *classes, *csi_nodes, *attachments, *events, *jobs, *accounts, *quotas;
    struct fit *fit;        /* of all nodes and pods, once WHY_WANT_ROOM is there; else NULL */
    int32_t least_priority; /* with it: of all pods */
    struct store *waiting;  /* with it: pods that have no node yet */
    /* Once WHY_WANT_VOLUMES is there: what of it could be read. */
    bool room_volumes, room_classes;
    bool no_limits; /* CSINodes could not be: drivers are taken to attach any number of volumes */
    const struct check_world *checks; /* of nodes: what storage and quorums say; NULL: not asked */
    why_ask_fn *ask;
    void *arg;
    int64_t now; /* wall clock, microseconds */
    bool room;   /* of nodes: look also whether their pods find room elsewhere */
};

/* --- the answer --- */

enum { WHY_NO_CODE = -1 };

/* What a remedy may cost; remedies are in this order. */
enum why_risk {
    WHY_RISK_NONE,    /* nothing but time */
    WHY_RISK_LOW,     /* a change that others may see: one replica more, a setting */
    WHY_RISK_SERVICE, /* fewer replicas than somebody wanted, or none for a while */
    WHY_RISK_DATA,    /* data may be lost */
};
/* "none", "low", "service", "data". */
const char *why_risk_word(enum why_risk risk);

struct why_remedy {
    enum why_risk risk;
    const char *text;    /* what to do, without full stop */
    const char *command; /* for a shell; "" when there is none */
    const char *cost;    /* what may happen; "" with WHY_RISK_NONE */
};

struct why_link {
    int code; /* enum blocker_code, or WHY_NO_CODE */
    enum severity severity;
    /* A drain without further flags does not get past it; or, before it has begun, would leave pods
     * without a place. */
    bool blocks;
    bool lasts;                           /* it does not end by itself, though its code may */
    const char *kind;                     /* of the object: "PodDisruptionBudget"; "" when none */
    const char *object;                   /* "shop/web"; "" when none */
    const char *text;                     /* a sentence without full stop, with numbers */
    unsigned pods;                        /* how many it concerns; 0: it is not about pods */
    const char *example;                  /* one of them, "shop/web-7c9d-x2x"; "" when none */
    int64_t since;                        /* wall clock; 0: not known */
    const struct why_link *const *causes; /* the worst first */
    size_t n_causes;
    const struct why_remedy *remedies; /* what should be tried first, first */
    size_t n_remedies;
};

enum why_state {
    WHY_FREE,    /* nothing is in the way, and all that was looked at finds a place */
    WHY_WAITS,   /* something is, and it may well pass by itself */
    WHY_BLOCKED, /* something is that somebody has to do something about */
};
/* "free", "waits", "blocked". */
const char *why_state_word(enum why_state state);

struct why {
    bool found;          /* the target exists, as far as is known */
    const char *kind;    /* "Node" or "Pod" */
    const char *ns;      /* "" for nodes */
    const char *name;    /* of the target */
    const char *summary; /* one sentence without full stop */
    enum why_state state;
    bool draining;          /* of nodes: somebody is at it */
    int64_t draining_since; /* 0: not known */
    const char *held_by;    /* who has cordoned it, "" */
    bool no_pods;           /* of nodes: they cannot be read, the next two are not known */
    unsigned pods;          /* of nodes: that a drain has to move, or that are still to go */
    unsigned stays;         /* of nodes: DaemonSet and mirror pods */
    const struct why_link *const *links; /* the worst first */
    size_t n_links;
    const char *const *unread; /* what could not be read, each once: "persistentvolumes" */
    size_t n_unread;
    bool complete;
};

/* Everything lives in the arena and is valid until a store changes. */
void why_node(const struct why_world *w, const char *name, struct arena *arena, struct why *out);
void why_pod(const struct why_world *w, const char *ns, const char *name, struct arena *arena,
             struct why *out);

#endif
