/* Tests of src/kube/permissions.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/permissions.h"

static const struct permission *find(const char *resource, const char *sub) {
    for (size_t i = 0; i < n_permissions; i++)
        if (streq(permissions[i].resource, resource) && str_same(permissions[i].subresource, sub))
            return &permissions[i];
    return NULL;
}

static void every_row_says_what_it_is_for(void **state) {
    (void)state;
    for (size_t i = 0; i < n_permissions; i++) {
        assert_non_null(permissions[i].verbs[0]);
        assert_true(str_starts(permissions[i].what_for, "to "));
    }
}

static void names_are_kubectls(void **state) {
    (void)state;
    _cleanup_str_ struct str name = STR_INIT;
    permission_name(find("poddisruptionbudgets", NULL), &name);
    assert_string_equal(str_get(&name), "poddisruptionbudgets.policy");
    str_reset(&name);
    permission_name(find("pods", "eviction"), &name);
    assert_string_equal(str_get(&name), "pods/eviction");
}

static void a_review_asks_for_exactly_one_verb(void **state) {
    (void)state;
    _cleanup_str_ struct str body = STR_INIT;
    permission_review(find("pods", "eviction"), "create", &body);
    _cleanup_json_ json_t *v = json_loads(str_get(&body), 0, NULL);
    _cleanup_json_ json_t *want =
        json_pack("{s:s,s:s,s:{s:{s:s,s:s,s:s,s:s}}}", "apiVersion", "authorization.k8s.io/v1",
                  "kind", "SelfSubjectAccessReview", "spec", "resourceAttributes", "verb", "create",
                  "group", "", "resource", "pods", "subresource", "eviction");
    assert_non_null(want);
    assert_true(json_equal(v, want));
    /* without a subresource the member is left out: "" would be another question */
    str_reset(&body);
    permission_review(find("nodes", NULL), "list", &body);
    assert_null(strstr(str_get(&body), "subresource"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_is_for),
        cmocka_unit_test(names_are_kubectls),
        cmocka_unit_test(a_review_asks_for_exactly_one_verb),
    };
    return cmocka_run_group_tests_name("kube/permissions", tests, NULL, NULL);
}
