/* Tests of controller/audit.c. */
#include "controller/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/reason.h"
#include "kube/codec.h"

struct fixture {
    char dir[64], path[96], old[96];
    struct loop *loop;
    struct audit *audit;
    struct metrics *metrics;
    struct log log;
    int said[2];
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    snprintf(f->dir, sizeof f->dir, "/tmp/slipway-audit-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/audit", f->dir);
    snprintf(f->old, sizeof f->old, "%s/audit.1", f->dir);
    assert_int_equal(pipe2(f->said, O_CLOEXEC | O_NONBLOCK), 0);
    f->log = (struct log){.level = LOG_INFO, .fd = f->said[1]};
    f->loop = loop_new_virtual(SEC(1794729600));
    f->metrics = metrics_new(0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    audit_free(f->audit);
    metrics_free(f->metrics);
    loop_free(f->loop);
    unlink(f->path);
    unlink(f->old);
    rmdir(f->dir);
    close(f->said[0]);
    close(f->said[1]);
    free(f);
    return 0;
}

static void begin(struct fixture *f, int64_t size) {
    struct audit_opts opts = {.path = f->path,
                              .size = size,
                              .via = "me",
                              .loop = f->loop,
                              .log = &f->log,
                              .metrics = f->metrics};
    assert_int_equal(audit_new(&opts, &f->audit, NULL), 0);
}

static void grant(struct fixture *f, const char *node) {
    audit_answer(f->audit, "10.0.0.7:1", "pre-reboot", node, "go");
}

/* The file; "" when there is none. To be freed. */
static char *contents(const char *path) {
    char *text = NULL;
    size_t len;
    return file_read(path, 1 << 20, &text, &len, NULL) ? xstrdup("") : text;
}

static const char *said(struct fixture *f) {
    static char text[4096];
    ssize_t n = read(f->said[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void what_is_in_it(void **state) {
    struct fixture *f = *state;
    struct slot slot = {.id = "slot:p:1"};
    begin(f, 0);
    audit_note(f->audit, &(struct keeper_note){.policy = "p",
                                               .node = "w1",
                                               .by = "fleetlock",
                                               .operation = "Reboot",
                                               .slot = &slot,
                                               .reason = REASON_SLOT_TAKEN,
                                               .text = "holds a slot",
                                               .moves = true,
                                               .from = MAINT_QUEUED,
                                               .to = MAINT_DRAINING});
    audit_action(
        f->audit, "fleetlock",
        &(struct action){.verb = ACTION_EVICT, .kind = &kind_pod, .ns = "shop", .name = "web-1"},
        &(struct answer){.outcome = KUBE_OK, .code = 201, .message = ""});
    audit_action(
        f->audit, "",
        &(struct action){
            .verb = ACTION_PATCH, .kind = &kind_node, .name = "w1", .subresource = "status"},
        &(struct answer){.outcome = KUBE_CONFLICT, .code = 409, .message = "changed"});
    grant(f, "w1");
    _cleanup_free_ char *text = contents(f->path);
    assert_string_equal(
        text,
        "{\"ts\":\"2026-11-15T08:00:00.000000Z\",\"via\":\"me\",\"kind\":\"decision\",\"actor\":"
        "\"fleetlock\",\"action\":\"SlotTaken\",\"object\":\"nodes/w1\",\"policy\":\"p\","
        "\"operation\":\"Reboot\",\"slot\":\"slot:p:1\",\"before\":\"Queued\",\"after\":"
        "\"Draining\",\"reason\":\"holds a slot\"}\n"
        "{\"ts\":\"2026-11-15T08:00:00.000000Z\",\"via\":\"me\",\"kind\":\"write\",\"actor\":"
        "\"fleetlock\",\"action\":\"evict\",\"object\":\"pods/shop/web-1\",\"result\":\"ok\","
        "\"code\":201}\n"
        "{\"ts\":\"2026-11-15T08:00:00.000000Z\",\"via\":\"me\",\"kind\":\"write\",\"action\":"
        "\"patch\",\"object\":\"nodes/w1/status\",\"reason\":\"changed\",\"result\":\"Conflict\","
        "\"code\":409}\n"
        "{\"ts\":\"2026-11-15T08:00:00.000000Z\",\"via\":\"me\",\"kind\":\"answer\",\"actor\":"
        "\"10.0.0.7:1\",\"action\":\"pre-reboot\",\"object\":\"nodes/w1\",\"reason\":\"go\","
        "\"result\":\"ok\"}\n");
    struct stat st;
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0007, 0); /* not for everybody */
}

/* What changes nothing, and what nobody waits for. */
static void what_is_not(void **state) {
    struct fixture *f = *state;
    struct answer ok = {.outcome = KUBE_OK, .message = ""};
    begin(f, 0);
    audit_action(f->audit, "", &(struct action){.verb = ACTION_READ, .kind = &kind_node}, &ok);
    audit_action(f->audit, "", &(struct action){.verb = ACTION_CONFIRM, .kind = &kind_pod}, &ok);
    audit_action(f->audit, "",
                 &(struct action){.verb = ACTION_CREATE, .kind = &kind_event, .minor = true}, &ok);
    audit_action(f->audit, "",
                 &(struct action){.verb = ACTION_EVICT, .kind = &kind_pod, .dry_run = true}, &ok);
    _cleanup_free_ char *text = contents(f->path);
    assert_string_equal(text, "");
    audit_note(NULL, NULL); /* nobody keeps one */
    audit_reopen(NULL);
    audit_free(NULL);
}

static void operation(struct fixture *f, const char *executor) {
    _cleanup_free_ char *text =
        xasprintf("{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"node\":\"w1\","
                  "\"operation\":\"Reboot\",\"executor\":%s},\"status\":"
                  "{\"slot\":\"slot:1\"}}",
                  executor);
    struct pool *pool = pool_new(type_drop);
    struct object *m = object_new(&kind_maintenance);
    struct codec codec;
    codec_init(&codec, pool);
    assert_int_equal(codec_json(&codec, kind_maintenance.type, view_of(text), m, NULL), 0);
    codec_done(&codec);
    audit_operate(f->audit, (const struct maintenance *)m);
    object_free(&kind_maintenance, pool, m);
    pool_free(pool);
}

/* What was run, or asked, and how that ended; not what is secret about an address. */
static void what_is_done_to_a_node(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    operation(f, "{\"exec\":{\"command\":[\"ssh\",\"w1\",\"systemctl reboot\"]}}");
    audit_operated(f->audit, "m1", "the command has ended with status 3");
    operation(f, "{\"http\":{\"url\":\"https://me:pw@bmc.test:8/x/@y?token=s#z\"}}");
    audit_operated(f->audit, "m1", NULL);
    _cleanup_free_ char *text = contents(f->path);
    assert_non_null(strstr(text, "\"kind\":\"operation\",\"actor\":\"maintenance/m1\",\"action\":"
                                 "\"begin\",\"object\":\"nodes/w1\",\"maintenance\":\"m1\","
                                 "\"operation\":\"Reboot\",\"slot\":\"slot:1\",\"reason\":"
                                 "\"ssh w1 'systemctl reboot'\"}\n"));
    assert_non_null(strstr(text, "\"action\":\"end\",\"maintenance\":\"m1\",\"reason\":\"the "
                                 "command has ended with status 3\",\"result\":\"failed\"}\n"));
    assert_non_null(strstr(text, "\"reason\":\"https://bmc.test:8/x/@y\"}\n"));
    assert_non_null(strstr(text, "\"action\":\"end\",\"maintenance\":\"m1\",\"result\":\"ok\"}\n"));
    assert_null(strstr(text, "pw"));
    assert_null(strstr(text, "token"));
}

static void it_is_added_to(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    grant(f, "w1");
    audit_free(f->audit);
    begin(f, 0);
    grant(f, "w2");
    _cleanup_free_ char *text = contents(f->path);
    assert_non_null(strstr(text, "nodes/w1"));
    assert_non_null(strstr(text, "nodes/w2"));
}

static void by_size(void **state) {
    struct fixture *f = *state;
    begin(f, 100);
    grant(f, "w1");
    grant(f, "w2"); /* the first one is longer than that */
    grant(f, "w3");
    _cleanup_free_ char *now = contents(f->path), *old = contents(f->old);
    assert_non_null(strstr(now, "nodes/w3"));
    assert_null(strstr(now, "nodes/w2"));
    assert_non_null(strstr(old, "nodes/w2"));
    assert_string_equal(said(f), "");
}

static void moved_away_by_others(void **state) {
    struct fixture *f = *state;
    begin(f, 0);
    grant(f, "w1");
    assert_int_equal(rename(f->path, f->old), 0);
    grant(f, "w2"); /* into what was moved */
    audit_reopen(f->audit);
    grant(f, "w3");
    _cleanup_free_ char *now = contents(f->path), *old = contents(f->old);
    assert_non_null(strstr(old, "nodes/w2"));
    assert_non_null(strstr(now, "nodes/w3"));
    assert_null(strstr(now, "nodes/w2"));
}

/* Said once a minute at most; afterwards the gap is in the file, and every line is whole. */
static void a_full_disk(void **state) {
    struct fixture *f = *state;
    struct rlimit before, limit;
    _cleanup_str_ struct str metrics = STR_INIT;
    begin(f, 0);
    grant(f, "w1");
    _cleanup_free_ char *first = contents(f->path);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = strlen(first) + 10; /* in the middle of a line */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    grant(f, "w2");
    grant(f, "w3");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    const char *line = said(f);
    assert_non_null(strstr(line, "cannot be written"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    grant(f, "w4");
    assert_non_null(strstr(said(f), "2 records were lost"));
    _cleanup_free_ char *text = contents(f->path);
    const char *rest = text + strlen(first) + 10;
    assert_int_equal(*rest, '\n'); /* what was torn ends there */
    assert_non_null(strstr(rest, "\"kind\":\"gap\",\"action\":\"lost\",\"lost\":2}\n{"));
    assert_non_null(strstr(rest, "nodes/w4"));
    metrics_write(f->metrics, false, &metrics);
    assert_non_null(strstr(str_get(&metrics),
                           "audit_records_total{outcome=\"written\",action=\"pre-reboot\"} 2\n"));
    assert_non_null(strstr(str_get(&metrics),
                           "audit_records_total{outcome=\"lost\",action=\"pre-reboot\"} 2\n"));
}

/* A pipe that nobody empties does not stop anything. */
static void a_pipe_that_nobody_reads(void **state) {
    struct fixture *f = *state;
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int reader = open(f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    begin(f, 0);
    for (int i = 0; i < 2000; i++)
        grant(f, "w1");
    assert_non_null(strstr(said(f), "nobody reads it"));
    close(reader);
}

static void one_that_cannot_be(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    struct audit_opts opts = {.path = "/nonexistent/audit", .loop = f->loop};
    assert_int_equal(audit_new(&opts, &f->audit, &err), -ENOENT);
    assert_non_null(strstr(err_msg(&err), "/nonexistent/audit"));
    assert_null(f->audit);
}

/* Rotating moves what a link leads to. */
static void a_link_stays_one(void **state) {
    struct fixture *f = *state;
    struct stat st;
    _cleanup_free_ char *link = xasprintf("%s/link", f->dir);
    assert_int_equal(symlink("audit", link), 0);
    struct audit_opts opts = {.path = link,
                              .size = 1,
                              .via = "me",
                              .loop = f->loop,
                              .log = &f->log,
                              .metrics = f->metrics};
    assert_int_equal(audit_new(&opts, &f->audit, NULL), 0);
    grant(f, "w1");
    grant(f, "w2");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(f->old, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    unlink(link);
}

int main(void) {
#define AUDIT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        AUDIT_TEST(what_is_in_it),
        AUDIT_TEST(what_is_not),
        AUDIT_TEST(what_is_done_to_a_node),
        AUDIT_TEST(it_is_added_to),
        AUDIT_TEST(by_size),
        AUDIT_TEST(moved_away_by_others),
        AUDIT_TEST(a_full_disk),
        AUDIT_TEST(a_pipe_that_nobody_reads),
        AUDIT_TEST(one_that_cannot_be),
        AUDIT_TEST(a_link_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
