/* Tests of src/engine/surge_record.c: the record as it stands on a Deployment, and hostile ones. */
#include "engine/surge_record.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "kube/codec.h"

struct fixture {
    struct pool *pool;
    struct object *obj;
    struct arena arena;
    struct surge_record rec;
    enum surge_mark mark;
};

/* `label` and `record` may be NULL: not there. */
static void read_it(struct fixture *f, const char *label, const char *record, int replicas) {
    _cleanup_json_ json_t *root =
        json_pack("{s:{s:s,s:s,s:s,s:{s:s*},s:{s:s*}},s:{s:i}}", "metadata", "namespace", "x",
                  "name", "a", "resourceVersion", "77", "labels", SURGE_MARK, label, "annotations",
                  SURGE_MARK, record, "spec", "replicas", replicas);
    assert_non_null(root);
    _cleanup_free_ char *text = json_dumps(root, 0);
    struct codec codec;
    f->pool = pool_new(type_drop);
    f->obj = object_new(&kind_deployment);
    f->arena = ARENA_INIT;
    memset(f->obj, 0, kind_deployment.type->size);
    codec_init(&codec, f->pool);
    assert_int_equal(codec_json(&codec, kind_deployment.type, view_of(text), f->obj, NULL), 0);
    codec_done(&codec);
    f->mark = surge_record_of((struct deployment *)f->obj, &f->arena, &f->rec);
}

static void done(struct fixture *f) {
    arena_done(&f->arena);
    object_free(&kind_deployment, f->pool, f->obj);
    assert_int_equal(pool_stats(f->pool).entries, 0);
    pool_free(f->pool);
}

static void the_record_as_the_header_shows_it(void **state) {
    (void)state;
    struct fixture f;
    read_it(&f, "true",
            "{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"uid-1\",\"by\":\"cli/alice\"}", 2);
    assert_int_equal(f.mark, SURGE_MARKED);
    assert_int_equal(f.rec.replicas, 1);
    assert_string_equal(f.rec.node, "w1");
    assert_string_equal(f.rec.pod, "uid-1");
    assert_string_equal(f.rec.by, "cli/alice");
    assert_null(f.rec.problem);
    done(&f);
    /* who is not needed to go back; members of later releases of version 1 do no harm */
    read_it(&f, "", "{\"v\":1,\"replicas\":3,\"node\":\"w1\",\"pod\":\"u\",\"more\":[1]}", 4);
    assert_int_equal(f.mark, SURGE_MARKED);
    assert_int_equal(f.rec.replicas, 3);
    assert_string_equal(f.rec.by, "");
    done(&f);
}

static void the_label_decides(void **state) {
    (void)state;
    struct fixture f;
    read_it(&f, NULL, NULL, 1);
    assert_int_equal(f.mark, SURGE_UNMARKED);
    done(&f);
    read_it(&f, NULL, "{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"u\",\"by\":\"\"}", 1);
    assert_int_equal(f.mark, SURGE_UNMARKED);
    done(&f);
    read_it(&f, "true", NULL, 2);
    assert_int_equal(f.mark, SURGE_BARE);
    done(&f);
    read_it(&f, "true", "", 2);
    assert_int_equal(f.mark, SURGE_BARE);
    done(&f);
}

static void what_is_not_understood_is_never_misread(void **state) {
    (void)state;
#define REST ",\"node\":\"w1\",\"pod\":\"u\",\"by\":\"b\"}"
    char longest[300];
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    _cleanup_free_ char *too_long =
        xasprintf("{\"v\":1,\"replicas\":1,\"node\":\"%s\",\"pod\":\"u\"}", longest);
    const struct {
        const char *record, *problem;
    } rows[] = {
        {"x", "it is no JSON"},
        {"{\"v\":1", "it is no JSON"},
        {"{\"v\":1,\"v\":1,\"replicas\":1" REST, "it is no JSON"},
        {"[]", "it is no surge record"},
        {"{\"replicas\":1" REST, "it is no surge record"},
        {"{\"v\":\"1\",\"replicas\":1" REST, "it is no surge record"},
        {"{\"v\":2,\"replicas\":1" REST, "it is of version 2, this program knows version 1"},
        {"{\"v\":0,\"replicas\":1" REST, "it is of version 0, this program knows version 1"},
        {"{\"v\":1" REST, "its number of replicas makes no sense"},
        {"{\"v\":1,\"replicas\":0" REST, "its number of replicas makes no sense"},
        {"{\"v\":1,\"replicas\":-1" REST, "its number of replicas makes no sense"},
        {"{\"v\":1,\"replicas\":1.5" REST, "its number of replicas makes no sense"},
        {"{\"v\":1,\"replicas\":4294967297" REST, "its number of replicas makes no sense"},
        {"{\"v\":1,\"replicas\":1,\"node\":\"w1\"}",
         "it does not say which pod of which node it is for"},
        {"{\"v\":1,\"replicas\":1,\"node\":\"w1\",\"pod\":\"\"}",
         "it does not say which pod of which node it is for"},
        {"{\"v\":1,\"replicas\":1,\"node\":7,\"pod\":\"u\"}",
         "it does not say which pod of which node it is for"},
        {too_long, "it does not say which pod of which node it is for"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f;
        read_it(&f, "true", rows[i].record, 2);
        if (f.mark != SURGE_STRANGE || !streq(f.rec.problem, rows[i].problem))
            fail_msg("%s: %d %s", rows[i].record, (int)f.mark, strna(f.rec.problem));
        done(&f);
    }
}

static void raising_writes_everything_at_once(void **state) {
    (void)state;
    struct fixture f;
    _cleanup_str_ struct str patch = STR_INIT;
    read_it(&f, NULL, NULL, 1);
    /* names come from outside */
    surge_patch_raise((struct deployment *)f.obj,
                      &(struct surge_record){.pod = "u", .node = "w1", .by = "a\"b\\"}, &patch);
    _cleanup_json_ json_t *root = json_loads(str_get(&patch), 0, NULL);
    const json_t *meta = json_object_get(root, "metadata");
    assert_string_equal(json_str(meta, "resourceVersion"), "77");
    assert_string_equal(json_str(json_object_get(meta, "labels"), SURGE_MARK), "true");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "spec"), "replicas")),
                     2);
    const char *record = json_str(json_object_get(meta, "annotations"), SURGE_MARK);
    _cleanup_json_ json_t *inner = json_loads(record, 0, NULL);
    assert_string_equal(json_str(inner, "by"), "a\"b\\");
    /* and it is read back */
    struct fixture g;
    read_it(&g, "true", record, 2);
    assert_int_equal(g.mark, SURGE_MARKED);
    assert_int_equal(g.rec.replicas, 1);
    assert_string_equal(g.rec.pod, "u");
    assert_string_equal(g.rec.by, "a\"b\\");
    done(&g);
    done(&f);
}

static void lowering_removes_both_marks(void **state) {
    (void)state;
    struct fixture f;
    _cleanup_str_ struct str patch = STR_INIT;
    read_it(&f, "true", "x", 2);
    surge_patch_lower((struct deployment *)f.obj, 1, &patch);
    assert_string_equal(str_get(&patch),
                        "{\"metadata\":{\"resourceVersion\":\"77\",\"labels\":{\"slipway.dev/"
                        "surge\":null},\"annotations\":{\"slipway.dev/surge\":null}},\"spec\":{"
                        "\"replicas\":1}}");
    str_reset(&patch);
    surge_patch_lower((struct deployment *)f.obj, -1, &patch);
    assert_string_equal(str_get(&patch),
                        "{\"metadata\":{\"resourceVersion\":\"77\",\"labels\":{\"slipway.dev/"
                        "surge\":null},\"annotations\":{\"slipway.dev/surge\":null}}}");
    done(&f);
}

static void without_a_count_it_is_one(void **state) {
    (void)state;
    struct deployment d = {.replicas = ABSENT32};
    assert_int_equal(surge_replicas(&d), 1);
    d.replicas = 0;
    assert_int_equal(surge_replicas(&d), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_as_the_header_shows_it),
        cmocka_unit_test(the_label_decides),
        cmocka_unit_test(what_is_not_understood_is_never_misread),
        cmocka_unit_test(raising_writes_everything_at_once),
        cmocka_unit_test(lowering_removes_both_marks),
        cmocka_unit_test(without_a_count_it_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
