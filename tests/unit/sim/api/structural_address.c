/* Addresses of hosts and networks. */
#include "sim/api/structural_address.h"

#include "structural_test.h"

static void test_ip(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int strict, sloppy;
    } cases[] = {
        {"1.2.3.4", 4, 4},
        {"255.255.255.255", 4, 4},
        {"01.2.3.4", 0, 4},
        {"1.2.3.256", 0, 0},
        {"1.2.3", 0, 0},
        {"1.2.3.4.5", 0, 0},
        {"1.2.3.", 0, 0},
        {"", 0, 0},
        {"::", 6, 6},
        {"::1", 6, 6},
        {"1::", 6, 6},
        {"1:2:3:4:5:6:7:8", 6, 6},
        {"1:2:3:4:5:6:7::", 6, 6},
        {"1:2:3:4:5:6:7:8:9", 0, 0},
        {"1:2:3:4:5:6:7:8::", 0, 0},
        {"1::2::3", 0, 0},
        {":1", 0, 0},
        {"1:", 0, 0},
        {"12345::", 0, 0},
        {"g::", 0, 0},
        {"::ffff:1.2.3.4", 6, 6},
        {"::ffff:01.2.3.4", 0, 6},
        {"1:2:3:4:5:6:1.2.3.4", 6, 6},
        {"1:2:3:4:5:6:7:1.2.3.4", 0, 0},
        {"fe80::1%eth0", 0, 0},
        {"1", 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (address_ip(view_of(cases[i].text), false) != cases[i].strict ||
            address_ip(view_of(cases[i].text), true) != cases[i].sloppy)
            fail_msg("%s", cases[i].text);
    }
}

static void test_cidr(void **state) {
    (void)state;
    assert_true(address_cidr(view_of("10.0.0.0/8")) && address_cidr(view_of("1.2.3.4/0")));
    assert_true(address_cidr(view_of("::/128")) && address_cidr(view_of("010.0.0.0/8")));
    static const char *const bad[] = {"10.0.0.0", "10.0.0.0/",   "10.0.0.0/33", "::/129",
                                      "/8",       "10.0.0.0/+8", "10.0.0.0/8x", "x/8"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(address_cidr(view_of(bad[i])));
}

static void test_mac(void **state) {
    (void)state;
    static const char *const good[] = {
        "01:23:45:67:89:ab",       "01-23-45-67-89-AB",
        "0123.4567.89ab",          "0123456789ab",
        "01:23:45:67:89:ab:cd:ef", "00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01"};
    static const char *const bad[] = {"",
                                      "01:23:45:67:89",
                                      "01:23-45:67:89:ab",
                                      "01:23:45:67:89:ag",
                                      "0123.4567.89a",
                                      "0123456789abc",
                                      "01:23:45:67:89:ab:",
                                      "0123:4567:89ab"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(address_mac(view_of(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(address_mac(view_of(bad[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ip),
        cmocka_unit_test(test_cidr),
        cmocka_unit_test(test_mac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
