/* A kube_transport whose answers are given by the test, on the virtual loop. It keeps every request
 * for inspection, and the request's own `timeout` and `idle`; the promises of kube/transport.h
 * hold.
 *
 * Either a function answers each request as it comes (from the loop, in the turn after
 * kube_start()), or, without one, the test does it itself between two loop_advance(). */
#ifndef SUPPORT_SCRIPT_TRANSPORT_H
#define SUPPORT_SCRIPT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "kube/transport.h"
#include "net/loop.h"

struct script;

/* A request. It stays until the transport is freed. */
struct script_call {
    char *method, *path, *accept, *content_type, *body; /* body and its type may be NULL */
    enum kube_lane lane;
    int64_t timeout, idle;
    int64_t at;     /* loop_now() when it came */
    bool open;      /* neither ended nor cancelled */
    bool cancelled; /* by the one who started it */
    int result;     /* how it ended: 0 or the error */

    /* private */
    struct script *script;
    const struct kube_handler *handler;
    void *arg;
    int code;
    struct loop_timer *deliver, *timeout_timer, *idle_timer;
    struct str value;
};

typedef void script_fn(void *arg, struct script_call *call);

struct script *script_new(struct loop *loop, script_fn *fn, void *arg);
/* To be used, and freed, as any other. */
struct kube_transport *script_transport(struct script *s);

size_t script_len(const struct script *s);
/* By order of arrival, from 0; fails the test when there is no such request. */
struct script_call *script_at(const struct script *s, size_t i);
struct script_call *script_last(const struct script *s);
/* The decoded value of a query parameter, or NULL; valid until the next one of this call. */
const char *script_query(struct script_call *call, const char *key);

/* Answering. What comes for a call that is over is dropped. */
void script_head(struct script_call *call, int code, const char *content_type);
void script_head_full(struct script_call *call, const struct kube_head *head);
void script_data(struct script_call *call, const void *p, size_t len);
void script_text(struct script_call *call, const char *text);
void script_end(struct script_call *call); /* the answer is complete */
void script_fail(struct script_call *call, int error, bool sent, const char *msg);
/* All of an answer. */
void script_reply(struct script_call *call, int code, const char *content_type, const char *body);
void script_reply_full(struct script_call *call, const struct kube_head *head, const void *body,
                       size_t len);

#endif
