/* Alarms in a binary heap, by time and then by the order in which they were set. */
#include "sim/clock.h"

void clock_init(struct clock *c, int64_t now) {
    *c = (struct clock){.now = now};
}

void clock_done(struct clock *c) {
    vec_done(&c->heap);
}

static bool before(const struct alarm *a, const struct alarm *b) {
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void put(struct clock *c, size_t i, struct alarm *a) {
    c->heap.p[i] = a;
    a->place = i + 1;
}

static void rise(struct clock *c, size_t i, struct alarm *a) {
    while (i > 0 && before(a, c->heap.p[(i - 1) / 2])) {
        put(c, i, c->heap.p[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(c, i, a);
}

static void sink(struct clock *c, size_t i, struct alarm *a) {
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= c->heap.len)
            break;
        if (child + 1 < c->heap.len && before(c->heap.p[child + 1], c->heap.p[child]))
            child++;
        if (!before(c->heap.p[child], a))
            break;
        put(c, i, c->heap.p[child]);
        i = child;
    }
    put(c, i, a);
}

void clock_stop(struct clock *c, struct alarm *a) {
    if (!a->place)
        return;
    size_t i = a->place - 1;
    a->place = 0;
    struct alarm *last = c->heap.p[--c->heap.len];
    if (last == a)
        return;
    if (i > 0 && before(last, c->heap.p[(i - 1) / 2]))
        rise(c, i, last);
    else
        sink(c, i, last);
}

void clock_set(struct clock *c, struct alarm *a, int64_t due, alarm_fn *fn, void *arg) {
    clock_stop(c, a);
    a->due = due > c->now ? due : c->now;
    a->order = c->order++;
    a->fn = fn;
    a->arg = arg;
    (void)vec_push(&c->heap);
    rise(c, c->heap.len - 1, a);
}

int64_t clock_next(const struct clock *c) {
    return c->heap.len ? c->heap.p[0]->due : INT64_MAX;
}

bool clock_step(struct clock *c, int64_t until) {
    if (!c->heap.len || c->heap.p[0]->due > until)
        return false;
    struct alarm *a = c->heap.p[0];
    clock_stop(c, a);
    if (a->due > c->now)
        c->now = a->due;
    c->rung++;
    a->fn(a->arg);
    return true;
}

void clock_run(struct clock *c, int64_t until) {
    while (clock_step(c, until))
        ;
    if (until > c->now)
        c->now = until;
}
