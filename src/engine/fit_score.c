/* How much each node that fits is liked: the score plugins of kube-scheduler with their weights.
 * Raw scores of a plugin mean something only beside those of the other nodes; normalised they are 0
 * to 100. */
#include <string.h>

#include "engine/fit_internal.h"

/* The weights of the default profile. ImageLocality is missing: which images a node has is not
 * known here. */
enum {
    WEIGHT_TAINTS = 3,
    WEIGHT_NODE = 2,
    WEIGHT_LEAST = 1,
    WEIGHT_SPREAD = 2,
    WEIGHT_AFFINITY = 2,
    WEIGHT_BALANCED = 1,
};

static int64_t highest(const int64_t *raw, size_t n) {
    int64_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = MAX_OF(max, raw[i]);
    return max;
}

static void add(struct fit *f, const int64_t *scores, int64_t weight) {
    for (size_t i = 0; i < f->scores.len; i++)
        f->scores.p[i].score += weight * scores[i];
}

/* The fewer taints that one would rather avoid, the better. */
static void rate_taints(struct fit *f, int64_t *raw) {
    size_t n = f->found.len;
    for (size_t i = 0; i < n; i++)
        raw[i] = fit_score_taints(f->ask.spec, f->found.p[i]);
    int64_t max = highest(raw, n);
    for (size_t i = 0; i < n; i++)
        raw[i] = max ? FIT_SCORE_MAX - FIT_SCORE_MAX * raw[i] / max : FIT_SCORE_MAX;
    add(f, raw, WEIGHT_TAINTS);
}

static void rate_node_affinity(struct fit *f, int64_t *raw) {
    size_t n = f->found.len;
    for (size_t i = 0; i < n; i++)
        raw[i] = fit_score_node(f->ask.spec, f->found.p[i]);
    int64_t max = highest(raw, n);
    for (size_t i = 0; max && i < n; i++)
        raw[i] = FIT_SCORE_MAX * raw[i] / max;
    add(f, raw, WEIGHT_NODE);
}

static void rate_resources(struct fit *f, int64_t *raw) {
    const struct fit_shape *s = f->ask.cohort->shape;
    for (size_t i = 0; i < f->found.len; i++)
        raw[i] = WEIGHT_LEAST * fit_score_least(s, f->found.p[i]) +
                 WEIGHT_BALANCED * fit_score_balanced(s, f->found.p[i]);
    add(f, raw, 1);
}

static void rate_spread(struct fit *f, int64_t *raw) {
    size_t n = f->found.len;
    bool *ignored = arena_alloc(&f->ask.arena, n * sizeof *ignored);
    if (!fit_score_spread(f, &f->ask, raw, ignored))
        return;
    int64_t min = INT64_MAX, max = 0;
    for (size_t i = 0; i < n; i++) {
        if (ignored[i])
            continue;
        min = MIN_OF(min, raw[i]);
        max = MAX_OF(max, raw[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (ignored[i])
            raw[i] = 0;
        else
            raw[i] = max ? FIT_SCORE_MAX * (max + min - raw[i]) / max : FIT_SCORE_MAX;
    }
    add(f, raw, WEIGHT_SPREAD);
}

static void rate_affinity(struct fit *f, int64_t *raw) {
    size_t n = f->found.len;
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        raw[i] = fit_score_affinity(f->ask.cohort, f->found.p[i]);
        min = MIN_OF(min, raw[i]);
        max = MAX_OF(max, raw[i]);
    }
    for (size_t i = 0; i < n; i++)
        raw[i] =
            max > min
                ? (int64_t)((double)FIT_SCORE_MAX * ((double)(raw[i] - min) / (double)(max - min)))
                : 0;
    add(f, raw, WEIGHT_AFFINITY);
}

void fit_rate(struct fit *f) {
    size_t n = f->found.len;
    int64_t *raw = arena_alloc(&f->ask.arena, (n + 1) * sizeof *raw);
    f->scores.len = 0;
    for (size_t i = 0; i < n; i++)
        *vec_push(&f->scores) = (struct fit_score){.node = f->found.p[i]->meta.name};
    rate_taints(f, raw);
    rate_node_affinity(f, raw);
    rate_resources(f, raw);
    rate_spread(f, raw);
    rate_affinity(f, raw);
}
