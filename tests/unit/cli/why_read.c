/* Tests of src/cli/why_read.c, against a real server on loopback with a small cluster. */
#include "cli/why_read.h"

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
#include "support/server.h"

#define JSON "Content-Type: application/json\r\n"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct connection_opts opts;
    struct session session;
    struct why_reader reader;
    struct arena arena;
    int err[2];
    char told[4096];
    /* What the server does: paths that contain this are answered with that. */
    const char *refused;
    int code;
    struct str log; /* one line a request; connections are served by threads of their own */
    pthread_mutex_t lock;
};

static const struct {
    const char *path; /* without its query */
    const char *list; /* kind, when it is one */
    const char *body;
} objects[] = {
    {"/api/v1/nodes/n1", NULL,
     "{'kind':'Node','apiVersion':'v1','metadata':{'name':'n1','resourceVersion':'1'},'status':{"
     "'conditions':[{'type':'Ready','status':'True'}]}}"},
    {"/api/v1/pods", "PodList",
     "{'metadata':{'namespace':'x','name':'web-1','resourceVersion':'2','labels':{'app':'web'},"
     "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'u',"
     "'controller':true}]},'spec':{'nodeName':'n1','containers':[{'name':'c'}]},'status':{'phase':"
     "'Running','conditions':[{'type':'Ready','status':'True'}]}}"},
    {"/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudgetList",
     "{'metadata':{'namespace':'x','name':'web','resourceVersion':'3'},'spec':{'maxUnavailable':1,"
     "'selector':{'matchLabels':{'app':'web'}}},'status':{'expectedPods':2,'currentHealthy':1,"
     "'desiredHealthy':1}}"},
    {"/api/v1/namespaces/x/pods", "PodList",
     "{'metadata':{'namespace':'x','name':'web-2','resourceVersion':'4','labels':{'app':'web'}},"
     "'spec':{'containers':[{'name':'c'}]},'status':{'phase':'Pending','conditions':[{'type':'"
     "PodScheduled','status':'False','message':"
     "'0/1 nodes are available: 1 Too many pods.'}]}}"},
    {"/api/v1/nodes", "NodeList",
     "{'metadata':{'name':'n1','resourceVersion':'1'},'status':{'allocatable':{'cpu':'1','pods':"
     "'0'},'conditions':[{'type':'Ready','status':'True'}]}}"},
    {"/api/v1/namespaces", "NamespaceList", "{'metadata':{'name':'x','resourceVersion':'1'}}"},
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
    str_addf(&f->log, "%s %s\n", req->method, req->path);
    pthread_mutex_unlock(&f->lock);
    if (f->refused && strstr(req->path, f->refused)) {
        _cleanup_free_ char *text =
            xasprintf("{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'%s',"
                      "'message':'it is so','code':%d}",
                      f->code == 403 ? "Forbidden" : "InternalError", f->code);
        reply(c, f->code, text);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        if (strlen(objects[i].path) != len || strncmp(objects[i].path, req->path, len) != 0)
            continue;
        _cleanup_free_ char *text = objects[i].list
                                        ? xasprintf("{'kind':'%s','apiVersion':'v1','metadata':{"
                                                    "'resourceVersion':'9'},'items':[%s]}",
                                                    objects[i].list, objects[i].body)
                                        : xstrdup(objects[i].body);
        reply(c, 200, text);
        return;
    }
    reply(c, 404,
          "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'NotFound','message':"
          "'not found','code':404}");
}

static char *no_env(const char *name) {
    (void)name;
    return NULL;
}

static void start(struct fixture *f) {
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    f->server = server_start(&(struct server_options){.handle = handle, .arg = f});
    f->url = server_url(f->server, NULL);
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli =
        (struct cli){.prog = "slipway", .env = no_env, .out = {.fd = -1}, .err = {.fd = f->err[1]}};
    f->opts.flags.server = f->url;
    assert_int_equal(session_open(&f->cli, &f->opts, &f->session), 0);
    why_reader_init(&f->reader, &f->session);
}

static const char *told(struct fixture *f) {
    ssize_t n = read(f->err[0], f->told, sizeof f->told - 1);
    f->told[n > 0 ? n : 0] = '\0';
    return f->told;
}

static void end(struct fixture *f) {
    why_reader_done(&f->reader);
    session_close(&f->session);
    server_stop(f->server);
    free(f->url);
    str_done(&f->cli.err.buf);
    str_done(&f->log);
    arena_done(&f->cli.arena);
    arena_done(&f->arena);
    close(f->err[0]);
    close(f->err[1]);
}

/* As the verb does it. */
static int answer(struct fixture *f, struct why *why) {
    int rc = 0, rounds = 0;
    do {
        assert_true(++rounds < 12);
        why_node(&f->reader.world, "n1", &f->arena, why);
        rc = why->complete ? 0 : why_reader_read(&f->reader);
    } while (!rc && !why->complete);
    return rc;
}

static void the_chain_is_read_link_by_link(void **state) {
    (void)state;
    struct fixture f;
    struct why why;
    start(&f);
    assert_int_equal(answer(&f, &why), 0);
    assert_true(why.found);
    assert_int_equal(why.n_links, 1);
    const struct why_link *l = why.links[0];
    assert_int_equal(l->code, BLOCKER_PDB_NO_BUDGET);
    assert_int_equal(l->n_causes, 1);
    assert_string_equal(l->causes[0]->text, "Pending: 0/1 nodes are available: 1 Too many pods");
    /* The only node is the one that is to be emptied: room there is of no use. */
    assert_int_equal(l->causes[0]->n_causes, 0);
    assert_string_equal(l->remedies[0].text, "add a node");
    /* the pods of this node and of this budget */
    const char *log = str_get(&f.log);
    assert_non_null(strstr(log, "GET /api/v1/pods?"));
    assert_non_null(strstr(log, "fieldSelector=spec.nodeName%3Dn1"));
    assert_non_null(strstr(log, "labelSelector=app%3Dweb"));
    assert_non_null(strstr(log, "/volumeattachments?")); /* what a drain may wait for at its end */
    assert_null(strstr(log, "/storageclasses"));
    assert_null(strstr(log, "/csinodes"));
    assert_null(strstr(log, "/persistentvolume"));
    /* each thing once */
    const char *first = strstr(log, "/replicasets/web");
    assert_non_null(first);
    assert_null(strstr(first + 1, "/replicasets/"));
    assert_string_equal(told(&f), "");
    end(&f);
}

static void what_has_been_read_is_not_read_again(void **state) {
    (void)state;
    struct fixture f;
    struct why why;
    start(&f);
    assert_int_equal(answer(&f, &why), 0);
    int before = (int)server_requests(f.server);
    assert_int_equal(answer(&f, &why), 0);
    assert_int_equal(why_reader_read(&f.reader), 0);
    assert_false(f.reader.more);
    assert_int_equal(server_requests(f.server), before);
    end(&f);
}

static void what_is_not_needed_may_be_refused(void **state) {
    (void)state;
    static const struct {
        const char *path, *resource;
        int code;
    } cases[] = {
        {"/replicasets/", "replicasets", 403},
        {"/replicasets/", "replicasets", 500},
        {"/namespaces/x/pods", "pods", 403},
        {"/api/v1/namespaces/x", "namespaces", 403},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct why why;
        start(&f);
        f.refused = cases[i].path;
        f.code = cases[i].code;
        assert_int_equal(answer(&f, &why), 0);
        assert_int_equal(why.links[0]->code, BLOCKER_PDB_NO_BUDGET);
        bool named = false;
        for (size_t k = 0; k < why.n_unread; k++)
            named |= streq(why.unread[k], cases[i].resource);
        assert_true(named);
        assert_string_equal(told(&f), "");
        end(&f);
    }
}

static void what_is_needed_ends_it(void **state) {
    (void)state;
    static const struct {
        const char *path, *words;
        int code, exit;
    } cases[] = {
        {"/api/v1/pods?", "cannot list pods: it is so", 500, EXIT_FAILED},
        {"/poddisruptionbudgets", "cannot list poddisruptionbudgets: it is so", 500, EXIT_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct why why;
        start(&f);
        f.refused = cases[i].path;
        f.code = cases[i].code;
        assert_int_equal(answer(&f, &why), cases[i].exit);
        assert_non_null(strstr(told(&f), cases[i].words));
        end(&f);
    }
}

/* Who may not list them is told what that leaves open: nothing is well then. */
static void who_may_not_list_is_told_the_rest(void **state) {
    (void)state;
    static const struct {
        const char *path, *resource;
        bool pods;
    } cases[] = {{"/api/v1/pods?", "pods", false},
                 {"/poddisruptionbudgets", "poddisruptionbudgets", true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct why why;
        start(&f);
        f.refused = cases[i].path;
        f.code = 403;
        assert_int_equal(answer(&f, &why), 0);
        assert_int_equal(why.links[0]->code, BLOCKER_FORBIDDEN);
        assert_true(why.links[0]->blocks);
        assert_int_not_equal(why.state, WHY_FREE);
        assert_int_equal(why.no_pods, !cases[i].pods);
        assert_string_equal(why.unread[0], cases[i].resource);
        assert_string_equal(told(&f), "");
        end(&f);
    }
}

static void looking_for_a_target(void **state) {
    (void)state;
    struct fixture f;
    enum known known;
    start(&f);
    assert_int_equal(why_reader_look(&f.reader, &kind_node, NULL, "n1", &known), 0);
    assert_int_equal(known, KNOWN_THERE);
    assert_int_equal(why_reader_look(&f.reader, &kind_node, NULL, "n2", &known), 0);
    assert_int_equal(known, KNOWN_GONE);
    /* names that are none are not sent */
    size_t before = server_requests(f.server);
    assert_int_equal(why_reader_look(&f.reader, &kind_node, NULL, "..", &known), 0);
    assert_int_equal(known, KNOWN_GONE);
    assert_int_equal(server_requests(f.server), before);
    f.refused = "/nodes/";
    f.code = 403;
    assert_int_equal(why_reader_look(&f.reader, &kind_node, NULL, "n3", &known), 0);
    assert_int_equal(known, KNOWN_NEVER);
    assert_string_equal(told(&f), "");
    assert_int_equal(why_reader_refuse(&f.reader, &kind_node, NULL, "n3"), EXIT_ACCESS);
    assert_non_null(strstr(told(&f), "cannot get nodes: it is so"));
    end(&f);
}

static void lists_for_suggestions(void **state) {
    (void)state;
    struct fixture f;
    start(&f);
    struct store *store = store_new(&kind_pod, f.session.conn.client.pool);
    assert_int_equal(why_reader_list(&f.reader, &kind_pod, NULL, "metadata.name=web-1", store), 0);
    assert_int_equal(store_len(store), 1);
    assert_non_null(strstr(str_get(&f.log), "fieldSelector=metadata.name%3Dweb-1"));
    assert_int_equal(store_len(f.reader.world.pods), 0);
    f.refused = "/pods";
    f.code = 403;
    assert_int_equal(why_reader_list(&f.reader, &kind_pod, "x", NULL, store), 0);
    assert_int_equal(store_len(store), 1);
    assert_string_equal(told(&f), "");
    store_free(store);
    end(&f);
}

static void nobody_is_there(void **state) {
    (void)state;
    struct fixture f;
    enum known known;
    start(&f);
    server_stop(f.server);
    assert_int_equal(why_reader_look(&f.reader, &kind_node, NULL, "n1", &known), EXIT_ACCESS);
    assert_int_equal(known, KNOWN_NEVER);
    assert_non_null(strstr(told(&f), "cannot get nodes"));
    f.server = server_start(&(struct server_options){.handle = handle, .arg = &f});
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chain_is_read_link_by_link),
        cmocka_unit_test(what_has_been_read_is_not_read_again),
        cmocka_unit_test(what_is_not_needed_may_be_refused),
        cmocka_unit_test(what_is_needed_ends_it),
        cmocka_unit_test(who_may_not_list_is_told_the_rest),
        cmocka_unit_test(looking_for_a_target),
        cmocka_unit_test(lists_for_suggestions),
        cmocka_unit_test(nobody_is_there),
    };
    return cmocka_run_group_tests_name("cli/why_read", tests, NULL, NULL);
}
