/* What helps against a blocker: the one home of the words, the command and the risk. `why` and
 * `doctor` both tell of it, and differ in whom they ask about, not in what they advise. */
#ifndef ENGINE_REMEDY_H
#define ENGINE_REMEDY_H

#include "engine/remake.h"
#include "engine/why.h"

enum { REMEDIES_MOST = 4 };
struct remedies {
    struct why_remedy list[REMEDIES_MOST]; /* in the order of risk */
    size_t n;
};

/* Of a node that does not answer. */
void remedy_lost_node(struct arena *arena, const char *node, struct remedies *out);
/* Of a budget that its controller cannot compute; `ready` of its pods are. */
void remedy_sync_failed(struct arena *arena, const struct pdb *pdb, int ready,
                        struct remedies *out);
/* Of volumes that do not get off the node, this for instance. */
void remedy_attached(struct arena *arena, const struct volume_attachment *va, const char *node,
                     struct remedies *out);
/* Of a budget that counts none of its pods (budget_uncounted()). */
void remedy_uncounted(struct arena *arena, const struct pdb *pdb, struct remedies *out);
/* Of a budget that keeps pods that are not ready. */
void remedy_unready(struct arena *arena, const struct pdb *pdb, struct remedies *out);
/* Of a namespace that is being deleted. */
void remedy_namespace(struct arena *arena, const char *ns, struct remedies *out);

/* --- budgets and their workloads --- */

/* What is scaled or patched to change a pod's template or number. */
struct remedy_owner {
    const char *resource; /* "deployment"; NULL: there is none that we know of */
    const char *ns, *name;
    int32_t replicas;  /* wanted */
    bool shares_claim; /* a second replica would want the same volume */
};

/* A second replica would want the same volume, which most cannot be given twice. */
bool template_has_claim(const struct pod_template *template);

/* More replicas, with which the budget of `healthy` pods allows one; `node`: whose drain could make
 * the second one, or NULL. */
void remedy_scale(struct arena *arena, const struct pdb *pdb, const struct remedy_owner *owner,
                  int64_t healthy, const char *node, struct remedies *out);
/* Of a budget that never allows anything: one at a time. */
void remedy_allow_one(struct arena *arena, const struct pdb *pdb, bool has_owner,
                      struct remedies *out);
/* Of one that allows nothing now: one, with the pods that are healthy. */
void remedy_allow_now(struct arena *arena, const struct pdb *pdb, struct remedies *out);

/* --- pods; of several like it the first, and their number --- */

/* Nothing makes it again. `drain` is the command that takes it; `orphan`: its DaemonSet is gone;
 * `data`: emptyDir data goes as well. */
void remedy_bare(struct arena *arena, const struct pod *pod, size_t n, const char *drain,
                 bool orphan, bool data, struct remedies *out);
void remedy_empty_dir(const char *drain, struct remedies *out);
/* Its template names the node. */
void remedy_pinned(struct arena *arena, const struct remedy_owner *owner, struct remedies *out);
/* It asks for its node alone, by a selector or an affinity; owner: NULL when it is not known. */
void remedy_one_node(struct arena *arena, const struct pod *pod, const struct remedy_owner *owner,
                     struct remedies *out);
/* Its volume is on a disk of the node. */
void remedy_local_volume(struct remedies *out);
/* It tolerates cordons; `template`: its owner's, or NULL. */
void remedy_returns(struct arena *arena, const struct remedy_owner *owner,
                    const struct pod_template *template, struct remedies *out);
/* It is marked "key=value": as to be waited for until it has finished, or as not to be evicted. */
void remedy_mark(struct arena *arena, const struct pod *pod, size_t n, const char *mark,
                 bool finishes, struct remedies *out);
/* It has a finalizer of somebody's; `asked`: it was asked to go. */
void remedy_finalizer(struct arena *arena, const struct pod *pod, bool asked, struct remedies *out);
/* It should have stopped long ago. */
void remedy_stuck(struct arena *arena, const struct pod *pod, struct remedies *out);
/* It would not be made again. */
void remedy_unmade(struct arena *arena, const struct remade *remade, struct remedies *out);

/* kubectl's patch of a budget: `spec` is what stands between the braces. */
const char *remedy_patch(struct arena *arena, const struct pdb *pdb, const char *spec);
/* What it costs to have so many left. */
const char *remedy_serve(struct arena *arena, int left, int of);

#endif
