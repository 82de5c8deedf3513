/* Tests of cli/drain_json: a golden stream, every line valid whatever is in it. */
#include "cli/drain_json.h"

#include "drain_sample.h"

#include <jansson.h>

#include "cli/exit.h"

#define NOW (T0 + SEC(760))

/* Every line is an object with what all have, seq from 1 without gaps. Returns how many. */
static size_t check_stream(const struct str *out, json_t **last) {
    size_t n = 0;
    for (const char *p = str_get(out); *p;) {
        size_t len = strcspn(p, "\n");
        json_error_t e;
        json_t *line = json_loadb(p, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
        if (!line)
            fail_msg("%s: %.*s", e.text, (int)len, p);
        assert_int_equal(json_integer_value(json_object_get(line, "seq")), ++n);
        assert_string_equal(json_string_value(json_object_get(line, "run")), "r1");
        int64_t ts;
        const char *text = json_string_value(json_object_get(line, "ts"));
        assert_non_null(text);
        assert_true(time_parse(text, strlen(text), &ts));
        assert_true(json_is_string(json_object_get(line, "type")));
        p += len;
        assert_int_equal(*p++, '\n');
        if (!*p && last)
            *last = json_incref(line);
        json_decref(line);
    }
    return n;
}

static void add_note(struct drain_json *j, struct drain_note note, struct str *out) {
    drain_json_note(j, &note, out);
}

static void golden(void **state) {
    (void)state;
    struct fleet f = {0};
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = fleet_add(&f, "w1", DRAIN_WAITING);
    drain_json_hello(&j, T0, false, &out);
    drain_json_node(&j, n, T0 + SEC(1), &out);
    n->phase = DRAIN_CORDONING;
    n->since = n->started = T0 + SEC(2);
    n->deadline = n->started + SEC(600);
    add_note(&j,
             (struct drain_note){
                 .kind = NOTE_PHASE, .node = n, .before = DRAIN_WAITING, .time = T0 + SEC(2)},
             &out);
    add_note(&j, (struct drain_note){.kind = NOTE_CORDONED, .node = n, .time = T0 + MSEC(2500)},
             &out);
    n->phase = DRAIN_EVICTING;
    struct drain_pod *p = pod_add(&f, n, "web", "frontend-7c9d-x2x", DRAIN_POD_SENT);
    p->uid = "2b0c";
    p->owner = "ReplicaSet/frontend-7c9d";
    add_note(
        &j,
        (struct drain_note){.kind = NOTE_POD_EVICTING, .node = n, .pod = p, .time = T0 + SEC(3)},
        &out);
    pod_block(n, p, PDB_BLOCKER(T0 + SEC(3), 1));
    add_note(
        &j,
        (struct drain_note){
            .kind = NOTE_BLOCKED, .node = n, .pod = p, .blocker = &p->blocker, .time = T0 + SEC(3)},
        &out);
    add_note(&j,
             (struct drain_note){.kind = NOTE_REMARK, .time = T0 + SEC(4), .text = "a \"remark\""},
             &out);
    drain_json_log(&j, LOG_WARN, "stopping", T0 + SEC(9), &out);
    n->phase = DRAIN_TIMED_OUT;
    n->ended = n->since = T0 + SEC(602);
    n->error = "not drained within 10m: 1 of 1 pods left";
    p->blocker.attempts = 40;
    add_note(&j,
             (struct drain_note){
                 .kind = NOTE_PHASE, .node = n, .before = DRAIN_EVICTING, .time = n->ended},
             &out);
    drain_json_summary(&j, fleet_nodes(&f), f.n, EXIT_BLOCKED, T0, T0 + SEC(602), &out);
    assert_int_equal(check_stream(&out, NULL), 10);
    /* The one thing in it that changes with every release. */
    _cleanup_str_ struct str text = STR_INIT;
    const char *version = strstr(str_get(&out), "\"version\":\"" SLIPWAY_VERSION "\"");
    assert_non_null(version);
    str_addn(&text, str_get(&out), (size_t)(version - str_get(&out)));
    str_addf(&text, "\"version\":\"*\"%s", version + strlen("\"version\":\"" SLIPWAY_VERSION "\""));
    assert_golden("drain-events.ndjson", &text);
    fleet_done(&f);
}

/* Every kind of note makes a line of its own, also when it has next to nothing in it. */
static void every_note(void **state) {
    (void)state;
    struct fleet f;
    fleet_sample(&f, NOW);
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_node *n = f.nodes[12];
    struct drain_pod *p = n->pods[0];
    struct drain_blocker b = PDB_BLOCKER(T0, 1);
    size_t lines = 0;
    for (enum drain_note_kind k = NOTE_CORDONED; k <= NOTE_REMARK; k++, lines += 2) {
        add_note(&j,
                 (struct drain_note){
                     .kind = k, .node = n, .pod = p, .blocker = &b, .text = "t", .time = T0},
                 &out);
        add_note(&j, (struct drain_note){.kind = k}, &out);
    }
    assert_int_equal(check_stream(&out, NULL), lines);
    fleet_done(&f);
}

static void summary(void **state) {
    (void)state;
    struct fleet f;
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    json_t *line = NULL;
    fleet_sample(&f, NOW);
    drain_json_summary(&j, fleet_nodes(&f), f.n, EXIT_PARTIAL, T0, NOW, &out);
    assert_int_equal(check_stream(&out, &line), 1);
    assert_string_equal(json_string_value(json_object_get(line, "type")), "summary");
    assert_int_equal(json_integer_value(json_object_get(line, "exit")), 6);
    assert_string_equal(json_string_value(json_object_get(line, "result")), "partial");
    assert_int_equal(json_integer_value(json_object_get(line, "elapsedMs")), 760000);
    json_t *drained = json_object_get(json_object_get(line, "phases"), "drained");
    assert_string_equal(json_string_value(json_object_get(drained, "nodes")), "nid[000002-000011]");
    assert_int_equal(json_integer_value(json_object_get(drained, "count")), 10);
    assert_int_equal(json_array_size(json_object_get(line, "remaining")), 18);
    assert_int_equal(json_array_size(json_object_get(line, "errors")), 2);
    assert_null(json_object_get(line, "remainingOmitted"));
    json_decref(line);
    /* It ended before the nodes were known. */
    str_reset(&out);
    j.seq = 0;
    drain_json_summary(&j, NULL, 0, EXIT_ACCESS, NOW, T0, &out);
    assert_int_equal(check_stream(&out, &line), 1);
    assert_string_equal(json_string_value(json_object_get(line, "result")), "access");
    assert_int_equal(json_integer_value(json_object_get(line, "elapsedMs")), 0);
    assert_null(json_object_get(line, "error"));
    json_decref(line);
    str_reset(&out);
    j.seq = 0;
    j.error = "cannot reach it\n\xff";
    drain_json_summary(&j, NULL, 0, EXIT_ACCESS, NOW, T0, &out);
    assert_int_equal(check_stream(&out, &line), 1);
    assert_string_equal(json_string_value(json_object_get(line, "error")),
                        "cannot reach it\n\xef\xbf\xbd");
    json_decref(line);
    fleet_done(&f);
}

/* The engine's notes have the time of its step. */
static void time_never_goes_back(void **state) {
    (void)state;
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    char buf[TIMEFMT_LEN];
    drain_json_log(&j, LOG_INFO, "a", NOW, &out);
    str_reset(&out);
    drain_json_log(&j, LOG_INFO, "b", NOW - 5, &out);
    assert_non_null(strstr(str_get(&out), time_format(NOW, true, buf)));
    str_reset(&out);
    drain_json_log(&j, LOG_INFO, "c", NOW + 1, &out);
    assert_non_null(strstr(str_get(&out), time_format(NOW + 1, true, buf)));
}

static void a_flood_of_pods(void **state) {
    (void)state;
    struct drain_pod pod = {.ns = "a", .name = "b", .state = DRAIN_POD_QUEUED};
    enum { N = 10001 };
    struct drain_pod **pods = xcalloc(N, sizeof *pods);
    for (int i = 0; i < N; i++)
        pods[i] = &pod;
    struct drain_node node = {.name = "w", .phase = DRAIN_STOPPED, .pods = pods, .n_pods = N};
    const struct drain_node *list[] = {&node};
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    json_t *line = NULL;
    drain_json_summary(&j, list, 1, EXIT_SIGINT, T0, NOW, &out);
    assert_int_equal(check_stream(&out, &line), 1);
    assert_int_equal(json_array_size(json_object_get(line, "remaining")), N - 1);
    assert_int_equal(json_integer_value(json_object_get(line, "remainingOmitted")), 1);
    json_decref(line);
    free(pods);
}

static void objects(void **state) {
    (void)state;
    static const struct {
        const char *kind, *object, *want;
    } rows[] = {
        {"PodDisruptionBudget", "web/frontend",
         "\"object\":{\"kind\":\"PodDisruptionBudget\",\"ns\":\"web\",\"name\":\"frontend\"}"},
        {"Node", "w1", "\"object\":{\"kind\":\"Node\",\"name\":\"w1\"}"},
        {"Node", "", "\"object\":{\"kind\":\"Node\"}"},
        {"", "/", "\"object\":{\"ns\":\"\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drain_json j = {.run = "r1"};
        _cleanup_str_ struct str out = STR_INIT;
        struct drain_blocker b = {
            .code = BLOCKER_FORBIDDEN, .kind = rows[i].kind, .object = rows[i].object};
        add_note(&j, (struct drain_note){.kind = NOTE_BLOCKED, .blocker = &b}, &out);
        check_stream(&out, NULL);
        assert_non_null(strstr(str_get(&out), rows[i].want));
    }
    struct drain_json j = {.run = "r1"};
    _cleanup_str_ struct str out = STR_INIT;
    struct drain_blocker b = {.code = BLOCKER_FORBIDDEN, .kind = "", .object = ""};
    add_note(&j, (struct drain_note){.kind = NOTE_BLOCKED, .blocker = &b}, &out);
    assert_null(strstr(str_get(&out), "object"));
}

static void hostile(void **state) {
    (void)state;
    static const char *const texts[] = {"\"",           "\\",          "a\nb\r\t\001\033[2J",
                                        "\xff\xfe\x80", "\xc3",        "\u2028\u202e",
                                        "</script>",    "\xed\xa0\x80"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fleet f = {0};
        struct drain_json j = {.run = "r1"};
        _cleanup_str_ struct str out = STR_INIT;
        struct drain_node *n = fleet_add(&f, texts[i], DRAIN_FAILED);
        struct drain_pod *p = pod_add(&f, n, texts[i], texts[i], DRAIN_POD_FAILED);
        n->error = p->error = p->owner = texts[i];
        struct drain_blocker b = {.code = BLOCKER_ADMISSION_DENIED,
                                  .kind = texts[i],
                                  .object = texts[i],
                                  .message = texts[i]};
        for (enum drain_note_kind k = NOTE_CORDONED; k <= NOTE_REMARK; k++)
            add_note(&j,
                     (struct drain_note){
                         .kind = k, .node = n, .pod = p, .blocker = &b, .text = texts[i]},
                     &out);
        drain_json_node(&j, n, NOW, &out);
        drain_json_log(&j, LOG_ERROR, texts[i], NOW, &out);
        drain_json_summary(&j, fleet_nodes(&f), 1, 1, T0, NOW, &out);
        assert_int_equal(check_stream(&out, NULL), NOTE_REMARK + 4);
        fleet_done(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),          cmocka_unit_test(every_note),
        cmocka_unit_test(summary),         cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(a_flood_of_pods), cmocka_unit_test(objects),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
