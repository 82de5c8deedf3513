/* An Event on a Node, for the verbs that change one. Nobody waits for it long, and nothing fails
 * without it. */
#ifndef CLI_NODE_EVENT_H
#define CLI_NODE_EVENT_H

#include "cli/session.h"

struct node_event {
    const char *node;
    const char *reason; /* "Cordoned" */
    const char *message;
    bool warning;
};

/* False when the server did not answer to it: then it will not for the next one either. That it
 * could not be written is told with -v. */
bool node_event_write(struct session *s, const struct node_event *event);

#endif
