/* The verb `snapshot`: writes down a cluster as it is, for rehearsals and bug reports. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/snapshot_take.h"
#include "cli/verb.h"

struct snapshot_opts {
    struct connection_opts connection;
    const char *out;
};

/* A file without a name, in the directory where it will have one: whatever ends us, nothing of it
 * is left. Where there is no such thing (NFS), one with a name of its own (*temp). */
static int open_new(const char *path, char **temp, struct err *err) {
    _cleanup_free_ char *copy = xstrdup(path);
    struct stat st;
    *temp = NULL;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) /* else it shows when all has been read */
        return err_set(err, EISDIR, "--out: %s: %s", path, strerror(EISDIR));
    int fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        *temp = xasprintf("%s.XXXXXX", path);
        fd = mkostemp(*temp, O_CLOEXEC); /* for its owner alone */
    }
    if (fd >= 0)
        return fd;
    mem_clear(temp);
    return err_set(err, errno, "--out: %s: %s", path, strerror(errno));
}

/* All of it is on the disk before it has its name, and that is taken at once from whatever had it.
 */
static int put_in_place(int fd, char **temp, const char *path, struct err *err) {
    if (fsync(fd))
        return err_set(err, errno, "--out: %s: %s", path, strerror(errno));
    if (!*temp) {
        _cleanup_free_ char *self = xasprintf("/proc/self/fd/%d", fd);
        *temp = xasprintf("%s.%d", path, (int)getpid());
        if (linkat(AT_FDCWD, self, AT_FDCWD, *temp, AT_SYMLINK_FOLLOW)) {
            int rc = err_set(err, errno, "--out: %s: %s", path, strerror(errno));
            mem_clear(temp); /* it is not ours */
            return rc;
        }
    }
    if (rename(*temp, path))
        return err_set(err, errno, "--out: %s: %s", path, strerror(errno));
    mem_clear(temp);
    return 0;
}

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

static int run_session(struct session *s, const char *path) {
    struct cli *cli = s->cli;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *temp = NULL;
    struct snapshot_taken taken;
    int fd = open_new(path, &temp, &err);
    if (fd < 0)
        return cli_fail(cli, EXIT_FAILED, "%s", err_msg(&err));
    struct snapshot_writer *w = snapshot_writer_new(fd, str_ends(path, ".gz"));
    int code = snapshot_take(s, w, path, &taken);
    if (!code && put_in_place(fd, &temp, path, &err))
        code = cli_fail(cli, EXIT_FAILED, "%s", err_msg(&err));
    if (code && temp)
        (void)unlink(temp);
    if (!code)
        report(cli, path, &taken, snapshot_writer_bytes(w));
    snapshot_writer_free(w);
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
                            "that is there already is replaced"},
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
