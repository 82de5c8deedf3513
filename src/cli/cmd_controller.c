/* `slipway controller`: the daemon. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "controller/controller.h"

enum {
    STOP_WITHIN = 5,   /* seconds in which the lease is given up */
    PEM_MAX = 1 << 20, /* bytes of a certificate, or a key */
};

struct controller_cli_opts {
    struct connection_opts connection;
    const char *fleetlock, *cert, *key, *http, *identity;
    bool commands;
};

struct run {
    struct cli *cli;
    struct session session;
    struct controller *controller;
    struct event *signals[3];
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
    loop_timer_set(r->patience, SEC(STOP_WITHIN));
    controller_stop(r->controller, on_over, r);
}

static void wait_for_signals(struct run *r) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    r->patience = loop_timer_new(r->session.loop, on_over, r);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        r->signals[i] = evsignal_new(loop_base(r->session.loop), numbers[i], on_signal, r);
        event_add(r->signals[i], NULL);
    }
    loop_run(r->session.loop);
    for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
        event_free(r->signals[i]);
    loop_timer_free(r->patience);
}

/* "host_1a2b3c4d5e6f7081": of a pod the host name is the pod's. One that was restarted is another
 * one: its term is not the one before. */
static char *make_identity(const char *name, uint64_t random) {
    char host[256] = "slipway";
    (void)gethostname(host, sizeof host - 1);
    return xasprintf("%s_%016llx", name ? name : host, (unsigned long long)random);
}

static int read_tls(const struct controller_cli_opts *o, char **cert, char **key, struct err *err) {
    size_t len;
    int rc = file_read(o->cert, PEM_MAX, cert, &len, err);
    return rc ? rc : file_read(o->key, PEM_MAX, key, &len, err);
}

static int run_with(struct run *r, const struct controller_cli_opts *o, struct err *err) {
    uint64_t random;
    _cleanup_free_ char *cert = NULL, *key = NULL, *identity = NULL;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint64_t)getpid();
    const char *ns = r->session.conn.config->ns;
    identity = make_identity(o->identity, random);
    int rc = o->cert ? read_tls(o, &cert, &key, err) : 0;
    struct httpd_tls tls = {cert, key};
    if (!rc)
        rc = controller_new(&r->session.conn.client,
                            &(struct controller_opts){.ns = ns,
                                                      .identity = identity,
                                                      .fleetlock = o->fleetlock,
                                                      .tls = cert ? &tls : NULL,
                                                      .http = o->http,
                                                      .commands = o->commands,
                                                      .log = &r->cli->log,
                                                      .seed = random},
                            &r->controller, err);
    if (rc)
        return rc;
    log_info(&r->cli->log, "slipway controller %s in namespace %s%s%s%s%s", identity, ns,
             o->fleetlock ? ", FleetLock at " : "", controller_fleetlock_address(r->controller),
             o->http ? ", health at " : "", controller_http_address(r->controller));
    wait_for_signals(r);
    controller_free(r->controller);
    return 0;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct controller_cli_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    struct run r = {.cli = cli};
    (void)argc, (void)argv;
    if (!o->cert != !o->key)
        return cli_usage(cli, "--fleetlock-tls-cert and --fleetlock-tls-key go together");
    int rc = session_open(cli, &o->connection, &r.session);
    if (rc)
        return rc;
    if (run_with(&r, o, &err))
        rc = cli_error(cli, &err);
    session_close(&r.session);
    return rc;
}

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
        {.name = "fleetlock-tls-cert",
         .kind = OPTION_STRING,
         .offset = FIELD(cert),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help = "Serve it over HTTPS, with this certificate"},
        {.name = "fleetlock-tls-key",
         .kind = OPTION_STRING,
         .offset = FIELD(key),
         .arg = "FILE",
         .filled = true,
         .hint = HINT_FILE,
         .help = "And with this key"},
        {.name = "http-listen",
         .kind = OPTION_STRING,
         .offset = FIELD(http),
         .arg = "ADDRESS:PORT",
         .filled = true,
         .help = "Serve /healthz and /readyz there (default: not at all)"},
        {.name = "identity",
         .kind = OPTION_STRING,
         .offset = FIELD(identity),
         .arg = "NAME",
         .filled = true,
         .help =
             "Name of this replica in the election of a leader; something random is added to it "
             "(default: the host's)"},
        {.name = "allow-commands",
         .kind = OPTION_FLAG,
         .offset = FIELD(commands),
         .help = "Maintenances may have commands run beside the controller, with its rights"},
        {0}}};
#undef FIELD

const struct verb verb_controller = {
    .name = "controller",
    .summary = "Keep slots and answer FleetLock clients, in the cluster",
    .text = "The daemon that runs in the cluster: it keeps the slots of the policies, answers "
            "FleetLock "
            "clients, and carries out Maintenances. It is not finished.",
    .examples = {{"Serve FleetLock", "controller --fleetlock-listen 0.0.0.0:8080"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct controller_cli_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct controller_cli_opts),
    .hidden = true,
    .run = run,
};
