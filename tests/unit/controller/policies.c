/* Tests of src/controller/policies.c: which policies there are, and what is kept for each. */
#include "controller/policies.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "engine/stop.h"

#include "support/policy_world.h"

static int setup(void **state) {
    struct policy_world *w = xnew(struct policy_world);
    pw_init(w);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    pw_done(*state);
    free(*state);
    return 0;
}

#define POLICIES_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#define ONE_SLOT PW_SLOT("w1", "fleetlock", "taken")

/* "a b!": their names, those with a problem marked. Valid until the next call. */
static const char *names(const struct policy_world *f) {
    static char text[128];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < policies_len(f->p); i++) {
        const struct policy_kept *k = policies_at(f->p, i);
        assert_int_equal(k->problem == NULL, k->keeper != NULL);
        assert_int_equal(k->problem == NULL, k->rules != NULL);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", i ? " " : "", k->name,
                               k->problem ? "!" : "");
    }
    return text;
}

static size_t policies_of(struct policy_world *f, const char *pool, const char **first) {
    _cleanup_free_ char *name = xasprintf("n-%s", pool);
    pw_node(f, name, pool);
    const struct policy_kept *k;
    size_t n = policies_find(f->p, cluster_node(&f->cluster, name), &k);
    *first = k ? k->name : "";
    return n;
}

static void without_any_there_is_the_built_in_one(void **state) {
    struct policy_world *f = *state;
    const char *first;
    policies_look(f->p);
    policies_look(f->p);
    assert_string_equal(names(f), "default");
    assert_true(policies_at(f->p, 0)->rules->builtin);
    assert_int_equal(policies_of(f, "x", &first), 1);
    assert_string_equal(first, "default");
    pw_policy(f, "b", 1, "b");
    policies_look(f->p);
    assert_string_equal(names(f), "b"); /* whoever writes one means what it says */
    assert_int_equal(f->replaced, 1);
    store_remove(f->policies, NULL, "b", "1000");
    policies_look(f->p);
    assert_string_equal(names(f), "default");
}

static void one_that_has_not_changed_keeps_its_keeper(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "b", 1, "b");
    pw_policy(f, "a", 1, "a");
    policies_look(f->p);
    assert_string_equal(names(f), "a b");
    const struct keeper *a = policies_at(f->p, 0)->keeper, *b = policies_at(f->p, 1)->keeper;
    pw_policy(f, "a", 1, "a"); /* its status was written */
    policies_look(f->p);
    assert_ptr_equal(policies_at(f->p, 0)->keeper, a);
    assert_int_equal(f->replaced, 0);
    pw_policy(f, "a", 2, "c");
    policies_look(f->p);
    assert_int_equal(f->replaced, 1);
    assert_ptr_equal(policies_at(f->p, 1)->keeper, b);
    const char *first;
    assert_int_equal(policies_of(f, "c", &first), 1);
    assert_string_equal(first, "a");
    assert_int_equal(policies_of(f, "a", &first), 0);
}

static void a_node_of_several(void **state) {
    struct policy_world *f = *state;
    const char *first;
    pw_policy(f, "b", 1, "x");
    pw_policy(f, "a", 1, "x");
    policies_look(f->p);
    assert_null(policies_shared(f->p, policies_at(f->p, 0)));
    assert_int_equal(policies_of(f, "x", &first), 2);
    assert_string_equal(first, "a");
    static const char *const more[] = {"w3", "w2", "w1"};
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        pw_node(f, more[i], "x");
    pw_node(f, "w4", "y");
    _cleanup_free_ char *a = policies_shared(f->p, policies_at(f->p, 0)),
                        *b = policies_shared(f->p, policies_at(f->p, 1));
    assert_string_equal(a,
                        "policy b has nodes of it, too, and nobody decides for them: n-x, w1, w2 "
                        "and 1 more");
    assert_true(str_starts(b, "policy a has nodes of it, too"));
}

static void one_that_cannot_be_used_has_a_problem(void **state) {
    struct policy_world *f = *state;
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'u','generation':1},'spec':{'nodeSelector':{},"
           "'maxUnavailable':'many'}}");
    policies_look(f->p);
    assert_string_equal(names(f), "a!");
    assert_non_null(strstr(policies_at(f->p, 0)->problem, "spec.maxUnavailable"));
    policies_lead(f->p, 3);
    policies_follow(f->p);
    pw_policy(f, "a", 2, "a");
    policies_look(f->p);
    assert_string_equal(names(f), "a");
}

/* No other policy decides for a node that one has which cannot be used; where its selector cannot
 * be read, for no node at all. */
static void one_that_cannot_be_used_keeps_its_nodes(void **state) {
    struct policy_world *f = *state;
    const char *first;
    pw_policy(f, "b", 1, "b");
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'u','generation':1},'spec':{'nodeSelector':"
           "{'matchLabels':{'pool':'c'}},'maxUnavailable':'many'}}");
    policies_look(f->p);
    assert_int_equal(policies_of(f, "c", &first), 0);
    assert_string_equal(policies_unusable(f->p, cluster_node(&f->cluster, "n-c"))->name, "a");
    assert_int_equal(policies_of(f, "b", &first), 1);
    assert_null(policies_unusable(f->p, cluster_node(&f->cluster, "n-b")));
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'u','generation':3},'spec':{'nodeSelector':"
           "{'matchExpressions':[{'key':'pool','operator':'NotIn','values':['a b']}]},"
           "'maxUnavailable':0}}");
    policies_look(f->p);
    assert_string_equal(names(f), "a! b");
    assert_string_equal(policies_at(f->p, 0)->problem,
                        "spec.nodeSelector must be a label selector with valid keys and values");
    assert_int_equal(policies_of(f, "b", &first), 0);
    assert_string_equal(policies_unusable(f->p, cluster_node(&f->cluster, "n-b"))->name, "a");
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'u','generation':2},'unread':'number out of range'}");
    policies_look(f->p);
    assert_string_equal(names(f), "a! b");
    assert_string_equal(policies_at(f->p, 0)->problem, "number out of range");
    assert_int_equal(policies_of(f, "b", &first), 0);
    assert_string_equal(policies_unusable(f->p, cluster_node(&f->cluster, "n-b"))->name, "a");
}

/* Nobody gets a slot of one that could vanish, with it the finalizer that comes too late. */
static void one_that_could_vanish(void **state) {
    struct policy_world *f = *state;
    policies_look(f->p);
    assert_null(policies_unguarded(f->p, policies_at(f->p, 0)->keeper)); /* the built-in one */
    pw_policy(f, "a", 1, "a");
    policies_look(f->p);
    const struct keeper *k = policies_at(f->p, 0)->keeper;
    assert_non_null(policies_unguarded(f->p, k));
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'uid-a','generation':1,'finalizers':["
           "'slipway.dev/policy']},'spec':{'nodeSelector':{'matchLabels':{'pool':'a'}}}}");
    policies_look(f->p);
    assert_ptr_equal(policies_at(f->p, 0)->keeper, k);
    assert_null(policies_unguarded(f->p, k));
}

static const char *idle(const struct policy_world *f) {
    return policies_idle(f->p, policies_at(f->p, 0));
}

static void one_that_gives_no_slots(void **state) {
    struct policy_world *f = *state;
    static const char guarded[] =
        "{'metadata':{'name':'a','uid':'uid-a','generation':%d,'finalizers':["
        "'slipway.dev/policy']},'spec':{'nodeSelector':{},'maxUnavailable':'%s'}}";
    pw_step(f);
    assert_null(idle(f)); /* the built-in one */
    pw_policy(f, "a", 1, "a");
    pw_step(f);
    assert_non_null(strstr(idle(f), "has no finalizer yet"));
    policies_finalizer_refused(f->p, "a", "no");
    assert_non_null(strstr(idle(f), "cannot be written: no"));
    policies_finalizer_refused(f->p, "b", "there is none of that name");
    pw_put(f, f->policies, guarded, 2, "50%");
    pw_step(f);
    assert_null(idle(f));
    pw_record(f, "a", "garbage");
    pw_step(f);
    assert_non_null(idle(f));
    pw_record(f, "a", PW_NO_SLOT);
    pw_step(f);
    assert_null(idle(f));
    pw_put(f, f->policies, guarded, 3, "many");
    pw_step(f);
    assert_non_null(strstr(idle(f), "spec.maxUnavailable"));
}

/* Nobody mends one that is being deleted: who holds its slots gives them back, and it goes. */
static void one_that_cannot_be_used_may_be_deleted(void **state) {
    struct policy_world *f = *state;
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'u','generation':1,'finalizers':['slipway.dev/policy'],"
           "'deletionTimestamp':'2026-11-15T07:00:00Z'},'spec':{'nodeSelector':{},"
           "'maxUnavailable':'many'}}");
    pw_record(f, "a", ONE_SLOT);
    pw_step(f);
    assert_string_equal(names(f), "a");
    assert_string_equal(policies_slot(f->p, "w1")->by, "fleetlock");
    assert_int_equal(keeper_limit(policies_at(f->p, 0)->keeper), 0);
}

/* Its slots are seen to until nobody holds one; nobody gets one, and no node is of it. */
static void what_is_left_of_one_that_is_gone(void **state) {
    struct policy_world *f = *state;
    const char *first;
    pw_policy(f, "a", 1, "a");
    pw_record(f, "a", PW_NO_SLOT);
    pw_record(f, "old", ONE_SLOT);
    pw_record(f, "older", PW_NO_SLOT);
    policies_look(f->p);
    assert_string_equal(names(f), "a old");
    assert_true(policies_at(f->p, 1)->rules->ends);
    assert_int_equal(keeper_limit(policies_at(f->p, 1)->keeper), 0);
    assert_int_equal(policies_of(f, "a", &first), 1);
    pw_record(
        f, "old",
        "{\\\"v\\\":1,\\\"fence\\\":1,\\\"slots\\\":[],\\\"waiting\\\":[{\\\"node\\\":\\\"w1\\\","
        "\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"fleetlock\\\"}]}");
    policies_look(f->p);
    assert_string_equal(names(f), "a old"); /* until they are told that nobody gets one */
    pw_record(f, "old", PW_NO_SLOT);
    policies_look(f->p);
    assert_string_equal(names(f), "a");
}

/* The stop of everything has the label of records, too. */
static void the_stop_is_no_policy(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    pw_put(f, f->maps,
           "{'metadata':{'namespace':'" KW_NS "','name':'" STOP_MAP "','labels':{'" SLOTS_LABEL
           "':''}},'data':{'" STOP_KEY "':'?'}}");
    policies_look(f->p);
    assert_string_equal(names(f), "a");
}

static void all_of_them_lead_or_none(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    policies_look(f->p);
    assert_null(keeper_drain(policies_at(f->p, 0)->keeper));
    policies_lead(f->p, 3);
    pw_policy(f, "b", 1, "b"); /* also one that comes later */
    policies_look(f->p);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(keeper_drain(policies_at(f->p, i)->keeper));
    policies_follow(f->p);
    for (size_t i = 0; i < 2; i++)
        assert_null(keeper_drain(policies_at(f->p, i)->keeper));
}

/* --- whose a node and a maintenance are --- */

static void who_holds_a_slot(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    pw_policy(f, "b", 1, "b");
    pw_record(f, "b", ONE_SLOT);
    policies_look(f->p);
    assert_null(policies_slot(f->p, "w1")); /* no record was looked at yet */
    assert_false(policies_slots_known(f->p));
    pw_step(f);
    assert_false(policies_slots_known(f->p)); /* that of a is being read */
    pw_record(f, "a", "");
    pw_step(f);
    assert_true(policies_slots_known(f->p));
    assert_string_equal(policies_slot(f->p, "w1")->by, "fleetlock");
    assert_null(policies_slot(f->p, "w2"));
    /* No policy has it, and still it is heard; and when another one has it, by the same. */
    assert_string_equal(policies_asked(f->p, "w1")->name, "b");
    assert_null(policies_asked(f->p, "w2"));
    pw_node(f, "w1", "a");
    pw_node(f, "w2", "a");
    assert_string_equal(policies_asked(f->p, "w1")->name, "b");
    assert_string_equal(policies_asked(f->p, "w2")->name, "a");
}

static const struct maintenance *maintenance(struct policy_world *f, const char *node,
                                             const char *policy) {
    pw_put(f, f->maintenances,
           "{'metadata':{'name':'m1','uid':'um1'},'spec':{'node':'%s','operation':'Reboot'%s%s%s}}",
           node, *policy ? ",'policy':'" : "", policy, *policy ? "'" : "");
    return (const struct maintenance *)store_get(f->maintenances, NULL, "m1");
}

/* The name of the policy that sees to it; "" when none does. */
static const char *owner(const struct policy_world *f, const struct maintenance *m) {
    const char *found = "";
    for (size_t i = 0; i < policies_len(f->p); i++) {
        const struct policy_kept *k = policies_at(f->p, i);
        if (!k->keeper || !policies_owns(f->p, k->keeper, m))
            continue;
        assert_string_equal(found, ""); /* never two */
        found = k->name;
    }
    return found;
}

static void the_policy_of_its_node_sees_to_a_maintenance(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    pw_policy(f, "b", 1, "b");
    pw_node(f, "w1", "b");
    policies_look(f->p);
    const struct maintenance *m = maintenance(f, "w1", "");
    assert_string_equal(owner(f, m), "b");
    assert_null(policies_unclear(f->p, m));
    assert_null(policies_unclear(f->p, maintenance(f, "w1", "b")));
    assert_string_equal(policies_unclear(f->p, maintenance(f, "w1", "a")),
                        "another policy than its own has its node");
    assert_string_equal(policies_unclear(f->p, maintenance(f, "w1", "c")),
                        "there is no such Policy as its spec.policy names");
}

static void the_one_with_its_slot_sees_to_it_to_the_end(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    pw_policy(f, "b", 1, "b");
    pw_node(f, "w1", "a"); /* it was b's before */
    pw_record(f, "b", PW_SLOT("w1", "maintenance/m1", "taken"));
    pw_step(f);
    assert_string_equal(owner(f, maintenance(f, "w1", "")), "b");
}

/* Of a node without exactly one policy the first one says so, once it is known that nobody has a
 * slot for it. */
static void one_speaks_for_those_that_nobody_has(void **state) {
    static const char *const nodes[] = {"none", "gone", "both"};
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "x");
    pw_policy(f, "b", 1, "x");
    pw_node(f, "both", "x");
    pw_node(f, "none", "y");
    policies_look(f->p);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        assert_string_equal(owner(f, maintenance(f, nodes[i], "")), "");
    pw_record(f, "a", PW_NO_SLOT);
    pw_record(f, "b", PW_NO_SLOT);
    pw_step(f);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        assert_string_equal(owner(f, maintenance(f, nodes[i], "")), "a");
    assert_string_equal(policies_unclear(f->p, maintenance(f, "both", "")),
                        "more than one policy has its node");
    assert_string_equal(policies_unclear(f->p, maintenance(f, "none", "")),
                        "no policy has its node");
    assert_null(policies_unclear(f->p, maintenance(f, "gone", "")));
}

/* What the log has got. */
static char *logged(const struct policy_world *f) {
    char text[4096];
    ssize_t n = pread(f->log.fd, text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return xstrdup(text);
}

static void step(struct policy_world *f) {
    struct actions out = ACTIONS_INIT;
    policies_look(f->p);
    keeper_poke(policies_at(f->p, 0)->keeper, NULL, NULL, NULL);
    keeper_step(policies_at(f->p, 0)->keeper, (struct now){SEC(1000), SEC(1000)}, &out);
    policies_say(f->p);
    policies_say(f->p); /* once is enough */
    actions_done(&out);
}

static void a_record_that_cannot_be_read_is_said(void **state) {
    struct policy_world *f = *state;
    f->log = (struct log){.level = LOG_INFO, .fd = memfd_create("log", 0)};
    pw_policy(f, "a", 1, "a");
    pw_record(f, "a", "{\\\"v\\\":99}");
    step(f);
    _cleanup_free_ char *first = logged(f);
    const char *said = strstr(first, "policy a: its record of slots (ConfigMap slipway-slots-a) "
                                     "cannot be read: ");
    assert_non_null(said);
    assert_null(strstr(said + 1, "policy a: its record"));
    pw_record(f, "a", PW_NO_SLOT);
    step(f);
    _cleanup_free_ char *second = logged(f);
    assert_non_null(strstr(second, "policy a: its record of slots can be read again"));
    close(f->log.fd);
}

static void that_one_is_in_force_is_said_when_it_is(void **state) {
    struct policy_world *f = *state;
    f->log = (struct log){.level = LOG_INFO, .fd = memfd_create("log", 0)};
    pw_policy(f, "a", 1, "a");
    policies_look(f->p);
    _cleanup_free_ char *first = logged(f);
    assert_null(strstr(first, "policy a: is in force"));
    assert_non_null(strstr(first, "policy a: is read, and in force when its finalizer"));
    pw_put(f, f->policies,
           "{'metadata':{'name':'a','uid':'uid-a','generation':1,'finalizers':["
           "'slipway.dev/policy']},'spec':{'nodeSelector':{'matchLabels':{'pool':'a'}}}}");
    policies_look(f->p);
    policies_look(f->p);
    _cleanup_free_ char *second = logged(f);
    const char *said = strstr(second, "policy a: is in force");
    assert_non_null(said);
    assert_null(strstr(said + 1, "policy a: is in force"));
    close(f->log.fd);
}

/* A replica is of use as long as it can serve one of them. */
static void one_record_that_cannot_be_read_is_not_all(void **state) {
    struct policy_world *f = *state;
    pw_policy(f, "a", 1, "a");
    pw_policy(f, "b", 1, "b");
    pw_put(f, f->policies, "{'metadata':{'name':'c','uid':'u'},'spec':{'maxUnavailable':'many'}}");
    pw_step(f);
    assert_string_equal(names(f), "a b c!");
    assert_null(policies_refused(f->p));
    pw_record(f, "b", "garbage");
    pw_step(f);
    _cleanup_free_ char *b = policies_refusal(policies_at(f->p, 1)), *none = policies_refused(f->p);
    assert_true(str_starts(b, "nobody gets a slot of policy b: its record cannot be read: "));
    assert_null(policies_refusal(policies_at(f->p, 0)));
    assert_null(policies_refusal(policies_at(f->p, 2)));
    assert_null(none);
    pw_record(f, "a", "garbage");
    pw_step(f);
    _cleanup_free_ char *all = policies_refused(f->p);
    assert_true(str_starts(all, "nobody gets a slot of policy a: "));
}

/* The same of one that the server does not let be written. */
static void one_record_that_cannot_be_written(void **state) {
    struct policy_world *f = *state;
    struct actions out = ACTIONS_INIT;
    policies_lead(f->p, 1);
    policies_look(f->p);
    struct keeper *k = policies_at(f->p, 0)->keeper;
    const struct answer none = {.outcome = KUBE_NOT_FOUND, .message = "none"},
                        no = {.outcome = KUBE_FORBIDDEN, .message = "you may not"};
    for (int i = 0; i < 20 && !keeper_refused(k); i++) {
        actions_reset(&out);
        keeper_step(k, f->now, &out);
        for (size_t j = 0; j < out.list.len; j++)
            keeper_answer(k, out.list.p[j].id, out.list.p[j].verb == ACTION_READ ? &none : &no,
                          f->now);
        f->now.mono += SEC(1);
    }
    _cleanup_free_ char *all = policies_refused(f->p);
    assert_non_null(all);
    assert_non_null(strstr(all, "nobody gets a slot of policy default: the ConfigMap " KW_NS
                                "/slipway-slots-default cannot be written: you may not"));
    actions_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        POLICIES_TEST(without_any_there_is_the_built_in_one),
        POLICIES_TEST(one_that_has_not_changed_keeps_its_keeper),
        POLICIES_TEST(a_node_of_several),
        POLICIES_TEST(one_that_cannot_be_used_has_a_problem),
        POLICIES_TEST(one_that_cannot_be_used_keeps_its_nodes),
        POLICIES_TEST(one_that_could_vanish),
        POLICIES_TEST(one_that_gives_no_slots),
        POLICIES_TEST(one_that_cannot_be_used_may_be_deleted),
        POLICIES_TEST(what_is_left_of_one_that_is_gone),
        POLICIES_TEST(the_stop_is_no_policy),
        POLICIES_TEST(all_of_them_lead_or_none),
        POLICIES_TEST(who_holds_a_slot),
        POLICIES_TEST(the_policy_of_its_node_sees_to_a_maintenance),
        POLICIES_TEST(the_one_with_its_slot_sees_to_it_to_the_end),
        POLICIES_TEST(one_speaks_for_those_that_nobody_has),
        POLICIES_TEST(a_record_that_cannot_be_read_is_said),
        POLICIES_TEST(that_one_is_in_force_is_said_when_it_is),
        POLICIES_TEST(one_record_that_cannot_be_read_is_not_all),
        POLICIES_TEST(one_record_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
