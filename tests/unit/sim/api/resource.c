/* The table of resources: what Kubernetes 1.36.3 answers to GET /api/v1 and /apis/<group>/<version>
 * (tests/cluster/test_tables.py compares all of it with a living server). */
#include "sim/api/resource.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_rows_are_whole(void **state) {
    (void)state;
    size_t n;
    const struct resource_info *rows = resource_builtin(&n);
    assert_int_equal(n, 25);
    for (size_t i = 0; i < n; i++) {
        const struct resource_info *r = &rows[i];
        assert_non_null(r->group);
        assert_string_equal(r->version, "v1");
        assert_true(*r->kind && *r->plural && *r->singular);
        assert_false(r->custom);
        assert_true(r->verbs && !(r->verbs & ~(unsigned)VERBS_ALL));
        /* What is not stored can only be created. */
        assert_true((r->list_kind == NULL) == (r->verbs == VERB_CREATE));
        if (r->list_kind) {
            _cleanup_free_ char *list = xasprintf("%sList", r->kind);
            assert_string_equal(r->list_kind, list);
        }
        assert_ptr_equal(resource_find(r->group, r->version, r->plural), r);
        assert_ptr_equal(resource_find_kind(r->group, r->version, r->kind), r);
        if (i && streq(rows[i - 1].group, r->group))
            assert_true(strcmp(rows[i - 1].plural, r->plural) < 0);
    }
}

static void test_groups_stand_together(void **state) {
    (void)state;
    static const char *const order[] = {"",
                                        "apps",
                                        "authorization.k8s.io",
                                        "batch",
                                        "policy",
                                        "storage.k8s.io",
                                        "apiextensions.k8s.io",
                                        "scheduling.k8s.io",
                                        "coordination.k8s.io",
                                        "discovery.k8s.io"};
    size_t n, at = 0;
    const struct resource_info *rows = resource_builtin(&n);
    for (size_t i = 0; i < n; i++) {
        if (!streq(rows[i].group, order[at]))
            at++;
        assert_true(at < ARRAY_LEN(order));
        assert_string_equal(rows[i].group, order[at]);
    }
    assert_int_equal(at, ARRAY_LEN(order) - 1);
}

static void test_find(void **state) {
    (void)state;
    const struct resource_info *pod = resource_find("", "v1", "pods");
    assert_non_null(pod);
    assert_string_equal(pod->kind, "Pod");
    assert_string_equal(pod->short_names[0], "po");
    assert_null(pod->short_names[1]);
    assert_string_equal(pod->categories[0], "all");
    assert_true(pod->namespaced);
    assert_null(resource_find("apps", "v1", "pods"));
    assert_null(resource_find("", "v2", "pods"));
    assert_null(resource_find("", "v1", "pod"));
    assert_null(resource_find("", "v1", ""));
    assert_null(resource_find_kind("", "v1", "pods"));
    assert_null(resource_find_kind("apps", "v1", "Scale"));
    assert_false(resource_find("", "v1", "nodes")->namespaced);
    /* The one collection that cannot be deleted. */
    assert_int_equal(resource_find("", "v1", "namespaces")->verbs,
                     VERB_CREATE | VERB_DELETE | VERB_GET | VERB_LIST | VERB_PATCH | VERB_UPDATE |
                         VERB_WATCH);
}

static void check_subresources(const struct resource_info *r, const char *const *names) {
    struct subresource_info subs[8];
    size_t n = resource_subresources(r, subs);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(names[i]);
        assert_string_equal(subs[i].name, names[i]);
        struct subresource_info one;
        assert_true(resource_subresource(r, names[i], &one));
        assert_ptr_equal(one.group, subs[i].group);
        assert_ptr_equal(one.version, subs[i].version);
        assert_ptr_equal(one.kind, subs[i].kind);
        assert_int_equal(one.verbs, subs[i].verbs);
    }
    assert_null(names[n]);
}

static void test_subresources(void **state) {
    (void)state;
    check_subresources(resource_find("", "v1", "pods"),
                       (const char *const[]){"binding", "eviction", "status", NULL});
    check_subresources(resource_find("", "v1", "namespaces"),
                       (const char *const[]){"finalize", "status", NULL});
    check_subresources(resource_find("apps", "v1", "deployments"),
                       (const char *const[]){"scale", "status", NULL});
    check_subresources(resource_find("", "v1", "secrets"), (const char *const[]){NULL});

    struct subresource_info sub = {.name = "untouched"};
    assert_false(resource_subresource(resource_find("", "v1", "pods"), "scale", &sub));
    assert_false(resource_subresource(resource_find("", "v1", "pods"), "", &sub));
    assert_string_equal(sub.name, "untouched");
    assert_true(resource_subresource(resource_find("", "v1", "pods"), "eviction", &sub));
    assert_string_equal(sub.group, "policy");
    assert_string_equal(sub.kind, "Eviction");
    assert_int_equal(sub.verbs, VERB_CREATE);
    assert_true(resource_subresource(resource_find("apps", "v1", "replicasets"), "scale", &sub));
    assert_string_equal(sub.group, "autoscaling");
    assert_string_equal(sub.kind, "Scale");
    assert_int_equal(sub.verbs, VERB_GET | VERB_PATCH | VERB_UPDATE);
    assert_true(resource_subresource(resource_find("apps", "v1", "replicasets"), "status", &sub));
    assert_null(sub.group);
    assert_string_equal(sub.kind, "ReplicaSet");
}

/* Whatever the names of a row's own ones are, status and scale come to their places. */
static void test_subresources_are_sorted(void **state) {
    (void)state;
    static const struct subresource_info own[] = {
        {"approve", NULL, NULL, "X", VERB_UPDATE},
        {"second", NULL, NULL, "X", VERB_UPDATE},
        {"zap", NULL, NULL, "X", VERB_UPDATE},
    };
    struct resource_info r = {.kind = "X",
                              .subresources = own,
                              .n_subresources = ARRAY_LEN(own),
                              .has_scale = true,
                              .has_status = true};
    check_subresources(&r,
                       (const char *const[]){"approve", "scale", "second", "status", "zap", NULL});
    struct resource_info custom = {
        .kind = "X", .custom = true, .has_scale = true, .has_status = true};
    check_subresources(&custom, (const char *const[]){"status", "scale", NULL});
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
    for (unsigned i = 0; i < VERB_COUNT; i++)
        assert_string_equal(api_verb_name((enum api_verb)(1u << i)), names[i]);
    _cleanup_str_ struct str s = STR_INIT;
    group_version_add(&s, "", "v1");
    assert_string_equal(str_get(&s), "v1");
    str_reset(&s);
    group_version_add(&s, "apps", "v1");
    assert_string_equal(str_get(&s), "apps/v1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_whole),
        cmocka_unit_test(test_groups_stand_together),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_subresources),
        cmocka_unit_test(test_subresources_are_sorted),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("resource", tests, NULL, NULL);
}
