/* Another Slipway in the same cluster. */
#include "controller/twin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "engine/keeper.h"
#include "kube/reflector.h"
#include "model/store.h"

enum {
    LEASE_S = 15,      /* of a Lease that does not say for how long it is good */
    LEASE_MOST_S = 60, /* and at most */
    POLL_S = 3,        /* between two lists where watching is forbidden */
    SAY_S = 60,        /* between two lines that say the same */
};

/* One of another namespace. */
struct other {
    char *ns;
    int64_t renewed; /* as it says */
    int64_t seen;    /* monotonic: it has changed then; 0: nobody has renewed it for long */
};

struct twin {
    struct kube_client *client;
    struct twin_opts opts;
    struct store *leases;
    struct reflector *reflector;
    struct loop_timer *timer; /* one is not renewed in time, or it is said once more */
    VEC(struct other) others;
    bool known;
    char *ahead; /* as twin_ahead() says it */
    int64_t said;
};

static int64_t duration(const struct lease *l) {
    return SEC(l->duration > 0 ? MIN_OF(l->duration, (int32_t)LEASE_MOST_S) : LEASE_S);
}

static struct other *find(struct twin *t, const char *ns) {
    for (size_t i = 0; i < t->others.len; i++)
        if (streq(t->others.p[i].ns, ns))
            return &t->others.p[i];
    struct other *o = vec_push(&t->others);
    *o = (struct other){.ns = xstrdup(ns)};
    return o;
}

static bool is_earlier(const struct meta *a, const struct meta *b) {
    return !b || a->created < b->created ||
           (a->created == b->created && strcmp(strna(a->ns), strna(b->ns)) < 0);
}

/* One that is renewed, and was made before ours; the first by its namespace. */
static const struct lease *judge(struct twin *t) {
    const struct object *own = store_get(t->leases, t->opts.ns, KEEPER_LEASE), *obj;
    const struct lease *found = NULL;
    int64_t now = loop_now(t->client->loop), due = INT64_MAX;
    for (uint32_t i = 0; (obj = store_next(t->leases, &i));) {
        const struct lease *l = (const struct lease *)obj;
        if (str_same(l->meta.ns, t->opts.ns) || str_empty(l->holder))
            continue;
        const struct other *o = find(t, strna(l->meta.ns));
        if (!o->seen || now >= o->seen + duration(l) ||
            !is_earlier(&l->meta, own ? &own->meta : NULL))
            continue;
        due = MIN_OF(due, o->seen + duration(l));
        if (!found || is_earlier(&l->meta, &found->meta))
            found = l;
    }
    if (found)
        due = MIN_OF(due, MAX_OF(t->said + SEC(SAY_S), now));
    if (due != INT64_MAX)
        loop_timer_set(t->timer, MAX_OF(due - now, 0));
    return found;
}

static void look(struct twin *t) {
    const struct lease *l = judge(t);
    int64_t now = loop_now(t->client->loop);
    _cleanup_free_ char *was = TAKE_PTR(t->ahead);
    if (l)
        t->ahead = xasprintf("another Slipway is at work in namespace %s (its Lease %s is held by "
                             "%s): of two, only one may be; remove one of them",
                             l->meta.ns, KEEPER_LEASE, l->holder);
    else if (!t->known)
        t->ahead = xstrdup("whether another Slipway is at work is not known yet");
    if (l && (!str_same(was, t->ahead) || now >= t->said + SEC(SAY_S))) {
        log_warn(t->opts.log, "does nothing: %s", t->ahead);
        t->said = now;
    } else if (!l && t->said) {
        log_info(t->opts.log, "no other Slipway is at work any more");
        t->said = 0;
    }
    if (!str_same(was, t->ahead))
        t->opts.changed(t->opts.arg);
}

static void on_timer(void *arg) {
    look(arg);
}

/* What is seen for the first time may be left by one that is gone for long. */
static void on_lease(void *arg, const struct object *before, const struct object *after) {
    struct twin *t = arg;
    const struct lease *l = (const struct lease *)after;
    if (l && !str_same(l->meta.ns, t->opts.ns)) {
        struct other *o = find(t, strna(l->meta.ns));
        bool old = l->renewed < loop_wall(t->client->loop) - SEC(LEASE_MOST_S);
        if (o->renewed != l->renewed && (before || o->renewed || !old))
            o->seen = loop_now(t->client->loop);
        o->renewed = l->renewed;
    }
    if (t->known)
        look(t);
}

static void on_synced(void *arg) {
    struct twin *t = arg;
    t->known = true;
    look(t);
}

/* An installation of before may not let it look: it does what it did then. */
static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct twin *t = arg;
    (void)retry_in;
    if (t->known || (outcome != KUBE_FORBIDDEN && outcome != KUBE_NOT_FOUND))
        return;
    log_warn(t->opts.log, "cannot see whether another Slipway is at work: %s", message);
    on_synced(t);
}

struct twin *twin_new(struct kube_client *client, const struct twin_opts *opts) {
    struct twin *t = xnew(struct twin);
    t->client = client;
    t->opts = *opts;
    t->ahead = xstrdup("whether another Slipway is at work is not known yet");
    t->timer = loop_timer_new(client->loop, on_timer, t);
    t->leases = store_new(&kind_lease, client->pool);
    store_listen(t->leases, on_lease, t);
    t->reflector =
        reflector_new(client, t->leases,
                      &(struct reflector_options){.field_selector = "metadata.name=" KEEPER_LEASE,
                                                  .poll = SEC(POLL_S),
                                                  .seed = opts->seed,
                                                  .synced = on_synced,
                                                  .problem = on_problem,
                                                  .arg = t});
    return t;
}

void twin_free(struct twin *t) {
    if (!t)
        return;
    reflector_free(t->reflector);
    store_free(t->leases);
    loop_timer_free(t->timer);
    for (size_t i = 0; i < t->others.len; i++)
        free(t->others.p[i].ns);
    vec_done(&t->others);
    free(t->ahead);
    free(t);
}

const char *twin_ahead(const struct twin *t) {
    return t->ahead;
}
