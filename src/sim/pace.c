/* The world's clock on the loop's. */
#include "sim/pace.h"

#include "base/mem.h"

/* How much of a turn of the loop the world may take, so that requests and signals get theirs. */
#define TURN MSEC(5)

struct pace {
    struct loop *loop;
    struct world *world;
    double speed;
    int64_t loop_start, world_start;
    struct loop_timer *timer;
};

/* Where the world's clock should be. */
static int64_t target(const struct pace *p) {
    return p->world_start + (int64_t)((double)(loop_now(p->loop) - p->loop_start) * p->speed);
}

/* Lets things happen up to this time, for one turn at most: true when that was enough. */
static bool move(struct pace *p, int64_t until) {
    int64_t end = loop_now(p->loop) + TURN;
    while (clock_next(&p->world->clock) <= until) {
        clock_step(&p->world->clock, until);
        if (loop_now(p->loop) >= end && clock_next(&p->world->clock) <= until)
            return false;
    }
    return true;
}

void pace_catch_up(struct pace *p) {
    if (p->speed <= 0)
        return;
    int64_t until = target(p);
    if (move(p, until)) {
        clock_run(&p->world->clock, until);
        return;
    }
    /* The world cannot keep up with this speed: it goes on from where it is. */
    p->loop_start = loop_now(p->loop);
    p->world_start = p->world->clock.now;
}

int64_t pace_time(const struct pace *p) {
    return p->world->clock.now;
}

void pace_update(struct pace *p) {
    int64_t next = clock_next(&p->world->clock);
    if (next == INT64_MAX) {
        loop_timer_stop(p->timer);
        return;
    }
    if (p->speed <= 0) {
        loop_timer_set(p->timer, 0);
        return;
    }
    /* Rounded up: a timer that comes early would only come again. */
    double wait = (double)(next - target(p)) / p->speed;
    loop_timer_set(p->timer, wait <= 0 ? 0 : wait > 1e15 ? (int64_t)1e15 : (int64_t)wait + 1);
}

static void due(void *arg) {
    struct pace *p = arg;
    if (p->speed > 0)
        pace_catch_up(p);
    else
        (void)move(p, INT64_MAX - 1);
    pace_update(p);
}

struct pace *pace_new(struct loop *loop, struct world *world, double speed) {
    struct pace *p = xnew(struct pace);
    *p = (struct pace){
        .loop = loop,
        .world = world,
        .speed = speed,
        .loop_start = loop_now(loop),
        .world_start = world->clock.now,
    };
    p->timer = loop_timer_new(loop, due, p);
    pace_update(p);
    return p;
}

void pace_free(struct pace *p) {
    if (!p)
        return;
    loop_timer_free(p->timer);
    free(p);
}
