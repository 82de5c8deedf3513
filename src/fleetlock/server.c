/* The FleetLock listener. */
#include "fleetlock/server.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"

enum {
    HEAD_MAX = 8 << 10,
    CONNS_MAX = 4096,
    SLOW = 10, /* seconds for a head, a body, an answer to be taken */
    IDLE = 30, /* seconds between two requests */
};

/* One that is being answered. */
struct waiting {
    uint64_t ticket;
    enum fleetlock_api api;
    struct exchange *exchange;
};

struct fleetlock_server {
    struct fleetlock_server_opts opts;
    struct httpd *httpd;
    struct httpd_listener *first;
    VEC(struct waiting *) waiting;
    uint64_t tickets;
};

static void send(struct fleetlock_server *s, struct exchange *x, enum fleetlock_api api,
                 const struct fleetlock_reply *reply, int deny_status) {
    static const struct http_header headers[] = {{"Content-Type", "application/json"},
                                                 {"X-Content-Type-Options", "nosniff"},
                                                 {"Cache-Control", "no-store"}};
    _cleanup_str_ struct str body = STR_INIT;
    int status = fleetlock_write(reply, deny_status, &body);
    if (s->opts.answered)
        s->opts.answered(s->opts.arg, api, reply->kind);
    exchange_reply(
        x,
        &(struct http_reply){.code = status, .headers = headers, .n_headers = ARRAY_LEN(headers)},
        str_get(&body), body.len);
}

static struct waiting *take(struct fleetlock_server *s, uint64_t ticket) {
    for (size_t i = 0; i < s->waiting.len; i++) {
        struct waiting *w = s->waiting.p[i];
        if (w->ticket != ticket)
            continue;
        s->waiting.p[i] = s->waiting.p[--s->waiting.len];
        return w;
    }
    return NULL;
}

void fleetlock_server_reply(struct fleetlock_server *s, uint64_t ticket,
                            const struct fleetlock_reply *reply, int deny_status) {
    struct waiting *w = take(s, ticket);
    if (!w)
        return;
    send(s, w->exchange, w->api, reply, deny_status);
    free(w);
}

static void ask(struct fleetlock_server *s, struct exchange *x, const struct fleetlock_request *req,
                const char *node) {
    struct waiting *w = xnew(struct waiting);
    *w = (struct waiting){++s->tickets, req->api, x};
    *vec_push(&s->waiting) = w;
    s->opts.ask(s->opts.arg, &(struct fleetlock_question){.ticket = w->ticket,
                                                          .api = req->api,
                                                          .node = node,
                                                          .group = req->group,
                                                          .id = req->id,
                                                          .peer = exchange_peer(x)});
}

/* Whose request it is; false: that is the reply. */
static bool find(struct fleetlock_server *s, const struct fleetlock_request *req, const char **node,
                 struct fleetlock_reply *reply) {
    if (!s->opts.ready(s->opts.arg)) {
        *reply = (struct fleetlock_reply){
            FLEETLOCK_UNAVAILABLE, "the nodes are not known yet: the program has just begun"};
        return false;
    }
    switch (roster_find(s->opts.roster, req->id, node)) {
    case 0:
        *reply = (struct fleetlock_reply){
            FLEETLOCK_UNKNOWN_NODE,
            "no node of the cluster has this id: see 'slipway help fleetlock'"};
        return false;
    case 1:
        return true;
    default:
        *reply = (struct fleetlock_reply){
            FLEETLOCK_AMBIGUOUS_NODE,
            "several nodes of the cluster have this id: none may go by it"};
        return false;
    }
}

static void handle(void *arg, struct exchange *x) {
    struct fleetlock_server *s = arg;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct fleetlock_request req = {0};
    struct fleetlock_reply reply;
    const char *node = NULL;
    struct fleetlock_input in = {.method = exchange_method(x),
                                 .path = exchange_path(x),
                                 .header = exchange_header(x, "fleet-lock-protocol"),
                                 .body = exchange_body(x),
                                 .too_large = exchange_too_large(x)};
    if (fleetlock_read(&in, &arena, &req, &reply) && find(s, &req, &node, &reply)) {
        ask(s, x, &req, node);
        return;
    }
    log_debug(s->opts.log, "fleetlock: %s %s from %s: %s", in.method, in.path, exchange_peer(x),
              reply.value);
    send(s, x, req.api, &reply, s->opts.deny_status);
}

int fleetlock_server_new(struct loop *loop, const struct fleetlock_server_opts *opts,
                         struct fleetlock_server **out, struct err *err) {
    struct fleetlock_server *s = xnew(struct fleetlock_server);
    s->opts = *opts;
    int rc = httpd_new(loop,
                       &(struct httpd_options){.handle = handle,
                                               .arg = s,
                                               .limits = {.max_head = HEAD_MAX,
                                                          .max_body = FLEETLOCK_BODY_MAX,
                                                          .max_conns = CONNS_MAX,
                                                          .head_timeout = SEC(SLOW),
                                                          .body_timeout = SEC(SLOW),
                                                          .idle_timeout = SEC(IDLE),
                                                          .write_timeout = SEC(SLOW),
                                                          .reply_timeout = SEC(SLOW)},
                                               .handle_too_large = true,
                                               .log = opts->log},
                       &s->httpd, err);
    if (rc)
        mem_clear(&s);
    *out = s;
    return rc;
}

void fleetlock_server_free(struct fleetlock_server *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->waiting.len; i++) {
        exchange_abort(s->waiting.p[i]->exchange);
        free(s->waiting.p[i]);
    }
    vec_done(&s->waiting);
    httpd_free(s->httpd);
    free(s);
}

int fleetlock_server_listen(struct fleetlock_server *s, const char *address,
                            const struct httpd_tls *tls, struct err *err) {
    struct httpd_listener *l;
    int rc = httpd_listen(s->httpd, address, tls, &l, err);
    if (!rc && !s->first)
        s->first = l;
    return rc;
}

const char *fleetlock_server_address(const struct fleetlock_server *s) {
    return s->first ? httpd_listener_address(s->first) : "";
}
