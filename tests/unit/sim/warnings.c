/* Which warnings a client gets. The limits are those of apiserver's
 * pkg/endpoints/filters/warning.go. */
#include "sim/warnings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Texts of `len` characters, which differ at their beginnings. */
static void fill(char **texts, size_t n, size_t len) {
    for (size_t i = 0; i < n; i++) {
        texts[i] = malloc(len + 1);
        memset(texts[i], 'x', len);
        (void)snprintf(texts[i], len + 1, "%04zu", i);
        texts[i][4] = 'x';
        texts[i][len] = '\0';
    }
}

static void drop(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
}

/* Characters of a text in its header. */
static size_t shown(const char *header) {
    return strlen(header) - strlen("299 - \"\"");
}

static void test_texts(void **state) {
    (void)state;
    char *texts[] = {"unknown field \"a\"", "",     "b\\c",     "unknown field \"a\"", "a\ttab",
                     "caf\xc3\xa9",         "\xff", "a\xc2\x9b"};
    _cleanup_warnings_ struct warnings w;
    warnings_init(&w, texts, COUNT(texts));
    assert_int_equal(w.headers.len, 3);
    assert_string_equal(w.headers.p[0], "299 - \"unknown field \\\"a\\\"\"");
    assert_string_equal(w.headers.p[1], "299 - \"b\\\\c\"");
    assert_string_equal(w.headers.p[2], "299 - \"caf\xc3\xa9\"");
}

static void test_what_fits_is_whole(void **state) {
    (void)state;
    char *texts[8];
    fill(texts, COUNT(texts), 512); /* 4096 in all */
    struct warnings w;
    warnings_init(&w, texts, COUNT(texts));
    assert_int_equal(w.headers.len, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(shown(w.headers.p[i]), 512);
    warnings_done(&w);
    drop(texts, COUNT(texts));
}

static void test_more_is_cut(void **state) {
    (void)state;
    char *texts[30];
    fill(texts, COUNT(texts), 320);
    struct warnings w;
    /* 13 would be 4160: all are cut, those before it too */
    warnings_init(&w, texts, 12);
    assert_int_equal(shown(w.headers.p[0]), 320);
    warnings_done(&w);
    warnings_init(&w, texts, 13);
    assert_int_equal(w.headers.len, 13);
    assert_int_equal(shown(w.headers.p[0]), 256);
    assert_int_equal(shown(w.headers.p[12]), 256);
    warnings_done(&w);
    /* 16 of 256 are the limit, and none follows */
    warnings_init(&w, texts, COUNT(texts));
    assert_int_equal(w.headers.len, 16);
    warnings_done(&w);
    drop(texts, COUNT(texts));
}

/* Of short ones the one that passes the limit is sent still. */
static void test_short_ones(void **state) {
    (void)state;
    char *texts[120];
    fill(texts, COUNT(texts), 100);
    struct warnings w;
    warnings_init(&w, texts, COUNT(texts));
    assert_int_equal(w.headers.len, 41);
    assert_int_equal(shown(w.headers.p[40]), 100);
    warnings_done(&w);
    drop(texts, COUNT(texts));
}

/* Characters are counted, not bytes, and none is cut in two. */
static void test_characters(void **state) {
    (void)state;
    char a[2 * 3000 + 1], b[2 * 3000 + 2];
    for (size_t i = 0; i < 3000; i++) {
        memcpy(a + 2 * i, "\xc3\xa9", 2);
        memcpy(b + 2 * i + 1, "\xc3\xa9", 2);
    }
    a[6000] = b[6001] = '\0';
    b[0] = 'b';
    char *texts[] = {a, b};
    struct warnings w;
    warnings_init(&w, texts, 1);
    assert_int_equal(shown(w.headers.p[0]), 6000);
    warnings_done(&w);
    warnings_init(&w, texts, 2);
    assert_int_equal(w.headers.len, 2);
    assert_int_equal(shown(w.headers.p[0]), 512);
    assert_int_equal(shown(w.headers.p[1]), 511);
    warnings_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_what_fits_is_whole),
        cmocka_unit_test(test_more_is_cut), cmocka_unit_test(test_short_ones),
        cmocka_unit_test(test_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
