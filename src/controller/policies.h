/* The policies of the cluster, and a keeper (engine/keeper.h) for each.
 *
 * Without any Policy there is the built-in one. A record of slots whose Policy is gone is kept,
 * too, until nobody holds one of them any more: nobody gets one. */
#ifndef CONTROLLER_POLICIES_H
#define CONTROLLER_POLICIES_H

#include "base/log.h"
#include "engine/keeper.h"
#include "engine/policy.h"

struct policies;

struct policies_opts {
    struct keeper_opts keeper; /* of all of them, as far as no Policy says it */
    struct cluster *cluster;
    struct store *maps, *policies;
    double rate; /* evictions a second, of all policies together; 0: no limit */
    const struct log *log;
    /* This keeper is about to be replaced: who waits for its replies asks again. */
    void (*replaced)(void *arg, const struct keeper *k);
    void *arg;
};

struct policies *policies_new(const struct policies_opts *opts);
void policies_free(struct policies *p);

/* Forgets all of them, and whether it leads: the next policies_look() begins anew. */
void policies_reset(struct policies *p);
/* Takes in what has changed in the stores. */
void policies_look(struct policies *p);

/* One of them: valid until the next policies_look(). `problem`: why it cannot be used. */
struct policy_kept {
    struct policy_rules *rules; /* NULL with a problem */
    struct keeper *keeper;      /* the same */
    const char *name, *problem;
};
size_t policies_len(const struct policies *p);
const struct policy_kept *policies_at(const struct policies *p, size_t i);
/* How many have that node, and the first of them. None, where one has it that cannot be used, or
 * may have it: no other decides for it then. */
size_t policies_find(const struct policies *p, const struct node *node,
                     const struct policy_kept **out);
/* That one; NULL: there is none. */
const struct policy_kept *policies_unusable(const struct policies *p, const struct node *node);

/* A sentence about the nodes that another one has, too: of these none decides. NULL: there are
 * none. To be freed. */
char *policies_shared(const struct policies *p, const struct policy_kept *one);

/* Who holds a slot for that node, in any of them; NULL: nobody. */
const struct slot *policies_slot(const struct policies *p, const char *node);
/* The one that it is of; NULL: none. */
const struct policy_kept *policies_holding(const struct policies *p, const char *node);
/* The one whose keeper hears what somebody asks or reports of that node: the one that the node
 * holds a slot of, whichever has it by now, and else the one that has it. NULL: none, or several.
 */
const struct policy_kept *policies_asked(const struct policies *p, const char *name);
/* Whether all records have been read, and whether each of them said who holds a slot. */
bool policies_slots_known(const struct policies *p);
bool policies_slots_sure(const struct policies *p);
/* Whether this keeper sees to the maintenance: the one that has a slot for it, else that of the
 * policy that has the node. */
bool policies_owns(const struct policies *p, const struct keeper *k, const struct maintenance *m);
/* Why no policy can see to it, or another one than it names; NULL: one can, or the node is not
 * there. */
const char *policies_unclear(const struct policies *p, const struct maintenance *m);

/* As keeper_opts.unguarded: its Policy may vanish at any moment. */
const char *policies_unguarded(const struct policies *p, const struct keeper *k);
/* Why the finalizer of that Policy cannot be written, as the server says it; NULL: it can, or it is
 * not known. From whoever writes it, and for as long as this one leads. */
void policies_finalizer_refused(struct policies *p, const char *name, const char *why);
/* Why nobody gets a slot of it, whoever may hold one: it has a mistake, its record cannot be read,
 * or it could vanish. NULL: somebody may. */
const char *policies_idle(const struct policies *p, const struct policy_kept *one);

/* Why its record can be written or read no more, a sentence to be freed; NULL: it can. */
char *policies_refusal(const struct policy_kept *one);
/* The first of these, where no record at all can; NULL: one can, or there is none. Policies that
 * cannot be used have none. */
char *policies_refused(const struct policies *p);

/* Says in the log which records cannot be read, once each, and when they can be again. */
void policies_say(struct policies *p);
/* As keeper_opts.elsewhere. */
bool policies_elsewhere(const struct policies *p, const struct keeper *k, keeper_out_fn *fn,
                        void *arg);

void policies_lead(struct policies *p, int32_t fence);
void policies_follow(struct policies *p);

#endif
