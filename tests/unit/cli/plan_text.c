/* Tests of src/cli/plan_text.c: what an operator reads, as golden texts, and that nothing from the
 * cluster reaches the terminal as it is. */
#include "cli/plan_text.h"

#include "../engine/plan_site.h"
#include "drain_sample.h"

static void show(struct plan_site *f, int columns, bool utf8, struct str *out) {
    struct screen screen = {.columns = columns, .rows = 24, .utf8 = utf8};
    char *flags[] = {(char *)"--force", (char *)"--max-unavailable=3", (char *)"--eviction-rate=20",
                     (char *)"--reason=rack's new switch"};
    str_reset(out);
    plan_text(&(struct plan_shown){.plan = &f->plan,
                                   .cluster = "https://127.0.0.1:6443",
                                   .flags = flags,
                                   .n_flags = ARRAY_LEN(flags),
                                   .now = f->w.now.wall},
              &screen, out);
}

/* Eight nodes of a rack, three at a time: most drain, two pods find no room, a budget has trouble
 * of its own, another never allows anything, and somebody's pod is marked. */
static void rack(struct plan_site *f) {
    for (int i = 1; i <= 8; i++) {
        char name[16], pod[16];
        snprintf(name, sizeof name, "rack12-%02d", i);
        snprintf(pod, sizeof pod, "web%d", i);
        node(f, name, 110);
        dw_pod(&f->w, pod, name, "{}");
    }
    node(f, "spare-1", 110);
    budget_of(f, "web", "web", 2, 8, 6, 8);
    dw_pod(&f->w, "gpu-0", "rack12-01",
           "{'metadata':{'labels':{'app':'gpu'}},'spec':{'nodeSelector':{'gpu':'a100'}}}");
    dw_pod(&f->w, "gpu-1", "rack12-02",
           "{'metadata':{'labels':{'app':'gpu'}},'spec':{'nodeSelector':{'gpu':'a100'}}}");
    dw_pod(&f->w, "ledger-0", "rack12-03",
           "{'metadata':{'labels':{'app':'ledger'}," DW_OWNER("apps/v1", "StatefulSet",
                                                              "ledger") "}}");
    budget_of(f, "ledger", "ledger", 0, 3, 3, 3);
    dw_pod(&f->w, "report", "rack12-04",
           "{'metadata':{'labels':{'app':'report'},'annotations':{"
           "'karpenter.sh/do-not-disrupt':'true'}}}");
    dw_pod(&f->w, "queue-a", "rack12-05", "{'metadata':{'labels':{'app':'queue'}}}");
    dw_pod(&f->w, "queue-b", "spare-1",
           "{'metadata':{'labels':{'app':'queue'}},'status':{'phase':'Running','conditions':[{"
           "'type':'Ready','status':'False'}],'containerStatuses':[{'name':'broker',"
           "'restartCount':6,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}}");
    budget_of(f, "queue", "queue", 0, 1, 1, 2);
    dw_pod(&f->w, "agent", "rack12-06",
           "{'metadata':{" DW_OWNER("example.com/v1", "DaemonSet", "agent") "}}");
    f->w.opts.max_unavailable.value = 3;
    make(f, "rack12-01", "rack12-02", "rack12-03", "rack12-04", "rack12-05", "rack12-06",
         "rack12-07", "rack12-08", NULL);
}

static void golden(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    rack(f);
    show(f, 80, true, &out);
    assert_golden("plan-80.txt", &out);
    show(f, 120, true, &out);
    assert_golden("plan-120.txt", &out);
    show(f, 80, false, &out);
    assert_golden("plan-80-ascii.txt", &out);
    show(f, 40, true, &out);
    assert_golden("plan-40.txt", &out);
}

/* Whatever it is about, what is never comes first; what is said of several budgets is said once,
 * and what helps is one sentence. */
static void the_worst_is_first_and_nothing_is_said_twice(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    node(f, "w0", 110);
    node(f, "w1", 110);
    node(f, "w2", 2); /* the last places */
    for (int i = 0; i < 3; i++) {
        char app[8], name[16], labels[64];
        snprintf(app, sizeof app, "web%d", i);
        snprintf(labels, sizeof labels, "{'metadata':{'labels':{'app':'%s'}}}", app);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s-%d", app, k);
            dw_pod(&f->w, name, k ? "w1" : "w0", "%s", labels);
        }
        budget_of(f, app, app, 1, 2, 1, 2);
    }
    make(f, "w0", "w1", NULL);
    show(f, 200, true, &out);
    assert_non_null(
        strstr(str_get(&out), "PDBNoBudget default/web0, default/web1, default/web2: "));
    assert_null(strstr(str_get(&out), "make room for one"));
    assert_null(strstr(str_get(&out), "--parallel for one"));
    f->plan.nodes[1].itself = f->plan.nodes[1].verdict = PLAN_NEVER;
    f->plan.nodes[1].blocker = (struct plan_blocker){
        .code = BLOCKER_FINALIZER_STUCK, .object = "x", .message = "for ever", .help = ""};
    show(f, 200, true, &out);
    assert_non_null(strstr(str_get(&out), "\nIn the way\n  x  "));
    /* Of pods that nobody may evict one stands for all. */
    for (size_t i = 0; i < f->plan.nodes[0].n_pods; i++) {
        struct plan_pod *p = &f->plan.nodes[0].pods[i];
        p->verdict = PLAN_NEVER;
        p->blocker = (struct plan_blocker){
            .code = BLOCKER_FORBIDDEN,
            .object = "x",
            .help = "",
            .message = arena_printf(&f->arena, "pods \"%s\" is forbidden: User \"eve\" cannot",
                                    p->pod->meta.name)};
    }
    show(f, 200, true, &out);
    assert_non_null(strstr(str_get(&out), "     3 pods on w0; "));
    const struct check_finding later[] = {{.check = check_find("etcd"),
                                           .verdict = CHECK_DENY,
                                           .when = CHECK_OPERATION,
                                           .code = BLOCKER_QUORUM_AT_RISK,
                                           .node = "w0",
                                           .evidence = "one member"},
                                          {.check = check_find("kubevirt"),
                                           .verdict = CHECK_WAIT,
                                           .when = CHECK_OPERATION,
                                           .code = BLOCKER_EVICTION_IN_PROGRESS,
                                           .node = "w0",
                                           .evidence = "vm a runs here"},
                                          {.check = check_find("kubevirt"),
                                           .verdict = CHECK_WAIT,
                                           .when = CHECK_OPERATION,
                                           .code = BLOCKER_EVICTION_IN_PROGRESS,
                                           .node = "w0",
                                           .evidence = "vm b runs here"}};
    const struct check_finding *const list[] = {&later[0], &later[1], &later[2]};
    f->plan.nodes[0].later = list;
    f->plan.nodes[0].n_later = ARRAY_LEN(list);
    show(f, 200, true, &out);
    assert_non_null(strstr(str_get(&out), "  !  QuorumAtRisk: etcd: one member\n     w0 can be "
                                          "drained, but nothing more may be done to it; "));
    assert_non_null(strstr(str_get(&out), "vm a runs here (and 1 more)\n     w0 waits for that; "));
    f->plan.nodes[0].n_later = 0;
}

/* What is told of a node itself is told, and then there is no time that anybody could rely on. */
static void nodes_have_their_own_words(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}");
    f->no_storage = true;
    make(f, "w0", NULL);
    show(f, 100, true, &out);
    assert_non_null(strstr(str_get(&out),
                           "\nIn the way\n"
                           "  !  Forbidden default/a: whether there is room for the replacements"));
    assert_non_null(strstr(str_get(&out), "     node w0; give the permission to list"));
    assert_non_null(
        strstr(str_get(&out), "\nTime: no node is certain to be drained as things are\n"));
}

/* The same of several nodes is said once; what differs is not. */
static void nodes_with_the_same_words_are_one_entry(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    node(f, "a1", 110);
    node(f, "a2", 110);
    node(f, "a3", 110);
    node(f, "b1", 110);
    make(f, "a1", "a2", "a3", NULL);
    for (size_t i = 0; i < 3; i++)
        f->plan.nodes[i].blocker =
            (struct plan_blocker){.code = BLOCKER_PDB_NO_BUDGET,
                                  .object = "shop/web",
                                  .message = i == 1 ? "another" : "is chance",
                                  .help = "make room"};
    show(f, 100, true, &out);
    assert_non_null(strstr(str_get(&out),
                           "PDBNoBudget shop/web: is chance\n     nodes a[1,3]; make "
                           "room\n"));
    assert_non_null(
        strstr(str_get(&out), "PDBNoBudget shop/web: another\n     node a2; make room\n"));
}

static void volumes_are_detached_in_time_that_is_not_counted(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    nodes(f, 2);
    add(f, &kind_pv,
        "{'metadata':{'name':'disk','uid':'pv'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':"
        "{'storage':'1Gi'},'claimRef':{'namespace':'default','name':'data','uid':'claim'}},"
        "'status':{'phase':'Bound'}}");
    add(f, &kind_pvc,
        "{'metadata':{'namespace':'default','name':'data','uid':'claim','annotations':"
        "{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'disk','accessModes':"
        "['ReadWriteOnce']},'status':{'phase':'Bound'}}");
    dw_pod(&f->w, "a", "w0",
           "{'spec':{'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'data'}}]}}");
    make(f, "w0", NULL);
    show(f, 100, true, &out);
    assert_non_null(
        strstr(str_get(&out), "the volumes of 1 pod take to be detached is left out\n"));
}

/* Every line but that of the command, which is to be copied as it is, fits the screen. */
static void lines_fit_the_screen(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    rack(f);
    for (int columns = 38; columns < 200; columns += 3) {
        show(f, columns, true, &out);
        for (char *line = out.p, *save = NULL; (line = strtok_r(line, "\n", &save)); line = NULL) {
            if (str_starts(line, "To run it:"))
                continue;
            if (line_rows(line, columns) > 1)
                fail_msg("%d columns: '%s'", columns, line);
            assert_int_not_equal(line[strlen(line) - 1], ' ');
        }
    }
}

static void all_is_well(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    f->times.seen = false;
    make(f, "w0", NULL);
    show(f, 100, false, &out);
    assert_string_equal(
        str_get(&out),
        "Plan a0f376a6867b1e4b - 1 node - at most 1 at a time\n"
        "\n"
        "  NODES             PODS              BEGINS    TAKES\n"
        "  w0                   1   drains        now      10s\n"
        "\n"
        "1 pod to evict: 1 at once\n"
        "Time: about 10s as planned; with such pods no order takes less than 10s (node w0 alone "
        "takes 10s)\n"
        "  Assumed: pods stop within their grace period, in 10s at most, and start as fast as "
        "their "
        "siblings\n"
        "  did; in 10s where there are none to go by (1 pod)\n"
        "To run it:  slipway drain w0 --force --max-unavailable=3 '--reason=rack'\\''s new "
        "switch'\n");
}

/* Names that are longer than their column have a line of their own, and are whole there: nobody
 * could tell apart what is cut off. */
static void long_names_are_whole(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    static const char *const names[] = {"ip-10-0-12-34.eu-central-1.compute.internal",
                                        "ip-10-0-99-1.eu-central-1.compute.internal"};
    for (int i = 0; i < 2; i++) {
        node(f, names[i], 110);
        dw_pod(&f->w, i ? "b" : "a", names[i], "{}");
    }
    node(f, "w1", 110);
    dw_pod(&f->w, "c", "w1", "{}");
    make(f, names[0], names[1], "w1", NULL);
    f->plan.nodes[2].begins = SEC(5);
    show(f, 80, true, &out);
    assert_non_null(strstr(str_get(&out), "\n  ip-10-0-12-34.eu-central-1.compute.internal,\n"
                                          "    ip-10-0-99-1.eu-central-1.compute.internal\n"));
    show(f, 40, true, &out);
    assert_non_null(strstr(str_get(&out), "\n  w1\n     no room: 1 pod, at 5s for 5s\n"));
}

/* A replacement that is not made because another has no room is told apart from that. */
static void what_is_not_made_is_not_called_without_room(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    node(f, "w0", 110);
    node(f, "w1", 110);
    node(f, "w2", 1);
    dw_put(&f->w, &kind_stateful_set,
           "{'metadata':{'namespace':'default','name':'db','uid':'uid-db'},'spec':{'replicas':3,"
           "'podManagementPolicy':'OrderedReady'}}");
    dw_pod(&f->w, "db-0", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_pod(&f->w, "db-1", "w0", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    dw_pod(&f->w, "db-2", "w1", "{'metadata':{" DW_OWNER("apps/v1", "StatefulSet", "db") "}}");
    make(f, "w0", "w1", NULL);
    show(f, 100, true, &out);
    assert_non_null(strstr(str_get(&out), "  w0                   2   no room "));
    assert_non_null(strstr(str_get(&out), "  w1                   1   not made "));
    assert_non_null(strstr(str_get(&out), "NotRescheduled default/db-1: its replacement is made "
                                          "after db-1, which fits nowhere\n"));
    assert_non_null(strstr(str_get(&out),
                           "3 pods to evict: 1 at once, 1 without room elsewhere, 1 not made "
                           "again\n"));
}

/* Nodes that go together keep each other from getting through: what would help is said, and the
 * order that it takes is in the command. */
static void fewer_at_a_time_are_told_of(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    nodes(f, 3);
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w1", "{}");
    dw_pod(&f->w, "c", "w2", "{}");
    dw_budget(&f->w, "web", 1, 3, 2, 3);
    make(f, "w0", "w1", "w2", NULL);
    show(f, 200, true, &out);
    assert_non_null(strstr(str_get(&out), "\nTime: no node is certain to be drained as things are\n"
                                          "With --parallel=1 2 of the 3 nodes drain for certain, "
                                          "instead of 0: fewer at a time leave each other room."));
    assert_non_null(strstr(str_get(&out), "\nTo run it:  slipway drain 'w[0-2]' --force"));
    f->adopt = true;
    make(f, "w0", "w1", "w2", NULL);
    str_reset(&out);
    show(f, 300, true, &out);
    assert_non_null(strstr(str_get(&out), " at most 1 at a time\n"));
    assert_non_null(strstr(
        str_get(&out), "\nAt most 1 at a time (--parallel=1): with more, pods of the nodes that "
                       "go together would take each other's room, and 0 of the 3 nodes, not 2, "
                       "would drain for certain.\n"));
    assert_null(strstr(str_get(&out), "With --parallel"));
    f->adopt = false;
    f->w.opts.parallel = 1;
    make(f, "w0", "w1", "w2", NULL);
    str_reset(&out);
    show(f, 200, true, &out);
    assert_null(strstr(str_get(&out), "--parallel"));
    assert_non_null(
        strstr(str_get(&out), "\nTo run it:  slipway drain w0 w1 w2 --in-order --force"));
}

/* What nobody beats is told when it is a second or more. */
static void a_bound_of_nothing_is_not_told(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    nodes(f, 2);
    dw_pod(&f->w, "a", "w0", "{}");
    make(f, "w0", NULL);
    f->plan.certain = MSEC(999);
    show(f, 300, true, &out);
    assert_null(strstr(str_get(&out), "however fast pods are"));
    f->plan.certain = SEC(1);
    show(f, 300, true, &out);
    assert_non_null(
        strstr(str_get(&out), "; however fast pods are, 1s because of --eviction-rate\n"));
}

/* No times are made up where there are none. */
static void nothing_can_be_drained(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    nodes(f, 2);
    dw_pod(&f->w, "bare", "w0", DW_BARE);
    make(f, "w0", NULL);
    show(f, 100, true, &out);
    assert_non_null(strstr(str_get(&out), "\nTime: no node can be drained as things are\n"));
    assert_null(strstr(str_get(&out), "as planned"));
    assert_non_null(strstr(str_get(&out), "\nIn the way\n  x  BarePod default/bare: "));
    assert_non_null(strstr(str_get(&out), "1 pod to evict: 1 never\n"));
    assert_null(strstr(str_get(&out), "To run it"));
    /* others of its node are no trouble of their own */
    dw_pod(&f->w, "a", "w0", "{}");
    dw_pod(&f->w, "b", "w0", "{}");
    make(f, "w0", NULL);
    str_reset(&out);
    show(f, 200, true, &out);
    const char *first = strstr(str_get(&out), "BarePod");
    assert_non_null(first);
    assert_null(strstr(first + 1, "BarePod"));
    assert_non_null(strstr(first, "1 pod on w0, because of which 2 others stay there; "));
}

/* Many pods with the same trouble are one entry, with the nodes folded. */
static void the_same_trouble_is_told_once(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    nodes(f, 6);
    for (int i = 0; i < 5; i++) {
        char name[8], prefix[8];
        snprintf(name, sizeof name, "w%d", i);
        snprintf(prefix, sizeof prefix, "p%d-", i);
        pods(f, prefix, 3, name, "{}");
    }
    dw_budget(&f->w, "web", 0, 15, 15, 15);
    make(f, "w0", "w1", "w2", "w3", "w4", NULL);
    show(f, 100, true, &out);
    assert_int_equal(dw_count(&out, "PDBUnsatisfiable"), 1);
    assert_non_null(strstr(str_get(&out), "15 pods on w[0-4]; "));
}

/* A server that is not what it seems: nothing of it but printable letters reaches the terminal. */
static void hostile_names_are_made_printable(void **state) {
    struct plan_site *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    use_utf8(NULL);
    dw_put(&f->w, &kind_node,
           "{'metadata':{'name':'w\\u001b]0;pwned\\u0007\\nw9','uid':'u'},'status':{"
           "'allocatable':{'pods':'9'}}}");
    dw_put(&f->w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'p\\u001b[2J\\u202e\\r','uid':'p'},"
           "'spec':{'nodeName':'w\\u001b]0;pwned\\u0007\\nw9'},'status':{'phase':'Running'}}");
    make(f, "w\x1b]0;pwned\x07\nw9", NULL);
    assert_int_equal(f->plan.n, 1);
    show(f, 100, true, &out);
    for (const char *c = str_get(&out); *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
            fail_msg("\\x%02x in '%s'", (unsigned char)*c, str_get(&out));
    assert_null(strstr(str_get(&out), "\u202e"));
    assert_null(strstr(str_get(&out), "\nw9"));
    assert_non_null(strstr(str_get(&out), "BarePod default/p\\x1b[2J"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(golden),
        PLAN_TEST(the_worst_is_first_and_nothing_is_said_twice),
        PLAN_TEST(nodes_have_their_own_words),
        PLAN_TEST(nodes_with_the_same_words_are_one_entry),
        PLAN_TEST(volumes_are_detached_in_time_that_is_not_counted),
        PLAN_TEST(lines_fit_the_screen),
        PLAN_TEST(all_is_well),
        PLAN_TEST(long_names_are_whole),
        PLAN_TEST(what_is_not_made_is_not_called_without_room),
        PLAN_TEST(nothing_can_be_drained),
        PLAN_TEST(fewer_at_a_time_are_told_of),
        PLAN_TEST(a_bound_of_nothing_is_not_told),
        PLAN_TEST(the_same_trouble_is_told_once),
        PLAN_TEST(hostile_names_are_made_printable),
    };
    return cmocka_run_group_tests_name("cli/plan_text", tests, NULL, NULL);
}
