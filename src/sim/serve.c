/* Exchanges of the HTTP server as requests of the API.
 *
 * What clients do not take must not pile up, however many they are. A stream is made only as fast
 * as its client reads: at most HIGH_WATER is made ahead for one, and there is a limit for all of
 * them; who takes nothing while others wait for room is cut off. Answers that are whole before they
 * are sent (protobuf cannot be otherwise) become 429 when too many of them are on their way. A
 * client has a minute to take an answer that is no watch, as from the real server. */
#include "sim/serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "net/server.h"
#include "sim/warnings.h"

enum {
    HIGH_WATER = 256 << 10, /* bytes queued for a client before its stream is left alone */
    SMALL = 64 << 10,       /* such an answer goes into the connection's buffer at once */
    HEADERS = 8,            /* at most, beside warnings */
};

static const struct sim_server_limits defaults = {
    .queued = 256 << 20,
    .held = 512 << 20,
    .request_timeout = SEC(60),
    .patience = SEC(5),
};

#define TRY_AGAIN MSEC(50) /* when there is no room */

/* The simulator has no priority and fairness; clients tell an API server from a proxy by the
 * headers.
 */
#define NO_FLOW "00000000-0000-0000-0000-000000000000"

struct flow {
    struct sim_server *server;
    struct flow *next, **link;
    struct exchange *exchange;
    struct api_reply reply;
    struct loop_timer *timer; /* pulls in a turn of its own: a change may wake many */
    struct loop_timer *limit; /* of a list; NULL of a watch */
    uint64_t written, taken;  /* bytes, ever; taken: when last looked */
    int64_t since;            /* when it last took something */
    size_t noted;             /* of its queue in sim_server.queued */
};

/* Whole answers on their way. A connection may let go of one after the server was freed. */
struct held {
    size_t bytes;
    unsigned refs;
};

struct sim_server {
    struct loop *loop;
    const struct log *log;
    struct sim_server_limits limits;
    struct api *api;
    struct pace *pace;
    struct httpd *httpd;
    struct httpd_listener *listener;
    char *token;
    uint64_t served;
    struct flow *flows;
    size_t queued;  /* bytes of all streams, as last looked: never less than they are */
    int64_t looked; /* when all were looked at */
    struct held *held;
    struct str scratch; /* what a stream adds: a buffer of its own would be kept for each watch */
};

static void flow_free(struct flow *f) {
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    f->server->queued -= f->noted;
    loop_timer_free(f->timer);
    loop_timer_free(f->limit);
    api_reply_done(&f->reply);
    free(f);
}

static void flow_abort(struct flow *f) {
    exchange_abort(f->exchange);
    flow_free(f);
}

static void note(struct flow *f) {
    size_t now = exchange_queued(f->exchange);
    f->server->queued += now - f->noted;
    f->noted = now;
}

/* Looks at all streams, and cuts off those that take nothing. */
static void look_around(struct sim_server *s) {
    int64_t now = loop_now(s->loop);
    if (now - s->looked < TRY_AGAIN)
        return;
    s->looked = now;
    for (struct flow *f = s->flows, *next; f; f = next) {
        next = f->next;
        note(f);
        if (f->written - f->noted != f->taken) {
            f->taken = f->written - f->noted;
            f->since = now;
        } else if (f->noted && now - f->since > s->limits.patience) {
            log_debug(s->log,
                      "%s: its stream is cut off, because it takes nothing and the room "
                      "is needed",
                      exchange_peer(f->exchange));
            flow_abort(f);
        }
    }
}

static void flow_write(struct flow *f, const struct str *body) {
    size_t before = exchange_queued(f->exchange);
    if (!before)
        f->since = loop_now(f->server->loop); /* until now there was nothing to take */
    exchange_write(f->exchange, body->p, body->len);
    f->written += exchange_queued(f->exchange) - before;
    note(f);
}

static void pump(void *arg) {
    struct flow *f = arg;
    struct sim_server *s = f->server;
    note(f);
    while (exchange_queued(f->exchange) < HIGH_WATER) {
        if (s->queued >= s->limits.queued) {
            loop_timer_set(f->timer, TRY_AGAIN);
            look_around(s); /* f may be gone after it */
            return;
        }
        str_reset(&s->scratch);
        enum api_pull state = api_stream_pull(f->reply.stream, &s->scratch);
        flow_write(f, &s->scratch);
        if (state == API_WAIT)
            return;
        if (state == API_END) {
            exchange_end(f->exchange);
            flow_free(f);
            return;
        }
    }
}

static void woken(void *arg) {
    struct flow *f = arg;
    if (!loop_timer_pending(f->timer))
        loop_timer_set(f->timer, 0);
}

static void closed(void *arg) {
    flow_abort(arg);
}

/* A list that its client takes too slowly. */
static void out_of_time(void *arg) {
    flow_abort(arg);
}

static const struct exchange_events events = {.drained = pump, .closed = closed};

/* --- whole answers --- */

static void held_unref(struct held *h) {
    if (--h->refs == 0)
        free(h);
}

struct whole {
    struct held *held;
    struct str body;
};

static void whole_taken(void *arg) {
    struct whole *w = arg;
    w->held->bytes -= w->body.len;
    held_unref(w->held);
    str_done(&w->body);
    free(w);
}

/* Sends it without a copy, which would be one for each client that does not read. */
static void send_whole(struct sim_server *s, struct exchange *x, const struct http_reply *head,
                       struct str *body) {
    if (body->len <= SMALL) {
        exchange_reply(x, head, body->p, body->len);
        return;
    }
    struct whole *w = xnew(struct whole);
    *w = (struct whole){s->held, *body};
    *body = STR_INIT;
    w->held->bytes += w->body.len;
    w->held->refs++;
    exchange_reply_ref(x, head, &(struct http_ref){w->body.p, w->body.len, whole_taken, w});
}

/* There is no room for so large an answer now: in the words of the real server's own limits. */
static void refuse_too_many(const struct sim_server *s, struct api_reply *reply) {
    if (reply->body.len <= SMALL || !s->held->bytes ||
        s->held->bytes + reply->body.len <= s->limits.held)
        return;
    api_reply_done(reply);
    reply->code = 429;
    reply->content_type = "text/plain; charset=utf-8";
    reply->retry_after = 1;
    str_add(&reply->body, "Too many requests, please try again later.\n");
}

/* --- requests --- */

/* Constant time, so that a token cannot be guessed by its prefix. */
static bool token_equal(const char *a, const char *b) {
    size_t n = strlen(a);
    if (strlen(b) != n)
        return false;
    unsigned char diff = 0;
    for (size_t i = 0; i < n; i++)
        diff |= (unsigned char)(a[i] ^ b[i]);
    return diff == 0;
}

enum who { WHO_ADMIN, WHO_NOBODY, WHO_WRONG };

static enum who who(const struct sim_server *s, struct exchange *x) {
    const char *header = exchange_header(x, "Authorization");
    if (!header)
        return WHO_NOBODY;
    return strncasecmp(header, "Bearer ", 7) == 0 && token_equal(header + 7, s->token) ? WHO_ADMIN
                                                                                       : WHO_WRONG;
}

/* What comes with them nobody looks at. */
static bool reads(const struct exchange *x) {
    return streq(exchange_method(x), "GET") || streq(exchange_method(x), "HEAD");
}

static void handle(void *arg, struct exchange *x) {
    struct sim_server *s = arg;
    struct api_reply reply = {0};
    enum who user = who(s, x);
    if (user == WHO_WRONG) {
        reply.code = 401;
        reply.content_type = "application/json";
        str_add(&reply.body,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                "\"Failure\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\","
                "\"code\":401}\n");
    } else if (exchange_too_large(x) && !reads(x)) {
        reply.code = 413;
        reply.content_type = "application/json";
        str_addf(
            &reply.body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"Request entity too large: limit is %d\",\"reason\":"
            "\"RequestEntityTooLarge\",\"code\":413}\n",
            API_BODY_MAX);
    } else {
        struct api_request req = {
            .method = exchange_method(x),
            .target = exchange_target(x),
            .accept = exchange_header(x, "Accept"),
            .content_type = exchange_header(x, "Content-Type"),
            .if_none_match = exchange_header(x, "If-None-Match"),
            .anonymous = user == WHO_NOBODY,
            .body = exchange_body(x),
        };
        pace_catch_up(s->pace);
        api_serve(s->api, &req, &reply);
        pace_update(s->pace);
        if (!reply.stream)
            refuse_too_many(s, &reply);
    }
    char audit[64], retry[16];
    /* Clients tell an API server from a proxy by these headers. */
    (void)snprintf(audit, sizeof audit, "00000000-0000-4000-8000-%012llx",
                   (unsigned long long)++s->served);
    (void)snprintf(retry, sizeof retry, "%d", reply.retry_after);
    _cleanup_warnings_ struct warnings warnings;
    warnings_init(&warnings, reply.warnings.p, reply.warnings.len);
    _cleanup_free_ struct http_header *headers =
        xcalloc(HEADERS + warnings.headers.len, sizeof *headers);
    size_t n = 0;
    headers[n++] = (struct http_header){"Audit-Id", audit};
    headers[n++] = (struct http_header){"Cache-Control", "no-cache, private"};
    headers[n++] = (struct http_header){"Content-Type", reply.content_type};
    headers[n++] = (struct http_header){"X-Kubernetes-Pf-Flowschema-Uid", NO_FLOW};
    headers[n++] = (struct http_header){"X-Kubernetes-Pf-Prioritylevel-Uid", NO_FLOW};
    if (*reply.etag) {
        headers[n++] = (struct http_header){"ETag", reply.etag};
        headers[n++] = (struct http_header){"Vary", "Accept"};
    }
    if (reply.retry_after)
        headers[n++] = (struct http_header){"Retry-After", retry};
    for (size_t i = 0; i < warnings.headers.len; i++)
        headers[n++] = (struct http_header){"Warning", warnings.headers.p[i]};
    struct http_reply head = {
        .code = reply.code, .headers = headers, .n_headers = n, .gzip = !reply.stream};
    if (!reply.stream) {
        send_whole(s, x, &head, &reply.body);
        api_reply_done(&reply);
    } else if (streq(exchange_method(x), "HEAD")) {
        exchange_reply(x, &head, NULL, 0);
        api_reply_done(&reply);
    } else {
        struct flow *f = xnew(struct flow);
        *f = (struct flow){
            .server = s, .next = s->flows, .link = &s->flows, .exchange = x, .reply = reply};
        if (f->next)
            f->next->link = &f->next;
        s->flows = f;
        f->timer = loop_timer_new(s->loop, pump, f);
        if (!reply.watch) {
            f->limit = loop_timer_new(s->loop, out_of_time, f);
            loop_timer_set(f->limit, s->limits.request_timeout);
        }
        f->reply.stream->wake = woken;
        f->reply.stream->wake_arg = f;
        exchange_begin(x, &head);
        exchange_notify(x, &events, f);
        flow_write(f, &f->reply.body);
        str_done(&f->reply.body);
        pump(f);
    }
}

/* Clients tell by it how far their clock is from ours, which all objects are stamped with. */
static int64_t date(void *arg) {
    const struct sim_server *s = arg;
    return pace_time(s->pace);
}

int sim_server_new(struct loop *loop, struct api *api, struct pace *pace,
                   const struct sim_server_options *opts, struct sim_server **out,
                   struct err *err) {
    struct sim_server *s = xnew(struct sim_server);
    s->loop = loop;
    s->log = opts->log;
    s->limits = opts->limits;
#define DEFAULT(member) s->limits.member = s->limits.member ? s->limits.member : defaults.member
    DEFAULT(queued);
    DEFAULT(held);
    DEFAULT(request_timeout);
    DEFAULT(patience);
#undef DEFAULT
    s->held = xnew(struct held);
    s->held->refs = 1;
    s->api = api;
    s->pace = pace;
    s->token = xstrdup(opts->token);
    struct httpd_options o = {
        .handle = handle,
        .date = date,
        .arg = s,
        .limits = {.max_body = API_BODY_MAX,
                   .max_conns = s->limits.connections,
                   .reply_timeout = s->limits.request_timeout},
        .handle_too_large = true,
        .log = opts->log,
    };
    struct httpd_tls tls = {opts->cert, opts->key};
    int rc = httpd_new(loop, &o, &s->httpd, err);
    if (!rc)
        rc = httpd_listen(s->httpd, opts->address, opts->cert ? &tls : NULL, &s->listener, err);
    if (rc) {
        sim_server_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void sim_server_free(struct sim_server *s) {
    if (!s)
        return;
    while (s->flows)
        flow_abort(s->flows);
    httpd_free(s->httpd);
    held_unref(s->held);
    str_done(&s->scratch);
    mem_wipe(s->token, strlen(s->token));
    free(s->token);
    free(s);
}

const char *sim_server_address(const struct sim_server *s) {
    return httpd_listener_address(s->listener);
}
