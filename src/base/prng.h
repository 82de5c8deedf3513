/* A small pseudo-random generator (splitmix64), seeded by its owner: the same seed gives the same
 * numbers. For jitter and simulation, not for secrets. */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state;
};

static inline uint64_t prng_next(struct prng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [low, high); low when the range is empty. */
static inline int64_t prng_range(struct prng *r, int64_t low, int64_t high) {
    if (high <= low)
        return low;
    /* unsigned: the widest range does not fit an int64_t */
    return (int64_t)((uint64_t)low + prng_next(r) % ((uint64_t)high - (uint64_t)low));
}

#endif
