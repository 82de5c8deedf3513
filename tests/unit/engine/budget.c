/* Tests of src/engine/budget.c. */
#include "engine/budget.h"

#include "support/world.h"

static void verdicts_and_their_words(void **state) {
    (void)state;
    static const struct {
        const char *json;
        enum budget_verdict verdict;
        const char *words;
    } cases[] = {
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':2},'status':{'disruptionsAllowed':1,"
         "'currentHealthy':3,'desiredHealthy':2,'expectedPods':3}}",
         BUDGET_ALLOWS, "minAvailable 2, needs 2 healthy of 3, has 3, allows 1"},
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':1},'status':{'disruptionsAllowed':0,"
         "'currentHealthy':2,'desiredHealthy':2,'expectedPods':3}}",
         BUDGET_WAITS, "maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0"},
        /* one replica, one needed */
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':1},'status':{'disruptionsAllowed':0,"
         "'currentHealthy':1,'desiredHealthy':1,'expectedPods':1}}",
         BUDGET_NEVER, "minAvailable 1, needs 1 healthy of 1, has 1, allows 0"},
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':0},'status':{'currentHealthy':3,"
         "'desiredHealthy':3,'expectedPods':3}}",
         BUDGET_NEVER, "maxUnavailable 0, needs 3 healthy of 3, has 3, allows 0"},
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':'0%'},'status':{'currentHealthy':3,"
         "'desiredHealthy':3,'expectedPods':3}}",
         BUDGET_NEVER, "maxUnavailable 0%, needs 3 healthy of 3, has 3, allows 0"},
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':'100%'},'status':{'currentHealthy':3,"
         "'desiredHealthy':3,'expectedPods':3}}",
         BUDGET_NEVER, "minAvailable 100%, needs 3 healthy of 3, has 3, allows 0"},
        /* selects nothing: holds nothing, however strict */
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':0},'status':{}}", BUDGET_EMPTY,
         "maxUnavailable 0, needs 0 healthy of 0, has 0, allows 0"},
        /* not looked at yet */
        {"{'metadata':{'name':'a','generation':2},'spec':{'maxUnavailable':1},'status':{"
         "'observedGeneration':1,'disruptionsAllowed':5,'expectedPods':9,'currentHealthy':9}}",
         BUDGET_WAITS, "maxUnavailable 1, not processed by its controller yet"},
        {"{'metadata':{'name':'a','generation':2},'spec':{'maxUnavailable':'0'},'status':{"
         "'observedGeneration':1}}",
         BUDGET_NEVER, "maxUnavailable 0, not processed by its controller yet"},
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':'50%'},'status':{'expectedPods':3,"
         "'desiredHealthy':0,'conditions':[{'type':'DisruptionAllowed','status':'False','reason':"
         "'SyncFailed','message':'no scale'}]}}",
         BUDGET_WAITS, "minAvailable 50%, its controller cannot compute it: no scale"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        _cleanup_str_ struct str words = STR_INIT;
        world_init(&w);
        const struct pdb *pdb = world_add(&w, &kind_pdb, cases[i].json);
        assert_int_equal(budget_verdict(pdb), cases[i].verdict);
        budget_explain(pdb, &words);
        assert_string_equal(str_get(&words), cases[i].words);
        world_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_their_words),
    };
    return cmocka_run_group_tests_name("engine/budget", tests, NULL, NULL);
}
