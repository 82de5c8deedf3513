/* What was reached in a soak of the controller. */
#include "fleet_cover.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "engine/maintenance.h"

/* --- counting --- */

void fleet_cover_way(struct fleet_cover *c, const char *from, const char *to, const char *reason) {
    for (size_t i = 0; i < n_maint_ways && i < COVER_WAYS; i++) {
        const struct maint_way *w = &maint_ways[i];
        if (streq(maint_phases[w->from].word, from) && streq(maint_phases[w->to].word, to) &&
            streq(w->reason, reason)) {
            c->ways[i]++;
            return;
        }
    }
    c->unknown_ways++;
}

/* 0: it is not there. */
static unsigned state_of(const char *word) {
    for (unsigned i = 0; i < SLOT_STATES; i++)
        if (streq(slot_state_word((enum slot_state)i), word))
            return i + 1;
    return 0;
}

void fleet_cover_slot(struct fleet_cover *c, const char *from, const char *to) {
    c->slots[state_of(from)][state_of(to)]++;
}

void fleet_cover_blocker(struct fleet_cover *c, const char *code) {
    for (unsigned i = 0; i < BLOCKER_CODES; i++)
        if (streq(blocker_row((enum blocker_code)i)->name, code))
            c->blockers[i]++;
}

static const char *const rollout_reasons[COVER_ROLLOUTS] = {
    "Progressing", "Paused", "AllPaused", "AllDone", "SomeFailed", "TooManyFailed", "NoNodes",
};

void fleet_cover_rollout(struct fleet_cover *c, const char *reason) {
    for (unsigned i = 0; i < COVER_ROLLOUTS; i++)
        c->rollouts[i] += streq(rollout_reasons[i], reason);
}

void fleet_cover_add(struct fleet_cover *to, const struct fleet_cover *from) {
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *one = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) /* nothing but counts */
        sum[i] += one[i];
}

/* --- what can be reached --- */

/* Ways that no cluster of this soak can go, and why. */
static const struct {
    const char *from, *reason;
} never[] = {
    /* Only one without an object can be asked for no more: its phase is written nowhere. */
    {"Pending", "NotAsked"},
    {"Queued", "NotAsked"},
    {"Draining", "NotAsked"},
    /* A slot is taken by a wish, and only a Queued one has any. */
    {"Pending", "SlotHeld"},
    /* Its rules refuse nothing. */
    {"Draining", "DrainRefused"},
    /* The operations that delete Nodes are nobody's yet. */
    {"Returning", "Removed"},
};

static bool can_be(const struct maint_way *w) {
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (streq(never[i].from, maint_phases[w->from].word) && streq(never[i].reason, w->reason))
            return false;
    return true;
}

/* The first is where there is none. */
static bool slot_can_be(unsigned from, unsigned to) {
    return slot_can(from ? (enum slot_state)(from - 1) : SLOT_STATES,
                    to ? (enum slot_state)(to - 1) : SLOT_STATES);
}

/* --- the table --- */

static bool line(const char *what, uint64_t n, bool wanted) {
    printf("  %-52s %10" PRIu64 "%s\n", what, n, n || !wanted ? "" : "  NEVER");
    return n || !wanted;
}

static bool print_ways(const struct fleet_cover *c) {
    bool complete = true;
    printf("\nways of maintenances\n");
    for (size_t i = 0; i < n_maint_ways; i++) {
        const struct maint_way *w = &maint_ways[i];
        _cleanup_free_ char *text = xasprintf("%s -> %s: %s", maint_phases[w->from].word,
                                              maint_phases[w->to].word, w->reason);
        if (can_be(w) || c->ways[i])
            complete &= line(text, c->ways[i], true);
    }
    if (c->unknown_ways)
        complete = false;
    printf("  of no table: %" PRIu64 "\n", c->unknown_ways);
    return complete;
}

static bool print_slots(const struct fleet_cover *c) {
    bool complete = true;
    printf("\nstates of slots\n");
    for (unsigned from = 0; from < COVER_STATES; from++)
        for (unsigned to = 0; to < COVER_STATES; to++) {
            _cleanup_free_ char *text =
                xasprintf("%s -> %s", from ? slot_state_word((enum slot_state)(from - 1)) : "-",
                          to ? slot_state_word((enum slot_state)(to - 1)) : "-");
            if (slot_can_be(from, to) || c->slots[from][to])
                complete &= line(text, c->slots[from][to], slot_can_be(from, to));
        }
    return complete;
}

static bool is_answer(unsigned question, unsigned kind) {
    return kind == FLEETLOCK_OK || kind == FLEETLOCK_UNAVAILABLE ||
           (question ? kind == FLEETLOCK_NOT_READY
                     : kind == FLEETLOCK_SLOTS_FULL || kind == FLEETLOCK_DRAINING ||
                           kind == FLEETLOCK_BLOCKED);
}

static bool print_answers(const struct fleet_cover *c) {
    bool complete = true;
    printf("\nanswers\n");
    for (unsigned q = 0; q < 2; q++)
        for (unsigned k = 0; k < FLEETLOCK_KINDS; k++) {
            _cleanup_free_ char *text =
                xasprintf("%s: %s", q ? "steady-state" : "pre-reboot", fleetlock_kinds[k].word);
            if (is_answer(q, k) || c->answers[q][k])
                complete &= line(text, c->answers[q][k], is_answer(q, k));
        }
    return complete;
}

bool fleet_cover_table(const struct fleet_cover *c) {
    bool complete = print_ways(c);
    complete &= print_slots(c);
    complete &= print_answers(c);
    printf("\nblockers\n");
    for (unsigned i = 0; i < BLOCKER_CODES; i++)
        if (c->blockers[i] || i == BLOCKER_MAX_UNAVAILABLE || i == BLOCKER_PDB_NO_BUDGET)
            complete &= line(blocker_row((enum blocker_code)i)->name, c->blockers[i], true);
    printf("\nrollouts\n");
    for (unsigned i = 0; i < COVER_ROLLOUTS; i++)
        complete &= line(rollout_reasons[i], c->rollouts[i], true);
    printf("\nacts\n");
    for (unsigned i = 0; i < FLEET_ACTS; i++)
        complete &= line(fleet_act_word((enum fleet_act)i), c->acts[i], true);
    printf("\neverything was reached: %s\n", complete ? "yes" : "no");
    return complete;
}
