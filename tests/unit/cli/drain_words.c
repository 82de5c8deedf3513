/* Tests of cli/drain_words: where nodes stand, the words of notes. */
#include "cli/drain_words.h"

#include "drain_sample.h"

#define NOW (T0 + SEC(1000))

static void phases(void **state) {
    (void)state;
    static const enum drain_standing want[] = {
        [DRAIN_WAITING] = STANDING_WAITING,  [DRAIN_CORDONING] = STANDING_ACTIVE,
        [DRAIN_CHECKING] = STANDING_ACTIVE,  [DRAIN_EVICTING] = STANDING_ACTIVE,
        [DRAIN_DETACHING] = STANDING_ACTIVE, [DRAIN_RETURNING] = STANDING_ACTIVE,
        [DRAIN_UNDOING] = STANDING_ACTIVE,   [DRAIN_DONE] = STANDING_DONE,
        [DRAIN_REFUSED] = STANDING_FAILED,   [DRAIN_TIMED_OUT] = STANDING_FAILED,
        [DRAIN_FAILED] = STANDING_FAILED,    [DRAIN_STOPPED] = STANDING_STOPPED,
    };
    for (enum drain_phase p = DRAIN_WAITING; p <= DRAIN_STOPPED; p++) {
        struct drain_node n = {.name = "w", .phase = p};
        assert_int_equal(drain_standing(&n, NOW), want[p]);
        /* Whatever blocks one that has ended or not begun, it stays what it is. */
        node_block(&n, (struct drain_blocker){.code = BLOCKER_NODE_UNREACHABLE, .since = T0});
        bool at_work = want[p] == STANDING_ACTIVE;
        assert_int_equal(drain_standing(&n, NOW), at_work ? STANDING_BLOCKED : want[p]);
    }
}

static void pods_that_wait_for_each_other(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
    struct drain_pod *mover = pod_add(&f, n, "a", "mover", DRAIN_POD_LEAVING);
    struct drain_pod *waits = pod_add(&f, n, "a", "waits", DRAIN_POD_BLOCKED);
    pod_block(n, waits, PDB_BLOCKER(NOW - SEC(600), 9));
    /* The budget lets one go after the other: that is no blocker, however long it takes. */
    mover->accepted = NOW - SEC(300);
    assert_int_equal(drain_standing(n, NOW), STANDING_ACTIVE);
    /* It is gone, and the next one has a while to follow. */
    mover->state = DRAIN_POD_GONE;
    mover->gone = NOW - SEC(29);
    assert_int_equal(drain_standing(n, NOW), STANDING_ACTIVE);
    assert_int_equal(drain_standing(n, NOW + SEC(1)), STANDING_BLOCKED);
    /* A pod that failed or stays does not move. */
    mover->state = DRAIN_POD_FAILED;
    pod_add(&f, n, "a", "daemon", DRAIN_POD_STAYS);
    assert_int_equal(drain_standing(n, NOW + SEC(1)), STANDING_BLOCKED);
    fleet_done(&f);
}

static void somebody_must_do_something(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
    pod_add(&f, n, "a", "mover", DRAIN_POD_LEAVING)->accepted = NOW;
    struct drain_pod *p = pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED);
    pod_block(n, p, (struct drain_blocker){.code = BLOCKER_MULTIPLE_PDBS, .since = NOW});
    assert_int_equal(drain_standing(n, NOW), STANDING_BLOCKED);
    fleet_done(&f);
}

/* A Job that shall finish is what was asked for. */
static void information_is_no_alarm(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
    struct drain_pod *p = pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED);
    pod_block(n, p, (struct drain_blocker){.code = BLOCKER_JOB_RUNNING, .since = T0});
    assert_int_equal(drain_standing(n, NOW), STANDING_ACTIVE);
    fleet_done(&f);
}

static void volumes_take_a_moment(void **state) {
    (void)state;
    struct drain_node n = {.name = "w", .phase = DRAIN_DETACHING};
    node_block(&n, (struct drain_blocker){.code = BLOCKER_VOLUME_ATTACHED, .since = NOW});
    assert_int_equal(drain_standing(&n, NOW + SEC(29)), STANDING_ACTIVE);
    assert_int_equal(drain_standing(&n, NOW + SEC(30)), STANDING_BLOCKED);
}

static void counts(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    struct drain_counts c = drain_count(fleet_nodes(&f), f.n, NOW);
    assert_int_equal(c.total, 40);
    assert_int_equal(c.of[STANDING_DONE], 10);
    assert_int_equal(c.of[STANDING_FAILED], 2);
    assert_int_equal(c.of[STANDING_BLOCKED], 3);
    assert_int_equal(c.of[STANDING_ACTIVE], 3);
    assert_int_equal(c.of[STANDING_WAITING], 22);
    assert_int_equal(c.of[STANDING_STOPPED], 0);
    assert_int_equal(drain_pods_left(f.nodes[11]), 8);
    f.nodes[11]->gone = 99;
    assert_int_equal(drain_pods_left(f.nodes[11]), 0);
    fleet_done(&f);
}

static void running_times(void **state) {
    (void)state;
    static const struct {
        int64_t sec;
        const char *text;
    } rows[] = {{-5, "0s"},      {0, "0s"},         {59, "59s"},      {60, "1m00s"},
                {182, "3m02s"},  {760, "12m40s"},   {3599, "59m59s"}, {3600, "1h00m"},
                {4800, "1h20m"}, {86399, "23h59m"}, {86400, "1d00h"}, {187200, "2d04h"}};
    char buf[TIMEFMT_LEN];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(time_running(SEC(rows[i].sec), buf), rows[i].text);
    assert_true(strlen(time_running(INT64_MAX, buf)) < TIMEFMT_LEN);
}

static void note_words(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_node *n = fleet_add(&f, "w", DRAIN_EVICTING);
    struct drain_pod *p = pod_add(&f, n, "web", "x", DRAIN_POD_GONE);
    p->first_try = NOW - SEC(8);
    p->gone = NOW;
    struct drain_blocker b = PDB_BLOCKER(NOW - SEC(7), 3);
    static const struct {
        enum drain_note_kind kind;
        enum log_level level;
        const char *text;
        bool detail;
    } rows[] = {
        {NOTE_CORDONED, LOG_INFO, "cordoned", false},
        {NOTE_ALREADY_CORDONED, LOG_INFO, "was cordoned already", false},
        {NOTE_CORDON_FAILED, LOG_ERROR, "cannot be cordoned: T", false},
        {NOTE_UNCORDONED, LOG_INFO, "uncordoned", false},
        {NOTE_PHASE, LOG_INFO, "1 pod to go, 0 stay", false},
        {NOTE_WARNINGS, LOG_WARN, "T", false},
        {NOTE_POD_EVICTING, LOG_INFO, "evicting pod web/x: T", true},
        {NOTE_POD_DELETING, LOG_INFO, "deleting pod web/x: T", true},
        {NOTE_POD_GONE, LOG_INFO, "pod web/x is gone after 8s", true},
        {NOTE_POD_LATE, LOG_WARN, "pod web/x came after the cordon: T", false},
        {NOTE_POD_SKIPPED_WAIT, LOG_WARN, "pod web/x is not waited for: T", false},
        {NOTE_POD_FAILED, LOG_ERROR, "pod web/x: T", false},
        {NOTE_BLOCKED, LOG_WARN,
         "waits: PDBNoBudget web/frontend: needs 3 healthy pods, has 2 of 3", false},
        {NOTE_UNBLOCKED, LOG_INFO, "no longer waits for PDBNoBudget web/frontend after 7s", false},
        {NOTE_ESCALATED, LOG_WARN, "pod web/x: T", false},
        {NOTE_SURGE, LOG_INFO, "pod web/x: T", false},
        {NOTE_REMARK, LOG_INFO, "T", false},
    };
    assert_int_equal(ARRAY_LEN(rows), NOTE_REMARK + 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT, bare = STR_INIT;
        struct drain_note note = {
            .kind = rows[i].kind, .time = NOW, .node = n, .pod = p, .blocker = &b, .text = "T"};
        drain_note_text(&note, &out);
        assert_string_equal(str_get(&out), rows[i].text);
        assert_int_equal(drain_note_level(&note), rows[i].level);
        assert_int_equal(drain_note_is_detail(&note), rows[i].detail);
        /* With nothing in it there is nothing to trip over. */
        struct drain_note empty = {.kind = rows[i].kind};
        drain_note_text(&empty, &bare);
        drain_note_level(&empty);
    }
    fleet_done(&f);
}

static void phase_words(void **state) {
    (void)state;
    struct drain_node n = {.name = "w",
                           .started = T0,
                           .ended = T0 + SEC(182),
                           .error = "E",
                           .total = 3,
                           .gone = 1,
                           .stays = 1};
    static const struct {
        enum drain_phase phase;
        enum log_level level;
        const char *text;
    } rows[] = {
        {DRAIN_EVICTING, LOG_INFO, "3 pods to go, 1 stays"},
        {DRAIN_DONE, LOG_INFO, "done in 3m02s, 1 pod gone"},
        {DRAIN_REFUSED, LOG_ERROR, "E"},
        {DRAIN_TIMED_OUT, LOG_ERROR, "E"},
        {DRAIN_FAILED, LOG_ERROR, "E"},
        {DRAIN_STOPPED, LOG_WARN, "stopped, 2 of 3 pods left"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str out = STR_INIT;
        n.phase = rows[i].phase;
        struct drain_note note = {.kind = NOTE_PHASE, .node = &n};
        drain_note_text(&note, &out);
        assert_string_equal(str_get(&out), rows[i].text);
        assert_int_equal(drain_note_level(&note), rows[i].level);
    }
    _cleanup_str_ struct str out = STR_INIT;
    n.started = 0;
    drain_note_text(&(struct drain_note){.kind = NOTE_PHASE, .node = &n}, &out);
    assert_string_equal(str_get(&out), "stopped before it began");
    /* Every phase has words. */
    for (n.phase = DRAIN_WAITING; n.phase <= DRAIN_STOPPED; n.phase++) {
        str_reset(&out);
        drain_note_text(&(struct drain_note){.kind = NOTE_PHASE, .node = &n}, &out);
        assert_true(out.len > 0);
    }
}

/* Without a message of its own a blocker says what its code means. */
static void blocker_words(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    drain_blocker_text(&(struct drain_blocker){.code = BLOCKER_NODE_NOT_READY}, &out);
    assert_string_equal(str_get(&out),
                        "NodeNotReady: the node is not Ready: its pods may not stop");
}

static void folding(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    _cleanup_str_ struct str out = STR_INIT;
    drain_fold(fleet_nodes(&f), 3, &out);
    assert_string_equal(str_get(&out), "nid[000001-000003]");
    str_reset(&out);
    drain_fold(fleet_nodes(&f), 0, &out);
    assert_string_equal(str_get(&out), "");
    f.nodes[0]->name = "bad\033[2Jname";
    drain_fold(fleet_nodes(&f), 1, &out);
    assert_null(strchr(str_get(&out), '\033'));
    fleet_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases),
        cmocka_unit_test(pods_that_wait_for_each_other),
        cmocka_unit_test(somebody_must_do_something),
        cmocka_unit_test(information_is_no_alarm),
        cmocka_unit_test(volumes_take_a_moment),
        cmocka_unit_test(counts),
        cmocka_unit_test(running_times),
        cmocka_unit_test(note_words),
        cmocka_unit_test(phase_words),
        cmocka_unit_test(blocker_words),
        cmocka_unit_test(folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
