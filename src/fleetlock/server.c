/* The FleetLock listener. */
#include "fleetlock/server.h"

#include <stdlib.h>
#include <strings.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "fleetlock/callers.h"

enum {
    HEAD_MAX = 8 << 10,
    CONNS_MAX = 4096,
    SLOW = 10, /* seconds for a head, a body, an answer to be taken */
    IDLE = 30, /* seconds between two requests */
    TELL = 60, /* seconds between two lines about strangers */
};

/* One that is being answered. */
struct waiting {
    struct fleetlock_server *s;
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
    struct loop *loop;
    struct callers *callers, *addresses;
    struct fleetlock_stats stats;
    int64_t tell_at; /* of strangers: not before */
};

/* To one who has closed its side of the connection and may still listen. */
static const struct fleetlock_reply hung_up = {
    FLEETLOCK_UNAVAILABLE, "the connection was closed before the request was answered"};

static const char json_type[] = "application/json";

static void send(struct fleetlock_server *s, struct exchange *x, enum fleetlock_api api,
                 const struct fleetlock_reply *reply, int deny_status) {
    static const struct http_header headers[] = {{"Content-Type", json_type},
                                                 {"X-Content-Type-Options", "nosniff"},
                                                 {"Cache-Control", "no-store"}};
    _cleanup_str_ struct str body = STR_INIT;
    int status = fleetlock_write(reply, deny_status, &body);
    if (s->opts.answered)
        s->opts.answered(s->opts.arg, api, reply->kind, status);
    exchange_reply(
        x,
        &(struct http_reply){.code = status, .headers = headers, .n_headers = ARRAY_LEN(headers)},
        str_get(&body), body.len);
}

/* Of what is no request of HTTP: JSON, too, and the status is that of HTTP. */
static const char *refusal(void *arg, int code, const char *why, struct str *body) {
    (void)arg;
    fleetlock_write(&(struct fleetlock_reply){fleetlock_kind_of(code), why}, code, body);
    return json_type;
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

static void on_closed(void *arg) {
    struct waiting *w = arg;
    struct fleetlock_server *s = w->s;
    uint64_t ticket = w->ticket;
    s->opts.gone(s->opts.arg, ticket);
    fleetlock_server_reply(s, ticket, &hung_up, s->opts.deny_status);
}

static void ask(struct fleetlock_server *s, struct exchange *x, const struct fleetlock_request *req,
                const char *node) {
    static const struct exchange_events events = {.closed = on_closed};
    struct waiting *w = xnew(struct waiting);
    *w = (struct waiting){s, ++s->tickets, req->api, x};
    *vec_push(&s->waiting) = w;
    exchange_notify(x, &events, w);
    s->opts.ask(s->opts.arg, &(struct fleetlock_question){.ticket = w->ticket,
                                                          .api = req->api,
                                                          .node = node,
                                                          .group = req->group,
                                                          .id = req->id,
                                                          .peer = exchange_peer(x)});
}

/* --- who asks --- */

/* Tells of it, now and then; whether it is to be refused. */
static bool is_stranger(struct fleetlock_server *s, const char *peer, const struct node *node,
                        enum fleetlock_check check) {
    if (check == FLEETLOCK_CHECK_OFF || caller_is_node(peer, node))
        return false;
    s->stats.strangers++;
    if (loop_now(s->loop) >= s->tell_at) {
        s->tell_at = loop_now(s->loop) + SEC(TELL);
        log_warn(s->opts.log,
                 "fleetlock: %s asks for node %s, which does not have that address (%llu such "
                 "requests so far)",
                 peer, node->meta.name, (unsigned long long)s->stats.strangers);
    }
    return check == FLEETLOCK_CHECK_ENFORCE;
}

/* Whether this caller may ask for the node; false: that is the reply. */
static bool may_ask(struct fleetlock_server *s, const struct exchange *x,
                    const struct fleetlock_request *req, const char *name,
                    struct fleetlock_reply *reply) {
    const struct node *node = (const struct node *)store_get(s->opts.nodes, NULL, name);
    const char *peer = exchange_peer(x);
    if (!node)
        return true; /* it has just gone: whoever is asked says so */
    struct fleetlock_terms terms = s->opts.terms(s->opts.arg, node);
    if (terms.rate && !callers_admit(s->callers, peer, req->id, terms.rate, loop_now(s->loop))) {
        s->stats.limited++;
        *reply = (struct fleetlock_reply){FLEETLOCK_RATE_LIMITED,
                                          "this id is asked for too often from this address"};
        return false;
    }
    if (!is_stranger(s, peer, node, terms.check))
        return true;
    *reply = (struct fleetlock_reply){
        FLEETLOCK_CALLER_MISMATCH,
        "the request does not come from an address of the node that has this id"};
    return false;
}

struct fleetlock_stats fleetlock_server_stats(const struct fleetlock_server *s) {
    return s->stats;
}

/* Whose request it is; false: that is the reply. */
static bool find(struct fleetlock_server *s, const struct exchange *x,
                 const struct fleetlock_request *req, const char **node,
                 struct fleetlock_reply *reply) {
    if (!exchange_open(x)) {
        *reply = hung_up;
        return false;
    }
    if (!s->opts.ready(s->opts.arg)) {
        *reply = (struct fleetlock_reply){
            FLEETLOCK_UNAVAILABLE, "the nodes are not known yet: the program has just begun"};
        return false;
    }
    switch (roster_find(s->opts.roster, req->id, node)) {
    case 0:
        *reply = (struct fleetlock_reply){
            FLEETLOCK_UNKNOWN_NODE,
            "no node of the cluster has this id, as its machine id or made from it"};
        return false;
    case 1:
        return may_ask(s, x, req, *node, reply);
    default:
        *reply = (struct fleetlock_reply){
            FLEETLOCK_AMBIGUOUS_NODE,
            "several nodes of the cluster have this id: none may go by it"};
        return false;
    }
}

/* The header of the protocol: what is "true" in all of its lines; NULL: there is none. Which of two
 * counts is not ours to guess. */
static const char *protocol_of(const struct exchange *x) {
    size_t n;
    const struct http_header *all = exchange_headers(x, &n);
    const char *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (!strcasecmp(all[i].name, "fleet-lock-protocol") && (!found || streq(found, "true")))
            found = all[i].value;
    return found;
}

/* Whoever tries ids, or sends what makes no sense, is a caller as well. */
static bool admit(struct fleetlock_server *s, const struct exchange *x) {
    if (!s->opts.address_rate ||
        callers_admit(s->addresses, exchange_peer(x), "", s->opts.address_rate, loop_now(s->loop)))
        return true;
    s->stats.limited++;
    return false;
}

static void handle(void *arg, struct exchange *x) {
    struct fleetlock_server *s = arg;
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct fleetlock_request req = {0};
    struct fleetlock_reply reply;
    const char *node = NULL;
    struct fleetlock_input in = {.method = exchange_method(x),
                                 .path = exchange_path(x),
                                 .header = protocol_of(x),
                                 .body = exchange_body(x),
                                 .too_large = exchange_too_large(x)};
    bool good = fleetlock_read(&in, &arena, &req, &reply);
    if (!admit(s, x)) {
        reply = (struct fleetlock_reply){FLEETLOCK_RATE_LIMITED,
                                         "too many requests come from this address"};
    } else if (good && find(s, x, &req, &node, &reply)) {
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
    s->loop = loop;
    s->callers = callers_new();
    s->addresses = callers_new();
    int rc = httpd_new(loop,
                       &(struct httpd_options){
                           .handle = handle,
                           .arg = s,
                           .limits = {.max_head = HEAD_MAX,
                                      .max_body = FLEETLOCK_BODY_MAX,
                                      .max_conns = opts->max_conns ? opts->max_conns : CONNS_MAX,
                                      .head_timeout = SEC(SLOW),
                                      .body_timeout = SEC(SLOW),
                                      .idle_timeout = SEC(IDLE),
                                      .write_timeout = SEC(SLOW),
                                      .reply_timeout = SEC(SLOW)},
                           .handle_too_large = true,
                           .refusal = refusal,
                           .crowds_give_way = true,
                           .log = opts->log},
                       &s->httpd, err);
    if (rc) {
        callers_free(s->callers);
        callers_free(s->addresses);
        mem_clear(&s);
    }
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
    callers_free(s->callers);
    callers_free(s->addresses);
    free(s);
}

int fleetlock_server_listen(struct fleetlock_server *s, const char *address,
                            const struct httpd_tls *tls, struct httpd_listener **out,
                            struct err *err) {
    struct httpd_listener *l;
    int rc = httpd_listen(s->httpd, address, tls, &l, err);
    if (rc)
        return rc;
    if (!s->first)
        s->first = l;
    if (out)
        *out = l;
    return 0;
}

const char *fleetlock_server_address(const struct fleetlock_server *s) {
    return s->first ? httpd_listener_address(s->first) : "";
}
