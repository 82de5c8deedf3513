/* What the files of rollouts share. See engine/rollout.h for what they are. */
#ifndef ENGINE_ROLLOUT_INTERNAL_H
#define ENGINE_ROLLOUT_INTERNAL_H

#include "base/nodeset.h"
#include "base/prng.h"
#include "base/timefmt.h"
#include "engine/contention.h"
#include "engine/own_status.h"
#include "engine/rollout.h"

/* A Maintenance that we have made and do not see yet. */
struct begun {
    char *name, *node;
    uint64_t action; /* 0: it is made */
    char *version;   /* that it was made with; NULL: not known */
    int64_t since;   /* monotonic */
};

struct roll {
    char *name, *uid;
    char *version; /* that we have written last */
    uint64_t action;
    VEC(struct begun) begun;
    bool sure; /* its status was written by us: what we know of it is what it is */
    unsigned tries;
    int64_t not_before, status_at; /* monotonic */
    char *told;                    /* the reason that was told last */
    int32_t done;                  /* nodes that it was told of; -1: it was not looked at yet */
    /* Nodes whose Maintenances we have seen under way: that is known before its status says so. */
    VEC(char *) seen;
    VEC(char *) ahead;  /* nodes whose pods are to be known */
    int64_t look_since; /* monotonic: those of some are waited for; 0: they are not */
    bool looking;       /* so that it is not clear yet who is next */
    /* Nodes that it comes to later, in their order, and those that it is at, whose marks go with
     * their cordons; once that is known. */
    VEC(char *) to_come, under_way;
    bool placed;
};

/* A node's mark that is being written. */
struct marking {
    uint64_t action;
    char *node;
    bool on;
};

/* What a policy's slots would bear. */
struct ahead {
    struct keeper *keeper;
    struct keeper_ahead *ahead; /* NULL: its record is not known */
};

struct rollouts {
    struct rollouts_opts opts;
    VEC(struct roll *) list;
    VEC(struct ahead) aheads; /* of the step under way */
    struct prng random;
    struct now now; /* of the call under way */
    struct actions *out;
    bool dirty;
    int64_t next;
    VEC(struct marking) marking;
    unsigned mark_tries;
    int64_t mark_at;   /* monotonic: no further mark is written before */
    int64_t mark_next; /* monotonic: when marks are looked at again, if nothing else happens */
};

/* rollout_survey.c: how far one is */
struct survey_node {
    const struct node *node;
    const struct policy_rules *rules;
    struct keeper *keeper;
    bool broken, control_plane;
    const char *zone;
    size_t rank; /* by name */
    bool begun;
    bool full; /* there is no slot for it */
};

struct rollout_survey {
    struct rollout_counts counts;
    VEC(const char *) current, failed; /* nodes */
    VEC(struct survey_node) next;    /* that were not begun, in the order in which they are to be */
    VEC(char *) missing;             /* names without a node; owned */
    const struct maintenance *gated; /* the first that a gate does not let begin, and says so */
    const struct maintenance *waits; /* one under way that does, first those that need somebody */
    const char *unclear;             /* the first node that has not exactly one policy */
    size_t unclear_policies;
    unsigned max_failed;
    bool ruled;         /* by a policy of one of its nodes */
    int64_t soak;       /* microseconds */
    int64_t last_done;  /* wall clock; 0: none is */
    const char *last;   /* the node of it */
    struct err problem; /* its nodes cannot be told */
    struct nodeset nodes;
    /* What has to be remembered, whatever becomes of the Maintenances. */
    struct nodeset done, given_up;
    bool unreadable;                 /* what its status says of that is left as it is */
    const char *retry;               /* what is to be heard; NULL: nothing new */
    bool retry_waits;                /* for Maintenances that are about to be gone */
    const struct maintenance *taken; /* has the name of one that would be made, and is not its */
};
void rollout_survey(struct rollouts *rs, struct roll *roll, const struct rollout *r,
                    struct rollout_survey *out);
void rollout_survey_done(struct rollout_survey *s);
/* The Maintenance that the rollout has made for that node, or NULL. */
const struct maintenance *rollout_maintenance(const struct rollouts *rs, const struct rollout *r,
                                              const char *node);

/* rollout_status.c: what is said of it */
struct rollout_verdict {
    const char *phase, *reason;
    struct str message;
    bool begins; /* further nodes may be begun */
    bool waits;
    struct own_wait wait;
    struct str wait_text;
    int64_t until; /* wall clock: when it looks again; 0: when something changes */
};
void rollout_judge(const struct rollouts *rs, const struct rollout *r,
                   const struct rollout_survey *s, struct rollout_verdict *v);
void rollout_verdict_done(struct rollout_verdict *v);
/* The patch of its status, into `body`, and whether it says anything new; `urgent`: what people
 * wait for. */
bool rollout_status(const struct rollouts *rs, const struct rollout *r,
                    const struct rollout_survey *s, const struct rollout_verdict *v,
                    struct str *body, bool *urgent);

/* rollout_turn.c: which of them is next */
struct rollout_turn {
    struct contention out; /* of what is out; once `counted` */
    bool counted;
    int64_t
        until; /* monotonic: nobody is, until the pods of some are known, or it is that late; 0 */
};
void rollout_turn_init(struct rollout_turn *t, const struct rollouts *rs);
void rollout_turn_done(struct rollout_turn *t);
/* NULL: nobody now, see `until`. */
struct survey_node *rollout_turn_next(struct rollouts *rs, struct roll *roll,
                                      struct rollout_survey *s, struct rollout_turn *t);
void rollout_turn_taken(struct rollout_turn *t, struct survey_node *n);
/* Whose pods are to be known from now on; `begins`: nodes may be begun. */
void rollout_turn_look(const struct rollouts *rs, struct roll *roll, const struct rollout *r,
                       const struct rollout_survey *s, bool begins);
void rollout_turn_forget(struct roll *roll);
/* Whether there is a slot for it; rollout.c. */
bool rollout_has_slot(struct rollouts *rs, const struct survey_node *n);

/* rollout_mark.c: nodes that are to come are marked (engine/next_mark.h) */
/* Which they are, from now on. */
void rollout_marks_place(struct roll *roll, const struct rollout_survey *s,
                         const struct rollout_verdict *v);
void rollout_marks_forget(struct roll *roll);
void rollout_marks_step(struct rollouts *rs);
bool rollout_marks_answer(struct rollouts *rs, uint64_t action, const struct answer *a);
void rollout_marks_done(struct rollouts *rs);

/* rollout_memory.c: what it knows of nodes whose Maintenances are gone */
bool rollout_is_of(const struct maintenance *m, const struct rollout *r);
/* Into `done` and `given_up`, from its status and the Maintenances that are there. */
int rollout_recall(const struct rollouts *rs, const struct rollout *r, struct rollout_survey *s,
                   struct err *err);

#endif
