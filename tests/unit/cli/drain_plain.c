/* Tests of cli/drain_plain: a golden run, when blockers are told and told again, signs of life. */
#include "cli/drain_plain.h"

#include "drain_sample.h"

static struct drain_note phase_note(const struct drain_node *n, enum drain_phase before,
                                    int64_t time) {
    return (struct drain_note){.kind = NOTE_PHASE, .node = n, .before = before, .time = time};
}

/* Two nodes and one budget: from the cordon to the end. */
static void golden(void **state) {
    (void)state;
    struct fleet f = {0};
    struct eta eta = {0};
    struct drain_plain p;
    _cleanup_str_ struct str out = STR_INIT;
    drain_plain_init(&p, false, T0);
    drain_plain_say(LOG_INFO, NULL, NULL, "may not watch pods, lists them every 5s", T0, &out);
    struct drain_node *w[] = {fleet_add(&f, "w1", DRAIN_CORDONING),
                              fleet_add(&f, "w2", DRAIN_CORDONING)};
    for (int i = 0; i < 2; i++) {
        struct drain_note note = phase_note(w[i], DRAIN_WAITING, T0 + SEC(1));
        drain_plain_note(&p, &note, &out);
        note = (struct drain_note){
            .kind = i ? NOTE_ALREADY_CORDONED : NOTE_CORDONED, .node = w[i], .time = T0 + SEC(1)};
        drain_plain_note(&p, &note, &out);
        w[i]->started = T0 + SEC(1);
        w[i]->phase = DRAIN_EVICTING;
        pod_add(&f, w[i], "kube-system", "proxy", DRAIN_POD_STAYS);
        struct drain_pod *pod = pod_add(&f, w[i], "web", "frontend-1", DRAIN_POD_QUEUED);
        note = (struct drain_note){.kind = NOTE_WARNINGS,
                                   .node = w[i],
                                   .time = T0 + SEC(2),
                                   .text = "ignoring DaemonSet-managed Pods: kube-system/proxy"};
        drain_plain_note(&p, &note, &out);
        note = phase_note(w[i], DRAIN_CHECKING, T0 + SEC(2));
        drain_plain_note(&p, &note, &out);
        note = (struct drain_note){
            .kind = NOTE_POD_EVICTING, .node = w[i], .pod = pod, .time = T0 + SEC(2)};
        drain_plain_note(&p, &note, &out); /* detail */
        pod_block(w[i], pod, PDB_BLOCKER(T0 + SEC(3), 1));
        note = (struct drain_note){.kind = NOTE_BLOCKED,
                                   .node = w[i],
                                   .pod = pod,
                                   .blocker = &pod->blocker,
                                   .time = T0 + SEC(3)};
        drain_plain_note(&p, &note, &out); /* told by the tick */
    }
    for (int64_t t = 3; t < 1000; t++) {
        w[0]->pods[1]->blocker.attempts = (unsigned)(t / 10);
        drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(t), &out);
    }
    /* One goes, the other is given up. */
    w[0]->pods[1]->blocked = false;
    w[0]->pods[1]->state = DRAIN_POD_GONE;
    w[0]->blocked_pods = 0;
    w[0]->gone = 1;
    w[0]->phase = DRAIN_DONE;
    w[0]->ended = T0 + SEC(1000);
    struct drain_note note = phase_note(w[0], DRAIN_EVICTING, T0 + SEC(1000));
    drain_plain_note(&p, &note, &out);
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(1000), &out);
    w[1]->phase = DRAIN_TIMED_OUT;
    w[1]->error = "not drained within 20m: 1 of 1 pods left";
    note = phase_note(w[1], DRAIN_EVICTING, T0 + SEC(1200));
    drain_plain_note(&p, &note, &out);
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(1200), &out);
    assert_golden("drain-plain.txt", &out);
    drain_plain_done(&p);
    fleet_done(&f);
}

/* What is said about a node that waits, second by second, as "SECOND WORD...". */
static void tick_to(struct drain_plain *p, const struct fleet *f, int64_t from, int64_t to,
                    struct str *log) {
    static const struct eta eta;
    for (int64_t t = from; t < to; t++) {
        _cleanup_str_ struct str out = STR_INIT;
        drain_plain_tick(p, fleet_nodes(f), f->n, &eta, T0 + SEC(t), &out);
        for (const char *line = str_get(&out); *line;) {
            /* time level node phase text */
            const char *text = line;
            for (int i = 0; i < 4; i++)
                text = strchr(text, ' ') + 1;
            const char *node = strchr(strchr(line, ' ') + 1, ' ') + 1;
            size_t len = strcspn(text, ":,");
            str_addf(log, "%d %.*s %.*s\n", (int)t, (int)strcspn(node, " "), node, (int)len, text);
            line += strcspn(line, "\n") + 1;
        }
    }
}

static void repeats(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_plain p;
    _cleanup_str_ struct str log = STR_INIT;
    drain_plain_init(&p, false, T0 + SEC(100000)); /* no sign of life in between */
    p.beat = INT64_MAX / 2;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    pod_block(n, pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED), PDB_BLOCKER(T0, 1));
    for (int64_t t = 0; t < 11000; t++) {
        p.beat = T0 + SEC(t) + SEC(600);
        tick_to(&p, &f, t, t + 1, &log);
    }
    assert_string_equal(str_get(&log), "1 w1 waits\n"
                                       "60 w1 still waits after 1m00s\n"
                                       "300 w1 still waits after 5m00s\n"
                                       "900 w1 still waits after 15m00s\n"
                                       "1800 w1 still waits after 30m00s\n"
                                       "3600 w1 still waits after 1h00m\n"
                                       "7200 w1 still waits after 2h00m\n"
                                       "10800 w1 still waits after 3h00m\n");
    drain_plain_done(&p);
    fleet_done(&f);
}

/* Under a budget pods wait for a moment all the time; nobody wants to read that. */
static void short_waits(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_plain p;
    _cleanup_str_ struct str out = STR_INIT;
    struct eta eta = {0};
    drain_plain_init(&p, false, T0);
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    struct drain_pod *pod = pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED);
    pod_block(n, pod, PDB_BLOCKER(T0, 1));
    drain_plain_tick(&p, fleet_nodes(&f), 1, &eta, T0 + MSEC(900), &out);
    n->blocked_pods = 0;
    pod->blocked = false;
    drain_plain_tick(&p, fleet_nodes(&f), 1, &eta, T0 + MSEC(1900), &out);
    assert_string_equal(str_get(&out), "");
    /* What somebody must do something about is told at once. */
    pod_block(n, pod,
              (struct drain_blocker){
                  .code = BLOCKER_MULTIPLE_PDBS, .object = "a/b", .message = "M", .since = T0});
    drain_plain_tick(&p, fleet_nodes(&f), 1, &eta, T0, &out);
    assert_string_equal(str_get(&out),
                        "2026-11-15T08:00:00Z warn w1 draining blocked: MultiplePDBs a/b: M; 1 "
                        "pod; change the selectors so that one PodDisruptionBudget is left for "
                        "the pod\n");
    drain_plain_done(&p);
    fleet_done(&f);
}

/* One that comes to a blocker that was told is named; one that comes back to it is not. */
static void nodes_join(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_plain p;
    _cleanup_str_ struct str log = STR_INIT;
    drain_plain_init(&p, false, T0);
    for (int i = 0; i < 3; i++) {
        struct drain_node *n = fleet_add(&f, i == 0 ? "w1" : i == 1 ? "w2" : "w3", DRAIN_EVICTING);
        struct drain_pod *pod = pod_add(&f, n, "a", "b", DRAIN_POD_BLOCKED);
        pod_block(n, pod, PDB_BLOCKER(T0, 1));
        n->blocked_pods = i == 1;
        pod->blocked = i == 1;
    }
    tick_to(&p, &f, 0, 10, &log);
    for (int i = 0; i < 3; i += 2)
        f.nodes[i]->blocked_pods = f.nodes[i]->pods[0]->blocked = 1;
    tick_to(&p, &f, 10, 20, &log);
    f.nodes[1]->blocked_pods = f.nodes[1]->pods[0]->blocked = 0;
    tick_to(&p, &f, 20, 25, &log);
    f.nodes[1]->blocked_pods = f.nodes[1]->pods[0]->blocked = 1;
    tick_to(&p, &f, 25, 61, &log);
    for (int i = 0; i < 3; i++)
        f.nodes[i]->blocked_pods = f.nodes[i]->pods[0]->blocked = 0;
    tick_to(&p, &f, 61, 70, &log);
    assert_string_equal(str_get(&log), "1 w2 waits\n"
                                       "10 w[1,3] waits\n"
                                       "60 w[1-3] still waits after 1m00s\n"
                                       "61 w[1-3] no longer waits for PDBNoBudget web/frontend\n");
    drain_plain_done(&p);
    fleet_done(&f);
}

static void signs_of_life(void **state) {
    (void)state;
    struct fleet f;
    struct drain_plain p;
    struct eta eta = {0};
    int64_t now = T0 + SEC(760);
    _cleanup_str_ struct str out = STR_INIT;
    fleet_sample(&f, now);
    for (size_t i = 0; i < f.n; i++) /* nothing blocks */
        f.nodes[i]->blocked_pods = 0;
    drain_plain_init(&p, false, T0);
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(599), &out);
    assert_string_equal(str_get(&out), "");
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(600), &out);
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 + SEC(1199), &out);
    assert_string_equal(
        str_get(&out),
        "2026-11-15T08:10:00Z info - - 6 of 40 draining, 10 done, 2 failed, 10m00s, ? left\n");
    str_reset(&out);
    /* The clock is set back an hour: the next one does not wait for it. */
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 - SEC(3600), &out);
    drain_plain_tick(&p, fleet_nodes(&f), f.n, &eta, T0 - SEC(3000), &out);
    assert_non_null(strstr(str_get(&out), "2026-11-15T07:10:00Z info - - 6 of 40"));
    drain_plain_done(&p);
    fleet_done(&f);
}

static void details(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_plain p;
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_EVICTING);
    struct drain_pod *pod = pod_add(&f, n, "web", "x", DRAIN_POD_SENT);
    struct drain_note note = {.kind = NOTE_POD_EVICTING, .node = n, .pod = pod, .time = T0};
    drain_plain_init(&p, false, T0);
    drain_plain_note(&p, &note, &out);
    assert_string_equal(str_get(&out), "");
    drain_plain_done(&p);
    drain_plain_init(&p, true, T0);
    drain_plain_note(&p, &note, &out);
    assert_string_equal(str_get(&out),
                        "2026-11-15T08:00:00Z info w1 draining evicting pod web/x\n");
    drain_plain_done(&p);
    fleet_done(&f);
}

/* A line is a line, whatever is in it. */
static void hostile(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    drain_plain_say(LOG_ERROR, "w\n1", NULL, "a\nb\033[2J\xff  ", T0, &out);
    assert_string_equal(str_get(&out), "2026-11-15T08:00:00Z error w\\n1 - a\\nb\\x1b[2J\\xff\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),        cmocka_unit_test(repeats),
        cmocka_unit_test(short_waits),   cmocka_unit_test(nodes_join),
        cmocka_unit_test(signs_of_life), cmocka_unit_test(details),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
