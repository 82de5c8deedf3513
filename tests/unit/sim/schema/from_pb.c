/* Tests of schema/from_pb. The messages are written by hand (support/pbwrite.h); tests/fixtures
 * reads those that Kubernetes ships, and broken ones beside Kubernetes' own decoders. */
#include <errno.h>

#include "../../support/pbwrite.h"
#include "schema_test.h"
#include "sim/schema/build.h"

/* The text of what is decoded, or the error. */
static char *from_pb(const struct schema *s, const void *bytes, size_t len) {
    _cleanup_err_ struct err err = ERR_INIT;
    char *copy = xmemdup(bytes ? bytes : "", len); /* of exactly its size */
    json_t *out = NULL;
    int rc = schema_from_pb(s, (struct view){copy, len}, &out, &err);
    free(copy);
    if (!rc)
        return text_of(out);
    assert_null(out);
    assert_true(rc == -EBADMSG || rc == -EINVAL);
    return xasprintf("error: %s", err_msg(&err));
}

/* The message is used up. */
static void is(const char *name, struct str *m, const char *expected) {
    _cleanup_free_ char *text = from_pb(kind(name), m->p, m->len);
    assert_string_equal(text, expected);
    str_reset(m);
}

static void empty(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    is("Pod", &m, "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
}

/* In the table's order, whatever the order on the wire; zeros and empty strings are left out. */
static void any_order(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    pb_num(&m, 4, 1);
    size_t at = pb_open(&m, 2);
    pb_text(&m, 2, "v");
    pb_text(&m, 1, "k");
    pb_close(&m, at);
    at = pb_open(&m, 1);
    pb_text(&m, 3, "ns");
    pb_num(&m, 7, 0);
    pb_text(&m, 1, "name");
    pb_text(&m, 2, "");
    pb_close(&m, at);
    is("ConfigMap", &m,
       "{\"metadata\":{\"name\":\"name\",\"namespace\":\"ns\"},\"immutable\":true,"
       "\"data\":{\"k\":\"v\"}}");
}

/* Scalars: the last. Lists and maps: all. Messages: merged, also where they are inlined. */
static void more_than_once(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at, in, deep;
    for (int i = 0; i < 3; i++) {
        at = pb_open(&m, 1);
        pb_text(&m, i == 1 ? 3 : 1, i == 0 ? "a" : i == 1 ? "b" : "c");
        pb_text(&m, 14, i == 0 ? "x" : i == 1 ? "y" : "z");
        pb_close(&m, at);
    }
    at = pb_open(&m, 2);
    in = pb_open(&m, 1);
    pb_text(&m, 1, "v");
    deep = pb_open(&m, 2);
    pb_tag(&m, 2, 2); /* emptyDir */
    pb_varint(&m, 3);
    pb_text(&m, 1, "m");
    pb_close(&m, deep);
    deep = pb_open(&m, 2);
    pb_tag(&m, 2, 2);
    pb_varint(&m, 0);
    pb_close(&m, deep);
    pb_close(&m, in);
    pb_close(&m, at);
    is("Pod", &m,
       "{\"metadata\":{\"name\":\"c\",\"namespace\":\"b\",\"finalizers\":[\"x\",\"y\",\"z\"]},"
       "\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"medium\":\"m\"}}],"
       "\"containers\":null},\"status\":{}}");
}

static void maps(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    static const char *const keys[] = {"b", "a", "b", ""};
    for (int i = 0; i < 4; i++) {
        size_t at = pb_open(&m, 2);
        if (*keys[i])
            pb_text(&m, 1, keys[i]);
        if (i != 1)
            pb_bytes(&m, 2, "\x01\x02\x03", (size_t)i);
        pb_close(&m, at);
    }
    is("Secret", &m, "{\"metadata\":{},\"data\":{\"\":\"AQID\",\"a\":\"\",\"b\":\"AQI=\"}}");
}

static void pointers_to_zero(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 2);
    pb_text(&m, 1, "");
    pb_num(&m, 2, 0);
    pb_close(&m, at);
    is("coordination.k8s.io/Lease", &m,
       "{\"metadata\":{},\"spec\":{\"holderIdentity\":\"\",\"leaseDurationSeconds\":0}}");
}

static void times(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 1);
    pb_time(&m, 8, 1794729600, 999999999);
    pb_text(&m, 9, "");
    pb_close(&m, at);
    at = pb_open(&m, 2);
    pb_time(&m, 3, 1794729600, 123456789);
    pb_time(&m, 4, -62135596800, 0);
    pb_close(&m, at);
    is("coordination.k8s.io/Lease", &m,
       "{\"metadata\":{\"creationTimestamp\":\"2026-11-15T08:00:00Z\",\"deletionTimestamp\":null},"
       "\"spec\":{\"acquireTime\":\"2026-11-15T08:00:00.123456Z\",\"renewTime\":null}}");
}

static void no_times(void **state) {
    (void)state;
    static const int64_t seconds[] = {INT64_MAX, INT64_MIN, 253402300800, -62167219201};
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        _cleanup_str_ struct str m = STR_INIT;
        size_t at = pb_open(&m, 1);
        pb_time(&m, 8, seconds[i], 0);
        pb_close(&m, at);
        is("Pod", &m,
           "error: bad protobuf: field creationTimestamp: a time outside of the years 0 to 9999");
    }
}

/* 64 bits on the wire, 32 in the object; booleans are what is not zero. */
static void numbers(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 2);
    pb_num(&m, 4, -1);
    pb_num(&m, 11, 7);
    pb_num(&m, 25, 0x1ffffffffLL);
    pb_close(&m, at);
    is("Pod", &m,
       "{\"metadata\":{},\"spec\":{\"containers\":null,\"terminationGracePeriodSeconds\":-1,"
       "\"hostNetwork\":true,\"priority\":-1},\"status\":{}}");
}

static void int_or_string(struct str *m, int64_t type, const char *expected) {
    size_t at = pb_open(m, 2), in = pb_open(m, 1);
    pb_num(m, 1, type);
    pb_num(m, 2, 5);
    pb_text(m, 3, "x");
    pb_close(m, in);
    pb_close(m, at);
    _cleanup_free_ char *text = from_pb(kind("policy/PodDisruptionBudget"), m->p, m->len);
    assert_non_null(strstr(text, expected));
    str_reset(m);
}

static void ints_or_strings(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    int_or_string(&m, 0, "\"minAvailable\":5}");
    int_or_string(&m, 1, "\"minAvailable\":\"x\"}");
    int_or_string(&m, 2, "error: bad protobuf: field minAvailable: neither a number nor a string");
}

static void quantity(struct str *m, const char *text, const char *expected) {
    size_t at = pb_open(m, 2), entry = pb_open(m, 32), in;
    pb_text(m, 1, "cpu");
    in = pb_open(m, 2);
    if (text)
        pb_text(m, 1, text);
    pb_close(m, in);
    pb_close(m, entry);
    pb_close(m, at);
    _cleanup_free_ char *found = from_pb(kind("Pod"), m->p, m->len);
    assert_non_null(strstr(found, expected));
    str_reset(m);
}

static void quantities(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    quantity(&m, "1000m", "\"overhead\":{\"cpu\":\"1\"}");
    quantity(&m, NULL, "\"overhead\":{\"cpu\":\"0\"}");
    quantity(&m, "", "error: quantities must match the regular expression");
    quantity(&m, "x", "error: quantities must match the regular expression");
}

static void strings(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 2);
    pb_bytes(&m, 1, "\xff", 1);
    pb_bytes(&m, 2, "a\0b\xc3\xa9\xc3", 6);
    pb_close(&m, at);
    is("ConfigMap", &m,
       "{\"metadata\":{},\"data\":{\"\xef\xbf\xbd\":\"a\\u0000b\xc3\xa9\xef\xbf\xbd\"}}");
}

static void raw(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 2);
    pb_text(&m, 1, "{\"b\": [1, null], \"a\": \"\xff\"}");
    pb_close(&m, at);
    is("apps/ControllerRevision", &m,
       "{\"metadata\":{},\"data\":{\"b\":[1,null],\"a\":\"\xef\xbf\xbd\"},\"revision\":0}");
    at = pb_open(&m, 2);
    pb_text(&m, 1, "{");
    pb_close(&m, at);
    is("apps/ControllerRevision", &m,
       "error: bad protobuf: field data: what should be JSON is not");
}

static void json_schemas(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t spec = pb_open(&m, 2), version = pb_open(&m, 7), validation = pb_open(&m, 4);
    size_t schema = pb_open(&m, 1), at, in;
    pb_tag(&m, 9, 1); /* maximum: 1.5 */
    str_addn(&m, "\0\0\0\0\0\0\xf8\x3f", 8);
    at = pb_open(&m, 24); /* items */
    in = pb_open(&m, 2);
    pb_text(&m, 5, "string");
    pb_close(&m, in);
    pb_close(&m, at);
    at = pb_open(&m, 30); /* additionalProperties */
    pb_num(&m, 1, 1);
    pb_close(&m, at);
    at = pb_open(&m, 33); /* additionalItems */
    in = pb_open(&m, 2);
    pb_text(&m, 5, "object");
    pb_close(&m, in);
    pb_close(&m, at);
    pb_close(&m, schema);
    pb_close(&m, validation);
    pb_close(&m, version);
    pb_close(&m, spec);
    _cleanup_free_ char *text =
        from_pb(kind("apiextensions.k8s.io/CustomResourceDefinition"), m.p, m.len);
    assert_non_null(strstr(text, "\"openAPIV3Schema\":{\"maximum\":1.5,\"items\":[{\"type\":"
                                 "\"string\"}],\"additionalProperties\":true,"
                                 "\"additionalItems\":{\"type\":\"object\"}}"));
    /* No number. */
    char *maximum = memmem(m.p, m.len, "\xf8\x3f", 2);
    memcpy(maximum, "\xf0\x7f", 2);
    free(text);
    text = from_pb(kind("apiextensions.k8s.io/CustomResourceDefinition"), m.p, m.len);
    assert_string_equal(text, "error: bad protobuf: field maximum: not a number");
}

static void unknown_fields(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    pb_num(&m, 1000, 5);
    pb_text(&m, 500000000, "x");
    pb_tag(&m, 999, 1);
    str_addn(&m, "12345678", 8);
    pb_tag(&m, 998, 5);
    str_addn(&m, "1234", 4);
    pb_num(&m, 4, 1);
    is("ConfigMap", &m, "{\"metadata\":{},\"immutable\":true}");
}

static void wrong_wire_types(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    pb_num(&m, 1, 5);
    is("ConfigMap", &m, "error: bad protobuf: field metadata: wrong wire type");
    pb_num(&m, 2, 5);
    is("ConfigMap", &m, "error: bad protobuf: field data: wrong wire type");
    pb_text(&m, 4, "x");
    is("ConfigMap", &m, "error: bad protobuf: field immutable: wrong wire type");
    size_t at = pb_open(&m, 1);
    pb_num(&m, 14, 5);
    pb_close(&m, at);
    is("ConfigMap", &m, "error: bad protobuf: field finalizers: wrong wire type");
    at = pb_open(&m, 2);
    pb_num(&m, 1, 5);
    pb_close(&m, at);
    is("ConfigMap", &m, "error: bad protobuf: field data: wrong wire type");
}

static void broken(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *error;
    } rows[] = {
        {"\0", 1, "broken tag"},
        {"\x80", 1, "broken tag"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "broken tag"},
        {"\x0a", 1, "broken length"},
        {"\x0a\x05", 2, "broken length"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "broken length"},
        {"\x20", 1, "broken number"},
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "broken number"},
        {"\x09\x01", 2, "cut off"},
        {"\x0d\x01", 2, "cut off"},
        {"\x0b", 1, "unknown wire type"},
        {"\x0f", 1, "unknown wire type"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        _cleanup_free_ char *text = from_pb(kind("ConfigMap"), rows[i].bytes, rows[i].len);
        _cleanup_free_ char *expected = xasprintf("error: bad protobuf: %s", rows[i].error);
        assert_string_equal(text, expected);
    }
}

/* A whole pod, cut off and changed at every byte: an error or an object, and nothing else. */
static void any_bytes(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    static const char pod[] =
        "{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"2026-11-15T08:00:00Z\","
        "\"labels\":{\"a\":\"b\"}},\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}},"
        "\"livenessProbe\":{\"httpGet\":{\"port\":80}}}]},\"status\":{}}";
    assert_int_equal(schema_to_pb(kind("Pod"), VIEW(pod), &m, NULL), 0);
    _cleanup_free_ char *whole = from_pb(kind("Pod"), m.p, m.len);
    assert_string_equal(whole, pod);
    for (size_t i = 0; i < m.len; i++) {
        free(from_pb(kind("Pod"), m.p, i));
        for (int bit = 0; bit < 8; bit++) {
            m.p[i] = (char)(m.p[i] ^ 1 << bit);
            free(from_pb(kind("Pod"), m.p, m.len));
            m.p[i] = (char)(m.p[i] ^ 1 << bit);
        }
    }
}

static void depth(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT, next = STR_INIT;
    for (int i = 0; i < SCHEMA_DEPTH + 5; i++) { /* "not" in "not" in ... */
        size_t at = pb_open(&next, 28);
        str_addn(&next, str_get(&m), m.len);
        pb_close(&next, at);
        str_reset(&m);
        str_addn(&m, next.p, next.len);
        str_reset(&next);
    }
    static const uint32_t way[] = {1, 4, 7, 2};
    for (size_t i = 0; i < ARRAY_LEN(way); i++) {
        size_t at = pb_open(&next, way[i]);
        str_addn(&next, m.p, m.len);
        pb_close(&next, at);
        str_reset(&m);
        str_addn(&m, next.p, next.len);
        str_reset(&next);
    }
    is("apiextensions.k8s.io/CustomResourceDefinition", &m,
       "error: bad protobuf: more levels than any object has");
}

/* Two bytes that are a container each, and a message that is merged over and over. */
static void bombs(void **state) {
    (void)state;
    _cleanup_str_ struct str m = STR_INIT;
    size_t at = pb_open(&m, 2);
    for (int i = 0; i <= SCHEMA_MOST_ELEMENTS; i++)
        pb_text(&m, 2, "");
    pb_close(&m, at);
    is("Pod", &m, "error: bad protobuf: field containers: more list elements than any object has");
    for (int i = 0; i < 200000; i++)
        pb_text(&m, 2, "");
    is("Pod", &m, "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(any_order),
        cmocka_unit_test(more_than_once),
        cmocka_unit_test(maps),
        cmocka_unit_test(pointers_to_zero),
        cmocka_unit_test(times),
        cmocka_unit_test(no_times),
        cmocka_unit_test(numbers),
        cmocka_unit_test(ints_or_strings),
        cmocka_unit_test(quantities),
        cmocka_unit_test(strings),
        cmocka_unit_test(raw),
        cmocka_unit_test(json_schemas),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(wrong_wire_types),
        cmocka_unit_test(broken),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(depth),
        cmocka_unit_test(bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
