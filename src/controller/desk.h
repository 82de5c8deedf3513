/* Where FleetLock clients are served: the listeners (fleetlock/server.h, controller/https.h), the
 * policy that decides for whoever asks, and those who wait for the answer of its keeper
 * (engine/keeper.h).
 *
 *     question -> policy -> its keeper ... desk_reply() -> answer
 *
 * A question whose keeper is replaced, since its policy was changed, is asked again of the next
 * one. */
#ifndef CONTROLLER_DESK_H
#define CONTROLLER_DESK_H

#include "controller/teller.h"
#include "fleetlock/server.h"

struct desk;

struct desk_opts {
    const char *http, *https; /* addresses of FleetLock; NULL: none */
    const char *cert, *key;   /* as in controller/https.h */
    const char *ns, *service; /* the same */
    /* Of clients whose nodes no Policy has; by what ids they know their nodes. */
    struct fleetlock_terms terms;
    unsigned address_rate; /* as of struct fleetlock_server_opts */
    struct roster_options ids;
    const struct cluster *cluster;
    const struct policies *policies;
    struct teller *teller;
    const struct log *log;
    uint64_t seed;
    /* Whether the cluster is known. */
    bool (*ready)(void *arg);
    /* Why nobody can be told to go, whatever the policies say; NULL: nothing is in the way. */
    const char *(*problem)(void *arg);
    /* The policies are about to be asked: they are to be what they are now. */
    void (*look)(void *arg);
    /* The keeper of the one policy that has the node is to be asked: as keeper_ask(). */
    void (*ask)(void *arg, uint64_t ticket, const char *node, enum keeper_question question,
                struct now now);
    /* Whoever has asked is gone. */
    void (*gone)(void *arg, uint64_t ticket);
    /* Answers to desk_ask(), when there is no listener. */
    void (*reply)(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status);
    void *arg;
};

/* What the options point to must outlive it. */
int desk_new(struct kube_client *client, const struct desk_opts *opts, struct desk **out,
             struct err *err);
void desk_free(struct desk *d);

/* Where FleetLock is served over HTTP, "" when it is not. */
const char *desk_address(const struct desk *d);

/* Why FleetLock is not served over HTTPS yet; NULL: it is, or nobody wants it. */
const char *desk_https_problem(const struct desk *d);

/* A question that came without a listener. */
void desk_ask(struct desk *d, const struct fleetlock_question *q);

/* The policies are others: by which ids clients may know their nodes. */
void desk_learn(struct desk *d);
/* The answer of a keeper. */
void desk_reply(struct desk *d, const struct keeper_reply *reply);
/* This keeper is about to be replaced; those who waited for it are asked again by desk_again(). */
void desk_replaced(struct desk *d, const struct keeper *k);
void desk_again(struct desk *d);
/* When it is to be called at the latest; INT64_MAX: nobody waits for that. */
int64_t desk_next(const struct desk *d);

#endif
