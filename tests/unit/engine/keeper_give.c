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

/* What a Maintenance waits for is said by its right name. */
static void it_says_what_the_policy_lacks(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 3;
    w->opts.max_zones = 1;
    kw_node_as(w, "c1", ZONE("a") "," CONTROL);
    kw_node_as(w, "c2", ZONE("a") "," CONTROL);
    kw_node_as(w, "w1", ZONE("b"));
    kw_start(w);
    kw_ask(w, 0, "c1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    for (unsigned i = 0; i < 2; i++)
        kw_put(w, &kind_maintenance,
               "{'metadata':{'name':'m-%s','uid':'uid-%s','generation':1},'spec':{'node':'%s',"
               "'operation':'Drain','policy':'default'}}",
               i ? "w1" : "c2", i ? "w1" : "c2", i ? "w1" : "c2");
    kw_pass(w, SEC(30));
    json_t *zones = kw_doc(w, &kind_maintenance, NULL, "m-w1");
    assert_string_equal(dw_str(zones, "status.blocker.code"), "MaxZonesReached");
    assert_non_null(strstr(dw_str(zones, "status.blocker.message"), "nodes of 1 zone are out"));
    json_t *control = kw_doc(w, &kind_maintenance, NULL, "m-c2");
    assert_string_equal(dw_str(control, "status.blocker.code"), "MaxUnavailableReached");
    assert_non_null(strstr(dw_str(control, "status.blocker.message"), "of the control plane"));
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
    assert_slots(w, "w2 granted"); /* and nobody waits where nobody hears it */
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
    assert_non_null(strstr(kw_cordon(w, "w2"), "slot:slipway-system/default:"));
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

#define LEFT_BY_SEED                                                                               \
    "{'metadata':{'annotations':{'rebootmanager/status':'Rebooting'}},"                            \
    "'spec':{'unschedulable':true}}"

/* The mark alone is nothing: any kubelet could take a slot with it. */
static void a_mark_without_a_cordon_is_not_taken_over(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    kw_edit(w, &kind_node, NULL, "w2",
            "{'metadata':{'annotations':{'rebootmanager/status':'Rebooting'}}}");
    kw_pass(w, SEC(60));
    assert_slots(w, "");
    assert_says(w, 0, "w2", KEEPER_STEADY, KEEPER_NOTED);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* More than the policy lets out: they keep their slots, and are drained and granted one after the
 * other. */
static void what_is_too_much_of_it_waits(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    kw_nodes(w, "w1", "w2", "w3", NULL);
    kw_start(w);
    all_ask(w, "w1", NULL);
    assert_slots(w, "w1 granted");
    kw_edit(w, &kind_node, NULL, "w2", LEFT_BY_SEED);
    kw_edit(w, &kind_node, NULL, "w3", LEFT_BY_SEED);
    kw_pass(w, SEC(30));
    assert_slots(w, "w1 granted, w2 taken, w3 taken");
    assert_string_equal(kw_cordon(w, "w2"), "");
    assert_int_equal(kw_pods_on(w, "w2"), 1);
    const struct kw_reply *r = kw_answer(w, 1, "w2", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: w1, w3");
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(30));
    assert_slots(w, "w2 drained, w3 taken");
    assert_int_equal(kw_pods_on(w, "w3"), 1);
    assert_says(w, 1, "w2", KEEPER_MAY_GO, KEEPER_GO);
    assert_says(w, 1, "w3", KEEPER_MAY_GO, KEEPER_FULL);
    assert_says(w, 1, "w3", KEEPER_STEADY, KEEPER_NOTED); /* it was back all the time */
    kw_pass(w, SEC(5));
    assert_slots(w, "w2 granted");
    assert_false(kw_is_cordoned(w, "w3"));
    assert_string_equal(kw_mark(w, "w3"), "Ready");
}

/* Somebody has to approve of it as of any other. */
static void what_is_taken_over_passes_the_gates(void **state) {
    struct kw *w = *state;
    w->opts.seed_marks = true;
    w->opts.approval = true;
    kw_nodes(w, "w1", NULL);
    kw_edit(w, &kind_node, NULL, "w1", LEFT_BY_SEED);
    kw_start(w);
    kw_pass(w, SEC(30));
    assert_slots(w, "w1 taken");
    assert_int_equal(kw_pods_on(w, "w1"), 1);
    const struct kw_reply *r = kw_answer(w, 1, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_non_null(strstr(r->text, "node/w1"));
}

/* --- other policies --- */

/* Nodes that hold a slot of another one; NULL: that is not known. */
static const char *const *elsewhere;

static bool on_elsewhere(void *arg, const struct keeper *k, keeper_out_fn *fn, void *fn_arg) {
    (void)arg, (void)k;
    for (const char *const *name = elsewhere; name && *name; name++)
        fn(fn_arg, *name);
    return elsewhere;
}

static const char *const nobody[] = {NULL}, *const w2_alone[] = {"w2", NULL},
                         *const c1_alone[] = {"c1", NULL};

/* As the record of the other one changes. */
static void set_elsewhere(struct kw *w, const char *const *names) {
    elsewhere = names;
    kw_put(w, &kind_config_map,
           "{'metadata':{'namespace':'" KW_NS
           "','name':'slipway-slots-other','labels':{'" SLOTS_LABEL "':'other'}}}");
    kw_pass(w, SEC(1));
}

static void what_is_out_for_another_policy_counts(void **state) {
    struct kw *w = *state;
    w->opts.elsewhere = on_elsewhere;
    elsewhere = w2_alone;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: they are out for another policy");
    assert_slots(w, "; w1");
    set_elsewhere(w, nobody);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
}

/* Whoever has given it hears of it, and gives it back: of two only one would be. */
static void one_that_is_itself_out_for_another_gets_none(void **state) {
    struct kw *w = *state;
    w->opts.elsewhere = on_elsewhere;
    w->opts.max.value = 5;
    elsewhere = w2_alone;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w2", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(
        r->text, "other nodes rebooting: node w2 is out of service for another policy itself");
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted; w2");
    set_elsewhere(w, nobody);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted, w2 drained");
}

/* Of a policy that is gone, is being deleted or has no FleetLock clients (any more). */
static void wishes_of_clients_that_nobody_hears_are_forgotten(void **state) {
    struct kw *w = *state;
    char now[TIMEFMT_LEN];
    w->opts.no_clients = true;
    w->opts.max.value = 5;
    kw_nodes(w, "w1", "w2", NULL);
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-m1','generation':1},'spec':{'node':'w2',"
           "'operation':'Drain','policy':'default'}}");
    kw_set_record(w,
                  "{'v':1,'fence':1,'slots':[],'waiting':[{'node':'w1','operation':'Reboot','by':"
                  "'fleetlock','boot':'boot-1','since':'%s','asked':'%s'}]}",
                  time_format(w->now.wall, false, now), now);
    kw_start(w);
    kw_pass(w, SEC(5));
    assert_null(strstr(kw_slots(w), "w1"));
    assert_non_null(strstr(kw_slots(w), "w2")); /* a Maintenance is another matter */
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    assert_null(strstr(kw_slots(w), "w1"));
}

static const char *unguarded;

static const char *on_unguarded(void *arg, const struct keeper *k) {
    (void)arg, (void)k;
    return unguarded;
}

static void nobody_gets_one_of_a_policy_that_could_vanish(void **state) {
    struct kw *w = *state;
    w->opts.unguarded = on_unguarded;
    unguarded = "it could vanish";
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_BLOCKED);
    assert_string_equal(r->text, "it could vanish");
    assert_slots(w, "; w1");
    unguarded = NULL;
    keeper_poke(w->r[0].k, NULL, NULL, NULL); /* as when the Policy has changed */
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 drained");
}

static const char *blind;

static const char *on_blind(void *arg) {
    (void)arg;
    return blind;
}

/* What is down, and where, is not to be seen then. Who has been told to go is another matter: that
 * follows a read of the record, the Node and its pods. */
static void nobody_gets_one_by_an_old_picture(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 2;
    w->opts.blind = on_blind;
    blind = NULL;
    kw_nodes(w, "w1", "w2", "w3", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    blind = "nodes cannot be watched";
    kw_put(w, &kind_maintenance,
           "{'metadata':{'name':'m1','uid':'uid-m1','generation':1},'spec':{'node':'w3',"
           "'operation':'Drain','policy':'default'}}");
    const struct kw_reply *r = kw_answer(w, 0, "w2", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_TROUBLE);
    assert_string_equal(r->text, "nodes cannot be watched");
    kw_pass(w, SEC(60));
    assert_slots(w, "w1 granted; w2, w3");
    json_t *record = kw_record(w); /* which 'slipway locks' and the other replicas go by */
    const json_t *wait = json_array_get(json_object_get(record, "waiting"), 0);
    assert_string_equal(dw_str(json_object_get(wait, "wait"), "code"), "ServerTrouble");
    assert_string_equal(dw_str(json_object_get(wait, "wait"), "message"),
                        "nodes cannot be watched");
    json_decref(record);
    assert_null(strstr(str_get(&w->told), "GateShut")); /* no Event of each that waits */
    assert_string_equal(dw_str(kw_doc(w, &kind_maintenance, NULL, "m1"), "status.blocker.code"),
                        "ServerTrouble");
    assert_string_equal(dw_str(kw_doc(w, &kind_maintenance, NULL, "m1"), "status.blocker.message"),
                        "nodes cannot be watched");
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    blind = NULL;
    keeper_poke(w->r[0].k, NULL, NULL, NULL);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted, w2 drained; w3");
    assert_null(
        strstr(dw_str(kw_doc(w, &kind_config_map, KW_NS, KW_MAP), "data.slots"), "Trouble"));
}

/* Whoever gets no slot is told so: nothing is evicted for it. */
static void why_there_is_none(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 5;
    w->opts.max_zones = 1;
    kw_node_as(w, "c1", CONTROL "," ZONE("a"));
    kw_node_as(w, "c2", CONTROL "," ZONE("a"));
    kw_node_as(w, "w1", ZONE("b"));
    kw_start(w);
    assert_says(w, 0, "c1", KEEPER_MAY_GO, KEEPER_GO);
    const struct kw_reply *r = kw_answer(w, 0, "c2", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: of the control plane one goes at a time, "
                                 "and another is out or down");
    r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: nodes of 1 zone are out, which is as many "
                                 "as policy default lets out at once");
    assert_slots(w, "c1 granted; c2, w1");
}

static void a_policy_that_lets_nobody_out(void **state) {
    struct kw *w = *state;
    w->opts.max.value = 0;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_FULL);
    assert_string_equal(r->text, "other nodes rebooting: none, and policy default lets none out");
}

static void nobody_gets_one_before_that_is_known(void **state) {
    struct kw *w = *state;
    w->opts.elsewhere = on_elsewhere;
    elsewhere = NULL;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    all_ask(w, "w1", NULL);
    kw_pass(w, SEC(60));
    assert_slots(w, "; w1");
    set_elsewhere(w, nobody);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 drained");
}

/* Of a policy whose record cannot be read, or of a Slipway in another namespace. */
static void the_cordon_of_another_policy_counts(void **state) {
    static const struct {
        const char *id;
        bool counts, swept;
    } cases[] = {{"slot:slipway-system/other:1", true, false},
                 {"slot:elsewhere/default:1", true, false},
                 {"slot:other:1", true, false},
                 {"slot:slipway-system/default:1", false, true}, /* left behind: it is put back */
                 {"slot:default:1", false, true}, /* the same, of an earlier release */
                 {"cli:somebody", false, false}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 1);
        kw_nodes(w, "w1", "w2", NULL);
        kw_edit(w, &kind_node, NULL, "w2",
                "{'metadata':{'annotations':{'slipway.dev/cordon':'{\\'v\\':1,\\'before\\':false,"
                "\\'holders\\':[{\\'id\\':\\'%s\\'}]}'}},'spec':{'unschedulable':true}}",
                cases[i].id);
        kw_start(w);
        const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
        if ((r->say == KEEPER_FULL) != cases[i].counts)
            fail_msg("%s: %s", cases[i].id, r->text);
        if (kw_is_cordoned(w, "w2") == cases[i].swept)
            fail_msg("%s: %s", cases[i].id, kw_cordon(w, "w2"));
        kw_done(w);
        free(w);
    }
}

static void of_the_control_plane_one_across_all_policies(void **state) {
    struct kw *w = *state;
    struct pool *pool = pool_new(type_drop);
    const struct label_selector selector = {.labels = make_map(pool, "pool", "a", NULL)};
    w->opts.nodes = &selector;
    w->opts.max.value = 5;
    w->opts.elsewhere = on_elsewhere;
    elsewhere = c1_alone;
    kw_node_as(w, "c1", CONTROL); /* none of this policy */
    kw_node_as(w, "c2", "'pool':'a'," CONTROL);
    kw_node_as(w, "w1", "'pool':'a'");
    kw_start(w);
    all_ask(w, "c2", "w1", NULL);
    assert_slots(w, "w1 granted; c2");
    kw_status(w, "c1", false, 1);
    set_elsewhere(w, nobody); /* and it has not come back */
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted; c2");
    kw_status(w, "c1", true, 2);
    kw_pass(w, SEC(5));
    assert_slots(w, "c2 drained, w1 granted");
    for (unsigned i = 0; i < w->n; i++)
        kw_kill(w, i);
    pool_free(pool);
}

static void add_out(void *arg, const char *node) {
    str_addf(arg, "%s ", node);
}

/* It has sent a slot, and nobody has carried that out. */
static bool takes(const struct kw_replica *r) {
    for (size_t i = 0; i < r->calls.len; i++)
        if (r->calls.p[i].a.body && strstr(r->calls.p[i].a.body, "taken"))
            return true;
    return false;
}

/* Other policies of the same leader know of it before the server does. */
static void one_that_is_being_written_counts(void **state) {
    struct kw *w = *state;
    struct str out = STR_INIT;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    struct kw_replica *r = &w->r[0];
    for (unsigned i = 0; i < 100 && !takes(r); i++) {
        while (kw_show_one(r, KW_MAPS))
            ;
        kw_step(r);
        if (!r->calls.len || takes(r))
            continue;
        kw_perform(w, &r->calls.p[0]);
        kw_deliver(r, 0);
    }
    assert_true(takes(r));
    assert_true(keeper_each_out(r->k, add_out, &out));
    assert_string_equal(str_get(&out), "w1 ");
    assert_null(strstr(kw_slots(w), "taken"));
    kw_settle(w);
    str_reset(&out);
    assert_true(keeper_each_out(w->r[0].k, add_out, &out));
    assert_string_equal(str_get(&out), "w1 ");
    str_done(&out);
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
        KEEPER_TEST(it_says_what_the_policy_lacks),
        KEEPER_TEST(the_control_plane_goes_one_at_a_time),
        KEEPER_TEST(one_of_the_control_plane_that_is_down_keeps_the_others),
        KEEPER_TEST(nodes_that_are_down_take_a_slot),
        KEEPER_TEST(what_is_broken_already_goes_first),
        KEEPER_TEST(only_nodes_of_the_policy),
        KEEPER_TEST(who_asks_no_more_is_forgotten),
        KEEPER_TEST(wishes_of_nodes_that_are_deleted_end),
        KEEPER_TEST(what_the_seed_has_begun_is_taken_over),
        KEEPER_TEST(a_mark_without_a_cordon_is_not_taken_over),
        KEEPER_TEST(what_is_too_much_of_it_waits),
        KEEPER_TEST(what_is_taken_over_passes_the_gates),
        KEEPER_TEST(what_is_out_for_another_policy_counts),
        KEEPER_TEST(one_that_is_itself_out_for_another_gets_none),
        KEEPER_TEST(why_there_is_none),
        KEEPER_TEST(wishes_of_clients_that_nobody_hears_are_forgotten),
        KEEPER_TEST(nobody_gets_one_of_a_policy_that_could_vanish),
        KEEPER_TEST(nobody_gets_one_by_an_old_picture),
        KEEPER_TEST(a_policy_that_lets_nobody_out),
        KEEPER_TEST(nobody_gets_one_before_that_is_known),
        cmocka_unit_test(the_cordon_of_another_policy_counts),
        KEEPER_TEST(of_the_control_plane_one_across_all_policies),
        KEEPER_TEST(one_that_is_being_written_counts),
        KEEPER_TEST(what_somebody_else_has_cordoned_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
