/* What a FleetLock client asks, and what it is answered.
 *
 *     POST /v1/pre-reboot, POST /v1/steady-state
 *     fleet-lock-protocol: true
 *     {"client_params":{"id":"...","group":"default"}}
 *
 * The answer is always JSON, {"kind":"...","value":"..."}. Clients take every 2xx for a grant and
 * follow redirects, so that of all the answers there are only those of FLEETLOCK_OK are 2xx, and
 * none is 1xx or 3xx. The kind becomes a label of the metrics of every client: kinds are few and
 * stay what they are. */
#ifndef FLEETLOCK_MESSAGE_H
#define FLEETLOCK_MESSAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

enum { FLEETLOCK_BODY_MAX = 16 << 10 };

enum fleetlock_api {
    FLEETLOCK_PRE_REBOOT,
    FLEETLOCK_STEADY_STATE,
};

struct fleetlock_request {
    enum fleetlock_api api;
    const char *id, *group;
};

enum fleetlock_kind {
    FLEETLOCK_OK, /* the only one that means go */
    /* denied: the policy says with which status */
    FLEETLOCK_SLOTS_FULL,
    FLEETLOCK_DRAINING,
    FLEETLOCK_BLOCKED,
    /* not the request of anybody that we know */
    FLEETLOCK_BAD_METHOD,
    FLEETLOCK_BAD_PATH,
    FLEETLOCK_NO_HEADER,
    FLEETLOCK_TOO_LARGE,
    FLEETLOCK_BAD_REQUEST,
    FLEETLOCK_UNKNOWN_NODE,
    FLEETLOCK_AMBIGUOUS_NODE,
    FLEETLOCK_GROUP_MISMATCH,
    FLEETLOCK_CALLER_MISMATCH,
    FLEETLOCK_RATE_LIMITED,
    /* ours */
    FLEETLOCK_NOT_READY,
    FLEETLOCK_UNAVAILABLE,
    FLEETLOCK_KINDS,
};

struct fleetlock_kind_row {
    const char *word;    /* "slots_full" */
    int status;          /* 0: what the policy says */
    const char *meaning; /* a sentence, for the docs */
};
extern const struct fleetlock_kind_row fleetlock_kinds[FLEETLOCK_KINDS];

struct fleetlock_reply {
    enum fleetlock_kind kind;
    const char *value; /* a sentence for whoever reads the client's log; never empty */
};

/* What came, as HTTP has it. `header` is the value of fleet-lock-protocol, NULL: there was none. */
struct fleetlock_input {
    const char *method, *path, *header;
    struct view body;
    bool too_large;
};

/* True: `req` is one to be answered. False: `reply` is the answer. Texts are the arena's. */
bool fleetlock_read(const struct fleetlock_input *in, struct arena *arena,
                    struct fleetlock_request *req, struct fleetlock_reply *reply);

/* What becomes of a status that HTTP itself refuses a request with. */
enum fleetlock_kind fleetlock_kind_of(int status);

/* Appends the body, and returns the status. `deny_status` is the policy's: 404 or 423. */
int fleetlock_write(const struct fleetlock_reply *reply, int deny_status, struct str *body);

#endif
