/* Tests of schema/to_pb. The messages are written by hand (support/pbwrite.h) out of the .proto
 * files; tests/fixtures compares whole objects of every kind with those that Kubernetes ships. */
#include <errno.h>

#include "../../support/pbwrite.h"
#include "schema_test.h"
#include "sim/schema/build.h"

static void to_pb(const struct schema *s, const char *text, struct str *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    char *copy = xmemdup(text, strlen(text)); /* of exactly its size */
    if (schema_to_pb(s, (struct view){copy, strlen(text)}, out, &err))
        fail_msg("%s: %s", text, err_msg(&err));
    free(copy);
}

static void is(const struct schema *s, const char *text, const struct str *expected) {
    _cleanup_str_ struct str out = STR_INIT;
    to_pb(s, text, &out);
    assert_int_equal(out.len, expected->len);
    assert_memory_equal(out.p, expected->p, out.len);
    assert_int_equal(out.p[out.len], '\0');
}

/* ObjectMeta without pointers is written in full. */
static void write_meta(struct str *s, const char *name) {
    size_t at = pb_open(s, 1);
    pb_text(s, 1, name);
    pb_text(s, 2, "");
    pb_text(s, 3, "");
    pb_text(s, 4, "");
    pb_text(s, 5, "");
    pb_text(s, 6, "");
    pb_num(s, 7, 0);
    pb_text(s, 8, "");
    pb_close(s, at);
}

static void empty(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    write_meta(&m, "");
    is(kind("ConfigMap"), "{\"metadata\":{}}", &m);
    is(kind("ConfigMap"), "{}", &m);
}

/* Kind and apiVersion are in the envelope. */
static void without_type(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    write_meta(&m, "x");
    is(kind("ConfigMap"),
       "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}", &m);
}

static void maps(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at;
    write_meta(&m, "");
    at = pb_open(&m, 2);
    pb_text(&m, 1, "");
    pb_text(&m, 2, "");
    pb_close(&m, at);
    at = pb_open(&m, 2);
    pb_text(&m, 1, "a\"<");
    pb_text(&m, 2, "x\n\xf0\x9f\x98\x80");
    pb_close(&m, at);
    at = pb_open(&m, 3);
    pb_text(&m, 1, "b");
    pb_bytes(&m, 2, "\x01\x02\x03", 3);
    pb_close(&m, at);
    pb_num(&m, 4, 0);
    /* In JSON "immutable" comes before the maps, in the message behind them. */
    is(kind("ConfigMap"),
       "{\"metadata\":{},\"immutable\":false,\"data\":{\"\":\"\","
       "\"a\\\"\\u003c\":\"x\\n\\ud83d\\ude00\"},\"binaryData\":{\"b\":\"AQID\"}}",
       &m);
}

static void times(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    write_meta(&m, "");
    size_t at = pb_open(&m, 2);
    pb_num(&m, 2, -1);
    pb_time(&m, 3, 1794729600, 123456000);
    pb_time(&m, 4, -1, 999999000);
    pb_close(&m, at);
    is(kind("coordination.k8s.io/Lease"),
       "{\"metadata\":{},\"spec\":{\"leaseDurationSeconds\":-1,"
       "\"acquireTime\":\"2026-11-15T08:00:00.123456Z\","
       "\"renewTime\":\"1969-12-31T23:59:59.999999Z\"}}",
       &m);
}

/* A pointer to a time that is not set is there and empty; one that is not there is not. */
static void null_times(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 1);
    for (uint32_t i = 1; i <= 6; i++)
        pb_text(&m, i, "");
    pb_num(&m, 7, 0);
    pb_time(&m, 8, 0, 0);
    pb_text(&m, 9, "");
    pb_close(&m, at);
    is(kind("ServiceAccount"),
       "{\"metadata\":{\"creationTimestamp\":\"1970-01-01T00:00:00Z\",\"deletionTimestamp\":null}}",
       &m);
}

static void int_or_string(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    write_meta(&m, "");
    size_t at = pb_open(&m, 2), in = pb_open(&m, 1);
    pb_num(&m, 1, 0);
    pb_num(&m, 2, -5);
    pb_text(&m, 3, "");
    pb_close(&m, in);
    in = pb_open(&m, 3);
    pb_num(&m, 1, 1);
    pb_num(&m, 2, 0);
    pb_text(&m, 3, "50%");
    pb_close(&m, in);
    pb_close(&m, at);
    at = pb_open(&m, 3);
    for (uint32_t i = 1; i <= 6; i++)
        if (i != 2)
            pb_num(&m, i, 0);
    pb_close(&m, at);
    is(kind("policy/PodDisruptionBudget"),
       "{\"metadata\":{},\"spec\":{\"minAvailable\":-5,\"maxUnavailable\":\"50%\"},"
       "\"status\":{\"disruptionsAllowed\":0,\"currentHealthy\":0,\"desiredHealthy\":0,"
       "\"expectedPods\":0}}",
       &m);
}

static void raw(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT, nothing = STR_INIT;
    write_meta(&m, "");
    size_t at = pb_open(&m, 2);
    pb_text(&m, 1, "{\"a\":[1,\"}\\\"]\",{}],\"b\":null}");
    pb_close(&m, at);
    pb_num(&m, 3, 7);
    is(kind("apps/ControllerRevision"),
       "{\"metadata\":{},\"data\":{\"a\":[1,\"}\\\"]\",{}],\"b\":null},\"revision\":7}", &m);
    write_meta(&nothing, "");
    pb_text(&nothing, 2, "");
    pb_num(&nothing, 3, 0);
    is(kind("apps/ControllerRevision"), "{\"metadata\":{},\"data\":null,\"revision\":0}", &nothing);
}

static void appends(void **state) {
    (void)state;
    _cleanup_str_ struct str out = STR_INIT, m = STR_INIT;
    str_add(&out, "k8s");
    to_pb(kind("ConfigMap"), "{}", &out);
    write_meta(&m, "");
    assert_int_equal(out.len, 3 + m.len);
    assert_memory_equal(out.p, "k8s", 3);
    assert_memory_equal(out.p + 3, m.p, m.len);
}

/* A string longer than a length of two bytes, within messages. */
static void long_ones(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT, m = STR_INIT;
    char *name = xcalloc(1, 20001);
    memset(name, 'x', 20000);
    str_addf(&text, "{\"metadata\":{\"name\":\"%s\"}}", name);
    write_meta(&m, name);
    is(kind("ConfigMap"), str_get(&text), &m);
    free(name);
}

/* Anything but canonical text is refused, and nothing is left behind. */
static void not_canonical(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "null",
        "{",
        "{\"metadata\"",
        "{\"metadata\":",
        "{\"metadata\":{}",
        "{\"metadata\":{}}}",
        "{\"metadata\":{}} ",
        "{\"metadata\":{},}",
        "{\"metadata\":[]}",
        "{\"metadata\":{\"name\":5}}",
        "{\"metadata\":{\"name\":\"x}}",
        "{\"metadata\":{\"name\":\"\\q\"}}",
        "{\"metadata\":{\"name\":\"\\u12\"}}",
        "{\"metadata\":{\"generation\":\"5\"}}",
        "{\"metadata\":{\"generation\":9223372036854775808}}",
        "{\"metadata\":{\"generation\":-9223372036854775809}}",
        "{\"metadata\":{\"generation\":-}}",
        "{\"metadata\":{\"generation\":1.5}}",
        "{\"metadata\":{\"creationTimestamp\":\"x\"}}",
        "{\"metadata\":{\"finalizers\":[]}}",
        "{\"metadata\":{\"finalizers\":[\"a\",]}}",
        "{\"metadata\":{\"finalizers\":[\"a\"}}",
        "{\"metadata\":{\"labels\":{}}}",
        "{\"metadata\":{\"labels\":{\"a\"}}}",
        "{\"metadata\":{\"labels\":{\"a\":\"b\",}}}",
        "{\"immutable\":nil}",
        "{\"immutable\":yes}",
        "{\"binaryData\":{\"a\":\"*\"}}",
        "{\"foo\":1}",
        "{\"data\":{\"a\":\"b\"},\"metadata\":{}}",
        "{\"metadata\":{},\"metadata\":{}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        _cleanup_str_ struct str out = STR_INIT;
        char *copy = xmemdup(texts[i], strlen(texts[i]));
        str_add(&out, "x");
        if (schema_to_pb(kind("ConfigMap"), (struct view){copy, strlen(texts[i])}, &out, &err) !=
            -EINVAL)
            fail_msg("%s was taken", texts[i]);
        assert_true(*err_msg(&err));
        assert_string_equal(str_get(&out), "x");
        free(copy);
    }
}

static void cut_off(void **state) {
    (void)state;
    static const char text[] =
        "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":\"\\u00e9\"}},\"data\":{\"k\":[1,{\"b\":"
        "\"\\\"\"}]},\"revision\":7}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        _cleanup_str_ struct str out = STR_INIT;
        char *copy = xmemdup(text, n);
        assert_int_equal(
            schema_to_pb(kind("apps/ControllerRevision"), (struct view){copy, n}, &out, NULL),
            -EINVAL);
        free(copy);
    }
}

static void depth(void **state) {
    (void)state;
    _cleanup_str_ struct str text = STR_INIT, out = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    str_add(&text, "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":");
    for (int i = 0; i < 100000; i++)
        str_add(&text, "{\"not\":");
    assert_int_equal(schema_to_pb(kind("apiextensions.k8s.io/CustomResourceDefinition"),
                                  (struct view){text.p, text.len}, &out, &err),
                     -EINVAL);
    assert_true(*err_msg(&err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),      cmocka_unit_test(without_type),
        cmocka_unit_test(maps),       cmocka_unit_test(times),
        cmocka_unit_test(null_times), cmocka_unit_test(int_or_string),
        cmocka_unit_test(raw),        cmocka_unit_test(appends),
        cmocka_unit_test(long_ones),  cmocka_unit_test(not_canonical),
        cmocka_unit_test(cut_off),    cmocka_unit_test(depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
