/* Tests of schema/schema_data, the generated table. That it is the one that Kubernetes' types make
 * is checked by tests/tools/test_schema.py; here, that it can be relied on as schema.h says. */
#include "schema_test.h"
#include "sim/schema/schema_table.h"

/* The order in which protobuf writes: by number, each once, and only what is in the message. */
static void numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < schema_n_all; i++) {
        const struct schema *s = &schema_all[i];
        uint16_t last = 0;
        size_t in_message = 0;
        for (size_t j = 0; j < s->n_numbers; j++) {
            assert_true(s->fields[s->by_number[j]].pb > last);
            last = s->fields[s->by_number[j]].pb;
        }
        for (size_t j = 0; j < s->n_fields; j++)
            in_message += s->fields[j].pb != 0;
        assert_int_equal(in_message, s->n_numbers);
    }
}

/* What a merge looks for is in the elements that it merges. */
static void merge_keys(void **state) {
    (void)state;
    size_t lists = 0;
    for (size_t i = 0; i < schema_n_all; i++)
        for (size_t j = 0; j < schema_all[i].n_fields; j++) {
            const struct schema_field *f = &schema_all[i].fields[j];
            if (!f->merge_key)
                continue;
            assert_true(f->flags & SCHEMA_LIST && f->flags & SCHEMA_MERGE);
            assert_int_equal(f->kind, SCHEMA_OBJECT);
            assert_non_null(schema_field(f->of, f->merge_key, strlen(f->merge_key)));
            lists++;
        }
    assert_true(lists > 20);
}

static const struct schema_field *at(const struct schema *s, const char *path) {
    const struct schema_field *f = NULL;
    while (*path) {
        size_t n = strcspn(path, ".");
        f = schema_field(s, path, n);
        if (!f)
            fail_msg("no field %s in %s", path, s->name);
        s = f->of;
        path += n + (path[n] == '.');
    }
    return f;
}

/* Out of the sources of Kubernetes, by hand: what every other test would not notice. */
static void known_fields(void **state) {
    (void)state;
    const struct schema *pod = kind("Pod"), *deployment = kind("apps/Deployment");
    static const struct {
        const char *path;
        uint16_t pb, flags;
        uint8_t kind;
        const char *merge_key;
    } rows[] = {
        {"metadata.name", 1, SCHEMA_OMITEMPTY, SCHEMA_STRING, NULL},
        {"metadata.creationTimestamp", 8, SCHEMA_OMITEMPTY, SCHEMA_TIME, NULL},
        {"metadata.ownerReferences", 13, SCHEMA_LIST | SCHEMA_OMITEMPTY | SCHEMA_MERGE,
         SCHEMA_OBJECT, "uid"},
        {"metadata.finalizers", 14, SCHEMA_LIST | SCHEMA_OMITEMPTY | SCHEMA_MERGE, SCHEMA_STRING,
         NULL},
        {"spec", 2, 0, SCHEMA_OBJECT, NULL},
        {"spec.containers", 2, SCHEMA_LIST | SCHEMA_MERGE | SCHEMA_REQUIRED, SCHEMA_OBJECT, "name"},
        {"spec.volumes", 1, SCHEMA_LIST | SCHEMA_OMITEMPTY | SCHEMA_MERGE | SCHEMA_RETAIN_KEYS,
         SCHEMA_OBJECT, "name"},
        {"spec.priority", 25, SCHEMA_POINTER | SCHEMA_OMITEMPTY, SCHEMA_INT32, NULL},
        {"spec.overhead", 32, SCHEMA_MAP | SCHEMA_OMITEMPTY, SCHEMA_QUANTITY, NULL},
        {"spec.containers.ports", 6, SCHEMA_LIST | SCHEMA_OMITEMPTY | SCHEMA_MERGE, SCHEMA_OBJECT,
         "containerPort"},
        {"spec.containers.resources", 8, 0, SCHEMA_OBJECT, NULL},
        {"status.conditions.lastProbeTime", 3, 0, SCHEMA_TIME, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct schema_field *f = at(pod, rows[i].path);
        assert_int_equal(f->pb, rows[i].pb);
        assert_int_equal(f->flags, rows[i].flags);
        assert_int_equal(f->kind, rows[i].kind);
        if (rows[i].merge_key)
            assert_string_equal(f->merge_key, rows[i].merge_key);
        else
            assert_null(f->merge_key);
    }
    assert_int_equal(at(pod, "kind")->pb, 1); /* of TypeMeta, which is in no message */
    assert_int_equal(pod->fields[0].pb, 0);
    assert_int_equal(at(deployment, "spec.strategy")->flags, SCHEMA_RETAIN_KEYS);
    assert_int_equal(at(kind("policy/PodDisruptionBudget"), "spec.selector")->flags,
                     SCHEMA_POINTER | SCHEMA_OMITEMPTY | SCHEMA_REPLACE);
}

/* By kind, then by group: schema_find() halves its way. */
static void order_of_kinds(void **state) {
    (void)state;
    for (size_t i = 1; i < schema_n_roots; i++) {
        const struct schema_root *a = &schema_roots[i - 1], *b = &schema_roots[i];
        int order = strcmp(a->kind, b->kind);
        assert_true(order < 0 || (order == 0 && strcmp(a->group, b->group) < 0));
    }
}

/* By length, then by bytes, each once. */
static void order_of_keys(void **state) {
    (void)state;
    for (size_t i = 0; i < schema_n_all; i++) {
        const struct schema *s = &schema_all[i];
        size_t keys = 0;
        for (size_t j = 1; j < s->n_names; j++) {
            const struct schema_field *a = &s->fields[s->by_name[j - 1]];
            const struct schema_field *b = &s->fields[s->by_name[j]];
            assert_true(a->len < b->len ||
                        (a->len == b->len && memcmp(a->json, b->json, a->len) < 0));
        }
        for (size_t j = 0; j < s->n_fields; j++)
            keys += !(s->fields[j].flags & SCHEMA_INLINE);
        assert_int_equal(keys, s->n_names);
    }
}

/* What goes with what. */
static void fields(void **state) {
    (void)state;
    for (size_t i = 0; i < schema_n_all; i++)
        for (size_t j = 0; j < schema_all[i].n_fields; j++) {
            const struct schema_field *f = &schema_all[i].fields[j];
            bool leads = f->kind >= SCHEMA_OBJECT;
            assert_int_equal(leads, f->of != NULL);
            assert_false(f->flags & SCHEMA_LIST && f->flags & SCHEMA_MAP);
            assert_false(f->flags & SCHEMA_POINTER && f->flags & (SCHEMA_LIST | SCHEMA_MAP));
            assert_int_equal(*f->json == '\0', (f->flags & SCHEMA_INLINE) != 0);
            /* Inlined objects nest no deeper. */
            if (f->flags & SCHEMA_INLINE)
                assert_int_equal(f->of->n_names, f->of->n_fields);
            if (f->kind == SCHEMA_RAW)
                assert_non_null(f->go);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),       cmocka_unit_test(merge_keys),
        cmocka_unit_test(known_fields),  cmocka_unit_test(order_of_kinds),
        cmocka_unit_test(order_of_keys), cmocka_unit_test(fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
