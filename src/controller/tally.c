/* Counts what happens. */
#include "controller/tally.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/gate.h"
#include "engine/reason.h"

static double seconds(int64_t usec) {
    return (double)usec / (double)USEC_PER_SEC;
}

/* --- slots and maintenances --- */

/* How the phase that it comes from has ended. */
static const char *phase_outcome(const struct keeper_note *n) {
    switch (n->to) {
    case MAINT_HALTED:
    case MAINT_FAILED:
        return "failed";
    case MAINT_UNDOING:
    case MAINT_CANCELLED:
        return "cancelled";
    default:
        return "ok";
    }
}

/* Of a FleetLock client that was told to go, "cancelled" would be wrong: nobody has. */
static const char *operation_outcome(const struct keeper_note *n) {
    if (n->to == MAINT_COMPLETE)
        return "complete";
    if (n->to == MAINT_FAILED)
        return "failed";
    return !n->maintenance && n->slot && n->slot->granted ? "same_boot" : "cancelled";
}

void tally_note(struct metrics *m, const struct keeper_note *n, int64_t now) {
    METRIC_ADD(m, METRIC_TRANSITIONS, 1, n->policy, n->reason);
    if (streq(n->reason, REASON_SLOT_TAKEN) || streq(n->reason, REASON_SLOT_RELEASED))
        METRIC_ADD(m, METRIC_FLEETLOCK_TRANSITIONS, 1, n->policy);
    if (!n->moves)
        return;
    if (n->since && now >= n->since)
        METRIC_OBSERVE(m, METRIC_PHASE_DURATION, seconds(now - n->since), n->policy,
                       maint_phases[n->from].word, phase_outcome(n));
    if (maint_ended(n->to))
        METRIC_ADD(m, METRIC_OPERATIONS, 1, n->policy, strna(n->operation), operation_outcome(n));
}

/* --- gates --- */

void tally_said(struct metrics *m, const struct keeper_said *said) {
    METRIC_ADD(m, METRIC_GATE_CHECKS, 1, said->policy, said->gate, gate_word(said->verdict));
    if (said->verdict == MAINT_PASS && said->shut)
        METRIC_OBSERVE(m, METRIC_GATE_DURATION, seconds(said->shut), said->policy, said->gate);
}

/* --- pods, and Events --- */

static const char *eviction_outcome(const struct action *a, enum kube_outcome outcome) {
    switch (outcome) {
    case KUBE_OK:
        return a->verb == ACTION_DELETE ? "forced" : "evicted";
    case KUBE_NOT_FOUND:
    case KUBE_CONFLICT: /* another pod of that name */
        return "gone";
    case KUBE_PDB_NO_BUDGET:
    case KUBE_PDB_NOT_OBSERVED:
    case KUBE_PDB_BROKEN:
    case KUBE_PDB_MULTIPLE:
    case KUBE_NOT_YET:
    case KUBE_DENIED:
        return "refused";
    default:
        return "error";
    }
}

void tally_action(struct metrics *m, const struct action *a, const struct answer *answer) {
    if (a->kind == &kind_pod && !a->dry_run &&
        (a->verb == ACTION_EVICT || a->verb == ACTION_DELETE))
        METRIC_ADD(m, METRIC_EVICTIONS, 1, eviction_outcome(a, answer->outcome));
    if (a->kind == &kind_event)
        METRIC_ADD(m, METRIC_EVENTS, 1, answer->outcome == KUBE_OK ? "written" : "failed");
}

/* --- requests --- */

void tally_request(struct metrics *m, const struct kube_seen *s) {
    static const struct {
        const char *method, *verb;
    } verbs[] = {{"GET", "get"},
                 {"POST", "create"},
                 {"PATCH", "patch"},
                 {"PUT", "update"},
                 {"DELETE", "delete"}};
    const char *verb = "other";
    char code[16];
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (streq(s->method, verbs[i].method))
            verb = verbs[i].verb;
    _cleanup_free_ char *resource =
        s->kind ? xasprintf("%s%s%s", s->kind->resource, s->subresource ? "/" : "",
                            strna(s->subresource))
                : xstrdup("other");
    snprintf(code, sizeof code, "%d", s->code);
    METRIC_ADD(m, METRIC_API_REQUESTS, 1, verb, resource, code);
    METRIC_OBSERVE(m, METRIC_API_DURATION, seconds(s->took), verb, resource);
}

static const char *endpoint(enum fleetlock_api api) {
    return api == FLEETLOCK_PRE_REBOOT ? "pre-reboot" : "steady-state";
}

void tally_fleetlock(struct metrics *m, enum fleetlock_api api, enum fleetlock_kind kind,
                     int status) {
    bool locks = api == FLEETLOCK_PRE_REBOOT;
    /* Whoever asks for another path, a scanner for instance, asks for nothing of these. */
    bool other = kind == FLEETLOCK_BAD_PATH;
    char code[16];
    snprintf(code, sizeof code, "%d", status);
    METRIC_ADD(m, METRIC_FLEETLOCK_REQUESTS, 1, other ? "other" : endpoint(api), code,
               fleetlock_kinds[kind].word);
    if (other)
        return;
    metrics_add(m, locks ? METRIC_FLEETLOCK_LOCKS : METRIC_FLEETLOCK_UNLOCKS, 1, NULL);
    metrics_add(m, locks ? METRIC_AIRLOCK_LOCKS : METRIC_AIRLOCK_UNLOCKS, 1, NULL);
}

void tally_fleetlock_wait(struct metrics *m, enum fleetlock_api api, int64_t took) {
    METRIC_OBSERVE(m, METRIC_FLEETLOCK_DURATION, seconds(took), endpoint(api));
}

void tally_turn(struct metrics *m, int64_t took) {
    metrics_observe(m, METRIC_RECONCILE_DURATION, seconds(took), NULL);
}
