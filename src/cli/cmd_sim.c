/* The verb `sim`: a simulated cluster to talk to. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/verb.h"
#include "net/child.h"
#include "net/selfsigned.h"
#include "sim/scenario.h"
#include "sim/serve.h"

struct sim_opts {
    int nodes;
    bool no_controllers;
    const char *seed, *speed, *scenario, *listen, *kubeconfig;
};

/* Everything that must be given back. */
struct run {
    struct cli *cli;
    struct loop *loop;
    struct scenario *scenario;
    struct sim *sim;
    struct pace *pace;
    struct sim_server *server;
    struct selfsigned certs;
    char *token;
    char *kubeconfig; /* path */
    char *directory;  /* ours, to remove; NULL when the user named the file */
    struct event *signals[3];
    struct child *child;
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
    if (streq(text, "max")) {
        *out = 0;
        return 0;
    }
    char *end;
    *out = strtod(text, &end);
    if (end == text || (*end && !streq(end, "x")) || !(*out > 0) || *out > 1e6)
        return cli_usage(cli,
                         "--speed must be a number above 0 (\"60\" or \"60x\": a minute passes "
                         "in a second) or \"max\", not \"%s\"",
                         text);
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

static void kubeconfig_text(const struct run *r, struct str *out) {
    struct str ca = STR_INIT;
    base64_encode(&ca, r->certs.ca, strlen(r->certs.ca));
    str_addf(out,
             "apiVersion: v1\n"
             "kind: Config\n"
             "current-context: slipway-sim\n"
             "clusters:\n"
             "- name: slipway-sim\n"
             "  cluster:\n"
             "    server: https://%s\n"
             "    certificate-authority-data: %s\n"
             "users:\n"
             "- name: slipway-sim\n"
             "  user:\n"
             "    token: %s\n"
             "contexts:\n"
             "- name: slipway-sim\n"
             "  context:\n"
             "    cluster: slipway-sim\n"
             "    user: slipway-sim\n",
             sim_server_address(r->server), str_get(&ca), r->token);
    str_done(&ca);
}

/* Whoever waits for the file must find it whole. */
static int write_kubeconfig(struct run *r, const char *path, struct err *err) {
    if (path) {
        r->kubeconfig = xstrdup(path);
    } else {
        const char *base = r->cli->env("XDG_RUNTIME_DIR");
        if (str_empty(base))
            base = r->cli->env("TMPDIR");
        r->directory = xasprintf("%s/slipway-sim.XXXXXX", str_empty(base) ? "/tmp" : base);
        if (!mkdtemp(r->directory)) {
            int code = errno;
            int rc = err_errno(err, code, "cannot make the directory %s", r->directory);
            mem_clear(&r->directory);
            return rc;
        }
        r->kubeconfig = xasprintf("%s/kubeconfig", r->directory);
    }
    _cleanup_str_ struct str text = STR_INIT;
    kubeconfig_text(r, &text);
    _cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", r->kubeconfig, (int)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", temporary);
    int code = 0;
    ssize_t n = write(fd, text.p, text.len);
    if (n != (ssize_t)text.len)
        code = n < 0 ? errno : EIO;
    if (close(fd) && !code)
        code = errno;
    if (!code && rename(temporary, r->kubeconfig))
        code = errno;
    mem_wipe(text.p, text.len);
    if (code) {
        (void)unlink(temporary);
        return err_errno(err, code, "cannot write %s", r->kubeconfig);
    }
    return 0;
}

/* --- running --- */

static void on_signal(evutil_socket_t number, short what, void *arg) {
    struct run *r = arg;
    (void)what;
    /* With a command in the foreground, Ctrl-C is the command's: it ends, and so do we. */
    if (r->child && number == SIGINT)
        return;
    r->code = r->child ? 128 + number : EXIT_DONE;
    loop_stop(r->loop);
}

static void on_child(void *arg, const struct child_end *end) {
    struct run *r = arg;
    r->child = NULL;
    r->code = end->error ? EXIT_FAILED : end->signal ? 128 + end->signal : end->exit_code;
    loop_stop(r->loop);
}

static int start_child(struct run *r, int argc, char **argv, struct err *err) {
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
    return child_start(r->loop, &spec, on_child, r, &r->child, err);
}

static void greet(struct run *r, size_t n_nodes, double speed) {
    struct term *out = &r->cli->out;
    term_printf(out, "A simulated cluster of %zu nodes is ready at https://%s", n_nodes,
                sim_server_address(r->server));
    if (speed == 0)
        term_printf(out, "; its clock runs as fast as it can");
    else if (speed != 1)
        term_printf(out, "; its clock runs %g times as fast as yours", speed);
    term_printf(out, ".\n%s\n\n", scenario_description(r->scenario));
    term_printf(out, "    export KUBECONFIG=%s\n\nThings to try:\n", r->kubeconfig);
    const char *const *tries = scenario_tries(r->scenario);
    for (size_t i = 0; tries && tries[i]; i++)
        term_printf(out, "    %s\n", tries[i]);
    term_printf(out, "\nCtrl-C ends it.\n");
    (void)term_flush(out);
}

static void run_done(struct run *r) {
    for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
        if (r->signals[i])
            event_free(r->signals[i]);
    child_cancel(r->child);
    sim_server_free(r->server);
    pace_free(r->pace);
    scenario_stop(r->scenario);
    sim_free(r->sim);
    scenario_free(r->scenario);
    selfsigned_done(&r->certs);
    wipe(&r->token);
    if (r->kubeconfig)
        (void)unlink(r->kubeconfig);
    if (r->directory)
        (void)rmdir(r->directory);
    free(r->kubeconfig);
    free(r->directory);
    loop_free(r->loop);
}

static int list_scenarios(struct cli *cli) {
    for (size_t i = 0; i < scenario_n_rows; i++) {
        struct scenario *s;
        _cleanup_err_ struct err err = ERR_INIT;
        if (scenario_load(scenario_rows[i].name, &s, &err))
            return cli_error(cli, &err);
        term_printf(&cli->out, "%-20s %s\n", scenario_rows[i].name, scenario_description(s));
        scenario_free(s);
    }
    return EXIT_DONE;
}

static int prepare(struct run *r, const struct sim_opts *o, uint64_t seed, double speed,
                   struct err *err) {
    struct cli *cli = r->cli;
    int rc = loop_new(&r->loop, err);
    if (!rc)
        rc = scenario_load(o->scenario, &r->scenario, err);
    if (rc)
        return rc;
    /* The cluster is a little older than the program, so that it is at rest when it is served. */
    int64_t start = cli_now(cli) - SEC(900);
    r->sim = sim_new(&(struct sim_options){
        .seed = seed, .start = start, .speed = speed, .no_fleet = o->no_controllers});
    rc = scenario_begin(r->scenario, r->sim, (size_t)o->nodes, err);
    if (rc)
        return rc;
    struct clock *clock = &sim_world(r->sim)->clock;
    if (clock->now < cli_now(cli))
        clock_run(clock, cli_now(cli));
    r->pace = pace_new(r->loop, sim_world(r->sim), speed);
    rc = make_token(&r->token, err);
    if (!rc)
        rc = selfsigned_make("slipway sim", NULL, cli_now(cli), &r->certs, err);
    if (rc)
        return rc;
    struct sim_server_options so = {
        .address = o->listen,
        .token = r->token,
        .cert = r->certs.cert,
        .key = r->certs.key,
        .log = &cli->log,
    };
    rc = sim_server_new(r->loop, sim_api(r->sim), r->pace, &so, &r->server, err);
    if (!rc)
        rc = write_kubeconfig(r, o->kubeconfig, err);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct sim_opts *o = cli->opts;
    uint64_t seed;
    double speed;
    int rc;
    if (o->scenario && streq(o->scenario, "help"))
        return list_scenarios(cli);
    if ((rc = parse_seed(cli, o->seed, &seed)) || (rc = parse_speed(cli, o->speed, &speed)))
        return rc;
    struct run r = {.cli = cli};
    _cleanup_err_ struct err err = ERR_INIT;
    if (prepare(&r, o, seed, speed, &err)) {
        rc = cli_error(cli, &err);
        run_done(&r);
        return rc;
    }
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        r.signals[i] = evsignal_new(loop_base(r.loop), numbers[i], on_signal, &r);
        event_add(r.signals[i], NULL);
    }
    if (argc > 0)
        rc = start_child(&r, argc, argv, &err);
    else
        greet(&r, sim_node_count(r.sim), speed);
    if (!rc) {
        loop_run(r.loop);
        rc = r.code;
    } else {
        rc = cli_error(cli, &err);
    }
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
         .min = 0,
         .max = 20000,
         .help = "How many nodes the scenario's largest group has (default: as the scenario says)"},
        {.name = "seed",
         .kind = OPTION_STRING,
         .offset = FIELD(seed),
         .arg = "NUMBER",
         .help = "Where all randomness comes from: the same seed gives the same cluster"},
        {.name = "speed",
         .kind = OPTION_STRING,
         .offset = FIELD(speed),
         .arg = "X",
         .initial = "1",
         .help = "How fast its clock runs: 60 (or 60x) lets a minute pass in a second; max jumps "
                 "from event to event"},
        {.name = "scenario",
         .kind = OPTION_STRING,
         .offset = FIELD(scenario),
         .arg = "NAME|FILE",
         .initial = "happy",
         .help = "What the cluster is like; help lists the scenarios that are built in"},
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
         .help = "Where to write the kubeconfig, which is removed at the end (default: a file of "
                 "its own in a temporary directory)"},
        {0}}};
#undef FIELD

const struct verb verb_sim = {
    .name = "sim",
    .summary = "Simulate a cluster: a Kubernetes API and a fleet of machines in one process",
    .args = "[-- COMMAND [ARGUMENT...]]",
    .text =
        "Serves the Kubernetes API over HTTPS on this machine, with nodes, kubelets, a scheduler "
        "and controllers simulated behind it, for kubectl, slipway and anything else that can read "
        "a kubeconfig. No cluster, no container and no right is needed.\n\n"
        "With a command, KUBECONFIG is set for it, and the simulation ends with it and with its "
        "exit status. Without one it runs until it is interrupted.\n\n"
        "What is simulated how, and what is left out, is in docs/simulator.md.",
    .examples = {{"A cluster of fifty nodes to play with", "sim --nodes 50"},
                 {"What kubectl says about a budget that never allows an eviction",
                  "sim --scenario pdb-stuck -- kubectl get pdb -A"},
                 {"All scenarios", "sim --scenario help"}},
    .options = (const struct verb_options[]){{&own_options, 0}, {0}},
    .opts_size = sizeof(struct sim_opts),
    .min_args = 0,
    .max_args = -1,
    .see_also = (const char *const[]){"status", NULL},
    .common = true,
    .run = run,
};
