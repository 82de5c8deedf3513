/* The transport to a real API server: the life of a call. */
#include "kube/transport_curl.h"

#include <arpa/inet.h>
#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "kube/curl_error.h"
#include "kube/curl_head.h"
#include "kube/curl_loop.h"
#include "kube/curl_request.h"
#include "kube/curl_target.h"
#include "kube/curl_tls.h"
#include "kube/curl_trace.h"

enum {
    N_LANES = KUBE_LANE_LEASE + 1,
    /* What browsers use against one host; more would only queue in the API server instead. */
    CALL_CONNECTIONS = 6,
    CALL_CONNECTIONS_HTTP2 = 2,
    /* The one in use, and one beside it when an earlier renewal is stuck. */
    LEASE_CONNECTIONS = 2,
    /* Idle ones kept for the next watch; there are about ten watches. */
    WATCH_CONNECTIONS = 32,
    /* Of a 401 that is not shown to anybody. */
    DISCARD_MAX = 64 * 1024,
    TRACE_MIN = 6,
    /* client-go's dial timeout. */
    CONNECT_TIMEOUT_S = 30,
};

struct curl_transport {
    struct kube_transport base;
    struct loop *loop;
    const struct kube_config *config;
    struct kube_auth *auth;
    const struct log *log;
    struct curl_trace trace;
    char *user_agent;
    int64_t connect_timeout, timeout;
    bool http2, compress;
    void (*warned)(void *arg, const char *text);
    void *warned_arg;
    struct curl_target target;
    struct curl_tls *tls;
    CURLSH *share; /* TLS sessions and DNS answers, over all lanes */
    struct curl_loop *lanes[N_LANES];
    struct kube_call *calls;  /* all that may still call back */
    struct kube_call *doomed; /* cancelled while libcurl was at work */
    bool dead;                /* freed meanwhile: goes when libcurl has returned */
};

enum call_state {
    CALL_INVALID, /* cannot be sent: will fail in the next turn */
    CALL_AUTH,    /* waits for credentials */
    CALL_RUNNING, /* libcurl has it */
};

struct kube_call {
    struct curl_transport *t;
    struct kube_call *prev, *next;
    const struct kube_handler *handler;
    void *arg;

    /* the request */
    char *method, *path, *accept, *content_type;
    void *body;
    size_t body_len;
    enum kube_lane lane;
    int64_t timeout, idle;

    enum call_state state;
    struct loop_timer *timer; /* the next moment at which something could be overdue */
    int64_t deadline;         /* 0: none or not running yet */
    int64_t heard;            /* when the last byte came */
    bool cancelled;

    /* this attempt */
    struct kube_auth_wait *wait;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_head head;
    char *url; /* for people */
    struct curl_exchange exchange;
    char words[CURL_ERROR_SIZE]; /* libcurl's, about a failure */
    int64_t started;
    uint64_t generation; /* of the credentials */
    int sendings;        /* how often libcurl began to send it */
    bool logged;
    bool discard; /* a 401 that is answered by asking once more */
    size_t discarded;
    int refused; /* what the data callback said */
    int broken;  /* -E2BIG, -EPROTO: what was wrong with the head */

    /* attempts so far */
    bool other_credentials, other_ca;
};

/* --- lists --- */

static void link_call(struct kube_call **list, struct kube_call *c) {
    c->prev = NULL;
    c->next = *list;
    if (c->next)
        c->next->prev = c;
    *list = c;
}

static void unlink_call(struct kube_call **list, struct kube_call *c) {
    if (c->prev)
        c->prev->next = c->next;
    else
        *list = c->next;
    if (c->next)
        c->next->prev = c->prev;
}

/* --- taking apart --- */

static bool inside(const struct curl_transport *t) {
    for (int i = 0; i < N_LANES; i++)
        if (t->lanes[i] && curl_loop_inside(t->lanes[i]))
            return true;
    return false;
}

/* Whatever the attempt had. Not while libcurl is at work. */
static void drop_attempt(struct kube_call *c) {
    if (c->wait)
        kube_auth_cancel(c->t->auth, c->wait);
    c->wait = NULL;
    if (c->easy) {
        if (c->state == CALL_RUNNING)
            curl_loop_remove(c->t->lanes[c->lane], c->easy);
        curl_easy_cleanup(c->easy);
    }
    c->easy = NULL;
    curl_request_headers_free(c->headers);
    c->headers = NULL;
    curl_head_done(&c->head);
    curl_exchange_done(&c->exchange);
    mem_clear(&c->url);
    loop_timer_stop(c->timer);
}

static void free_call(struct kube_call *c) {
    drop_attempt(c);
    loop_timer_free(c->timer);
    free(c->method);
    free(c->path);
    free(c->accept);
    free(c->content_type);
    free(c->body);
    free(c);
}

static void destroy(struct curl_transport *t) {
    for (int i = 0; i < N_LANES; i++)
        curl_loop_free(t->lanes[i]);
    if (t->share)
        curl_share_cleanup(t->share);
    curl_tls_free(t->tls);
    curl_target_done(&t->target);
    free(t->user_agent);
    free(t);
    curl_global_cleanup();
}

/* libcurl has returned. */
static void after(void *arg) {
    struct curl_transport *t = arg;
    for (struct kube_call *c; (c = t->doomed);) {
        unlink_call(&t->doomed, c);
        free_call(c);
    }
    if (t->dead)
        destroy(t);
}

static void cancel(struct curl_transport *t, struct kube_call *c) {
    unlink_call(&t->calls, c);
    c->cancelled = true;
    loop_timer_stop(c->timer);
    if (c->state == CALL_RUNNING && inside(t))
        link_call(&t->doomed, c);
    else
        free_call(c);
}

/* --- telling --- */

static int64_t time_of(const struct kube_call *c, CURLINFO info) {
    curl_off_t usec = 0;
    if (c->easy)
        curl_easy_getinfo(c->easy, info, &usec);
    return usec;
}

static bool is_new_connection(const struct kube_call *c) {
    long n = 0;
    if (c->easy)
        curl_easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &n);
    return n > 0;
}

static void trace_response(struct kube_call *c, int64_t total) {
    int64_t dns = time_of(c, CURLINFO_NAMELOOKUP_TIME_T);
    int64_t dial = time_of(c, CURLINFO_CONNECT_TIME_T);
    int64_t tls = time_of(c, CURLINFO_APPCONNECT_TIME_T);
    int64_t ready = time_of(c, CURLINFO_PRETRANSFER_TIME_T);
    struct curl_times times = {
        .total = total,
        .reused = c->head.code && !is_new_connection(c),
        .dns = dns,
        .dial = MAX_OF(dial - dns, (int64_t)0),
        .tls = MAX_OF(tls - dial, (int64_t)0),
        .connection = ready,
        .server = MAX_OF(time_of(c, CURLINFO_STARTTRANSFER_TIME_T) - ready, (int64_t)0),
    };
    curl_trace_response(&c->t->trace, &c->exchange, c->head.code, http_status_text(c->head.code),
                        &times);
}

static void log_response(struct kube_call *c, const char *error) {
    struct curl_transport *t = c->t;
    if (c->logged)
        return;
    int64_t total = c->started ? loop_now(t->loop) - c->started : 0;
    c->logged = true;
    if (c->exchange.method)
        trace_response(c, total);
    if (t->trace.level || !log_enabled(t->log, LOG_DEBUG))
        return;
    const char *text = http_status_text(c->head.code);
    char status[64] = "";
    if (c->head.code)
        snprintf(status, sizeof status, "%d%s%s", c->head.code, *text ? " " : "", text);
    log_debug(t->log, "\"Response\" verb=\"%s\" url=\"%s%s\" status=\"%s\" milliseconds=%lld%s%s%s",
              c->method, t->target.server, c->path, status, (long long)(total / USEC_PER_MSEC),
              error ? " err=\"" : "", strna(error), error ? "\"" : "");
}

/* The request is put together. */
static void trace_request(struct kube_call *c) {
    struct curl_transport *t = c->t;
    if (!t->trace.level)
        return;
    c->url = xasprintf("%s%s", t->target.server, c->path);
    c->exchange = (struct curl_exchange){
        .method = c->method, .url = c->url, .watch = c->lane == KUBE_LANE_WATCH};
    curl_trace_request(&t->trace, &c->exchange, c->headers, c->body, c->body_len);
}

static void trace_dial(struct kube_call *c, const char *address, int port) {
    struct curl_target *target = &c->t->target;
    unsigned char buf[sizeof(struct in6_addr)];
    const char *host = target->host;
    bool literal = inet_pton(AF_INET, host, buf) == 1 || inet_pton(AF_INET6, host, buf) == 1;
    if (is_new_connection(c))
        curl_trace_dialled(&c->t->trace, literal || target->proxy.url ? NULL : host, address, port);
}

static void trace_dial_failed(struct kube_call *c, int error) {
    const char *scheme_end = strstr(c->t->target.server, "://");
    const char *rest = scheme_end ? scheme_end + strlen("://") : c->t->target.server;
    _cleanup_free_ char *address = xstrndup(rest, strcspn(rest, "/"));
    bool has_port = strrchr(address, ':') > strrchr(address, ']');
    const char *port = has_port ? "" : str_starts(c->t->target.server, "https://") ? ":443" : ":80";
    _cleanup_free_ char *full = xasprintf("%s%s", address, port);
    curl_trace_dial_failed(&c->t->trace, full, error);
}

/* Ends the call; nothing but `done` happens afterwards, because the receiver may free the
 * transport. */
static void finish(struct kube_call *c, int error, bool sent, const char *msg) {
    struct curl_transport *t = c->t;
    log_response(c, error ? msg : NULL);
    if (!error && c->exchange.method)
        curl_trace_body(&t->trace, &c->exchange);
    unlink_call(&t->calls, c);
    struct kube_done done = {.code = c->head.complete ? c->head.code : 0,
                             .error = error,
                             .sent = error && sent,
                             .msg = error ? msg : NULL};
    const struct kube_handler *handler = c->handler;
    void *handler_arg = c->arg;
    free_call(c);
    handler->done(handler_arg, &done);
}

static void begin(struct kube_call *c);

/* Once more, with what is new. */
static void again(struct kube_call *c) {
    drop_attempt(c);
    begin(c);
}

static void fail_curl(struct kube_call *c, CURLcode code) {
    struct curl_transport *t = c->t;
    struct curl_failure f = {
        .code = code,
        .detail = c->words,
        .server = t->target.server,
        .host = t->target.host,
        .name = t->target.name,
        .proxy = t->target.proxy.shown,
        .sent = c->sendings > 0,
        .answered = c->head.complete,
        .connect_timeout = t->connect_timeout,
        .peer = curl_tls_peer(t->tls),
    };
    long proxy_verify = 0;
    curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &f.os_errno);
    curl_easy_getinfo(c->easy, CURLINFO_HTTP_CONNECTCODE, &f.connect_code);
    curl_easy_getinfo(c->easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxy_verify);
    f.proxy_unverified = proxy_verify != 0;
    if (f.connect_code == 200)
        f.connect_code = 0;
    if (t->trace.level && code == CURLE_COULDNT_CONNECT && f.os_errno && !f.proxy)
        trace_dial_failed(c, (int)f.os_errno);
    _cleanup_err_ struct err err = ERR_INIT;
    bool sent;
    int r = curl_error_explain(&f, &sent, &err);
    finish(c, r, sent, err_msg(&err));
}

static void done(void *arg, CURL *easy, CURLcode code) {
    (void)arg;
    struct kube_call *c;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &c);
    if (c->cancelled)
        return; /* goes in after() */
    struct curl_transport *t = c->t;
    _cleanup_err_ struct err err = ERR_INIT;
    if (c->discard) {
        c->other_credentials = true;
        again(c);
    } else if (code == CURLE_PEER_FAILED_VERIFICATION && !c->other_ca && curl_tls_reread(t->tls)) {
        c->other_ca = true;
        again(c);
    } else if (c->refused) {
        err_errno(&err, -c->refused, "%s: the answer was given up", t->target.server);
        finish(c, c->refused, true, err_msg(&err));
    } else if (c->broken == -E2BIG) {
        err_set(&err, EPROTO, "%s answered with more than %d KiB of headers", t->target.server,
                CURL_HEAD_MAX_BYTES / 1024);
        finish(c, -EPROTO, true, err_msg(&err));
    } else if (code == CURLE_OK && c->head.code && !c->head.complete) {
        fail_curl(c, CURLE_GOT_NOTHING); /* libcurl is content with half a head */
    } else if (c->broken || (code == CURLE_OK && !c->head.complete)) {
        err_set(&err, EPROTO, "%s answered with something that is not HTTP", t->target.server);
        finish(c, -EPROTO, true, err_msg(&err));
    } else if (code == CURLE_OK) {
        finish(c, 0, false, NULL);
    } else {
        fail_curl(c, code);
    }
}

/* --- time --- */

static int64_t later(int64_t from, int64_t by) {
    int64_t sum;
    return __builtin_add_overflow(from, by, &sum) ? INT64_MAX : sum;
}

static void arm(struct kube_call *c) {
    int64_t due = c->deadline, quiet = later(c->heard, c->idle);
    if (c->idle && (!due || quiet < due))
        due = quiet;
    if (due)
        loop_timer_set(c->timer, due - loop_now(c->t->loop));
}

static void on_timer(void *arg) {
    struct kube_call *c = arg;
    struct curl_transport *t = c->t;
    int64_t now = loop_now(t->loop);
    _cleanup_err_ struct err err = ERR_INIT;
    char limit[TIMEFMT_LEN];
    switch (c->state) {
    case CALL_INVALID:
        err_set(&err, EINVAL, "the request cannot be sent: %s", c->words);
        finish(c, -EINVAL, false, err_msg(&err));
        return;
    case CALL_AUTH: /* anonymous */
        begin(c);
        return;
    case CALL_RUNNING:
        break;
    }
    const char *what = c->head.complete ? "the answer is not complete after"
                       : c->sendings    ? "no answer within"
                                        : "no connection within";
    if (c->deadline && now >= c->deadline)
        err_set(&err, ETIMEDOUT, "%s: %s %s", t->target.server, what,
                duration_format_limit(c->timeout, limit));
    else if (c->idle && now >= later(c->heard, c->idle))
        err_set(&err, ETIMEDOUT, "%s: nothing was received for %s", t->target.server,
                duration_format_limit(c->idle, limit));
    else {
        arm(c); /* bytes came since it was set */
        return;
    }
    finish(c, -ETIMEDOUT, c->sendings > 0 && !c->discard, err_msg(&err));
}

/* --- what libcurl asks --- */

static bool repeatable(const struct kube_call *c) {
    return streq(c->method, "GET") || streq(c->method, "HEAD") || streq(c->method, "OPTIONS");
}

/* The connection is there and the request is about to be written. libcurl does that by itself a
 * second time when a connection that it used again dies before the first byte of an answer: for a
 * write the outcome is unknown then, and the caller must hear of it. */
static int before_sending(void *arg, char *to, char *from, int to_port, int from_port) {
    (void)from;
    (void)from_port;
    struct kube_call *c = arg;
    if (c->cancelled || (c->sendings > 0 && !repeatable(c)))
        return CURL_PREREQFUNC_ABORT;
    c->sendings++;
    if (c->t->trace.level)
        trace_dial(c, to, to_port);
    return CURL_PREREQFUNC_OK;
}

static size_t on_header(char *line, size_t one, size_t len, void *arg) {
    (void)one;
    struct kube_call *c = arg;
    struct curl_transport *t = c->t;
    if (c->cancelled)
        return 0;
    c->heard = loop_now(t->loop);
    int r = curl_head_line(&c->head, line, len);
    if (!r || r == 1)
        curl_trace_head_line(&t->trace, &c->exchange, line, len);
    if (r < 0)
        c->broken = r;
    if (r <= 0)
        return r < 0 ? 0 : len;
    log_response(c, NULL);
    if (c->head.code == 401 && t->auth && !c->other_credentials &&
        kube_auth_reject(t->auth, c->generation)) {
        c->discard = true;
        return len;
    }
    for (size_t i = 0; t->warned && i < c->head.warnings.len; i++)
        t->warned(t->warned_arg, c->head.warnings.p[i]);
    if (c->handler->head) {
        struct kube_head head;
        curl_head_show(&c->head, &head);
        c->handler->head(c->arg, &head);
    }
    return c->cancelled ? 0 : len;
}

static size_t on_data(char *p, size_t one, size_t len, void *arg) {
    (void)one;
    struct kube_call *c = arg;
    if (c->cancelled)
        return CURL_WRITEFUNC_ERROR;
    c->heard = loop_now(c->t->loop);
    curl_trace_data(&c->t->trace, &c->exchange, p, len);
    if (c->discard) {
        c->discarded += len;
        return c->discarded <= DISCARD_MAX ? len : CURL_WRITEFUNC_ERROR;
    }
    if (!len)
        return 0;
    int r = c->handler->data(c->arg, p, len);
    if (c->cancelled)
        return CURL_WRITEFUNC_ERROR;
    c->refused = r;
    return r ? CURL_WRITEFUNC_ERROR : len;
}

/* --- an attempt --- */

static void set_callbacks(struct kube_call *c) {
    CURL *easy = c->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, c);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->words);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, c);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, c);
}

static int launch(struct kube_call *c, const struct kube_credentials *cred, struct err *err) {
    struct curl_transport *t = c->t;
    c->easy = curl_easy_init();
    if (!c->easy)
        return err_set(err, ENOMEM, "out of memory");
    struct curl_request req = {
        .method = c->method,
        .path = c->path,
        .accept = c->accept,
        .content_type = c->content_type,
        .authorization = cred ? cred->authorization : NULL,
        .user_agent = t->user_agent,
        .body = c->body,
        .body_len = c->body_len,
        .http2 = t->http2 && c->lane == KUBE_LANE_CALL,
        .compress = t->compress,
        .connect_timeout = t->connect_timeout,
    };
    curl_easy_setopt(c->easy, CURLOPT_SHARE, t->share);
    set_callbacks(c);
    int r = curl_request_apply(c->easy, &t->target, &req, &c->headers, err);
    if (!r)
        trace_request(c);
    if (!r)
        r = curl_tls_apply(t->tls, cred, c->easy, err);
    if (!r)
        r = curl_loop_add(t->lanes[c->lane], c->easy, err);
    return r;
}

static void start_attempt(struct kube_call *c, const struct kube_credentials *cred) {
    struct curl_transport *t = c->t;
    _cleanup_err_ struct err err = ERR_INIT;
    c->generation = cred ? cred->generation : 0;
    c->started = c->heard = loop_now(t->loop);
    if (c->timeout && !c->deadline)
        c->deadline = later(c->started, c->timeout);
    int r = launch(c, cred, &err);
    if (r < 0) {
        finish(c, r, false, err_msg(&err));
        return;
    }
    c->state = CALL_RUNNING;
    arm(c);
}

static void on_auth(void *arg, const struct kube_credentials *cred, const struct err *err) {
    struct kube_call *c = arg;
    c->wait = NULL;
    if (cred)
        start_attempt(c, cred);
    else
        finish(c, -EACCES, false, err_msg(err));
}

static void begin(struct kube_call *c) {
    struct curl_transport *t = c->t;
    c->state = CALL_AUTH;
    c->sendings = 0;
    c->logged = c->discard = false;
    c->discarded = 0;
    c->refused = c->broken = 0;
    c->words[0] = '\0';
    if (t->auth)
        c->wait = kube_auth_get(t->auth, on_auth, c);
    else
        start_attempt(c, NULL);
}

/* --- the interface --- */

static struct kube_call *op_start(struct kube_transport *base, const struct kube_request *req,
                                  const struct kube_handler *handler, void *arg) {
    struct curl_transport *t = CONTAINER_OF(base, struct curl_transport, base);
    struct kube_call *c = xnew(struct kube_call);
    c->t = t;
    c->handler = handler;
    c->arg = arg;
    c->method = xstrdup(req->method);
    c->path = xstrdup(req->path);
    c->accept = req->accept ? xstrdup(req->accept) : NULL;
    c->content_type = req->content_type ? xstrdup(req->content_type) : NULL;
    c->body = req->body_len ? xmemdup(req->body, req->body_len) : NULL;
    c->body_len = req->body_len;
    c->lane = req->lane;
    c->timeout = req->timeout ? req->timeout : req->lane == KUBE_LANE_WATCH ? 0 : t->timeout;
    c->idle = req->idle;
    c->timer = loop_timer_new(t->loop, on_timer, c);
    link_call(&t->calls, c);
    const char *bad = curl_request_check(c->method, c->path);
    if (bad) {
        c->state = CALL_INVALID;
        snprintf(c->words, sizeof c->words, "%s", bad);
        loop_timer_set(c->timer, 0);
    } else if (t->auth) {
        begin(c);
    } else {
        c->state = CALL_AUTH;
        loop_timer_set(c->timer, 0); /* nothing is called back, and nothing sent, from here */
    }
    return c;
}

static void op_cancel(struct kube_transport *base, struct kube_call *call) {
    cancel(CONTAINER_OF(base, struct curl_transport, base), call);
}

static void op_free(struct kube_transport *base) {
    struct curl_transport *t = CONTAINER_OF(base, struct curl_transport, base);
    while (t->calls)
        cancel(t, t->calls);
    if (inside(t))
        t->dead = true;
    else
        destroy(t);
}

static const struct kube_transport_ops ops = {
    .start = op_start, .cancel = op_cancel, .free = op_free};

static int make_lanes(struct curl_transport *t, struct err *err) {
    static const struct curl_loop_events events = {.done = done, .after = after};
    for (int i = 0; i < N_LANES; i++) {
        int r = curl_loop_new(t->loop, &events, t, &t->lanes[i], err);
        if (r < 0)
            return r;
        CURLM *multi = curl_loop_multi(t->lanes[i]);
        bool http2 = t->http2 && i == KUBE_LANE_CALL;
        curl_multi_setopt(multi, CURLMOPT_PIPELINING,
                          (long)(http2 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING));
        if (i == KUBE_LANE_WATCH) {
            curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)WATCH_CONNECTIONS);
            continue;
        }
        long most = i == KUBE_LANE_LEASE ? LEASE_CONNECTIONS
                    : http2              ? CALL_CONNECTIONS_HTTP2
                                         : CALL_CONNECTIONS;
        curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, most);
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, most);
    }
    return 0;
}

int kube_transport_curl_new(struct loop *loop, const struct kube_config *config,
                            struct kube_auth *auth, const struct kube_curl_options *opts,
                            const struct log *log, struct kube_transport **out, struct err *err) {
    static const struct kube_curl_options defaults;
    assert(loop_base(loop));
    if (!opts)
        opts = &defaults;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, EIO, "cannot set up HTTP");
    struct curl_transport *t = xnew(struct curl_transport);
    *t = (struct curl_transport){
        .base.ops = &ops,
        .loop = loop,
        .config = config,
        .auth = auth,
        .log = log,
        .trace = {.level = opts->trace >= TRACE_MIN ? opts->trace : 0, .fd = log ? log->fd : -1},
        .user_agent = xstrdup(opts->user_agent ? opts->user_agent : "slipway"),
        .connect_timeout = opts->connect_timeout ? opts->connect_timeout : SEC(CONNECT_TIMEOUT_S),
        .timeout = opts->timeout,
        .http2 = opts->http2,
        .compress = opts->compress && !config->disable_compression,
        .warned = opts->warned,
        .warned_arg = opts->warned_arg,
    };
    int r = curl_target_init(&t->target, config, getenv, err);
    if (!r)
        r = curl_tls_new(config, log, &t->tls, err);
    if (!r) {
        t->share = curl_share_init();
        if (t->share) {
            curl_share_setopt(t->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
            curl_share_setopt(t->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
        }
        r = make_lanes(t, err);
    }
    if (r < 0) {
        destroy(t);
        return r;
    }
    *out = &t->base;
    return 0;
}
