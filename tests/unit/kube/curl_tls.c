/* Tests of kube/curl_tls against a real TLS server: trust, rotation, client certificates. */
#include "kube/curl_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "support/pki.h"
#include "support/server.h"

struct fixture {
    struct pki_ca *ca, *other;
    struct pki_pair site, other_site;
    struct server *server;
    char *url;
    char dir[32], path[48];
    int log_fd[2];
    struct log log;
    struct kube_config config;
    struct curl_tls *tls;
};

static void answer(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req;
    (void)arg;
    server_reply(c, 200, NULL, "hello");
}

static void serve(struct fixture *f, const char *client_ca) {
    f->server = server_start(&(struct server_options){
        .cert = f->site.cert, .key = f->site.key, .client_ca = client_ca, .handle = answer});
    f->url = server_url(f->server, NULL);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    struct pki_spec site = {.cn = "site", .names = "IP:127.0.0.1,DNS:site.example"};
    f->ca = pki_ca_new("first");
    f->other = pki_ca_new("second");
    f->site = pki_issue(f->ca, &site);
    f->other_site = pki_issue(f->other, &site);
    snprintf(f->dir, sizeof f->dir, "/tmp/slipway-tls-XXXXXX");
    if (!mkdtemp(f->dir) || pipe2(f->log_fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    snprintf(f->path, sizeof f->path, "%s/ca.crt", f->dir);
    f->log = (struct log){.level = LOG_INFO, .fd = f->log_fd[1]};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    server_stop(f->server);
    curl_tls_free(f->tls);
    free(f->url);
    pki_pair_done(&f->site);
    pki_pair_done(&f->other_site);
    pki_ca_free(f->ca);
    pki_ca_free(f->other);
    unlink(f->path);
    rmdir(f->dir);
    close(f->log_fd[0]);
    close(f->log_fd[1]);
    free(f);
    curl_global_cleanup();
    return 0;
}

/* As the kubelet replaces files: a new one, renamed. */
static void put_ca(struct fixture *f, const char *pem) {
    _cleanup_free_ char *tmp = xasprintf("%s.new", f->path);
    FILE *out = fopen(tmp, "w");
    assert_non_null(out);
    assert_true(fputs(pem, out) >= 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(rename(tmp, f->path), 0);
}

static char *logged(struct fixture *f) {
    char buf[4096];
    ssize_t n = read(f->log_fd[0], buf, sizeof buf);
    return xstrndup(buf, n > 0 ? (size_t)n : 0);
}

static void make(struct fixture *f) {
    struct err err = ERR_INIT;
    if (curl_tls_new(&f->config, &f->log, &f->tls, &err) < 0)
        fail_msg("%s", err_msg(&err));
}

static size_t ignore(char *p, size_t one, size_t len, void *arg) {
    (void)p;
    (void)arg;
    return one * len;
}

/* On a given handle, so that connections can be used again. */
static CURLcode fetch_with(struct fixture *f, CURL *easy, const struct kube_credentials *cred) {
    struct err err = ERR_INIT;
    curl_easy_setopt(easy, CURLOPT_URL, f->url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    if (curl_tls_apply(f->tls, cred, easy, &err) < 0)
        fail_msg("%s", err_msg(&err));
    return curl_easy_perform(easy);
}

static CURLcode fetch(struct fixture *f) {
    CURL *easy = curl_easy_init();
    CURLcode r = fetch_with(f, easy, NULL);
    curl_easy_cleanup(easy);
    return r;
}

static void inline_ca(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    f->config.ca.data = (char *)pki_ca_pem(f->ca);
    f->config.ca.file = (char *)"/nonexistent"; /* data wins */
    make(f);
    assert_int_equal(fetch(f), CURLE_OK);
    assert_int_equal(curl_tls_peer(f->tls)->error, X509_V_OK);
    assert_string_equal(curl_tls_peer(f->tls)->names, "127.0.0.1, site.example");
    assert_string_equal(curl_tls_peer(f->tls)->issuer, "CN=first");
    assert_false(curl_tls_reread(f->tls));
}

static void unknown_ca(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    f->config.ca.data = (char *)pki_ca_pem(f->other);
    make(f);
    assert_int_equal(fetch(f), CURLE_PEER_FAILED_VERIFICATION);
    assert_int_equal(curl_tls_peer(f->tls)->error, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
}

/* Two clusters whose CAs have the same name. */
static void same_name(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    struct pki_ca *twin = pki_ca_new("first");
    f->config.ca.data = (char *)pki_ca_pem(twin);
    make(f);
    assert_int_equal(fetch(f), CURLE_PEER_FAILED_VERIFICATION);
    assert_int_equal(curl_tls_peer(f->tls)->error, X509_V_ERR_CERT_SIGNATURE_FAILURE);
    curl_tls_free(f->tls);
    f->tls = NULL;
    pki_ca_free(twin);
}

/* No CA: the system's, which have never heard of ours. */
static void system_roots(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    make(f);
    assert_int_equal(fetch(f), CURLE_PEER_FAILED_VERIFICATION);
}

static void insecure(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    f->config.insecure = true;
    make(f);
    assert_int_equal(fetch(f), CURLE_OK);
}

static void expired(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    f->config.ca.data = (char *)pki_ca_pem(f->ca);
    make(f);
    struct pki_pair old = pki_issue(
        f->ca, &(struct pki_spec){
                   .cn = "site", .names = "IP:127.0.0.1", .not_before = -7200, .not_after = -3600});
    server_use(f->server, old.cert, old.key);
    pki_pair_done(&old);
    int64_t now = (int64_t)time(NULL) * USEC_PER_SEC;
    assert_int_equal(fetch(f), CURLE_PEER_FAILED_VERIFICATION);
    const struct curl_tls_peer *peer = curl_tls_peer(f->tls);
    assert_int_equal(peer->error, X509_V_ERR_CERT_HAS_EXPIRED);
    assert_in_range(now - peer->not_after, SEC(3500), SEC(3700));
}

static void rotation(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    put_ca(f, pki_ca_pem(f->ca));
    f->config.ca.file = f->path;
    make(f);
    assert_int_equal(fetch(f), CURLE_OK);
    server_use(f->server, f->other_site.cert, f->other_site.key);
    assert_int_equal(fetch(f), CURLE_PEER_FAILED_VERIFICATION);
    assert_false(curl_tls_reread(f->tls));

    put_ca(f, pki_ca_pem(f->other));
    assert_int_equal(fetch(f), CURLE_OK);
    _cleanup_free_ char *said = logged(f);
    _cleanup_free_ char *want = xasprintf("info: certificate-authority %s has changed\n", f->path);
    assert_string_equal(said, want);
    assert_false(curl_tls_reread(f->tls));

    /* Changed, but nobody has looked yet. */
    put_ca(f, pki_ca_pem(f->ca));
    assert_true(curl_tls_reread(f->tls));
    assert_false(curl_tls_reread(f->tls));
}

/* What cannot be read is not taken, and complained of once. */
static void half_written(void **state) {
    struct fixture *f = *state;
    serve(f, NULL);
    put_ca(f, pki_ca_pem(f->ca));
    f->config.ca.file = f->path;
    make(f);
    put_ca(f, "-----BEGIN CERTIFICATE-----\nMIIB");
    assert_int_equal(fetch(f), CURLE_OK);
    assert_int_equal(fetch(f), CURLE_OK);
    _cleanup_free_ char *said = logged(f);
    _cleanup_free_ char *want =
        xasprintf("warning: certificate-authority %s holds no valid PEM certificate; going on with "
                  "the one read before\n",
                  f->path);
    assert_string_equal(said, want);
    unlink(f->path);
    assert_int_equal(fetch(f), CURLE_OK);
    assert_int_equal(fetch(f), CURLE_OK);
    _cleanup_free_ char *gone = logged(f);
    _cleanup_free_ char *absent = xasprintf("warning: certificate-authority %s: No such file or "
                                            "directory; going on with the one read before\n",
                                            f->path);
    assert_string_equal(gone, absent);
}

static void bad_ca(void **state) {
    struct fixture *f = *state;
    struct err err = ERR_INIT;
    f->config.ca.file = f->path;
    assert_int_equal(curl_tls_new(&f->config, NULL, &f->tls, &err), -ENOENT);
    _cleanup_free_ char *absent =
        xasprintf("certificate-authority %s: No such file or directory", f->path);
    assert_string_equal(err_msg(&err), absent);

    put_ca(f, "hello");
    assert_int_equal(curl_tls_new(&f->config, NULL, &f->tls, &err), -EINVAL);
    _cleanup_free_ char *useless =
        xasprintf("certificate-authority %s holds no valid PEM certificate", f->path);
    assert_string_equal(err_msg(&err), useless);

    /* a key is not a certificate */
    f->config.ca = (struct kube_pem){.data = f->site.key};
    assert_int_equal(curl_tls_new(&f->config, NULL, &f->tls, &err), -EINVAL);
    assert_string_equal(err_msg(&err), "certificate-authority-data holds no valid PEM certificate");

    f->config.ca = (struct kube_pem){.file = (char *)"/dev/zero"};
    assert_int_equal(curl_tls_new(&f->config, NULL, &f->tls, &err), -EFBIG);
    err_done(&err);
}

static void client_certificate(void **state) {
    struct fixture *f = *state;
    serve(f, pki_ca_pem(f->ca));
    f->config.ca.data = (char *)pki_ca_pem(f->ca);
    make(f);
    struct pki_pair one = pki_issue(f->ca, &(struct pki_spec){.cn = "one", .client = true});
    struct pki_pair two = pki_issue(f->ca, &(struct pki_spec){.cn = "two", .client = true});
    struct kube_credentials cred = {.cert_pem = one.cert, .key_pem = one.key, .generation = 1};
    CURL *easy = curl_easy_init();
    assert_int_equal(fetch_with(f, easy, &cred), CURLE_OK);
    assert_int_equal(fetch_with(f, easy, &cred), CURLE_OK);
    assert_int_equal(server_connections(f->server), 1);
    assert_string_equal(server_request(f->server, 1)->peer, "one");
    /* Another certificate: neither the connection nor the TLS session is used again. */
    cred = (struct kube_credentials){.cert_pem = two.cert, .key_pem = two.key, .generation = 2};
    assert_int_equal(fetch_with(f, easy, &cred), CURLE_OK);
    assert_int_equal(server_connections(f->server), 2);
    assert_int_equal(server_handshakes(f->server), 2);
    assert_string_equal(server_request(f->server, 2)->peer, "two");
    curl_easy_cleanup(easy);
    pki_pair_done(&one);
    pki_pair_done(&two);
}

static char *encrypted(const char *key_pem) {
    BIO *in = BIO_new_mem_buf(key_pem, -1), *out = BIO_new(BIO_s_mem());
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
    PEM_write_bio_PKCS8PrivateKey(out, key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL);
    char *p;
    long len = BIO_get_mem_data(out, &p);
    char *text = xstrndup(p, (size_t)len);
    EVP_PKEY_free(key);
    BIO_free(in);
    BIO_free(out);
    return text;
}

static void bad_identity(void **state) {
    struct fixture *f = *state;
    f->config.ca.data = (char *)pki_ca_pem(f->ca);
    make(f);
    _cleanup_free_ char *locked = encrypted(f->site.key);
    struct {
        const char *cert, *key, *msg;
    } cases[] = {
        {"nonsense", f->site.key, "the client certificate is not a PEM certificate"},
        {f->site.cert, "nonsense", "the client key is not a PEM private key"},
        {f->site.cert, NULL, "the client key is not a PEM private key"},
        {f->site.cert, f->other_site.key,
         "the client key does not belong to the client certificate"},
        {f->site.cert, locked,
         "the client key is encrypted: only keys without a passphrase can be used"},
    };
    CURL *easy = curl_easy_init();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_credentials cred = {
            .cert_pem = cases[i].cert, .key_pem = cases[i].key, .generation = i};
        struct err err = ERR_INIT;
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(curl_tls_apply(f->tls, &cred, easy, &err), -EINVAL);
            assert_string_equal(err_msg(&err), cases[i].msg);
        }
        err_done(&err);
    }
    curl_easy_cleanup(easy);
}

static void expired_identity(void **state) {
    struct fixture *f = *state;
    f->config.ca.data = (char *)pki_ca_pem(f->ca);
    make(f);
    struct pki_pair old = pki_issue(
        f->ca,
        &(struct pki_spec){.cn = "old", .client = true, .not_before = -7200, .not_after = -3600});
    struct kube_credentials cred = {.cert_pem = old.cert, .key_pem = old.key, .generation = 1};
    CURL *easy = curl_easy_init();
    assert_int_equal(curl_tls_apply(f->tls, &cred, easy, NULL), 0);
    assert_int_equal(curl_tls_apply(f->tls, &cred, easy, NULL), 0);
    curl_easy_cleanup(easy);
    _cleanup_free_ char *said = logged(f);
    assert_true(str_starts(said, "warning: the client certificate expired on 20"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* once */
    pki_pair_done(&old);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(inline_ca),          CASE(unknown_ca),   CASE(same_name),
        CASE(system_roots),       CASE(insecure),     CASE(expired),
        CASE(rotation),           CASE(half_written), CASE(bad_ca),
        CASE(client_certificate), CASE(bad_identity), CASE(expired_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
