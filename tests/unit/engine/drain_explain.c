/* Tests of src/engine/drain_explain.c: why a budget allows nothing, and how often that is asked. */
#include "engine/drain.h"

#include "support/drain_world.h"

#define CRASHES                                                                                    \
    "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'False'}],"               \
    "'containerStatuses':[{'name':'app','restartCount':6,'state':{'waiting':{'reason':"            \
    "'CrashLoopBackOff'}}}]}}"

/* p0 and p1 on w0 wait; `sick` is elsewhere. */
static void begin(struct drain_world *w) {
    w->c.all_pods = true;
    dw_node(w, "w0");
    dw_pod(w, "p0", "w0", "{}");
    dw_pod(w, "p1", "w0", "{}");
    dw_pod(w, "sick", "w9", CRASHES);
    dw_budget(w, "web", 0, 2, 2, 3);
    dw_start(w, "w0", NULL);
}

static const char *message(struct drain_world *w, const char *pod) {
    return dw_pod_view(w, pod)->blocker.message;
}

static void the_arithmetic_first_and_the_causes_when_it_lasts(void **state) {
    struct drain_world *w = *state;
    begin(w);
    assert_non_null(strstr(message(w, "p0"), "needs 2 healthy of 3, has 2, allows 0"));
    dw_pass(w, SEC(9));
    assert_null(strstr(message(w, "p0"), "sick"));
    assert_int_equal(dw_told(w, "blocked PDBNoBudget default/web"), 1);
    dw_pass(w, SEC(4));
    assert_non_null(strstr(message(w, "p0"), "; sick "));
    assert_non_null(strstr(message(w, "p0"), "CrashLoopBackOff"));
    assert_string_equal(message(w, "p0"), message(w, "p1"));
    /* Told once more, since that is what somebody has to look at; and then no more. */
    assert_int_equal(dw_told(w, "blocked PDBNoBudget default/web"), 2);
    dw_pass(w, SEC(25));
    assert_int_equal(dw_told(w, "blocked PDBNoBudget default/web"), 2);
}

/* A budget that goes on is not asked about: each time would be a list of all its pods. */
static void it_begins_anew_with_every_eviction(void **state) {
    struct drain_world *w = *state;
    begin(w);
    for (int i = 0; i < 2; i++) {
        char pod[8];
        snprintf(pod, sizeof pod, "p%d", i);
        dw_pass(w, SEC(8));
        dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':1}}");
        dw_settle(w);
        dw_accept(w, ACTION_EVICT, pod);
        dw_edit_budget(w, "web", "{'status':{'disruptionsAllowed':0}}");
        dw_settle(w);
    }
    assert_int_equal(dw_told(w, "sick"), 0);
}

/* Nothing happens: nobody is busy with that, however many budgets there are. */
static void waiting_costs_next_to_nothing(void **state) {
    struct drain_world *w = *state;
    char name[8];
    w->c.all_pods = true;
    dw_node(w, "w0");
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "b%d", i);
        dw_pod(w, name, "w0", "{'metadata':{'labels':{'app':'%s'}}}", name);
        dw_budget(w, name, 0, 2, 2, 3);
        dw_edit_budget(w, name, "{'spec':{'selector':{'matchLabels':{'app':'%s'}}}}", name);
        dw_edit_budget(w, name, "{'status':{'observedGeneration':9}}");
    }
    w->obedient = false;
    dw_start(w, "w0", NULL);
    for (int i = 0; i < 8; i++) { /* each at another moment */
        snprintf(name, sizeof name, "b%d", i);
        assert_blocked(w, name, BLOCKER_PDB_NO_BUDGET);
        dw_pass(w, MSEC(370));
        dw_edit_budget(w, name, "{'status':{'currentHealthy':1}}");
    }
    dw_pass(w, SEC(25)); /* to before the first is asked anyway */
    size_t before = w->steps;
    dw_edit_budget(w, "b0", "{'status':{'currentHealthy':2}}");
    dw_pass(w, SEC(4));
    assert_in_range(w->steps - before, 0, 12);
}

/* Pods that are not ready and a budget that keeps them: the way out is said. */
static void a_sick_pod_that_its_own_budget_keeps(void **state) {
    struct drain_world *w = *state;
    dw_node(w, "w0");
    dw_pod(w, "sick", "w0", CRASHES);
    dw_budget(w, "web", 0, 0, 2, 3);
    dw_start(w, "w0", NULL);
    assert_blocked(w, "sick", BLOCKER_PDB_NO_BUDGET);
    assert_non_null(strstr(message(w, "sick"), "unhealthyPodEvictionPolicy AlwaysAllow"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DRAIN_TEST(the_arithmetic_first_and_the_causes_when_it_lasts),
        DRAIN_TEST(it_begins_anew_with_every_eviction),
        DRAIN_TEST(waiting_costs_next_to_nothing),
        DRAIN_TEST(a_sick_pod_that_its_own_budget_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
