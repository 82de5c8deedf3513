/* What the files of the oracle share. */
#ifndef TESTS_SIM_ORACLE_INTERNAL_H
#define TESTS_SIM_ORACLE_INTERNAL_H

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/selector.h"
#include "oracle.h"

/* How a node was from `time` on. */
struct node_state {
    int64_t time;
    bool cordoned, ours; /* ours: our holder is in its record */
};

struct oracle_node {
    char *name;
    struct record *last; /* NULL: it is gone */
    VEC(struct node_state) history;
    int64_t lifted;      /* when somebody else uncordoned it, 0 */
    bool foreign_record; /* it has or had a record that cannot be read */
    /* of the present process */
    int64_t cordon_served, cordon_told; /* its own cordon: carried out, and known to it */
    unsigned events, statuses;
    bool overwritten; /* by a condition of a process that is dead */
};

/* A budget, and since when its numbers may be behind. */
struct oracle_object {
    struct record *last;
    int64_t changed;
};

/* How many replicas a Deployment has by the will of others. */
struct oracle_count {
    char *uid;
    int32_t replicas;
    int64_t generation;
};

struct oracle {
    struct oracle_options opts;
    const struct plan *plan;
    struct selector selector;
    VEC(struct oracle_pod *) pods;
    VEC(struct oracle_node *) nodes;
    VEC(struct oracle_object)
    budgets, replica_sets, stateful_sets, deployments, daemon_sets, attachments;
    VEC(struct oracle_count) counts;
    VEC(char *) violations;

    int64_t begun; /* the present process */
    bool stopped;
    unsigned process;
    double tokens;
    int64_t tokens_at;
    VEC(int64_t) sends; /* times of all requests of the last minute but those of events */

    const struct chaos_request *serving; /* being carried out */
    /* Of an eviction or deletion that is being carried out. */
    struct oracle_pod *victim;
    bool victim_counts; /* it is healthy: its budgets lose one */
    char *breach;       /* what that would break, or NULL */
};

/* oracle.c */
struct oracle_pod *oracle_pod_by_uid(struct oracle *o, const char *uid);
struct oracle_node *oracle_node(const struct oracle *o, const char *name);
bool oracle_is_target(const struct oracle *o, const char *node);
/* oracle_request.c: a write to a node that is about its cordon, and not the mark alone. */
bool oracle_is_cordon(const struct chaos_request *req);

/* oracle_model.c */
bool model_ready(const struct pod *pod);
bool model_finished(const struct pod *pod);
const struct plan_rule *model_rule(const struct oracle *o, const struct pod *pod);
int model_order(const struct oracle *o, const struct pod *pod);
/* Healthy and wanted pods of a budget by its spec and the pods there are; false when there is no
 * telling (an owner cannot be found). */
bool model_budget(const struct oracle *o, const struct pdb *pdb, int64_t *healthy,
                  int64_t *desired);
bool model_selects(const struct pdb *pdb, const struct pod *pod);

/* The cordon record of a node. */
struct cordon_record {
    bool there, readable;
    bool before;
    bool earlier;    /* the node was cordoned long after the last holder came: not by any of them */
    json_t *holders; /* borrowed from `value` */
    json_t *value;
};
void cordon_record_read(const struct record *node, struct cordon_record *out);
void cordon_record_done(struct cordon_record *c);
bool cordon_record_has(const struct cordon_record *c, const char *id);

#endif
