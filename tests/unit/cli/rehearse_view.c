/* Tests of src/cli/rehearse_view.c. */
#include "cli/rehearse_view.h"
#include "rehearse_sample.h"

#include "base/utf8.h"

static const struct screen ascii = {.columns = 80, .rows = 24};

static size_t widest(const char *text) {
    size_t most = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        _cleanup_free_ char *line = xstrndup(text, (size_t)(end - text));
        most = MAX_OF(most, utf8_width(line));
    }
    return most;
}

static char *text_on(const struct screen *screen, const struct rehearsal *runs, size_t n,
                     const struct rehearse_basis *basis) {
    struct arena arena = ARENA_INIT;
    struct rehearse_sum sum;
    struct str out = STR_INIT;
    rehearse_sum(runs, n, &arena, &sum);
    rehearse_text(&sum, basis, screen, &out);
    arena_done(&arena);
    for (const char *p = str_get(&out); (p = strchr(p, '\n')); p++)
        assert_true(p == str_get(&out) || p[-1] != ' '); /* no blanks at the end of a line */
    return str_take(&out);
}

static char *text_of(const struct rehearsal *runs, size_t n, const struct rehearse_basis *basis) {
    return text_on(&ascii, runs, n, basis);
}

static void test_good(void **state) {
    (void)state;
    struct rehearsal runs[3];
    sample_good(&runs[0], 1, 60);
    sample_good(&runs[1], 2, 70);
    sample_good(&runs[2], 3, 80);
    const struct rehearse_basis basis = {
        .source = "cluster",
        .taken = SEC(1794729600),
        .nodes = 5,
        .pods = 40,
        .observed = 12,
        .ups = 5,
        .start = {.workloads = 2},
        .stop = {.workloads = 2, .assumed = 1},
        .lags = {5, {4100, 8900}, {30000, 61400}, {80000, 80000}, {0}, {0.75, 6}}};
    _cleanup_free_ char *text = text_of(runs, 3, &basis);
    assert_string_equal(
        text, "Rehearsed: 2 nodes would be drained in 1m10s (p10 1m00s, p90 1m20s)\n"
              "Order (of the middle run)\n"
              "       0s to 1m10s    w[1-2]  2 pods\n"
              "Waited for\n"
              " .. PDBNoBudget shop/web  35s (p10 30s, p90 40s), up to 2 pods: needs 2 healthy\n"
              "      of 3\n"
              "Budgets closest to the edge\n"
              "   shop/web  0 of 1 disruption left (needs 2 healthy of 3), none for 35s (p10\n"
              "     30s, p90 40s)\n"
              "Based on the cluster as it was at 2026-11-15T08:00:00Z (5 nodes, 40 pods), 3\n"
              "  runs.\n"
              "How long pods take to end is known for 1 of 2 workloads, from 7 observations in\n"
              "  earlier drains.\n"
              "How long they take to start was seen 5 times in earlier drains.\n"
              "How long pods take to end is assumed for 1 of 2 workloads: from 1s up to their\n"
              "  grace period, in 10s at most, as plan assumes it. A file that 'drain --history\n"
              "  FILE' has written makes it known.\n"
              "A request to the API took 4 to 9 ms, a step of a controller or the scheduler 30\n"
              "  to 61 ms, a budget to be counted anew 80 ms, in 5 earlier drains. How busy it\n"
              "  will be is not known: each run takes 0.75 to 6 times that.\n"
              "Nothing was changed in the cluster.\n");
    sample_done(runs, 3);
}

static void test_assumed(void **state) {
    (void)state;
    struct rehearsal runs[1];
    sample_good(&runs[0], 1, 60);
    const struct rehearse_assumed assumed = {.code = BLOCKER_ROOM_UNKNOWN,
                                             .workload = "shop/Workflow/etl",
                                             .example = "etl-1",
                                             .pods = 2,
                                             .why = "nobody can tell",
                                             .here = "here they are made"};
    struct rehearse_basis basis = {.source = "cluster", .assumed = &assumed, .n_assumed = 1};
    _cleanup_free_ char *text = text_of(runs, 1, &basis);
    assert_non_null(strstr(
        text, "\nAssumed, since it is not known what comes in their place, or where it goes\n"
              " !  RoomUnknown shop/Workflow/etl  2 pods: nobody can tell; here they are "
              "made\n"));
    basis.n_assumed = 0;
    _cleanup_free_ char *none = text_of(runs, 1, &basis);
    assert_null(strstr(none, "Assumed, since"));
    sample_done(runs, 1);
}

static void test_bad(void **state) {
    (void)state;
    struct rehearsal runs[2];
    sample_bad(&runs[0], 1);
    sample_bad(&runs[1], 2);
    _cleanup_json_ json_t *unread =
        json_pack("[{s:s, s:s}, {s:s, s:s}]", "resource", "jobs.batch", "why", "forbidden",
                  "resource", "volumes.longhorn.io", "why", "forbidden");
    const struct rehearse_basis basis = {.source = "f.json\x1b[31m",
                                         .taken = SEC(1794729600),
                                         .nodes = 1,
                                         .pods = 1,
                                         .start = {3, 2, true},
                                         .lags = lags_basis(NULL),
                                         .gaps = {.invalid = 1, .first = "Pod \"x\" is invalid"},
                                         .unread = unread};
    runs[1].moved = 4;
    _cleanup_free_ char *text = text_of(runs, 2, &basis);
    static const char *const pieces[] = {
        "Rehearsed: 1 of 2 nodes would be drained; nothing moves any more after 5s\n",
        "w2  would stay undrained in all 2 runs: 1 of 2 pods left\n",
        "     shop/db-0: PDBUnsatisfiable shop/db: never\n",
        "       0s to 5s       w1  1 pod\n",
        "PDBUnsatisfiable shop/db  never ends, 1 pod: needs 2 healthy of 3\n     -> ",
        "   shop/db  allowed none from the beginning (needs 2 healthy of 3)\n",
        "   shop/web  2 of 4 disruptions left (needs 2 healthy of 3)\n",
        "for 2 of 3 workloads: it is taken\n  from the others.\n",
        "All runs were given up when nothing had moved for 30m00s of the copy's time; a\n"
        "  drain without --timeout would wait on.\n",
        "A request to the API is assumed to take 20 to 400 ms, and what controllers and\n"
        "  scheduler take is in that.\n",
        "The copy was not at rest: 4 pods came or went before the drain began. A rollout\n"
        "  may be under way.\n",
        "Not in the copy, because not valid: 1 object, the first: Pod \"x\" is invalid\n",
        "Not read, and so not in the copy: jobs.batch\n",
        "Not read, and so not in the copy: volumes.longhorn.io. The check that goes by\n"
        "  them waits, as in a drain that cannot read them.\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        if (!strstr(text, pieces[i]))
            fail_msg("\"%s\" is not in:\n%s", pieces[i], text);
    assert_null(strchr(text, '\x1b')); /* names from outside do nothing to the terminal */
    sample_done(runs, 2);
}

/* In some runs only: each says in how many. */
static void test_some(void **state) {
    (void)state;
    struct rehearsal runs[4];
    for (size_t i = 0; i < 3; i++)
        sample_good(&runs[i], i, 60);
    sample_bad(&runs[3], 9);
    const struct rehearse_basis basis = {.source = "cluster", .taken = SEC(1794729600)};
    _cleanup_free_ char *text = text_of(runs, 4, &basis);
    static const char *const pieces[] = {
        "Rehearsed: 2 nodes would be drained in 3 of 4 runs, in 1m00s\n",
        "w2  would stay undrained in 1 of 4 runs: 1 of 2 pods left\n",
        "PDBUnsatisfiable shop/db  never ends, 1 pod in 1 of 4 runs: ",
    };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        if (!strstr(text, pieces[i]))
            fail_msg("\"%s\" is not in:\n%s", pieces[i], text);
    sample_done(runs, 4);
}

/* Long lists are cut, and say so. */
static void test_long(void **state) {
    (void)state;
    struct rehearsal run = {.took = SEC(9), .halted = true, .code = EXIT_BLOCKED};
    for (int i = 0; i < 30; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "b%d", i);
        sample_budget(&run, name, 2, 1, 0);
        sample_wait(&run, BLOCKER_PDB_NO_BUDGET, name, i, 1, false);
    }
    struct rehearsal_node *n = sample_node(&run, "w1", DRAIN_EVICTING, 0, -1);
    for (int i = 0; i < 30; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "p%02d", i);
        sample_pod(n, name, -1, -1, "is terminating");
    }
    const struct rehearse_basis basis = {.source = "cluster"};
    _cleanup_free_ char *text = text_of(&run, 1, &basis);
    assert_non_null(strstr(text, "     and 10 more pods; -o json has them all\n"));
    assert_non_null(strstr(text, "   and 20 more\n"));
    assert_non_null(strstr(text, "   and 20 more; -o json has them all\n"));
    assert_null(strstr(text, "p20"));
    sample_done(&run, 1);
}

/* A check that waits does so for ever, since nobody acts in a copy: not the same as a drain that
 * cannot end. */
static void test_check(void **state) {
    (void)state;
    struct rehearsal run = {.took = SEC(9), .halted = true, .code = EXIT_BLOCKED};
    struct rehearsal_node *n = sample_node(&run, "w1", DRAIN_DETACHING, 0, -1);
    sample_pod(n, "web-a", 4, -1, NULL);
    n->emptied = true;
    sample_wait(&run, BLOCKER_CHECK_UNKNOWN, "store/v", 1800, 0, true);
    str_replace(&run.waits.p[0].message, "longhorn: volume v is attached to w1");
    assert_string_equal(rehearse_check(&run.waits.p[0]), "longhorn");
    const struct rehearse_basis basis = {.source = "cluster"};
    _cleanup_free_ char *text = text_of(&run, 1, &basis);
    static const char *const pieces[] = {
        " !  w1  would be empty, but not drained\n",
        "store/v  does not end here: longhorn: volume v is attached to\n      w1\n",
        "     -> it would wait for that: nobody rebuilds, moves or heals anything in a\n"
        "       rehearsal. How long it takes in the cluster is not known; with\n"
        "       --skip-check longhorn --reason WHY what follows is rehearsed\n",
        "The run was given up when ",
    };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        if (!strstr(text, pieces[i]))
            fail_msg("\"%s\" is not in:\n%s", pieces[i], text);
    str_replace(&run.waits.p[0].message, "longhorning: no");
    assert_null(rehearse_check(&run.waits.p[0]));
    sample_done(&run, 1);
}

/* Whatever the screen, no line is wider; with colours and marks of more than a byte as well. */
static void test_narrow(void **state) {
    (void)state;
    struct rehearsal runs[2];
    sample_good(&runs[0], 1, 4000);
    sample_bad(&runs[1], 2);
    const struct rehearse_basis basis = {.source = "cluster",
                                         .taken = SEC(1794729600),
                                         .observed = 7,
                                         .start = {3, 2, true},
                                         .stop = {.workloads = 2, .assumed = 1},
                                         .gaps = {.invalid = 1, .first = "Pod \"x\" is invalid"}};
    static const int columns[] = {40, 60, 80, 0, 300};
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        struct screen plain = {.columns = columns[i], .utf8 = true}, bright = plain;
        bright.color = true;
        _cleanup_free_ char *text = text_on(&plain, runs, 2, &basis);
        _cleanup_free_ char *bold = text_on(&bright, runs, 2, &basis);
        size_t most = columns[i] == 0 ? 80 : columns[i] == 300 ? 120 : (size_t)columns[i];
        assert_in_range(widest(text), most * 3 / 4, most);
        /* the same but for the colours */
        size_t at = 0;
        for (const char *p = bold; *p; p++) {
            if (*p == '\x1b')
                p += strcspn(p, "m");
            else
                assert_int_equal(*p, text[at++]);
        }
        assert_int_equal(text[at], 0);
    }
    sample_done(runs, 2);
}

/* Names of VolumeAttachments are "csi-" and 64 digits. What fits a line of its own is whole; what
 * is wider than the terminal is cut there, and nowhere else. */
static void test_wide_names(void **state) {
    (void)state;
#define SHORT "csi-0123456789abcdef0123456789abcdef0"
#define WIDE  SHORT "123456789abcdef0123456789abcdef"
    struct rehearsal run;
    sample_bad(&run, 1);
    sample_wait(&run, BLOCKER_VOLUME_ATTACHED, WIDE, 60, 0, true);
    sample_wait(&run, BLOCKER_VOLUME_ATTACHED, SHORT, 60, 0, true);
    sample_budget(&run, WIDE, 1, 0, 60);
    const struct rehearse_basis basis = {.source = "cluster", .taken = SEC(1794729600)};
    for (int columns = 40; columns <= 80; columns++) {
        _cleanup_free_ char *text =
            text_on(&(struct screen){.columns = columns, .utf8 = true}, &run, 1, &basis);
        assert_in_range(widest(text), 1, (size_t)columns);
    }
    _cleanup_free_ char *narrow =
        text_on(&(struct screen){.columns = 40, .utf8 = true}, &run, 1, &basis);
    assert_non_null(strstr(narrow, " ! VolumeStillAttached\n   " SHORT "\n     never ends"));
    assert_non_null(
        strstr(narrow, " ! VolumeStillAttached\n     csi-0123456789abcdef0123456789a…\n"));
    assert_null(strstr(narrow, WIDE));
    _cleanup_free_ char *file = text_on(&(struct screen){.utf8 = true}, &run, 1, &basis);
    assert_non_null(strstr(file, "     " WIDE " "));
    assert_non_null(strstr(file, "shop/" WIDE));
    sample_done(&run, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),   cmocka_unit_test(test_assumed),
        cmocka_unit_test(test_bad),    cmocka_unit_test(test_some),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_check),
        cmocka_unit_test(test_narrow), cmocka_unit_test(test_wide_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
