/* The world's clock on the loop's. */
#include "sim/pace.h"

#include "base/mem.h"

/* How much of a turn of the loop the world may take when it jumps, so that requests get their turn.
 */
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

void pace_catch_up(struct pace *p) {
    if (p->speed > 0)
        clock_run(&p->world->clock, target(p));
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
    if (p->speed > 0) {
        pace_catch_up(p);
    } else {
        int64_t end = loop_now(p->loop) + TURN;
        while (clock_step(&p->world->clock, INT64_MAX) && loop_now(p->loop) < end)
            ;
    }
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
