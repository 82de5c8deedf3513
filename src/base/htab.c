/* A hash table of pointers, and the hash. */
#include "base/htab.h"

#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

enum { SLOTS_MIN = 16 };

void htab_init(struct htab *t, const struct htab_ops *ops) {
    *t = (struct htab){.ops = ops};
}

void htab_done(struct htab *t) {
    free(t->slots);
    t->slots = NULL;
    t->mask = t->len = 0;
}

static void put(struct htab *t, void *entry) {
    uint32_t i = t->ops->hash(entry) & t->mask;
    while (t->slots[i])
        i = (i + 1) & t->mask;
    t->slots[i] = entry;
}

static void resize(struct htab *t, uint32_t n) {
    void **old = t->slots;
    uint32_t old_n = old ? t->mask + 1 : 0;
    t->slots = xcalloc(n, sizeof *t->slots);
    t->mask = n - 1;
    for (uint32_t i = 0; i < old_n; i++)
        if (old[i])
            put(t, old[i]);
    free(old);
}

void *htab_find(const struct htab *t, uint32_t hash, const void *key) {
    if (!t->len)
        return NULL;
    for (uint32_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask)
        if (t->ops->equal(t->slots[i], key))
            return t->slots[i];
    return NULL;
}

void htab_insert(struct htab *t, void *entry) {
    if (!t->slots)
        resize(t, SLOTS_MIN);
    else if (t->len >= (t->mask + 1) / 4 * 3)
        resize(t, (t->mask + 1) * 2);
    put(t, entry);
    t->len++;
}

void *htab_remove(struct htab *t, uint32_t hash, const void *key) {
    if (!t->len)
        return NULL;
    uint32_t i = hash & t->mask;
    while (t->slots[i] && !t->ops->equal(t->slots[i], key))
        i = (i + 1) & t->mask;
    void *found = t->slots[i];
    if (!found)
        return NULL;
    /* Close the gap: move back every later entry of the run whose home is not behind the gap. */
    for (uint32_t j = (i + 1) & t->mask; t->slots[j]; j = (j + 1) & t->mask) {
        uint32_t home = t->ops->hash(t->slots[j]) & t->mask;
        if (((j - home) & t->mask) >= ((j - i) & t->mask)) {
            t->slots[i] = t->slots[j];
            i = j;
        }
    }
    t->slots[i] = NULL;
    t->len--;
    if (t->mask + 1 > SLOTS_MIN && t->len < (t->mask + 1) / 8)
        resize(t, (t->mask + 1) / 2);
    return found;
}

void *htab_next(const struct htab *t, uint32_t *i) {
    if (!t->slots)
        return NULL;
    while (*i <= t->mask) {
        void *e = t->slots[(*i)++];
        if (e)
            return e;
    }
    return NULL;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t m = (__uint128_t)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint32_t hash_more(uint32_t seed, const void *p, size_t len) {
    /* Multiply-fold of 8 bytes at a time; the constants are the fractional parts of sqrt(2),
     * sqrt(3). */
    const unsigned char *s = p;
    uint64_t h = mix(seed ^ 0x6a09e667f3bcc908u, len ^ 0xbb67ae8584caa73bu);
    uint64_t w;
    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&w, s, 8);
        h = mix(h ^ w, 0xbb67ae8584caa73bu);
    }
    w = 0;
    if (len)
        memcpy(&w, s, len);
    h = mix(h ^ w, 0x6a09e667f3bcc909u);
    return (uint32_t)(h ^ (h >> 32));
}

uint32_t hash_bytes(const void *p, size_t len) {
    return hash_more(0, p, len);
}

uint32_t hash_seed(void) {
    uint32_t seed = 0;
    /* Early at boot there may be no randomness yet: not worth waiting for. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = 0;
    return seed;
}
