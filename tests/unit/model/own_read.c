/* Tests of src/model/own_read.c: defaults, and what is said about values that may not be. */
#include "model/own_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/own.h"
#include "base/jsonw.h"

/* The object with its defaults, as the API would print it. */
static char *completed(const struct kind *kind, const char *spec) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *json = xasprintf("{'spec':%s}", spec);
    struct own_sample s;
    struct str out = STR_INIT;
    struct jsonw w;
    assert_int_equal(own_sample(&s, kind, json), 0);
    if (own_complete(own_resource(kind), s.pool, s.obj, &err))
        fail_msg("%s: %s", spec, err_msg(&err));
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    type_print(own_member(kind->type, "spec")->type, &w, s.obj, s.obj);
    jsonw_end(&w);
    assert_int_equal(own_sample_done(&s), 0);
    return str_take(&out);
}

#define POLICY_REST "\"drain\":{},\"drainTimeout\":\"1h\",\"escalation\":\"wait\","
#define POLICY_END                                                                                 \
    "\"settle\":\"0s\",\"soak\":\"0s\",\"waitRescheduled\":true,\"maxFailed\":0,\"approval\":"     \
    "\"none\",\"returnTimeout\":\"30m\"}"

static void defaults(void **state) {
    (void)state;
    _cleanup_free_ char *least = completed(&kind_policy, "{'nodeSelector':{}}");
    assert_string_equal(least, "{\"nodeSelector\":{},\"maxUnavailable\":1," POLICY_REST POLICY_END);
    _cleanup_free_ char *lock =
        completed(&kind_policy, "{'nodeSelector':{},'fleetlock':{'groups':['a']}}");
    assert_string_equal(lock,
                        "{\"nodeSelector\":{},\"maxUnavailable\":1," POLICY_REST
                        "\"fleetlock\":{\"groups\":[\"a\"],\"denyStatus\":404,\"unknownGroup\":"
                        "\"refuse\",\"callerCheck\":\"report\",\"ids\":{\"appIds\":["
                        "\"de35106b6ec24688b63afddaa156679b\"],\"nodeNames\":false},\"rate\":60}"
                        "," POLICY_END);
    _cleanup_free_ char *drain = completed(&kind_maintenance, "{'node':'w1','operation':'Drain'}");
    assert_string_equal(drain, "{\"node\":\"w1\",\"operation\":\"Drain\",\"paused\":false}");
}

/* What was said stays, "no" and 0 among it. */
static void said(void **state) {
    (void)state;
    _cleanup_free_ char *text = completed(
        &kind_policy,
        "{'nodeSelector':{},'maxUnavailable':'5%','drain':{'marks':'ignore'},'drainTimeout':'2h',"
        "'escalation':'release','fleetlock':{'groups':['a'],'denyStatus':423,'unknownGroup':"
        "'default','callerCheck':'off','ids':{'appIds':['00000000000000000000000000000000'],"
        "'nodeNames':true},'rate':1},'settle':'1s','soak':'2s','waitRescheduled':false,"
        "'maxFailed':7,'approval':'required','returnTimeout':'0s'}");
    assert_string_equal(
        text, "{\"nodeSelector\":{},\"maxUnavailable\":\"5%\",\"drain\":{\"marks\":\"ignore\"},"
              "\"drainTimeout\":\"2h\",\"escalation\":\"release\",\"fleetlock\":{\"groups\":"
              "[\"a\"],\"denyStatus\":423,\"unknownGroup\":\"default\",\"callerCheck\":\"off\","
              "\"ids\":{\"appIds\":[\"00000000000000000000000000000000\"],\"nodeNames\":true},"
              "\"rate\":1},\"settle\":\"1s\",\"soak\":\"2s\",\"waitRescheduled\":false,"
              "\"maxFailed\":7,\"approval\":\"required\",\"returnTimeout\":\"0s\"}");
}

/* Others hold the entries that defaults are put into. */
static void shared_entries(void **state) {
    (void)state;
    struct own_sample s;
    assert_int_equal(
        own_sample(&s, &kind_policy, "{'spec':{'nodeSelector':{},'fleetlock':{'groups':['a']}}}"),
        0);
    struct policy *p = s.obj;
    const struct policy_fleetlock *before = pool_ref(p->fleetlock);
    own_defaults(own_resource(&kind_policy), s.pool, p);
    assert_int_equal(before->rate, ABSENT32);
    assert_int_equal(p->fleetlock->rate, 60);
    assert_ptr_equal(before->groups, p->fleetlock->groups);
    /* A second time nothing changes. */
    const struct policy_fleetlock *once = p->fleetlock;
    own_defaults(own_resource(&kind_policy), s.pool, p);
    assert_ptr_equal(p->fleetlock, once);
    pool_unref(s.pool, before);
    assert_int_equal(own_sample_done(&s), 0);
}

static void refused(const struct kind *kind, const char *spec, const char *message) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *json = xasprintf("{'spec':%s}", spec);
    struct own_sample s;
    assert_int_equal(own_sample(&s, kind, json), 0);
    assert_int_equal(own_complete(own_resource(kind), s.pool, s.obj, &err), -EINVAL);
    assert_string_equal(err_msg(&err), message);
    assert_int_equal(own_sample_done(&s), 0);
}

#define POLICY(more) "{'nodeSelector':{}," more "}"
#define COUNT                                                                                      \
    "spec.maxUnavailable must be a number of nodes such as 1, at most 1000000, or a percentage "   \
    "such as 10%"
#define DURATION " must be a duration such as 30s, 5m or 1h30m, and no longer than a year"

static void bad_policies(void **state) {
    (void)state;
    static const struct {
        const char *spec, *message;
    } rows[] = {
        {"{}", "spec.nodeSelector is missing"},
        {POLICY("'maxUnavailable':-1"), COUNT},
        {POLICY("'maxUnavailable':1000001"), COUNT},
        {POLICY("'maxUnavailable':'ten'"), COUNT},
        {POLICY("'maxUnavailable':'10'"), COUNT},
        {POLICY("'maxUnavailable':'101%'"), COUNT},
        {POLICY("'maxUnavailable':'05%'"), COUNT},
        {POLICY("'maxUnavailable':''"), COUNT},
        {POLICY("'maxZones':0"), "spec.maxZones is 0; it must be between 1 and 1000000"},
        {POLICY("'drainTimeout':'soon'"), "spec.drainTimeout" DURATION},
        {POLICY("'drainTimeout':'-5m'"), "spec.drainTimeout" DURATION},
        {POLICY("'settle':'5'"), "spec.settle" DURATION},
        {POLICY("'settle':'5us'"), "spec.settle" DURATION},
        {POLICY("'soak':'8761h'"), "spec.soak" DURATION},
        {POLICY("'soak':'525601m'"), "spec.soak" DURATION},
        {POLICY("'soak':'100000000000h'"), "spec.soak" DURATION},
        {POLICY("'soak':'1h0100000000m'"), "spec.soak" DURATION},
        {POLICY("'soak':'00001h'"), "spec.soak" DURATION},
        {POLICY("'settle':'0000000000000000000000000000000000s'"),
         "spec.settle has 35 characters; it must have at least 1 and at most 32"},
        {POLICY("'escalation':'relaese'"),
         "spec.escalation is relaese; it must be wait or release: did you mean \"release\"?"},
        {POLICY("'fleetlock':{}"), "spec.fleetlock.groups is missing"},
        {POLICY("'fleetlock':{'groups':['a','b/c']}"),
         "spec.fleetlock.groups[1] is not valid: a FleetLock group has letters, digits, dots and "
         "dashes in it and nothing else"},
        {POLICY("'fleetlock':{'groups':['a','b','a']}"), "spec.fleetlock.groups[2] is there twice"},
        {POLICY("'fleetlock':{'groups':['a'],'denyStatus':200}"),
         "spec.fleetlock.denyStatus is 200; it must be 404 or 423"},
        {POLICY("'fleetlock':{'groups':['a'],'callerCheck':'x'}"),
         "spec.fleetlock.callerCheck is x; it must be off, report or enforce"},
        {POLICY("'fleetlock':{'groups':['a'],'ids':{'appIds':['x']}}"),
         "spec.fleetlock.ids.appIds[0] has 1 characters; it must have at least 32 and at most 36"},
        {POLICY("'fleetlock':{'groups':['a'],'rate':0}"),
         "spec.fleetlock.rate is 0; it must be between 1 and 100000"},
        {"{'nodeSelector':{'matchExpressions':[{'key':'a','operator':'In'}]}}",
         "spec.nodeSelector.matchExpressions[0] is not valid: In and NotIn need values, Exists and "
         "DoesNotExist have none"},
        {"{'nodeSelector':{'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]}}",
         "spec.nodeSelector.matchExpressions[0] is not valid: In and NotIn need values, Exists and "
         "DoesNotExist have none"},
        {"{'nodeSelector':{'matchExpressions':[{'key':'a','operator':'NotIn','values':['b c']}]}}",
         "spec.nodeSelector must be a label selector with valid keys and values"},
        {"{'nodeSelector':{'matchExpressions':[{'key':'a'}]}}",
         "spec.nodeSelector.matchExpressions[0].operator is missing"},
        {"{'nodeSelector':{'matchLabels':{'a b':'c'}}}",
         "spec.nodeSelector must be a label selector with valid keys and values"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(&kind_policy, rows[i].spec, rows[i].message);
}

#define REBOOT(executor) "{'node':'w1','operation':'Reboot','executor':{" executor "}}"
#define URL              "spec.executor.http.url must be a URL that begins with http:// or https://"

static void bad_maintenances(void **state) {
    (void)state;
    static const struct {
        const char *spec, *message;
    } rows[] = {
        {"{}", "spec.node is missing"},
        {"{'node':'w1'}", "spec.operation is missing"},
        {"{'node':'W1','operation':'Drain'}",
         "spec.node must be the name of a node: a-z, 0-9, \"-\" and \".\""},
        {"{'node':'w1','operation':'Rebuild'}",
         "spec.operation is Rebuild; it must be Drain, Reboot or Shutdown"},
        {"{'node':'w1','operation':'Reboot'}",
         "spec is not valid: Reboot and Shutdown need an executor, which carries them out; Drain "
         "has none"},
        {"{'node':'w1','operation':'Drain','executor':{'sim':{}}}",
         "spec is not valid: Reboot and Shutdown need an executor, which carries them out; Drain "
         "has none"},
        {"{'node':'w1','operation':'Shutdown','executor':{'fleetlock':{}}}",
         "spec is not valid: executor fleetlock goes with the operation Reboot alone: its clients "
         "do nothing else"},
        {REBOOT(""), "spec.executor is not valid: name one executor: fleetlock, exec, http or sim"},
        {REBOOT("'sim':{},'fleetlock':{}"),
         "spec.executor is not valid: name one executor: fleetlock, exec, http or sim"},
        {REBOOT("'exec':{}"), "spec.executor.exec.command is missing"},
        {REBOOT("'http':{}"), "spec.executor.http.url is missing"},
        {REBOOT("'http':{'url':'ftp://x/'}"), URL},
        {REBOOT("'http':{'url':'https://'}"), URL},
        {REBOOT("'http':{'url':'http:///x'}"), URL},
        {REBOOT("'http':{'url':'http://a b/'}"), URL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(&kind_maintenance, rows[i].spec, rows[i].message);
}

static void bad_rollouts(void **state) {
    (void)state;
    static const char *const which =
        "spec is not valid: say which nodes: either nodeSelector or nodes, not both";
    static const char *const set =
        "spec.nodes[0] must be the name of a node, or a set of names such as w[1-20]";
    refused(&kind_rollout, "{'operation':'Drain'}", which);
    refused(&kind_rollout, "{'operation':'Drain','nodes':['a'],'nodeSelector':{}}", which);
    refused(&kind_rollout, "{'operation':'Drain','nodes':['w[1-']}", set);
    refused(&kind_rollout, "{'operation':'Drain','nodes':['@group']}", set);
    refused(&kind_rollout, "{'operation':'Drain','nodes':['a!a']}", set);
    refused(&kind_rollout, "{'operation':'Drain','nodes':['a'],'maxFailed':-1}",
            "spec.maxFailed is -1; it must be between 0 and 1000000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),         cmocka_unit_test(said),
        cmocka_unit_test(shared_entries),   cmocka_unit_test(bad_policies),
        cmocka_unit_test(bad_maintenances), cmocka_unit_test(bad_rollouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
