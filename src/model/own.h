/* Slipway's own custom resources, group slipway.dev/v1alpha1: Policy, Maintenance and Rollout, as
 * the reflector keeps them. What each field means, what it may hold and what it is when nobody has
 * said it is written once, in model/own_fields.h, from which the definitions for the server are
 * made; a test compares these structs with that. own_complete() (model/own_read.h) puts the
 * defaults in and checks the rest.
 *
 * As model/foreign.h: JSON only. Words stay words, times that people write ("30m") stay texts. A
 * member that is absent is NULL, false, 0, ABSENT8 or ABSENT32. */
#ifndef MODEL_OWN_H
#define MODEL_OWN_H

#include "base/err.h"
#include "base/str.h"
#include "model/object.h"

#define OWN_GROUP       "slipway.dev"
#define OWN_VERSION     "v1alpha1"
#define OWN_API_VERSION OWN_GROUP "/" OWN_VERSION

/* --- what several of them have --- */

struct own_condition {
    struct condition c;
    int64_t generation; /* that it is about */
};

struct own_blocker {
    const char *code, *object, *message, *hint;
    const char *then; /* what happens at the deadline */
    int64_t since, deadline;
};

struct own_exec {
    const char *const *command;
};

struct own_http {
    const char *url;
};

/* Who carries the operation out: one of these. */
struct own_executor {
    bool fleetlock, sim;
    const struct own_exec *exec;
    const struct own_http *http;
};

/* --- Policy --- */

struct policy_fleetlock {
    const char *const *groups;
    int32_t deny_status;
    const char *unknown_group; /* refuse, default */
    const char *caller_check;  /* off, report, enforce */
    const char *const *app_ids;
    int8_t node_names;
    int32_t rate; /* requests a minute */
};

/* A check that is not asked, and why not. */
struct policy_skip {
    const char *name, *reason;
};

struct policy {
    struct meta meta;
    const struct label_selector *selector;
    struct intstr max_unavailable;
    int32_t max_zones;         /* ABSENT32: any number */
    const char *drain;         /* JSON: see policy_drain_rules() */
    const char *drain_timeout; /* a duration */
    const char *escalation;    /* wait, release */
    const struct policy_fleetlock *fleetlock;
    const char *return_timeout, *settle, *soak; /* durations */
    int8_t wait_rescheduled;
    int32_t max_failed;
    const struct policy_skip *skip_checks;
    const char *approval; /* none, required */

    int64_t observed_generation;
    int32_t nodes, held, waiting, free;
    const char *const *holders;
    const struct own_condition *conditions;

    /* Why its spec could not be read; NULL: it could. No server sends this: what the schema does
     * not have is pruned. */
    const char *unread;
};

/* The Policy's drain rules as the text that rules_parse() (engine/rules.h) reads. */
void policy_drain_rules(const struct policy *p, struct str *out);

/* --- Maintenance --- */

struct own_transition {
    int64_t time;
    const char *from, *to, *reason;
};

struct maintenance {
    struct meta meta;
    const char *node, *operation, *policy, *reason;
    int8_t paused;
    const struct own_executor *executor;

    int64_t observed_generation;
    const char *phase, *phase_reason;
    int64_t since;
    const char *slot, *boot_before, *boot_after;
    const struct own_blocker *blocker;
    const struct own_condition *conditions;
    const struct own_transition *journal;
};

/* What somebody has said about one that is halted: an annotation and not a field, since it is said
 * once, and taken off when it was heard. */
#define OWN_WORD_ANNOTATION "slipway.dev/word"
extern const char *const own_words[]; /* retry, skip, abort; NULL-terminated */
/* One of own_words, or NULL when nothing was said. -EINVAL when it is no such word. */
int maintenance_word(const struct maintenance *m, const char **out, struct err *err);

/* --- Rollout --- */

/* Of a Rollout: those of its nodes that have failed are begun again, once for every value. What was
 * heard is in its status. */
#define OWN_RETRY_ANNOTATION "slipway.dev/retry"
enum { ROLLOUT_NAMES_MAX = 1000000 }; /* bytes of all names of its nodes: etcd takes 1.5 MB */

struct rollout_counts {
    int32_t total, waiting, current, complete, failed;
};

struct rollout {
    struct meta meta;
    const char *operation, *policy, *reason;
    const struct label_selector *selector; /* NULL: `nodes` */
    const char *const *nodes;              /* names and sets of names (base/nodeset.h) */
    int32_t max_failed;                    /* ABSENT32, NULL: as its policy says */
    const char *soak;
    int8_t paused;
    const struct own_executor *executor;

    int64_t observed_generation;
    const char *phase, *phase_reason;
    int64_t since;
    struct rollout_counts counts;
    const char *const *current;
    /* Sets of nodes (base/nodeset.h): what is known of them when their Maintenances are gone. */
    const char *done_nodes, *failed_nodes;
    int64_t last_done;
    const char *retried; /* the OWN_RETRY_ANNOTATION that was heard */
    const struct own_blocker *blocker;
    const struct own_condition *conditions;
};

extern const struct kind kind_policy, kind_maintenance, kind_rollout;

/* All of them, NULL-terminated. Not in `kinds`: a cluster has them when they were installed. */
extern const struct kind *const own_kinds[];

#endif
