/* Tests of src/cli/journal.c: phases and how long they took. */
#include "cli/journal.h"

#include "support/keeper_world.h"

#define NOW                   SEC(1794830700) /* 2026-11-16T12:05:00Z */
#define AT(clock)             "'2026-11-16T" clock "Z'"
#define STEP(clock, from, to) "{'time':" AT(clock) ",'from':'" from "','to':'" to "','reason':'x'}"

__attribute__((format(printf, 1, 2))) static json_t *parse(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    return doc;
}

static const char *text_of(const char *phase, const char *journal, int64_t *ended) {
    static char text[200];
    struct pool *pool = pool_new(type_drop);
    json_t *doc = parse("{'metadata':{'name':'m','creationTimestamp':" AT(
                            "12:00:00") "},"
                                        "'status':{'phase':'%s','journal':[%s]}}",
                        phase, journal);
    struct object *obj = kw_decode(pool, &kind_maintenance, doc);
    _cleanup_str_ struct str out = STR_INIT;
    journal_text((const struct maintenance *)obj, NOW, &out);
    *ended = journal_ended((const struct maintenance *)obj);
    (void)snprintf(text, sizeof text, "%s", str_get(&out));
    object_free(&kind_maintenance, pool, obj);
    json_decref(doc);
    pool_free(pool);
    return text;
}

static void one_that_is_over(void **state) {
    (void)state;
    int64_t ended;
    assert_string_equal(
        text_of("Complete",
                STEP("12:00:05", "Pending", "Queued") "," STEP(
                    "12:01:05", "Queued",
                    "Draining") "," STEP("12:01:05", "Draining",
                                         "Granted") "," STEP("12:01:08", "Granted", "Complete"),
                &ended),
        "Pending 5s, Queued 60s, Granted 3s");
    assert_int_equal(ended, NOW - SEC(232));
}

static void one_under_way(void **state) {
    (void)state;
    int64_t ended;
    assert_string_equal(
        text_of("Draining",
                STEP("12:00:05", "Pending", "Queued") "," STEP("12:00:15", "Queued", "Draining"),
                &ended),
        "Pending 5s, Queued 10s, Draining 4m45s");
    assert_int_equal(ended, 0);
    assert_string_equal(text_of("", "", &ended), "");
}

/* The journal was cut: nobody knows how long the first phase took. */
static void what_is_not_known(void **state) {
    (void)state;
    int64_t ended;
    assert_string_equal(
        text_of("Failed",
                STEP("12:00:05", "Halted", "Operating") "," STEP("12:00:15", "Operating", "Failed"),
                &ended),
        "Operating 10s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_over),
        cmocka_unit_test(one_under_way),
        cmocka_unit_test(what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
