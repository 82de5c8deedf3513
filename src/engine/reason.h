/* The reasons of Events, log lines and audit records: one row for each, from which docs/events.md
 * is made. A reason is one word, never changes its meaning, and is what people filter by
 * (`kubectl get events --field-selector reason=DrainBlocked`).
 *
 * Those of a maintenance's ways (engine/maintenance.h) have a row, too, each once. */
#ifndef ENGINE_REASON_H
#define ENGINE_REASON_H

#include <stdbool.h>
#include <stddef.h>

/* Of slots. */
#define REASON_SLOT_TAKEN    "SlotTaken"
#define REASON_DRAINED       "Drained"
#define REASON_DRAINED_AGAIN "DrainedAgain"
#define REASON_GRANTED       "Granted"
#define REASON_STEADY        "Steady"
#define REASON_RETURNING     "Returning"
#define REASON_SLOT_RELEASED "SlotReleased"
#define REASON_SLOT_REFUSED  "SlotRefused"
#define REASON_RECORD_LOST   "RecordLost"
#define REASON_UNLOCKED      "Unlocked"
#define REASON_GATE_SHUT     "GateShut"
#define REASON_GATES_OPEN    "GatesOpen"
#define REASON_APPROVED      "Approved"
/* Of drains and cordons. */
#define REASON_CORDONED        "Cordoned"
#define REASON_UNCORDONED      "Uncordoned"
#define REASON_DRAIN_STARTED   "DrainStarted"
#define REASON_DRAIN_BLOCKED   "DrainBlocked"
#define REASON_DRAIN_UNBLOCKED "DrainUnblocked"
#define REASON_DRAIN_TIMED_OUT "DrainTimedOut"
#define REASON_DRAIN_FAILED    "DrainFailed"
#define REASON_DRAIN_STOPPED   "DrainStopped"
#define REASON_CHECKS_SKIPPED  "ChecksSkipped"

/* Of rollouts; those of their phases are the reasons of their conditions, too. */
#define REASON_NODE_BEGUN     "NodeBegun"
#define REASON_NODE_NOT_BEGUN "NodeNotBegun"
#define REASON_NODE_DONE      "NodeDone"
#define REASON_PROGRESSING    "Progressing"
#define REASON_PAUSED         "Paused"
#define REASON_ALL_PAUSED     "AllPaused"
#define REASON_TOO_MANY       "TooManyFailed"
#define REASON_ALL_DONE       "AllDone"
#define REASON_SOME_FAILED    "SomeFailed"
#define REASON_NO_NODES       "NoNodes"
#define REASON_BAD_NODES      "BadNodes"

/* Of others. */
#define REASON_RIVAL_AT_WORK      "RivalAtWork"
#define REASON_REBOOTED_BY_OTHERS "RebootedByOthers"

/* Where an Event of that reason is written. */
enum reason_place { ON_NODE = 1, ON_MAINTENANCE = 2, ON_ROLLOUT = 4 };

struct reason_row {
    const char *name;
    unsigned places;     /* of enum reason_place */
    bool warning;        /* it may be one: somebody may have to do something */
    const char *meaning; /* a sentence */
};
extern const struct reason_row reason_rows[];
extern const size_t n_reason_rows;

/* NULL: there is none. */
const struct reason_row *reason_find(const char *name);

#endif
