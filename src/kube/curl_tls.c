/* Whom we trust and how we prove who we are, for libcurl's TLS. */
#include "kube/curl_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "kube/keypair.h"

/* A bundle of all public CAs is 220 KiB. */
enum { CA_MAX = 1024 * 1024 };

struct curl_tls {
    const struct kube_config *config;
    const struct log *log;
    char *ca; /* PEM; NULL: the system's roots */
    size_t ca_len;
    struct stat ca_stat;     /* of the file when it was last read */
    bool identity_checked;   /* credentials of this generation were looked at */
    uint64_t identity;       /* generation */
    struct err identity_err; /* what is wrong with them */
    struct curl_tls_peer peer;
};

/* --- reading --- */

static int check_ca(const char *pem, size_t len, const char *what, struct err *err) {
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    bool encrypted = false;
    STACK_OF(X509_INFO) *all = PEM_X509_INFO_read_bio(bio, NULL, keypair_no_passphrase, &encrypted);
    int n = 0;
    for (int i = 0; all && i < sk_X509_INFO_num(all); i++)
        n += sk_X509_INFO_value(all, i)->x509 != NULL;
    sk_X509_INFO_pop_free(all, X509_INFO_free);
    BIO_free(bio);
    ERR_clear_error();
    if (!n)
        return err_set(err, EINVAL, "%s holds no valid PEM certificate", what);
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the CA file; *changed when it is not what we had. */
static int read_ca(struct curl_tls *tls, bool *changed, struct err *err) {
    const char *path = tls->config->ca.file;
    struct stat st;
    /* Taken before the reading: a change in between is then seen the next time. */
    if (stat(path, &st) < 0)
        return err_errno(err, errno, "certificate-authority %s", path);
    _cleanup_free_ char *pem = NULL;
    size_t len;
    int r = file_read(path, CA_MAX, &pem, &len, err);
    if (r < 0) {
        err_wrap(err, "certificate-authority");
        return r;
    }
    tls->ca_stat = st;
    *changed = !tls->ca || len != tls->ca_len || memcmp(pem, tls->ca, len) != 0;
    if (!*changed)
        return 0;
    _cleanup_free_ char *what = xasprintf("certificate-authority %s", path);
    r = check_ca(pem, len, what, err);
    if (r < 0)
        return r;
    free(tls->ca);
    tls->ca = TAKE_PTR(pem);
    tls->ca_len = len;
    return 0;
}

/* Reads it again, keeping what we have when that fails. */
static bool refresh_ca(struct curl_tls *tls) {
    bool changed = false;
    _cleanup_err_ struct err err = ERR_INIT;
    if (read_ca(tls, &changed, &err) < 0) {
        log_warn(tls->log, "%s; going on with the one read before", err_msg(&err));
        return false;
    }
    if (changed)
        log_info(tls->log, "certificate-authority %s has changed", tls->config->ca.file);
    return changed;
}

/* Before each request: cheap when nothing changed, and one complaint for each change. */
static void look_at_ca(struct curl_tls *tls) {
    struct stat st;
    if (stat(tls->config->ca.file, &st) < 0)
        st = (struct stat){0};
    if (same_file(&st, &tls->ca_stat))
        return;
    refresh_ca(tls);
    tls->ca_stat = st;
}

bool curl_tls_reread(struct curl_tls *tls) {
    return tls->config->ca.file && !tls->config->ca.data && refresh_ca(tls);
}

int curl_tls_new(const struct kube_config *config, const struct log *log, struct curl_tls **out,
                 struct err *err) {
    struct curl_tls *tls = xnew(struct curl_tls);
    tls->config = config;
    tls->log = log;
    int r = 0;
    if (config->ca.data) {
        tls->ca = xstrdup(config->ca.data);
        tls->ca_len = strlen(tls->ca);
        r = check_ca(tls->ca, tls->ca_len, "certificate-authority-data", err);
    } else if (config->ca.file) {
        bool changed;
        r = read_ca(tls, &changed, err);
    }
    if (r < 0) {
        curl_tls_free(tls);
        return r;
    }
    *out = tls;
    return 0;
}

static void forget_peer(struct curl_tls_peer *peer) {
    mem_clear(&peer->issuer);
    mem_clear(&peer->names);
    *peer = (struct curl_tls_peer){0};
}

void curl_tls_free(struct curl_tls *tls) {
    if (!tls)
        return;
    free(tls->ca);
    err_done(&tls->identity_err);
    forget_peer(&tls->peer);
    free(tls);
}

const struct curl_tls_peer *curl_tls_peer(const struct curl_tls *tls) {
    return &tls->peer;
}

/* --- our own certificate --- */

/* Once for each generation of credentials. */
static int check_identity(struct curl_tls *tls, const struct kube_credentials *cred,
                          struct err *err) {
    if (!tls->identity_checked || tls->identity != cred->generation) {
        int64_t until = 0;
        char when[TIMEFMT_LEN];
        err_done(&tls->identity_err);
        tls->identity_err = ERR_INIT;
        keypair_check(cred->cert_pem, strna(cred->key_pem), &until, &tls->identity_err);
        tls->identity_checked = true;
        tls->identity = cred->generation;
        if (until && until < (int64_t)time(NULL) * USEC_PER_SEC)
            log_warn(tls->log, "the client certificate expired on %s",
                     time_format(until, false, when));
    }
    if (tls->identity_err.code)
        return err_set(err, tls->identity_err.code, "%s", err_msg(&tls->identity_err));
    return 0;
}

/* --- what the server shows --- */

static void add_name(struct str *names, const char *name, size_t len) {
    _cleanup_free_ char *text = xstrndup(name, len);
    if (names->len)
        str_add(names, ", ");
    utf8_printable(names, text); /* a certificate can hold anything */
}

static char *names_of(X509 *cert) {
    struct str names = STR_INIT;
    GENERAL_NAMES *all = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    /* Enough to recognise it by; a hostile certificate can have thousands. */
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all) && names.len < 400; i++) {
        const GENERAL_NAME *n = sk_GENERAL_NAME_value(all, i);
        if (n->type == GEN_DNS) {
            add_name(&names, (const char *)ASN1_STRING_get0_data(n->d.dNSName),
                     MIN_OF((size_t)ASN1_STRING_length(n->d.dNSName), 255));
        } else if (n->type == GEN_IPADD) {
            char text[INET6_ADDRSTRLEN];
            int len = ASN1_STRING_length(n->d.iPAddress);
            if ((len == 4 || len == 16) &&
                inet_ntop(len == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(n->d.iPAddress),
                          text, sizeof text))
                add_name(&names, text, strlen(text));
        }
    }
    GENERAL_NAMES_free(all);
    return str_take(&names);
}

static char *issuer_of(X509 *cert) {
    BIO *bio = BIO_new(BIO_s_mem());
    X509_NAME_print_ex(bio, X509_get_issuer_name(cert), 0, XN_FLAG_RFC2253);
    char *p;
    long len = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)MIN_OF(MAX_OF(len, 0), 255));
    BIO_free(bio);
    return text;
}

/* OpenSSL's own verification, and notes for the error message. Whether the name is the right one is
 * libcurl's to check, later. */
static int verify(X509_STORE_CTX *ctx, void *arg) {
    struct curl_tls *tls = arg;
    int ok = X509_verify_cert(ctx);
    X509 *leaf = X509_STORE_CTX_get0_cert(ctx), *at = X509_STORE_CTX_get_current_cert(ctx);
    forget_peer(&tls->peer);
    tls->peer.error = X509_STORE_CTX_get_error(ctx);
    if (leaf) {
        X509 *dated = ok <= 0 && at ? at : leaf;
        tls->peer.names = names_of(leaf);
        tls->peer.issuer = issuer_of(leaf);
        tls->peer.not_before = keypair_time(X509_get0_notBefore(dated));
        tls->peer.not_after = keypair_time(X509_get0_notAfter(dated));
    }
    /* libcurl looks at the first error in the queue. A CA of the right name with another key (they
     * are all called "kubernetes") leaves one there that does not speak of certificates. */
    if (ok <= 0)
        ERR_clear_error();
    return ok;
}

static CURLcode tune(CURL *easy, void *ssl_ctx, void *arg) {
    (void)easy;
    SSL_CTX *ctx = ssl_ctx;
    struct curl_tls *tls = arg;
    /* As Go's client: a server that wants to start over gets an error. */
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    if (!tls->config->insecure)
        SSL_CTX_set_cert_verify_callback(ctx, verify, tls);
    return CURLE_OK;
}

/* --- a transfer --- */

static void set_blob(CURL *easy, CURLoption option, const char *data, size_t len) {
    struct curl_blob blob = {(void *)data, len, CURL_BLOB_COPY};
    curl_easy_setopt(easy, option, &blob);
}

/* The roots are looked up in a directory and loaded from a bundle, if both exist. libcurl shares
 * what it loaded (megabytes) among connections only when there is just the bundle. */
static void use_system_roots(CURL *easy) {
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    if (v->age >= CURLVERSION_SEVENTH && v->cainfo && access(v->cainfo, R_OK) == 0) {
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    }
}

int curl_tls_apply(struct curl_tls *tls, const struct kube_credentials *cred, CURL *easy,
                   struct err *err) {
    const struct kube_config *config = tls->config;
    if (config->ca.file && !config->ca.data)
        look_at_ca(tls);
    /* The proxy, when it is an https one, is verified like the server, as client-go does. */
    long verify_peer = !config->insecure, verify_host = config->insecure ? 0 : 2;
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verify_peer);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verify_host);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, verify_peer);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, verify_host);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, tune);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, tls);
    if (config->insecure) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    } else if (tls->ca) {
        set_blob(easy, CURLOPT_CAINFO_BLOB, tls->ca, tls->ca_len);
        set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, tls->ca, tls->ca_len);
        /* Nothing but the given CA is trusted. */
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    } else {
        use_system_roots(easy);
    }
    if (!cred || !cred->cert_pem)
        return 0;
    int r = check_identity(tls, cred, err);
    if (r < 0)
        return r;
    set_blob(easy, CURLOPT_SSLCERT_BLOB, cred->cert_pem, strlen(cred->cert_pem));
    set_blob(easy, CURLOPT_SSLKEY_BLOB, cred->key_pem, strlen(cred->key_pem));
    return 0;
}
