/* The table of gates. */
#include "engine/gate.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/cordon.h"

static enum maint_gate verdict_of(enum check_verdict verdict) {
    return verdict == CHECK_DENY ? MAINT_DENY : verdict == CHECK_WAIT ? MAINT_WAIT : MAINT_PASS;
}

/* What a drain cannot end is no reason to begin one: whoever is denied the operation would hold a
 * slot for nothing. */
static const struct check_finding *worst(const struct gate_question *q) {
    if (q->at == CHECK_OPERATION && !q->operates)
        return NULL;
    const struct check_finding *f = check_worst_finding(q->checks, q->node, q->at);
    if (f || q->at != CHECK_CORDON || !q->operates)
        return f;
    f = check_worst_finding(q->checks, q->node, CHECK_OPERATION);
    return f && f->verdict == CHECK_DENY ? f : NULL;
}

static const char *consent_text(const struct check_finding *f, struct arena *arena) {
    return arena_printf(arena, "%s%s; to do it all the same: spec.skipChecks of the policy",
                        str_empty(f->hint) ? "" : "; ", strna(f->hint));
}

static void ask_checks(const struct gate_question *q, struct arena *arena,
                       struct gate_answer *out) {
    const struct check_finding *f = q->checks ? worst(q) : NULL;
    if (!f)
        return;
    out->verdict = verdict_of(f->verdict);
    out->code = f->code == BLOCKER_CODES ? BLOCKER_CHECK_UNKNOWN : f->code;
    out->object = !f->name           ? ""
                  : str_empty(f->ns) ? arena_printf(arena, "%s", f->name)
                                     : arena_printf(arena, "%s/%s", f->ns, f->name);
    out->message = arena_printf(arena, "%s: %s%s", f->check->name, f->evidence,
                                f->verdict == CHECK_DENY ? consent_text(f, arena) : "");
}

static void ask_approval(const struct gate_question *q, struct arena *arena,
                         struct gate_answer *out) {
    if (!q->approval || q->approved)
        return;
    *out = (struct gate_answer){
        .verdict = MAINT_WAIT,
        .code = BLOCKER_APPROVAL_NEEDED,
        .object = "",
        .message =
            arena_printf(arena, "its policy wants somebody to approve of it: 'slipway approve %s'",
                         strna(q->subject))};
}

/* Found out before the node is drained for nothing. */
static void ask_executor(const struct gate_question *q, struct arena *arena,
                         struct gate_answer *out) {
    if (!q->unfit)
        return;
    *out = (struct gate_answer){.verdict = MAINT_DENY,
                                .code = BLOCKER_EXECUTOR_REFUSED,
                                .object = strna(q->subject),
                                .message = arena_printf(arena, "%s", q->unfit)};
}

/* Whoever cannot read who holds it cordoned cannot cordon it, and would keep a slot for nothing. */
static void ask_cordon(const struct gate_question *q, struct arena *arena,
                       struct gate_answer *out) {
    struct cordon c = {0};
    if (q->there)
        cordon_of(q->there, arena, &c);
    if (c.owner != CORDON_UNREADABLE)
        return;
    *out = (struct gate_answer){
        .verdict = MAINT_WAIT,
        .code = BLOCKER_CHECK_UNKNOWN,
        .object = q->node,
        .message = arena_printf(arena,
                                "it cannot be cordoned, since its annotation " CORDON_ANNOTATION
                                " cannot be read: %s; a newer Slipway may have written it, or it "
                                "has to be removed",
                                strna(c.problem))};
}

const struct gate gates_table[] = {
    {"cordon", "The record of who has cordoned the node can be read.", CHECK_CORDON, ask_cordon},
    {"executor", "Somebody could carry the operation out.", CHECK_CORDON, ask_executor},
    {"checks",
     "Storage systems, databases and quorums can do without the node ('slipway checks' lists "
     "them).",
     CHECK_CORDON | CHECK_OPERATION | CHECK_RETURN, ask_checks},
    {"approval", "Somebody has approved of it, where the policy wants that.", CHECK_CORDON,
     ask_approval},
};
const size_t n_gates = ARRAY_LEN(gates_table);
_Static_assert(ARRAY_LEN(gates_table) <= GATES_MAX, "struct gate_each has no room for them");

const char *gate_word(enum maint_gate verdict) {
    return verdict == MAINT_PASS ? "pass" : verdict == MAINT_WAIT ? "wait" : "deny";
}

enum maint_gate gates_ask(const struct gate_question *q, struct arena *arena,
                          struct gate_answer *out) {
    static const struct gate_answer pass = {.code = BLOCKER_CODES, .object = "", .message = ""};
    struct gate_each each = {0};
    *out = pass;
    for (size_t i = 0; i < n_gates; i++) {
        struct gate_answer one = pass;
        if (!(gates_table[i].when & q->at))
            continue;
        gates_table[i].ask(q, arena, &one);
        each.asked |= 1u << i;
        each.verdicts[i] = one.verdict;
        if (one.verdict > out->verdict)
            *out = one;
    }
    out->each = each;
    return out->verdict;
}
