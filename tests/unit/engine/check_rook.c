/* Tests of src/engine/check_rook.c. Objects have the shapes of ceph.rook.io/v1; what Rook itself
 * does at a drain is in its clusterdisruption controller. */
#include "support/checks.h"

#define NS "'namespace':'rook-ceph'"

static void cluster(struct site *s, const char *ceph) {
    site_addf(s, SOURCE_CEPH_CLUSTERS,
              "{'metadata':{'name':'my'," NS "},'spec':{'mon':{'count':3}},'status':{'phase':"
              "'Ready','ceph':{%s'lastChecked':'2026-11-15T07:59:30Z'}}}",
              ceph);
}

#define OK "'health':'HEALTH_OK',"

static void osd(struct site *s, int id, const char *node, const char *rack, const char *status) {
    site_addf(s, SOURCE_CEPH_PODS,
              "{'metadata':{'name':'osd-%d'," NS ",'labels':{'app':'rook-ceph-osd','osd':'%d',"
              "'topology-location-host':'%s','topology-location-rack':'%s'}},'spec':{'nodeName':"
              "'%s'},%s}",
              id, id, node, rack, node, status);
}

static void mon(struct site *s, const char *id, const char *node, const char *status) {
    site_addf(s, SOURCE_CEPH_PODS,
              "{'metadata':{'name':'mon-%s'," NS ",'labels':{'app':'rook-ceph-mon','mon':'%s'}},"
              "'spec':{'nodeName':'%s'},%s}",
              id, id, node, status);
}

static void pool(struct site *s, const char *name, const char *domain) {
    site_addf(s, SOURCE_CEPH_BLOCK_POOLS,
              "{'metadata':{'name':'%s'," NS "},'spec':{'failureDomain':'%s'}}", name, domain);
}

static void draining(struct site *s, const char *domain) {
    site_addf(s, SOURCE_ROOK_STATES,
              "{'metadata':{'name':'rook-ceph-pdbstatemap'," NS "},'data':{"
              "'draining-failure-domain':'%s','set-no-out':'true'}}",
              domain);
}

/* Racks a (w1, w2) and b (w3, w4), an OSD each. */
static void racks(struct site *s) {
    site_init(s, "rook-ceph");
    pool(s, "p", "rack");
    osd(s, 1, "w1", "a", READY);
    osd(s, 2, "w2", "a", READY);
    osd(s, 3, "w3", "b", READY);
    osd(s, 4, "w4", "b", READY);
}

static void what_cannot_be_read_is_named_and_the_rest_is_judged(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, OK);
    site_add_odd(&s, SOURCE_CEPH_CLUSTERS,
                 "{'metadata':{'name':'odd','namespace':'other'},'status':{'ceph':{'health':1}}}");
    site_expect(
        &s, "w1 w3", NULL, NULL,
        "wait CO CheckUnknown w1 odd: cannot read CephCluster other/odd: status.ceph.health:"
        " expected a string, found a number\n"
        "wait CO StorageNotOkToStop w1 my: OSDs of 2 failure domains (rack) would be down "
        "together: a, b\n"
        "wait CO CheckUnknown w3 odd: cannot read CephCluster other/odd: status.ceph.health:"
        " expected a string, found a number\n"
        "wait CO StorageNotOkToStop w3 my: OSDs of 2 failure domains (rack) would be down "
        "together: a, b\n");
    /* Nothing passes beside it. */
    site_run(&s, "w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_WAIT);
    assert_int_equal(s.result.n, 1);
    site_done(&s);
}

static void a_whole_rack_may_go_together_but_not_two(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, OK);
    site_expect(&s, "w1 w2", NULL, NULL,
                "pass CO - w1: Ceph rook-ceph/my is HEALTH_OK; 1 OSD of failure domain a would be "
                "down\n"
                "pass CO - w2: Ceph rook-ceph/my is HEALTH_OK; 1 OSD of failure domain a would be "
                "down\n");
    site_expect(&s, "w1 w3", NULL, NULL,
                "wait CO StorageNotOkToStop w1 my: OSDs of 2 failure domains (rack) would be down "
                "together: a, b\n"
                "wait CO StorageNotOkToStop w3 my: OSDs of 2 failure domains (rack) would be down "
                "together: a, b\n");
    assert_string_equal(s.result.list[0].hint,
                        "one rack at a time: nodes of the same rack may go together");
    /* w2 is out: its rack may go on, the other may not. */
    site_run(&s, "w1", "w2", NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w3", "w2", NULL);
    assert_int_equal(check_worst(&s.result, "w3", CHECK_OPERATION), CHECK_WAIT);
    /* A node without OSDs is none of Ceph's business. */
    site_expect(&s, "w5", NULL, NULL, "");
    s.req.alone = true; /* each by itself */
    site_run(&s, "w1 w3", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w1 w3", "w2", NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    assert_int_equal(check_worst(&s.result, "w3", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

/* The lowest level of any pool counts; without pools it is the host. */
static void the_failure_domain_is_the_lowest_of_the_pools(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, OK);
    pool(&s, "q", "host");
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    racks(&s);
    cluster(&s, OK);
    site_add(&s, SOURCE_CEPH_FILESYSTEMS,
             "{'metadata':{'name':'f'," NS "},'spec':{'metadataPool':{'failureDomain':'rack'},"
             "'dataPools':[{'failureDomain':'rack'},{'failureDomain':'host'}]}}");
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    /* Pools of another namespace do not count; those that cannot be read might say anything. */
    racks(&s);
    cluster(&s, OK);
    site_add(&s, SOURCE_CEPH_BLOCK_POOLS,
             "{'metadata':{'name':'q','namespace':'other'},'spec':{'failureDomain':'host'}}");
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    s.world.inputs[SOURCE_CEPH_FILESYSTEMS] = (struct check_input){READ_FAILED, "no", NULL};
    site_run(&s, "w1 w2", NULL, NULL);
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

static void health_gates_the_cordon(void **state) {
    (void)state;
    static const struct {
        const char *ceph, *want;
    } cases[] = {
        {"'health':'HEALTH_WARN','details':{'PG_DEGRADED':{'severity':'HEALTH_WARN','message':"
         "'Degraded data redundancy: 3/9 objects degraded'}},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: PG_DEGRADED (Degraded "
         "data redundancy: 3/9 objects degraded)\n"},
        {"'health':'HEALTH_ERR','details':{'OSD_FULL':{'severity':'HEALTH_ERR','message':'1 full "
         "osd(s)'}},",
         "wait CO StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_ERR: OSD_FULL (1 full "
         "osd(s))\n"},
        /* noout is what a maintenance sets itself. */
        {"'health':'HEALTH_WARN','details':{'OSDMAP_FLAGS':{'severity':'HEALTH_WARN','message':"
         "'noout flag(s) set'}},",
         "pass CO - w1: Ceph rook-ceph/my is HEALTH_WARN; 1 OSD of failure domain a would be "
         "down\n"},
        {"'health':'HEALTH_WARN','details':{'OSD_FLAGS':{'severity':'HEALTH_WARN','message':'1 "
         "OSDs "
         "or CRUSH {nodes, device-classes} have {NOUP,NODOWN,NOIN,NOOUT} flags set'}},",
         "pass CO - w1: Ceph rook-ceph/my is HEALTH_WARN; 1 OSD of failure domain a would be "
         "down\n"},
        {"'health':'HEALTH_WARN','details':{'OSDMAP_FLAGS':{'severity':'HEALTH_WARN','message':"
         "'pauserd,pausewr,noout flag(s) set'}},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: OSDMAP_FLAGS "
         "(pauserd,pausewr,noout flag(s) set)\n"},
        /* A check that nobody here has heard of is no less a fault beside a flag. */
        {"'health':'HEALTH_WARN','details':{'OSDMAP_FLAGS':{'message':'noout flag(s) set'},"
         "'SOMETHING_NEW':{'message':'x is y'}},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: SOMETHING_NEW (x is "
         "y)\n"},
        /* One that is not told in Ceph's way counts as well. */
        {"'health':'HEALTH_WARN','details':{'OSD_FLAGS':{'message':'x'},'SOMETHING_NEW':7},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: SOMETHING_NEW\n"},
        {"'health':'HEALTH_WARN',",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: it does not say "
         "why\n"},
        {"'health':'HEALTH_WARN','details':{'OSD_FLAGS':{'message':'x'},'OSD_DOWN':{'message':'1 "
         "osds down'}},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: OSD_DOWN (1 osds "
         "down)\n"},
        {"'health':'HEALTH_WARN','details':{'SOMETHING_NEW':{'message':'x'}},",
         "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: SOMETHING_NEW (x)\n"},
        {"'health':'HEALTH_WEIRD',",
         "wait CO StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WEIRD: it does not say "
         "why\n"},
        {"", "wait CO CheckUnknown w1 my: Ceph rook-ceph/my does not report its health "
             "(status.ceph.health)\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        racks(&s);
        cluster(&s, cases[i].ceph);
        site_expect(&s, "w1", NULL, NULL, cases[i].want);
        site_done(&s);
    }
}

static void old_news_is_no_news(void **state) {
    (void)state;
    static const struct {
        const char *checked, *want;
    } cases[] = {
        {"'lastChecked':'2026-11-15T06:00:00Z'",
         "wait CO CheckUnknown w1 my: the health of Ceph rook-ceph/my was last looked at 120m ago: "
         "does Rook's operator run?\n"},
        {"'lastChecked':'2027-01-01T00:00:00Z'",
         "wait CO CheckUnknown w1 my: the health of Ceph rook-ceph/my was last looked at in the "
         "future, 2027-01-01T00:00:00Z: whose clock is wrong?\n"},
        {"'lastChecked':'yesterday'", "wait CO CheckUnknown w1 my: Ceph rook-ceph/my does not say "
                                      "when its health was last looked at "
                                      "(status.ceph.lastChecked)\n"},
        {"'x':1", "wait CO CheckUnknown w1 my: Ceph rook-ceph/my does not say when its health was "
                  "last looked at (status.ceph.lastChecked)\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s;
        racks(&s);
        site_addf(&s, SOURCE_CEPH_CLUSTERS,
                  "{'metadata':{'name':'my'," NS "},'status':{'ceph':{'health':'HEALTH_OK',%s}}}",
                  cases[i].checked);
        site_expect(&s, "w1", NULL, NULL, cases[i].want);
        site_done(&s);
    }
}

/* Once Rook has seen the drain it guards the other racks and leaves this one free. */
static void the_domain_that_rook_drains_goes_on(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, "'health':'HEALTH_WARN','details':{'OSD_DOWN':{'message':'1 osds down'}},");
    draining(&s, "a");
    site_run(&s, "w1", "w2", NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_PASS);
    site_expect(&s, "w3", NULL, NULL,
                "wait CO StorageNotOkToStop w3 my: Rook lets failure domain a drain, and no other; "
                "this node is of b\n");
    site_done(&s);
    /* An empty value is what Rook leaves behind when it is done. */
    racks(&s);
    cluster(&s, OK);
    draining(&s, "");
    site_run(&s, "w3", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w3", CHECK_CORDON), CHECK_PASS);
    site_done(&s);
    /* Not even its own rack when the data is in danger. */
    racks(&s);
    cluster(&s, "'health':'HEALTH_ERR','details':{'PG_DAMAGED':{'message':'1 pg inconsistent'}},");
    draining(&s, "a");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_OPERATION), CHECK_WAIT);
    site_done(&s);
}

/* Whoever may not see what Rook does must not begin a second failure domain. */
static void what_rook_drains_has_to_be_readable(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, OK);
    s.world.inputs[SOURCE_ROOK_STATES] =
        (struct check_input){READ_FAILED, "configmaps is forbidden", NULL};
    site_expect(&s, "w3", NULL, NULL,
                "wait CO CheckUnknown w3: configmaps cannot be read: configmaps is forbidden\n");
    site_done(&s);
}

/* Somebody goes to mend the node whose OSD is down: that must not wait for the OSD to come up. */
static void the_node_with_the_broken_osd_may_go(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "rook-ceph");
    pool(&s, "p", "rack");
    osd(&s, 1, "w1", "a", UNREADY);
    osd(&s, 2, "w2", "a", READY);
    osd(&s, 3, "w3", "b", READY);
    cluster(&s, "'health':'HEALTH_WARN','details':{'OSD_DOWN':{'message':'1 osds down'},"
                "'PG_DEGRADED':{'message':'x'}},");
    site_expect(
        &s, "w1", NULL, NULL,
        "pass CO - w1: Ceph rook-ceph/my is HEALTH_WARN; 1 OSD of failure domain a would be "
        "down\n"
        "pass C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: OSD_DOWN, "
        "PG_DEGRADED (1 osds down); the OSDs that are down are of this failure domain, "
        "a\n");
    site_run(&s, "w2", NULL, NULL); /* the same rack */
    assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_PASS);
    site_run(&s, "w3", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w3", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    /* Data that cannot be reached is another matter. */
    site_init(&s, "rook-ceph");
    pool(&s, "p", "rack");
    osd(&s, 1, "w1", "a", UNREADY);
    cluster(&s, "'health':'HEALTH_WARN','details':{'OSD_DOWN':{'message':'1 osds down'},"
                "'PG_AVAILABILITY':{'message':'x'}},");
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
    /* And so is what this check has never heard of. */
    site_init(&s, "rook-ceph");
    pool(&s, "p", "rack");
    osd(&s, 1, "w1", "a", UNREADY);
    cluster(&s, "'health':'HEALTH_WARN','details':{'OSD_DOWN':{'message':'1 osds down'},"
                "'SOMETHING_NEW':{'message':'x'}},");
    site_expect(&s, "w1", NULL, NULL,
                "wait C StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: OSD_DOWN, "
                "SOMETHING_NEW (1 osds down)\n");
    site_done(&s);
}

static void an_osd_without_its_label_waits(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "rook-ceph");
    cluster(&s, OK);
    site_add(&s, SOURCE_CEPH_PODS,
             "{'metadata':{'name':'osd-7'," NS ",'labels':{'app':'rook-ceph-osd'}},'spec':{"
             "'nodeName':'w1'}," READY "}");
    site_expect(&s, "w1", NULL, NULL,
                "wait CO CheckUnknown w1 my: OSD pod osd-7 has no label topology-location-host, so "
                "that its failure domain is not known\n");
    site_done(&s);
}

static void monitors_keep_their_majority(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "rook-ceph");
    cluster(&s, OK);
    mon(&s, "a", "w1", READY);
    mon(&s, "b", "w2", READY);
    mon(&s, "c", "w3", READY);
    site_add(&s, SOURCE_CEPH_PODS, /* tries whether a monitor would fit there */
             "{'metadata':{'name':'mon-d-canary'," NS ",'labels':{'app':'rook-ceph-mon',"
             "'mon_canary':'true'}},'spec':{'nodeName':'w4'}," READY "}");
    site_expect(
        &s, "w1", NULL, NULL,
        "pass CO - w1: the monitor quorum of Ceph rook-ceph/my: 2 of 3 members stay healthy, 2 "
        "are needed\n");
    site_expect(
        &s, "w1", "w2", NULL,
        "wait CO QuorumAtRisk w1 my: the monitor quorum of Ceph rook-ceph/my has 3 members, 3 "
        "healthy; 1 would be left, 2 are needed; out of service: w2\n");
    site_expect(&s, "w4", NULL, NULL, "");
    site_done(&s);
    /* One is missing altogether: spec.mon.count still counts. */
    site_init(&s, "rook-ceph");
    cluster(&s, OK);
    mon(&s, "a", "w1", READY);
    mon(&s, "b", "w2", READY);
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
    site_done(&s);
}

static void an_external_cluster_has_nothing_here(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "rook-ceph");
    site_add(&s, SOURCE_CEPH_CLUSTERS,
             "{'metadata':{'name':'my'," NS "},'spec':{'external':{'enable':true}}}");
    osd(&s, 1, "w1", "a", READY);
    site_expect(&s, "w1", NULL, NULL, "");
    site_done(&s);
}

static void after_the_return_ceph_is_healthy_first(void **state) {
    (void)state;
    struct site s;
    racks(&s);
    cluster(&s, "'health':'HEALTH_WARN','details':{'PG_DEGRADED':{'message':'x'}},");
    site_add(&s, SOURCE_CEPH_PODS, /* waits for its node */
             "{'metadata':{'name':'osd-9'," NS ",'labels':{'app':'rook-ceph-osd',"
             "'topology-location-rack':'a'}},'status':{'phase':'Pending'}}");
    site_expect(&s, NULL, NULL, "w1",
                "wait R StorageNotOkToStop w1 my: 1 OSD is not running yet: osd-9\n"
                "wait R StorageNotOkToStop w1 my: Ceph rook-ceph/my is HEALTH_WARN: PG_DEGRADED "
                "(x)\n");
    site_done(&s);
    racks(&s);
    cluster(&s, OK);
    draining(&s, "a");
    site_expect(&s, NULL, NULL, "w1",
                "wait R StorageNotOkToStop w1 my: Rook still lets failure domain a drain\n");
    site_done(&s);
    racks(&s);
    cluster(&s, OK);
    site_expect(&s, NULL, NULL, "w1",
                "pass R - w1: Ceph rook-ceph/my is HEALTH_OK, 1 OSD of the node runs\n");
    site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_named_and_the_rest_is_judged),
        cmocka_unit_test(a_whole_rack_may_go_together_but_not_two),
        cmocka_unit_test(the_failure_domain_is_the_lowest_of_the_pools),
        cmocka_unit_test(health_gates_the_cordon),
        cmocka_unit_test(old_news_is_no_news),
        cmocka_unit_test(the_domain_that_rook_drains_goes_on),
        cmocka_unit_test(what_rook_drains_has_to_be_readable),
        cmocka_unit_test(the_node_with_the_broken_osd_may_go),
        cmocka_unit_test(an_osd_without_its_label_waits),
        cmocka_unit_test(monitors_keep_their_majority),
        cmocka_unit_test(an_external_cluster_has_nothing_here),
        cmocka_unit_test(after_the_return_ceph_is_healthy_first),
    };
    return cmocka_run_group_tests_name("engine/check_rook", tests, NULL, NULL);
}
