/* Tests of src/cli/rehearse_json.c: members and their values, as docs/rehearse.md says them. */
#include "cli/rehearse_view.h"
#include "rehearse_sample.h"

static const json_t *at(const json_t *v, const char *path) {
    _cleanup_free_ char *copy = xstrdup(path);
    char *save = NULL;
    for (char *w = strtok_r(copy, ".", &save); w && v; w = strtok_r(NULL, ".", &save))
        v = json_is_array(v) ? json_array_get(v, (size_t)atoi(w)) : json_object_get(v, w);
    if (!v)
        fail_msg("there is no %s", path);
    return v;
}

static void number(const json_t *v, const char *path, double want) {
    double got = json_number_value(at(v, path));
    if (got < want - 1e-9 || got > want + 1e-9)
        fail_msg("%s is %f instead of %f", path, got, want);
}

static void text(const json_t *v, const char *path, const char *want) {
    assert_string_equal(json_string_value(at(v, path)), want);
}

static void test_document(void **state) {
    (void)state;
    struct rehearsal runs[3];
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_str_ struct str out = STR_INIT;
    struct rehearse_sum sum;
    sample_good(&runs[0], 4, 60);
    sample_good(&runs[1], 5, 70);
    sample_bad(&runs[2], 6);
    rehearse_sum(runs, 3, &arena, &sum);
    _cleanup_json_ json_t *unread = json_pack("[{s:s}]", "resource", "jobs.batch");
    const struct rehearse_basis basis = {.source = "f.json",
                                         .taken = SEC(1794729600),
                                         .nodes = 5,
                                         .pods = 40,
                                         .observed = 7,
                                         .start = {.workloads = 3, .assumed = 1},
                                         .stop = {.workloads = 3, .assumed = 2},
                                         .gaps = {.unknown = 1, .invalid = 2},
                                         .unread = unread};
    rehearse_json(&sum, runs, &basis, &out);
    _cleanup_json_ json_t *v = json_loads(str_get(&out), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(v);
    text(v, "schema", "slipway.rehearsal/1.1");
    number(v, "exitCode", EXIT_BLOCKED);
    number(v, "wholeRuns", 2);
    number(v, "haltedRuns", 1);
    number(v, "took.p50", 65);
    text(v, "nodes.1.name", "w2");
    number(v, "nodes.1.drainedRuns", 2);
    text(v, "nodes.1.phase", "draining");
    number(v, "nodes.1.podsLeft", 1);
    assert_true(json_is_null(at(v, "nodes.1.pods.1.gone")));
    text(v, "nodes.1.pods.1.code", "PDBUnsatisfiable");
    number(v, "nodes.0.pods.0.asked", 1);
    text(v, "waits.0.code", "PDBUnsatisfiable");
    number(v, "waits.0.endlessRuns", 1);
    text(v, "waits.0.object", "shop/db");
    number(v, "budgets.0.allowedLeast", 0);
    text(v, "left.0.name", "db-0");
    number(v, "left.0.runs", 1);
    number(v, "runs.2.seed", 6);
    assert_true(json_is_true(at(v, "runs.2.halted")));
    number(v, "runs.0.drained", 2);
    text(v, "basis.taken", "2026-11-15T08:00:00Z");
    number(v, "basis.stopsAssumed", 2);
    number(v, "basis.observations", 7);
    number(v, "basis.objectsNotValid", 2);
    text(v, "basis.unread.0", "jobs.batch");
    sample_done(runs, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
