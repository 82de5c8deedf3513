/* Tests of api/gotypes_data, the generated tables. That they are what Kubernetes' types make is
 * checked by tests/tools/test_gotypes.py; here, that they can be relied on as gotypes.h says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/api/gotypes.h"

static const struct gotype *const types[] = {
    &go_csi_node_driver,
    &go_daemon_set_update_strategy,
    &go_deployment_strategy,
    &go_event_source,
    &go_host_ip,
    &go_node_address,
    &go_node_selector_term,
    &go_object_reference,
    &go_persistent_volume_claim_spec,
    &go_persistent_volume_source,
    &go_pod_disruption_budget_spec,
    &go_pod_failure_policy,
    &go_pod_ip,
    &go_pod_resource_claim,
    &go_pod_spec,
    &go_pod_template_spec,
    &go_seccomp_profile,
    &go_security_context,
    &go_service_port,
    &go_stateful_set_update_strategy,
    &go_success_policy,
    &go_taint,
    &go_uncounted_terminated_pods,
    &go_volume_attachment_spec,
    &go_volume_node_affinity,
};

/* Fields have names, each its own; structs say which. No type contains itself, so that a value
 * ends: 20 levels are more than any has. */
static void walk(const struct gotype *type, int depth, size_t *fields) {
    assert_true(depth < 20);
    assert_true(type->n_fields > 0);
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct gofield *f = &type->fields[i];
        bool is_struct = f->kind == GO_STRUCT;
        assert_true(f->kind <= GO_META);
        if (f->kind == GO_META) /* its members stand among ours: it has no name */
            assert_string_equal(f->name, "");
        else
            assert_in_range(f->name[0], 'A', 'Z');
        assert_int_equal(f->of != NULL, is_struct);
        assert_true(f->json && *f->json);
        assert_int_equal(f->flags & ~(GO_POINTER | GO_LIST | GO_MAP | GO_UP), 0);
        assert_false(f->flags & GO_LIST && f->flags & GO_MAP);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(type->fields[j].name, f->name);
        (*fields)++;
        if (is_struct)
            walk(f->of, depth + 1, fields);
    }
}

static void test_tables(void **state) {
    size_t fields = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        walk(types[i], 0, &fields);
    assert_true(fields > 1000); /* a pod's spec alone has hundreds */
}

/* The order is Go's: as in `type Taint struct` of pkg/apis/core. */
static void test_order(void **state) {
    static const char *const names[] = {"Key", "Value", "Effect", "TimeAdded"};
    (void)state;
    assert_int_equal(go_taint.n_fields, ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(go_taint.fields[i].name, names[i]);
    assert_string_equal(go_taint.fields[3].json, "timeAdded");
    assert_true(go_taint.fields[3].flags & GO_POINTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
