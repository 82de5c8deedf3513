/* Certificates for a server that has none. */
#include "net/selfsigned.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

enum {
    SERIAL_LEN = 16, /* random; RFC 5280 allows 20 bytes */
    DNS_NAME_MAX = 253,
    LABEL_MAX = 63,
};

#define BEFORE SEC(3600)
#define AFTER  SEC(INT64_C(365) * 24 * 3600)

/* --- names --- */

static bool is_label(const char *s, size_t len) {
    if (len == 0 || len > LABEL_MAX || s[0] == '-' || s[len - 1] == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '-')
            return false;
    return true;
}

static bool is_dns_name(const char *name) {
    if (strlen(name) > DNS_NAME_MAX)
        return false;
    if (str_starts(name, "*."))
        name += 2;
    for (;;) {
        size_t len = strcspn(name, ".");
        if (!is_label(name, len))
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}

/* Adds an address or a DNS name; false when it is neither. */
static bool add_name(GENERAL_NAMES *list, const char *name) {
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(name);
    ERR_clear_error();
    if (!ip && !is_dns_name(name))
        return false;
    GENERAL_NAME *gn = GENERAL_NAME_new();
    ASN1_IA5STRING *dns = ip ? NULL : ASN1_IA5STRING_new();
    if (dns)
        ASN1_STRING_set(dns, name, -1);
    GENERAL_NAME_set0_value(gn, ip ? GEN_IPADD : GEN_DNS, ip ? (void *)ip : (void *)dns);
    sk_GENERAL_NAME_push(list, gn);
    return true;
}

static int add_names(X509 *cert, const char *const *names, struct err *err) {
    static const char *const always[] = {"127.0.0.1", "::1", "localhost", NULL};
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    int r = 0;
    for (size_t i = 0; always[i]; i++)
        add_name(list, always[i]);
    for (size_t i = 0; names && names[i] && !r; i++)
        if (!add_name(list, names[i]))
            r = err_set(err, EINVAL,
                        "\"%s\" cannot be a name of the server: it is neither an IP address nor a "
                        "DNS name",
                        names[i]);
    if (!r && X509_add1_ext_i2d(cert, NID_subject_alt_name, list, 0, 0) != 1)
        r = -EIO;
    GENERAL_NAMES_free(list);
    return r;
}

/* --- certificates --- */

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return ok;
}

static bool set_serial(X509 *cert) {
    unsigned char bytes[SERIAL_LEN];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, and of full length */
    BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return ok;
}

/* Everything but extensions and signature. */
static X509 *blank_cert(EVP_PKEY *key, const char *cn, const X509_NAME *issuer, int64_t now) {
    X509 *cert = X509_new();
    time_t from = (time_t)((now - BEFORE) / USEC_PER_SEC);
    time_t to = (time_t)((now + AFTER) / USEC_PER_SEC);
    X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
    if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
        X509_time_adj_ex(X509_getm_notBefore(cert), 0, 0, &from) &&
        X509_time_adj_ex(X509_getm_notAfter(cert), 0, 0, &to) && X509_set_pubkey(cert, key) &&
        X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                   (const unsigned char *)cn, -1, -1, 0) &&
        X509_set_issuer_name(cert, issuer ? issuer : subject))
        return cert;
    X509_free(cert);
    return NULL;
}

static X509 *make_ca(EVP_PKEY *key, const char *cn, int64_t now) {
    X509 *cert = blank_cert(key, cn, NULL, now);
    if (cert && add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
        X509_sign(cert, key, EVP_sha256()))
        return cert;
    X509_free(cert);
    return NULL;
}

static int make_server(EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key, const char *const *names,
                       int64_t now, X509 **out, struct err *err) {
    X509 *cert = blank_cert(key, "localhost", X509_get_subject_name(ca), now);
    int r = cert ? add_names(cert, names, err) : -EIO;
    if (!r && !(add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
                add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") &&
                add_extension(cert, ca, NID_ext_key_usage, "serverAuth") &&
                add_extension(cert, ca, NID_subject_key_identifier, "hash") &&
                add_extension(cert, ca, NID_authority_key_identifier, "keyid:always") &&
                X509_sign(cert, ca_key, EVP_sha256())))
        r = -EIO;
    if (r < 0)
        X509_free(cert);
    else
        *out = cert;
    return r;
}

/* --- PEM --- */

/* The contents as a string, which is the only copy that is left. */
static char *take_text(BIO *bio) {
    char *p = NULL;
    long len = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)MAX_OF(len, 0));
    if (len > 0)
        mem_wipe(p, (size_t)len);
    BIO_free(bio);
    return text;
}

static char *cert_text(X509 *cert) {
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return take_text(bio);
}

static char *key_text(EVP_PKEY *key) {
    BIO *bio = BIO_new(BIO_s_secmem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return take_text(bio);
}

int selfsigned_make(const char *cn, const char *const *names, int64_t now, struct selfsigned *out,
                    struct err *err) {
    _cleanup_err_ struct err bad_name = ERR_INIT;
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    X509 *ca = ca_key ? make_ca(ca_key, cn, now) : NULL, *cert = NULL;
    int r = ca && key ? make_server(key, ca, ca_key, names, now, &cert, &bad_name) : -EIO;
    if (!r)
        *out = (struct selfsigned){cert_text(ca), cert_text(cert), key_text(key)};
    else if (bad_name.code)
        r = err_move(err, &bad_name);
    else
        r = err_set(err, EIO, "cannot make a certificate: OpenSSL says %s",
                    strna(ERR_reason_error_string(ERR_peek_error())));
    ERR_clear_error();
    X509_free(ca);
    X509_free(cert);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    return r;
}

void selfsigned_done(struct selfsigned *s) {
    mem_clear(&s->ca);
    mem_clear(&s->cert);
    secret_free(s->key);
    s->key = NULL;
}
