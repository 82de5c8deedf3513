/* Tests of kube/leader.c: client-go's rules (tools/leaderelection), on the virtual clock, against a
 * Lease that is changed by compare-and-swap. tests/unit/kube/leader_chaos.c lets several candidates
 * fight over bad links. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "kube/leader.h"
#include "support/mini_lease.h"

#define OF(holder, transitions)                                                                    \
    "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{'name':'slipway',"          \
    "'namespace':'ops','uid':'u1','labels':{'team':'sea'},'annotations':{"                         \
    "'kubectl.kubernetes.io/last-applied-configuration':'{}','note':'keep'},'ownerReferences':[{"  \
    "'apiVersion':'v1','kind':'ConfigMap','name':'c','uid':'u2','blockOwnerDeletion':true}]},"     \
    "'spec':{'holderIdentity':'" holder                                                            \
    "','leaseDurationSeconds':15,'leaseTransitions':" #transitions                                 \
    ",'acquireTime':'2026-01-01T00:00:00.000000Z','renewTime':'2026-01-01T00:00:00.000000Z'}}"

struct candidate {
    struct fixture *f;
    struct mini_link *link;
    struct kube_client client;
    struct leader *leader;
    int starts, stops, resigns;
    int64_t started_at, stopped_at;
    int32_t fence;
    char *why, *seen;
    int observed;
};

struct fixture {
    struct loop *loop;
    struct mini_lease *lease;
    struct candidate a, b, c;
};

static void on_started(void *arg, int32_t fence) {
    struct candidate *c = arg;
    c->starts++;
    c->started_at = loop_now(c->f->loop);
    c->fence = fence;
    assert_true(leader_is(c->leader));
    assert_int_equal(leader_fence(c->leader), fence);
}

static void on_stopped(void *arg, const char *why) {
    struct candidate *c = arg;
    c->stops++;
    c->stopped_at = loop_now(c->f->loop);
    str_replace(&c->why, why);
    assert_false(leader_is(c->leader));
    assert_int_equal(leader_left(c->leader), 0);
}

static void on_observed(void *arg, const char *identity) {
    struct candidate *c = arg;
    c->observed++;
    str_replace(&c->seen, identity);
}

static void on_resigned(void *arg) {
    struct candidate *c = arg;
    c->resigns++;
}

static void candidate_init(struct fixture *f, struct candidate *c, uint64_t seed) {
    c->f = f;
    c->link = mini_lease_link(f->lease, seed);
    c->client = (struct kube_client){
        .transport = &c->link->transport, .loop = f->loop, .pool = pool_new(type_drop)};
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    f->loop = loop_new_virtual(SEC(1800000000));
    f->lease = mini_lease_new(f->loop);
    candidate_init(f, &f->a, 1);
    candidate_init(f, &f->b, 2);
    candidate_init(f, &f->c, 3);
    *state = f;
    return 0;
}

static size_t candidate_done(struct candidate *c) {
    leader_free(c->leader);
    kube_transport_free(c->client.transport);
    size_t left = pool_stats(c->client.pool).entries;
    pool_free(c->client.pool);
    free(c->why);
    free(c->seen);
    return left;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    size_t left = candidate_done(&f->a) + candidate_done(&f->b) + candidate_done(&f->c);
    mini_lease_free(f->lease);
    loop_free(f->loop);
    free(f);
    if (left)
        print_error("%zu pool entries are left\n", left);
    return left ? -1 : 0;
}

static void run(struct candidate *c, const char *identity) {
    struct leader_options opts = {
        .ns = "ops",
        .name = "slipway",
        .identity = identity,
        .seed = 7,
        .started = on_started,
        .stopped = on_stopped,
        .observed = on_observed,
        .arg = c,
    };
    assert_int_equal(leader_new(&c->client, &opts, &c->leader, NULL), 0);
}

static void advance(struct fixture *f, double seconds) {
    loop_advance(f->loop, (int64_t)(seconds * USEC_PER_SEC));
}

static int64_t now(struct fixture *f) {
    return loop_now(f->loop);
}

#define assert_holder(f, name)                                                                     \
    assert_string_equal(mini_lease_str((f)->lease, "holderIdentity"), name)
#define assert_transitions(f, n) assert_int_equal(mini_lease_int((f)->lease, "leaseTransitions"), n)

/* --- options --- */

static void test_options(void **state) {
    struct fixture *f = *state;
    static const struct {
        int64_t lease, renew, retry;
        bool ok;
    } rows[] = {
        {0, 0, 0, true},
        {SEC(15), SEC(10), SEC(2), true},
        {SEC(3), SEC(2), SEC(1), true},
        {SEC(10), SEC(10), SEC(2), false},
        {SEC(5), SEC(10), SEC(2), false},
        {SEC(15), SEC(2), SEC(2), false},
        {SEC(15), MSEC(2400), SEC(2), false}, /* 1.2 times is not longer than 1.2 times */
        {SEC(15), MSEC(2401), SEC(2), true},
        /* Others go by whole seconds: 1.9 s would be 1 s to them, less than our deadline. */
        {MSEC(1900), MSEC(1500), MSEC(500), false},
        {MSEC(2900), MSEC(1500), MSEC(500), true},
        {MSEC(900), MSEC(500), MSEC(100), false},
        {SEC(15), SEC(10), -SEC(2), false},
        {SEC(15), -SEC(10), SEC(2), false},
        {-SEC(15), -SEC(16), -SEC(20), false},
        {SEC(100000), SEC(10), SEC(2), false},
        {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct leader *l = NULL;
        struct leader_options opts = {.ns = "ops",
                                      .name = "slipway",
                                      .identity = "a",
                                      .lease = rows[i].lease,
                                      .renew = rows[i].renew,
                                      .retry = rows[i].retry};
        int rc = leader_new(&f->a.client, &opts, &l, &err);
        assert_int_equal(rc, rows[i].ok ? 0 : -EINVAL);
        assert_int_equal(l != NULL, rows[i].ok);
        if (!rows[i].ok)
            assert_non_null(strstr(err_msg(&err), "longer than the renew deadline"));
        leader_free(l);
    }
    for (int i = 0; i < 3; i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct leader *l = NULL;
        struct leader_options opts = {.ns = i == 0 ? "" : "ops",
                                      .name = i == 1 ? NULL : "slipway",
                                      .identity = i == 2 ? "" : "a"};
        assert_int_equal(leader_new(&f->a.client, &opts, &l, &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "needs an identity"));
    }
    leader_free(NULL);
}

/* --- one candidate --- */

static void test_acquires(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    assert_int_equal(f->a.starts, 0); /* callbacks come from the loop */
    assert_false(leader_is(f->a.leader));
    assert_int_equal(leader_left(f->a.leader), 0);
    advance(f, 0.1);
    assert_int_equal(f->a.starts, 1);
    assert_int_equal(f->a.fence, 0);
    assert_true(leader_is(f->a.leader));
    assert_string_equal(f->a.seen, "a");
    assert_holder(f, "a");
    assert_transitions(f, 0);
    assert_int_equal(mini_lease_int(f->lease, "leaseDurationSeconds"), 15);
    /* MicroTime, of the wall clock */
    assert_string_equal(mini_lease_str(f->lease, "acquireTime"), "2027-01-15T08:00:00.000000Z");
    assert_string_equal(mini_lease_str(f->lease, "renewTime"), "2027-01-15T08:00:00.000000Z");
    const json_t *meta = json_object_get(mini_lease_get(f->lease), "metadata");
    assert_string_equal(json_str(meta, "name"), "slipway");
    assert_string_equal(json_str(meta, "namespace"), "ops");
    assert_int_equal(f->a.link->gets, 1);
    assert_int_equal(f->a.link->writes, 1);
    assert_int_equal(leader_left(f->a.leader), SEC(10) - MSEC(100));
}

static void test_renews(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 0.1);
    for (int i = 1; i <= 30; i++) {
        advance(f, 2);
        /* The fast path: a write each time, no read before it. */
        assert_int_equal(f->a.link->writes, 1 + i);
        assert_int_equal(f->a.link->gets, 1);
    }
    assert_string_equal(mini_lease_str(f->lease, "acquireTime"), "2027-01-15T08:00:00.000000Z");
    assert_string_equal(mini_lease_str(f->lease, "renewTime"), "2027-01-15T08:01:00.000000Z");
    assert_transitions(f, 0);
    assert_int_equal(f->a.starts, 1);
    assert_int_equal(f->a.stops, 0);
    assert_int_equal(f->a.observed, 2); /* nobody, and then itself */
}

/* What others have put on the Lease stays, whatever it is. */
static void test_keeps_metadata(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("", 4));
    run(&f->a, "a");
    advance(f, 20);
    assert_holder(f, "a");
    const json_t *meta = json_object_get(mini_lease_get(f->lease), "metadata");
    assert_string_equal(json_str(json_object_get(meta, "labels"), "team"), "sea");
    const json_t *annotations = json_object_get(meta, "annotations");
    assert_string_equal(json_str(annotations, "note"), "keep");
    assert_non_null(json_str(annotations, "kubectl.kubernetes.io/last-applied-configuration"));
    assert_string_equal(json_str(meta, "uid"), "u1");
    assert_true(json_is_true(json_object_get(
        json_array_get(json_object_get(meta, "ownerReferences"), 0), "blockOwnerDeletion")));
    assert_transitions(f, 5); /* nobody's before: that is a change of holder too */
    assert_int_equal(f->a.fence, 5);
}

/* --- several --- */

static void test_second_waits(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 0.1);
    run(&f->b, "b");
    run(&f->c, "c");
    advance(f, 600);
    assert_int_equal(f->b.starts + f->c.starts, 0);
    assert_string_equal(f->b.seen, "a");
    assert_int_equal(f->b.observed, 1);
    assert_int_equal(f->b.link->writes, 0);
    /* It looks every 2 to 4.4 s. */
    assert_in_range(f->b.link->gets, 600 / 4.4 - 1, 600 / 2 + 1);
    assert_transitions(f, 0);
}

/* The leader is gone: somebody takes over when the record has not changed for its 15 s, not before,
 * and soon after. */
static void test_takeover(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 0.1);
    run(&f->b, "b");
    run(&f->c, "c");
    advance(f, 60);
    leader_free(f->a.leader);
    f->a.leader = NULL;
    int64_t last = mini_lease_changed(f->lease);
    while (!f->b.starts && !f->c.starts && now(f) < last + SEC(60))
        advance(f, 0.01);
    struct candidate *winner = f->b.starts ? &f->b : &f->c;
    assert_int_equal(f->b.starts + f->c.starts, 1);
    /* Seen up to 4.4 s after the last write, taken up to 4.4 s after it ran out. */
    assert_in_range(winner->started_at - last, SEC(15), SEC(15) + 2 * MSEC(4400));
    assert_transitions(f, 1);
    assert_int_equal(winner->fence, 1);
    assert_string_equal(mini_lease_str(f->lease, "acquireTime"),
                        mini_lease_str(f->lease, "renewTime"));
    advance(f, 120);
    assert_int_equal(f->b.starts + f->c.starts, 1);
    assert_int_equal(winner->stops, 0);
}

/* A record that changes is alive, whatever its times say; one that does not is dead. */
static void test_clocks_do_not_matter(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("other", 3));
    run(&f->a, "a");
    for (int i = 0; i < 20; i++) {
        char time[64];
        snprintf(time, sizeof time, "1999-01-01T00:00:%02d.000000Z", i);
        mini_lease_put(f->lease, "renewTime", json_string(time));
        advance(f, 10);
        assert_int_equal(f->a.starts, 0);
    }
    mini_lease_put(f->lease, "renewTime", json_string("2999-01-01T00:00:00.000000Z"));
    advance(f, 14.9);
    assert_int_equal(f->a.starts, 0);
    advance(f, 10);
    assert_int_equal(f->a.starts, 1);
    assert_int_equal(f->a.fence, 4);
}

/* The duration that counts is the one in the record. */
static void test_duration_of_record(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("other", 3));
    mini_lease_put(f->lease, "leaseDurationSeconds", json_integer(60));
    run(&f->a, "a");
    advance(f, 60);
    assert_int_equal(f->a.starts, 0);
    advance(f, 6);
    assert_int_equal(f->a.starts, 1);
    assert_int_equal(mini_lease_int(f->lease, "leaseDurationSeconds"), 15);
}

static void test_odd_records(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("other", 2147483647)); /* counting on would overflow */
    mini_lease_put(f->lease, "leaseDurationSeconds", json_null());
    run(&f->a, "a");
    advance(f, 14);
    assert_int_equal(f->a.starts, 0); /* no duration: ours */
    advance(f, 10);
    assert_int_equal(f->a.starts, 1);
    assert_transitions(f, 2147483647);
    mini_lease_set(f->lease, "{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{"
                             "'name':'slipway'},'spec':{}}");
    advance(f, 3); /* nobody holds it now */
    assert_int_equal(f->a.stops, 1);
    assert_int_equal(f->a.starts, 2);
    assert_holder(f, "a");
}

/* --- giving up --- */

static void test_resign(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 0.1);
    run(&f->b, "b");
    advance(f, 30);
    leader_resign(f->a.leader, on_resigned, &f->a);
    assert_int_equal(f->a.stops, 1);
    assert_string_equal(f->a.why, "it was given up");
    assert_false(leader_is(f->a.leader));
    assert_int_equal(f->a.resigns, 0); /* from the loop */
    int64_t at = now(f);
    advance(f, 0.001);
    assert_int_equal(f->a.resigns, 1);
    assert_true(f->b.starts || streq(mini_lease_str(f->lease, "holderIdentity"), ""));
    assert_transitions(f, 0);
    assert_int_equal(mini_lease_int(f->lease, "leaseDurationSeconds"), 1);
    advance(f, 4.4);
    assert_int_equal(f->b.starts, 1);
    assert_in_range(f->b.started_at - at, 0, MSEC(4400));
    assert_int_equal(f->b.fence, 1);
    /* It stays out, even when the Lease is free. */
    leader_free(f->b.leader);
    f->b.leader = NULL;
    mini_lease_set(f->lease, NULL);
    advance(f, 120);
    assert_int_equal(f->a.starts, 1);
    assert_null(mini_lease_get(f->lease));
    assert_int_equal(f->a.resigns, 1);
}

/* A renewal or a claim is under way: the Lease is given up all the same. */
static void test_resign_while_writing(void **state) {
    struct fixture *f = *state;
    f->a.link->steady = true;
    f->a.link->there = f->a.link->back = MSEC(300);
    run(&f->a, "a");
    advance(f, 0.65); /* the read is done, the claim is on its way */
    assert_int_equal(f->a.link->writes, 1);
    leader_resign(f->a.leader, on_resigned, &f->a);
    advance(f, 0.6);
    assert_int_equal(f->a.resigns, 0);
    advance(f, 0.6);
    assert_int_equal(f->a.resigns, 1);
    assert_int_equal(f->a.starts + f->a.stops, 0); /* never led */
    assert_holder(f, "");
    assert_int_equal(mini_lease_int(f->lease, "leaseDurationSeconds"), 1);

    run(&f->b, "b");
    f->b.link->steady = true;
    f->b.link->there = f->b.link->back = MSEC(300);
    advance(f, 2);
    assert_int_equal(f->b.starts, 1);
    unsigned writes = f->b.link->writes;
    while (f->b.link->writes == writes)
        advance(f, 0.01);
    leader_resign(f->b.leader, on_resigned, &f->b); /* a renewal is on its way */
    advance(f, 1.3);
    assert_int_equal(f->b.resigns, 1);
    assert_holder(f, "");
    advance(f, 60);
    assert_int_equal(f->b.resigns, 1);
}

static void test_resign_without_leading(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("other", 3));
    run(&f->a, "a");
    leader_resign(f->a.leader, on_resigned, &f->a); /* the first read is under way */
    advance(f, 0.1);
    assert_int_equal(f->a.resigns, 1);
    run(&f->b, "b");
    advance(f, 1);
    leader_resign(f->b.leader, on_resigned, &f->b); /* between two */
    assert_int_equal(f->b.resigns, 0);
    advance(f, 0.1);
    assert_int_equal(f->b.resigns, 1);
    assert_int_equal(f->a.stops + f->b.stops, 0);
    advance(f, 60);
    assert_holder(f, "other");
    assert_int_equal(f->a.link->writes + f->b.link->writes, 0);
}

static void test_resign_fails(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    f->a.link->code = 500;
    leader_resign(f->a.leader, on_resigned, &f->a);
    advance(f, 1);
    assert_int_equal(f->a.resigns, 1); /* told all the same */
    assert_holder(f, "a");             /* it runs out by itself */
    advance(f, 60);
    assert_int_equal(f->a.resigns, 1);
}

/* --- a later term was met --- */

/* Of a Lease that was deleted and counts anew. */
static void test_raised(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    assert_transitions(f, 0);
    leader_raise(f->a.leader, 7);
    assert_int_equal(f->a.stops, 1); /* at once */
    assert_false(leader_is(f->a.leader));
    advance(f, 1);
    assert_int_equal(f->a.starts, 2);
    assert_int_equal(leader_fence(f->a.leader), 8);
    assert_transitions(f, 8);
    leader_raise(f->a.leader, 5); /* ours is later than that */
    advance(f, 10);
    assert_int_equal(f->a.stops, 1);
    assert_transitions(f, 8);
}

/* A write of the old term is under way: it does not make it lead. */
static void test_raised_while_writing(void **state) {
    struct fixture *f = *state;
    f->a.link->steady = true;
    f->a.link->there = f->a.link->back = MSEC(100);
    run(&f->a, "a");
    advance(f, 1);
    assert_int_equal(f->a.starts, 1);
    unsigned writes = f->a.link->writes;
    while (f->a.link->writes == writes)
        advance(f, 0.01);
    leader_raise(f->a.leader, 3);
    advance(f, 0.3);
    assert_int_equal(f->a.starts, 1);
    advance(f, 4);
    assert_int_equal(f->a.starts, 2);
    assert_int_equal(leader_fence(f->a.leader), 4);
}

/* Somebody else holds the Lease by now: it is not taken from him. */
static void test_raised_too_late(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    mini_lease_set(f->lease, OF("other", 5));
    leader_raise(f->a.leader, 5);
    advance(f, 1);
    assert_false(leader_is(f->a.leader));
    assert_holder(f, "other");
    assert_transitions(f, 5);
}

/* --- trouble --- */

/* The reply to a renewal is lost: it was carried out, so the next write needs a read first. */
static void test_lost_reply(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    f->a.link->lose = true;
    advance(f, 1.5); /* the renewal at 2 s, and the read and the write after it */
    f->a.link->lose = false;
    unsigned gets = f->a.link->gets;
    advance(f, 5);
    assert_true(leader_is(f->a.leader));
    assert_int_equal(f->a.stops, 0);
    assert_holder(f, "a");
    assert_transitions(f, 0);
    assert_true(f->a.link->gets > gets);
    gets = f->a.link->gets;
    advance(f, 20); /* back on the fast path */
    assert_int_equal(f->a.link->gets, gets);
}

/* The reply to the claim is lost: found out, and leading, at the next look. */
static void test_lost_claim(void **state) {
    struct fixture *f = *state;
    f->a.link->steady = true;
    f->a.link->there = f->a.link->back = MSEC(10);
    run(&f->a, "a");
    advance(f, 0.019);
    f->a.link->lose = true;
    advance(f, 0.05);
    f->a.link->lose = false;
    assert_holder(f, "a");
    assert_int_equal(f->a.starts, 0);
    advance(f, 5);
    assert_int_equal(f->a.starts, 1);
    assert_int_equal(f->a.fence, 0);
    assert_transitions(f, 0);
}

/* Somebody labels the Lease: a conflict, a look, and the renewal goes through at once. */
static void test_conflict(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    for (int i = 0; i < 10; i++) {
        mini_lease_put(f->lease, "strategy", json_string("x"));
        unsigned gets = f->a.link->gets, writes = f->a.link->writes;
        advance(f, 2);
        assert_int_equal(f->a.link->gets, gets + 1);
        assert_int_equal(f->a.link->writes, writes + 2);
        assert_in_range(leader_left(f->a.leader), SEC(8), SEC(10));
    }
    assert_int_equal(f->a.stops, 0);
    assert_string_equal(mini_lease_str(f->lease, "strategy"), "x");
}

/* Somebody writes another holder into it. */
static void test_stolen(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    mini_lease_put(f->lease, "holderIdentity", json_string("thief"));
    advance(f, 2);
    assert_int_equal(f->a.stops, 1);
    assert_string_equal(f->a.why, "another one has taken the Lease");
    assert_string_equal(f->a.seen, "thief");
    assert_holder(f, "thief");
    advance(f, 14);
    assert_int_equal(f->a.starts, 1);
    advance(f, 10);
    assert_int_equal(f->a.starts, 2); /* the thief never renewed */
    assert_transitions(f, 1);
    assert_int_equal(f->a.fence, 1);
}

/* Errors that pass within the deadline are survived. */
static void test_errors_pass(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    static const int codes[] = {500, 503, 429, 401, 403};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        f->a.link->code = codes[i];
        advance(f, 5.5);
        assert_true(leader_is(f->a.leader));
        f->a.link->code = 0;
        advance(f, 10);
    }
    f->a.link->cut = true;
    advance(f, 5.5);
    f->a.link->cut = false;
    advance(f, 10);
    assert_int_equal(f->a.stops, 0);
    assert_int_equal(f->a.starts, 1);
}

/* Whatever keeps it from renewing, the leader stops 10 s after it began its last good write. */
static void test_deadline(void **state) {
    (void)state;
    enum { ERRORS, CUT, HANG, LOSE, CONFLICT, WAYS };
    for (int way = 0; way < WAYS; way++) {
        struct fixture *f;
        setup((void **)&f);
        run(&f->a, "a");
        advance(f, 60.5);
        int64_t last = mini_lease_changed(f->lease);
        assert_true(leader_is(f->a.leader));
        assert_int_equal(leader_left(f->a.leader), last + SEC(10) - now(f));
        f->a.link->code = way == ERRORS ? 500 : 0;
        f->a.link->cut = way == CUT;
        f->a.link->hang = way == HANG;
        f->a.link->lose = way == LOSE;
        f->a.link->refuse_writes = way == CONFLICT;
        while (!f->a.stops && now(f) < SEC(120))
            advance(f, 0.001);
        assert_string_equal(f->a.why, "the Lease could not be renewed in time");
        assert_int_equal(f->a.stopped_at, last + SEC(10));
        assert_false(leader_is(f->a.leader));
        /* It is a candidate still. */
        f->a.link->cut = f->a.link->hang = f->a.link->lose = f->a.link->refuse_writes = false;
        f->a.link->code = 0;
        advance(f, 20);
        assert_int_equal(f->a.starts, 2);
        assert_int_equal(f->a.fence, 0); /* nobody else had it in between */
        assert_int_equal(teardown((void **)&f), 0);
    }
}

/* The deadline is over while the answer to the claim waits to be read (a suspended process). */
static void test_late_answer(void **state) {
    struct fixture *f = *state;
    f->a.link->steady = f->a.link->late = true;
    f->a.link->there = f->a.link->back = MSEC(1);
    run(&f->a, "a");
    advance(f, 0.0015); /* the read is answered at 2 ms */
    f->a.link->back = SEC(12);
    advance(f, 11.9);
    assert_holder(f, "a");
    advance(f, 0.2);
    assert_int_equal(f->a.starts, 0);
    assert_false(leader_is(f->a.leader));
    f->a.link->back = MSEC(1);
    advance(f, 20);
    assert_int_equal(f->a.starts, 1);
}

/* A hang of the server keeps nobody from stopping, and its late effects hurt nobody. */
static void test_slow_writes(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    run(&f->b, "b");
    f->a.link->steady = true;
    f->a.link->there = SEC(14); /* renewals arrive long after we gave them up */
    advance(f, 300);
    assert_int_equal(f->a.stops, 1);
    assert_int_equal(f->b.starts, 1);
    assert_true(f->b.started_at >= f->a.stopped_at);
    assert_true(leader_is(f->b.leader));
    assert_holder(f, "b");
}

/* --- deleted --- */

static void test_deleted_while_leading(void **state) {
    struct fixture *f = *state;
    mini_lease_set(f->lease, OF("", 7));
    run(&f->a, "a");
    advance(f, 1);
    assert_int_equal(f->a.fence, 8);
    mini_lease_set(f->lease, NULL);
    advance(f, 2);
    assert_int_equal(f->a.stops, 1);
    assert_string_equal(f->a.why, "the Lease was deleted");
    assert_int_equal(f->a.starts, 2);
    assert_holder(f, "a");
    assert_int_equal(f->a.fence, 9); /* the count never goes back */
    assert_transitions(f, 9);
}

/* Others do not jump at it: the leader may not know yet. */
static void test_deleted_while_waiting(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 0.1);
    run(&f->b, "b");
    advance(f, 30);
    f->a.link->hang = true;
    int64_t last = mini_lease_changed(f->lease);
    mini_lease_set(f->lease, NULL);
    while (!f->b.starts && now(f) < SEC(200))
        advance(f, 0.01);
    assert_true(f->b.started_at >= last + SEC(15));
    assert_true(f->a.stopped_at <= f->b.started_at);
    assert_int_equal(f->b.fence, 1);
}

/* --- limits --- */

/* A server that lets us read and refuses each write is not asked in a circle. */
static void test_bounded(void **state) {
    struct fixture *f = *state;
    run(&f->a, "a");
    advance(f, 1);
    f->a.link->refuse_writes = true;
    unsigned before = f->a.link->gets + f->a.link->writes;
    advance(f, 3600);
    assert_in_range(f->a.link->gets + f->a.link->writes - before, 1000, 3 * 1800);
    f->a.link->code = 500;
    before = f->a.link->gets + f->a.link->writes;
    advance(f, 3600);
    assert_in_range(f->a.link->gets + f->a.link->writes - before, 500, 1800);
}

/* Freed at any moment: nothing is called any more, nothing leaks. */
static void test_free_anywhere(void **state) {
    (void)state;
    for (int ms = 0; ms < 3000; ms += 7) {
        struct fixture *f;
        setup((void **)&f);
        f->a.link->steady = true;
        f->a.link->there = f->a.link->back = MSEC(100);
        run(&f->a, "a");
        advance(f, ms / 1000.0);
        int starts = f->a.starts;
        if (ms % 2)
            leader_resign(f->a.leader, on_resigned, &f->a);
        leader_free(f->a.leader);
        f->a.leader = NULL;
        advance(f, 30);
        assert_int_equal(f->a.starts, starts);
        assert_int_equal(f->a.resigns, 0);
        assert_int_equal(teardown((void **)&f), 0);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(options),
        TEST(acquires),
        TEST(renews),
        TEST(keeps_metadata),
        TEST(second_waits),
        TEST(takeover),
        TEST(clocks_do_not_matter),
        TEST(duration_of_record),
        TEST(odd_records),
        TEST(resign),
        TEST(resign_while_writing),
        TEST(resign_without_leading),
        TEST(resign_fails),
        TEST(lost_reply),
        TEST(lost_claim),
        TEST(conflict),
        TEST(stolen),
        TEST(errors_pass),
        TEST(deadline),
        TEST(late_answer),
        TEST(slow_writes),
        TEST(raised),
        TEST(raised_while_writing),
        TEST(raised_too_late),
        TEST(deleted_while_leading),
        TEST(deleted_while_waiting),
        TEST(bounded),
        TEST(free_anywhere),
    };
    return cmocka_run_group_tests_name("kube/leader", tests, NULL, NULL);
}
