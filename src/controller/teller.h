/* Tells what happens to everybody who is told: the log, the audit log (controller/audit.h), the
 * metrics (controller/tally.h) and Events (controller/events.h). What is worth telling, and in
 * which words, its callers know; who hears of it is decided here. */
#ifndef CONTROLLER_TELLER_H
#define CONTROLLER_TELLER_H

#include "controller/metrics.h"
#include "controller/policies.h"
#include "engine/rollout.h"
#include "fleetlock/message.h"
#include "kube/client.h"

struct teller;

struct teller_opts {
    struct loop *loop;
    const struct log *log;
    struct metrics *metrics;         /* NULL: nobody looks */
    const char *audit;               /* file of the audit log, or AUDIT_STDOUT; NULL: none */
    const char *identity;            /* of this replica */
    const struct policies *policies; /* for whom something is done */
    const struct store *maintenances;
    /* An Event is to be sent; its id is 0. */
    void (*send)(void *arg, const struct action *action);
    void *arg;
};

/* The error names the file. */
int teller_new(const struct teller_opts *opts, struct teller **out, struct err *err);
void teller_free(struct teller *t);
/* The audit log was moved away, or may be. */
void teller_reopen(struct teller *t);

/* Of a slot or a maintenance; of a drain; of a rollout. */
void teller_note(struct teller *t, const struct keeper_note *note);
void teller_said(struct teller *t, const struct keeper_said *said);
void teller_drain_note(struct teller *t, const struct drain_note *note);
void teller_rollout_note(struct teller *t, const struct rollout_note *note);
/* A warning about a node; `event`: as an Event, too, which one replica is to send. */
void teller_node(struct teller *t, const char *node, const char *reason, const char *text,
                 bool event);

/* An operation begins; it has ended. */
void teller_operate(struct teller *t, const struct maintenance *m);
void teller_operated(struct teller *t, const char *maintenance, const char *failure);

/* An action of the engine has ended; a request to the API server has. */
void teller_action(struct teller *t, const struct action *action, const struct answer *answer);
void teller_request(struct teller *t, const struct kube_seen *seen);

/* A FleetLock client got an answer. */
void teller_answered(struct teller *t, enum fleetlock_api api, enum fleetlock_kind kind,
                     int status);
/* Of those, one that a keeper has given: to whom, after how long (microseconds). */
struct teller_reply {
    enum fleetlock_api api;
    const char *peer, *node;
    const struct keeper_reply *reply;
    int64_t took;
};
void teller_reply(struct teller *t, const struct teller_reply *r);

#endif
