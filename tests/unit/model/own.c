/* Tests of src/model/own.c: objects with everything in them, and with nothing. */
#include "model/own.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/own.h"
#include "base/timefmt.h"
#include "engine/rules.h"
#include "model/store.h"

static void read(struct own_sample *s, const struct kind *kind, const char *json) {
    assert_int_equal(own_sample(s, kind, json), 0);
}

static void done(struct own_sample *s) {
    assert_int_equal(own_sample_done(s), 0);
}

static void whole_policy(void **state) {
    (void)state;
    struct own_sample s;
    read(&s, &kind_policy,
         "{'metadata':{'name':'default','generation':3},'spec':{'nodeSelector':{'matchLabels':{"
         "'a':'b'}},'maxUnavailable':'10%','maxZones':2,'drain':{ 'marks':'ignore'},"
         "'drainTimeout':'30m','escalation':'release','fleetlock':{'groups':['x','y'],"
         "'denyStatus':423,'unknownGroup':'default','callerCheck':'enforce','ids':{'appIds':['i'],"
         "'nodeNames':true},'rate':5},'settle':'1m','soak':'2m','waitRescheduled':false,"
         "'maxFailed':4},'status':{'observedGeneration':3,'nodes':40,'held':1,'waiting':2,"
         "'conditions':[{'type':'Ready','status':'True','reason':'Obeyed','message':'m',"
         "'observedGeneration':3,'lastTransitionTime':'1970-01-01T00:00:01Z'}]}}");
    const struct policy *p = s.obj;
    assert_string_equal(p->meta.name, "default");
    assert_string_equal(map_get(p->selector->labels, "a"), "b");
    assert_string_equal(p->max_unavailable.str, "10%");
    assert_int_equal(p->max_zones, 2);
    assert_string_equal(p->drain, "{ \"marks\":\"ignore\"}");
    assert_string_equal(p->drain_timeout, "30m");
    assert_string_equal(p->escalation, "release");
    assert_int_equal(list_len(p->fleetlock->groups), 2);
    assert_string_equal(p->fleetlock->groups[1], "y");
    assert_int_equal(p->fleetlock->deny_status, 423);
    assert_string_equal(p->fleetlock->unknown_group, "default");
    assert_string_equal(p->fleetlock->caller_check, "enforce");
    assert_string_equal(p->fleetlock->app_ids[0], "i");
    assert_int_equal(p->fleetlock->node_names, 1);
    assert_int_equal(p->fleetlock->rate, 5);
    assert_string_equal(p->settle, "1m");
    assert_string_equal(p->soak, "2m");
    assert_int_equal(p->wait_rescheduled, 0);
    assert_int_equal(p->max_failed, 4);
    assert_int_equal(p->observed_generation, 3);
    assert_int_equal(p->nodes, 40);
    assert_int_equal(p->held, 1);
    assert_int_equal(p->waiting, 2);
    assert_string_equal(p->conditions->c.type, "Ready");
    assert_int_equal(p->conditions->c.changed, SEC(1));
    assert_int_equal(p->conditions->generation, 3);
    done(&s);
}

static void whole_maintenance(void **state) {
    (void)state;
    struct own_sample s;
    read(&s, &kind_maintenance,
         "{'metadata':{'name':'m'},'spec':{'node':'w1','operation':'Reboot','policy':'default',"
         "'reason':'fan','paused':true,'executor':{'exec':{'command':['a','b']}}},'status':{"
         "'observedGeneration':1,'phase':'Draining','reason':'SlotTaken','since':"
         "'1970-01-01T00:00:02Z','slot':'6f','bootBefore':'x','bootAfter':'y','blocker':{'code':"
         "'PDBNoBudget','object':'pod/a/b','message':'m','since':'1970-01-01T00:00:03Z','hint':"
         "'h'},'journal':[{'time':'1970-01-01T00:00:04Z','from':'Queued','to':'Draining','reason':"
         "'SlotTaken'}]}}");
    const struct maintenance *m = s.obj;
    assert_string_equal(m->node, "w1");
    assert_string_equal(m->operation, "Reboot");
    assert_string_equal(m->policy, "default");
    assert_string_equal(m->reason, "fan");
    assert_int_equal(m->paused, 1);
    assert_string_equal(m->executor->exec->command[1], "b");
    assert_false(m->executor->fleetlock || m->executor->sim || m->executor->http);
    assert_string_equal(m->phase, "Draining");
    assert_string_equal(m->phase_reason, "SlotTaken");
    assert_int_equal(m->since, SEC(2));
    assert_string_equal(m->slot, "6f");
    assert_string_equal(m->boot_before, "x");
    assert_string_equal(m->boot_after, "y");
    assert_string_equal(m->blocker->code, "PDBNoBudget");
    assert_string_equal(m->blocker->object, "pod/a/b");
    assert_string_equal(m->blocker->hint, "h");
    assert_int_equal(m->blocker->since, SEC(3));
    assert_int_equal(m->journal->time, SEC(4));
    assert_string_equal(m->journal->from, "Queued");
    assert_string_equal(m->journal->to, "Draining");
    done(&s);
}

static void whole_rollout(void **state) {
    (void)state;
    struct own_sample s;
    read(&s, &kind_rollout,
         "{'metadata':{'name':'r'},'spec':{'operation':'Reboot','nodes':['w[1-3]'],'maxFailed':2,"
         "'soak':'5m','executor':{'fleetlock':{}}},'status':{'phase':"
         "'Progressing','counts':{'total':5,'waiting':1,'current':1,'complete':2,'failed':1},"
         "'current':['w1']}}");
    const struct rollout *r = s.obj;
    assert_string_equal(r->operation, "Reboot");
    assert_null(r->selector);
    assert_string_equal(r->nodes[0], "w[1-3]");
    assert_int_equal(r->max_failed, 2);
    assert_string_equal(r->soak, "5m");
    assert_true(r->executor->fleetlock);
    assert_int_equal(r->counts.total, 5);
    assert_int_equal(r->counts.waiting, 1);
    assert_int_equal(r->counts.current, 1);
    assert_int_equal(r->counts.complete, 2);
    assert_int_equal(r->counts.failed, 1);
    assert_string_equal(r->current[0], "w1");
    done(&s);
}

/* Nothing said is told apart from "no" and from 0. */
static void empty(void **state) {
    (void)state;
    struct own_sample s;
    read(&s, &kind_policy, "{'metadata':{'name':'x'},'spec':{}}");
    const struct policy *p = s.obj;
    assert_int_equal(p->wait_rescheduled, ABSENT8);
    assert_int_equal(p->max_failed, ABSENT32);
    assert_int_equal(p->max_zones, ABSENT32);
    assert_false(p->max_unavailable.set);
    assert_null(p->selector);
    assert_null(p->drain);
    assert_null(p->fleetlock);
    done(&s);
    read(&s, &kind_rollout, "{'metadata':{'name':'x'}}");
    assert_int_equal(((struct rollout *)s.obj)->paused, ABSENT8);
    assert_int_equal(((struct rollout *)s.obj)->max_failed, ABSENT32);
    done(&s);
}

static void drain_rules(void **state) {
    (void)state;
    static const struct {
        const char *spec, *text;
    } rows[] = {
        {"{}", "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"DrainRules\"}"},
        {"{'drain':{}}", "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"DrainRules\"}"},
        {"{'drain':{\n }}", "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"DrainRules\"}"},
        {"{'drain':{ 'marks':'ignore','rules':[{'name':'a','grace':'30s'}]}}",
         "{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"DrainRules\",\"marks\":\"ignore\","
         "\"rules\":[{\"name\":\"a\",\"grace\":\"30s\"}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_str_ struct str text = STR_INIT;
        _cleanup_free_ char *json = xasprintf("{'spec':%s}", rows[i].spec);
        struct rules *rules = NULL;
        struct own_sample s;
        read(&s, &kind_policy, json);
        policy_drain_rules(s.obj, &text);
        assert_string_equal(str_get(&text), rows[i].text);
        assert_int_equal(rules_parse(str_get(&text), text.len, "policy", &rules, NULL), 0);
        rules_free(rules);
        done(&s);
    }
}

static void words(void **state) {
    (void)state;
    static const struct {
        const char *meta, *word, *error;
    } rows[] = {
        {"{}", NULL, NULL},
        {"{'annotations':{'slipway.dev/word':''}}", NULL, NULL},
        {"{'annotations':{'slipway.dev/word':'retry'}}", "retry", NULL},
        {"{'annotations':{'slipway.dev/word':'skip'}}", "skip", NULL},
        {"{'annotations':{'slipway.dev/word':'abort'}}", "abort", NULL},
        {"{'annotations':{'slipway.dev/word':'retri'}}", NULL,
         "the annotation slipway.dev/word is \"retri\"; it must be retry, skip or abort: did you "
         "mean \"retry\"?"},
        {"{'annotations':{'slipway.dev/word':'ponder'}}", NULL,
         "the annotation slipway.dev/word is \"ponder\"; it must be retry, skip or abort"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_free_ char *json = xasprintf("{'metadata':%s}", rows[i].meta);
        const char *word = "untouched";
        struct own_sample s;
        read(&s, &kind_maintenance, json);
        int rc = maintenance_word(s.obj, &word, &err);
        if (rows[i].error) {
            assert_int_equal(rc, -EINVAL);
            assert_string_equal(err_msg(&err), rows[i].error);
            assert_string_equal(word, "untouched");
        } else {
            assert_int_equal(rc, 0);
            assert_true(str_same(word, rows[i].word) && !word == !rows[i].word);
        }
        done(&s);
    }
}

/* A store of them, and an object that changes. */
static void stored(void **state) {
    (void)state;
    for (size_t i = 0; own_kinds[i]; i++) {
        const struct kind *kind = own_kinds[i];
        struct pool *pool = pool_new(type_drop);
        struct store *store = store_new(kind, pool);
        struct codec codec;
        codec_init(&codec, pool);
        for (int version = 1; version <= 2; version++) {
            _cleanup_free_ char *json = xasprintf(
                "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"%d\"},\"spec\":{\"paused\":"
                "true},\"status\":{\"observedGeneration\":%d}}",
                version, version);
            struct object *obj = object_new(kind);
            assert_int_equal(codec_json(&codec, kind->type, view_of(json), obj, NULL), 0);
            assert_true(store_put(store, obj));
        }
        assert_int_equal(store_len(store), 1);
        assert_string_equal(store_get(store, NULL, "x")->meta.version, "2");
        assert_false(kind->namespaced);
        codec_done(&codec);
        store_free(store);
        assert_int_equal(pool_stats(pool).entries, 0);
        pool_free(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_policy),  cmocka_unit_test(whole_maintenance),
        cmocka_unit_test(whole_rollout), cmocka_unit_test(empty),
        cmocka_unit_test(drain_rules),   cmocka_unit_test(words),
        cmocka_unit_test(stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
