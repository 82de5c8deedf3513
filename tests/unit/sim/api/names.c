/* Tests of api/names. The values are those of Kubernetes' own tests (pkg/util/validation, pkg/api/
 * validate/content), the words those of its server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/api/names.h"

#define REPEAT_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define REPEAT_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static char *repeat(char c, size_t n) {
    char *s = xmalloc(n + 1);
    memset(s, c, n);
    s[n] = '\0';
    return s;
}

static void good(name_rule *rule, const char *const *values) {
    for (size_t i = 0; values[i]; i++) {
        _cleanup_problems_ struct problems p = PROBLEMS_INIT;
        rule(values[i], &p);
        if (p.v.len)
            fail_msg("\"%s\": %s", values[i], p.v.p[0]);
    }
}

static void bad(name_rule *rule, const char *const *values) {
    for (size_t i = 0; values[i]; i++)
        if (name_ok(rule, values[i]))
            fail_msg("\"%s\" is taken for right", values[i]);
}

static void expect(name_rule *rule, const char *value, const char *all) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    rule(value, &p);
    _cleanup_free_ char *text = problems_join(&p, " | ");
    assert_string_equal(text, all);
}

static void test_dns1123_label(void **state) {
    static const char *const yes[] = {"a",  "ab",  "abc", "a1",  "a-1",        "a--1--2--b", "0",
                                      "01", "012", "1a",  "1-a", "1--a--b--2", REPEAT_63,    NULL};
    static const char *const no[] = {
        "",   "A",   "ABC", "aBc", "A1", "A-1", "1-A", "-",  "a-",  "-a",      "1-",  "-1",
        "_",  "a_",  "_a",  "a_b", "1_", "_1",  "1_2", ".",  "a.",  ".a",      "a.b", "1.",
        ".1", "1.2", " ",   "a ",  " a", "a b", "1 ",  " 1", "1 2", REPEAT_64, NULL};
    (void)state;
    good(name_dns1123_label, yes);
    bad(name_dns1123_label, no);
    expect(name_dns1123_label, "a.b", "must not contain dots");
    expect(name_dns1123_label, REPEAT_64, "must be no more than 63 characters");
    expect(name_dns1123_label, "A",
           "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
           "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
           "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
}

static void test_dns1123_subdomain(void **state) {
    static const char *const yes[] = {"a",   "ab.a",      "a-1.a",     "a--1--2--b.a",
                                      "0.a", "1.2.3.4.5", "a.b.c.d.e", "aa.bb.cc.dd.ee",
                                      NULL};
    static const char *const no[] = {"",    "A",    "a..b", "1..2", ".",   "a.",
                                     ".a",  "a.-b", "A.a",  "ab.A", "a@b", "a,b",
                                     "a_b", "a;b",  "a%b",  "1 2",  NULL};
    _cleanup_free_ char *fits = repeat('a', 253), *long_one = repeat('a', 254);
    (void)state;
    good(name_dns1123_subdomain, yes);
    bad(name_dns1123_subdomain, no);
    assert_true(name_ok(name_dns1123_subdomain, fits));
    expect(name_dns1123_subdomain, long_one, "must be no more than 253 characters");
    expect(name_dns1123_subdomain, "B",
           "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
           "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
           "regex used for validation is "
           "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    assert_true(name_ok(name_dns1123_subdomain_underscore, "_ldap._tcp.example.com"));
    assert_true(name_ok(name_dns1123_subdomain_underscore, "a_b.c"));
    assert_false(name_ok(name_dns1123_subdomain_underscore, "__a"));
    assert_false(name_ok(name_dns1123_subdomain_underscore, "a_.b"));
}

static void test_dns1035_label(void **state) {
    static const char *const yes[] = {"a", "ab", "a1", "a-1", "a--1--2--b", REPEAT_63, NULL};
    static const char *const no[] = {"0", "01", "1a", "1--a", "",  "A",
                                     "-", "a-", "-a", "a.b",  NULL};
    (void)state;
    good(name_dns1035_label, yes);
    bad(name_dns1035_label, no);
}

static void test_label_keys(void **state) {
    static const char *const yes[] = {"simple",
                                      "now-with-dashes",
                                      "1-starts-with-num",
                                      "1234",
                                      "simple/simple",
                                      "now-with-dashes/simple",
                                      "1234/5678",
                                      "1.2.3.4/5678",
                                      "Uppercase_Is_OK_123",
                                      "example.com/Uppercase_Is_OK_123",
                                      "requests.storage-foo",
                                      NULL};
    static const char *const no[] = {"nospecialchars%^=@",
                                     "cantendwithadash-",
                                     "-cantstartwithadash-",
                                     "only/one/slash",
                                     "Example.com/abc",
                                     "example_com/abc",
                                     "example.com/",
                                     "/simple",
                                     "",
                                     NULL};
    (void)state;
    good(name_label_key, yes);
    bad(name_label_key, no);
    _cleanup_free_ char *name = repeat('a', 64), *prefix = repeat('a', 254);
    _cleanup_free_ char *both = xasprintf("%s/%s", prefix, name);
    expect(name_label_key, both,
           "prefix part must be no more than 253 bytes | name part must be no more than 63 bytes");
    expect(name_label_key, "/a", "prefix part must be non-empty");
    expect(name_label_key, "a/",
           "name part must be non-empty | name part must consist of alphanumeric characters, '-', "
           "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
           "'my.name',  or '123-abc', regex used for validation is "
           "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
}

static void test_label_values(void **state) {
    static const char *const yes[] = {
        "simple", "now-with-dashes", "1-starts-with-num", "end-with-num-1", "1234", REPEAT_63, "",
        NULL};
    static const char *const no[] = {"nospecialchars%^=@",
                                     "Tama-nui-te-r\xc4\x81.is.M\xc4\x81ori.sun",
                                     "\\backslashes\\are\\bad",
                                     "-starts-with-dash",
                                     "ends-with-dash-",
                                     ".starts.with.dot",
                                     "ends.with.dot.",
                                     REPEAT_64,
                                     NULL};
    (void)state;
    good(name_label_value, yes);
    bad(name_label_value, no);
}

static void test_ports(void **state) {
    static const char *const yes[] = {"telnet", "re-mail-ck", "pop3",      "a", "a-1",
                                      "1-a",    "a-1-b-2-c",  "1-a-2-b-3", NULL};
    static const char *const no[] = {
        "longerthan15characters", "",        "1",         "12345", "1-2-3-4", "-begin", "end-",
        "two--hyphens",           "whois++", "CamelCase", NULL};
    (void)state;
    good(name_port, yes);
    bad(name_port, no);
    expect(name_port, "-1--",
           "must contain at least one letter (a-z) | must not contain consecutive hyphens | must "
           "not begin or end with a hyphen");
}

static void test_config_keys(void **state) {
    static const char *const yes[] = {
        "a",           "good",         "good-good",     "still.good", "this.is.also.good",
        ".so.is.this", "THIS_IS_GOOD", "so_is_this_17", NULL};
    static const char *const no[] = {".", "..", "..bad", "b*d", "bad!&bad", "", NULL};
    (void)state;
    good(name_config_key, yes);
    bad(name_config_key, no);
    expect(name_config_key, "..", "must not be '..'");
    expect(name_config_key, "..a", "must not start with '..'");
}

static void test_others(void **state) {
    static const char *const envs[] = {"-",  ":",  "_",   "+a",  ">a",  "<a", "a.", "a..", "*a",
                                       "%a", "?a", "a:a", "a_a", "aAz", "~a", " a", "1",   NULL};
    static const char *const bad_envs[] = {"",      "=",  "a=",  "1=a",       "a=b",
                                           "#%=&&", "\t", "a\n", "h\xc3\xa9", NULL};
    static const char *const headers[] = {"Accept-Encoding", "Host", "X-Forwarded-For", "1", NULL};
    static const char *const bad_headers[] = {"", "X-@", "Host:", "a_b", " a", NULL};
    static const char *const percents[] = {"0%", "00000%", "1%", "100%", "999%", NULL};
    static const char *const bad_percents[] = {"",  "%",    "1%%", "-1%", "a%",
                                               "1", "1.5%", " 1%", NULL};
    (void)state;
    good(name_env_var, envs);
    bad(name_env_var, bad_envs);
    good(name_http_header, headers);
    bad(name_http_header, bad_headers);
    good(name_percent, percents);
    bad(name_percent, bad_percents);
    expect(name_path_segment, "..", "may not be '..'");
    expect(name_path_segment, "a/b%c", "may not contain '/' | may not contain '%'");
    expect(name_path_segment_prefix, ".", "");
}

static void test_prefixes(void **state) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    (void)state;
    name_prefix(name_dns1123_label, "good-", &p);
    name_prefix(name_dns1123_label, "a-", &p);
    assert_int_equal(p.v.len, 0);
    name_prefix(name_dns1123_label, "-", &p); /* one dash alone is not masked */
    assert_int_equal(p.v.len, 1);
    name_prefix(name_dns1123_label, "Bad-", &p);
    assert_int_equal(p.v.len, 2);
}

static void test_generated(void **state) {
    struct prng a = {7}, b = {7}, c = {8};
    _cleanup_free_ char *one = name_generate("web-", &a), *same = name_generate("web-", &b);
    _cleanup_free_ char *other = name_generate("web-", &c), *base = repeat('x', 100);
    _cleanup_free_ char *cut = name_generate(base, &c);
    (void)state;
    assert_int_equal(strlen(one), 9);
    assert_int_equal(strspn(one + 4, "bcdfghjklmnpqrstvwxz2456789"), 5);
    assert_string_equal(one, same);
    assert_string_not_equal(one, other);
    assert_int_equal(strlen(cut), 63);
    assert_int_equal(strspn(cut, "x"), 58 + (cut[58] == 'x'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dns1123_label), cmocka_unit_test(test_dns1123_subdomain),
        cmocka_unit_test(test_dns1035_label), cmocka_unit_test(test_label_keys),
        cmocka_unit_test(test_label_values),  cmocka_unit_test(test_ports),
        cmocka_unit_test(test_config_keys),   cmocka_unit_test(test_others),
        cmocka_unit_test(test_prefixes),      cmocka_unit_test(test_generated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
