/* Tests of net/server_tls.c: the promises of its header, seen from a client's side, and what it
 * says about bad certificates and keys. */
#include "net/server_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "net/selfsigned.h"

struct pair {
    struct selfsigned certs;
    SSL_CTX *server, *client;
};

static int setup(void **state) {
    struct pair *p = xnew(struct pair);
    *state = p;
    if (selfsigned_make("test", NULL, SEC(time(NULL)), &p->certs, NULL))
        return -1;
    struct httpd_tls tls = {p->certs.cert, p->certs.key};
    p->client = SSL_CTX_new(TLS_client_method());
    return http_tls_new(&tls, &p->server, NULL);
}

static int teardown(void **state) {
    struct pair *p = *state;
    SSL_CTX_free(p->server);
    SSL_CTX_free(p->client);
    selfsigned_done(&p->certs);
    free(p);
    return 0;
}

/* Two ends in memory; turns until both are through or one fails. Returns whether they are. */
static bool shake(struct pair *p, SSL_SESSION *session, SSL **server, SSL **client) {
    BIO *a, *b;
    *server = SSL_new(p->server);
    *client = SSL_new(p->client);
    BIO_new_bio_pair(&a, 0, &b, 0);
    SSL_set_bio(*server, a, a);
    SSL_set_bio(*client, b, b);
    SSL_set_accept_state(*server);
    SSL_set_connect_state(*client);
    if (session)
        SSL_set_session(*client, session);
    bool fine = false;
    for (int i = 0; i < 10 && !fine; i++) {
        int c = SSL_do_handshake(*client), s = SSL_do_handshake(*server);
        fine = c == 1 && s == 1;
    }
    ERR_clear_error();
    return fine;
}

static bool shakes(struct pair *p) {
    SSL *server, *client;
    bool fine = shake(p, NULL, &server, &client);
    SSL_free(server);
    SSL_free(client);
    return fine;
}

static void test_versions(void **state) {
    struct pair *p = *state;
    SSL *server, *client;
    assert_true(shake(p, NULL, &server, &client));
    assert_int_equal(SSL_version(client), TLS1_3_VERSION);
    SSL_free(server);
    SSL_free(client);
    SSL_CTX_set_max_proto_version(p->client, TLS1_2_VERSION);
    assert_true(shake(p, NULL, &server, &client));
    assert_int_equal(SSL_version(client), TLS1_2_VERSION);
    SSL_free(server);
    SSL_free(client);
    SSL_CTX_set_min_proto_version(p->client, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(p->client, TLS1_1_VERSION);
    SSL_CTX_set_security_level(p->client, 0);
    assert_false(shakes(p));
}

static void test_protocols(void **state) {
    struct pair *p = *state;
    static const struct {
        const char *offered;
        const char *chosen; /* NULL: refused */
    } cases[] = {
        {"\x02h2\x08http/1.1", "http/1.1"}, /* kubectl */
        {"\x08http/1.0\x08http/1.1", "http/1.1"},
        {"\x08http/1.0", "http/1.0"}, /* curl -0 */
        {"\x02h2", NULL},
        {"\x08http/0.9", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SSL *server, *client;
        const unsigned char *chosen;
        unsigned len;
        assert_int_equal(SSL_CTX_set_alpn_protos(p->client, (const unsigned char *)cases[i].offered,
                                                 (unsigned)strlen(cases[i].offered)),
                         0);
        assert_int_equal(shake(p, NULL, &server, &client), cases[i].chosen != NULL);
        SSL_get0_alpn_selected(client, &chosen, &len);
        if (cases[i].chosen) {
            assert_int_equal(len, 8);
            assert_memory_equal(chosen, cases[i].chosen, 8);
        }
        SSL_free(server);
        SSL_free(client);
    }
}

/* A session is resumed by its ticket; the server remembers none. */
static SSL_SESSION *last_session;

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    SSL_SESSION_free(last_session);
    last_session = session;
    return 1;
}

static void test_tickets(void **state) {
    struct pair *p = *state;
    SSL *server, *client;
    char buf[10];
    SSL_CTX_set_session_cache_mode(p->client, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(p->client, keep_session);
    assert_true(shake(p, NULL, &server, &client));
    assert_int_equal(SSL_write(server, "x", 1), 1);
    assert_int_equal(SSL_read(client, buf, sizeof buf), 1);
    assert_false(SSL_session_reused(client));
    SSL_shutdown(client); /* else it forgets the session */
    SSL_free(server);
    SSL_free(client);
    assert_non_null(last_session);
    assert_int_equal(SSL_CTX_sess_number(p->server), 0);
    assert_true(shake(p, last_session, &server, &client));
    assert_true(SSL_session_reused(client));
    SSL_free(server);
    SSL_free(client);
    SSL_SESSION_free(last_session);
    last_session = NULL;
}

static void test_no_renegotiation(void **state) {
    struct pair *p = *state;
    SSL *server, *client;
    char buf[10];
    SSL_CTX_set_max_proto_version(p->client, TLS1_2_VERSION);
    assert_true(shake(p, NULL, &server, &client));
    assert_int_equal(SSL_renegotiate(client), 1);
    SSL_do_handshake(client);
    SSL_read(server, buf, sizeof buf);
    SSL_do_handshake(client);
    assert_int_equal(SSL_get_error(client, -1), SSL_ERROR_SSL); /* it was told so */
    ERR_clear_error();
    SSL_free(server);
    SSL_free(client);
}

static char *pem_of_key(EVP_PKEY *key, const char *passphrase) {
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, passphrase ? EVP_aes_128_cbc() : NULL, passphrase,
                                  passphrase ? (int)strlen(passphrase) : 0, NULL, NULL);
    char *p;
    long len = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)len);
    BIO_free(bio);
    return text;
}

static void test_bad_pairs(void **state) {
    struct pair *p = *state;
    EVP_PKEY *rsa = EVP_RSA_gen(2048), *ec = EVP_EC_gen("P-256");
    _cleanup_free_ char *rsa_key = pem_of_key(rsa, NULL), *ec_key = pem_of_key(ec, NULL),
                        *locked = pem_of_key(ec, "secret");
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(ec);
    const struct {
        const char *cert, *key, *msg;
    } cases[] = {
        {"", p->certs.key, "the server's certificate is no certificate in PEM"},
        {p->certs.key, p->certs.key, "the server's certificate is no certificate in PEM"},
        {p->certs.cert, "", "the server's private key is no private key in PEM"},
        {p->certs.cert, p->certs.cert, "the server's private key is no private key in PEM"},
        {p->certs.cert, ec_key,
         "the server's private key does not belong to its certificate: were they mixed up, or "
         "only one of them renewed?"},
        {p->certs.cert, rsa_key,
         "the server's private key does not belong to its certificate: were they mixed up, or "
         "only one of them renewed?"},
        {p->certs.cert, locked,
         "the server's private key is encrypted, and there is nobody to ask for its passphrase: "
         "store it without one"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        SSL_CTX *ctx = NULL;
        struct httpd_tls tls = {cases[i].cert, cases[i].key};
        assert_int_equal(http_tls_new(&tls, &ctx, &err), -EINVAL);
        assert_string_equal(err_msg(&err), cases[i].msg);
        assert_null(ctx);
        assert_int_equal(ERR_peek_error(), 0);
    }
}

/* A chain is sent as it is given. */
static void test_chain(void **state) {
    struct pair *p = *state;
    SSL *server, *client;
    _cleanup_free_ char *chain = xasprintf("%s%s", p->certs.cert, p->certs.ca);
    struct httpd_tls tls = {chain, p->certs.key};
    SSL_CTX_free(p->server);
    assert_int_equal(http_tls_new(&tls, &p->server, NULL), 0);
    assert_true(shake(p, NULL, &server, &client));
    assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(client)), 2);
    SSL_free(server);
    SSL_free(client);
}

#define TLS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TLS_TEST(test_versions),         TLS_TEST(test_protocols), TLS_TEST(test_tickets),
        TLS_TEST(test_no_renegotiation), TLS_TEST(test_bad_pairs), TLS_TEST(test_chain),
    };
    return cmocka_run_group_tests_name("server_tls", tests, NULL, NULL);
}
