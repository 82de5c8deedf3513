/* What pods usually take. */
#include "sim/fleet/habits.h"

#include <stdlib.h>
#include <string.h>

#include "base/htab.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/workload.h"

enum {
    KEPT = 256,    /* observations of a workload: more would not make it better known */
    UPS = 3,       /* starts that were watched count more than what pods show, from so many on */
    OUTLIER = 5,   /* times the median, */
    SPARE_SEC = 10 /* and so much: small numbers differ by their nature */
};

/* Observations; sorted when they are looked at. */
struct sample {
    VEC(int64_t) v;
    size_t next; /* to be overwritten, once there are KEPT */
    size_t good; /* after sorting: those that count */
    bool sorted;
    int64_t shift;     /* of what is drawn in this run; */
    uint64_t shift_in; /* which that is */
};

struct workload {
    uint32_t hash;
    char *name;
    struct sample seen[HABITS];
    size_t ready, unready; /* pods of the original */
    bool drawn[HABITS];    /* in some run */
    int64_t assumed;       /* of its stops in this run; */
    uint64_t assumed_in;   /* which that is */
};

struct habits {
    struct htab by_name;
    struct sample all[HABITS];
    struct prng random;
    uint64_t run;
};

static uint32_t name_hash(const char *name) {
    return hash_bytes(name, strlen(name));
}
static uint32_t workload_hash(const void *entry) {
    return ((const struct workload *)entry)->hash;
}
static bool workload_equal(const void *entry, const void *name) {
    return streq(((const struct workload *)entry)->name, name);
}
static const struct htab_ops workload_ops = {workload_hash, workload_equal};

struct habits *habits_new(void) {
    struct habits *h = xnew(struct habits);
    htab_init(&h->by_name, &workload_ops);
    return h;
}

void habits_free(struct habits *h) {
    if (!h)
        return;
    struct workload *w;
    for (uint32_t i = 0; (w = htab_next(&h->by_name, &i));) {
        for (size_t k = 0; k < HABITS; k++)
            vec_done(&w->seen[k].v);
        free(w->name);
        free(w);
    }
    htab_done(&h->by_name);
    for (size_t k = 0; k < HABITS; k++)
        vec_done(&h->all[k].v);
    free(h);
}

static struct workload *workload_find(const struct habits *h, const char *name) {
    return htab_find(&h->by_name, name_hash(name), name);
}

static struct workload *workload_get(struct habits *h, const char *name) {
    struct workload *w = workload_find(h, name);
    if (w)
        return w;
    w = xnew(struct workload);
    w->hash = name_hash(name);
    w->name = xstrdup(name);
    htab_insert(&h->by_name, w);
    return w;
}

/* --- observations --- */

static void sample_add(struct sample *s, int64_t usec) {
    if (s->v.len < KEPT)
        *vec_push(&s->v) = usec;
    else
        s->v.p[s->next++ % KEPT] = usec;
    s->sorted = false;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void sample_sort(struct sample *s) {
    if (s->sorted || !s->v.len)
        return;
    qsort(s->v.p, s->v.len, sizeof *s->v.p, by_size);
    int64_t most = s->v.p[(s->v.len - 1) / 2] * OUTLIER + SEC(SPARE_SEC);
    for (s->good = s->v.len; s->v.p[s->good - 1] > most; s->good--)
        ;
    s->sorted = true;
}

/* Uniform in [0, 1). */
static double chance(struct habits *h) {
    return (double)prng_range(&h->random, 0, 1 << 24) / (1 << 24);
}

/* Give or take a tenth. */
static int64_t about(struct habits *h, int64_t usec) {
    return (int64_t)((double)usec * (0.9 + 0.2 * chance(h)));
}

/* How far the mean of all that there is may be from the mean of what was seen: as far as that of as
 * many drawn from these, each as often as chance will have it (the bootstrap). It is drawn once for
 * a run: a drain in which twenty pods of a workload start one after the other takes twenty times
 * what its mean is off by. */
static int64_t sample_shift(struct habits *h, struct sample *s) {
    if (s->shift_in == h->run)
        return s->shift;
    double seen = 0, drawn = 0;
    for (size_t i = 0; i < s->good; i++) {
        seen += (double)s->v.p[i];
        drawn += (double)s->v.p[prng_range(&h->random, 0, (int64_t)s->good)];
    }
    s->shift = (int64_t)((drawn - seen) / (double)s->good);
    s->shift_in = h->run;
    return s->shift;
}

/* Between two neighbours in the order of size. Of so and so many that were seen, the least is not
 * the least that there is, nor the most the most: both ends go on by a mean distance of neighbours,
 * as they would if all between were equally likely (Weibull's plotting positions). */
static int64_t sample_at(struct habits *h, const struct sample *s) {
    size_t n = s->good;
    const int64_t *v = s->v.p;
    double at = chance(h) * (double)(n + 1) - 1;
    double gap = (double)(v[n - 1] - v[0]) / (double)(n - 1);
    if (at < 0)
        return MAX_OF(v[0] + (int64_t)(at * gap), v[0] / 2);
    if (at >= (double)(n - 1))
        return v[n - 1] + (int64_t)((at - (double)(n - 1)) * gap);
    size_t i = (size_t)at;
    return v[i] + (int64_t)((at - (double)i) * (double)(v[i + 1] - v[i]));
}

static int64_t sample_draw(struct habits *h, struct sample *s) {
    sample_sort(s);
    if (s->good == 1)
        return about(h, s->v.p[0]);
    int64_t shift = sample_shift(h, s), drawn = sample_at(h, s) + shift;
    return MAX_OF(drawn, s->v.p[0] / 2);
}

void habits_note(struct habits *h, const char *workload, enum habit habit, int64_t usec) {
    if (usec < 0 || usec > HABITS_MOST)
        return;
    sample_add(&workload_get(h, workload)->seen[habit], usec);
    sample_add(&h->all[habit], usec);
}

void habits_note_state(struct habits *h, const char *workload, bool ready) {
    struct workload *w = workload_get(h, workload);
    ++*(ready ? &w->ready : &w->unready);
}

int64_t habits_median(struct habits *h, const char *workload, enum habit habit) {
    struct workload *w = workload_find(h, workload);
    if (!w || !w->seen[habit].v.len)
        return -1;
    sample_sort(&w->seen[habit]);
    return w->seen[habit].v.p[(w->seen[habit].good - 1) / 2];
}

/* --- draws --- */

void habits_begin(struct habits *h, uint64_t seed) {
    h->random = (struct prng){seed};
    h->run++;
}

static int64_t assumed_stop(struct habits *h, struct workload *w, const struct pod *pod) {
    int64_t grace = SEC(MAX_OF(MIN_OF(pod->spec->grace, (int64_t)3600), (int64_t)0));
    int64_t most = MIN_OF(grace, ASSUMED_STOP);
    if (w->assumed_in != h->run) {
        w->assumed_in = h->run;
        if (h->all[HABIT_STOP].v.len)
            w->assumed = sample_draw(h, &h->all[HABIT_STOP]);
        else
            w->assumed = most > SEC(1) ? prng_range(&h->random, SEC(1), most + 1) : most;
        w->assumed = MIN_OF(w->assumed, grace);
    }
    return about(h, w->assumed);
}

/* A start that was watched is better known than what the status of a pod shows in whole seconds;
 * but one alone says less than a dozen of those. */
static bool goes_by_ups(const struct workload *w) {
    size_t ups = w->seen[HABIT_UP].v.len;
    return ups >= UPS || (ups && !w->seen[HABIT_START].v.len);
}

int64_t habits_draw(struct habits *h, const struct pod *pod, enum habit habit) {
    _cleanup_str_ struct str name = STR_INIT;
    workload_name(pod, &name);
    struct workload *w = workload_get(h, str_get(&name));
    w->drawn[habit] = true;
    if (habit == HABIT_READY && w->unready && !w->ready)
        return INT64_MAX;
    if (habit != HABIT_STOP && goes_by_ups(w))
        return habit == HABIT_START ? sample_draw(h, &w->seen[HABIT_UP]) : 0;
    if (w->seen[habit].v.len)
        return sample_draw(h, &w->seen[habit]);
    if (habit == HABIT_STOP)
        return assumed_stop(h, w, pod);
    if (h->all[habit].v.len)
        return sample_draw(h, &h->all[habit]);
    if (h->all[HABIT_UP].v.len)
        return habit == HABIT_START ? sample_draw(h, &h->all[HABIT_UP]) : 0;
    return habit == HABIT_START ? prng_range(&h->random, SEC(1), SEC(5))
                                : prng_range(&h->random, 0, SEC(5));
}

struct habits_basis habits_basis(const struct habits *h, enum habit habit) {
    bool ups = habit != HABIT_STOP && h->all[HABIT_UP].v.len;
    struct habits_basis out = {.others = h->all[habit].v.len || ups};
    const struct workload *w;
    for (uint32_t i = 0; (w = htab_next(&h->by_name, &i));) {
        out.workloads += w->drawn[habit];
        bool up = habit != HABIT_STOP && w->seen[HABIT_UP].v.len;
        out.assumed += w->drawn[habit] && !w->seen[habit].v.len && !up;
    }
    return out;
}
