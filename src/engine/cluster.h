/* The picture of the cluster that decisions are made from: stores that somebody else keeps current
 * (src/exec by watches, tests by hand), and single objects that were asked for.
 *
 * The pods are those of the nodes at work, or all: the engine does not need to know. */
#ifndef ENGINE_CLUSTER_H
#define ENGINE_CLUSTER_H

#include "base/htab.h"
#include "model/outcome.h"
#include "model/pdbs.h"
#include "model/store.h"

struct cluster {
    struct pool *pool;
    uint64_t actions; /* the number of the last action of anybody who decides by this picture */
    struct store *nodes, *pods, *budgets;
    struct store *attachments;             /* VolumeAttachments */
    bool budgets_known, attachments_known; /* false: they cannot be read here */
    bool owners_watched; /* replica_sets, stateful_sets and deployments are complete */
    struct store *replica_sets, *stateful_sets, *deployments;
    struct store *daemon_sets;    /* complete, or NULL: they are read one by one */
    unsigned pods_by_node;        /* index of pods: store_key_node */
    unsigned attachments_by_node; /* the same of attachments */
    struct pdbs *pdbs;
    struct htab lookups; /* single objects that were asked for */
    struct htab reads;   /* those that are being read, by their action */
    VEC(struct lookup *) wanted;
    size_t wanted_from; /* those before were taken */
    uint64_t misses; /* looks at what is not known yet: whoever counts them knows to look again */
    const struct lookup *troubled; /* the first by name of those that could not be read, since
                                      somebody set it to NULL */
    bool all_pods;                 /* `pods` has those of the whole cluster */
    VEC(struct peers *) peers;
};

void cluster_init(struct cluster *c, struct pool *pool);
void cluster_done(struct cluster *c);
/* What was asked for is not known any more: answers that are still to come are nobody's. The
 * stores stay. */
void cluster_forget(struct cluster *c);

/* --- single objects --- */

enum known {
    KNOWN_THERE,
    KNOWN_GONE,    /* there is none */
    KNOWN_NEVER,   /* it cannot be had (no permission, for instance): `why` */
    KNOWN_NOT_YET, /* it is being asked for */
};

struct lookup {
    const struct kind *kind;
    char *ns, *name;
    enum known known;
    char *why; /* with GONE and NEVER: the server's sentence */
    struct object *obj;
    uint64_t action; /* number of the read under way; 0: none; cluster_reading() sets it */
    bool wanted;     /* on the list */
    unsigned failures;
    int64_t not_before; /* for whoever reads: when to try again */
};

/* The first time it is put on the list of what is wanted: somebody reads it. Never NULL; valid as
 * long as the cluster. Owners are taken from their stores when these are watched. */
const struct lookup *cluster_look(struct cluster *c, const struct kind *kind, const char *ns,
                                  const char *name);
/* The next object that is wanted and not being read, or NULL. */
struct lookup *cluster_next_wanted(struct cluster *c);
/* Back on the list. */
void cluster_want(struct cluster *c, struct lookup *l);
/* It is being read, and that is the number of the action. */
void cluster_reading(struct cluster *c, struct lookup *l, uint64_t action);
/* What is being read under that number, or NULL. */
struct lookup *cluster_read_of(const struct cluster *c, uint64_t action);
/* How the read of that number ended; the object is copied. An outcome that may pass is asked for
 * again the next time somebody looks. False when it is none of ours. */
bool cluster_read_done(struct cluster *c, uint64_t action, enum kube_outcome outcome,
                       const char *message, const struct object *obj);
/* Asks again, for what may have changed. The old answer stands until then. */
void cluster_refresh(struct cluster *c, const struct kind *kind, const char *ns, const char *name);
/* What is known of it already, or NULL; nothing is asked for. */
const struct object *cluster_peek(const struct cluster *c, const struct kind *kind, const char *ns,
                                  const char *name);

/* --- the pods of a budget --- */

/* All pods that a budget selects, wherever they run: what is asked for only when somebody wants to
 * know why it does not allow anything. */
struct peers {
    char *ns, *name, *uid; /* of the budget */
    char *selector;        /* of its pods, as after -l */
    struct store *pods;
    bool started;  /* somebody fills it */
    int64_t asked; /* monotonic: somebody wanted them */
};

/* NULL when they are not there yet: then they are on the list of what is wanted. The array is
 * sorted by name and freed by the caller. */
const struct pod **cluster_peers(struct cluster *c, const struct pdb *pdb, int64_t now, size_t *n);
/* The next that nobody fills, or NULL. */
struct peers *cluster_next_peers(struct cluster *c);
/* One that nobody has wanted for a minute, or whose budget is gone: it makes room for another.
 * NULL: none. */
struct peers *cluster_idle_peers(struct cluster *c, int64_t now);
/* Whoever fills it has stopped. */
void cluster_drop_peers(struct cluster *c, struct peers *p);

/* The pods of a node, in no particular order; valid until the store changes. */
const struct pod *const *cluster_pods_on(const struct cluster *c, const char *node, size_t *n);
const struct volume_attachment *const *cluster_attached_to(const struct cluster *c,
                                                           const char *node, size_t *n);
const struct node *cluster_node(const struct cluster *c, const char *name);

#endif
