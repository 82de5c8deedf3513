/* Tests of src/cli/plan_read.c, against a real server on loopback: everything is listed once, and
 * what may not be listed is said and done without. */
#include "cli/plan_read.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/verb.h"
#include "support/server.h"

struct fixture {
    struct server *server;
    char *url;
    struct cli cli;
    struct drain_flags flags;
    struct drain_args args;
    struct planning_run run;
    const char *forbidden; /* resources, "/daemonsets?/pods?" */
    int err[2];
    char said[8192];
};

#define JSON "Content-Type: application/json\r\n"

/* Each resource of the cluster and what there is of it. */
static const struct {
    const char *path, *kind, *items;
} lists[] = {
    {"/api/v1/nodes?", "NodeList",
     "{'metadata':{'name':'w1','uid':'n1','resourceVersion':'1'}},"
     "{'metadata':{'name':'w2','uid':'n2','resourceVersion':'1'},'status':{'allocatable':{'pods':"
     "'10'}}}"},
    {"/api/v1/pods?", "PodList",
     "{'metadata':{'namespace':'a','name':'web','uid':'p1','resourceVersion':'2','labels':{'app':"
     "'web'},'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'r',"
     "'controller':true}]},'spec':{'nodeName':'w1'},'status':{'phase':'Running','conditions':[{"
     "'type':'Ready','status':'True'}]}},"
     "{'metadata':{'namespace':'a','name':'db-0','uid':'p2','resourceVersion':'3',"
     "'ownerReferences':[{'apiVersion':'apps/v1','kind':'StatefulSet','name':'db','uid':'s',"
     "'controller':true}]},'spec':{'nodeName':'w1','volumes':[{'name':'v','persistentVolumeClaim':"
     "{'claimName':'data'}}]},'status':{'phase':'Running'}},"
     "{'metadata':{'namespace':'a','name':'agent','uid':'p3','resourceVersion':'4',"
     "'ownerReferences':[{'apiVersion':'apps/v1','kind':'DaemonSet','name':'agent','uid':'d',"
     "'controller':true}]},'spec':{'nodeName':'w1'},'status':{'phase':'Running'}}"},
    {"/apis/policy/v1/poddisruptionbudgets?", "PodDisruptionBudgetList",
     "{'metadata':{'namespace':'a','name':'web','uid':'b','resourceVersion':'5'},'spec':{"
     "'maxUnavailable':0,'selector':{'matchLabels':{'app':'web'}}}}"},
    {"/apis/apps/v1/replicasets?", "ReplicaSetList", ""},
    {"/apis/apps/v1/statefulsets?", "StatefulSetList",
     "{'metadata':{'namespace':'a','name':'db','uid':'s','resourceVersion':'6'},'spec':{'template':"
     "{'spec':{'nodeName':'w1'}}}}"},
    {"/apis/apps/v1/daemonsets?", "DaemonSetList",
     "{'metadata':{'namespace':'a','name':'agent','uid':'d','resourceVersion':'7'}}"},
    {"/api/v1/namespaces?", "NamespaceList",
     "{'metadata':{'name':'a','uid':'ns','resourceVersion':'8'},'status':{'phase':'Active'}}"},
    {"/api/v1/persistentvolumes?", "PersistentVolumeList", ""},
    {"/api/v1/persistentvolumeclaims?", "PersistentVolumeClaimList", ""},
    {"/apis/storage.k8s.io/v1/storageclasses?", "StorageClassList", ""},
    {"/apis/storage.k8s.io/v1/csinodes?", "CSINodeList", ""},
    {"/apis/storage.k8s.io/v1/volumeattachments?", "VolumeAttachmentList", ""},
    {"/apis/batch/v1/jobs?", "JobList", ""},
    {"/api/v1/serviceaccounts?", "ServiceAccountList",
     "{'metadata':{'namespace':'a','name':'default','uid':'sa','resourceVersion':'9'}}"},
    {"/api/v1/resourcequotas?", "ResourceQuotaList", ""},
};

static void answer(struct server_conn *c, const struct server_request *req, void *arg) {
    const struct fixture *f = arg;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (!str_starts(req->path, lists[i].path))
            continue;
        _cleanup_free_ char *name = xstrdup(strrchr(lists[i].path, '/'));
        if (f->forbidden && strstr(f->forbidden, name)) {
            server_reply(c, 403, JSON,
                         "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":403,\"reason\":"
                         "\"Forbidden\",\"message\":\"not for you\"}");
            return;
        }
        const char *slash = strchr(lists[i].path + 1, '/');
        bool core = str_starts(lists[i].path, "/api/v1");
        const char *group = core                       ? "v1"
                            : strstr(slash, "policy")  ? "policy/v1"
                            : strstr(slash, "storage") ? "storage.k8s.io/v1"
                            : strstr(slash, "batch")   ? "batch/v1"
                                                       : "apps/v1";
        _cleanup_free_ char *body = xasprintf(
            "{'kind':'%s','apiVersion':'%s','metadata':{'resourceVersion':'9'},'items':[%s]}",
            lists[i].kind, group, lists[i].items);
        for (char *p = body; *p; p++)
            if (*p == '\'')
                *p = '"';
        server_reply(c, 200, JSON, body);
        return;
    }
    if (streq(req->path, "/apis"))
        server_reply(c, 200, JSON, "{\"kind\":\"APIGroupList\",\"groups\":[]}");
    else if (str_starts(req->path, "/api/v1/nodes/w1"))
        server_reply(c, 200, JSON,
                     "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"w1\","
                     "\"uid\":\"n1\",\"resourceVersion\":\"1\"}}");
    else
        server_reply(c, 404, JSON,
                     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":404,\"reason\":"
                     "\"NotFound\",\"message\":\"nodes \\\"w9\\\" not found\"}");
}

/* Plans a drain of this node; what may not be listed is forbidden. */
static int plan(struct fixture *f, const char *node, const char *forbidden) {
    memset(f, 0, sizeof *f);
    f->forbidden = forbidden;
    assert_int_equal(pipe2(f->err, O_NONBLOCK | O_CLOEXEC), 0);
    f->cli = (struct cli){
        .prog = "slipway", .verb = verb_find("plan"), .env = getenv, .err = {.fd = f->err[1]}};
    f->server = server_start(&(struct server_options){.handle = answer, .arg = f});
    f->url = server_url(f->server, NULL);
    f->flags = (struct drain_flags){.ignore_daemonsets = true, .grace = -1};
    f->flags.connection.flags.server = f->url;
    char *names[] = {(char *)node};
    assert_int_equal(drain_args_parse(&f->cli, &f->flags, 1, names, &f->args), 0);
    return planning_make(&f->cli, &f->flags, &f->args, false, NULL, &f->run);
}

static const char *said(struct fixture *f) {
    ssize_t n = read(f->err[0], f->said, sizeof f->said - 1);
    f->said[n > 0 ? n : 0] = '\0';
    return f->said;
}

static void end(struct fixture *f) {
    planning_done(&f->run, &f->args);
    planning_done(&f->run, &f->args); /* once more does no harm */
    drain_args_done(&f->args);
    server_stop(f->server);
    free(f->url);
    str_done(&f->cli.err.buf);
    arena_done(&f->cli.arena);
    close(f->err[0]);
    close(f->err[1]);
}

static const struct plan_pod *pod_of(const struct fixture *f, const char *name) {
    for (size_t k = 0; k < f->run.plan.nodes[0].n_pods; k++)
        if (streq(f->run.plan.nodes[0].pods[k].pod->meta.name, name))
            return &f->run.plan.nodes[0].pods[k];
    fail_msg("no pod %s", name);
    return NULL;
}

#define assert_verdict(f, name, v)                                                                 \
    assert_string_equal(plan_verdict_word(pod_of(f, name)->verdict), plan_verdict_word(v))

static void everything_is_read_once(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(plan(&f, "w1", NULL), 0);
    assert_string_equal(said(&f), "");
    assert_int_equal(f.run.plan.n, 1);
    assert_verdict(&f, "web", PLAN_NEVER);
    assert_int_equal(pod_of(&f, "web")->blocker.code, BLOCKER_PDB_UNSATISFIABLE);
    assert_verdict(&f, "db-0", PLAN_NEVER);
    assert_int_equal(pod_of(&f, "db-0")->blocker.code, BLOCKER_PINNED);
    assert_verdict(&f, "agent", PLAN_STAYS);
    /* the node itself, a list of each, and which kinds there are */
    assert_int_equal(server_requests(f.server), 1 + (int)ARRAY_LEN(lists) + 1);
    for (int i = 0; i < server_requests(f.server); i++) {
        assert_string_equal(server_request(f.server, i)->method, "GET");
        assert_null(strstr(server_request(f.server, i)->path, "watch"));
    }
    end(&f);
}

/* One remark for each, in words that say what the plan is without. */
static void what_may_not_be_listed_is_done_without(void **state) {
    (void)state;
    static const struct {
        const char *forbidden, *said;
        const char *pod;
        enum plan_verdict verdict;
    } cases[] = {
        {"/statefulsets?", "pods that are tied to a node by their owner are not told apart", "web",
         PLAN_NEVER},
        {"/namespaces?", "namespaces that are being deleted are not told apart", "web", PLAN_NEVER},
        {"/persistentvolumes?", "whether pods with volumes find room is not judged", "db-0",
         PLAN_NEVER},
        {"/persistentvolumeclaims?", "whether pods with volumes find room is not judged", "db-0",
         PLAN_NEVER},
        {"/volumeattachments?", "volumes that do not get off a node are not told apart", "web",
         PLAN_NEVER},
        {"/replicasets?", "pods that are tied to a node by their owner are not told apart", "web",
         PLAN_NEVER},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        assert_int_equal(plan(&f, "w1", cases[i].forbidden), 0);
        said(&f);
        if (!strstr(f.said, cases[i].said) || !strstr(f.said, "not for you"))
            fail_msg("'%s' is not in '%s'", cases[i].said, f.said);
        assert_verdict(&f, cases[i].pod, cases[i].verdict);
        end(&f);
    }
}

/* Without the StatefulSets nobody can tell that it is pinned; without claims, whether it has room.
 */
static void nothing_is_made_up(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(plan(&f, "w1", "/statefulsets?/persistentvolumeclaims?"), 0);
    assert_verdict(&f, "db-0", PLAN_GOES);
    assert_null(pod_of(&f, "db-0")->to);
    end(&f);
}

static void without_nodes_pods_or_budgets_there_is_no_plan(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(plan(&f, "w1", "/pods?"), EXIT_ACCESS);
    assert_non_null(strstr(said(&f), "cannot list pods"));
    end(&f);
    /* Without budgets everything would look possible. */
    assert_int_equal(plan(&f, "w1", "/poddisruptionbudgets?"), EXIT_ACCESS);
    assert_non_null(strstr(said(&f), "cannot list poddisruptionbudgets"));
    end(&f);
}

static void a_node_that_does_not_exist_ends_it(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(plan(&f, "w9", NULL), EXIT_FAILED);
    assert_non_null(strstr(said(&f), "nodes \"w9\" not found"));
    assert_int_equal(server_requests(f.server), 1); /* no list of anything */
    end(&f);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read_once),
        cmocka_unit_test(what_may_not_be_listed_is_done_without),
        cmocka_unit_test(nothing_is_made_up),
        cmocka_unit_test(without_nodes_pods_or_budgets_there_is_no_plan),
        cmocka_unit_test(a_node_that_does_not_exist_ends_it),
    };
    return cmocka_run_group_tests_name("cli/plan_read", tests, NULL, NULL);
}
