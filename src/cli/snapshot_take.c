/* Lists, page by page. */
#include "cli/snapshot_take.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/snapshot_strip.h"
#include "model/foreign.h"

enum {
    PAGE = 250,     /* objects; pods of a few KiB each make a MiB */
    TRIES = 5,      /* of a page */
    PAUSE_MS = 500, /* before the second; doubles */
    PATIENCE = 60,  /* seconds that a server may ask us to wait */
    STARTS = 3,     /* of a list that expires while it is read */
};
#define TELL_EVERY SEC(2) /* how far it has come, when it takes long */

const struct snapshot_kind snapshot_kinds[SNAPSHOT_KINDS] = {
    {"storage.k8s.io/v1", "CSIDriver", "csidrivers.storage.k8s.io",
     "/apis/storage.k8s.io/v1/csidrivers", false, NULL, NULL},
    {"v1", "Namespace", "namespaces", "/api/v1/namespaces", false, NULL, NULL},
    {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses.scheduling.k8s.io",
     "/apis/scheduling.k8s.io/v1/priorityclasses", false, NULL, NULL},
    {"storage.k8s.io/v1", "StorageClass", "storageclasses.storage.k8s.io",
     "/apis/storage.k8s.io/v1/storageclasses", false, NULL, NULL},
    {"v1", "Node", "nodes", "/api/v1/nodes", true, NULL, NULL},
    {"storage.k8s.io/v1", "CSINode", "csinodes.storage.k8s.io", "/apis/storage.k8s.io/v1/csinodes",
     false, NULL, NULL},
    {"v1", "PersistentVolume", "persistentvolumes", "/api/v1/persistentvolumes", false, NULL, NULL},
    {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", "/api/v1/persistentvolumeclaims",
     false, NULL, NULL},
    {"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments.storage.k8s.io",
     "/apis/storage.k8s.io/v1/volumeattachments", false, NULL, NULL},
    {"longhorn.io/v1beta2", "Volume", "volumes.longhorn.io", "/apis/longhorn.io/v1beta2/volumes",
     false, &kind_longhorn_volume, NULL},
    {"longhorn.io/v1beta2", "Replica", "replicas.longhorn.io", "/apis/longhorn.io/v1beta2/replicas",
     false, &kind_longhorn_replica, NULL},
    {"longhorn.io/v1beta2", "Engine", "engines.longhorn.io", "/apis/longhorn.io/v1beta2/engines",
     false, &kind_longhorn_engine, NULL},
    {"longhorn.io/v1beta2", "Node", "nodes.longhorn.io", "/apis/longhorn.io/v1beta2/nodes", false,
     &kind_longhorn_node, NULL},
    {"longhorn.io/v1beta2", "InstanceManager", "instancemanagers.longhorn.io",
     "/apis/longhorn.io/v1beta2/instancemanagers", false, &kind_longhorn_manager, NULL},
    {"longhorn.io/v1beta2", "Setting", "settings.longhorn.io", "/apis/longhorn.io/v1beta2/settings",
     false, &kind_longhorn_setting, "metadata.name=node-drain-policy"},
    {"ceph.rook.io/v1", "CephCluster", "cephclusters.ceph.rook.io",
     "/apis/ceph.rook.io/v1/cephclusters", false, &kind_ceph_cluster, NULL},
    {"ceph.rook.io/v1", "CephBlockPool", "cephblockpools.ceph.rook.io",
     "/apis/ceph.rook.io/v1/cephblockpools", false, &kind_ceph_block_pool, NULL},
    {"ceph.rook.io/v1", "CephFilesystem", "cephfilesystems.ceph.rook.io",
     "/apis/ceph.rook.io/v1/cephfilesystems", false, &kind_ceph_filesystem, NULL},
    {"ceph.rook.io/v1", "CephObjectStore", "cephobjectstores.ceph.rook.io",
     "/apis/ceph.rook.io/v1/cephobjectstores", false, &kind_ceph_object_store, NULL},
    {"kubevirt.io/v1", "VirtualMachineInstance", "virtualmachineinstances.kubevirt.io",
     "/apis/kubevirt.io/v1/virtualmachineinstances", false, &kind_vmi, NULL},
    {"kubevirt.io/v1", "KubeVirt", "kubevirts.kubevirt.io", "/apis/kubevirt.io/v1/kubevirts", false,
     &kind_kubevirt, NULL},
    {"postgresql.cnpg.io/v1", "Cluster", "clusters.postgresql.cnpg.io",
     "/apis/postgresql.cnpg.io/v1/clusters", false, &kind_cnpg_cluster, NULL},
    {"acid.zalan.do/v1", "postgresql", "postgresqls.acid.zalan.do",
     "/apis/acid.zalan.do/v1/postgresqls", false, &kind_postgresql, NULL},
    {"operator.etcd.io/v1alpha1", "EtcdCluster", "etcdclusters.operator.etcd.io",
     "/apis/operator.etcd.io/v1alpha1/etcdclusters", false, &kind_etcd_cluster, NULL},
    {"operator.etcd.io/v1alpha1", "EtcdMember", "etcdmembers.operator.etcd.io",
     "/apis/operator.etcd.io/v1alpha1/etcdmembers", false, &kind_etcd_member, NULL},
    {"apps/v1", "Deployment", "deployments.apps", "/apis/apps/v1/deployments", false, NULL, NULL},
    {"apps/v1", "ReplicaSet", "replicasets.apps", "/apis/apps/v1/replicasets", false, NULL, NULL},
    {"apps/v1", "StatefulSet", "statefulsets.apps", "/apis/apps/v1/statefulsets", false, NULL,
     NULL},
    {"apps/v1", "DaemonSet", "daemonsets.apps", "/apis/apps/v1/daemonsets", true, NULL, NULL},
    {"apps/v1", "ControllerRevision", "controllerrevisions.apps",
     "/apis/apps/v1/controllerrevisions", false, NULL, NULL},
    {"batch/v1", "Job", "jobs.batch", "/apis/batch/v1/jobs", false, NULL, NULL},
    {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets.policy",
     "/apis/policy/v1/poddisruptionbudgets", true, NULL, NULL},
    {"v1", "Pod", "pods", "/api/v1/pods", true, NULL, NULL},
};

struct take {
    struct session *session;
    struct snapshot_writer *writer;
    struct snapshot_taken *out;
    size_t kind;
    /* the request under way */
    bool done, bad; /* bad: the answer was no list */
    enum kube_outcome outcome;
    int code;
    int64_t retry_after, date;
    char *message;
    /* the list under way */
    char *next;                 /* token; NULL: it is whole */
    int64_t left;               /* objects that follow, as the server says */
    char *server;               /* its version */
    int64_t told;               /* when progress was last told */
    json_t *groups, *resources; /* what discovery says: of all, and of the version below */
    const char *version;        /* of what `resources` is about; NULL: of nothing yet */
    char *blind;                /* why discovery says nothing; NULL: it does */
    char *hidden;               /* why it says nothing of that version; NULL: it does */
    size_t definitions;         /* written */
    struct codec codec;
    int rc;          /* of writing */
    struct err *err; /* of writing */
    struct str text;
};

static const struct snapshot_kind *kind_of(const struct take *t) {
    return &snapshot_kinds[t->kind];
}

/* --- answers --- */

static int write_item(struct take *t, json_t *item) {
    const struct snapshot_kind *k = kind_of(t);
    /* Lists leave them out of their items. */
    _cleanup_json_ json_t *obj = json_pack("{s:s, s:s}", "apiVersion", k->version, "kind", k->kind);
    json_object_update_missing(obj, item);
    if (!snapshot_wants(obj))
        return 0;
    if (!k->custom)
        snapshot_strip(obj);
    _cleanup_json_ json_t *known = k->custom ? snapshot_known(&t->codec, k->custom, obj) : NULL;
    _cleanup_free_ char *text = json_dumps(known ? known : obj, JSON_COMPACT);
    if (!text)
        return 0; /* jansson does not print what it would not read */
    t->out->counts[t->kind]++;
    return snapshot_writer_line(t->writer, text, strlen(text), t->err);
}

/* What objects of a custom kind need comes before them, also when there are none: that a system is
 * there without any says something, too. */
static int write_definition(struct take *t) {
    const struct kind *kind = kind_of(t)->custom;
    if (!kind)
        return 0;
    _cleanup_json_ json_t *obj = snapshot_definition(kind);
    _cleanup_free_ char *text = json_dumps(obj, JSON_COMPACT);
    return snapshot_writer_line(t->writer, text, strlen(text), t->err);
}

static void take_page(struct take *t, struct view body) {
    _cleanup_json_ json_t *list = json_loadb(body.p, body.len, JSON_ALLOW_NUL, NULL);
    const json_t *meta = json_object_get(list, "metadata");
    json_t *items = json_object_get(list, "items"), *item;
    size_t i;
    t->bad = !json_is_object(meta) || (items && !json_is_array(items) && !json_is_null(items));
    if (t->bad)
        return;
    const char *token = json_str(meta, "continue");
    str_replace(&t->next, str_empty(token) ? NULL : token);
    t->left = json_integer_value(json_object_get(meta, "remainingItemCount"));
    json_array_foreach(items, i, item) if (!t->rc) t->rc = write_item(t, item);
}

static void on_page(void *arg, struct kube_reply *reply) {
    struct take *t = arg;
    t->done = true;
    t->outcome = reply->outcome;
    t->code = reply->code;
    t->retry_after = reply->retry_after;
    t->date = reply->date;
    str_replace(&t->message, reply->message);
    if (reply->outcome == KUBE_OK)
        take_page(t, reply->body);
    loop_stop(t->session->loop);
}

static void on_version(void *arg, struct kube_reply *reply) {
    struct take *t = arg;
    t->done = true;
    t->date = reply->date;
    if (reply->outcome == KUBE_OK) {
        _cleanup_json_ json_t *v = json_loadb(reply->body.p, reply->body.len, 0, NULL);
        str_replace(&t->server, json_str(v, "gitVersion"));
    }
    loop_stop(t->session->loop);
}

static void on_found(void *arg, struct kube_reply *reply) {
    struct take *t = arg;
    t->done = true;
    t->outcome = reply->outcome;
    str_replace(&t->message, reply->message);
    json_decref(t->resources);
    t->resources =
        reply->outcome == KUBE_OK ? json_loadb(reply->body.p, reply->body.len, 0, NULL) : NULL;
    loop_stop(t->session->loop);
}

/* --- requests --- */

static void ask(struct take *t, const char *path, const char *query, kube_reply_fn *fn) {
    t->done = t->bad = false;
    kube_op_start(&t->session->conn.client, &(struct kube_op_spec){.path = path, .query = query},
                  fn, t);
    while (!t->done)
        session_wait(t->session);
}

static void on_pause(void *arg) {
    struct take *t = arg;
    t->done = true;
    loop_stop(t->session->loop);
}

static void pause_for(struct take *t, int64_t usec) {
    struct loop_timer *timer = loop_timer_new(t->session->loop, on_pause, t);
    loop_timer_set(timer, usec);
    t->done = false;
    while (!t->done)
        session_wait(t->session);
    loop_timer_free(timer);
}

static bool passes(const struct take *t) {
    bool late = t->outcome == KUBE_UNKNOWN && t->session->conn.client.timeout;
    return kube_outcome_row(t->outcome)->retry && t->outcome != KUBE_UNREACHABLE && !late &&
           t->outcome != KUBE_EXPIRED && t->retry_after <= PATIENCE;
}

/* One page, with patience. A page that is too long for the client is asked for in smaller ones. */
static void ask_page(struct take *t, int *limit) {
    int64_t pause = MSEC(PAUSE_MS);
    for (int i = 1; i <= TRIES; i++) {
        str_reset(&t->text);
        str_addf(&t->text, "limit=%d", *limit);
        if (kind_of(t)->fields) {
            str_add(&t->text, "&fieldSelector=");
            str_add_url(&t->text, kind_of(t)->fields);
        }
        if (t->next) {
            str_add(&t->text, "&continue=");
            str_add_url(&t->text, t->next);
        }
        ask(t, kind_of(t)->path, str_get(&t->text), on_page);
        if (t->outcome == KUBE_OK)
            return;
        bool cut = t->outcome == KUBE_NOT_KUBERNETES && t->code == 200 && *limit > 1;
        if (cut) {
            *limit = MAX_OF(*limit / 8, 1);
            continue;
        }
        if (!passes(t) || i == TRIES)
            return;
        cli_note(t->session->cli, "cannot list %s: %s; trying again", kind_of(t)->resource,
                 t->message);
        pause_for(t, MAX_OF(pause, SEC(t->retry_after)));
        pause *= 2;
    }
}

/* --- what the server has, by discovery, which everybody may read --- */

/* Somebody without permissions is told "forbidden" of kinds that do not exist: so it is not tried.
 */
static void discover(struct take *t) {
    ask(t, "/apis", NULL, on_found);
    if (t->outcome != KUBE_OK || !json_is_array(json_object_get(t->resources, "groups")))
        t->blind =
            xasprintf("discovery: %s", t->outcome == KUBE_OK ? "the answer is no list of API groups"
                                                             : strna(t->message));
    if (t->blind)
        cli_note(t->session->cli, "Note: what storage systems and databases have is left out: %s",
                 t->blind);
    t->groups = TAKE_PTR(t->resources);
}

static bool has_entry(const json_t *list, const char *key, const char *value) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_str(json_array_get(list, i), key), value))
            return true;
    return false;
}

static bool has_version(const struct take *t, const char *version) {
    const json_t *groups = json_object_get(t->groups, "groups");
    for (size_t i = 0; i < json_array_size(groups); i++)
        if (has_entry(json_object_get(json_array_get(groups, i), "versions"), "groupVersion",
                      version))
            return true;
    return false;
}

/* In any version. */
static bool has_group(const struct take *t, const struct kind *kind) {
    return has_entry(json_object_get(t->groups, "groups"), "name", kind->group);
}

static void hide(struct take *t, const char *version, char *why) {
    free(t->hidden);
    t->hidden = why;
    t->version = version;
    if (why)
        cli_note(t->session->cli, "Note: what is in %s is left out: %s", version, why);
}

/* Another version of a system is no reason to take it for absent. */
static void lack_version(struct take *t, const struct snapshot_kind *k) {
    json_decref(t->resources);
    t->resources = NULL;
    hide(t, k->version,
         has_group(t, k->custom) ? xasprintf("the server does not have it as %s", k->version)
                                 : NULL);
}

/* Of one version. What the server has and does not tell of is not read; that is not the same as
 * what it does not have. */
static void discover_version(struct take *t, const char *version) {
    _cleanup_free_ char *path = xasprintf("/apis/%s", version);
    ask(t, path, NULL, on_found);
    const char *why =
        t->outcome == KUBE_OK ? "the answer is no list of resources" : strna(t->message);
    bool known =
        t->outcome == KUBE_NOT_FOUND || json_is_array(json_object_get(t->resources, "resources"));
    hide(t, version, known ? NULL : xasprintf("discovery: %s", why));
}

/* Kinds of one version stand together in the table, so that it is asked once. */
static bool is_there(struct take *t) {
    const struct snapshot_kind *k = kind_of(t);
    bool first = !t->version || !streq(t->version, k->version);
    if (first && has_version(t, k->version))
        discover_version(t, k->version);
    else if (first)
        lack_version(t, k);
    return has_entry(json_object_get(t->resources, "resources"), "name", k->custom->resource);
}

static void tell(struct take *t) {
    struct cli *cli = t->session->cli;
    int64_t now = loop_now(t->session->loop);
    if (now - t->told < TELL_EVERY)
        return;
    t->told = now;
    size_t n = t->out->counts[t->kind];
    if (t->left > 0)
        cli_note(cli, "reading %s: %zu of about %zu", kind_of(t)->resource, n, n + (size_t)t->left);
    else
        cli_note(cli, "reading %s: %zu", kind_of(t)->resource, n);
}

static void leave_out(struct take *t, const char *why) {
    t->out->unread[t->kind] = arena_strndup(&t->session->cli->arena, why, strlen(why));
}

/* The list of one kind; 0 when it is whole or left out. */
static int read_kind(struct take *t) {
    const struct snapshot_kind *k = kind_of(t);
    struct cli *cli = t->session->cli;
    int limit = PAGE, starts = 1;
    str_replace(&t->next, NULL);
    t->rc = snapshot_writer_mark(t->writer, t->err);
    if (!t->rc)
        t->rc = write_definition(t);
    while (!t->rc) {
        ask_page(t, &limit);
        if (t->outcome == KUBE_EXPIRED && t->next && starts++ < STARTS) {
            cli_note(cli, "the list of %s has expired while it was read; beginning it anew",
                     k->resource);
            str_replace(&t->next, NULL);
            t->out->counts[t->kind] = 0;
            t->rc = snapshot_writer_back(t->writer, t->err);
            if (!t->rc)
                t->rc = write_definition(t);
            continue;
        }
        if (t->outcome != KUBE_OK || t->bad)
            break;
        tell(t);
        if (!t->next) {
            t->definitions += k->custom != NULL;
            return t->rc ? -1 : 0;
        }
    }
    if (t->rc)
        return -1;
    if (t->bad)
        return cli_fail(cli, EXIT_FAILED, "cannot list %s: the answer is no list", k->resource);
    bool left_out = t->outcome == KUBE_FORBIDDEN || t->outcome == KUBE_NOT_FOUND;
    if (k->needed || !left_out || t->next) {
        _cleanup_free_ char *what = xasprintf("list %s", k->resource);
        return session_fail(t->session, what, t->outcome, t->message);
    }
    /* As if there were no such kind, not as if there were no object of it. */
    t->rc = k->custom ? snapshot_writer_back(t->writer, t->err) : 0;
    t->out->absent[t->kind] = k->custom && t->outcome == KUBE_NOT_FOUND;
    if (t->outcome != KUBE_NOT_FOUND) { /* a server that does not know them has none */
        leave_out(t, t->message);
        cli_note(cli, "Note: %s are left out: %s", k->resource, t->message);
    }
    return t->rc ? -1 : 0;
}

static int read_kinds(struct take *t) {
    int code = 0;
    for (; t->kind < SNAPSHOT_KINDS && !t->rc && !code; t->kind++) {
        bool custom = kind_of(t)->custom;
        if (custom && !t->groups && !t->blind)
            discover(t);
        bool there = !custom || (!t->blind && is_there(t));
        const char *why = t->blind ? t->blind : t->hidden;
        if (there)
            code = read_kind(t);
        else if (why)
            leave_out(t, why);
        else
            t->out->absent[t->kind] = true;
    }
    return code;
}

/* --- first and last line --- */

static int write_head(struct take *t) {
    char time[TIMEFMT_LEN];
    ask(t, "/version", NULL, on_version);
    t->out->time = t->date ? t->date : cli_now(t->session->cli);
    _cleanup_json_ json_t *v =
        json_pack("{s:s, s:i, s:s, s:s}", "slipway", "snapshot", "v", SNAPSHOT_VERSION, "taken",
                  time_format(t->out->time, false, time), "server", strna(t->server));
    _cleanup_free_ char *text = json_dumps(v, JSON_COMPACT);
    return snapshot_writer_line(t->writer, text, strlen(text), t->err);
}

static int write_tail(struct take *t) {
    json_t *objects = json_object(), *unread = json_array();
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct snapshot_kind *k = &snapshot_kinds[i];
        if (t->out->unread[i])
            json_array_append_new(
                unread, json_pack("{s:s, s:s}", "resource", k->resource, "why", t->out->unread[i]));
        else if (!t->out->absent[i])
            json_object_set_new(objects, k->custom ? k->resource : k->kind,
                                json_integer((json_int_t)t->out->counts[i]));
    }
    if (t->definitions)
        json_object_set_new(objects, "CustomResourceDefinition",
                            json_integer((json_int_t)t->definitions));
    _cleanup_json_ json_t *v =
        json_pack("{s:s, s:o, s:o}", "slipway", "end", "objects", objects, "unread", unread);
    _cleanup_free_ char *text = json_dumps(v, JSON_COMPACT);
    int rc = snapshot_writer_line(t->writer, text, strlen(text), t->err);
    return rc ? rc : snapshot_writer_end(t->writer, t->err);
}

int snapshot_take(struct session *s, struct snapshot_writer *w, const char *name,
                  struct snapshot_taken *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct take t = {.session = s, .writer = w, .out = out, .err = &err};
    *out = (struct snapshot_taken){0};
    t.told = loop_now(s->loop);
    codec_init(&t.codec, s->conn.client.pool);
    t.rc = write_head(&t);
    int code = t.rc ? 0 : read_kinds(&t);
    if (!t.rc && !code)
        t.rc = write_tail(&t);
    if (t.rc)
        code = cli_fail(s->cli, EXIT_FAILED, "%s: %s", name, err_msg(&err));
    free(t.message);
    free(t.next);
    free(t.server);
    free(t.blind);
    free(t.hidden);
    json_decref(t.groups);
    json_decref(t.resources);
    codec_done(&t.codec);
    str_done(&t.text);
    return code;
}
