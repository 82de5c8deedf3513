/* The FleetLock listener: HTTP in front of whoever decides.
 *
 *     s = fleetlock_server_new(loop, &opts)
 *     fleetlock_server_listen(s, "0.0.0.0:8080", NULL)
 *     ... ask(arg, ticket, "w1", FLEETLOCK_PRE_REBOOT, "default", "10.0.0.7:4711") ...
 *     fleetlock_server_reply(s, ticket, &(struct fleetlock_reply){...}, 404)
 *
 * It reads requests, finds out whose they are (fleetlock/roster.h) and sends answers; what the
 * answer is, is none of its business. What a client asks that has hung up before it was heard is
 * nobody's question: a process that was stopped for a while finds such requests in its sockets.
 * Nothing but a reply of FLEETLOCK_OK has a status of 2xx, and there is no other path and no
 * redirect on this listener. */
#ifndef FLEETLOCK_SERVER_H
#define FLEETLOCK_SERVER_H

#include "base/log.h"
#include "fleetlock/message.h"
#include "fleetlock/roster.h"
#include "net/server.h"

struct fleetlock_server;

/* Somebody asks for a node that is known. */
struct fleetlock_question {
    uint64_t ticket;
    enum fleetlock_api api;
    const char *node, *group, *id;
    const char *peer; /* "10.0.0.7:4711" */
};

/* What is made of a request for a node that does not come from an address of it. */
enum fleetlock_check { FLEETLOCK_CHECK_OFF, FLEETLOCK_CHECK_REPORT, FLEETLOCK_CHECK_ENFORCE };

struct fleetlock_terms {
    enum fleetlock_check check;
    unsigned rate; /* requests of one caller in a minute (fleetlock/callers.h); 0: any number */
};

struct fleetlock_server_opts {
    const struct roster *roster;
    const struct store *nodes; /* those of the roster */
    /* What holds for those who ask for that node. */
    struct fleetlock_terms (*terms)(void *arg, const struct node *node);
    const struct log *log;
    /* Whether nodes are known at all yet. */
    bool (*ready)(void *arg);
    /* Answered at once or later by fleetlock_server_reply(), with the same ticket. */
    void (*ask)(void *arg, const struct fleetlock_question *q);
    /* Whoever asked that has gone: it is not answered any more. */
    void (*gone)(void *arg, uint64_t ticket);
    /* Each answer, for whoever counts; may be NULL. */
    void (*answered)(void *arg, enum fleetlock_api api, enum fleetlock_kind kind, int status);
    int deny_status;       /* of questions that no policy is known for */
    unsigned address_rate; /* requests of one address in a minute, whatever they are; 0: any
                            * number */
    unsigned max_conns;    /* 0: 4,096 */
    void *arg;
};

int fleetlock_server_new(struct loop *loop, const struct fleetlock_server_opts *opts,
                         struct fleetlock_server **out, struct err *err);
void fleetlock_server_free(struct fleetlock_server *s);

/* As httpd_listen(); `address` of the first one is fleetlock_server_address(). */
int fleetlock_server_listen(struct fleetlock_server *s, const char *address,
                            const struct httpd_tls *tls, struct httpd_listener **out,
                            struct err *err);
const char *fleetlock_server_address(const struct fleetlock_server *s);

struct fleetlock_stats {
    uint64_t strangers; /* requests from addresses that are not the node's */
    uint64_t limited;   /* that were refused since their callers ask too often */
};
struct fleetlock_stats fleetlock_server_stats(const struct fleetlock_server *s);

/* What is sent to a client that has gone is thrown away. `deny_status` is that of the policy: 404
 * or 423. */
void fleetlock_server_reply(struct fleetlock_server *s, uint64_t ticket,
                            const struct fleetlock_reply *reply, int deny_status);

#endif
