/* Does this pod fit that node?
 *
 * One answer for the planner, for the simulator's scheduler and for whoever explains a pending pod.
 * The rules, their order and their words are those of kube-scheduler v1.36 with its default
 * plugins; the real one is the judge (tests/cluster/test_fit.py).
 *
 * A struct fit is a picture of the cluster that is kept current in small steps: a node, pod, claim
 * or namespace is put when it is new or has changed, and removed when it is gone. A step costs
 * about the same however large the cluster is. Questions are asked against the picture as it is;
 * whoever wants to know "what if" changes it, asks, and changes it back.
 *
 * All objects must be decoded into the one pool that fit_new() is given: what is equal is
 * recognised by its address. Nothing of an object is kept but references to pool entries, so the
 * object itself may go at any time. (The spec within a struct pod_template is no entry of the pool:
 * it cannot be asked about as it is.)
 *
 * The same steps and questions in the same order have the same answers, to the byte.
 *
 * What is not judged, because the model does not read it: ResourceClaims, CSIStorageCapacity, a CSI
 * driver that must be installed on the node, disks from before CSI (GCE, EBS, RBD, iSCSI), in the
 * pod itself or as a volume, VolumeAttributesClass, a resize of the pod as a whole, features that
 * nodes declare, images that a node has already. A pod with more than 256 terms of one sort is
 * refused. */
#ifndef ENGINE_FIT_H
#define ENGINE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/object.h"

struct fit;

struct fit *fit_new(struct pool *pool);
void fit_free(struct fit *f); /* before the pool */

/* --- the picture --- */

void fit_put_node(struct fit *f, const struct node *node);
/* Its pods stay known: they count again when the node comes back. */
void fit_remove_node(struct fit *f, const char *name);
/* From now until it is put or cordoned again, as if it had the mark of engine/next_mark.h, a
 * PreferNoSchedule taint: pods that do not tolerate it go there when they like nothing better. */
void fit_avoid_node(struct fit *f, const char *name);
/* From now until it is put again, as after a cordon or its end: the taint that Kubernetes gives to
 * cordoned nodes comes and goes with it. (A node that is put has the taints that it says.) */
void fit_cordon_node(struct fit *f, const char *name, bool on);
size_t fit_node_count(const struct fit *f);
/* for (size_t i = 0; i < fit_node_count(f); i++): in an order that only steps change. */
const char *fit_node_name(const struct fit *f, size_t i);

/* A pod takes room on its node until it is removed or has finished. One without a node takes none;
 * one that is nominated for a node has its room kept there from pods that are no more important. */
void fit_put_pod(struct fit *f, const struct pod *pod);
/* As if the pod were bound to this node. Until it is removed: putting it again, still unbound,
 * changes nothing, as long as it is the same pod (its uid). */
void fit_assume(struct fit *f, const struct pod *pod, const char *node);
void fit_remove_pod(struct fit *f, const char *ns, const char *name);

/* One pod more like this one on the node, without a name, for those who ask "what if" by the
 * thousand: what is returned is what it is known by, until it is taken away or the picture goes. */
struct fit_pod *fit_add(struct fit *f, const struct pod *like, const char *node);
void fit_take(struct fit *f, struct fit_pod *added);

/* Where it takes room, or NULL. */
const char *fit_pod_node(const struct fit *f, const char *ns, const char *name);

void fit_put_namespace(struct fit *f, const struct ns *ns);
void fit_remove_namespace(struct fit *f, const char *name);

void fit_put_volume(struct fit *f, const struct pv *pv);
void fit_remove_volume(struct fit *f, const char *name);
void fit_put_claim(struct fit *f, const struct pvc *pvc);
void fit_remove_claim(struct fit *f, const char *ns, const char *name);

/* What matters of a StorageClass. All pointers are pool entries. */
struct fit_class {
    const char *name;
    bool waits;      /* volumeBindingMode: WaitForFirstConsumer */
    bool provisions; /* its provisioner is not kubernetes.io/no-provisioner */
    const char *provisioner;
    /* allowedTopologies: a list; each requirement is a key and the values that are allowed */
    const struct node_term *topologies;
};
void fit_put_class(struct fit *f, const struct fit_class *class);
void fit_remove_class(struct fit *f, const char *name);

/* How many volumes drivers can attach to a node, by its name: known as long as there is one or the
 * other. And what is attached: it counts also when no pod uses it. */
void fit_put_csi_node(struct fit *f, const struct csi_node *node);
void fit_remove_csi_node(struct fit *f, const char *name);
void fit_put_attachment(struct fit *f, const struct volume_attachment *va);
void fit_remove_attachment(struct fit *f, const char *name);

/* --- the questions --- */

enum fit_code {
    FIT_NO_NODE, /* there is no node of this name */
    FIT_GATED,   /* the pod has scheduling gates */
    FIT_POD, /* something about the pod that no node can mend: a claim that does not exist, ... */
    FIT_NOT_ASKED, /* the pod names the nodes that it wants, and this is none of them */
    FIT_UNSCHEDULABLE,
    FIT_NODE_NAME,
    FIT_TAINT,
    FIT_NODE_AFFINITY,
    FIT_PORTS,
    FIT_PODS,         /* too many pods */
    FIT_RESOURCE,     /* CPU, memory, ...: the text names it */
    FIT_CLAIM_USE,    /* ReadWriteOncePod, and another pod uses it */
    FIT_VOLUME_COUNT, /* the CSI driver can attach no more volumes */
    FIT_VOLUME_NODE,
    FIT_VOLUME_NONE, /* no volume to bind to, and none can be made here */
    FIT_VOLUME_GONE,
    FIT_VOLUME_ZONE,
    FIT_SPREAD_LABEL,
    FIT_SPREAD,
    FIT_AFFINITY,
    FIT_ANTI_AFFINITY,
    FIT_ANTI_AFFINITY_OF_OTHERS,
    FIT_CODES
};

struct fit_reason {
    enum fit_code code;
    const char *text; /* as kube-scheduler words it: "Insufficient cpu" */
};

/* Valid until the next question or step. */
struct fit_verdict {
    const struct fit_reason *reasons; /* of the first rule that says no; none: it fits */
    size_t n;
    bool final; /* taking other pods off the node would not help */
};

/* Whether the pod fits the node. A pod that is on some node already should be removed from the
 * picture first, and asked about with a copy that has no node. */
bool fit_check(struct fit *f, const struct pod *pod, const char *node, struct fit_verdict *out);

/* The node that the scheduler would take, or NULL when the pod fits none; equally good ones are
 * told apart by `random`. In a large cluster it is not the best of all nodes but, as in the real
 * scheduler, of the first few hundred that fit. The picture does not change: fit_assume() does. */
const char *fit_place(struct fit *f, const struct pod *pod, uint64_t random);

/* Any node that the pod fits, or NULL: cheap, for those who ask often. All nodes get their turn. Of
 * its likes and dislikes only PreferNoSchedule taints count, among as many nodes as fit_place()
 * compares. */
const char *fit_any(struct fit *f, const struct pod *pod);

/* Why the pod fits no node, in the words of the FailedScheduling event and the pod's condition:
 * "0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient cpu. ...". False, and
 * nothing is added, when there is a node that it fits. */
bool fit_explain(struct fit *f, const struct pod *pod, struct str *out);

/* Of such a message (without what it says of preemption) of this or an older scheduler: whether all
 * its reasons are among those that are judged here. With another one "it fits" is no answer to it.
 */
bool fit_knows(const char *message);

/* The codes that stood in the way in the last question that looked for a node (fit_place(),
 * fit_explain()), as bits: 1u << FIT_TAINT. */
uint32_t fit_codes(const struct fit *f);

/* How much the scheduler likes each node that the pod fits; for tests and for the curious. */
struct fit_score {
    const char *node;
    int64_t score;
};
/* All nodes that fit, in the order of fit_node_name(); valid until the next question or step. A
 * single one has the score 0: there is nothing to compare. */
const struct fit_score *fit_scores(struct fit *f, const struct pod *pod, size_t *n);

/* What must happen to the pod's claims that wait for their first consumer, when it goes to this
 * node: which volume each is bound to, or NULL where one has to be made. Names are pool entries. */
struct fit_binding {
    const char *claim, *volume;
};
/* Valid until the next question or step; none when it does not fit. */
const struct fit_binding *fit_bindings(struct fit *f, const struct pod *pod, const char *node,
                                       size_t *n);

#endif
