/* Where the scheduler would put a pod: of the nodes that fit, one of those it likes best. */
#include "engine/fit_internal.h"

enum {
    /* numFeasibleNodesToFind(): in large clusters the search ends when this many nodes, or this
     * share of all, were found to fit. */
    FOUND_MIN = 100,
    PERCENT_MAX = 50,
    PERCENT_MIN = 5,
    PERCENT_STEP = 125, /* one percent less for so many nodes more */
};

static size_t enough(size_t nodes) {
    if (nodes < FOUND_MIN)
        return nodes;
    int64_t percent = MAX_OF(PERCENT_MAX - (int64_t)nodes / PERCENT_STEP, PERCENT_MIN);
    return MAX_OF(nodes * (size_t)percent / 100, (size_t)FOUND_MIN);
}

static void find_among(struct fit *f, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct fit_node *node = fit_node_find(f, names[i]);
        if (!node || !node->known)
            fit_no(&f->ask, FIT_NO_NODE, NULL);
        else if (fit_ask_node(f, node))
            *vec_push(&f->found) = node;
    }
}

/* Begins where the last search ended, so that all nodes get their turn. */
static void find(struct fit *f, size_t limit) {
    size_t n = f->nodes.len, looked = 0;
    for (; looked < n && f->found.len < limit; looked++) {
        struct fit_node *node = f->nodes.p[(f->next + looked) % n];
        if (fit_ask_node(f, node))
            *vec_push(&f->found) = node;
    }
    f->next = n ? (f->next + looked) % n : 0;
}

/* As above; of those that fit only one that the pod has least reason to avoid. */
static void find_one(struct fit *f, size_t limit) {
    size_t n = f->nodes.len, looked = 0, fitting = 0;
    struct fit_node *best = NULL;
    int64_t least = INT64_MAX;
    for (; looked < n && least && fitting < limit; looked++) {
        struct fit_node *node = f->nodes.p[(f->next + looked) % n];
        if (!fit_ask_node(f, node))
            continue;
        int64_t avoids = fit_score_taints(f->ask.spec, node);
        fitting++;
        if (avoids < least) {
            least = avoids;
            best = node;
        }
    }
    f->next = n ? (f->next + looked) % n : 0;
    if (best)
        *vec_push(&f->found) = best;
}

/* One of those with the best score. */
static const char *pick(const struct fit *f, uint64_t random) {
    const struct fit_score *list = f->scores.p;
    int64_t best = list[0].score;
    size_t ties = 0;
    for (size_t i = 1; i < f->scores.len; i++)
        best = MAX_OF(best, list[i].score);
    for (size_t i = 0; i < f->scores.len; i++)
        ties += list[i].score == best;
    size_t left = ties ? random % ties : 0;
    for (size_t i = 0; i < f->scores.len; i++)
        if (list[i].score == best && !left--)
            return list[i].node;
    return NULL; /* not reached: one of them is the best */
}

/* The nodes that fit are in f->found: as many as the scheduler compares, or any one. */
static void look(struct fit *f, const struct pod *pod, bool any) {
    struct fit_ask *ask = &f->ask;
    f->found.len = 0;
    if (!fit_ask(f, pod))
        return;
    if (!f->nodes.len) {
        fit_no(ask, FIT_NO_NODE, NULL);
        return;
    }
    /* The node that was cleared for it comes first. */
    if (pod->nominated)
        find_among(f, &pod->nominated, 1);
    if (!f->found.len && ask->only_some)
        find_among(f, ask->only.p, ask->only.len);
    else if (!f->found.len)
        (any ? find_one : find)(f, enough(f->nodes.len));
}

const char *fit_any(struct fit *f, const struct pod *pod) {
    look(f, pod, true);
    return f->found.len ? f->found.p[0]->meta.name : NULL;
}

const char *fit_place(struct fit *f, const struct pod *pod, uint64_t random) {
    look(f, pod, false);
    if (f->found.len < 2)
        return f->found.len ? f->found.p[0]->meta.name : NULL;
    fit_rate(f);
    return pick(f, random);
}

const struct fit_score *fit_scores(struct fit *f, const struct pod *pod, size_t *n) {
    f->found.len = f->scores.len = 0;
    *n = 0;
    if (!fit_ask(f, pod))
        return f->scores.p;
    if (f->ask.only_some) {
        find_among(f, f->ask.only.p, f->ask.only.len);
    } else {
        for (size_t i = 0; i < f->nodes.len; i++)
            if (fit_ask_node(f, f->nodes.p[i]))
                *vec_push(&f->found) = f->nodes.p[i];
    }
    if (f->found.len == 1)
        *vec_push(&f->scores) = (struct fit_score){f->found.p[0]->meta.name, 0};
    else if (f->found.len)
        fit_rate(f);
    *n = f->scores.len;
    return f->scores.p;
}
