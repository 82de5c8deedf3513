/* Tests of src/cli/checks_read.c, against a real server on loopback that knows virtual machines. */
#include "cli/checks_read.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/codec.h"
#include "support/server.h"

#define JSON "Content-Type: application/json\r\n"
#define HELD(name)                                                                                 \
    "{'metadata':{'name':'" name "','resourceVersion':'1','annotations':{'slipway.dev/cordon':"    \
    "'{\\\"v\\\":1,\\\"before\\\":false,\\\"holders\\\":[{\\\"id\\\":\\\"i\\\"}]}'}},'spec':{"     \
    "'unschedulable':true}}"

static const struct {
    const char *path, *body;
} answers[] = {
    {"/apis", "{'kind':'APIGroupList','groups':[{'name':'apps','versions':[{'version':'v1'}]},"
              "{'name':'kubevirt.io','versions':[{'version':'v1'}]}]}"},
    {"/apis/kubevirt.io/v1",
     "{'kind':'APIResourceList','resources':[{'name':'virtualmachineinstances'}]}"},
    {"/apis/kubevirt.io/v1/virtualmachineinstances",
     "{'kind':'VirtualMachineInstanceList','metadata':{'resourceVersion':'9'},'items':[{'metadata':"
     "{'namespace':'x','name':'vm','resourceVersion':'3'},'spec':{'evictionStrategy':'LiveMigrate'}"
     ",'status':{'nodeName':'n1','phase':'Running','conditions':[{'type':'LiveMigratable','status':"
     "'False','message':'no'}]}}]}"},
    {"/api/v1/nodes",
     "{'kind':'NodeList','apiVersion':'v1','metadata':{'resourceVersion':'9'},"
     "'items':[{'metadata':{'name':'n1','resourceVersion':'1'}}," HELD("n2") "," HELD("n3") "]}"},
    {"/api/v1/namespaces/kube-system/pods",
     "{'kind':'PodList','apiVersion':'v1','metadata':{'resourceVersion':'9'},'items':[]}"},
};

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct checks_read read;
    struct checks found;
    const char *gone; /* a path that is answered with 404 */
    struct str log;   /* one line a request; connections are served by threads of their own */
    pthread_mutex_t lock;
    struct store *pods; /* that are known already */
};

static void reply(struct server_conn *c, int code, const char *text) {
    _cleanup_free_ char *json = xstrdup(text);
    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    server_reply(c, code, JSON, json);
}

static void handle(struct server_conn *c, const struct server_request *req, void *arg) {
    struct fixture *f = arg;
    size_t len = strcspn(req->path, "?");
    pthread_mutex_lock(&f->lock);
    str_addf(&f->log, "%.*s%s\n", (int)len, req->path, strstr(req->path, "watch=") ? " watch" : "");
    pthread_mutex_unlock(&f->lock);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (strlen(answers[i].path) == len && !strncmp(answers[i].path, req->path, len) &&
            !(f->gone && streq(f->gone, answers[i].path))) {
            reply(c, 200, answers[i].body);
            return;
        }
    reply(c, 403,
          "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'Forbidden','message':"
          "'you may not','code':403}");
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    pthread_mutex_init(&f->lock, NULL);
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    f->cli = (struct cli){.prog = "slipway", .env = no_env, .out = {.fd = -1}, .err = {.fd = -1}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
    f->read = (struct checks_read)CHECKS_READ_INIT;
    f->pods = store_new(&kind_pod, f->session.conn.client.pool);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    checks_read_done(&f->read);
    store_free(f->pods);
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    str_done(&f->log);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return 0;
}

static void run(struct fixture *f, struct check_request *req) {
    checks_read_out(&f->read, req);
    checks_run(f->read.world, req, &f->read.arena, &f->found);
}

#define GOING(...)                                                                                 \
    .going = (const char *const[]){__VA_ARGS__},                                                   \
    .n_going = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void what_is_there_is_read_once(void **state) {
    struct fixture *f = *state;
    checks_read(&f->read, &f->session, &(struct checks_read_opts){.pods = f->pods});
    struct check_request req = {GOING("n1")};
    run(f, &req);
    assert_int_equal(check_worst(&f->found, "n1", CHECK_CORDON), CHECK_DENY);
    assert_string_equal(check_worst_finding(&f->found, "n1", CHECK_CORDON)->name, "vm");
    assert_non_null(strstr(str_get(&f->log), "/apis\n"));
    assert_non_null(strstr(str_get(&f->log), "/virtualmachineinstances\n"));
    assert_null(strstr(str_get(&f->log), "watch"));
    assert_null(strstr(str_get(&f->log), "pods"));
    assert_null(strstr(str_get(&f->log), "apps"));
}

static void etcd_is_read_when_it_matters(void **state) {
    struct fixture *f = *state;
    static const char member[] =
        "{\"metadata\":{\"namespace\":\"kube-system\",\"name\":\"etcd-n1\",\"labels\":{"
        "\"component\":\"etcd\"}},\"spec\":{\"nodeName\":\"n1\"}}";
    struct object *obj = object_new(&kind_pod);
    struct codec codec;
    memset(obj, 0, kind_pod.type->size);
    codec_init(&codec, f->session.conn.client.pool);
    assert_int_equal(codec_json(&codec, kind_pod.type, view_of(member), obj, NULL), 0);
    codec_done(&codec);
    store_put(f->pods, obj);
    checks_read(&f->read, &f->session, &(struct checks_read_opts){.pods = f->pods});
    assert_non_null(strstr(str_get(&f->log), "/api/v1/namespaces/kube-system/pods\n"));
    assert_int_equal(f->read.world->inputs[SOURCE_ETCD_PODS].read, READ_DONE);
}

static void what_is_skipped_is_not_read(void **state) {
    struct fixture *f = *state;
    checks_read(&f->read, &f->session,
                &(struct checks_read_opts){.skip = 1u << (check_find("kubevirt") - checks_table),
                                           .pods = f->pods});
    assert_string_equal(str_get(&f->log), "/apis\n");
    /* Nothing is there, not even nodes: nothing is said, and nothing breaks. */
    struct check_request req = {GOING("n1")};
    run(f, &req);
    assert_int_equal(req.n_out, 0);
    assert_int_equal(f->found.n, 0);
}

/* There are no errors: what cannot be read is a finding. */
static void what_cannot_be_read_waits(void **state) {
    struct fixture *f = *state;
    f->gone = "/apis/kubevirt.io/v1/virtualmachineinstances";
    checks_read(&f->read, &f->session, &(struct checks_read_opts){.pods = f->pods});
    struct check_request req = {GOING("n1")};
    run(f, &req);
    const struct check_finding *w = check_worst_finding(&f->found, "n1", CHECK_CORDON);
    assert_non_null(w);
    assert_int_equal(w->code, BLOCKER_CHECK_UNKNOWN);
    assert_non_null(strstr(w->evidence, "you may not"));
}

static void discovery_that_is_forbidden_waits(void **state) {
    struct fixture *f = *state;
    f->gone = "/apis";
    checks_read(&f->read, &f->session, &(struct checks_read_opts){.pods = f->pods});
    struct check_request req = {GOING("n1")};
    run(f, &req);
    assert_int_equal(req.n_out, 2); /* the nodes were read: somebody has to be told about them */
    assert_int_equal(check_worst_finding(&f->found, "n1", CHECK_CORDON)->code,
                     BLOCKER_CHECK_UNKNOWN);
}

static bool is_out(const struct check_request *req, const char *name) {
    for (size_t i = 0; i < req->n_out; i++)
        if (streq(req->out[i], name))
            return true;
    return false;
}

/* Those that are held are out, but for those that the question is about. */
static void nodes_that_are_held_are_out(void **state) {
    struct fixture *f = *state;
    checks_read(&f->read, &f->session, &(struct checks_read_opts){0});
    struct check_request req = {GOING("n1")};
    checks_read_out(&f->read, &req);
    assert_int_equal(req.n_out, 2);
    assert_true(is_out(&req, "n2") && is_out(&req, "n3"));
    req = (struct check_request){GOING("n1", "n2")};
    checks_read_out(&f->read, &req);
    assert_int_equal(req.n_out, 1);
    assert_true(is_out(&req, "n3"));
    req = (struct check_request){GOING("n1"), .back = (const char *const[]){"n3"}, .n_back = 1};
    checks_read_out(&f->read, &req);
    assert_int_equal(req.n_out, 1);
    assert_true(is_out(&req, "n2"));
    req = (struct check_request){GOING("n1", "n2"), .alone = true};
    checks_read_out(&f->read, &req);
    assert_int_equal(req.n_out, 2);
}

#define READ_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        READ_TEST(what_is_there_is_read_once),        READ_TEST(etcd_is_read_when_it_matters),
        READ_TEST(what_is_skipped_is_not_read),       READ_TEST(what_cannot_be_read_waits),
        READ_TEST(discovery_that_is_forbidden_waits), READ_TEST(nodes_that_are_held_are_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
