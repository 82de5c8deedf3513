/* Does a private key belong to a certificate? */
#include "kube/keypair.h"

#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/timefmt.h"

int keypair_no_passphrase(char *buf, int size, int rwflag, void *asked) {
    (void)buf;
    (void)size;
    (void)rwflag;
    *(bool *)asked = true;
    return -1;
}

static BIO *reader_of(const char *pem) {
    size_t len = strlen(pem);
    return len <= INT_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
}

int64_t keypair_time(const ASN1_TIME *t) {
    struct tm tm;
    if (!t || !ASN1_TIME_to_tm(t, &tm))
        return 0;
    return (int64_t)timegm(&tm) * USEC_PER_SEC;
}

int keypair_check(const char *cert_pem, const char *key_pem, int64_t *not_after, struct err *err) {
    BIO *cert_bio = reader_of(cert_pem), *key_bio = reader_of(key_pem);
    X509 *cert = NULL;
    EVP_PKEY *key = NULL;
    bool asked = false;
    int ret = 0;
    if (cert_bio)
        cert = PEM_read_bio_X509(cert_bio, NULL, keypair_no_passphrase, &asked);
    if (key_bio)
        key = PEM_read_bio_PrivateKey(key_bio, NULL, keypair_no_passphrase, &asked);
    if (!cert)
        ret = err_set(err, EINVAL, "the client certificate is not a PEM certificate");
    else if (!key && asked)
        ret = err_set(err, EINVAL,
                      "the client key is encrypted: only keys without a passphrase "
                      "can be used");
    else if (!key)
        ret = err_set(err, EINVAL, "the client key is not a PEM private key");
    else if (X509_check_private_key(cert, key) != 1)
        ret = err_set(err, EINVAL, "the client key does not belong to the client certificate");
    else if (not_after)
        *not_after = keypair_time(X509_get0_notAfter(cert));
    /* Nothing of this may turn up later as the reason of something else. */
    ERR_clear_error();
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    return ret;
}
