/* The verb `doctor`: is everything there that Slipway needs, and what would block a drain? */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/checks_read.h"
#include "cli/doctor_show.h"
#include "cli/left_behind.h"
#include "cli/leftovers.h"
#include "cli/verb.h"

struct doctor_opts {
    struct connection_opts connection;
    struct output_format format;
    bool no_headers, all, pdbs, detailed;
};

enum {
    LEFTOVERS_SHOWN = 10, /* in text */
    UNREAD_MAX = 15,      /* kinds that doctor can do without */
};

struct doctor {
    struct session session;
    const struct doctor_opts *opts;
    struct doctor_findings findings;
    struct pdbs *pdbs;
    const struct store *nodes, *pods; /* once looked; nodes NULL: they may not be read */
    unsigned by_node;
    struct arena arena;
    struct lint lint;
    bool looked;  /* lint is there */
    bool no_pods; /* they may not be read: the store is empty */
    const char *unread[UNREAD_MAX];
    size_t n_unread;
    struct checks_read checks_read;
    struct doctor_checks checks;
    bool checked; /* checks is there */
};

/* --- what would block a drain --- */

/* What the cluster has; each store may be missing for want of permission. */
struct stores {
    struct store *nodes, *pods, *budgets, *replica_sets, *deployments, *stateful_sets, *volumes,
        *claims, *classes, *csi_nodes, *namespaces, *jobs, *quotas, *accounts, *attachments;
    struct {
        bool pods, budgets, nodes, replica_sets, deployments, stateful_sets, volumes, claims,
            classes, namespaces, jobs, quotas, accounts, attachments, csi_nodes;
    } no;
};

static void feed(struct session *s, struct store **store, const struct kind *kind,
                 const char *without, bool *missing) {
    *store = session_feed(s, kind,
                          &(struct session_feed){.without = without,
                                                 .missing = missing,
                                                 .optional = kind == &kind_resource_quota});
}

/* `needed`: without pods and budgets there is nothing to tell. */
static void feed_all(struct session *s, bool needed, struct stores *t) {
    static const char pods[] = "what would block a drain is not looked for",
                      budgets[] = "budgets that would block a drain are not looked for",
                      owners[] = "what Deployments and StatefulSets say is not looked at",
                      room[] = "whether pods find room elsewhere is not looked at",
                      volumes[] = "local volumes are not looked at",
                      classes[] = "claims that are not bound yet are not looked at",
                      limits[] = "how many volumes nodes can take is not looked at",
                      jobs[] = "Jobs that a drain would make fail are not looked for",
                      attached[] = "volumes that do not get off a node are not looked for",
                      again[] = "pods that cannot be made again are not looked for";
    feed(s, &t->pods, &kind_pod, needed ? NULL : pods, &t->no.pods);
    feed(s, &t->budgets, &kind_pdb, needed ? NULL : budgets, &t->no.budgets);
    feed(s, &t->nodes, &kind_node, room, &t->no.nodes);
    feed(s, &t->replica_sets, &kind_replica_set, owners, &t->no.replica_sets);
    feed(s, &t->deployments, &kind_deployment, owners, &t->no.deployments);
    feed(s, &t->stateful_sets, &kind_stateful_set, owners, &t->no.stateful_sets);
    feed(s, &t->volumes, &kind_pv, volumes, &t->no.volumes);
    feed(s, &t->claims, &kind_pvc, volumes, &t->no.claims);
    feed(s, &t->classes, &kind_storage_class, classes, &t->no.classes);
    feed(s, &t->csi_nodes, &kind_csi_node, limits, &t->no.csi_nodes);
    feed(s, &t->namespaces, &kind_namespace, room, &t->no.namespaces);
    feed(s, &t->jobs, &kind_job, jobs, &t->no.jobs);
    feed(s, &t->quotas, &kind_resource_quota, again, &t->no.quotas);
    feed(s, &t->accounts, &kind_service_account, again, &t->no.accounts);
    feed(s, &t->attachments, &kind_volume_attachment, attached, &t->no.attachments);
}

/* As a plan names them. */
static void note_unread(struct doctor *d, const struct stores *t) {
    const struct {
        bool missing;
        const struct kind *kind;
    } rows[] = {
        {t->no.pods, &kind_pod},
        {t->no.budgets, &kind_pdb},
        {t->no.nodes, &kind_node},
        {t->no.replica_sets, &kind_replica_set},
        {t->no.deployments, &kind_deployment},
        {t->no.stateful_sets, &kind_stateful_set},
        {t->no.volumes, &kind_pv},
        {t->no.claims, &kind_pvc},
        {t->no.classes, &kind_storage_class},
        {t->no.csi_nodes, &kind_csi_node},
        {t->no.namespaces, &kind_namespace},
        {t->no.jobs, &kind_job},
        {t->no.quotas, &kind_resource_quota},
        {t->no.accounts, &kind_service_account},
        {t->no.attachments, &kind_volume_attachment},
    };
    static_assert(ARRAY_LEN(rows) <= ARRAY_LEN(d->unread), "a place for each");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].missing)
            d->unread[d->n_unread++] = rows[i].kind->resource;
}

static int look_at_workloads(struct doctor *d) {
    struct session *s = &d->session;
    struct stores t = {0};
    feed_all(s, d->opts->pdbs, &t);
    d->pods = t.pods;
    unsigned by_node = d->by_node = store_index(t.pods, store_key_node);
    d->pdbs = pdbs_new(t.pods, t.budgets);
    int rc = session_sync(s);
    if (rc) {
        doctor_find(&d->findings, STATE_BAD, "budget",
                    xstrdup("the PodDisruptionBudgets could not be looked at"), NULL);
        return rc;
    }
    d->nodes = t.no.nodes ? NULL : t.nodes;
    d->no_pods = t.no.pods;
    if (t.no.pods || t.no.budgets)
        doctor_find(&d->findings, STATE_BAD, "budget",
                    xasprintf("%s may not be listed: what would block a drain %s",
                              t.no.pods ? "pods" : "PodDisruptionBudgets",
                              t.no.pods ? "is not known" : "because of them is not known"),
                    xstrdup("add it to the user's ClusterRole"));
    bool no_owners = t.no.replica_sets || t.no.deployments || t.no.stateful_sets;
    bool no_storage = t.no.volumes || t.no.claims;
    note_unread(d, &t);
    if (t.no.pods)
        return 0;
    struct lint_input in = {
        .nodes = t.nodes,
        .pods = t.pods,
        .budgets = t.budgets,
        .pdbs = d->pdbs,
        .pods_by_node = by_node,
        .replica_sets = no_owners ? NULL : t.replica_sets,
        .deployments = no_owners ? NULL : t.deployments,
        .stateful_sets = no_owners ? NULL : t.stateful_sets,
        .volumes = no_storage ? NULL : t.volumes,
        .claims = no_storage ? NULL : t.claims,
        .classes = t.no.classes ? NULL : t.classes,
        .csi_nodes = t.no.csi_nodes ? NULL : t.csi_nodes,
        .namespaces = t.namespaces,
        .jobs = t.no.jobs ? NULL : t.jobs,
        .quotas = t.no.quotas ? NULL : t.quotas,
        .accounts = t.no.accounts ? NULL : t.accounts,
        .attachments = t.no.attachments ? NULL : t.attachments,
        .pool = t.no.nodes || t.no.namespaces ? NULL : s->conn.client.pool,
        .now = session_now(s),
    };
    lint_make(&in, &d->arena, &d->lint);
    d->looked = true;
    if (!d->lint.n && !d->opts->pdbs && !t.no.budgets)
        doctor_find(&d->findings, STATE_GOOD, "budget",
                    xasprintf("%zu PodDisruptionBudget%s, none of which would block a drain%s",
                              d->lint.budgets, d->lint.budgets == 1 ? "" : "s",
                              d->n_unread ? ", as far as could be read" : ""),
                    NULL);
    return 0;
}

/* --- what drains have left behind --- */

static void look_for_leftovers(struct doctor *d) {
    struct leftovers l;
    size_t shown =
        d->opts->all || output_is_document(&d->opts->format) ? SIZE_MAX : LEFTOVERS_SHOWN;
    leftovers_read(&d->session, &l);
    for (size_t i = 0; i < l.n && i < shown; i++) {
        _cleanup_str_ struct str text = STR_INIT, hint = STR_INIT;
        leftover_text(&l.list[i], &text);
        str_addf(&hint,
                 "if nobody drains that node any more: '%s uncordon %s --any-holder' gives it its "
                 "count back, or ",
                 d->session.cli->prog, l.list[i].record.node);
        leftover_commands(&l.list[i], &hint);
        doctor_find(&d->findings, STATE_WARN, "surge", str_take(&text), str_take(&hint));
    }
    if (l.n > shown)
        doctor_find(&d->findings, STATE_WARN, "surge",
                    xasprintf("%zu more findings of this sort", l.n - shown),
                    xstrdup("see all of them with --all or -o json"));
    leftovers_done(&l);
}

static void look_for_left_behind(struct doctor *d) {
    struct survey survey;
    struct survey_sum sum;
    int64_t now = session_now(&d->session);
    if (!d->nodes)
        return;
    survey_take(d->nodes, d->pods, d->by_node, d->pdbs, NULL, NULL, NULL, now, &d->arena, &survey);
    survey_sum(&survey, &d->arena, &sum);
    for (size_t i = 0; i < sum.n_left; i++) {
        _cleanup_str_ struct str text = STR_INIT, hint = STR_INIT;
        left_text(&sum.left[i], now, &text);
        str_add(&hint, "if no drain is at work there any more: ");
        left_command(&sum.left[i], d->session.cli->prog, &hint);
        doctor_find(&d->findings, STATE_WARN, sum.left[i].what == LEFT_MARK ? "mark" : "cordon",
                    str_take(&text), str_take(&hint));
    }
}

/* --- what storage systems, databases and quorums say --- */

/* Each node by itself, as `checks` does when none is named. */
static void ask_checks(struct doctor *d) {
    struct checks_read *r = &d->checks_read;
    struct checks found;
    size_t n = 0;
    checks_read(r, &d->session,
                &(struct checks_read_opts){.nodes = d->nodes, .pods = d->no_pods ? NULL : d->pods});
    if (!checks_feed_any(r->feed) || !r->world->nodes)
        return;
    _cleanup_free_ const struct object **nodes = store_sorted(r->world->nodes, &n);
    const char **going = arena_alloc(&d->arena, (n + 1) * sizeof *going);
    for (size_t i = 0; i < n; i++)
        going[i] = nodes[i]->meta.name;
    struct check_request req = {
        .going = going, .n_going = n, .alone = true, .now = session_now(&d->session)};
    checks_read_out(r, &req);
    checks_run(r->world, &req, &d->arena, &found);
    doctor_checks_fold(&found, &d->arena, &d->checks);
    d->checked = true;
    if (*d->checks.quiet)
        doctor_find(&d->findings, STATE_GOOD, "check",
                    xasprintf("%s: nothing against a drain of any node by itself", d->checks.quiet),
                    NULL);
}

/* --- the verb --- */

static int print(struct doctor *d) {
    const struct doctor_opts *o = d->opts;
    struct cli *cli = d->session.cli;
    struct doctor_report report = {.findings = &d->findings,
                                   .lint = d->looked ? &d->lint : NULL,
                                   .checks = d->checked ? &d->checks : NULL,
                                   .unread = d->unread,
                                   .n_unread = d->n_unread,
                                   .all = o->all,
                                   .only_lint = o->pdbs};
    if (output_is_document(&o->format)) {
        _cleanup_str_ struct str json = STR_INIT;
        doctor_json(&report, &json);
        return cli_print_document(cli, &json, &o->format, o->no_headers);
    }
    if (o->format.kind == OUTPUT_TABLE) {
        doctor_text(&report, cli->prog, &cli->out);
        return EXIT_DONE;
    }
    if (!d->looked)
        return EXIT_DONE;
    _cleanup_table_ struct table *table = doctor_table(&report);
    return cli_print_table(cli, table,
                           &(struct output_opts){.format = o->format, .no_headers = o->no_headers},
                           session_now(&d->session));
}

/* Worse ones come first. */
static int code_of(const struct doctor *d) {
    enum state worst = STATE_NONE;
    for (size_t i = 0; i < d->findings.list.len; i++)
        worst = MAX_OF(worst, d->findings.list.p[i].state);
    if (worst == STATE_BAD)
        return EXIT_FAILED;
    if (!d->opts->detailed)
        return EXIT_DONE;
    if (d->lint.n_blocked)
        return EXIT_BLOCKED;
    for (size_t i = 0; i < d->checks.n; i++)
        if (doctor_check_blocks(&d->checks.list[i]))
            return EXIT_BLOCKED;
    return d->lint.n || d->checks.n || worst == STATE_WARN ? EXIT_CHANGES : EXIT_DONE;
}

static int examine(struct doctor *d) {
    int rc = d->opts->pdbs ? 0 : doctor_ask_server(&d->session, &d->findings);
    if (rc)
        return rc;
    if (!d->opts->pdbs)
        doctor_ask_permissions(&d->session, &d->findings);
    /* Without the budgets the rest is still worth printing. */
    int workloads = look_at_workloads(d);
    if (workloads && d->opts->pdbs)
        return workloads;
    if (!workloads && !d->opts->pdbs) {
        look_for_leftovers(d);
        look_for_left_behind(d);
    }
    if (!workloads) /* what they deny blocks a drain like anything else */
        ask_checks(d);
    rc = print(d);
    rc = rc ? rc : code_of(d);
    return rc ? rc : workloads;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct doctor d = {.opts = cli->opts, .arena = ARENA_INIT, .checks_read = CHECKS_READ_INIT};
    (void)argc, (void)argv;
    int rc = session_open(cli, &d.opts->connection, &d.session);
    if (rc)
        return rc;
    rc = examine(&d);
    checks_read_done(&d.checks_read);
    doctor_findings_done(&d.findings);
    arena_done(&d.arena);
    if (d.pdbs)
        pdbs_free(d.pdbs);
    session_close(&d.session);
    return rc;
}

#define FIELD(member) offsetof(struct doctor_opts, member)
static const struct option own_rows[] = {
    {.name = "pdbs",
     .kind = OPTION_FLAG,
     .offset = FIELD(pdbs),
     .help =
         "Look only for what would block a drain (budgets, workloads, pods, checks), not at the "
         "server and the permissions"},
    {.name = "all",
     .kind = OPTION_FLAG,
     .offset = FIELD(all),
     .help = "Show every finding, however many there are"},
    {.name = "detailed-exitcode",
     .kind = OPTION_FLAG,
     .offset = FIELD(detailed),
     .help = "End with 3 when something would block a drain, with 2 when there is something else "
             "to be seen"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_PARSED,
     .offset = FIELD(format),
     .arg = "FORMAT",
     .words = output_words,
     .hint = HINT_WORDS,
     .parse = output_parse,
     .help = "Format: wide, name, json, yaml, jsonpath=TEMPLATE or custom-columns=SPEC"},
    {.name = "no-headers",
     .kind = OPTION_FLAG,
     .offset = FIELD(no_headers),
     .help = "Leave out the headings of -o wide"},
    {0},
};
#undef FIELD
static const struct option_group own_options = {"Options", own_rows};

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "Check that a cluster is fit for maintenance",
    .text =
        "Looks at what a maintenance needs, before the night of the maintenance: whether the API "
        "server can be reached and how its version and clock compare with ours; each permission "
        "that {prog} needs, asked from the server (SelfSubjectAccessReview); what a drain that was "
        "killed may have left behind (Deployments with one replica more, cordons, marks); what "
        "checks of storage, databases and quorums have against a drain of each node; and every "
        "PodDisruptionBudget, "
        "workload and pod that would block a drain of some node, grouped by cause, with the nodes "
        "and with what mends it. Nothing is changed.\n"
        "\n"
        "A budget may never allow a disruption, have nothing to spare, be one of several on a pod "
        "or select nothing; a pod may have no controller, emptyDir data, a mark that says that it "
        "must not be evicted, a volume on a disk of its node, no room elsewhere; a StatefulSet may "
        "be stuck at a pod that is not ready. Each fix is a command that can be pasted, with its "
        "risk, the least risky first.\n"
        "\n"
        "Of each group the first three are shown, all of them with --all, -o wide and -o json. "
        "What is found about drains does not change the exit status, unless --detailed-exitcode is "
        "given; something bad about the server or the permissions ends in 1.",
    .examples = {{"Check the current context's cluster", "doctor"},
                 {"Everything that would block a drain somewhere", "doctor --pdbs --all"},
                 {"In a script: would something block?",
                  "doctor --pdbs -o name --detailed-exitcode"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct doctor_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct doctor_opts),
    .answers = true,
    .exits = (const enum exit_code[]){EXIT_CHANGES, EXIT_BLOCKED, EXIT_ACCESS, 0},
    .see_also = (const char *const[]){"why", "plan", NULL},
    .run = run,
};
