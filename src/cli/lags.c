/* Drains and what they have seen of the control plane. */
#include "cli/lags.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/str.h"

enum {
    STEPS = 2,        /* from a pod that leaves to one that has a node: controller, scheduler */
    TURNS_LEAST = 3,  /* answers to those that waited: fewer are too few to go by */
    DRAINS_KEPT = 64, /* the last ones: a control plane changes */
    SEEN_KEPT = 256,  /* of one drain; more would not make it better known */
};

/* How busy a control plane will be is not known from how busy it was: a run may meet one that is a
 * little quicker, or several times as slow, small factors being as likely as large ones. */
#define LEAST_TIMES 0.75
#define MOST_TIMES  6.0
#define BUSY_TIMES  1.25 /* at least */

struct lags_drain {
    char *name;
    int64_t begin; /* -1: not known */
    VEC(int64_t) answers, places;
    VEC(int64_t) quiet, budgets; /* of those that waited for their turn: the answer, and the rest */
};

static void drain_free(struct lags_drain *d) {
    vec_done(&d->answers);
    vec_done(&d->places);
    vec_done(&d->quiet);
    vec_done(&d->budgets);
    free(d->name);
    free(d);
}

void lags_done(struct lags *l) {
    for (size_t i = 0; i < l->drains.len; i++)
        drain_free(l->drains.p[i]);
    vec_done(&l->drains);
}

/* Lines of one drain stand together, but for two that ran at once. */
static struct lags_drain *drain_of(struct lags *l, const char *name) {
    for (size_t i = l->drains.len; i-- > 0;)
        if (streq(l->drains.p[i]->name, name))
            return l->drains.p[i];
    if (l->drains.len == DRAINS_KEPT) {
        drain_free(l->drains.p[0]);
        for (size_t i = 1; i < l->drains.len; i++)
            l->drains.p[i - 1] = l->drains.p[i];
        l->drains.len--;
    }
    struct lags_drain *d = xnew(struct lags_drain);
    d->name = xstrdup(name);
    d->begin = -1;
    *vec_push(&l->drains) = d;
    return d;
}

void lags_note(struct lags *l, const char *drain, const struct lags_seen *seen) {
    if (seen->answer < 0 && seen->place < 0)
        return;
    struct lags_drain *d = drain_of(l, drain);
    if (seen->begin >= 0)
        d->begin = seen->begin;
    if (seen->answer >= 0 && d->answers.len < SEEN_KEPT)
        *vec_push(&d->answers) = seen->answer;
    if (seen->place >= 0 && d->places.len < SEEN_KEPT)
        *vec_push(&d->places) = seen->place;
    if (seen->answer >= 0 && seen->turn >= 0 && d->quiet.len < SEEN_KEPT) {
        *vec_push(&d->quiet) = seen->answer;
        *vec_push(&d->budgets) = MAX_OF(seen->turn - seen->answer, 0);
    }
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The mean of the middle half: one that hung for seconds says nothing about the others. -1: there
 * are none. */
static int64_t usual(const int64_t *v, size_t n) {
    if (!n)
        return -1;
    _cleanup_free_ int64_t *sorted = xmemdup(v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, by_size);
    size_t from = n / 4, to = n - n / 4;
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += sorted[i];
    return sum / (int64_t)(to - from);
}

/* A drain begins with many requests at once, which are answered late. Those that count for how long
 * it takes are the later ones, each of which waits for its turn. */
static struct lags_drawn usual_of(const struct lags_drain *d) {
    bool turns = d->quiet.len >= TURNS_LEAST || d->quiet.len == d->answers.len;
    int64_t answer = turns ? usual(d->quiet.p, d->quiet.len) : usual(d->answers.p, d->answers.len);
    int64_t place = usual(d->places.p, d->places.len), step = place < 0 ? -1 : place / STEPS;
    int64_t budget = usual(d->budgets.p, d->budgets.len);
    /* A step is a request, too, of somebody else. */
    if (answer < 0)
        answer = step;
    if (step < 0)
        step = answer;
    return (struct lags_drawn){answer, step, budget < 0 ? step : budget, MAX_OF(d->begin, 0)};
}

/* One that was busy already is hardly so many times as slow once more: a request takes no longer
 * than is assumed where nothing is known, unless it was seen to. */
static double most_times(const struct lags_drawn *d) {
    double room = d->answer > 0 ? (double)LAGS_MOST / (double)d->answer : MOST_TIMES;
    return room < BUSY_TIMES ? BUSY_TIMES : room > MOST_TIMES ? MOST_TIMES : room;
}

static double chance(struct prng *random) {
    return (double)prng_range(random, 0, 1 << 24) / (1 << 24);
}

struct lags_drawn lags_draw(const struct lags *l, uint64_t seed) {
    struct prng random = {~seed}; /* another one than that of the pods */
    if (!l || !l->drains.len) {
        /* Small ones are as likely as large ones by their magnitude. */
        double times = (double)LAGS_MOST / (double)LAGS_LEAST;
        return (struct lags_drawn){.answer =
                                       (int64_t)((double)LAGS_LEAST * pow(times, chance(&random)))};
    }
    int64_t i = prng_range(&random, 0, (int64_t)l->drains.len);
    struct lags_drawn d = usual_of(l->drains.p[i]);
    double times = LEAST_TIMES * pow(most_times(&d) / LEAST_TIMES, chance(&random));
    return (struct lags_drawn){
        .answer = (int64_t)((double)d.answer * times),
        .step = (int64_t)((double)d.step * times),
        .budget = (int64_t)((double)d.budget * times),
        .begin = (int64_t)((double)d.begin * times),
    };
}

static void widen(int64_t range[2], int64_t v, bool first) {
    range[0] = first ? v : MIN_OF(range[0], v);
    range[1] = first ? v : MAX_OF(range[1], v);
}

struct lags_basis lags_basis(const struct lags *l) {
    struct lags_basis out = {.answer = {LAGS_LEAST, LAGS_MOST}, .times = {1, 1}};
    if (l && l->drains.len) {
        out.times[0] = LEAST_TIMES;
        out.times[1] = BUSY_TIMES;
    }
    for (; l && out.drains < l->drains.len; out.drains++) {
        struct lags_drawn d = usual_of(l->drains.p[out.drains]);
        widen(out.answer, d.answer, !out.drains);
        widen(out.step, d.step, !out.drains);
        widen(out.budget, d.budget, !out.drains);
        widen(out.begin, d.begin, !out.drains);
        out.times[1] = fmax(out.times[1], most_times(&d));
    }
    return out;
}
