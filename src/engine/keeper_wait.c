/* What a maintenance with an object of its own waits for: nothing waits silently, and whatever ends
 * at a time says when, and what happens then. */
#include <string.h>

#include "engine/keeper_internal.h"

/* At which gate one stands in that phase; 0: at none. */
static enum check_when gate_in(enum maint_phase phase) {
    return phase <= MAINT_QUEUED                                   ? CHECK_CORDON
           : phase >= MAINT_DRAINING && phase <= MAINT_GRANTED     ? CHECK_OPERATION
           : phase == MAINT_UNCORDONING || phase == MAINT_SETTLING ? CHECK_RETURN
                                                                   : 0;
}

static bool gate_waits(const struct keeper *k, const struct maintenance *m, enum maint_phase phase,
                       struct arena *arena, struct own_wait *out) {
    struct gate_answer answer;
    enum check_when at = gate_in(phase);
    const struct slot *slot = slots_holder(&k->record.slots, m->node);
    /* What the drain itself ends is no matter before it has. */
    const struct drain_node *n = drain_node(k->drain, m->node);
    bool early = phase == MAINT_DRAINING && (!slot || slot->state != SLOT_DRAINED) &&
                 (!n || n->phase != DRAIN_DONE);
    if (!at || early || keeper_upkeep_gate(k, m, at, arena, &answer) == MAINT_PASS)
        return false;
    *out = own_wait_for(answer.code, answer.object, answer.message);
    return true;
}

/* One that is about to get a slot waits for nothing. */
static bool waits_for_slot(struct keeper *k, const struct maintenance *m, struct arena *arena,
                           struct own_wait *out) {
    const struct slot *own = slots_holder(&k->record.slots, m->node);
    const struct node *node = cluster_node(k->cluster, m->node);
    _cleanup_str_ struct str text = STR_INIT;
    enum blocker_code code = BLOCKER_CODES;
    if (own) {
        str_addf(&text, "node %s is out of service for %s: %s", m->node, own->by, own->operation);
        code = BLOCKER_NODE_TAKEN;
    } else if (node) {
        code = keeper_full(k, node, &text);
    }
    if (code == BLOCKER_CODES)
        return false;
    *out = own_wait_for(code, "", arena_strndup(arena, str_get(&text), text.len));
    return true;
}

/* The node cannot be written. */
static bool waits_for_cordon(const struct keeper *k, const struct maintenance *m,
                             const struct slot *slot, struct arena *arena, struct own_wait *out) {
    const struct hold *h = slot ? keeper_hold_of(k, slot->id) : NULL;
    if (!h || !h->problem)
        return false;
    *out = (struct own_wait){.code = BLOCKER_CORDON_FAILED,
                             .object = arena_printf(arena, "node/%s", m->node),
                             .message = arena_printf(arena, "it cannot be %scordoned: %s",
                                                     h->cordons ? "" : "un", h->problem)};
    return true;
}

/* Its pods, or the drain as a whole. */
static bool waits_for_drain(const struct keeper *k, const struct maintenance *m,
                            const struct slot *slot, struct arena *arena, struct own_wait *out) {
    const struct hold *h = slot ? keeper_hold_of(k, slot->id) : NULL;
    if (h && h->unwatched_at && h->unlisted) {
        *out = own_wait_for(h->list.denied ? BLOCKER_FORBIDDEN : BLOCKER_SERVER_TROUBLE,
                            arena_printf(arena, "node/%s", m->node),
                            arena_printf(arena, "its pods cannot be listed: %s", h->unlisted));
        return true;
    }
    const struct drain_node *n = drain_node(k->drain, m->node);
    const struct drain_blocker *b = n ? keeper_blocker_of(n) : NULL;
    if (b)
        *out = own_wait_for(b->code, b->object, b->message);
    else if (n && n->phase == DRAIN_FAILED)
        *out = own_wait_for(
            BLOCKER_SERVER_TROUBLE, arena_printf(arena, "node/%s", m->node),
            arena_printf(arena, "the drain has failed, and is begun again: %s", strna(n->error)));
    else
        return false;
    if (n->deadline) {
        out->deadline = n->deadline;
        out->then = "the drain is given up, and the node is put back into service";
    }
    return true;
}

static bool settles(const struct keeper *k, const struct slot *slot, struct arena *arena,
                    struct own_wait *out) {
    char settle[TIMEFMT_LEN];
    const struct hold *h = slot ? keeper_hold_of(k, slot->id) : NULL;
    if (!k->opts.settle)
        return false;
    *out = own_wait_for(BLOCKER_SOAK_TIME, "",
                        arena_printf(arena, "the slot is free when the node has been back for %s",
                                     duration_format(k->opts.settle, settle)));
    if (h && h->back_at) {
        out->deadline = k->now.wall + (h->back_at + k->opts.settle - k->now.mono);
        out->then = "the slot is free";
    }
    return true;
}

/* What a node that was told to go is seen to do. */
static const char *node_text(const struct maint_facts *f, enum maint_phase phase) {
    if (f->node_down && f->operation == OPERATION_SHUTDOWN && phase == MAINT_RETURNING)
        return "it is off, and is put back into service when somebody has switched it on";
    if (!f->node_there)
        return "it is gone";
    if (!str_same(f->slot->boot, f->node_boot))
        return "it has rebooted, and is not Ready yet";
    if (f->node_down)
        return "it is down, and has not come back with a new boot yet";
    return phase == MAINT_GRANTED ? "it was told that it may go, and is still up"
                                  : "it is still up, in the boot that it was drained in";
}

/* Why one is still there that somebody has deleted, or has said something about. */
static const char *wish_text(const struct keeper *k, const struct maint_facts *f,
                             enum maint_phase phase, struct arena *arena) {
    static const char *const words[] = {
        [MAINT_SAYS_RETRY] = "retry", [MAINT_SAYS_SKIP] = "skip", [MAINT_SAYS_ABORT] = "abort"};
    char time[TIMEFMT_LEN];
    if (!f->cancelled && !f->word)
        return "";
    const char *what = f->cancelled ? "it was deleted, and is gone"
                                    : arena_printf(arena, "'%s' is heard", words[f->word]);
    if (f->doubtful)
        return arena_printf(arena, "; %s in a minute, when it is clear that the node has not gone",
                            what);
    if (phase == MAINT_HALTED && f->paused && f->word == MAINT_SAYS_RETRY)
        return arena_printf(arena, "; %s when it is paused no more", what);
    if (phase == MAINT_HALTED || (phase == MAINT_RETURNING && f->word == MAINT_SAYS_SKIP))
        return arena_printf(arena, "; %s when the node is Ready", what);
    if (f->by_request)
        return arena_printf(arena, "; %s when the node is back, or late: nobody can call it back",
                            what);
    return arena_printf(arena, "; %s when the node is back, or has stayed up for %s", what,
                        duration_format(k->opts.same_boot, time));
}

/* Why it has halted: as it was said when it did, but for the full stop. */
static const char *halt_text(const struct maintenance *m, struct arena *arena) {
    const char *text = "";
    for (size_t i = 0; i < list_len(m->conditions); i++)
        if (str_same(m->conditions[i].c.type, "Progressing"))
            text = strna(m->conditions[i].c.message);
    size_t len = strlen(text);
    return arena_strndup(arena, text, len && text[len - 1] == '.' ? len - 1 : len);
}

/* The node itself, its client, or somebody who says how it goes on. */
static bool waits_for_node(const struct keeper *k, const struct upkeep *u,
                           const struct maintenance *m, enum maint_phase phase,
                           const struct maint_facts *f, struct arena *arena, struct own_wait *out) {
    bool told = phase == MAINT_OPERATING || phase == MAINT_RETURNING ||
                (phase == MAINT_GRANTED && f->by_request);
    bool late = str_same(m->phase_reason, "NotBack");
    const char *text, *then = "it halts: NotBack";
    enum blocker_code code;
    if (phase == MAINT_HALTED) {
        code = late ? BLOCKER_NOT_BACK : BLOCKER_OPERATION_FAILED;
        text = halt_text(m, arena);
    } else if (phase == MAINT_DRAINED) {
        code = BLOCKER_CLIENT_AWAITED;
        text = "it is drained, and its FleetLock client has not asked yet whether it may go";
        then = "the node is put back into service, and the Maintenance has Failed: ClientSilent";
    } else if (told && f->slot) {
        code = BLOCKER_NODE_AWAITED;
        text = node_text(f, phase);
    } else {
        return false;
    }
    int64_t due = keeper_upkeep_due(k, u, m, phase, f);
    *out = (struct own_wait){.code = code,
                             .object = arena_printf(arena, "node/%s", m->node),
                             .message =
                                 arena_printf(arena, "%s%s", text, wish_text(k, f, phase, arena)),
                             .deadline = due,
                             .then = due ? then : NULL};
    return true;
}

bool keeper_upkeep_wait(struct keeper *k, const struct upkeep *u, const struct maintenance *m,
                        enum maint_phase phase, const struct maint_facts *f, struct arena *arena,
                        struct own_wait *out) {
    /* What was told to go does so, paused or not. */
    bool stops = phase <= MAINT_DRAINED || (phase == MAINT_GRANTED && !f->by_request) || f->again;
    bool paused = k->stopped || m->paused == 1;
    if (paused && stops) {
        *out =
            own_wait_for(BLOCKER_MANUAL_HOLD, "", k->stopped ? k->stopped : "spec.paused is true");
        return true;
    }
    if (waits_for_cordon(k, m, f->slot, arena, out))
        return true;
    if ((phase == MAINT_DRAINING || f->crowded) && waits_for_drain(k, m, f->slot, arena, out))
        return true;
    const char *why = phase <= MAINT_QUEUED ? keeper_upkeep_unclear(k, m) : NULL;
    if (why) {
        *out = own_wait_for(BLOCKER_POLICY_UNCLEAR, "", why);
        return true;
    }
    if (gate_waits(k, m, phase, arena, out) || waits_for_node(k, u, m, phase, f, arena, out))
        return true;
    if (phase == MAINT_SETTLING)
        return settles(k, f->slot, arena, out);
    return phase == MAINT_QUEUED && waits_for_slot(k, m, arena, out);
}

enum blocker_code keeper_wish_blocker(struct keeper *k, const struct slot_wish *wish) {
    const struct node *node = cluster_node(k->cluster, wish->node);
    _cleanup_str_ struct str text = STR_INIT;
    if (k->stopped)
        return BLOCKER_MANUAL_HOLD;
    return node ? keeper_full(k, node, &text) : BLOCKER_CODES;
}
