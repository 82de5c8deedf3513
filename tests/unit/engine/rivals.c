/* Tests of engine/rivals.c. */
#include "engine/rivals.h"

#include "support/keeper_world.h"

__attribute__((format(printf, 3, 4))) static struct object *
make(struct pool *pool, const struct kind *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    struct object *obj = kw_decode(pool, kind, doc);
    json_decref(doc);
    return obj;
}

/* "kured reboots it", or "" */
static void says(const char *fmt, const char *expect, bool pod) {
    struct pool *pool = pool_new(type_drop);
    const struct kind *kind = pod ? &kind_pod : &kind_node;
    struct object *obj = make(pool, kind, "%s", fmt);
    const struct rival_row *row =
        pod ? rival_of_pod((struct pod *)obj) : rival_on_node((struct node *)obj);
    _cleanup_free_ char *text = row ? xasprintf("%s %s", row->name, row->doing) : xstrdup("");
    assert_string_equal(text, expect);
    object_free(kind, pool, obj);
    pool_free(pool);
}

static void signs_on_nodes(void **state) {
    (void)state;
    says("{'metadata':{'name':'n'}}", "", false);
    says("{'metadata':{'name':'n','annotations':{'weave.works/kured-reboot-in-progress':'2026'}}}",
         "kured reboots it", false);
    says("{'metadata':{'name':'n','annotations':{'weave.works/kured-most-recent-reboot-needed':"
         "'x'}}}",
         "", false);
    says("{'metadata':{'name':'n','annotations':{"
         "'flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress':'true'}}}",
         "Flatcar's update operator reboots it", false);
    says("{'metadata':{'name':'n','annotations':{"
         "'flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress':'false'}}}",
         "", false);
    says("{'metadata':{'name':'n','annotations':{'machineconfiguration.openshift.io/state':"
         "'Working'}}}",
         "the machine-config operator updates it", false);
    says("{'metadata':{'name':'n','annotations':{'machineconfiguration.openshift.io/state':"
         "'Done'}}}",
         "", false);
    says("{'metadata':{'name':'n'},'spec':{'taints':[{'key':'other','effect':'NoSchedule'},{'key':"
         "'medik8s.io/drain','effect':'NoSchedule'}]}}",
         "the node maintenance operator drains it", false);
    says("{'metadata':{'name':'n'},'spec':{'taints':[{'key':'ToBeDeletedByClusterAutoscaler',"
         "'value':'17','effect':'NoSchedule'}]}}",
         "cluster-autoscaler removes it", false);
}

static void signs_on_pods(void **state) {
    (void)state;
    says("{'metadata':{'name':'p','namespace':'a','labels':{'app':'web'}}}", "", true);
    says("{'metadata':{'name':'p','namespace':'a','labels':{'upgrade.cattle.io/plan':'k3s'}},"
         "'status':{'phase':'Running'}}",
         "system-upgrade-controller upgrades it", true);
    says("{'metadata':{'name':'p','namespace':'a','labels':{'upgrade.cattle.io/plan':'k3s'}},"
         "'status':{'phase':'Succeeded'}}",
         "", true);
}

/* --- kured's lock --- */

#define NOW SEC(1794970800) /* 2026-11-18T03:00:00Z */
#define ONE(node, created, ttl)                                                                    \
    "{\"nodeID\":\"" node "\",\"metadata\":{\"unschedulable\":false},\"created\":\"" created       \
    "\",\"TTL\":" ttl "}"
#define THEN "2026-11-18T02:30:00Z" /* half an hour ago */

/* A DaemonSet with that in its annotation; NULL: without. */
static struct kured_lock *lock_of(struct pool *pool, const char *value) {
    json_t *doc = value ? json_pack("{s:{s:s,s:s,s:{s:s}}}", "metadata", "name", "kured",
                                    "namespace", "any", "annotations", KURED_LOCK, value)
                        : json_pack("{s:{s:s}}", "metadata", "name", "kured");
    struct object *obj = kw_decode(pool, &kind_kured_lock, doc);
    json_decref(doc);
    return (struct kured_lock *)obj;
}

static void add_node(void *arg, const char *node, const struct rival_row *rival) {
    assert_string_equal(rival->name, "kured");
    str_addf(arg, "%s ", node);
}

static void locks(void **state) {
    (void)state;
    static const struct {
        const char *value, *nodes;
    } cases[] = {
        {NULL, ""},
        {ONE("w1", THEN, "0"), "w1 "},
        {ONE("w1", THEN, "-1"), "w1 "},
        {"{\"nodeID\":\"w1\"}", "w1 "},
        {"{\"nodeID\":\"w1\",\"created\":7,\"TTL\":0}", "w1 "},
        /* for an hour, for half an hour, and for longer than there are times */
        {ONE("w1", THEN, "3600000000000"), "w1 "},
        {ONE("w1", "2026-11-18T04:30:00.123456789+02:00", "3600000000000"), "w1 "},
        {ONE("w1", THEN, "1800000000000"), ""},
        {ONE("w1", THEN, "9223372036854775807"), "w1 "},
        {ONE("w1", "2026-11-18T04:00:00Z", "1"), "w1 "}, /* by a clock that is ahead */
        {ONE("w1", "0001-01-01T00:00:00Z", "3600000000000"), ""},
        /* --concurrency */
        {"{\"maxOwners\":2,\"locks\":[" ONE("w1", THEN, "0") "," ONE("w2", THEN, "0") "]}",
         "w1 w2 "},
        {"{\"maxOwners\":2,\"locks\":[" ONE("w1", THEN, "1") "," ONE("w2", THEN, "0") "]}", "w2 "},
        {"{\"maxOwners\":2,\"locks\":[7,null,{},[],\"w1\"," ONE("w2", THEN, "0") "]}", "w2 "},
        {"{\"maxOwners\":2,\"locks\":[]}", ""},
        {"{\"maxOwners\":2,\"locks\":{\"nodeID\":\"w1\"}}", ""},
        /* what is none */
        {"", ""},
        {" ", ""},
        {"w1", ""},
        {"null", ""},
        {"[]", ""},
        {"[" ONE("w1", THEN, "0") "]", ""},
        {"\"w1\"", ""},
        {"{", ""},
        {"{}", ""},
        {ONE("", THEN, "0"), ""},
        {ONE("w1", THEN, "0") "x", ""},
        {"{\"nodeID\":[\"w1\"]}", ""},
        {"{\"nodeID\":null}", ""},
        {"{\"nodeID\":\"w\\u00001\"}", ""},
        {ONE("w1", THEN, "\"0\""), ""},
        {ONE("w1", THEN, "0.5"), ""},
        {ONE("w1", THEN, "99999999999999999999"), ""},
        {ONE("w1", "yesterday", "3600000000000"), ""},
        {"{\"nodeID\":\"w1\",\"TTL\":3600000000000}", ""},
    };
    struct pool *pool = pool_new(type_drop);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str nodes = STR_INIT;
        struct kured_lock *lock = lock_of(pool, cases[i].value);
        rival_locks(lock, NOW, add_node, &nodes);
        if (!streq(str_get(&nodes), cases[i].nodes))
            fail_msg("\"%s\" of %s", str_get(&nodes), strna(cases[i].value));
        assert_int_equal(rival_of_lock(lock, "w1", NOW) != NULL, str_starts(cases[i].nodes, "w1 "));
        object_free(&kind_kured_lock, pool, (struct object *)lock);
    }
    pool_free(pool);
}

/* As deep, and as long, as somebody may write it. */
static void locks_without_end(void **state) {
    (void)state;
    static const struct {
        const char *each;
        size_t times;
    } cases[] = {{"[", 100000}, {"{\"locks\":", 20000}, {"{\"nodeID\":\"w1\"},", 20000}};
    struct pool *pool = pool_new(type_drop);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_str_ struct str text = STR_INIT, nodes = STR_INIT;
        str_add(&text, "{\"nodeID\":\"w1\",\"locks\":[");
        for (size_t k = 0; k < cases[i].times; k++)
            str_add(&text, cases[i].each);
        str_add(&text, "0]}");
        struct kured_lock *lock = lock_of(pool, str_get(&text));
        rival_locks(lock, NOW, add_node, &nodes);
        assert_int_equal(nodes.len, 0);
        object_free(&kind_kured_lock, pool, (struct object *)lock);
    }
    _cleanup_str_ struct str name = STR_INIT, text = STR_INIT, nodes = STR_INIT;
    for (size_t k = 0; k < 254; k++)
        str_addc(&name, 'n');
    str_addf(&text, "{\"nodeID\":\"%s\"}", str_get(&name));
    struct kured_lock *lock = lock_of(pool, str_get(&text));
    rival_locks(lock, NOW, add_node, &nodes);
    assert_int_equal(nodes.len, 0);
    object_free(&kind_kured_lock, pool, (struct object *)lock);
    pool_free(pool);
}

/* First what the Node says, then locks, then pods; each of this node alone. */
static void by_any_sign(void **state) {
    (void)state;
    static const struct {
        const char *annotation, *locked, *pod_on, *who;
    } cases[] = {
        {"x", "w2", "w2", NULL},
        {"x", "w1", "w2", "kured"},
        {"x", "w2", "w1", "system-upgrade-controller"},
        {"x", "w1", "w1", "kured"},
        {"machineconfiguration.openshift.io/state", "w1", "w1", "the machine-config operator"},
    };
    struct pool *pool = pool_new(type_drop);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store *all = store_new(&kind_kured_lock, pool), *pods = store_new(&kind_pod, pool);
        _cleanup_free_ char *value = xasprintf("{\"nodeID\":\"%s\"}", cases[i].locked);
        store_put(all, (struct object *)lock_of(pool, NULL));
        struct kured_lock *lock = lock_of(pool, value);
        store_put(all, (struct object *)lock);
        store_put(pods, make(pool, &kind_pod,
                             "{'metadata':{'name':'p','namespace':'a','labels':{'" RIVAL_POD_LABEL
                             "':'k3s'}},'spec':{'nodeName':'%s'},'status':{'phase':'Running'}}",
                             cases[i].pod_on));
        struct object *node =
            make(pool, &kind_node, "{'metadata':{'name':'w1','annotations':{'%s':'Working'}}}",
                 cases[i].annotation);
        struct rival_signs none = {0}, signs = {all, pods};
        const struct rival_row *row = rival_at_work(&signs, (struct node *)node, NOW);
        assert_string_equal(row ? row->name : "", strna(cases[i].who));
        row = rival_by_lock(&signs, "w1", NOW);
        assert_int_equal(row != NULL, streq(cases[i].locked, "w1"));
        assert_ptr_equal(rival_at_work(&none, (struct node *)node, NOW),
                         rival_on_node((struct node *)node));
        object_free(&kind_node, pool, node);
        store_free(all);
        store_free(pods);
    }
    pool_free(pool);
}

/* Most of what happens to DaemonSets has nothing to do with it. */
static void a_lock_that_changes(void **state) {
    (void)state;
    struct pool *pool = pool_new(type_drop);
    struct object *none = (struct object *)lock_of(pool, NULL),
                  *w1 = (struct object *)lock_of(pool, "{\"nodeID\":\"w1\"}"),
                  *again = (struct object *)lock_of(pool, "{\"nodeID\":\"w1\"}"),
                  *w2 = (struct object *)lock_of(pool, "{\"nodeID\":\"w2\"}");
    assert_false(rival_lock_changed(NULL, none));
    assert_false(rival_lock_changed(none, none));
    assert_false(rival_lock_changed(none, NULL));
    assert_false(rival_lock_changed(w1, again));
    assert_true(rival_lock_changed(NULL, w1));
    assert_true(rival_lock_changed(none, w1));
    assert_true(rival_lock_changed(w1, w2));
    assert_true(rival_lock_changed(w2, none));
    assert_true(rival_lock_changed(w2, NULL));
    struct object *const all[] = {none, w1, again, w2};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        object_free(&kind_kured_lock, pool, all[i]);
    pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_on_nodes), cmocka_unit_test(signs_on_pods),
        cmocka_unit_test(locks),          cmocka_unit_test(locks_without_end),
        cmocka_unit_test(by_any_sign),    cmocka_unit_test(a_lock_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
