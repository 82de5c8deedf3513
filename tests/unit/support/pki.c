/* Certificates for tests, made in memory. */
#include "support/pki.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/mem.h"

struct pki_ca {
    EVP_PKEY *key;
    X509 *cert;
    char *pem;
};

static void must(int ok) {
    if (ok <= 0)
        abort();
}

static char *pem_of(BIO *bio) {
    char *p;
    long len = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)len);
    BIO_free(bio);
    return text;
}

static char *cert_pem(X509 *cert) {
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_X509(bio, cert));
    return pem_of(bio);
}

static char *key_pem(EVP_PKEY *key) {
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL));
    return pem_of(bio);
}

static void extension(X509 *cert, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    must(ext != NULL);
    must(X509_add_ext(cert, ext, -1));
    X509_EXTENSION_free(ext);
}

static void add_name(X509_NAME *name, const char *field, const char *value) {
    if (value)
        must(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value,
                                        -1, -1, 0));
}

/* Without its extensions and signature. */
static X509 *blank(EVP_PKEY *key, const char *cn, const char *org, long from, long to) {
    X509 *cert = X509_new();
    unsigned char serial[8];
    must(RAND_bytes(serial, sizeof serial));
    serial[0] &= 0x7f;
    BIGNUM *n = BN_bin2bn(serial, sizeof serial, NULL);
    BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    must(X509_set_version(cert, 2));
    X509_gmtime_adj(X509_getm_notBefore(cert), from);
    X509_gmtime_adj(X509_getm_notAfter(cert), to);
    must(X509_set_pubkey(cert, key));
    add_name(X509_get_subject_name(cert), "O", org);
    add_name(X509_get_subject_name(cert), "CN", cn);
    return cert;
}

struct pki_ca *pki_ca_new(const char *cn) {
    struct pki_ca *ca = xnew(struct pki_ca);
    ca->key = EVP_EC_gen("P-256");
    ca->cert = blank(ca->key, cn, NULL, -3600, 3600);
    must(X509_set_issuer_name(ca->cert, X509_get_subject_name(ca->cert)));
    extension(ca->cert, ca->cert, NID_basic_constraints, "critical,CA:TRUE");
    extension(ca->cert, ca->cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    extension(ca->cert, ca->cert, NID_subject_key_identifier, "hash");
    must(X509_sign(ca->cert, ca->key, EVP_sha256()));
    ca->pem = cert_pem(ca->cert);
    return ca;
}

const char *pki_ca_pem(const struct pki_ca *ca) {
    return ca->pem;
}

void pki_ca_free(struct pki_ca *ca) {
    if (!ca)
        return;
    EVP_PKEY_free(ca->key);
    X509_free(ca->cert);
    free(ca->pem);
    free(ca);
}

struct pki_pair pki_issue(struct pki_ca *ca, const struct pki_spec *spec) {
    bool dated = spec->not_before || spec->not_after;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = blank(key, spec->cn, spec->org, dated ? spec->not_before : -3600,
                       dated ? spec->not_after : 3600);
    must(X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)));
    extension(cert, ca->cert, NID_basic_constraints, "critical,CA:FALSE");
    extension(cert, ca->cert, NID_ext_key_usage, spec->client ? "clientAuth" : "serverAuth");
    if (spec->names)
        extension(cert, ca->cert, NID_subject_alt_name, spec->names);
    must(X509_sign(cert, ca->key, EVP_sha256()));
    struct pki_pair pair = {cert_pem(cert), key_pem(key)};
    X509_free(cert);
    EVP_PKEY_free(key);
    return pair;
}

void pki_pair_done(struct pki_pair *pair) {
    mem_clear(&pair->cert);
    mem_clear(&pair->key);
}
