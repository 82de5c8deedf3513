/* Addresses of mail: what net/mail's ParseAddress() takes. */
#include "sim/api/structural_address.h"

#include "structural_test.h"

static void test_good(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a@b",           "a.b@c.d",        "\"a b\"@c",    "A <a@b>",     "A B <a@b>",
        "<a@b>",         "\"A, B\" <a@b>", "A. B <a@b>",   "a@[1.2.3.4]", "a@[::1]",
        "a@b (c)",       "a@b (c(d))",     "g: a@b;",      " a@b ",       "\xc3\xa4@\xc3\xb6",
        "A (x) B <a@b>", "A <a@b> (c)",    "\"a\\\"b\"@c", "a@ b",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!address_mail(view_of(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_bad(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",       " ",           "a",     "a@",     "@b",       ".a@b",  "a.@b",
        "a..b@c", "\"\"@c",      "a@[x]", "a@b (c", "a@b, c@d", "g:;",   "g: a@b, c@d;",
        "a @b",   "a@b c",       "a@b.",  "A <a@b", "a,b@c",    "\"a@b", "a@[1.2.3.4",
        "g: a@b", "g: h: a@b;;", "A B",   "<>",     "a\n@b",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (address_mail(view_of(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_deep_comments(void **state) {
    (void)state;
    struct str text = STR_INIT;
    str_add(&text, "a@b ");
    for (int i = 0; i < 100000; i++)
        str_addc(&text, '(');
    assert_false(address_mail((struct view){str_get(&text), text.len}));
    for (int i = 0; i < 100000; i++)
        str_addc(&text, ')');
    assert_true(address_mail((struct view){str_get(&text), text.len}));
    str_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_deep_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
