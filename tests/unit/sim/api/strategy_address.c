/* Tests of api/strategy_address. */
#include "strategy_expect.h"

static void test_recorded(void **state) {
    (void)state;
    expect_recorded("strategy_address");
}

static void test_families(void **state) {
    (void)state;
    assert_int_equal(address_family("10.0.0.1"), ADDRESS_V4);
    assert_int_equal(address_family("010.000.0.1"), ADDRESS_V4); /* as old versions read it */
    assert_int_equal(address_family("::ffff:10.0.0.1"), ADDRESS_V4);
    assert_int_equal(address_family("2001:db8::1"), ADDRESS_V6);
    assert_int_equal(address_family("10.0.0.0/8"), ADDRESS_V4);
    assert_int_equal(address_family("2001:db8::/32"), ADDRESS_V6);
    static const char *const none[] = {"",
                                       "10",
                                       "10.0.0",
                                       "10.0.0.256",
                                       "10.0.0.1.2",
                                       "10.0.0.1 ",
                                       " 10.0.0.1",
                                       "10.0.0.-1",
                                       "a.b.c.d",
                                       "fe80::1%eth0",
                                       ":::",
                                       "10.0.0.0/33",
                                       "10.0.0.0/",
                                       "10.0.0.0/-1",
                                       "2001::/129",
                                       "/24",
                                       "10.0.0.0/2x",
                                       "10.0.0.99999999999999999999",
                                       "10.0.0.0/99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (address_family(none[i]) != ADDRESS_NONE)
            fail_msg("%s", none[i]);
}

static void expect_ip(const char *value, const json_t *old, const char *text) {
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_child(&root, "ip");
    check_ip(&e, &at, value, old, NULL);
    expect_errors(&e, text);
}

/* IsValidIP() of apimachinery's util/validation. */
static void test_ips(void **state) {
    _cleanup_json_ json_t *old = expect_json("['010.0.0.1','x']");
    (void)state;
    expect_ip("10.0.0.1", NULL, "");
    expect_ip("2001:db8::1", NULL, "");
    expect_ip("x", NULL,
              "ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
              "2001:db8::ffff)");
    expect_ip("010.0.0.1", NULL, "ip: Invalid value: \"010.0.0.1\": must not have leading 0s");
    expect_ip("::ffff:1.2.3.4", NULL,
              "ip: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 address");
    expect_ip("x", old, "");
    expect_ip("010.0.0.1", old, "");
}

static void expect_cidr(const char *value, const char *text) {
    struct field_errors e = {0};
    struct at root = at_root(NULL), at = at_child(&root, "cidr");
    check_cidr(&e, &at, value, NULL);
    expect_errors(&e, text);
}

static void test_cidrs(void **state) {
    (void)state;
    expect_cidr("10.0.0.0/8", "");
    expect_cidr("0.0.0.0/0", "");
    expect_cidr("2001:db8::/32", "");
    expect_cidr("10.0.0.0",
                "cidr: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. 10.9.8.0/24 "
                "or 2001:db8::/64)");
    expect_cidr("10.0.0.1/8", "cidr: Invalid value: \"10.0.0.1/8\": must not have bits set beyond "
                              "the prefix length");
    expect_cidr("2001:db8::1/64", "cidr: Invalid value: \"2001:db8::1/64\": must not have bits set "
                                  "beyond the prefix length");
    expect_cidr("10.0.0.0/08", "cidr: Invalid value: \"10.0.0.0/08\": must not have leading 0s in "
                               "IP or prefix length");
}

static void expect_dual(const char *list, bool dual) {
    _cleanup_json_ json_t *v = expect_json(list);
    assert_int_equal(addresses_are_dual(v, NULL), dual);
}

static void test_dual(void **state) {
    _cleanup_json_ json_t *v = expect_json("{'podIPs':[{'ip':'10.0.0.1'},{'ip':'10.0.0.2'}]}");
    struct at root = at_root(v), ips = at_child(&root, "podIPs");
    struct field_errors e = {0};
    (void)state;
    expect_dual("[]", false);
    expect_dual("['10.0.0.1']", false);
    expect_dual("['10.0.0.1','::1']", true);
    expect_dual("['10.0.0.1','10.0.0.2']", false);
    check_dual_stack(&e, &ips, "ip", &go_pod_ip);
    expect_errors(&e, "podIPs: Invalid value: [{\"IP\":\"10.0.0.1\"},{\"IP\":\"10.0.0.2\"}]: may "
                      "specify no more than one IP for each IP family");
}

/* ValidateEndpointIP(). */
static void test_endpoints(void **state) {
    static const struct {
        const char *ip, *why;
    } cases[] = {
        {"10.0.0.1", ""},
        {"2001:db8::1", ""},
        {"x", "must be a valid IP address"},
        {"0.0.0.0", "may not be unspecified (0.0.0.0)"},
        {"::", "may not be unspecified (::)"},
        {"127.1.2.3", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
        {"169.254.0.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"fe80::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"febf::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"fec0::1", ""},
        {"224.0.0.7", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
        {"224.0.1.7", ""},
        {"ff02::1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct field_errors e = {0};
        struct at root = at_root(NULL), at = at_child(&root, "ip");
        _cleanup_free_ char *text =
            *cases[i].why ? xasprintf("ip: Invalid value: \"%s\": %s", cases[i].ip, cases[i].why)
                          : xstrdup("");
        check_endpoint_ip(&e, &at, cases[i].ip);
        expect_errors(&e, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_families),
        cmocka_unit_test(test_ips),      cmocka_unit_test(test_cidrs),
        cmocka_unit_test(test_dual),     cmocka_unit_test(test_endpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
