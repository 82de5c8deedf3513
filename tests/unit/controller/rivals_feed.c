/* Tests of src/controller/rivals_feed.c: what a simulated cluster shows of others. */
#include "controller/rivals_feed.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/timefmt.h"

struct fixture {
    struct drain_site s;
    struct rivals_feed *feed;
    unsigned locks, pods; /* that have changed */
    struct str logged;
    struct log log;
};

static void on_lock(void *arg, const struct object *before, const struct object *after) {
    struct fixture *f = arg;
    assert_true(before || after);
    f->locks++;
}

static void on_pod(void *arg, const struct object *before, const struct object *after) {
    struct fixture *f = arg;
    assert_true(before || after);
    f->pods++;
}

/* All that was logged. */
static const char *logged(struct fixture *f) {
    char text[4096];
    ssize_t n = pread(f->log.fd, text, sizeof text, 0);
    assert_in_range(n, 0, sizeof text - 1);
    str_reset(&f->logged);
    str_addf(&f->logged, "%.*s", (int)n, text);
    return str_get(&f->logged);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 2);
    f->log = (struct log){.level = LOG_INFO, .fd = memfd_create("log", MFD_CLOEXEC)};
    assert_true(f->log.fd >= 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    rivals_feed_free(f->feed);
    drain_site_done(&f->s);
    str_done(&f->logged);
    close(f->log.fd);
    free(f);
    return 0;
}

#define FEED_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define SETS         "/apis/apps/v1/namespaces/default/daemonsets"

static void start(struct fixture *f) {
    f->feed = rivals_feed_new(
        &f->s.client,
        &(struct rivals_feed_opts){
            .log = &f->log, .seed = 1, .lock_changed = on_lock, .pod_changed = on_pod, .arg = f});
    drain_site_pass(&f->s, SEC(5));
}

static void daemon_set(struct fixture *f, const char *name) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s'},'spec':{'selector':{'matchLabels':{'app':'%s'}},"
                  "'template':{'metadata':{'labels':{'app':'%s'}},'spec':{'nodeSelector':{'no':"
                  "'where'},'containers':[{'name':'c','image':'i'}]}}}}",
                  name, name, name);
    site_post(&f->s, SETS, json);
}

static const char *at_work(struct fixture *f, const char *name) {
    struct rival_signs signs = rivals_feed_signs(f->feed);
    const struct node node = {.meta.name = name};
    const struct rival_row *row = rival_at_work(&signs, &node, loop_wall(f->s.loop));
    return row ? row->name : "";
}

/* Whatever its DaemonSet is called; and pods of nodes that nobody works on. */
static void locks_and_pods(void **state) {
    struct fixture *f = *state;
    daemon_set(f, "agent");
    daemon_set(f, "reboots");
    site_pod(&f->s, "other", "w1", NULL);
    start(f);
    assert_string_equal(at_work(f, "w0"), "");
    assert_true(store_synced(rivals_feed_signs(f->feed).locks));
    assert_true(store_synced(rivals_feed_signs(f->feed).pods));
    unsigned locks = f->locks;
    site_patch(&f->s, SETS "/reboots",
               "{'metadata':{'annotations':{'weave.works/kured-node-lock':'{\\\"nodeID\\\":"
               "\\\"w0\\\",\\\"TTL\\\":0}'}}}");
    site_pod(&f->s, "upgrade", "w1", NULL);
    site_patch(&f->s, "/api/v1/namespaces/default/pods/upgrade",
               "{'metadata':{'labels':{'upgrade.cattle.io/plan':'k3s'}}}");
    drain_site_pass(&f->s, SEC(5));
    assert_true(f->locks > locks);
    assert_string_equal(at_work(f, "w0"), "kured");
    assert_string_equal(at_work(f, "w1"), "system-upgrade-controller");
    struct rival_signs signs = rivals_feed_signs(f->feed);
    assert_int_equal(store_len(signs.locks), 2);
    assert_int_equal(store_len(signs.pods), 1);
    assert_null(store_get(signs.locks, "default", "agent")->meta.annotations);
    site_patch(&f->s, SETS "/reboots",
               "{'metadata':{'annotations':{'weave.works/kured-node-lock':null}}}");
    drain_site_pass(&f->s, SEC(5));
    assert_string_equal(at_work(f, "w0"), "");
    assert_string_equal(logged(f), "");
}

/* Where an older role is in force it is said, and not again and again. */
static void what_may_not_be_read(void **state) {
    struct fixture *f = *state;
    daemon_set(f, "kured");
    kube_fault_add(f->s.fault,
                   &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS,
                                             .path = "/daemonsets",
                                             .code = 403,
                                             .body = "{\"kind\":\"Status\",\"message\":\"no\","
                                                     "\"reason\":\"Forbidden\",\"code\":403}"});
    start(f);
    drain_site_pass(&f->s, SEC(1800));
    assert_int_equal(store_len(rivals_feed_signs(f->feed).locks), 0);
    const char *first = strstr(logged(f), "cannot watch daemonsets: ");
    assert_non_null(first);
    assert_null(strstr(first + 1, "cannot watch"));
    kube_fault_clear(f->s.fault);
    drain_site_pass(&f->s, SEC(120));
    assert_int_equal(store_len(rivals_feed_signs(f->feed).locks), 1);
    assert_non_null(strstr(logged(f), "watching daemonsets for other managers works"));
}

/* Of one that does not lead nothing is known. */
static void without_a_feed(void **state) {
    (void)state;
    struct rival_signs none = rivals_feed_signs(NULL);
    assert_null(none.locks);
    assert_null(none.pods);
    rivals_feed_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FEED_TEST(locks_and_pods),
        FEED_TEST(what_may_not_be_read),
        cmocka_unit_test(without_a_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
