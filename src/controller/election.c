/* Who leads. */
#include "controller/election.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "controller/handover.h"
#include "controller/twin.h"
#include "engine/keeper.h"
#include "kube/leader.h"

enum {
    AGAIN_S = 30,   /* after it has given the Lease away it stays out of the election */
    WARN_S = 60,    /* between two lines about a Lease that cannot be read or written */
    TROUBLE_S = 10, /* so long a leader lives on without it: the renew deadline */
};

struct election {
    struct kube_client *client;
    struct election_opts opts;
    struct leader *leader;
    struct handover *handover;
    struct loop_timer *again; /* it is a candidate again */
    bool known;               /* that somebody leads, or has */
    char *trouble;            /* with the Lease, the last time; NULL: none */
    int64_t trouble_at;       /* monotonic: since then */
    int64_t warn_at;          /* monotonic: not before */
    struct twin *twin;
    bool resigned;
    bool holds, acts; /* the Lease; and it may do something with it */
    int32_t fence;
};

/* Whoever holds the Lease leads, unless another Slipway is at work. */
static void decide(struct election *e) {
    bool acts = e->holds && !twin_ahead(e->twin);
    if (acts == e->acts)
        return;
    e->acts = acts;
    if (acts)
        e->opts.lead(e->opts.arg, e->fence);
    else
        e->opts.follow(e->opts.arg);
}

static void on_twin(void *arg) {
    struct election *e = arg;
    if (e->twin)
        decide(e);
}

static void on_started(void *arg, int32_t fence) {
    struct election *e = arg;
    log_info(e->opts.log, "leads, in term %d", fence);
    e->holds = true;
    e->fence = fence;
    decide(e);
}

static void on_stopped(void *arg, const char *why) {
    struct election *e = arg;
    if (e->resigned)
        log_info(e->opts.log, "leads no longer: %s", why);
    else
        log_warn(e->opts.log, "leads no longer: %s", why);
    handover_reset(e->handover);
    e->holds = false;
    decide(e);
}

static void on_observed(void *arg, const char *identity) {
    struct election *e = arg;
    e->known |= *identity != '\0';
}

static void on_troubled(void *arg, const char *message) {
    struct election *e = arg;
    int64_t now = loop_now(e->client->loop);
    if (message && !e->trouble)
        e->trouble_at = now;
    free(e->trouble);
    e->trouble = message ? xasprintf("the Lease %s/%s cannot be read or written: %s", e->opts.ns,
                                     KEEPER_LEASE, message)
                         : NULL;
    if (!message || now < e->warn_at)
        return;
    e->warn_at = now + SEC(WARN_S);
    log_warn(e->opts.log, "cannot lead: %s", e->trouble);
}

static int stand(struct election *e, struct err *err) {
    return leader_new(e->client,
                      &(struct leader_options){.ns = e->opts.ns,
                                               .name = KEEPER_LEASE,
                                               .identity = e->opts.identity,
                                               .seed = e->opts.seed,
                                               .started = on_started,
                                               .stopped = on_stopped,
                                               .observed = on_observed,
                                               .troubled = on_troubled,
                                               .arg = e},
                      &e->leader, err);
}

/* --- hand-over --- */

static void on_again(void *arg) {
    struct election *e = arg;
    _cleanup_err_ struct err err = ERR_INIT;
    struct leader *old = e->leader;
    handover_reset(e->handover);
    if (stand(e, &err)) {
        log_error(e->opts.log, "cannot be elected any more: %s", err_msg(&err));
        e->leader = old;
        return;
    }
    leader_free(old);
}

static void on_given(void *arg) {
    struct election *e = arg;
    loop_timer_set(e->again, SEC(AGAIN_S));
}

static void on_give(void *arg) {
    struct election *e = arg;
    e->holds = false;
    decide(e);
    leader_resign(e->leader, on_given, e);
}

static void on_decided(void *arg) {
    const struct election *e = arg;
    e->opts.decided(e->opts.arg);
}

static bool stays(void *arg, const char *name) {
    const struct election *e = arg;
    const struct node *node = cluster_node(e->opts.cluster, name);
    return node && !node->unschedulable;
}

static bool runs_on(const struct election *e, const char *node) {
    const struct object *own =
        e->opts.pod ? store_get(e->opts.cluster->pods, e->opts.ns, e->opts.pod) : NULL;
    return own && str_same(((const struct pod *)own)->node_name, node);
}

bool election_may_drain(struct election *e, const char *node) {
    return handover_may_drain(e->handover, node, runs_on(e, node));
}

/* --- life --- */

int election_new(struct kube_client *client, const struct election_opts *opts,
                 struct election **out, struct err *err) {
    struct election *e = xnew(struct election);
    e->client = client;
    e->opts = *opts;
    e->again = loop_timer_new(client->loop, on_again, e);
    e->handover = handover_new(client, &(struct handover_opts){.ns = opts->ns,
                                                               .pod = opts->pod,
                                                               .log = opts->log,
                                                               .stays = stays,
                                                               .give = on_give,
                                                               .decided = on_decided,
                                                               .arg = e});
    e->twin = twin_new(
        client,
        &(struct twin_opts){
            .ns = opts->ns, .log = opts->log, .seed = opts->seed, .changed = on_twin, .arg = e});
    int rc = stand(e, err);
    if (rc) {
        election_free(e);
        return rc;
    }
    *out = e;
    return 0;
}

void election_free(struct election *e) {
    if (!e)
        return;
    leader_free(e->leader);
    twin_free(e->twin);
    handover_free(e->handover);
    loop_timer_free(e->again);
    free(e->trouble);
    free(e);
}

bool election_leads(const struct election *e) {
    return e && e->acts && leader_is(e->leader);
}

const char *election_barred(const struct election *e) {
    return e ? twin_ahead(e->twin) : NULL;
}

const char *election_problem(const struct election *e) {
    if (!e || (!e->known && !e->trouble))
        return "who leads is not known yet";
    bool lasts = !e->known || loop_now(e->client->loop) - e->trouble_at >= SEC(TROUBLE_S);
    return e->trouble && lasts ? e->trouble : NULL;
}

void election_raise(struct election *e, int32_t fence) {
    if (leader_is(e->leader))
        leader_raise(e->leader, fence);
}

void election_resign(struct election *e, loop_fn *done, void *arg) {
    loop_timer_stop(e->again);
    e->resigned = true;
    leader_resign(e->leader, done, arg);
}
