/* The event loop: one heap of timers, driven by libevent or by a virtual clock. */
#include "net/loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"

enum { IDLE = -1 };

struct loop_timer {
    struct loop *loop;
    loop_fn *fn;
    void *arg;
    int64_t due;
    uint64_t seq; /* order among equals */
    long pos;     /* in the heap, or IDLE */
};

struct loop {
    VEC(struct loop_timer *) heap;
    uint64_t seq;
    bool stop;
    bool virtual;
    int64_t now, wall_offset;  /* virtual: the clock, and wall - now */
    struct event_base *base;   /* real */
    struct event *timer_event; /* real: fires when the first timer of the heap is due */
};

static int64_t read_clock(clockid_t id) {
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

int64_t loop_now(const struct loop *loop) {
    return loop->virtual ? loop->now : read_clock(CLOCK_BOOTTIME);
}

int64_t loop_wall(const struct loop *loop) {
    return loop->virtual ? loop->now + loop->wall_offset : read_clock(CLOCK_REALTIME);
}

/* --- the heap: the earliest timer at index 0 --- */

static bool before(const struct loop_timer *a, const struct loop_timer *b) {
    return a->due != b->due ? a->due < b->due : a->seq < b->seq;
}

static void place(struct loop *l, struct loop_timer *t, long pos) {
    l->heap.p[pos] = t;
    t->pos = pos;
}

static void sift(struct loop *l, struct loop_timer *t, long pos) {
    while (pos > 0 && before(t, l->heap.p[(pos - 1) / 2])) {
        place(l, l->heap.p[(pos - 1) / 2], pos);
        pos = (pos - 1) / 2;
    }
    for (;;) {
        long child = pos * 2 + 1, n = (long)l->heap.len;
        if (child >= n)
            break;
        if (child + 1 < n && before(l->heap.p[child + 1], l->heap.p[child]))
            child++;
        if (!before(l->heap.p[child], t))
            break;
        place(l, l->heap.p[child], pos);
        pos = child;
    }
    place(l, t, pos);
}

static void heap_remove(struct loop *l, struct loop_timer *t) {
    long pos = t->pos;
    struct loop_timer *last = l->heap.p[--l->heap.len];
    t->pos = IDLE;
    if (last != t)
        sift(l, last, pos);
}

/* --- driving --- */

/* Tells libevent when the first timer is due. */
static void rearm(struct loop *l) {
    if (l->virtual)
        return;
    if (!l->heap.len) {
        event_del(l->timer_event);
        return;
    }
    int64_t wait = l->heap.p[0]->due - loop_now(l);
    wait = MAX_OF(wait, 0);
    struct timeval tv = {wait / USEC_PER_SEC, wait % USEC_PER_SEC};
    event_add(l->timer_event, &tv);
}

/* Fires what is due at `now`, but nothing that the callbacks themselves set: those wait for the
 * next turn. */
static void fire_due(struct loop *l, int64_t now) {
    uint64_t limit = l->seq;
    while (!l->stop && l->heap.len && l->heap.p[0]->due <= now && l->heap.p[0]->seq < limit) {
        struct loop_timer *t = l->heap.p[0];
        heap_remove(l, t);
        t->fn(t->arg);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    struct loop *l = arg;
    fire_due(l, loop_now(l));
    rearm(l);
}

/* libevent exits when it cannot have its file descriptors (epoll and a pair for signals), so they
 * are tried first: 0 or a negative errno. */
static int try_descriptors(void) {
    int fds[4], n = 0, r = 0;
    while (n < (int)ARRAY_LEN(fds) && !r) {
        fds[n] = epoll_create1(EPOLL_CLOEXEC);
        if (fds[n] < 0)
            r = -errno;
        else
            n++;
    }
    while (n > 0)
        close(fds[--n]);
    return r;
}

int loop_new(struct loop **out, struct err *err) {
    int r = try_descriptors();
    if (r < 0)
        return err_errno(err, -r, "cannot set up the event loop");
    struct loop *l = xnew(struct loop);
    struct event_config *cfg = event_config_new();
    if (cfg) {
        event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
        l->base = event_base_new_with_config(cfg);
        event_config_free(cfg);
    }
    l->timer_event = l->base ? evtimer_new(l->base, on_timer, l) : NULL;
    if (!l->timer_event) {
        loop_free(l);
        return err_set(err, EIO, "cannot set up the event loop");
    }
    *out = l;
    return 0;
}

struct loop *loop_new_virtual(int64_t wall_start) {
    struct loop *l = xnew(struct loop);
    l->virtual = true;
    l->wall_offset = wall_start;
    return l;
}

void loop_free(struct loop *l) {
    if (!l)
        return;
    for (size_t i = 0; i < l->heap.len; i++)
        l->heap.p[i]->pos = IDLE;
    if (l->timer_event)
        event_free(l->timer_event);
    if (l->base)
        event_base_free(l->base);
    vec_done(&l->heap);
    free(l);
}

void loop_run(struct loop *l) {
    l->stop = false;
    if (!l->virtual) {
        rearm(l);
        event_base_dispatch(l->base);
        return;
    }
    while (!l->stop && l->heap.len) {
        l->now = MAX_OF(l->now, l->heap.p[0]->due);
        fire_due(l, l->now);
    }
}

void loop_stop(struct loop *l) {
    l->stop = true;
    if (l->base)
        event_base_loopbreak(l->base);
}

void loop_advance(struct loop *l, int64_t usec) {
    assert(l->virtual);
    int64_t end = l->now + usec;
    l->stop = false;
    while (!l->stop && l->heap.len && l->heap.p[0]->due <= end) {
        l->now = MAX_OF(l->now, l->heap.p[0]->due);
        fire_due(l, l->now);
    }
    l->now = MAX_OF(l->now, end);
}

void loop_jump(struct loop *l, int64_t usec) {
    assert(l->virtual);
    l->now += usec;
}

int64_t loop_next(const struct loop *l) {
    assert(l->virtual);
    if (!l->heap.len)
        return -1;
    return MAX_OF(l->heap.p[0]->due - l->now, 0);
}

struct event_base *loop_base(struct loop *l) {
    return l->base;
}

/* --- timers --- */

struct loop_timer *loop_timer_new(struct loop *l, loop_fn *fn, void *arg) {
    struct loop_timer *t = xnew(struct loop_timer);
    *t = (struct loop_timer){.loop = l, .fn = fn, .arg = arg, .pos = IDLE};
    return t;
}

void loop_timer_set(struct loop_timer *t, int64_t delay) {
    struct loop *l = t->loop;
    if (t->pos != IDLE)
        heap_remove(l, t);
    if (__builtin_add_overflow(loop_now(l), MAX_OF(delay, 0), &t->due))
        t->due = INT64_MAX; /* never */
    t->seq = l->seq++;
    *vec_push(&l->heap) = t;
    sift(l, t, (long)l->heap.len - 1);
    if (t->pos == 0)
        rearm(l);
}

void loop_timer_stop(struct loop_timer *t) {
    if (!t || t->pos == IDLE)
        return;
    bool first = t->pos == 0;
    heap_remove(t->loop, t);
    /* Else a loop with nothing left to wait for would wait for this one. */
    if (first)
        rearm(t->loop);
}

bool loop_timer_pending(const struct loop_timer *t) {
    return t->pos != IDLE;
}

int64_t loop_timer_left(const struct loop_timer *t) {
    return t->pos == IDLE ? 0 : MAX_OF(t->due - loop_now(t->loop), 0);
}

void loop_timer_free(struct loop_timer *t) {
    loop_timer_stop(t);
    free(t);
}
