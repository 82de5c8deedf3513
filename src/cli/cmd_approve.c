/* The verb `approve`: somebody says yes to what a policy wants to have approved. */
#include "base/mem.h"
#include "cli/identity.h"
#include "cli/own_write.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "engine/approval.h"
#include "engine/keeper.h"

struct approve_opts {
    struct connection_opts connection;
    int dry_run; /* enum dry_run */
};

struct approving {
    struct own_writing w;
    const char *by;
    const struct own_target *target; /* at hand */
};

/* Why it is too late, or NULL. */
static const char *is_late(const struct own_target *t, const struct object *obj) {
    if (obj->meta.deleted)
        return "it is being deleted";
    if (t->kind == &kind_maintenance) {
        enum maint_phase phase = maint_phase_find(((const struct maintenance *)obj)->phase);
        return maint_ended(phase) ? "it is over already" : NULL;
    }
    bool over =
        t->kind == &kind_rollout && str_same(((const struct rollout *)obj)->phase, "Complete");
    return over ? "it is over already" : NULL;
}

static bool is_approved(const struct own_target *t, const struct object *obj, struct arena *arena) {
    const struct node *node = t->kind == &kind_node ? (const struct node *)obj : NULL;
    return node ? approval_of_node(node, keeper_boot(node), arena)
                : approval_of_object(&obj->meta, arena);
}

static int decide(void *arg, const struct object *obj, struct jsonw *w) {
    const struct approving *a = arg;
    struct cli *cli = a->w.session->cli;
    const struct own_target *t = a->target;
    const char *late = is_late(t, obj);
    const char *boot = t->kind == &kind_node ? keeper_boot((const struct node *)obj) : NULL;
    if (late)
        return -cli_fail(cli, EXIT_REFUSED, "unable to approve %s: %s",
                         own_target_name(t, &cli->arena), late);
    if (is_approved(t, obj, &cli->arena))
        return 0;
    jsonw_kbegin(w, "annotations", '{');
    jsonw_kstr(w, APPROVAL_ANNOTATION, approval_write(a->by, cli_now(cli), boot, &cli->arena));
    jsonw_end(w);
    jsonw_end(w);
    return 1;
}

static int approve(struct approving *a, const struct own_target *t) {
    bool changed;
    a->target = t;
    int rc = own_patch(&a->w, t, decide, a, &changed);
    if (!rc)
        own_tell(&a->w, t, changed, "approved");
    return rc;
}

/* A Rollout hands it on to those that it makes; those that it has made wait for their own. */
static int approve_begun(struct approving *a, const struct own_targets *all,
                         const struct rollout *r) {
    size_t n = 0;
    int code = EXIT_DONE;
    _cleanup_free_ const struct maintenance **list = own_maintenances_of(all, r, &n);
    for (size_t i = 0; i < n; i++) {
        struct own_target t = {&kind_maintenance, (const struct object *)list[i]};
        if (!is_late(&t, t.obj) && maint_phase_find(list[i]->phase) <= MAINT_QUEUED)
            code = exit_graver(code, approve(a, &t));
    }
    return code;
}

static int run_session(struct session *s, const struct approve_opts *o, const char *by, int argc,
                       char **argv) {
    struct approving a = {
        .w = {.session = s, .dry_run = (enum dry_run)o->dry_run, .verb = "approve"}, .by = by};
    struct own_targets all;
    int code = own_targets_read(s, true, argc, argv, &all);
    bool read = !code;
    for (size_t i = 0; read && i < all.list.len; i++) {
        const struct own_target *t = &all.list.p[i];
        int rc = approve(&a, t);
        if (!rc && t->kind == &kind_rollout)
            rc = approve_begun(&a, &all, (const struct rollout *)t->obj);
        code = exit_graver(code, rc);
    }
    own_targets_done(&all);
    return code;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct approve_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    struct identity me;
    struct session s;
    if (identity_get(cli->env, NULL, &cli->arena, &me, &err))
        return cli_error(cli, &err);
    int rc = session_open(cli, &o->connection, &s);
    if (rc)
        return rc;
    rc = run_session(&s, o, me.by, argc, argv);
    session_close(&s);
    return rc;
}

#define FIELD(member) offsetof(struct approve_opts, member)
static const struct option_group own_options = {
    "Options", (const struct option[]){TARGET_DRY_RUN_ROW(FIELD(dry_run)), {0}}};
#undef FIELD

const struct verb verb_approve = {
    .name = "approve",
    .summary = "Approve of what a policy wants to have approved",
    .args = "NAME...",
    .text =
        "A Policy with 'approval: required' gives no slot before somebody has approved: its "
        "blocker is ApprovalNeeded. NAME is maintenance/NAME, rollout/NAME, with kubectl's plurals "
        "and short names too, or a bare name that only one of them has; or node/NAME, for a node "
        "that asks by FleetLock.\n"
        "\n"
        "Who has approved, and when, is written as the annotation slipway.dev/approved. That of a "
        "Rollout is good for every Maintenance that it makes, and is given to those that it has "
        "made and that wait. That of a Node is good for the boot that it is in: after its reboot "
        "it has to be given again.\n"
        "\n"
        "What is over already is refused: the exit status is 5.",
    .examples = {{"One maintenance", "approve maintenance/w1-kernel"},
                 {"A whole rollout", "approve rollout/kernel"},
                 {"A node that wants to reboot by itself", "approve node/w1"}},
    .options = (const struct verb_options[]){{&own_options, 0},
                                             {&connection_options,
                                              offsetof(struct approve_opts, connection)},
                                             {0}},
    .opts_size = sizeof(struct approve_opts),
    .min_args = 1,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_REFUSED, 0},
    .see_also = (const char *const[]){"rollout", "locks", "status", NULL},
    .run = run,
};
