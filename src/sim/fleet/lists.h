/* Lists of names by a key of two words, for the indexes that a part keeps by listening: the pods
 * that use a claim, the volumes of a class. What is asked for is found without looking at anything
 * else; the names of a list stand in the order in which they were added. */
#ifndef SIM_FLEET_LISTS_H
#define SIM_FLEET_LISTS_H

#include "base/htab.h"
#include "base/pool.h"
#include "base/str.h"

struct lists {
    struct pool *pool; /* the names are entries of it */
    struct htab table;
};

void lists_init(struct lists *l, struct pool *pool);
void lists_done(struct lists *l); /* before the pool */

/* The words of a key may be NULL, which is "". A name that is added twice is there twice. */
void lists_add(struct lists *l, const char *a, const char *b, const char *name);
/* Takes one of them away; nothing happens when there is none. */
void lists_remove(struct lists *l, const char *a, const char *b, const char *name);

/* Borrowed, until the next change of these lists. */
struct names {
    const char *const *p;
    size_t len;
};
struct names lists_get(const struct lists *l, const char *a, const char *b);

#endif
