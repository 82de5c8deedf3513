/* The trees of intervals that node sets are made of. */
#include <errno.h>

#include "base/nodeset_internal.h"

const struct axis axis_end = {.refs = 1, .hash = 1, .count = 1, .pieces = 1};

/* ---- ranks ---- */

const uint64_t powers_of_ten[NODESET_DIGITS_MAX + 1] = {1,
                                                        10,
                                                        100,
                                                        1000,
                                                        10000,
                                                        100000,
                                                        1000000,
                                                        10000000,
                                                        100000000,
                                                        1000000000,
                                                        10000000000,
                                                        100000000000,
                                                        1000000000000,
                                                        10000000000000,
                                                        100000000000000,
                                                        1000000000000000,
                                                        10000000000000000,
                                                        100000000000000000,
                                                        1000000000000000000};

/* How many strings of digits are shorter: 10 + 100 + ... */
static uint64_t shorter(unsigned digits) {
    return (powers_of_ten[digits] - 10) / 9;
}

uint64_t rank_of(unsigned digits, uint64_t value) {
    return shorter(digits) + value;
}

unsigned rank_digits(uint64_t rank, uint64_t *value) {
    unsigned digits = 1;
    while (digits < NODESET_DIGITS_MAX && rank >= shorter(digits + 1))
        digits++;
    *value = rank - shorter(digits);
    return digits;
}

/* ---- axes ---- */

const struct axis *axis_ref(const struct axis *a) {
    if (a && a != AXIS_END)
        ((struct axis *)a)->refs++;
    return a;
}

void axis_unref(const struct axis *a) {
    if (!a || a == AXIS_END || --((struct axis *)a)->refs)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        axis_unref(a->spans[i].below);
    free((void *)a);
}

static uint64_t add_up(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t mix(uint64_t hash, uint64_t more) {
    hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

bool axis_equal(const struct axis *a, const struct axis *b) {
    if (a == b)
        return true;
    if (!a || !b || a->n != b->n || a->hash != b->hash || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->spans[i].lo != b->spans[i].lo || a->spans[i].hi != b->spans[i].hi ||
            !axis_equal(a->spans[i].below, b->spans[i].below))
            return false;
    return true;
}

const struct span *axis_find(const struct axis *a, uint64_t rank) {
    size_t from = 0, to = a->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (rank > a->spans[middle].hi)
            from = middle + 1;
        else
            to = middle;
    }
    return from < a->n && a->spans[from].lo <= rank ? &a->spans[from] : NULL;
}

/* ---- making them ---- */

/* An axis that is being made, with room for so many spans. */
static struct axis *axis_begin(size_t room) {
    struct axis *a = xmalloc(sizeof *a + room * sizeof *a->spans);
    *a = (struct axis){.refs = 1};
    return a;
}

/* Adds the ranks from lo to hi, which come after all that there are; takes the reference. */
static void axis_add(struct axis *a, uint64_t lo, uint64_t hi, const struct axis *below) {
    struct span *last = a->n ? &a->spans[a->n - 1] : NULL;
    if (last && last->hi + 1 == lo && axis_equal(last->below, below)) {
        last->hi = hi;
        axis_unref(below);
        return;
    }
    a->spans[a->n++] = (struct span){lo, hi, below};
    a->pieces = add_up(a->pieces, below->pieces);
}

/* NULL when nothing was added. */
static const struct axis *axis_finish(struct axis *a) {
    if (!a->n) {
        free(a);
        return NULL;
    }
    a = xrealloc(a, 1, sizeof *a + a->n * sizeof *a->spans);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct span *s = &a->spans[i];
        a->hash = mix(mix(mix(a->hash, s->lo), s->hi), s->below->hash);
        a->count = add_up(a->count, multiply(s->hi - s->lo + 1, s->below->count));
    }
    return a;
}

static int by_lo(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

const struct axis *axis_from_ranges(struct range *ranges, size_t n, const struct axis *below) {
    struct axis *a = axis_begin(n);
    if (n > 1)
        qsort(ranges, n, sizeof *ranges, by_lo);
    for (size_t i = 0; i < n;) {
        uint64_t lo = ranges[i].lo, hi = ranges[i].hi;
        for (i++; i < n && ranges[i].lo <= hi + 1; i++)
            hi = MAX_OF(hi, ranges[i].hi);
        axis_add(a, lo, hi, axis_ref(below));
    }
    axis_unref(below);
    return axis_finish(a);
}

/* ---- algebra ---- */

/* What is left of `a` where there is nothing of `b`, and the other way round. */
static bool keeps_left(enum nodeset_op op) {
    return op != NODESET_INTERSECTION;
}
static bool keeps_right(enum nodeset_op op) {
    return op == NODESET_UNION || op == NODESET_XOR;
}
static bool keeps_both(enum nodeset_op op) {
    return op == NODESET_UNION || op == NODESET_INTERSECTION;
}

/* Goes along both axes at once, from one place where either begins or ends to the next. */
static int sweep(enum nodeset_op op, const struct axis *a, const struct axis *b, uint64_t *steps,
                 struct axis *out) {
    uint32_t i = 0, j = 0;
    for (uint64_t at = 0; i < a->n || j < b->n;) {
        if (++*steps > NODESET_STEPS_MAX)
            return -EFBIG;
        const struct span *x = i < a->n ? &a->spans[i] : NULL;
        const struct span *y = j < b->n ? &b->spans[j] : NULL;
        uint64_t x_from = x ? MAX_OF(x->lo, at) : UINT64_MAX;
        uint64_t y_from = y ? MAX_OF(y->lo, at) : UINT64_MAX;
        uint64_t lo = MIN_OF(x_from, y_from), hi = UINT64_MAX;
        bool in_x = x && x_from == lo, in_y = y && y_from == lo;
        if (x)
            hi = MIN_OF(hi, in_x ? x->hi : x->lo - 1);
        if (y)
            hi = MIN_OF(hi, in_y ? y->hi : y->lo - 1);
        const struct axis *below;
        int rc = axis_combine(op, in_x ? x->below : NULL, in_y ? y->below : NULL, steps, &below);
        if (rc)
            return rc;
        if (below)
            axis_add(out, lo, hi, below);
        if (out->pieces > NODESET_PIECES_MAX)
            return -EFBIG;
        i += in_x && x->hi == hi;
        j += in_y && y->hi == hi;
        at = hi + 1;
    }
    return 0;
}

int axis_combine(enum nodeset_op op, const struct axis *a, const struct axis *b, uint64_t *steps,
                 const struct axis **out) {
    /* Ends also with AXIS_END on both sides: it is the only tuple of no numbers. */
    if (a == b)
        *out = keeps_both(op) ? axis_ref(a) : NULL;
    else if (!b)
        *out = keeps_left(op) ? axis_ref(a) : NULL;
    else if (!a)
        *out = keeps_right(op) ? axis_ref(b) : NULL;
    else {
        /* Each span begins a piece, and ends one. */
        struct axis *result = axis_begin(2 * ((size_t)a->n + b->n));
        int rc = sweep(op, a, b, steps, result);
        if (rc) {
            axis_unref(result);
            return rc;
        }
        *out = axis_finish(result);
    }
    return 0;
}
