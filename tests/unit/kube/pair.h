/* A self-signed client certificate and its key, for tests. */
#ifndef TESTS_KUBE_PAIR_H
#define TESTS_KUBE_PAIR_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "base/mem.h"

struct pair {
    char *cert, *key;
};

static inline char *pair_text_(BIO *bio) {
    char *p;
    long len = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)len);
    BIO_free(bio);
    return text;
}

/* Valid until `seconds` from now; with a passphrase on the key if `pass` is not NULL. */
static inline struct pair pair_new(long seconds, const char *pass) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    if (!key || !cert)
        abort();
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), seconds);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(cert));
    X509_set_pubkey(cert, key);
    if (!X509_sign(cert, key, EVP_sha256()))
        abort();
    BIO *c = BIO_new(BIO_s_mem()), *k = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(c, cert);
    PEM_write_bio_PrivateKey(k, key, pass ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL,
                             (void *)(uintptr_t)pass);
    X509_free(cert);
    EVP_PKEY_free(key);
    return (struct pair){pair_text_(c), pair_text_(k)};
}

static inline void pair_done(struct pair *p) {
    free(p->cert);
    free(p->key);
}

#endif
