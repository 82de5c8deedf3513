/* What the files of fit share; the public face is fit.h.
 *
 * The words:
 *  - shape: what all pods of one spec have in common (requests, host ports);
 *  - cohort: pods that no rule can tell apart: same namespace, labels, owner and spec;
 *  - group: pods that no selector can tell apart: same namespace, labels and owner;
 *  - rule: a condition on groups: one term of an affinity, one spread constraint. A rule is linked
 * to the groups that meet it, and counts pods by topology domain: those that meet it, and those
 * that hold it in their spec. Because a pod's group and cohort know their rules, putting a pod
 * costs a step for each rule that concerns it, and a question needs no look at other pods at all.
 */
#ifndef ENGINE_FIT_INTERNAL_H
#define ENGINE_FIT_INTERNAL_H

#include "base/arena.h"
#include "base/htab.h"
#include "base/vec.h"
#include "engine/fit.h"
#include "engine/fit_counts.h"

enum {
    /* Topology keys whose values each node has at hand. Clusters use three or four; further ones
     * are looked up among the labels. */
    FIT_TOPO_SLOTS = 8,
    FIT_SCORE_MAX = 100, /* MaxNodeScore */
    FIT_NEAR = 8192, /* a power of two: 5,000 nodes, which is a large cluster, and little memory */
    /* Terms of each sort, and spread constraints, that a pod may have: nobody needs so many, and
     * each costs memory for every node. */
    FIT_LIST_MAX = 256,
};

/* --- resources --- */

struct fit_scalar {
    const char *name;
    int64_t value;
    char *text; /* of shapes: "Insufficient NAME" */
};

/* Sums wrap around like those of the real scheduler: no input is undefined behaviour, and what
 * was added can always be taken away again. */
struct fit_amounts {
    int64_t cpu;               /* thousandths */
    int64_t memory, ephemeral; /* bytes */
    VEC(struct fit_scalar) scalars;
};

/* What a pod takes from its node. */
struct fit_load {
    struct fit_amounts amounts;
    /* For scores: with a default where a container asks for nothing. */
    int64_t some_cpu, some_memory;
};

struct fit_port {
    const char *ip, *protocol; /* NULL: all addresses; TCP */
    int32_t port;
    uint32_t users;
};

typedef VEC(struct fit_port) fit_ports;

/* --- the picture --- */

struct fit_pod;

/* A volume of a CSI driver. Equal ones have equal addresses. */
struct fit_handle {
    const char *driver;
    const void *volume; /* its handle; of one that has yet to be made, the claim */
};

typedef VEC(struct fit_handle) fit_handles;

/* A VolumeAttachment of a persistent volume. */
struct fit_attachment {
    const char *name, *driver, *volume;
    uint32_t hash, node_at; /* its place in the node's list */
    struct fit_node *node;
};

struct fit_node {
    struct meta meta; /* name and labels only, as selectors want them */
    uint32_t hash, index;
    bool known; /* false: there are only pods that name it */
    bool unschedulable, avoided;
    bool played; /* its cordon is, or the end of it: whatever its taints say of that, it has the
                    cordon's when it is unschedulable and only then */
    const struct taint *taints;
    const struct pair_qty *allocatable;
    struct fit_amounts room;
    int64_t room_pods;
    struct fit_load used;
    VEC(struct fit_pod *) pods;
    VEC(struct fit_pod *) nominated; /* not placed */
    VEC(struct fit_pod *) claimants; /* those of the pods that have claims */
    VEC(struct fit_attachment *) attached;
    const struct csi_node_driver *drivers;
    bool limited;    /* one of the drivers is */
    fit_ports ports; /* in use */
    const char *values[FIT_TOPO_SLOTS];
};

/* A topology key. */
struct fit_topo {
    const char *key;
    uint32_t hash, refs;
    unsigned slot; /* FIT_TOPO_SLOTS: none */
};

struct fit_shape {
    const struct pod_spec *spec;
    uint32_t hash, refs;
    struct fit_load load;
    int64_t score_cpu, score_memory; /* what LeastAllocated believes that a new pod takes */
    fit_ports ports;
    int32_t priority;
    bool claims; /* among its volumes */
};

struct fit_group;
struct fit_rule;

/* A topology spread constraint, parsed. */
struct fit_constraint {
    struct fit_topo *topo;
    struct fit_rule *rule;
    int32_t max_skew, min_domains;
    bool by_affinity, by_taints; /* nodes that the pod cannot use are left out */
    bool self;                   /* the pod counts itself */
};

typedef VEC(struct fit_constraint) fit_constraints;

struct fit_cohort {
    uint32_t hash, pods; /* none: idle, freed when there are many */
    struct fit_shape *shape;
    struct fit_group *group;
    VEC(struct fit_rule *) held; /* one for each affinity term */
    bool asked;                  /* what follows is there */
    struct fit_rule *all;        /* all required affinity terms together, or NULL */
    bool all_self;               /* its own pods meet it */
    fit_constraints hard, soft;
    bool soft_default; /* soft is what pods without constraints of their own get */
};

struct fit_link {
    struct fit_rule *rule;
    uint32_t at; /* in rule->members */
    /* The pods of the group meet a rule of a new pod; or: a new pod of the group meets a rule that
     * other pods hold. Not always the same, see fit_rules.c. */
    bool forward, reverse;
};

struct fit_member {
    struct fit_group *group;
    uint32_t at; /* in group->links */
};

struct fit_space;

struct fit_group {
    struct fit_space *space;
    const struct pair *labels;
    const char *owner; /* uid of the controller, where the scheduler cares for it */
    uint32_t hash, refs, space_at;
    VEC(struct fit_pod *) pods; /* placed */
    VEC(struct fit_link) links;
};

/* A namespace. */
struct fit_space {
    const char *name;
    uint32_t hash;
    bool known;
    const struct pair *labels;
    VEC(struct fit_group *) groups;
    VEC(struct fit_rule *) rules; /* those that name this namespace */
};

enum fit_role {
    FIT_ROLE_ALL,      /* the required affinity of a new pod: all its terms at once */
    FIT_ROLE_AFFINITY, /* one term of it */
    FIT_ROLE_ANTI,
    FIT_ROLE_PREFER,
    FIT_ROLE_AVOID,
    FIT_ROLE_SPREAD,
    FIT_ROLE_OWNER, /* pods of the same controller */
};

/* No padding: it is hashed as bytes. */
struct fit_rule_key {
    const void *subject;       /* the list that the term or constraint is in; the owner's uid */
    const char *ns;            /* where that matters */
    const struct pair *labels; /* where matchLabelKeys make them matter */
    uint32_t index, role;
};

struct fit_tally {
    struct fit_topo *topo; /* NULL: by node */
    struct fit_counts matched;
};

struct fit_rule {
    struct fit_rule_key key;
    uint32_t hash, refs;
    struct fit_tally *tallies;
    uint32_t n_tallies;
    struct fit_counts held; /* by the first tally's topology */
    bool counting;          /* `matched` is kept: somebody has asked */
    bool wide;              /* can meet groups of any namespace */
    int32_t weight;
    VEC(struct fit_member) members;
};

struct fit_pod {
    const char *ns, *name, *uid; /* no name: it is in fit->unnamed */
    uint32_t hash;               /* of the name; its place there */
    struct fit_cohort *cohort;
    struct fit_node *at; /* where it is placed or nominated; NULL: neither */
    bool placed, nominated, assumed, leaving;
    uint32_t node_at, group_at, nominated_at, claim_at; /* its place in these lists */
    struct fit_load *own;                               /* when its status differs from its spec */
};

struct fit_claim;

struct fit_volume {
    const char *name, *class, *mode, *phase;
    uint32_t hash;
    bool leaving;
    int64_t size;
    const struct pair *labels;
    const char *const *access_modes;
    const struct pv_affinity *affinity;
    const struct object_ref *ref;
    const struct pv_csi *csi;
    struct fit_claim *claim;     /* that it is claimed by */
    struct fit_storage *storage; /* that it is free in */
};

typedef VEC(struct fit_volume *) fit_volumes;

struct fit_claim {
    const char *ns, *name;
    uint32_t hash;
    bool known;
    uint32_t users;      /* placed pods that name it in a volume */
    fit_volumes volumes; /* whose claimRef names it */
    /* what follows is of the object, when it is known */
    const char *uid, *class, *volume, *mode, *node;
    const struct owner *owners;
    const char *const *access_modes;
    const struct label_selector *selector;
    int64_t size;
    bool bound, lost, leaving, once_pod;
};

/* A storage class: the object, and the volumes of that class that nobody has claimed. */
struct fit_storage {
    const char *name;
    uint32_t hash;
    bool known, waits, provisions;
    const char *driver; /* that makes its volumes */
    const struct node_term *topologies;
    fit_volumes free;
};

/* --- a question --- */

struct fit_table; /* of fit_spread.c: which node is in which domain */

struct fit_sum {
    const struct fit_constraint *constraint;
    const int64_t *counts; /* by domain */
    int64_t min;
};

struct fit_zone {
    const char *key, *values; /* "a__b": either */
};

struct fit_ask {
    const struct pod *pod;
    const struct pod_spec *spec;
    struct fit_cohort *cohort;
    const char *trouble; /* that no node can mend; NULL: none */
    enum fit_code trouble_code;
    bool only_some; /* of the nodes, by name */
    VEC(const char *) only;
    const struct fit_table *table; /* of the hard constraints */
    const struct fit_sum *sums;
    VEC(const struct fit_volume *) bound; /* NULL: the volume is not there */
    VEC(const struct fit_claim *) waiting;
    VEC(const struct fit_claim *) once_pod;
    VEC(struct fit_zone) zones;
    fit_handles handles; /* a set */
    VEC(struct fit_reason) reasons;
    bool final;
    uint32_t codes; /* of all reasons since the question began */
    struct arena arena;
};

struct fit {
    struct pool *pool;
    uint32_t seed;    /* of the hashes of names, which others choose */
    uint64_t layout;  /* counts changes of nodes and their labels */
    uint64_t tainted; /* and of their taints, which few pods' spreading asks for */
    struct htab names, pods, cohorts, shapes, groups, rules, topos, spaces;
    struct htab claims, volumes, storages, attachments;
    VEC(struct fit_node *) nodes; /* known ones */
    VEC(struct fit_pod *) unnamed;
    struct fit_node *near[FIT_NEAR]; /* some of `names`, found by the address of their name */
    VEC(struct fit_rule *) wide;
    uint32_t idle; /* cohorts */
    struct fit_topo *slots[FIT_TOPO_SLOTS];
    size_t next;                 /* where the next search begins */
    const char *hostname, *zone; /* topology keys */
    struct fit_ask ask;
    VEC(struct fit_table *) tables;
    size_t cells;   /* of all tables */
    uint64_t clock; /* counts uses of tables */
    VEC(struct fit_node *) found;
    VEC(struct fit_score) scores;
    VEC(struct fit_binding) bindings;
    fit_handles handles; /* of the node at hand */
};

/* The last element takes the place of this one. */
#define fit_vec_drop(v, at_)                                                                       \
    do {                                                                                           \
        __typeof__(v) d_ = (v);                                                                    \
        d_->p[at_] = d_->p[--d_->len];                                                             \
    } while (0)

/* --- fit.c --- */

uint32_t fit_hash_name(const struct fit *f, const char *ns, const char *name);
/* All entries of a table, to be freed one by one; free() the array. */
void **fit_entries(const struct htab *t);

struct fit_node *fit_node_find(struct fit *f, const char *name);
/* The same, or a new one; and one that nothing is known about any more is not kept. */
struct fit_node *fit_node_get(struct fit *f, const char *name);
void fit_node_put(struct fit *f, struct fit_node *n);
/* A pod that is in the picture takes its room, or gives it back. */
void fit_pod_place(struct fit *f, struct fit_pod *p, struct fit_node *node);
void fit_pod_unplace(struct fit *f, struct fit_pod *p);

/* --- fit_resources.c --- */

void fit_amounts_done(struct fit_amounts *a);
void fit_load_done(struct fit_load *l);
void fit_load_add(struct fit_load *to, const struct fit_load *l, int sign);
/* With a pod, what its kubelet reports counts too: a resize under way takes the larger of both. */
void fit_load_of(const struct pod_spec *spec, const struct pod *status, struct fit_load *out);
/* The kubelet has reported something else than the spec says. */
bool fit_load_differs(const struct pod_spec *spec, const struct pod *status);
void fit_shape_scores(struct fit_shape *s);
void fit_room_of(const struct pair_qty *allocatable, struct fit_amounts *room, int64_t *pods);
bool fit_check_resources(struct fit_ask *ask, const struct fit_node *node);
int64_t fit_score_least(const struct fit_shape *s, const struct fit_node *node);
int64_t fit_score_balanced(const struct fit_shape *s, const struct fit_node *node);

/* --- fit_node.c: what a node says by itself --- */

bool fit_check_unschedulable(struct fit_ask *ask, const struct fit_node *node);
bool fit_check_name(struct fit_ask *ask, const struct fit_node *node);
bool fit_check_taints(struct fit_ask *ask, const struct fit_node *node);
bool fit_check_node_affinity(struct fit_ask *ask, const struct fit_node *node);
bool fit_check_ports(struct fit_ask *ask, const struct fit_node *node);
bool fit_tolerates(const struct pod_spec *spec, const struct fit_node *node);
bool fit_node_wanted(const struct pod_spec *spec, const struct fit_node *node);
int64_t fit_score_taints(const struct pod_spec *spec, const struct fit_node *node);
int64_t fit_score_node(const struct pod_spec *spec, const struct fit_node *node);
void fit_ports_of(const struct pod_spec *spec, fit_ports *out);
void fit_ports_add(fit_ports *to, const fit_ports *ports, int sign);
/* Reads which nodes the pod names; false, with trouble, when it can be none. */
bool fit_ask_names(struct fit_ask *ask);

/* --- fit_cohort.c --- */

void fit_cohorts_init(struct fit *f);
struct fit_cohort *fit_cohort_get(struct fit *f, const struct pod *pod);
/* Makes what a question needs. */
void fit_cohort_ask(struct fit *f, struct fit_cohort *c);
void fit_cohort_free(struct fit *f, struct fit_cohort *c);
const struct pod_spec *fit_spec(const struct pod_spec *spec);

/* --- fit_rules.c --- */

void fit_rules_init(struct fit *f);
struct fit_topo *fit_topo_get(struct fit *f, const char *key);
void fit_topo_put(struct fit *f, struct fit_topo *t);
/* The node's value of a topology key; NULL: it has none. Equal values have equal addresses. */
const char *fit_topo_value(const struct fit_topo *t, const struct fit_node *node);
void fit_topo_fill(const struct fit *f, struct fit_node *node);

struct fit_space *fit_space_get(struct fit *f, const char *name);
void fit_space_put(struct fit *f, struct fit_space *s); /* frees it when nothing is in it */
void fit_space_set(struct fit *f, struct fit_space *s, bool known, const struct pair *labels);

struct fit_group *fit_group_get(struct fit *f, const char *ns, const struct pair *labels,
                                const char *owner);
void fit_group_put(struct fit *f, struct fit_group *g);

struct fit_rule *fit_rule_get(struct fit *f, enum fit_role role, const void *subject, size_t index,
                              const struct fit_group *own);
void fit_rule_put(struct fit *f, struct fit_rule *r);
void fit_rule_count(struct fit_rule *r); /* begins to */
/* Whether pods of this group meet the rule that is their own. */
bool fit_rule_self(const struct fit_rule *r, const struct fit_group *own);
/* Counts the pod where it is placed, or takes it out again. */
void fit_rules_count(struct fit_pod *p, int sign);

/* --- fit_limits.c --- */

void fit_limits_init(struct fit *f);
void fit_limits_done(struct fit *f); /* before the nodes */
const char *fit_driver_of(const char *provisioner);
void fit_ask_limits(struct fit *f, struct fit_ask *ask);
bool fit_check_limits(struct fit *f, struct fit_ask *ask, const struct fit_node *node);

/* --- fit_affinity.c --- */

bool fit_check_affinity(struct fit_ask *ask, const struct fit_node *node);
int64_t fit_score_affinity(const struct fit_cohort *c, const struct fit_node *node);

/* --- fit_spread.c --- */

void fit_tables_done(struct fit *f);
void fit_ask_spread(struct fit *f, struct fit_ask *ask);
bool fit_check_spread(struct fit_ask *ask, const struct fit_node *node);
/* Raw scores of the nodes in f->found; false when there is nothing to say about them. */
bool fit_score_spread(struct fit *f, struct fit_ask *ask, int64_t *scores, bool *ignored);

/* --- fit_storage.c --- */

void fit_storage_init(struct fit *f);
void fit_storage_done(struct fit *f);
struct fit_claim *fit_claim_find(const struct fit *f, const char *ns, const char *name);
const struct fit_volume *fit_volume_find(const struct fit *f, const char *name);
const struct fit_storage *fit_storage_find(const struct fit *f, const char *name);
/* The claims that a pod's volumes name are used by one pod more or less. */
void fit_claims_use(struct fit *f, const char *ns, const struct pod_spec *spec, int sign);

/* --- fit_volumes.c --- */

/* False, with trouble, when the pod can go nowhere. */
bool fit_ask_volumes(struct fit *f, struct fit_ask *ask);
bool fit_check_claim_use(struct fit_ask *ask, const struct fit_node *node);
bool fit_check_volumes(const struct fit *f, struct fit_ask *ask, const struct fit_node *node);
bool fit_check_zones(struct fit_ask *ask, const struct fit_node *node);

/* --- fit_check.c --- */

/* Begins a question; false, with trouble, when no node has to be looked at. */
bool fit_ask(struct fit *f, const struct pod *pod);
/* Again, after pods were placed or unplaced. */
/* What a code says; "" where that depends. */
const char *fit_text(enum fit_code code);
void fit_ask_refresh(struct fit *f);
/* What it answers is in f->ask.reasons. */
bool fit_ask_node(struct fit *f, const struct fit_node *node);
/* "No", for use as `return fit_no(...)`. The text is the code's own when it is NULL. */
bool fit_no(struct fit_ask *ask, enum fit_code code, const char *text);

/* --- fit_score.c --- */

/* Fills f->scores for f->found, of which there is more than one. */
void fit_rate(struct fit *f);

#endif
