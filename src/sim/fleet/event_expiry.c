/* Events are kept for an hour after their last change, as kube-apiserver's --event-ttl has it. */
#include "sim/fleet/parts.h"

#include "sim/fleet/fleet.h"

#define EVENT_TTL SEC(3600)

/* An Event as it was written once: it goes if nobody has written it since. */
struct expiry {
    int64_t due;
    uint64_t version;
    const char *ns, *name; /* pool entries */
};

struct expiries {
    struct fleet *fleet;
    VEC(struct expiry) list; /* in the order of their time, from `first` on */
    size_t first;
    struct alarm alarm;
};

static void drop(struct expiries *x, struct expiry *e) {
    pool_unref(x->fleet->world->pool, e->ns);
    pool_unref(x->fleet->world->pool, e->name);
}

static void expire(void *arg) {
    struct expiries *x = arg;
    struct fleet *f = x->fleet;
    while (x->first < x->list.len && x->list.p[x->first].due <= f->world->clock.now) {
        struct expiry e = x->list.p[x->first++];
        struct record *r = shelf_get(f->events->shelf, e.ns, e.name);
        if (r && r->version == e.version)
            shelf_remove(f->events->shelf, r);
        drop(x, &e);
    }
    if (x->first * 2 > x->list.len) {
        x->list.len -= x->first;
        memmove(x->list.p, x->list.p + x->first, x->list.len * sizeof *x->list.p);
        x->first = 0;
    }
    if (x->first < x->list.len)
        clock_set(&f->world->clock, &x->alarm, x->list.p[x->first].due, expire, x);
}

static void event_changed(void *arg, const struct change *c) {
    struct expiries *x = arg;
    struct clock *clock = &x->fleet->world->clock;
    const struct meta *m = &c->after->obj->meta;
    if (c->type == CHANGE_DELETED)
        return;
    *vec_push(&x->list) = (struct expiry){.due = clock->now + EVENT_TTL,
                                          .version = c->after->version,
                                          .ns = pool_ref(m->ns),
                                          .name = pool_ref(m->name)};
    if (!alarm_pending(&x->alarm))
        clock_set(clock, &x->alarm, x->list.p[x->first].due, expire, x);
}

static void *start(struct fleet *f) {
    struct expiries *x = xnew(struct expiries);
    x->fleet = f;
    shelf_listen(f->events->shelf, event_changed, x);
    return x;
}

static void stop(void *part) {
    struct expiries *x = part;
    shelf_unlisten(x->fleet->events->shelf, event_changed, x);
    clock_stop(&x->fleet->world->clock, &x->alarm);
    for (size_t i = x->first; i < x->list.len; i++)
        drop(x, &x->list.p[i]);
    vec_done(&x->list);
    free(x);
}

const struct part event_expiry_part = {"event-expiry", start, stop};
