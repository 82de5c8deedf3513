/* What a seed decides: drawn in a fixed order, so that the same seed is the same run. */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "base/mem.h"
#include "base/prng.h"

static inline bool chance(struct prng *r, int percent) {
    return prng_range(r, 0, 100) < percent;
}

/* From one to the other, both included. */
static inline int64_t pick(struct prng *r, int64_t low, int64_t high) {
    return prng_range(r, low, high + 1);
}

#define one_of(r, list) ((list)[prng_range((r), 0, (int64_t)ARRAY_LEN(list))])

#endif
