/* Volumes: claims are bound or provisioned, attached to nodes and detached again.
 *
 * The parts are those of a real cluster: the controllers of kube-controller-manager (volumes.c
 * binds claims, protection.c keeps what is used, ephemeral.c makes the claims of pods, attach.c has
 * volumes attached), the side cars of one storage driver, DISK_DRIVER (provisioner.c makes disks
 * and deletes them, attacher.c attaches them), and the kubelets (mounts.c). What they have in
 * common is in storage.h.
 *
 * The driver's disks have the zone of the node that they were made for, and are attached to one
 * node at a time unless their access modes allow more. How long things take is said by annotations
 * (see machine.h for what a value is) of the PersistentVolume, or else of its StorageClass:
 *
 *     sim.slipway.dev/provision  from the request to the volume (StorageClass only): 200ms-2s;
 *                                "never"
 *     sim.slipway.dev/attach     500ms-3s; "never"
 *     sim.slipway.dev/detach     500ms-3s; "never"
 *
 * Nobody is there for claims of other provisioners: they stay Pending, as in a cluster without the
 * driver. Volumes of other CSI drivers that somebody creates need not be attached. What is left
 * out: volumes do not grow (a larger request changes nothing), policy Recycle recycles nothing,
 * there are no snapshots and clones, and CSINodes are not written. */
#ifndef SIM_FLEET_VOLUMES_H
#define SIM_FLEET_VOLUMES_H

#include "sim/fleet/fleet.h"

/* All claims of the pod are bound, what must be attached to its node is, and the ConfigMaps and
 * Secrets that it mounts are there: the kubelet may start it. Where something is missing that will
 * not come by itself, the pod gets the events that the kubelet would write. */
bool volumes_ready(struct fleet *f, const struct pod *pod);

#endif
