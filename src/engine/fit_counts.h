/* Counts by address: how many pods in which topology domain. A small open hash table; what has
 * come down to zero is not in it. */
#ifndef ENGINE_FIT_COUNTS_H
#define ENGINE_FIT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct fit_count {
    const void *key; /* NULL: a free slot */
    int64_t n;
};

/* All zero is an empty one. */
struct fit_counts {
    struct fit_count *slots;
    uint32_t mask; /* number of slots - 1; 0 when there are none */
    uint32_t len;
};

void fit_counts_done(struct fit_counts *c);
/* The key is not NULL. */
void fit_counts_add(struct fit_counts *c, const void *key, int64_t delta);
int64_t fit_counts_get(const struct fit_counts *c, const void *key);
/* for (uint32_t i = 0; (e = fit_counts_next(c, &i));) in no particular order. */
const struct fit_count *fit_counts_next(const struct fit_counts *c, uint32_t *i);

#endif
