/* Tests of src/controller/election.c: who leads, and the hand-over, with a simulated cluster. */
#include "controller/election.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"

#define LEASE "/apis/coordination.k8s.io/v1/namespaces/default/leases/slipway-controller"
#define POD(name, node, more)                                                                      \
    "{'metadata':{'namespace':'default','name':'" name                                             \
    "','labels':{'slipway.dev/controller':''}" more "},'spec':{'nodeName':'" node                  \
    "','containers':[{'name':'c','image':'i'}]}}"

struct candidate {
    struct election *e;
    unsigned led, followed, decided;
    int32_t fence;
};

struct fixture {
    struct drain_site s;
    struct cluster cluster;
    struct candidate one[2];
    unsigned given_up;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 3);
    cluster_init(&f->cluster, f->s.client.pool);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    election_free(f->one[0].e);
    election_free(f->one[1].e);
    cluster_done(&f->cluster);
    drain_site_done(&f->s);
    free(f);
    return 0;
}

#define ELECTION_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void on_lead(void *arg, int32_t fence) {
    struct candidate *one = arg;
    one->led++;
    one->fence = fence;
}

static void on_follow(void *arg) {
    ((struct candidate *)arg)->followed++;
}

static void on_decided(void *arg) {
    ((struct candidate *)arg)->decided++;
}

static void on_given_up(void *arg) {
    ((struct fixture *)arg)->given_up++;
}

static void begin_in(struct fixture *f, unsigned i, const char *ns) {
    struct candidate *one = &f->one[i];
    struct election_opts opts = {.ns = ns,
                                 .identity = i ? "second" : "first",
                                 .pod = i ? "c1" : "c0",
                                 .cluster = &f->cluster,
                                 .log = &f->s.log,
                                 .seed = 7 + i,
                                 .lead = on_lead,
                                 .follow = on_follow,
                                 .decided = on_decided,
                                 .arg = one};
    assert_int_equal(election_new(&f->s.client, &opts, &one->e, NULL), 0);
}

static void begin(struct fixture *f, unsigned i) {
    begin_in(f, i, "default");
}

static const char *holder(struct fixture *f) {
    pace_catch_up(f->s.pace);
    return sim_str(sim_ask(&f->s.sim, 200, "GET", LEASE, NULL), "spec.holderIdentity");
}

static void one_of_two_leads(void **state) {
    struct fixture *f = *state;
    assert_false(election_leads(NULL));
    assert_non_null(election_problem(NULL));
    begin(f, 0);
    assert_string_equal(election_problem(f->one[0].e), "who leads is not known yet");
    drain_site_pass(&f->s, SEC(5));
    begin(f, 1);
    drain_site_pass(&f->s, SEC(5));
    assert_true(election_leads(f->one[0].e));
    assert_false(election_leads(f->one[1].e));
    assert_null(election_problem(f->one[0].e));
    assert_null(election_problem(f->one[1].e));
    assert_int_equal(f->one[0].led, 1);
    assert_int_equal(f->one[1].led, 0);
    election_resign(f->one[0].e, on_given_up, f);
    drain_site_pass(&f->s, SEC(60));
    assert_int_equal(f->given_up, 1);
    assert_string_equal(holder(f), "second"); /* and the first one stays out */
    assert_true(f->one[1].fence > f->one[0].fence);
}

static void a_term_that_was_there_before(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    election_raise(f->one[0].e, 100); /* it does not lead: that is another's matter */
    drain_site_pass(&f->s, SEC(5));
    assert_in_range(f->one[0].fence, 0, 10);
    election_raise(f->one[0].e, 100);
    assert_int_equal(f->one[0].followed, 1);
    drain_site_pass(&f->s, SEC(5));
    assert_true(election_leads(f->one[0].e));
    assert_true(f->one[0].fence > 100);
}

static size_t lines_of(FILE *log) {
    size_t n = 0;
    rewind(log);
    for (int c; (c = getc(log)) != EOF;)
        n += c == '\n';
    return n;
}

/* Without its namespace nobody can ever lead: that is said, at once and now and then. */
static void a_lease_that_cannot_be_written_is_said(void **state) {
    struct fixture *f = *state;
    FILE *log = tmpfile();
    f->s.log = (struct log){.level = LOG_WARN, .fd = fileno(log)};
    begin_in(f, 0, "nowhere");
    drain_site_pass(&f->s, SEC(1));
    const char *problem = election_problem(f->one[0].e);
    assert_non_null(problem);
    assert_non_null(strstr(problem, "the Lease nowhere/slipway-controller cannot be"));
    assert_non_null(strstr(problem, "\"nowhere\" not found"));
    assert_int_equal(lines_of(log), 1);
    drain_site_pass(&f->s, SEC(200));
    assert_int_equal(lines_of(log), 4);
    assert_int_equal(f->one[0].led, 0);
    site_post(&f->s, "/api/v1/namespaces", "{'metadata':{'name':'nowhere'}}");
    drain_site_pass(&f->s, SEC(10));
    assert_int_equal(f->one[0].led, 1);
    assert_null(election_problem(f->one[0].e));
    fclose(log);
}

/* It holds its own Lease all the time, and does nothing with it. */
static void not_beside_another_slipway(void **state) {
    struct fixture *f = *state;
    char now[TIMEFMT_LEN];
    _cleanup_free_ char *other =
        xasprintf("{'metadata':{'name':'slipway-controller'},'spec':{'holderIdentity':'other',"
                  "'leaseDurationSeconds':15,'renewTime':'%s'}}",
                  time_format(loop_wall(f->s.loop), true, now));
    site_post(&f->s, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", other);
    assert_null(election_barred(NULL));
    drain_site_pass(&f->s, SEC(2));
    begin(f, 0);
    drain_site_pass(&f->s, SEC(10));
    assert_string_equal(holder(f), "first");
    assert_false(election_leads(f->one[0].e));
    assert_int_equal(f->one[0].led, 0);
    assert_non_null(strstr(election_barred(f->one[0].e), "kube-system"));
    drain_site_pass(&f->s, SEC(10)); /* it is not renewed */
    assert_true(election_leads(f->one[0].e));
    assert_int_equal(f->one[0].led, 1);
    assert_null(election_barred(f->one[0].e));
    assert_int_equal(f->one[0].followed, 0);
}

/* --- its own node --- */

static void pod_is_seen(struct fixture *f, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    struct object *pod = object_new(&kind_pod);
    struct codec codec;
    codec_init(&codec, f->s.client.pool);
    assert_int_equal(codec_json(&codec, kind_pod.type, view_of(text), pod, NULL), 0);
    codec_done(&codec);
    assert_true(store_put(f->cluster.pods, pod));
}

static void it_goes_on_where_there_is_nobody_else(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    site_post(&f->s, "/api/v1/namespaces/default/pods", POD("c0", "w0", ""));
    pod_is_seen(f, POD("c0", "w0", ",'resourceVersion':'1'"));
    drain_site_pass(&f->s, SEC(5));
    assert_true(election_may_drain(f->one[0].e, "w1"));
    assert_false(election_may_drain(f->one[0].e, "w0"));
    drain_site_pass(&f->s, SEC(5));
    assert_int_equal(f->one[0].decided, 1);
    assert_true(election_may_drain(f->one[0].e, "w0"));
    assert_true(election_leads(f->one[0].e));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ELECTION_TEST(one_of_two_leads),
        ELECTION_TEST(a_term_that_was_there_before),
        ELECTION_TEST(a_lease_that_cannot_be_written_is_said),
        ELECTION_TEST(not_beside_another_slipway),
        ELECTION_TEST(it_goes_on_where_there_is_nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
