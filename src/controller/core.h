/* What the controller decides: its picture of the cluster, the policies and their keepers, and, as
 * long as it leads, the rollouts and what is written of the policies.
 *
 * Pure: whatever comes from outside comes in by these functions and by the stores, with the time
 * that it is, and all that goes out goes through the options and the list of actions. The same
 * inputs in the same order give the same outputs; so the controller, which brings them from the
 * cluster, and a replay of what it has recorded (controller/replay.h) run the same code. Whoever
 * wants to know what came in and what came of it listens (core_listen()). */
#ifndef CONTROLLER_CORE_H
#define CONTROLLER_CORE_H

#include "controller/policies.h"
#include "engine/rollout.h"

struct core;

struct core_opts {
    const char *ns; /* of the records */
    struct pool *pool;
    const struct log *log;
    uint64_t seed; /* another one for each process */
    void (*note)(void *arg, const struct keeper_note *note);
    keeper_said_fn *said; /* as keeper_opts.said */
    drain_note_fn *drain_note;
    void (*rollout_note)(void *arg, const struct rollout_note *note);
    void (*reply)(void *arg, const struct keeper_reply *reply);
    void (*operate)(void *arg, const struct maintenance *m);
    /* This keeper is about to be replaced: who waits for its replies asks again. */
    void (*replaced)(void *arg, const struct keeper *k);
    /* A later leader was met, in that term or before: this one has to stop. Called when nothing is
     * under way here any more. */
    void (*deposed)(void *arg, const char *why, int32_t fence);
    /* What the checks go by, of one that leads; kept current by the caller, who tells with
     * core_checks_changed(). NULL, or the answer: nobody asks them. */
    const struct check_world *(*checks)(void *arg);
    /* Whether Maintenances that need them are denied: controller/operate.h. */
    bool no_commands, no_hooks;
    double rate; /* evictions a second, of all policies together; 0: no limit */
    /* Whether a drain of that node may begin. */
    bool (*watched)(void *arg, const char *node);
    void *arg;
};

struct core *core_new(const struct core_opts *opts);
void core_free(struct core *c);

/* --- what it knows --- */

struct core_stores {
    struct store *maps, *policies, *maintenances, *rollouts;
};
struct cluster *core_cluster(struct core *c);
const struct core_stores *core_stores(const struct core *c);
const struct policies *core_policies(const struct core *c);
bool core_is_ready(const struct core *c);
/* As core_blind() was told. */
const char *core_is_blind(const struct core *c);
/* Whether it leads, and in which term. */
bool core_leads(const struct core *c, int32_t *fence);
/* All its stores; n is how many. */
struct store *const *core_all_stores(const struct core *c, size_t *n);

/* --- what comes in --- */

/* The stores are complete. */
void core_ready(struct core *c);
/* Why the stores may show an old picture; NULL: they do not any more. Nobody gets a slot by one. */
void core_blind(struct core *c, const char *why);
/* Anything may have changed. */
void core_poke(struct core *c);
/* The policies may have changed: they are to be what they are now. True when they were looked at.
 */
bool core_look(struct core *c);
/* Decides. Adds to `out` what is to be done now. */
void core_step(struct core *c, struct now now, struct actions *out);
/* When core_step() wants to be called at the latest, monotonic; INT64_MAX: never. */
int64_t core_next(const struct core *c);
void core_answer(struct core *c, uint64_t action, const struct answer *answer, struct now now);
/* For the node of that name, which exactly one policy has; else nothing happens. */
void core_ask(struct core *c, uint64_t ticket, const char *name, enum keeper_question question,
              struct now now);
void core_cancel(struct core *c, uint64_t ticket);
void core_checks_changed(struct core *c);
/* Whether the pods of that node have to be known, and the nodes ahead of their turn of which they
 * have to be; see rollouts_each_ahead(). */
bool core_needs_pods(const struct core *c, const char *node);
void core_each_ahead(const struct core *c, void (*fn)(void *arg, const char *node), void *arg);
/* What the checks go by is not the core's: of these it does nothing but tell who listens. A change
 * of what was read of a source, before it is made; and what the world says of it from now on. */
void core_check_store(struct core *c, enum check_source_id source, const struct store *s,
                      const struct store_change *change);
void core_check_input(struct core *c, enum check_source_id source, const struct check_input *in);
void core_operated(struct core *c, const char *maintenance, const char *failure);
void core_lead(struct core *c, int32_t fence);
void core_follow(struct core *c);
/* Whether it was told how an operation has ended, and what comes of that is not written yet. */
bool core_owes(const struct core *c);
/* No further operation is begun: whoever carries them out ends when those that were are over. */
void core_hold(struct core *c);
/* Forgets everything but the stores, as if it had just been started: the truth is in them. */
void core_restart(struct core *c);

/* --- who listens --- */

enum core_what {
    /* What comes in. */
    CORE_BEGIN, /* anew */
    CORE_STORE, /* store, change */
    CORE_READY,
    CORE_POKE,
    CORE_LOOK,
    CORE_STEP,     /* now */
    CORE_ANSWER,   /* now, id, answer */
    CORE_ASK,      /* now, id, name: the node, question */
    CORE_CANCEL,   /* id */
    CORE_OPERATED, /* name, text: the failure */
    CORE_LEAD,     /* fence */
    CORE_FOLLOW,
    CORE_HOLD,
    CORE_BLIND,       /* text: why, NULL: no more */
    CORE_CHECKS,      /* what they go by has changed: those of the next two that were before it */
    CORE_CHECK_STORE, /* source, store, change */
    CORE_CHECK_INPUT, /* source, input */
    /* What comes of it, before the next that comes in. */
    CORE_WATCHED, /* name: the node, yes: what was said, when it is something else than before */
    CORE_ACTION,
    CORE_NOTE,
    CORE_DRAIN,
    CORE_ROLLOUT,
    CORE_REPLY,
    CORE_OPERATE, /* name */
    CORE_DEPOSED, /* text, fence */
    CORE_WHATS
};

struct core_event {
    enum core_what what;
    struct now now;
    const struct store *store;
    const struct store_change *change;
    enum check_source_id source;
    const struct check_input *input;
    uint64_t id;
    const char *name, *text;
    enum keeper_question question;
    int32_t fence;
    bool yes;
    const struct answer *answer;
    struct pool *pool; /* of what the answer brings */
    const struct action *action;
    const struct keeper_note *note;
    const struct drain_note *drain;
    const struct rollout_note *rollout;
    const struct keeper_reply *reply;
};
typedef void core_listen_fn(void *arg, const struct core_event *e);
/* One; NULL: nobody. */
void core_listen(struct core *c, core_listen_fn *fn, void *arg);

#endif
