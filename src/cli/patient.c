/* One request after another, with patience for what passes. */
#include "cli/patient.h"

#include "base/mem.h"
#include "base/timefmt.h"

enum {
    TRIES = 4,
    PAUSE_MS = 500, /* before the second; doubles */
    PATIENCE = 30,  /* seconds that a server may ask us to wait */
    SLOW = 5,       /* seconds after which we say what we wait for */
};

struct run {
    struct session *session;
    struct patient *out;
    int64_t retry_after; /* seconds, -1 */
    bool done;
};

static void on_reply(void *arg, struct kube_reply *reply) {
    struct run *r = arg;
    r->out->outcome = reply->outcome;
    r->out->date = reply->date;
    r->out->obj = reply->obj;
    reply->obj = NULL;
    str_replace(&r->out->message, reply->message);
    str_replace(&r->out->reason, reply->status ? strna(reply->status->reason) : NULL);
    r->out->code = reply->code;
    r->retry_after = reply->retry_after;
    r->done = true;
    loop_stop(r->session->loop);
}

static void on_pause(void *arg) {
    struct run *r = arg;
    r->done = true;
    loop_stop(r->session->loop);
}

static void pause_for(struct run *r, int64_t usec) {
    struct loop_timer *timer = loop_timer_new(r->session->loop, on_pause, r);
    loop_timer_set(timer, usec);
    r->done = false;
    while (!r->done)
        session_wait(r->session);
    loop_timer_free(timer);
}

static void on_slow(void *arg) {
    struct session *s = arg;
    cli_note(s->cli, "waiting for %s", s->conn.config->server);
}

static bool passes(enum kube_outcome outcome) {
    switch (outcome) {
    case KUBE_NOT_YET:
    case KUBE_THROTTLED:
    case KUBE_TOO_NEW:
    case KUBE_TIMED_OUT:
    case KUBE_SERVER_ERROR:
    case KUBE_UNKNOWN:
        return true;
    default:
        return false;
    }
}

static void try_it(struct session *s, const struct kube_op_spec *spec, int tries,
                   struct patient *out) {
    struct run r = {.session = s, .out = out};
    int64_t pause = MSEC(PAUSE_MS);
    *out = (struct patient){0};
    for (int i = 1;; i++, pause *= 2) {
        r.done = false;
        kube_op_start(&s->conn.client, spec, on_reply, &r);
        while (!r.done)
            session_wait(s);
        /* Whoever names a time limit wants to know when it has passed. */
        bool late = out->outcome == KUBE_UNKNOWN && s->conn.client.timeout;
        if (!passes(out->outcome) || late || i == tries || r.retry_after > PATIENCE)
            return;
        /* A server that failed in the middle may have carried it out as well. */
        out->lost |= out->outcome == KUBE_UNKNOWN || out->outcome == KUBE_SERVER_ERROR ||
                     out->outcome == KUBE_TIMED_OUT;
        pause_for(&r, MAX_OF(pause, SEC(r.retry_after)));
    }
}

static void call(struct session *s, const struct kube_op_spec *spec, int tries,
                 struct patient *out) {
    struct loop_timer *slow = loop_timer_new(s->loop, on_slow, s);
    loop_timer_set(slow, SEC(SLOW));
    try_it(s, spec, tries, out);
    loop_timer_free(slow);
}

void patient_call(struct session *s, const struct kube_op_spec *spec, struct patient *out) {
    call(s, spec, TRIES, out);
}

void patient_try(struct session *s, const struct kube_op_spec *spec, struct patient *out) {
    call(s, spec, 1, out);
}

void patient_delete(struct session *s, const struct kind *kind, const struct meta *meta,
                    bool dry_run, struct patient *out) {
    _cleanup_str_ struct str body = STR_INIT;
    kube_delete_body(&(struct kube_delete_options){.uid = strna(meta->uid),
                                                   .grace = -1,
                                                   .propagation = "Background"},
                     dry_run, &body);
    patient_call(s,
                 &(struct kube_op_spec){.method = "DELETE",
                                        .kind = kind,
                                        .ns = meta->ns,
                                        .name = meta->name,
                                        .body = str_get(&body)},
                 out);
}

void patient_done(struct session *s, const struct kind *result, struct patient *p) {
    if (p->obj)
        object_free(result, s->conn.client.pool, p->obj);
    free(p->message);
    free(p->reason);
    *p = (struct patient){0};
}
