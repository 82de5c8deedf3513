/* The controller: the daemon that runs in the cluster, in one to three replicas.
 *
 * It keeps a picture of the cluster (controller/feeds.h), takes part in the election of a leader,
 * keeps the slots of each policy (engine/keeper.h) and answers FleetLock clients
 * (fleetlock/server.h). All replicas answer; only the leader gives slots out, drains and releases.
 */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "base/log.h"
#include "fleetlock/server.h"
#include "kube/client.h"

struct controller;

struct controller_opts {
    const char *ns;         /* of the records and the Lease */
    const char *identity;   /* of this replica, unique */
    const char *pod;        /* that it runs in; NULL: none */
    const char *fleetlock;  /* address of FleetLock over HTTP; NULL: none */
    const char *https;      /* and over HTTPS (controller/https.h); NULL: none */
    const char *cert, *key; /* files of the latter; NULL: made by itself, for: */
    const char *service;    /* by which clients find it */
    /* Of clients whose nodes no Policy has; by what ids they know their nodes. */
    struct fleetlock_terms terms;
    unsigned address_rate; /* requests of one address in a minute; 0: any number */
    struct roster_options ids;
    const char *http;     /* address of health and metrics; NULL: none */
    unsigned compat;      /* of enum metric_compat: names of others are served, too */
    const char *commit;   /* of the source; NULL: not known */
    const char *audit;    /* file of the audit log, or AUDIT_STDOUT; NULL: none */
    const char *record;   /* file of the flight recorder (controller/recorder.h); NULL: none */
    int64_t record_max;   /* bytes */
    bool commands, hooks; /* Maintenances may have them run, or called: see operate.h */
    double rate;          /* evictions a second; 0: no limit */
    /* Answers to controller_ask(): a status and a text; NULL: FleetLock has a listener only. */
    void (*reply)(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status);
    void *arg;
    const struct log *log;
    uint64_t seed; /* another one for each process */
};

/* Begins at once. What the options point to must outlive it. */
int controller_new(struct kube_client *client, const struct controller_opts *opts,
                   struct controller **out, struct err *err);
void controller_free(struct controller *c);

/* Where FleetLock is served, "" when it is not; the same of health and metrics. */
const char *controller_fleetlock_address(const struct controller *c);
const char *controller_http_address(const struct controller *c);

/* A question that came without the listener; answered by the `reply` of the options. */
void controller_ask(struct controller *c, const struct fleetlock_question *q);

/* Its audit log was moved away, or may be: it is opened anew. */
void controller_reopen(struct controller *c);

/* Gives up what it leads, so that another takes over at once; `done` is called then. A command that
 * runs is not killed half way, nor is it left to somebody who does not know how it ends: first it
 * has to be over, and that written. For how long that may take: microseconds. */
int64_t controller_stop(struct controller *c, loop_fn *done, void *arg);

#endif
