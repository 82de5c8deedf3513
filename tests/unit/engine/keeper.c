/* Tests of src/engine/keeper.c: the record, its writes, who leads, and a random run of everything.
 */
#include "engine/keeper.h"

#include "support/keeper_world.h"

#include "base/prng.h"

/* One node from its question to its release. */
static void a_node_asks_goes_and_comes_back(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    assert_slots(w, "w1 granted");
    assert_true(kw_is_cordoned(w, "w1"));
    assert_int_equal(kw_pods_on(w, "w1"), 0);
    assert_int_equal(kw_pods_on(w, "w2"), 1);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(1));
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_renew(w, "w1");
    kw_pass(w, SEC(5));
    assert_slots(w, "");
    assert_false(kw_is_cordoned(w, "w1"));
    assert_string_equal(kw_cordon(w, "w1"), "");
}

/* --- who leads --- */

/* One that is killed after any number of its calls: whoever leads next goes on from there. */
static void a_new_leader_goes_on_from_every_state(void **state) {
    (void)state;
    bool taken = false, cordoned = false, drained = false, granted = false;
    for (unsigned after = 0; after < 40; after++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", NULL);
        kw_start(w);
        kw_ask(w, 1, "w1", KEEPER_MAY_GO);
        for (unsigned i = 0; i < after; i++) {
            kw_round(&w->r[0]);
            kw_round(&w->r[1]);
            kw_set_time(w, w->now.mono + MSEC(5));
        }
        taken |= !kw_is_cordoned(w, "w1") && streq(kw_slots(w), "w1 taken");
        cordoned |= kw_is_cordoned(w, "w1") && streq(kw_slots(w), "w1 taken");
        drained |= streq(kw_slots(w), "w1 drained");
        granted |= streq(kw_slots(w), "w1 granted");
        kw_kill(w, 0);
        keeper_lead(w->r[1].k, 2);
        kw_ask(w, 1, "w1", KEEPER_MAY_GO);
        kw_pass(w, SEC(60));
        assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
        assert_int_equal(kw_pods_on(w, "w1"), 0);
        assert_int_equal(kw_fence(w), 2);
        kw_done(w);
        free(w);
    }
    assert_true(taken && cordoned && drained && granted);
}

/* The same on the way back. */
static void a_new_leader_puts_back_from_every_state(void **state) {
    (void)state;
    bool steady = false, returned = false, uncordoned = false;
    for (unsigned after = 0; after < 30; after++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", NULL);
        kw_start(w);
        assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
        kw_status(w, "w1", false, 1);
        kw_settle(w);
        kw_ask(w, 1, "w1", KEEPER_STEADY);
        kw_pass(w, SEC(1));
        kw_set_time(w, w->now.mono + SEC(10));
        kw_status(w, "w1", true, 2);
        for (unsigned i = 0; i < after; i++) {
            kw_round(&w->r[0]);
            kw_round(&w->r[1]);
            kw_set_time(w, w->now.mono + MSEC(5));
        }
        steady |= streq(kw_slots(w), "w1 steady");
        returned |= kw_is_cordoned(w, "w1") && streq(kw_slots(w), "w1 returned");
        uncordoned |= !kw_is_cordoned(w, "w1") && streq(kw_slots(w), "w1 returned");
        kw_kill(w, 0);
        keeper_lead(w->r[1].k, 2);
        kw_pass(w, SEC(3));
        kw_renew(w, "w1");
        kw_pass(w, SEC(3));
        assert_slots(w, "");
        assert_false(kw_is_cordoned(w, "w1"));
        kw_done(w);
        free(w);
    }
    assert_true(steady && returned && uncordoned);
}

static void an_old_leader_does_nothing_more(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    w->r[0].frozen = true;
    keeper_lead(w->r[1].k, 2);
    kw_settle(w);
    assert_int_equal(kw_fence(w), 2);
    w->r[1].frozen = true;
    w->r[0].late[KW_MAPS] = true; /* its picture is the one of its own term */
    w->r[0].frozen = false;
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(60));
    assert_int_equal(w->deposed, 1);
    assert_null(keeper_drain(w->r[0].k));
    assert_int_equal(kw_fence(w), 2);
    assert_slots(w, "; w1"); /* that somebody asks is noted by anybody */
    assert_false(kw_is_cordoned(w, "w1"));
}

static void one_whose_term_is_over_is_told_at_once(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_set_record(w, "{'v':1,'fence':7,'slots':[],'waiting':[]}");
    kw_start(w);
    assert_int_equal(w->deposed, 1);
    assert_int_equal(kw_fence(w), 7);
    assert_int_equal(dw_count(&w->wanted, "patch"), 0);
    keeper_lead(w->r[0].k, 8);
    kw_settle(w);
    assert_int_equal(kw_fence(w), 8);
    assert_int_equal(w->deposed, 1);
}

/* --- the record --- */

static void a_record_of_a_newer_version_is_left_alone(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_set_record(w, "{'v':2,'fence':1,'slots':[]}");
    kw_start(w);
    const struct kw_reply *r = kw_answer(w, 0, "w1", KEEPER_MAY_GO);
    assert_int_equal(r->say, KEEPER_TROUBLE);
    assert_non_null(strstr(r->text, "version 2"));
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_TROUBLE);
    kw_pass(w, SEC(600));
    assert_int_equal(dw_count(&w->wanted, "patch"), 0);
    assert_int_equal(dw_count(&w->wanted, "create"), 0);
    assert_null(keeper_slots(w->r[0].k));
}

/* Whoever was told to go may be on its way: nobody else is told meanwhile. */
static void a_record_that_is_deleted_is_made_again(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 granted");
    assert_int_equal(kw_fence(w), 1);
    assert_true(kw_is_cordoned(w, "w1"));
    assert_non_null(strstr(str_get(&w->told), "warning RecordLost w1: holds a slot"));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(30));
    assert_string_equal(kw_slots(w), "w2 drained");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* Nobody knows any more how far they were, only that they were out: they stay so, and count. */
static void a_record_that_nobody_knows_is_told_by_cordons(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
    for (unsigned i = 0; i < w->n; i++)
        kw_kill(w, i);
    kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
    kw_start(w);
    kw_pass(w, SEC(5));
    assert_slots(w, "w1 drained");
    assert_int_equal(kw_fence(w), 1);
    assert_true(kw_is_cordoned(w, "w1"));
    assert_non_null(strstr(str_get(&w->told), "warning RecordLost w1: is cordoned for a slot"));
    assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
    kw_reboot(w, "w1", 2); /* it was told, and had not gone yet */
    assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
    kw_pass(w, SEC(30));
    assert_string_equal(kw_slots(w), "w2 drained");
    assert_false(kw_is_cordoned(w, "w1"));
}

/* Nobody knows whether it was told: never by mere time. It asks again, reports, reboots, goes down
 * first, or somebody lets it go. */
static void a_cordon_of_a_lost_record_is_not_lifted_by_time(void **state) {
    (void)state;
    for (unsigned how = 0; how < 5; how++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", "w2", NULL);
        kw_start(w);
        assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
        for (unsigned i = 0; i < w->n; i++)
            kw_kill(w, i);
        kw_delete(w, &kind_config_map, KW_NS, KW_MAP);
        kw_start(w);
        kw_pass(w, SEC(3 * 3600));
        assert_slots(w, "w1 drained");
        assert_true(kw_is_cordoned(w, "w1"));
        assert_says(w, 0, "w2", KEEPER_MAY_GO, KEEPER_FULL);
        if (how == 0) {
            assert_says(w, 0, "w1", KEEPER_MAY_GO, KEEPER_GO);
            kw_reboot(w, "w1", 2);
        } else if (how == 1) {
            assert_says(w, 0, "w1", KEEPER_STEADY, KEEPER_NOTED);
            kw_pass(w, SEC(100));
            kw_renew(w, "w1");
            assert_true(kw_is_cordoned(w, "w1")); /* it may stay in its boot: for five minutes */
        } else if (how == 2) {
            kw_reboot(w, "w1", 2);
        } else if (how == 3) {
            kw_status(w, "w1", false, 1);
            kw_pass(w, SEC(3600));
            assert_slots(w, "w1 steady");
            kw_status(w, "w1", false, 2);
            kw_pass(w, SEC(3600));
            assert_slots(w, "w1 steady");
            kw_reboot(w, "w1", 2);
        } else {
            json_t *record = kw_record(w);
            json_object_set_new(json_array_get(json_object_get(record, "slots"), 0), "state",
                                json_string("returned"));
            _cleanup_free_ char *text = json_dumps(record, 0);
            kw_set_record(w, "%s", text);
            json_decref(record);
        }
        for (int i = 0; i < 40; i++) {
            kw_renew(w, "w1");
            kw_status(w, "w1", true, how == 1 || how == 4 ? 1 : 2);
            kw_pass(w, SEC(10));
        }
        assert_false(kw_is_cordoned(w, "w1"));
        kw_done(w);
        free(w);
    }
}

static void writes_that_fail_are_made_good(void **state) {
    (void)state;
    static const struct {
        enum kube_outcome outcome;
        bool done;
    } faults[] = {{KUBE_CONFLICT, false}, {KUBE_SERVER_ERROR, false}, {KUBE_UNREACHABLE, false},
                  {KUBE_UNKNOWN, false},  {KUBE_UNKNOWN, true},       {KUBE_SERVER_ERROR, true}};
    for (size_t i = 0; i < 2 * ARRAY_LEN(faults); i++) {
        struct kw *w = xnew(struct kw);
        kw_init(w, 2);
        kw_nodes(w, "w1", "w2", NULL);
        kw_start(w);
        w->fault.verb = ACTION_PATCH;
        w->fault.kind = i % 2 ? &kind_node : &kind_config_map;
        w->fault.outcome = faults[i / 2].outcome;
        w->fault.done = faults[i / 2].done;
        w->fault.times = 4;
        kw_ask(w, 1, "w1", KEEPER_MAY_GO);
        kw_pass(w, SEC(30));
        assert_slots(w, "w1 granted");
        assert_true(w->fault.times < 4);
        assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
        kw_reboot(w, "w1", 2);
        w->fault.times = 4;
        kw_ask(w, 0, "w1", KEEPER_STEADY);
        kw_pass(w, SEC(10));
        kw_renew(w, "w1");
        kw_ask(w, 0, "w1", KEEPER_STEADY);
        kw_pass(w, SEC(30));
        assert_slots(w, "");
        assert_false(kw_is_cordoned(w, "w1"));
        kw_done(w);
        free(w);
    }
}

/* Whoever leads tells each change of a slot once. */
static void changes_are_told_once(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    assert_says(w, 1, "w1", KEEPER_MAY_GO, KEEPER_GO);
    kw_status(w, "w1", false, 1);
    assert_says(w, 1, "w1", KEEPER_STEADY, KEEPER_UNREADY);
    kw_set_time(w, w->now.mono + SEC(10));
    kw_reboot(w, "w1", 2);
    kw_pass(w, SEC(5));
    static const char *const reasons[] = {"SlotTaken w1:", "Drained w1:",   "Granted w1:",
                                          "Steady w1:",    "Returning w1:", "SlotReleased w1:"};
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        assert_int_equal(dw_count(&w->told, reasons[i]), 1);
    assert_int_equal(dw_count(&w->told, "\n"), ARRAY_LEN(reasons));
}

/* Nobody asks: nothing is wanted, and nobody has to be woken. */
static void nothing_to_do_costs_nothing(void **state) {
    struct kw *w = *state;
    kw_nodes(w, "w1", "w2", NULL);
    kw_start(w);
    str_reset(&w->wanted);
    kw_pass(w, SEC(3600));
    assert_string_equal(str_get(&w->wanted), "");
    assert_int_equal(kw_next(w), INT64_MAX);
}

/* --- at random --- */

enum {
    CLIENTS = 4,
    EVENTS = 4000,
    SEEDS = 200,
    AGAIN_S = 20, /* a client asks again */
    AWAY_S = 40,  /* a reboot */
};

enum client_phase { IDLE, ASKS, TOLD, DOWN, REPORTS, DONE };

/* Somebody on a node who wants to reboot it, one to three times. */
struct client {
    char name[8];
    enum client_phase phase;
    unsigned boot;
    uint64_t ticket; /* that it waits for; 0: none */
    unsigned replica;
    int64_t next; /* monotonic */
    bool renounces;
    unsigned times; /* that it wants to go once more */
    uint64_t asked,
        told; /* versions of the server: of its last question, and of the one that was granted */
};

struct chaos {
    struct kw w;
    struct prng r;
    uint64_t seed;
    unsigned max;
    int32_t term;
    unsigned granted;
    uint64_t checked; /* the version of the last check */
    struct client clients[CLIENTS];
};

static int64_t pick(struct chaos *c, int64_t n) {
    return prng_range(&c->r, 0, n);
}

#define MUST(c, what)                                                                              \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("KEEPER_SEED=%llu: not %s: %s", (unsigned long long)(c)->seed, #what,         \
                     kw_slots(&(c)->w));                                                           \
    } while (0)

/* Pods that were there at that version already: one that comes later nobody can have known. */
static unsigned old_pods_on(struct kw *w, const char *node, uint64_t version) {
    unsigned n = 0;
    const char *key;
    json_t *doc;
    json_object_foreach(w->docs, key, doc) n +=
        str_starts(key, "pods/") && streq(dw_str(doc, "spec.nodeName"), node) &&
        strtoull(dw_str(doc, "metadata.resourceVersion"), NULL, 10) <= version;
    return n;
}

/* Whether the node may go, by what the server has: the oracle. */
static bool is_safe(struct chaos *c, const struct client *one) {
    struct kw *w = &c->w;
    json_t *record = kw_record(w), *slot;
    bool safe = false;
    size_t i;
    json_array_foreach(json_object_get(record, "slots"), i, slot) {
        if (!streq(dw_str(slot, "node"), one->name))
            continue;
        safe = streq(dw_str(slot, "state"), "granted") &&
               strstr(kw_cordon(w, one->name), dw_str(slot, "id")) && kw_is_cordoned(w, one->name);
    }
    json_decref(record);
    return safe && !old_pods_on(w, one->name, one->told);
}

static void check_all(struct chaos *c) {
    unsigned out = 0;
    if (c->checked == c->w.version)
        return; /* nothing has changed on the server */
    c->checked = c->w.version;
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct client *one = &c->clients[i];
        out += one->phase == TOLD || one->phase == DOWN;
        if (one->phase == TOLD)
            MUST(c, is_safe(c, one));
    }
    MUST(c, out <= c->max);
    json_t *record = kw_record(&c->w);
    MUST(c, json_array_size(json_object_get(record, "slots")) <= c->max);
    json_decref(record);
}

static void client_reply(struct kw *w, unsigned replica, uint64_t ticket) {
    struct chaos *c = w->arg;
    (void)replica;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *one = &c->clients[i];
        if (one->ticket != ticket)
            continue;
        enum keeper_say say = kw_reply(w, ticket)->say;
        one->ticket = 0;
        one->next = w->now.mono + SEC(AGAIN_S);
        if (one->phase == REPORTS && say == KEEPER_NOTED) {
            one->phase = one->times-- ? IDLE : DONE;
        } else if (say == KEEPER_GO) {
            MUST(c, one->phase == ASKS || one->phase == TOLD);
            one->phase = TOLD;
            one->told = one->asked;
            one->renounces = pick(c, 4) == 0;
            one->next = w->now.mono + (pick(c, 2) ? 0 : SEC(pick(c, 30)));
            c->granted++;
            c->checked = 0;
            check_all(c);
        }
    }
}

static void client_ask(struct chaos *c, struct client *one, enum keeper_question question) {
    unsigned first = (unsigned)pick(c, c->w.n);
    for (unsigned i = 0; i < c->w.n; i++) {
        unsigned replica = (first + i) % c->w.n;
        if (!c->w.r[replica].k)
            continue;
        one->replica = replica;
        one->ticket = kw_ask(&c->w, replica, one->name, question);
        one->asked = c->w.version;
        one->next = c->w.now.mono + SEC(5); /* then it hangs up */
        return;
    }
}

static void client_hangs_up(struct chaos *c, struct client *one) {
    if (c->w.r[one->replica].k && pick(c, 2))
        keeper_cancel(c->w.r[one->replica].k, one->ticket);
    one->ticket = 0;
}

static void client_step(struct chaos *c, struct client *one) {
    struct kw *w = &c->w;
    if (one->next > w->now.mono || one->phase == DONE)
        return;
    if (one->ticket)
        client_hangs_up(c, one);
    switch (one->phase) {
    case IDLE:
        one->phase = ASKS;
        break;
    case ASKS:
        if (pick(c, 10) == 0)
            one->phase = REPORTS; /* somebody has rebooted it by hand */
        else
            client_ask(c, one, KEEPER_MAY_GO);
        break;
    case TOLD:
        if (pick(c, 4) == 0) {
            client_ask(c, one, KEEPER_MAY_GO); /* once more, before it goes */
        } else if (one->renounces) {
            one->phase = REPORTS;
        } else {
            one->phase = DOWN;
            one->next = w->now.mono + SEC(AWAY_S);
            kw_status(w, one->name, false, one->boot);
        }
        break;
    case DOWN:
        kw_status(w, one->name, true, ++one->boot);
        kw_renew(w, one->name);
        one->phase = REPORTS;
        break;
    default:
        client_ask(c, one, KEEPER_STEADY);
    }
}

static void kubelets_and_scheduler(struct chaos *c) {
    struct client *one = &c->clients[pick(c, CLIENTS)];
    if (one->phase == DOWN)
        return;
    if (pick(c, 2))
        kw_renew(&c->w, one->name);
    else if (pick(c, 2))
        kw_status(&c->w, one->name, true, one->boot);
    /* Also one that names its node, whatever that is cordoned for. */
    if ((!kw_is_cordoned(&c->w, one->name) || !pick(c, 12)) && !kw_pods_on(&c->w, one->name))
        kw_pod(&c->w, one->name);
}

/* One of the calls that the server has carried out, or has not; NULL: there is none. */
static struct kw_call *some_call(struct chaos *c, struct kw_replica *r, bool performed) {
    struct kw_call *found = NULL;
    int64_t n = 0;
    for (size_t i = 0; i < r->calls.len; i++)
        if (r->calls.p[i].performed == performed && pick(c, ++n) == 0)
            found = &r->calls.p[i];
    return found;
}

static void perform_some(struct chaos *c, struct kw_replica *r) {
    static const struct {
        enum kube_outcome outcome;
        bool done;
    } faults[] = {{KUBE_CONFLICT, false},    {KUBE_SERVER_ERROR, false}, {KUBE_SERVER_ERROR, true},
                  {KUBE_UNREACHABLE, false}, {KUBE_UNKNOWN, true},       {KUBE_UNKNOWN, false}};
    struct kw_call *call = some_call(c, r, false);
    size_t fault = (size_t)pick(c, 12 * ARRAY_LEN(faults));
    if (call && fault < ARRAY_LEN(faults))
        kw_perform_as(&c->w, call, faults[fault].outcome, faults[fault].done);
    else if (call)
        kw_perform(&c->w, call);
}

static void deliver_some(struct chaos *c, struct kw_replica *r) {
    const struct kw_call *call = r->frozen ? NULL : some_call(c, r, true);
    if (call)
        kw_deliver(r, (size_t)(call - r->calls.p));
}

static void show_some(struct chaos *c, struct kw_replica *r) {
    enum kw_kind kind = (enum kw_kind)pick(c, KW_KINDS);
    for (int64_t n = pick(c, 6); n > 0 && r->k && !r->frozen && !r->late[kind]; n--)
        kw_show_one(r, kind);
}

/* Somebody else leads, or the same again; whoever led hears of it, or does not. */
static void elect(struct chaos *c, unsigned i) {
    for (unsigned j = 0; j < c->w.n; j++)
        if (c->w.r[j].k && j != i && pick(c, 2))
            keeper_follow(c->w.r[j].k);
    if (c->w.r[i].k)
        keeper_lead(c->w.r[i].k, ++c->term);
}

static void trouble(struct chaos *c) {
    unsigned i = (unsigned)pick(c, c->w.n);
    struct kw_replica *r = &c->w.r[i];
    enum kw_kind kind = (enum kw_kind)pick(c, KW_KINDS);
    if (pick(c, 2))
        r->late[kind] = !r->late[kind];
    else if (r->frozen)
        r->frozen = false;
    else if (!r->k)
        kw_begin(&c->w, i);
    else if (pick(c, 3) == 0)
        kw_kill(&c->w, i);
    else if (pick(c, 2))
        r->frozen = true;
    else
        elect(c, i);
}

/* A little, or until somebody wants to do something. */
static void time_goes_by(struct chaos *c) {
    int64_t next = kw_next(&c->w), now = c->w.now.mono;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (c->clients[i].phase != DONE)
            next = MIN_OF(next, c->clients[i].next);
    kw_set_time(&c->w, next > now && next < INT64_MAX && pick(c, 2)
                           ? next
                           : now + (pick(c, 20) ? MSEC(pick(c, 60)) : SEC(pick(c, 20))));
}

static void random_event(struct chaos *c) {
    struct kw *w = &c->w;
    struct kw_replica *r = &w->r[pick(c, w->n)];
    int64_t what = pick(c, 100);
    if (what < 25) {
        if (r->k && !r->frozen && (keeper_next(r->k) <= w->now.mono || pick(c, 4) == 0))
            kw_step(r);
    } else if (what < 45) {
        perform_some(c, r);
    } else if (what < 65) {
        deliver_some(c, r);
    } else if (what < 82) {
        show_some(c, r);
    } else if (what < 89) {
        client_step(c, &c->clients[pick(c, CLIENTS)]);
    } else if (what < 92) {
        kubelets_and_scheduler(c);
    } else if (what < 99) {
        time_goes_by(c);
    } else if (pick(c, 2) == 0) {
        trouble(c);
    }
}

static bool all_done(const struct chaos *c) {
    for (unsigned i = 0; i < CLIENTS; i++)
        if (c->clients[i].phase != DONE)
            return false;
    return true;
}

/* The faults are over: everybody comes to an end. */
static void come_to_an_end(struct chaos *c) {
    struct kw *w = &c->w;
    for (unsigned i = 0; i < w->n; i++) {
        w->r[i].frozen = false;
        memset(w->r[i].late, 0, sizeof w->r[i].late);
        if (!w->r[i].k)
            kw_begin(w, i);
    }
    kw_settle(w);
    elect(c, (unsigned)pick(c, w->n));
    int64_t end = w->now.mono + SEC(3 * 3600);
    while (w->now.mono < end && !(all_done(c) && streq(kw_slots(w), ""))) {
        for (unsigned i = 0; i < CLIENTS; i++)
            client_step(c, &c->clients[i]);
        for (unsigned i = 0; i < CLIENTS; i++)
            kubelets_and_scheduler(c);
        kw_pass(w, SEC(8));
        check_all(c);
    }
    kw_pass(w, SEC(60));
    MUST(c, all_done(c));
    MUST(c, streq(kw_slots(w), ""));
    for (unsigned i = 0; i < CLIENTS; i++)
        MUST(c, !kw_is_cordoned(w, c->clients[i].name) && !*kw_cordon(w, c->clients[i].name));
}

static void run_chaos(uint64_t seed) {
    struct chaos *c = xnew(struct chaos);
    *c = (struct chaos){.r = {seed}, .seed = seed};
    struct kw *w = &c->w;
    kw_init(w, 2 + (unsigned)pick(c, 2));
    w->opts.max.value = c->max = 1 + (unsigned)pick(c, 2);
    w->opts.seed_marks = pick(c, 2);
    w->arg = c;
    w->on_reply = client_reply;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *one = &c->clients[i];
        *one = (struct client){.boot = 1, .times = (unsigned)pick(c, 3)};
        snprintf(one->name, sizeof one->name, "w%u", i);
        kw_node(w, one->name);
        kw_pod(w, one->name);
    }
    for (unsigned i = 0; i < w->n; i++)
        kw_begin(w, i);
    elect(c, 0);
    for (unsigned i = 0; i < EVENTS; i++) {
        random_event(c);
        check_all(c);
    }
    come_to_an_end(c);
    kw_done(w);
    free(c);
}

static int seed_setup(void **state) {
    *state = xnew(uint64_t);
    return 0;
}

/* KEEPER_SEED=N runs that one alone, KEEPER_SEEDS=N as many. */
static void whatever_happens_no_more_than_may_go(void **state) {
    uint64_t *seed = *state;
    const char *one = getenv("KEEPER_SEED"), *many = getenv("KEEPER_SEEDS");
    uint64_t seeds = many ? strtoull(many, NULL, 10) : SEEDS;
    if (one)
        run_chaos(*seed = strtoull(one, NULL, 10));
    for (*seed = 1; !one && *seed <= seeds; ++*seed)
        run_chaos(*seed);
    *seed = 0;
}

static int seed_teardown(void **state) {
    uint64_t seed = *(uint64_t *)*state;
    if (seed)
        print_message("the last one was KEEPER_SEED=%llu\n", (unsigned long long)seed);
    free(*state);
    return 0;
}

/* A label's value has 63 characters at most, a Policy's name many more. */
static void a_policy_with_a_long_name(void **state) {
    struct kw *w = *state;
    static const char name[] =
        "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-12.-4567890";
    char map[128];
    (void)snprintf(map, sizeof map, SLOTS_MAP "%s", name);
    w->opts.policy = name;
    kw_nodes(w, "w1", NULL);
    kw_start(w);
    kw_ask(w, 0, "w1", KEEPER_MAY_GO);
    kw_pass(w, SEC(5));
    json_t *doc = kw_doc(w, &kind_config_map, KW_NS, map);
    assert_non_null(doc);
    json_t *labels = dw_at(doc, "metadata.labels");
    assert_string_equal(json_string_value(json_object_get(labels, SLOTS_LABEL)),
                        "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-12");
    struct pool *pool = w->r[0].pool;
    struct object *obj = kw_decode(pool, &kind_config_map, doc);
    assert_string_equal(keeper_policy_of((const struct config_map *)obj), name);
    object_free(&kind_config_map, pool, obj);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_policy_with_a_long_name),
        KEEPER_TEST(a_node_asks_goes_and_comes_back),
        cmocka_unit_test(a_new_leader_goes_on_from_every_state),
        cmocka_unit_test(a_new_leader_puts_back_from_every_state),
        KEEPER_TEST(an_old_leader_does_nothing_more),
        KEEPER_TEST(one_whose_term_is_over_is_told_at_once),
        KEEPER_TEST(a_record_of_a_newer_version_is_left_alone),
        KEEPER_TEST(a_record_that_is_deleted_is_made_again),
        KEEPER_TEST(a_record_that_nobody_knows_is_told_by_cordons),
        cmocka_unit_test(a_cordon_of_a_lost_record_is_not_lifted_by_time),
        cmocka_unit_test(writes_that_fail_are_made_good),
        KEEPER_TEST(changes_are_told_once),
        KEEPER_TEST(nothing_to_do_costs_nothing),
        cmocka_unit_test_setup_teardown(whatever_happens_no_more_than_may_go, seed_setup,
                                        seed_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
