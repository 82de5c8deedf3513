/* Reading scenarios: what is understood, and what is said about mistakes and where. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/scenario_internal.h"

#include <cmocka.h>

static struct scenario *good(const char *text) {
    struct scenario *s;
    _cleanup_err_ struct err err = ERR_INIT;
    if (scenario_parse("f.yaml", text, strlen(text), &s, &err))
        fail_msg("%s", err_msg(&err));
    return s;
}

static void test_everything(void **state) {
    (void)state;
    struct scenario *s =
        good("description: All there is.\n"
             "try: [kubectl get nodes, slipway status]\n"
             "settle: 90s\n"
             "nodes:\n"
             "- {name: w, count: 6, zones: [a, b], region: r, roles: [x], cpu: 4,\n"
             "   memory: 8Gi, storage: 5Gi, pods: 20, labels: {a: b},\n"
             "   annotations: {c: d}, taints: [{key: k, effect: NoSchedule}],\n"
             "   unschedulable: true, staticPods: [{metadata: {name: p}}]}\n"
             "- {name: 'c[08-11]x', default: true}\n"
             "objects:\n"
             "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, copies: 3}\n"
             "events:\n"
             "- {after: 30s, node: w1, do: reboot}\n"
             "- {after: 1m30s, every: 5m, node: any, do: hang}\n"
             "- {after: 0s, delete: {kind: Pod, namespace: n, name: a}}\n"
             "- {after: 1s, apply: {apiVersion: v1, kind: Pod, metadata: {name: "
             "a}}}\n");
    assert_string_equal(scenario_description(s), "All there is.");
    const char *const *tries = scenario_tries(s);
    assert_string_equal(tries[0], "kubectl get nodes");
    assert_string_equal(tries[1], "slipway status");
    assert_null(tries[2]);
    assert_int_equal(s->settle, SEC(90));
    assert_int_equal(scenario_node_count(s, 0), 10);
    assert_int_equal(scenario_node_count(s, 3000), 3006);
    assert_ptr_equal(scenario_main_group(s), &s->groups.p[1]);
    const struct node_group *w = &s->groups.p[0], *c = &s->groups.p[1];
    assert_int_equal(w->count, 6);
    assert_int_equal(w->first, 1);
    assert_int_equal(w->digits, 1);
    assert_int_equal(w->prefix, 1);
    assert_string_equal(w->suffix, "");
    assert_int_equal(w->cpu, 4);
    assert_int_equal(w->pods, 20);
    assert_true(w->unschedulable);
    assert_string_equal(w->zones[1], "b");
    assert_int_equal(json_array_size(w->static_pods), 1);
    assert_int_equal(c->count, 4);
    assert_int_equal(c->first, 8);
    assert_int_equal(c->digits, 2);
    assert_string_equal(c->suffix, "x");
    assert_int_equal(c->pods, 110);
    assert_int_equal(s->list.len, 4);
    const struct scenario_event *e = s->list.p;
    assert_int_equal(e[0].after, SEC(30));
    assert_int_equal(e[0].every, 0);
    assert_ptr_equal(e[0].deed->fn, machine_reboot);
    assert_string_equal(e[0].node, "w1");
    assert_int_equal(e[1].after, SEC(90));
    assert_int_equal(e[1].every, SEC(300));
    assert_ptr_equal(e[1].deed->fn, machine_hang);
    assert_null(e[2].deed);
    assert_string_equal(e[2].gone.kind, "Pod");
    assert_string_equal(e[2].gone.ns, "n");
    assert_int_equal(e[3].after, SEC(1));
    assert_non_null(e[3].apply);
    scenario_free(s);
}

static void test_least(void **state) {
    (void)state;
    struct scenario *s = good("description: Nothing.\n");
    assert_null(scenario_tries(s));
    assert_int_equal(scenario_node_count(s, 0), 0);
    assert_null(scenario_main_group(s));
    assert_int_equal(s->settle, SEC(600));
    scenario_free(s);
    scenario_free(NULL);
}

/* Every mistake has its place. */
static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "f.yaml:1:1: scenario: description is missing"},
        {"[a]", "f.yaml:1:1: scenario must be a mapping, not a list"},
        {"description: a\nobjcets: []\n",
         "f.yaml:2:1: unknown key \"objcets\" in scenario; did you mean \"objects\"?"},
        {"description: 7\n", "f.yaml:1:14: scenario: description must be a string"},
        {"description: a\ntry: kubectl\n", "f.yaml:2:6: scenario: try must be a list of strings"},
        {"description: a\ntry: [a, {}]\n", "f.yaml:2:10: "},
        {"description: a\nnodes:\n- count: 3\n", "f.yaml:3:3: group of nodes: name is missing"},
        {"description: a\nnodes:\n- name: w\n  zone: [a]\n",
         "f.yaml:4:3: unknown key \"zone\" in group of nodes; did you mean \"zones\"?"},
        {"description: a\nnodes:\n- {name: w, count: 20001}\n",
         "f.yaml:3:20: group of nodes: count must be between 0 and 20000, not 20001"},
        {"description: a\nnodes: [{name: w, count: -1}]\n", "f.yaml:2:26: "},
        {"description: a\nnodes: [{name: w, cpu: 0}]\n", "f.yaml:2:24: "},
        {"description: a\nnodes: [{name: w, cpu: 500m}]\n",
         "f.yaml:2:24: group of nodes: cpu must be a whole number, not a string"},
        {"description: a\nnodes: [w]\n",
         "f.yaml:2:9: group of nodes must be a mapping, not a string"},
        {"description: a\nnodes: [{name: 'w['}]\n", "f.yaml:2:16: \"w[\" does not say how"},
        {"description: a\nnodes: [{name: 'w[]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w]1-2['}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[-1]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-a]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-2'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-2][3-4]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[3-2]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-99999999999999999999]'}]\n", "f.yaml:2:16: "},
        {"description: a\nnodes: [{name: 'w[1-20001]'}]\n",
         "f.yaml:2:16: \"w[1-20001]\" is more than 20000 nodes"},
        {"description: a\nnodes: [{name: 'w[1-3]', count: 4}]\n",
         "f.yaml:2:33: count is 4, but \"w[1-3]\" is 3 nodes: leave one out"},
        {"description: a\nnodes: [{name: v, default: true}, {name: w, default: true}]\n",
         "f.yaml:2:45: only one group of nodes can be the default one"},
        {"description: a\nobjects: [x]\n",
         "f.yaml:2:11: an object must be a mapping, not a string"},
        {"description: a\nobjects: [{kind: Pod}]\n", "f.yaml:2:11: the object has no apiVersion"},
        {"description: a\nobjects: [{apiVersion: v1}]\n", "f.yaml:2:11: the object has no kind"},
        {"description: a\nobjects: [{apiVersion: v1, kind: 7}]\n",
         "f.yaml:2:11: the object has no kind"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod}]\n",
         "f.yaml:2:11: the object has no metadata.name"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: "
         "-1}]\n",
         "f.yaml:2:68: \"copies\" must be a whole number from 0 to 100000, or \"nodes\""},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: x}]\n",
         "f.yaml:2:68: \"copies\" must be"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: "
         "100001}]\n",
         "f.yaml:2:68: \"copies\" must be"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: "
         "nodes/0}]\n",
         "f.yaml:2:68: \"copies\" must be"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: "
         "nodes/}]\n",
         "f.yaml:2:68: \"copies\" must be"},
        {"description: a\nobjects: [{apiVersion: v1, kind: Pod, metadata: {name: a}, copies: "
         "nodes/2x}]\n",
         "f.yaml:2:68: \"copies\" must be"},
        {"description: a\nsettle: soon\n", "f.yaml:2:9: \"settle\": "},
        {"description: a\nsettle: -1s\n",
         "f.yaml:2:9: \"settle\" must be between 0s and a year, not -1s"},
        {"description: a\nevents: [{node: w1, do: reboot}]\n",
         "f.yaml:2:10: event: after is missing"},
        {"description: a\nevents: [{after: 1s}]\n",
         "f.yaml:2:10: an event has one of \"do\" (with \"node\"), \"delete\" and \"apply\""},
        {"description: a\nevents: [{after: 1s, node: a, do: 'on', delete: {kind: Pod, name: a}}]\n",
         "f.yaml:2:10: an event has one of"},
        {"description: a\nevents: [{after: 1s, do: reboot}]\n",
         "f.yaml:2:10: \"do\" needs a \"node\" that it happens to (or \"any\")"},
        {"description: a\nevents:\n- after: 1s\n  node: w1\n  do: rebot\n",
         "f.yaml:5:7: \"rebot\" is no valid thing to do; did you mean \"reboot\"?"},
        {"description: a\nevents: [{after: 1s, node: w1, do: explode}]\n",
         "f.yaml:2:36: \"explode\" is no valid thing to do; valid: \"reboot\", \"off\", \"on\", "
         "\"hang\""},
        {"description: a\nevents: [{after: 1y, node: w1, do: reboot}]\n",
         "f.yaml:2:18: \"after\": "},
        {"description: a\nevents: [{after: 9000h, node: w1, do: reboot}]\n",
         "f.yaml:2:18: \"after\" must be between 0s and a year, not 9000h"},
        {"description: a\nevents: [{after: 1s, every: 1ms, node: w1, do: reboot}]\n",
         "f.yaml:2:29: \"every\" must be between 1s and a year, not 1ms"},
        {"description: a\nevents: [{after: 1s, node: w1, delete: {kind: Pod, name: a}}]\n",
         "f.yaml:2:22: \"node\" belongs to \"do\", which this event does not have"},
        {"description: a\nevents: [{after: 1s, delete: {kind: Pod}}]\n",
         "f.yaml:2:30: delete: name is missing"},
        {"description: a\nevents: [{after: 1s, delete: {kind: Pod, name: a, ns: b}}]\n",
         "f.yaml:2:51: unknown key \"ns\" in delete"},
        {"description: a\nevents: [{after: 1s, apply: {kind: Pod, metadata: {name: a}}}]\n",
         "f.yaml:2:29: the object has no apiVersion"},
        {"description: a\n description: b\n", "f.yaml:2:"},
        {"description: a\ndescription: b\n", "f.yaml:2:1: "},
        {"description: a\n---\ndescription: b\n", "f.yaml:"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct scenario *s = NULL;
        _cleanup_err_ struct err err = ERR_INIT;
        int rc = scenario_parse("f.yaml", bad[i].text, strlen(bad[i].text), &s, &err);
        if (rc >= 0 || s)
            fail_msg("this was taken:\n%s", bad[i].text);
        if (!str_starts(err_msg(&err), bad[i].says))
            fail_msg("of\n%s\"%s\" was said, not \"%s\"", bad[i].text, err_msg(&err), bad[i].says);
    }
}

/* Of the simulator, wherever they stand; those of others are their own. */
static void test_annotations(void **state) {
    (void)state;
    static const struct {
        const char *text, *says; /* NULL: nothing is wrong */
    } rows[] = {
        {"nodes:\n- name: w\n  annotations:\n    sim.slipway.dev/boot: nonsense\n",
         "f.yaml:5:27: sim.slipway.dev/boot must be a duration"},
        {"nodes: [{name: w, annotations: {sim.slipway.dev/do: explode}}]\n",
         "f.yaml:2:53: sim.slipway.dev/do must be \"reboot\", \"off\", \"on\" or \"hang\", not "
         "\"explode\""},
        {"nodes:\n- name: w\n  staticPods:\n  - metadata: {name: p, annotations: "
         "{sim.slipway.dev/stop: stock}}\n",
         "f.yaml:5:61: sim.slipway.dev/stop must be "},
        {"objects:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, annotations: "
         "{sim.slipway.dev/exit: x}}\n",
         "f.yaml:5:59: sim.slipway.dev/exit must be an exit code, from 0 to 255, not \"x\""},
        {"objects:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: a}\n  spec:\n"
         "    template:\n      metadata:\n        annotations: {a: b, sim.slipway.dev/start: "
         "10s-2s}\n",
         "f.yaml:9:52: sim.slipway.dev/start must be a duration (\"90s\"), a range with the "
         "shorter "
         "one first (\"2s-5s\") or \"never\", not \"10s-2s\""},
        {"events:\n- after: 1s\n  apply: {apiVersion: v1, kind: Pod, metadata: {name: a, "
         "annotations: {sim.slipway.dev/run: -1s}}}\n",
         "f.yaml:4:93: sim.slipway.dev/run must be "},
        {"objects:\n- {apiVersion: v1, kind: Pod, copies: 3, metadata: {name: 'a{n}', annotations: "
         "{sim.slipway.dev/start: '{n}s', sim.slipway.dev/stop: stuck, sim.slipway.dev/exit: "
         "'137', example.com/boot: nonsense, sim.slipway.dev/ready: never}}}\n",
         NULL},
        {"objects:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: "
         "{sim.slipway.dev/start: soon}}\n",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_free_ char *text = xasprintf("description: a\n%s", rows[i].text);
        struct scenario *s = NULL;
        int rc = scenario_parse("f.yaml", text, strlen(text), &s, &err);
        scenario_free(s);
        if (!rc != !rows[i].says || (rc && !str_starts(err_msg(&err), rows[i].says)))
            fail_msg("of\n%s\"%s\" was said, not \"%s\"", text, rc ? err_msg(&err) : "nothing",
                     rows[i].says ? rows[i].says : "nothing");
    }
}

static void test_copies(void **state) {
    (void)state;
    struct scenario *s =
        good("description: a\n"
             "objects:\n"
             "- {apiVersion: v1, kind: P, metadata: {name: a}}\n"
             "- {apiVersion: v1, kind: P, metadata: {name: a}, copies: 0}\n"
             "- {apiVersion: v1, kind: P, metadata: {name: a}, copies: 7}\n"
             "- {apiVersion: v1, kind: P, metadata: {name: a}, copies: nodes}\n"
             "- {apiVersion: v1, kind: P, metadata: {name: a}, copies: nodes/10}\n");
    static const struct {
        size_t nodes;
        int64_t copies[5];
    } rows[] = {
        {0, {1, 0, 7, 0, 0}},   {1, {1, 0, 7, 1, 1}},         {10, {1, 0, 7, 10, 1}},
        {11, {1, 0, 7, 11, 2}}, {5000, {1, 0, 7, 5000, 500}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < 5; k++) {
            int64_t n = -1;
            assert_int_equal(
                scenario_copies(s, json_array_get(s->objects, k), rows[i].nodes, &n, NULL), 0);
            assert_int_equal(n, rows[i].copies[k]);
        }
    scenario_free(s);
}

/* --- by name and by file --- */

static void test_built_in(void **state) {
    (void)state;
    assert_true(scenario_n_rows >= 17);
    for (size_t i = 0; i < scenario_n_rows; i++) {
        struct scenario *s;
        _cleanup_err_ struct err err = ERR_INIT;
        assert_string_equal(scenario_names[i], scenario_rows[i].name);
        if (scenario_load(scenario_rows[i].name, &s, &err))
            fail_msg("%s", err_msg(&err));
        const char *text = scenario_description(s);
        size_t len = strlen(text);
        /* A sentence, of which two fit on a screen's line. */
        assert_true(len > 20 && len < 130 && text[len - 1] == '.');
        assert_null(strchr(text, '\n'));
        assert_non_null(scenario_tries(s));
        assert_true(scenario_main_group(s) != NULL);
        scenario_free(s);
    }
    assert_null(scenario_names[scenario_n_rows]);
}

static void test_names(void **state) {
    (void)state;
    struct scenario *s = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_true(scenario_load("hapy", &s, &err) < 0);
    assert_non_null(
        strstr(err_msg(&err), "there is no scenario \"hapy\"; did you mean \"happy\"?"));
    assert_true(scenario_load("xyzzy", &s, &err) < 0);
    assert_non_null(strstr(err_msg(&err), "there is no scenario \"xyzzy\"; there are \""));
    assert_true(scenario_load("", &s, &err) < 0);
    assert_true(scenario_load("\033[31m", &s, &err) < 0);
    assert_null(strchr(err_msg(&err), '\033'));
    assert_null(s);
}

static void test_files(void **state) {
    (void)state;
    char directory[] = "/tmp/scenario-test.XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct scenario *s = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *file = xasprintf("%s/mine", directory);
    assert_true(scenario_load(file, &s, &err) < 0);
    assert_non_null(strstr(err_msg(&err), file));
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fputs("description: Mine.\nnodes: [{nam: w}]\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(scenario_load(file, &s, &err), -EINVAL);
    _cleanup_free_ char *says = xasprintf("%s:2:10: unknown key \"nam\"", file);
    assert_true(str_starts(err_msg(&err), says));
    f = fopen(file, "w");
    assert_non_null(f);
    assert_true(fputs("description: Mine.\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(scenario_load(file, &s, &err), 0);
    assert_string_equal(scenario_description(s), "Mine.");
    scenario_free(s);
    s = NULL;
    assert_true(scenario_load("nowhere.yaml", &s, &err) < 0);
    assert_non_null(strstr(err_msg(&err), "nowhere.yaml"));
    assert_null(s);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),  cmocka_unit_test(test_least),
        cmocka_unit_test(test_mistakes),    cmocka_unit_test(test_copies),
        cmocka_unit_test(test_built_in),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_annotations), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
