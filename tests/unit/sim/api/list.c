/* Lists: pages, tokens, versions. */
#include "sim/api/api.h"

#include "support/sim_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_pages(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?limit=2", NULL);
    assert_string_equal(sim_str(l, "kind"), "ConfigMapList");
    assert_int_equal(json_array_size(sim_at(l, "items")), 2);
    assert_int_equal(sim_int(l, "metadata.remainingItemCount"), 1);
    /* they are counted where nothing is selected by, and "=" selects by nothing */
    l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?limit=2&fieldSelector=%3D",
                NULL);
    assert_int_equal(sim_int(l, "metadata.remainingItemCount"), 1);
    l = sim_ask(&s, 200, "GET",
                "/api/v1/namespaces/default/configmaps?limit=2&fieldSelector=metadata.name!%3Dx",
                NULL);
    assert_null(sim_at(l, "metadata.remainingItemCount"));
    l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps?limit=2", NULL);
    assert_null(sim_at(l, "items.0.kind")); /* typed lists do not repeat it */
    char next[512];
    (void)snprintf(next, sizeof next, "/api/v1/namespaces/default/configmaps?limit=2&continue=%s",
                   sim_str(l, "metadata.continue"));
    /* what comes in between is not seen */
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"bb\"}}");
    json_t *rest = sim_ask(&s, 200, "GET", next, NULL);
    assert_int_equal(json_array_size(sim_at(rest, "items")), 1);
    assert_string_equal(sim_str(rest, "items.0.metadata.name"), "c");
    assert_string_equal(sim_str(rest, "metadata.resourceVersion"),
                        sim_str(l, "metadata.resourceVersion"));
    assert_null(sim_at(rest, "metadata.continue"));
    sim_ask(&s, 400, "GET", "/api/v1/namespaces/default/configmaps?continue=nonsense", NULL);
    /* the token is read first */
    json_t *e =
        sim_ask(&s, 400, "GET",
                "/api/v1/namespaces/default/configmaps?continue=abc&resourceVersion=5", NULL);
    assert_non_null(strstr(sim_str(e, "message"), "invalid continue token"));
    char versioned[sizeof next + 32];
    (void)snprintf(versioned, sizeof versioned, "%s&resourceVersion=5", next);
    e = sim_ask(&s, 400, "GET", versioned, NULL);
    assert_string_equal(sim_str(e, "message"),
                        "specifying resource version is not allowed when using continue");
    sim_site_done(&s);
}

static void test_versions(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    for (const char *n = "abc"; *n; n++) {
        char body[128];
        (void)snprintf(body, sizeof body,
                       "{\"metadata\":{\"name\":\"%c\",\"labels\":{\"n\":\"%c\"}}}", *n, *n);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    json_t *l = sim_ask(&s, 200, "GET", "/api/v1/namespaces/default/configmaps", NULL);
    char old[256];
    (void)snprintf(
        old, sizeof old,
        "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=%s",
        sim_str(l, "metadata.resourceVersion"));
    sim_ask(&s, 200, "DELETE", "/api/v1/namespaces/default/configmaps/a", NULL);
    sim_ask(&s, 200, "PATCH", "/api/v1/namespaces/default/configmaps/b",
            "{\"data\":{\"x\":\"y\"}}");
    sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps",
            "{\"metadata\":{\"name\":\"d\"}}");
    json_t *then = sim_ask(&s, 200, "GET", old, NULL);
    assert_true(json_equal(l, then)); /* exactly as it was */
    sim_compact(s.sim);
    json_t *gone = sim_ask(&s, 410, "GET", old, NULL);
    assert_string_equal(sim_str(gone, "reason"), "Expired");
    json_t *future = sim_ask(&s, 504, "GET",
                             "/api/v1/namespaces/default/configmaps?resourceVersion=999999", NULL);
    assert_int_equal(sim_int(future, "details.retryAfterSeconds"), 1);
    sim_site_done(&s);
}

/* Continue tokens that were made by hand. The words are a real server's. */
static void test_forged_tokens(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const struct {
        const char *token, *why;
    } rows[] = {
        {"x", "illegal base64 data at input byte 0"},
        {"YQ%3D%3D", "illegal base64 data at input byte 2"},
        {"Y+Q", "illegal base64 data at input byte 1"},
        {"YWFhYQA", "invalid character 'a' looking for beginning of value"},
        /* [], {}, null */
        {"W10", "json: cannot unmarshal array into Go value of type storage.continueToken"},
        {"e30", "server does not recognize this encoded version "},
        {"bnVsbA", "server does not recognize this encoded version "},
        /* {"v":"meta.k8s.io/v1","rv":"1","start":"a"}, and with 1.5 */
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IjEiLCJzdGFydCI6ImEifQ",
         "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"},
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MS41LCJzdGFydCI6ImEifQ",
         "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"},
        /* "start":5, "start":"../../a" */
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0Ijo1fQ",
         "json: cannot unmarshal number into Go struct field continueToken.start of type string"},
        {"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vYSJ9", "../../a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char path[256], want[256];
        snprintf(path, sizeof path, "/api/v1/configmaps?continue=%s", rows[i].token);
        snprintf(want, sizeof want, "invalid continue token: continue key is not valid: %s",
                 rows[i].why);
        assert_string_equal(sim_str(sim_ask(&s, 400, "GET", path, NULL), "message"), want);
    }
    /* a version that there is not yet: "rv":9999999999 */
    sim_ask(&s, 504, "GET",
            "/api/v1/configmaps?continue="
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTk5OTk5OSwic3RhcnQiOiJhIn0",
            NULL);
    sim_site_done(&s);
}

/* A list of one object by its name has no pages; one of a namespace by a selector is a list of that
 * namespace. */
static void test_single(void **state) {
    (void)state;
    struct sim_site s;
    sim_site_init(&s, false);
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        char body[64];
        (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"%s\"}}", names[i]);
        sim_ask(&s, 201, "POST", "/api/v1/namespaces/default/configmaps", body);
    }
    static const struct {
        const char *path, *query;
        int n;
        bool more;
    } rows[] = {
        {"/api/v1/namespaces/default/configmaps", "metadata.name%3Da", 1, false},
        {"/api/v1/namespaces/default/configmaps", "metadata.name!%3Dc", 1, true},
        {"/api/v1/namespaces/default/configmaps", "metadata.name%3Dz", 0, false},
        {"/api/v1/configmaps", "metadata.name%3Da", 1, true},
        {"/api/v1/configmaps", "metadata.name%3Da,metadata.namespace%3Ddefault", 1, false},
        {"/api/v1/configmaps", "metadata.namespace%3Ddefault", 1, true},
        {"/api/v1/namespaces", "metadata.name%3Ddefault", 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s?limit=1&fieldSelector=%s", rows[i].path,
                       rows[i].query);
        json_t *l = sim_ask(&s, 200, "GET", path, NULL);
        assert_int_equal(json_array_size(sim_at(l, "items")), rows[i].n);
        assert_int_equal(sim_at(l, "metadata.continue") != NULL, rows[i].more);
        assert_null(sim_at(l, "metadata.remainingItemCount"));
    }
    /* the token of a list that became one of a namespace leads on in that namespace */
    json_t *l =
        sim_ask(&s, 200, "GET",
                "/api/v1/configmaps?limit=1&fieldSelector=metadata.namespace%3Ddefault", NULL);
    char path[256];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/configmaps?continue=%s",
                   sim_str(l, "metadata.continue"));
    l = sim_ask(&s, 200, "GET", path, NULL);
    assert_string_equal(sim_str(l, "items.0.metadata.name"), "b");
    sim_site_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_forged_tokens),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
