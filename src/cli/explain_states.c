/* The states of maintenances and of slots. */
#include "cli/explain_states.h"

#include "base/mem.h"
#include "cli/text.h"
#include "engine/maintenance.h"

static void add_state(struct str *out, const char *word, const char *meaning, size_t width) {
    _cleanup_free_ char *text = xasprintf("%s: %s", word, meaning);
    str_add(out, "\n");
    text_fill_to(out, text, 0, 4, width);
}

/* `reason` may be "". */
static void add_way(struct str *out, const char *to, const char *reason, const char *meaning,
                    size_t width) {
    _cleanup_free_ char *text =
        xasprintf("-> %s%s%s: %s", to, *reason ? ", " : "", reason, meaning);
    str_add(out, "    ");
    text_fill_to(out, text, 4, 7, width);
}

static void add_maintenance(struct str *out, size_t width) {
    text_fill_to(
        out,
        "The phases of a Maintenance, and the ways between them in the order in which they "
        "are tried, each with its reason:",
        0, 0, width);
    for (unsigned i = 0; i < MAINT_PHASES; i++) {
        add_state(out, maint_phases[i].word, maint_phases[i].meaning, width);
        for (size_t j = 0; j < n_maint_ways; j++)
            if (maint_ways[j].from == i)
                add_way(out, maint_phases[maint_ways[j].to].word, maint_ways[j].reason,
                        maint_ways[j].meaning, width);
    }
}

/* The last is where there is none. */
static const char *const slot_meanings[SLOT_STATES + 1] = {
    [SLOT_TAKEN] = "The node is being cordoned and drained.",
    [SLOT_DRAINED] = "The node is drained, and may be told to go when it asks.",
    [SLOT_GRANTED] = "The node may go.",
    [SLOT_STEADY] = "The node has reported that it is steady; nobody is told to go any more.",
    [SLOT_RETURNED] = "What was changed is being put back.",
    [SLOT_STATES] = "Nobody holds it.",
};

static const char *slot_word(enum slot_state state) {
    return state == SLOT_STATES ? "free" : slot_state_word(state);
}

static void add_slot(struct str *out, size_t width) {
    str_add(out, "\n");
    text_fill_to(out, "The states of a slot:", 0, 0, width);
    for (unsigned i = 0; i <= SLOT_STATES; i++) {
        add_state(out, slot_word((enum slot_state)i), slot_meanings[i], width);
        for (size_t j = 0; j < n_slot_ways; j++)
            if (slot_ways[j].from == i)
                add_way(out, slot_word(slot_ways[j].to), "", slot_ways[j].meaning, width);
    }
}

void explain_states(struct str *out, size_t width) {
    add_maintenance(out, width);
    add_slot(out, width);
}

void explain_states_dot(struct str *out) {
    maint_dot(out);
    slots_dot(out);
}
