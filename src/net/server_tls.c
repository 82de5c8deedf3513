/* TLS for the server. */
#include "net/server_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/mem.h"

/* OpenSSL would ask on the terminal. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg) {
    (void)buf;
    (void)size;
    (void)rwflag;
    *(bool *)arg = true;
    return -1;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *outlen,
                           const unsigned char *in, unsigned inlen, void *arg) {
    static const unsigned char ours[] = "\x08http/1.1\x08http/1.0";
    unsigned char *found;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&found, outlen, ours, sizeof ours - 1, in, inlen) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = found;
    return SSL_TLSEXT_ERR_OK;
}

static BIO *text_bio(const char *text) {
    return BIO_new_mem_buf(text, (int)MIN_OF(strlen(text), (size_t)INT_MAX));
}

/* The certificate, and the rest of its chain after it. */
static int use_chain(SSL_CTX *ctx, const char *pem, struct err *err) {
    bool asked = false;
    BIO *bio = text_bio(pem);
    X509 *cert = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, &asked);
    bool ok = cert && SSL_CTX_use_certificate(ctx, cert) == 1;
    X509_free(cert);
    while (ok && (cert = PEM_read_bio_X509(bio, NULL, no_passphrase, &asked))) {
        ok = SSL_CTX_add0_chain_cert(ctx, cert) == 1;
        if (!ok)
            X509_free(cert);
    }
    BIO_free(bio);
    return ok ? 0 : err_set(err, EINVAL, "the server's certificate is no certificate in PEM");
}

static int use_key(SSL_CTX *ctx, const char *pem, struct err *err) {
    bool asked = false;
    BIO *bio = text_bio(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &asked);
    BIO_free(bio);
    if (!key)
        return asked ? err_set(err, EINVAL,
                               "the server's private key is encrypted, and there is nobody to ask "
                               "for its passphrase: store it without one")
                     : err_set(err, EINVAL, "the server's private key is no private key in PEM");
    ERR_clear_error();
    bool ok = SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    return ok ? 0
              : err_set(err, EINVAL,
                        "the server's private key does not belong to its certificate: were they "
                        "mixed up, or only one of them renewed?");
}

int http_tls_new(const struct httpd_tls *tls, SSL_CTX **out, struct err *err) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) {
        ERR_clear_error();
        return err_set(err, ENOMEM, "cannot set up TLS");
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    /* A client that closes its socket without TLS's goodbye is gone all the same. */
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
    /* An idle connection keeps no 34 KB of buffers: there are ten thousand of them. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    /* Tickets carry the sessions: nothing is remembered here, so nothing grows. */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    int r = use_chain(ctx, tls->cert, err);
    if (!r)
        r = use_key(ctx, tls->key, err);
    ERR_clear_error();
    if (r < 0) {
        SSL_CTX_free(ctx);
        return r;
    }
    *out = ctx;
    return 0;
}
