/* Tests of src/engine/why_told.c. */
#include "engine/why.h"

#include "why_scene.h"

#define DRAINING                                                                                   \
    "'metadata':{'name':'n1','annotations':{'slipway.dev/cordon':'{\\\"v\\\":1,\\\"before\\\":"    \
    "false,\\\"holders\\\":[{\\\"id\\\":\\\"i\\\",\\\"by\\\":\\\"alice\\\",\\\"reason\\\":"        \
    "\\\"kernel\\\",\\\"since\\\":\\\"2026-11-15T07:50:00Z\\\"}]}'}},'spec':{'unschedulable':"     \
    "true},'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'DrainInProgress',"    \
    "'status':'True','lastTransitionTime':'2026-11-15T07:50:00Z'}]}"

static void event(struct scene *s, const char *name, const char *reason, const char *message,
                  const char *time) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'namespace':'default','name':'%s'},'involvedObject':{'kind':'Node',"
                  "'name':'n1','uid':'n1'},'reason':'%s','message':'%s','firstTimestamp':"
                  "'2026-11-15T%sZ','lastTimestamp':'2026-11-15T%sZ'}",
                  name, reason, message, time, time);
    scene_add(s, &kind_event, json);
}

#define ENDED(message)                                                                             \
    "{'metadata':{'name':'n1','uid':'n1'},'spec':{'unschedulable':true},'status':{'conditions':["  \
    "{'type':'Ready','status':'True'},{'type':'DrainInProgress','status':'False','reason':"        \
    "'SlipwayDrainEnded','message':'" message "','lastTransitionTime':'2026-11-15T07:59:00Z'}]}}"
#define REFUSED "not done within 90s; still there: x/a-1 (AdmissionDenied x/a-1)"

/* What it was refused nobody finds by looking at objects. */
static void the_last_drain_did_not_get_through(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, ENDED(REFUSED));
    scene_deployment(s, "a", 2);
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, BLOCKER_ADMISSION_DENIED);
    assert_true(why->links[0]->blocks);
    assert_contains(why->links[0]->text, "not done within 90s; still there: x/a-1");
    assert_string_equal(why->summary, "cordoned (somebody else); a drain would wait: its one pod "
                                      "cannot go now; the last drain did not get through");
    event(s, "e", "DrainBlocked", "AdmissionDenied x/a-1: policy says no", "07:52:00");
    assert_non_null(cause_of(scene_why(s, "n1")->links[0], "policy says no"));
}

/* That somebody was refused who is gone by now is in nobody's way. */
static void the_refused_pod_is_gone(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, ENDED(REFUSED));
    scene_deployment(s, "a", 2);
    scene_pod(s, "a-2", "a", "n1", POD_WELL);
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    assert_int_equal(why->links[0]->code, WHY_NO_CODE);
    assert_int_equal(why->state, WHY_FREE);
    assert_int_equal(scene_why_pod(s, "a-2")->state, WHY_FREE);
}

/* Refusals that only who tries can know; those that are over, and those of an earlier drain, are
 * not told. */
static void what_the_drain_has_told(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, "{" DRAINING "}");
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    event(s, "e1", "DrainBlocked", "AdmissionDenied x/a-1: policy says no", "07:52:00");
    event(s, "e2", "DrainBlocked", "ServerTrouble x/a-1: 500", "07:52:00");
    event(s, "e3", "DrainUnblocked", "ServerTrouble", "07:53:00");
    event(s, "e4", "DrainBlocked", "Forbidden x/a-1: long ago", "07:10:00");
    event(s, "e5", "DrainBlocked", "PDBNoBudget x/a: it allows again", "07:52:00");
    event(s, "e6", "DrainBlocked", "NoSuchCode x/a: from a newer release", "07:52:00");
    event(s, "e7", "DrainBlocked", "", "07:52:00");
    event(s, "e8", "DrainBlocked", "AdmissionDenied", "07:52:00");
    const struct why *why = scene_why(s, "n1");
    assert_int_equal(why->n_links, 1);
    const struct why_link *l = link_of(why, BLOCKER_ADMISSION_DENIED);
    assert_string_equal(l->object, "x/a-1");
    assert_string_equal(l->text, "policy says no");
    assert_string_equal(l->remedies[0].text, blocker_row(BLOCKER_ADMISSION_DENIED)->hint);
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_contains(why->summary, ": its one pod waits");
}

static void a_pod_that_the_drain_is_refused(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, "{" DRAINING "}");
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "a-2", "a", "n1", POD_WELL);
    event(s, "e1", "DrainBlocked", "AdmissionDenied x/a-1: policy says no", "07:52:00");
    event(s, "e2", "DrainBlocked", "AdmissionDenied x/a-2: of an earlier drain", "07:12:00");
    const struct why *why = scene_why_pod(s, "a-1");
    assert_string_equal(why->summary, "on n1, well; it cannot be evicted now");
    assert_string_equal(link_of(why, BLOCKER_ADMISSION_DENIED)->text, "policy says no");
    assert_int_equal(why->state, WHY_BLOCKED);
    why = scene_why_pod(s, "a-2");
    assert_string_equal(why->summary, "on n1, well; nothing keeps it from being evicted");
    assert_int_equal(why->state, WHY_FREE);
}

/* The Event has the words of who refused it; without it there are those of the drain. */
static void a_pod_that_the_last_drain_was_refused(void **state) {
    struct scene *s = *state;
    scene_add(s, &kind_node, ENDED(REFUSED " and 3 more"));
    scene_pod(s, "a-1", "a", "n1", POD_WELL);
    scene_pod(s, "a-9", "a", "n1", POD_WELL);
    const struct why *why = scene_why_pod(s, "a-1");
    assert_string_equal(why->summary, "on n1, well; it cannot be evicted now");
    assert_contains(link_of(why, BLOCKER_ADMISSION_DENIED)->text, "the last drain of n1 did not");
    assert_int_equal(why->state, WHY_BLOCKED);
    assert_int_equal(scene_why_pod(s, "a-9")->state, WHY_FREE);
    event(s, "e1", "DrainBlocked", "AdmissionDenied x/a-1: policy says no", "07:52:00");
    event(s, "e2", "DrainBlocked", "AdmissionDenied x/a-9: nor that", "07:52:00");
    event(s, "e3", "DrainBlocked", "ServerTrouble x/a-9: over by now", "07:53:00");
    why = scene_why_pod(s, "a-1");
    assert_int_equal(why->n_links, 1);
    assert_string_equal(why->links[0]->text, "policy says no");
    why = scene_why_pod(s, "a-9");
    assert_int_equal(why->n_links, 1);
    assert_string_equal(why->links[0]->text, "nor that");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENE_TEST(the_last_drain_did_not_get_through),
        SCENE_TEST(the_refused_pod_is_gone),
        SCENE_TEST(what_the_drain_has_told),
        SCENE_TEST(a_pod_that_the_drain_is_refused),
        SCENE_TEST(a_pod_that_the_last_drain_was_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
