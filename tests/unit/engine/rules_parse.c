/* Tests of src/engine/rules_parse.c: what is read, and every refusal with its place and its advice.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/rules_internal.h"

#define HEAD "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\n"

static struct rules *read_good(const char *text) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct rules *r = NULL;
    if (rules_parse(text, strlen(text), "r.yaml", &r, &err))
        fail_msg("%s", err_msg(&err));
    return r;
}

static void assert_refused(const char *text, const char *message) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct rules *untouched = (struct rules *)&err, *r = untouched;
    assert_int_equal(rules_parse(text, strlen(text), "r.yaml", &r, &err), -EINVAL);
    assert_string_equal(err_msg(&err), message);
    assert_ptr_equal(r, untouched);
    assert_int_equal(rules_parse(text, strlen(text), "r.yaml", &r, NULL), -EINVAL);
}

/* One rule in line 4; `text` begins in column 3. */
static void assert_rule_refused(const char *text, const char *message) {
    _cleanup_free_ char *whole = xasprintf(HEAD "rules:\n- %s\n", text);
    assert_refused(whole, message);
}

static void everything_in_a_file(void **state) {
    (void)state;
    struct rules *r = read_good(HEAD "marks: ignore\n"
                                     "rules:\n"
                                     "- name: databases\n"
                                     "  match:\n"
                                     "    namespaces: [db, 'prod-*']\n"
                                     "    labels:\n"
                                     "      matchLabels: {tier: db, app: pg}\n"
                                     "      matchExpressions:\n"
                                     "      - {key: a, operator: In, values: [x, '']}\n"
                                     "      - {key: b, operator: DoesNotExist}\n"
                                     "    owners: [StatefulSet, Cluster]\n"
                                     "    priority: {min: -5, max: 2000}\n"
                                     "  order: -10\n"
                                     "  action: evict\n"
                                     "  grace: 30s\n"
                                     "  deadline: 10m\n"
                                     "  marks: honour\n"
                                     "  escalate:\n"
                                     "  - {after: 5m, to: delete}\n"
                                     "  - {after: 10m, to: force}\n"
                                     "- {name: rest, grace: 45, deadline: 1h30m, match: null}\n");
    assert_false(r->honour);
    assert_int_equal(r->list.len, 2);
    const struct rule *a = &r->list.p[0], *b = &r->list.p[1];
    assert_string_equal(a->says.name, "databases");
    assert_string_equal(a->namespaces[1], "prod-*");
    assert_null(a->namespaces[2]);
    assert_string_equal(a->owners[1], "Cluster");
    assert_int_equal(list_len(a->labels.labels), 2);
    assert_string_equal(a->labels.labels[0].key, "app");
    assert_int_equal(list_len(a->labels.exprs), 2);
    assert_int_equal(list_len(a->labels.exprs[0].values), 2);
    assert_int_equal(a->min_priority, -5);
    assert_int_equal(a->max_priority, 2000);
    assert_int_equal(a->marks, MARKS_HONOUR);
    assert_int_equal(a->says.action, RULE_EVICT);
    assert_int_equal(a->says.order, -10);
    assert_int_equal(a->says.grace, 30);
    assert_int_equal(a->says.deadline, SEC(600));
    assert_int_equal(a->says.delete_after, SEC(300));
    assert_int_equal(a->says.force_after, SEC(600));
    assert_int_equal(b->says.grace, 45);
    assert_int_equal(b->says.deadline, SEC(5400));
    assert_int_equal(b->says.delete_after, -1);
    assert_int_equal(b->marks, MARKS_AS_FILE);
    assert_null(b->namespaces);
    assert_false(b->has_labels);
    rules_free(r);
}

static void json_is_yaml(void **state) {
    (void)state;
    struct rules *r = read_good("{\"apiVersion\":\"slipway.dev/v1alpha1\",\"kind\":\"DrainRules\","
                                "\"rules\":[{\"name\":\"a\",\"action\":\"skip\"}]}");
    assert_true(r->honour);
    assert_int_equal(r->list.p[0].says.action, RULE_SKIP);
    rules_free(r);
}

static void the_file_as_a_whole(void **state) {
    (void)state;
    assert_refused("", "r.yaml:1:1: drain rules: apiVersion is missing");
    assert_refused("- a\n", "r.yaml:1:1: drain rules must be a mapping, not a list");
    assert_refused("kind: DrainRules\n", "r.yaml:1:1: drain rules: apiVersion is missing");
    assert_refused("apiVersion: slipway.dev/v1alpha1\n",
                   "r.yaml:1:1: drain rules: kind is missing");
    assert_refused("apiVersion: slipway.dev/v2\nkind: DrainRules\n",
                   "r.yaml:1:13: apiVersion is \"slipway.dev/v2\"; drain rules have "
                   "\"slipway.dev/v1alpha1\"");
    assert_refused("apiVersion: slipway.dev/v1alpha1\nkind: Policy\n",
                   "r.yaml:2:7: kind is \"Policy\"; drain rules have \"DrainRules\"");
    assert_refused(HEAD "rule: []\n",
                   "r.yaml:3:1: unknown key \"rule\" in drain rules; did you mean \"rules\"?");
    assert_refused(HEAD "rules: {}\n",
                   "r.yaml:3:8: drain rules: rules must be a list, not a mapping");
    assert_refused(HEAD "marks: honor\n",
                   "r.yaml:3:8: \"honor\" is no valid value of marks; did you mean \"honour\"?");
    assert_refused(HEAD "marks: true\n",
                   "r.yaml:3:8: drain rules: marks must be a string, not true or false: put it in "
                   "quotes");
    assert_refused(HEAD "rules: [a]\n", "r.yaml:3:9: rule must be a mapping, not a string");
    assert_refused(HEAD "rules:\n- {name: a}\n- {name: b}\n- {name: a}\n",
                   "r.yaml:6:10: there are two rules with the name \"a\"");
}

static void rules_have_names(void **state) {
    (void)state;
    assert_rule_refused("{order: 1}", "r.yaml:4:3: rule: name is missing");
    assert_rule_refused("{name: ''}",
                        "r.yaml:4:10: the name of a rule must have 1 to 100 printable characters");
    assert_rule_refused("{name: \"a\\e[31m\"}",
                        "r.yaml:4:10: the name of a rule must have 1 to 100 printable characters");
    assert_rule_refused("{name: a, ordre: 1}",
                        "r.yaml:4:13: unknown key \"ordre\" in rule; did you mean \"order\"?");
    assert_rule_refused("{name: a, order: 3000000000}",
                        "r.yaml:4:20: rule: order must be between -2147483648 and 2147483647, not "
                        "3000000000");
    assert_rule_refused("{name: a, action: evcit}",
                        "r.yaml:4:21: \"evcit\" is no valid action; did you mean \"evict\"?");
    /* what only marks can say */
    assert_rule_refused("{name: a, action: hold}",
                        "r.yaml:4:21: \"hold\" is no valid action; valid: \"evict\", \"skip\", "
                        "\"wait\"");
}

static void matches_can_be_met(void **state) {
    (void)state;
    assert_rule_refused("{name: a, match: {namespace: [x]}}",
                        "r.yaml:4:21: unknown key \"namespace\" in match; did you mean "
                        "\"namespaces\"?");
    assert_rule_refused("{name: a, match: {namespaces: x}}",
                        "r.yaml:4:33: match: namespaces must be a list of strings, not a string");
    assert_rule_refused("{name: a, match: {namespaces: []}}",
                        "r.yaml:4:33: namespaces is an empty list, which matches nothing: leave it "
                        "out to match all");
    assert_rule_refused("{name: a, match: {namespaces: [x, 'a.b']}}",
                        "r.yaml:4:37: no namespace can match \"a.b\": write its name, which has "
                        "a-z, 0-9 and \"-\", or a pattern with \"*\" (anything) and \"?\" (one "
                        "character)");
    assert_rule_refused("{name: a, match: {owners: []}}",
                        "r.yaml:4:29: owners is an empty list, which matches nothing: leave it out "
                        "to match all");
    assert_rule_refused("{name: a, match: {owners: [Deployment]}}",
                        "r.yaml:4:30: no pod is owned by a Deployment itself: its pods belong to a "
                        "ReplicaSet, write \"ReplicaSet\"");
    assert_rule_refused("{name: a, match: {owners: [Job, Statefulset]}}",
                        "r.yaml:4:35: \"Statefulset\" is no kind of owner; did you mean "
                        "\"StatefulSet\"?");
    assert_rule_refused("{name: a, match: {owners: [job]}}",
                        "r.yaml:4:30: \"job\" is no kind of owner; did you mean \"Job\"?");
    assert_rule_refused("{name: a, match: {owners: [apps/v1]}}",
                        "r.yaml:4:30: \"apps/v1\" is no kind of owner: write a kind such as "
                        "StatefulSet, or Bare for pods without an owner");
    assert_rule_refused("{name: a, match: {priority: {min: 5, max: 4}}}",
                        "r.yaml:4:31: priority: min is greater than max: nothing matches");
    assert_rule_refused("{name: a, match: {priority: {min: high}}}",
                        "r.yaml:4:37: priority: min must be a whole number, not a string");
    rules_free(read_good(HEAD "rules: [{name: a, match: {owners: [MPIJob, VCJob, CloneSet]}}]"));
}

static void selectors_are_valid(void **state) {
    (void)state;
#define LABELS(text) "{name: a, match: {labels: {" text "}}}"
    assert_rule_refused(LABELS("matchLabel: {a: b}"),
                        "r.yaml:4:30: unknown key \"matchLabel\" in labels; did you mean "
                        "\"matchLabels\"?");
    /* the commonest slip: the labels themselves */
    assert_rule_refused(LABELS("app: pg"),
                        "r.yaml:4:30: unknown key \"app\" in labels; valid keys: \"matchLabels\", "
                        "\"matchExpressions\"");
    assert_rule_refused(LABELS("matchLabels: {a: 1}"),
                        "r.yaml:4:47: matchLabels: a must be a string, not a number: put it in "
                        "quotes");
    assert_rule_refused(LABELS("matchLabels: {'a b': x}"),
                        "r.yaml:4:44: matchLabels: \"a b\" is no label key: it must be letters, "
                        "digits, \"-\", \"_\" and \".\", and begin and end with a letter or digit");
    assert_rule_refused(LABELS("matchLabels: {a: 'x y'}"),
                        "r.yaml:4:47: matchLabels: \"x y\" is no label value: it must be letters, "
                        "digits, \"-\", \"_\" and \".\", and begin and end with a letter or digit");
    assert_rule_refused(LABELS("matchExpressions: [{key: a, operator: in, values: [b]}]"),
                        "r.yaml:4:68: \"in\" is no valid operator; did you mean \"In\"?");
    assert_rule_refused(LABELS("matchExpressions: [{key: a, operator: Gt, values: ['1']}]"),
                        "r.yaml:4:68: \"Gt\" is no valid operator; valid: \"In\", \"NotIn\", "
                        "\"Exists\", \"DoesNotExist\"");
    assert_rule_refused(LABELS("matchExpressions: [{key: a, operator: In}]"),
                        "r.yaml:4:49: In of key \"a\" needs values");
    assert_rule_refused(LABELS("matchExpressions: [{operator: Exists}]"),
                        "r.yaml:4:49: expression: key is missing");
    rules_free(read_good(HEAD "rules: [{name: a, match: {labels: {}}}]"));
}

static void times_make_sense(void **state) {
    (void)state;
    assert_rule_refused("{name: a, grace: soon}",
                        "r.yaml:4:20: grace: \"soon\" is no duration: write for example 90s, 5m, "
                        "1h30m or 0");
    assert_rule_refused("{name: a, grace: [1]}",
                        "r.yaml:4:20: grace must be a duration such as 30s, 5m or 1h30m, not a "
                        "list");
    assert_rule_refused("{name: a, grace: 1.5}",
                        "r.yaml:4:20: grace must be a duration such as 30s, 5m or 1h30m, not a "
                        "number");
    assert_rule_refused("{name: a, grace: 1500ms}", "r.yaml:4:20: grace must be whole seconds");
    assert_rule_refused("{name: a, grace: -1s}",
                        "r.yaml:4:20: grace must be between 0s and a year");
    assert_rule_refused("{name: a, grace: -1}", "r.yaml:4:20: grace must be between 0s and a year");
    assert_rule_refused("{name: a, grace: 9223372036854775807}",
                        "r.yaml:4:20: grace must be between 0s and a year");
#define FORCED                                                                                     \
    "r.yaml:4:20: a grace of 0 is a forced deletion: write \"escalate: [{after: 0s, to: "          \
    "force}]\" if that is wanted"
    assert_rule_refused("{name: a, grace: 0}", FORCED);
    assert_rule_refused("{name: a, grace: 0s}", FORCED);
    assert_rule_refused("{name: a, deadline: 0}",
                        "r.yaml:4:23: deadline must be between 1s and a year");
    assert_rule_refused("{name: a, deadline: 9000h}",
                        "r.yaml:4:23: deadline must be between 1s and a year");
}

static void escalations_go_upwards(void **state) {
    (void)state;
#define STEPS(text) "{name: a, escalate: [" text "]}"
    assert_rule_refused(STEPS("{after: 5m}"), "r.yaml:4:24: step: to is missing");
    assert_rule_refused(STEPS("{to: delete}"), "r.yaml:4:24: step: after is missing");
    assert_rule_refused(STEPS("{after: 5m, to: kill}"),
                        "r.yaml:4:40: \"kill\" is no valid step of an escalation; valid: "
                        "\"delete\", \"force\"");
    assert_rule_refused(STEPS("{after: 5m, to: delete}, {after: 6m, to: delete}"),
                        "r.yaml:4:65: escalate: \"delete\" comes twice");
    assert_rule_refused(STEPS("{after: 5m, to: force}, {after: 6m, to: delete}"),
                        "r.yaml:4:64: escalate: \"delete\" comes after \"force\": nothing is left "
                        "to delete");
    assert_rule_refused(STEPS("{after: 5m, to: delete}, {after: 5m, to: force}"),
                        "r.yaml:4:57: escalate: each step must come later than the one before it");
    assert_rule_refused(STEPS("{after: -5m, to: delete}"),
                        "r.yaml:4:32: after must be between 0s and a year");
    assert_rule_refused("{name: a, deadline: 5m, escalate: [{after: 6m, to: delete}]}",
                        "r.yaml:4:23: the deadline comes before the last step of \"escalate\", "
                        "which would never be taken");
    struct rules *r = read_good(HEAD "rules: [{name: a, escalate: [{after: 0, to: delete}]}, "
                                     "{name: b, escalate: [{after: 0s, to: force}]}]");
    assert_int_equal(r->list.p[0].says.delete_after, 0);
    assert_int_equal(r->list.p[0].says.force_after, -1);
    assert_int_equal(r->list.p[1].says.delete_after, -1);
    assert_int_equal(r->list.p[1].says.force_after, 0);
    rules_free(r);
}

static void what_can_never_happen_is_refused(void **state) {
    (void)state;
    assert_rule_refused("{name: a, action: skip, order: 0}",
                        "r.yaml:4:27: \"order\" means nothing with \"action: skip\": the pod is "
                        "left alone");
    assert_rule_refused("{name: a, deadline: 5m, action: skip}",
                        "r.yaml:4:13: \"deadline\" means nothing with \"action: skip\": the pod is "
                        "left alone");
    assert_rule_refused("{name: a, action: wait, escalate: [{after: 5m, to: delete}]}",
                        "r.yaml:4:27: \"escalate\" means nothing with \"action: wait\": the pod is "
                        "waited for and not evicted");
    assert_rule_refused("{name: a, action: wait, grace: 5s}",
                        "r.yaml:4:27: \"grace\" means nothing with \"action: wait\": the pod is "
                        "waited for and not evicted");
    rules_free(read_good(HEAD "rules: [{name: a, action: wait, order: 1, deadline: 5m}]"));
    rules_free(read_good(HEAD "rules: [{name: a, action: skip, order: null}]"));
}

static void there_are_limits(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT, name = STR_INIT;
    str_add(&text, HEAD "rules:\n");
    for (int i = 0; i < 1001; i++)
        str_addf(&text, "- {name: r%d}\n", i);
    assert_refused(str_get(&text), "r.yaml:4:1: there are 1001 rules; more than 1000 are not read");
    str_reset(&text);
    str_add(&text, HEAD "rules: [{name: a, match: {namespaces: [");
    for (int i = 0; i < 1001; i++)
        str_addf(&text, "n%d,", i);
    str_add(&text, "]}}]");
    assert_refused(str_get(&text), "r.yaml:3:39: namespaces are more than 1000");
    for (int i = 0; i < 101; i++)
        str_addc(&name, 'n');
    str_reset(&text);
    str_addf(&text, HEAD "rules: [{name: %s}]", str_get(&name));
    assert_refused(str_get(&text),
                   "r.yaml:3:16: the name of a rule must have 1 to 100 printable characters");
}

/* Text that would move the cursor must not reach a terminal by way of a message. */
static void foreign_text_is_made_printable(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAD "rules: [{name: a, action: \"\\e[2J\"}]",
        HEAD "rules: [{name: a, grace: \"\\e[2J\"}]",
        HEAD "rules: [{name: a, match: {owners: [\"\\e[2J\"]}}]",
        HEAD "rules: [{name: a, match: {namespaces: [\"\\e[2J\"]}}]",
        HEAD "rules: [{name: a, match: {labels: {matchLabels: {\"\\e[2J\": x}}}}]",
        HEAD "rules: [{name: a, match: {labels: {matchLabels: {a: \"\\e[2J\"}}}}]",
        HEAD "rules: [{name: a, match: {labels: {matchExpressions: [{key: \"\\e[2J\", operator: "
             "Exists}]}}}]",
        "apiVersion: \"\\e[2J\"\nkind: DrainRules\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct rules *r;
        assert_int_equal(rules_parse(texts[i], strlen(texts[i]), "r.yaml", &r, &err), -EINVAL);
        if (strchr(err_msg(&err), '\033'))
            fail_msg("an escape sequence in the error for %s", texts[i]);
    }
}

/* Whatever stands in a file is read or refused, never anything else. */
static void no_cut_or_changed_file_does_harm(void **state) {
    (void)state;
    static const char text[] =
        HEAD "marks: ignore\nrules:\n- name: a\n  match: {namespaces: [x, 'y*'], owners: [Job], "
             "labels: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: In, values: "
             "[d]}]}, priority: {min: 1}}\n  order: 1\n  grace: 3s\n  deadline: 5m\n  escalate: "
             "[{after: 1m, to: delete}]\n";
    static const char put[] = "{}[]:,-'\"*&!\n #0a";
    char copy[sizeof text];
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (size_t k = 0; k <= sizeof put - 1; k++) {
            _cleanup_err_ struct err err = ERR_INIT;
            struct rules *r = NULL;
            size_t len = k < sizeof put - 1 ? sizeof text - 1 : i;
            memcpy(copy, text, sizeof text);
            if (k < sizeof put - 1)
                copy[i] = put[k];
            int rc = rules_parse(copy, len, "r.yaml", &r, &err);
            assert_true(rc ? !r && rc == -EINVAL && *err_msg(&err) : r && !err.code);
            rules_free(r);
        }
    }
}

/* Run from the root of the project, as `make test` does. */
static void the_example_can_be_copied_from(void **state) {
    (void)state;
    _cleanup_free_ char *text = NULL;
    size_t len;
    if (file_read("docs/drain-rules.yaml", 1 << 20, &text, &len, NULL))
        skip();
    struct rules *r = read_good(text);
    assert_true(r->list.len >= 5);
    rules_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_in_a_file),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(the_file_as_a_whole),
        cmocka_unit_test(rules_have_names),
        cmocka_unit_test(matches_can_be_met),
        cmocka_unit_test(selectors_are_valid),
        cmocka_unit_test(times_make_sense),
        cmocka_unit_test(escalations_go_upwards),
        cmocka_unit_test(what_can_never_happen_is_refused),
        cmocka_unit_test(there_are_limits),
        cmocka_unit_test(foreign_text_is_made_printable),
        cmocka_unit_test(no_cut_or_changed_file_does_harm),
        cmocka_unit_test(the_example_can_be_copied_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
