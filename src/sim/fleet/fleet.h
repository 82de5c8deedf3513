/* The fleet: everything in a cluster that acts by itself. Machines with their kubelets, the
 * scheduler, and the controllers that Kubernetes' own controller manager runs. All of them see the
 * world as the real ones do, through its objects, and change it by the rules of the API
 * (sim/api/registry.h); all of them work on the world's clock with delays drawn from its seed.
 *
 * One file per part, each with a `struct part` row. A part listens to shelves (shelf_listen()),
 * queues the keys of what may need work (sim/fleet/queue.h), and looks at the present state when a
 * key's turn comes: level, not edge, as the real controllers do. */
#ifndef SIM_FLEET_FLEET_H
#define SIM_FLEET_FLEET_H

#include "sim/api/registry.h"
#include "sim/fleet/queue.h"

struct fleet;

/* What a part is to the fleet. `start` allocates its state (NULL is possible); `free` takes it. */
struct part {
    const char *name; /* "replicaset-controller": also the source of its events */
    void *(*start)(struct fleet *f);
    void (*free)(void *part);
};

struct fleet {
    struct world *world;
    struct api *api;
    VEC(void *) parts; /* in the order of fleet_parts[] */
    /* The shelves that nearly every part needs. */
    struct resource *nodes, *pods, *namespaces, *leases, *events, *deployments, *replica_sets,
        *stateful_sets, *daemon_sets, *jobs, *revisions, *pdbs, *pvs, *pvcs, *attachments,
        *storage_classes, *csi_nodes;
    const char *ca;              /* the server's authority, in PEM, for pods; NULL: none */
    struct machines *machines;   /* sim/fleet/machine.h */
    struct pod_index *pod_index; /* sim/fleet/pod_index.h */
    struct original *original;   /* sim/fleet/original.h; NULL: this is no copy */
};

/* NULL-terminated, in the order in which they start. */
extern const struct part *const fleet_parts[];

/* Without `parts` nothing acts by itself: hands without a head. */
struct fleet *fleet_new(struct api *a, bool parts, const char *ca);
void fleet_free(struct fleet *f); /* before its API */

/* --- the hands of the parts --- */

/* Microseconds drawn evenly from [min, max]. */
int64_t fleet_delay(struct fleet *f, int64_t min, int64_t max);

/* Creates an object from what a client would send (`raw` is given up). NULL when it was refused;
 * then the failure says why. A reference of the caller's: record_unref(). */
struct record *fleet_create(struct fleet *f, struct resource *res, const char *ns, json_t *raw,
                            struct failure *failure);
/* Replaces an object by a changed copy of it (`obj` is given up), as PUT does with its
 * resourceVersion; `sub` is NULL or "status". False when it was refused; `failure` may be NULL. */
bool fleet_update(struct fleet *f, struct resource *res, const char *sub, json_t *obj,
                  struct failure *failure);
/* Replaces the status of a built-in object if it differs, without the detours of an API request:
 * `status` (given up) must be in canonical form or be brought into it by the schema here. Returns
 * the current record (not a new reference). */
struct record *fleet_put_status(struct fleet *f, struct resource *res, struct record *r,
                                json_t *status);
/* The same with a text that is in canonical form (sim/fleet/status_text.h). */
struct record *fleet_put_status_text(struct fleet *f, struct resource *res, struct record *r,
                                     const struct str *status);
/* A number of a status that is left out when it is 0, as most are. */
void status_set_number(json_t *status, const char *key, int64_t n);
/* Deletes as a client would; `o` may be NULL. False when it was refused. */
bool fleet_delete(struct fleet *f, struct resource *res, const char *ns, const char *name,
                  const struct delete_options *o);
/* A strategic matter done simply: sets (value given up) or removes (NULL) members of the metadata's
 * map "labels" or "annotations". */
bool fleet_set_meta(struct fleet *f, struct resource *res, struct record *r, const char *map,
                    const char *key, const char *value);

/* Tells people: an Event about an object. Repetitions within ten minutes count up. */
void fleet_event(struct fleet *f, const char *component, const struct resource *res,
                 const struct record *about, const char *type, const char *reason, const char *fmt,
                 ...) __attribute__((format(printf, 7, 8)));

/* An ownerReferences entry for a controller: {apiVersion, kind, name, uid, controller,
 * blockOwnerDeletion}. */
json_t *fleet_owner(const struct resource *res, const struct record *owner);

#endif
