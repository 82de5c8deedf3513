/* The life cycle of a maintenance. */
#include "engine/maintenance.h"

#include "base/mem.h"

const char *operation_word(enum operation op) {
    static const char *const words[OPERATIONS] = {
        [OPERATION_DRAIN] = "Drain",       [OPERATION_REBOOT] = "Reboot",
        [OPERATION_SHUTDOWN] = "Shutdown", [OPERATION_UPDATE] = "Update",
        [OPERATION_UPGRADE] = "Upgrade",   [OPERATION_REBUILD] = "Rebuild",
        [OPERATION_REMOVE] = "Remove",
    };
    return words[op];
}

enum operation operation_find(const char *word) {
    for (unsigned i = 0; i < OPERATIONS; i++)
        if (str_same(word, operation_word((enum operation)i)))
            return (enum operation)i;
    return OPERATIONS;
}

const struct maint_phase_row maint_phases[MAINT_PHASES] = {
    [MAINT_PENDING] = {"Pending", "It was asked for; a gate does not let it begin yet.", false},
    [MAINT_QUEUED] = {"Queued", "Its gates are open, and it waits for a slot.", false},
    [MAINT_DRAINING] = {"Draining", "It holds a slot; the node is cordoned and drained.", true},
    [MAINT_DRAINED] = {"Drained", "The node is drained; it may go when its FleetLock client asks.",
                       true},
    [MAINT_GRANTED] = {"Granted", "The node is drained: the operation may begin.", true},
    [MAINT_OPERATING] = {"Operating", "The operation is under way.", true},
    [MAINT_RETURNING] = {"Returning", "The operation is done, and the node has to come back.",
                         false},
    [MAINT_RESTORING] = {"Restoring", "The node is back; what it carried is put in order.", false},
    [MAINT_UNCORDONING] = {"Uncordoning", "The node is being made schedulable again.", false},
    [MAINT_SETTLING] = {"Settling",
                        "The node is in service; its slot is kept until its pods are well.", false},
    [MAINT_HALTED] = {"Halted", "The operation has failed: somebody has to say how it goes on.",
                      false},
    [MAINT_UNDOING] = {"Undoing", "The node is put back to what it was, without the operation.",
                       false},
    [MAINT_COMPLETE] = {"Complete", "Done.", false},
    [MAINT_FAILED] = {"Failed", "Given up; the node is what it was, or gone.", false},
    [MAINT_CANCELLED] = {"Cancelled", "Taken back; the node is what it was.", false},
};

enum maint_phase maint_phase_find(const char *word) {
    for (size_t i = 0; i < MAINT_PHASES; i++)
        if (str_same(word, maint_phases[i].word))
            return (enum maint_phase)i;
    return MAINT_PENDING;
}

/* --- facts --- */

static bool holds(const struct maint_facts *f, enum slot_state state) {
    return f->slot && f->slot->state == state;
}

/* It has been away since the slot was granted. */
static bool rebooted(const struct maint_facts *f) {
    return f->node_there && f->slot && f->slot->granted && !str_empty(f->node_boot) &&
           !streq(f->slot->boot, f->node_boot);
}

/* The operation is to delete the Node. */
static bool deletes(const struct maint_facts *f) {
    return f->operation == OPERATION_REBUILD || f->operation == OPERATION_REMOVE;
}

static bool gone(const struct maint_facts *f) {
    return !f->node_there && !deletes(f);
}

static bool cancelled(const struct maint_facts *f) {
    return f->cancelled;
}

static bool not_asked(const struct maint_facts *f) {
    return !f->asks;
}

static bool has_slot(const struct maint_facts *f) {
    return f->slot;
}

static bool no_slot(const struct maint_facts *f) {
    return !f->slot;
}

/* Or somebody has let it go. */
static bool lost(const struct maint_facts *f) {
    return !f->slot || f->slot->state == SLOT_RETURNED;
}

static bool gates_open(const struct maint_facts *f) {
    return f->to_cordon == MAINT_PASS && !f->paused;
}

static bool gates_shut(const struct maint_facts *f) {
    return f->to_cordon != MAINT_PASS || f->paused;
}

static bool refused(const struct maint_facts *f) {
    return f->drain == MAINT_DRAIN_REFUSED;
}

static bool timed_out(const struct maint_facts *f) {
    return f->drain == MAINT_DRAIN_TIMED_OUT;
}

static bool uncordoned_by_others(const struct maint_facts *f) {
    return f->drain == MAINT_DRAIN_UNCORDONED;
}

/* Any replica tells a client that it may go, and takes its report: both may be written before
 * whoever leads has looked. */
static bool granted(const struct maint_facts *f) {
    return holds(f, SLOT_GRANTED) || holds(f, SLOT_STEADY);
}

/* Nobody can take back what a node was told that goes by itself. One that was to be held drained
 * only may have rebooted meanwhile. */
static bool can_be_taken_back(const struct maint_facts *f) {
    bool begun = f->work != MAINT_WORK_NONE || rebooted(f);
    return f->cancelled && !f->by_request && (!begun || f->operation == OPERATION_DRAIN);
}

/* What somebody else has put into service again is not taken away under his feet; nor is a slot
 * kept for one that was to be held drained, and is not. */
static bool lifted_before(const struct maint_facts *f) {
    bool begun = f->work != MAINT_WORK_NONE || rebooted(f);
    return f->lifted && !f->by_request && (!begun || f->operation == OPERATION_DRAIN);
}

static bool same_boot(const struct maint_facts *f) {
    return holds(f, SLOT_STEADY) && f->same_boot && f->node_there && !rebooted(f);
}

static bool begun(const struct maint_facts *f) {
    return f->operation != OPERATION_DRAIN && f->work != MAINT_WORK_NONE;
}

/* By what the node says: that it is not believed to be Ready is not that it has gone. */
static bool down(const struct maint_facts *f) {
    return f->operation != OPERATION_DRAIN && (f->node_down || rebooted(f));
}

static bool drained(const struct maint_facts *f) {
    return holds(f, SLOT_DRAINED) && f->by_request;
}

static bool drained_no_more(const struct maint_facts *f) {
    return holds(f, SLOT_TAKEN);
}

static bool overdue(const struct maint_facts *f) {
    return f->overdue;
}

/* Of one who goes by itself: it was told to, and may still do so. */
static bool told_in_vain(const struct maint_facts *f) {
    return f->overdue && f->by_request && !rebooted(f);
}

/* A machine that was shut down may be off for as long as somebody wants. Whoever has said that it
 * was done by hand is heard first. */
static bool not_back(const struct maint_facts *f) {
    bool off = f->operation == OPERATION_SHUTDOWN && f->node_down;
    return f->overdue && !off && f->word != MAINT_SAYS_SKIP;
}

/* What was carried out, or what somebody wants ended, and the node has not gone: never on the heels
 * of the command, since a machine that is about to go down looks like one that stays. */
static bool still_up(const struct maint_facts *f) {
    bool doubted = f->work == MAINT_WORK_DONE || f->word || f->cancelled;
    return f->still_up && f->node_ready && doubted && !f->by_request && !f->again && !rebooted(f);
}

/* A command that has failed may have done its work all the same: nothing is done on its heels. */
static bool retried(const struct maint_facts *f) {
    return f->word == MAINT_SAYS_RETRY && !f->cancelled && !f->doubtful && !f->paused;
}

static bool lifted_since(const struct maint_facts *f) {
    return f->lifted && retried(f) && !rebooted(f);
}

/* One that is to be tried again has not begun anew yet. */
static bool failed(const struct maint_facts *f) {
    return f->work == MAINT_WORK_FAILED && !rebooted(f) && !f->again;
}

/* Whoever reboots a machine, or shuts it down, cannot tell that it was done: the node does. One
 * that is off is waited for. */
static bool done(const struct maint_facts *f) {
    if (rebooted(f) || (deletes(f) && !f->node_there))
        return true;
    if (f->operation == OPERATION_SHUTDOWN)
        return f->work != MAINT_WORK_FAILED && f->node_there && !f->node_ready;
    return f->work == MAINT_WORK_DONE && f->operation != OPERATION_REBOOT;
}

static bool skipped(const struct maint_facts *f) {
    return (f->word == MAINT_SAYS_SKIP && !f->doubtful) || (rebooted(f) && f->node_ready);
}

static bool aborted(const struct maint_facts *f) {
    return (f->word == MAINT_SAYS_ABORT || f->cancelled) && f->node_ready && !f->doubtful;
}

/* With software that needs no reboot the boot stays the same. */
static bool back(const struct maint_facts *f) {
    bool reboots = f->operation == OPERATION_REBOOT || f->operation == OPERATION_SHUTDOWN;
    return f->node_there && f->node_ready &&
           (rebooted(f) || f->word == MAINT_SAYS_SKIP || (!reboots && f->work == MAINT_WORK_DONE));
}

static bool removed(const struct maint_facts *f) {
    return f->operation == OPERATION_REMOVE && !f->node_there;
}

static bool restored(const struct maint_facts *f) {
    return f->restored && f->to_return == MAINT_PASS;
}

static bool uncordoned(const struct maint_facts *f) {
    return holds(f, SLOT_RETURNED) && !f->cordoned;
}

/* By another replica, or before what we had written was answered: it may be on its way down. */
static bool told_meanwhile(const struct maint_facts *f) {
    return f->hasty && f->by_request && f->node_there && granted(f);
}

static bool put_back(const struct maint_facts *f) {
    return !f->slot && !f->cordoned;
}

/* --- ways --- */

/* Of one state in the order in which they are tried. */
const struct maint_way maint_ways[] = {
    {MAINT_PENDING, MAINT_DRAINING, "SlotHeld", "It holds a slot already.", has_slot},
    {MAINT_PENDING, MAINT_CANCELLED, "Cancelled", "It was cancelled.", cancelled},
    {MAINT_PENDING, MAINT_CANCELLED, "NotAsked", "Nobody asks for it any more.", not_asked},
    {MAINT_PENDING, MAINT_FAILED, "NodeGone", "Its node is gone.", gone},
    {MAINT_PENDING, MAINT_QUEUED, "GatesOpen", "Every gate lets it begin.", gates_open},

    {MAINT_QUEUED, MAINT_DRAINING, "SlotTaken", "It has got a slot.", has_slot},
    {MAINT_QUEUED, MAINT_CANCELLED, "Cancelled", "It was cancelled.", cancelled},
    {MAINT_QUEUED, MAINT_CANCELLED, "NotAsked", "Nobody asks for it any more.", not_asked},
    {MAINT_QUEUED, MAINT_FAILED, "NodeGone", "Its node is gone.", gone},
    {MAINT_QUEUED, MAINT_PENDING, "GateShut", "A gate has shut, or it was paused.", gates_shut},

    {MAINT_DRAINING, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_DRAINING, MAINT_GRANTED, "Drained", "The grant is written.", granted},
    {MAINT_DRAINING, MAINT_UNDOING, "Cancelled", "It was cancelled.", cancelled},
    {MAINT_DRAINING, MAINT_UNDOING, "NotAsked", "Nobody asks for it any more.", not_asked},
    {MAINT_DRAINING, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_DRAINING, MAINT_UNDOING, "DrainRefused", "The drain was refused.", refused},
    {MAINT_DRAINING, MAINT_UNDOING, "DrainTimedOut", "The drain has taken too long.", timed_out},
    {MAINT_DRAINING, MAINT_UNDOING, "UncordonedByOthers", "Somebody else has uncordoned the node.",
     uncordoned_by_others},

    {MAINT_DRAINING, MAINT_DRAINED, "AwaitsClient",
     "It goes when its FleetLock client asks, which has not come to that yet.", drained},

    {MAINT_DRAINED, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_DRAINED, MAINT_GRANTED, "Drained", "The grant is written.", granted},
    {MAINT_DRAINED, MAINT_UNDOING, "Cancelled", "It was cancelled.", cancelled},
    {MAINT_DRAINED, MAINT_UNDOING, "NotAsked", "Nobody asks for it any more.", not_asked},
    {MAINT_DRAINED, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_DRAINED, MAINT_UNDOING, "UncordonedByOthers", "Somebody else has uncordoned the node.",
     uncordoned_by_others},
    {MAINT_DRAINED, MAINT_DRAINING, "DrainedAnew", "Pods have come to the node since.",
     drained_no_more},
    {MAINT_DRAINED, MAINT_UNDOING, "ClientSilent",
     "Its FleetLock client has not asked within the returnTimeout.", overdue},

    {MAINT_GRANTED, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_GRANTED, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_GRANTED, MAINT_UNDOING, "Cancelled",
     "It was cancelled, and nothing has begun that cannot be taken back.", can_be_taken_back},
    {MAINT_GRANTED, MAINT_UNDOING, "UncordonedByOthers", "Somebody else has uncordoned the node.",
     lifted_before},
    {MAINT_GRANTED, MAINT_UNDOING, "SameBoot",
     "The node has reported that it is steady, and has not rebooted.", same_boot},
    {MAINT_GRANTED, MAINT_OPERATING, "OperationBegun", "The operation has begun.", begun},
    {MAINT_GRANTED, MAINT_OPERATING, "NodeDown", "The node has gone.", down},
    {MAINT_GRANTED, MAINT_HALTED, "NotBack",
     "The node was told to go, and has not rebooted within the returnTimeout.", told_in_vain},

    {MAINT_OPERATING, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_OPERATING, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_OPERATING, MAINT_UNDOING, "SameBoot",
     "The node has reported that it is steady, and has not rebooted.", same_boot},
    {MAINT_OPERATING, MAINT_HALTED, "OperationFailed", "The operation has failed.", failed},
    {MAINT_OPERATING, MAINT_RETURNING, "OperationDone", "The operation is done.", done},
    {MAINT_OPERATING, MAINT_HALTED, "StillUp",
     "The node has stayed up, in the same boot: nothing has come of the operation.", still_up},
    {MAINT_OPERATING, MAINT_HALTED, "NotBack",
     "The node has not come back with a new boot within the returnTimeout.", overdue},

    {MAINT_HALTED, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_HALTED, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_HALTED, MAINT_UNDOING, "UncordonedByOthers",
     "It is to be tried again, and somebody else has uncordoned the node.", lifted_since},
    {MAINT_HALTED, MAINT_OPERATING, "Retried", "Somebody wants it tried again.", retried},
    {MAINT_HALTED, MAINT_RETURNING, "Skipped", "Somebody has done it, or the node itself has.",
     skipped},
    {MAINT_HALTED, MAINT_UNDOING, "Aborted", "Somebody has given it up, and the node is Ready.",
     aborted},

    {MAINT_RETURNING, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_RETURNING, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_RETURNING, MAINT_SETTLING, "Removed", "The node is removed, as was wanted.", removed},
    {MAINT_RETURNING, MAINT_RESTORING, "NodeBack",
     "The node is Ready, with a new boot or as somebody has said.", back},
    {MAINT_RETURNING, MAINT_HALTED, "StillUp",
     "The node has stayed up, in the same boot: nothing has come of the operation.", still_up},
    {MAINT_RETURNING, MAINT_HALTED, "NotBack",
     "The node has not become Ready within the returnTimeout.", not_back},

    {MAINT_RESTORING, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", lost},
    {MAINT_RESTORING, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_RESTORING, MAINT_UNCORDONING, "Restored", "What it carries is in order.", restored},

    {MAINT_UNCORDONING, MAINT_UNDOING, "SlotLost", "Somebody has taken the slot away.", no_slot},
    {MAINT_UNCORDONING, MAINT_UNDOING, "NodeGone", "Its node is gone.", gone},
    {MAINT_UNCORDONING, MAINT_SETTLING, "Uncordoned", "The node is in service.", uncordoned},

    {MAINT_SETTLING, MAINT_COMPLETE, "Released", "The slot is free again.", no_slot},

    {MAINT_UNDOING, MAINT_GRANTED, "GrantedMeanwhile",
     "Its FleetLock client had been told that it may go: nobody can call it back.", told_meanwhile},
    {MAINT_UNDOING, MAINT_CANCELLED, "PutBack", "The node is what it was.", put_back},
    {MAINT_UNDOING, MAINT_FAILED, "PutBack", "The node is what it was.", put_back},
};
const size_t n_maint_ways = ARRAY_LEN(maint_ways);

const struct maint_way *maint_next(enum maint_phase phase, enum maint_phase end,
                                   const struct maint_facts *f) {
    for (size_t i = 0; i < n_maint_ways; i++) {
        const struct maint_way *w = &maint_ways[i];
        bool leads = phase != MAINT_UNDOING || !maint_ended(w->to) || w->to == end;
        if (w->from == phase && leads && w->open(f))
            return w;
    }
    return NULL;
}

size_t maint_ways_on(enum maint_phase phase, enum maint_phase end, const struct maint_facts *f,
                     const struct maint_way *out[MAINT_WAYS_MAX]) {
    const struct maint_way *way = maint_next(phase, end, f);
    size_t n = 0;
    while (way && n < MAINT_WAYS_MAX) {
        out[n++] = way;
        phase = way->to;
        way = NULL;
        if (phase == MAINT_RETURNING || phase == MAINT_RESTORING)
            way = maint_next(phase, end, f);
        if (way && (way->to == MAINT_HALTED || way->to == MAINT_UNDOING))
            break;
    }
    return n;
}

enum maint_phase maint_resume(const struct slot *slot) {
    if (!slot)
        return MAINT_PENDING;
    switch (slot->state) {
    case SLOT_TAKEN:
    case SLOT_DRAINED:
        return MAINT_DRAINING;
    case SLOT_RETURNED:
        return slot->granted ? MAINT_UNCORDONING : MAINT_UNDOING;
    default:
        return MAINT_GRANTED;
    }
}

/* Of one that was told to go. That it is up again in another boot tells that it went, and nobody
 * knows when: not before it was told. */
static struct maint_seen seen_granted(const struct slot *slot, const struct node *node) {
    const struct node_condition *ready =
        node ? node_condition_find(node->conditions, "Ready") : NULL;
    bool same = node && streq(strna(node->meta.uid), slot->uid) &&
                (str_empty(node->info.boot_id) || streq(node->info.boot_id, slot->boot));
    if (same && node_is_ready(node))
        return (struct maint_seen){MAINT_GRANTED, slot->granted};
    bool down = same && ready && !node_is_ready(node);
    return (struct maint_seen){MAINT_OPERATING, MAX_OF(slot->granted, down ? ready->c.changed : 0)};
}

struct maint_seen maint_seen(const struct slot *slot, const struct node *node) {
    switch (slot->state) {
    case SLOT_TAKEN:
        return (struct maint_seen){MAINT_DRAINING, slot->since};
    case SLOT_DRAINED:
        return (struct maint_seen){MAINT_DRAINED, slot->drained};
    case SLOT_GRANTED:
        return seen_granted(slot, node);
    case SLOT_STEADY:
        return (struct maint_seen){MAINT_RETURNING, slot->steady};
    default:
        return (struct maint_seen){slot->granted ? MAINT_UNCORDONING : MAINT_UNDOING, 0};
    }
}

enum maint_phase maint_way_end(const struct maint_way *way) {
    bool wanted = way->open == cancelled || way->open == not_asked ||
                  way->open == can_be_taken_back || way->open == same_boot || way->open == aborted;
    return wanted ? MAINT_CANCELLED : MAINT_FAILED;
}

/* --- acts --- */

/* The slot first, then the Node, then the slot again. */
static enum maint_act put_away(const struct maint_facts *f) {
    if (f->slot && !holds(f, SLOT_RETURNED))
        return MAINT_ACT_RETURN;
    if (f->cordoned && f->node_there)
        return MAINT_ACT_UNCORDON;
    return f->slot ? MAINT_ACT_FREE : MAINT_ACT_NONE;
}

static enum maint_act drain(const struct maint_facts *f) {
    if (f->paused)
        return MAINT_ACT_NONE;
    if (holds(f, SLOT_DRAINED) && f->drain == MAINT_DRAIN_AT_WORK)
        return MAINT_ACT_DRAIN_AGAIN;
    if (holds(f, SLOT_DRAINED)) /* one that goes by itself is granted it when it asks */
        return f->by_request || f->to_operate != MAINT_PASS ? MAINT_ACT_NONE : MAINT_ACT_GRANT;
    if (!holds(f, SLOT_TAKEN))
        return MAINT_ACT_NONE;
    if (f->drain != MAINT_DRAIN_DONE || !f->cordoned)
        return MAINT_ACT_DRAIN;
    return f->to_operate == MAINT_PASS && !str_empty(f->node_boot) ? MAINT_ACT_DRAINED
                                                                   : MAINT_ACT_NONE;
}

/* Once for a request: never in another boot than the one that it was granted to, never on a node
 * that has reported since, nor on one that somebody has uncordoned, or that carries a pod again. */
static enum maint_act operate(const struct maint_facts *f) {
    bool may = holds(f, SLOT_GRANTED) && f->cordoned && !f->lifted && f->node_there &&
               !rebooted(f) && f->to_operate == MAINT_PASS && !f->crowded;
    bool ours = f->operation != OPERATION_DRAIN && !f->by_request;
    bool idle = f->work == MAINT_WORK_NONE || f->again;
    return may && ours && idle && !f->paused && !f->cancelled ? MAINT_ACT_OPERATE : MAINT_ACT_NONE;
}

enum maint_act maint_act(enum maint_phase phase, const struct maint_facts *f) {
    enum maint_act act;
    switch (phase) {
    case MAINT_QUEUED:
        return MAINT_ACT_ASK;
    case MAINT_PENDING:
        return MAINT_ACT_WITHDRAW;
    case MAINT_COMPLETE:
    case MAINT_CANCELLED:
    case MAINT_FAILED: /* a slot that it was given too late is nobody's */
        return f->slot ? put_away(f) : MAINT_ACT_WITHDRAW;
    case MAINT_DRAINING:
    case MAINT_DRAINED:
        return drain(f);
    case MAINT_GRANTED:
    case MAINT_OPERATING:
        return operate(f);
    case MAINT_UNDOING:
        return put_away(f);
    case MAINT_UNCORDONING:
        act = put_away(f);
        return act == MAINT_ACT_FREE ? MAINT_ACT_NONE : act; /* not before it has settled */
    case MAINT_SETTLING:
        return f->settled ? put_away(f) : MAINT_ACT_NONE;
    default:
        return MAINT_ACT_NONE;
    }
}

void maint_dot(struct str *out) {
    str_add(out, "digraph maintenance {\n  node [shape=box];\n");
    for (unsigned i = 0; i < MAINT_PHASES; i++)
        str_addf(out, "  %s%s;\n", maint_phases[i].word,
                 maint_ended((enum maint_phase)i) ? " [style=rounded]"
                 : maint_phases[i].disruptive     ? " [style=bold]"
                                                  : "");
    for (size_t i = 0; i < n_maint_ways; i++)
        str_addf(out, "  %s -> %s [label=\"%s\"];\n", maint_phases[maint_ways[i].from].word,
                 maint_phases[maint_ways[i].to].word, maint_ways[i].reason);
    str_add(out, "}\n");
}
