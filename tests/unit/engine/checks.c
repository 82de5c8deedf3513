/* Tests of src/engine/checks.c: the table, and what all checks have in common. */
#include "engine/checks.h"

#include "support/checks.h"

#include "base/prng.h"

static void the_table_is_complete(void **state) {
    (void)state;
    static const char *const names[] = {"longhorn", "rook-ceph",     "kubevirt", "cnpg",
                                        "zalando",  "etcd-operator", "etcd",     "statefulset"};
    assert_int_equal(n_checks, ARRAY_LEN(names));
    assert_true(n_checks <= sizeof(unsigned) * 8); /* bits of check_request.skip */
    bool used[CHECK_SOURCES] = {0};
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *c = &checks_table[i];
        assert_string_equal(c->name, names[i]); /* people write them into scripts */
        assert_ptr_equal(check_find(c->name), c);
        assert_true(strlen(c->title) > 3 && strlen(c->meaning) > 30);
        assert_true(c->meaning[strlen(c->meaning) - 1] != '.');
        assert_non_null(c->run);
        assert_in_range(c->n_reads, 1, CHECK_READS);
        for (unsigned k = 0; k < c->n_reads; k++) {
            assert_true(c->reads[k].source < CHECK_SOURCES);
            used[c->reads[k].source] = true;
            for (unsigned j = 0; j < k; j++)
                assert_int_not_equal(c->reads[j].source, c->reads[k].source);
        }
    }
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        assert_true(used[i]);
        assert_non_null(check_sources[i].kind);
    }
    assert_null(check_find("nothing"));
}

static void nothing_installed_has_nothing_to_say(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "etcd"); /* without a pod of it */
    s.world.inputs[SOURCE_ETCD_PODS] = (struct check_input){0};
    site_expect(&s, "w1 w2", "w3", "w4", "");
    for (size_t i = 0; i < n_checks; i++) {
        assert_int_equal(s.result.states[i].presence, CHECK_NOT_INSTALLED);
        assert_int_equal(s.result.states[i].objects, 0);
    }
    assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
    site_done(&s);
}

/* Whatever a check needs and cannot read is a reason to wait, for each source of each check. */
static void what_cannot_be_read_waits(void **state) {
    (void)state;
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *c = &checks_table[i];
        for (unsigned k = 0; k < c->n_reads; k++) {
            struct site s;
            site_init(&s, c->name);
            s.world.inputs[c->reads[k].source] =
                (struct check_input){.read = READ_FAILED, .why = "forbidden by the test"};
            if (c->by_objects && k) { /* else it counts as not installed */
                site_add(&s, c->reads[0].source, "{'metadata':{'name':'o','namespace':'x'}}");
            }
            site_run(&s, "w1", NULL, "w2");
            if (c->reads[k].need != NEED_NOT) {
                assert_int_equal(s.result.states[i].presence, CHECK_UNREADABLE);
                assert_int_equal(s.result.n, 2);
                assert_int_equal(check_worst(&s.result, "w1", CHECK_CORDON), CHECK_WAIT);
                assert_int_equal(check_worst(&s.result, "w1", CHECK_OPERATION), CHECK_WAIT);
                assert_int_equal(check_worst(&s.result, "w1", CHECK_RETURN), CHECK_PASS);
                assert_int_equal(check_worst(&s.result, "w2", CHECK_RETURN), CHECK_WAIT);
                assert_int_equal(check_worst(&s.result, "w2", CHECK_CORDON), CHECK_PASS);
                assert_int_equal(s.result.list[0].code, BLOCKER_CHECK_UNKNOWN);
                assert_non_null(strstr(s.result.list[0].evidence, "forbidden by the test"));
                assert_non_null(strstr(s.result.list[0].evidence,
                                       check_sources[c->reads[k].source].kind->resource));
            } else {
                assert_int_equal(check_worst(&s.result, NULL, CHECK_CORDON), CHECK_PASS);
            }
            site_done(&s);
        }
    }
}

/* What an older release lacks has nothing to tell: one of these that is there must be heard. */
static void what_guards_the_data_is_never_done_without(void **state) {
    (void)state;
    static const enum check_source_id sources[] = {SOURCE_ROOK_STATES, SOURCE_ETCD_MEMBERS,
                                                   SOURCE_LONGHORN_ENGINES, SOURCE_LONGHORN_NODES};
    for (size_t s = 0; s < ARRAY_LEN(sources); s++)
        for (size_t i = 0; i < n_checks; i++)
            for (unsigned k = 0; k < checks_table[i].n_reads; k++)
                if (checks_table[i].reads[k].source == sources[s])
                    assert_int_equal(checks_table[i].reads[k].need, NEED_IF_THERE);
    struct site s;
    site_init(&s, "etcd-operator");
    s.world.inputs[SOURCE_ETCD_MEMBERS] = (struct check_input){.read = READ_ABSENT};
    site_expect(&s, "w1", NULL, NULL, "");
    assert_int_equal(s.result.states[check_find("etcd-operator") - checks_table].presence,
                     CHECK_INSTALLED);
    s.world.inputs[SOURCE_ETCD_MEMBERS] = (struct check_input){READ_FAILED, "forbidden", NULL};
    site_expect(&s, "w1", NULL, NULL,
                "wait CO CheckUnknown w1: etcdmembers.operator.etcd.io cannot be read: "
                "forbidden\n");
    site_done(&s);
}

/* Half of a system's kinds: an installation that is broken or under way. */
static void a_kind_that_is_missing_waits(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "longhorn");
    s.world.inputs[SOURCE_LONGHORN_REPLICAS] = (struct check_input){0};
    site_expect(
        &s, "w1", NULL, NULL,
        "wait CO CheckUnknown w1: the server has no replicas.longhorn.io, although Longhorn "
        "is installed\n");
    site_done(&s);
}

static void a_check_can_be_skipped(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "longhorn");
    s.world.inputs[SOURCE_LONGHORN_REPLICAS] = (struct check_input){READ_FAILED, "no", NULL};
    s.req.skip = 1u << (check_find("longhorn") - checks_table);
    site_expect(&s, "w1", NULL, NULL, "");
    assert_int_equal(s.result.states[0].presence, CHECK_SKIPPED);
    s.req.skip = ~s.req.skip;
    site_run(&s, "w1", NULL, NULL);
    assert_int_equal(s.result.n, 1);
    site_done(&s);
}

/* Every kind of object, empty: nothing crashes, and nothing that is on the node passes for healthy.
 */
static void empty_objects_everywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *c = &checks_table[i];
        struct site s;
        site_init(&s, c->name);
        for (unsigned k = 0; k < c->n_reads; k++) {
            site_add(&s, c->reads[k].source, "{'metadata':{'name':'o','namespace':'x'}}");
            site_add(&s, c->reads[k].source,
                     "{'metadata':{'name':'p','namespace':'x','labels':{'app':'rook-ceph-osd',"
                     "'component':'etcd','cnpg.io/cluster':'o','cluster-name':'o','controller':"
                     "'o'}}}");
        }
        site_run(&s, "w1 w1 w9", "w1 w2", "w3");
        site_text(&s); /* checks that what does not pass has its hint */
        assert_int_equal(s.result.states[i].objects, 2);
        site_done(&s);
    }
}

static void the_worst_comes_first_and_names_are_taken_once(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "longhorn");
    site_add(&s, SOURCE_LONGHORN_MANAGERS,
             "{'metadata':{'name':'m','namespace':'l'},'spec':{'nodeID':'w3'},'status':{"
             "'currentState':'running'}}");
    static const char *const volumes[] = {"b", "a"};
    for (size_t i = 0; i < 2; i++) {
        site_addf(&s, SOURCE_LONGHORN_VOLUMES,
                  "{'metadata':{'name':'%s','namespace':'l'},'spec':{'numberOfReplicas':1},"
                  "'status':{'state':'attached','robustness':'healthy'}}",
                  volumes[i]);
        site_addf(&s, SOURCE_LONGHORN_REPLICAS,
                  "{'metadata':{'name':'%s-r','namespace':'l'},'spec':{'volumeName':'%s','nodeID':"
                  "'w2','healthyAt':'x'}}",
                  volumes[i], volumes[i]);
    }
    site_run(&s, "w2 w1 w2", NULL, NULL);
    assert_int_equal(s.result.n, 3);
    assert_string_equal(s.result.list[0].name, "a");
    assert_string_equal(s.result.list[1].name, "b");
    assert_string_equal(s.result.list[2].node, "w1");
    assert_string_equal(s.result.list[0].kind, "Volume");
    assert_string_equal(s.result.list[0].ns, "l");
    assert_int_equal(s.result.states[0].presence, CHECK_INSTALLED);
    assert_int_equal(s.result.states[0].objects, 2);
    assert_string_equal(check_verdict_name(s.result.list[0].verdict), "deny");
    site_done(&s);
}

/* Alone, none of them counts for the others; those that are out still do. Asked one by one, the
 * same comes of it. */
static void each_by_itself(void **state) {
    (void)state;
    struct site s;
    site_init(&s, "longhorn");
    struct site etcd;
    site_init(&etcd, "etcd");
    for (int i = 1; i <= 3; i++) {
        site_addf(&s, SOURCE_LONGHORN_MANAGERS,
                  "{'metadata':{'name':'m%d','namespace':'l'},'spec':{'nodeID':'w%d'},'status':{"
                  "'currentState':'running'}}",
                  i, i);
        site_addf(&etcd, SOURCE_ETCD_PODS,
                  "{'metadata':{'name':'e%d','namespace':'kube-system','labels':{'component':'etcd'"
                  "}},'spec':{'nodeName':'w%d'}," READY "}",
                  i, i);
    }
    site_add(&s, SOURCE_LONGHORN_VOLUMES,
             "{'metadata':{'name':'a','namespace':'l'},'spec':{'numberOfReplicas':2},'status':{"
             "'state':'attached','robustness':'healthy'}}");
    for (int i = 1; i <= 2; i++)
        site_addf(&s, SOURCE_LONGHORN_REPLICAS,
                  "{'metadata':{'name':'a-%d','namespace':'l'},'spec':{'volumeName':'a','nodeID':"
                  "'w%d','healthyAt':'x'}}",
                  i, i);
    struct site *sites[] = {&s, &etcd};
    for (size_t k = 0; k < 2; k++) {
        site_run(sites[k], "w1 w2 w3", NULL, NULL);
        assert_int_equal(check_worst(&sites[k]->result, NULL, CHECK_CORDON), CHECK_WAIT);
        sites[k]->req.alone = true;
        site_run(sites[k], "w1 w2 w3", NULL, NULL);
        assert_int_equal(check_worst(&sites[k]->result, NULL, CHECK_CORDON), CHECK_PASS);
        assert_int_equal(sites[k]->result.n, 3);
        const char *together = site_text(sites[k]);
        sites[k]->req.alone = false;
        struct str one_by_one = STR_INIT;
        static const char *const names[] = {"w1", "w2", "w3"};
        for (size_t i = 0; i < 3; i++) {
            site_run(sites[k], names[i], NULL, NULL);
            str_add(&one_by_one, site_text(sites[k]));
        }
        assert_string_equal(together, str_get(&one_by_one));
        str_done(&one_by_one);
        sites[k]->req.alone = true;
        site_run(sites[k], "w1 w3", "w2", NULL);
        assert_int_equal(check_worst(&sites[k]->result, "w1", CHECK_CORDON), CHECK_WAIT);
    }
    site_done(&s);
    site_done(&etcd);
}

/* --- random worlds --- */

/* What objects may be made of: members of all the kinds, sensible, empty and absurd. */
static const char *const spec_parts[] = {
    "'numberOfReplicas':2",
    "'numberOfReplicas':-5",
    "'dataLocality':'strict-local'",
    "'accessMode':'rwx'",
    "'dataLayout':{'type':'sharded'}",
    "'volumeName':'a'",
    "'volumeName':'b'",
    "'nodeID':'w1'",
    "'nodeID':'w2'",
    "'nodeID':'w9'",
    "'healthyAt':'x'",
    "'failedAt':'x'",
    "'desireState':'stopped'",
    "'type':'aio'",
    "'mon':{'count':3}",
    "'mon':{'count':-1}",
    "'external':{'enable':true}",
    "'failureDomain':'rack'",
    "'evictionStrategy':'LiveMigrate'",
    "'evictionStrategy':'?'",
    "'configuration':{'evictionStrategy':'LiveMigrateIfPossible'}",
    "'instances':3",
    "'instances':1",
    "'instances':-2147483648",
    "'numberOfInstances':2",
    "'size':3",
    "'size':2147483647",
    "'clusterName':'a'",
    "'nodeName':'w1'",
    "'nodeName':'w2'",
    "'nodeName':'w3'",
    "'replicas':3",
    "'selector':{'matchLabels':{'app':'rook-ceph-osd'}}",
};
static const char *const status_parts[] = {
    "'state':'attached'",
    "'state':'detached'",
    "'robustness':'healthy'",
    "'robustness':'degraded'",
    "'currentNodeID':'w1'",
    "'currentState':'running'",
    "'currentState':'stopped'",
    "'ceph':{'health':'HEALTH_OK','lastChecked':'2026-11-15T07:59:00Z'}",
    ("'ceph':{'health':'HEALTH_WARN','lastChecked':'2026-11-15T07:59:00Z','details':{'OSD_DOWN':{}}"
     "}"),
    "'ceph':{'health':''}",
    "'nodeName':'w1'",
    "'nodeName':'w2'",
    "'phase':'Running'",
    "'phase':'Cluster in healthy state'",
    "'phase':'Ready'",
    "'conditions':[{'type':'Ready','status':'True'},{'type':'LiveMigratable','status':'True'}]",
    "'conditions':[{'type':'LiveMigratable','status':'False'}]",
    "'migrationState':{'sourceNode':'w1','targetNode':'w2'}",
    "'readyInstances':3",
    "'readyInstances':-1",
    "'currentPrimary':'a'",
    "'targetPrimary':'a'",
    "'PostgresClusterStatus':'Running'",
    "'members':[{'name':'a','isHealthy':true},{'name':'b','isHealthy':true},{}]",
    "'members':[{'isLearner':true}]",
    "'isHealthy':true",
};
static const char *const label_parts[] = {
    "'app':'rook-ceph-osd'", "'app':'rook-ceph-mon'",        "'topology-location-host':'w1'",
    "'component':'etcd'",    "'topology-location-rack':'r'", "'cnpg.io/cluster':'a'",
    "'spilo-role':'master'", "'cluster-name':'a'",           "'controller':'a'",
};

static void add_some(struct str *out, struct prng *rng, const char *const *parts, size_t n) {
    /* Of members that are named twice the last one counts, as in Go. */
    bool first = true;
    for (int64_t i = prng_range(rng, 0, 9); i > 0; i--, first = false)
        str_addf(out, "%s%s", first ? "" : ",", parts[(size_t)prng_range(rng, 0, (int64_t)n)]);
}

static void add_random(struct site *s, struct prng *rng, enum check_source_id source) {
    static const char *const names[] = {"a", "b", "c", "node-drain-policy", ROOK_STATE_NAME};
    static const char *const policies[] = {"always-allow", "block-for-eviction", "", "?"};
    struct str json = STR_INIT;
    bool system = source == SOURCE_ETCD_PODS;
    str_addf(&json, "{'metadata':{'name':'%s','namespace':'%s','labels':{",
             names[(size_t)prng_range(rng, 0, (int64_t)ARRAY_LEN(names))],
             system ? "kube-system" : "x");
    add_some(&json, rng, label_parts, ARRAY_LEN(label_parts));
    str_addf(&json, "}},'value':'%s','data':{'draining-failure-domain':'r'},'spec':{",
             policies[(size_t)prng_range(rng, 0, (int64_t)ARRAY_LEN(policies))]);
    add_some(&json, rng, spec_parts, ARRAY_LEN(spec_parts));
    str_add(&json, "},'status':{");
    add_some(&json, rng, status_parts, ARRAY_LEN(status_parts));
    str_add(&json, "}}");
    const struct kind *kind = check_sources[source].kind;
    for (size_t i = 0; i < json.len; i++)
        if (json.p[i] == '\'')
            json.p[i] = '"';
    struct object *obj = xcalloc(1, kind->type->size);
    struct codec codec;
    _cleanup_err_ struct err err = ERR_INIT;
    codec_init(&codec, s->pool);
    if (codec_json(&codec, kind->type, (struct view){json.p, json.len}, obj, &err))
        object_free(kind, s->pool, obj); /* of the wrong type for this kind */
    else
        store_put(s->stores[source], obj);
    codec_done(&codec);
    str_done(&json);
}

/* What must hold of findings whatever the objects are. */
static void check_findings(struct site *s) {
    site_text(s); /* hints and ends */
    for (size_t i = 0; i < s->result.n; i++) {
        const struct check_finding *f = &s->result.list[i];
        bool going = false, back = false;
        for (size_t k = 0; k < s->req.n_going; k++)
            going = going || streq(s->req.going[k], f->node);
        for (size_t k = 0; k < s->req.n_back; k++)
            back = back || streq(s->req.back[k], f->node);
        assert_true(f->when && (f->when & CHECK_RETURN ? back : going));
        assert_true(f->when == CHECK_RETURN || !(f->when & CHECK_RETURN));
        assert_true(f->verdict == CHECK_PASS || f->code < BLOCKER_CODES);
        assert_true(strlen(f->evidence) > 5 && strlen(f->evidence) < 1000);
        assert_null(strstr(f->evidence, "(null)"));
        if (i)
            assert_true(s->result.list[i - 1].verdict >= f->verdict);
    }
}

/* A node fewer in service never makes another one more dispensable. */
static void more_is_never_better(struct site *s) {
    static const enum check_when gates[] = {CHECK_CORDON, CHECK_OPERATION};
    enum check_verdict alone[2];
    site_run(s, "w1", NULL, NULL);
    for (size_t i = 0; i < 2; i++)
        alone[i] = check_worst(&s->result, "w1", gates[i]);
    static const char *const others[] = {"w2", "w3", "w2 w3"};
    for (size_t k = 0; k < ARRAY_LEN(others); k++) {
        _cleanup_free_ char *both = xasprintf("w1 %s", others[k]);
        for (int together = 0; together < 2; together++) {
            site_run(s, together ? both : "w1", together ? NULL : others[k], NULL);
            check_findings(s);
            for (size_t i = 0; i < 2; i++)
                assert_true(check_worst(&s->result, "w1", gates[i]) >= alone[i]);
        }
    }
}

static void random_worlds(void **state) {
    (void)state;
    enum { WORLDS = 400 };
    size_t seen[CHECK_DENY + 1] = {0};
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        struct prng rng;
        struct site s;
        const struct check *c = &checks_table[seed % n_checks];
        rng.state = seed;
        site_init(&s, c->name);
        for (unsigned k = 0; k < c->n_reads; k++)
            for (int64_t n = prng_range(&rng, 0, 6); n > 0; n--)
                add_random(&s, &rng, c->reads[k].source);
        if (!prng_range(&rng, 0, 4))
            site_node(&s, "w2", "'unschedulable':true");
        site_run(&s, "w1 w2", "w3", "w4 w1");
        check_findings(&s);
        for (size_t i = 0; i < s.result.n; i++)
            seen[s.result.list[i].verdict]++;
        const char *first = site_text(&s);
        site_run(&s, "w2 w1 w1", "w3", "w1 w4");
        assert_string_equal(first, site_text(&s));
        more_is_never_better(&s);
        site_done(&s);
    }
    assert_true(seen[CHECK_PASS] > 100 && seen[CHECK_WAIT] > 100 && seen[CHECK_DENY] > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(nothing_installed_has_nothing_to_say),
        cmocka_unit_test(what_cannot_be_read_waits),
        cmocka_unit_test(what_guards_the_data_is_never_done_without),
        cmocka_unit_test(a_kind_that_is_missing_waits),
        cmocka_unit_test(a_check_can_be_skipped),
        cmocka_unit_test(empty_objects_everywhere),
        cmocka_unit_test(the_worst_comes_first_and_names_are_taken_once),
        cmocka_unit_test(each_by_itself),
        cmocka_unit_test(random_worlds),
    };
    return cmocka_run_group_tests_name("engine/checks", tests, NULL, NULL);
}
