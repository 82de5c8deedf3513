/* Envelopes: the words are those of a real server's answers. */
#include "sim/api/envelope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define BYTES(text) ((struct view){text, sizeof(text) - 1})

static void test_good(void **state) {
    (void)state;
    static const struct {
        struct view body;
        const char *version, *kind, *raw;
    } rows[] = {
        {BYTES("k8s\0\n\x0b\n\x02v1\x12\x05Thing\x12\x03raw\x1a\0\"\0"), "v1", "Thing", "raw"},
        {BYTES("k8s\0\x12\x01r"), "", "", "r"},
        {BYTES("k8s\0\n\0"), "", "", ""},
        /* the last of two counts */
        {BYTES("k8s\0\x12\x01r\x12\x02st"), "", "", "st"},
        /* unknown numbers of every wire type, groups in groups among them */
        {BYTES("k8s\0\x12\x01r\x50\xac\x02\x51"
               "12345678\x52\x03"
               "abc\x53\x53\x50\x01\x54\x54\x55"
               "1234"),
         "", "", "r"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct envelope e;
        _cleanup_str_ struct str why = STR_INIT;
        assert_true(envelope_read(rows[i].body, &e, &why));
        assert_int_equal(why.len, 0);
        assert_true(view_eq(e.version, view_of(rows[i].version)));
        assert_true(view_eq(e.kind, view_of(rows[i].kind)));
        assert_true(view_eq(e.raw, view_of(rows[i].raw)));
    }
}

static void test_bad(void **state) {
    (void)state;
    static const struct {
        struct view body;
        const char *why;
    } rows[] = {
        {BYTES(""), "empty data"},
        {BYTES("k8s\0"), "empty body"},
        {BYTES("k8s"), "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]"},
        {BYTES("{\"a\":1}"), "provided data does not appear to be a protobuf message, expected "
                             "prefix [107 56 115 0]"},
        {BYTES("k8s\0\n"), "unexpected EOF"},
        {BYTES("k8s\0\n\x05"
               "ab"),
         "unexpected EOF"},
        {BYTES("k8s\0\xff"), "unexpected EOF"},
        {BYTES("k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "proto: integer overflow"},
        {BYTES("k8s\0\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
         "proto: negative length found during unmarshaling"},
        {BYTES("k8s\0\x0f"), "proto: wrong wireType = 7 for field TypeMeta"},
        {BYTES("k8s\0\x10\x01"), "proto: wrong wireType = 0 for field Raw"},
        {BYTES("k8s\0\x0c"), "proto: Unknown: wiretype end group for non-group"},
        {BYTES("k8s\0\x02\0"), "proto: Unknown: illegal tag 0 (wire type 2)"},
        {BYTES("k8s\0\n\x02\x08\x01"), "proto: wrong wireType = 0 for field APIVersion"},
        {BYTES("k8s\0\x4f"), "proto: illegal wireType 7"},
        {BYTES("k8s\0\x53\x50\x01"), "unexpected EOF"}, /* a group without an end */
        {BYTES("k8s\0\x51"
               "1234"),
         "unexpected EOF"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct envelope e;
        _cleanup_str_ struct str why = STR_INIT;
        assert_false(envelope_read(rows[i].body, &e, &why));
        assert_string_equal(str_get(&why), rows[i].why);
    }
}

/* However deep they are, groups cost no stack, and they have a limit. */
static void test_groups(void **state) {
    (void)state;
    for (size_t depth = 1; depth < 100000; depth *= 10) {
        _cleanup_str_ struct str body = STR_INIT, why = STR_INIT;
        struct envelope e;
        str_addn(&body, "k8s\0", 4);
        for (size_t i = 0; i < depth; i++)
            str_addc(&body, 0x53);
        for (size_t i = 0; i < depth; i++)
            str_addc(&body, 0x54);
        assert_int_equal(envelope_read((struct view){body.p, body.len}, &e, &why), depth <= 10000);
    }
}

/* Every prefix of a good one and every change of a byte is read or refused, within its bounds. */
static void test_any_bytes(void **state) {
    (void)state;
    static const char good[] =
        "k8s\0\n\x0b\n\x02v1\x12\x05Thing\x12\x03raw\x1a\0\"\0\x53\x50\x01\x54";
    size_t len = sizeof good - 1;
    for (size_t i = 0; i < len * 256; i++) {
        _cleanup_free_ char *copy = xmemdup(good, len + 1);
        copy[i / 256] = (char)i;
        for (size_t n = len; n + 1 > 0; n = n > 4 ? n / 2 : n - 1) {
            _cleanup_free_ char *cut = xmemdup(copy, n + 1);
            struct envelope e;
            _cleanup_str_ struct str why = STR_INIT;
            if (!envelope_read((struct view){cut, n}, &e, &why))
                assert_int_not_equal(why.len, 0);
            else
                assert_true(e.raw.len <= n && e.kind.len <= n);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
