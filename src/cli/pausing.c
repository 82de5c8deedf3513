/* Pauses and resumes Maintenances and Rollouts. */
#include "cli/pausing.h"

#include "base/mem.h"
#include "base/nodeset.h"
#include "engine/maintenance.h"

static int8_t paused_of(const struct kind *kind, const struct object *obj) {
    return kind == &kind_maintenance ? ((const struct maintenance *)obj)->paused
                                     : ((const struct rollout *)obj)->paused;
}

bool pausing_is(const struct own_target *t, bool pause) {
    return (paused_of(t->kind, t->obj) == 1) == pause;
}

/* --- what it does not stop --- */

static bool maintenance_goes_on(const struct maintenance *m, struct str *out) {
    enum maint_phase phase = maint_phase_find(m->phase);
    if (maint_ended(phase))
        str_addf(out, "it is over already: %s", m->phase);
    else if (phase == MAINT_OPERATING || phase == MAINT_RETURNING)
        str_addf(out,
                 "node %s was told to go, and that goes on: it is put back into service when it is "
                 "back",
                 strna(m->node));
    else if (phase > MAINT_RETURNING && phase != MAINT_HALTED)
        str_addf(out, "node %s is being put back into service, and that goes on", strna(m->node));
    else
        return false;
    return true;
}

static bool rollout_goes_on(const struct own_targets *all, const struct rollout *r,
                            struct str *out) {
    VEC(const char *) nodes = VEC_INIT;
    size_t n = 0;
    _cleanup_free_ const struct maintenance **list = own_maintenances_of(all, r, &n);
    for (size_t i = 0; i < n; i++)
        if (!maint_ended(maint_phase_find(list[i]->phase)) && list[i]->paused != 1)
            *vec_push(&nodes) = strna(list[i]->node);
    if (nodes.len) {
        str_add(out, "no further node is begun; those that were go on: ");
        nodeset_fold(nodes.p, nodes.len, out);
    }
    bool any = nodes.len;
    vec_done(&nodes);
    return any;
}

bool pausing_goes_on(const struct own_targets *all, const struct own_target *t, struct str *out) {
    return t->kind == &kind_maintenance
               ? maintenance_goes_on((const struct maintenance *)t->obj, out)
               : rollout_goes_on(all, (const struct rollout *)t->obj, out);
}

/* --- doing it --- */

struct wish {
    const struct kind *kind;
    bool pause;
};

static int decide(void *arg, const struct object *obj, struct jsonw *w) {
    const struct wish *wish = arg;
    if ((paused_of(wish->kind, obj) == 1) == wish->pause)
        return 0;
    jsonw_end(w);
    jsonw_kbegin(w, "spec", '{');
    jsonw_kbool(w, "paused", wish->pause);
    jsonw_end(w);
    return 1;
}

static int run_one(const struct own_writing *w, const struct own_targets *all,
                   const struct own_target *t, bool pause) {
    struct cli *cli = w->session->cli;
    _cleanup_str_ struct str text = STR_INIT;
    struct wish wish = {t->kind, pause};
    bool changed;
    int rc = own_patch(w, t, decide, &wish, &changed);
    if (rc)
        return rc;
    own_tell(w, t, changed, pause ? "paused" : "resumed");
    if (pause && pausing_goes_on(all, t, &text))
        cli_note(cli, "%s: %s", own_target_name(t, &cli->arena), str_get(&text));
    return 0;
}

int pausing_run(struct session *s, enum dry_run dry_run, bool pause, int argc, char **argv) {
    struct own_writing w = {.session = s, .dry_run = dry_run, .verb = pause ? "pause" : "resume"};
    struct own_targets all;
    int rc = own_targets_read(s, false, argc, argv, &all), code = rc;
    for (size_t i = 0; i < all.list.len && !rc; i++)
        code = exit_graver(code, run_one(&w, &all, &all.list.p[i], pause));
    own_targets_done(&all);
    return code;
}
