/* An authority, and the certificates of servers that it signs. */
#include "net/authority.h"

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

/* Clocks of others may be behind ours by so much. */
#define BEFORE SEC(3600)

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

static int bad_name(const char *name, struct err *err) {
    return err_set(err, EINVAL,
                   "\"%s\" cannot be a name of the server: it is neither an IP address nor a DNS "
                   "name",
                   name);
}

static int add_names(X509 *cert, const char *const *names, struct err *err) {
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    int r = 0;
    for (size_t i = 0; names && names[i] && !r; i++)
        if (!add_name(list, names[i]))
            r = bad_name(names[i], err);
    if (!r && X509_add1_ext_i2d(cert, NID_subject_alt_name, list, 0, 0) != 1)
        r = -EIO;
    GENERAL_NAMES_free(list);
    return r;
}

/* As OpenSSL's configuration has it: "critical,permitted;DNS:a,permitted;IP:10.0.0.1/255.255...".
 * Where no address is permitted all are excluded: what is not named would be free. */
static int constraints_of(const char *const *names, struct str *out, struct err *err) {
    bool addresses = false;
    str_add(out, "critical");
    for (size_t i = 0; names[i]; i++) {
        struct in6_addr any;
        bool four = inet_pton(AF_INET, names[i], &any) == 1,
             six = inet_pton(AF_INET6, names[i], &any) == 1;
        addresses |= four || six;
        if (four)
            str_addf(out, ",permitted;IP:%s/255.255.255.255", names[i]);
        else if (six)
            str_addf(out, ",permitted;IP:%s/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", names[i]);
        else if (is_dns_name(names[i]))
            str_addf(out, ",permitted;DNS:%s", names[i]);
        else
            return bad_name(names[i], err);
    }
    if (!addresses)
        str_add(out, ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:::/::");
    return 0;
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

static bool set_time(ASN1_TIME *field, int64_t at) {
    time_t seconds = (time_t)(at / USEC_PER_SEC);
    return X509_time_adj_ex(field, 0, 0, &seconds);
}

/* Everything but extensions and signature. */
static X509 *blank_cert(EVP_PKEY *key, const struct cert_spec *spec, const X509_NAME *issuer,
                        int64_t to) {
    X509 *cert = X509_new();
    X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
    if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
        set_time(X509_getm_notBefore(cert), spec->now - BEFORE) &&
        set_time(X509_getm_notAfter(cert), to) && X509_set_pubkey(cert, key) &&
        X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                   (const unsigned char *)spec->cn, -1, -1, 0) &&
        X509_set_issuer_name(cert, issuer ? issuer : subject))
        return cert;
    X509_free(cert);
    return NULL;
}

static X509 *make_ca(EVP_PKEY *key, const struct cert_spec *spec, const char *constraints) {
    X509 *cert = blank_cert(key, spec, NULL, spec->now + spec->lasts);
    if (cert && add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
        (!spec->names || add_extension(cert, cert, NID_name_constraints, constraints)) &&
        X509_sign(cert, key, EVP_sha256()))
        return cert;
    X509_free(cert);
    return NULL;
}

static bool time_of(const ASN1_TIME *t, int64_t *out) {
    struct tm tm;
    if (ASN1_TIME_to_tm(t, &tm) != 1)
        return false;
    *out = SEC((int64_t)timegm(&tm));
    return true;
}

static int make_server(EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key, const struct cert_spec *spec,
                       X509 **out, struct err *err) {
    int64_t end;
    if (!time_of(X509_get0_notAfter(ca), &end))
        return -EIO;
    X509 *cert =
        blank_cert(key, spec, X509_get_subject_name(ca), MIN_OF(spec->now + spec->lasts, end));
    int r = cert ? add_names(cert, spec->names, err) : -EIO;
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

static int openssl_says(struct err *err) {
    int r = err_set(err, EIO, "cannot make a certificate: OpenSSL says %s",
                    strna(ERR_reason_error_string(ERR_peek_error())));
    ERR_clear_error();
    return r;
}

void cert_pair_done(struct cert_pair *pair) {
    mem_clear(&pair->cert);
    secret_free(pair->key);
    pair->key = NULL;
}

/* --- reading them --- */

/* OpenSSL would ask on the terminal. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg) {
    (void)buf, (void)size, (void)rwflag, (void)arg;
    return -1;
}

static X509 *read_cert(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return cert;
}

static EVP_PKEY *read_key(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

/* X509_V_OK, or why not: also where it has names for which the authority may not sign. */
static int verdict(X509 *ca, X509 *cert, int64_t at) {
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(ctx, store, cert, NULL);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_time(param, (time_t)(at / USEC_PER_SEC));
    X509_verify_cert(ctx);
    int code = X509_STORE_CTX_get_error(ctx);
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    ERR_clear_error();
    return code;
}

static bool has_name(X509 *cert, const char *name) {
    /* One that begins with "*." stands for those below it. */
    _cleanup_free_ char *below = str_starts(name, "*.") ? xasprintf("x%s", name + 1) : NULL;
    bool found = X509_check_ip_asc(cert, name, 0) == 1 ||
                 X509_check_host(cert, below ? below : name, 0, 0, NULL) == 1;
    ERR_clear_error();
    return found;
}

static int check(X509 *ca, X509 *cert, EVP_PKEY *key, const char *const *names, int64_t at,
                 struct err *err) {
    if (!ca || !cert || !key)
        return err_set(err, EINVAL, "the %s cannot be read",
                       !ca     ? "authority's certificate"
                       : !cert ? "certificate"
                               : "key");
    bool own = X509_check_private_key(cert, key) == 1;
    ERR_clear_error();
    if (!own)
        return err_set(err, EINVAL, "the key is not the certificate's");
    int code = verdict(ca, cert, at);
    if (code != X509_V_OK)
        return err_set(err, EINVAL, "the certificate is not good: %s",
                       X509_verify_cert_error_string(code));
    for (size_t i = 0; names[i]; i++)
        if (!has_name(cert, names[i]))
            return err_set(err, EINVAL, "the certificate is not for %s", names[i]);
    return 0;
}

int authority_check(const char *ca, const struct cert_pair *server, const char *const *names,
                    int64_t at, struct err *err) {
    X509 *issuer = read_cert(ca), *cert = read_cert(server->cert);
    EVP_PKEY *key = read_key(server->key);
    int r = check(issuer, cert, key, names, at, err);
    X509_free(issuer);
    X509_free(cert);
    EVP_PKEY_free(key);
    return r;
}

int cert_ends(const char *cert, int64_t *out, struct err *err) {
    X509 *x = read_cert(cert);
    bool ok = x && time_of(X509_get0_notAfter(x), out);
    X509_free(x);
    return ok ? 0 : err_set(err, EINVAL, "the certificate cannot be read");
}

/* --- making them --- */

int authority_make(const struct cert_spec *spec, struct cert_pair *out, struct err *err) {
    _cleanup_str_ struct str constraints = STR_INIT;
    int r = spec->names ? constraints_of(spec->names, &constraints, err) : 0;
    if (r < 0)
        return r;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key ? make_ca(key, spec, str_get(&constraints)) : NULL;
    if (cert)
        *out = (struct cert_pair){cert_text(cert), key_text(key)};
    else
        r = openssl_says(err);
    X509_free(cert);
    EVP_PKEY_free(key);
    return r;
}

static int issue(X509 *ca, EVP_PKEY *ca_key, const struct cert_spec *spec, struct cert_pair *out,
                 struct err *err) {
    _cleanup_err_ struct err why = ERR_INIT;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = NULL;
    int r = key ? make_server(key, ca, ca_key, spec, &cert, &why) : -EIO;
    if (!r)
        r = check(ca, cert, key, spec->names, spec->now, &why);
    if (!r)
        *out = (struct cert_pair){cert_text(cert), key_text(key)};
    else
        r = why.code ? err_move(err, &why) : openssl_says(err);
    X509_free(cert);
    EVP_PKEY_free(key);
    return r;
}

int authority_issue(const struct cert_pair *ca, const struct cert_spec *spec, struct cert_pair *out,
                    struct err *err) {
    X509 *cert = read_cert(ca->cert);
    EVP_PKEY *key = read_key(ca->key);
    int r = cert && key && X509_check_private_key(cert, key) == 1
                ? issue(cert, key, spec, out, err)
                : err_set(err, EINVAL,
                          "the authority's certificate and key cannot be read, or are not one "
                          "another's");
    ERR_clear_error();
    X509_free(cert);
    EVP_PKEY_free(key);
    return r;
}
