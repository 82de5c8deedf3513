/* Tests of controller/tally.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"
#include "controller/tally.h"
#include "engine/reason.h"

static int setup(void **state) {
    *state = metrics_new(COMPAT_FLEETLOCK | COMPAT_AIRLOCK);
    return 0;
}

static int teardown(void **state) {
    metrics_free(*state);
    return 0;
}

static void has(struct metrics *m, const char *line) {
    _cleanup_str_ struct str out = STR_INIT;
    metrics_write(m, false, &out);
    if (!strstr(str_get(&out), line))
        print_error("no \"%s\" in:\n%s", line, str_get(&out));
    assert_non_null(strstr(str_get(&out), line));
}

static void has_not(struct metrics *m, const char *word) {
    _cleanup_str_ struct str out = STR_INIT;
    metrics_write(m, false, &out);
    assert_null(strstr(str_get(&out), word));
}

static struct keeper_note note(const char *reason, enum maint_phase from, enum maint_phase to) {
    return (struct keeper_note){.policy = "p",
                                .node = "w1",
                                .by = "fleetlock",
                                .operation = "Reboot",
                                .reason = reason,
                                .moves = true,
                                .from = from,
                                .to = to,
                                .since = SEC(100)};
}

static void phases(void **state) {
    struct keeper_note n = note(REASON_DRAINED, MAINT_DRAINING, MAINT_GRANTED);
    tally_note(*state, &n, SEC(110));
    has(*state, "slipway_transitions_total{policy=\"p\",reason=\"Drained\"} 1\n");
    has(*state, "slipway_phase_duration_seconds_sum{policy=\"p\",phase=\"Draining\",outcome="
                "\"ok\"} 10\n");
    n = note("DrainTimedOut", MAINT_DRAINING, MAINT_UNDOING);
    tally_note(*state, &n, SEC(101));
    has(*state, "_sum{policy=\"p\",phase=\"Draining\",outcome=\"cancelled\"} 1\n");
    n = note("OperationFailed", MAINT_OPERATING, MAINT_HALTED);
    tally_note(*state, &n, SEC(102));
    has(*state, "_sum{policy=\"p\",phase=\"Operating\",outcome=\"failed\"} 2\n");
    has_not(*state, "operations_total"); /* none is over */
}

/* A time that is not known, or lies in the future (clocks differ), is none. */
static void times_that_are_not_known(void **state) {
    struct keeper_note n = note(REASON_GRANTED, MAINT_GRANTED, MAINT_OPERATING);
    n.since = 0;
    tally_note(*state, &n, SEC(110));
    n.since = SEC(120);
    tally_note(*state, &n, SEC(110));
    has_not(*state, "phase_duration");
    has(*state, "{policy=\"p\",reason=\"Granted\"} 2\n");
}

static void operations(void **state) {
    struct slot granted = {.granted = 1}, taken = {0};
    struct keeper_note n = note(REASON_SLOT_RELEASED, MAINT_UNCORDONING, MAINT_COMPLETE);
    n.slot = &granted;
    tally_note(*state, &n, SEC(110));
    n.to = MAINT_CANCELLED;
    tally_note(*state, &n, SEC(110));
    n.slot = &taken;
    tally_note(*state, &n, SEC(110));
    n.maintenance = "m1";
    n.slot = &granted;
    tally_note(*state, &n, SEC(110));
    n.to = MAINT_FAILED;
    tally_note(*state, &n, SEC(110));
    n.moves = false; /* told already, by its Maintenance */
    tally_note(*state, &n, SEC(110));
#define OVER "slipway_operations_total{policy=\"p\",operation=\"Reboot\",outcome="
    has(*state, OVER "\"complete\"} 1\n");
    has(*state, OVER "\"same_boot\"} 1\n");
    has(*state, OVER "\"cancelled\"} 2\n");
    has(*state, OVER "\"failed\"} 1\n");
    has(*state, "fleetlock_lock_transition_count{group=\"p\"} 6\n");
}

static void evictions(void **state) {
    static const struct {
        enum action_verb verb;
        enum kube_outcome outcome;
        bool dry_run;
    } done[] = {
        {ACTION_EVICT, KUBE_OK, false},        {ACTION_EVICT, KUBE_OK, true},
        {ACTION_DELETE, KUBE_OK, false},       {ACTION_EVICT, KUBE_NOT_FOUND, false},
        {ACTION_EVICT, KUBE_CONFLICT, false},  {ACTION_EVICT, KUBE_PDB_NO_BUDGET, false},
        {ACTION_EVICT, KUBE_FORBIDDEN, false}, {ACTION_READ, KUBE_OK, false},
    };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        tally_action(
            *state,
            &(struct action){.verb = done[i].verb, .kind = &kind_pod, .dry_run = done[i].dry_run},
            &(struct answer){.outcome = done[i].outcome});
    tally_action(*state, &(struct action){.verb = ACTION_DELETE, .kind = &kind_node},
                 &(struct answer){.outcome = KUBE_OK});
    has(*state, "evictions_total{outcome=\"evicted\"} 1\n");
    has(*state, "evictions_total{outcome=\"forced\"} 1\n");
    has(*state, "evictions_total{outcome=\"gone\"} 2\n");
    has(*state, "evictions_total{outcome=\"refused\"} 1\n");
    has(*state, "evictions_total{outcome=\"error\"} 1\n");
}

static void requests(void **state) {
    tally_request(*state, &(struct kube_seen){.method = "PATCH",
                                              .kind = &kind_node,
                                              .subresource = "status",
                                              .code = 200,
                                              .took = MSEC(20)});
    tally_request(*state, &(struct kube_seen){.method = "GET", .took = SEC(11)});
    has(*state, "api_requests_total{verb=\"patch\",resource=\"nodes/status\",code=\"200\"} 1\n");
    has(*state, "api_requests_total{verb=\"get\",resource=\"other\",code=\"0\"} 1\n");
    has(*state, "_bucket{verb=\"get\",resource=\"other\",le=\"10\"} 0\n");
    has(*state, "_sum{verb=\"patch\",resource=\"nodes/status\"} 0.02\n");
    tally_fleetlock(*state, FLEETLOCK_PRE_REBOOT, FLEETLOCK_SLOTS_FULL, 423);
    tally_fleetlock(*state, FLEETLOCK_STEADY_STATE, FLEETLOCK_OK, 200);
    tally_fleetlock_wait(*state, FLEETLOCK_PRE_REBOOT, MSEC(500));
    has(*state,
        "fleetlock_requests_total{endpoint=\"pre-reboot\",code=\"423\",kind=\"slots_full\"} 1\n");
    has(*state, "fleetlock_requests_total{endpoint=\"steady-state\",code=\"200\",kind=\"ok\"} 1\n");
    has(*state, "fleetlock_request_duration_seconds_sum{endpoint=\"pre-reboot\"} 0.5\n");
    tally_fleetlock(*state, FLEETLOCK_PRE_REBOOT, FLEETLOCK_BAD_PATH, 404);
    has(*state, "fleetlock_requests_total{endpoint=\"other\",code=\"404\",kind=\"");
    tally_turn(*state, MSEC(2));
    has(*state, "slipway_reconcile_duration_seconds_bucket{le=\"0.001\"} 0\n");
    has(*state, "slipway_reconcile_duration_seconds_bucket{le=\"0.0025\"} 1\n");
    has(*state, "slipway_reconcile_duration_seconds_sum 0.002\n");
    has(*state, "\nfleetlock_lock_request_count 1\n");
    has(*state, "\nfleetlock_unlock_request_count 1\n");
    has(*state, "\nairlock_v1_pre_reboot_incoming_requests_total 1\n");
    has(*state, "\nairlock_v1_steady_state_incoming_requests_total 1\n");
}

static void gates(void **state) {
    struct keeper_said s = {
        .policy = "p", .node = "w1", .by = "fleetlock", .gate = "checks", .verdict = MAINT_DENY};
    tally_said(*state, &s);
    s.verdict = MAINT_WAIT;
    s.shut = SEC(30);
    tally_said(*state, &s);
    has_not(*state, "gate_duration"); /* it is still shut */
    s.verdict = MAINT_PASS;
    s.shut = SEC(90);
    tally_said(*state, &s);
    s.shut = 0; /* it never was */
    tally_said(*state, &s);
    has(*state, "slipway_gate_checks_total{policy=\"p\",gate=\"checks\",outcome=\"deny\"} 1\n");
    has(*state, "slipway_gate_checks_total{policy=\"p\",gate=\"checks\",outcome=\"wait\"} 1\n");
    has(*state, "slipway_gate_checks_total{policy=\"p\",gate=\"checks\",outcome=\"pass\"} 2\n");
    has(*state, "slipway_gate_duration_seconds_sum{policy=\"p\",gate=\"checks\"} 90\n");
    has(*state, "slipway_gate_duration_seconds_count{policy=\"p\",gate=\"checks\"} 1\n");
    has_not(*state, "w1"); /* counters end with the process, nodes before */
}

#define TALLY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TALLY_TEST(phases),     TALLY_TEST(times_that_are_not_known),
        TALLY_TEST(operations), TALLY_TEST(evictions),
        TALLY_TEST(requests),   TALLY_TEST(gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
