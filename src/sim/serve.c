/* Exchanges of the HTTP server as requests of the API. */
#include "sim/serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/server.h"

enum {
    HIGH_WATER = 256 << 10, /* bytes queued for a client before its stream is left alone */
    HEADERS = 16,
};

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
};

struct sim_server {
    struct loop *loop;
    struct api *api;
    struct pace *pace;
    struct httpd *httpd;
    struct httpd_listener *listener;
    char *token;
    uint64_t served;
    struct flow *flows;
};

static void flow_free(struct flow *f) {
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    loop_timer_free(f->timer);
    api_reply_done(&f->reply);
    free(f);
}

static void pump(void *arg) {
    struct flow *f = arg;
    struct str *body = &f->reply.body;
    while (exchange_queued(f->exchange) < HIGH_WATER) {
        str_reset(body);
        enum api_pull state = api_stream_pull(f->reply.stream, body);
        exchange_write(f->exchange, body->p, body->len);
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
    struct flow *f = arg;
    exchange_abort(f->exchange);
    flow_free(f);
}

static const struct exchange_events events = {.drained = pump, .closed = closed};

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

/* A Warning header's text is a quoted string. */
static char *warning_header(const char *text) {
    struct str out = STR_INIT;
    str_add(&out, "299 - \"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            str_addc(&out, '\\');
        str_addc(&out, *p);
    }
    str_addc(&out, '"');
    return str_take(&out);
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
    } else if (exchange_too_large(x)) {
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
    }
    char audit[64], retry[16];
    /* Clients tell an API server from a proxy by these headers. */
    (void)snprintf(audit, sizeof audit, "00000000-0000-4000-8000-%012llx",
                   (unsigned long long)++s->served);
    (void)snprintf(retry, sizeof retry, "%d", reply.retry_after);
    struct http_header headers[HEADERS];
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
    char *texts[HEADERS];
    size_t n_texts = 0;
    for (size_t i = 0; i < reply.warnings.len && n < HEADERS; i++) {
        texts[n_texts] = warning_header(reply.warnings.p[i]);
        headers[n++] = (struct http_header){"Warning", texts[n_texts++]};
    }
    struct http_reply head = {
        .code = reply.code, .headers = headers, .n_headers = n, .gzip = !reply.stream};
    if (!reply.stream) {
        exchange_reply(x, &head, reply.body.p, reply.body.len);
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
        f->reply.stream->wake = woken;
        f->reply.stream->wake_arg = f;
        exchange_begin(x, &head);
        exchange_notify(x, &events, f);
        exchange_write(x, f->reply.body.p, f->reply.body.len);
        pump(f);
    }
    for (size_t i = 0; i < n_texts; i++)
        free(texts[i]);
}

int sim_server_new(struct loop *loop, struct api *api, struct pace *pace,
                   const struct sim_server_options *opts, struct sim_server **out,
                   struct err *err) {
    struct sim_server *s = xnew(struct sim_server);
    s->loop = loop;
    s->api = api;
    s->pace = pace;
    s->token = xstrdup(opts->token);
    struct httpd_options o = {
        .handle = handle,
        .arg = s,
        .limits = {.max_body = API_BODY_MAX, .max_conns = opts->max_connections},
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
    while (s->flows) {
        exchange_abort(s->flows->exchange);
        flow_free(s->flows);
    }
    httpd_free(s->httpd);
    mem_wipe(s->token, strlen(s->token));
    free(s->token);
    free(s);
}

const char *sim_server_address(const struct sim_server *s) {
    return httpd_listener_address(s->listener);
}
