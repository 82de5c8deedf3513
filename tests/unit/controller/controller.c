/* Tests of src/controller/controller.c: the whole of it, one or two replicas, against a simulated
 * cluster. */
#include "controller/controller.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/jsonw.h"
#include "engine/cordon.h"
#include "engine/keeper.h"
#include "model/own_crd.h"
#include "model/own_fields.h"

#define RECORD  "/api/v1/namespaces/default/configmaps/slipway-slots-default"
#define RECORDS "/api/v1/namespaces/default/configmaps?labelSelector=slipway.dev/slots"
#define LEASE   "/apis/coordination.k8s.io/v1/namespaces/default/leases/slipway-controller"

struct fixture {
    struct drain_site s;
    struct controller *c[2];
    unsigned stopped, replies;
    enum fleetlock_kind kind; /* of the last one */
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 3);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    controller_free(f->c[0]);
    controller_free(f->c[1]);
    drain_site_done(&f->s);
    free(f);
    return 0;
}

#define CONTROLLER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void on_reply(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status) {
    struct fixture *f = arg;
    (void)ticket, (void)status;
    f->kind = kind;
    f->replies++;
}

static void begin(struct fixture *f, unsigned i) {
    struct controller_opts opts = {.ns = "default",
                                   .identity = i ? "second" : "first",
                                   .ids = {.names = true},
                                   .reply = on_reply,
                                   .arg = f,
                                   .log = &f->s.log,
                                   .seed = 100 + i};
    assert_int_equal(controller_new(&f->s.client, &opts, &f->c[i], NULL), 0);
}

/* As if the process was killed. */
static void end(struct fixture *f, unsigned i) {
    controller_free(f->c[i]);
    f->c[i] = NULL;
}

static const json_t *read_now(struct fixture *f, const char *target) {
    pace_catch_up(f->s.pace);
    return sim_ask(&f->s.sim, 200, "GET", target, NULL);
}

/* "w0 drained": who holds slots; "" also when there is no record yet. Valid until the next
 * call. */
static const char *slots(struct fixture *f) {
    static char text[256];
    size_t at = 0, i;
    const json_t *one;
    _cleanup_json_ json_t *record =
        json_loads(sim_str(read_now(f, RECORDS), "items.0.data.slots"), 0, NULL);
    text[0] = '\0';
    json_array_foreach(json_object_get(record, "slots"), i, one) at +=
        (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", i ? ", " : "",
                         sim_str(one, "node"), sim_str(one, "state"));
    return text;
}

static int64_t fence(struct fixture *f) {
    _cleanup_json_ json_t *record =
        json_loads(sim_str(read_now(f, RECORDS), "items.0.data.slots"), 0, NULL);
    return sim_int(record, "fence");
}

/* Somebody has asked for w0: as a replica would have written it. */
static void ask_for_w0(struct fixture *f) {
    char now[TIMEFMT_LEN];
    time_format(loop_wall(f->s.loop), false, now);
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'name':'slipway-slots-default','labels':{'slipway.dev/slots':"
        "'default'}},'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":0,\\\"slots\\\":[],"
        "\\\"waiting\\\":[{\\\"node\\\":\\\"w0\\\",\\\"operation\\\":\\\"Reboot\\\","
        "\\\"by\\\":\\\"fleetlock\\\",\\\"since\\\":\\\"%s\\\",\\\"asked\\\":\\\"%s\\\"}]}'}}",
        now, now);
    site_post(&f->s, "/api/v1/namespaces/default/configmaps", json);
}

static bool is_cordoned(struct fixture *f, const char *node) {
    _cleanup_free_ char *target = xasprintf("/api/v1/nodes/%s", node);
    return json_is_true(sim_at(read_now(f, target), "spec.unschedulable"));
}

/* --- one --- */

static void it_leads_and_adopts_the_record(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    assert_string_equal(controller_fleetlock_address(f->c[0]), "");
    assert_string_equal(controller_http_address(f->c[0]), "");
    drain_site_pass(&f->s, SEC(10));
    assert_string_equal(sim_str(read_now(f, LEASE), "spec.holderIdentity"), "first");
    assert_string_equal(slots(f), "");
    assert_int_equal(fence(f), sim_int(read_now(f, LEASE), "spec.leaseTransitions"));
}

static void whoever_waits_gets_a_slot_and_is_drained(void **state) {
    struct fixture *f = *state;
    site_deployment(&f->s, "web", 3);
    drain_site_pass(&f->s, SEC(20));
    ask_for_w0(f);
    begin(f, 0);
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(slots(f), "w0 drained");
    assert_true(is_cordoned(f, "w0"));
    assert_int_equal(site_pods_on(&f->s, "w0"), 0);
    assert_false(is_cordoned(f, "w1"));
}

static void one_that_nobody_asks_for_is_put_back(void **state) {
    struct fixture *f = *state;
    ask_for_w0(f);
    begin(f, 0);
    drain_site_pass(&f->s, SEC(60));
    assert_string_equal(slots(f), "w0 drained");
    drain_site_pass(&f->s, SEC(2 * 3600));
    assert_string_equal(slots(f), "");
    assert_false(is_cordoned(f, "w0"));
}

static bool has_event(struct fixture *f, const char *node, const char *reason) {
    size_t i;
    const json_t *one;
    json_array_foreach(sim_at(read_now(f, "/api/v1/namespaces/default/events"), "items"), i, one) {
        if (streq(sim_str(one, "involvedObject.name"), node) &&
            streq(sim_str(one, "reason"), reason))
            return true;
    }
    return false;
}

/* Somebody else has not waited. */
static void one_that_reboots_before_it_was_told(void **state) {
    struct fixture *f = *state;
    ask_for_w0(f);
    begin(f, 0);
    drain_site_pass(&f->s, SEC(60));
    assert_string_equal(slots(f), "w0 drained");
    assert_true(has_event(f, "w0", "SlotTaken"));
    assert_false(has_event(f, "w0", "RebootedByOthers"));
    site_patch(&f->s, "/api/v1/nodes/w0/status", "{'status':{'nodeInfo':{'bootID':'another'}}}");
    site_patch(&f->s, "/api/v1/nodes/w1/status", "{'status':{'nodeInfo':{'bootID':'another'}}}");
    drain_site_pass(&f->s, SEC(30));
    assert_true(has_event(f, "w0", "RebootedByOthers"));
    assert_false(has_event(f, "w1", "RebootedByOthers")); /* nobody holds it */
    assert_string_equal(slots(f), "");
}

/* What another manager had begun: it is drained to the end, and put back when it is not asked for.
 */
static void a_node_that_the_seed_was_rebooting_is_taken_over(void **state) {
    struct fixture *f = *state;
    site_patch(&f->s, "/api/v1/nodes/w1",
               "{'metadata':{'annotations':{'rebootmanager/status':'Rebooting'}},"
               "'spec':{'unschedulable':true}}");
    begin(f, 0);
    drain_site_pass(&f->s, SEC(60));
    assert_string_equal(slots(f), "w1 drained");
    const json_t *node = read_now(f, "/api/v1/nodes/w1");
    const char *record =
        json_string_value(json_object_get(sim_at(node, "metadata.annotations"), CORDON_ANNOTATION));
    assert_non_null(record);
    assert_non_null(strstr(record, "slot:default/default:"));
}

/* --- two --- */

static void only_one_of_two_leads(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    begin(f, 1);
    drain_site_pass(&f->s, SEC(60));
    const char *holder = sim_str(read_now(f, LEASE), "spec.holderIdentity");
    assert_true(streq(holder, "first") || streq(holder, "second"));
    assert_int_equal(fence(f), sim_int(read_now(f, LEASE), "spec.leaseTransitions"));
}

static void the_second_goes_on_when_the_first_is_killed(void **state) {
    struct fixture *f = *state;
    ask_for_w0(f);
    begin(f, 0);
    drain_site_pass(&f->s, MSEC(200)); /* in the middle of something */
    begin(f, 1);
    end(f, 0);
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(sim_str(read_now(f, LEASE), "spec.holderIdentity"), "second");
    assert_string_equal(slots(f), "w0 drained");
    assert_true(is_cordoned(f, "w0"));
}

static void on_stopped(void *arg) {
    ((struct fixture *)arg)->stopped++;
}

static void one_that_stops_hands_over_at_once(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    drain_site_pass(&f->s, SEC(10));
    int64_t before = fence(f);
    begin(f, 1);
    drain_site_pass(&f->s, SEC(10));
    controller_stop(f->c[0], on_stopped, f);
    drain_site_pass(&f->s, SEC(5)); /* less than the Lease would last */
    assert_int_equal(f->stopped, 1);
    end(f, 0);
    assert_string_equal(sim_str(read_now(f, LEASE), "spec.holderIdentity"), "second");
    drain_site_pass(&f->s, SEC(1));
    assert_true(fence(f) > before);
}

/* The Lease counts anew when it was deleted: whoever leads then does so in a later term than all
 * before it. */
static void a_lease_that_is_deleted_stops_nobody_for_good(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 3; i++) { /* a few terms */
        begin(f, i % 2);
        drain_site_pass(&f->s, SEC(40));
        end(f, i % 2);
    }
    int64_t before = fence(f);
    assert_true(before > 0);
    pace_catch_up(f->s.pace);
    sim_ask(&f->s.sim, 200, "DELETE", LEASE, NULL);
    begin(f, 0);
    drain_site_pass(&f->s, SEC(60));
    assert_true(fence(f) > before);
    site_patch(&f->s, RECORD, "{'metadata':{'annotations':{'a':'b'}}}");
    drain_site_pass(&f->s, SEC(5));
    assert_string_equal(slots(f), "");
}

/* --- trouble --- */

static void a_listener_that_cannot_be_had_is_an_error(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct controller_opts opts = {.ns = "default", .identity = "first", .log = &f->s.log};
    struct controller *c = NULL;
    opts.fleetlock = "127.0.0.1:0"; /* nobody listens on a virtual loop */
    assert_int_equal(controller_new(&f->s.client, &opts, &c, &err), -ENOTSUP);
    assert_null(c);
    opts.fleetlock = NULL;
    opts.http = "127.0.0.1:0";
    assert_int_equal(controller_new(&f->s.client, &opts, &c, &err), -ENOTSUP);
    assert_null(c);
    opts.http = NULL;
    opts.identity = "";
    assert_int_equal(controller_new(&f->s.client, &opts, &c, &err), -EINVAL);
    assert_null(c);
}

static void a_server_that_is_away_for_a_while(void **state) {
    struct fixture *f = *state;
    ask_for_w0(f);
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE});
    begin(f, 0);
    drain_site_pass(&f->s, SEC(120));
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(slots(f), "w0 drained");
}

/* All else can be read and written: only what nodes do is not to be seen. */
static void nobody_gets_a_slot_while_nodes_cannot_be_watched(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    drain_site_pass(&f->s, SEC(10));
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE,
                                                         .path = "/api/v1/nodes?",
                                                         .lanes = 1 << KUBE_LANE_WATCH});
    drain_site_pass(&f->s, SEC(700)); /* longer than a watch lasts */
    controller_ask(f->c[0], &(struct fleetlock_question){.ticket = 1,
                                                         .api = FLEETLOCK_PRE_REBOOT,
                                                         .node = "w0",
                                                         .group = "default",
                                                         .id = "w0",
                                                         .peer = "192.0.2.1:4711"});
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(f->replies, 1);
    assert_int_equal(f->kind, FLEETLOCK_UNAVAILABLE);
    assert_string_equal(slots(f), "");
    assert_false(is_cordoned(f, "w0"));
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(slots(f), "w0 drained");
}

static void add_kinds(struct fixture *f) {
    pace_catch_up(f->s.pace);
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        sim_ask(&f->s.sim, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                str_get(&json));
    }
    drain_site_pass(&f->s, MSEC(500)); /* until they are served */
}

static void add_definitions(struct fixture *f) {
    add_kinds(f);
    drain_site_pass(&f->s, SEC(5));
}

static void ask_to_go(struct fixture *f, uint64_t ticket) {
    controller_ask(f->c[0], &(struct fleetlock_question){.ticket = ticket,
                                                         .api = FLEETLOCK_PRE_REBOOT,
                                                         .node = "w0",
                                                         .group = "default",
                                                         .id = "w0",
                                                         .peer = "192.0.2.1:4711"});
}

#define NOBODY_GOES                                                                                \
    "{'apiVersion':'slipway.dev/v1alpha1','kind':'Policy','metadata':{'name':'default'},"          \
    "'spec':{'nodeSelector':{},'maxUnavailable':0,'fleetlock':{'groups':['workers']}}}"

/* The watch of their kind was refused for so long that it pauses for half a minute: the built-in
 * policy does not act meanwhile, and whoever asks makes it known that it is there. */
static void a_policy_that_comes_with_its_kind_holds_at_once(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    drain_site_pass(&f->s, SEC(200));
    add_kinds(f);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/policies", NOBODY_GOES);
    ask_to_go(f, 1);
    drain_site_pass(&f->s, SEC(1));
    assert_int_equal(f->replies, 1);
    drain_site_pass(&f->s, SEC(2));
    assert_string_equal(slots(f), "");
    assert_false(is_cordoned(f, "w0"));
    const json_t *policy = read_now(f, "/apis/slipway.dev/v1alpha1/policies/default");
    assert_non_null(strstr(sim_str(policy, "metadata.finalizers.0"), "slipway.dev/policy"));
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(slots(f), "");
}

/* Without one the built-in policy goes on, with the kinds and without. */
static void without_a_policy_the_first_one_goes(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    drain_site_pass(&f->s, SEC(200));
    add_kinds(f);
    ask_to_go(f, 1);
    drain_site_pass(&f->s, SEC(5));
    assert_int_equal(f->replies, 1);
    assert_non_null(strstr(slots(f), "w0 "));
}

/* Of a Maintenance nobody knows whose slot it takes before the Policies were read, and a Rollout
 * makes none. */
static void a_maintenance_waits_for_the_policies(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    drain_site_pass(&f->s, SEC(200));
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                                         .code = 404,
                                                         .path = "v1alpha1/policies"});
    add_kinds(f);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/policies", NOBODY_GOES);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/maintenances",
              "{'apiVersion':'slipway.dev/v1alpha1','kind':'Maintenance','metadata':{'name':'m'},"
              "'spec':{'node':'w0','operation':'Drain'}}");
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/rollouts",
              "{'apiVersion':'slipway.dev/v1alpha1','kind':'Rollout','metadata':{'name':'r'},"
              "'spec':{'nodes':['w1'],'operation':'Reboot','executor':{'sim':{}}}}");
    drain_site_pass(&f->s, SEC(120));
    const json_t *r = read_now(f, "/apis/slipway.dev/v1alpha1/rollouts/r");
    assert_string_equal(sim_str(r, "status.phase"), "");
    assert_string_equal(slots(f), "");
    assert_false(is_cordoned(f, "w0"));
    const json_t *m = read_now(f, "/apis/slipway.dev/v1alpha1/maintenances/m");
    assert_string_equal(sim_str(m, "status.blocker.code"), "PolicyUnclear");
    assert_non_null(strstr(sim_str(m, "status.blocker.message"), "have not been read yet"));
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_string_equal(slots(f), "");
    r = read_now(f, "/apis/slipway.dev/v1alpha1/rollouts/r");
    assert_string_not_equal(sim_str(r, "status.phase"), "");
    m = read_now(f, "/apis/slipway.dev/v1alpha1/maintenances/m");
    assert_string_equal(sim_str(m, "status.blocker.code"), "MaxUnavailableReached");
}

/* "Pending ExecutorRefused": of a Maintenance. Valid until the next call. */
static const char *standing_of(struct fixture *f, const char *name) {
    static char text[128];
    _cleanup_free_ char *target = xasprintf("/apis/slipway.dev/v1alpha1/maintenances/%s", name);
    const json_t *m = read_now(f, target);
    (void)snprintf(text, sizeof text, "%s %s", sim_str(m, "status.phase"),
                   sim_str(m, "status.blocker.code"));
    return text;
}

static void make_maintenance(struct fixture *f, const char *name, const char *node,
                             const char *rest) {
    _cleanup_free_ char *json =
        xasprintf("{'apiVersion':'slipway.dev/v1alpha1','kind':'Maintenance','metadata':{'name':"
                  "'%s'},'spec':{'node':'%s',%s}}",
                  name, node, rest);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/maintenances", json);
}

/* This server does not look at expressions. */
static void what_nobody_could_carry_out_is_not_begun(void **state) {
    struct fixture *f = *state;
    add_definitions(f);
    site_patch(&f->s, "/api/v1/nodes/w1",
               "{'metadata':{'annotations':{'sim.slipway.dev/machine':null}}}");
    begin(f, 0);
    make_maintenance(f, "a", "w0", "'operation':'Reboot'");
    make_maintenance(f, "b", "w1", "'operation':'Reboot','executor':{'sim':{}}");
    drain_site_pass(&f->s, SEC(60));
    assert_string_equal(slots(f), "");
    assert_string_equal(standing_of(f, "a"), "Pending ExecutorRefused");
    assert_string_equal(standing_of(f, "b"), "Pending ExecutorRefused");
    assert_false(is_cordoned(f, "w0"));
    make_maintenance(f, "c", "w2", "'operation':'Drain'");
    drain_site_pass(&f->s, SEC(60));
    assert_true(is_cordoned(f, "w2"));
    assert_false(is_cordoned(f, "w1"));
}

/* The keeper that was asked is replaced with each change: the next one has only what is left of the
 * second. */
static void whoever_asks_waits_no_longer_when_the_policy_is_edited(void **state) {
    struct fixture *f = *state;
    add_definitions(f);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/policies",
              "{'apiVersion':'slipway.dev/v1alpha1','kind':'Policy','metadata':{'name':'default'},"
              "'spec':{'nodeSelector':{},'maxUnavailable':1,'fleetlock':{'groups':['default'],"
              "'ids':{'nodeNames':true}}}}");
    begin(f, 0);
    drain_site_pass(&f->s, SEC(20));
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_STALL,
                                                         .method = "GET",
                                                         .path = "configmaps/"});
    controller_ask(f->c[0], &(struct fleetlock_question){.ticket = 1,
                                                         .api = FLEETLOCK_STEADY_STATE,
                                                         .node = "w0",
                                                         .group = "default",
                                                         .id = "w0",
                                                         .peer = "192.0.2.1:4711"});
    for (int max = 2; max < 5; max++) {
        char spec[64];
        (void)snprintf(spec, sizeof spec, "{\"spec\":{\"maxUnavailable\":%d}}", max);
        assert_int_equal(f->replies, 0);
        drain_site_pass(&f->s, MSEC(300));
        sim_ask(&f->s.sim, 200, "PATCH", "/apis/slipway.dev/v1alpha1/policies/default", spec);
    }
    drain_site_pass(&f->s, MSEC(100));
    assert_int_equal(f->replies, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CONTROLLER_TEST(it_leads_and_adopts_the_record),
        CONTROLLER_TEST(whoever_waits_gets_a_slot_and_is_drained),
        CONTROLLER_TEST(one_that_nobody_asks_for_is_put_back),
        CONTROLLER_TEST(one_that_reboots_before_it_was_told),
        CONTROLLER_TEST(a_node_that_the_seed_was_rebooting_is_taken_over),
        CONTROLLER_TEST(only_one_of_two_leads),
        CONTROLLER_TEST(the_second_goes_on_when_the_first_is_killed),
        CONTROLLER_TEST(one_that_stops_hands_over_at_once),
        CONTROLLER_TEST(a_lease_that_is_deleted_stops_nobody_for_good),
        CONTROLLER_TEST(a_listener_that_cannot_be_had_is_an_error),
        CONTROLLER_TEST(a_server_that_is_away_for_a_while),
        CONTROLLER_TEST(nobody_gets_a_slot_while_nodes_cannot_be_watched),
        CONTROLLER_TEST(a_policy_that_comes_with_its_kind_holds_at_once),
        CONTROLLER_TEST(without_a_policy_the_first_one_goes),
        CONTROLLER_TEST(a_maintenance_waits_for_the_policies),
        CONTROLLER_TEST(what_nobody_could_carry_out_is_not_begun),
        CONTROLLER_TEST(whoever_asks_waits_no_longer_when_the_policy_is_edited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
