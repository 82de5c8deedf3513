/* Tests of src/controller/tape_object.c: what of an object is in a recording. */
#include "support/core_world.h"

#include <errno.h>

#include "base/jsonw.h"
#include "controller/tape_object.h"

/* Its text in a recording; the object that the text is. */
static char *print(const struct kind *kind, struct pool *pool, const struct object *obj) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    tape_object_print(kind, pool, &w, obj);
    return str_take(&out);
}

static void a_node_without_what_is_nobody_s_business(void **state) {
    struct core_world w;
    struct codec codec;
    struct object *again = NULL;
    (void)state;
    cw_init(&w);
    codec_init(&codec, w.pool);
    const struct object *node = store_get(core_cluster(w.core)->nodes, NULL, "w0");
    _cleanup_free_ char *text = print(&kind_node, w.pool, node);
    assert_null(strstr(text, "secret"));
    assert_non_null(strstr(text, "rebootmanager/status"));
    assert_int_equal(tape_object_read(&codec, &kind_node, view_of(text), &again, NULL), 0);
    assert_string_equal(((struct node *)again)->info.boot_id, "boot");
    _cleanup_free_ char *twice = print(&kind_node, w.pool, again);
    assert_string_equal(text, twice);
    object_free(&kind_node, w.pool, again);
    codec_done(&codec);
    cw_done(&w);
}

static json_t *maintenance(const char *executor) {
    _cleanup_free_ char *text = xasprintf("{\"metadata\":{\"name\":\"m\"},\"spec\":{\"node\":"
                                          "\"w0\",\"operation\":\"Reboot\",\"executor\":%s}}",
                                          executor);
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    return doc;
}

static void what_is_run_or_called_is_left_out(void **state) {
    static const char *const executors[] = {"{\"exec\":{\"command\":[\"secret\"]}}",
                                            "{\"http\":{\"url\":\"https://secret\"}}",
                                            "{\"sim\":{}}", "{\"fleetlock\":{}}"};
    struct pool *pool = pool_new(type_drop);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(executors); i++) {
        json_t *doc = maintenance(executors[i]);
        struct object *m = kw_decode(pool, &kind_maintenance, doc);
        _cleanup_free_ char *text = print(&kind_maintenance, pool, m);
        assert_null(strstr(text, "secret"));
        assert_non_null(strstr(text, "\"executor\":{\""));
        object_free(&kind_maintenance, pool, m);
        json_decref(doc);
    }
    pool_free(pool);
}

/* The kinds that only checks read: what they decide by comes back as it was. */
static void what_checks_read_comes_back(void **state) {
#define META(more)                                                                                 \
    "{\"metadata\":{\"name\":\"x\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"4\","  \
    "\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"secret\"},"           \
    "\"labels\":{\"a\":\"b\"}}," more "}"
    static const struct {
        const struct kind *kind;
        const char *text, *kept;
    } rows[] = {
        {&kind_ceph_cluster,
         META("\"spec\":{\"mon\":{\"count\":3}},\"status\":{\"phase\":\"Ready\",\"ceph\":{"
              "\"health\":\"HEALTH_WARN\",\"details\":{\"OSD_DOWN\":{\"message\":\"1 osds down\","
              "\"severity\":\"HEALTH_WARN\"},\"NEW_ONE\":{\"message\":\"\\u00fc \\\"x\\\"\"}}}}"),
         "1 osds down"},
        {&kind_ceph_filesystem,
         META("\"spec\":{\"metadataPool\":{\"failureDomain\":\"rack\"},\"dataPools\":[{},{"
              "\"failureDomain\":\"osd\"}]}"),
         "\"osd\""},
        {&kind_rook_state,
         META("\"data\":{\"draining-failure-domain\":\"w1\",\"other\":\"secret\"}"),
         "draining-failure-domain"},
        {&kind_longhorn_volume,
         META("\"spec\":{\"numberOfReplicas\":0,\"dataLayout\":{\"type\":\"sharded\"}},"
              "\"status\":{\"state\":\"attached\",\"robustness\":\"degraded\",\"currentNodeID\":"
              "\"w1\"}"),
         "\"numberOfReplicas\":0"},
        {&kind_longhorn_replica,
         META("\"spec\":{\"volumeName\":\"v\",\"failedAt\":\"\",\"healthyAt\":"
              "\"2026-11-15T07:00:00Z\",\"evictionRequested\":true}"),
         "evictionRequested"},
        {&kind_longhorn_engine, META("\"unread\":\"spec.nodeID: no text\""), "no text"},
        {&kind_longhorn_setting, META("\"value\":\"allow-if-replica-is-stopped\""), "allow-if"},
        {&kind_vmi,
         META("\"spec\":{\"evictionStrategy\":\"LiveMigrate\"},\"status\":{\"nodeName\":\"w0\","
              "\"conditions\":[{\"type\":\"LiveMigratable\",\"status\":\"False\",\"message\":"
              "\"its disk\"}],\"migrationState\":{\"failed\":true,\"failureReason\":\"f\"}}"),
         "its disk"},
        {&kind_etcd_cluster,
         META(
             "\"spec\":{\"size\":3},\"status\":{\"members\":[{\"name\":\"m-0\",\"isHealthy\":true},"
             "{\"name\":\"m-1\",\"isLearner\":true}]}"),
         "m-1"},
    };
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    (void)state;
    codec_init(&codec, pool);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind *kind = rows[i].kind;
        struct object *obj = NULL, *again = NULL;
        assert_int_equal(tape_object_read(&codec, kind, view_of(rows[i].text), &obj, NULL), 0);
        _cleanup_free_ char *text = print(kind, pool, obj);
        assert_null(strstr(text, "secret"));
        assert_non_null(strstr(text, rows[i].kept));
        assert_int_equal(tape_object_read(&codec, kind, view_of(text), &again, NULL), 0);
        /* The same in every field that it has, but for the annotations: texts are compared by
         * address (base/pool.h). */
        pool_unref(pool, obj->meta.annotations);
        obj->meta.annotations = NULL;
        assert_memory_equal(obj, again, kind->type->size);
        object_free(kind, pool, obj);
        object_free(kind, pool, again);
    }
    codec_done(&codec);
    assert_int_equal(pool_stats(pool).entries, 0);
    pool_free(pool);
}

static void bodies_of_maintenances_too(void **state) {
    struct action a = {.verb = ACTION_CREATE,
                       .kind = &kind_maintenance,
                       .body = "{\"spec\":{\"node\":\"w0\",\"executor\":{\"http\":\"secret\"}}}"};
    (void)state;
    _cleanup_free_ char *made = tape_body(&a);
    assert_string_equal(made, "{\"spec\":{\"node\":\"w0\"}}");
    a.kind = &kind_node;
    _cleanup_free_ char *other = tape_body(&a);
    assert_string_equal(other, a.body);
    a.body = NULL;
    assert_null(tape_body(&a));
}

static void what_cannot_be_read(void **state) {
    static const char *const texts[] = {"", "[]", "{}", "{\"metadata\":{}}", "{\"metadata\":3}"};
    struct pool *pool = pool_new(type_drop);
    struct codec codec;
    (void)state;
    codec_init(&codec, pool);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct object *obj = NULL;
        assert_true(tape_object_read(&codec, &kind_pod, view_of(texts[i]), &obj, NULL) < 0);
        assert_null(obj);
    }
    assert_null(tape_kind("secrets"));
    assert_ptr_equal(tape_kind("rollouts"), &kind_rollout);
    assert_ptr_equal(tape_kind("pods"), &kind_pod);
    codec_done(&codec);
    pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_without_what_is_nobody_s_business),
        cmocka_unit_test(what_is_run_or_called_is_left_out),
        cmocka_unit_test(what_checks_read_comes_back),
        cmocka_unit_test(bodies_of_maintenances_too),
        cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
