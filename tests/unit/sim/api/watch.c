/* Watches: what is told, when it ends, what a slow reader costs. */
#include "sim/api/api.h"

#include "sim/api/api_internal.h"
#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_events(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps", NULL);
    char target[256];
    (void)snprintf(
        target, sizeof target,
        "/api/v1/namespaces/default/configmaps?watch=1&labelSelector=on&resourceVersion=%s",
        sim_str(l, "metadata.resourceVersion"));
    struct sim_site w = s; /* a second pair of hands on the same cluster */
    w.last = (struct api_reply){0};
    w.values = (__typeof__(w.values))VEC_INIT;
    sim_ask(&w, 200, "GET", target, NULL);
    assert_non_null(w.last.stream);
    assert_int_equal(api_stream_pull(w.last.stream, &w.last.body), API_WAIT);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"a\"}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"metadata\":{\"labels\":{\"on\":\"1\"}}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"y\"}}");
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"metadata\":{\"labels\":null}}");
    assert_int_equal(api_stream_pull(w.last.stream, &w.last.body), API_WAIT);
    const char *text = str_get(&w.last.body);
    const char *added = strstr(text, "{\"type\":\"ADDED\"");
    const char *modified = strstr(text, "{\"type\":\"MODIFIED\"");
    const char *deleted = strstr(text, "{\"type\":\"DELETED\"");
    assert_true(added && modified && deleted && added < modified && modified < deleted);
    api_reply_done(&w.last);
    sim_site_done(&s);
}

static void test_begins_and_ends(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"a\"}}");
    sim_ask(&s, 200, "GET",
            "/api/v1/namespaces/default/configmaps?watch=1&allowWatchBookmarks=1&timeoutSeconds=5",
            NULL);
    assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_WAIT);
    assert_non_null(strstr(str_get(&s.last.body), "k8s.io/initial-events-end"));
    sim_pass(&s, SEC(4)); /* a bookmark comes two seconds before the end */
    str_reset(&s.last.body);
    assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_WAIT);
    assert_non_null(strstr(str_get(&s.last.body), "BOOKMARK"));
    sim_pass(&s, SEC(2));
    assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_END);
    sim_compact(s.sim);
    sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=1",
            NULL);
    assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_END);
    assert_non_null(strstr(str_get(&s.last.body), "\"reason\":\"Expired\""));
    assert_non_null(strstr(str_get(&s.last.body), "\"code\":410"));
    sim_site_done(&s);
}

static void test_slow_reader(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"a\"}}");
    struct sim_site w = s;
    w.last = (struct api_reply){0};
    w.values = (__typeof__(w.values))VEC_INIT;
    sim_ask(&w, 200, "GET", "/api/v1/namespaces/default/configmaps?watch=1", NULL);
    assert_int_equal(api_stream_pull(w.last.stream, &w.last.body), API_WAIT);
    /* the history moves on without it */
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"1\"}}");
    sim_compact(s.sim);
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"2\"}}");
    assert_int_equal(api_stream_pull(w.last.stream, &w.last.body), API_END);
    api_reply_done(&w.last);
    sim_site_done(&s);
}

/* One that has not even told what there was at first lets go of it: nobody knows when it will be
 * read again. */
static void test_left_behind(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"a\"}}");
    struct sim_site w = s;
    w.last = (struct api_reply){0};
    w.values = (__typeof__(w.values))VEC_INIT;
    sim_ask(&w, 200, "GET", "/api/v1/namespaces/default/configmaps?watch=1", NULL);
    assert_true(w.last.watch);
    struct shelf *shelf = NULL;
    for (size_t i = 0; i < s.api->resources.len; i++)
        if (streq(s.api->resources.p[i]->info->plural, "configmaps"))
            shelf = s.api->resources.p[i]->shelf;
    struct record *first = record_ref(shelf_get(shelf, "default", "a"));
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"1\"}}");
    sim_compact(s.sim);
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/a",
            "{\"data\":{\"x\":\"2\"}}");
    assert_int_equal(first->refs, 1);
    record_unref(first);
    assert_int_equal(api_stream_pull(w.last.stream, &w.last.body), API_END);
    assert_int_equal(w.last.body.len, 0);
    api_reply_done(&w.last);
    sim_site_done(&s);
}

/* A bookmark is an object of the kind with nothing in it: Go prints what has no omitempty, and the
 * number of replicas, which is no pointer inside the server. */
static void test_empty_objects(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"/apis/policy/v1/poddisruptionbudgets", "\"spec\":{},\"status\":{\"disruptionsAllowed\":0,"
                                                 "\"currentHealthy\":0,\"desiredHealthy\":0,"
                                                 "\"expectedPods\":0}}}\n"},
        {"/apis/storage.k8s.io/v1/volumeattachments",
         "\"spec\":{\"attacher\":\"\",\"source\":{},\"nodeName\":\"\"},\"status\":{\"attached\":"
         "false}}}\n"},
        {"/apis/apps/v1/replicasets", "\"spec\":{\"replicas\":0,"},
        {"/apis/apps/v1/replicasets", "\"status\":{\"replicas\":0}}}\n"},
        {"/apis/apps/v1/daemonsets",
         "\"annotations\":{\"deprecated.daemonset.template.generation\":\"0\","
         "\"k8s.io/initial-events-end\":\"true\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sim_site s;
        sim_site_init(&s, false);
        char target[128];
        (void)snprintf(target, sizeof target, "%s?watch=1&allowWatchBookmarks=1", rows[i][0]);
        sim_ask(&s, 200, "GET", target, NULL);
        assert_int_equal(api_stream_pull(s.last.stream, &s.last.body), API_WAIT);
        assert_non_null(strstr(str_get(&s.last.body), "k8s.io/initial-events-end"));
        assert_non_null(strstr(str_get(&s.last.body), rows[i][1]));
        sim_site_done(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_objects),   cmocka_unit_test(test_events),
        cmocka_unit_test(test_begins_and_ends), cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
