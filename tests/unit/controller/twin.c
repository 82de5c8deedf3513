/* Tests of src/controller/twin.c: two Slipways in two namespaces, with a simulated cluster. */
#include "controller/twin.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/timefmt.h"

struct fixture {
    struct drain_site s;
    struct twin *t;
    unsigned changed;
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 1);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    twin_free(f->t);
    drain_site_done(&f->s);
    free(f);
    return 0;
}

#define TWIN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void on_changed(void *arg) {
    ((struct fixture *)arg)->changed++;
}

static void begin(struct fixture *f) {
    f->t = twin_new(
        &f->s.client,
        &(struct twin_opts){.ns = "default", .log = &f->s.log, .changed = on_changed, .arg = f});
    assert_non_null(twin_ahead(f->t)); /* nobody acts before it is known */
    drain_site_pass(&f->s, SEC(1));
}

static const char *wall(struct fixture *f, int64_t ago, char text[TIMEFMT_LEN]) {
    return time_format(loop_wall(f->s.loop) - ago, true, text);
}

static void lease(struct fixture *f, const char *ns, int64_t ago) {
    char now[TIMEFMT_LEN];
    _cleanup_free_ char *path = xasprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases", ns);
    _cleanup_free_ char *body =
        xasprintf("{'metadata':{'name':'slipway-controller'},'spec':{'holderIdentity':'x',"
                  "'leaseDurationSeconds':15,'renewTime':'%s'}}",
                  wall(f, ago, now));
    site_post(&f->s, path, body);
}

static void renew(struct fixture *f, const char *ns) {
    char now[TIMEFMT_LEN];
    _cleanup_free_ char *path =
        xasprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/slipway-controller", ns);
    _cleanup_free_ char *body = xasprintf("{'spec':{'renewTime':'%s'}}", wall(f, 0, now));
    site_patch(&f->s, path, body);
}

static void alone_it_may_act(void **state) {
    struct fixture *f = *state;
    begin(f);
    assert_null(twin_ahead(f->t));
    lease(f, "default", 0); /* its own */
    drain_site_pass(&f->s, SEC(60));
    assert_null(twin_ahead(f->t));
    assert_int_equal(f->changed, 1);
}

static void the_later_one_waits_until_the_other_is_gone(void **state) {
    struct fixture *f = *state;
    lease(f, "kube-system", 0);
    drain_site_pass(&f->s, SEC(2));
    lease(f, "default", 0);
    begin(f);
    assert_non_null(twin_ahead(f->t));
    assert_non_null(strstr(twin_ahead(f->t), "in namespace kube-system (its Lease"));
    for (unsigned i = 0; i < 30; i++) {
        renew(f, "kube-system");
        drain_site_pass(&f->s, SEC(2));
        assert_non_null(twin_ahead(f->t));
    }
    drain_site_pass(&f->s, SEC(20));
    assert_null(twin_ahead(f->t));
    renew(f, "kube-system"); /* it was only frozen */
    drain_site_pass(&f->s, SEC(1));
    assert_non_null(twin_ahead(f->t));
}

static void the_earlier_one_goes_on(void **state) {
    struct fixture *f = *state;
    lease(f, "default", 0);
    drain_site_pass(&f->s, SEC(2));
    begin(f);
    lease(f, "kube-system", 0);
    drain_site_pass(&f->s, SEC(1));
    assert_null(twin_ahead(f->t));
}

/* One that is left of an installation that is gone for long does not hold it up. */
static void what_is_left_of_one_is_nobodys(void **state) {
    struct fixture *f = *state;
    lease(f, "kube-system", SEC(3600));
    begin(f);
    assert_null(twin_ahead(f->t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TWIN_TEST(alone_it_may_act),
        TWIN_TEST(the_later_one_waits_until_the_other_is_gone),
        TWIN_TEST(the_earlier_one_goes_on),
        TWIN_TEST(what_is_left_of_one_is_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
