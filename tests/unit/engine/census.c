/* Tests of src/engine/census.c: who counts as out of service, and how many may be. */
#include "engine/census.h"

#include "support/world.h"

static const char *const others[] = {"a", "w2", "w3"};
static const struct census_world world = {"sys", "workers", others, 3};

static void node(struct world *w, const char *name, bool ready, bool cordoned, const char *id) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'name':'%s','annotations':{'slipway.dev/cordon':'{\\'v\\':1,\\'before\\':"
        "false,\\'holders\\':[{\\'id\\':\\'cli:me\\'},{\\'id\\':\\'%s\\'}]}'}},'spec':{"
        "'unschedulable':%s},'status':{'conditions':[{'type':'Ready','status':'%s'}]}}",
        name, id, cordoned ? "true" : "false", ready ? "True" : "False");
    world_add(w, &kind_node, json);
}

static void what_a_node_counts_as(void **state) {
    static const struct {
        const char *name;
        bool ready, cordoned;
        const char *id;
        enum census_as as;
    } cases[] = {
        {"w1", true, false, "", CENSUS_IN},
        {"w1", false, false, "", CENSUS_DOWN},
        {"w2", true, false, "", CENSUS_ELSEWHERE},
        {"w2", false, false, "", CENSUS_ELSEWHERE}, /* once, and not as down */
        {"w1", true, true, "slot:sys/workers:1", CENSUS_IN},
        {"w1", false, true, "slot:sys/workers:1", CENSUS_DOWN},
        {"w1", true, true, "slot:workers:1", CENSUS_IN}, /* of an earlier release */
        {"w1", true, true, "slot:sys/other:1", CENSUS_ELSEWHERE},
        {"w1", true, true, "slot:sys/workers-2:1", CENSUS_ELSEWHERE},
        {"w1", true, true, "slot:else/workers:1", CENSUS_ELSEWHERE},
        {"w1", true, true, "slot:other:1", CENSUS_ELSEWHERE},
        {"w1", false, true, "slot:sys/other:1", CENSUS_ELSEWHERE},
        {"w1", true, false, "slot:sys/other:1", CENSUS_IN}, /* a record that is left over */
        {"w1", true, true, "cli:slot", CENSUS_IN},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        node(&w, cases[i].name, cases[i].ready, cases[i].cordoned, cases[i].id);
        const struct node *n = (const struct node *)store_get(w.nodes, NULL, cases[i].name);
        if (census_as(&world, n) != cases[i].as)
            fail_msg("%s %s: %d", cases[i].name, cases[i].id, (int)census_as(&world, n));
        world_done(&w);
    }
}

static void who_holds_a_slot_of_another(void **state) {
    static const struct census_world none = {"sys", "workers", NULL, 0};
    (void)state;
    assert_true(census_holds_elsewhere(&world, "a"));
    assert_true(census_holds_elsewhere(&world, "w3"));
    assert_false(census_holds_elsewhere(&world, "w1"));
    assert_false(census_holds_elsewhere(&world, ""));
    assert_false(census_holds_elsewhere(&none, "a"));
}

static void limits(void **state) {
    static const struct {
        struct limit max;
        size_t members, limit;
    } cases[] = {
        {{.value = 2}, 0, 2},
        {{.value = 0}, 9, 0},
        {{.value = 10, .percent = true}, 29, 2},
        {{.value = 10, .percent = true}, 9, 1},
        {{.value = 10, .percent = true}, 0, 1},
        {{.value = 100, .percent = true}, 7, 7},
        {{.value = 0, .percent = true}, 100, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(census_limit(&cases[i].max, cases[i].members), cases[i].limit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_node_counts_as),
        cmocka_unit_test(who_holds_a_slot_of_another),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
