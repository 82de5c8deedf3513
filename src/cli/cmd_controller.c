/* `slipway controller`: the daemon. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/drain_flags.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "controller/controller.h"
#include "controller/metrics.h"

enum {
    STOP_WITHIN = 5, /* seconds in which the lease is given up */
};

enum { LOG_FORM_TEXT, LOG_FORM_JSON };
static const char *const log_forms[] = {"text", "json", NULL};

struct controller_cli_opts {
    struct connection_opts connection;
    const char *fleetlock, *https, *cert, *key, *service, *http, *identity, *compat, *audit,
        *record;
    int record_max; /* MiB */
    const char *const *apps;
    int check, rate, address_rate;
    bool names;
    int log_form;
    bool commands, hooks;
    double eviction_rate;
};

struct app_ids {
    VEC(struct machine_id) v;
};

struct run {
    struct cli *cli;
    struct session session;
    struct controller *controller;
    struct event *signals[3];
    bool reopens; /* SIGHUP opens the audit log anew */
    struct loop_timer *patience;
    bool stopping;
};

static void on_over(void *arg) {
    struct run *r = arg;
    loop_stop(r->session.loop);
}

static void on_signal(evutil_socket_t number, short what, void *arg) {
    struct run *r = arg;
    (void)what;
    if (r->stopping) {
        on_over(r);
        return;
    }
    r->stopping = true;
    log_info(&r->cli->log, "ends: signal %d", (int)number);
    int64_t busy = controller_stop(r->controller, on_over, r);
    loop_timer_set(r->patience, busy + SEC(STOP_WITHIN));
}

/* Whoever moves the audit log away says so like this; without one it is what it always was. */
static void on_hangup(evutil_socket_t number, short what, void *arg) {
    struct run *r = arg;
    if (r->reopens)
        controller_reopen(r->controller);
    else
        on_signal(number, what, arg);
}

static void wait_for_signals(struct run *r) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    r->patience = loop_timer_new(r->session.loop, on_over, r);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        r->signals[i] = evsignal_new(loop_base(r->session.loop), numbers[i],
                                     numbers[i] == SIGHUP ? on_hangup : on_signal, r);
        event_add(r->signals[i], NULL);
    }
    loop_run(r->session.loop);
    for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
        event_free(r->signals[i]);
    loop_timer_free(r->patience);
}

/* Of a pod the host name is the pod's. */
static char *make_name(const char *given) {
    char host[256] = "slipway";
    (void)gethostname(host, sizeof host - 1);
    return xstrdup(given ? given : host);
}

/* "host_1a2b3c4d5e6f7081": one that was restarted is another one, and its term is not the one
 * before. */
static char *make_identity(const char *name, uint64_t random) {
    return xasprintf("%s_%016llx", name, (unsigned long long)random);
}

/* Zincati's, and those that were named. */
static int read_apps(const char *const *words, struct app_ids *out, struct err *err) {
    machine_id_parse(MACHINE_ID_ZINCATI, vec_push(&out->v));
    for (size_t i = 0; words && words[i]; i++)
        if (!machine_id_parse(words[i], vec_push(&out->v)))
            return err_set(err, EINVAL,
                           "--fleetlock-app-id: \"%s\" is no id: it has 32 hexadecimal digits",
                           words[i]);
    return 0;
}

static int run_with(struct run *r, const struct controller_cli_opts *o, struct err *err) {
    uint64_t random;
    _cleanup_free_ char *identity = NULL, *name = make_name(o->identity);
    /* As it was before HTTPS had an address of its own. */
    bool alone = o->cert && !o->https;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint64_t)getpid();
    const char *ns = r->session.conn.config->ns;
    identity = make_identity(name, random);
    struct app_ids apps = {VEC_INIT};
    unsigned compat = 0;
    int rc = read_apps(o->apps, &apps, err);
    if (!rc)
        rc = metrics_compat(strna(o->compat), &compat, err);
    if (!rc)
        rc = controller_new(
            &r->session.conn.client,
            &(struct controller_opts){.ns = ns,
                                      .identity = identity,
                                      .pod = name,
                                      .fleetlock = alone ? NULL : o->fleetlock,
                                      .https = alone ? o->fleetlock : o->https,
                                      .cert = o->cert,
                                      .key = o->key,
                                      .service = o->service,
                                      .terms = {(enum fleetlock_check)o->check, (unsigned)o->rate},
                                      .address_rate = (unsigned)o->address_rate,
                                      .ids = {apps.v.p, apps.v.len, o->names},
                                      .http = o->http,
                                      .compat = compat,
                                      .commit = r->cli->commit,
                                      .audit = o->audit,
                                      .record = o->record,
                                      .record_max = (int64_t)o->record_max << 20,
                                      .commands = o->commands,
                                      .hooks = o->hooks,
                                      .rate = o->eviction_rate,
                                      .log = &r->cli->log,
                                      .seed = random},
            &r->controller, err);
    if (rc) {
        vec_done(&apps.v);
        return rc;
    }
    log_info(&r->cli->log, "slipway controller %s in namespace %s%s%s%s%s", identity, ns,
             o->fleetlock ? ", FleetLock at " : "", controller_fleetlock_address(r->controller),
             o->http ? ", health at " : "", controller_http_address(r->controller));
    wait_for_signals(r);
    controller_free(r->controller);
    vec_done(&apps.v);
    return 0;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct controller_cli_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    struct run r = {.cli = cli, .reopens = o->audit};
    (void)argc, (void)argv;
    if (!o->cert != !o->key)
        return cli_usage(cli, "--fleetlock-tls-cert and --fleetlock-tls-key go together");
    if (o->cert && !o->fleetlock && !o->https)
        return cli_usage(cli, "a certificate is for --fleetlock-tls-listen or --fleetlock-listen");
    cli->log.json = o->log_form == LOG_FORM_JSON;
    /* Of a daemon one wants to know what it does. */
    if (cli->log.level == LOG_WARN) {
        cli->log.level = LOG_INFO;
        cli->log.timestamps = true;
    }
    int rc = session_open(cli, &o->connection, &r.session);
    if (rc)
        return rc;
    if (run_with(&r, o, &err))
        rc = cli_error(cli, &err);
    session_close(&r.session);
    return rc;
}

static const char *const check_words[] = {[FLEETLOCK_CHECK_OFF] = "off",
                                          [FLEETLOCK_CHECK_REPORT] = "report",
                                          [FLEETLOCK_CHECK_ENFORCE] = "enforce",
                                          NULL};

#define FIELD(member) offsetof(struct controller_cli_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "fleetlock-listen",
         .kind = OPTION_STRING,
         .offset = FIELD(fleetlock),
         .arg = "ADDRESS:PORT",
         .filled = true,
         .help = "Serve FleetLock there (default: not at all)"},
        {.name = "fleetlock-tls-listen",
         .kind = OPTION_STRING,
         .offset = FIELD(https),
         .arg = "ADDRESS:PORT",
         .filled = true,
         .help = "Serve it there over HTTPS (default: not at all)"},
        {.name = "fleetlock-tls-cert",
         .kind = OPTION_STRING,
         .offset = FIELD(cert),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help = "Certificate for HTTPS, read again when it is replaced; without "
                 "--fleetlock-tls-listen --fleetlock-listen is HTTPS then (default: Slipway makes "
                 "one and keeps it in the cluster)"},
        {.name = "fleetlock-tls-key",
         .kind = OPTION_STRING,
         .offset = FIELD(key),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help = "Its key"},
        {.name = "fleetlock-service",
         .kind = OPTION_STRING,
         .offset = FIELD(service),
         .arg = "NAME",
         .filled = true,
         .initial = "slipway-fleetlock",
         .help = "Service by which clients find it: a certificate that Slipway makes is for its "
                 "addresses and names"},
        {.name = "fleetlock-caller-check",
         .kind = OPTION_ENUM,
         .offset = FIELD(check),
         .arg = "HOW",
         .initial = "report",
         .words = check_words,
         .hint = HINT_WORDS,
         .help = "What to do with a request for a node that does not come from an address of it: "
                 "nothing (off), count it and say so (report), refuse it (enforce); where no "
                 "Policy says "
                 "it"},
        {.name = "fleetlock-rate",
         .kind = OPTION_INT,
         .offset = FIELD(rate),
         .arg = "N",
         .initial = "600",
         .max = 1000000,
         .help =
             "Requests in a minute, from one address for one id, where no Policy says it; 0 is any "
             "number"},
        {.name = "fleetlock-address-rate",
         .kind = OPTION_INT,
         .offset = FIELD(address_rate),
         .arg = "N",
         .initial = "12000", /* 1,000 nodes behind one address that ask every 5 s */
         .max = 1000000,
         .help = "Requests in a minute from one address, for whatever ids; 0 is any number"},
        {.name = "fleetlock-app-id",
         .kind = OPTION_LIST,
         .offset = FIELD(apps),
         .arg = "ID",
         .filled = true,
         .help = "Nodes are also known by the ids that this application derives from their machine "
                 "ids, as Zincati's are; can be given several times"},
        {.name = "fleetlock-node-names",
         .kind = OPTION_FLAG,
         .offset = FIELD(names),
         .help = "Nodes are also known by their names: whoever can ask knows those"},
        {.name = "http-listen",
         .kind = OPTION_STRING,
         .offset = FIELD(http),
         .arg = "ADDRESS:PORT",
         .filled = true,
         .help = "Serve /metrics, /healthz and /readyz there (default: not at all)"},
        {.name = "metrics-compat",
         .kind = OPTION_STRING,
         .offset = FIELD(compat),
         .arg = "NAMES",
         .filled = true,
         .hint = HINT_WORDS,
         .words = metrics_compat_words,
         .help =
             "Serve the metrics of kured, airlock or fleetlock as well, by their names; several "
             "with commas between"},
        {.name = "identity",
         .kind = OPTION_STRING,
         .offset = FIELD(identity),
         .arg = "NAME",
         .filled = true,
         .help =
             "Name of this replica in the election of a leader; something random is added to it "
             "(default: the host's)"},
        {.name = "log-format",
         .kind = OPTION_ENUM,
         .offset = FIELD(log_form),
         .arg = "FORMAT",
         .words = log_forms,
         .hint = HINT_WORDS,
         .help =
             "Form of the lines on standard error: text, or json with a line for each (default: "
             "text)"},
        {.name = "eviction-rate",
         .kind = OPTION_PARSED,
         .offset = FIELD(eviction_rate),
         .arg = "N",
         .initial = "20",
         .parse = drain_rate_parse,
         .help = "Evictions a second, all nodes of all policies together; 0 is no limit"},
        {.name = "audit-log",
         .kind = OPTION_STRING,
         .offset = FIELD(audit),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help = "Add to this file, as lines of JSON, who asked, what was decided and which write "
                 "came of it; - is standard output. SIGHUP opens it anew (default: none)"},
        {.name = "record",
         .kind = OPTION_STRING,
         .offset = FIELD(record),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help =
             "Keep everything that decisions are made from in this file, and in FILE.1 what was "
             "before, to be run again with replay (default: none)"},
        {.name = "record-max",
         .kind = OPTION_INT,
         .offset = FIELD(record_max),
         .arg = "MIB",
         .initial = "64",
         .min = 1,
         .max = 100000,
         .help = "How large both of them may become together"},
        {.name = "allow-commands",
         .kind = OPTION_FLAG,
         .offset = FIELD(commands),
         .help = "Maintenances may have commands run beside the controller, with its rights"},
        {.name = "allow-hooks",
         .kind = OPTION_FLAG,
         .offset = FIELD(hooks),
         .help = "Maintenances may have services asked by HTTP, from where the controller is"},
        {0}}};
#undef FIELD

const struct verb verb_controller = {
    .name = "controller",
    .summary = "In the cluster: reboot nodes on order, or by FleetLock",
    .text = "The daemon that runs in the cluster: it keeps the slots of the policies, answers "
            "FleetLock "
            "clients, and carries out Maintenances and Rollouts. Several replicas may run: one "
            "leads, all of them answer. 'slipway install' prints what makes it run in a cluster; "
            "it works as well from outside, with a kubeconfig. What it does is logged on standard "
            "error, also without -v; with --quiet only errors are.",
    .examples = {{"Serve FleetLock", "controller --fleetlock-listen 0.0.0.0:8080"},
                 {"Over HTTPS, with a certificate that Slipway makes and renews",
                  "controller --fleetlock-tls-listen :8443"},
                 {"Hear nobody who does not ask from the node itself",
                  "controller --fleetlock-caller-check enforce"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct controller_cli_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct controller_cli_opts),
    .run = run,
};
