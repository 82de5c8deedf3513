/* Tests of net/loop.c. The virtual loop is checked to the microsecond; of the real one only what
 * holds on the slowest machine: order, and never too early. */
#include <errno.h>
#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "net/loop.h"

/* A timer that notes when it fired. */
struct probe {
    struct loop *loop;
    struct loop_timer *timer;
    char name;
    int fired;
    int64_t at; /* loop_now() when it fired last */
    void (*then)(struct probe *self);
    struct probe *other;
    int64_t delay;
};

static char order[4096];

static void on_fire(void *arg) {
    struct probe *p = arg;
    p->fired++;
    p->at = loop_now(p->loop);
    size_t n = strlen(order);
    if (n < sizeof order - 1) {
        order[n] = p->name;
        order[n + 1] = '\0';
    }
    if (p->then)
        p->then(p);
}

static struct probe probe_in(struct loop *loop, struct probe *p, char name) {
    *p = (struct probe){.loop = loop, .name = name, .timer = loop_timer_new(loop, on_fire, p)};
    return *p;
}

static void done(struct probe *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        loop_timer_free(p[i].timer);
}

static int setup_virtual(void **state) {
    order[0] = '\0';
    *state = loop_new_virtual(SEC(1000));
    return 0;
}

static int setup_real(void **state) {
    order[0] = '\0';
    return loop_new((struct loop **)state, NULL);
}

static int teardown(void **state) {
    loop_free(*state);
    return 0;
}

/* --- both loops --- */

static void test_equal_times_in_the_order_set(void **state) {
    struct loop *loop = *state;
    struct probe p[8];
    for (int i = 0; i < 8; i++)
        probe_in(loop, &p[i], (char)('a' + i));
    /* "At once" is one time for all, also on a clock that moves. */
    static const int set[] = {3, 0, 7, 1, 6, 2, 5, 4};
    for (int i = 0; i < 8; i++)
        loop_timer_set(p[set[i]].timer, 0);
    loop_timer_set(p[0].timer, -5); /* set again: now the last */
    loop_run(loop);
    assert_string_equal(order, "dhbgcfea");
    done(p, 8);
}

static void test_not_inside_the_call(void **state) {
    struct loop *loop = *state;
    struct probe p;
    probe_in(loop, &p, 'a');
    assert_false(loop_timer_pending(p.timer));
    loop_timer_set(p.timer, 0);
    assert_int_equal(p.fired, 0);
    assert_true(loop_timer_pending(p.timer));
    loop_run(loop);
    assert_int_equal(p.fired, 1);
    assert_false(loop_timer_pending(p.timer));
    loop_run(loop); /* nothing is set: returns at once */
    assert_int_equal(p.fired, 1);
    done(&p, 1);
}

static void free_self(struct probe *p) {
    loop_timer_free(p->timer);
    p->timer = NULL;
}

static void test_callback_frees_its_own_timer(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    p[0].then = free_self;
    loop_timer_set(p[0].timer, 0);
    loop_timer_set(p[1].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "ab");
    assert_null(p[0].timer);
    done(p, 2);
}

static void free_other(struct probe *p) {
    loop_timer_free(p->other->timer);
    p->other->timer = NULL;
}

/* The other one is due in the same turn and must not fire any more. */
static void test_callback_frees_a_due_timer(void **state) {
    struct loop *loop = *state;
    struct probe p[3];
    for (int i = 0; i < 3; i++)
        probe_in(loop, &p[i], (char)('a' + i));
    p[0].then = free_other;
    p[0].other = &p[1];
    for (int i = 0; i < 3; i++)
        loop_timer_set(p[i].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "ac");
    done(p, 3);
}

static void stop_other(struct probe *p) {
    loop_timer_stop(p->other->timer);
}

static void test_callback_stops_a_due_timer(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    p[0].then = stop_other;
    p[0].other = &p[1];
    loop_timer_set(p[0].timer, 0);
    loop_timer_set(p[1].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "a");
    assert_false(loop_timer_pending(p[1].timer));
    done(p, 2);
}

static void set_again(struct probe *p) {
    if (p->fired < 5)
        loop_timer_set(p->timer, p->delay);
}

static void test_callback_sets_its_own_timer(void **state) {
    struct loop *loop = *state;
    struct probe p;
    probe_in(loop, &p, 'a');
    p.then = set_again;
    loop_timer_set(p.timer, 0);
    loop_run(loop);
    assert_int_equal(p.fired, 5);
    done(&p, 1);
}

/* A callback that asks for "at once" again and again does not starve those that were there. */
static void test_set_in_a_callback_waits_for_the_next_turn(void **state) {
    struct loop *loop = *state;
    struct probe p[3];
    for (int i = 0; i < 3; i++)
        probe_in(loop, &p[i], (char)('a' + i));
    p[0].then = set_again;
    for (int i = 0; i < 3; i++)
        loop_timer_set(p[i].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "abcaaaa");
    done(p, 3);
}

static void stop_loop(struct probe *p) {
    loop_stop(p->loop);
}

static void test_stop(void **state) {
    struct loop *loop = *state;
    struct probe p[3];
    for (int i = 0; i < 3; i++)
        probe_in(loop, &p[i], (char)('a' + i));
    p[1].then = stop_loop;
    for (int i = 0; i < 3; i++)
        loop_timer_set(p[i].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "ab");
    assert_true(loop_timer_pending(p[2].timer));
    loop_run(loop); /* goes on where it stopped */
    assert_string_equal(order, "abc");
    done(p, 3);
}

static void test_stopped_timer(void **state) {
    struct loop *loop = *state;
    struct probe p;
    probe_in(loop, &p, 'a');
    loop_timer_set(p.timer, 0);
    loop_timer_stop(p.timer);
    loop_timer_stop(p.timer);
    loop_timer_stop(NULL);
    assert_false(loop_timer_pending(p.timer));
    loop_run(loop);
    assert_int_equal(p.fired, 0);
    done(&p, 1);
    loop_timer_free(NULL);
}

/* With the last timer stopped nothing is left to wait for: not even its old time. */
static void test_nothing_left_after_stop(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    int64_t start = loop_now(loop);
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    loop_timer_set(p[0].timer, SEC(3600));
    p[1].then = stop_other;
    p[1].other = &p[0];
    loop_timer_set(p[1].timer, 0);
    loop_run(loop);
    assert_string_equal(order, "b");
    loop_timer_set(p[0].timer, SEC(3600));
    loop_timer_stop(p[0].timer);
    loop_run(loop);
    loop_timer_set(p[0].timer, SEC(3600));
    loop_timer_free(p[0].timer);
    p[0].timer = NULL;
    loop_run(loop);
    assert_true(loop_now(loop) - start < SEC(3600));
    done(p, 2);
}

static void test_set_later_and_earlier(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    loop_timer_set(p[0].timer, 0);
    loop_timer_set(p[1].timer, SEC(3600));
    loop_timer_set(p[1].timer, MSEC(1)); /* much earlier */
    loop_timer_set(p[0].timer, MSEC(2)); /* later, and after the other whatever the clock does */
    loop_run(loop);
    assert_string_equal(order, "ba");
    done(p, 2);
}

/* No overflow, and so not in the past. */
static void test_endless_delay(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    loop_timer_set(p[0].timer, MSEC(1)); /* lets time pass on the virtual clock too */
    loop_run(loop);
    loop_timer_set(p[1].timer, INT64_MAX);
    loop_timer_set(p[0].timer, MSEC(1));
    p[0].then = stop_loop;
    loop_run(loop);
    assert_string_equal(order, "aa");
    assert_true(loop_timer_pending(p[1].timer));
    done(p, 2);
}

/* A timer may outlive its loop if it is only freed afterwards. */
static void test_timer_freed_after_the_loop(void **state) {
    struct probe p[2];
    probe_in(*state, &p[0], 'a');
    probe_in(*state, &p[1], 'b');
    loop_timer_set(p[0].timer, SEC(1));
    loop_free(*state);
    *state = NULL;
    assert_false(loop_timer_pending(p[0].timer));
    done(p, 2);
}

/* --- virtual --- */

static void test_virtual_clocks(void **state) {
    struct loop *loop = *state;
    assert_int_equal(loop_now(loop), 0);
    assert_int_equal(loop_wall(loop), SEC(1000));
    assert_int_equal(loop_next(loop), -1);
    assert_null(loop_base(loop));
    loop_advance(loop, SEC(7));
    assert_int_equal(loop_now(loop), SEC(7));
    assert_int_equal(loop_wall(loop), SEC(1007));
    loop_advance(loop, 0);
    assert_int_equal(loop_now(loop), SEC(7));
}

static void count_up(void *arg) {
    ++*(unsigned *)arg;
}

/* As after a process was stopped: time has passed, and what was due is so all at once. */
static void test_virtual_jump_runs_nothing(void **state) {
    struct loop *loop = *state;
    unsigned n = 0;
    struct loop_timer *early = loop_timer_new(loop, count_up, &n),
                      *late = loop_timer_new(loop, count_up, &n);
    loop_timer_set(early, SEC(1));
    loop_timer_set(late, SEC(9));
    loop_jump(loop, SEC(5));
    assert_int_equal(n, 0);
    assert_int_equal(loop_now(loop), SEC(5));
    assert_int_equal(loop_wall(loop), SEC(1005));
    assert_int_equal(loop_next(loop), 0);
    loop_advance(loop, 0);
    assert_int_equal(n, 1);
    assert_int_equal(loop_now(loop), SEC(5));
    assert_int_equal(loop_next(loop), SEC(4));
    loop_timer_free(early);
    loop_timer_free(late);
}

static void test_virtual_advance_is_exact(void **state) {
    struct loop *loop = *state;
    struct probe p[3];
    for (int i = 0; i < 3; i++)
        probe_in(loop, &p[i], (char)('a' + i));
    loop_timer_set(p[0].timer, 1000);
    loop_timer_set(p[1].timer, 1001);
    loop_timer_set(p[2].timer, 5000);
    assert_int_equal(loop_next(loop), 1000);
    loop_advance(loop, 999);
    assert_string_equal(order, "");
    assert_int_equal(loop_next(loop), 1);
    loop_advance(loop, 1);
    assert_string_equal(order, "a");
    assert_int_equal(p[0].at, 1000);
    assert_int_equal(loop_now(loop), 1000);
    loop_advance(loop, 3500);
    assert_string_equal(order, "ab");
    assert_int_equal(p[1].at, 1001); /* the clock stood at its time, not at the end of the step */
    assert_int_equal(loop_now(loop), 4500);
    assert_int_equal(loop_next(loop), 500);
    loop_advance(loop, 500);
    assert_string_equal(order, "abc");
    assert_int_equal(loop_next(loop), -1);
    done(p, 3);
}

static void test_virtual_left(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    assert_int_equal(loop_timer_left(p[0].timer), 0);
    loop_timer_set(p[0].timer, 1000);
    assert_int_equal(loop_timer_left(p[0].timer), 1000);
    loop_advance(loop, 400);
    assert_int_equal(loop_timer_left(p[0].timer), 600);
    p[1].then = stop_loop;
    loop_timer_set(p[1].timer, 0);
    loop_advance(loop, 5000); /* stopped at once: the other one is overdue now */
    assert_true(loop_timer_pending(p[0].timer));
    assert_int_equal(loop_timer_left(p[0].timer), 0);
    loop_run(loop);
    assert_int_equal(loop_timer_left(p[0].timer), 0);
    assert_string_equal(order, "ba");
    done(p, 2);
}

/* A periodic timer fires as often as it fits in, also one that begins within the step. */
static void set_forever(struct probe *p) {
    loop_timer_set(p->timer, p->delay);
}

static void test_virtual_periodic(void **state) {
    struct loop *loop = *state;
    struct probe p;
    probe_in(loop, &p, 'a');
    p.then = set_forever;
    p.delay = 300;
    loop_timer_set(p.timer, 300);
    loop_advance(loop, 1000);
    assert_int_equal(p.fired, 3);
    assert_int_equal(p.at, 900);
    assert_int_equal(loop_next(loop), 200);
    loop_advance(loop, SEC(36));
    assert_int_equal(p.fired, (1000 + SEC(36)) / 300);
    done(&p, 1);
}

static void test_virtual_run_jumps(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    loop_timer_set(p[0].timer, SEC(86400) * 365);
    loop_timer_set(p[1].timer, SEC(5));
    loop_run(loop);
    assert_string_equal(order, "ba");
    assert_int_equal(p[1].at, SEC(5));
    assert_int_equal(loop_now(loop), SEC(86400) * 365);
    assert_int_equal(loop_wall(loop), SEC(1000) + SEC(86400) * 365);
    done(p, 2);
}

/* Stopped in the middle of a step: the time is over all the same, the rest fires in the next. */
static void test_virtual_stop_within_advance(void **state) {
    struct loop *loop = *state;
    struct probe p[2];
    probe_in(loop, &p[0], 'a');
    probe_in(loop, &p[1], 'b');
    p[0].then = stop_loop;
    loop_timer_set(p[0].timer, 10);
    loop_timer_set(p[1].timer, 20);
    loop_advance(loop, 100);
    assert_string_equal(order, "a");
    assert_int_equal(loop_now(loop), 100);
    assert_int_equal(loop_next(loop), 0);
    loop_advance(loop, 1);
    assert_string_equal(order, "ab");
    assert_int_equal(p[1].at, 100);
    assert_int_equal(loop_now(loop), 101);
    done(p, 2);
}

/* Thousands of timers set, moved and stopped at random: they fire sorted by time, then by the order
 * of setting, each exactly at its time. */
struct sorted {
    struct loop *loop;
    struct loop_timer *timer;
    int64_t due;
    uint64_t seq;
    bool pending;
};
static struct sorted *last_fired;
static int n_fired;

static void on_sorted(void *arg) {
    struct sorted *s = arg;
    assert_true(s->pending);
    assert_int_equal(loop_now(s->loop), s->due);
    if (last_fired && last_fired->due == s->due)
        assert_true(last_fired->seq < s->seq);
    else if (last_fired)
        assert_true(last_fired->due < s->due);
    s->pending = false;
    last_fired = s;
    n_fired++;
}

static void test_virtual_random(void **state) {
    struct loop *loop = *state;
    enum { N = 1000, STEPS = 50000 };
    struct sorted *s = xcalloc(N, sizeof *s);
    uint64_t seq = 0;
    int pending = 0;
    srandom(12);
    last_fired = NULL;
    for (int i = 0; i < N; i++) {
        s[i].loop = loop;
        s[i].timer = loop_timer_new(loop, on_sorted, &s[i]);
    }
    for (int step = 0; step < STEPS; step++) {
        struct sorted *t = &s[random() % N];
        switch (random() % 8) {
        case 0:
            loop_timer_stop(t->timer);
            t->pending = false;
            break;
        case 1:
            loop_advance(loop, random() % 20);
            break;
        default: {
            /* Not "at once": that would be due at a time which has passed its turn. */
            int64_t delay = 1 + random() % 500;
            /* What has fired must not be compared with its own next time. */
            if (last_fired == t)
                last_fired = NULL;
            loop_timer_set(t->timer, delay);
            *t = (struct sorted){loop, t->timer, loop_now(loop) + delay, seq++, true};
        }
        }
        assert_int_equal(loop_timer_pending(t->timer), t->pending);
    }
    n_fired = 0;
    for (int i = 0; i < N; i++)
        pending += s[i].pending;
    loop_run(loop);
    assert_int_equal(n_fired, pending);
    for (int i = 0; i < N; i++) {
        assert_false(loop_timer_pending(s[i].timer));
        loop_timer_free(s[i].timer);
    }
    free(s);
}

/* --- real --- */

static void test_real_clocks(void **state) {
    struct loop *loop = *state;
    struct timespec ts;
    int64_t a = loop_now(loop), b = loop_now(loop);
    assert_true(a > 0 && b >= a);
    clock_gettime(CLOCK_REALTIME, &ts);
    int64_t wall = (int64_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
    int64_t diff = loop_wall(loop) - wall;
    assert_true(diff >= 0 && diff < SEC(60));
    assert_non_null(loop_base(loop));
}

static void test_real_never_too_early(void **state) {
    struct loop *loop = *state;
    struct probe p[20];
    int64_t start = loop_now(loop);
    for (int i = 0; i < 20; i++) {
        probe_in(loop, &p[i], (char)('a' + i));
        loop_timer_set(p[i].timer, 1 + i * 700);
    }
    loop_run(loop);
    assert_string_equal(order, "abcdefghijklmnopqrst");
    for (int i = 0; i < 20; i++)
        assert_true(p[i].at >= start + 1 + i * 700);
    done(p, 20);
}

static void on_readable(evutil_socket_t fd, short what, void *arg) {
    struct probe *p = arg;
    char c;
    assert_int_equal(what, EV_READ);
    assert_int_equal(read(fd, &c, 1), 1);
    loop_timer_set(p->timer, 0);
}

/* Sockets beside timers; the loop ends when neither is left. */
static void test_real_with_a_file_descriptor(void **state) {
    struct loop *loop = *state;
    struct probe p;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    probe_in(loop, &p, 'a');
    struct event *ev = event_new(loop_base(loop), fds[0], EV_READ, on_readable, &p);
    event_add(ev, NULL);
    assert_int_equal(write(fds[1], "x", 1), 1);
    loop_run(loop);
    assert_string_equal(order, "a");
    event_free(ev);
    close(fds[0]);
    close(fds[1]);
    done(&p, 1);
}

static void on_readable_stop(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    loop_timer_stop(((struct probe *)arg)->timer);
}

/* The last timer is stopped by something that is no timer: the loop does not wait for it. */
static void test_real_timer_stopped_by_a_socket(void **state) {
    struct loop *loop = *state;
    struct probe p;
    int fds[2];
    int64_t start = loop_now(loop);
    assert_int_equal(pipe(fds), 0);
    probe_in(loop, &p, 'a');
    struct event *ev = event_new(loop_base(loop), fds[0], EV_READ, on_readable_stop, &p);
    event_add(ev, NULL);
    loop_timer_set(p.timer, SEC(60));
    assert_int_equal(write(fds[1], "x", 1), 1);
    loop_run(loop);
    assert_string_equal(order, "");
    assert_true(loop_now(loop) - start < SEC(60));
    event_free(ev);
    close(fds[0]);
    close(fds[1]);
    done(&p, 1);
}

/* However few are left: a sentence or a loop, never the end of the process. */
static void test_real_with_few_descriptors(void **state) {
    (void)state;
    struct rlimit old, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    int made = 0, refused = 0;
    for (int n = 0; n < 40; n++) {
        struct loop *loop = NULL;
        _cleanup_err_ struct err err = ERR_INIT;
        few = old;
        few.rlim_cur = (rlim_t)n;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int r = loop_new(&loop, &err);
        setrlimit(RLIMIT_NOFILE, &old);
        if (r == 0) {
            made++;
            loop_free(loop);
        } else {
            refused++;
            assert_int_equal(r, -EMFILE);
            assert_null(loop);
            assert_string_equal(err_msg(&err), "cannot set up the event loop: Too many open files");
        }
    }
    assert_true(refused > 0 && made > 0);
}

int main(void) {
#define BOTH(f)                                                                                    \
    {"virtual_" #f, f, setup_virtual, teardown, NULL}, {                                           \
        "real_" #f, f, setup_real, teardown, NULL                                                  \
    }
#define VIRTUAL(f) cmocka_unit_test_setup_teardown(f, setup_virtual, teardown)
#define REAL(f)    cmocka_unit_test_setup_teardown(f, setup_real, teardown)
    const struct CMUnitTest tests[] = {
        BOTH(test_equal_times_in_the_order_set),
        BOTH(test_not_inside_the_call),
        BOTH(test_callback_frees_its_own_timer),
        BOTH(test_callback_frees_a_due_timer),
        BOTH(test_callback_stops_a_due_timer),
        BOTH(test_callback_sets_its_own_timer),
        BOTH(test_set_in_a_callback_waits_for_the_next_turn),
        BOTH(test_stop),
        BOTH(test_stopped_timer),
        BOTH(test_nothing_left_after_stop),
        BOTH(test_set_later_and_earlier),
        BOTH(test_endless_delay),
        BOTH(test_timer_freed_after_the_loop),
        VIRTUAL(test_virtual_clocks),
        VIRTUAL(test_virtual_jump_runs_nothing),
        VIRTUAL(test_virtual_advance_is_exact),
        VIRTUAL(test_virtual_left),
        VIRTUAL(test_virtual_periodic),
        VIRTUAL(test_virtual_run_jumps),
        VIRTUAL(test_virtual_stop_within_advance),
        VIRTUAL(test_virtual_random),
        REAL(test_real_clocks),
        REAL(test_real_never_too_early),
        REAL(test_real_with_a_file_descriptor),
        REAL(test_real_timer_stopped_by_a_socket),
        cmocka_unit_test(test_real_with_few_descriptors),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
