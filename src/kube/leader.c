/* Leader election on a Lease. */
#include "kube/leader.h"

#include <errno.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/timefmt.h"

enum { DURATION_MAX = 24 * 3600 }; /* seconds: a longer lease is a mistake */

struct leader {
    struct kube_client *client;
    struct leader_options opts;
    char *ns, *name, *identity;
    struct prng prng;
    struct loop_timer *retry;    /* the next attempt */
    struct loop_timer *deadline; /* of a leader: renew by then or stop */
    struct kube_op *op;
    int64_t op_started;

    struct lease *seen; /* the Lease as last read or written; NULL: none */
    int64_t seen_at;    /* when it last changed, monotonic */
    bool current;       /* `seen` came with the last answer: its version can be written against */
    int32_t highest; /* transitions ever seen, -1: a Lease that was deleted must not begin anew */
    int32_t least;   /* transitions that the next write must have: somebody has seen more */
    bool again;      /* this attempt has failed to write once already */
    bool leading, resigned, releasing;
    char *told; /* whom `observed` was last told */
    loop_fn *resign_done;
    void *resign_arg;
};

static void attempt_read(struct leader *l);
static void release(struct leader *l);

static bool held_by_us(const struct leader *l) {
    return l->seen && str_same(l->seen->holder, l->identity);
}

static void forget(struct leader *l) {
    if (l->seen)
        object_free(&kind_lease, l->client->pool, (struct object *)l->seen);
    l->seen = NULL;
    l->current = false;
}

/* The record, as client-go compares it. */
static bool same_record(const struct lease *a, const struct lease *b) {
    return a && b && a->holder == b->holder && a->duration == b->duration &&
           a->acquired == b->acquired && a->renewed == b->renewed &&
           a->transitions == b->transitions;
}

static void tell(struct leader *l) {
    const char *holder = l->seen ? strna(l->seen->holder) : "";
    if (l->told && streq(l->told, holder))
        return;
    str_replace(&l->told, holder);
    if (l->opts.observed)
        l->opts.observed(l->opts.arg, holder);
}

static void trouble(const struct leader *l, const char *message) {
    if (message)
        log_debug(l->client->log, "lease %s/%s: %s", l->ns, l->name, message);
    if (l->opts.troubled)
        l->opts.troubled(l->opts.arg, message);
}

/* A write has failed since somebody else has changed the Lease meanwhile. */
static bool was_late(const struct leader *l, const struct kube_reply *reply) {
    return reply->outcome == KUBE_CONFLICT || reply->outcome == KUBE_EXISTS ||
           (reply->outcome == KUBE_NOT_FOUND && l->seen);
}

/* Takes the object of an answer over. */
static void look_at(struct leader *l, struct kube_reply *reply) {
    struct lease *lease = (struct lease *)reply->obj;
    reply->obj = NULL;
    if (!same_record(l->seen, lease))
        l->seen_at = loop_now(l->client->loop);
    forget(l);
    l->seen = lease;
    l->current = true;
    if (lease->transitions != ABSENT32)
        l->highest = MAX_OF(l->highest, lease->transitions);
}

static void stop_leading(struct leader *l, const char *why) {
    l->leading = false;
    loop_timer_stop(l->deadline);
    if (l->opts.stopped)
        l->opts.stopped(l->opts.arg, why);
}

static void on_deadline(void *arg) {
    struct leader *l = arg;
    if (l->leading)
        stop_leading(l, "the Lease could not be renewed in time");
}

/* A write of ours went through at op_started or later: the promise counts from then. It may be over
 * when the answer is seen (the process was suspended). */
static void on_held(struct leader *l) {
    int64_t left = l->op_started + l->opts.renew - loop_now(l->client->loop);
    if (left <= 0 || l->seen->transitions < l->least)
        return;
    loop_timer_set(l->deadline, left);
    if (l->leading)
        return;
    l->leading = true;
    if (l->opts.started)
        l->opts.started(l->opts.arg, leader_fence(l));
}

static void later(struct leader *l) {
    int64_t delay = l->opts.retry;
    if (!l->leading) /* candidates spread out: client-go's jitter factor is 1.2 */
        delay += prng_range(&l->prng, 0, l->opts.retry * 12 / 10);
    loop_timer_set(l->retry, delay);
}

static void finish_resign(struct leader *l) {
    loop_fn *fn = l->resign_done;
    l->resign_done = NULL;
    if (fn)
        fn(l->resign_arg);
}

/* Without a version there is no compare-and-swap. */
static bool has_lease(const struct kube_reply *reply) {
    return reply->outcome == KUBE_OK && reply->obj && reply->obj->meta.version;
}

static void on_written(void *arg, struct kube_reply *reply) {
    struct leader *l = arg;
    l->op = NULL;
    if (l->resigned) {
        bool claimed = !l->releasing && has_lease(reply);
        if (claimed)
            look_at(l, reply);
        if (claimed && held_by_us(l))
            release(l); /* it was given up while this was under way */
        else
            finish_resign(l);
        return;
    }
    if (has_lease(reply)) {
        look_at(l, reply);
        tell(l);
        trouble(l, NULL);
        if (held_by_us(l))
            on_held(l);
        later(l);
        return;
    }
    /* Conflict, lost answer, error: what stands there now must be read before the next write. */
    l->current = false;
    if (!was_late(l, reply))
        trouble(l, reply->message);
    if (l->leading && !l->again) {
        l->again = true;
        attempt_read(l);
    } else {
        later(l);
    }
}

/* A merge patch with the version: a compare-and-swap that leaves alone what we do not hold. */
static void print_swap(struct jsonw *w, const struct lease *lease) {
    char buf[TIMEFMT_LEN];
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kstr(w, "resourceVersion", strna(lease->meta.version));
    jsonw_end(w);
    jsonw_kbegin(w, "spec", '{');
    jsonw_kstr(w, "holderIdentity", strna(lease->holder));
    jsonw_kint(w, "leaseDurationSeconds", lease->duration);
    jsonw_kstr(w, "acquireTime", time_format(lease->acquired, true, buf));
    jsonw_kstr(w, "renewTime", time_format(lease->renewed, true, buf));
    jsonw_kint(w, "leaseTransitions", lease->transitions);
    jsonw_end(w);
    jsonw_end(w);
}

static void write_lease(struct leader *l, const struct lease *lease, bool create) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &body, false);
    if (create)
        object_print(&kind_lease, &w, (const struct object *)lease);
    else
        print_swap(&w, lease);
    struct kube_write where = {
        .kind = &kind_lease,
        .ns = l->ns,
        .name = l->name,
        .lane = KUBE_LANE_LEASE,
        .timeout = l->opts.renew / 2,
    };
    l->op_started = loop_now(l->client->loop);
    l->op = create ? kube_create(l->client, &where, str_get(&body), on_written, l)
                   : kube_patch(l->client, &where, KUBE_PATCH_MERGE, str_get(&body), on_written, l);
}

static int32_t one_more(int32_t transitions) {
    return transitions == INT32_MAX ? INT32_MAX : transitions + 1;
}

/* Writes the Lease as ours: new, taken over or renewed. */
static void claim(struct leader *l) {
    int64_t wall = loop_wall(l->client->loop);
    struct lease lease = {0};
    type_init(kind_lease.type, &lease, &lease);
    if (l->seen)
        lease = *l->seen;
    bool renewal = held_by_us(l);
    lease.meta.ns = l->ns;
    lease.meta.name = l->name;
    lease.holder = l->identity;
    lease.duration = (int32_t)(l->opts.lease / USEC_PER_SEC);
    lease.renewed = wall;
    int32_t before = lease.transitions == ABSENT32 ? 0 : lease.transitions;
    if (!l->seen)
        lease.transitions = one_more(l->highest);
    else
        lease.transitions = renewal ? before : one_more(before);
    lease.transitions = MAX_OF(lease.transitions, l->least);
    if (!renewal || !lease.acquired)
        lease.acquired = wall;
    write_lease(l, &lease, !l->seen);
}

static bool is_free(const struct leader *l) {
    if (!l->seen || !l->seen->holder || held_by_us(l))
        return true;
    int64_t duration =
        l->seen->duration == ABSENT32 ? l->opts.lease : (int64_t)l->seen->duration * USEC_PER_SEC;
    return l->seen_at + duration < loop_now(l->client->loop);
}

static void on_read(void *arg, struct kube_reply *reply) {
    struct leader *l = arg;
    l->op = NULL;
    if (l->resigned) {
        finish_resign(l);
        return;
    }
    if (reply->outcome == KUBE_NOT_FOUND) {
        if (l->leading)
            stop_leading(l, "the Lease was deleted");
        if (!is_free(l)) {
            later(l); /* whoever held it may not know yet */
            return;
        }
        forget(l);
        l->current = true;
    } else if (has_lease(reply)) {
        look_at(l, reply);
    } else {
        trouble(l, reply->message);
        later(l);
        return;
    }
    tell(l);
    if (l->leading && l->seen && !held_by_us(l))
        stop_leading(l, "another one has taken the Lease");
    if (is_free(l)) {
        claim(l);
    } else {
        trouble(l, NULL);
        later(l);
    }
}

static void attempt_read(struct leader *l) {
    struct kube_op_spec spec = {
        .kind = &kind_lease,
        .ns = l->ns,
        .name = l->name,
        .result = &kind_lease,
        .lane = KUBE_LANE_LEASE,
        .timeout = l->opts.renew / 2,
    };
    l->op_started = loop_now(l->client->loop);
    l->op = kube_op_start(l->client, &spec, on_read, l);
}

static void attempt(struct leader *l) {
    l->again = false;
    if (l->leading && l->current && held_by_us(l))
        claim(l); /* the fast path: renew against the version we wrote */
    else
        attempt_read(l);
}

static void on_retry(void *arg) {
    struct leader *l = arg;
    if (l->resigned)
        finish_resign(l);
    else
        attempt(l);
}

void leader_raise(struct leader *l, int32_t fence) {
    l->least = MAX_OF(l->least, one_more(fence));
    if (l->resigned || !l->leading || leader_fence(l) >= l->least)
        return;
    stop_leading(l, "its term is not the latest one");
    if (!l->op)
        loop_timer_set(l->retry, 0);
}

int leader_new(struct kube_client *client, const struct leader_options *opts, struct leader **out,
               struct err *err) {
    struct leader_options o = *opts;
    o.lease = o.lease ? o.lease : SEC(15);
    o.renew = o.renew ? o.renew : SEC(10);
    o.retry = o.retry ? o.retry : SEC(2);
    o.lease -= o.lease % USEC_PER_SEC; /* the Lease counts in seconds, and others go by it */
    if (str_empty(o.identity) || str_empty(o.ns) || str_empty(o.name))
        return err_set(err, EINVAL,
                       "leader election needs an identity and the namespace and name of a Lease");
    if (o.retry <= 0 || o.renew > SEC(DURATION_MAX) || o.retry > o.renew ||
        o.renew * 10 <= o.retry * 12 || o.lease <= o.renew || o.lease > SEC(DURATION_MAX))
        return err_set(
            err, EINVAL,
            "leader election: the lease (in whole seconds) must be longer than the renew "
            "deadline, that longer than 1.2 times the retry period, and none longer than "
            "a day");
    struct leader *l = xnew(struct leader);
    l->client = client;
    l->opts = o;
    l->ns = xstrdup(o.ns);
    l->name = xstrdup(o.name);
    l->identity = xstrdup(o.identity);
    l->prng.state = o.seed;
    l->highest = -1;
    l->retry = loop_timer_new(client->loop, on_retry, l);
    l->deadline = loop_timer_new(client->loop, on_deadline, l);
    attempt_read(l);
    *out = l;
    return 0;
}

void leader_free(struct leader *l) {
    if (!l)
        return;
    kube_op_cancel(l->op);
    loop_timer_free(l->retry);
    loop_timer_free(l->deadline);
    forget(l);
    free(l->ns);
    free(l->name);
    free(l->identity);
    free(l->told);
    free(l);
}

bool leader_is(const struct leader *l) {
    return l->leading && leader_left(l) > 0;
}

int32_t leader_fence(const struct leader *l) {
    return l->seen && l->seen->transitions != ABSENT32 ? l->seen->transitions : 0;
}

int64_t leader_left(const struct leader *l) {
    return l->leading ? loop_timer_left(l->deadline) : 0;
}

/* Writes the Lease as nobody's. */
static void release(struct leader *l) {
    struct lease lease = *l->seen;
    int64_t wall = loop_wall(l->client->loop);
    l->releasing = true;
    lease.holder = NULL;
    lease.duration = 1;
    lease.renewed = lease.acquired = wall;
    write_lease(l, &lease, false);
}

void leader_resign(struct leader *l, loop_fn *done, void *arg) {
    bool ours = l->leading && l->current && held_by_us(l);
    l->resign_done = done;
    l->resign_arg = arg;
    l->resigned = true;
    loop_timer_stop(l->retry);
    if (l->leading)
        stop_leading(l, "it was given up");
    if (l->op)
        return; /* its answer decides whether there is anything to give up */
    if (ours)
        release(l);
    else
        loop_timer_set(l->retry, 0);
}
