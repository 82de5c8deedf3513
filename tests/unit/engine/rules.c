/* Tests of src/engine/rules.c: which rule a pod has, and what the marks of others make of it. */
#include "engine/rules_internal.h"

#include "support/world.h"

#include "base/str.h"
#include "base/timefmt.h"

#define HEAD "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\n"

struct fixture {
    struct world world;
    struct rules *rules;
    struct rule_verdict said;
};

static void begin(struct fixture *f, const char *text) {
    _cleanup_err_ struct err err = ERR_INIT;
    world_init(&f->world);
    if (!text)
        f->rules = rules_new();
    else if (rules_parse(text, strlen(text), "r.yaml", &f->rules, &err))
        fail_msg("%s", err_msg(&err));
}

static void end(struct fixture *f) {
    rules_free(f->rules);
    world_done(&f->world);
}

/* `meta` are further members of its metadata, `rest` of the pod, each with a comma in front. */
static const char *ask(struct fixture *f, const char *ns, const char *meta, const char *rest) {
    static unsigned n;
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'namespace':'%s','name':'p%u'%s}%s}", ns, ++n, meta, rest);
    rules_apply(f->rules, world_add(&f->world, &kind_pod, json), &f->said);
    return f->said.name;
}

#define LABELS(text) ",'labels':{" text "}"
#define NOTES(text)  ",'annotations':{" text "}"
#define OWNED(kind)                                                                                \
    ",'ownerReferences':[{'kind':'" kind "','name':'o','uid':'u','controller':true}]"
#define PHASE(phase)  ",'status':{'phase':'" phase "'}"
#define PRIORITY(num) ",'spec':{'priority':" num "}"

static void without_rules_everything_is_evicted(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, NULL);
    assert_string_equal(ask(&f, "x", "", ""), "");
    assert_int_equal(f.said.action, RULE_EVICT);
    assert_int_equal(f.said.order, 0);
    assert_int_equal(f.said.grace, -1);
    assert_int_equal(f.said.deadline, 0);
    assert_int_equal(f.said.delete_after, -1);
    assert_int_equal(f.said.force_after, -1);
    end(&f);
    begin(&f, HEAD "rules: []\n");
    assert_string_equal(ask(&f, "x", "", ""), "");
    assert_int_equal(f.said.action, RULE_EVICT);
    end(&f);
    rules_free(NULL);
}

static void the_first_rule_that_matches_is_the_one(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: a, match: {namespaces: [db]}, order: 5}\n"
                   "- {name: b, match: {namespaces: [db, web]}, order: -7, grace: 90s}\n"
                   "- {name: c, order: 9}\n");
    assert_string_equal(ask(&f, "db", "", ""), "a");
    assert_int_equal(f.said.order, 5);
    assert_int_equal(f.said.grace, -1);
    assert_string_equal(ask(&f, "web", "", ""), "b");
    assert_int_equal(f.said.order, -7);
    assert_int_equal(f.said.grace, 90);
    assert_string_equal(ask(&f, "x", "", ""), "c");
    end(&f);
}

static void every_part_of_a_match_must_hold(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- name: all\n"
                   "  match:\n"
                   "    namespaces: ['prod-*']\n"
                   "    labels: {matchLabels: {app: pg}, matchExpressions: [{key: tier, operator: "
                   "NotIn, values: [test]}]}\n"
                   "    owners: [StatefulSet, Bare]\n"
                   "    priority: {min: 10, max: 20}\n");
#define PG LABELS("'app':'pg'")
    assert_string_equal(ask(&f, "prod-1", PG OWNED("StatefulSet"), PRIORITY("10")), "all");
    assert_string_equal(ask(&f, "prod-1", PG, PRIORITY("20")), "all");
    assert_string_equal(ask(&f, "prod", PG, PRIORITY("15")), "");
    assert_string_equal(ask(&f, "prod-1", LABELS("'app':'x'"), PRIORITY("15")), "");
    assert_string_equal(ask(&f, "prod-1", LABELS("'app':'pg','tier':'test'"), PRIORITY("15")), "");
    assert_string_equal(ask(&f, "prod-1", "", PRIORITY("15")), "");
    assert_string_equal(ask(&f, "prod-1", PG OWNED("ReplicaSet"), PRIORITY("15")), "");
    assert_string_equal(ask(&f, "prod-1", PG, PRIORITY("9")), "");
    assert_string_equal(ask(&f, "prod-1", PG, PRIORITY("21")), "");
    assert_string_equal(ask(&f, "prod-1", PG, ""), "");
    end(&f);
}

static void owners_are_controllers(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: bare, match: {owners: [Bare]}}\n"
                   "- {name: pg, match: {owners: [Cluster]}}\n");
    assert_string_equal(ask(&f, "x", "", ""), "bare");
    assert_string_equal(ask(&f, "x", OWNED("Cluster"), ""), "pg");
    /* an owner that is no controller does not bring the pod back */
    assert_string_equal(
        ask(&f, "x", ",'ownerReferences':[{'kind':'Cluster','name':'o','uid':'u'}]", ""), "bare");
    /* nobody can name a kind so that it is taken for none */
    assert_string_equal(ask(&f, "x", OWNED("Job"), ""), "");
    end(&f);
}

static void a_pod_without_a_priority_has_0(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: low, match: {priority: {max: -1}}}\n"
                   "- {name: zero, match: {priority: {max: 0}}}\n"
                   "- {name: high, match: {priority: {min: 2147483647}}}\n");
    assert_string_equal(ask(&f, "x", "", ""), "zero");
    assert_string_equal(ask(&f, "x", "", ",'spec':{'hostNetwork':true}"), "zero");
    assert_string_equal(ask(&f, "x", "", PRIORITY("-5")), "low");
    assert_string_equal(ask(&f, "x", "", PRIORITY("2147483647")), "high");
    assert_string_equal(ask(&f, "x", "", PRIORITY("1")), "");
    end(&f);
}

static void globs(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        {"a", "a", true},        {"a", "b", false},         {"a", "ab", false},
        {"ab", "a", false},      {"*", "", true},           {"*", "abc", true},
        {"?", "", false},        {"?", "a", true},          {"?", "ab", false},
        {"a*", "a", true},       {"a*", "abc", true},       {"*c", "abc", true},
        {"*c", "abcd", false},   {"a*c", "ac", true},       {"a*c", "abcbc", true},
        {"a*c", "abcb", false},  {"a*b*c", "axbyc", true},  {"a*b*c", "acb", false},
        {"**a**", "bab", true},  {"a?c", "abc", true},      {"a?c", "ac", false},
        {"*-?", "prod-1", true}, {"*-?", "prod-12", false}, {"", "", true},
        {"", "a", false},        {"*ab", "aab", true},      {"*aab*", "aaaab", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rules_glob(rows[i].pattern, rows[i].text) != rows[i].match)
            fail_msg("\"%s\" and \"%s\"", rows[i].pattern, rows[i].text);
}

static void globs_take_no_exponential_time(void **state) {
    (void)state;
    char pattern[127], text[254];
    for (size_t i = 0; i < sizeof pattern - 1; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof pattern - 2] = 'b';
    pattern[sizeof pattern - 1] = 0;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_false(rules_glob(pattern, text));
}

/* The values are those that the tools' own sources compare with. */
static void the_marks_of_others_are_honoured(void **state) {
    (void)state;
    static const struct {
        const char *meta;
        enum rule_action action;
        const char *name;
    } rows[] = {
        {NOTES("'cluster-autoscaler.kubernetes.io/safe-to-evict':'false'"), RULE_HOLD,
         "cluster-autoscaler.kubernetes.io/safe-to-evict=false"},
        {NOTES("'cluster-autoscaler.kubernetes.io/safe-to-evict':'true'"), RULE_EVICT, ""},
        {NOTES("'cluster-autoscaler.kubernetes.io/safe-to-evict':''"), RULE_EVICT, ""},
        {NOTES("'karpenter.sh/do-not-disrupt':'true'"), RULE_HOLD, "karpenter.sh/do-not-disrupt"},
        {NOTES("'karpenter.sh/do-not-disrupt':'30m'"), RULE_HOLD, "karpenter.sh/do-not-disrupt"},
        {NOTES("'karpenter.sh/do-not-disrupt':'false'"), RULE_EVICT, ""},
        {LABELS("'cluster.x-k8s.io/drain':'skip'"), RULE_SKIP, "cluster.x-k8s.io/drain=skip"},
        {LABELS("'cluster.x-k8s.io/drain':'Skip'"), RULE_SKIP, "cluster.x-k8s.io/drain=skip"},
        {LABELS("'cluster.x-k8s.io/drain':'wait-completed'"), RULE_WAIT,
         "cluster.x-k8s.io/drain=wait-completed"},
        {LABELS("'cluster.x-k8s.io/drain':'WaitCompleted'"), RULE_WAIT,
         "cluster.x-k8s.io/drain=wait-completed"},
        {LABELS("'cluster.x-k8s.io/drain':'later'"), RULE_EVICT, ""},
        /* a label where an annotation is meant, and the other way round */
        {LABELS("'karpenter.sh/do-not-disrupt':'true'"), RULE_EVICT, ""},
        {NOTES("'cluster.x-k8s.io/drain':'skip'"), RULE_EVICT, ""},
        /* the one that protects most */
        {LABELS("'cluster.x-k8s.io/drain':'skip'") NOTES("'karpenter.sh/do-not-disrupt':'true'"),
         RULE_HOLD, "karpenter.sh/do-not-disrupt"},
    };
    struct fixture f;
    begin(&f, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *name = ask(&f, "x", rows[i].meta, PHASE("Running"));
        if (f.said.action != rows[i].action || !streq(name, rows[i].name))
            fail_msg("%s: %d \"%s\"", rows[i].meta, f.said.action, name);
    }
    end(&f);
}

#define HELD NOTES("'karpenter.sh/do-not-disrupt':'true'")
#define SKIP LABELS("'cluster.x-k8s.io/drain':'skip'")

static void a_mark_beats_a_rule(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- name: db\n"
                   "  match: {namespaces: [db]}\n"
                   "  order: 3\n"
                   "  grace: 10s\n"
                   "  deadline: 20m\n"
                   "  escalate: [{after: 5m, to: delete}, {after: 10m, to: force}]\n"
                   "- {name: left, match: {namespaces: [left]}, action: skip}\n");
    assert_string_equal(ask(&f, "db", HELD, ""), "karpenter.sh/do-not-disrupt");
    assert_int_equal(f.said.action, RULE_HOLD);
    /* in its place and until the rule's deadline, but never escalated */
    assert_int_equal(f.said.order, 3);
    assert_int_equal(f.said.deadline, SEC(1200));
    assert_int_equal(f.said.grace, -1);
    assert_int_equal(f.said.delete_after, -1);
    assert_int_equal(f.said.force_after, -1);
    ask(&f, "left", HELD, "");
    assert_int_equal(f.said.action, RULE_HOLD);
    ask(&f, "left", "", "");
    assert_int_equal(f.said.action, RULE_SKIP);
    end(&f);
}

static void marks_are_ignored_where_that_is_written(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: hard, match: {namespaces: [hard]}, marks: ignore, escalate: [{after: "
                   "1m, to: force}]}\n"
                   "- {name: soft, match: {namespaces: [soft]}}\n");
    assert_string_equal(ask(&f, "hard", HELD, ""), "hard");
    assert_int_equal(f.said.action, RULE_EVICT);
    assert_int_equal(f.said.force_after, SEC(60));
    assert_int_equal(f.said.delete_after, -1);
    ask(&f, "soft", HELD, "");
    assert_int_equal(f.said.action, RULE_HOLD);
    ask(&f, "other", SKIP, "");
    assert_int_equal(f.said.action, RULE_SKIP);
    end(&f);

    begin(&f, HEAD "marks: ignore\n"
                   "rules:\n"
                   "- {name: soft, match: {namespaces: [soft]}, marks: honour}\n"
                   "- {name: hard, match: {namespaces: [hard]}}\n");
    assert_string_equal(ask(&f, "hard", HELD, ""), "hard");
    assert_int_equal(f.said.action, RULE_EVICT);
    ask(&f, "other", SKIP, "");
    assert_int_equal(f.said.action, RULE_EVICT);
    assert_string_equal(ask(&f, "soft", HELD, ""), "karpenter.sh/do-not-disrupt");
    assert_int_equal(f.said.action, RULE_HOLD);
    end(&f);
}

/* Whatever a rule says of it. */
static void our_own_controller_goes_last(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: early, match: {namespaces: [early]}, order: -5, grace: 7s}\n");
    assert_string_equal(ask(&f, "early", LABELS("'slipway.dev/controller':''"), ""), "early");
    assert_int_equal(f.said.order, INT32_MAX);
    assert_int_equal(f.said.grace, 7);
    ask(&f, "other", LABELS("'slipway.dev/controller':''"), "");
    assert_int_equal(f.said.order, INT32_MAX);
    assert_int_equal(f.said.action, RULE_EVICT);
    end(&f);
}

static void what_has_finished_is_not_waited_for(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HEAD "rules:\n"
                   "- {name: jobs, match: {owners: [Job]}, action: wait, order: 4, deadline: 2h}\n"
                   "- {name: left, match: {namespaces: [left]}, action: skip}\n");
    assert_string_equal(ask(&f, "x", OWNED("Job"), PHASE("Running")), "jobs");
    assert_int_equal(f.said.action, RULE_WAIT);
    assert_int_equal(f.said.order, 4);
    assert_int_equal(f.said.deadline, SEC(7200));
    ask(&f, "x", OWNED("Job"), PHASE("Succeeded"));
    assert_int_equal(f.said.action, RULE_EVICT);
    assert_string_equal(ask(&f, "x", OWNED("Job") HELD, PHASE("Failed")), "jobs");
    assert_int_equal(f.said.action, RULE_EVICT);
    assert_string_equal(ask(&f, "x", HELD, PHASE("Succeeded")), "");
    assert_int_equal(f.said.action, RULE_EVICT);
    /* what is left alone is left alone */
    ask(&f, "left", "", PHASE("Succeeded"));
    assert_int_equal(f.said.action, RULE_SKIP);
    ask(&f, "x", SKIP, PHASE("Succeeded"));
    assert_int_equal(f.said.action, RULE_SKIP);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_everything_is_evicted),
        cmocka_unit_test(the_first_rule_that_matches_is_the_one),
        cmocka_unit_test(every_part_of_a_match_must_hold),
        cmocka_unit_test(owners_are_controllers),
        cmocka_unit_test(a_pod_without_a_priority_has_0),
        cmocka_unit_test(globs),
        cmocka_unit_test(globs_take_no_exponential_time),
        cmocka_unit_test(the_marks_of_others_are_honoured),
        cmocka_unit_test(a_mark_beats_a_rule),
        cmocka_unit_test(marks_are_ignored_where_that_is_written),
        cmocka_unit_test(our_own_controller_goes_last),
        cmocka_unit_test(what_has_finished_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
