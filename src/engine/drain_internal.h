/* What the files of the drain share. See engine/drain.h for what it is. */
#ifndef ENGINE_DRAIN_INTERNAL_H
#define ENGINE_DRAIN_INTERNAL_H

#include "base/htab.h"
#include "base/prng.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/budget.h"
#include "engine/drain.h"
#include "engine/filter.h"
#include "engine/reason.h"
#include "engine/surge.h"

enum {
    UNAUTHORIZED_MAX = 5, /* answers in a row: a token may be about to be replaced */
    RETURNS_MAX = 3, /* times that a pod's successor may come back before we stop evicting it */
};

enum how { BY_EVICTION, BY_DELETION, BY_FORCE };

/* A pod that is or was on one of the nodes. */
struct dpod {
    struct drain_pod pub; /* first; its texts are owned */
    struct dnode *node;
    char *owner_uid;
    VEC(char *) claims; /* that tell whether it can run elsewhere: for wait_rescheduled */
    struct rule_verdict rule;
    enum how how;
    uint64_t action;      /* the request under way */
    char *budget;         /* "ns/name": counted in its ledger as long as the request is under way */
    char *budget_version; /* of the budget when it was asked */
    const struct explained *explained; /* what its blocker tells of, and which of its words */
    unsigned explained_serial;
    int64_t since;         /* wall clock: the next blocker is as old as that; 0: new */
    int64_t stopped_at;    /* monotonic: its containers have; 0: not */
    bool here;             /* the store has it */
    bool told;             /* the first try was noted */
    bool asked;            /* a request was sent */
    unsigned told_to_wait; /* answers of a webhook in a row */
    bool waited;           /* it was held or had to finish: its time had not begun */
    bool surge_told;       /* the surge knows that it left */
    bool lost;             /* its owner has been told */
    bool force_again;      /* a deletion by force failed in a way that passes */
    bool pinned;           /* comes back to this node whatever we do */
    bool one_node;         /* its selector or affinity names one */
    bool returns;          /* the same, but not because it names the node */
    bool tolerates;        /* the cordon, and something brings it back */
    bool finished;         /* Succeeded or Failed */
    bool forbidden;        /* refused because what has to be known may not be read */
    bool outlasted;        /* given up because its blocker lasted for too long */
    int64_t first;         /* its turn came, monotonic */
    int64_t sent_at;       /* monotonic: the request under way */
    int64_t accepted;      /* monotonic, 0: not */
    int64_t not_before;
    int64_t asked_for;     /* monotonic: a Retry-After, which nothing shortens */
    int64_t grace;         /* its own, seconds: longer ones go first */
    unsigned tries;        /* in a row without success */
    unsigned unauthorized; /* answers in a row */
};

/* Pods that wait for the same thing on one node: one note when the first begins, one when the last
 * ends. */
struct dgroup {
    enum blocker_code code;
    char *object;
    unsigned count;
    int64_t since;       /* monotonic */
    bool told, recorded; /* by a note; by an Event */
    bool told_more;      /* what keeps its other pods, when that was known */
};

/* An owner whose pods we evicted from a node. */
struct downer {
    char *api_version, *kind, *ns, *name, *uid;
    char *version;      /* of the owner when its last pod left; NULL: not known */
    bool asked;         /* for it, since then: what nobody watches was read long ago, if at all */
    int64_t lost;       /* monotonic, when the last of its pods was told to go */
    int64_t left;       /* monotonic, when the last of its pods left */
    unsigned evicted;   /* pods */
    unsigned came_back; /* to this node, after the cordon, without a toleration or with one */
};

/* A list that began after the cordon: what a watch is late with comes into the store with it. */
struct dconfirm {
    uint64_t action; /* under way */
    bool done;
    unsigned tries;
    int64_t not_before; /* monotonic */
    char *why;          /* it failed */
};

/* What the checks say to a node that waits: drain_checks.c. */
enum gate { GATE_UNKNOWN, GATE_SHUT, GATE_OPEN, GATE_FREE };

/* Whether it has the mark of nodes whose turn is still to come: drain_next.c. */
enum mark { MARK_NONE, MARK_SET, MARK_GIVEN_UP };

/* Nodes that began together. */
struct batch {
    unsigned cordoning; /* of them */
    int64_t began;      /* monotonic */
};

struct dnode {
    struct drain_node pub; /* first */
    char *uid;             /* of the Node when it was first seen */
    /* Of one that was added: who holds it, and why nothing more shall be done with it; owned. */
    struct cordon_holder holder;
    char *dropped;
    struct batch *batch; /* NULL: it waits */
    VEC(struct dpod *) pods;
    VEC(struct dgroup) groups;
    VEC(struct downer) owners;
    uint64_t action; /* the write of the cordon under way */
    bool dirty;
    bool wrote;                /* we may have made it unschedulable */
    bool took;                 /* our hold is of this run */
    bool written;              /* a write of ours was accepted */
    bool released;             /* our hold was taken back by us */
    int64_t cordoned_at;       /* by the server's clock, as far as that is known */
    bool held;                 /* seen: we are a holder */
    bool marked;               /* DrainInProgress was written */
    uint64_t condition_action; /* the write of conditions under way */
    char *condition;           /* the one that comes after it */
    char *condition_sent;      /* and the one under way */
    unsigned condition_tries;
    int64_t condition_at; /* not before, monotonic */
    struct dconfirm pods_list, volumes_list;
    /* What is due: a step that looks at everything; a look at pods that wait; words and records. */
    int64_t wake; /* monotonic: dirty then */
    bool act, touched;
    bool queued;                /* it shall be written, when others have been */
    bool unread;                /* something that has to be read first was missing */
    bool surging;               /* a pod waits for a second replica */
    VEC(struct ledger *) waits; /* budgets that its pods wait for */
    unsigned requests, asking;  /* under way; for its pods */
    bool had_volumes;           /* one of its pods had */
    int64_t may_return; /* monotonic: a pod that tolerates the cordon may be back until then */
    bool told_cordon;
    bool told_other;             /* of another drain of the node, if there is one */
    bool detach_over;            /* its time limit has passed */
    bool told_blocked, recorded; /* of its own blocker: by a note; by an Event */
    int64_t recorded_at;         /* monotonic */
    int64_t blocked_at;
    enum drain_phase after_undo;
    int64_t not_before, deadline, phase_at; /* monotonic */
    unsigned tries, unauthorized;
    int64_t unsure;  /* monotonic: until then a write without an answer may still show */
    bool record_due; /* its end has not been recorded */
    enum mark mark;
    uint64_t mark_action; /* the write of it under way */
    unsigned mark_tries;
    int64_t mark_at; /* not before, monotonic */
    enum gate gate;
    bool out_before;   /* waits, and is out of service since before we came */
    int64_t checks_at; /* monotonic: the checks are not asked about it before */
    char *error;
};

/* What we have spent of a budget and its status does not show yet. */
struct spent {
    char *pod;
    int64_t at;
};
/* Why it does not allow anything. */
struct explained {
    char *words, *version; /* of the budget */
    bool lasts;            /* they are of something that should pass */
    unsigned serial;       /* another with other words */
    int64_t since;         /* monotonic: nothing of it was evicted; 0: nobody waits */
    int64_t ask_at;        /* monotonic: about its other pods */
    int64_t look_at;       /* monotonic: the words may be others */
    unsigned tries;        /* that its other pods were not there yet */
    bool causes;           /* the words tell what keeps its other pods */
};

struct ledger {
    struct explained explained;
    char *ns, *name;
    unsigned asking;        /* requests under way */
    VEC(struct spent) gone; /* accepted */
    char *refused;          /* version of the budget when the server said no; NULL: it did not */
    int64_t probe;          /* monotonic: ask although the status says no; 0: not set */
    int64_t probe_delay;
    bool used; /* it allowed an eviction of ours */
};

/* A request under way, and whom its answer is for. */
struct request {
    uint64_t id;
    struct dnode *node;
    struct dpod *pod;         /* NULL: of the node */
    struct dconfirm *confirm; /* a list */
    bool minor;               /* nobody waits for it but the end */
};

struct drain {
    struct drain_opts opts;
    struct rules *own_rules;
    struct cluster *cluster;
    struct surge *surge;
    struct budget_owners budget_owners; /* within a step */
    drain_note_fn *note;
    void *arg;
    VEC(struct dnode *) nodes;
    struct htab by_name; /* the same */
    VEC(struct batch *) batches;
    struct htab pods; /* struct dpod by UID */
    struct htab ledgers;
    struct prng random;
    struct htab requests;
    unsigned minors, asking, writing; /* of them: that nobody waits for; for pods; for nodes */
    unsigned marking;                 /* writes of marks under way */
    struct now now;                   /* of the call under way */
    struct actions *out;              /* the same */
    struct dnode *at;                 /* the node that is being looked at */
    int64_t next;
    struct tokens own_tokens, *tokens; /* the latter: by which it goes */
    int64_t throttled;                 /* monotonic: nothing is sent before */
    char *stopped;
    bool any_dirty;
    bool told_skipped;             /* which checks are not asked */
    bool checks_stale;             /* something in what they decide by has changed */
    bool checks_ended;             /* a node has ended since they were asked */
    struct operation *operation;   /* what they say to empty nodes, within a step */
    int64_t checks_at;             /* monotonic: when the gates were looked at */
    int64_t checks_look;           /* monotonic: when they are the next time; 0: never */
    bool room;                     /* a node that waits may be able to begin */
    bool no_events, no_conditions; /* they may not be written */
    int64_t events_at;             /* monotonic: no Events before */
    int64_t ended_at;              /* monotonic: the last node; 0: not yet */
    int64_t skew;                  /* the server's clock less ours, when that matters */
    bool surge_begun, surge_ended, surge_given_up;
    bool surge_stirred;     /* something that a pod may have waited for with its second replica */
    int64_t surge_due;      /* monotonic: the same */
    int64_t surge_ended_at; /* monotonic */
};

/* drain.c */
/* The time of day by the server's clock, as far as it is known. */
int64_t drain_server_now(const struct drain *d);
/* Looks again then: at the node that is being looked at, or at what all of them share. */
void drain_wake(struct drain *d, int64_t at);
/* Doubles from `first` to `max` with the number of tries, with jitter up to half as much again. */
int64_t drain_backoff(struct drain *d, unsigned tries, int64_t first, int64_t max);
/* What the server asks us to wait, microseconds; 0 when it does not. */
int64_t drain_wish(const struct answer *a);
/* The longer of both. */
int64_t drain_pause(struct drain *d, const struct answer *a, unsigned tries, int64_t first,
                    int64_t max);
void drain_tell(struct drain *d, enum drain_note_kind kind, struct dnode *n, struct dpod *p,
                const char *text);
/* Who cordons it. */
const struct cordon_holder *drain_holder(const struct drain *d, const struct dnode *n);
/* "ns/name"; freed by the caller. */
char *drain_full_name(const char *ns, const char *name);
/* NULL: none of ours. */
struct dnode *drain_find_node(struct drain *d, const char *name);
struct downer *drain_owner(struct dnode *n, const char *uid);

/* drain_request.c */
void drain_requests_init(struct drain *d);
void drain_requests_done(struct drain *d);
/* Adds the action; its answer is for the node, or for its pod or list if that is not NULL. Returns
 * its number. */
uint64_t drain_request(struct drain *d, const struct action *a, struct dnode *n, struct dpod *p,
                       struct dconfirm *c);
/* Its answer has come; false when it is none of these. */
bool drain_request_take(struct drain *d, uint64_t id, struct request *out);

/* drain_block.c */
__attribute__((format(printf, 6, 7))) void drain_pod_block(struct drain *d, struct dpod *p,
                                                           enum blocker_code code, const char *kind,
                                                           const char *object, const char *fmt,
                                                           ...);
void drain_pod_unblock(struct drain *d, struct dpod *p);
__attribute__((format(printf, 6, 7))) void drain_node_block(struct drain *d, struct dnode *n,
                                                            enum blocker_code code,
                                                            const char *kind, const char *object,
                                                            const char *fmt, ...);
void drain_node_unblock(struct drain *d, struct dnode *n);
/* Notes and Events about what has lasted for a while. */
void drain_blockers_step(struct drain *d, struct dnode *n);

/* drain_budget.c */
struct budget_say {
    bool go;
    bool counted;              /* an eviction takes one from the budget */
    enum blocker_code code;    /* when it must wait */
    const struct pdb *pdb;     /* the one that decides, or NULL */
    const struct guard *guard; /* an operator keeps it: these are the words then; or NULL */
    int64_t probe;             /* ask anyway at this time; INT64_MAX */
};
struct budget_say drain_budget(struct drain *d, const struct pod *pod);
void drain_budget_asked(struct drain *d, struct dpod *p, const struct pdb *pdb);
void drain_budget_answered(struct drain *d, struct dpod *p, bool accepted, bool refused);
void drain_budget_changed(struct drain *d, const struct pdb *before, const struct pdb *after);
/* Its node looks again when something happens to a budget of this pod. */
void drain_budget_wait(struct drain *d, struct dnode *n, const struct pod *pod);
void drain_budgets_done(struct drain *d);
struct ledger *drain_ledger(struct drain *d, const struct meta *m);

/* drain_explain.c */
/* `lasts`: it should pass, and when it does not its other pods may tell why. Looks again when there
 * may be something new. */
const struct explained *drain_explain(struct drain *d, const struct pdb *pdb, bool lasts);
/* It has allowed something: the wait begins anew. */
void drain_explain_anew(struct explained *e);
void drain_explain_done(struct explained *e);

/* drain_pod.c */
void drain_pods_look(struct drain *d, struct dnode *n);
void drain_pod_free(struct dpod *p);
/* Told once, also of a pod that leaves without having been asked. */
void drain_pod_tell_try(struct drain *d, struct dpod *p);
/* A rule leaves it alone from now on. */
void drain_pod_stays(struct drain *d, struct dpod *p);
/* It is on its way out. */
void drain_pod_leaves(struct drain *d, struct dpod *p);
/* It is not tried again; the rest of the node goes on. Takes over the text. */
void drain_pod_give_up(struct drain *d, struct dpod *p, char *text);
bool drain_pod_past_deadline(struct drain *d, struct dpod *p);
/* It needs no second replica any more. */
void drain_pod_needs_none(struct drain *d, struct dpod *p);

/* drain_evict.c */
void drain_pods_act(struct drain *d);
void drain_pod_force(struct drain *d, struct dpod *p);
/* Blocks the pod when its budget would not let it go as things are; nobody is asked. */
void drain_evict_judge(struct drain *d, struct dpod *p, const struct pod *pod);
/* In a dry run: what the server would do is known. */
bool drain_pod_answered(const struct drain *d, const struct dpod *p);
void drain_pod_answer(struct drain *d, struct dpod *p, const struct answer *a);

/* drain_node.c */
void drain_node_step(struct drain *d, struct dnode *n);
void drain_node_enter(struct drain *d, struct dnode *n, enum drain_phase phase);
__attribute__((format(printf, 4, 5))) void
drain_node_end(struct drain *d, struct dnode *n, enum drain_phase phase, const char *fmt, ...);
/* Conditions and Events of its end, if they are still due. */
void drain_node_record(struct drain *d, struct dnode *n);
void drain_node_answer(struct drain *d, struct dnode *n, const struct answer *a);
/* Nodes that shall be written to are looked at again, as many as there is room for. False: none. */
bool drain_writes_next(struct drain *d);
/* Pods by name, three of them at most, and what they wait for. The caller frees it. */
char *drain_pod_names(const struct dnode *n, bool wanted(const struct drain_pod *p));

/* drain_look.c */
/* Looks at the pods of a node that is cordoned. True: it may be emptied now; else it has ended, or
 * has to be looked at again. */
bool drain_node_look(struct drain *d, struct dnode *n);
/* Whether what decides about its pods was read; and says what is waited for when it was not. */
bool drain_all_known(const struct drain *d, const struct dnode *n);
void drain_block_by_reads(struct drain *d, struct dnode *n);
/* No rule does anything else about the pod than to ask and to wait. */
bool drain_only_asked(const struct dpod *p);

/* drain_confirm.c */
/* True when the list is in; else asks for it. */
bool drain_confirm(struct drain *d, struct dnode *n, struct dconfirm *c, const struct kind *kind);
/* Says why it takes so long, if there is something to say. */
void drain_confirm_block(struct drain *d, struct dnode *n, const struct dconfirm *c,
                         const struct kind *kind);
void drain_confirm_answer(struct drain *d, struct dconfirm *c, const struct answer *a);

/* drain_admit.c */
void drain_admit(struct drain *d);
/* NULL: there is no such node. */
bool drain_zone_differs(const struct node *a, const struct node *b);

/* drain_checks.c */
/* Finds out which of the nodes that wait may begin, as far as that is not known. Those that a check
 * denies end. */
void drain_gates(struct drain *d);
bool drain_gate_open(const struct drain *d, const struct dnode *n);
/* A node has begun: gates that were open may be shut now. */
void drain_gate_used(struct drain *d);
/* The gates have to be looked at again. */
bool drain_checks_due(struct drain *d);
/* Whether nothing is under way on an empty node that somebody has to wait for. */
bool drain_may_operate(struct drain *d, struct dnode *n);
/* The end of a step: what the checks have said is over. */
void drain_checks_forget(struct drain *d);
/* Records which checks were not asked about the node. */
void drain_checks_skipped(struct drain *d, struct dnode *n);

/* drain_next.c */
void drain_marks_step(struct drain *d);
/* False when it is none of these. */
bool drain_mark_answer(struct drain *d, const struct request *r, const struct answer *a);
/* A mark is still to be taken off. */
bool drain_mark_left(const struct drain *d, const struct dnode *n);

/* drain_record.c: conditions and Events on the node */
void drain_record_condition(struct drain *d, struct dnode *n, bool in_progress, bool drained,
                            const char *reason, const char *message);
/* How one of these ended. */
void drain_record_answer(struct drain *d, const struct request *r, const struct answer *a);
/* Writes that had to wait for an earlier one. */
void drain_record_step(struct drain *d, struct dnode *n);
void drain_record_event(struct drain *d, struct dnode *n, bool warning, const char *reason,
                        const char *message);

/* drain_after.c: volumes and owners */
bool drain_volumes_gone(struct drain *d, struct dnode *n);
bool drain_owners_well(struct drain *d, struct dnode *n);
/* It has a pod here. What nobody watches is read, so that it is known what it was before. */
void drain_owner_comes(struct drain *d, const struct downer *o);
/* A pod of it begins to leave: only what is written from now on tells how it bears that. */
void drain_owner_loses(struct drain *d, struct downer *o);
/* Those of which it was not known by then what they were: they are seen as soon as they are read.
 */
bool drain_owners_unseen(const struct dnode *n);
void drain_owners_see(struct drain *d, struct dnode *n);
void drain_owner_left(struct drain *d, struct downer *o);

#endif
