/* What the parts that deal with storage (volumes.h) have in common: who uses what, and the names
 * and rules that more than one of them goes by. The indexes are kept current by listening; a list
 * of names is borrowed until the next change of any object. */
#ifndef SIM_FLEET_STORAGE_H
#define SIM_FLEET_STORAGE_H

#include "sim/fleet/fleet.h"
#include "sim/fleet/lists.h"

/* The CSI driver that there is: of StorageClasses its provisioner, of VolumeAttachments the
 * attacher. */
#define DISK_DRIVER "disk.sim.slipway.dev"

#define ANN_BIND_COMPLETED  "pv.kubernetes.io/bind-completed"
#define ANN_BOUND_BY_US     "pv.kubernetes.io/bound-by-controller"
#define ANN_PROVISIONED_BY  "pv.kubernetes.io/provisioned-by"
#define ANN_SELECTED_NODE   "volume.kubernetes.io/selected-node"
#define ANN_PROVISIONER     "volume.kubernetes.io/storage-provisioner"
#define ANN_OLD_PROVISIONER "volume.beta.kubernetes.io/storage-provisioner"

/* --- who uses what --- */

/* The pods that name a claim, or have it made for them, wherever they are. */
struct names claim_pods(const struct fleet *f, const char *ns, const char *claim);
/* The volumes whose claimRef names a claim, whatever its uid. */
struct names claim_volumes(const struct fleet *f, const char *ns, const char *claim);
/* The volumes of a class ("": those of none) that have no claimRef. */
struct names free_volumes(const struct fleet *f, const char *class);
/* The VolumeAttachments of a volume. */
struct names volume_attachments(const struct fleet *f, const char *pv);

/* --- pods --- */

/* The claim behind a pod's volume, NULL when it has none. */
enum { CLAIM_NAME_SIZE = 253 + 1 + 63 + 1 }; /* <pod>-<volume> of an ephemeral one */
const char *volume_claim(const struct pod *pod, const struct volume *v,
                         char buf[static CLAIM_NAME_SIZE]);
/* Whether any volume of the pod has one. */
bool pod_has_claims(const struct pod *pod);
/* The pod no longer needs its volumes: it has ended, or is being deleted with nothing running. */
bool pod_let_go(const struct pod *pod);
/* Something changed that matters to its volumes: it came or went, got a node, or let go. */
bool pod_moved(const struct change *c);
/* The claim belongs to the pod, as that of an ephemeral volume must. */
bool claim_is_of(const struct pvc *claim, const struct pod *pod);

/* --- claims and volumes --- */

/* The class that is asked for, or NULL: the old annotation counts first. */
const char *claim_class(const struct pvc *claim);
const char *volume_class(const struct pv *volume);
/* The claim is bound, and so says its volume: that volume, else NULL. */
struct record *claim_volume(const struct fleet *f, const struct pvc *claim);
/* The same for a volume of a pod. */
struct record *pod_volume(const struct fleet *f, const struct pod *pod, const struct volume *v);
/* The claim that the volume is reserved for, by name and, where it says one, uid. */
bool volume_refers(const struct pv *volume, const struct pvc *claim);

/* A volume of DISK_DRIVER; in a copy of another cluster one of any driver that attaches volumes. */
bool volume_is_disk(const struct fleet *f, const struct pv *volume);
/* Whether attachments of this driver (the attacher) are ours to make. */
bool driver_is_ours(const struct fleet *f, const char *driver);
/* What keeps attachments until the disk is off the node for certain. */
#define ATTACHER_FINALIZER "external-attacher/disk-sim-slipway-dev"
/* More than one node may have it. */
bool volume_is_shared(const struct pv *volume);
/* As in the status of a Node: "kubernetes.io/csi/<driver>^<handle>". The caller frees it. */
char *disk_name(const struct pv *volume);
/* The name of the VolumeAttachment of a disk and a node. */
enum { ATTACHMENT_NAME_SIZE = 4 + 64 + 1 };
const char *attachment_name(const struct pv *volume, const char *node,
                            char buf[static ATTACHMENT_NAME_SIZE]);

/* A StorageClass by name (which may be NULL), and its annotations. */
struct record *class_find(const struct fleet *f, const char *name);
const struct pair *class_annotations(const struct fleet *f, const char *name);

/* --- writing --- */

bool finalizer_has(const struct meta *m, const char *name);
/* True when it is there afterwards. */
bool finalizer_add(struct fleet *f, struct resource *res, struct record *r, const char *name);
/* The object may be gone afterwards. */
void finalizer_remove(struct fleet *f, struct resource *res, struct record *r, const char *name);

#endif
