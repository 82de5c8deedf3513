/* Tests of model/object: what every table must keep to, kinds, and the small helpers. That the rows
 * say what Kubernetes says is tests/fixtures' business. */
#include "model/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/make.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"

/* --- the tables --- */

enum { DEPTH_MAX = 20 }; /* what kube/codec.h says of Kubernetes' own objects */

static const struct {
    size_t size, align;
} sizes[] = {
#define S(type)                                                                                    \
    { sizeof(type), _Alignof(type) }
    [FIELD_STR] = S(char *),     [FIELD_BOOL] = S(bool),         [FIELD_I32] = S(int32_t),
    [FIELD_I64] = S(int64_t),    [FIELD_OPT_I32] = S(int32_t),   [FIELD_OPT_I64] = S(int64_t),
    [FIELD_TIME] = S(int64_t),   [FIELD_MICROTIME] = S(int64_t), [FIELD_INTSTR] = S(struct intstr),
    [FIELD_PRESENT] = S(bool),   [FIELD_MSG] = {0, 1},           [FIELD_PTR] = S(void *),
    [FIELD_LIST] = S(void *),    [FIELD_STRS] = S(void *),       [FIELD_MAP] = S(void *),
    [FIELD_MAP_QTY] = S(void *), [FIELD_MAP_TIME] = S(void *),   [FIELD_OPT_BOOL] = S(int8_t),
    [FIELD_JSON] = S(char *),    [FIELD_INTS] = S(void *),
#undef S
};

/* Where we are in the walk through a table. */
struct place {
    const struct place *up;
    const struct type *type;
    const struct type *root; /* NULL within the elements of lists */
    const char *key;
    int depth;
};

static char *name_of(const struct place *p) {
    if (!p->up)
        return xstrdup(p->type->name);
    _cleanup_free_ char *above = name_of(p->up);
    return xasprintf("%s.%s(%s)", above, strna(p->key), p->type->name);
}

#define CHECK(place, cond)                                                                         \
    do {                                                                                           \
        if (!(cond))                                                                               \
            fail_msg("%s: not so: %s", name_of(place), #cond);                                     \
    } while (0)

static bool has_type(enum field_kind kind) {
    return kind == FIELD_MSG || kind == FIELD_PTR || kind == FIELD_LIST;
}

static bool is_map(enum field_kind kind) {
    return kind == FIELD_MAP || kind == FIELD_MAP_QTY || kind == FIELD_MAP_TIME;
}

static void check_row(const struct place *p, const struct field *f) {
    if (f->flags & FIELD_OWNED) {
        CHECK(p, !p->up && !f->json && !f->pb);
        return;
    }
    CHECK(p, f->kind < ARRAY_LEN(sizes));
    CHECK(p, f->pb > 0);
    CHECK(p, f->json ? f->json[0] != 0 : f->kind == FIELD_MSG);
    CHECK(p, has_type(f->kind) == (f->type != NULL));
    CHECK(p, !f->keep_key || is_map(f->kind));
    const struct type *in = f->flags & FIELD_OF_ROOT ? p->root : p->type;
    CHECK(p, in);
    size_t size = f->kind == FIELD_MSG ? f->type->size : sizes[f->kind].size;
    CHECK(p, f->off % sizes[f->kind].align == 0);
    CHECK(p, f->off + size <= in->size);
    /* keep() is asked of list elements only. */
    CHECK(p, !f->type || !f->type->keep || f->kind == FIELD_LIST);
}

/* Only a member that the root releases may be filled from further down. */
static void check_owned(const struct place *p, const struct field *f) {
    const struct type *root = p->root;
    for (uint16_t i = 0; i < root->n_fields; i++)
        if (root->fields[i].flags & FIELD_OWNED && root->fields[i].off == f->off &&
            root->fields[i].kind == f->kind)
            return;
    fail_msg("%s: %s is filled but nobody gives it back", name_of(p), f->json);
}

static void check_type(const struct place *p);

static void check_rows(const struct place *p) {
    const struct type *t = p->type;
    CHECK(p, t->name && *t->name);
    CHECK(p, t->size > 0 && t->n_fields > 0);
    CHECK(p, t->n_fields <= 64); /* the protobuf decoder remembers fields in the bits of a word */
    CHECK(p, p->depth <= DEPTH_MAX);
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        check_row(p, f);
        if (i)
            CHECK(p, t->fields[i - 1].pb < f->pb);
        if (f->flags & FIELD_OF_ROOT)
            check_owned(p, f);
        if (f->type) {
            struct place below = {p, f->type, f->kind == FIELD_LIST ? NULL : p->root, f->json,
                                  p->depth + 1};
            check_type(&below);
        }
    }
}

/* Keys of one JSON object, those of messages without a key of their own among them. */
typedef VEC(const char *) names;

static void collect_keys(const struct type *t, names *keys) {
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        if (f->json)
            *vec_push(keys) = f->json;
        else if (f->kind == FIELD_MSG)
            collect_keys(f->type, keys);
    }
}

static void check_keys(const struct place *p) {
    names keys = VEC_INIT;
    collect_keys(p->type, &keys);
    for (size_t i = 0; i < keys.len; i++)
        for (size_t k = 0; k < i; k++)
            if (streq(keys.p[i], keys.p[k]))
                fail_msg("%s: two rows for \"%s\"", name_of(p), keys.p[i]);
    vec_done(&keys);
}

/* Members that no row fills. */
static const struct {
    const char *type;
    size_t size, off;
} exempt[] = {
    /* A pod's own is in struct pod. */
    {"PodSpec", sizeof(struct pod_spec), offsetof(struct pod_spec, node_name)},
    /* Topologies are written in a language of their own, with In as the only operator. */
    {"TopologySelectorLabelRequirement", sizeof(struct requirement),
     offsetof(struct requirement, op)},
    {"TopologySelectorTerm", sizeof(struct node_term), offsetof(struct node_term, fields)},
    /* Notes of the store. */
    {"ObjectMeta", sizeof(struct meta), offsetof(struct meta, store_hash)},
};

/* Marks the bytes of the struct that a table fills: nobody may fill a byte twice. */
static void mark(const struct place *p, const struct type *t, size_t base, unsigned char *bytes) {
    for (uint16_t i = 0; i < t->n_fields; i++) {
        const struct field *f = &t->fields[i];
        if (f->flags & FIELD_OF_ROOT)
            continue;
        if (f->kind == FIELD_MSG) {
            mark(p, f->type, base + f->off, bytes);
            continue;
        }
        for (size_t b = base + f->off; b < base + f->off + sizes[f->kind].size; b++) {
            if (bytes[b])
                fail_msg("%s: two rows fill byte %zu, one is \"%s\"", name_of(p), b,
                         strna(f->json));
            bytes[b] = 1;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(exempt); i++)
        if (streq(t->name, exempt[i].type) && t->size == exempt[i].size)
            memset(bytes + base + exempt[i].off, 1, 8);
}

static void check_bytes(const struct place *p) {
    unsigned char bytes[4096] = {0};
    CHECK(p, p->type->size <= sizeof bytes);
    mark(p, p->type, 0, bytes);
    for (size_t b = 0; b + 8 <= p->type->size; b += 8) {
        bool filled = false;
        for (size_t i = b; i < b + 8; i++)
            filled |= bytes[i];
        if (!filled) /* no padding is that large: a row was forgotten */
            fail_msg("%s: nothing fills the bytes from %zu", name_of(p), b);
    }
}

static void check_type(const struct place *p) {
    check_rows(p);
    check_keys(p);
    /* A message that lies flat in the struct around it is part of that. */
    if (!p->up || p->type->size != p->up->type->size)
        check_bytes(p);
}

static void tables(void **state) {
    (void)state;
    for (size_t i = 0; kinds[i]; i++) {
        struct place p = {NULL, kinds[i]->type, kinds[i]->type, NULL, 1};
        check_type(&p);
    }
    struct place status = {NULL, &type_status, &type_status, NULL, 1},
                 list = {NULL, &type_list_meta, &type_list_meta, NULL, 1};
    check_type(&status);
    check_type(&list);
}

static void kinds_begin_with_meta(void **state) {
    (void)state;
    for (size_t i = 0; kinds[i]; i++) {
        const struct field *f = kinds[i]->type->fields;
        while (f->flags & FIELD_OWNED)
            f++;
        assert_string_equal(f->json, "metadata");
        assert_int_equal(f->pb, 1);
        assert_int_equal(f->kind, FIELD_MSG);
        assert_int_equal(f->off, 0);
        assert_int_equal(f->type->size, sizeof(struct meta));
        assert_string_equal(f->type->name, "ObjectMeta");
        assert_string_equal(kinds[i]->type->name, kinds[i]->name);
    }
}

/* --- kinds --- */

static void find(void **state) {
    (void)state;
    size_t n = 0;
    for (; kinds[n]; n++) {
        assert_ptr_equal(kind_find(kinds[n]->name), kinds[n]);
        assert_ptr_equal(kind_find(kinds[n]->resource), kinds[n]);
        for (size_t k = 0; k < n; k++) {
            assert_string_not_equal(kinds[k]->name, kinds[n]->name);
            assert_string_not_equal(kinds[k]->resource, kinds[n]->resource);
        }
    }
    assert_int_equal(n, 19);
    assert_null(kind_find("pod"));
    assert_null(kind_find(""));
    assert_null(kind_find("Status"));
    assert_ptr_equal(kind_find("poddisruptionbudgets"), &kind_pdb);
}

static void api_versions(void **state) {
    (void)state;
    char buf[64];
    assert_string_equal(kind_api_version(&kind_pod, buf), "v1");
    assert_string_equal(kind_api_version(&kind_lease, buf), "coordination.k8s.io/v1");
    assert_string_equal(kind_api_version(&kind_volume_attachment, buf), "storage.k8s.io/v1");
}

/* --- objects --- */

static int setup(void **state) {
    *state = pool_new(type_drop);
    return 0;
}

static int teardown(void **state) {
    size_t left = pool_stats(*state).entries;
    pool_free(*state);
    return left ? -1 : 0;
}

static void new_objects(void **state) {
    struct pool *pool = *state;
    for (size_t i = 0; kinds[i]; i++) {
        struct object *obj = object_new(kinds[i]);
        _cleanup_str_ struct str out = STR_INIT;
        char version[64], expected[128];
        struct jsonw w;
        assert_int_equal(obj->meta.deletion_grace, ABSENT64);
        jsonw_init(&w, &out, false);
        object_print(kinds[i], &w, obj);
        snprintf(expected, sizeof expected,
                 "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{}",
                 kind_api_version(kinds[i], version), kinds[i]->name);
        assert_true(str_starts(str_get(&out), expected));
        object_free(kinds[i], pool, obj);
        object_free(kinds[i], pool, NULL);
    }
}

static void absent_numbers(void **state) {
    struct pool *pool = *state;
    struct job *job = (struct job *)object_new(&kind_job);
    assert_int_equal(job->parallelism, ABSENT32);
    assert_int_equal(job->completions, ABSENT32);
    assert_int_equal(job->deadline, ABSENT64);
    assert_int_equal(job->terminating, ABSENT32);
    assert_int_equal(job->active, 0);
    object_free(&kind_job, pool, (struct object *)job);
}

static void free_pod(void **state) {
    struct pool *pool = *state;
    struct pod *pod = (struct pod *)object_new(&kind_pod);
    pod->meta.name = make_str(pool, "p");
    pod->meta.labels = make_map(pool, "app", "web", NULL);
    pod->node_name = make_str(pool, "n1");
    pod->phase = make_str(pool, "Running");
    pod->started = SEC(1);
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    object_print(&kind_pod, &w, (struct object *)pod);
    /* The node name belongs to the spec, and there is none. */
    assert_string_equal(str_get(&out),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                        "\"labels\":{\"app\":\"web\"}},\"status\":{\"phase\":\"Running\","
                        "\"startTime\":\"1970-01-01T00:00:01Z\"}}");
    object_free(&kind_pod, pool, (struct object *)pod);
    assert_int_equal(pool_stats(pool).entries, 0);
}

static void conditions(void **state) {
    struct pool *pool = *state;
    static const struct type tag = {"test", sizeof(struct condition), 0, NULL, NULL},
                             node_tag = {"test", sizeof(struct node_condition), 0, NULL, NULL};
    const struct condition list[] = {
        {.type = "A", .status = "False"}, {.type = NULL}, {.type = "B"}};
    const struct condition *l = pool_blob(pool, &tag, list, sizeof list);
    assert_ptr_equal(condition_find(l, "A"), &l[0]);
    assert_ptr_equal(condition_find(l, "B"), &l[2]);
    assert_null(condition_find(l, "C"));
    assert_null(condition_find(NULL, "A"));
    const struct node_condition nodes[] = {{.c = {.type = "Ready"}},
                                           {.c = {.type = "DiskPressure"}}};
    const struct node_condition *n = pool_blob(pool, &node_tag, nodes, sizeof nodes);
    assert_ptr_equal(node_condition_find(n, "DiskPressure"), &n[1]);
    assert_null(node_condition_find(n, "PIDPressure"));
    assert_null(node_condition_find(NULL, "Ready"));
    pool_unref(pool, l);
    pool_unref(pool, n);
}

static void controllers(void **state) {
    struct pool *pool = *state;
    static const struct type tag = {"test", sizeof(struct owner), 0, NULL, NULL};
    const struct owner list[] = {{.kind = "A"}, {.kind = "B", .controller = true}, {.kind = "C"}};
    struct meta meta = {0};
    assert_null(meta_controller(&meta));
    meta.owners = pool_blob(pool, &tag, list, sizeof list);
    assert_ptr_equal(meta_controller(&meta), &meta.owners[1]);
    pool_unref(pool, meta.owners);
    meta.owners = pool_blob(pool, &tag, list, sizeof list[0]);
    assert_null(meta_controller(&meta));
    pool_unref(pool, meta.owners);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        cmocka_unit_test(tables),
        cmocka_unit_test(kinds_begin_with_meta),
        cmocka_unit_test(find),
        cmocka_unit_test(api_versions),
        T(new_objects),
        T(absent_numbers),
        T(free_pod),
        T(conditions),
        T(controllers),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
