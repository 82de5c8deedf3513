/* A tiny Kubernetes API for pods. */
#include "support/mini_api.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/timefmt.h"
#include "base/vec.h"

enum { SERVERS_MAX = 4 };

enum fault {
    F_NONE,
    F_REFUSE,    /* no connection */
    F_STATUS,    /* 500, 503, 504 */
    F_THROTTLE,  /* 429, plain text */
    F_FORBIDDEN, /* 401, 403 */
    F_HTML,      /* 200, but from something else */
    F_CUT,       /* the connection breaks, within an event or between two */
    F_END,       /* the answer ends as if it were complete */
    F_STALL,     /* nothing comes any more, and nobody says so */
    F_GARBAGE,   /* what no decoder can take for an event */
    F_ERROR,     /* an ERROR event */
    F_EXPIRE,    /* an ERROR event that says 410 */
    F_KINDS,
};

struct change {
    uint64_t version;
    int pod;
    struct mini_pod before, after;
    int64_t when;
};

struct server {
    size_t seen; /* changes that it knows of */
    int64_t lag;
};

struct mini_api {
    struct kube_transport transport;
    struct loop *loop;
    struct mini_options opts;
    struct prng prng;
    struct mini_pod *pods;
    uint64_t version, compacted, uids;
    VEC(struct change) changes;
    struct server servers[SERVERS_MAX];
    VEC(struct kube_call *) calls;
    bool calm;
    struct mini_stats stats;
};

struct kube_call {
    struct mini_api *api;
    const struct kube_handler *handler;
    void *arg;
    char *path;
    struct mini_wire wire;
    int server, node; /* node: of the field selector, -1: all */
    int64_t idle;
    struct loop_timer *timer, *idle_timer, *timeout_timer;
    bool busy, dead; /* in a callback; cancelled there */
    enum fault fault;
    size_t fault_at;  /* bytes of the body */
    int64_t fault_by; /* or at the latest then, 0: bytes only */

    int code;
    bool answered, stalled, ending, waited;
    struct str out; /* not delivered yet */
    size_t delivered;
    /* a watch */
    bool watch, initial; /* initial: their end is still to come */
    uint64_t from;
    size_t pos; /* of the next change */
    int64_t bookmark_at, end_at;
};

/* --- the store --- */

static int64_t now(const struct mini_api *api) {
    return loop_now(api->loop);
}

static int64_t draw(struct mini_api *api, int64_t low, int64_t high) {
    return prng_range(&api->prng, low, high);
}

static void wake_watches(struct mini_api *api);

int mini_api_change(struct mini_api *api, uint64_t *version) {
    int n = (int)draw(api, 0, api->opts.pods);
    struct mini_pod *p = &api->pods[n], before = *p;
    api->version += (uint64_t)draw(api, 1, 4); /* others write too */
    if (p->exists && !draw(api, 0, 3)) {
        p->exists = false;
    } else {
        p->uid = p->exists ? p->uid : ++api->uids;
        p->exists = true;
        p->node = (int)draw(api, 0, api->opts.nodes);
        p->app = (int)draw(api, 0, api->opts.apps);
    }
    p->version = api->version;
    struct change c = {api->version, n, before, *p, now(api)};
    *vec_push(&api->changes) = c;
    api->stats.changes++;
    *version = api->version;
    wake_watches(api);
    return n;
}

void mini_api_compact(struct mini_api *api, uint64_t keep) {
    uint64_t version = api->version > keep ? api->version - keep : 0;
    api->compacted = MAX_OF(api->compacted, version);
}

uint64_t mini_api_version(const struct mini_api *api) {
    return api->version;
}

void mini_api_at(const struct mini_api *api, uint64_t version, struct mini_pod *out) {
    if (version >= api->version) {
        memcpy(out, api->pods, (size_t)api->opts.pods * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)api->opts.pods * sizeof *out);
    for (size_t i = 0; i < api->changes.len && api->changes.p[i].version <= version; i++)
        out[api->changes.p[i].pod] = api->changes.p[i].after;
}

static bool on_node(const struct mini_pod *p, int node) {
    return p->exists && (node < 0 || p->node == node);
}

bool mini_api_absent(const struct mini_api *api, int pod, int node, uint64_t since) {
    for (size_t i = api->changes.len; i-- > 0;) {
        const struct change *c = &api->changes.p[i];
        if (c->pod != pod)
            continue;
        if (!on_node(&c->after, node))
            return true;
        if (c->version <= since)
            return false;
    }
    return true;
}

const struct mini_pod *mini_api_pod(const struct mini_api *api, int pod, uint64_t version) {
    for (size_t i = api->changes.len; i-- > 0 && api->changes.p[i].version >= version;)
        if (api->changes.p[i].pod == pod && api->changes.p[i].version == version)
            return &api->changes.p[i].after;
    return NULL;
}

/* The first change after a version. */
static size_t change_after(const struct mini_api *api, uint64_t version) {
    size_t low = 0, high = api->changes.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (api->changes.p[mid].version <= version)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* --- servers --- */

static void catch_up(struct mini_api *api, int k, bool fully) {
    struct server *s = &api->servers[k];
    while (s->seen < api->changes.len &&
           (fully || api->changes.p[s->seen].when + s->lag <= now(api)))
        s->seen++;
}

static uint64_t server_version(struct mini_api *api, int k) {
    catch_up(api, k, false);
    size_t seen = api->servers[k].seen;
    if (seen == api->changes.len)
        return api->version;
    return seen ? api->changes.p[seen - 1].version : 0;
}

/* --- calls --- */

static void call_free(struct kube_call *c) {
    struct mini_api *api = c->api;
    for (size_t i = 0; i < api->calls.len; i++) {
        if (api->calls.p[i] == c) {
            memmove(&api->calls.p[i], &api->calls.p[i + 1],
                    (--api->calls.len - i) * sizeof api->calls.p[0]);
            break;
        }
    }
    loop_timer_free(c->timer);
    loop_timer_free(c->idle_timer);
    loop_timer_free(c->timeout_timer);
    str_done(&c->out);
    free(c->path);
    free(c);
}

static void finish(struct kube_call *c, int error, bool sent, const char *msg) {
    struct kube_done done = {.code = c->code, .error = error, .sent = sent, .msg = msg};
    c->busy = true;
    c->handler->done(c->arg, &done);
    call_free(c);
}

static void on_timeout(void *arg) {
    finish(arg, -ETIMEDOUT, true, "no answer came in time");
}

/* Both return false when the receiver has cancelled the call. */
static bool give_head(struct kube_call *c, int code, const char *type, int64_t retry_after) {
    struct kube_head head = {.code = code, .content_type = type, .retry_after = retry_after};
    c->code = code;
    c->answered = true;
    if (c->idle)
        loop_timer_set(c->idle_timer, c->idle);
    c->busy = true;
    c->handler->head(c->arg, &head);
    c->busy = false;
    if (!c->dead)
        return true;
    call_free(c);
    return false;
}

static bool give_data(struct kube_call *c, size_t len) {
    if (c->idle)
        loop_timer_set(c->idle_timer, c->idle);
    c->delivered += len;
    c->busy = true;
    int rc = len ? c->handler->data(c->arg, c->out.p, len) : 0;
    c->busy = false;
    if (c->dead) {
        call_free(c);
        return false;
    }
    str_drop(&c->out, len);
    if (rc) {
        finish(c, rc, true, "the receiver stopped it");
        return false;
    }
    return true;
}

static int64_t small_delay(struct mini_api *api) {
    return draw(api, 0, 20) ? draw(api, 100, MSEC(20)) : draw(api, 0, SEC(4));
}

static const char *query(const struct kube_call *c, const char *key, char buf[static 64]) {
    size_t len = strlen(key);
    const char *p = strchr(c->path, '?');
    for (; p; p = strchr(p, '&')) {
        p++;
        if (!strncmp(p, key, len) && p[len] == '=') {
            p += len + 1;
            snprintf(buf, 64, "%.*s", (int)strcspn(p, "&"), p);
            return buf;
        }
    }
    return NULL;
}

static int wanted_node(const struct kube_call *c) {
    char buf[64];
    const char *s = query(c, "fieldSelector", buf);
    return s ? atoi(s + strlen("spec.nodeName%3Dn")) : -1;
}

static bool matches(const struct kube_call *c, const struct mini_pod *p) {
    return on_node(p, c->node);
}

/* --- answers --- */

static void refuse_with(struct kube_call *c, int code, const char *reason, const char *message,
                        const char *cause, int retry_after) {
    mini_status(&c->out, code, reason, message, cause, retry_after);
    if (!give_head(c, code, "application/json", retry_after ? retry_after : -1))
        return;
    c->ending = true;
    loop_timer_set(c->timer, small_delay(c->api));
}

static void expire(struct kube_call *c, const char *message) {
    c->api->stats.expired++;
    if (c->watch && draw(c->api, 0, 2)) {
        mini_error(&c->wire, &c->out, 410, "Expired", message);
        if (give_head(c, 200, mini_content_type(&c->wire, true), -1)) {
            c->ending = true;
            loop_timer_set(c->timer, small_delay(c->api));
        }
        return;
    }
    refuse_with(c, 410, "Expired", message, NULL, 0);
}

static void answer_list(struct kube_call *c) {
    struct mini_api *api = c->api;
    char buf[64], token[64];
    const char *limit_text = query(c, "limit", buf);
    int limit = limit_text ? atoi(limit_text) : 0, n = api->opts.pods;
    uint64_t version = api->version;
    int from = 0;
    const char *more = query(c, "continue", buf);
    if (more && sscanf(more, "%" SCNu64 ".%d", &version, &from) != 2)
        abort();
    if (version < api->compacted) {
        api->stats.tokens++;
        expire(c, "The provided continue parameter is too old to display a consistent list result");
        return;
    }
    catch_up(api, c->server, true);
    struct mini_pod *pods = xcalloc((size_t)n, sizeof *pods);
    bool *wanted = xcalloc((size_t)n, sizeof *wanted);
    mini_api_at(api, version, pods);
    int to = from, count = 0;
    for (; to < n && (!limit || count < limit); to++)
        count += wanted[to] = matches(c, &pods[to]);
    snprintf(token, sizeof token, "%" PRIu64 ".%d", version, to);
    mini_list(&c->wire, &c->out, pods, wanted, from, to, version, to < n ? token : NULL);
    free(pods);
    free(wanted);
    if (!give_head(c, 200, mini_content_type(&c->wire, false), -1))
        return;
    c->ending = true;
    loop_timer_set(c->timer, small_delay(api));
}

static void begin_stream(struct kube_call *c) {
    char buf[64];
    const char *seconds = query(c, "timeoutSeconds", buf);
    int64_t patience = c->api->opts.patience;
    c->end_at = now(c->api) + SEC(seconds ? atoi(seconds) : 1800);
    if (patience)
        c->end_at = MIN_OF(c->end_at, now(c->api) + patience);
    c->bookmark_at = now(c->api) + (c->initial ? draw(c->api, 0, SEC(3)) : SEC(60));
    if (give_head(c, 200, mini_content_type(&c->wire, true), -1))
        loop_timer_set(c->timer, small_delay(c->api));
}

static void add_initial_events(struct kube_call *c, uint64_t version) {
    struct mini_api *api = c->api;
    int n = api->opts.pods, first = (int)draw(api, 0, n);
    struct mini_pod *pods = xcalloc((size_t)n, sizeof *pods);
    mini_api_at(api, version, pods);
    for (int i = 0; i < n; i++) {
        int k = (first + i) % n; /* in no particular order */
        if (matches(c, &pods[k]))
            mini_event(&c->wire, &c->out, "ADDED", k, &pods[k], pods[k].version, false);
    }
    free(pods);
}

static void answer_watch_list(struct kube_call *c) {
    struct mini_api *api = c->api;
    char buf[64];
    if (api->opts.no_watch_list) {
        refuse_with(c, 422, "Invalid", "sendInitialEvents is forbidden for watch", NULL, 0);
        return;
    }
    const char *text = query(c, "resourceVersion", buf);
    uint64_t least = text ? strtoull(text, NULL, 10) : 0;
    if (!text)
        catch_up(api, c->server, true);
    uint64_t version = server_version(api, c->server);
    if (version < least && !c->waited) {
        c->waited = true; /* it may catch up */
        loop_timer_set(c->timer, SEC(3));
        return;
    }
    if (version < least) {
        api->stats.behind++;
        refuse_with(c, 504, "Timeout", "Timeout: Too large resource version",
                    "ResourceVersionTooLarge", 1);
        return;
    }
    c->initial = true;
    c->from = version;
    c->pos = change_after(api, version);
    add_initial_events(c, version);
    begin_stream(c);
}

static void answer_watch(struct kube_call *c) {
    char buf[64];
    const char *text = query(c, "resourceVersion", buf);
    c->from = text ? strtoull(text, NULL, 10) : 0;
    if (c->from < c->api->compacted) {
        expire(c, "The resourceVersion for the provided watch is too old");
        return;
    }
    c->pos = change_after(c->api, c->from);
    begin_stream(c);
}

static bool answer_with_fault(struct kube_call *c) {
    struct mini_api *api = c->api;
    switch (c->fault) {
    case F_REFUSE:
        finish(c, -ECONNREFUSED, false, "connection refused");
        return true;
    case F_STATUS:
        refuse_with(c, 500 + 3 * (int)draw(api, 0, 2), "InternalError", "etcd is away", NULL, 0);
        return true;
    case F_THROTTLE:
        str_add(&c->out, "Too many requests");
        if (give_head(c, 429, "text/plain", draw(api, 1, 8))) {
            c->ending = true;
            loop_timer_set(c->timer, small_delay(api));
        }
        return true;
    case F_FORBIDDEN:
        refuse_with(c, 401 + 2 * (int)draw(api, 0, 2), "Forbidden", "no", NULL, 0);
        return true;
    case F_HTML:
        str_add(&c->out, "<html>Log in</html>");
        if (give_head(c, 200, "text/html", -1)) {
            c->ending = true;
            loop_timer_set(c->timer, small_delay(api));
        }
        return true;
    case F_STALL:
        c->stalled = c->fault_at == 0; /* not even a head */
        return c->stalled;
    default:
        return false;
    }
}

static void answer(struct kube_call *c) {
    char buf[64];
    if (!c->waited && answer_with_fault(c))
        return;
    c->watch = query(c, "watch", buf) != NULL;
    if (strncmp(c->path, "/api/v1/pods?", strlen("/api/v1/pods?")) != 0)
        refuse_with(c, 404, "NotFound", "the server could not find the requested resource", NULL,
                    0);
    else if (!c->watch)
        answer_list(c);
    else if (query(c, "sendInitialEvents", buf))
        answer_watch_list(c);
    else
        answer_watch(c);
}

/* --- a stream that goes on --- */

static void add_change(struct kube_call *c, const struct change *change) {
    if (change->version <= c->from)
        return; /* only after a restore: nobody would send that */
    bool before = matches(c, &change->before), after = matches(c, &change->after);
    const char *type = after ? (before ? "MODIFIED" : "ADDED") : "DELETED";
    if (before || after)
        mini_event(&c->wire, &c->out, type, change->pod, after ? &change->after : &change->before,
                   change->version, false);
}

/* The version up to which this stream has told everything; 0 while its server is behind. */
static uint64_t told_version(struct kube_call *c) {
    uint64_t version = server_version(c->api, c->server);
    if (c->pos < c->api->changes.len)
        version = MIN_OF(version, c->api->changes.p[c->pos].version - 1);
    return version >= c->from ? version : 0;
}

static void add_bookmark(struct kube_call *c) {
    uint64_t version = told_version(c);
    bool skip = !version || (c->api->opts.no_bookmarks && !c->initial);
    c->bookmark_at = now(c->api) + draw(c->api, SEC(40), SEC(70));
    if (skip)
        return;
    mini_event(&c->wire, &c->out, "BOOKMARK", -1, NULL, version, c->initial);
    c->initial = false;
}

/* Between two events. Returns true when the stream is to end. */
static bool add_fault(struct kube_call *c) {
    bool due =
        c->delivered + c->out.len >= c->fault_at || (c->fault_by && now(c->api) >= c->fault_by);
    if (!due)
        return false;
    if (c->fault == F_GARBAGE)
        mini_garbage(&c->wire, &c->out);
    else if (c->fault == F_ERROR)
        mini_error(&c->wire, &c->out, 500, "InternalError", "etcd went away");
    else if (c->fault == F_EXPIRE)
        mini_error(&c->wire, &c->out, 410, "Expired", "too old resource version");
    else
        return false;
    return true;
}

static void go_on(struct kube_call *c) {
    struct mini_api *api = c->api;
    catch_up(api, c->server, false);
    for (int i = 0; i < 8 && c->pos < api->servers[c->server].seen; i++)
        add_change(c, &api->changes.p[c->pos++]);
    if (now(api) >= c->bookmark_at)
        add_bookmark(c);
    c->ending = add_fault(c) || now(api) >= c->end_at;
    if (c->out.len || c->ending) {
        loop_timer_set(c->timer, small_delay(api));
        return;
    }
    int64_t wake = MIN_OF(c->bookmark_at, c->end_at);
    if (c->pos < api->changes.len)
        wake = MIN_OF(wake, api->changes.p[c->pos].when + api->servers[c->server].lag);
    if (c->fault_by)
        wake = MIN_OF(wake, c->fault_by);
    loop_timer_set(c->timer, MAX_OF(wake - now(api), 1));
}

static void wake_watches(struct mini_api *api) {
    for (size_t i = 0; i < api->calls.len; i++) {
        struct kube_call *c = api->calls.p[i];
        int64_t delay = api->servers[c->server].lag + draw(api, 0, MSEC(50));
        bool waits = c->watch && c->answered && !c->stalled && !c->out.len && !c->ending;
        if (waits && loop_timer_left(c->timer) > delay)
            loop_timer_set(c->timer, delay);
    }
}

/* A break that may come within an event. */
static bool break_off(struct kube_call *c) {
    bool due = c->delivered >= c->fault_at || (c->fault_by && now(c->api) >= c->fault_by);
    if (!due)
        return false;
    switch (c->fault) {
    case F_CUT:
        finish(c, -ECONNRESET, true, "the connection was lost");
        return true;
    case F_END:
        finish(c, 0, false, NULL);
        return true;
    case F_STALL:
        c->stalled = true;
        return true;
    default:
        return false;
    }
}

static void deliver(struct kube_call *c) {
    struct mini_api *api = c->api;
    size_t len = c->out.len;
    if (draw(api, 0, 4)) {
        size_t piece = (size_t)draw(api, 1, draw(api, 0, 3) ? 3000 : 40);
        len = MIN_OF(len, piece);
    }
    if (c->fault == F_CUT || c->fault == F_END || c->fault == F_STALL)
        len = MIN_OF(len, MAX_OF(c->fault_at, c->delivered) - c->delivered);
    if (!give_data(c, len))
        return;
    loop_timer_set(c->timer, draw(api, 0, MSEC(2)));
}

static void on_timer(void *arg) {
    struct kube_call *c = arg;
    if (!c->answered)
        answer(c);
    else if (break_off(c))
        return;
    else if (c->out.len)
        deliver(c);
    else if (c->ending)
        finish(c, 0, false, NULL);
    else
        go_on(c);
}

/* --- the transport --- */

static void draw_fault(struct kube_call *c) {
    struct mini_api *api = c->api;
    if (api->calm || draw(api, 0, 1000) >= api->opts.faults)
        return;
    api->stats.faults++;
    c->fault = (enum fault)draw(api, F_REFUSE, F_KINDS);
    static const int64_t spans[] = {1, 300, 3000, 30000};
    c->fault_at = (size_t)draw(api, 0, spans[draw(api, 0, 4)]);
    if (draw(api, 0, 2))
        c->fault_by = now(api) + draw(api, SEC(1), draw(api, 0, 2) ? SEC(400) : SEC(20));
}

static struct kube_call *start(struct kube_transport *t, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg) {
    struct mini_api *api = (struct mini_api *)t;
    struct kube_call *c = xnew(struct kube_call);
    *c = (struct kube_call){
        .api = api,
        .handler = handler,
        .arg = arg,
        .path = xstrdup(req->path),
        .wire.protobuf = strstr(req->accept, "protobuf") != NULL,
        .server = (int)draw(api, 0, api->opts.servers),
        .idle = req->idle,
        .timer = loop_timer_new(api->loop, on_timer, c),
        .idle_timer = loop_timer_new(api->loop, on_timeout, c),
        .timeout_timer = loop_timer_new(api->loop, on_timeout, c),
    };
    c->node = wanted_node(c);
    if (c->server) {
        bool lags = !api->calm && draw(api, 0, 4);
        api->servers[c->server].lag = lags ? draw(api, 0, api->opts.lag + 1) : 0;
    }
    *vec_push(&api->calls) = c;
    api->stats.calls++;
    draw_fault(c);
    loop_timer_set(c->timer, small_delay(api));
    if (c->idle)
        loop_timer_set(c->idle_timer, c->idle);
    if (req->timeout)
        loop_timer_set(c->timeout_timer, req->timeout);
    return c;
}

static void cancel(struct kube_transport *t, struct kube_call *c) {
    (void)t;
    if (c->busy)
        c->dead = true;
    else
        call_free(c);
}

static void api_free(struct kube_transport *t) {
    struct mini_api *api = (struct mini_api *)t;
    while (api->calls.len)
        call_free(api->calls.p[0]);
    vec_done(&api->calls);
    vec_done(&api->changes);
    free(api->pods);
    free(api);
}

static const struct kube_transport_ops ops = {start, cancel, api_free};

struct mini_api *mini_api_new(struct loop *loop, const struct mini_options *opts) {
    struct mini_api *api = xnew(struct mini_api);
    api->transport.ops = &ops;
    api->loop = loop;
    api->opts = *opts;
    api->prng.state = opts->seed;
    api->version = api->compacted = 100;
    api->pods = xcalloc((size_t)opts->pods, sizeof *api->pods);
    if (opts->servers > SERVERS_MAX)
        abort();
    return api;
}

struct kube_transport *mini_api_transport(struct mini_api *api) {
    return &api->transport;
}

void mini_api_calm(struct mini_api *api) {
    api->calm = true;
    for (size_t i = 0; i < api->calls.len; i++)
        api->calls.p[i]->fault = F_NONE;
}

void mini_api_restore(struct mini_api *api, uint64_t version) {
    struct mini_pod *pods = xcalloc((size_t)api->opts.pods, sizeof *pods);
    mini_api_at(api, version, pods);
    free(api->pods);
    api->pods = pods;
    api->changes.len = change_after(api, version);
    api->version = version;
    api->compacted = MIN_OF(api->compacted, version);
    for (int i = 0; i < SERVERS_MAX; i++)
        api->servers[i].seen = MIN_OF(api->servers[i].seen, api->changes.len);
    for (size_t i = api->calls.len; i-- > 0;) /* new ones come behind */
        finish(api->calls.p[i], -ECONNRESET, true, "the server went away");
}

struct mini_stats mini_api_stats(const struct mini_api *api) {
    return api->stats;
}
