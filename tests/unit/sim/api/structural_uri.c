/* URIs: what net/url's ParseRequestURI() takes. */
#include "sim/api/structural_address.h"

#include "structural_test.h"

static void test_good(void **state) {
    (void)state;
    static const char *const texts[] = {
        "/",
        "*",
        "/a?b",
        "http://a",
        "http://a/b?c#d",
        "http:",
        "http://",
        "mailto:a@b",
        "http://a b",
        "http://a/%41",
        "http://[::1]:80/x",
        "http://u:p@h/",
        "http://u@v@h/",
        "x://a,b:1,c:2/",
        "http://\xc3\xa4/",
        "http://%e4/",
        "//a/b",
        "x:///a",
        "http://a:/",
        "http://[fe80::1%25eth0]/",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        bool blank = strchr(texts[i], ' ') != NULL; /* a blank is no character of a host */
        if (address_uri(view_of(texts[i]), false) == blank)
            fail_msg("%s", texts[i]);
    }
}

static void test_bad(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        ":x",
        "a/b",
        "?x",
        "1http://a",
        "http://a/%zz",
        "http://[::1",
        "http://[1.2.3.4]/",
        "http://[fe80::1%eth0]/",
        "http://a:b/",
        "http://a:80:90/",
        "http://u p@h/",
        "http://a%41b/",
        "http://a\\b/",
        "http://a\tb",
        "http://a[b]/",
        "http://%",
        "http://[fe80::1%25]/",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (address_uri(view_of(texts[i]), false))
            fail_msg("%s", texts[i]);
}

static void test_with_authority(void **state) {
    (void)state;
    assert_true(address_uri(view_of("https://github.com/x/pull/1"), true));
    static const char *const bad[] = {"/x", "*", "mailto:a@b", "https:///x", "https://", "x"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(address_uri(view_of(bad[i]), true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_with_authority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
