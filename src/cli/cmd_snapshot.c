/* The verb `snapshot`: writes down a cluster as it is, for rehearsals and bug reports. */
#include <fcntl.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/snapshot_take.h"
#include "cli/verb.h"

struct snapshot_opts {
    struct connection_opts connection;
    const char *out;
};

static void report(struct cli *cli, const char *path, const struct snapshot_taken *t,
                   uint64_t bytes) {
    static const struct table_column columns[] = {{"KIND", false}, {"OBJECTS", false}};
    _cleanup_table_ struct table *table = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct snapshot_kind *k = &snapshot_kinds[i];
        const char *name = k->custom ? k->resource : k->kind; /* theirs are called Node, too */
        if (t->absent[i])
            continue;
        table_row(table, name);
        table_str(table, name);
        if (t->unread[i])
            table_str(table, "not read");
        else
            table_int(table, (int64_t)t->counts[i]);
    }
    table_text(table, &(struct table_view){0}, &cli->out.buf);
    char size[32];
    if (bytes < 1 << 20)
        (void)snprintf(size, sizeof size, "%llu KiB", (unsigned long long)(bytes + 1023) >> 10);
    else
        (void)snprintf(size, sizeof size, "%.1f MiB", (double)bytes / (1 << 20));
    term_printf(&cli->out, "\nWrote ");
    term_text(&cli->out, path);
    term_printf(&cli->out,
                " (%s). It has no Secrets, ConfigMaps, environment, commands or "
                "arguments, paths or addresses in it, and of annotations only those that mean "
                "something to a drain; names, labels, images and messages it has.\n",
                size);
}

/* Writing can go back (snapshot_writer_back), which a pipe cannot. */
static int take(struct session *s, const char *path, struct file_new *f) {
    struct cli *cli = s->cli;
    _cleanup_err_ struct err err = ERR_INIT;
    struct snapshot_taken taken;
    const char *spool = cli->env("TMPDIR");
    if (file_new_open(f, path, 0600, FILE_WAIT, &err) ||
        file_new_spool(f, str_empty(spool) ? "/tmp" : spool, &err))
        return cli_fail(cli, EXIT_FAILED, "--out: %s", err_msg(&err));
    struct snapshot_writer *w =
        snapshot_writer_new(fcntl(f->fd, F_DUPFD_CLOEXEC, 3), str_ends(path, ".gz"));
    int code = snapshot_take(s, w, path, &taken);
    if (!code && file_new_commit(f, &err))
        code = cli_fail(cli, EXIT_FAILED, "--out: %s", err_msg(&err));
    if (!code)
        report(cli, path, &taken, snapshot_writer_bytes(w));
    snapshot_writer_free(w);
    return code;
}

static int run_session(struct session *s, const char *path) {
    struct file_new f;
    int code = take(s, path, &f);
    file_new_done(&f);
    return code;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct snapshot_opts *opts = cli->opts;
    struct session session;
    (void)argc, (void)argv;
    if (!opts->out || streq(opts->out, "-"))
        return cli_usage(cli, "say where to write it: --out FILE (compressed when it ends in .gz)");
    int rc = session_open(cli, &opts->connection, &session);
    if (rc)
        return rc;
    rc = run_session(&session, opts->out);
    session_close(&session);
    return rc;
}

static const struct option_group own_options = {
    "Options", (const struct option[]){
                   {.name = "out",
                    .kind = OPTION_STRING,
                    .offset = offsetof(struct snapshot_opts, out),
                    .arg = "FILE",
                    .hint = HINT_FILE,
                    .filled = true,
                    .help = "Where to write it; compressed when the name ends in .gz. A file "
                            "that is there already is replaced; what is no regular file "
                            "is written to"},
                   {0}}};

const struct verb verb_snapshot = {
    .name = "snapshot",
    .summary = "Write down a cluster, for rehearsals and bug reports",
    .args = "--out FILE",
    .text =
        "Reads what a drain depends on (nodes, pods, budgets, workloads, volumes) once, in pages, "
        "and writes it to one file, which only its owner can read. Nothing is written to the "
        "cluster. '{prog} rehearse --snapshot FILE' tries a drain on it, and '{prog} sim "
        "--snapshot FILE' serves it as a simulated cluster.\n\n"
        "No Secrets and no ConfigMaps are read. Of what is, a list says what stays: names, labels, "
        "images, resources, what the scheduler goes by, times, and messages that controllers, "
        "kubelets and drivers wrote. Look at them before you send the file to somebody. All else "
        "is left out: environment, commands, arguments and directories of containers, what probes "
        "do, annotations that mean nothing to a drain, parameters, paths, servers and handles of "
        "storage, addresses. The list and the format are described in docs/rehearse.md.\n\n"
        "A kind that may not be read is left out, and said so; without nodes, pods, DaemonSets and "
        "PodDisruptionBudgets there is no snapshot.",
    .examples = {{"The cluster as it is now, compressed", "snapshot --out cluster.json.gz"},
                 {"Another cluster", "snapshot --context prod --out prod.json"},
                 {"To send by mail, after a look at it", "snapshot --out /tmp/bug-17.json"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct snapshot_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct snapshot_opts),
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"rehearse", "sim", NULL},
    .run = run,
};
