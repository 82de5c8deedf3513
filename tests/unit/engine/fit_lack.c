/* Tests of src/engine/fit_lack.c: what a pod that fits nowhere lacks. */
#include "engine/fit_lack.h"

#include "support/drain_world.h"

struct scene {
    struct drain_world w;
    struct fit *fit;
    struct fit_lack lack;
    const char *except;
};

static int setup(void **state) {
    struct scene *s = xnew(struct scene);
    dw_init(&s->w);
    s->fit = fit_new(s->w.pool);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;
    fit_lack_done(&s->lack);
    fit_free(s->fit);
    dw_done(&s->w);
    free(s);
    return 0;
}

static void node(struct scene *s, const char *name, const char *cpu, const char *memory,
                 const char *pods, const char *spec) {
    dw_put(&s->w, &kind_node,
           "{'metadata':{'name':'%s','uid':'u-%s'},'spec':{%s},'status':{'allocatable':{'cpu':'%s',"
           "'memory':'%s','pods':'%s'}}}",
           name, name, spec, cpu, memory, pods);
    fit_put_node(s->fit, (const struct node *)store_get(s->w.c.nodes, NULL, name));
}

static const struct pod *pod(struct scene *s, const char *name, const char *node,
                             const char *requests) {
    dw_pod(&s->w, name, node,
           "{'spec':{'containers':[{'name':'c','resources':{'requests':{%s}}}]}}", requests);
    return (const struct pod *)store_get(s->w.c.pods, "default", name);
}

static void ask(struct scene *s, const char *requests, bool cordons) {
    struct pod p = *pod(s, "asks", "", requests);
    p.node_name = NULL;
    fit_lack_done(&s->lack);
    fit_lack_of(s->fit, cordons ? s->w.c.nodes : NULL, &p, s->except, &s->lack);
}

static void the_nearest_is_named_with_what_it_lacks(void **state) {
    struct scene *s = *state;
    node(s, "w1", "2", "4Gi", "10", "");
    node(s, "w2", "2", "8Gi", "10", "");
    fit_put_pod(s->fit, pod(s, "full", "w1", "'cpu':'1500m','memory':'1Gi'"));
    fit_put_pod(s->fit, pod(s, "half", "w2", "'cpu':'1200m','memory':'1Gi'"));
    ask(s, "'cpu':'1','memory':'5Gi'", true);
    assert_null(s->lack.fits);
    assert_int_equal(s->lack.short_of, 2);
    assert_string_equal(s->lack.nearest, "w2"); /* 200m; w1 lacks 500m and 2Gi */
    assert_string_equal(str_get(&s->lack.lack), "200m cpu");
}

static void pods_and_several_resources_count(void **state) {
    struct scene *s = *state;
    node(s, "w1", "1", "1Gi", "1", "");
    fit_put_pod(s->fit, pod(s, "a", "w1", "'cpu':'1'"));
    ask(s, "'cpu':'500m','memory':'2Gi'", true);
    assert_string_equal(s->lack.nearest, "w1");
    assert_string_equal(str_get(&s->lack.lack), "500m cpu and 1024Mi memory and 1 pod");
}

/* What helps is told by what is in the way, on nodes that count. */
static void each_reason_has_its_help(void **state) {
    struct scene *s = *state;
    const char *helps[FIT_HELPS];
    node(s, "w1", "1", "1Gi", "10", "'taints':[{'key':'a','effect':'NoSchedule'}]");
    node(s, "w2", "1", "1Gi", "10", "'unschedulable':true");
    ask(s, "'cpu':'500m'", true);
    assert_int_equal(fit_lack_help(&s->lack, helps), 1);
    assert_string_equal(helps[0], "add a node without these taints, or let the pod tolerate them");
    s->except = "w1";
    ask(s, "'cpu':'500m'", true);
    assert_int_equal(fit_lack_help(&s->lack, helps), 0);
    for (unsigned code = FIT_NODE_NAME; code < FIT_CODES; code++) {
        size_t n = fit_lack_help(&(struct fit_lack){.codes = UINT32_C(1) << code}, helps);
        bool room = code == FIT_PODS || code == FIT_RESOURCE; /* has its own words */
        assert_int_equal(n, !room);
    }
    assert_int_equal(fit_lack_help(&(struct fit_lack){.codes = UINT32_MAX}, helps), FIT_HELPS);
    assert_non_null(strstr(helps[0], "in the zone of its volume"));
    fit_lack_help(&(struct fit_lack){.codes = UINT32_MAX, .on_disk = true}, helps);
    assert_non_null(strstr(helps[0], "on a disk of certain nodes alone"));
}

/* No node has what is missing, and none is asked for. */
static void a_claim_that_is_gone(void **state) {
    struct scene *s = *state;
    const char *helps[FIT_HELPS];
    node(s, "w1", "2", "4Gi", "10", "");
    dw_pod(&s->w, "asks", "",
           "{'spec':{'containers':[{'name':'c'}],'volumes':[{'name':'v','persistentVolumeClaim':{"
           "'claimName':'gone'}}]}}");
    struct pod p = *(const struct pod *)store_get(s->w.c.pods, "default", "asks");
    p.node_name = NULL;
    fit_lack_of(s->fit, s->w.c.nodes, &p, NULL, &s->lack);
    assert_null(s->lack.nearest);
    assert_int_equal(fit_lack_help(&s->lack, helps), 1);
    assert_non_null(strstr(helps[0], "no node helps: make the claim"));
}

/* The node that is to be emptied is no candidate, however near. */
static void the_node_that_is_emptied_does_not_count(void **state) {
    struct scene *s = *state;
    node(s, "w1", "2", "4Gi", "10", "");
    node(s, "w2", "1", "4Gi", "10", "");
    fit_put_pod(s->fit, pod(s, "full", "w1", "'cpu':'1500m'"));
    s->except = "w1";
    ask(s, "'cpu':'2'", true);
    assert_int_equal(s->lack.short_of, 1);
    assert_string_equal(s->lack.nearest, "w2");
    assert_string_equal(str_get(&s->lack.lack), "1 cpu");
}

/* More cpu does not help against a selector. */
static void other_reasons_are_not_a_lack(void **state) {
    struct scene *s = *state;
    node(s, "w1", "1", "1Gi", "10", "'taints':[{'key':'a','effect':'NoSchedule'}]");
    ask(s, "'cpu':'2'", true);
    assert_int_equal(s->lack.short_of, 0);
    assert_null(s->lack.nearest);
}

static void a_cordon_is_looked_behind(void **state) {
    struct scene *s = *state;
    node(s, "w1", "1", "1Gi", "10", "");
    node(s, "w2", "4", "8Gi", "10", "'unschedulable':true");
    ask(s, "'cpu':'2'", true);
    assert_int_equal(s->lack.cordoned, 1);
    assert_string_equal(s->lack.behind, "w2");
    assert_string_equal(s->lack.nearest, "w1");
    ask(s, "'cpu':'2'", false);
    assert_int_equal(s->lack.cordoned, 0);
    s->except = "w2"; /* it is to be emptied: that it has room is no news */
    ask(s, "'cpu':'2'", true);
    assert_int_equal(s->lack.cordoned, 0);
    assert_null(s->lack.behind);
    /* And the picture is as it was. */
    ask(s, "'cpu':'500m'", true);
    assert_string_equal(s->lack.fits, "w1");
}

/* Other taints stay when the cordon goes: those that only ask for others to be preferred, or that
 * the pod tolerates, do not keep it out. */
static void behind_a_cordon_are_taints(void **state) {
    static const struct {
        const char *taint;
        bool out;
    } rows[] = {{"'key':'slipway.dev/next','effect':'PreferNoSchedule'", false},
                {"'key':'soft','value':'x','effect':'PreferNoSchedule'", false},
                {"'key':'mine','effect':'NoSchedule'", false},
                {"'key':'mine','effect':'NoExecute'", true},
                {"'key':'theirs','effect':'NoSchedule'", true},
                {"'key':'node.kubernetes.io/not-ready','effect':'NoExecute'", true}};
    struct scene *s = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *spec =
            xasprintf("'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable',"
                      "'effect':'NoSchedule'},{%s}]",
                      rows[i].taint);
        node(s, "w1", "4", "8Gi", "10", spec);
        dw_pod(&s->w, "asks", "",
               "{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}],"
               "'tolerations':[{'key':'mine','operator':'Exists','effect':'NoSchedule'}]}}");
        struct pod p = *(const struct pod *)store_get(s->w.c.pods, "default", "asks");
        p.node_name = NULL;
        fit_lack_done(&s->lack);
        fit_lack_of(s->fit, s->w.c.nodes, &p, NULL, &s->lack);
        assert_null(s->lack.fits);
        assert_int_equal(s->lack.cordoned, !rows[i].out);
    }
}

#define LACK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        LACK_TEST(the_nearest_is_named_with_what_it_lacks),
        LACK_TEST(pods_and_several_resources_count),
        LACK_TEST(each_reason_has_its_help),
        LACK_TEST(a_claim_that_is_gone),
        LACK_TEST(the_node_that_is_emptied_does_not_count),
        LACK_TEST(other_reasons_are_not_a_lack),
        LACK_TEST(a_cordon_is_looked_behind),
        LACK_TEST(behind_a_cordon_are_taints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
