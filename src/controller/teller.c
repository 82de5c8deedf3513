/* Tells what happens to everybody who is told. */
#include "controller/teller.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "controller/audit.h"
#include "controller/events.h"
#include "controller/tally.h"

enum { UNWRITTEN_S = 600 }; /* between two lines about objects that cannot be written */

/* Kinds of which somebody waits for what is written in them. Of Policies controller/standing.h
 * tells. */
static const struct kind *const awaited[] = {&kind_maintenance, &kind_rollout};

struct teller {
    struct teller_opts opts;
    int64_t unwritten_at[ARRAY_LEN(awaited)]; /* monotonic: said again then */
    struct audit *audit;                      /* NULL: none is kept */
    struct events *events;
};

static struct now now(const struct teller *t) {
    return (struct now){loop_now(t->opts.loop), loop_wall(t->opts.loop)};
}

/* --- slots, maintenances, drains, rollouts --- */

static void log_note(const struct teller *t, const struct keeper_note *n) {
    const struct log_field fields[] = {
        {"node", n->node},
        {"policy", n->policy},
        {"maintenance", n->maintenance},
        {"by", n->by},
        {"operation", n->operation},
        {"reason", n->reason},
        {"from", n->moves ? maint_phases[n->from].word : NULL},
        {"phase", n->moves ? maint_phases[n->to].word : NULL},
    };
    log_fields(t->opts.log, n->warning ? LOG_WARN : LOG_INFO, fields, ARRAY_LEN(fields),
               "node %s %s (%s)", n->node, n->text, n->reason);
}

void teller_note(struct teller *t, const struct keeper_note *note) {
    const struct object *m =
        note->maintenance ? store_get(t->opts.maintenances, NULL, note->maintenance) : NULL;
    tally_note(t->opts.metrics, note, loop_wall(t->opts.loop));
    log_note(t, note);
    audit_note(t->audit, note);
    events_note(t->events, note, m ? m->meta.uid : "", now(t));
}

void teller_said(struct teller *t, const struct keeper_said *said) {
    tally_said(t->opts.metrics, said);
}

static void log_blocked(const struct teller *t, const char *node, const struct drain_blocker *b) {
    const char *code = blocker_row(b->code)->name;
    const struct log_field fields[] = {{"node", node}, {"code", code}, {"object", b->object}};
    log_fields(t->opts.log, LOG_INFO, fields, ARRAY_LEN(fields), "node %s waits: %s %s: %s", node,
               code, b->object, b->message);
}

void teller_drain_note(struct teller *t, const struct drain_note *note) {
    if (note->kind == NOTE_BLOCKED && note->blocker)
        log_blocked(t, note->node ? note->node->name : "", note->blocker);
    else if (note->kind == NOTE_PHASE &&
             (note->node->phase == DRAIN_FAILED || note->node->phase == DRAIN_REFUSED ||
              note->node->phase == DRAIN_TIMED_OUT))
        log_warn(t->opts.log, "node %s is not drained: %s: %s", note->node->name,
                 drain_phase_word(note->node->phase), strna(note->node->error));
    else if (note->kind == NOTE_PHASE)
        log_debug(t->opts.log, "node %s: %s%s%s", note->node->name,
                  drain_phase_word(note->node->phase), note->node->error ? ": " : "",
                  strna(note->node->error));
}

void teller_rollout_note(struct teller *t, const struct rollout_note *note) {
    const struct log_field fields[] = {{"rollout", note->rollout}, {"reason", note->reason}};
    log_fields(t->opts.log, note->warning ? LOG_WARN : LOG_INFO, fields, ARRAY_LEN(fields),
               "rollout %s %s (%s)", note->rollout, note->text, note->reason);
    audit_rollout(t->audit, note);
    events_rollout(t->events, note, now(t));
}

/* --- nodes and writes --- */

/* For whom something is done with this node; "": nobody has a slot for it. */
static const char *holder_of(const struct teller *t, const char *node) {
    const struct slot *slot = policies_slot(t->opts.policies, node);
    return slot ? slot->by : "";
}

void teller_node(struct teller *t, const char *node, const char *reason, const char *text,
                 bool event) {
    const struct log_field fields[] = {
        {"node", node}, {"by", holder_of(t, node)}, {"reason", reason}};
    log_fields(t->opts.log, LOG_WARN, fields, ARRAY_LEN(fields), "node %s %s (%s)", node, text,
               reason);
    if (event)
        events_tell(t->events,
                    (struct event){.api_version = "v1",
                                   .kind = kind_node.name,
                                   .name = node,
                                   .reason = reason,
                                   .message = text,
                                   .warning = true},
                    now(t));
}

static const char *actor_of(const struct teller *t, const struct action *a) {
    if (a->kind == &kind_node)
        return holder_of(t, a->name);
    if (a->kind != &kind_pod)
        return "";
    return a->node ? holder_of(t, a->node) : "";
}

/* What is tried again and again without an end, for want of a permission in most cases. */
static void say_unwritten(struct teller *t, const struct action *a, const struct answer *answer) {
    bool lasts = answer->outcome == KUBE_FORBIDDEN || answer->outcome == KUBE_DENIED ||
                 answer->outcome == KUBE_INVALID || answer->outcome == KUBE_UNSUPPORTED;
    if (a->verb != ACTION_PATCH || !lasts)
        return;
    for (size_t i = 0; i < ARRAY_LEN(awaited); i++) {
        if (a->kind != awaited[i] || t->unwritten_at[i] > loop_now(t->opts.loop))
            continue;
        t->unwritten_at[i] = loop_now(t->opts.loop) + SEC(UNWRITTEN_S);
        log_warn(t->opts.log, "%s %s does not go on: its %s cannot be written: %s", a->kind->name,
                 a->name, a->subresource ? a->subresource : "finalizer", answer->message);
    }
}

void teller_action(struct teller *t, const struct action *action, const struct answer *answer) {
    tally_action(t->opts.metrics, action, answer);
    say_unwritten(t, action, answer);
    if (t->audit)
        audit_action(t->audit, actor_of(t, action), action, answer);
}

void teller_request(struct teller *t, const struct kube_seen *seen) {
    tally_request(t->opts.metrics, seen);
}

void teller_operate(struct teller *t, const struct maintenance *m) {
    audit_operate(t->audit, m);
}

void teller_operated(struct teller *t, const char *maintenance, const char *failure) {
    audit_operated(t->audit, maintenance, failure);
}

/* --- FleetLock --- */

void teller_answered(struct teller *t, enum fleetlock_api api, enum fleetlock_kind kind,
                     int status) {
    tally_fleetlock(t->opts.metrics, api, kind, status);
}

/* What is denied is counted only: a client asks again for ever. */
void teller_reply(struct teller *t, const struct teller_reply *r) {
    tally_fleetlock_wait(t->opts.metrics, r->api, r->took);
    if (r->reply->say == KEEPER_GO || r->reply->say == KEEPER_NOTED)
        audit_answer(t->audit, r->peer,
                     r->api == FLEETLOCK_PRE_REBOOT ? "pre-reboot" : "steady-state", r->node,
                     r->reply->text);
}

/* --- life --- */

static void on_send(void *arg, const struct action *action) {
    const struct teller *t = arg;
    t->opts.send(t->opts.arg, action);
}

static void on_dropped(void *arg) {
    const struct teller *t = arg;
    METRIC_ADD(t->opts.metrics, METRIC_EVENTS, 1, "dropped");
}

static int open_audit(struct teller *t, struct err *err) {
    if (!t->opts.audit)
        return 0;
    return audit_new(&(struct audit_opts){.path = t->opts.audit,
                                          .size = AUDIT_SIZE,
                                          .via = t->opts.identity,
                                          .loop = t->opts.loop,
                                          .log = t->opts.log,
                                          .metrics = t->opts.metrics},
                     &t->audit, err);
}

int teller_new(const struct teller_opts *opts, struct teller **out, struct err *err) {
    struct teller *t = xnew(struct teller);
    t->opts = *opts;
    t->events = events_new(&(struct events_opts){
        .by = opts->identity, .send = on_send, .dropped = on_dropped, .arg = t});
    int rc = open_audit(t, err);
    if (rc) {
        teller_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void teller_free(struct teller *t) {
    if (!t)
        return;
    audit_free(t->audit);
    events_free(t->events);
    free(t);
}

void teller_reopen(struct teller *t) {
    audit_reopen(t->audit);
}
