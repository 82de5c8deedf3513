/* The simulated Kubernetes API: a request in, an answer out. Pure: no socket, no clock of its own;
 * the HTTP server (sim/serve.h) and the in-process transport (sim/transport.h) are its faces.
 *
 * An answer is whole, or a stream (long lists, watches) that the face pulls from whenever its
 * client can take more: a client that does not read costs nothing but its place in the history, and
 * when the history has moved on, its watch ends. */
#ifndef SIM_API_API_H
#define SIM_API_API_H

#include "base/str.h"
#include "base/vec.h"
#include "sim/world.h"

struct api;

/* Creates the API over a world, with the namespaces that every cluster has. `speed` is how many
 * simulated seconds pass in one of the clients': the times that clients count by themselves (the
 * length of a watch) are theirs. */
struct api *api_new(struct world *w, double speed);
void api_free(struct api *a); /* before its world; streams must be gone */

/* From now on nobody may read or write this resource, whose group may be "": 403, with `why`. It is
 * in discovery all the same. */
void api_withhold(struct api *a, const char *group, const char *plural, const char *why);

struct api_request {
    const char *method;
    const char *target;                /* path and query, percent-encoded */
    const char *accept, *content_type; /* NULL when absent */
    const char *if_none_match;         /* NULL when absent */
    bool anonymous; /* without credentials: only health and version are for everybody */
    struct view body;
};

enum api_pull {
    API_MORE, /* something was added; ask again */
    API_WAIT, /* nothing now: `wake` will be called when there is */
    API_END,  /* that was all */
};

struct api_stream;
struct api_stream_ops {
    enum api_pull (*pull)(struct api_stream *s, struct str *out);
    void (*free)(struct api_stream *s);
};
struct api_stream {
    const struct api_stream_ops *ops;
    void (*wake)(void *arg); /* may be called at any time, never from within pull */
    void *wake_arg;
};

struct api_reply {
    int code;
    const char *content_type; /* static */
    struct str body;
    struct api_stream *stream; /* the body goes on with this; the receiver frees it */
    bool watch;                /* of the stream: it may last, and wait */
    int retry_after;           /* seconds; 0: no such header */
    char etag[20];             /* "": no such header; else Vary: Accept goes with it */
    VEC(char *) warnings;      /* texts of Warning: 299 headers */
};

#define API_BODY_MAX (3 << 20) /* of a request: kube-apiserver's limit */

void api_serve(struct api *a, const struct api_request *req, struct api_reply *out);
void api_reply_done(struct api_reply *r); /* frees the stream too, if it is still there */

/* Adds up to about 64 KiB. */
static inline enum api_pull api_stream_pull(struct api_stream *s, struct str *out) {
    return s->ops->pull(s, out);
}
static inline void api_stream_free(struct api_stream *s) {
    if (s)
        s->ops->free(s);
}

#endif
