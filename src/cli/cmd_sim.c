/* The verb `sim`: a simulated cluster to talk to. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <malloc.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "cli/cli.h"
#include "cli/snapshot_load.h"
#include "cli/text.h"
#include "cli/verb.h"
#include "net/child.h"
#include "net/selfsigned.h"
#include "net/server_addr.h"
#include "sim/scenario.h"
#include "sim/serve.h"

/* The name of our cluster, user and context: how a kubeconfig is known to be ours. */
#define CONTEXT "slipway-sim"

enum {
    /* Connections (net/server.h has room for 12,000), and what else is open. Not more than needed:
     * programs that we start inherit it, and some of them count through all descriptors. */
    WANTED_FILES = 16384,
    MANY_NODES = 1000, /* take a while to make */
    /* What shells say of a command that cannot be run, and of one that is not there. */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NO_COMMAND = 127,
};

/* How long a command may take to end after we were told to: those who end us (timeout, a closed
 * terminal, a service manager) tell it too. */
#define CHILD_PATIENCE SEC(2)

/* How old the cluster is when it is served, so that it is at rest. */
#define CLUSTER_AGE SEC(900)

struct sim_opts {
    int nodes;
    bool no_controllers;
    const char *seed, *speed, *scenario, *snapshot, *listen, *kubeconfig;
};

/* Everything that must be given back. */
struct run {
    struct cli *cli;
    struct loop *loop;
    struct scenario *scenario; /* NULL: a snapshot is served */
    struct habits *habits;     /* of a snapshot */
    struct sim *sim;
    struct pace *pace;
    struct sim_server *server;
    struct selfsigned certs;
    char *token;
    const char *listen; /* where it was told to */
    char *kubeconfig;   /* its absolute path, as users are told it */
    char *file;         /* where that leads when it is a link, else the same */
    dev_t device;       /* of the file that was written there, so that no other is removed */
    ino_t inode;        /* 0: none was */
    char *directory;    /* ours, to remove; NULL when the user named the file */
    struct event *signals[3];
    struct child *child;
    struct loop_timer *patience;
    int code;
};

/* --- values --- */

static int parse_seed(struct cli *cli, const char *text, uint64_t *out) {
    if (!text) {
        *out = 1;
        return 0;
    }
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return cli_usage(cli,
                         "--seed must be a whole number from 0 to 18446744073709551615, not "
                         "\"%s\"",
                         text);
    return 0;
}

static int parse_speed(struct cli *cli, const char *text, double *out) {
    if (str_same(text, "max")) {
        *out = 0;
        return 0;
    }
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    if (!text || end == text || (*end && !streq(end, "x")) || !(*out >= 1e-3 && *out <= 1e6))
        return cli_usage(cli,
                         "--speed must be a number from 0.001 to 1000000 (\"60\" or \"60x\": a "
                         "minute passes in a second) or \"max\", not \"%s\"",
                         strna(text));
    return 0;
}

/* --- the kubeconfig --- */

static void wipe(char **s) {
    if (*s)
        mem_wipe(*s, strlen(*s));
    mem_clear(s);
}

static int make_token(char **out, struct err *err) {
    unsigned char bytes[24];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_errno(err, errno, "cannot get random bytes for a token");
    struct str text = STR_INIT;
    for (size_t i = 0; i < sizeof bytes; i++)
        str_addf(&text, "%02x", bytes[i]);
    mem_wipe(bytes, sizeof bytes);
    *out = str_take(&text);
    return 0;
}

/* The host of "127.0.0.1:6443", "[::1]:6443" or ":6443". */
static char *listen_host(const char *address) {
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;
    bool brackets = len >= 2 && address[0] == '[' && address[len - 1] == ']';
    return xstrndup(address + brackets, len - 2 * brackets);
}

/* An address that stands for all that the machine has. */
static bool is_any(const char *host) {
    return !*host || streq(host, "0.0.0.0") || streq(host, "::");
}

/* Where clients on this machine find it: an address that means all addresses is none to call. */
static char *client_address(const struct run *r) {
    const char *address = sim_server_address(r->server);
    _cleanup_free_ char *host = listen_host(r->listen);
    if (!is_any(host))
        return xstrdup(address);
    return xasprintf("%s%s", streq(host, "::") ? "[::1]" : "127.0.0.1", strrchr(address, ':'));
}

static void kubeconfig_text(const struct run *r, struct str *out) {
    _cleanup_str_ struct str ca = STR_INIT;
    _cleanup_free_ char *address = client_address(r);
    base64_encode(&ca, r->certs.ca, strlen(r->certs.ca));
    str_addf(out,
             "apiVersion: v1\n"
             "kind: Config\n"
             "current-context: " CONTEXT "\n"
             "clusters:\n"
             "- name: " CONTEXT "\n"
             "  cluster:\n"
             "    server: https://%s\n"
             "    certificate-authority-data: %s\n"
             "users:\n"
             "- name: " CONTEXT "\n"
             "  user:\n"
             "    token: %s\n"
             "contexts:\n"
             "- name: " CONTEXT "\n"
             "  context:\n"
             "    cluster: " CONTEXT "\n"
             "    user: " CONTEXT "\n",
             address, str_get(&ca), r->token);
}

/* Nothing is in it but what an earlier run wrote, or nothing at all. */
static bool is_ours(const char *path) {
    struct yaml_doc *doc;
    if (yaml_load_file(path, &doc, NULL))
        return false;
    const json_t *root = yaml_root(doc);
    bool ours = json_is_null(root) || str_same(json_str(root, "current-context"), CONTEXT);
    static const char *const lists[] = {"clusters", "users", "contexts"};
    for (size_t i = 0; i < ARRAY_LEN(lists) && !json_is_null(root); i++) {
        const json_t *list = json_object_get(root, lists[i]);
        ours = ours && json_array_size(list) == 1 &&
               str_same(json_str(json_array_get(list, 0), "name"), CONTEXT);
    }
    yaml_doc_free(doc);
    return ours;
}

/* Settles where the kubeconfig goes. Somebody's way into a real cluster must not be lost. */
static int place_kubeconfig(struct run *r, const char *path) {
    if (!path)
        return EXIT_DONE;
    if (*path == '/') {
        r->kubeconfig = xstrdup(path);
    } else {
        /* Commands may go elsewhere, and the line that is shown is for other shells. */
        _cleanup_free_ char *here = getcwd(NULL, 0);
        if (!here)
            return cli_fail(r->cli, EXIT_FAILED,
                            "--kubeconfig %s: it is not known where that is: the current directory "
                            "cannot be read (%s); name the file from / on",
                            path, strerror(errno));
        r->kubeconfig = xasprintf("%s/%s", streq(here, "/") ? "" : here, path);
    }
    r->file = file_follow(r->kubeconfig);
    if (!r->file)
        return cli_fail(r->cli, EXIT_REFUSED,
                        "--kubeconfig: %s is a link that leads to itself; name a file that does "
                        "not exist, or leave the flag out",
                        r->kubeconfig);
    /* Links in /proc lead to what their text does not name: that is none of ours either. */
    struct stat named, st;
    bool exists = stat(r->kubeconfig, &named) == 0;
    if (!exists && lstat(r->file, &st))
        return EXIT_DONE;
    if (exists && lstat(r->file, &st) == 0 && named.st_ino == st.st_ino &&
        named.st_dev == st.st_dev && S_ISREG(st.st_mode) && is_ours(r->file))
        return EXIT_DONE;
    bool link = !streq(r->file, r->kubeconfig);
    return cli_fail(r->cli, EXIT_REFUSED,
                    "--kubeconfig: %s%s%s exists and is not a kubeconfig of " CONTEXT
                    " alone, so it is left as it is; name a file that does not exist, or leave the "
                    "flag out",
                    r->kubeconfig, link ? ", a link to " : "", link ? r->file : "");
}

static int write_file(struct run *r, const char *path, const struct str *text) {
    _cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return errno;
    struct stat st;
    int code = 0;
    ssize_t n = write(fd, text->p, text->len);
    if (n != (ssize_t)text->len)
        code = n < 0 ? errno : EIO;
    if (fstat(fd, &st) && !code)
        code = errno;
    if (close(fd) && !code)
        code = errno;
    /* Whoever waits for the file must find it whole. */
    if (!code && rename(temporary, path))
        code = errno;
    if (code) {
        (void)unlink(temporary);
        return code;
    }
    r->device = st.st_dev;
    r->inode = st.st_ino;
    return 0;
}

static int write_kubeconfig(struct run *r, struct err *err) {
    if (!r->kubeconfig) {
        const char *base = r->cli->env("XDG_RUNTIME_DIR");
        if (str_empty(base))
            base = r->cli->env("TMPDIR");
        r->directory = xasprintf("%s/" CONTEXT ".XXXXXX", str_empty(base) ? "/tmp" : base);
        if (!mkdtemp(r->directory)) {
            int rc = err_errno(err, errno, "cannot make the directory %s for the kubeconfig",
                               r->directory);
            mem_clear(&r->directory);
            return rc;
        }
        r->kubeconfig = xasprintf("%s/kubeconfig", r->directory);
        r->file = xstrdup(r->kubeconfig);
    }
    _cleanup_str_ struct str text = STR_INIT;
    kubeconfig_text(r, &text);
    int code = write_file(r, r->file, &text);
    mem_wipe(text.p, text.len);
    return code ? err_errno(err, code, "cannot write the kubeconfig %s", r->file) : 0;
}

/* Unless somebody has put another file in its place. */
static void remove_kubeconfig(struct run *r) {
    struct stat st;
    if (r->inode && lstat(r->file, &st) == 0 && st.st_ino == r->inode && st.st_dev == r->device)
        (void)unlink(r->file);
    if (r->directory)
        (void)rmdir(r->directory);
    free(r->kubeconfig);
    free(r->file);
    free(r->directory);
}

/* --- certificates --- */

struct names {
    VEC(char *) v; /* NULL-terminated when it is used */
};

static void names_add(struct names *n, const char *name) {
    *vec_push(&n->v) = xstrdup(name);
}

/* All that this machine can be called by from outside. */
static void names_add_machine(struct names *n) {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0 && *host)
        names_add(n, host);
    struct ifaddrs *all;
    if (getifaddrs(&all))
        return;
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
        int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;
        if ((family != AF_INET && family != AF_INET6) || (a->ifa_flags & IFF_LOOPBACK))
            continue;
        socklen_t len =
            family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        if (getnameinfo(a->ifa_addr, len, host, sizeof host, NULL, 0, NI_NUMERICHOST))
            continue;
        host[strcspn(host, "%")] = '\0'; /* the zone of a link-local address */
        names_add(n, host);
    }
    freeifaddrs(all);
}

static bool is_loopback(const char *host) {
    return str_starts(host, "127.") || streq(host, "::1");
}

static int make_certificates(struct run *r, struct err *err) {
    /* The clients' clock counts here, not that of the simulation or of a test. */
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    _cleanup_free_ char *host = listen_host(r->listen);
    struct names names = {0};
    if (is_any(host))
        names_add_machine(&names);
    else if (!streq(host, "127.0.0.1") && !streq(host, "::1"))
        names_add(&names, host);
    *vec_push(&names.v) = NULL;
    int rc = selfsigned_make("slipway sim", (const char *const *)names.v.p, SEC(ts.tv_sec),
                             &r->certs, err);
    for (size_t i = 0; i < names.v.len; i++)
        free(names.v.p[i]);
    vec_done(&names.v);
    return rc;
}

/* --- running --- */

static void out_of_patience(void *arg) {
    struct run *r = arg;
    loop_stop(r->loop);
}

static void on_signal(evutil_socket_t number, short what, void *arg) {
    struct run *r = arg;
    (void)what;
    if (!r->child) {
        r->code = EXIT_DONE; /* the way to end it */
        if (number == SIGINT && r->cli->err.tty) {
            term_printf(&r->cli->err, "\n"); /* after the ^C that the terminal shows */
            term_flush(&r->cli->err);
        }
        loop_stop(r->loop);
        return;
    }
    /* With a command in the foreground, Ctrl-C is the command's: it ends, and so do we. */
    if (number == SIGINT)
        return;
    r->code = 128 + (int)number;
    if (!r->patience) {
        r->patience = loop_timer_new(r->loop, out_of_patience, r);
        loop_timer_set(r->patience, CHILD_PATIENCE);
    } else {
        loop_stop(r->loop);
    }
}

static void on_child(void *arg, const struct child_end *end) {
    struct run *r = arg;
    r->child = NULL;
    r->code = end->error ? EXIT_FAILED : end->signal ? 128 + end->signal : end->exit_code;
    loop_stop(r->loop);
}

static int start_child(struct run *r, int argc, char **argv) {
    const char **words = arena_alloc(&r->cli->arena, ((size_t)argc + 1) * sizeof *words);
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    _cleanup_free_ char *env = xasprintf("KUBECONFIG=%s", r->kubeconfig);
    struct child_spec spec = {
        .argv = words,
        .env = (const char *const[]){env, NULL},
        .inherit_stdin = true,
        .inherit_stdout = true,
        .inherit_stderr = true,
    };
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = child_start(r->loop, &spec, on_child, r, &r->child, &err);
    if (rc == -ENOENT)
        return cli_fail(r->cli, (enum exit_code)EXIT_NO_COMMAND,
                        strchr(argv[0], '/') ? "cannot run %s: there is no such file"
                                             : "cannot run %s: there is no such program in $PATH",
                        argv[0]);
    if (rc == -EACCES || rc == -ENOEXEC)
        return cli_fail(r->cli, (enum exit_code)EXIT_NOT_EXECUTABLE, "%s", err_msg(&err));
    return rc ? cli_error(r->cli, &err) : 0;
}

/* A word as a shell must be given it. */
static void shell_word(struct term *out, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@,";
    if (*word && !word[strspn(word, plain)]) {
        term_text(out, word);
        return;
    }
    term_printf(out, "'");
    for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1) {
        _cleanup_free_ char *piece = xstrndup(word, (size_t)(quote - word));
        term_text(out, piece);
        term_printf(out, "'\\''");
    }
    term_text(out, word);
    term_printf(out, "'");
}

/* Lines of a file: what would break the terminal is made visible. */
static void filled(struct term *out, const char *text, size_t column, size_t indent) {
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, text);
    text_fill(&out->buf, str_get(&shown), column, indent);
}

static void greet(struct run *r, double speed) {
    struct term *out = &r->cli->out;
    size_t nodes = sim_node_count(r->sim);
    _cleanup_free_ char *address = client_address(r);
    term_printf(out, "A simulated cluster of %zu node%s is ready at https://%s.\n", nodes,
                nodes == 1 ? "" : "s", address);
    if (speed == 0)
        term_printf(out, "Its clock runs as fast as it can.\n");
    else if (fabs(speed - 1) > 1e-9)
        term_printf(out, "Its clock runs at %g times the speed of yours.\n", speed);
    if (r->scenario) {
        filled(out, scenario_description(r->scenario), 0, 0);
    } else {
        char when[TIMEFMT_LEN];
        term_printf(out, "It is a copy of another, as that was at %s.\n",
                    time_format(sim_world(r->sim)->clock.now, false, when));
    }
    term_printf(out, "\n    export KUBECONFIG=");
    shell_word(out, r->kubeconfig);
    term_printf(out, "\n");
    const char *const *tries = r->scenario ? scenario_tries(r->scenario) : NULL;
    if (tries && tries[0])
        term_printf(out, "\nIn another shell with that, try:\n");
    for (size_t i = 0; tries && tries[i]; i++) {
        term_printf(out, "    ");
        term_text(out, tries[i]);
        term_printf(out, "\n");
    }
    term_printf(out, "\nCtrl-C ends it.\n");
    out->pager = NULL; /* it would wait for a key instead of serving */
    term_flush(out);
}

static void trouble(void *arg, const char *text) {
    cli_note(arg, "%s", text);
}

static void run_done(struct run *r) {
    for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
        if (r->signals[i])
            event_free(r->signals[i]);
    loop_timer_free(r->patience);
    child_cancel(r->child);
    sim_server_free(r->server);
    pace_free(r->pace);
    /* Connections that were about to be told something are freed by libevent only then. */
    if (r->loop)
        (void)event_base_loop(loop_base(r->loop), EVLOOP_NONBLOCK);
    scenario_stop(r->scenario);
    sim_free(r->sim);
    scenario_free(r->scenario);
    habits_free(r->habits);
    selfsigned_done(&r->certs);
    wipe(&r->token);
    remove_kubeconfig(r);
    loop_free(r->loop);
}

/* --- the list --- */

static int list_scenarios(struct cli *cli) {
    static const struct table_column columns[] = {
        {"NAME", false}, {"NODES", false}, {"WHAT", false}};
    _cleanup_table_ struct table *table = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < scenario_n_rows; i++) {
        struct scenario *s;
        _cleanup_err_ struct err err = ERR_INIT;
        if (scenario_load(scenario_rows[i].name, &s, &err))
            return cli_error(cli, &err);
        size_t nodes = scenario_node_count(s, 0);
        if (cli->out.tty) {
            /* For reading: names and filled lines. */
            enum { COLUMN = 21 };
            term_printf(&cli->out, "%-*s", COLUMN, scenario_rows[i].name);
            filled(&cli->out, scenario_description(s), COLUMN, COLUMN);
        } else {
            table_row(table, scenario_rows[i].name);
            table_str(table, scenario_rows[i].name);
            table_int(table, (int64_t)nodes);
            table_str(table, scenario_description(s));
        }
        scenario_free(s);
    }
    if (cli->out.tty)
        term_printf(&cli->out,
                    "\nStart one with '%s sim --scenario NAME'; a file of your own works "
                    "as well.\n",
                    cli->prog);
    else
        table_text(table, &(struct table_view){0}, &cli->out.buf);
    return EXIT_DONE;
}

/* --- the verb --- */

/* Ten thousand watches are ten thousand descriptors. */
static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= WANTED_FILES)
        return;
    limit.rlim_cur = MIN_OF((rlim_t)WANTED_FILES, limit.rlim_max);
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int begin_scenario(struct run *r, const struct sim_opts *o, struct sim_options *how,
                          struct err *err) {
    struct cli *cli = r->cli;
    size_t nodes = scenario_node_count(r->scenario, (size_t)o->nodes);
    if (nodes >= MANY_NODES)
        cli_note(cli, "Making a cluster of %zu nodes; that may take some minutes ...", nodes);
    int64_t now = cli_now(cli);
    how->start = now - CLUSTER_AGE;
    r->sim = sim_new(how);
    int rc = scenario_begin(r->scenario, r->sim, (size_t)o->nodes, err);
    if (rc)
        return rc;
    clock_run(&sim_world(r->sim)->clock, now);
    scenario_play(r->scenario, trouble, cli);
    return 0;
}

/* Its clock stands where the snapshot was taken: what had happened then is no older now. */
static int begin_snapshot(struct run *r, const struct sim_opts *o, struct sim_options *how,
                          struct err *err) {
    struct snapshot_reader *file;
    int rc = snapshot_reader_open(o->snapshot, &file, err);
    if (rc)
        return rc;
    r->habits = habits_new();
    habits_begin(r->habits, how->seed);
    struct snapshot_gaps gaps = {0};
    rc = snapshot_load(file, how, r->habits, true, &r->sim, &gaps, err);
    snapshot_reader_free(file);
    if (gaps.invalid)
        cli_note(r->cli,
                 "Note: %zu objects are left out, because they are not valid; the first: %s",
                 gaps.invalid, gaps.first);
    return rc;
}

static int prepare(struct run *r, const struct sim_opts *o, uint64_t seed, double speed,
                   struct err *err) {
    struct cli *cli = r->cli;
    struct http_addr address; /* only to know that it is one, before anything is made for it */
    int rc = http_addr_parse(r->listen, &address, err);
    if (!rc)
        rc = loop_new(&r->loop, err);
    if (!rc && !o->snapshot)
        rc = scenario_load(o->scenario, &r->scenario, err);
    if (!rc)
        rc = make_token(&r->token, err);
    if (!rc)
        rc = make_certificates(r, err);
    struct sim_options how = {
        .seed = seed, .speed = speed, .no_fleet = o->no_controllers, .ca = r->certs.ca};
    if (!rc)
        rc = o->snapshot ? begin_snapshot(r, o, &how, err) : begin_scenario(r, o, &how, err);
    if (rc)
        return rc;
    (void)malloc_trim(0); /* the history of how it came about was forgotten just now */
    r->pace = pace_new(r->loop, sim_world(r->sim), speed);
    struct sim_server_options so = {
        .address = r->listen,
        .token = r->token,
        .cert = r->certs.cert,
        .key = r->certs.key,
        .log = &cli->log,
    };
    rc = sim_server_new(r->loop, sim_api(r->sim), r->pace, &so, &r->server, err);
    if (!rc)
        rc = write_kubeconfig(r, err);
    return rc;
}

static int serve(struct run *r, double speed, int argc, char **argv) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        r->signals[i] = evsignal_new(loop_base(r->loop), numbers[i], on_signal, r);
        event_add(r->signals[i], NULL);
    }
    _cleanup_free_ char *host = listen_host(r->listen);
    if (!is_loopback(host))
        cli_note(
            r->cli,
            "Note: other machines may reach %s; whoever has the token in the kubeconfig may do "
            "everything in the simulated cluster.",
            sim_server_address(r->server));
    if (argc > 0) {
        int code = start_child(r, argc, argv);
        if (code)
            return code;
    } else {
        greet(r, speed);
    }
    loop_run(r->loop);
    return r->code;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct sim_opts *o = cli->opts;
    uint64_t seed;
    double speed;
    int rc;
    if (!o->scenario || !o->listen)
        return cli_usage(cli, "--%s needs a value", o->scenario ? "listen" : "scenario");
    if (streq(o->scenario, "help"))
        return list_scenarios(cli);
    if (o->snapshot && (o->nodes || o->no_controllers || !streq(o->scenario, "happy")))
        return cli_usage(cli, "--snapshot is the whole cluster: --scenario, --nodes and "
                              "--no-controllers do not go with it");
    if ((rc = parse_seed(cli, o->seed, &seed)) || (rc = parse_speed(cli, o->speed, &speed)))
        return rc;
    raise_file_limit();
    struct run r = {.cli = cli, .listen = o->listen};
    _cleanup_err_ struct err err = ERR_INIT;
    rc = place_kubeconfig(&r, o->kubeconfig);
    if (!rc && prepare(&r, o, seed, speed, &err))
        rc = cli_error(cli, &err);
    else if (!rc)
        rc = serve(&r, speed, argc, argv);
    run_done(&r);
    return rc;
}

#define FIELD(member) offsetof(struct sim_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "nodes",
         .kind = OPTION_INT,
         .offset = FIELD(nodes),
         .arg = "N",
         .min = 1,
         .max = SCENARIO_MAX_NODES,
         .help = "How many nodes there are, or in scenarios with several groups of nodes, how many "
                 "in the main one (default: as the scenario says)"},
        {.name = "seed",
         .kind = OPTION_STRING,
         .offset = FIELD(seed),
         .arg = "NUMBER",
         .initial = "1",
         .help = "Where all chance comes from: the same seed gives the same cluster"},
        {.name = "speed",
         .kind = OPTION_STRING,
         .offset = FIELD(speed),
         .arg = "X",
         .initial = "1",
         .help = "How fast its clock runs: 60 (or 60x) lets a minute pass in a second; max jumps "
                 "from event to event and keeps a processor busy"},
        {.name = "scenario",
         .kind = OPTION_STRING,
         .offset = FIELD(scenario),
         .arg = "NAME|FILE",
         .initial = "happy",
         .words = scenario_names,
         .hint = HINT_WORDS,
         .help = "What the cluster is like; help lists the scenarios that are built in"},
        {.name = "snapshot",
         .kind = OPTION_STRING,
         .offset = FIELD(snapshot),
         .arg = "FILE",
         .hint = HINT_FILE,
         .help = "A copy of a real cluster instead of a scenario: what 'snapshot --out FILE' has "
                 "written"},
        {.name = "no-controllers",
         .kind = OPTION_FLAG,
         .offset = FIELD(no_controllers),
         .help = "The API alone: no kubelet, no scheduler, no controller; nothing happens that no "
                 "client does"},
        {.name = "listen",
         .kind = OPTION_STRING,
         .offset = FIELD(listen),
         .arg = "ADDRESS:PORT",
         .initial = "127.0.0.1:0",
         .help = "Where the API is served; port 0 takes a free one"},
        {.name = "kubeconfig",
         .kind = OPTION_STRING,
         .offset = FIELD(kubeconfig),
         .arg = "FILE",
         .hint = HINT_FILE,
         .help = "Where to write the kubeconfig, which is removed at the end; a file that has "
                 "anything else in it is refused (default: one in a temporary directory)"},
        {0}}};
#undef FIELD

const struct verb verb_sim = {
    .name = "sim",
    .summary = "Simulate a cluster: API, controllers and machines",
    .args = "[-- COMMAND [ARGUMENT...]]",
    .text =
        "Serves the Kubernetes API over HTTPS on this machine, with nodes, kubelets, a scheduler "
        "and controllers simulated behind it, for kubectl, slipway and anything else that can read "
        "a kubeconfig. Neither a cluster nor containers nor special rights are needed.\n\n"
        "Without a command it says how to reach it, runs until it is interrupted, and ends with "
        "status 0. With a command, KUBECONFIG is set for it, and the simulation ends with it and "
        "with its exit status: 128 and the number of a signal that ended it, 127 when there is no "
        "such command, 126 when it cannot be run.\n\n"
        "A scenario is a file that says what the cluster begins with and what happens to it; "
        "several are built in. Writing one, what is simulated how, and what is left out: "
        "docs/simulator.md.",
    .examples = {{"A cluster of fifty nodes to play with", "sim --nodes 50"},
                 {"What would stand in the way of a drain, where a budget never allows one",
                  "sim --scenario pdb-stuck -- slipway status"},
                 {"All scenarios", "sim --scenario help"}},
    .options = (const struct verb_options[]){{&own_options, 0}, {0}},
    .opts_size = sizeof(struct sim_opts),
    .min_args = 0,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, EXIT_DONE},
    .see_also = (const char *const[]){"status", NULL},
    .common = true,
    .run = run,
};
