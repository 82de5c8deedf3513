/* A verb's connection to a cluster: the loop, the client, and the stores that it needs filled.
 *
 *     struct session s;
 *     if ((rc = session_open(cli, &opts->connection, &s))) return rc;
 *     struct store *nodes = session_feed(&s, &kind_node, &(struct session_feed){0});
 *     if ((rc = session_sync(&s))) ... reported already
 *     session_close(&s);
 *
 * What cannot be reached or is forbidden ends the verb with one sentence; what may pass is tried a
 * few times, and each try is told on standard error. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/cli.h"
#include "kube/connect.h"
#include "kube/reflector.h"
#include "model/store.h"
#include "net/loop.h"

enum {
    SESSION_FEEDS = 24,
    TESTED_MIN = 33, /* Kubernetes 1.33 to 1.36 are what the tests run against */
    TESTED_MAX = 36,
};

struct session_feed_state;

struct session {
    struct cli *cli;
    struct loop *loop;
    struct kube_connection conn;
    struct session_feed_state *feeds[SESSION_FEEDS];
    size_t n_feeds;
    size_t n_troubled; /* feeds that cannot watch at the moment */
    int failed;        /* exit code, 0 while all is well */
    bool as_kubectl;   /* session_fail() uses kubectl's words (cli/refusal.h) */
    struct {
        enum kube_outcome outcome;
        char *message; /* NULL: nothing */
    } unsaid;   /* as_kubectl: what session_sync() failed with and has not told, for want of the
                   server's own words */
    bool ended; /* by session_end() */
    int signal; /* that ended session_run() */
};

/* What to read: of one namespace or node only, once or watched. */
struct session_feed {
    const char *ns, *field_selector, *label_selector;
    bool watch;
    /* When it may not be listed, or does not exist there, a remark ("cannot list X: ...; THIS") is
     * all, and *missing is set. NULL: it is needed. */
    const char *without;
    bool *missing;
    /* With both of these: a kind that the server does not have is no more than an empty list. */
    bool optional;
    bool silent; /* with `missing`: nor is it said that it may not be listed */
};

/* The server's time as far as it is known: what is compared with times that are in objects goes by
 * its clock, as drains do. Differences that its dates cannot tell are none. */
int64_t session_now(const struct session *s);

/* Each returns 0, or the exit code after having said why. With --match-server-version the server is
 * asked for its version. */
int session_open(struct cli *cli, const struct connection_opts *opts, struct session *s);
void session_close(struct session *s);
/* Nothing is read any more, and stores of session_feed() are gone; whoever has stores of his own
 * frees them between this and session_close(). */
void session_stop(struct session *s);

/* The store lives as long as the session. Reading starts with session_sync(). */
struct store *session_feed(struct session *s, const struct kind *kind,
                           const struct session_feed *feed);
/* The same into a store of the caller's, who frees it after the session. */
void session_feed_into(struct session *s, struct store *store, const struct session_feed *feed);
/* Runs until all stores are complete. */
int session_sync(struct session *s);
/* Runs until something fails for good, session_end() is called (then 0) or a signal comes (SIGINT,
 * SIGTERM): then 128 + its number. */
int session_run(struct session *s);
void session_end(struct session *s);

/* Runs the loop until loop_stop(). SIGINT, SIGTERM and SIGHUP end the program by
 * themselves, and a credential plugin with it. */
void session_wait(struct session *s);
/* One request, whatever becomes of it. The reply is freed with kube_held_done(). */
void session_ask(struct session *s, const struct kube_op_spec *spec, struct kube_held *hold);
/* One request; reports what went wrong as "cannot WHAT: ...". The reply is freed with
 * kube_held_done(). */
int session_call(struct session *s, const struct kube_op_spec *spec, const char *what,
                 struct kube_held *hold);
/* The exit code for an outcome that ends a verb. */
enum exit_code session_code(enum kube_outcome outcome);
/* What we showed the server, as the user knows it; to be freed. */
char *session_credentials(const struct session *s);
/* The exit code for an outcome that ends a verb, after one sentence: "cannot WHAT: ...". */
int session_fail(struct session *s, const char *what, enum kube_outcome outcome,
                 const char *message);

#endif
