/* Tests of src/exec/starts.c, on a simulated cluster. */
#include "exec/starts.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/vec.h"
#include "kube/reflector.h"

#define PODS "/api/v1/namespaces/default/pods"

struct seen {
    char *name;
    int64_t up, place;
};

struct fixture {
    struct drain_site site;
    struct starts *starts;
    VEC(struct seen) seen;
    struct str remarks;
};

static void on_seen(void *arg, const struct start_seen *start) {
    struct fixture *f = arg;
    *vec_push(&f->seen) = (struct seen){xstrdup(start->pod->meta.name), start->up, start->place};
}

static void on_remark(void *arg, const char *text) {
    struct fixture *f = arg;
    str_addf(&f->remarks, "%s\n", text);
}

static void fixture_init(struct fixture *f) {
    *f = (struct fixture){0};
    drain_site_init(&f->site, 2);
    f->starts = starts_new(&f->site.client,
                           &(struct starts_opts){.seen = on_seen, .remark = on_remark, .arg = f});
}

static void fixture_done(struct fixture *f) {
    starts_free(f->starts);
    for (size_t i = 0; i < f->seen.len; i++)
        free(f->seen.p[i].name);
    vec_done(&f->seen);
    str_done(&f->remarks);
    drain_site_done(&f->site);
}

/* Pods that take 3 s to run, 2 s more to be ready, and 20 s to end. */
static void workload(struct fixture *f, const char *kind, const char *plural, int replicas,
                     const char *cpu) {
    _cleanup_free_ char *json = xasprintf(
        "{'apiVersion':'apps/v1','kind':'%s','metadata':{'name':'web'},'spec':{'replicas':%d,"
        "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'},"
        "'annotations':{'sim.slipway.dev/start':'3s','sim.slipway.dev/ready':'2s',"
        "'sim.slipway.dev/stop':'20s'}},"
        "'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'%s'}}}]}}}}",
        kind, replicas, cpu);
    _cleanup_free_ char *target = xasprintf("/apis/apps/v1/namespaces/default/%s", plural);
    site_post(&f->site, target, json);
    drain_site_pass(&f->site, SEC(60));
}

/* Deletes the first pod. */
static void delete_one(struct fixture *f) {
    const json_t *items = json_object_get(sim_ask(&f->site.sim, 200, "GET", PODS, NULL), "items");
    _cleanup_free_ char *target =
        xasprintf(PODS "/%s", sim_str(json_array_get(items, 0), "metadata.name"));
    pace_catch_up(f->site.pace);
    sim_ask(&f->site.sim, 200, "DELETE", target, NULL);
    pace_update(f->site.pace);
    drain_site_pass(&f->site, SEC(60));
}

static void a_replacement_is_seen(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    workload(&f, "Deployment", "deployments", 3, "1m");
    starts_watch(f.starts, "default");
    starts_watch(f.starts, "default");
    drain_site_pass(&f.site, SEC(30));
    assert_int_equal(f.seen.len, 0); /* those that were there have not come before our eyes */
    delete_one(&f);
    assert_int_equal(f.seen.len, 1);
    assert_in_range(f.seen.p[0].up, SEC(5), SEC(5) + MSEC(200));
    /* It is made when the other begins to leave, not when it is gone. */
    assert_in_range(f.seen.p[0].place, 1, MSEC(500));
    fixture_done(&f);
}

/* Its successor has the same name: it comes when the other is gone, and that took no control plane
 * 20 s. */
static void of_a_stateful_set(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    workload(&f, "StatefulSet", "statefulsets", 1, "1m");
    starts_watch(f.starts, "default");
    drain_site_pass(&f.site, SEC(1));
    delete_one(&f);
    assert_int_equal(f.seen.len, 1);
    assert_string_equal(f.seen.p[0].name, "web-0");
    assert_in_range(f.seen.p[0].up, SEC(5), SEC(5) + MSEC(200));
    assert_in_range(f.seen.p[0].place, 1, MSEC(500));
    fixture_done(&f);
}

/* What replaces nothing says nothing about how fast the control plane is; nor does what waits for
 * room. */
static void no_place(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    workload(&f, "Deployment", "deployments", 1, "1m");
    starts_watch(f.starts, "default");
    drain_site_pass(&f.site, SEC(1));
    site_patch(&f.site, "/apis/apps/v1/namespaces/default/deployments/web",
               "{'spec':{'replicas':2}}");
    drain_site_pass(&f.site, SEC(60));
    assert_int_equal(f.seen.len, 1);
    assert_int_equal(f.seen.p[0].place, -1);
    site_patch(&f.site, "/api/v1/nodes/w0", "{'spec':{'unschedulable':true}}");
    site_patch(&f.site, "/api/v1/nodes/w1", "{'spec':{'unschedulable':true}}");
    delete_one(&f);
    assert_int_equal(f.seen.len, 1);
    site_patch(&f.site, "/api/v1/nodes/w0", "{'spec':{'unschedulable':null}}");
    drain_site_pass(&f.site, SEC(120));
    assert_int_equal(f.seen.len, 2);
    assert_int_equal(f.seen.p[1].place, -1);
    assert_in_range(f.seen.p[1].up, SEC(5), SEC(5) + MSEC(200));
    fixture_done(&f);
}

/* One watch for all of them, once they are many. */
static void many_namespaces(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    workload(&f, "Deployment", "deployments", 1, "1m");
    char name[16];
    for (int i = 0; i < 16; i++) {
        (void)snprintf(name, sizeof name, "ns-%d", i);
        starts_watch(f.starts, name);
    }
    starts_watch(f.starts, "other");
    starts_watch(f.starts, "one-more");
    drain_site_pass(&f.site, SEC(1));
    delete_one(&f); /* in another namespace */
    assert_int_equal(f.seen.len, 1);
    fixture_done(&f);
}

/* Nobody waits for it, so it is said once, and left. */
static void what_may_not_be_read(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    kube_fault_add(
        f.site.fault,
        &(struct kube_fault_rule){.kind = KUBE_FAULT_STATUS, .path = "/namespaces/", .code = 403});
    starts_watch(f.starts, "default");
    starts_watch(f.starts, "shop");
    drain_site_pass(&f.site, SEC(600));
    assert_int_equal(strncmp(str_get(&f.remarks), "cannot watch pods of namespace default: ", 40),
                     0);
    assert_int_equal(strcspn(str_get(&f.remarks), "\n"), f.remarks.len - 1);
    uint64_t fired = kube_fault_fired(f.site.fault, 0);
    drain_site_pass(&f.site, SEC(3600));
    assert_int_equal(kube_fault_fired(f.site.fault, 0), fired);
    fixture_done(&f);
}

/* A store that somebody else fills. */
static void of_a_store(void **state) {
    (void)state;
    struct fixture f;
    fixture_init(&f);
    workload(&f, "Deployment", "deployments", 2, "1m");
    struct store *pods = store_new(&kind_pod, f.site.client.pool);
    struct reflector *all = reflector_new(&f.site.client, pods, &(struct reflector_options){0});
    drain_site_pass(&f.site, SEC(1));
    starts_listen(f.starts, pods);
    starts_watch(f.starts, "default"); /* is in there */
    delete_one(&f);
    assert_int_equal(f.seen.len, 1);
    reflector_free(all);
    store_free(pods);
    fixture_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replacement_is_seen),
        cmocka_unit_test(of_a_stateful_set),
        cmocka_unit_test(no_place),
        cmocka_unit_test(many_namespaces),
        cmocka_unit_test(what_may_not_be_read),
        cmocka_unit_test(of_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
