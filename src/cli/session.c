/* A verb's connection to a cluster. */
#include "cli/session.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/refusal.h"

enum {
    TRIES = 4,     /* of a first picture that may come later: pauses of 1 to 12 s in all */
    PATIENCE = 30, /* seconds that a server may ask us to wait */
    SLOW = 5,      /* seconds after which we say what we wait for */
    SKEW = 2,      /* seconds that clocks may differ: dates have whole ones */
};

struct session_feed_state {
    struct session *session;
    const struct kind *kind;
    struct store *store;
    struct reflector *reflector;
    struct session_feed feed;
    unsigned problems;
    char *remark; /* what there is instead, said when the rest is there */
    /* The server's words: it is needed, and may not be read. Told when the rest is there, so that
     * somebody who may not read several kinds hears of all of them at once. */
    char *refused;
    bool own; /* the store is ours */
    bool synced, troubled;
};

static void on_warning(void *arg, const char *text) {
    cli_warning(arg, text);
}

/* One request before all others, as kubectl does it. */
static int match_version(struct session *s) {
    struct kube_held held;
    int rc = session_call(s, &(struct kube_op_spec){.path = "/version", .query = "timeout=32s"},
                          "read the version of the server", &held);
    if (rc)
        return rc;
    _cleanup_json_ json_t *v = json_loads(strna(held.body), 0, NULL);
    const char *git = json_str(v, "gitVersion"), *minor = json_str(v, "minor");
    long m = minor ? strtol(minor, NULL, 10) : 0; /* "33+" is 33 */
    if (!str_same(json_str(v, "major"), "1") || m < TESTED_MIN || m > TESTED_MAX)
        rc = cli_fail(s->cli, EXIT_FAILED,
                      "server version (%s) differs from those that this program was tested with "
                      "(1.%d to 1.%d), and --match-server-version was given",
                      git ? git : "unknown", TESTED_MIN, TESTED_MAX);
    kube_held_done(&s->conn.client, NULL, &held);
    return rc;
}

int session_open(struct cli *cli, const struct connection_opts *opts, struct session *s) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct kube_curl_options curl = {
        .user_agent = "slipway/" SLIPWAY_VERSION,
        .timeout = opts->request_timeout,
        .warned = on_warning,
        .warned_arg = cli,
        .trace = cli->general.quiet ? 0 : cli->general.verbose,
    };
    cli->warnings.fatal = opts->warnings_as_errors;
    *s = (struct session){.cli = cli};
    if (loop_new(&s->loop, &err) ||
        kube_connect(s->loop, &opts->flags, &curl, &cli->log, &s->conn, &err)) {
        loop_free(s->loop);
        return refusal_of_config(cli, &opts->flags, &err);
    }
    s->conn.client.timeout = opts->request_timeout;
    int rc = opts->match_version ? match_version(s) : 0;
    if (rc)
        session_close(s);
    return rc;
}

void session_stop(struct session *s) {
    for (size_t i = 0; i < s->n_feeds; i++) {
        reflector_free(s->feeds[i]->reflector);
        if (s->feeds[i]->own)
            store_free(s->feeds[i]->store);
        free(s->feeds[i]->refused);
        free(s->feeds[i]);
    }
    s->n_feeds = 0;
}

void session_close(struct session *s) {
    session_stop(s);
    kube_connection_done(&s->conn);
    loop_free(s->loop);
    free(s->unsaid.message);
    *s = (struct session){0};
}

int64_t session_now(const struct session *s) {
    int64_t ahead = s->conn.client.ahead;
    return cli_now(s->cli) + (llabs(ahead) >= SEC(SKEW) ? ahead : 0);
}

/* What stands between us and the server, as opposed to what the server could not do. */
enum exit_code session_code(enum kube_outcome outcome) {
    return outcome == KUBE_UNREACHABLE || outcome == KUBE_UNKNOWN || outcome == KUBE_UNAUTHORIZED ||
                   outcome == KUBE_FORBIDDEN || outcome == KUBE_NO_CREDENTIALS ||
                   outcome == KUBE_NOT_KUBERNETES
               ? EXIT_ACCESS
               : EXIT_FAILED;
}

char *session_credentials(const struct session *s) {
    const struct kube_config *c = s->conn.config;
    if (str_starts(c->server, "http://"))
        return xstrdup("requests without credentials (none are sent over http://)");
    if (c->token_file)
        return xasprintf("the token in %s", c->token_file);
    if (c->exec)
        return xasprintf("the credentials that %s gave", c->exec->command);
    if (c->user)
        return xasprintf("the credentials of user %s (%s)", c->user, c->origin);
    return xasprintf("the credentials of %s", c->origin);
}

int session_fail(struct session *s, const char *what, enum kube_outcome outcome,
                 const char *message) {
    const struct kube_config *config = s->conn.config;
    enum exit_code code = session_code(outcome);
    if (s->as_kubectl && refusal_say(s, outcome, NULL, message))
        return (int)code;
    if (outcome == KUBE_UNAUTHORIZED) {
        _cleanup_free_ char *who = session_credentials(s);
        return cli_fail(s->cli, code, "cannot %s: %s does not accept %s: %s", what, config->server,
                        who, message);
    }
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

/* "08:15:07 ": under a watch a remark means little without its time. */
static const char *time_of_day(const struct session *s, char buf[static TIMEFMT_LEN]) {
    time_format(cli_now(s->cli), false, buf);
    return buf;
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct session_feed_state *f = arg;
    struct session *s = f->session;
    char now[TIMEFMT_LEN];
    if (s->failed || f->refused)
        return;
    f->problems++;
    if (f->synced) {
        /* One line for an outage, however many watches it concerns and however long it lasts. */
        bool first = !f->troubled && s->n_troubled++ == 0;
        f->troubled = true;
        if (first)
            cli_note(s->cli, "%s cannot watch %s: %s; what is shown may be old, trying again",
                     time_of_day(s, now), f->kind->resource, message);
        return;
    }
    /* Whoever names a time limit wants to know when it has passed; nobody waits minutes for a
     * table. */
    bool too_late = (outcome == KUBE_UNKNOWN && s->conn.client.timeout) || retry_in > SEC(PATIENCE);
    bool passes = kube_outcome_row(outcome)->retry && outcome != KUBE_UNREACHABLE && !too_late;
    if (f->feed.silent && (outcome == KUBE_FORBIDDEN || outcome == KUBE_NOT_FOUND)) {
        *f->feed.missing = true;
        on_synced(f);
        return;
    }
    if (f->feed.without && (outcome == KUBE_FORBIDDEN || outcome == KUBE_NOT_FOUND)) {
        if (outcome != KUBE_NOT_FOUND || !f->feed.optional) {
            free(f->remark);
            f->remark =
                xasprintf("cannot list %s: %s; %s", f->kind->resource, message, f->feed.without);
            *f->feed.missing = true;
        }
        on_synced(f);
        return;
    }
    if (outcome == KUBE_FORBIDDEN && !s->as_kubectl) {
        f->refused = xstrdup(message);
        on_synced(f);
        return;
    }
    if (!passes || f->problems >= TRIES) {
        if (s->as_kubectl && outcome != KUBE_NOT_KUBERNETES &&
            (outcome == KUBE_SERVER_ERROR || str_starts(message, "HTTP "))) {
            s->unsaid.outcome = outcome;
            str_replace(&s->unsaid.message, message);
            s->failed = (int)session_code(outcome);
            loop_stop(s->loop);
            return;
        }
        _cleanup_free_ char *what = xasprintf("list %s", f->kind->resource);
        s->failed = session_fail(s, what, outcome, message);
        loop_stop(s->loop);
        return;
    }
    cli_note(s->cli, "cannot list %s: %s; trying again in %.1f s", f->kind->resource, message,
             (double)retry_in / USEC_PER_SEC);
}

static void on_recovered(void *arg) {
    struct session_feed_state *f = arg;
    struct session *s = f->session;
    char now[TIMEFMT_LEN];
    if (!f->troubled)
        return;
    f->troubled = false;
    if (--s->n_troubled == 0)
        cli_note(s->cli, "%s watching works again", time_of_day(s, now));
}

static struct session_feed_state *add_feed(struct session *s, struct store *store,
                                           const struct session_feed *feed) {
    struct session_feed_state *f = xnew(struct session_feed_state);
    f->session = s;
    f->kind = store_kind(store);
    f->feed = *feed;
    f->store = store;
    s->feeds[s->n_feeds++] = f;
    return f;
}

struct store *session_feed(struct session *s, const struct kind *kind,
                           const struct session_feed *feed) {
    struct session_feed_state *f = add_feed(s, store_new(kind, s->conn.client.pool), feed);
    f->own = true;
    return f->store;
}

void session_feed_into(struct session *s, struct store *store, const struct session_feed *feed) {
    add_feed(s, store, feed);
}

static void on_slow(void *arg) {
    struct session *s = arg;
    cli_note(s->cli, "waiting for %s", s->conn.config->server);
}

/* What can be done without is no news when what is needed is not there either. */
static void tell_remarks(struct session *s) {
    for (size_t i = 0; i < s->n_feeds; i++) {
        struct session_feed_state *f = s->feeds[i];
        if (f->remark && !s->failed)
            cli_note(s->cli, "%s", f->remark);
        free(f->remark);
        f->remark = NULL;
    }
}

static void tell_refusals(struct session *s) {
    bool failed = s->failed;
    for (size_t i = 0; i < s->n_feeds && !failed; i++) {
        const struct session_feed_state *f = s->feeds[i];
        if (!f->refused)
            continue;
        _cleanup_free_ char *what = xasprintf("list %s", f->kind->resource);
        s->failed = session_fail(s, what, KUBE_FORBIDDEN, f->refused);
    }
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
            .recovered = on_recovered,
            .arg = f,
        };
        if (!f->reflector)
            f->reflector = reflector_new(&s->conn.client, f->store, &opts);
    }
    struct loop_timer *slow = loop_timer_new(s->loop, on_slow, s);
    loop_timer_set(slow, SEC(SLOW));
    while (!s->failed && !all_synced(s))
        session_wait(s);
    loop_timer_free(slow);
    tell_refusals(s);
    tell_remarks(s);
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
    while (!s->failed && !s->signal && !s->ended && !s->cli->out.error)
        loop_run(s->loop);
    signals_off(&signals);
    return s->failed ? s->failed : s->signal ? 128 + s->signal : EXIT_DONE;
}

void session_end(struct session *s) {
    s->ended = true;
    loop_stop(s->loop);
}

void session_ask(struct session *s, const struct kube_op_spec *spec, struct kube_held *hold) {
    struct signals signals;
    signals_on(s, on_fatal_signal, &signals);
    kube_run(&s->conn.client, spec, hold);
    signals_off(&signals);
}

int session_call(struct session *s, const struct kube_op_spec *spec, const char *what,
                 struct kube_held *hold) {
    session_ask(s, spec, hold);
    if (hold->reply.outcome == KUBE_OK)
        return 0;
    int rc = session_fail(s, what, hold->reply.outcome, hold->reply.message);
    kube_held_done(&s->conn.client, spec->result, hold);
    return rc;
}
