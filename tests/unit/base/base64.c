/* Tests of base/base64: RFC 4648's vectors, round trips, everything that is refused. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct {
    const char *plain, *coded;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd", "//79"},
    {"\xfb\xef\xbe", "++++"},
};

static void known_values(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        _cleanup_str_ struct str s = STR_INIT;
        base64_encode(&s, vectors[i].plain, strlen(vectors[i].plain));
        assert_string_equal(str_get(&s), vectors[i].coded);
        char *out = NULL;
        size_t len = 99;
        assert_true(base64_decode(vectors[i].coded, strlen(vectors[i].coded), &out, &len));
        assert_int_equal(len, strlen(vectors[i].plain));
        assert_string_equal(out, vectors[i].plain);
        free(out);
    }
}

static void all_bytes_and_lengths(void **state) {
    (void)state;
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        _cleanup_str_ struct str s = STR_INIT;
        base64_encode(&s, bytes, n);
        char *out = NULL;
        size_t len;
        assert_true(base64_decode(str_get(&s), s.len, &out, &len));
        assert_int_equal(len, n);
        assert_memory_equal(out, bytes, n);
        assert_int_equal(out[n], 0);
        free(out);
    }
}

static void line_breaks_are_skipped(void **state) {
    (void)state;
    static const char wrapped[] = "Zm9v\nYm\r\nFy\n";
    char *out = NULL;
    size_t len;
    assert_true(base64_decode(wrapped, sizeof wrapped - 1, &out, &len));
    assert_string_equal(out, "foobar");
    free(out);
    assert_true(base64_decode("Zg=\n=\n", 6, &out, &len));
    assert_string_equal(out, "f");
    free(out);
}

static void refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "Z",     "Zg",       "Zg=",      "Zm8",   "Zm9vY",  "=",    "====",  "Z===",        "Zg===",
        "Zm8==", "Zg==Zg==", "Zm9v====", "Zm 9v", "Zm9v\t", "Zm-_", "Zm9v!", "Zm9\xc3\xa4",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *out = (char *)bad;
        size_t len = 77;
        assert_false(base64_decode(bad[i], strlen(bad[i]), &out, &len));
        assert_ptr_equal(out, bad); /* untouched */
        assert_int_equal(len, 77);
    }
    char *out;
    size_t len;
    assert_false(base64_decode("Zm\0v", 4, &out, &len));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(all_bytes_and_lengths),
        cmocka_unit_test(line_breaks_are_skipped),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
