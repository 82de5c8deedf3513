/* What the JSON and the protobuf side of kube/stream.h share. */
#ifndef KUBE_STREAM_INTERNAL_H
#define KUBE_STREAM_INTERNAL_H

#include "kube/stream.h"

/* Called with the bytes of one whole thing: decode it and hand it on. */
int stream_object(struct stream *s, enum watch_type type, struct view bytes, struct err *err);
int stream_status(struct stream *s, struct view bytes, struct err *err);
int stream_list_meta(struct stream *s, struct view bytes, struct err *err);
int stream_check_list_kind(struct stream *s, struct view kind, struct err *err);
int stream_watch_type(struct view name, enum watch_type *out, struct err *err);

int stream_pb_feed(struct stream *s, const char *p, size_t len, struct err *err);
int stream_pb_end(struct stream *s, struct err *err);
/* Opens the envelope of a body: kind[0] is the kind, kind[1] the apiVersion, `message` the object.
 */
int stream_pb_open(struct view body, struct view kind[2], struct view *message, struct err *err);

#endif
