/* A token bucket: so many a second and no more, of whoever shares it.
 *
 * It is full at the first look, with what one second brings and at least one, and never fuller:
 * what was not taken for an hour is not saved up. */
#ifndef ENGINE_TOKENS_H
#define ENGINE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct tokens {
    double rate; /* a second; 0: any number */
    double left;
    int64_t at; /* monotonic: when they were counted */
    bool begun;
};

/* Takes one. False: there is none now, and there may be one at *next, monotonic. */
bool tokens_take(struct tokens *t, int64_t now, int64_t *next);

#endif
