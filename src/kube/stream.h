/* Cuts objects out of a response while it arrives: a list item by item, a watch event by event. No
 * more than one object is ever held in memory.
 *
 *     struct stream s;
 *     stream_init(&s, &kind_pod, KUBE_PROTOBUF, STREAM_LIST, pool, &handler, arg);
 *     while (bytes arrive) stream_feed(&s, p, len, &err);
 *     stream_end(&s, &err);   (the response is complete)
 *     stream_done(&s);
 *
 * After an error the stream is unusable but for stream_done(). Wire formats: spec of JSON lists and
 * watches as the API server writes them; protobuf lists are the magic "k8s\0" and an envelope
 * (runtime.Unknown), protobuf watches are frames of a 4-byte big-endian length and a WatchEvent. */
#ifndef KUBE_STREAM_H
#define KUBE_STREAM_H

#include "base/err.h"
#include "kube/codec.h"
#include "model/object.h"

enum {
    /* etcd refuses objects past 1.5 MiB, the API server bodies past 3 MiB; JSON may be somewhat
       larger. */
    STREAM_OBJECT_MAX = 8 << 20,
};

enum stream_mode { STREAM_LIST, STREAM_WATCH };

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

/* Non-zero (a negative errno) stops the stream with that error. */
struct stream_handler {
    /* An item of a list, or the object of a watch event (ADDED for items). The receiver owns it. */
    int (*object)(void *arg, enum watch_type type, struct object *obj);
    /* The Status of an ERROR event; valid during the call. */
    int (*error)(void *arg, const struct status *status);
    /* The same as object(), of one that cannot be read, and why: `obj` has its metadata, and its
     * status where that can be read. NULL: such a one ends the stream. JSON only: what comes in
     * protobuf, the server itself has read into its own types. */
    int (*unread)(void *arg, enum watch_type type, struct object *obj, const char *why);
};

struct stream {
    const struct kind *kind;
    enum kube_format format;
    enum stream_mode mode;
    const struct stream_handler *handler;
    void *arg;
    struct codec codec;
    struct list_meta list; /* of a list, once it was read; references are the stream's */
    bool broken;

    /* The part of an object that has arrived, when it did not arrive at once. */
    struct str part;
    /* JSON: where we are, and where in a value. */
    int state;
    bool comma, saw_items, saw_kind;
    struct str key;
    struct {
        int depth;
        bool started, text, escape, scalar;
    } scan;
    /* Protobuf. */
    unsigned char head[24];
    size_t head_len, want, skip;
    uint64_t raw_left;
    bool in_raw, saw_raw;
    uint32_t number;
};

void stream_init(struct stream *s, const struct kind *kind, enum kube_format format,
                 enum stream_mode mode, struct pool *pool, const struct stream_handler *handler,
                 void *arg);
void stream_done(struct stream *s);
int stream_feed(struct stream *s, const char *p, size_t len, struct err *err);
/* Checks that nothing is missing: a list is whole, a watch ends between two events. */
int stream_end(struct stream *s, struct err *err);

/* The format that a Content-Type names; false for anything else. */
bool kube_format_of(const char *content_type, enum kube_format *format);
/* One object that is in memory as a whole. */
int kube_decode(struct codec *c, const struct kind *kind, enum kube_format format, struct view body,
                struct object **out, struct err *err);
/* A Status; `out` is zeroed first and released with type_release(&type_status, ...). -ENOMSG when
 * the body is an object of another kind or no Kubernetes object at all. */
int kube_decode_status(struct codec *c, enum kube_format format, struct view body,
                       struct status *out, struct err *err);

#endif
