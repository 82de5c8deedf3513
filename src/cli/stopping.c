/* Pauses everything, and lets it go on. */
#include "cli/stopping.h"

#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/vec.h"
#include "cli/patient.h"
#include "cli/stops.h"
#include "cli/target.h"
#include "engine/keeper.h"
#include "engine/locks.h"
#include "engine/slots.h"

/* What was read. */
struct scene {
    struct store *leases, *maps;
    struct stops stops;
    VEC(const char *) namespaces;
};

static const char *query(const struct stopping *st) {
    return st->dry_run == DRY_RUN_SERVER ? "fieldManager=slipway&dryRun=All"
                                         : "fieldManager=slipway";
}

/* --- where --- */

static void add_namespace(struct scene *sc, const char *ns) {
    for (size_t i = 0; i < sc->namespaces.len; i++)
        if (streq(sc->namespaces.p[i], ns))
            return;
    *vec_push(&sc->namespaces) = ns;
}

static const struct stops_row *stop_in(const struct scene *sc, const char *ns) {
    for (size_t i = 0; i < sc->stops.n; i++)
        if (streq(sc->stops.rows[i].ns, ns))
            return &sc->stops.rows[i];
    return NULL;
}

static int read_scene(struct stopping *st, struct scene *sc) {
    struct session *s = st->session;
    size_t n = 0;
    *sc = (struct scene){0};
    sc->leases = session_feed(
        s, &kind_lease,
        &(struct session_feed){.ns = st->ns, .field_selector = "metadata.name=" KEEPER_LEASE});
    sc->maps = session_feed(s, &kind_config_map,
                            &(struct session_feed){.ns = st->ns, .label_selector = SLOTS_LABEL});
    int rc = session_sync(s);
    if (rc)
        return rc;
    stops_take(sc->maps, &s->cli->arena, &sc->stops);
    if (st->ns)
        add_namespace(sc, st->ns);
    _cleanup_free_ const struct object **leases = store_sorted(sc->leases, &n);
    for (size_t i = 0; i < n && !st->ns; i++)
        add_namespace(sc, leases[i]->meta.ns);
    return 0;
}

static int say_nowhere(struct cli *cli) {
    return cli_fail(cli, EXIT_REFUSED,
                    "there is no Lease " KEEPER_LEASE
                    " in any namespace, so that nobody knows where the controller is: name its "
                    "namespace with -n; nothing was changed");
}

/* --- what is said --- */

static void tell(const struct stopping *st, const char *what, const char *ns) {
    struct cli *cli = st->session->cli;
    term_printf(&cli->out, "%s in namespace ", what);
    term_text(&cli->out, ns);
    term_printf(&cli->out, "%s\n", target_dry_run_suffix(st->dry_run));
    term_flush(&cli->out);
}

static void tell_stop(const struct stopping *st, const struct stops_row *row) {
    struct cli *cli = st->session->cli;
    _cleanup_str_ struct str text = STR_INIT;
    stops_text(row, cli->prog, cli_now(cli), &text);
    cli_note(cli, "%s", str_get(&text));
}

/* Nodes that no pause calls back. */
static void tell_who_goes_on(const struct stopping *st, const struct scene *sc, const char *ns) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    _cleanup_str_ struct str names = STR_INIT;
    VEC(const char *) nodes = VEC_INIT;
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(sc->maps, &i));) {
        const struct config_map *map = (const struct config_map *)obj;
        _cleanup_err_ struct err err = ERR_INIT;
        struct slots s;
        if (!streq(strna(obj->meta.ns), ns) || stop_is(map) ||
            slots_parse(view_of(strna(map_get(map->data, SLOTS_KEY))), &arena, &s, &err))
            continue;
        for (size_t k = 0; k < s.list.len; k++)
            if (s.list.p[k].state == SLOT_GRANTED)
                *vec_push(&nodes) = s.list.p[k].node;
        slots_done(&s);
    }
    if (nodes.len) {
        nodeset_fold(nodes.p, nodes.len, &names);
        cli_note(st->session->cli,
                 "%s: %s told to go before, and may still do so; put back into service when back",
                 str_get(&names), nodes.len == 1 ? "was" : "were");
    }
    vec_done(&nodes);
}

static void tell_controller(const struct stopping *st, const struct scene *sc, const char *ns) {
    struct cli *cli = st->session->cli;
    const struct lease *lease = (const struct lease *)store_get(sc->leases, ns, KEEPER_LEASE);
    if (!lease || !locks_leads(lease, cli_now(cli)))
        cli_note(cli, "no controller runs in namespace %s now; one that starts there obeys it", ns);
}

/* --- pause --- */

static int pause_one(const struct stopping *st, const struct scene *sc, const char *ns) {
    _cleanup_str_ struct str body = STR_INIT;
    const struct stops_row *row = stop_in(sc, ns);
    struct patient p = {.outcome = KUBE_OK};
    if (row) {
        tell(st, "everything already paused", ns);
        tell_stop(st, row);
        return 0;
    }
    stop_write(&st->stop, ns, &body);
    if (st->dry_run != DRY_RUN_CLIENT)
        patient_call(st->session,
                     &(struct kube_op_spec){.method = "POST",
                                            .kind = &kind_config_map,
                                            .ns = ns,
                                            .query = query(st),
                                            .body = str_get(&body)},
                     &p);
    /* Of a lost answer the second try finds what the first has made. */
    bool exists = p.outcome == KUBE_EXISTS && !p.lost;
    int rc = 0;
    if (p.outcome != KUBE_OK && p.outcome != KUBE_EXISTS)
        rc = cli_fail(st->session->cli, session_code(p.outcome),
                      "unable to pause everything in namespace %s: %s", ns, strna(p.message));
    patient_done(st->session, NULL, &p);
    if (rc)
        return rc;
    tell(st, exists ? "everything already paused" : "everything paused", ns);
    tell_who_goes_on(st, sc, ns);
    tell_controller(st, sc, ns);
    return 0;
}

int stopping_pause(struct stopping *st) {
    struct scene sc;
    int rc = read_scene(st, &sc);
    if (!rc && !sc.namespaces.len)
        rc = say_nowhere(st->session->cli);
    int code = rc;
    for (size_t i = 0; i < sc.namespaces.len && !rc; i++)
        code = exit_graver(code, pause_one(st, &sc, sc.namespaces.p[i]));
    vec_done(&sc.namespaces);
    return code;
}

/* --- resume --- */

static int resume_one(const struct stopping *st, const struct stops_row *row) {
    struct patient p = {.outcome = KUBE_OK};
    const struct meta meta = {.ns = row->ns, .name = STOP_MAP, .uid = row->uid};
    if (st->dry_run != DRY_RUN_CLIENT)
        patient_delete(st->session, &kind_config_map, &meta, st->dry_run == DRY_RUN_SERVER, &p);
    int rc = 0;
    if (p.outcome == KUBE_CONFLICT)
        rc = cli_fail(st->session->cli, EXIT_REFUSED,
                      "somebody has paused everything in namespace %s anew in the meantime: it "
                      "stays paused. '%s locks' shows who",
                      row->ns, st->session->cli->prog);
    else if (p.outcome != KUBE_OK && p.outcome != KUBE_NOT_FOUND)
        rc = cli_fail(st->session->cli, session_code(p.outcome),
                      "unable to resume everything in namespace %s: %s", row->ns, strna(p.message));
    else
        tell(st,
             p.outcome == KUBE_OK || p.lost ? "everything resumed" : "everything already resumed",
             row->ns);
    patient_done(st->session, NULL, &p);
    return rc;
}

int stopping_resume(struct stopping *st) {
    struct scene sc;
    int rc = read_scene(st, &sc), code = rc;
    if (!rc && !sc.stops.n && !sc.namespaces.len)
        code = say_nowhere(st->session->cli);
    /* Also where no controller has been yet: whoever resumes everything means all of it. */
    for (size_t i = 0; i < sc.stops.n && !rc; i++)
        code = exit_graver(code, resume_one(st, &sc.stops.rows[i]));
    for (size_t i = 0; i < sc.namespaces.len && !rc; i++)
        if (!stop_in(&sc, sc.namespaces.p[i]))
            tell(st, "nothing is paused", sc.namespaces.p[i]);
    vec_done(&sc.namespaces);
    return code;
}
