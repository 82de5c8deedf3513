/* Tests of src/cli/why_show.c. */
#include "cli/why_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "cli/text.h"

#define NOW INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

static const struct why_remedy remedies[] = {
    {WHY_RISK_NONE, "wait", "", ""},
    {WHY_RISK_SERVICE, "let the budget allow one",
     "kubectl -n shop patch pdb a-rather-long-name --type=merge -p "
     "'{\"spec\": {\"maxUnavailable\": 1}}'",
     "1 of 2 serve meanwhile"},
};

static const struct why_link cause = {.code = WHY_NO_CODE,
                                      .severity = SEVERITY_WARN,
                                      .kind = "Pod",
                                      .object = "shop/web-2",
                                      .text = "container c crashes",
                                      .pods = 3,
                                      .example = "shop/web-2",
                                      .since = NOW - SEC(300)};
static const struct why_link *const causes[] = {&cause};

static struct why_link budget(void) {
    return (struct why_link){.code = BLOCKER_PDB_NO_BUDGET,
                             .severity = SEVERITY_WARN,
                             .blocks = true,
                             .kind = "PodDisruptionBudget",
                             .object = "shop/web",
                             .text = "maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0",
                             .pods = 2,
                             .example = "shop/web-1",
                             .since = NOW - SEC(60),
                             .causes = causes,
                             .n_causes = 1,
                             .remedies = remedies,
                             .n_remedies = 2};
}

static struct why answer(const struct why_link *const *links, size_t n) {
    return (struct why){.found = true,
                        .kind = "Node",
                        .ns = "",
                        .name = "n1",
                        .summary = "a drain would wait",
                        .state = WHY_WAITS,
                        .held_by = "",
                        .links = links,
                        .n_links = n,
                        .complete = true};
}

static char *print(const struct why *why) {
    struct term t = {.fd = -1};
    why_print(&t, why, "slipway", NOW);
    return str_take(&t.buf);
}

static void the_text_of_a_node(void **state) {
    (void)state;
    struct why_link l = budget();
    const struct why_link *links[] = {&l};
    struct why why = answer(links, 1);
    _cleanup_free_ char *text = print(&why);
    assert_string_equal(text, "node/n1: a drain would wait\n"
                              "\n"
                              "! PDBNoBudget budget shop/web, 2 pods: web-1, ... (for 60s)\n"
                              "    maxUnavailable 1, needs 2 healthy of 3, has 2, allows 0\n"
                              "    - pod web-2 and 2 more: container c crashes (for 5m)\n"
                              "    1. wait\n"
                              "    2. let the budget allow one (RISK: 1 of 2 serve meanwhile)\n"
                              "       kubectl -n shop patch pdb a-rather-long-name --type=merge -p "
                              "\\\n"
                              "         '{\"spec\": {\"maxUnavailable\": 1}}'\n"
                              "\n"
                              "More: slipway explain PDBNoBudget\n");
}

/* Of a pod's answer the pod is not named again. */
static void the_text_of_a_pod(void **state) {
    (void)state;
    struct why_link l = {.code = WHY_NO_CODE,
                         .severity = SEVERITY_WARN,
                         .blocks = true,
                         .kind = "Pod",
                         .object = "shop/web-1",
                         .text = "Pending: 0/1 nodes are available",
                         .pods = 1,
                         .example = "shop/web-1",
                         .since = NOW - SEC(60)};
    const struct why_link *links[] = {&l};
    struct why why = answer(links, 1);
    why.kind = "Pod";
    why.ns = "shop";
    why.name = "web-1";
    why.summary = "has no node";
    _cleanup_free_ char *text = print(&why);
    assert_string_equal(text, "pod/shop/web-1: has no node\n"
                              "\n"
                              "! Pending: 0/1 nodes are available (for 60s)\n");
}

/* What helps against two things is told with the first. */
static void remedies_are_told_once(void **state) {
    (void)state;
    struct why_link a = budget(), b = budget();
    const struct why_link *links[] = {&a, &b};
    struct why why = answer(links, 2);
    _cleanup_free_ char *text = print(&why);
    const char *first = strstr(text, "let the budget allow one");
    assert_non_null(first);
    assert_null(strstr(first + 1, "let the budget allow one"));
    /* what has no command may be said of each */
    assert_non_null(strstr(strstr(text, "1. wait") + 1, "1. wait"));
}

static void long_answers_are_cut(void **state) {
    (void)state;
    struct why_link l[9];
    const struct why_link *links[9];
    for (size_t i = 0; i < 9; i++) {
        l[i] = budget();
        links[i] = &l[i];
    }
    struct why why = answer(links, 9);
    _cleanup_free_ char *text = print(&why);
    assert_non_null(strstr(text, "\n3 more: see them with -o yaml\n"));
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, "! PDBNoBudget")); p++)
        n++;
    assert_int_equal(n, 6);
}

static void what_was_not_read_is_told(void **state) {
    (void)state;
    static const char *const unread[] = {"namespaces", "persistentvolumes"};
    struct why why = answer(NULL, 0);
    why.unread = unread;
    why.n_unread = 2;
    _cleanup_free_ char *text = print(&why);
    assert_non_null(strstr(text, ": namespaces,\npersistentvolumes\n"));
}

/* Names and messages come from the cluster. */
static void hostile_texts_stay_harmless(void **state) {
    (void)state;
    struct why_link l = budget();
    const struct why_remedy bad = {WHY_RISK_NONE, "run", "kubectl \033[2J\nreboot 'a b", ""};
    l.object = "shop/\033]0;title\007";
    l.text = "line\nnode/n2: free \033[31m \xff\xfe";
    l.remedies = &bad;
    l.n_remedies = 1;
    const struct why_link *links[] = {&l};
    struct why why = answer(links, 1);
    _cleanup_free_ char *text = print(&why);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\007'));
    assert_null(strstr(text, "\nnode/n2"));
    assert_null(strstr(text, "\nreboot"));
    assert_true(utf8_valid(text, strlen(text)));
}

static void lines_fit_80_columns(void **state) {
    (void)state;
    struct why_link l = budget();
    char name[200];
    l.text = "0/5000 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 node(s) were "
             "unschedulable, 4997 Insufficient memory";
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    l.example = name; /* what has no blank cannot be broken */
    const struct why_link *links[] = {&l};
    struct why why = answer(links, 1);
    _cleanup_free_ char *text = print(&why);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "xxxx"))
            assert_true(utf8_width(line) <= TEXT_WIDTH);
}

static void the_document_has_everything(void **state) {
    (void)state;
    struct why_link l = budget();
    const struct why_link *links[] = {&l};
    struct why why = answer(links, 1);
    _cleanup_str_ struct str out = STR_INIT;
    why.draining = true;
    why.draining_since = NOW - SEC(600);
    why.held_by = "alice";
    why.pods = 4;
    why_json(&out, &why);
    _cleanup_json_ json_t *v = json_loads(str_get(&out), 0, NULL);
    assert_non_null(v);
    assert_string_equal(json_str(v, "schema"), "slipway.why/1.0");
    assert_string_equal(json_str(v, "state"), "waits");
    assert_string_equal(json_str(v, "heldBy"), "alice");
    assert_string_equal(json_str(v, "drainingSince"), "2026-11-15T07:50:00Z");
    assert_string_equal(json_str(json_object_get(v, "target"), "kind"), "Node");
    assert_null(json_object_get(json_object_get(v, "target"), "namespace"));
    assert_int_equal(json_integer_value(json_object_get(v, "podsToMove")), 4);
    const json_t *link = json_array_get(json_object_get(v, "links"), 0);
    assert_string_equal(json_str(link, "code"), "PDBNoBudget");
    assert_string_equal(json_str(link, "clears"), "auto");
    assert_string_equal(json_str(link, "severity"), "warn");
    assert_string_equal(json_str(link, "object"), "shop/web");
    assert_string_equal(json_str(link, "since"), "2026-11-15T07:59:00Z");
    assert_true(json_is_true(json_object_get(link, "blocks")));
    const json_t *inner = json_array_get(json_object_get(link, "causes"), 0);
    assert_null(json_object_get(inner, "code"));
    assert_string_equal(json_str(inner, "message"), "container c crashes");
    assert_int_equal(json_integer_value(json_object_get(inner, "pods")), 3);
    const json_t *remedy = json_array_get(json_object_get(link, "remedies"), 1);
    assert_string_equal(json_str(remedy, "risk"), "service");
    assert_string_equal(json_str(remedy, "command"), remedies[1].command);
    assert_int_equal(json_array_size(json_object_get(v, "unread")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_of_a_node),        cmocka_unit_test(the_text_of_a_pod),
        cmocka_unit_test(remedies_are_told_once),    cmocka_unit_test(long_answers_are_cut),
        cmocka_unit_test(what_was_not_read_is_told), cmocka_unit_test(hostile_texts_stay_harmless),
        cmocka_unit_test(lines_fit_80_columns),      cmocka_unit_test(the_document_has_everything),
    };
    return cmocka_run_group_tests_name("cli/why_show", tests, NULL, NULL);
}
