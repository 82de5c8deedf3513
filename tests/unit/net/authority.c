/* Tests of src/net/authority.c: what is signed, for whom and how long; the names that an authority
 * may sign for. What clients make of it is in selfsigned.c. */
#include "net/authority.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

#define NOW   SEC(INT64_C(1900000000))
#define DAY   SEC(INT64_C(86400))
#define YEARS (10 * 365 * DAY)

static const char *const names[] = {"10.0.0.7", "2001:db8::7", "manager.ns.svc", NULL};

static void make(const char *const *permitted, int64_t lasts, struct cert_pair *ca) {
    struct cert_spec spec = {.cn = "slipway", .names = permitted, .now = NOW, .lasts = lasts};
    assert_int_equal(authority_make(&spec, ca, NULL), 0);
}

static int issue(const struct cert_pair *ca, const char *const *wanted, int64_t now,
                 struct cert_pair *out, struct err *err) {
    struct cert_spec spec = {.cn = "manager", .names = wanted, .now = now, .lasts = 90 * DAY};
    return authority_issue(ca, &spec, out, err);
}

static void a_certificate_and_its_end(void **state) {
    (void)state;
    _cleanup_cert_pair_ struct cert_pair ca = {0}, leaf = {0}, other = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    int64_t end;
    make(names, YEARS, &ca);
    assert_int_equal(issue(&ca, names, NOW, &leaf, NULL), 0);
    assert_int_equal(authority_check(ca.cert, &leaf, names, NOW, NULL), 0);
    assert_int_equal(authority_check(ca.cert, &leaf, names, NOW + 89 * DAY, NULL), 0);
    assert_int_equal(authority_check(ca.cert, &leaf, names, NOW + 91 * DAY, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "expired"));
    assert_int_equal(cert_ends(leaf.cert, &end, NULL), 0);
    assert_true(end == NOW + 90 * DAY);
    assert_int_equal(cert_ends("nonsense", &end, NULL), -EINVAL);
    /* another authority of the same name */
    make(names, YEARS, &other);
    assert_int_equal(authority_check(other.cert, &leaf, names, NOW, NULL), -EINVAL);
}

static void it_lasts_no_longer_than_its_authority(void **state) {
    (void)state;
    _cleanup_cert_pair_ struct cert_pair ca = {0}, leaf = {0}, none = {0};
    int64_t end;
    make(names, 30 * DAY, &ca);
    assert_int_equal(issue(&ca, names, NOW, &leaf, NULL), 0);
    assert_int_equal(cert_ends(leaf.cert, &end, NULL), 0);
    assert_true(end == NOW + 30 * DAY);
    assert_int_equal(issue(&ca, names, NOW + 31 * DAY, &none, NULL), -EINVAL);
}

/* Whoever has its key cannot sign for anybody else: hosts trust it for these names alone. */
static void names_that_it_may_not_sign_for(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"10.0.0.8", NULL},
                                           {"2001:db8::8", NULL},
                                           {"example.org", NULL},
                                           {"xmanager.ns.svc", NULL}};
    static const char *const dns[] = {"manager.ns.svc", NULL};
    _cleanup_cert_pair_ struct cert_pair ca = {0}, no_ip = {0}, any = {0}, out = {0};
    make(names, YEARS, &ca);
    make(dns, YEARS, &no_ip);
    make(NULL, YEARS, &any);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_int_equal(issue(&ca, cases[i], NOW, &out, &err), -EINVAL);
        assert_non_null(strstr(err_msg(&err), "permitted"));
        assert_int_equal(issue(&no_ip, cases[i], NOW, &out, NULL), -EINVAL);
        assert_int_equal(issue(&any, cases[i], NOW, &out, NULL), 0);
        cert_pair_done(&out);
    }
    assert_int_equal(issue(&no_ip, dns, NOW, &out, NULL), 0);
}

static void what_is_no_name(void **state) {
    (void)state;
    static const char *const bad[] = {"a,permitted;DNS:org", NULL};
    _cleanup_cert_pair_ struct cert_pair ca = {0}, out = {0};
    struct cert_spec spec = {.cn = "slipway", .names = bad, .now = NOW, .lasts = DAY};
    assert_int_equal(authority_make(&spec, &out, NULL), -EINVAL);
    make(NULL, YEARS, &ca);
    assert_int_equal(issue(&ca, bad, NOW, &out, NULL), -EINVAL);
}

static void what_cannot_be_read(void **state) {
    (void)state;
    _cleanup_cert_pair_ struct cert_pair ca = {0}, leaf = {0}, out = {0};
    make(names, YEARS, &ca);
    assert_int_equal(issue(&ca, names, NOW, &leaf, NULL), 0);
    struct cert_pair mixed = {ca.cert, leaf.key}, empty = {(char *)"", (char *)""};
    assert_int_equal(issue(&mixed, names, NOW, &out, NULL), -EINVAL);
    assert_int_equal(issue(&empty, names, NOW, &out, NULL), -EINVAL);
    struct cert_pair wrong = {leaf.cert, ca.key};
    assert_int_equal(authority_check(ca.cert, &wrong, names, NOW, NULL), -EINVAL);
    assert_int_equal(authority_check("", &leaf, names, NOW, NULL), -EINVAL);
    assert_int_equal(authority_check(ca.cert, &empty, names, NOW, NULL), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_and_its_end),
        cmocka_unit_test(it_lasts_no_longer_than_its_authority),
        cmocka_unit_test(names_that_it_may_not_sign_for),
        cmocka_unit_test(what_is_no_name),
        cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
