/* Tests of src/controller/clients.c. */
#include "controller/clients.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/own.h"
#include "support/world.h"

#define MACHINE "2e074e9b299c41a59923c51ae16f279b"
#define APP     "033b1b9b264441fcaa173e9e5bf35c5a"
#define DERIVED "4d4a86c9c6644a479560ded5d19a30c5" /* of both */
#define ZINCATI "074c268827d74fb59ed758e8940cd667" /* of the machine, and Zincati */

static const struct node *node(struct world *w) {
    world_init(w);
    world_add(w, &kind_node,
              "{'metadata':{'name':'w1','resourceVersion':'1'},'status':{'nodeInfo':{'machineID':"
              "'" MACHINE "'}}}");
    return (const struct node *)store_get(w->nodes, NULL, "w1");
}

static void ids_of_a_policy(void **state) {
    (void)state;
    static const struct {
        const char *spec; /* NULL: the built-in one */
        bool name, derived, zincati;
    } cases[] = {{NULL, false, false, true},
                 {"{'nodeSelector':{},'fleetlock':{'groups':['a']}}", false, false, true},
                 {"{'nodeSelector':{},'fleetlock':{'groups':['a'],'ids':{'nodeNames':true}}}", true,
                  false, true},
                 {"{'nodeSelector':{},'fleetlock':{'groups':['a'],'ids':{'appIds':['" APP "']}}}",
                  false, true, false}};
    struct world w;
    const struct node *n = node(&w);
    const struct roster_options usual = {0}, names = {.names = true};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct own_sample s;
        struct policy_rules *r = cases[i].spec ? NULL : policy_builtin();
        if (!r) {
            _cleanup_free_ char *json =
                xasprintf("{'metadata':{'name':'a'},'spec':%s}", cases[i].spec);
            assert_int_equal(own_sample(&s, &kind_policy, json), 0);
            assert_int_equal(policy_rules_read(s.obj, s.pool, &r, NULL), 0);
        }
        assert_true(clients_may_use(r, &usual, n, MACHINE));
        assert_int_equal(clients_may_use(r, &usual, n, "w1"), cases[i].name);
        assert_int_equal(clients_may_use(r, &names, n, "w1"), cases[i].name || !cases[i].spec);
        assert_int_equal(clients_may_use(r, &usual, n, DERIVED), cases[i].derived);
        assert_int_equal(clients_may_use(r, &usual, n, ZINCATI), cases[i].zincati);
        assert_false(clients_may_use(r, &names, n, "w2"));
        policy_rules_free(r);
        if (cases[i].spec)
            assert_int_equal(own_sample_done(&s), 0);
    }
    world_done(&w);
}

static void terms_of_a_policy(void **state) {
    (void)state;
    struct fleetlock_terms said = {FLEETLOCK_CHECK_OFF, 5}, found;
    struct policy_rules builtin = {.builtin = true, .caller = CALLER_ENFORCE, .rate = 7};
    found = clients_terms(&builtin, &said);
    assert_true(found.check == FLEETLOCK_CHECK_OFF && found.rate == 5);
    builtin.builtin = false;
    found = clients_terms(&builtin, &said);
    assert_true(found.check == FLEETLOCK_CHECK_ENFORCE && found.rate == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_a_policy),
        cmocka_unit_test(terms_of_a_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
