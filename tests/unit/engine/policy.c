/* Tests of src/engine/policy.c: what a Policy means, and what is meant without one. */
#include "engine/policy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"
#include "support/make.h"
#include "support/own.h"

/* The rules of a Policy with this spec; NULL: the error. */
static struct policy_rules *read_spec(struct own_sample *s, const char *spec, struct err *err) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'workers','uid':'u1'},'spec':%s}", spec);
    struct policy_rules *r = NULL;
    assert_int_equal(own_sample(s, &kind_policy, json), 0);
    int rc = policy_rules_read(s->obj, s->pool, &r, err);
    assert_int_equal(rc, r ? 0 : -EINVAL);
    return r;
}

static void done(struct own_sample *s, struct policy_rules *r) {
    policy_rules_free(r);
    assert_int_equal(own_sample_done(s), 0);
}

static void without_a_policy(void **state) {
    (void)state;
    struct policy_rules *r = policy_builtin();
    struct drain_opts opts;
    assert_true(r->builtin && r->fleetlock && !r->ends && !r->down_count);
    assert_int_equal(r->return_timeout, SEC(1800)); /* as of a Policy that says nothing */
    assert_string_equal(r->name, "default");
    assert_int_equal(r->max.value, 1);
    assert_false(r->max.percent);
    assert_int_equal(r->deny_status, 404);
    assert_true(policy_has_node(r, &(struct node){0}));
    assert_true(policy_has_group(r, "any"));
    policy_drain_opts(r, &opts);
    assert_true(opts.force && opts.ignore_daemonsets && opts.delete_emptydir && opts.keep_record);
    assert_int_equal(opts.grace, -1);
    assert_int_equal(opts.timeout, 0);
    assert_ptr_equal(opts.rules, r->drain);
    policy_rules_free(r);
    policy_rules_free(NULL);
}

static void what_a_policy_says(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct own_sample s;
    struct policy_rules *r =
        read_spec(&s,
                  "{'nodeSelector':{'matchLabels':{'pool':'a'}},'maxUnavailable':'30%',"
                  "'maxZones':2,'fleetlock':{'groups':['workers','other'],'denyStatus':423,"
                  "'callerCheck':'enforce'}}",
                  &err);
    if (!r)
        fail_msg("%s", err_msg(&err));
    assert_string_equal(r->name, "workers");
    assert_false(r->builtin || r->ends);
    assert_int_equal(r->return_timeout, SEC(1800));
    assert_true(r->down_count);
    assert_int_equal(r->max.value, 30);
    assert_true(r->max.percent);
    assert_int_equal(r->max_zones, 2);
    assert_true(r->fleetlock);
    assert_int_equal(r->deny_status, 423);
    assert_int_equal(r->caller, CALLER_ENFORCE);
    assert_true(policy_has_group(r, "workers") && policy_has_group(r, "other"));
    assert_false(policy_has_group(r, "masters") || policy_has_group(r, ""));
    struct node node = {.meta.labels = make_map(s.pool, "pool", "a", NULL)};
    assert_true(policy_has_node(r, &node));
    assert_false(policy_has_node(r, &(struct node){0}));
    pool_unref(s.pool, node.meta.labels);
    done(&s, r);
}

static void a_number_and_nothing_else(void **state) {
    (void)state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct own_sample s;
    struct policy_rules *r = read_spec(&s, "{'nodeSelector':{},'maxUnavailable':3}", &err);
    if (!r)
        fail_msg("%s", err_msg(&err));
    assert_int_equal(r->max.value, 3);
    assert_false(r->max.percent);
    assert_int_equal(r->max_zones, 0);
    assert_false(r->fleetlock); /* its nodes may not ask by it */
    done(&s, r);
}

static void one_that_cannot_be_used(void **state) {
    (void)state;
    static const struct {
        const char *spec, *field;
    } cases[] = {
        {"{'maxUnavailable':1}", "spec.nodeSelector"},
        {"{'nodeSelector':{},'maxUnavailable':'many'}", "spec.maxUnavailable"},
        {"{'nodeSelector':{},'maxUnavailable':-1}", "spec.maxUnavailable"},
        /* clients would take it for a go, and follow the other one */
        {"{'nodeSelector':{},'fleetlock':{'groups':['a'],'denyStatus':200}}",
         "spec.fleetlock.denyStatus"},
        {"{'nodeSelector':{},'fleetlock':{'groups':['a'],'denyStatus':301}}",
         "spec.fleetlock.denyStatus"},
        {"{'nodeSelector':{},'drainTimeout':'soon'}", "spec.drainTimeout"},
        {"{'nodeSelector':{},'drain':{'rules':[{'nonsense':1}]}}", "spec.drain"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct own_sample s;
        struct policy_rules *r = read_spec(&s, cases[i].spec, &err);
        if (r)
            fail_msg("%s was taken", cases[i].spec);
        if (!strstr(err_msg(&err), cases[i].field))
            fail_msg("%s: %s", cases[i].spec, err_msg(&err));
        done(&s, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_policy),
        cmocka_unit_test(what_a_policy_says),
        cmocka_unit_test(a_number_and_nothing_else),
        cmocka_unit_test(one_that_cannot_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
