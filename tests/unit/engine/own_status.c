/* Tests of src/engine/own_status.c: what statuses have in common. */
#include "engine/own_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define NOW  (INT64_C(1700000000) * 1000000) /* 2023-11-14T22:13:20Z */
#define THEN (NOW - SEC(60))

static const char tag;

static void no_drop(struct pool *pool, const void *of, const void *data, size_t len) {
    (void)pool, (void)of, (void)data, (void)len;
}

static char *condition(const struct own_condition *had, const struct own_said *said) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    own_write_condition(&w, had, 7, NOW, said);
    return str_take(&out);
}

/* As Kubernetes' own conditions: the time is that of the last change of the status. */
static void a_condition_keeps_its_time_while_it_stays(void **state) {
    (void)state;
    struct pool *pool = pool_new(no_drop);
    const struct own_condition one = {
        .c = {.type = "Complete", .status = "False", .changed = THEN}};
    const struct own_condition *had = pool_blob(pool, &tag, &one, sizeof one);
    _cleanup_free_ char *same = condition(had, &(struct own_said){"Complete", false, "R", "m"});
    assert_string_equal(same, "{\"type\":\"Complete\",\"status\":\"False\",\"reason\":\"R\","
                              "\"message\":\"m\",\"lastTransitionTime\":\"2023-11-14T22:12:20Z\","
                              "\"observedGeneration\":7}");
    _cleanup_free_ char *other = condition(had, &(struct own_said){"Complete", true, "R", "m"});
    assert_non_null(strstr(other, "\"lastTransitionTime\":\"2023-11-14T22:13:20Z\""));
    pool_free(pool);
}

static char *blocker(const struct own_blocker *was, const struct own_wait *wait) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    own_write_blocker(&w, was, wait, NOW);
    jsonw_end(&w);
    return str_take(&out);
}

static void a_deadline_is_written_and_taken_away(void **state) {
    (void)state;
    struct own_wait wait = own_wait_for(BLOCKER_NODE_AWAITED, "node/w1", "m");
    const struct own_blocker had = {
        .code = "NodeAwaited", .object = "node/w1", .message = "m", .deadline = NOW, .then = "t"};
    assert_false(own_blocker_is(&had, &wait));
    _cleanup_free_ char *gone = blocker(&had, &wait), *none = blocker(NULL, &wait);
    assert_non_null(strstr(gone, "\"deadline\":null,\"then\":null}"));
    assert_null(strstr(none, "deadline"));
    struct own_wait other = own_wait_for(BLOCKER_SOAK_TIME, "", "m"); /* nor is its object kept */
    _cleanup_free_ char *bare = blocker(&had, &other);
    assert_non_null(strstr(bare, "\"object\":null"));
    wait.deadline = NOW + 1; /* it is written in seconds */
    wait.then = "t";
    assert_true(own_blocker_is(&had, &wait));
    _cleanup_free_ char *text = blocker(NULL, &wait);
    assert_non_null(strstr(text, "\"deadline\":\"2023-11-14T22:13:20Z\",\"then\":\"t\"}"));
}

static void a_blocker_keeps_its_time_while_the_code_stays(void **state) {
    (void)state;
    struct own_blocker was = {.code = "SoakTime", .object = NULL, .message = "m", .since = THEN};
    struct own_wait same = own_wait_for(BLOCKER_SOAK_TIME, "", "m"),
                    news = own_wait_for(BLOCKER_SOAK_TIME, "", "n");
    assert_true(own_blocker_is(&was, &same));
    assert_false(own_blocker_is(&was, &news));
    assert_false(own_blocker_is(&was, NULL));
    assert_false(own_blocker_is(NULL, &same));
    assert_true(own_blocker_is(NULL, NULL));
    _cleanup_str_ struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    own_write_blocker(&w, &was, &news, NOW);
    jsonw_end(&w);
    assert_non_null(strstr(str_get(&out), "\"since\":\"2023-11-14T22:12:20Z\""));
    assert_non_null(strstr(str_get(&out), "\"message\":\"n\""));
    str_reset(&out);
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    own_write_blocker(&w, &was, NULL, NOW);
    jsonw_end(&w);
    assert_string_equal(str_get(&out), "{\"blocker\":null}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_condition_keeps_its_time_while_it_stays),
        cmocka_unit_test(a_deadline_is_written_and_taken_away),
        cmocka_unit_test(a_blocker_keeps_its_time_while_the_code_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
