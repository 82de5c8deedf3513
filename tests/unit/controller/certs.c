/* Tests of src/controller/certs.c: two replicas, a simulated cluster, and years of its time. */
#include "controller/certs.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base64.h"
#include "net/authority.h"

#define SECRETS "/api/v1/namespaces/default/secrets"
#define SERVICE "/api/v1/namespaces/default/services/manager"
#define DAY     SEC(INT64_C(86400))

struct replica {
    struct certs *c;
    char *cert, *key;
    unsigned given;
    bool picky;
};

struct fixture {
    struct drain_site s;
    struct replica r[2];
    int64_t every;
};

static int on_have(void *arg, const struct httpd_tls *tls, struct err *err) {
    struct replica *r = arg;
    if (r->picky)
        return err_set(err, EINVAL, "no");
    str_replace(&r->cert, tls->cert);
    str_replace(&r->key, tls->key);
    r->given++;
    return 0;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    drain_site_init(&f->s, 0);
    site_post(&f->s, "/api/v1/namespaces/default/services",
              "{'apiVersion':'v1','kind':'Service','metadata':{'name':'manager'},"
              "'spec':{'clusterIP':'10.96.0.7','ports':[{'port':80}]}}");
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 2; i++) {
        certs_free(f->r[i].c);
        free(f->r[i].cert);
        free(f->r[i].key);
    }
    drain_site_done(&f->s);
    free(f);
    return 0;
}

#define CERTS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void begin(struct fixture *f, unsigned i) {
    f->r[i].c = certs_new(&f->s.client, &(struct certs_opts){.ns = "default",
                                                             .service = "manager",
                                                             .log = &f->s.log,
                                                             .have = on_have,
                                                             .arg = &f->r[i],
                                                             .every = f->every,
                                                             .seed = i + 1});
}

static void pass(struct fixture *f, int64_t usec) {
    loop_advance(f->s.loop, usec);
}

/* A member of a Secret, decoded; freed by the caller. */
static char *stored(struct fixture *f, const char *name, const char *key) {
    _cleanup_free_ char *target = xasprintf(SECRETS "/%s", name);
    const char *text =
        json_str(json_object_get(sim_ask(&f->s.sim, 200, "GET", target, NULL), "data"), key);
    char *out = NULL;
    size_t len;
    assert_true(base64_decode(strna(text), strlen(strna(text)), &out, &len));
    return out;
}

static void store(struct fixture *f, const char *name, const char *cert, const char *key,
                  bool ours) {
    _cleanup_str_ struct str a = STR_INIT, b = STR_INIT;
    base64_encode(&a, cert, strlen(cert));
    base64_encode(&b, key, strlen(key));
    _cleanup_free_ char *body =
        xasprintf("{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/"
                  "tls','metadata':{'name':'%s','labels':"
                  "{'%s':'%s'}},'data':{'tls.crt':'%s','tls.key':'%s'}}",
                  name, CERTS_LABEL, ours ? CERTS_OWNER : "somebody", str_get(&a), str_get(&b));
    site_post(&f->s, SECRETS, body);
}

/* Good at that time, for the address and the names of the Service, to whoever trusts the authority.
 */
static bool is_good(struct fixture *f, const struct replica *r, const char *address, int64_t at) {
    const char *names[] = {address, "manager", "manager.default.svc.cluster.local", NULL};
    _cleanup_free_ char *ca = stored(f, CERTS_CA, "tls.crt");
    struct cert_pair pair = {r->cert, r->key};
    return !authority_check(ca, &pair, names, at, NULL);
}

static int64_t now(const struct fixture *f) {
    return loop_wall(f->s.loop);
}

static void two_begin_at_once_and_serve_the_same(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    begin(f, 1);
    pass(f, SEC(30));
    assert_non_null(f->r[0].cert);
    assert_string_equal(f->r[0].cert, f->r[1].cert);
    assert_true(is_good(f, &f->r[0], "10.96.0.7", now(f)));
    assert_false(is_good(f, &f->r[0], "10.96.0.8", now(f)));
    _cleanup_free_ char *ca = stored(f, CERTS_CA, "tls.crt"),
                        *copy = stored(f, CERTS_TLS, "ca.crt"),
                        *cert = stored(f, CERTS_TLS, "tls.crt");
    assert_string_equal(ca, copy);
    assert_string_equal(cert, f->r[0].cert);
    assert_true(f->r[0].given == 1 && f->r[1].given == 1);
}

/* Years pass: there is always a good one, by the same authority, and each lasts two months. */
static void it_is_renewed_before_it_ends(void **state) {
    struct fixture *f = *state;
    f->every = DAY / 4;
    begin(f, 0);
    begin(f, 1);
    pass(f, SEC(30));
    _cleanup_free_ char *ca = stored(f, CERTS_CA, "tls.crt");
    for (unsigned day = 0; day < 200; day++) {
        pass(f, DAY);
        for (unsigned i = 0; i < 2; i++)
            assert_true(is_good(f, &f->r[i], "10.96.0.7", now(f) + 29 * DAY));
    }
    _cleanup_free_ char *same = stored(f, CERTS_CA, "tls.crt");
    assert_string_equal(ca, same);
    assert_int_equal(f->r[0].given, 4);
    assert_int_equal(f->r[1].given, 4);
}

/* All were away for longer than it was good. */
static void one_that_is_over_is_replaced(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    pass(f, SEC(30));
    certs_free(f->r[0].c);
    f->r[0].c = NULL;
    pass(f, 100 * DAY);
    assert_false(is_good(f, &f->r[0], "10.96.0.7", now(f)));
    begin(f, 1);
    pass(f, SEC(30));
    assert_true(is_good(f, &f->r[1], "10.96.0.7", now(f)));
    assert_int_equal(f->r[1].given, 1); /* the old one is not served for a moment */
}

static void the_service_has_another_address(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    pass(f, SEC(30));
    sim_ask(&f->s.sim, 200, "DELETE", SERVICE, NULL);
    pass(f, SEC(600)); /* nothing is known of it: what there is stays */
    assert_int_equal(f->r[0].given, 1);
    site_post(&f->s, "/api/v1/namespaces/default/services",
              "{'apiVersion':'v1','kind':'Service','metadata':{'name':'manager'},"
              "'spec':{'clusterIP':'10.96.0.9','ports':[{'port':80}]}}");
    pass(f, SEC(600));
    assert_true(is_good(f, &f->r[0], "10.96.0.9", now(f)));
    assert_int_equal(f->r[0].given, 2);
}

/* cert-manager's, for one: taken as it is, and its next one too. */
static void one_of_somebody_else_is_never_written(void **state) {
    struct fixture *f = *state;
    _cleanup_cert_pair_ struct cert_pair ca = {0}, leaf = {0};
    static const char *const other[] = {"example.org", NULL};
    struct cert_spec spec = {.cn = "other", .names = other, .now = now(f), .lasts = DAY};
    assert_int_equal(authority_make(&spec, &ca, NULL), 0);
    assert_int_equal(authority_issue(&ca, &spec, &leaf, NULL), 0);
    store(f, CERTS_TLS, leaf.cert, leaf.key, false);
    f->every = DAY / 4;
    begin(f, 0);
    pass(f, 3 * DAY);
    _cleanup_free_ char *there = stored(f, CERTS_TLS, "tls.crt");
    assert_string_equal(there, leaf.cert);
    assert_string_equal(f->r[0].cert, leaf.cert);
    sim_ask(&f->s.sim, 404, "GET", SECRETS "/" CERTS_CA, NULL);
}

/* An authority that was given is used, and not replaced when it is of no use. */
static void an_authority_of_somebody_else(void **state) {
    struct fixture *f = *state;
    _cleanup_cert_pair_ struct cert_pair ca = {0};
    struct cert_spec spec = {.cn = "other", .now = now(f), .lasts = 100 * DAY};
    assert_int_equal(authority_make(&spec, &ca, NULL), 0);
    store(f, CERTS_CA, ca.cert, ca.key, false);
    f->every = DAY / 4;
    begin(f, 0);
    pass(f, SEC(30));
    assert_true(is_good(f, &f->r[0], "10.96.0.7", now(f)));
    pass(f, 100 * DAY + SEC(1800));
    _cleanup_free_ char *there = stored(f, CERTS_CA, "tls.crt");
    assert_string_equal(there, ca.cert);
}

static void what_cannot_be_read_is_made_anew(void **state) {
    struct fixture *f = *state;
    store(f, CERTS_CA, "nonsense", "", true);
    store(f, CERTS_TLS, "", "nonsense", true);
    begin(f, 0);
    pass(f, SEC(60));
    assert_true(is_good(f, &f->r[0], "10.96.0.7", now(f)));
}

/* Whoever serves it cannot: it is offered again, and not in a hurry. */
static void one_that_is_not_taken_is_offered_again(void **state) {
    struct fixture *f = *state;
    f->r[0].picky = true;
    begin(f, 0);
    pass(f, SEC(600));
    assert_int_equal(f->r[0].given, 0);
    f->r[0].picky = false;
    pass(f, SEC(120));
    assert_int_equal(f->r[0].given, 1);
}

/* What the log has got; freed by the caller. */
static char *logged(const struct fixture *f) {
    char text[16384];
    ssize_t n = pread(f->s.log.fd, text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return xstrdup(text);
}

static unsigned count(const char *text, const char *words) {
    unsigned n = 0;
    for (; (text = strstr(text, words)); text++)
        n++;
    return n;
}

/* The Service comes late, as it may when everything is applied at once: that nothing could be read
 * for minutes does not put off what is written then, and the log is not filled with it. */
static void a_service_that_comes_late(void **state) {
    struct fixture *f = *state;
    f->s.log = (struct log){.level = LOG_WARN, .fd = memfd_create("log", 0)};
    sim_ask(&f->s.sim, 200, "DELETE", SERVICE, NULL);
    begin(f, 0);
    assert_null(certs_trouble(f->r[0].c));
    pass(f, SEC(300));
    assert_non_null(strstr(certs_trouble(f->r[0].c), "nobody knows what the certificate is for: "));
    site_post(&f->s, "/api/v1/namespaces/default/services",
              "{'apiVersion':'v1','kind':'Service','metadata':{'name':'manager'},"
              "'spec':{'clusterIP':'10.96.0.7','ports':[{'port':80}]}}");
    pass(f, SEC(20));
    assert_int_equal(f->r[0].given, 1);
    assert_true(is_good(f, &f->r[0], "10.96.0.7", now(f)));
    assert_null(certs_trouble(f->r[0].c));
    _cleanup_free_ char *said = logged(f);
    close(f->s.log.fd);
    unsigned n = count(said, "nobody knows what the certificate is for");
    assert_true(n >= 3 && n <= 6);
    f->s.log = (struct log){.level = LOG_ERROR, .fd = -1};
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CERTS_TEST(two_begin_at_once_and_serve_the_same),
        CERTS_TEST(it_is_renewed_before_it_ends),
        CERTS_TEST(one_that_is_over_is_replaced),
        CERTS_TEST(the_service_has_another_address),
        CERTS_TEST(one_of_somebody_else_is_never_written),
        CERTS_TEST(an_authority_of_somebody_else),
        CERTS_TEST(what_cannot_be_read_is_made_anew),
        CERTS_TEST(one_that_is_not_taken_is_offered_again),
        CERTS_TEST(a_service_that_comes_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
