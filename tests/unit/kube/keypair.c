/* Tests of kube/keypair. */
#include "kube/keypair.h"

#include <errno.h>
#include <openssl/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/timefmt.h"
#include "pair.h"

static void belongs(void **state) {
    (void)state;
    struct pair a = pair_new(7200, NULL), b = pair_new(7200, NULL);
    int64_t until = 0;
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(keypair_check(a.cert, a.key, &until, &err), 0);
    int64_t want = SEC(time(NULL) + 7200);
    assert_true(until > want - SEC(60) && until <= want);
    assert_int_equal(keypair_check(a.cert, a.key, NULL, NULL), 0);
    until = 7;
    assert_int_equal(keypair_check(a.cert, b.key, &until, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "the client key does not belong to the client certificate");
    assert_int_equal(until, 7);
    /* Of a chain the first counts; key and certificate may stand in one file. */
    _cleanup_free_ char *chain = xasprintf("%s%s", a.cert, b.cert);
    _cleanup_free_ char *both = xasprintf("%s%s", a.cert, a.key);
    assert_int_equal(keypair_check(chain, a.key, NULL, &err), 0);
    assert_int_equal(keypair_check(chain, b.key, NULL, &err), -EINVAL);
    assert_int_equal(keypair_check(both, both, NULL, &err), 0);
    pair_done(&a);
    pair_done(&b);
}

static void unusable(void **state) {
    (void)state;
    struct pair a = pair_new(7200, NULL), locked = pair_new(7200, "secret");
    _cleanup_err_ struct err err = ERR_INIT;
    static const char no_cert[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    static const char *const junk[] = {"", "x", "-----BEGIN CERTIFICATE-----\n", no_cert};
    for (size_t i = 0; i < ARRAY_LEN(junk); i++) {
        assert_int_equal(keypair_check(junk[i], a.key, NULL, &err), -EINVAL);
        assert_string_equal(err_msg(&err), "the client certificate is not a PEM certificate");
        assert_int_equal(keypair_check(a.cert, junk[i], NULL, &err), -EINVAL);
        assert_string_equal(err_msg(&err), "the client key is not a PEM private key");
    }
    assert_int_equal(keypair_check(locked.cert, locked.key, NULL, &err), -EINVAL);
    assert_string_equal(err_msg(&err),
                        "the client key is encrypted: only keys without a passphrase "
                        "can be used");
    assert_int_equal(ERR_peek_error(), 0);
    pair_done(&a);
    pair_done(&locked);
}

/* An expired certificate is the server's business: it decides by its own clock. */
static void expired(void **state) {
    (void)state;
    struct pair a = pair_new(-60, NULL);
    int64_t until;
    assert_int_equal(keypair_check(a.cert, a.key, &until, NULL), 0);
    assert_true(until < SEC(time(NULL)));
    pair_done(&a);
}

static void shared_parts(void **state) {
    (void)state;
    char buf[8] = "";
    bool asked = false;
    assert_int_equal(keypair_no_passphrase(buf, sizeof buf, 0, &asked), -1);
    assert_true(asked);
    assert_int_equal(keypair_time(NULL), 0);
    ASN1_TIME *t = ASN1_TIME_new();
    assert_int_equal(ASN1_TIME_set_string(t, "20300102030405Z"), 1);
    assert_int_equal(keypair_time(t), SEC(1893553445));
    assert_int_equal(ASN1_TIME_set_string(t, "490101000000Z"), 1); /* 2049, UTCTime's last */
    assert_int_equal(keypair_time(t), SEC(2493072000));
    ASN1_TIME_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(belongs),
        cmocka_unit_test(unusable),
        cmocka_unit_test(expired),
        cmocka_unit_test(shared_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
