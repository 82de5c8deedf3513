/* Tests of src/cli/snapshot_take.c, against a real server on loopback. */
#include "cli/snapshot_take.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/verb.h"
#include "engine/checks.h"
#include "support/server.h"

enum { CUSTOM = 16 }; /* kinds */
#define JSON "Content-Type: application/json\r\nDate: Sun, 15 Nov 2026 08:00:00 GMT\r\n"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct snapshot_taken taken;
    int err[2], fd;
    char said[8192];
    char *file; /* what was written */
    /* how the server behaves */
    const char *forbidden, *missing; /* part of a path */
    int expire;                      /* the page of pods with which the list expires, once */
    bool large;                      /* pages of more than ten pods are too long for anybody */
    int fails;                       /* so many times it is overloaded first */
    bool longhorn;                   /* it is installed, an older one: without engines */
    bool blind;                      /* discovery says nothing */
    bool other;                      /* Longhorn is there in another version */
};

static void status(struct server_conn *c, int code, const char *reason) {
    char body[256];
    (void)snprintf(body, sizeof body,
                   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                   "\"Failure\",\"message\":\"no %s\",\"reason\":\"%s\",\"code\":%d}",
                   reason, reason, code);
    server_reply(c, code, JSON, body);
}

/* Thirty pods in pages; the token is the number of the first. */
static void pods(struct server_conn *c, const char *path, struct fixture *f) {
    const char *limit_at = strstr(path, "limit="), *token = strstr(path, "continue=");
    int limit = limit_at ? atoi(limit_at + 6) : 1000, first = token ? atoi(token + 9) : 0;
    if (f->expire && first >= f->expire) {
        f->expire = 0;
        status(c, 410, "Expired");
        return;
    }
    _cleanup_str_ struct str out = STR_INIT;
    int n = limit < 12 ? limit : 12, end = first + n < 30 ? first + n : 30;
    str_add(&out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (end < 30)
        str_addf(&out, "\"continue\":\"%d\",\"remainingItemCount\":%d", end, 30 - end);
    str_add(&out, "},\"items\":[");
    for (int i = first; i < end; i++)
        str_addf(&out,
                 "%s{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"a\",\"managedFields\":[]},"
                 "\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[{\"value\":\"hush\"}]}]}}",
                 i > first ? "," : "", i);
    str_add(&out, "]}");
    if (f->large && limit > 10)
        while (out.len <= KUBE_BODY_MAX)
            str_add(&out, "                                                                ");
    server_reply(c, 200, JSON, str_get(&out));
}

static bool is_forbidden(const struct fixture *f, const char *path) {
    return (f->forbidden && strstr(path, f->forbidden)) || (f->blind && !strcmp(path, "/apis"));
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    if (strcmp(req->method, "GET") != 0)
        status(c, 405, "MethodNotAllowed");
    else if (f->fails && strstr(req->path, "/nodes")) {
        f->fails--;
        status(c, 503, "ServiceUnavailable");
    } else if (is_forbidden(f, req->path))
        status(c, 403, "Forbidden");
    else if (f->missing && strstr(req->path, f->missing))
        status(c, 404, "NotFound");
    else if (!strcmp(req->path, "/apis"))
        server_reply(c, 200, JSON,
                     f->other      ? "{\"groups\":[{\"name\":\"longhorn.io\",\"versions\":[{"
                                     "\"groupVersion\":\"longhorn.io/v1beta1\"}]}]}"
                     : f->longhorn ? "{\"groups\":[{\"name\":\"longhorn.io\",\"versions\":[{"
                                     "\"groupVersion\":\"longhorn.io/v1beta2\"}]}]}"
                                   : "{\"groups\":[]}");
    else if (!strcmp(req->path, "/apis/longhorn.io/v1beta2"))
        server_reply(c, 200, JSON,
                     "{\"resources\":[{\"name\":\"volumes\"},{\"name\":\"replicas\"},"
                     "{\"name\":\"settings\"}]}");
    else if (strstr(req->path, "/longhorn.io/v1beta2/volumes?"))
        server_reply(c, 200, JSON,
                     "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"v\",\"namespace\":"
                     "\"l\"},\"spec\":{\"numberOfReplicas\":2,\"fromBackup\":\"hush\"},"
                     "\"status\":{\"robustness\":\"healthy\"}}]}");
    else if (!strcmp(req->path, "/version"))
        server_reply(c, 200, JSON, "{\"gitVersion\":\"v1.36.3\"}");
    else if (strstr(req->path, "/pods?"))
        pods(c, req->path, f);
    else if (strstr(req->path, "/nodes?"))
        server_reply(c, 200, JSON,
                     "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"w1\"}}]}");
    else if (strstr(req->path, "/jobs?"))
        server_reply(c, 200, JSON, "{\"metadata\":{},\"items\":null}");
    else
        server_reply(c, 200, JSON, "{\"metadata\":{},\"items\":[]}");
}

static void start(struct fixture *f, server_fn *fn) {
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .verb = verb_find("snapshot"), .env = getenv, .err = {.fd = f->err[1]}};
    f->server = server_start(&(struct server_options){.handle = fn, .arg = f});
    f->url = server_url(f->server, NULL);
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
    f->fd = memfd_create("test", MFD_CLOEXEC);
}

static int take(struct fixture *f) {
    struct snapshot_writer *w = snapshot_writer_new(dup(f->fd), false);
    int rc = snapshot_take(&f->session, w, "out", &f->taken);
    snapshot_writer_free(w);
    off_t len = lseek(f->fd, 0, SEEK_END);
    f->file = xcalloc(1, (size_t)len + 1);
    assert_int_equal(pread(f->fd, f->file, (size_t)len, 0), len);
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return rc;
}

static void end(struct fixture *f) {
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    free(f->file);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
    close(f->fd);
}

static size_t lines(const struct fixture *f, const char *with) {
    size_t n = 0;
    for (const char *p = f->file; (p = strstr(p, with)); p += strlen(with))
        n++;
    return n;
}

static size_t count(const struct fixture *f, const char *kind) {
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++)
        if (!strcmp(snapshot_kinds[i].kind, kind))
            return f->taken.counts[i];
    return SIZE_MAX;
}

/* What the checks read of systems that are not Kubernetes' own is what a snapshot has of them. */
static void test_as_the_checks(void **state) {
    (void)state;
    size_t custom = 0;
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct snapshot_kind *k = &snapshot_kinds[i];
        if (!k->custom)
            continue;
        char version[64];
        _cleanup_free_ char *resource = xasprintf("%s.%s", k->custom->resource, k->custom->group);
        _cleanup_free_ char *path = xasprintf("/apis/%s/%s", k->version, k->custom->resource);
        assert_string_equal(k->version, kind_api_version(k->custom, version));
        assert_string_equal(k->kind, k->custom->name);
        assert_string_equal(k->resource, resource);
        assert_string_equal(k->path, path);
        assert_false(k->needed);
        custom++;
    }
    assert_int_equal(custom, CUSTOM);
    size_t read = 0;
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        const struct check_source *s = &check_sources[i];
        if (!strchr(s->kind->group, '.'))
            continue; /* Kubernetes' own */
        size_t k = 0;
        while (k < SNAPSHOT_KINDS && snapshot_kinds[k].custom != s->kind)
            k++;
        if (k == SNAPSHOT_KINDS)
            fail_msg("%s.%s is in no snapshot", s->kind->resource, s->kind->group);
        if (s->fields)
            assert_string_equal(snapshot_kinds[k].fields, s->fields);
        else
            assert_null(snapshot_kinds[k].fields);
        read++;
    }
    assert_int_equal(read, CUSTOM);
}

#define DEFINITION                                                                                 \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\""

/* A system that is there: its kinds, also those without objects, and of those only what is known.
 */
static void test_custom(void **state) {
    (void)state;
    struct fixture f = {.longhorn = true};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, DEFINITION), 3);
    assert_int_equal(lines(&f, "hush"), 0);
    assert_int_equal(
        lines(&f, "\"spec\":{\"numberOfReplicas\":2,\"dataLayout\":{}},\"status\":{\"robustness\":"
                  "\"healthy\"}"),
        1);
    const char *definition = strstr(f.file, "\"name\":\"volumes.longhorn.io\"");
    assert_true(definition && definition < strstr(f.file, "numberOfReplicas"));
    static const char *const counts[] = {"\"volumes.longhorn.io\":1", "\"replicas.longhorn.io\":0",
                                         "\"CustomResourceDefinition\":3"};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        assert_non_null(strstr(strstr(f.file, "\"slipway\":\"end\""), counts[i]));
    assert_null(strstr(f.file, "engines.longhorn.io"));
    bool one = false; /* of all settings the one that is read */
    for (int i = 0; i < server_requests(f.server); i++)
        one |=
            strstr(server_request(f.server, i)->path,
                   "/settings?limit=250&fieldSelector=metadata.name%3Dnode-drain-policy") != NULL;
    assert_true(one);
    assert_string_equal(f.said, "");
    end(&f);
}

/* What may not be read is not as if there were none of it. */
static void test_custom_left_out(void **state) {
    (void)state;
    struct fixture f = {.longhorn = true, .forbidden = "/replicas?"};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, DEFINITION), 2);
    assert_null(strstr(f.file, "\"plural\":\"replicas\""));
    assert_int_equal(lines(&f, "\"resource\":\"replicas.longhorn.io\""), 1);
    assert_non_null(strstr(f.said, "Note: replicas.longhorn.io are left out: "));
    end(&f);
    f = (struct fixture){.longhorn = true, .blind = true};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, DEFINITION), 0);
    assert_int_equal(lines(&f, "\"why\":\"discovery: "), CUSTOM);
    assert_non_null(strstr(f.said, "Note: what storage systems and databases have is left out: "));
    assert_int_equal(strcspn(f.said, "\n"), strlen(f.said) - 1); /* once */
    end(&f);
    /* of one system alone */
    size_t system = 0;
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++)
        system += streq(snapshot_kinds[i].version, "longhorn.io/v1beta2");
    f = (struct fixture){.longhorn = true, .forbidden = "/apis/longhorn.io"};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, DEFINITION), 0);
    assert_int_equal(lines(&f, "\"why\":\"discovery: no Forbidden\""), system);
    assert_string_equal(f.said, "Note: what is in longhorn.io/v1beta2 is left out: discovery: no "
                                "Forbidden\n");
    end(&f);
    f = (struct fixture){.other = true};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, "\"why\":\"the server does not have it as longhorn.io/v1beta2\""),
                     system);
    end(&f);
    /* one that has gone between the two questions is not there */
    f = (struct fixture){.longhorn = true, .missing = "/apis/longhorn.io"};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(lines(&f, "longhorn"), 0);
    assert_string_equal(f.said, "");
    end(&f);
}

static void test_pages(void **state) {
    (void)state;
    struct fixture f = {0};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(count(&f, "Pod"), 30);
    assert_int_equal(count(&f, "Node"), 1);
    assert_int_equal(lines(&f, "\"kind\":\"Pod\",\"metadata\":{\"name\":"), 30);
    assert_int_equal(lines(&f, "hush") + lines(&f, "managedFields"), 0);
    assert_true(str_starts(f.file, "{\"slipway\":\"snapshot\",\"v\":1,\"taken\":"
                                   "\"2026-11-15T08:00:00Z\",\"server\":\"v1.36.3\"}\n"));
    assert_true(str_ends(f.file, "\"Pod\":30},\"unread\":[]}\n"));
    /* reads, and nothing else; each kind is asked for */
    for (int i = 0; i < server_requests(f.server); i++)
        assert_string_equal(server_request(f.server, i)->method, "GET");
    assert_int_equal(server_requests(f.server), 1 + SNAPSHOT_KINDS - CUSTOM + 2 + 1);
    assert_string_equal(f.said, "");
    end(&f);
}

/* A list that has expired in the middle is begun anew, and nothing of it is there twice. */
static void test_expired(void **state) {
    (void)state;
    struct fixture f = {.expire = 24};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(count(&f, "Pod"), 30);
    assert_int_equal(lines(&f, "\"kind\":\"Pod\",\"metadata\":{\"name\":"), 30);
    assert_non_null(strstr(f.said, "the list of pods has expired"));
    end(&f);
}

static void test_left_out(void **state) {
    (void)state;
    struct fixture f = {.forbidden = "/jobs", .missing = "csidrivers"};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_non_null(strstr(f.said, "jobs.batch are left out"));
    assert_null(strstr(f.said, "csidrivers")); /* a server that has none */
    assert_int_equal(lines(&f, "\"unread\":[{\"resource\":\"jobs.batch\""), 1);
    end(&f);
}

static void test_needed(void **state) {
    (void)state;
    struct fixture f = {.forbidden = "/poddisruptionbudgets"};
    start(&f, handle);
    assert_int_equal(take(&f), EXIT_ACCESS);
    assert_non_null(strstr(f.said, "list poddisruptionbudgets.policy"));
    assert_int_equal(lines(&f, "\"slipway\":\"end\""), 0);
    end(&f);
}

/* Pages that are too long are asked for in smaller ones. */
static void test_large(void **state) {
    (void)state;
    struct fixture f = {.large = true};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(count(&f, "Pod"), 30);
    end(&f);
}

static void test_patience(void **state) {
    (void)state;
    struct fixture f = {.fails = 2};
    start(&f, handle);
    assert_int_equal(take(&f), 0);
    assert_int_equal(count(&f, "Node"), 1);
    assert_non_null(strstr(f.said, "cannot list nodes: no ServiceUnavailable; trying again"));
    end(&f);
}

static void nonsense(struct server_conn *c, const struct server_request *req, void *arg) {
    (void)req, (void)arg;
    server_reply(c, 200, JSON, "{\"items\":7}");
}

static void test_nonsense(void **state) {
    (void)state;
    struct fixture f = {0};
    start(&f, nonsense);
    assert_int_equal(take(&f), EXIT_FAILED);
    assert_non_null(strstr(f.said, "the answer is no list"));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_checks),   cmocka_unit_test(test_custom),
        cmocka_unit_test(test_custom_left_out), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_expired),         cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_needed),          cmocka_unit_test(test_large),
        cmocka_unit_test(test_patience),        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
