/* Histories of templates. */
#include "sim/fleet/revision.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_history(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    struct fleet *f = s.fleet;
    sim_ask(&s, 201, "POST", "/apis/apps/v1/namespaces/default/statefulsets",
            "{\"metadata\":{\"name\":\"db\",\"annotations\":{\"kubernetes.io/change-cause\":\"a "
            "test\"}},\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":{\"app\":\"db\"}},"
            "\"template\":{\"metadata\":{\"labels\":{\"app\":"
            "\"db\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    struct record *o = shelf_get(f->stateful_sets->shelf, "default", "db");
    _cleanup_json_ json_t *a = json_pack("{s:{s:{s:s}}, s:{}}", "metadata", "labels", "app", "db",
                                         "spec"),
                          *b = json_deep_copy(a);
    json_object_set_new(json_object_get(b, "spec"), "hostname", json_string("x"));
    struct record *r1 = revision_current(f, f->stateful_sets, o, a),
                  *r2 = revision_current(f, f->stateful_sets, o, b);
    struct record *again = revision_current(f, f->stateful_sets, o, b);
    assert_string_equal(r2->obj->meta.name, again->obj->meta.name);
    assert_string_not_equal(r1->obj->meta.name, r2->obj->meta.name);
    assert_string_equal(map_get(r1->obj->meta.annotations, "kubernetes.io/change-cause"), "a test");
    const char *hash = map_get(r1->obj->meta.labels, "controller.kubernetes.io/hash");
    assert_string_equal(hash, r1->obj->meta.name + strlen("db-"));
    assert_null(map_get(r1->obj->meta.labels, "controller-revision-hash"));
    struct record *back =
        revision_current(f, f->stateful_sets, o, a); /* the old template is the newest now */
    assert_string_equal(back->obj->meta.name, r1->obj->meta.name);
    struct revisions all = {0};
    revisions_of(f, o, &all);
    assert_int_equal(all.v.len, 2);
    assert_string_equal(all.v.p[1]->obj->meta.name, r1->obj->meta.name);
    revisions_trim(f, &all, 0, (const char *const[]){r1->obj->meta.name, NULL});
    assert_null(shelf_get(f->revisions->shelf, "default", r2->obj->meta.name));
    assert_non_null(shelf_get(f->revisions->shelf, "default", r1->obj->meta.name));
    revisions_done(&all);
    record_unref(r1);
    record_unref(r2);
    record_unref(again);
    record_unref(back);
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
