/* A verb's connection to a cluster. */
#include "cli/session.h"

#include <event2/event.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

enum { TRIES = 4 }; /* of a first picture that may come later: pauses of 1 to 12 s in all */

struct session_feed_state {
    struct session *session;
    const struct kind *kind;
    struct store *store;
    struct reflector *reflector;
    struct session_feed feed;
    unsigned problems;
    bool synced;
};

int session_open(struct cli *cli, const struct connection_opts *opts, struct session *s) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct kube_curl_options curl = {
        .user_agent = "slipway/" SLIPWAY_VERSION,
        .timeout = opts->request_timeout,
    };
    *s = (struct session){.cli = cli};
    if (loop_new(&s->loop, &err) ||
        kube_connect(s->loop, &opts->flags, &curl, &cli->log, &s->conn, &err)) {
        loop_free(s->loop);
        return cli_error(cli, &err);
    }
    s->conn.client.timeout = opts->request_timeout;
    return 0;
}

void session_close(struct session *s) {
    for (size_t i = 0; i < s->n_feeds; i++) {
        reflector_free(s->feeds[i]->reflector);
        store_free(s->feeds[i]->store);
        free(s->feeds[i]);
    }
    kube_connection_done(&s->conn);
    loop_free(s->loop);
    *s = (struct session){0};
}

/* What stands between us and the server, as opposed to what the server could not do. */
static bool is_access(enum kube_outcome outcome) {
    return outcome == KUBE_UNREACHABLE || outcome == KUBE_UNKNOWN || outcome == KUBE_UNAUTHORIZED ||
           outcome == KUBE_FORBIDDEN || outcome == KUBE_NO_CREDENTIALS ||
           outcome == KUBE_NOT_KUBERNETES;
}

int session_fail(struct session *s, const char *what, enum kube_outcome outcome,
                 const char *message) {
    const struct kube_config *config = s->conn.config;
    enum exit_code code = is_access(outcome) ? EXIT_ACCESS : EXIT_FAILED;
    if (outcome == KUBE_UNAUTHORIZED)
        return cli_fail(s->cli, code, "cannot %s: %s does not accept the credentials of %s%s: %s",
                        what, config->server, config->user ? "user " : "",
                        config->user ? config->user : config->origin, message);
    /* Since Kubernetes 1.19 API servers do not even look at a password. */
    if (outcome == KUBE_FORBIDDEN && config->username && strstr(message, "system:anonymous"))
        return cli_fail(s->cli, code,
                        "cannot %s: %s takes no username and password, which are all that the "
                        "kubeconfig has%s%s: %s",
                        what, config->server, config->user ? " for user " : "", strna(config->user),
                        message);
    if (outcome == KUBE_NOT_KUBERNETES)
        return cli_fail(s->cli, code,
                        "cannot %s: %s does not answer like a Kubernetes API server: %s", what,
                        config->server, message);
    return cli_fail(s->cli, code, "cannot %s: %s", what, message);
}

/* --- signals --- */

struct signals {
    struct event *events[3];
};

static void signals_on(struct session *s, event_callback_fn fn, struct signals *out) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct sigaction now;
        out->events[i] = NULL;
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == SIG_IGN)
            continue; /* nohup */
        out->events[i] = evsignal_new(loop_base(s->loop), numbers[i], fn, s);
        event_add(out->events[i], NULL);
    }
}

static void signals_off(struct signals *signals) {
    for (size_t i = 0; i < ARRAY_LEN(signals->events); i++)
        if (signals->events[i])
            event_free(signals->events[i]);
}

/* There is nothing to finish, but a credential plugin, which leads a process group of its own, must
 * not be left behind. */
static void on_fatal_signal(evutil_socket_t number, short what, void *arg) {
    struct session *s = arg;
    (void)what;
    kube_auth_free(s->conn.auth);
    signal((int)number, SIG_DFL);
    raise((int)number);
}

void session_wait(struct session *s) {
    struct signals signals;
    signals_on(s, on_fatal_signal, &signals);
    loop_run(s->loop);
    signals_off(&signals);
}

/* --- feeds --- */

static bool all_synced(const struct session *s) {
    for (size_t i = 0; i < s->n_feeds; i++)
        if (!s->feeds[i]->synced)
            return false;
    return true;
}

static void on_synced(void *arg) {
    struct session_feed_state *f = arg;
    f->synced = true;
    f->problems = 0;
    if (all_synced(f->session))
        loop_stop(f->session->loop);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct session_feed_state *f = arg;
    struct session *s = f->session;
    /* Whoever names a time limit wants to know when it has passed. */
    bool too_late = outcome == KUBE_UNKNOWN && s->conn.client.timeout;
    bool passes = kube_outcome_row(outcome)->retry && outcome != KUBE_UNREACHABLE && !too_late;
    if (s->failed)
        return;
    f->problems++;
    if (!f->synced && (!passes || f->problems >= TRIES)) {
        _cleanup_free_ char *what = xasprintf("list %s", f->kind->resource);
        s->failed = session_fail(s, what, outcome, message);
        loop_stop(s->loop);
        return;
    }
    /* A watch that only has to begin anew is nobody's business. */
    if (outcome == KUBE_EXPIRED || outcome == KUBE_TOO_NEW)
        return;
    cli_note(s->cli, "cannot %s %s: %s; trying again in %.1f s", f->synced ? "watch" : "list",
             f->kind->resource, message, (double)retry_in / USEC_PER_SEC);
}

struct store *session_feed(struct session *s, const struct kind *kind,
                           const struct session_feed *feed) {
    struct session_feed_state *f = xnew(struct session_feed_state);
    f->session = s;
    f->kind = kind;
    f->feed = *feed;
    f->store = store_new(kind, s->conn.client.pool);
    s->feeds[s->n_feeds++] = f;
    return f->store;
}

int session_sync(struct session *s) {
    for (size_t i = 0; i < s->n_feeds; i++) {
        struct session_feed_state *f = s->feeds[i];
        struct reflector_options opts = {
            .ns = f->feed.ns,
            .field_selector = f->feed.field_selector,
            .label_selector = f->feed.label_selector,
            .once = !f->feed.watch,
            .seed = (uint64_t)loop_now(s->loop) + i,
            .synced = on_synced,
            .problem = on_problem,
            .arg = f,
        };
        if (!f->reflector)
            f->reflector = reflector_new(&s->conn.client, f->store, &opts);
    }
    while (!s->failed && !all_synced(s))
        session_wait(s);
    return s->failed;
}

static void on_signal(evutil_socket_t number, short what, void *arg) {
    struct session *s = arg;
    (void)what;
    s->signal = (int)number;
    loop_stop(s->loop);
}

int session_run(struct session *s) {
    struct signals signals;
    signals_on(s, on_signal, &signals);
    while (!s->failed && !s->signal && !s->cli->out.error)
        loop_run(s->loop);
    signals_off(&signals);
    return s->failed ? s->failed : s->signal ? 128 + s->signal : EXIT_DONE;
}

int session_call(struct session *s, const struct kube_op_spec *spec, const char *what,
                 struct kube_held *hold) {
    struct signals signals;
    signals_on(s, on_fatal_signal, &signals);
    kube_run(&s->conn.client, spec, hold);
    signals_off(&signals);
    if (hold->reply.outcome == KUBE_OK)
        return 0;
    int rc = session_fail(s, what, hold->reply.outcome, hold->reply.message);
    kube_held_done(&s->conn.client, spec->result, hold);
    return rc;
}
