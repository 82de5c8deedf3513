/* Formats of texts. */
#include "structural_test.h"

static bool matches(const char *format, const char *text) {
    return format_matches(format, text, strlen(text));
}

static void test_which_are_known(void **state) {
    (void)state;
    assert_true(format_known("date") && format_known("date-time") && format_known("datetime"));
    assert_true(format_known("k8s-short-name") && format_known("uuid4") && format_known("byte"));
    assert_false(format_known("") || format_known("odd") || format_known("int32") ||
                 format_known("dat") || format_known("dates"));
    assert_true(format_useful("", "date") && format_useful("string", "date"));
    assert_true(format_useful("integer", "int32") && format_useful("number", "double"));
    assert_false(format_useful("integer", "date") || format_useful("string", "int32") ||
                 format_useful("object", "date") || format_useful("number", "int64"));
    assert_true(matches("odd", "anything"));
}

static void test_each(void **state) {
    (void)state;
    static const struct {
        const char *format, *yes, *no;
    } cases[] = {
        {"bsonobjectid", "507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901"},
        {"uuid", "123456781234123412341234567890AB", "12345678-1234-1234-1234-123456789ab"},
        {"uuid3", "12345678-1234-3234-1234-123456789abc", "12345678-1234-4234-1234-123456789abc"},
        {"uuid4", "12345678-1234-4234-8234-123456789abc", "12345678-1234-4234-c234-123456789abc"},
        {"uuid5", "12345678-1234-5234-B234-123456789ABC", "12345678-1234-5234-7234-123456789abc"},
        {"hexcolor", "#FFF", "#ffff"},
        {"rgbcolor", "rgb( 255 , 1,2 )", "rgb(256,0,0)"},
        {"byte", "YQ==", "YQ"},
        {"byte", "YWJj", ""},
        {"isbn10", "097522980X", "0321751044"},
        {"isbn13", "978-0321751041", "9780321751042"},
        {"isbn", "032-175104 3", "x"},
        {"creditcard", "4111 1111 1111 1111", "4111111111111112"},
        {"creditcard", "378282246310005", "41111111111111114111"},
        {"ssn", "123-45-6789", "123456789"},
        {"ipv4", "01.2.3.4", "::1"},
        {"ipv4", "::ffff:1.2.3.4", "1.2.3"},
        {"ipv6", "::1", "1.2.3.4"},
        {"cidr", "10.0.0.0/8", "10.0.0.0"},
        {"mac", "01:23:45:67:89:ab", "01:23"},
        {"email", "a@b", "a"},
        {"uri", "/x", "x"},
        {"date", "2026-11-15", "x"},
        {"date-time", "2026-11-15T10:00:00Z", "x"},
        {"duration", "5m", "x"},
        {"k8s-short-name", "a-b", "a.b"},
        {"k8s-short-name", "0", "-a"},
        {"k8s-long-name", "a.b-c", "a..b"},
        {"k8s-long-name", "a", "A"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (!matches(cases[i].format, cases[i].yes) || matches(cases[i].format, cases[i].no))
            fail_msg("%s: %s, %s", cases[i].format, cases[i].yes, cases[i].no);
    assert_true(matches("password", ""));
}

static void test_hostname(void **state) {
    (void)state;
    static const char *const good[] = {"localhost",        "a-b",   "a-",           "a.bc",
                                       "a-b.com",          "1.com", "A.COM",        "\xc3\xa4.com",
                                       "\xe2\x98\x83.net", "$a",    "a.b.c.example"};
    static const char *const bad[] = {
        "",       "ab-c", "-a",    "a.b",    "a_b.com",       "a..com",
        "a.com.", "1.2",  "a.c-m", "a-.com", "a.\xe2\x98\x83"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!matches("hostname", good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (matches("hostname", bad[i]))
            fail_msg("%s", bad[i]);
    char label[70];
    memset(label, 'x', sizeof label);
    label[63] = '\0';
    assert_true(matches("hostname", label));
    label[63] = 'x';
    label[64] = '\0';
    assert_false(matches("hostname", label));
    memcpy(label + 63, ".com", 5);
    assert_true(matches("hostname", label));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_known),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_hostname),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
