/* Changes to Maintenances and Rollouts. */
#include "cli/own_write.h"

#include "base/mem.h"
#include "cli/patient.h"
#include "cli/target.h"
#include "engine/own_status.h"

enum {
    CAS_TRIES = 8, /* changes by others in between: a controller writes each few seconds */
};

static const char *query(const struct own_writing *w) {
    return w->dry_run == DRY_RUN_SERVER ? "fieldManager=slipway&dryRun=All"
                                        : "fieldManager=slipway";
}

static int fail(const struct own_writing *w, const struct own_target *t, enum kube_outcome outcome,
                const char *message) {
    struct cli *cli = w->session->cli;
    return cli_fail(cli, session_code(outcome), "unable to %s %s: %s", w->verb,
                    own_target_name(t, &cli->arena), strna(message));
}

static int say_gone(const struct own_writing *w, const struct own_target *t) {
    struct cli *cli = w->session->cli;
    return cli_fail(cli, EXIT_FAILED, "unable to %s %s: it was deleted in the meantime", w->verb,
                    own_target_name(t, &cli->arena));
}

/* --- patches --- */

struct attempt {
    const struct own_target *target;
    own_decide_fn *decide;
    void *arg;
    bool lost; /* a write may have been carried out without an answer */
};

/* As it is now. 0, or the exit code. */
static int read_again(const struct own_writing *w, const struct attempt *a, struct patient *p) {
    const struct own_target *t = a->target;
    patient_call(
        w->session,
        &(struct kube_op_spec){.kind = t->kind, .name = t->obj->meta.name, .result = t->kind}, p);
    if (p->outcome == KUBE_NOT_FOUND ||
        (p->outcome == KUBE_OK && p->obj && !str_same(p->obj->meta.uid, t->obj->meta.uid)))
        return say_gone(w, t);
    return p->outcome == KUBE_OK && p->obj ? 0 : fail(w, t, p->outcome, p->message);
}

/* 1: somebody was faster. */
static int write_once(const struct own_writing *w, struct attempt *a, const struct object *obj,
                      bool *changed) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw json;
    struct patient p;
    own_patch_begin(&json, &body, &obj->meta);
    int verdict = a->decide(a->arg, obj, &json);
    if (verdict <= 0) {
        *changed = !verdict && a->lost;
        return verdict;
    }
    jsonw_end(&json);
    *changed = true;
    if (w->dry_run == DRY_RUN_CLIENT)
        return 0;
    patient_call(w->session,
                 &(struct kube_op_spec){.method = "PATCH",
                                        .kind = a->target->kind,
                                        .name = obj->meta.name,
                                        .query = query(w),
                                        .body = str_get(&body),
                                        .content_type = "application/merge-patch+json"},
                 &p);
    a->lost |= p.lost;
    int rc = p.outcome == KUBE_OK          ? 0
             : p.outcome == KUBE_CONFLICT  ? 1
             : p.outcome == KUBE_NOT_FOUND ? -say_gone(w, a->target)
                                           : -fail(w, a->target, p.outcome, p.message);
    *changed = !rc;
    patient_done(w->session, NULL, &p);
    return rc;
}

int own_patch(const struct own_writing *w, const struct own_target *t, own_decide_fn *decide,
              void *arg, bool *changed) {
    struct attempt a = {.target = t, .decide = decide, .arg = arg};
    int rc = write_once(w, &a, t->obj, changed);
    for (int i = 1; i < CAS_TRIES && rc == 1; i++) {
        struct patient p;
        rc = -read_again(w, &a, &p);
        if (!rc)
            rc = write_once(w, &a, p.obj, changed);
        patient_done(w->session, t->kind, &p);
    }
    if (rc == 1)
        return fail(w, t, KUBE_CONFLICT, "others change it all the time; try again");
    return -rc;
}

/* --- deletions --- */

int own_delete(const struct own_writing *w, const struct own_target *t, bool *changed) {
    struct patient p;
    *changed = !t->obj->meta.deleted;
    if (!*changed || w->dry_run == DRY_RUN_CLIENT)
        return 0;
    patient_delete(w->session, t->kind, &t->obj->meta, w->dry_run == DRY_RUN_SERVER, &p);
    bool gone = p.outcome == KUBE_NOT_FOUND || p.outcome == KUBE_CONFLICT;
    int rc = p.outcome == KUBE_OK || gone ? 0 : fail(w, t, p.outcome, p.message);
    *changed = !rc && (!gone || p.lost);
    patient_done(w->session, NULL, &p);
    return rc;
}

/* --- words --- */

void own_tell(const struct own_writing *w, const struct own_target *t, bool changed,
              const char *done) {
    struct cli *cli = w->session->cli;
    term_text(&cli->out, own_target_name(t, &cli->arena));
    term_printf(&cli->out, " %s%s%s\n", changed ? "" : "already ", done,
                target_dry_run_suffix(w->dry_run));
    term_flush(&cli->out);
}
