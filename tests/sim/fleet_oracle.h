/* The oracle of the controller: watches several replicas, FleetLock clients and a cluster from
 * outside, and says which promise of DESIGN 4 was broken.
 *
 *  1 at most N: every holding that is written is counted, against the limits that its writer can
 *    have known; a rollout begins no node that it may not, and nobody anything while all is
 * stopped; 2 no budget is broken: evictions only, with the UID, of pods whose node holds a slot and
 * is cordoned for it; 3 a cordon has an owner: what people have cordoned stays so, what we have is
 * lifted; 4 nothing is lost in a crash: no command twice, no slot let go before its node is back,
 * nothing left over in the end; 5 nothing waits silently or for ever; 6 only a grant looks like a
 * grant: it is so in the record and on the Node at some moment after the question came, and the
 * node is drained; 7 no stale decision: a Node is changed for a holding in the order of
 * engine/slots.h, terms only grow; 8 polite: no storms, and nothing but leases and watches when
 * there is nothing to do.
 *
 * It reads the objects themselves with readers of its own, and includes nothing of the engine. */
#ifndef TESTS_SIM_FLEET_ORACLE_H
#define TESTS_SIM_FLEET_ORACLE_H

#include "chaos.h"
#include "fleet_plan.h"
#include "fleetlock/message.h"

struct fleet_oracle;

struct fleet_oracle_options {
    const struct fleet_plan *plan;
    struct sim *sim;
    int64_t (*now)(void *arg); /* of the loop */
    /* Up to when a replica knows a resource: chaos_known(). */
    int64_t (*known)(void *arg, unsigned replica, const char *resource, const char *selected);
    void *arg;
};

struct fleet_oracle *fleet_oracle_new(const struct fleet_oracle_options *opts);
void fleet_oracle_free(struct fleet_oracle *o);

/* --- what happens --- */

void fleet_oracle_sent(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req);
void fleet_oracle_serving(struct fleet_oracle *o, unsigned replica,
                          const struct chaos_request *req);
void fleet_oracle_served(struct fleet_oracle *o);
/* What the replica was told, an HTTP status or 0 for no answer. */
void fleet_oracle_told(struct fleet_oracle *o, unsigned replica, const struct chaos_request *req,
                       int code);
/* A replica was stopped, or goes on. */
void fleet_oracle_froze(struct fleet_oracle *o, unsigned replica);
void fleet_oracle_thawed(struct fleet_oracle *o, unsigned replica);
/* What changes between the two is done by people. */
void fleet_oracle_people(struct fleet_oracle *o, bool at_work);
/* Somebody says what is to become of a Maintenance. */
void fleet_oracle_word(struct fleet_oracle *o, const char *maintenance, bool retry);
/* A FleetLock client asks a replica, and is answered. */
void fleet_oracle_asked(struct fleet_oracle *o, unsigned replica, uint64_t ticket, const char *node,
                        bool steady);
void fleet_oracle_replied(struct fleet_oracle *o, uint64_t ticket, enum fleetlock_kind kind,
                          int status);
/* The replica has died; nobody answers what it was asked. */
void fleet_oracle_died(struct fleet_oracle *o, unsigned replica);

/* --- in the end --- */

/* Nothing is left to be done: why not, or NULL. Valid until the next call. */
const char *fleet_oracle_unfinished(struct fleet_oracle *o);
/* Looks at what is left; from now on nobody has anything to do. */
void fleet_oracle_idle(struct fleet_oracle *o);
/* Looks at what was sent since. */
void fleet_oracle_end(struct fleet_oracle *o);

size_t fleet_oracle_n_violations(const struct fleet_oracle *o);
const char *fleet_oracle_violation(const struct fleet_oracle *o, size_t i);
__attribute__((format(printf, 3, 4))) void fleet_oracle_blame(struct fleet_oracle *o, int promise,
                                                              const char *fmt, ...);

/* --- what it has seen, for those who count --- */

/* Of a Maintenance. */
struct fleet_way {
    const char *name, *node, *from, *to, *reason;
};

struct fleet_seen {
    void (*phase)(void *arg, const struct fleet_way *way);
    void (*slot)(void *arg, const char *node, const char *from, const char *to); /* "": none */
    void (*blocker)(void *arg, const char *code);
    void (*rollout)(void *arg, const char *reason); /* has got there */
    void *arg;
};
void fleet_oracle_tell(struct fleet_oracle *o, const struct fleet_seen *seen);

#endif
