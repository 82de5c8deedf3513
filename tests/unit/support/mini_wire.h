/* How the tiny API of support/mini_api.h writes pods, lists, events and errors, as JSON and as
 * protobuf. Knows nothing of the decoders' tables. */
#ifndef SUPPORT_MINI_WIRE_H
#define SUPPORT_MINI_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A pod. Its name and namespace follow from its number. */
struct mini_pod {
    bool exists;
    uint64_t version, uid;
    int node, app; /* "n<node>", none when 0; label app=app<app>, none when 0 */
};

enum { MINI_NAME = 32 };

const char *mini_ns(int pod);
const char *mini_name(int pod, char buf[static MINI_NAME]);

struct mini_wire {
    bool protobuf;
};

const char *mini_content_type(const struct mini_wire *w, bool stream);
/* One event of a watch: the pod with this number, or a bookmark (pod -1). */
void mini_event(const struct mini_wire *w, struct str *out, const char *type, int pod,
                const struct mini_pod *p, uint64_t version, bool initial_end);
/* An ERROR event. */
void mini_error(const struct mini_wire *w, struct str *out, int code, const char *reason,
                const char *message);
/* The Status of an answer; always JSON. `cause` may be NULL. */
void mini_status(struct str *out, int code, const char *reason, const char *message,
                 const char *cause, int retry_after);
/* A list of the pods [from, to) that are wanted. */
void mini_list(const struct mini_wire *w, struct str *out, const struct mini_pod *pods,
               const bool *wanted, int from, int to, uint64_t version, const char *token);
/* What no decoder can take for an event, to be sent between two events. */
void mini_garbage(const struct mini_wire *w, struct str *out);

#endif
