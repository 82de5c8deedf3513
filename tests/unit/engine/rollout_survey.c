/* Tests of src/engine/rollout_survey.c: which nodes a rollout has, and which of them are next. */
#include "engine/rollout_internal.h"

#include <errno.h>

#include "support/rollout_world.h"

/* "w1 w2": those that are next, in order. Valid until the next call. */
static const char *next_of(struct kw *w, const char *rollout, struct rollout_survey *s) {
    static char text[512];
    size_t at = 0;
    kw_settle(w);
    const struct rollout *r =
        (const struct rollout *)store_get(w->r[0].rollout_store, NULL, rollout);
    struct roll roll = {0};
    assert_non_null(r);
    rollout_survey(w->r[0].rs, &roll, r, s);
    assert_int_equal(roll.seen.len, 0); /* nothing is under way here */
    text[0] = '\0';
    for (size_t i = 0; i < s->next.len; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "",
                               s->next.p[i].node->meta.name);
    return text;
}

static void node_of(struct kw *w, const char *name, const char *labels, bool ready,
                    const char *created) {
    kw_node_as(w, name, labels);
    kw_edit(w, &kind_node, NULL, name, "{'metadata':{'creationTimestamp':'%s'}}", created);
    if (!ready)
        kw_status(w, name, false, 1);
}

#define OLD "2026-01-01T00:00:00Z"

/* Of a paused one nothing is begun, so that it can be looked at. */
#define PAUSED ",'paused':true"

static void broken_first_and_the_control_plane_last(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    node_of(w, "w10", "", true, OLD);
    node_of(w, "w9", "", true, OLD);
    node_of(w, "w11", "", false, OLD);
    node_of(w, "a1", "'node-role.kubernetes.io/control-plane':''", true, OLD);
    node_of(w, "a2", "'node-role.kubernetes.io/control-plane':''", false, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{}" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "w11 w9 w10 a2 a1");
    assert_int_equal(s.counts.total, 5);
    rollout_survey_done(&s);
}

static void zone_after_zone_where_zones_count(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    w->rules->max_zones = 1;
    node_of(w, "w1", "'topology.kubernetes.io/zone':'b'", true, OLD);
    node_of(w, "w2", "'topology.kubernetes.io/zone':'a'", true, OLD);
    node_of(w, "w3", "'topology.kubernetes.io/zone':'b'", true, OLD);
    node_of(w, "w4", "'topology.kubernetes.io/zone':'a'", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{}" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "w2 w4 w1 w3");
    rollout_survey_done(&s);
    w->rules->max_zones = 0;
    assert_string_equal(next_of(w, "kernel", &s), "w1 w2 w3 w4");
    rollout_survey_done(&s);
}

static void one_that_has_joined_since_is_new(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    node_of(w, "w1", "'pool':'a'", true, OLD);
    node_of(w, "w2", "'pool':'a'", true, "2026-11-15T08:00:01Z");
    node_of(w, "w3", "'pool':'b'", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{'matchLabels':{'pool':'a'}}" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "w1");
    rollout_survey_done(&s);
}

/* One that was named and is not there has failed: nobody waits for it, nor is it left out. */
static void one_that_is_not_there_has_failed(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    node_of(w, "w1", "", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]','w1']" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "w1");
    assert_int_equal(s.counts.total, 2);
    assert_int_equal(s.counts.failed, 1);
    assert_int_equal(s.missing.len, 1);
    assert_string_equal(s.missing.p[0], "w2");
    rollout_survey_done(&s);
}

/* Failed is an end, for whoever waits for it: it comes alive when somebody says so, not by itself.
 */
static void one_that_turns_up_when_it_has_failed(void **state) {
    struct kw *w = *state;
    node_of(w, "w1", "", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]']");
    kw_pass(w, SEC(2));
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    kw_status(w, "w1", true, 1); /* the watch of nodes is as far as that */
    kw_pass(w, SEC(2));
    assert_string_equal(dw_str(rw_doc(w, "kernel"), "status.failedNodes"), "w2");
    node_of(w, "w2", "", true, OLD);
    kw_pass(w, SEC(60));
    assert_string_equal(rw_phase(w, "kernel"), "Failed");
    assert_string_equal(rw_node(w, "kernel", "w1"), "");
    assert_string_equal(rw_node(w, "kernel", "w2"), "");
    kw_edit(w, &kind_rollout, NULL, "kernel",
            "{'metadata':{'annotations':{'" OWN_RETRY_ANNOTATION "':'1'}}}");
    kw_pass(w, SEC(5));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_string_equal(dw_str(rw_doc(w, "kernel"), "status.failedNodes"), "");
}

/* Others go on meanwhile, where it may fail: then it has its turn. */
static void one_that_turns_up_while_others_go(void **state) {
    struct kw *w = *state;
    node_of(w, "w1", "", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-2]'],'maxFailed':1");
    kw_pass(w, SEC(2));
    kw_status(w, "w1", true, 1);
    kw_pass(w, SEC(2));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_int_equal(rw_count(w, "kernel", "failed"), 1);
    node_of(w, "w2", "", true, OLD);
    kw_pass(w, SEC(2));
    assert_int_equal(rw_count(w, "kernel", "failed"), 0);
    assert_int_equal(rw_count(w, "kernel", "waiting"), 1);
}

static void too_many_names_are_refused(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[1-999999999]']" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "");
    assert_int_equal(s.problem.code, E2BIG);
    rollout_survey_done(&s);
}

static void a_node_without_a_policy_is_said(void **state) {
    struct kw *w = *state;
    struct rollout_survey s;
    node_of(w, "w1", "'no-policy':''", true, OLD);
    node_of(w, "w2", "", true, OLD);
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodeSelector':{}" PAUSED);
    assert_string_equal(next_of(w, "kernel", &s), "w2");
    assert_string_equal(s.unclear, "w1");
    assert_int_equal(s.counts.waiting, 2);
    rollout_survey_done(&s);
    rw_rollout(w, "named", ",'policy':'other','nodeSelector':{}" PAUSED);
    assert_string_equal(next_of(w, "named", &s), "");
    rollout_survey_done(&s);
}

/* How many may fail is what the policies of the others say. */
static void a_first_node_without_a_policy_takes_no_failure_away(void **state) {
    struct kw *w = *state;
    kw_node_as(w, "w1", "'no-policy':''");
    kw_node(w, "w2");
    kw_node(w, "w3");
    w->rules->max_failed = 1;
    rw_start(w);
    rw_rollout(w, "kernel", ",'nodes':['w[0-3]']"); /* w0 is not there: it has failed */
    kw_pass(w, SEC(5));
    assert_string_equal(rw_phase(w, "kernel"), "Progressing");
    assert_string_equal(rw_node(w, "kernel", "w2"), "Operating");
}

static void names_are_never_too_long(void **state) {
    (void)state;
    char a[251], b[254];
    memset(a, 'a', 250);
    a[250] = '\0';
    memset(b, 'b', 253);
    b[253] = '\0';
    _cleanup_free_ char *one = rollout_maintenance_name(a, b);
    b[252] = 'c';
    _cleanup_free_ char *two = rollout_maintenance_name(a, b);
    assert_true(strlen(one) <= 253 && strlen(two) <= 253);
    assert_string_not_equal(one, two);
    _cleanup_free_ char *plain = rollout_maintenance_name("kernel", "w1");
    assert_string_equal(plain, "kernel-w1");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kw_setup, kw_teardown)
    const struct CMUnitTest tests[] = {
        TEST(broken_first_and_the_control_plane_last),
        TEST(zone_after_zone_where_zones_count),
        TEST(one_that_has_joined_since_is_new),
        TEST(one_that_is_not_there_has_failed),
        TEST(one_that_turns_up_when_it_has_failed),
        TEST(one_that_turns_up_while_others_go),
        TEST(too_many_names_are_refused),
        TEST(a_node_without_a_policy_is_said),
        TEST(a_first_node_without_a_policy_takes_no_failure_away),
        cmocka_unit_test(names_are_never_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
