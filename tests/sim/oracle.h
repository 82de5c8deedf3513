/* The oracle: watches a drain from outside and says which promise it broke (DESIGN 4: 2 no budget
 * is broken, 3 a cordon has an owner, 4 nothing is lost in a crash, 5 nothing waits silently, 7 no
 * stale decision, 8 polite).
 *
 * It sees every request at the moment it is sent, every request that is carried out, every change
 * of the world, and what the process has been told so far. It has its own arithmetic of budgets,
 * its own filters, its own reading of rules and of the cordon record, all from Kubernetes' rules,
 * and includes nothing of the engine, so that the two cannot be wrong in the same way.
 * oracle_state.h alone reads what the drain says of itself. */
#ifndef TESTS_SIM_ORACLE_H
#define TESTS_SIM_ORACLE_H

#include "chaos.h"
#include "plan.h"
#include "sim/world.h"

struct oracle;

struct oracle_options {
    const struct plan *plan;
    struct world *world;
    int64_t (*now)(void *arg); /* of the loop: the world's clock lags behind between its events */
    /* Up to when the process knows a resource: chaos_known(). */
    int64_t (*known)(void *arg, const char *resource, const char *selected);
    /* Requests under way: chaos_pending(). */
    unsigned (*pending)(void *arg, enum chaos_kind kind, const char *ns, const char *name);
    void *arg;
};

/* Looks at what is there and listens from now on. The objects that the world has must be told with
 * oracle_meet() first. */
struct oracle *oracle_new(const struct oracle_options *opts);
void oracle_free(struct oracle *o);
void oracle_meet(struct oracle *o, struct shelf *shelf);

/* A process begins to drain; the one before it is dead. */
void oracle_begin(struct oracle *o);
/* It was asked to stop. */
void oracle_stop(struct oracle *o);

void oracle_sent(struct oracle *o, const struct chaos_request *req);
void oracle_serving(struct oracle *o, const struct chaos_request *req);
void oracle_served(struct oracle *o, const struct chaos_request *req, int code);
void oracle_told(struct oracle *o, const struct chaos_request *req, int code, int64_t retry_after);

/* What was broken, one line each, "promise N: ..."; at most a few are kept. */
size_t oracle_n_violations(const struct oracle *o);
const char *oracle_violation(const struct oracle *o, size_t i);
/* For those who find something themselves. */
__attribute__((format(printf, 3, 4))) void oracle_blame(struct oracle *o, int promise,
                                                        const char *fmt, ...);

/* --- what it knows, for oracle_state.c --- */

/* What shall become of a pod by the flags and rules. */
enum fate {
    FATE_GOES,
    FATE_STAYS,   /* DaemonSet, mirror, skipped by a rule, not selected */
    FATE_REFUSES, /* needs a flag that was not given: the node is refused */
    FATE_WAITS,   /* not touched, but waited for: a rule or a foreign mark says so */
};

struct oracle_pod {
    char *uid, *ns, *name;
    struct record *last;                /* its last state */
    int64_t born, bound, deleted, gone; /* when it was seen so first; 0: not yet */
    /* of the present process */
    int64_t first_try, last_try, not_before;
    unsigned tries, under_way;
    int64_t recent[16]; /* the last tries, a ring */
    int64_t accepted;   /* it was told so */
    bool ours;          /* an eviction or deletion of ours was carried out */
};

const struct oracle_pod *const *oracle_pods(const struct oracle *o, size_t *n);
enum fate oracle_fate(const struct oracle *o, const struct pod *pod);
/* It needs a flag that was not given, or did as long as it ran. */
bool oracle_needs_flag(const struct oracle *o, const struct pod *pod);
/* Times at which somebody else uncordoned it, and our holder's record is (or is not) on it now. */
bool oracle_lifted(const struct oracle *o, const char *node);
bool oracle_foreign_record(const struct oracle *o, const char *node);
/* Whether it has a condition of this type and value. */
bool oracle_condition(const struct oracle *o, const char *node, const char *type, bool on);
/* A volume that has been attached to it since before this time, or NULL. */
const char *oracle_attachment(const struct oracle *o, const char *node, int64_t before);
/* A condition that a dead process had sent has arrived while the present one is at work. */
bool oracle_overwritten(const struct oracle *o, const char *node);
bool oracle_cordoned(const struct oracle *o, const char *node);
bool oracle_stopped(const struct oracle *o);
/* Everything is over: Deployments have the counts that others gave them, and no marks. */
void oracle_end_counts(struct oracle *o);
/* And no target has the mark of nodes whose turn is still to come. */
void oracle_end_marks(struct oracle *o);
bool oracle_node_exists(const struct oracle *o, const char *node);
/* How many budgets select the pod. */
unsigned oracle_budgets_of(const struct oracle *o, const struct pod *pod);
int64_t oracle_now(const struct oracle *o);
int64_t oracle_begun(const struct oracle *o);
int64_t oracle_known_pods(const struct oracle *o, const char *node);

#endif
