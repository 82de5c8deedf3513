/* A request on its way: it arrives, is carried out or not, and is answered well, badly or never. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "chaos_internal.h"

/* --- the end of a call --- */

void chaos_call_count(struct kube_call *s) {
    if (s->fault < 0 || s->counted)
        return;
    s->counted = true;
    bool applied = s->req.kind < CHAOS_WRITES && s->applied;
    if (chaos_possible(s->req.kind, s->fault, applied))
        s->chaos->opts.counts->faults[s->req.kind][s->fault][applied]++;
}

void chaos_call_free(struct kube_call *s) {
    if (s->gone)
        *s->gone = true;
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    loop_timer_free(s->timer);
    loop_timer_free(s->limit);
    loop_timer_free(s->quiet);
    api_reply_done(&s->reply);
    for (size_t i = 0; i < s->pieces.len; i++)
        free(s->pieces.p[i].p);
    vec_done(&s->pieces);
    free(s->accept);
    free(s->content_type);
    free(s->method);
    free(s->path);
    free(s->body);
    free(s);
}

void chaos_call_abandon(struct kube_call *s) {
    s->handler = NULL;
    s->overdue = false;
    loop_timer_stop(s->limit);
    if (s->quiet)
        loop_timer_stop(s->quiet);
    /* What has not arrived yet arrives when its time comes: the fault has been drawn. */
    if (s->state == CALL_ON_ITS_WAY && s->applied && s->req.kind < CHAOS_WRITES)
        return;
    chaos_call_free(s);
}

static void finish(struct kube_call *s, int code, int error, bool sent, const char *msg) {
    const struct kube_handler *h = s->handler;
    void *arg = s->arg;
    struct kube_done done = {.code = code, .error = error, .sent = sent, .msg = msg};
    struct chaos *c = s->chaos;
    if (c->opts.hooks.told)
        c->opts.hooks.told(c->opts.hooks.arg, &s->req, error ? 0 : code,
                           s->reply.retry_after ? s->reply.retry_after : -1);
    chaos_known_stream(s);
    chaos_call_count(s);
    chaos_call_abandon(s);
    h->done(arg, &done);
}

/* False when the call is gone. */
static bool tell_head(struct kube_call *s, const struct kube_head *head) {
    if (!s->handler->head)
        return true;
    bool gone = false, *outer = s->gone;
    s->gone = &gone;
    s->handler->head(s->arg, head);
    if (gone)
        return false;
    s->gone = outer;
    return s->handler != NULL;
}

static bool tell_data(struct kube_call *s, const char *p, size_t len) {
    if (!len)
        return true;
    if (s->idle)
        loop_timer_set(s->quiet, s->idle);
    bool gone = false, *outer = s->gone;
    s->gone = &gone;
    int rc = s->handler->data(s->arg, p, len);
    if (gone)
        return false;
    s->gone = outer;
    if (!s->handler)
        return false;
    if (rc)
        finish(s, s->reply.code, rc, true, "the receiver stopped");
    return !rc;
}

/* --- carrying out --- */

static void serve(struct kube_call *s) {
    struct chaos *c = s->chaos;
    struct api_request req = {
        .method = s->method,
        .target = s->path,
        .accept = s->accept,
        .content_type = s->content_type,
        .body = s->req.body,
    };
    pace_catch_up(c->pace);
    if (c->opts.hooks.serving)
        c->opts.hooks.serving(c->opts.hooks.arg, &s->req);
    api_serve(c->api, &req, &s->reply);
    s->served = true;
    s->served_at = chaos_wall(c);
    if (c->opts.hooks.served)
        c->opts.hooks.served(c->opts.hooks.arg, &s->req, &s->reply);
    pace_update(c->pace);
}

/* An answer of our own instead of the server's. */
static void own_answer(struct kube_call *s, int code, const char *reason, const char *message,
                       int retry_after) {
    api_reply_done(&s->reply);
    s->reply = (struct api_reply){
        .code = code, .content_type = "application/json", .retry_after = retry_after};
    str_addf(&s->reply.body,
             "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
             "\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}\n",
             message, reason, code);
    if (s->fault == CHAOS_429_FLOW) {
        s->reply.content_type = "text/plain; charset=utf-8";
        str_reset(&s->reply.body);
        str_add(&s->reply.body, "Too many requests, please try again later.\n");
    }
}

static void forge(struct kube_call *s) {
    struct prng *r = &s->chaos->random;
    switch (s->fault) {
    case CHAOS_409:
        own_answer(s, 409, "Conflict",
                   "Operation cannot be fulfilled on the object: the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   0);
        break;
    case CHAOS_410:
        own_answer(s, 410, "Expired", "too old resource version", 0);
        break;
    case CHAOS_429:
        own_answer(s, 429, "TooManyRequests", "please try again", 0);
        break;
    case CHAOS_429_AFTER:
        own_answer(s, 429, "TooManyRequests", "please try again later", (int)prng_range(r, 1, 20));
        break;
    case CHAOS_429_FLOW:
        own_answer(s, 429, "", "", (int)prng_range(r, 1, 10));
        break;
    case CHAOS_500:
        own_answer(s, 500, "InternalError", "Internal error occurred: etcdserver: leader changed",
                   0);
        break;
    case CHAOS_503:
        own_answer(s, 503, "ServiceUnavailable", "apiserver not ready", 0);
        break;
    case CHAOS_504:
        own_answer(s, 504, "Timeout",
                   "Timeout: request did not complete within requested timeout - context deadline "
                   "exceeded",
                   0);
        break;
    default:
        return;
    }
}

/* --- answering --- */

static void pull(struct kube_call *s);

static void woken(void *arg) {
    struct kube_call *s = arg;
    loop_timer_set(s->timer, 0);
}

static void answer(struct kube_call *s) {
    struct kube_head head = {
        .code = s->reply.code,
        .content_type = s->reply.content_type,
        .retry_after = s->reply.retry_after ? s->reply.retry_after : -1,
        .date = chaos_wall(s->chaos),
        .warning = s->reply.warnings.len ? s->reply.warnings.p[0] : NULL,
        .api_server = true,
        .flow_control = s->fault == CHAOS_429_FLOW,
    };
    if (s->reply.stream) {
        s->state = CALL_STREAMING;
        s->reply.stream->wake = woken;
        s->reply.stream->wake_arg = s;
    }
    if (!tell_head(s, &head))
        return;
    if (s->state == CALL_STREAMING) {
        pull(s);
        return;
    }
    struct str bytes = s->reply.body;
    s->reply.body = STR_INIT;
    bool cut = s->fault == CHAOS_CUT && bytes.len > 1;
    bool there = tell_data(s, bytes.p, cut ? bytes.len / 2 : bytes.len);
    str_done(&bytes);
    if (!there)
        return;
    if (s->reply.code == 200 && !cut)
        chaos_known_list(s);
    if (cut)
        finish(s, s->reply.code, -ECONNRESET, true, "the connection broke (injected)");
    else
        finish(s, s->reply.code, 0, true, NULL);
}

/* Brings what is due of a stream; the rest when its time comes. */
static void pull(struct kube_call *s) {
    int64_t now = chaos_wall(s->chaos), made = s->unread ? s->unread : now;
    while (!s->ended) {
        struct str *body = &s->reply.body;
        enum api_pull state = api_stream_pull(s->reply.stream, body);
        if (body->len) {
            bool lost = s->silent_at && now >= s->silent_at;
            size_t len = body->len;
            *vec_push(&s->pieces) =
                (struct piece){made, lost ? INT64_MAX : now + s->lag, str_take(body), len};
        }
        if (state == API_WAIT)
            break;
        s->ended = state == API_END;
    }
    s->unread = 0;
    while (s->pieces.len && s->pieces.p[0].due <= now) {
        struct piece piece = s->pieces.p[0];
        memmove(s->pieces.p, s->pieces.p + 1, --s->pieces.len * sizeof piece);
        /* An error instead of events tells nothing. */
        bool news = !memmem(piece.p, piece.len, "ERROR", strlen("ERROR"));
        bool there = tell_data(s, piece.p, piece.len);
        free(piece.p);
        if (!there)
            return;
        s->spoke |= news;
    }
    if (s->break_at && now >= s->break_at) {
        finish(s, s->reply.code, -ECONNRESET, true, "the connection broke (injected)");
        return;
    }
    if (s->ended && !s->pieces.len) {
        chaos_known_list(s);
        finish(s, s->reply.code, 0, true, NULL);
        return;
    }
    int64_t next = s->pieces.len ? s->pieces.p[0].due : INT64_MAX;
    if (s->break_at)
        next = MIN_OF(next, s->break_at);
    if (next != INT64_MAX)
        loop_timer_set(s->timer, next - now);
}

static void wish_death(struct chaos *c) {
    if (!c->kill_wanted && c->opts.hooks.kill) {
        c->kill_wanted = true;
        loop_timer_set(c->kill_timer, 0);
    }
}

/* The request has reached the server, or would have. */
static void arrive(struct kube_call *s) {
    struct chaos *c = s->chaos;
    if (s->applied)
        serve(s);
    s->state = CALL_ANSWERED;
    if (!s->handler) { /* nobody waits for an answer */
        chaos_call_free(s);
        return;
    }
    if (c->frozen && (s->fault == CHAOS_REFUSED || s->fault == CHAOS_RESET)) {
        s->state = CALL_SILENT; /* it does not hear of that */
        return;
    }
    switch (s->fault) {
    case CHAOS_REFUSED:
        finish(s, 0, -ECONNREFUSED, false, "connection refused (injected)");
        return;
    case CHAOS_RESET:
        finish(s, 0, -ECONNRESET, true, "the connection broke before an answer came (injected)");
        return;
    case CHAOS_KILLED:
        chaos_call_count(s);
        s->state = CALL_SILENT;
        wish_death(c);
        return;
    case CHAOS_SILENCE:
        if (s->reply.stream) { /* it begins, and then nothing more comes */
            s->silent_at = chaos_wall(c) + MSEC(prng_range(&c->random, 0, 20000));
            break;
        }
        s->state = CALL_SILENT;
        return;
    default:
        break;
    }
    forge(s);
    if (c->opts.no_watch && s->req.kind == CHAOS_WATCH)
        own_answer(s, 403, "Forbidden", "this user cannot watch resource", 0);
    loop_timer_set(s->timer, s->fault == CHAOS_LATE && !s->reply.stream
                                 ? MSEC(prng_range(&c->random, 500, 25000))
                                 : chaos_latency(c));
}

void chaos_call_due(void *arg) {
    struct kube_call *s = arg;
    if (s->state == CALL_ON_ITS_WAY)
        arrive(s);
    else if (s->chaos->frozen)
        return; /* chaos_freeze() looks again */
    else if (s->state == CALL_ANSWERED)
        answer(s);
    else if (s->state == CALL_STREAMING)
        pull(s);
}

void chaos_call_timed_out(void *arg) {
    struct kube_call *s = arg;
    s->overdue = s->chaos->frozen;
    if (s->overdue)
        return;
    finish(s, 0, -ETIMEDOUT, true, "nothing was received in time (injected)");
}
