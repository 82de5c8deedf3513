/* Who carries an operation out. */
#include "controller/operate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "controller/hook.h"
#include "engine/keeper.h"
#include "net/child.h"

enum { SAID_MAX = 64 << 10 }; /* of standard error; a part of it is shown */

struct work {
    struct operators *operators;
    char *maintenance;
    char *failure; /* known before anything was begun */
    struct child *child;
    struct kube_op *op;
    struct hook *hook;
    struct loop_timer *later;
};

struct operators {
    struct kube_client *client;
    struct operators_opts opts;
    struct hooks *hooks; /* NULL: none was needed yet */
    VEC(struct work *) list;
};

struct operators *operators_new(struct kube_client *client, const struct operators_opts *opts) {
    struct operators *o = xnew(struct operators);
    o->client = client;
    o->opts = *opts;
    return o;
}

static void work_free(struct work *w) {
    loop_timer_free(w->later);
    free(w->maintenance);
    free(w->failure);
    free(w);
}

void operators_free(struct operators *o) {
    if (!o)
        return;
    for (size_t i = 0; i < o->list.len; i++) {
        child_cancel(o->list.p[i]->child);
        if (o->list.p[i]->op)
            kube_op_cancel(o->list.p[i]->op);
        hook_cancel(o->list.p[i]->hook);
        work_free(o->list.p[i]);
    }
    vec_done(&o->list);
    hooks_free(o->hooks);
    free(o);
}

static void over(struct work *w, const char *failure) {
    struct operators *o = w->operators;
    for (size_t i = 0; i < o->list.len; i++)
        if (o->list.p[i] == w) {
            o->list.p[i] = o->list.p[--o->list.len];
            break;
        }
    o->opts.ended(o->opts.arg, w->maintenance, failure);
    work_free(w);
}

/* --- commands --- */

/* Its own words: they go into the status of the Maintenance, so they are cut and cleaned. */
static void add_said(struct str *why, const struct child_end *end) {
    _cleanup_str_ struct str all = STR_INIT;
    str_addn(&all, end->err_out, end->err_len);
    _cleanup_free_ char *said = kube_snippet(&all);
    if (*said)
        str_addf(why, ": %s", said);
}

static void on_child(void *arg, const struct child_end *end) {
    struct work *w = arg;
    _cleanup_str_ struct str why = STR_INIT;
    w->child = NULL;
    if (end->error == -ETIMEDOUT)
        str_addf(&why, "the command was killed: it has taken more than %d s", OPERATE_WITHIN_S);
    else if (end->error)
        str_addf(&why, "how the command has ended is not known: %s", strerror(-end->error));
    else if (end->signal)
        str_addf(&why, "the command was ended by signal %d", end->signal);
    else if (end->exit_code)
        str_addf(&why, "the command has ended with status %d", end->exit_code);
    if (why.len)
        add_said(&why, end);
    over(w, why.len ? str_get(&why) : NULL);
}

static void run(struct work *w, const struct maintenance *m) {
    struct operators *o = w->operators;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *node = xasprintf("SLIPWAY_NODE=%s", m->node),
                        *operation = xasprintf("SLIPWAY_OPERATION=%s", m->operation),
                        *name = xasprintf("SLIPWAY_MAINTENANCE=%s", m->meta.name);
    const char *env[] = {node, operation, name, NULL};
    const char *const *command = m->executor->exec->command;
    if (!list_len(command)) {
        w->failure = xstrdup("the command is empty");
        return;
    }
    VEC(const char *) argv = VEC_INIT;
    for (size_t i = 0; i < list_len(command); i++)
        *vec_push(&argv) = strna(command[i]); /* one that is empty is an argument, too */
    *vec_push(&argv) = NULL;
    int rc = child_start(o->client->loop,
                         &(struct child_spec){.argv = argv.p,
                                              .env = env,
                                              .drop_stdout = true,
                                              .max_stderr = SAID_MAX,
                                              .timeout = SEC(OPERATE_WITHIN_S)},
                         on_child, w, &w->child, &err);
    vec_done(&argv);
    if (rc)
        str_replace(&w->failure, err_msg(&err));
}

/* --- the simulator's machines --- */

static void on_patched(void *arg, struct kube_reply *reply) {
    struct work *w = arg;
    w->op = NULL;
    /* What may have been done is waited for: if nothing comes of it, that is seen later. */
    bool maybe = reply->outcome == KUBE_OK || reply->outcome == KUBE_UNKNOWN;
    over(w, maybe ? NULL : reply->message);
}

/* In the boot that it was granted in: one that arrives late does nothing. */
static void ask_machine(struct work *w, const struct maintenance *m) {
    const char *what = str_same(m->operation, "Shutdown") ? "off" : "reboot";
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &body, false);
    jsonw_begin(&j, '[');
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "op", "test");
    jsonw_kstr(&j, "path", "/status/nodeInfo/bootID");
    jsonw_kstr(&j, "value", strna(m->boot_before));
    jsonw_end(&j);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "op", "add");
    jsonw_kstr(&j, "path", "/metadata/annotations/sim.slipway.dev~1do"); /* SIM_DO */
    jsonw_kstr(&j, "value", what);
    jsonw_end(&j);
    jsonw_end(&j);
    w->op =
        kube_patch(w->operators->client, &(struct kube_write){.kind = &kind_node, .name = m->node},
                   KUBE_PATCH_JSON, str_get(&body), on_patched, w);
}

/* --- services --- */

static void on_hook(void *arg, const char *failure) {
    struct work *w = arg;
    w->hook = NULL;
    over(w, failure);
}

static void call(struct work *w, const struct maintenance *m) {
    struct operators *o = w->operators;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw json;
    jsonw_init(&json, &body, false);
    jsonw_begin(&json, '{');
    jsonw_kstr(&json, "node", strna(m->node));
    jsonw_kstr(&json, "operation", strna(m->operation));
    jsonw_kstr(&json, "maintenance", m->meta.name);
    jsonw_kopt(&json, "reason", m->reason);
    jsonw_kopt(&json, "boot", m->boot_before);
    jsonw_end(&json);
    int rc = o->hooks ? 0 : hooks_new(o->client->loop, &o->hooks, &err);
    if (!rc)
        rc = hook_start(o->hooks, strna(m->executor->http->url), str_get(&body), on_hook, w,
                        &w->hook, &err);
    if (rc)
        w->failure = xstrdup(err_msg(&err));
}

/* --- beginning --- */

static void on_later(void *arg) {
    struct work *w = arg;
    over(w, w->failure);
}

/* Not every server holds objects against the expressions of their schema. */
const char *operators_refuse(bool commands, bool hooks, const struct maintenance *m,
                             const struct node *node) {
    const struct own_executor *e = m->executor;
    bool drains = str_same(m->operation, operation_word(OPERATION_DRAIN));
    int named = e ? e->fleetlock + e->sim + (e->exec != NULL) + (e->http != NULL) : 0;
    if (!named)
        return drains ? NULL : "nobody is there who could do that: spec.executor names nobody";
    if (named > 1)
        return "more than one could do that: spec.executor names several";
    if (e->fleetlock && !str_same(m->operation, operation_word(OPERATION_REBOOT)))
        return "FleetLock clients do nothing but reboot";
    if (e->exec && !commands)
        return "commands are not allowed: the controller was begun without --allow-commands";
    if (e->http && !hooks)
        return "services are not asked: the controller was begun without --allow-hooks";
    if (e->sim && node && !map_has(node->meta.annotations, SIM_MACHINE))
        return "the node is no machine of the simulator, which have the annotation " SIM_MACHINE;
    return NULL;
}

void operators_begin(struct operators *o, const struct maintenance *m) {
    struct work *w = xnew(struct work);
    w->operators = o;
    w->maintenance = xstrdup(m->meta.name);
    *vec_push(&o->list) = w;
    log_info(o->opts.log, "maintenance %s: %s of node %s begins", m->meta.name, m->operation,
             m->node);
    const struct own_executor *e = m->executor;
    const char *refused = operators_refuse(o->opts.commands, o->opts.hooks, m, NULL);
    if (refused)
        w->failure = xstrdup(refused);
    else if (e && e->exec)
        run(w, m);
    else if (e && e->http)
        call(w, m);
    else if (e && e->sim)
        ask_machine(w, m);
    else
        w->failure = xstrdup("nobody has to do anything for that");
    if (!w->failure)
        return;
    w->later = loop_timer_new(o->client->loop, on_later, w);
    loop_timer_set(w->later, 0);
}

size_t operators_busy(const struct operators *o) {
    return o->list.len;
}
