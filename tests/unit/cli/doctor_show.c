/* Tests of src/cli/doctor_show.c. */
#include "cli/doctor_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const w12[] = {"w1", "w2"};
static const struct why_remedy fixes[] = {
    {WHY_RISK_NONE, "look", "", ""},
    {WHY_RISK_SERVICE, "let the budget allow one", "kubectl -n shop patch pdb web -p '{}'",
     "1 of 2 serve meanwhile"},
};

static struct lint_finding finding(const char *name) {
    return (struct lint_finding){.kind = "PodDisruptionBudget",
                                 .ns = "shop",
                                 .name = name,
                                 .text = "maxUnavailable 0",
                                 .pods = 2,
                                 .example = "web-1",
                                 .nodes = w12,
                                 .n_nodes = 2,
                                 .fixes = fixes,
                                 .n_fixes = 2};
}

static void show(const struct lint *lint, struct doctor_findings *f, bool all, bool only,
                 struct str *out) {
    struct term term = {.fd = -1, .columns = 80};
    doctor_text(&(struct doctor_report){.findings = f, .lint = lint, .all = all, .only_lint = only},
                "slipway", &term);
    str_add(out, str_get(&term.buf));
    str_done(&term.buf);
}

static void one_group(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct lint_finding list[] = {finding("web")};
    struct lint_group group = {
        .cause = LINT_MAX_ZERO, .findings = list, .n = 1, .pods = 2, .nodes = w12, .n_nodes = 2};
    struct lint lint = {.groups = &group, .n = 1, .nodes = 5, .pods = 9};
    struct doctor_findings none = {0};
    show(&lint, &none, false, true, &out);
    assert_string_equal(str_get(&out),
                        "x 1 budget allows no disruption: maxUnavailable 0 (PDBUnsatisfiable)\n"
                        "    shop/web: maxUnavailable 0\n"
                        "      2 pods on w[1-2]\n"
                        "      - look\n"
                        "      - let the budget allow one (RISK: 1 of 2 serve meanwhile)\n"
                        "        kubectl -n shop patch pdb web -p '{}'\n"
                        "\n"
                        "A drain of 2 of 5 nodes would be blocked: w[1-2]\n");
}

/* What the checks have against a drain comes after the server and before the workloads. */
static void what_checks_say(void **state) {
    (void)state;
    _cleanup_str_ struct str json = STR_INIT;
    struct check_finding deny = {.check = check_find("longhorn"),
                                 .verdict = CHECK_DENY,
                                 .when = CHECK_CORDON | CHECK_OPERATION,
                                 .code = BLOCKER_LAST_REPLICA,
                                 .node = "w1",
                                 .kind = "Volume",
                                 .ns = "longhorn-system",
                                 .name = "pvc-1",
                                 .evidence = "the only healthy replica is here",
                                 .hint = "add a replica",
                                 .ends = "there is another"};
    struct check_finding later = deny;
    later.when = CHECK_OPERATION;
    later.name = NULL;
    struct doctor_check list[] = {{&deny, w12, 2}, {&later, w12, 1}};
    struct doctor_checks checks = {.list = list, .n = 2, .quiet = ""};
    struct doctor_findings none = {0};
    struct lint lint = {.nodes = 2, .pods = 1};
    struct doctor_report report = {.findings = &none, .lint = &lint, .checks = &checks};
    struct term term = {.fd = -1, .columns = 80};
    doctor_text(&report, "slipway", &term);
    assert_string_equal(str_get(&term.buf),
                        "x Longhorn denies a drain of w[1-2] (LastReplica)\n"
                        "    Volume longhorn-system/pvc-1: the only healthy replica is here\n"
                        "      - add a replica\n"
                        "\n"
                        "! Longhorn denies what comes after a drain of w1 (LastReplica)\n"
                        "    the only healthy replica is here\n"
                        "      - add a replica\n"
                        "\n"
                        "A drain of 2 of 2 nodes would be blocked: w[1-2]\n"
                        "0 ok, 1 warning, 1 bad\n");
    str_done(&term.buf);
    doctor_json(&report, &json);
    _cleanup_json_ json_t *doc = json_loads(str_get(&json), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(doc, "blockedNodes")), 2);
    const json_t *first = json_array_get(json_object_get(doc, "checks"), 0);
    assert_string_equal(json_str(json_object_get(first, "finding"), "code"), "LastReplica");
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), 2);
    assert_string_equal(json_str(json_array_get(json_object_get(doc, "items"), 0), "check"),
                        "check");
}

/* "and 37 more", with a way to see them all. */
static void many_findings(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct lint_finding list[40];
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        list[i] = finding("web");
    struct lint_group group = {
        .cause = LINT_BARE, .findings = list, .n = 40, .pods = 80, .nodes = w12, .n_nodes = 2};
    struct lint lint = {.groups = &group, .n = 1, .nodes = 5};
    struct doctor_findings none = {0};
    show(&lint, &none, false, true, &out);
    assert_non_null(strstr(str_get(&out), "! 40 pods have no controller"));
    assert_non_null(strstr(str_get(&out), "    and 37 more; 80 pods in all, on 2 nodes: w[1-2] "));
    assert_non_null(strstr(str_get(&out), "'slipway doctor"));
    assert_non_null(strstr(str_get(&out), "--all' shows them"));
    for (const char *p = str_get(&out); *p; p += strcspn(p, "\n") + 1)
        assert_true(strcspn(p, "\n") <= 80);
    str_reset(&out);
    show(&lint, &none, true, true, &out);
    assert_null(strstr(str_get(&out), "more"));
    size_t n = 0;
    for (const char *p = str_get(&out); (p = strstr(p, "shop/web")); p++)
        n++;
    assert_int_equal(n, 40);
}

static void a_cluster_that_is_well(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct lint lint = {.nodes = 5, .pods = 19, .budgets = 1};
    struct doctor_findings f = {0};
    doctor_find(&f, STATE_GOOD, "reach", xstrdup("it answers"), NULL);
    doctor_find(&f, STATE_BAD, "permission", xstrdup("not\x1b allowed"), xstrdup("do so"));
    show(&lint, &f, false, false, &out);
    assert_string_equal(str_get(&out),
                        "ok ok: it answers\n"
                        "x bad: not\\x1b allowed\n"
                        "    do so\n"
                        "Nothing of 19 pods and 1 budget would block a drain of any node.\n"
                        "1 ok, 0 warnings, 1 bad\n");
    doctor_findings_done(&f);
}

static void a_cluster_too_full_to_look_at_whole(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct doctor_findings none = {0};
    show(&(struct lint){.nodes = 5000, .roomed = 12}, &none, false, true, &out);
    assert_non_null(strstr(str_get(&out), "12 of 5000 nodes only"));
    str_reset(&out);
    show(&(struct lint){.nodes = 5000, .roomed = 5000}, &none, false, true, &out);
    assert_null(strstr(str_get(&out), "only"));
}

static void the_table(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT, names = STR_INIT;
    struct lint_finding list[] = {finding("web")};
    struct lint_group group = {.cause = LINT_MAX_ZERO, .findings = list, .n = 1};
    struct lint lint = {.groups = &group, .n = 1};
    _cleanup_table_ struct table *t = doctor_table(&(struct doctor_report){.lint = &lint});
    table_names(t, &names);
    assert_string_equal(str_get(&names), "poddisruptionbudget/shop/web\n");
    table_text(t, &(struct table_view){.wide = true}, &text);
    for (const char *const *p =
             (const char *const[]){"max-unavailable-zero", "never", "PodDisruptionBudget shop/web",
                                   "w[1-2]", "PDBUnsatisfiable", "service",
                                   "kubectl -n shop patch pdb web -p '{}'", NULL};
         *p; p++)
        assert_non_null(strstr(str_get(&text), *p));
}

static void the_document(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT;
    struct lint_finding list[] = {finding("web")};
    struct lint_group group = {
        .cause = LINT_MAX_ZERO, .findings = list, .n = 1, .pods = 2, .nodes = w12, .n_nodes = 2};
    struct lint lint = {.groups = &group, .n = 1, .nodes = 5};
    struct doctor_findings f = {0};
    doctor_find(&f, STATE_GOOD, "reach", xstrdup("it answers"), NULL);
    doctor_json(&(struct doctor_report){.findings = &f, .lint = &lint}, &out);
    _cleanup_json_ json_t *doc = json_loads(str_get(&out), 0, NULL);
    assert_non_null(doc);
    assert_string_equal(json_str(doc, "schema"), "slipway.doctor/1.3");
    assert_int_equal(json_array_size(json_object_get(doc, "items")), 2);
    assert_int_equal(json_array_size(json_object_get(doc, "blockedNodes")), 2);
    const json_t *g = json_array_get(json_object_get(doc, "groups"), 0);
    assert_string_equal(json_str(g, "cause"), "max-unavailable-zero");
    assert_string_equal(json_str(g, "effect"), "never");
    assert_string_equal(json_str(g, "code"), "PDBUnsatisfiable");
    const json_t *one = json_array_get(json_object_get(g, "findings"), 0);
    assert_string_equal(json_str(json_object_get(one, "object"), "name"), "web");
    const json_t *fix = json_array_get(json_object_get(one, "fixes"), 1);
    assert_string_equal(json_str(fix, "risk"), "service");
    assert_string_equal(json_str(fix, "command"), fixes[1].command);
    /* Where the cluster could not be looked at there are no groups. */
    str_reset(&out);
    doctor_json(&(struct doctor_report){.findings = &f}, &out);
    assert_null(strstr(str_get(&out), "groups"));
    doctor_findings_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group),
        cmocka_unit_test(many_findings),
        cmocka_unit_test(what_checks_say),
        cmocka_unit_test(a_cluster_that_is_well),
        cmocka_unit_test(a_cluster_too_full_to_look_at_whole),
        cmocka_unit_test(the_table),
        cmocka_unit_test(the_document),
    };
    return cmocka_run_group_tests_name("cli/doctor_show", tests, NULL, NULL);
}
