/* Tests of src/controller/core.c: what comes in, what comes of it, and in which order it is told.
 * What is decided is engine/keeper.c's and its kin's. */
#include "support/core_world.h"

#include "base/str.h"

static int setup(void **state) {
    struct core_world *w = xnew(struct core_world);
    cw_init(w);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    cw_done(*state);
    free(*state);
    return 0;
}

#define CORE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void note_event(void *arg, const struct core_event *e) {
    static const char letters[CORE_WHATS] = "bsrpltaqcolfhukyzWANDREOX";
    str_addc(arg, letters[e->what]);
}

static void without_policies_there_is_the_built_in_one(void **state) {
    struct core_world *w = *state;
    assert_int_equal(core_next(w->core), 0); /* the policies have to be looked at */
    assert_true(core_look(w->core));
    assert_false(core_look(w->core));
    assert_int_equal(policies_len(core_policies(w->core)), 1);
    assert_string_equal(policies_at(core_policies(w->core), 0)->name, "default");
}

static void what_comes_of_something_is_told_after_it(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    cw_step(w);
    core_listen(w->core, note_event, &told);
    core_ask(w->core, 1, "w0", KEEPER_MAY_GO, w->now);
    cw_step(w);
    /* The question, a step, and what is to be done. */
    assert_true(str_starts(str_get(&told), "qt"));
    assert_int_equal(w->actions.list.len, told.len - 2);
    core_cancel(w->core, 1);
    core_poke(w->core);
    core_lead(w->core, 3);
    core_follow(w->core);
    core_operated(w->core, "m", NULL);
    core_checks_changed(w->core);
    core_hold(w->core);
    core_blind(w->core, "why");
    cw_node(w, "w1");
    assert_string_equal(str_get(&told) + told.len - 9, "cplfokhus");
    core_listen(w->core, NULL, NULL);
    core_poke(w->core);
    assert_string_equal(str_get(&told) + told.len - 9, "cplfokhus");
}

/* What the checks go by: the listener alone hears of it, and the engine only that it has changed.
 */
static void what_checks_read_is_told_and_no_more(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    struct store *s = store_new(&kind_vmi, w->pool);
    core_lead(w->core, 3);
    cw_step(w);
    int64_t next = core_next(w->core);
    core_listen(w->core, note_event, &told);
    core_check_store(w->core, SOURCE_VMIS, s, &(struct store_change){.op = STORE_BEGIN});
    core_check_input(w->core, SOURCE_VMIS, &(struct check_input){.read = READ_DONE, .store = s});
    assert_string_equal(str_get(&told), "yz");
    assert_int_equal(core_next(w->core), next);
    store_free(s);
}

static void one_that_asks_for_a_node_of_nobody_gets_no_reply(void **state) {
    struct core_world *w = *state;
    cw_step(w);
    core_ask(w->core, 1, "nobody", KEEPER_MAY_GO, w->now);
    cw_pass(w, SEC(5));
    assert_int_equal(w->replies, 0);
    core_ask(w->core, 2, "w0", KEEPER_MAY_GO, w->now);
    cw_pass(w, SEC(5)); /* more than its patience */
    assert_int_equal(w->replies, 1);
}

static void who_leads_and_in_which_term(void **state) {
    struct core_world *w = *state;
    int32_t fence;
    assert_false(core_leads(w->core, &fence));
    core_lead(w->core, 0);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 0);
    core_lead(w->core, 5);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 5);
    core_follow(w->core);
    assert_false(core_leads(w->core, &fence));
}

/* Until it is told so; that it begins anew does not open its eyes. */
static void one_whose_picture_is_old(void **state) {
    struct core_world *w = *state;
    assert_null(core_is_blind(w->core));
    cw_step(w);
    core_blind(w->core, "nodes cannot be watched");
    assert_string_equal(core_is_blind(w->core), "nodes cannot be watched");
    core_restart(w->core);
    assert_string_equal(core_is_blind(w->core), "nodes cannot be watched");
    cw_step(w);
    cw_pass(w, SEC(1));
    core_blind(w->core, NULL);
    assert_null(core_is_blind(w->core));
    assert_true(core_next(w->core) <= w->now.mono); /* whoever waits is looked at again */
}

/* The same as one that has just been started, but for the stores. */
static void restarted_it_begins_anew(void **state) {
    struct core_world *w = *state;
    _cleanup_str_ struct str told = STR_INIT;
    int32_t fence;
    core_lead(w->core, 4);
    cw_step(w);
    const struct keeper *old = policies_at(core_policies(w->core), 0)->keeper;
    assert_non_null(old);
    cluster_look(core_cluster(w->core), &kind_replica_set, "ns", "x");
    core_listen(w->core, note_event, &told);
    core_restart(w->core);
    assert_string_equal(str_get(&told), "b");
    assert_int_equal(w->replaced, 1);
    assert_int_equal(policies_len(core_policies(w->core)), 0);
    assert_int_equal(core_cluster(w->core)->lookups.len, 0);
    assert_int_equal(store_len(core_cluster(w->core)->nodes), 1);
    assert_true(core_leads(w->core, &fence));
    assert_int_equal(fence, 4);
    cw_step(w);
    assert_int_equal(policies_len(core_policies(w->core)), 1);
    assert_non_null(keeper_drain(policies_at(core_policies(w->core), 0)->keeper));
}

/* --- the rate of evictions --- */

/* A policy with a node that is being drained for a FleetLock client, and its pods. */
static void draining(struct core_world *w, const char *policy, int pods) {
    cw_put(w, core_stores(w->core)->policies,
           "{'metadata':{'name':'%s','uid':'uid-%s','finalizers':['slipway.dev/policy']},'spec':{"
           "'nodeSelector':{'matchLabels':{'pool':'%s'}},'fleetlock':{'groups':['default']}}}",
           policy, policy, policy);
    cw_put(
        w, core_cluster(w->core)->nodes,
        "{'metadata':{'name':'n-%s','uid':'u','labels':{'pool':'%s'},'annotations':{"
        "'rebootmanager/status':'Rebooting','slipway.dev/"
        "cordon':'{\\\"v\\\":1,\\\"before\\\":false,"
        "\\\"holders\\\":[{\\\"id\\\":\\\"slot:" KW_NS
        "/%s:1\\\",\\\"by\\\":\\\"fleetlock\\\",\\\"reason\\\":\\\"Reboot\\\","
        "\\\"since\\\":\\\"2026-11-15T08:00:00Z\\\"}]}'}},'spec':{'unschedulable':true},'status':{"
        "'nodeInfo':{'bootID':'b'},'conditions':[{'type':'Ready','status':'True'}]}}",
        policy, policy, policy);
    cw_put(w, core_stores(w->core)->maps,
           "{'metadata':{'namespace':'" KW_NS "','name':'slipway-slots-%s','labels':{'" SLOTS_LABEL
           "':'%s'}},'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":3,\\\"slots\\\":[{\\\"id\\\":"
           "\\\"slot:" KW_NS "/%s:1\\\",\\\"node\\\":\\\"n-%s\\\",\\\"uid\\\":\\\"u\\\","
           "\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"fleetlock\\\","
           "\\\"state\\\":\\\"taken\\\",\\\"since\\\":\\\"2026-11-15T08:00:00Z\\\"}]}'}}",
           policy, policy, policy, policy);
    for (int i = 0; i < pods; i++)
        cw_put(w, core_cluster(w->core)->pods,
               "{'metadata':{'namespace':'default','name':'%s-%d','uid':'u-%s-%d'},'spec':{"
               "'nodeName':'n-%s'},'status':{'phase':'Running'}}",
               policy, i, policy, i, policy);
}

/* Answers what it reads. Evictions take their time: those are counted, by the policy; as are writes
 * of Maintenances. */
static void serve(struct core_world *w, unsigned *evicted) {
    for (int round = 0; round < 20; round++) {
        cw_step(w);
        struct actions asked = w->actions;
        w->actions = (struct actions)ACTIONS_INIT;
        for (size_t i = 0; i < asked.list.len; i++) {
            const struct action *a = &asked.list.p[i];
            const struct object *found = a->verb == ACTION_READ && a->kind == &kind_config_map
                                             ? store_get(core_stores(w->core)->maps, a->ns, a->name)
                                             : NULL;
            if (a->verb == ACTION_PATCH && a->kind == &kind_maintenance)
                evicted[0]++;
            else if (a->verb == ACTION_EVICT)
                evicted[*a->name - 'a']++;
            else if (a->verb == ACTION_READ)
                core_answer(w->core, a->id,
                            &(struct answer){.outcome = found ? KUBE_OK : KUBE_NOT_FOUND,
                                             .kind = a->kind,
                                             .obj = found,
                                             .retry_after = -1},
                            w->now);
        }
        actions_done(&asked);
    }
}

static void all_policies_share_the_rate_of_evictions(void **state) {
    struct core_world *w = *state;
    unsigned evicted[2] = {0};
    w->watched = true;
    draining(w, "a", 60);
    draining(w, "b", 60);
    cw_step(w);
    core_lead(w->core, 3);
    serve(w, evicted);
    assert_int_equal(evicted[0] + evicted[1], 20); /* a second's worth, of both together */
    for (int i = 0; i < 20; i++) {
        w->now.mono += MSEC(50);
        w->now.wall += MSEC(50);
        serve(w, evicted);
    }
    assert_in_range(evicted[0] + evicted[1], 39, 40);
    /* None of them takes all that comes. */
    assert_true(evicted[0] >= 8 && evicted[1] >= 8);
}

/* Rollouts are not defined (any more): nobody needs what is left of one, and its definition cannot
 * be deleted before it is gone. */
static void what_a_rollout_needs_that_cannot_be(void **state) {
    (void)state;
    struct core_world world, *w = &world;
    unsigned patches[2] = {0};
    cw_init_without(w, &kind_rollout);
    cw_put(w, core_stores(w->core)->maps,
           "{'metadata':{'namespace':'" KW_NS "','name':'slipway-slots-default','labels':{"
           "'" SLOTS_LABEL "':'default'}},'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":3,"
           "\\\"slots\\\":[]}'}}");
    cw_put(w, core_stores(w->core)->maintenances,
           "{'metadata':{'name':'r-w0','uid':'u','finalizers':['" KEEPER_FINALIZER
           "'],'deletionTimestamp':'2026-11-15T08:00:00Z','ownerReferences':[{'apiVersion':"
           "'slipway.dev/v1alpha1','kind':'Rollout','name':'r','uid':'u-r'}]},'spec':{'node':'w0',"
           "'operation':'Reboot','policy':'default'},'status':{'phase':'Cancelled'}}");
    cw_step(w);
    core_lead(w->core, 3);
    serve(w, patches);
    assert_int_equal(patches[0], 1);
    cw_done(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CORE_TEST(without_policies_there_is_the_built_in_one),
        CORE_TEST(what_comes_of_something_is_told_after_it),
        CORE_TEST(what_checks_read_is_told_and_no_more),
        CORE_TEST(one_that_asks_for_a_node_of_nobody_gets_no_reply),
        CORE_TEST(who_leads_and_in_which_term),
        CORE_TEST(one_whose_picture_is_old),
        CORE_TEST(restarted_it_begins_anew),
        CORE_TEST(all_policies_share_the_rate_of_evictions),
        cmocka_unit_test(what_a_rollout_needs_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
