/* Tests of src/model/own_rules.c: what is taken and what is not, beside others who say the same. */
#include "model/own_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/own.h"
#include "base/mem.h"
#include "fleetlock/machine_id.h"
#include "model/own.h"

/* --- texts and numbers --- */

static void texts(void **state) {
    (void)state;
    static const struct {
        const struct own_rule *rules;
        const char *good[6], *bad[10];
    } rows[] = {
        {own_duration_rules,
         {"0s", "30s", "1h30m", "1.5h", "8760h", "31536000000ms"},
         {"", "5", "s", "-5m", "+5m", "8760h1ms", "00001h", "1h0100000000m", "5us", " 5s"}},
        {own_group_rules, {"default", "A.b-9"}, {"", "b/c", "a b", "a_b", "ä"}},
        {own_app_id_rules,
         {"de35106b6ec24688b63afddaa156679b", "DE35106B-6EC2-4688-B63A-FDDAA156679B"},
         {"", "de35106b", "xe35106b6ec24688b63afddaa156679b"}},
        {own_node_name_rules, {"w1", "1", "a.b-c"}, {"", "W1", "-a", "a-", ".a", "a_b"}},
        {own_url_rules,
         {"http://a", "https://a:1/b?c"},
         {"", "ftp://a/", "https://", "http:///x", "http://:1/", "http://a b/", "http://?a"}},
        {own_node_set_rules, {"w1", "w[1-20]", "a,b"}, {"", "w[1-", "@group", "a!a"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < ARRAY_LEN(rows[i].good) && rows[i].good[k]; k++)
            if (!rows[i].rules->holds(rows[i].good[k]))
                fail_msg("%s: but not \"%s\"", rows[i].rules->message, rows[i].good[k]);
        for (size_t k = 0; k < ARRAY_LEN(rows[i].bad) && rows[i].bad[k]; k++)
            if (rows[i].rules->holds(rows[i].bad[k]))
                fail_msg("%s: and \"%s\"", rows[i].rules->message, rows[i].bad[k]);
    }
}

static void counts(void **state) {
    (void)state;
    static const char *const good[] = {"0%", "9%", "10%", "100%"};
    static const char *const bad[] = {"", "%", "10", "05%", "101%", "1000%", "ten", "10%%", "-1%"};
    bool (*holds)(const void *) = own_count_rules->holds;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(holds(&(struct intstr){.str = good[i], .set = 1, .is_str = 1}));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(holds(&(struct intstr){.str = bad[i], .set = 1, .is_str = 1}));
    assert_true(holds(&(struct intstr){.val = 0, .set = 1}));
    assert_true(holds(&(struct intstr){.val = OWN_NODES_MAX, .set = 1}));
    assert_false(holds(&(struct intstr){.val = OWN_NODES_MAX + 1, .set = 1}));
    assert_false(holds(&(struct intstr){.val = -1, .set = 1}));
    /* The same number in the expression and in the sentence. */
    _cleanup_free_ char *most = xasprintf("%d", OWN_NODES_MAX);
    assert_non_null(strstr(own_count_rules->cel, most));
    assert_non_null(strstr(own_count_rules->message, most));
}

/* Ids that this takes and the FleetLock server does not, or the other way round. */
static void app_ids(void **state) {
    (void)state;
    static const char *const ids[] = {
        "de35106b6ec24688b63afddaa156679b",     "DE35106B-6EC2-4688-B63A-FDDAA156679B",
        "de35106b-6ec24688b63afddaa156679b",    "de35106b6ec24688b63afddaa156679",
        "de35106b6ec24688b63afddaa156679bb",    "xe35106b6ec24688b63afddaa156679b",
        "de35106b-6ec2-4688-b63a-fddaa156679",  "-e35106b-6ec2-4688-b63a-fddaa156679b",
        "de35106b--6ec2-4688-b63afddaa156679b", "",
    };
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct machine_id id;
        if (own_app_id_rules->holds(ids[i]) != machine_id_parse(ids[i], &id))
            fail_msg("they do not agree about \"%s\"", ids[i]);
    }
}

/* --- objects --- */

/* The message of the first rule that does not hold; NULL: all do. */
static const char *first(const struct own_rule *rules, const void *value) {
    for (const struct own_rule *r = rules; r->message; r++)
        if (r->holds && !r->holds(value))
            return r->message;
    return NULL;
}

static void selectors(void **state) {
    (void)state;
    static const struct {
        const char *selector;
        bool selector_good, requirement_good;
    } rows[] = {
        {"{'matchExpressions':[{'key':'a','operator':'In','values':['b']}]}", true, true},
        {"{'matchExpressions':[{'key':'a','operator':'Exists'}]}", true, true},
        {"{'matchExpressions':[{'key':'a','operator':'In'}]}", false, false},
        {"{'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]}", false, false},
        {"{'matchLabels':{'a b':'c'},'matchExpressions':[{'key':'a','operator':'Exists'}]}", false,
         true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct own_sample s;
        _cleanup_free_ char *json = xasprintf("{'spec':{'nodeSelector':%s}}", rows[i].selector);
        assert_int_equal(own_sample(&s, &kind_policy, json), 0);
        const struct label_selector *selector = ((struct policy *)s.obj)->selector;
        assert_int_equal(!first(own_selector_rules, selector), rows[i].selector_good);
        assert_int_equal(!first(own_requirement_rules, selector->exprs), rows[i].requirement_good);
        assert_int_equal(own_sample_done(&s), 0);
    }
}

static void executors(void **state) {
    (void)state;
    const struct own_exec exec = {0};
    const struct own_http http = {0};
    assert_null(first(own_executor_rules, &(struct own_executor){.fleetlock = true}));
    assert_null(first(own_executor_rules, &(struct own_executor){.sim = true}));
    assert_null(first(own_executor_rules, &(struct own_executor){.exec = &exec}));
    assert_null(first(own_executor_rules, &(struct own_executor){.http = &http}));
    assert_non_null(first(own_executor_rules, &(struct own_executor){0}));
    assert_non_null(
        first(own_executor_rules, &(struct own_executor){.exec = &exec, .http = &http}));
}

/* The same of a Maintenance and of a Rollout. */
static void who_does_what(void **state) {
    (void)state;
    static const struct own_executor client = {.fleetlock = true}, sim = {.sim = true};
    static const struct {
        const char *operation;
        const struct own_executor *executor;
        const char *wrong; /* how the message begins */
    } rows[] = {
        {"Drain", NULL, NULL},
        {"Drain", &sim, "Reboot and Shutdown need"},
        {"Reboot", NULL, "Reboot and Shutdown need"},
        {"Reboot", &sim, NULL},
        {"Reboot", &client, NULL},
        {"Shutdown", &sim, NULL},
        {"Shutdown", &client, "executor fleetlock goes with"},
    };
    static const struct label_selector all;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct maintenance m = {.operation = rows[i].operation, .executor = rows[i].executor};
        struct rollout r = {
            .operation = rows[i].operation, .executor = rows[i].executor, .selector = &all};
        const char *said[] = {first(own_maintenance_spec_rules, &m),
                              first(own_rollout_spec_rules, &r)};
        for (size_t k = 0; k < ARRAY_LEN(said); k++)
            if (rows[i].wrong ? !said[k] || !str_starts(said[k], rows[i].wrong) : said[k] != NULL)
                fail_msg("%s: %s", rows[i].operation, said[k] ? said[k] : "is taken");
    }
}

static void nodes_of_rollouts(void **state) {
    (void)state;
    static const struct label_selector all;
    static const char *const names[] = {"w1"};
    struct rollout r = {.operation = "Drain", .selector = &all};
    assert_null(first(own_rollout_spec_rules, &r));
    r.nodes = names;
    assert_non_null(first(own_rollout_spec_rules, &r));
    r.selector = NULL;
    assert_null(first(own_rollout_spec_rules, &r));
    r.nodes = NULL;
    assert_non_null(first(own_rollout_spec_rules, &r));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(counts),
        cmocka_unit_test(app_ids),
        cmocka_unit_test(selectors),
        cmocka_unit_test(executors),
        cmocka_unit_test(who_does_what),
        cmocka_unit_test(nodes_of_rollouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
