/* An Event as it is written, for all that write them: what a drain, a verb or the controller tells
 * about a Node or a Maintenance. Reasons are those of engine/reason.h. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Of objects that have no namespace. */
#define EVENT_NAMESPACE "default"

enum {
    EVENT_NAME_LEN = 253,
    EVENT_MESSAGE_LEN = 1024, /* bytes: what the server takes of new Events */
};

struct event {
    const char *api_version, *kind, *name; /* of the object that it is about */
    const char *uid;                       /* NULL: its name, as kubelets refer to a Node, and as
                                            * kubectl describe looks for them */
    const char *reason, *message;
    const char *by; /* who tells it; NULL or "": slipway */
    bool warning;
    int64_t at; /* wall clock */
};

/* The same Event has the same name: to write it again after a lost answer makes no second one. */
void event_name(const struct event *e, char out[static EVENT_NAME_LEN + 1]);
void event_body(const struct event *e, const char *name, struct str *out);
/* A merge patch of one that has happened again, for the `count`th time. */
void event_again(const struct event *e, unsigned count, struct str *out);

#endif
