/* Others that drain and reboot nodes: what shows that one of them is at work on a node right now.
 * Two managers that do not know of each other take two nodes where one may go, or reboot a node
 * that the other one holds; Slipway cannot stop them, and says so instead.
 *
 * A sign is an annotation or a taint of the Node, a label of a pod on it, or the lock that kured
 * keeps in an annotation of its DaemonSet. That a rival is installed is none: `slipway doctor`
 * looks for that. Pure. */
#ifndef ENGINE_RIVALS_H
#define ENGINE_RIVALS_H

#include "model/foreign.h"
#include "model/object.h"
#include "model/store.h"

enum rival_sign { RIVAL_ANNOTATION, RIVAL_TAINT, RIVAL_POD };

struct rival_row {
    const char *name; /* "kured" */
    enum rival_sign sign;
    const char *key, *value; /* NULL: any */
    const char *doing;       /* goes on after its name: "reboots it" */
    bool reboots;            /* the node is about to go, or has gone */
};
extern const struct rival_row rival_rows[];
extern const size_t n_rival_rows;

/* As after -l: every pod that can be a sign. */
#define RIVAL_POD_LABEL "upgrade.cattle.io/plan"

/* Who is at work on it, by what the Node says; NULL: nobody. */
const struct rival_row *rival_on_node(const struct node *node);
/* Whose pod it is, of those that run while their manager works on the node; NULL: nobody's. */
const struct rival_row *rival_of_pod(const struct pod *pod);

/* Calls `fn` for each node that kured has locked at that time (wall clock), by what stands in the
 * annotation: one lock, or with --concurrency several. A lock that lasts no longer than its TTL,
 * and whatever cannot be read, is none. The name is valid during the call. */
typedef void rival_lock_fn(void *arg, const char *node, const struct rival_row *rival);
void rival_locks(const struct kured_lock *lock, int64_t now, rival_lock_fn *fn, void *arg);
/* Whose lock it is that this node is named in; NULL: nobody's, or it is over. */
const struct rival_row *rival_of_lock(const struct kured_lock *lock, const char *node, int64_t now);

/* Of a DaemonSet (kind_kured_lock) that has come, changed or gone: whether the lock in it is
 * another one now. Of all that happens to DaemonSets nothing else shows. Either may be NULL. */
bool rival_lock_changed(const struct object *before, const struct object *after);

/* Where signs are that are not on the Node itself; NULL: not known. */
struct rival_signs {
    const struct store *locks; /* of kind_kured_lock */
    const struct store *pods;  /* those with RIVAL_POD_LABEL, and perhaps others */
};
/* Who has locked it. */
const struct rival_row *rival_by_lock(const struct rival_signs *signs, const char *node,
                                      int64_t now);
/* Who is at work on it, by any sign: first what the Node says. */
const struct rival_row *rival_at_work(const struct rival_signs *signs, const struct node *node,
                                      int64_t now);

#endif
