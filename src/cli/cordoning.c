/* Cordons and uncordons nodes. */
#include "cli/cordoning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/identity.h"
#include "cli/leftovers.h"
#include "cli/node_event.h"
#include "cli/patient.h"
#include "cli/refusal.h"
#include "engine/reason.h"

enum {
    CAS_TRIES = 8, /* changes by others in between: kubelets write every 10 s at most */
    SKEW = 2,      /* seconds that clocks may differ: dates have whole ones */
};

/* What we had set on a node (engine/drain.c) is known by this. */
#define OUR_REASON "Slipway"
static const char *const drain_conditions[] = {"DrainInProgress", "Drained"};

/* --- beside the cordon: nobody waits for these, and they may fail --- */

static void write_event(struct cordoning *c, const struct node *node, bool cordon) {
    _cleanup_free_ char *message =
        xasprintf("Node %s %scordoned by %s%s%s", node->meta.name, cordon ? "" : "un", c->holder.by,
                  str_empty(c->holder.reason) ? "" : ": ", strna(c->holder.reason));
    c->no_events = !node_event_write(
        c->session, &(struct node_event){.node = node->meta.name,
                                         .reason = cordon ? REASON_CORDONED : REASON_UNCORDONED,
                                         .message = message});
}

/* The strategic merge patch that ends the conditions of ours that are not false already; false
 * when there are none. */
static bool conditions_patch(const struct node *node, const char *now, struct str *out) {
    struct jsonw w;
    bool any = false;
    str_reset(out);
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kopt(&w, "resourceVersion", node->meta.version);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_kbegin(&w, "conditions", '[');
    for (size_t i = 0; i < ARRAY_LEN(drain_conditions); i++) {
        const struct node_condition *had =
            node_condition_find(node->conditions, drain_conditions[i]);
        /* Also what is False already may tell of a drain that nobody goes on with. */
        if (!had || !str_starts(strna(had->c.reason), OUR_REASON) ||
            str_same(had->c.reason, OUR_REASON "Uncordoned"))
            continue;
        any = true;
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "type", drain_conditions[i]);
        jsonw_kstr(&w, "status", "False");
        jsonw_kstr(&w, "reason", OUR_REASON "Uncordoned");
        jsonw_kstr(&w, "message", "the node was uncordoned");
        jsonw_kstr(&w, "lastHeartbeatTime", now);
        if (!str_same(had->c.status, "False"))
            jsonw_kstr(&w, "lastTransitionTime", now);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    return any;
}

/* --- one node --- */

static void read_node(struct cordoning *c, const char *name, struct patient *p) {
    patient_call(c->session,
                 &(struct kube_op_spec){.kind = &kind_node, .name = name, .result = &kind_node}, p);
}

static void patch_node(struct cordoning *c, const char *name, const char *subresource,
                       const char *content_type, const struct str *patch, struct patient *p) {
    bool dry = c->dry_run == DRY_RUN_SERVER;
    patient_call(c->session,
                 &(struct kube_op_spec){.method = "PATCH",
                                        .kind = &kind_node,
                                        .name = name,
                                        .subresource = subresource,
                                        .query = dry ? "fieldManager=slipway&dryRun=All"
                                                     : "fieldManager=slipway",
                                        .body = str_get(patch),
                                        .content_type = content_type,
                                        .result = &kind_node},
                 p);
}

/* Replaces *node by what was read or came back. */
static void take_node(struct cordoning *c, struct node **node, struct patient *p) {
    if (!p->obj)
        return;
    object_free(&kind_node, c->session->conn.client.pool, (struct object *)*node);
    *node = (struct node *)TAKE_PTR(p->obj);
}

static void end_conditions(struct cordoning *c, struct node **node) {
    _cleanup_str_ struct str patch = STR_INIT;
    char now[TIMEFMT_LEN];
    time_format(cli_now(c->session->cli), false, now);
    for (int i = 0; i < CAS_TRIES && conditions_patch(*node, now, &patch); i++) {
        struct patient p;
        patch_node(c, (*node)->meta.name, "status", "application/strategic-merge-patch+json",
                   &patch, &p);
        enum kube_outcome outcome = p.outcome;
        if (outcome == KUBE_CONFLICT) {
            _cleanup_free_ char *name = xstrdup((*node)->meta.name);
            patient_done(c->session, &kind_node, &p);
            read_node(c, name, &p);
        } else if (outcome != KUBE_OK) {
            log_info(&c->session->cli->log, "the conditions of node %s stay: %s",
                     (*node)->meta.name, p.message);
        }
        if (p.outcome == KUBE_OK)
            take_node(c, node, &p);
        bool again = outcome == KUBE_CONFLICT && p.outcome == KUBE_OK;
        patient_done(c->session, &kind_node, &p);
        if (!again)
            return;
    }
}

/* How it ended, before anything is said. */
enum ending {
    ENDED_CHANGED,
    ENDED_ALREADY, /* it was so before */
    ENDED_STAYS,   /* uncordon: we have left, others have not */
    ENDED_REFUSED,
    ENDED_FAILED, /* see outcome */
};

struct attempt {
    struct node **node;
    bool cordon;
    bool wrote; /* the node was written, or is unless an answer is wrong */
    enum kube_outcome outcome;
    struct err err;
};

static enum cordon_change decide(struct cordoning *c, struct attempt *a, struct str *patch,
                                 bool *stays) {
    *stays = false;
    err_done(&a->err);
    if (a->cordon)
        return cordon_take(*a->node, &c->holder, patch, &a->err);
    return cordon_release_later(*a->node, c->holder.id, c->any, c->holder.since, patch, stays,
                                &a->err);
}

static enum ending attempt(struct cordoning *c, struct attempt *a) {
    _cleanup_str_ struct str patch = STR_INIT;
    _cleanup_free_ char *name = xstrdup((*a->node)->meta.name);
    enum ending last = ENDED_ALREADY; /* what the write that may have been lost would have done */
    struct patient p = {0};
    bool lost = false, stays;
    for (int i = 0; i < CAS_TRIES; i++) {
        switch (decide(c, a, &patch, &stays)) {
        case CORDON_REFUSED:
            /* Our own release whose answer was lost: we hold nothing any more. */
            return lost && !a->cordon && last == ENDED_STAYS ? last : ENDED_REFUSED;
        case CORDON_NOTHING:
            a->wrote = lost;
            return lost ? last : ENDED_ALREADY;
        case CORDON_WRITE:
            break;
        }
        last = stays                                    ? ENDED_STAYS
               : (*a->node)->unschedulable == a->cordon ? ENDED_ALREADY
                                                        : ENDED_CHANGED;
        if (c->dry_run == DRY_RUN_CLIENT)
            return last;
        patch_node(c, name, NULL, "application/merge-patch+json", &patch, &p);
        if (p.outcome == KUBE_OK) {
            a->wrote = true;
            take_node(c, a->node, &p);
            patient_done(c->session, &kind_node, &p);
            return last;
        }
        lost |= p.lost || p.outcome == KUBE_UNKNOWN;
        if (p.outcome != KUBE_CONFLICT)
            break;
        patient_done(c->session, &kind_node, &p);
        read_node(c, name, &p);
        if (p.outcome != KUBE_OK)
            break;
        take_node(c, a->node, &p);
        patient_done(c->session, &kind_node, &p);
    }
    const char *reason;
    _cleanup_free_ char *words =
        p.message ? refusal_words(&p, "patch", "nodes", name, &reason) : NULL;
    a->outcome = p.message ? p.outcome : KUBE_CONFLICT;
    err_set(&a->err, EIO, "%s",
            words       ? words
            : p.message ? p.message
                        : "others change the node all the time; try again");
    patient_done(c->session, &kind_node, &p);
    return ENDED_FAILED;
}

/* --- what is said --- */

static int say_refused(struct cordoning *c, const char *name, bool cordon, bool left,
                       const struct err *err) {
    struct cli *cli = c->session->cli;
    bool dry = c->dry_run != DRY_RUN_NONE;
    if (cordon)
        return cli_fail(cli, EXIT_REFUSED,
                        "unable to cordon node \"%s\": %s; a newer %s may have written it, else "
                        "remove it with '%s uncordon %s --any-holder'",
                        name, err_msg(err), cli->prog, cli->prog, name);
    return cli_fail(
        cli, EXIT_REFUSED,
        "%s: %s; '%s uncordon %s --any-holder' makes it schedulable all the same", err_msg(err),
        !left ? "you do not hold it, and nothing was changed"
        : dry ? "only your hold would be lifted, and the node would stay cordoned"
              : "your hold is lifted, and the node stays cordoned until they let go too",
        cli->prog, name);
}

static int say_failed(struct cordoning *c, const char *name, bool cordon, const struct attempt *a) {
    struct cli *cli = c->session->cli;
    enum exit_code code = a->outcome == KUBE_FORBIDDEN || a->outcome == KUBE_UNAUTHORIZED ||
                                  a->outcome == KUBE_UNREACHABLE || a->outcome == KUBE_UNKNOWN ||
                                  a->outcome == KUBE_NO_CREDENTIALS
                              ? EXIT_ACCESS
                              : EXIT_FAILED;
    return cli_fail(cli, code, "unable to %scordon node \"%s\": %s", cordon ? "" : "un", name,
                    err_msg(&a->err));
}

/* `*left` becomes true when we do not hold the node any more. */
static int run_one(struct cordoning *c, struct node **node, bool cordon, bool *left) {
    struct cli *cli = c->session->cli;
    _cleanup_free_ char *name = xstrdup((*node)->meta.name);
    struct attempt a = {.node = node, .cordon = cordon};
    enum ending ending = attempt(c, &a);
    int code = EXIT_DONE;
    *left = !cordon && ending <= ENDED_STAYS;
    switch (ending) {
    case ENDED_CHANGED:
    case ENDED_ALREADY:
        term_printf(&cli->out, "node/");
        term_text(&cli->out, name);
        term_printf(&cli->out, " %s%scordoned%s\n", ending == ENDED_ALREADY ? "already " : "",
                    cordon ? "" : "un", target_dry_run_suffix(c->dry_run));
        break;
    case ENDED_STAYS:
    case ENDED_REFUSED:
        code = say_refused(c, name, cordon, ending == ENDED_STAYS, &a.err);
        break;
    case ENDED_FAILED:
        code = say_failed(c, name, cordon, &a);
        break;
    }
    err_done(&a.err);
    term_flush(&cli->out);
    if (c->dry_run != DRY_RUN_NONE || code)
        return code;
    if (!cordon)
        end_conditions(c, node);
    if (a.wrote && ending == ENDED_CHANGED && !c->no_events)
        write_event(c, *node, cordon);
    return code;
}

/* A drain that was killed may have left a second replica behind. */
static void undo_surges(struct cordoning *c, const char *const *nodes, size_t n) {
    struct leftovers l;
    leftovers_read(c->session, &l);
    if (l.outcome != KUBE_OK)
        log_info(&c->session->cli->log,
                 "whether a drain with --surge has left anything behind is not known: deployments "
                 "cannot be listed: %s",
                 strna(l.message));
    leftovers_undo(&l, &(struct leftovers_wish){.nodes = nodes,
                                                .n_nodes = n,
                                                .holder = c->any ? NULL : c->holder.id,
                                                .dry_client = c->dry_run == DRY_RUN_CLIENT,
                                                .dry_server = c->dry_run == DRY_RUN_SERVER});
    leftovers_done(&l);
}

int cordoning_run(struct cordoning *c, struct target *target, bool cordon) {
    VEC(const char *) left = VEC_INIT;
    int code = EXIT_DONE;
    /* The taint that the record is compared with has the cluster's time. */
    if (llabs(target->ahead) >= SEC(SKEW))
        c->holder.since += target->ahead;
    for (size_t i = 0; i < target->nodes.len; i++) {
        const char *name =
            arena_printf(&c->session->cli->arena, "%s", strna(target->nodes.p[i]->meta.name));
        bool gone;
        code = exit_graver(code, run_one(c, &target->nodes.p[i], cordon, &gone));
        if (gone)
            *vec_push(&left) = name;
    }
    if (left.len)
        undo_surges(c, left.p, left.len);
    vec_done(&left);
    return code;
}

int cordoning_main(struct cli *cli, const struct connection_opts *connection,
                   const struct target_opts *opts, bool any, bool cordon, int argc, char **argv) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct identity me;
    struct target target;
    struct session session;
    int rc = target_parse(cli, opts, argc, argv, &target);
    if (rc)
        return rc;
    if (identity_get(cli->env, opts->holder, &cli->arena, &me, &err)) {
        target_forget(&target);
        return cli_error(cli, &err);
    }
    rc = session_open(cli, connection, &session);
    if (rc) {
        target_forget(&target);
        return rc;
    }
    struct cordoning c = {
        .session = &session,
        .dry_run = (enum dry_run)opts->dry_run,
        .holder = {.id = me.id, .by = me.by, .reason = opts->reason, .since = cli_now(cli)},
        .any = any,
    };
    rc = target_read(&session, &target);
    /* kubectl says nothing, and those who read its lines expect none. */
    if (!rc && !target.nodes.len && cli->err.tty)
        cli_note(cli, "No resources found");
    if (!rc)
        rc = cordoning_run(&c, &target, cordon);
    target_done(&session, &target);
    session_close(&session);
    return rc;
}
