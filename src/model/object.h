/* The Kubernetes objects that Slipway reads, reduced to what scheduling, draining and explaining
 * need. Each struct is filled by the decoders through its table in object.c; see type.h for how to
 * read lists, maps and absent values. Strings are NULL when empty. */
#ifndef MODEL_OBJECT_H
#define MODEL_OBJECT_H

#include "model/type.h"

/* --- parts that many kinds share --- */

struct owner {
    const char *api_version, *kind, *name, *uid;
    bool controller;
};

struct meta {
    const char *name, *ns, *uid, *version; /* version: the resourceVersion */
    int64_t generation;
    int64_t created, deleted;
    int64_t deletion_grace; /* seconds or ABSENT64 */
    const struct pair *labels, *annotations;
    const struct owner *owners;
    const char *const *finalizers;
    uint32_t store_hash, store_epoch; /* the store's own notes (model/store.h) */
};

/* What every object begins with. */
struct object {
    struct meta meta;
};

struct condition {
    const char *type, *status, *reason, *message;
    int64_t changed;
};

struct requirement {
    const char *key, *op;
    const char *const *values;
};

struct label_selector {
    const struct pair *labels;
    const struct requirement *exprs;
};

struct object_ref {
    const char *kind, *ns, *name, *uid, *api_version, *field_path;
};

struct resources {
    const struct pair_qty *limits, *requests;
};

/* --- Node --- */

struct taint {
    const char *key, *value, *effect;
    int64_t added;
};

struct node_condition {
    struct condition c;
    int64_t heartbeat;
};

struct node_address {
    const char *type, *address;
};

struct node_info {
    const char *machine_id, *system_uuid, *boot_id, *kernel, *os_image, *runtime, *kubelet, *os,
        *arch;
};

struct attached_volume {
    const char *name, *device;
};

struct node {
    struct meta meta;
    const char *provider_id;
    bool unschedulable;
    const struct taint *taints;
    const struct pair_qty *capacity, *allocatable;
    const struct node_condition *conditions;
    const struct node_address *addresses;
    struct node_info info;
    const char *const *volumes_in_use;
    const struct attached_volume *volumes_attached;
};

/* --- Pod --- */

struct claim_source {
    const char *claim;
    bool read_only;
};

struct csi_source {
    const char *driver;
};

/* Only volumes that tie a pod to a node or to storage are kept. */
struct volume {
    const char *name;
    bool host_path, empty_dir, ephemeral;
    const struct claim_source *claim;
    const struct csi_source *csi;
};

struct port {
    const char *protocol, *host_ip;
    int32_t host_port;
};

struct container {
    const char *name, *image, *restart_policy;
    struct resources resources;
    const struct port *ports; /* those with a host port */
};

struct toleration {
    const char *key, *op, *value, *effect;
    int64_t seconds; /* ABSENT64: for ever */
};

struct node_term {
    const struct requirement *exprs, *fields;
};

struct node_selector {
    const struct node_term *terms;
};

struct preferred_node_term {
    struct node_term term;
    int32_t weight;
};

struct node_affinity {
    const struct node_selector *required;
    const struct preferred_node_term *preferred;
};

struct pod_term {
    const struct label_selector *selector, *ns_selector;
    const char *const *namespaces;
    const char *topology_key;
    const char *const *match_keys, *const *mismatch_keys;
};

struct weighted_pod_term {
    struct pod_term term;
    int32_t weight;
};

struct pod_affinity {
    const struct pod_term *required;
    const struct weighted_pod_term *preferred;
};

struct affinity {
    const struct node_affinity *node;
    const struct pod_affinity *pod, *anti;
};

struct spread {
    const char *topology_key, *when;
    const struct label_selector *selector;
    const char *affinity_policy, *taints_policy;
    const char *const *match_keys;
    int32_t max_skew, min_domains; /* min_domains: ABSENT32 */
};

struct named {
    const char *name;
};

struct responder {
    const char *name;
    int32_t priority;
};

/* Everything that pods of one template have in common; one copy serves them all. */
struct pod_spec {
    const struct volume *volumes;
    const struct container *containers, *init_containers;
    const char *restart_policy;
    int64_t grace; /* terminationGracePeriodSeconds */
    const struct pair *node_selector;
    const char *node_name; /* of templates only: a pod's own is in struct pod */
    bool host_network;
    const struct affinity *affinity;
    const char *scheduler, *priority_class, *preemption, *account;
    const struct toleration *tolerations;
    int32_t priority; /* ABSENT32 */
    const struct pair_qty *overhead;
    const struct spread *spread;
    const struct named *gates, *claims;
    const struct resources *resources; /* of the pod as a whole */
    const struct responder *responders;
};

struct state_waiting {
    const char *reason, *message;
};
struct state_terminated {
    const char *reason, *message;
    int32_t exit_code;
};
struct container_state {
    const struct state_waiting *waiting;
    const struct state_terminated *terminated;
    bool running;
};

struct container_status {
    const char *name;
    struct container_state state, last;
    int32_t restarts;
    bool ready, started;
    const struct pair_qty *allocated;
    const struct resources *resources;
};

struct pod {
    struct meta meta;
    const char *node_name;
    const struct pod_spec *spec;
    const char *phase, *reason, *message, *nominated, *qos;
    int64_t started;
    const struct condition *conditions;
    const struct container_status *containers, *init_containers;
};

/* The template of a workload: what its pods will be. */
struct pod_template {
    const struct pair *labels;
    struct pod_spec spec;
};

/* --- PodDisruptionBudget --- */

struct pdb {
    struct meta meta;
    struct intstr min_available, max_unavailable;
    const struct label_selector *selector;
    const char *unhealthy_policy;
    int64_t observed_generation;
    const struct pair_time *disrupted;
    int32_t allowed, healthy, desired, expected;
    const struct condition *conditions;
};

/* --- Lease --- */

struct lease {
    struct meta meta;
    const char *holder, *strategy, *preferred_holder;
    int32_t duration;    /* seconds, ABSENT32 */
    int32_t transitions; /* ABSENT32 */
    int64_t acquired, renewed;
};

/* --- ConfigMap --- */

struct config_map {
    struct meta meta;
    const struct pair *data;
};

/* --- storage --- */

struct volume_error {
    const char *message;
    int64_t time;
};

struct volume_attachment {
    struct meta meta;
    const char *attacher, *node_name, *pv;
    bool inline_spec, attached;
    const struct volume_error *attach_error, *detach_error;
};

struct pv_csi {
    const char *driver, *handle;
};

struct pv_affinity {
    const struct node_selector *required;
};

struct pv {
    struct meta meta;
    const struct pair_qty *capacity;
    const char *const *access_modes;
    const struct object_ref *claim;
    const char *reclaim, *storage_class, *volume_mode, *phase, *reason;
    const struct pv_affinity *affinity;
    const struct pv_csi *csi;
    bool local, host_path;
};

struct pvc {
    struct meta meta;
    const char *const *access_modes;
    const struct label_selector *selector;
    struct resources resources;
    const char *volume_name, *storage_class, *volume_mode, *phase;
    const struct pair_qty *capacity;
    const struct condition *conditions;
};

/* Of the topologies only the expressions are there, and of these key and values: a node must have
 * one of them. */
struct storage_class {
    struct meta meta;
    const char *provisioner, *binding_mode;
    const struct node_term *topologies;
};

struct csi_node_driver {
    const char *name;
    int32_t count; /* volumes that it can attach to the node; ABSENT32: any number */
};

/* Of the node of the same name. */
struct csi_node {
    struct meta meta;
    const struct csi_node_driver *drivers;
};

/* --- workloads --- */

struct daemon_set {
    struct meta meta;
    const struct label_selector *selector;
    const struct pod_template *template;
    int32_t min_ready_seconds;
    int32_t current, misscheduled, desired, ready, updated, available, unavailable;
    int64_t observed_generation;
};

struct replica_set {
    struct meta meta;
    int32_t replicas; /* wanted; ABSENT32 */
    int32_t min_ready_seconds;
    const struct label_selector *selector;
    const struct pod_template *template;
    int32_t now, labeled, ready, available, terminating;
    int64_t observed_generation;
};

struct stateful_set {
    struct meta meta;
    int32_t replicas; /* ABSENT32 */
    int32_t min_ready_seconds;
    const struct label_selector *selector;
    const struct pod_template *template;
    const char *service, *pod_management;
    int64_t observed_generation;
    int32_t now, ready, current, updated, available;
    const char *current_revision, *update_revision;
};

struct rolling_update {
    struct intstr max_unavailable, max_surge;
};

struct update_strategy {
    const char *type;
    const struct rolling_update *rolling;
};

struct deployment {
    struct meta meta;
    int32_t replicas; /* ABSENT32 */
    int32_t min_ready_seconds;
    const struct label_selector *selector;
    const struct pod_template *template;
    struct update_strategy strategy;
    bool paused;
    int64_t observed_generation;
    int32_t now, updated, ready, available, unavailable;
    const struct condition *conditions;
};

struct exit_codes {
    const char *container, *op; /* container: NULL is any */
    const int32_t *values;
};

struct condition_pattern {
    const char *type, *status;
};

/* It has one of the two. */
struct failure_rule {
    const char *action;
    const struct exit_codes *codes;
    const struct condition_pattern *conditions;
};

struct failure_policy {
    const struct failure_rule *rules;
};

struct job {
    struct meta meta;
    int32_t parallelism, completions, backoff_limit, ttl; /* ABSENT32 */
    int32_t index_limit;                                  /* backoffLimitPerIndex, ABSENT32 */
    int32_t max_failed_indexes;                           /* ABSENT32 */
    const struct failure_policy *policy;
    const char *managed_by;
    int64_t deadline; /* activeDeadlineSeconds, ABSENT64 */
    const struct label_selector *selector;
    const struct pod_template *template;
    const char *completion_mode, *replacement_policy;
    const char *failed_indexes; /* "1,3-5" */
    bool suspend;
    const struct condition *conditions;
    int64_t started, completed;
    int32_t active, succeeded, failed, ready, terminating; /* the last two: ABSENT32 */
};

/* --- the rest --- */

struct ns {
    struct meta meta;
    const char *const *finalizers;
    const char *phase;
    const struct condition *conditions;
};

struct quota_scope {
    const char *name, *op;
    const char *const *values;
};

struct quota_selector {
    const struct quota_scope *exprs;
};

struct resource_quota {
    struct meta meta;
    const struct pair_qty *hard, *used; /* hard: of the spec */
    const char *const *scopes;
    const struct quota_selector *selector;
};

/* Nothing but that it is there. */
struct service_account {
    struct meta meta;
};

struct event_source {
    const char *component, *host;
};

struct event_series {
    int64_t last;
    int32_t count;
};

struct kube_event {
    struct meta meta;
    struct object_ref object;
    const struct object_ref *related;
    const char *reason, *message, *type, *action, *reporter, *instance;
    struct event_source source;
    int64_t first, last, time;
    int32_t count;
    const struct event_series *series;
};

struct status_cause {
    const char *reason, *message, *field;
};

struct status_details {
    const char *name, *group, *kind, *uid;
    const struct status_cause *causes;
    int32_t retry_after; /* seconds */
};

/* What the API server answers instead of an object. */
struct status {
    const char *status, *message, *reason;
    const struct status_details *details;
    int32_t code;
};

/* The head of a list. */
struct list_meta {
    const char *version, *token; /* token: to continue with */
    int64_t remaining;           /* ABSENT64 */
};

/* --- kinds --- */

/* A kind: how it is called in the API, and its table. */
struct kind {
    const char *name;     /* "Pod" */
    const char *group;    /* "" for the core group */
    const char *version;  /* "v1" */
    const char *resource; /* "pods" */
    bool namespaced;
    const struct type *type; /* its struct begins with a struct meta */
    /* Where it has a text for why an object of it could not be read, of which then there is nothing
     * but metadata and status (kube/stream.h); 0: nowhere. */
    uint32_t unread;
};

extern const struct kind kind_node, kind_pod, kind_pdb, kind_lease, kind_volume_attachment,
    kind_daemon_set, kind_replica_set, kind_stateful_set, kind_deployment, kind_job, kind_pv,
    kind_pvc, kind_storage_class, kind_csi_node, kind_namespace, kind_event, kind_config_map,
    kind_resource_quota, kind_service_account;
extern const struct type type_status, type_list_meta;
/* Of any kind, for its metadata alone: a struct object. Not in `kinds`. */
extern const struct kind kind_any;

/* All kinds, NULL-terminated, and a kind by its name or resource (NULL when there is none). */
extern const struct kind *const kinds[];
const struct kind *kind_find(const char *name);
/* "apps/v1" or "v1". */
const char *kind_api_version(const struct kind *kind, char buf[static 64]);

/* Objects on the heap. object_free() takes NULL. */
struct object *object_new(const struct kind *kind);
void object_free(const struct kind *kind, struct pool *pool, struct object *obj);
struct object *object_copy(const struct kind *kind, const struct object *obj);
/* Complete, with kind and apiVersion. */
void object_print(const struct kind *kind, struct jsonw *w, const struct object *obj);

/* NULL when there is none of this type. */
const struct condition *condition_find(const struct condition *list, const char *type);
const struct node_condition *node_condition_find(const struct node_condition *list,
                                                 const char *type);
bool node_is_ready(const struct node *node);
/* By its labels: the role of today, or the one of before. */
bool node_is_control_plane(const struct node *node);
/* The zone that it is in; "" when it does not say. */
const char *node_zone(const struct node *node);
/* The controlling owner, or NULL. */
const struct owner *meta_controller(const struct meta *meta);

#endif
