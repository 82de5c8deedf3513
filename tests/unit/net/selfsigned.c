/* Tests of net/selfsigned.c: what it makes is judged by OpenSSL's own verifier, by the program
 * `openssl`, and by libcurl, which talks to a server that uses it. */
#include "server_site.h"

#include <curl/curl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "net/child.h"

static X509 *read_cert(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

/* X509_V_OK, or why the certificate is not good for this name at that time. */
static int verdict(const struct selfsigned *s, const char *name, time_t at) {
    X509 *ca = read_cert(s->ca), *cert = read_cert(s->cert);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(ctx, store, cert, NULL);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
    X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_time(param, at);
    if (!X509_VERIFY_PARAM_set1_ip_asc(param, name))
        X509_VERIFY_PARAM_set1_host(param, name, 0);
    X509_verify_cert(ctx);
    int code = X509_STORE_CTX_get_error(ctx);
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    X509_free(ca);
    X509_free(cert);
    return code;
}

static const time_t now = 1900000000;

static void test_names_and_times(void **state) {
    (void)state;
    static const char *const names[] = {"sim.example.org", "10.1.2.3",  "2001:db8::1",
                                        "*.wild.example",  "xn--bcher", NULL};
    static const char *const good[] = {"127.0.0.1",       "::1",      "localhost",
                                       "sim.example.org", "10.1.2.3", "2001:db8::1",
                                       "a.wild.example",  "xn--bcher"};
    static const char *const bad[] = {"127.0.0.2", "example.org", "a.sim.example.org",
                                      "a.b.wild.example"};
    _cleanup_selfsigned_ struct selfsigned s = {0};
    assert_int_equal(selfsigned_make("my CA", names, SEC(now), &s, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(verdict(&s, good[i], now), X509_V_OK);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int code = verdict(&s, bad[i], now);
        assert_true(code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH);
    }
    /* From an hour ago to a year ahead. */
    assert_int_equal(verdict(&s, "::1", now - 3600), X509_V_OK);
    assert_int_equal(verdict(&s, "::1", now - 3601), X509_V_ERR_CERT_NOT_YET_VALID);
    assert_int_equal(verdict(&s, "::1", now + 365 * 86400 - 1), X509_V_OK);
    assert_int_equal(verdict(&s, "::1", now + 365 * 86400), X509_V_ERR_CERT_HAS_EXPIRED);
}

static void test_what_is_in_them(void **state) {
    (void)state;
    _cleanup_selfsigned_ struct selfsigned s = {0};
    assert_int_equal(selfsigned_make("my CA", NULL, SEC(now), &s, NULL), 0);
    X509 *ca = read_cert(s.ca), *cert = read_cert(s.cert);
    char name[100];
    X509_NAME_get_text_by_NID(X509_get_subject_name(ca), NID_commonName, name, sizeof name);
    assert_string_equal(name, "my CA");
    X509_NAME_get_text_by_NID(X509_get_issuer_name(cert), NID_commonName, name, sizeof name);
    assert_string_equal(name, "my CA");
    assert_true(X509_check_ca(ca) == 1);
    assert_true(X509_check_ca(cert) == 0);
    assert_true(X509_get_extension_flags(cert) & EXFLAG_XKUSAGE);
    assert_int_equal(X509_get_extended_key_usage(cert), XKU_SSL_SERVER);
    assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE);
    assert_int_equal(X509_get_pathlen(ca), 0);
    char curve[50];
    EVP_PKEY *key = X509_get0_pubkey(cert);
    assert_int_equal(EVP_PKEY_get_group_name(key, curve, sizeof curve, NULL), 1);
    assert_string_equal(curve, "prime256v1"); /* P-256 */
    /* The key given out is the server's. */
    BIO *bio = BIO_new_mem_buf(s.key, -1);
    EVP_PKEY *private = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    assert_int_equal(X509_check_private_key(cert, private), 1);
    assert_int_equal(X509_check_private_key(ca, private), 0);
    EVP_PKEY_free(private);
    BIO_free(bio);
    X509_free(ca);
    X509_free(cert);
}

/* Two of them share nothing. */
static void test_all_different(void **state) {
    (void)state;
    _cleanup_selfsigned_ struct selfsigned a = {0}, b = {0};
    assert_int_equal(selfsigned_make("my CA", NULL, SEC(now), &a, NULL), 0);
    assert_int_equal(selfsigned_make("my CA", NULL, SEC(now), &b, NULL), 0);
    assert_string_not_equal(a.key, b.key);
    struct selfsigned mixed = {a.ca, b.cert, b.key};
    assert_int_not_equal(verdict(&mixed, "::1", now), X509_V_OK);
    X509 *x = read_cert(a.cert), *y = read_cert(b.cert);
    assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(x), X509_get0_serialNumber(y)), 0);
    X509_free(x);
    X509_free(y);
}

static void test_bad_names(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",           "a b",
        "a,DNS:evil", "-a",
        "a-",         "a..b",
        ".a",         "a.",
        "*",          "a.*.b",
        "*.",         "a_b",
        "1.2.3.4/8",  "[::1]",
        "http://a",   "\xc3\xbc.example",
        "a\nb",       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct selfsigned s = {0};
        const char *const names[] = {"fine.example", bad[i], NULL};
        assert_int_equal(selfsigned_make("my CA", names, SEC(now), &s, &err), -EINVAL);
        assert_null(s.key);
        char *want = xasprintf("\"%s\" cannot be a name of the server: it is neither an IP address "
                               "nor a DNS name",
                               bad[i]);
        assert_string_equal(err_msg(&err), want);
        free(want);
    }
    /* A common name that X.509 does not allow. */
    _cleanup_err_ struct err err = ERR_INIT;
    struct selfsigned s = {0};
    char cn[100];
    memset(cn, 'x', sizeof cn);
    cn[65] = '\0';
    assert_int_equal(selfsigned_make(cn, NULL, SEC(now), &s, &err), -EIO);
    assert_string_equal(err_msg(&err), "cannot make a certificate: OpenSSL says string too long");
    cn[64] = '\0';
    assert_int_equal(selfsigned_make(cn, NULL, SEC(now), &s, NULL), 0);
    selfsigned_done(&s);
    assert_null(s.key);
}

/* --- the program openssl --- */

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

struct ended {
    bool done;
    int exit_code;
    char text[500];
};

static void on_end(void *arg, const struct child_end *end) {
    struct ended *e = arg;
    e->done = true;
    e->exit_code = end->exit_code;
    snprintf(e->text, sizeof e->text, "%s%s", end->out, end->err_out);
}

static void test_openssl_verify(void **state) {
    struct site *s = *state;
    char dir[] = "/tmp/selfsigned-XXXXXX", ca[100], cert[100];
    assert_non_null(mkdtemp(dir));
    snprintf(ca, sizeof ca, "%s/ca", dir);
    snprintf(cert, sizeof cert, "%s/cert", dir);
    write_file(ca, s->certs.ca);
    write_file(cert, s->certs.cert);
    const char *const argv[] = {"openssl",   "verify",    "-x509_strict",
                                "-purpose",  "sslserver", "-verify_hostname",
                                "localhost", "-CAfile",   ca,
                                cert,        NULL};
    struct child_spec spec = {.argv = argv, .max_stdout = 1000, .max_stderr = 1000};
    struct ended end = {0};
    struct child *child;
    int r = child_start(s->loop, &spec, on_end, &end, &child, NULL);
    if (r == 0)
        site_until(s, end.done);
    unlink(ca);
    unlink(cert);
    rmdir(dir);
    if (r == -ENOENT) {
        print_message("# skip: the program openssl is not installed\n");
        skip();
    }
    if (end.exit_code)
        print_error("%s\n", end.text);
    assert_int_equal(r, 0);
    assert_int_equal(end.exit_code, 0);
    assert_non_null(strstr(end.text, ": OK"));
}

/* --- libcurl against a server --- */

struct fetch {
    const char *ca;
    char url[100], resolve[100];
    char body[100];
    CURLcode code;
    long version;
    int done_fd;
};

static size_t keep_body(char *p, size_t size, size_t n, void *arg) {
    struct fetch *f = arg;
    strncat(f->body, p, MIN_OF(size * n, sizeof f->body - strlen(f->body) - 1));
    return size * n;
}

static void *fetch_thread(void *arg) {
    struct fetch *f = arg;
    CURL *curl = curl_easy_init();
    struct curl_slist *resolve = curl_slist_append(NULL, f->resolve);
    struct curl_blob ca = {(void *)(uintptr_t)f->ca, strlen(f->ca), CURL_BLOB_COPY};
    curl_easy_setopt(curl, CURLOPT_URL, f->url);
    curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve);
    curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, f);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    f->code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &f->version);
    curl_slist_free_all(resolve);
    curl_easy_cleanup(curl);
    close(f->done_fd);
    return NULL;
}

static void note_done(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    *(bool *)arg = true;
}

static CURLcode fetch(struct site *s, const char *host, const char *ca, const char *body) {
    struct fetch f = {.ca = ca};
    int port = httpd_listener_port(s->tls), fds[2];
    pthread_t thread;
    bool done = false;
    snprintf(f.url, sizeof f.url, "https://%s:%d/hello", host, port);
    snprintf(f.resolve, sizeof f.resolve, "%s:%d:127.0.0.1", host, port);
    assert_int_equal(pipe(fds), 0);
    f.done_fd = fds[1];
    struct event *ev = event_new(loop_base(s->loop), fds[0], EV_READ, note_done, &done);
    event_add(ev, NULL);
    assert_int_equal(pthread_create(&thread, NULL, fetch_thread, &f), 0);
    site_until(s, done);
    pthread_join(thread, NULL);
    event_free(ev);
    close(fds[0]);
    if (f.code == CURLE_OK) {
        assert_string_equal(f.body, body);
        assert_int_equal(f.version, CURL_HTTP_VERSION_1_1);
    }
    return f.code;
}

static void test_libcurl(void **state) {
    struct site *s = *state;
    _cleanup_selfsigned_ struct selfsigned other = {0};
    site_open(s, NULL);
    assert_int_equal(selfsigned_make("test", NULL, loop_wall(s->loop), &other, NULL), 0);
    assert_int_equal(fetch(s, "127.0.0.1", s->certs.ca, "/hello"), CURLE_OK);
    assert_int_equal(fetch(s, "localhost", s->certs.ca, "/hello"), CURLE_OK);
    assert_int_equal(fetch(s, "other.example", s->certs.ca, ""), CURLE_PEER_FAILED_VERIFICATION);
    assert_int_equal(fetch(s, "localhost", other.ca, ""), CURLE_PEER_FAILED_VERIFICATION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_times), cmocka_unit_test(test_what_is_in_them),
        cmocka_unit_test(test_all_different),   cmocka_unit_test(test_bad_names),
        SITE_TEST(test_openssl_verify),         SITE_TEST(test_libcurl),
    };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int failed = cmocka_run_group_tests_name("selfsigned", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
