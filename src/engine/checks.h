/* Checks: may these nodes be taken away, as far as the data and the quorums on them are concerned?
 *
 * A check knows one system (Longhorn, Rook, KubeVirt, ...) by its objects and says pass, wait or
 * deny with the evidence. One row of a table each, from which `slipway checks`, help and
 * docs/checks.md are made. Pure: stores in, findings out.
 *
 *     struct check_world world = {.nodes = nodes};
 *     world.inputs[SOURCE_ETCD_PODS] = (struct check_input){.read = READ_DONE, .store = pods};
 *     struct check_request req = {.going = names, .n_going = 1, .now = now};
 *     checks_run(&world, &req, &arena, &out);
 *     if (check_worst(&out, "w1", CHECK_CORDON) == CHECK_PASS) ... w1 may be cordoned
 *
 * What is not known is never taken for healthy: an object that is not filled in, or that cannot be
 * read, is a reason to wait (BLOCKER_CHECK_UNKNOWN) that says what is missing. A system that is
 * not installed has nothing to say. */
#ifndef ENGINE_CHECKS_H
#define ENGINE_CHECKS_H

#include "base/arena.h"
#include "engine/blocker.h"
#include "model/foreign.h"
#include "model/store.h"

/* --- what is read --- */

enum check_source_id {
    SOURCE_LONGHORN_VOLUMES,
    SOURCE_LONGHORN_REPLICAS,
    SOURCE_LONGHORN_ENGINES,
    SOURCE_LONGHORN_NODES,
    SOURCE_LONGHORN_MANAGERS,
    SOURCE_LONGHORN_SETTINGS,
    SOURCE_CEPH_CLUSTERS,
    SOURCE_CEPH_BLOCK_POOLS,
    SOURCE_CEPH_FILESYSTEMS,
    SOURCE_CEPH_OBJECT_STORES,
    SOURCE_ROOK_STATES,
    SOURCE_CEPH_PODS,
    SOURCE_VMIS,
    SOURCE_KUBEVIRTS,
    SOURCE_CNPG_CLUSTERS,
    SOURCE_CNPG_PODS,
    SOURCE_POSTGRESQLS,
    SOURCE_POSTGRESQL_PODS,
    SOURCE_ETCD_CLUSTERS,
    SOURCE_ETCD_MEMBERS,
    SOURCE_ETCD_CLUSTER_PODS,
    SOURCE_ETCD_PODS, /* of the control plane */
    SOURCE_STATEFUL_SETS,
    SOURCE_STATEFUL_PODS,
    SOURCE_BUDGETS,
    CHECK_SOURCES,
};

/* Which objects: of one namespace, or those that the selectors select. They spare the server work;
 * a store with more in it (all pods) serves as well. */
struct check_source {
    const char *word; /* "longhorn-volumes": in recordings, and stable */
    const struct kind *kind;
    const char *ns, *labels, *fields; /* NULL: all */
};
extern const struct check_source check_sources[CHECK_SOURCES];

enum check_read {
    READ_ABSENT, /* the server does not know the kind. By discovery, which everybody may read:
                    somebody without permissions is told "forbidden" of kinds that do not exist */
    READ_DONE,
    READ_FAILED, /* it is there and cannot be read: `why` */
};

struct check_input {
    enum check_read read;
    const char *why;
    const struct store *store; /* with READ_DONE */
};

struct check_world {
    const struct store *nodes; /* all of them */
    bool unread;               /* nothing was looked for yet: that is not worth telling */
    struct check_input inputs[CHECK_SOURCES];
};

/* --- the table --- */

struct check_run;

enum { CHECK_READS = 8 }; /* sources of one check */

/* What becomes of a check without this source. */
enum check_need {
    NEED_ALWAYS,   /* nothing can be said without it */
    NEED_IF_THERE, /* an older release of the system may lack the kind: then it has nothing to tell.
                      One that is there and cannot be read might tell anything */
    NEED_NOT,      /* the check does without, however it is missing: it then takes the worst for
                      granted, or only ever remarks */
};

struct check_reading {
    enum check_source_id source;
    enum check_need need;
};

struct check {
    const char *name;    /* "longhorn": for --skip-check, and stable */
    const char *title;   /* "Longhorn" */
    const char *meaning; /* a sentence: what it looks at and when it objects */
    /* The first one tells whether the system is there at all. */
    struct check_reading reads[CHECK_READS];
    unsigned n_reads;
    bool by_objects; /* not there when there is no object of the first kind: the kind itself is
                        Kubernetes' own */
    void (*run)(struct check_run *run);
};

extern const struct check checks_table[];
extern const size_t n_checks;
/* NULL when there is none of that name. */
const struct check *check_find(const char *name);

/* Whether somebody who skips those rows (bit i: row i), and may not care for checks that only ever
 * remark, wants what row `check` says; whether a check that is wanted reads the source. */
bool check_wanted(size_t check, unsigned skip, bool remarks);
bool check_source_wanted(enum check_source_id source, unsigned skip, bool remarks);
/* Before anything was looked for: whoever looks then is not to take it for a cluster without any of
 * the systems. Leaves the nodes alone. */
void check_world_begin(struct check_world *w, unsigned skip, bool remarks);

/* --- findings --- */

enum check_verdict {
    CHECK_PASS, /* also a remark that stops nothing */
    CHECK_WAIT, /* ends by itself, or when other nodes are back */
    CHECK_DENY, /* somebody has to change something, or to consent by name (--skip-check) */
};

/* What a finding gates. A drain makes some things end (volumes detach, primaries and virtual
 * machines move): they do not gate the cordon, which starts them, but what is done to the node
 * afterwards. */
enum check_when {
    CHECK_CORDON = 1,    /* before the node is cordoned */
    CHECK_OPERATION = 2, /* before the node is rebooted, or whatever it is drained for */
    CHECK_RETURN = 4,    /* after it has come back: before it counts as done, and the next goes */
};

struct check_finding {
    const struct check *check;
    enum check_verdict verdict;
    unsigned when;          /* bits of enum check_when; of a pass: what it was looked at for */
    enum blocker_code code; /* BLOCKER_CODES: none, as most that pass */
    const char *node;       /* which of the nodes that were asked for */
    const char *kind, *ns, *name; /* the object that it is about; NULL: none in particular */
    const char *evidence;         /* a sentence that proves it, with names and numbers */
    const char *hint; /* what to do; NULL for what passes. Never to skip the check: whoever shows it
                         says so, since that is a consent and no cure */
    const char *ends; /* what must be seen for it to be over; NULL likewise */
};

/* Whether a check has anything to look at. */
enum check_presence {
    CHECK_NOT_INSTALLED,
    CHECK_INSTALLED,
    CHECK_UNREADABLE, /* a finding for each node says why, unless it only ever remarks */
    CHECK_SKIPPED,
};

struct check_state {
    enum check_presence presence;
    size_t objects; /* of the first kind that it reads */
};

struct checks {
    const struct check_finding *list; /* deny, wait, pass; then by node, check and object */
    size_t n;
    const struct check_state *states; /* one for each row of the table */
};

struct check_request {
    const char *const *going; /* nodes that are to go */
    size_t n_going;
    bool alone; /* each of them by itself, not together: what each would meet, for the price of one
                   look */
    const char *const *out; /* nodes that are out of service already, or about to be */
    size_t n_out;
    const char *const *back; /* nodes that have come back: findings of them gate CHECK_RETURN */
    size_t n_back;
    unsigned skip; /* bit i: row i of the table is not run */
    int64_t now;   /* microseconds, wall clock */
};

/* Everything in `out` lives in the arena, and is valid until a store changes. */
void checks_run(const struct check_world *world, const struct check_request *req,
                struct arena *arena, struct checks *out);

/* Nodes that somebody holds with Slipway: out of service, or about to be. For check_request.out, in
 * no order; of the arena. Without nodes (NULL) none. */
const char *const *checks_held(const struct store *nodes, struct arena *arena, size_t *n);

/* The worst verdict about a node (NULL: about any) at that gate. */
enum check_verdict check_worst(const struct checks *c, const char *node, enum check_when when);
/* The first of the worst findings about it there, unless all is well: then NULL. */
const struct check_finding *check_worst_finding(const struct checks *c, const char *node,
                                                enum check_when when);

/* A member of the control plane's etcd: a static pod. Only where nodes with one go does it matter.
 */
bool check_is_etcd(const struct pod *pod);

const char *check_verdict_name(enum check_verdict verdict); /* "pass" */

#endif
