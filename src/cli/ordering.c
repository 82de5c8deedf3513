/* Orders an operation of the controller. */
#include "cli/ordering.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/nodeset.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/following.h"
#include "cli/patient.h"
#include "cli/selected.h"
#include "cli/session.h"
#include "engine/keeper.h"
#include "engine/locks.h"
#include "engine/policy.h"
#include "model/own.h"

enum {
    NAME_MAX_LEN = 200, /* of names that we make: what a Rollout makes of it has at most 253 */
};

/* --- what is ordered --- */

int ordering_parse_by(enum operation op, const char *by, int n_command, char **command,
                      struct ordering_by *out, struct err *err) {
    *out = (struct ordering_by){0};
    if (by && n_command)
        return err_set(err, -EINVAL, "say who carries it out once: --by, or a command after --");
    if (n_command) {
        out->command = (const char *const *)command;
        out->n_command = (size_t)n_command;
        return 0;
    }
    if (!by && op != OPERATION_REBOOT)
        return err_set(err, -EINVAL,
                       "say who carries it out: --by http=URL, --by sim, or a command after --");
    if (by && str_starts(by, "http=") && by[strlen("http=")]) {
        out->url = by + strlen("http=");
        if (str_starts(out->url, "http://") || str_starts(out->url, "https://"))
            return 0;
        return err_set(err, -EINVAL,
                       "--by http=URL: the URL begins with http:// or https://, not "
                       "\"%s\"",
                       out->url);
    }
    if (by && !streq(by, "fleetlock") && !streq(by, "sim"))
        return err_set(err, -EINVAL, "--by is fleetlock, sim or http=URL, not \"%s\"", by);
    out->word = by ? by : "fleetlock";
    if (op != OPERATION_REBOOT && streq(out->word, "fleetlock"))
        return err_set(err, -EINVAL, "--by fleetlock is for reboots: its clients do nothing else");
    return 0;
}

const char *ordering_name(enum operation op, const char *node, int64_t now, struct arena *arena) {
    char time[TIMEFMT_LEN], digits[TIMEFMT_LEN];
    const char *verb = op == OPERATION_REBOOT ? "reboot" : "shutdown";
    size_t n = 0;
    time_format(now, false, time);
    for (const char *c = time; *c; c++)
        if (isdigit((unsigned char)*c))
            digits[n++] = *c;
        else if (*c == 'T')
            digits[n++] = '-';
    digits[n] = '\0';
    return arena_printf(arena, "%s-%.*s%s%s", verb, NAME_MAX_LEN, node ? node : "", node ? "-" : "",
                        digits);
}

static void write_by(struct jsonw *w, const struct ordering_by *by) {
    jsonw_kbegin(w, "executor", '{');
    jsonw_kbegin(w, by->word ? by->word : by->url ? "http" : "exec", '{');
    if (by->url)
        jsonw_kstr(w, "url", by->url);
    if (by->n_command) {
        jsonw_kbegin(w, "command", '[');
        for (size_t i = 0; i < by->n_command; i++)
            jsonw_str(w, by->command[i]);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_end(w);
}

void ordering_write(const struct ordering_order *o, struct str *out) {
    const struct kind *kind = o->n_nodes == 1 ? &kind_maintenance : &kind_rollout;
    _cleanup_str_ struct str nodes = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", OWN_API_VERSION);
    jsonw_kstr(&w, "kind", kind->name);
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", o->name);
    jsonw_end(&w);
    jsonw_kbegin(&w, "spec", '{');
    jsonw_kstr(&w, "operation", operation_word(o->operation));
    jsonw_kopt(&w, "reason", o->reason);
    if (kind == &kind_maintenance) {
        jsonw_kstr(&w, "node", o->nodes[0]);
    } else {
        nodeset_fold(o->nodes, o->n_nodes, &nodes);
        jsonw_kbegin(&w, "nodes", '[');
        jsonw_str(&w, str_get(&nodes));
        jsonw_end(&w);
    }
    write_by(&w, o->by);
    jsonw_end(&w);
    jsonw_end(&w);
}

/* --- whether somebody would do it --- */

struct scene {
    struct session *session;
    struct target target;
    struct store *leases, *policies, *maintenances;
    bool no_leases, no_policies, no_maintenances; /* may not be read */
};

/* The definitions: without them every list is empty, and nobody knows why. */
static int check_definitions(struct session *s) {
    struct patient p;
    patient_call(s, &(struct kube_op_spec){.path = "/apis/" OWN_API_VERSION}, &p);
    int rc = 0;
    if (p.outcome == KUBE_NOT_FOUND)
        rc = cli_fail(s->cli, EXIT_REFUSED,
                      "the cluster has no Maintenances: the custom resources are not installed. "
                      "'%s export crds | kubectl apply -f -' does that; nothing was changed",
                      s->cli->prog);
    else if (p.outcome != KUBE_OK)
        rc = session_fail(s, "look for the custom resources", p.outcome, p.message);
    patient_done(s, NULL, &p);
    return rc;
}

static int check_controller(const struct scene *sc) {
    struct cli *cli = sc->session->cli;
    const struct object *obj;
    if (sc->no_leases)
        return 0;
    for (uint32_t i = 0; (obj = store_next(sc->leases, &i));)
        if (locks_leads((const struct lease *)obj, cli_now(cli)))
            return 0;
    return cli_fail(cli, EXIT_REFUSED,
                    "no controller runs, so that nobody would carry it out; '%s install' prints "
                    "what makes one run. Nothing was changed",
                    cli->prog);
}

/* How many Policies have the node. */
static size_t count_policies(const struct scene *sc, const struct node *node) {
    const struct object *obj;
    size_t n = 0;
    for (uint32_t i = 0; (obj = store_next(sc->policies, &i));) {
        _cleanup_err_ struct err err = ERR_INIT;
        struct policy_rules *rules = NULL;
        if (!policy_rules_read((const struct policy *)obj, store_pool(sc->policies), &rules, &err))
            n += policy_has_node(rules, node);
        policy_rules_free(rules);
    }
    return n;
}

static int check_policies(const struct scene *sc) {
    struct cli *cli = sc->session->cli;
    VEC(const char *) none = VEC_INIT, several = VEC_INIT;
    for (size_t i = 0; i < sc->target.nodes.len && !sc->no_policies && store_len(sc->policies);
         i++) {
        const struct node *node = sc->target.nodes.p[i];
        size_t n = count_policies(sc, node);
        if (n != 1)
            *(n ? vec_push(&several) : vec_push(&none)) = node->meta.name;
    }
    _cleanup_str_ struct str names = STR_INIT;
    int rc = 0;
    if (none.len) {
        nodeset_fold(none.p, none.len, &names);
        rc = cli_fail(cli, EXIT_REFUSED,
                      "no Policy has %s: nobody says how many may be out at once. Make one that "
                      "selects %s ('kubectl get policies.slipway.dev' shows those there are); "
                      "nothing was changed",
                      str_get(&names), none.len == 1 ? "it" : "them");
    } else if (several.len) {
        nodeset_fold(several.p, several.len, &names);
        rc = cli_fail(cli, EXIT_REFUSED,
                      "several Policies have %s, and all of them refuse it: change their "
                      "nodeSelector, so that one has it; nothing was changed",
                      str_get(&names));
    }
    vec_done(&none);
    vec_done(&several);
    return rc;
}

static int check_others(const struct scene *sc) {
    struct cli *cli = sc->session->cli;
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(sc->maintenances, &n);
    for (size_t i = 0; i < n; i++) {
        const struct maintenance *m = (const struct maintenance *)all[i];
        enum maint_phase phase = maint_phase_find(m->phase);
        for (size_t k = 0; k < sc->target.names.len && !maint_ended(phase); k++)
            if (str_same(m->node, sc->target.names.p[k]))
                return cli_fail(cli, EXIT_REFUSED,
                                "maintenance/%s of node %s is under way already (%s of it is %s); "
                                "nothing was changed. '%s abort maintenance/%s' ends it",
                                m->meta.name, m->node, strna(m->operation),
                                maint_phases[phase].word, cli->prog, m->meta.name);
    }
    return 0;
}

static int read_scene(struct scene *sc, const struct ordering_opts *o) {
    struct session *s = sc->session;
    int rc = check_definitions(s);
    if (!rc)
        rc = target_read(s, &sc->target);
    if (rc)
        return rc;
    if (!sc->target.nodes.len)
        return cli_fail(s->cli, EXIT_FAILED, "no node has these labels; nothing was changed");
    sc->leases =
        session_feed(s, &kind_lease,
                     &(struct session_feed){.ns = o->connection.flags.ns,
                                            .field_selector = "metadata.name=" KEEPER_LEASE,
                                            .without = "whether a controller runs is not known",
                                            .missing = &sc->no_leases});
    sc->policies = session_feed(s, &kind_policy,
                                &(struct session_feed){.without = "which has the node is not known",
                                                       .missing = &sc->no_policies});
    sc->maintenances =
        session_feed(s, &kind_maintenance,
                     &(struct session_feed){.without = "others of the node are not known",
                                            .missing = &sc->no_maintenances});
    rc = session_sync(s);
    if (!rc)
        rc = check_controller(sc);
    if (!rc)
        rc = check_policies(sc);
    return rc ? rc : check_others(sc);
}

/* --- the order --- */

static int create(struct session *s, const struct ordering_order *order, enum dry_run dry_run) {
    struct cli *cli = s->cli;
    const struct kind *kind = order->n_nodes == 1 ? &kind_maintenance : &kind_rollout;
    _cleanup_str_ struct str body = STR_INIT;
    struct patient p = {.outcome = KUBE_OK};
    ordering_write(order, &body);
    if (dry_run != DRY_RUN_CLIENT)
        patient_call(s,
                     &(struct kube_op_spec){.method = "POST",
                                            .kind = kind,
                                            .query = dry_run == DRY_RUN_SERVER
                                                         ? "fieldManager=slipway&dryRun=All"
                                                         : "fieldManager=slipway",
                                            .body = str_get(&body)},
                     &p);
    /* Of a lost answer the second try finds what the first has made. */
    bool made = p.outcome == KUBE_OK || (p.outcome == KUBE_EXISTS && p.lost);
    int rc = made ? 0
                  : cli_fail(cli, session_code(p.outcome), "unable to make %s \"%s\": %s",
                             kind->name, order->name, strna(p.message));
    patient_done(s, NULL, &p);
    if (rc)
        return rc;
    term_printf(&cli->out, "%s/", kind == &kind_maintenance ? "maintenance" : "rollout");
    term_text(&cli->out, order->name);
    term_printf(&cli->out, " created%s\n", target_dry_run_suffix(dry_run));
    term_flush(&cli->out);
    return 0;
}

static void tell_who(struct cli *cli, const struct ordering_by *by) {
    if (by->word && streq(by->word, "fleetlock"))
        cli_note(cli, "A node reboots by itself, when its FleetLock client (Zincati) asks and is "
                      "told that it may; --by says who else does it");
}

static int run_session(struct scene *sc, const struct ordering_opts *o, enum operation op,
                       const struct ordering_by *by) {
    struct session *s = sc->session;
    struct cli *cli = s->cli;
    int rc = read_scene(sc, o);
    if (rc)
        return rc;
    size_t n = sc->target.names.len;
    struct ordering_order order = {
        .operation = op,
        .name = o->name ? o->name
                        : ordering_name(op, n == 1 ? sc->target.names.p[0] : NULL, cli_now(cli),
                                        &cli->arena),
        .reason = o->reason,
        .nodes = sc->target.names.p,
        .n_nodes = n,
        .by = by};
    rc = create(s, &order, (enum dry_run)o->dry_run);
    if (rc)
        return rc;
    tell_who(cli, by);
    bool waits = !o->no_wait && (o->wait || cli->out.tty);
    if (o->dry_run != DRY_RUN_NONE || !waits)
        return EXIT_DONE;
    return following_run(s, n == 1 ? &kind_maintenance : &kind_rollout, order.name);
}

int ordering_main(struct cli *cli, enum operation op, const struct ordering_opts *o, int argc,
                  char **argv) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct session s;
    struct scene sc = {.session = &s};
    struct ordering_by by;
    int n = MIN_OF(cli->n_before, argc);
    if (o->wait && o->no_wait)
        return cli_usage(cli, "say --wait or --no-wait, not both");
    if (ordering_parse_by(op, o->by, argc - n, argv + n, &by, &err))
        return cli_usage(cli, "%s", err_msg(&err));
    int rc = target_parse(cli,
                          &(struct target_opts){.selector = o->selector,
                                                .control_plane = o->control_plane,
                                                .reason = o->reason},
                          n, argv, &sc.target);
    if (rc)
        return rc;
    rc = session_open(cli, &o->connection, &s);
    if (rc) {
        target_forget(&sc.target);
        return rc;
    }
    rc = run_session(&sc, o, op, &by);
    target_done(&s, &sc.target);
    session_close(&s);
    return rc;
}

#define FIELD(member) offsetof(struct ordering_opts, member)
const struct option_group ordering_options = {
    "Options",
    (const struct option[]){
        {.name = "selector",
         .letter = 'l',
         .kind = OPTION_STRING,
         .offset = FIELD(selector),
         .arg = "SELECTOR",
         .help = "The nodes that have these labels now, instead of names"},
        SELECTED_OPTION(FIELD(control_plane)),
        {.name = "reason",
         .kind = OPTION_STRING,
         .offset = FIELD(reason),
         .arg = "TEXT",
         .env = "SLIPWAY_REASON",
         .help = "Why, for whoever finds the node out of service"},
        {.name = "by",
         .kind = OPTION_STRING,
         .offset = FIELD(by),
         .arg = "WHO",
         .help = "Who carries it out: fleetlock (the node, by its FleetLock client), sim (the "
                 "simulator's machine) or http=URL (a service is asked); or write -- and a command "
                 "that the controller runs"},
        {.name = "name",
         .kind = OPTION_STRING,
         .offset = FIELD(name),
         .arg = "NAME",
         .help =
             "What the Maintenance or Rollout is called, instead of a name with the time in it"},
        {.name = "wait",
         .kind = OPTION_FLAG,
         .offset = FIELD(wait),
         .help = "Follow it until it is over; so it is on a terminal"},
        {.name = "no-wait",
         .kind = OPTION_FLAG,
         .offset = FIELD(no_wait),
         .help = "Only order it, also on a terminal"},
        TARGET_DRY_RUN_ROW(FIELD(dry_run)),
        {0}}};
#undef FIELD
