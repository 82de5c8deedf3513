/* Deployments that still have a surge's second replica. */
#include "cli/leftovers.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/patient.h"

enum {
    PATIENCE = 10, /* seconds for the list: nobody waits for it */
    CAS_TRIES = 8, /* the Deployment's controller writes now and then */
};

/* --- reading --- */

struct reading {
    struct leftovers *out;
    struct loop *loop;
    bool done;
};

static void finish(struct reading *r, enum kube_outcome outcome, const char *message) {
    if (r->done)
        return;
    r->done = true;
    r->out->outcome = outcome;
    str_replace(&r->out->message, message);
    loop_stop(r->loop);
}

static void on_synced(void *arg) {
    finish(arg, KUBE_OK, NULL);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)retry_in;
    finish(arg, outcome, message);
}

static void on_late(void *arg) {
    finish(arg, KUBE_UNKNOWN, "no answer in time");
}

void leftovers_read(struct session *s, struct leftovers *out) {
    *out = (struct leftovers){.session = s, .arena = ARENA_INIT};
    struct reading r = {.out = out, .loop = s->loop};
    out->store = store_new(&kind_deployment, s->conn.client.pool);
    struct reflector *reflector =
        reflector_new(&s->conn.client, out->store,
                      &(struct reflector_options){.label_selector = SURGE_MARK,
                                                  .once = true,
                                                  .seed = (uint64_t)loop_now(s->loop),
                                                  .synced = on_synced,
                                                  .problem = on_problem,
                                                  .arg = &r});
    struct loop_timer *late = loop_timer_new(s->loop, on_late, &r);
    loop_timer_set(late, SEC(PATIENCE));
    while (!r.done)
        session_wait(s);
    loop_timer_free(late);
    reflector_free(reflector);
    if (out->outcome != KUBE_OK)
        return;
    size_t n;
    _cleanup_free_ const struct object **all = store_sorted(out->store, &n);
    struct leftover *list = arena_alloc(&out->arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        struct leftover *l = &list[out->n];
        l->deployment = (const struct deployment *)all[i];
        if (surge_record_of(l->deployment, &out->arena, &l->record) == SURGE_MARKED)
            out->n++;
    }
    out->list = list;
}

void leftovers_done(struct leftovers *l) {
    store_free(l->store);
    arena_done(&l->arena);
    free(l->message);
    *l = (struct leftovers){0};
}

/* --- words --- */

static bool is_raised(const struct deployment *d, const struct surge_record *r) {
    return surge_replicas(d) == r->replicas + 1;
}

void leftover_text(const struct leftover *l, struct str *out) {
    const struct meta *meta = &l->deployment->meta;
    str_addf(out, "Deployment %s/%s ", strna(meta->ns), strna(meta->name));
    if (is_raised(l->deployment, &l->record))
        str_addf(out, "has %d replicas instead of %d", surge_replicas(l->deployment),
                 l->record.replicas);
    else
        str_add(out, "has the marks of a surge");
    str_addf(out, " since the drain of node %s", l->record.node);
    if (*l->record.by)
        str_addf(out, " by %s", l->record.by);
}

void leftover_commands(const struct leftover *l, struct str *out) {
    const struct meta *meta = &l->deployment->meta;
    const char *ns = strna(meta->ns), *name = strna(meta->name);
    if (is_raised(l->deployment, &l->record))
        str_addf(out, "kubectl -n %s scale deployment %s --replicas=%d && ", ns, name,
                 l->record.replicas);
    str_addf(out,
             "kubectl -n %s label deployment %s " SURGE_MARK "- && kubectl -n %s annotate "
             "deployment %s " SURGE_MARK "-",
             ns, name, ns, name);
}

/* --- undoing --- */

static bool is_wanted(const struct surge_record *r, const struct leftovers_wish *wish) {
    if (wish->holder && !streq(r->by, wish->holder))
        return false;
    for (size_t i = 0; i < wish->n_nodes; i++)
        if (streq(wish->nodes[i], r->node))
            return true;
    return false;
}

/* What was said of the cluster's names is made printable. */
static void tell(struct leftovers *l, bool trouble, const char *text) {
    struct cli *cli = l->session->cli;
    if (!trouble && cli->general.quiet)
        return;
    term_flush(&cli->out);
    term_printf(&cli->err, "%s", trouble ? "warning: " : "");
    term_text(&cli->err, text);
    term_printf(&cli->err, "\n");
    term_flush(&cli->err);
}

static void tell_done(struct leftovers *l, const struct leftover *item, bool lowered, bool dry) {
    const struct meta *meta = &item->deployment->meta;
    _cleanup_free_ char *text =
        lowered ? xasprintf("Deployment %s/%s %s %d replica%s again: the drain of node %s had "
                            "given it one more%s",
                            strna(meta->ns), strna(meta->name), dry ? "would have" : "has",
                            item->record.replicas, item->record.replicas == 1 ? "" : "s",
                            item->record.node, dry ? " (dry run)" : "")
                : xasprintf("Deployment %s/%s: the marks that the drain of node %s had left %s "
                            "removed; its count was changed since and stays%s",
                            strna(meta->ns), strna(meta->name), item->record.node,
                            dry ? "would be" : "are", dry ? " (dry run)" : "");
    tell(l, false, text);
}

static void tell_failed(struct leftovers *l, const struct leftover *item, const char *why) {
    _cleanup_str_ struct str text = STR_INIT;
    leftover_text(item, &text);
    str_addf(&text, ", and cannot be changed: %s. Have somebody who may do it run: ", why);
    leftover_commands(item, &text);
    tell(l, true, str_get(&text));
}

static void patch(struct leftovers *l, const struct leftover *item, bool dry, struct patient *p) {
    const struct deployment *d = item->deployment;
    _cleanup_str_ struct str body = STR_INIT;
    surge_patch_lower(d, is_raised(d, &item->record) ? item->record.replicas : -1, &body);
    patient_call(l->session,
                 &(struct kube_op_spec){.method = "PATCH",
                                        .kind = &kind_deployment,
                                        .ns = d->meta.ns,
                                        .name = d->meta.name,
                                        .query = dry ? "fieldManager=slipway&dryRun=All"
                                                     : "fieldManager=slipway",
                                        .body = str_get(&body),
                                        .content_type = "application/merge-patch+json",
                                        .result = &kind_deployment},
                 p);
}

enum look { LOOK_AGAIN, LOOK_OVER, LOOK_FAILED };

/* After somebody was faster: reads it again. LOOK_OVER: the record is not there any more. */
static enum look look_again(struct leftovers *l, struct leftover *item, struct patient *p) {
    const struct meta *meta = &item->deployment->meta;
    const char *ns = arena_printf(&l->arena, "%s", strna(meta->ns));
    const char *name = arena_printf(&l->arena, "%s", strna(meta->name));
    struct surge_record now;
    patient_done(l->session, &kind_deployment, p);
    patient_call(l->session,
                 &(struct kube_op_spec){
                     .kind = &kind_deployment, .ns = ns, .name = name, .result = &kind_deployment},
                 p);
    if (p->outcome == KUBE_NOT_FOUND)
        return LOOK_OVER;
    if (p->outcome != KUBE_OK)
        return LOOK_FAILED;
    if (surge_record_of((const struct deployment *)p->obj, &l->arena, &now) != SURGE_MARKED ||
        !streq(now.pod, item->record.pod))
        return LOOK_OVER;
    store_put(l->store, TAKE_PTR(p->obj));
    item->deployment = (const struct deployment *)store_get(l->store, ns, name);
    item->record = now;
    return LOOK_AGAIN;
}

/* One try; false when it is to be tried again. */
static bool undo_once(struct leftovers *l, struct leftover *item, bool dry, bool *lost,
                      struct patient *p) {
    bool lowered = is_raised(item->deployment, &item->record);
    patch(l, item, dry, p);
    *lost |= p->lost;
    if (p->outcome == KUBE_OK) {
        tell_done(l, item, lowered, dry);
        return true;
    }
    enum look look = p->outcome == KUBE_CONFLICT    ? look_again(l, item, p)
                     : p->outcome == KUBE_NOT_FOUND ? LOOK_OVER
                                                    : LOOK_FAILED;
    if (look == LOOK_OVER && *lost) /* it was us, and the answer did not come */
        tell_done(l, item, lowered, dry);
    if (look == LOOK_FAILED)
        tell_failed(l, item, p->message);
    return look != LOOK_AGAIN;
}

static void undo(struct leftovers *l, struct leftover item, const struct leftovers_wish *wish) {
    bool lost = false, over = wish->dry_client;
    if (over)
        tell_done(l, &item, is_raised(item.deployment, &item.record), true);
    for (int i = 0; i < CAS_TRIES && !over; i++) {
        struct patient p = {0};
        over = undo_once(l, &item, wish->dry_server, &lost, &p);
        patient_done(l->session, &kind_deployment, &p);
    }
    if (!over)
        tell_failed(l, &item, "others change it all the time");
}

void leftovers_undo(struct leftovers *l, const struct leftovers_wish *wish) {
    for (size_t i = 0; i < l->n; i++)
        if (is_wanted(&l->list[i].record, wish))
            undo(l, l->list[i], wish);
}
