/* Inside of strategy*.c: what a kind does at each step, and what kinds share. */
#ifndef SIM_API_STRATEGY_KINDS_H
#define SIM_API_STRATEGY_KINDS_H

#include "sim/api/strategy.h"
#include "sim/api/strategy_walk.h"

/* One request on its way. */
struct strategy_call {
    const struct strategy *s;
    const struct strategy_context *ctx;
    enum strategy_part part;
    json_t *obj;
    const json_t *old; /* NULL: creation */
    struct field_errors errors;
    struct failure *f;
};

/* Steps of a kind, in the order of the server; each may be NULL. */
struct strategy_ops {
    void (*defaults)(json_t *obj);
    int (*admit)(struct strategy_call *c);       /* mutating admission: 0, or -1 with the failure */
    int (*begin)(struct strategy_call *c);       /* BeginCreate, BeginUpdate: what is allocated */
    void (*prepare)(struct strategy_call *c);    /* PrepareForCreate, PrepareForUpdate */
    void (*check)(struct strategy_call *c);      /* Validate, ValidateUpdate */
    void (*finish)(struct strategy_call *c);     /* Canonicalize */
    int (*admit_after)(struct strategy_call *c); /* validating admission */
};

/* strategy_pod*.c */
extern const struct strategy_ops strategy_pods, strategy_pod_templates;
/* strategy_workload.c, strategy_stateful_set.c, strategy_job.c */
extern const struct strategy_ops strategy_deployments, strategy_replica_sets,
    strategy_stateful_sets, strategy_daemon_sets, strategy_controller_revisions, strategy_jobs;
/* strategy_node.c, strategy_budget.c */
extern const struct strategy_ops strategy_nodes, strategy_budgets;
/* strategy_pv.c, strategy_claim.c, strategy_storage_class.c */
extern const struct strategy_ops strategy_volumes, strategy_claims, strategy_storage_classes,
    strategy_attachments, strategy_csi_nodes;
/* strategy_service.c, strategy_config.c */
extern const struct strategy_ops strategy_services, strategy_config_maps, strategy_secrets,
    strategy_service_accounts;
/* strategy_misc.c */
extern const struct strategy_ops strategy_namespaces, strategy_leases, strategy_priority_classes,
    strategy_endpoint_slices;
/* strategy_event.c */
extern const struct strategy_ops strategy_core_events, strategy_events;

/* 403: `pods "a" is forbidden: why`. */
int strategy_forbid(struct strategy_call *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* 422 with what was found so far, if anything. */
int strategy_refuse(struct strategy_call *c);

/* --- metadata (strategy_meta.c) --- */

/* ValidateObjectMeta of pkg/apis/core/validation: `meta` is at metadata. */
void check_meta(struct field_errors *e, const struct at *meta, bool namespaced, name_rule *rule);
void check_meta_update(struct field_errors *e, const struct at *meta, const json_t *old);
/* The same of apimachinery: any finalizer will do. */
void check_meta_generic(struct field_errors *e, const struct at *meta, bool namespaced,
                        name_rule *rule, name_rule *prefix_rule);
void check_meta_update_generic(struct field_errors *e, const struct at *meta, const json_t *old);
void check_finalizer(struct field_errors *e, const struct at *at, const char *name);
/* Sets generation to 1, or one more than that of `old` if `changed`. */
void meta_first_generation(json_t *obj);
void meta_next_generation(json_t *obj, const json_t *old, bool changed);
/* Labels, annotations, finalizers, owners, deletion as they were: what some status updates do. */
void meta_reset_for_status(json_t *obj, const json_t *old);
/* "" when there is none. */
const char *meta_annotation(const json_t *obj, const char *key);

/* --- labels and selectors (strategy_labels.c) --- */

void check_labels(struct field_errors *e, const struct at *labels);
void check_annotations(struct field_errors *e, const struct at *annotations);
/* A metav1.LabelSelector; nothing is no complaint. */
void check_label_selector(struct field_errors *e, const struct at *selector, bool any_value);
bool label_selector_valid(const json_t *selector);
/* `selector` is valid. NULL selects nothing, an empty one everything. */
bool label_selector_matches(const json_t *selector, const json_t *labels);
/* Some value in matchExpressions is no label value. */
bool label_selector_has_bad_value(const json_t *selector);

/* --- addresses (strategy_address.c) --- */

/* Old values that are no addresses may stay: `old` is a list of strings, or of objects with `key`.
 */
void check_ip(struct field_errors *e, const struct at *at, const char *value, const json_t *old,
              const char *key);
void check_cidr(struct field_errors *e, const struct at *at, const char *value, const json_t *old);
/* One that others can send to: not loopback, not link-local. */
void check_endpoint_ip(struct field_errors *e, const struct at *at, const char *value);
enum address_family {
    ADDRESS_NONE = 0,
    ADDRESS_V4 = 4,
    ADDRESS_V6 = 6,
};
/* Of an address, or of a CIDR. */
enum address_family address_family(const char *text);
/* One of each family, at most. */
bool addresses_are_dual(const json_t *list, const char *key);
/* The same as a rule: of addresses in the member `key` of objects that messages show as `type`, or
 * of CIDRs when both are NULL. */
void check_dual_stack(struct field_errors *e, const struct at *list, const char *key,
                      const struct gotype *type);

/* --- resources (strategy_resources.c) --- */

enum { RESOURCES_OF_CONTAINER, RESOURCES_OF_POD };
/* requests and limits; `claims` are the names that the pod's resourceClaims have. */
void check_resources(struct field_errors *e, const struct at *resources, int of,
                     const json_t *pod_claims, bool any_huge_pages);
/* A quantity of a resource: not negative, whole if the resource is counted. */
void check_quantity(struct field_errors *e, const struct at *at, const char *resource,
                    const json_t *value);
/* Rounds a list of quantities up to thousandths, as decoding does. */
void default_resource_list(json_t *parent, const char *key);
bool is_huge_page_resource(const char *name);
/* "Guaranteed", "Burstable", "BestEffort". */
const char *pod_qos(const json_t *pod);
/* Limits and requests of a pod from those of its containers. */
void default_pod_resources(json_t *spec);
/* What all containers together want: `which` is "requests" or "limits". A new object. */
json_t *pod_containers_total(const json_t *spec, const char *which);

/* --- pods --- */

/* What the old version of an object excuses in the new one, and what the kind wants. */
struct pod_options {
    bool is_pod; /* not a template */
    bool any_selector_value;
    bool any_node_affinity_value;
    bool any_spread_selector;
    bool legacy_match_label_keys;
    bool any_token_path;
    bool any_huge_pages;
    bool any_host_sysctl;
    bool any_deletion_cost;
    bool any_selinux_change;
    bool user_namespace_host_network;
    bool user_namespace_devices;
    bool restart_container_init;
    bool comparison_tolerations;
};
struct pod_options pod_options(const json_t *old_spec, const json_t *old_meta, bool is_pod);

/* strategy_pod_default.c */
void default_pod(json_t *pod);
void default_pod_template(json_t *tmpl);
void default_volume_source(json_t *volume);
void default_claim(json_t *obj);
void default_claim_spec(json_t *spec); /* strategy_claim.c */
/* strategy_pod.c: what features that are off would allow; `old` is NULL on creation. */
void drop_disabled_fields(json_t *spec, const json_t *old);
/* strategy_pod_admit.c */
int admit_pod(struct strategy_call *c);
int admit_pod_after(struct strategy_call *c);
/* strategy_pod_status.c */
void prepare_pod_status(json_t *pod, const json_t *old);
void check_pod_status(struct field_errors *e, const struct at *pod, const json_t *old);
/* `meta` is at the metadata of a pod; NULL for templates. */
void check_pod_spec(struct field_errors *e, const struct at *spec, const struct at *meta,
                    const struct pod_options *o); /* strategy_pod_spec.c */
void check_pod_template(struct field_errors *e, const struct at *tmpl, const struct pod_options *o);
void check_pod_annotations(struct field_errors *e, const struct at *annotations,
                           const struct at *spec, const struct pod_options *o);
void check_profile_annotations(struct field_errors *e, const json_t *annotations,
                               const struct at *spec);
/* strategy_container.c */
void check_containers(struct field_errors *e, const struct at *spec, const json_t *volumes,
                      const struct pod_options *o);
void check_image_blanks(struct field_errors *e, const struct at *container, const char *image);
void check_port_or_name(struct field_errors *e, const struct at *at, const char *child);
extern const char *const port_protocols[];
/* strategy_volume.c: returns those that are right, by name: a new object. */
json_t *check_volumes(struct field_errors *e, const struct at *volumes, const struct at *meta,
                      const struct pod_options *o);
void check_relative_path(struct field_errors *e, const struct at *at, const char *child,
                         const char *path);
void check_no_backsteps(struct field_errors *e, const struct at *at, const char *child,
                        const char *path);
bool path_has_backsteps(const char *path);
void check_field_selector(struct field_errors *e, const struct at *at, const char *const *fields);
void check_resource_selector(struct field_errors *e, const struct at *at, bool volume);
void check_host_path(struct field_errors *e, const struct at *at);
void check_pull_policy(struct field_errors *e, const struct at *at, const char *child);
/* strategy_scheduling.c */
void check_affinity(struct field_errors *e, const struct at *spec, const struct pod_options *o);
void check_spread(struct field_errors *e, const struct at *spec, const struct pod_options *o);
void check_tolerations(struct field_errors *e, const struct at *tolerations,
                       const struct pod_options *o);
void check_taint_effect(struct field_errors *e, const struct at *at);
void check_node_selector(struct field_errors *e, const struct at *selector, bool any_value);
bool node_selector_has_bad_value(const json_t *selector);
/* strategy_security.c */
void check_pod_security(struct field_errors *e, const struct at *spec, const struct pod_options *o);
void check_container_security(struct field_errors *e, const struct at *context, bool host_users);
bool pod_has_host_sysctl(const json_t *spec);
void check_os(struct field_errors *e, const struct at *spec);
void check_windows_host_process(struct field_errors *e, const struct at *spec);
/* Calls `visit` for every container: init, regular, ephemeral. */
void each_container(const struct at *spec, void (*visit)(void *arg, const struct at *container),
                    void *arg);

/* --- jobs --- */

bool job_has_condition(const json_t *job, const char *type, const char *status);
/* strategy_job_policy.c */
void check_failure_policy(struct field_errors *e, const struct at *spec);
void check_success_policy(struct field_errors *e, const struct at *spec, bool indexed);
/* "1,3-5": how many indexes below `completions` there are; -1 and why when it is no such list. */
int64_t count_indexes(const char *text, int64_t completions, struct str *why);
/* strategy_job_status.c */
void check_job_status(struct strategy_call *c, const struct at *status);

/* --- storage --- */

/* strategy_pv.c */
extern const char *const volume_modes[];
void check_access_modes(struct field_errors *e, const struct at *spec);
void add_finalizer(json_t *obj, const char *name);

/* strategy_claim.c */
void check_claim_spec(struct field_errors *e, const struct at *spec, const json_t *old_spec);
/* As VolumeAttachments carry it. */
void check_inline_volume(struct field_errors *e, const struct at *spec);
void check_csi_driver_name(struct field_errors *e, const struct at *at, const char *child);
/* strategy_foreign_volume.c: the sources that pods and PersistentVolumes share, by the name of the
 * member of `volume`; false when it is none of those. */
struct volume_place {
    const char *volume; /* its name */
    bool persistent;
};
bool check_foreign_source(struct field_errors *e, const struct at *volume, const char *source,
                          const struct volume_place *place);
#define VOLUME_ISCSI_TOO_LONG                                                                      \
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "           \
    "iscsi.initiatorName is specified."

#endif
