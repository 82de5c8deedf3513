/* Tests of src/engine/budget.c. */
#include "engine/budget.h"

#include <stdio.h>

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
        /* evicted a moment ago: the server has counted them, the controller has not */
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':1},'status':{'currentHealthy':3,"
         "'desiredHealthy':1,'expectedPods':3,'disruptionsAllowed':0,'disruptedPods':{"
         "'p1':'2026-11-15T08:00:00Z','p2':'2026-11-15T08:00:00Z'}}}",
         BUDGET_WAITS,
         "minAvailable 1, needs 1 healthy of 3, has 3, allows 0; 2 pods that were evicted are "
         "still counted as healthy"},
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':1},'status':{'currentHealthy':3,"
         "'desiredHealthy':2,'expectedPods':3,'disruptionsAllowed':0,'disruptedPods':{"
         "'p1':'2026-11-15T08:00:00Z'}}}",
         BUDGET_WAITS,
         "maxUnavailable 1, needs 2 healthy of 3, has 3, allows 0; 1 pod that was evicted is still "
         "counted as healthy"},
        /* both have: the numbers say it all */
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':1},'status':{'currentHealthy':2,"
         "'desiredHealthy':2,'expectedPods':3,'disruptionsAllowed':0,'disruptedPods':{"
         "'p1':'2026-11-15T08:00:00Z'}}}",
         BUDGET_WAITS, "maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0"},
        /* strict as it is, whether it holds anything is for those to say who count the pods */
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':0},'status':{}}", BUDGET_NEVER,
         "maxUnavailable 0, needs 0 healthy of 0, has 0, allows 0"},
        /* its controller has not seen the pods yet */
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':1},'status':{}}", BUDGET_WAITS,
         "maxUnavailable 1, needs 0 healthy of 0, has 0, allows 0"},
        /* pods without a controller: none is expected, and so none may go, healthy as they are */
        {"{'metadata':{'name':'a'},'spec':{'maxUnavailable':1},'status':{'currentHealthy':4}}",
         BUDGET_NEVER,
         "maxUnavailable 1, counts none of its 4 healthy pods: no controller, allows 0 for ever"},
        {"{'metadata':{'name':'a'},'spec':{'minAvailable':'50%'},'status':{'currentHealthy':1}}",
         BUDGET_NEVER,
         "minAvailable 50%, counts none of its 1 healthy pod: no controller, allows 0 for ever"},
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
         BUDGET_FAILED, "minAvailable 50%, its controller cannot compute it: no scale"},
        /* so from the beginning: failSafe() of the disruption controller sets the condition alone
         */
        {"{'metadata':{'name':'a','generation':1},'spec':{'minAvailable':1},'status':{"
         "'conditions':[{'type':'DisruptionAllowed','status':'False','reason':'SyncFailed'}]}}",
         BUDGET_FAILED, "minAvailable 1, its controller cannot compute it"},
        /* the failure is of an earlier spec */
        {"{'metadata':{'name':'a','generation':3},'spec':{'minAvailable':1},'status':{"
         "'observedGeneration':2,'conditions':[{'type':'DisruptionAllowed','status':'False',"
         "'reason':'SyncFailed'}]}}",
         BUDGET_WAITS, "minAvailable 1, not processed by its controller yet"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        _cleanup_str_ struct str words = STR_INIT;
        world_init(&w);
        const struct pdb *pdb = world_add(&w, &kind_pdb, cases[i].json);
        assert_int_equal(budget_verdict(pdb, NULL), cases[i].verdict);
        budget_explain(pdb, NULL, &words);
        assert_string_equal(str_get(&words), cases[i].words);
        world_done(&w);
    }
}

#define READY(status)                                                                              \
    "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'" status "'}]}"
#define NO_BUDGET                                                                                  \
    "'spec':{'minAvailable':2%s},'status':{'currentHealthy':%d,'desiredHealthy':2,'expectedPods':" \
    "3}"

/* The eviction API's own rules (spec 2.2): readiness, policy and phase decide whether a budget is
 * asked. */
static void a_pod_is_judged_as_the_api_does(void **state) {
    (void)state;
    static const struct {
        const char *pod, *policy;
        int healthy;
        enum budget_verdict verdict;
    } cases[] = {
        {"{'metadata':{'name':'p'}," READY("True") "}", "", 2, BUDGET_WAITS},
        /* not ready, and enough others are healthy */
        {"{'metadata':{'name':'p'}," READY("False") "}", "", 2, BUDGET_ALLOWS},
        /* not ready, but the others are not enough either */
        {"{'metadata':{'name':'p'}," READY("False") "}", "", 1, BUDGET_WAITS},
        {"{'metadata':{'name':'p'}," READY("False") "}",
         ",'unhealthyPodEvictionPolicy':'AlwaysAllow'", 1, BUDGET_ALLOWS},
        {"{'metadata':{'name':'p'}," READY("True") "}",
         ",'unhealthyPodEvictionPolicy':'AlwaysAllow'", 2, BUDGET_WAITS},
        {"{'metadata':{'name':'p'},'status':{'phase':'Pending'}}", "", 0, BUDGET_ALLOWS},
        {"{'metadata':{'name':'p'},'status':{'phase':'Succeeded'}}", "", 0, BUDGET_ALLOWS},
        {"{'metadata':{'name':'p','deletionTimestamp':'2026-11-15T08:00:00Z'}," READY("True") "}",
         "", 0, BUDGET_ALLOWS},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        char json[512];
        world_init(&w);
        snprintf(json, sizeof json, "{'metadata':{'name':'b'}," NO_BUDGET "}", cases[i].policy,
                 cases[i].healthy);
        const struct pdb *pdbs[2] = {world_add(&w, &kind_pdb, json)};
        const struct pod *pod = world_add(&w, &kind_pod, cases[i].pod);
        pdbs[1] = pdbs[0];
        assert_int_equal(budget_for_pod(pod, pdbs, 1, NULL), cases[i].verdict);
        assert_int_equal(budget_for_pod(pod, pdbs, 0, NULL), BUDGET_ALLOWS);
        assert_int_equal(budget_for_pod(pod, pdbs, 2, NULL),
                         budget_is_asked(pod) ? BUDGET_MULTIPLE : BUDGET_ALLOWS);
        world_done(&w);
    }
}

/* Percentages round up, as its controller has it. */
static void what_more_replicas_would_do(void **state) {
    static const struct {
        const char *spec;
        int healthy, more, allows;
    } cases[] = {
        {"'minAvailable':1", 1, 0, 0},       {"'minAvailable':1", 1, 1, 1},
        {"'minAvailable':'50%'", 1, 1, 1},   {"'minAvailable':'100%'", 1, 3, 0},
        {"'maxUnavailable':1", 1, 0, 1},     {"'maxUnavailable':0", 1, 2, 0},
        {"'maxUnavailable':'30%'", 1, 2, 1}, {"'maxUnavailable':1", 0, 1, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'name':'a'},'spec':{%s},'status':{'expectedPods':1}}", cases[i].spec);
        int64_t got =
            budget_allows_with(world_add(&w, &kind_pdb, json), cases[i].healthy, cases[i].more);
        if (got != cases[i].allows)
            fail_msg("%zu: %lld", i, (long long)got);
        world_done(&w);
    }
}

/* Which of two that select the same pods stays: never the one that allows nothing. */
static void which_of_two_is_kept(void **state) {
    static const struct {
        const char *kept, *other;
    } cases[] = {
        {"'spec':{'maxUnavailable':1},'status':{'expectedPods':3,'disruptionsAllowed':1}",
         "'spec':{'maxUnavailable':0},'status':{'expectedPods':3}"},
        /* short of pods for a while, against never */
        {"'spec':{'maxUnavailable':1},'status':{'expectedPods':3,'desiredHealthy':2}",
         "'spec':{'maxUnavailable':0},'status':{'expectedPods':9}"},
        {"'spec':{'maxUnavailable':1},'status':{'expectedPods':9,'disruptionsAllowed':1}",
         "'spec':{'maxUnavailable':1},'status':{'expectedPods':3,'disruptionsAllowed':1}"},
        {"'spec':{'maxUnavailable':1},'status':{'expectedPods':3,'disruptionsAllowed':1}",
         "'spec':{'maxUnavailable':2},'status':{'expectedPods':3,'disruptionsAllowed':2}"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        _cleanup_free_ char *a = xasprintf("{'metadata':{'name':'a'},%s}", cases[i].kept);
        _cleanup_free_ char *b = xasprintf("{'metadata':{'name':'b'},%s}", cases[i].other);
        const struct pdb *kept = world_add(&w, &kind_pdb, a), *other = world_add(&w, &kind_pdb, b);
        if (!budget_better(kept, other, NULL) || budget_better(other, kept, NULL))
            fail_msg("%zu", i);
        world_done(&w);
    }
}

/* A StatefulSet or ReplicaSet, two pods of it and its budget, whose minAvailable is a number. */
struct owned {
    struct world w;
    struct store *replica_sets, *stateful_sets;
    struct budget_stores stores;
    struct budget_owners owners;
};

static void owned_init(struct owned *s) {
    world_init(&s->w);
    s->replica_sets = store_new(&kind_replica_set, s->w.pool);
    s->stateful_sets = store_new(&kind_stateful_set, s->w.pool);
    s->stores = (struct budget_stores){s->replica_sets, s->stateful_sets};
    budget_owners_init(&s->owners, s->w.pdbs, budget_look_stores, &s->stores);
}

static void owned_done(struct owned *s) {
    budget_owners_done(&s->owners);
    store_free(s->replica_sets);
    store_free(s->stateful_sets);
    world_done(&s->w);
}

static void add_pod(struct owned *s, const char *name, const char *kind, const char *owner) {
    _cleanup_free_ char *owners =
        owner ? xasprintf(",'ownerReferences':[{'apiVersion':'apps/v1','kind':'%s','name':'%s',"
                          "'uid':'u-%s','controller':true}]",
                          kind, owner, owner)
              : xstrdup("");
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'x','name':'%s','labels':{'app':'db'}%s}}", name, owners);
    world_put(&s->w, s->w.pods, json);
}

/* What is expected are the pods that there are: whether more come the owners know. */
static void what_owners_want_counts(void **state) {
    static const struct {
        const char *set, *spec, *owner; /* the set that there is, and whose the pods are */
        int healthy, desired;
        enum budget_verdict verdict;
        const char *words; /* how they end */
    } cases[] = {
        /* one of three is not made */
        {"'replicas':3", "'minAvailable':2", "db", 1, 2, BUDGET_WAITS,
         "has 1, allows 0; 3 are wanted, and 1 of them is not made yet"},
        {"'replicas':5", "'minAvailable':2", "db", 2, 2, BUDGET_WAITS,
         "has 2, allows 0; 5 are wanted, and 3 of them are not made yet"},
        /* with all of them there is still none to spare */
        {"'replicas':3", "'minAvailable':3", "db", 2, 3, BUDGET_NEVER,
         "3 are wanted, and 1 of them is not made yet"},
        {"'replicas':2", "'minAvailable':2", "db", 1, 2, BUDGET_NEVER, "has 1, allows 0"},
        {"'replicas':2", "'minAvailable':2", "db", 2, 2, BUDGET_NEVER, "has 2, allows 0"},
        /* nobody knows the owner: as long as a pod is not well, it may be why others are not made
         */
        {"'replicas':3", "'minAvailable':2", "other", 1, 2, BUDGET_WAITS, "has 1, allows 0"},
        {"'replicas':3", "'minAvailable':2", "other", 2, 2, BUDGET_NEVER, "has 2, allows 0"},
        /* bare pods are all that there will be */
        {"'replicas':3", "'minAvailable':2", NULL, 1, 2, BUDGET_NEVER, "has 1, allows 0"},
        /* these count by what is wanted */
        {"'replicas':3", "'minAvailable':'90%'", "db", 1, 2, BUDGET_NEVER, "has 1, allows 0"},
        {"'replicas':3", "'maxUnavailable':0", "db", 1, 2, BUDGET_NEVER, "has 1, allows 0"},
    };
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct owned s;
        size_t c = i / 2;
        const char *kind = i % 2 ? "StatefulSet" : "ReplicaSet";
        _cleanup_str_ struct str words = STR_INIT;
        owned_init(&s);
        _cleanup_free_ char *set = xasprintf(
            "{'metadata':{'namespace':'x','name':'db','uid':'u-db'},'spec':{%s}}", cases[c].set);
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'x','name':'a'},'spec':{'selector':{'matchLabels':{'app':"
            "'db'}},%s},'status':{'expectedPods':2,'currentHealthy':%d,'desiredHealthy':%d}}",
            cases[c].spec, cases[c].healthy, cases[c].desired);
        world_put(&s.w, i % 2 ? s.stateful_sets : s.replica_sets, set);
        add_pod(&s, "db-0", kind, cases[c].owner);
        add_pod(&s, "db-1", kind, cases[c].owner);
        const struct pdb *pdb = world_put(&s.w, s.w.budgets, json);
        budget_explain(pdb, &s.owners, &words);
        if (budget_verdict(pdb, &s.owners) != cases[c].verdict ||
            !str_ends(str_get(&words), cases[c].words))
            fail_msg("%zu: %d, %s", c, (int)budget_verdict(pdb, &s.owners), str_get(&words));
        if (budget_spare(pdb, &s.owners) != (c == 1 ? 3 : c == 0 ? 1 : 0))
            fail_msg("%zu: %lld to spare", c, (long long)budget_spare(pdb, &s.owners));
        owned_done(&s);
    }
}

/* What was learnt is kept until it is forgotten; all owners count; one that was made anew is
 * another. */
static void owners_are_asked_again_when_told(void **state) {
    (void)state;
    struct owned s;
    owned_init(&s);
    static const char set[] =
        "{'metadata':{'namespace':'x','name':'%s','uid':'u-%s'},'spec':{'replicas':%d}}";
    _cleanup_free_ char *a = xasprintf(set, "a", "a", 1), *b = xasprintf(set, "b", "b", 1),
                        *more = xasprintf(set, "b", "b", 2), *anew = xasprintf(set, "b", "c", 2);
    world_put(&s.w, s.replica_sets, a);
    world_put(&s.w, s.replica_sets, b);
    add_pod(&s, "a-0", "ReplicaSet", "a");
    add_pod(&s, "b-0", "ReplicaSet", "b");
    const struct pdb *pdb = world_put(
        &s.w, s.w.budgets,
        "{'metadata':{'namespace':'x','name':'a'},'spec':{'selector':{'matchLabels':{'app':'db'}},"
        "'minAvailable':2},'status':{'expectedPods':2,'currentHealthy':2,'desiredHealthy':2}}");
    assert_int_equal(budget_verdict(pdb, &s.owners), BUDGET_NEVER);
    world_put(&s.w, s.replica_sets, more);
    assert_int_equal(budget_verdict(pdb, &s.owners), BUDGET_NEVER);
    budget_owners_forget(&s.owners);
    assert_int_equal(budget_verdict(pdb, &s.owners), BUDGET_WAITS);
    assert_int_equal(budget_unmade(pdb, &s.owners), 1);
    world_put(&s.w, s.replica_sets, anew);
    budget_owners_forget(&s.owners);
    assert_int_equal(budget_verdict(pdb, &s.owners), BUDGET_NEVER);
    assert_int_equal(budget_unmade(pdb, &s.owners), 0);
    owned_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_of_two_is_kept),
        cmocka_unit_test(what_owners_want_counts),
        cmocka_unit_test(owners_are_asked_again_when_told),
        cmocka_unit_test(what_more_replicas_would_do),
        cmocka_unit_test(verdicts_and_their_words),
        cmocka_unit_test(a_pod_is_judged_as_the_api_does),
    };
    return cmocka_run_group_tests_name("engine/budget", tests, NULL, NULL);
}
