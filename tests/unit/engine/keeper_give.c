/* Tests of src/engine/keeper_give.c: who gets a slot, and how many there are. */
#include "engine/keeper.h"

#include "support/keeper_world.h"
#include "support/make.h"

#define ZONE(z) "'topology.kubernetes.io/zone':'" z "'"
#define CONTROL "'node-role.kubernetes.io/control-plane':''"

/* All of them ask in the same moment, of the leader. */
__attribute__((sentinel)) static void all_ask(struct kw *w, ...) {
    const char *name;
    va_list ap;
    va_start(ap, w);
    while ((name = va_arg(ap, const char *)))
        kw_ask(w, 0, name, KEEPER_MAY_GO);
    va_end(ap);
    kw_pass(w, SEC(1));
}

static void as_many_as_the_policy_says(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    kw_nodes(w, "w1", "w2", "w3", NULL);
    kw_start(w);
    assert_int_equal(keeper_limit(w->r[0].k), 2);
    all_ask(w, "w3", "w2", "w1", NULL);
    assert_slots(w, "w1 granted, w2 granted; w3");
}

/* A replica that was frozen writes a wish that the node has been granted by another one since: it
 * is of an earlier boot, and nobody is drained for it. */
static void a_wish_of_an_earlier_boot_is_nobodys(void **state) {
    struct kw *w = *state;
    char now[TIMEFMT_LEN];
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(30));
    assert_slots(w, "");
    kw_set_record(w,
                  "{'v':1,'fence':%d,'slots':[],'waiting':[{'node':'w1','operation':'Reboot',"
                  "'by':'fleetlock','boot':'boot-1','since':'%s','asked':'%s'}]}",
                  kw_fence(w), time_format(w->now.wall, false, now), now);
    kw_pass(w, SEC(5));
    assert_slots(w, "; w1"); /* our picture of the node may be late */
    assert_false(kw_is_cordoned(w, "w1"));
    kw_pass(w, SEC(120));
    assert_slots(w, "");
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO); /* who asks in this one gets it */
}

static void percentages_are_of_the_nodes_of_the_policy(void **state) {
    (void)state;
    static const struct {
        unsigned percent, nodes;
        size_t limit;
    } cases[] = {{20, 10, 2}, {20, 3, 1}, {34, 3, 1}, {67, 3, 2}, {100, 3, 3}, {20, 0, 1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 1);
        w->opts.max = (struct limit){cases[i].percent, true};
        for (unsigned n = 0; n < cases[i].nodes; n++) {
            char name[16];
            snprintf(name, sizeof name, "w%u", n);
            kw_node(w, name);
        }
        kw_start(w);
        assert_int_equal(keeper_limit(w->r[0].k), cases[i].limit);
        kw_node(w, "z1"); /* one more counts at once */
        kw_settle(w);
        assert_int_equal(keeper_limit(w->r[0].k),
                         MAX_OF((cases[i].nodes + 1) * cases[i].percent / 100, 1u));
        kw_done(w);
        free(w);
    }
}

static void in_no_more_zones_than_the_policy_says(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 3;
    w->opts.max_zones = 1;
    kw_node_as(w, "w1", ZONE("a"));
    kw_node_as(w, "w2", ZONE("b"));
    kw_node_as(w, "w3", ZONE("a"));
    kw_node(w, "w4"); /* in none, which is one of its own */
    kw_start(w);
    all_ask(w, "w1", "w2", "w3", "w4", NULL);
    assert_slots(w, "w1 granted, w3 granted; w2, w4");
}

static void the_control_plane_goes_one_at_a_time(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 5;
    kw_node_as(w, "c1", CONTROL);
    kw_node_as(w, "c2", CONTROL);
    kw_node_as(w, "c3", "'node-role.kubernetes.io/master':''");
    kw_node(w, "w1");
    kw_start(w);
    all_ask(w, "c1", "c2", "c3", "w1", NULL);
    assert_slots(w, "c1 granted, w1 granted; c2, c3");
}

static void one_of_the_control_plane_that_is_down_keeps_the_others(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 5;
    kw_node_as(w, "c1", CONTROL);
    kw_node_as(w, "c2", CONTROL);
    kw_start(w);
    kw_status(w, "c2", false, 1);
    kw_settle(w);
    all_ask(w, "c1", NULL);
    assert_slots(w, "; c1");
    all_ask(w, "c2", NULL); /* it makes nothing worse itself */
    assert_true(str_starts(kw_slots(w), "c2 "));
}

static void nodes_that_are_down_take_a_slot(void **state) {
    struct kw *w = *state;
    w->opts.down_count = true;
    kw_nodes(w, "w1", "w2", "w3", NULL);
    kw_start(w);
    kw_status(w, "w3", false, 1);
    kw_settle(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: nodes that are down take the slots");
    assert_slots(w, "; w1");
    kw_status(w, "w3", true, 1);
    kw_pass(w, SEC(1));
    assert_slots(w, "w1 drained");
}

static void what_is_broken_already_goes_first(void **state) {
    struct kw *w = *state;
    w->opts.down_count = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    kw_status(w, "w2", false, 1);
    kw_settle(w);
    all_ask(w, "w1", "w2", NULL);
    assert_true(str_starts(kw_slots(w), "w2 "));
}

static void only_nodes_of_the_policy(void **state) {
    struct kw *w = *state;
    struct pool *pool = pool_new(type_drop);
    const struct label_selector selector = {.labels = make_map(pool, "pool", "a", NULL)};
    w->opts.nodes = &selector;
    w->opts.max = (struct limit){50, true};
    kw_node_as(w, "w1", "'pool':'b'");
    kw_node_as(w, "w2", "'pool':'a'");
    kw_node_as(w, "w3", "'pool':'a'");
    kw_start(w);
    assert_int_equal(keeper_limit(w->r[0].k), 1);
    all_ask(w, "w1", "w2", NULL);
    assert_slots(w, "w2 granted; w1");
    for (unsigned i = 0; i < w->n; i++)
        kw_kill(w, i);
    pool_free(pool);
}

static void who_asks_no_more_is_forgotten(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", "w3", NULL);
    kw_start(w);
    all_ask(w, "w1", "w2", "w3", NULL);
    assert_slots(w, "w1 granted; w2, w3");
    kw_pass(w, SEC(1000));
    all_ask(w, "w3", NULL);
    kw_pass(w, SEC(1000));
    assert_slots(w, "w1 granted; w3");
}

static void wishes_of_nodes_that_are_deleted_end(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    all_ask(w, "w1", "w2", NULL);
    kw_delete(w, &kind_node, NULL, "w2");
    kw_pass(w, SEC(1));
    assert_slots(w, "w1 granted");
}

/* What the reboot manager was doing goes on: the slot is taken although all are held. */
static void what_the_seed_has_begun_is_taken_over(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'rebootmanager/status':'Rebooting'}},"
            "'spec':{'unschedulable':true}}");
    kw_start(w);
    kw_pass(w, SEC(2));
    assert_slots(w, "w2 drained");
    assert_non_null(strstr(kw_cordon(w, "w2"), "slot:default:"));
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_FULL);
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_GO);
    kw_set_time(w, w->now.mono + SEC(30));
    kw_reboot(w, "w2", 2);
    assert_says(w, 0, "w2", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(5));
    assert_false(kw_is_cordoned(w, "w2")); /* the seed's cordon was ours to lift */
    assert_string_equal(kw_mark(w, "w2"), "Ready");
    assert_true(str_starts(kw_slots(w), "w1 "));
}

/* A node of the same name that somebody has cordoned, and no mark: nothing of ours. */
static void what_somebody_else_has_cordoned_is_not(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", NULL);
    kw_edit(w, &kind_node, NULL, "w1", "{'spec':{'unschedulable':true}}");
    kw_start(w);
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_string_equal(kw_mark(w, "w1"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(as_many_as_the_policy_says),
        KEEPER_TEST(a_wish_of_an_earlier_boot_is_nobodys),
        cmocka_unit_test(percentages_are_of_the_nodes_of_the_policy),
        KEEPER_TEST(in_no_more_zones_than_the_policy_says),
        KEEPER_TEST(the_control_plane_goes_one_at_a_time),
        KEEPER_TEST(one_of_the_control_plane_that_is_down_keeps_the_others),
        KEEPER_TEST(nodes_that_are_down_take_a_slot),
        KEEPER_TEST(what_is_broken_already_goes_first),
        KEEPER_TEST(only_nodes_of_the_policy),
        KEEPER_TEST(who_asks_no_more_is_forgotten),
        KEEPER_TEST(wishes_of_nodes_that_are_deleted_end),
        KEEPER_TEST(what_the_seed_has_begun_is_taken_over),
        KEEPER_TEST(what_somebody_else_has_cordoned_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
