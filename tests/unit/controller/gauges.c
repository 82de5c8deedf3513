/* Tests of src/controller/gauges.c: what is told of a simulated cluster. */
#include "controller/gauges.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"
#include "kube/stream.h"

struct fixture {
    struct drain_site s;
    struct cluster cluster;
    struct store *maps, *policy_store, *maintenances, *rollouts;
    struct feeds *feeds;
    struct policies *policies;
    struct metrics *metrics;
    struct rival_signs rivals;
    struct check_world checks; /* asked where there are machines */
    struct store *machines;
};

static void on_changed(void *arg, const struct kind *kind, const struct object *before,
                       const struct object *after) {
    (void)arg, (void)kind, (void)before, (void)after;
}

static void on_synced(void *arg) {
    (void)arg;
}

static void on_reply(void *arg, const struct keeper_reply *reply) {
    (void)arg, (void)reply;
}

static const struct check_world *on_checks(void *arg) {
    const struct fixture *f = arg;
    return f->machines ? &f->checks : NULL;
}

static void on_replaced(void *arg, const struct keeper *k) {
    (void)arg, (void)k;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 4);
    struct pool *pool = f->s.client.pool;
    cluster_init(&f->cluster, pool);
    f->maps = store_new(&kind_config_map, pool);
    f->policy_store = store_new(&kind_policy, pool);
    f->maintenances = store_new(&kind_maintenance, pool);
    f->rollouts = store_new(&kind_rollout, pool);
    f->feeds = feeds_new(&f->s.client, &(struct feeds_opts){.cluster = &f->cluster,
                                                            .maps = f->maps,
                                                            .policies = f->policy_store,
                                                            .maintenances = f->maintenances,
                                                            .rollouts = f->rollouts,
                                                            .ns = "default",
                                                            .maps_selector = SLOTS_LABEL,
                                                            .log = &f->s.log,
                                                            .seed = 1,
                                                            .changed = on_changed,
                                                            .synced = on_synced,
                                                            .arg = f});
    f->policies = policies_new(&(struct policies_opts){.keeper = {.ns = "default",
                                                                  .forget = SEC(1800),
                                                                  .reply = on_reply,
                                                                  .checks = on_checks,
                                                                  .arg = f},
                                                       .cluster = &f->cluster,
                                                       .maps = f->maps,
                                                       .policies = f->policy_store,
                                                       .log = &f->s.log,
                                                       .replaced = on_replaced,
                                                       .arg = f});
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    metrics_free(f->metrics);
    policies_free(f->policies);
    feeds_free(f->feeds);
    store_free(f->maps);
    store_free(f->policy_store);
    store_free(f->maintenances);
    store_free(f->rollouts);
    store_free(f->machines);
    cluster_done(&f->cluster);
    drain_site_done(&f->s);
    free(f);
    return 0;
}

#define SLOT(node, by, state, more)                                                                \
    "{\\\"id\\\":\\\"id-" node "\\\",\\\"node\\\":\\\"" node "\\\",\\\"uid\\\":\\\"u\\\","         \
    "\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"" by "\\\",\\\"state\\\":\\\"" state "\\\","  \
    "\\\"boot\\\":\\\"b\\\",\\\"since\\\":\\\"2026-11-15T08:00:00Z\\\"" more "}"

/* w0 is drained for its reboot, w1 is on its way, w2 waits, w3 does nothing. */
static void two_hold_and_one_waits(struct fixture *f) {
    site_post(&f->s, "/api/v1/namespaces/default/configmaps",
              "{'metadata':{'name':'slipway-slots-default','labels':{'slipway.dev/slots':"
              "'default'}},'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":0,\\\"slots\\\":[" SLOT(
                  "w0", "fleetlock", "taken", "") "," /**/
              SLOT("w1", "maintenance/m1", "granted",
                   ",\\\"granted\\\":\\\"2026-11-15T08:01:00Z\\\"") /**/
              "],\\\"waiting\\\":[{\\\"node\\\":\\\"w2\\\",\\\"operation\\\":\\\"Reboot\\\","
              "\\\"by\\\":\\\"fleetlock\\\",\\\"since\\\":\\\"2026-11-15T08:02:00Z\\\","
              "\\\"asked\\\":\\\"2026-11-15T08:02:00Z\\\"}]}'}}");
}

static void step(struct fixture *f) {
    struct actions out = ACTIONS_INIT;
    drain_site_pass(&f->s, SEC(5));
    policies_look(f->policies);
    for (size_t i = 0; i < policies_len(f->policies); i++) {
        keeper_poke(policies_at(f->policies, i)->keeper, NULL, NULL, NULL);
        keeper_step(policies_at(f->policies, i)->keeper,
                    (struct now){loop_now(f->s.loop), loop_wall(f->s.loop)}, &out);
    }
    actions_done(&out);
}

static void write_all(struct fixture *f, bool leads, struct str *out) {
    gauges_take(f->metrics, &(struct gauges_world){.policies = f->policies,
                                                   .cluster = &f->cluster,
                                                   .maps = f->maps,
                                                   .policy_store = f->policy_store,
                                                   .maintenances = f->maintenances,
                                                   .rollouts = f->rollouts,
                                                   .feeds = f->feeds,
                                                   .rivals = f->rivals,
                                                   .now = SEC(1794970800),
                                                   .commit = "abc",
                                                   .leads = leads});
    str_reset(out);
    metrics_write(f->metrics, false, out);
}

static void has(const struct str *out, const char *line) {
    if (!strstr(str_get(out), line))
        print_error("no \"%s\" in:\n%s", line, str_get(out));
    assert_non_null(strstr(str_get(out), line));
}

static void halt(struct fixture *f, const char *name) {
    _cleanup_free_ char *text = xasprintf(
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"node\":\"w1\",\"operation\":\"Reboot\"},"
        "\"status\":{\"phase\":\"Halted\",\"since\":\"2026-11-15T08:02:00Z\",\"blocker\":"
        "{\"code\":\"OperationFailed\",\"since\":\"2026-11-15T08:02:00Z\"}}}",
        name);
    struct object *obj = object_new(&kind_maintenance);
    struct codec codec;
    codec_init(&codec, f->s.client.pool);
    assert_int_equal(codec_json(&codec, kind_maintenance.type, view_of(text), obj, NULL), 0);
    codec_done(&codec);
    assert_true(store_put(f->maintenances, obj));
}

static void slots_and_nodes(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->metrics = metrics_new(0);
    two_hold_and_one_waits(f);
    step(f);
    write_all(f, true, &out);
    has(&out, "slipway_build_info{version=\"" SLIPWAY_VERSION "\",revision=\"abc\"} 1\n");
    has(&out, "\nslipway_leader 1\n");
    has(&out, "slipway_policy_usable{policy=\"default\"} 1\n");
    has(&out, "slipway_slots{policy=\"default\"} 1\n");
    has(&out, "slipway_slots_held{policy=\"default\"} 2\n");
    has(&out, "slipway_slots_waiting{policy=\"default\"} 1\n");
    has(&out, "slipway_slot_holder{policy=\"default\",node=\"w1\",by=\"maintenance/m1\","
              "state=\"granted\"} 1\n");
    has(&out, "slipway_slot_start_timestamp_seconds{policy=\"default\",node=\"w0\"} 1794729600\n");
    has(&out, "slipway_node_phase{policy=\"default\",node=\"w0\",phase=\"Draining\"} 1\n");
    has(&out, "slipway_node_phase{policy=\"default\",node=\"w1\",phase=\"Operating\"} 1\n");
    has(&out, "slipway_node_phase{policy=\"default\",node=\"w2\",phase=\"Queued\"} 1\n");
    has(&out, "phase_start_timestamp_seconds{policy=\"default\",node=\"w1\"} 1794729660\n");
    has(&out, "slipway_nodes{policy=\"default\",phase=\"Idle\"} 1\n");
    has(&out, "slipway_nodes{policy=\"default\",phase=\"Queued\"} 1\n");
    has(&out,
        "slipway_node_blocked{policy=\"default\",node=\"w2\",code=\"MaxUnavailableReached\"} 1\n");
    has(&out, "slipway_blocked_nodes{policy=\"default\",code=\"MaxUnavailableReached\"} 1\n");
    has(&out, "slipway_node_reboot_required{node=\"w0\",reason=\"fleetlock\"} 1\n");
    has(&out, "slipway_node_reboot_required{node=\"w1\",reason=\"maintenance\"} 1\n");
    has(&out, "slipway_node_reboot_required{node=\"w2\",reason=\"fleetlock\"} 1\n");
    assert_null(strstr(str_get(&out), "reboot_required{node=\"w3\""));
    site_patch(&f->s, "/api/v1/nodes/w3",
               "{'metadata':{'annotations':{'flatcar-linux-update.v1.flatcar-linux.net/"
               "reboot-needed':'true'}}}");
    step(f);
    write_all(f, true, &out);
    has(&out, "slipway_node_reboot_required{node=\"w3\",reason=\"mark\"} 1\n");
    /* One that is halted needs somebody, and says so by itself. */
    halt(f, "m1");
    write_all(f, true, &out);
    has(&out, "slipway_node_phase{policy=\"default\",node=\"w1\",phase=\"Halted\"} 1\n");
    has(&out, "slipway_node_blocked{policy=\"default\",node=\"w1\",code=\"OperationFailed\"} 1\n");
    has(&out, "blocked_start_timestamp_seconds{policy=\"default\",node=\"w1\","
              "code=\"OperationFailed\"} 1794729720\n");
    has(&out, "slipway_cache_objects{resource=\"nodes\"} 4\n");
    has(&out, "slipway_watch_restarts_total{resource=\"nodes\"} ");
    has(&out, "slipway_watch_restarts_total{resource=\"pods\"} 0\n");
    has(&out, "process_resident_memory_bytes ");
    assert_null(strstr(str_get(&out), "kured"));
    write_all(f, false, &out);
    has(&out, "\nslipway_leader 0\n");
}

/* Nobody holds a slot, and each waits for something else. */
static void what_clients_wait_for(void **state) {
#define WAITS(node, more)                                                                          \
    "{\\\"node\\\":\\\"" node                                                                      \
    "\\\",\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"fleetlock\\\","                          \
    "\\\"since\\\":\\\"2026-11-15T08:02:00Z\\\",\\\"asked\\\":\\\"2026-11-15T08:02:00Z\\\"" more   \
    "}"
#define SHUT(code)                                                                                 \
    ",\\\"wait\\\":{\\\"code\\\":\\\"" code                                                        \
    "\\\",\\\"object\\\":\\\"x\\\",\\\"message\\\":\\\"m\\\","                                     \
    "\\\"since\\\":\\\"2026-11-15T08:03:00Z\\\"}"
    static const char *const records[] = {
        "", SLOT("w0", "fleetlock", "drained",
                 ",\\\"drained\\\":\\\"2026-11-15T08:01:00Z\\\"" SHUT("QuorumAtRisk"))};
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->metrics = metrics_new(0);
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        _cleanup_free_ char *text = xasprintf(
            "{'metadata':{'name':'slipway-slots-default','labels':{'slipway.dev/slots':'default'}},"
            "'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":0,\\\"slots\\\":[%s],\\\"waiting\\\":"
            "[" WAITS("w1", SHUT("LastReplica")) "," WAITS("w2", "") "]}'}}",
            records[i]);
        if (i)
            site_patch(&f->s, "/api/v1/namespaces/default/configmaps/slipway-slots-default", text);
        else
            site_post(&f->s, "/api/v1/namespaces/default/configmaps", text);
        step(f);
        write_all(f, true, &out);
        has(&out, "slipway_node_blocked{policy=\"default\",node=\"w1\",code=\"LastReplica\"} 1\n");
        has(&out, "blocked_start_timestamp_seconds{policy=\"default\",node=\"w1\","
                  "code=\"LastReplica\"} 1794729780\n");
        has(&out, "slipway_node_phase{policy=\"default\",node=\"w1\",phase=\"Pending\"} 1\n");
        has(&out, "slipway_node_phase{policy=\"default\",node=\"w2\",phase=\"Queued\"} 1\n");
        if (i) {
            has(&out, "slipway_node_blocked{policy=\"default\",node=\"w0\",code=\"QuorumAtRisk\"}");
            has(&out, "slipway_blocked_nodes{policy=\"default\",code=\"MaxUnavailableReached\"} 2");
        } else {
            assert_null(strstr(str_get(&out), "MaxUnavailableReached"));
        }
    }
}

static void put(struct store *s, const char *text) {
    struct object *obj = object_new(store_kind(s));
    struct codec codec;
    codec_init(&codec, store_pool(s));
    assert_int_equal(codec_json(&codec, store_kind(s)->type, view_of(text), obj, NULL), 0);
    codec_done(&codec);
    assert_true(store_put(s, obj));
}

/* By whoever leads, as it has decided. */
static void what_gates_say(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->metrics = metrics_new(0);
    two_hold_and_one_waits(f);
    site_patch(&f->s, "/api/v1/nodes/w2",
               "{'metadata':{'annotations':{'slipway.dev/cordon':'{\\\"v\\\":99}'}}}");
    step(f);
    write_all(f, false, &out);
    assert_null(strstr(str_get(&out), "slipway_gate"));
    f->machines = store_new(&kind_vmi, f->s.client.pool);
    f->checks = (struct check_world){.nodes = f->cluster.nodes};
    f->checks.inputs[SOURCE_VMIS] = (struct check_input){.read = READ_DONE, .store = f->machines};
    put(f->machines,
        "{\"metadata\":{\"namespace\":\"x\",\"name\":\"vm\",\"resourceVersion\":\"1\"},\"spec\":{"
        "\"evictionStrategy\":\"LiveMigrate\"},\"status\":{\"nodeName\":\"w2\",\"phase\":"
        "\"Running\","
        "\"conditions\":[{\"type\":\"LiveMigratable\",\"status\":\"False\",\"message\":\"no\"}]}}");
    put(f->policy_store, /* the built-in one asks no checks */
        "{\"metadata\":{\"name\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"
        "\"spec\":{\"nodeSelector\":{},\"fleetlock\":{\"groups\":[\"default\"]}}}");
    policies_look(f->policies);
    policies_lead(f->policies, 1);
    step(f);
    write_all(f, true, &out);
#define STATUS(gate, value)                                                                        \
    "slipway_gate_status{policy=\"default\",node=\"w2\",by=\"fleetlock\",gate=\"" gate             \
    "\"} " value "\n"
    has(&out, STATUS("cordon", "0"));
    has(&out, STATUS("checks", "-1"));
    has(&out, STATUS("approval", "1"));
    assert_null(strstr(str_get(&out), "node=\"w1\",by=\"maintenance/m1\",gate")); /* told to go */
}

/* A family of one's own is never there twice: those who read it would refuse all of it. */
static void names_of_others(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->metrics = metrics_new(COMPAT_KURED | COMPAT_AIRLOCK | COMPAT_FLEETLOCK);
    two_hold_and_one_waits(f);
    step(f);
    write_all(f, true, &out);
    has(&out, "kured_reboot_required{node=\"w0\"} 1\n");
    has(&out, "kured_reboot_required{node=\"w2\"} 1\n");
    has(&out, "kured_reboot_required{node=\"w3\"} 0\n");
    has(&out, "\nairlock_config_groups 1\n");
    has(&out, "airlock_database_semaphore_lock_holders{group=\"default\"} 2\n");
    has(&out, "fleetlock_lock_state{group=\"default\"} 1\n");
}

/* Who shows in two ways that he is at work is there once; nodes that are gone are not. */
static void others_at_work(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    struct store *locks = store_new(&kind_kured_lock, f->s.client.pool);
    struct store *pods = store_new(&kind_pod, f->s.client.pool);
    f->metrics = metrics_new(0);
    f->rivals = (struct rival_signs){locks, pods};
    site_patch(&f->s, "/api/v1/nodes/w1",
               "{'metadata':{'annotations':{'weave.works/kured-reboot-in-progress':'now'}}}");
    step(f);
    put(locks, "{\"metadata\":{\"name\":\"k\",\"namespace\":\"a\",\"annotations\":{\"" KURED_LOCK
               "\":\"{\\\"locks\\\":[{\\\"nodeID\\\":\\\"w0\\\"},{\\\"nodeID\\\":\\\"w1\\\"},{"
               "\\\"nodeID\\\":\\\"w9\\\"}]}\"}}}");
    put(pods, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"labels\":{\"" RIVAL_POD_LABEL
              "\":\"x\"}},\"spec\":{\"nodeName\":\"w2\"},\"status\":{\"phase\":\"Running\"}}");
    put(pods, "{\"metadata\":{\"name\":\"q\",\"namespace\":\"a\",\"labels\":{\"" RIVAL_POD_LABEL
              "\":\"x\"}},\"status\":{\"phase\":\"Pending\"}}");
    write_all(f, true, &out);
    has(&out, "slipway_rival{node=\"w0\",rival=\"kured\"} 1\n");
    has(&out, "slipway_rival{node=\"w1\",rival=\"kured\"} 1\n");
    has(&out, "slipway_rival{node=\"w2\",rival=\"system-upgrade-controller\"} 1\n");
    size_t n = 0;
    for (const char *p = str_get(&out); (p = strstr(p, "slipway_rival{")); p++)
        n++;
    assert_int_equal(n, 3);
    f->rivals = (struct rival_signs){0};
    store_free(locks);
    store_free(pods);
}

static void rollout(struct fixture *f, const char *name, const char *phase) {
    _cleanup_free_ char *json =
        xasprintf("{'apiVersion':'slipway.dev/"
                  "v1alpha1','kind':'Rollout','metadata':{'name':'%s','uid':'u','resourceVersion':'"
                  "1','creationTimestamp':'2026-11-15T08:00:00Z'},'spec':{'operation':'Reboot'},"
                  "'status':{'phase':'%s','counts':{'total':4,'waiting':2,'current':1,'complete':1,"
                  "'failed':0}}}",
                  name, phase);
    for (char *p = json; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    struct codec codec;
    struct object *obj = NULL;
    codec_init(&codec, f->s.client.pool);
    assert_int_equal(kube_decode(&codec, &kind_rollout, KUBE_JSON, view_of(json), &obj, NULL), 0);
    codec_done(&codec);
    store_put(f->rollouts, obj);
}

static void rollouts(void **state) {
    struct fixture *f = *state;
    _cleanup_str_ struct str out = STR_INIT;
    f->metrics = metrics_new(0);
    step(f);
    rollout(f, "r1", "Progressing");
    rollout(f, "r2", "Complete");
    rollout(f, "r3", "Progressing");
    write_all(f, true, &out);
    has(&out, "slipway_rollouts{operation=\"Reboot\",phase=\"Progressing\"} 2\n");
    has(&out, "slipway_rollouts{operation=\"Reboot\",phase=\"Complete\"} 1\n");
    has(&out, "slipway_rollout_nodes{rollout=\"r1\",state=\"waiting\"} 2\n");
    has(&out, "slipway_rollout_start_timestamp_seconds{rollout=\"r1\"} 1794729600\n");
    assert_null(strstr(str_get(&out), "start_timestamp_seconds{rollout=\"r2\"}"));
    assert_null(strstr(str_get(&out), "rollout=\"r2\"")); /* it is over */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slots_and_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_clients_wait_for, setup, teardown),
        cmocka_unit_test_setup_teardown(what_gates_say, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(others_at_work, setup, teardown),
        cmocka_unit_test_setup_teardown(rollouts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
