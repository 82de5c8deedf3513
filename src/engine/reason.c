/* The reasons of Events. */
#include "engine/reason.h"

#include "base/mem.h"
#include "base/str.h"

enum { ON_BOTH = ON_NODE | ON_MAINTENANCE };

const struct reason_row reason_rows[] = {
    {REASON_SLOT_TAKEN, ON_BOTH, false,
     "The node holds a slot of its policy: it is cordoned and drained."},
    {REASON_DRAINED, ON_BOTH, false,
     "All pods that can go are gone. Of a slot: the node may go when it asks."},
    {REASON_DRAINED_AGAIN, ON_NODE, true,
     "A pod that must go has come to a drained node: it is not told to go before that has gone."},
    {REASON_GRANTED, ON_NODE, false, "The node was told that it may go."},
    {REASON_STEADY, ON_NODE, false, "A FleetLock client has reported that its node is steady."},
    {REASON_RETURNING, ON_NODE, false, "The node is put back into service."},
    {REASON_SLOT_RELEASED, ON_NODE, false, "The node holds no slot any more."},
    {REASON_SLOT_REFUSED, ON_NODE, true,
     "A slot could not be given to the node; the text says why."},
    {REASON_RECORD_LOST, ON_NODE, true,
     "Somebody has deleted the record of the policy's slots: it is written again, with this one."},
    {REASON_UNLOCKED, ON_NODE, true, "Somebody has let go of the node's slot: slipway unlock."},

    {REASON_CORDONED, ON_NODE, false, "The node takes no new pods; the text says for whom."},
    {REASON_UNCORDONED, ON_BOTH, false, "The node is in service again."},
    {REASON_DRAIN_STARTED, ON_NODE, false, "The drain of the node has begun."},
    {REASON_DRAIN_BLOCKED, ON_NODE, true,
     "The drain waits; the text begins with the code of what it waits for."},
    {REASON_DRAIN_UNBLOCKED, ON_NODE, false, "It does not wait for that any more."},
    {REASON_DRAIN_TIMED_OUT, ON_BOTH, true, "The drain has taken longer than it may."},
    {REASON_DRAIN_FAILED, ON_NODE, true, "The drain has failed, or was refused."},
    {REASON_DRAIN_STOPPED, ON_NODE, false, "The drain was stopped before its end."},
    {REASON_CHECKS_SKIPPED, ON_NODE, true,
     "Somebody did without checks that would have been asked; the text says which, and why."},

    {REASON_PROGRESSING, ON_ROLLOUT, false, "The rollout has begun, or goes on."},
    {REASON_NODE_BEGUN, ON_ROLLOUT, false, "It has made a Maintenance for the next node."},
    {REASON_NODE_NOT_BEGUN, ON_ROLLOUT, true,
     "A Maintenance could not be made; the text says why. It is tried again."},
    {REASON_NODE_DONE, ON_ROLLOUT, false, "A node is done; the text says how many are."},
    {REASON_PAUSED, ON_ROLLOUT, false, "It begins with no further node: spec.paused is true."},
    {REASON_ALL_PAUSED, ON_ROLLOUT, false, "The same: everything is paused (slipway pause --all)."},
    {REASON_TOO_MANY, ON_ROLLOUT, true,
     "More nodes have failed than may: it begins with no further node until somebody helps."},
    {REASON_ALL_DONE, ON_ROLLOUT, false, "It is complete: all of its nodes are done."},
    {REASON_SOME_FAILED, ON_ROLLOUT, true,
     "It is complete, and some of its nodes have failed, no more than may."},
    {REASON_NO_NODES, ON_ROLLOUT, true, "Its nodeSelector selects no node."},
    {REASON_BAD_NODES, ON_ROLLOUT, true, "Its nodes cannot be told; the text says why."},

    {REASON_RIVAL_AT_WORK, ON_NODE, true,
     "Another manager (kured, system-upgrade-controller and the like) is at work on the node."},
    {REASON_REBOOTED_BY_OTHERS, ON_NODE, true,
     "The node has rebooted while it held a slot, and nobody had told it that it may go."},

    {REASON_APPROVED, ON_NODE, false,
     "Somebody has approved of it, where the policy wants that; the text says who and when."},
    {REASON_GATES_OPEN, ON_BOTH, false, "Every gate lets it go on."},
    {REASON_GATE_SHUT, ON_BOTH, true,
     "A gate does not let it go on, or it was paused; the text begins with the code of what it "
     "waits "
     "for."},
    {"SlotHeld", ON_MAINTENANCE, false, "It holds a slot already."},
    {"SlotLost", ON_MAINTENANCE, false, "Somebody has taken its slot away."},
    {"Cancelled", ON_MAINTENANCE, false, "It was cancelled."},
    {"NotAsked", ON_MAINTENANCE, false, "Nobody asks for it any more."},
    {"NodeGone", ON_MAINTENANCE, true, "Its node is gone."},
    {"DrainRefused", ON_MAINTENANCE, false, "The drain was refused."},
    {"UncordonedByOthers", ON_MAINTENANCE, false, "Somebody else has uncordoned the node."},
    {"SameBoot", ON_MAINTENANCE, false,
     "The node has reported that it is steady, and has not rebooted."},
    {"OperationBegun", ON_MAINTENANCE, false, "The operation has begun."},
    {"NodeDown", ON_MAINTENANCE, false, "The node has gone, as it was told that it may."},
    {"AwaitsClient", ON_MAINTENANCE, false,
     "The node is drained, and is told to go when its FleetLock client asks."},
    {"DrainedAnew", ON_MAINTENANCE, false, "Pods have come to the drained node: they go first."},
    {"ClientSilent", ON_MAINTENANCE, true,
     "The node is drained, and its FleetLock client has not asked in time: it is put back."},
    {"GrantedMeanwhile", ON_MAINTENANCE, false,
     "It was to be undone, and its FleetLock client had been told to go: the node is waited for."},
    {"StillUp", ON_MAINTENANCE, true,
     "The node has not rebooted: somebody has to say how it goes on."},
    {"NotBack", ON_MAINTENANCE, true,
     "The node is not back in time: somebody has to look at it, and say how it goes on."},
    {"OperationFailed", ON_MAINTENANCE, true,
     "The operation has failed: somebody has to say how it goes on."},
    {"OperationDone", ON_MAINTENANCE, false, "The operation is done."},
    {"Retried", ON_MAINTENANCE, false, "Somebody wants it tried again."},
    {"Skipped", ON_MAINTENANCE, false, "Somebody has done it, or the node itself has."},
    {"Aborted", ON_MAINTENANCE, false, "Somebody has given it up."},
    {"Removed", ON_MAINTENANCE, false, "The node is removed, as was wanted."},
    {"NodeBack", ON_MAINTENANCE, false, "The node is Ready again."},
    {"Restored", ON_MAINTENANCE, false, "What the node carries is in order."},
    {"Released", ON_MAINTENANCE, false, "The slot is free again: the maintenance is over."},
    {"PutBack", ON_MAINTENANCE, true, "The node is what it was, without the operation."},
};
const size_t n_reason_rows = ARRAY_LEN(reason_rows);

const struct reason_row *reason_find(const char *name) {
    for (size_t i = 0; i < n_reason_rows; i++)
        if (streq(reason_rows[i].name, name))
            return &reason_rows[i];
    return NULL;
}
