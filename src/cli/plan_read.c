/* The picture of a whole cluster, and the plan that is made from it. */
#include "cli/plan_read.h"

#include "base/mem.h"
#include "engine/podrole.h"
#include "model/workload.h"

int picture_read(struct session *s, bool deployments, struct picture *p) {
    struct pool *pool = s->conn.client.pool;
    *p = (struct picture){0};
    cluster_init(&p->cluster, pool);
    p->namespaces = store_new(&kind_namespace, pool);
    p->volumes = store_new(&kind_pv, pool);
    p->claims = store_new(&kind_pvc, pool);
    p->classes = store_new(&kind_storage_class, pool);
    p->csi_nodes = store_new(&kind_csi_node, pool);
    p->daemon_sets = store_new(&kind_daemon_set, pool);
    p->jobs = store_new(&kind_job, pool);
    p->quotas = store_new(&kind_resource_quota, pool);
    p->accounts = store_new(&kind_service_account, pool);
    struct cluster *c = &p->cluster;
    const struct {
        struct store *store;
        const char *without;
        bool *missing;
    } feeds[PICTURE_KINDS] = {
        {c->nodes, NULL, NULL},
        {c->pods, NULL, NULL},
        {c->budgets, NULL, NULL}, /* without them everything would look possible */
        {c->replica_sets, "pods that are tied to a node by their owner are not told apart",
         &p->no_owners},
        {c->stateful_sets, "pods that are tied to a node by their owner are not told apart",
         &p->no_owners},
        {p->daemon_sets, "pods of DaemonSets that do not exist any more are not told apart",
         &p->no_daemons},
        {p->namespaces, "namespaces that are being deleted are not told apart", &p->no_namespaces},
        {p->volumes, "whether pods with volumes find room is not judged", &p->no_storage},
        {p->claims, "whether pods with volumes find room is not judged", &p->no_storage},
        {p->classes, "whether pods whose volumes have yet to be made find room is not judged",
         &p->no_classes},
        {p->csi_nodes, "how many volumes nodes can take is not looked at", &p->no_limits},
        {c->attachments, "volumes that do not get off a node are not told apart",
         &p->no_attachments},
        {p->jobs, "Jobs that would fail because of the drain are not told apart", &p->no_jobs},
        {p->quotas, "pods that no quota lets be made again are not told apart", &p->no_quotas},
        {p->accounts, "pods whose ServiceAccount is gone are not told apart", &p->no_accounts},
        {c->deployments, "which pods get a second replica first is not known", &p->no_owners},
    };
    size_t n = deployments ? PICTURE_KINDS : PICTURE_KINDS - 1;
    for (size_t i = 0; i < n; i++)
        session_feed_into(s, feeds[i].store,
                          &(struct session_feed){.without = feeds[i].without,
                                                 .missing = &p->lacks[i],
                                                 .optional = feeds[i].store == p->quotas});
    int rc = session_sync(s);
    for (size_t i = 0; i < n; i++)
        if (p->lacks[i]) {
            *feeds[i].missing = true;
            p->unread[p->n_unread++] = store_kind(feeds[i].store)->resource;
        }
    c->all_pods = true;
    c->owners_watched = !p->no_owners;
    c->budgets_known = true;
    c->attachments_known = !p->no_attachments;
    c->daemon_sets = p->no_daemons ? NULL : p->daemon_sets;
    return rc;
}

void picture_done(struct picture *p) {
    if (!p->cluster.pool)
        return;
    cluster_done(&p->cluster);
    store_free(p->namespaces);
    store_free(p->volumes);
    store_free(p->claims);
    store_free(p->classes);
    store_free(p->csi_nodes);
    store_free(p->daemon_sets);
    store_free(p->jobs);
    store_free(p->quotas);
    store_free(p->accounts);
}

void picture_input(struct picture *p, struct plan_input *in) {
    in->cluster = &p->cluster;
    in->namespaces = p->no_namespaces ? NULL : p->namespaces;
    in->volumes = p->no_storage ? NULL : p->volumes;
    in->claims = p->no_storage ? NULL : p->claims;
    in->classes = p->no_classes ? NULL : p->classes;
    in->csi_nodes = p->no_limits ? NULL : p->csi_nodes;
    in->jobs = p->no_jobs ? NULL : p->jobs;
    in->quotas = p->no_quotas ? NULL : p->quotas;
    in->accounts = p->no_accounts ? NULL : p->accounts;
}

/* A pod stops as those of its workload did. */
static struct pod_durations as_seen(void *arg, const struct pod *pod,
                                    struct pod_durations assumed) {
    _cleanup_str_ struct str workload = STR_INIT;
    workload_name(pod, &workload);
    int64_t stop = pod_finished(pod) ? -1 : habits_median(arg, str_get(&workload), HABIT_STOP);
    if (stop >= 0) {
        assumed.stop = stop;
        assumed.stop_seen = true;
    }
    return assumed;
}

int planning_make(struct cli *cli, const struct drain_flags *f, struct drain_args *args,
                  bool lenient, struct habits *past, struct planning_run *r) {
    *r = (struct planning_run){.cli = cli, .arena = ARENA_INIT, .checks = CHECKS_READ_INIT};
    int rc = session_open(cli, &f->connection, &r->session);
    if (rc)
        return rc;
    r->open = true;
    rc = lenient ? 0 : target_read(&r->session, &args->target);
    if (rc || !args->target.names.len)
        return rc;
    rc = picture_read(&r->session, f->surge, &r->picture);
    if (rc)
        return rc;
    args->target.ahead = r->session.conn.client.ahead; /* also of nodes that nobody asked for */
    r->now = session_now(&r->session);
    drain_args_opts(f, args, &r->opts);
    checks_read(&r->checks, &r->session,
                &(struct checks_read_opts){.nodes = r->picture.cluster.nodes,
                                           .skip = f->skip_checks,
                                           .pods = r->picture.cluster.pods});
    r->opts.checks = r->checks.world;
    struct plan_input in = {.opts = &r->opts,
                            .names = args->target.names.p,
                            .n_names = args->target.names.len,
                            .now = r->now,
                            .times = past ? as_seen : NULL,
                            .times_arg = past,
                            /* A plan that was saved is compared as it was made. */
                            .adopt =
                                !lenient && !r->opts.parallel && !r->opts.max_unavailable.value};
    picture_input(&r->picture, &in);
    plan_make(&in, &r->arena, &r->plan);
    return 0;
}

void planning_done(struct planning_run *r, struct drain_args *args) {
    if (!r->open)
        return;
    target_done(&r->session, &args->target);
    /* What is in the stores refers to the session's pool, and feeds to the stores. */
    session_stop(&r->session);
    checks_read_done(&r->checks);
    picture_done(&r->picture);
    session_close(&r->session);
    arena_done(&r->arena);
    r->open = false;
}
