/* Tests of src/engine/check_kit.c: what the checks are written with. */
#include "engine/check_internal.h"

#include "support/checks.h"

/* A run as checks_run() makes one, for one check of its choice. */
struct kit {
    struct site site;
    struct check_run r;
};

static const char *w1[] = {"w1"}, *w2[] = {"w2"}, *w5[] = {"w5"};

static void start(struct kit *k) {
    site_init(&k->site, "etcd");
    k->r = (struct check_run){
        .world = &k->site.world,
        .check = check_find("etcd"),
        .arena = &k->site.arena,
        .now = NOW,
        .going = {w1, 1},
        .out = {w2, 1},
        .back = {w5, 1},
    };
}

static void end(struct kit *k) {
    vec_done(&k->r.findings);
    site_done(&k->site);
}

static void which_nodes_stay(void **state) {
    (void)state;
    struct kit k;
    start(&k);
    assert_true(run_going(&k.r, "w1") && !run_going(&k.r, "w2"));
    assert_true(run_out(&k.r, "w2") && !run_out(&k.r, "w1"));
    assert_true(run_lost(&k.r, "w1") && run_lost(&k.r, "w2") && !run_lost(&k.r, "w3"));
    assert_true(run_back(&k.r, "w5") && !run_back(&k.r, "w1"));
    assert_false(run_lost(&k.r, NULL) || run_back(&k.r, NULL));
    assert_null(run_unfit(&k.r, "w3"));
    assert_string_equal(run_unfit(&k.r, "w1"), "would go at the same time");
    assert_string_equal(run_unfit(&k.r, "w2"), "is out of service");
    assert_string_equal(run_unfit(&k.r, "w9"), "does not exist");
    assert_string_equal(run_unfit(&k.r, NULL), "is not known");
    assert_string_equal(run_unfit(&k.r, ""), "is not known");
    site_node(&k.site, "w3", "'unschedulable':true");
    assert_string_equal(run_unfit(&k.r, "w3"), "is cordoned");
    store_put(k.site.nodes,
              site_decode(&k.site, &kind_node,
                          "{'metadata':{'name':'w4'},'status':{'conditions':[{'type':'Ready',"
                          "'status':'Unknown'}]}}"));
    assert_string_equal(run_unfit(&k.r, "w4"), "is not Ready");
    store_put(k.site.nodes, site_decode(&k.site, &kind_node, "{'metadata':{'name':'w4'}}"));
    assert_string_equal(run_unfit(&k.r, "w4"), "is not Ready");
    end(&k);
}

static void lists_are_short(void **state) {
    (void)state;
    struct kit k;
    struct check_list l = {0};
    start(&k);
    assert_string_equal(run_list(&k.r, &l), "");
    check_list_add(&l, "a");
    assert_string_equal(run_list(&k.r, &l), "a");
    check_list_add(&l, "b");
    check_list_add(&l, "c");
    assert_string_equal(run_list(&k.r, &l), "a, b, c");
    for (int i = 0; i < 1000; i++)
        check_list_add(&l, "x");
    assert_string_equal(run_list(&k.r, &l), "a, b, c and 1000 more");
    end(&k);
}

/* Finished pods are gone for every purpose; a store with more in it than was asked for serves too.
 */
static void pods_are_picked_by_label(void **state) {
    (void)state;
    struct kit k;
    size_t n = 0;
    start(&k);
    site_add(&k.site, SOURCE_ETCD_PODS,
             "{'metadata':{'name':'b','namespace':'x','labels':{'l':"
             "'1'}}}");
    site_add(&k.site, SOURCE_ETCD_PODS,
             "{'metadata':{'name':'a','namespace':'x','labels':{'l':"
             "'2'}}}");
    site_add(&k.site, SOURCE_ETCD_PODS,
             "{'metadata':{'name':'c','namespace':'x','labels':{'l':"
             "'1'}},'status':{'phase':'Succeeded'}}");
    site_add(&k.site, SOURCE_ETCD_PODS,
             "{'metadata':{'name':'d','namespace':'y','labels':{'l':"
             "'1'}}}");
    site_add(&k.site, SOURCE_ETCD_PODS, "{'metadata':{'name':'e','namespace':'x'}}");
    const struct pod **pods = run_pods(&k.r, SOURCE_ETCD_PODS, "x", "l", NULL, &n);
    assert_int_equal(n, 2);
    assert_string_equal(pods[0]->meta.name, "a");
    assert_string_equal(pods[1]->meta.name, "b");
    pods = run_pods(&k.r, SOURCE_ETCD_PODS, "x", "l", "1", &n);
    assert_int_equal(n, 1);
    assert_string_equal(pods[0]->meta.name, "b");
    run_pods(&k.r, SOURCE_ETCD_PODS, "y", "l", "1", &n);
    assert_int_equal(n, 1);
    run_pods(&k.r, SOURCE_ETCD_PODS, "w", "l", "1", &n);
    assert_int_equal(n, 0);
    run_pods(&k.r, SOURCE_ETCD_PODS, NULL, "l", "1", &n);
    assert_int_equal(n, 0);
    run_pods(&k.r, SOURCE_VMIS, "x", "l", "1", &n); /* was not read */
    assert_int_equal(n, 0);
    assert_int_equal(run_sorted(&k.r, SOURCE_VMIS).n, 0);
    assert_int_equal(run_sorted(&k.r, SOURCE_ETCD_PODS).n, 5);
    struct check_objects within = run_within(&k.r, SOURCE_ETCD_PODS, "x");
    assert_int_equal(within.n, 4);
    assert_string_equal(within.p[0]->meta.name, "a");
    assert_string_equal(within.p[3]->meta.name, "e");
    assert_null(run_store(&k.r, SOURCE_VMIS));
    end(&k);
}

static void a_pass_is_not_said_beside_a_wait(void **state) {
    (void)state;
    struct kit k;
    start(&k);
    struct check_finding *f = run_find(&k.r, "w1", CHECK_WAIT, CHECK_CORDON, BLOCKER_QUORUM_AT_RISK,
                                       NULL, NULL, "because");
    assert_string_equal(f->hint, blocker_row(BLOCKER_QUORUM_AT_RISK)->hint);
    assert_string_equal(f->ends, blocker_row(BLOCKER_QUORUM_AT_RISK)->ends);
    assert_null(f->kind);
    run_pass(&k.r, "w1", "fine");
    run_pass(&k.r, "w3", "fine");
    run_pass(&k.r, "w4", "fine, though another is not"); /* which is found later */
    run_remark(&k.r, "w4", CHECK_CORDON, BLOCKER_QUORUM_AT_RISK, NULL, NULL, "by the way");
    run_find(&k.r, "w4", CHECK_DENY, CHECK_CORDON, BLOCKER_QUORUM_AT_RISK, NULL, NULL, "no");
    run_pass(&k.r, "w5", "fine");
    run_settle(&k.r);
    assert_int_equal(k.r.findings.len, 5);
    assert_string_equal(k.r.findings.p[2].evidence, "by the way"); /* is no pass */
    assert_int_equal(k.r.findings.p[3].verdict, CHECK_DENY);
    k.r.findings.p[2] = k.r.findings.p[4];
    k.r.findings.len = 3;
    assert_int_equal(k.r.findings.p[1].when, CHECK_CORDON | CHECK_OPERATION);
    assert_int_equal(k.r.findings.p[2].when, CHECK_RETURN);
    assert_int_equal(k.r.findings.p[1].code, BLOCKER_CODES);
    /* What another check found is its own affair. */
    k.r.from = k.r.findings.len;
    run_pass(&k.r, "w1", "fine");
    run_settle(&k.r);
    assert_int_equal(k.r.findings.len, 4);
    end(&k);
}

/* Some of the words are somebody else's. */
static void sentences_end(void **state) {
    (void)state;
    struct kit k;
    struct str text = STR_INIT;
    start(&k);
    str_add(&text, "x");
    for (int i = 0; i < 1000; i++)
        str_add(&text, "\xc3\xa4"); /* an umlaut: two bytes, of which neither comes alone */
    const char *cut =
        run_find(&k.r, "w1", CHECK_PASS, CHECK_CORDON, BLOCKER_CODES, NULL, NULL, str_get(&text))
            ->evidence;
    assert_int_equal(strlen(cut), 599 + 3);
    assert_string_equal(cut + 597, "\xc3\xa4...");
    text.p[CHECK_EVIDENCE] = '\0';
    cut =
        run_find(&k.r, "w1", CHECK_PASS, CHECK_CORDON, BLOCKER_CODES, NULL, NULL, text.p)->evidence;
    assert_string_equal(cut, text.p);
    str_done(&text);
    end(&k);
}

/* n members, all on nodes of their own, some healthy, node 0 goes: etcd's rule. */
static enum check_verdict lose_one(size_t n, size_t healthy, size_t wanted) {
    struct kit k;
    struct check_member members[8];
    enum check_verdict worst = CHECK_PASS;
    start(&k);
    for (size_t i = 0; i < n; i++)
        members[i] = (struct check_member){"m", i ? "other" : "w1", i < healthy};
    struct check_group g = {.what = "it",
                            .members = members,
                            .n = n,
                            .total = n,
                            .wanted = wanted,
                            .wait_when = CHECK_CORDON,
                            .deny_when = CHECK_OPERATION};
    run_quorum(&k.r, &g);
    assert_int_equal(k.r.findings.len, n ? 1 : 0);
    if (n)
        worst = k.r.findings.p[0].verdict;
    if (worst != CHECK_PASS)
        assert_int_equal(k.r.findings.p[0].when,
                         worst == CHECK_WAIT ? CHECK_CORDON : CHECK_OPERATION);
    end(&k);
    return worst;
}

static void majorities(void **state) {
    (void)state;
    for (size_t n = 0; n <= 7; n++)
        for (size_t healthy = n ? 1 : 0; healthy <= n; healthy++) {
            size_t need = n / 2 + 1, left = healthy - (n > 0);
            enum check_verdict want = !n || left >= need ? CHECK_PASS
                                      : n - 1 < need     ? CHECK_DENY
                                                         : CHECK_WAIT;
            assert_int_equal(lose_one(n, healthy, 0), want);
        }
    /* Two of three that are wanted: the third will come. */
    assert_int_equal(lose_one(2, 2, 3), CHECK_WAIT);
    assert_int_equal(lose_one(2, 2, 2), CHECK_DENY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_nodes_stay),
        cmocka_unit_test(lists_are_short),
        cmocka_unit_test(pods_are_picked_by_label),
        cmocka_unit_test(a_pass_is_not_said_beside_a_wait),
        cmocka_unit_test(sentences_end),
        cmocka_unit_test(majorities),
    };
    return cmocka_run_group_tests_name("engine/check_kit", tests, NULL, NULL);
}
