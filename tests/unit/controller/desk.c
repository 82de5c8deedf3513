/* Tests of src/controller/desk.c: which policy decides, and who gets which answer. What travels
 * over the wire is fleetlock/server.c's. */
#include "controller/desk.h"

#include <errno.h>

#include "support/policy_world.h"

#define W1 "1c09ca98649c4c7abc779cd04c96812e" /* machine ids */
#define W2 "ec210b3de22b7e2f65111257854e5299"

struct fixture {
    struct policy_world w;
    struct loop *loop;
    struct kube_client client;
    struct teller *teller;
    struct desk *d;
    bool ready;
    const char *problem;
    unsigned looked, asked;
    uint64_t ticket; /* of the last answer */
    enum fleetlock_kind kind;
    int status;
};

static bool is_ready(void *arg) {
    return ((struct fixture *)arg)->ready;
}

static const char *problem(void *arg) {
    return ((struct fixture *)arg)->problem;
}

static void on_look(void *arg) {
    ((struct fixture *)arg)->looked++;
}

static void on_ask(void *arg, uint64_t ticket, const char *name, enum keeper_question question,
                   struct now now) {
    struct fixture *f = arg;
    const struct policy_kept *p = policies_asked(f->w.p, name);
    f->asked++;
    keeper_ask(p->keeper, ticket, name, question, now);
}

static void on_gone(void *arg, uint64_t ticket) {
    (void)arg, (void)ticket;
}

static void on_answer(void *arg, uint64_t ticket, enum fleetlock_kind kind, int status) {
    struct fixture *f = arg;
    f->ticket = ticket;
    f->kind = kind;
    f->status = status;
}

static void on_reply(void *arg, const struct keeper_reply *reply) {
    desk_reply(((struct fixture *)arg)->d, reply);
}

static void on_replaced(void *arg, const struct keeper *k) {
    desk_replaced(((struct fixture *)arg)->d, k);
}

static struct desk_opts opts_of(struct fixture *f) {
    return (struct desk_opts){.cluster = &f->w.cluster,
                              .policies = f->w.p,
                              .teller = f->teller,
                              .log = &f->w.log,
                              .ready = is_ready,
                              .problem = problem,
                              .look = on_look,
                              .ask = on_ask,
                              .gone = on_gone,
                              .reply = on_answer,
                              .arg = f};
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    pw_init(&f->w);
    f->w.on_reply = on_reply;
    f->w.on_replaced = on_replaced;
    f->w.arg = f;
    f->loop = loop_new_virtual(SEC(1794729600));
    f->client = (struct kube_client){.loop = f->loop, .pool = f->w.pool};
    f->ready = true;
    struct teller_opts told = {
        .loop = f->loop, .log = &f->w.log, .identity = "me", .policies = f->w.p};
    assert_int_equal(teller_new(&told, &f->teller, NULL), 0);
    struct desk_opts opts = opts_of(f);
    assert_int_equal(desk_new(&f->client, &opts, &f->d, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    desk_free(f->d);
    teller_free(f->teller);
    loop_free(f->loop);
    pw_done(&f->w);
    free(f);
    return 0;
}

#define DESK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void node(struct fixture *f, const char *name, const char *pool, const char *machine) {
    pw_put(&f->w, f->w.cluster.nodes,
           "{'metadata':{'name':'%s','labels':{'pool':'%s'}},'status':{'nodeInfo':{'machineID':"
           "'%s'}}}",
           name, pool, machine);
}

static void question(struct fixture *f, enum fleetlock_api api, uint64_t ticket, const char *name,
                     const char *group) {
    desk_ask(f->d, &(struct fleetlock_question){.ticket = ticket,
                                                .api = api,
                                                .node = name,
                                                .group = group,
                                                .id = W1,
                                                .peer = "127.0.0.1:1"});
}

static void ask(struct fixture *f, uint64_t ticket, const char *name, const char *group) {
    question(f, FLEETLOCK_PRE_REBOOT, ticket, name, group);
}

static void report(struct fixture *f, uint64_t ticket, const char *name, const char *group) {
    question(f, FLEETLOCK_STEADY_STATE, ticket, name, group);
}

static void the_policy_of_the_node_decides(void **state) {
    static const struct {
        const char *node, *group;
        enum fleetlock_kind kind;
    } cases[] = {{"one", "other", FLEETLOCK_GROUP_MISMATCH},
                 {"none", "default", FLEETLOCK_GROUP_MISMATCH},
                 {"gone", "default", FLEETLOCK_UNKNOWN_NODE},
                 {"both", "default", FLEETLOCK_AMBIGUOUS_NODE},
                 {"another", "default", FLEETLOCK_UNKNOWN_NODE},
                 {"silent", "default", FLEETLOCK_GROUP_MISMATCH}};
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_policy(&f->w, "b", 1, "b");
    pw_policy(&f->w, "c", 1, "b");
    pw_put(&f->w, f->w.policies,
           "{'metadata':{'name':'d','uid':'d','generation':1},'spec':{'nodeSelector':{"
           "'matchLabels':{'pool':'d'}},'maxUnavailable':1}}");
    node(f, "one", "a", W1);
    node(f, "another", "a", W2);
    node(f, "both", "b", W1);
    node(f, "none", "x", W1);
    node(f, "silent", "d", W1);
    pw_step(&f->w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ask(f, i + 1, cases[i].node, cases[i].group);
        assert_int_equal(f->ticket, i + 1);
        assert_int_equal(f->kind, cases[i].kind);
    }
    assert_int_equal(f->asked, 0);
    assert_int_equal(f->looked, ARRAY_LEN(cases));
}

static void the_keeper_s_answer_goes_to_whoever_asked(void **state) {
    struct fixture *f = *state;
    pw_record(&f->w, "default", PW_SLOT("w9", "fleetlock", "taken"));
    node(f, "one", "a", W1);
    pw_step(&f->w);
    ask(f, 5, "one", "default");
    ask(f, 6, "one", "default");
    assert_int_equal(f->asked, 2);
    assert_int_equal(f->ticket, 0);
    desk_reply(f->d, &(struct keeper_reply){5, KEEPER_FULL, "other nodes rebooting"});
    assert_int_equal(f->ticket, 5);
    assert_int_equal(f->kind, FLEETLOCK_SLOTS_FULL);
    assert_int_equal(f->status, 404);
    pw_step(&f->w); /* by the keeper itself */
    assert_int_equal(f->ticket, 6);
    f->ticket = 0;
    desk_reply(f->d, &(struct keeper_reply){5, KEEPER_GO, "granted"}); /* answered already */
    assert_int_equal(f->ticket, 0);
}

/* They wait for the next one, or are told that there is none. */
static void those_whose_policy_changes_are_asked_again(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_record(&f->w, "a", PW_SLOT("w9", "fleetlock", "taken"));
    node(f, "one", "a", W1);
    policies_look(f->w.p);
    ask(f, 5, "one", "default");
    pw_policy(&f->w, "a", 2, "a");
    policies_look(f->w.p);
    desk_again(f->d);
    assert_int_equal(f->ticket, 0);
    pw_step(&f->w); /* two in use, of two */
    f->w.now.mono += SEC(5);
    pw_step(&f->w);
    assert_int_equal(f->ticket, 5);
    ask(f, 6, "one", "default");
    pw_policy(&f->w, "a", 3, "b");
    policies_look(f->w.p);
    desk_again(f->d);
    assert_int_equal(f->ticket, 6);
    assert_int_equal(f->kind, FLEETLOCK_UNAVAILABLE);
}

/* It may hold a slot of another policy, whose record has not been looked at; nobody waits for that
 * for longer than for any other answer. */
static void a_report_waits_until_the_slots_are_known(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_record(&f->w, "a", PW_NO_SLOT);
    node(f, "one", "a", W1);
    pw_step(&f->w);
    assert_int_equal(desk_next(f->d), INT64_MAX);
    int64_t before = loop_now(f->loop);
    report(f, 5, "one", "default");
    assert_int_equal(f->asked, 1);
    assert_int_equal(desk_next(f->d), INT64_MAX);
    pw_policy(&f->w, "a", 2, "a");
    policies_look(f->w.p);
    desk_again(f->d);
    assert_int_equal(f->ticket, 0);
    assert_in_range(desk_next(f->d), before + KEEPER_PATIENCE, loop_now(f->loop) + KEEPER_PATIENCE);
    pw_step(&f->w);
    desk_again(f->d);
    assert_int_equal(f->asked, 2);
    assert_int_equal(desk_next(f->d), INT64_MAX);
}

static void nothing_is_said_of_a_cluster_that_is_not_known(void **state) {
    struct fixture *f = *state;
    f->ready = false;
    ask(f, 1, "one", "default");
    assert_int_equal(f->kind, FLEETLOCK_UNAVAILABLE);
    assert_int_equal(f->looked, 0);
}

/* Its client would ask for nothing else before it has reported. */
static void a_report_of_a_node_that_no_policy_has(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_record(&f->w, "a", PW_SLOT("w1", "fleetlock", "granted"));
    node(f, "w1", "x", W1); /* it had the label when it was granted */
    node(f, "w2", "x", W1);
    policies_look(f->w.p);
    report(f, 1, "w2", "default"); /* the record was not looked at yet */
    assert_int_equal(f->kind, FLEETLOCK_UNAVAILABLE);
    pw_step(&f->w);
    report(f, 2, "w2", "default");
    assert_int_equal(f->ticket, 2);
    assert_int_equal(f->kind, FLEETLOCK_OK);
    ask(f, 3, "w2", "default");
    assert_int_equal(f->kind, FLEETLOCK_GROUP_MISMATCH);
    assert_int_equal(f->asked, 0);
    report(f, 4, "w1", "default");
    assert_int_equal(f->asked, 1);
    assert_int_equal(f->ticket, 3);
    report(f, 5, "gone", "default"); /* a record may have a wish of it: it is to report again */
    assert_int_equal(f->ticket, 5);
    assert_int_equal(f->kind, FLEETLOCK_UNKNOWN_NODE);
}

/* A slot that was given is asked for, and given back, where it was: by nobody else, and not twice.
 */
static void the_one_that_holds_it_is_heard_by_whoever_has_given_it(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_policy(&f->w, "b", 1, "b");
    pw_record(&f->w, "a", PW_SLOT("w1", "fleetlock", "granted"));
    pw_record(&f->w, "b", PW_NO_SLOT);
    node(f, "w1", "b", W1); /* it had another label when it was granted */
    pw_step(&f->w);
    ask(f, 1, "w1", "default");
    assert_int_equal(f->asked, 1);
    assert_ptr_equal(policies_asked(f->w.p, "w1"), policies_at(f->w.p, 0));
    store_remove(f->w.policies, NULL, "a", "1000"); /* and when that is gone */
    pw_step(&f->w);
    desk_again(f->d);
    assert_int_equal(f->asked, 2);
    assert_string_equal(policies_asked(f->w.p, "w1")->name, "a");
    report(f, 2, "w1", "default");
    assert_int_equal(f->asked, 3);
}

/* Its client does not look for updates before its report was taken. */
static void a_report_of_one_that_holds_nothing_is_always_taken(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_policy(&f->w, "b", 1, "b");
    pw_policy(&f->w, "c", 1, "b");
    pw_put(&f->w, f->w.policies,
           "{'metadata':{'name':'d','uid':'d','generation':1},'spec':{'nodeSelector':{"
           "'matchLabels':{'pool':'d'}},'maxUnavailable':1}}");
    node(f, "both", "b", W1);
    node(f, "silent", "d", W1);
    node(f, "one", "a", W1);
    const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        pw_record(&f->w, names[i], PW_NO_SLOT);
    pw_step(&f->w);
    report(f, 1, "both", "default");
    assert_int_equal(f->ticket, 1);
    assert_int_equal(f->kind, FLEETLOCK_OK);
    report(f, 2, "silent", "default");
    assert_int_equal(f->ticket, 2);
    assert_int_equal(f->kind, FLEETLOCK_OK);
    assert_int_equal(f->asked, 0);
    report(f, 3, "one", "no-such-group"); /* its policy marks it Ready */
    assert_int_equal(f->asked, 1);
}

/* A report is taken all the same. */
static void nobody_is_told_to_go_where_nobody_can_lead(void **state) {
    struct fixture *f = *state;
    pw_policy(&f->w, "a", 1, "a");
    pw_record(&f->w, "a", PW_NO_SLOT);
    node(f, "one", "a", W1);
    pw_step(&f->w);
    f->problem = "the Lease cannot be written";
    ask(f, 1, "one", "default");
    assert_int_equal(f->ticket, 1);
    assert_int_equal(f->kind, FLEETLOCK_UNAVAILABLE);
    assert_int_equal(f->status, 503);
    ask(f, 2, "one", "other"); /* what is wrong with the request is said first */
    assert_int_equal(f->kind, FLEETLOCK_GROUP_MISMATCH);
    assert_int_equal(f->asked, 0);
    report(f, 3, "one", "default");
    assert_int_equal(f->asked, 1);
}

static void a_listener_that_cannot_be_had_is_an_error(void **state) {
    struct fixture *f = *state;
    struct desk *d = NULL;
    struct desk_opts opts = opts_of(f);
    assert_string_equal(desk_address(f->d), "");
    opts.http = "127.0.0.1:0"; /* nobody listens on a virtual loop */
    assert_int_equal(desk_new(&f->client, &opts, &d, NULL), -ENOTSUP);
    assert_null(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DESK_TEST(the_policy_of_the_node_decides),
        DESK_TEST(the_keeper_s_answer_goes_to_whoever_asked),
        DESK_TEST(those_whose_policy_changes_are_asked_again),
        DESK_TEST(a_report_waits_until_the_slots_are_known),
        DESK_TEST(nothing_is_said_of_a_cluster_that_is_not_known),
        DESK_TEST(a_report_of_a_node_that_no_policy_has),
        DESK_TEST(the_one_that_holds_it_is_heard_by_whoever_has_given_it),
        DESK_TEST(a_report_of_one_that_holds_nothing_is_always_taken),
        DESK_TEST(nobody_is_told_to_go_where_nobody_can_lead),
        DESK_TEST(a_listener_that_cannot_be_had_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
