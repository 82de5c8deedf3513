/* A hash table of pointers: open addressing, linear probing, backward-shift deletion.
 *
 * The table stores only pointers; where the key is and how it compares is the owner's business
 * (struct htab_ops). The hash of an entry must be cheap to compute or stored in the entry.
 * Iteration order depends on hashes: never show it to anybody, sort first. */
#ifndef BASE_HTAB_H
#define BASE_HTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htab_ops {
    uint32_t (*hash)(const void *entry);
    bool (*equal)(const void *entry, const void *key);
};

struct htab {
    const struct htab_ops *ops;
    void **slots;
    uint32_t mask; /* number of slots - 1; 0 when there are none */
    uint32_t len;
};

void htab_init(struct htab *t, const struct htab_ops *ops);
void htab_done(struct htab *t); /* frees no entry */
void *htab_find(const struct htab *t, uint32_t hash, const void *key);
/* The entry must not be in the table yet. */
void htab_insert(struct htab *t, void *entry);
/* Removes the entry that equals `key`, returns it or NULL. Shrinks the table when it is mostly
 * empty. */
void *htab_remove(struct htab *t, uint32_t hash, const void *key);
/* for (uint32_t i = 0; (e = htab_next(t, &i));) ...; the table must not change meanwhile. */
void *htab_next(const struct htab *t, uint32_t *i);

uint32_t hash_bytes(const void *p, size_t len);
/* A random number to begin hashes with, where somebody could choose colliding keys to make a table
 * slow: hash_more(seed, key). */
uint32_t hash_seed(void);
/* Continues a hash: hash_more(hash_bytes(a), b). */
uint32_t hash_more(uint32_t seed, const void *p, size_t len);

#endif
