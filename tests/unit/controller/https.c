/* Tests of src/controller/https.c: files that are replaced while it runs. Certificates that Slipway
 * makes are in certs.c, and on a real cluster in tests/cluster/test_fleetlock_tls.py. */
#include "controller/https.h"

#include "net/server_site.h"

#include <sys/stat.h>

#include "base/file.h"
#include "support/world.h"

struct fixture {
    struct site *site;
    struct world w;
    struct roster *roster;
    struct fleetlock_server *server;
    struct kube_client client;
    struct https *h;
    char dir[64], cert[96], key[96];
};

static bool never(void *arg) {
    (void)arg;
    return false;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    void *site;
    if (site_setup(&site))
        return -1;
    f->site = site;
    f->client.loop = f->site->loop;
    world_init(&f->w);
    f->roster = roster_new(f->w.nodes, &(struct roster_options){0});
    assert_int_equal(
        fleetlock_server_new(f->site->loop,
                             &(struct fleetlock_server_opts){.roster = f->roster, .ready = never},
                             &f->server, NULL),
        0);
    snprintf(f->dir, sizeof f->dir, "/tmp/slipway-https-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->cert, sizeof f->cert, "%s/tls.crt", f->dir);
    snprintf(f->key, sizeof f->key, "%s/tls.key", f->dir);
    put(f->cert, f->site->certs.cert);
    put(f->key, f->site->certs.key);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    void *site = f->site;
    https_free(f->h);
    fleetlock_server_free(f->server);
    world_done(&f->w);
    roster_free(f->roster);
    unlink(f->cert);
    unlink(f->key);
    rmdir(f->dir);
    free(f);
    return site_teardown(&site);
}

static int begin(struct fixture *f, struct err *err) {
    return https_new(
        &f->client, f->server,
        &(struct https_opts){
            .address = "127.0.0.1:0", .cert = f->cert, .key = f->key, .every = MSEC(1)},
        &f->h, err);
}

static struct peer *client(struct fixture *f) {
    const char *address = fleetlock_server_address(f->server);
    struct peer *p = peer_of_fd(f->site, dial((int)strtol(strrchr(address, ':') + 1, NULL, 10), 0));
    peer_tls(p);
    site_until(f->site, SSL_is_init_finished(p->ssl));
    return p;
}

/* Whether a new client is shown this certificate. */
static bool is_shown(struct fixture *f, const char *pem) {
    struct peer *p = client(f);
    X509 *shown = SSL_get1_peer_certificate(p->ssl);
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *wanted = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    bool same = shown && X509_cmp(shown, wanted) == 0;
    X509_free(shown);
    X509_free(wanted);
    BIO_free(bio);
    peer_free(p);
    return same;
}

static void answers(struct peer *p) {
    struct answer a = {0};
    peer_puts(p, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    peer_answer(p, &a);
    assert_int_equal(a.code, 404);
    answer_done(&a);
}

static void files_that_are_replaced_are_taken(void **state) {
    struct fixture *f = *state;
    _cleanup_selfsigned_ struct selfsigned next = {0};
    assert_int_equal(selfsigned_make("next", NULL, loop_wall(f->site->loop), &next, NULL), 0);
    assert_int_equal(begin(f, NULL), 0);
    assert_true(is_shown(f, f->site->certs.cert));
    struct peer *old = client(f);
    answers(old);
    put(f->cert, next.cert); /* one of them is there, the other not yet */
    for (int i = 0; i < 5; i++)
        assert_true(is_shown(f, f->site->certs.cert));
    put(f->key, next.key);
    SSL_CTX_set_verify(f->site->client_tls, SSL_VERIFY_NONE, NULL); /* of another authority */
    site_until(f->site, is_shown(f, next.cert));
    answers(old); /* who is there stays */
    peer_free(old);
    unlink(f->cert);
    for (int i = 0; i < 5; i++)
        assert_true(is_shown(f, next.cert));
}

static void files_that_are_no_use_are_no_beginning(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT, gone = ERR_INIT;
    put(f->key, "nonsense");
    assert_int_equal(begin(f, &err), -EINVAL);
    assert_non_null(strstr(err_msg(&err), "private key"));
    unlink(f->cert);
    assert_int_equal(begin(f, &gone), -ENOENT);
    assert_non_null(strstr(err_msg(&gone), f->cert));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_that_are_replaced_are_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_are_no_use_are_no_beginning, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
