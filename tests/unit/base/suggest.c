/* Tests of base/suggest: distances, the nearest word, lists for messages. */
#include "base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void distances(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t d;
    } t[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"kitten", "sitting", 3},
        {"sever", "server", 1},
        {"serevr", "server", 1}, /* a swap is one mistake */
        {"ab", "ba", 1},
        {"ca", "abc", 3}, /* no letter is touched twice: not 2 */
        {"tokenfile", "tokenFile", 0},
        {"TOKEN_FILE", "tokenFile", 0},
        {"insecureSkipTlsVerify", "insecure-skip-tls-verify", 0},
        {"a", "b", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        assert_int_equal(suggest_distance(t[i].a, t[i].b), t[i].d);
        assert_int_equal(suggest_distance(t[i].b, t[i].a), t[i].d);
    }
}

static void long_words_are_far(void **state) {
    (void)state;
    char word[SUGGEST_WORD + 2], other[SUGGEST_WORD + 1];
    memset(word, 'a', sizeof word);
    word[sizeof word - 1] = '\0';
    memset(other, 'a', sizeof other);
    other[sizeof other - 1] = '\0';
    assert_int_equal(suggest_distance(other, other), 0);
    assert_int_equal(suggest_distance(word, other), SUGGEST_WORD);
    assert_int_equal(suggest_distance(other, word), SUGGEST_WORD);
    const char *words[] = {word};
    assert_null(suggest_nearest(word, words, 1));
}

static void nearest(void **state) {
    (void)state;
    static const char *const keys[] = {"server", "tls-server-name", "proxy-url", "as", "as-uid"};
    assert_string_equal(suggest_nearest("sever", keys, 5), "server");
    assert_string_equal(suggest_nearest("tlsServerName", keys, 5), "tls-server-name");
    assert_string_equal(suggest_nearest("proxy_urls", keys, 5), "proxy-url");
    assert_string_equal(suggest_nearest("asuid", keys, 5), "as-uid");
    assert_string_equal(suggest_nearest("a", keys, 5), "as");
    assert_null(suggest_nearest("namespace", keys, 5));
    /* Two letters replaced in a word of two letters leave nothing in common. */
    assert_null(suggest_nearest("xy", keys, 5));
    assert_null(suggest_nearest("", keys, 5));
    assert_null(suggest_nearest("x", keys, 0));
    /* The nearer one wins wherever it stands; the first among equals. */
    static const char *const two[] = {"abcd", "abxx", "abxy"};
    assert_string_equal(suggest_nearest("abxyz", two, 3), "abxy");
    assert_string_equal(suggest_nearest("abxz", two, 3), "abxx");
}

static void lists(void **state) {
    (void)state;
    static const char *const few[] = {"prod", "staging", "dev"};
    _cleanup_str_ struct str s = STR_INIT;
    suggest_list(&s, NULL, few, 3);
    assert_string_equal(str_get(&s), "\"prod\", \"staging\", \"dev\"");
    str_reset(&s);
    suggest_list(&s, "stagign", few, 3);
    assert_string_equal(str_get(&s), "\"staging\", \"prod\", \"dev\"");
    str_reset(&s);
    suggest_list(&s, "x", few, 0);
    assert_string_equal(str_get(&s), "none");

    static const char *const many[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    str_reset(&s);
    suggest_list(&s, "l", many, 12);
    assert_string_equal(
        str_get(&s),
        "\"l\", \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\" and 2 more");
    str_reset(&s);
    suggest_list(&s, NULL, many, 11);
    assert_null(strstr(str_get(&s), "more"));

    static const char *const nasty[] = {"\033[31mred"};
    str_reset(&s);
    suggest_list(&s, NULL, nasty, 1);
    assert_null(strchr(str_get(&s), '\033'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(long_words_are_far),
        cmocka_unit_test(nearest),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
