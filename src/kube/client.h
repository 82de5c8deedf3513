/* Requests to the API server, one at a time: reads, writes and raw calls, with typed answers.
 *
 * An operation is started with kube_op_start() and ends with exactly one callback from the loop,
 * unless it is cancelled. There are no retries here: whoever decides to act again does so with a
 * new operation. An operation that got no answer says whether it may have been carried out
 * (KUBE_UNKNOWN). Names that Kubernetes could not have (empty, "..", with a slash) are not sent:
 * KUBE_INVALID. */
#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/str.h"
#include "kube/outcome.h"
#include "kube/transport.h"
#include "model/object.h"
#include "net/loop.h"

enum {
    KUBE_BODY_MAX = 16 << 20, /* an answer that is kept in memory as a whole */
};

/* An operation that has ended, for those who count. */
struct kube_seen {
    const char *method;
    const struct kind *kind; /* NULL: a path of its own */
    const char *subresource; /* or NULL */
    int code;                /* 0: there was no answer */
    int64_t took;            /* microseconds */
};

struct kube_client {
    struct kube_transport *transport;
    struct loop *loop;
    struct pool *pool; /* where decoded objects live; made with pool_new(type_drop) */
    const struct log *log;
    int64_t timeout; /* for operations that name none, microseconds; 0: 60 s */
    /* Of the server's clock before ours, by the date of its last answer, which is up to a second
     * old; 0 while that is not known. Operations and reflectors set it. */
    int64_t ahead;
    /* Told of each operation before its own callback is; NULL: nobody counts. */
    void (*seen)(void *arg, const struct kube_seen *seen);
    void *seen_arg;
};

/* Notes what an answer says of the server's clock. */
void kube_client_heard(struct kube_client *c, const struct kube_head *head);

/* How the body of a PATCH is meant. */
enum kube_patch { KUBE_PATCH_JSON, KUBE_PATCH_MERGE, KUBE_PATCH_STRATEGIC };

/* A request. Paths are made from kind, ns, name and subresource, or given as `path`. */
struct kube_op_spec {
    const char *method;      /* "GET" when NULL */
    const struct kind *kind; /* of the path */
    const char *ns, *name, *subresource;
    const char *path;          /* instead of kind, ns, name, subresource */
    const char *query;         /* "a=b&c=d", encoded; may be NULL */
    const char *body;          /* JSON */
    const char *content_type;  /* of the body; application/json when NULL */
    const struct kind *result; /* what a successful answer is decoded as; NULL: kept as bytes */
    enum kube_lane lane;
    int64_t timeout;
};

/* An answer, valid during the callback. */
struct kube_reply {
    enum kube_outcome outcome;
    int code;
    const char *message; /* one sentence for people: the server's or the transport's; never NULL */
    const char *cause;   /* the message of the first cause (a PDB's arithmetic), or NULL */
    int64_t retry_after; /* seconds, -1 */
    int64_t date;        /* the server's clock, 0 when unknown */
    const char *warning; /* or NULL */
    struct object *obj;  /* decoded; take it by setting it to NULL here, else it is freed */
    struct view body;    /* when spec.result was NULL */
    const struct status *status; /* NULL when the answer had none */
};

typedef void kube_reply_fn(void *arg, struct kube_reply *reply);

struct kube_op;
struct kube_op *kube_op_start(struct kube_client *c, const struct kube_op_spec *spec,
                              kube_reply_fn *fn, void *arg);
void kube_op_cancel(struct kube_op *op); /* valid until the callback */

/* The beginning of a body that is no Status, for a message: on one line, printable, maybe "". */
char *kube_snippet(const struct str *body);

/* "/apis/policy/v1/namespaces/x/poddisruptionbudgets/y/status"; ns NULL: all namespaces. */
void kube_path(struct str *out, const struct kind *kind, const char *ns, const char *name,
               const char *subresource);

/* --- writes --- */

struct kube_write {
    const struct kind *kind;
    const char *ns, *name, *subresource;
    bool dry_run;
    const char *field_manager; /* "slipway" when NULL */
    int64_t timeout;
    enum kube_lane lane;
};

/* `name` is not used by create. `json` must carry metadata.resourceVersion for kube_replace() to be
 * a compare-and-swap. */
struct kube_op *kube_create(struct kube_client *c, const struct kube_write *w, const char *json,
                            kube_reply_fn *fn, void *arg);
struct kube_op *kube_replace(struct kube_client *c, const struct kube_write *w, const char *json,
                             kube_reply_fn *fn, void *arg);
struct kube_op *kube_patch(struct kube_client *c, const struct kube_write *w, enum kube_patch how,
                           const char *json, kube_reply_fn *fn, void *arg);

struct kube_delete_options {
    const char *uid, *version; /* preconditions; NULL: none */
    int64_t grace;             /* seconds; negative: the object's own */
    const char *propagation;   /* Background, Foreground, Orphan; NULL: the server's choice */
};
/* The body of such a request, for those who send it by themselves. */
void kube_delete_body(const struct kube_delete_options *opts, bool dry_run, struct str *out);
struct kube_op *kube_delete(struct kube_client *c, const struct kube_write *w,
                            const struct kube_delete_options *opts, kube_reply_fn *fn, void *arg);
/* Evicts w->ns/w->name; the UID is demanded: without it the eviction could hit a replacement. */
struct kube_op *kube_evict(struct kube_client *c, const struct kube_write *w, const char *uid,
                           int64_t grace, kube_reply_fn *fn, void *arg);

/* --- for programs that do one thing after another --- */

/* Runs the loop until the operation has ended. Messages and causes of *reply are copied into
 * `hold`, which must outlive it; take reply->obj with object_free(). */
struct kube_held {
    struct kube_reply reply;
    char *message, *cause, *warning, *body;
};
void kube_run(struct kube_client *c, const struct kube_op_spec *spec, struct kube_held *hold);
void kube_held_done(struct kube_client *c, const struct kind *result, struct kube_held *hold);

#endif
