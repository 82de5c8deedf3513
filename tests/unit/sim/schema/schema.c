/* Tests of schema/schema and of the table that it searches (schema_data.c). That the table is the
 * one that Kubernetes' types make is checked by tests/tools/test_schema.py. */
#include "schema_test.h"
#include "sim/schema/build.h"
#include "sim/schema/schema_table.h"

static void kinds(void **state) {
    (void)state;
    for (size_t i = 0; i < schema_n_roots; i++) {
        const struct schema_root *r = &schema_roots[i];
        assert_ptr_equal(schema_find(r->group, r->version, r->kind), r->schema);
    }
    assert_string_equal(schema_find("", "v1", "Pod")->name, "io.k8s.api.core.v1.Pod");
    assert_string_equal(schema_find("", "v1", "Event")->name, "io.k8s.api.core.v1.Event");
    assert_string_equal(schema_find("events.k8s.io", "v1", "Event")->name,
                        "io.k8s.api.events.v1.Event");
    assert_ptr_equal(schema_find("", "v1", "Status"), schema_find("meta.k8s.io", "v1", "Status"));
}

static void no_kinds(void **state) {
    (void)state;
    assert_null(schema_find("", "v1", "pod"));
    assert_null(schema_find("", "v2", "Pod"));
    assert_null(schema_find("apps", "v1", "Pod"));
    assert_null(schema_find("", "v1", "Deployment"));
    assert_null(schema_find("", "v1", ""));
    assert_null(schema_find("zzz", "v1", "Zzz"));
    assert_null(schema_find("", "v1", "AAA"));
}

/* Every key of every object is found, at its place, and no two are at one. */
static void all_fields(void **state) {
    (void)state;
    size_t keys = 0;
    for (size_t i = 0; i < schema_n_all; i++) {
        const struct schema *s = &schema_all[i];
        bool taken[SCHEMA_MOST_KEYS] = {false};
        size_t found = 0;
        assert_true(s->n_flat <= SCHEMA_MOST_KEYS);
        for (size_t j = 0; j < s->n_fields; j++) {
            const struct schema_field *f = &s->fields[j];
            const struct schema *in = f->flags & SCHEMA_INLINE ? f->of : NULL;
            for (size_t k = 0; k < (in ? in->n_fields : 1); k++) {
                const struct schema_field *own = in ? &in->fields[k] : f;
                struct schema_place place;
                assert_int_equal(own->len, strlen(own->json));
                assert_ptr_equal(schema_locate(s, own->json, own->len, &place), own);
                assert_ptr_equal(schema_field(s, own->json, own->len), own);
                assert_ptr_equal(place.via, in);
                assert_int_equal(place.at, f->at + (in ? own->at : 0));
                assert_false(taken[place.at]);
                taken[place.at] = true;
                found++;
            }
        }
        assert_int_equal(found, s->n_flat);
        keys += found;
    }
    assert_true(keys > 1400);
}

static void no_fields(void **state) {
    (void)state;
    const struct schema *pod = kind("Pod");
    assert_null(schema_field(pod, "", 0));
    assert_null(schema_field(pod, "Spec", 4));
    assert_null(schema_field(pod, "spe", 3));
    assert_null(schema_field(pod, "specs", 5));
    assert_null(schema_field(pod, "spec\0x", 6));
    assert_non_null(schema_field(pod, "specs", 4));
    char *longest = xcalloc(1, 100000);
    memset(longest, 's', 99999);
    assert_null(schema_field(pod, longest, 99999));
    free(longest);
}

static void notes(void **state) {
    (void)state;
    struct schema_notes n = {0};
    schema_notes_done(&n);
    *vec_push(&n.texts) = xstrdup("a");
    schema_notes_done(&n);
    assert_int_equal(n.texts.len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),     cmocka_unit_test(no_kinds), cmocka_unit_test(all_fields),
        cmocka_unit_test(no_fields), cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
