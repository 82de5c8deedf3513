/* Counts by address. */
#include "engine/fit_counts.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SLOTS_MIN = 4 };

void fit_counts_done(struct fit_counts *c) {
    free(c->slots);
    *c = (struct fit_counts){0};
}

/* Addresses are multiples of 8 or 16; the multiplication brings their differences to the top. */
static uint32_t home(const struct fit_counts *c, const void *key) {
    return (uint32_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & c->mask;
}

static struct fit_count *slot(const struct fit_counts *c, const void *key) {
    uint32_t i = home(c, key);
    while (c->slots[i].key && c->slots[i].key != key)
        i = (i + 1) & c->mask;
    return &c->slots[i];
}

static void resize(struct fit_counts *c, uint32_t n) {
    struct fit_counts old = *c;
    uint32_t old_n = old.slots ? old.mask + 1 : 0;
    c->slots = xcalloc(n, sizeof *c->slots);
    c->mask = n - 1;
    for (uint32_t i = 0; i < old_n; i++)
        if (old.slots[i].key)
            *slot(c, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

/* Moves up what had to step aside for the entry that is gone. */
static void close_gap(struct fit_counts *c, uint32_t gap) {
    for (uint32_t i = (gap + 1) & c->mask; c->slots[i].key; i = (i + 1) & c->mask) {
        uint32_t from = home(c, c->slots[i].key);
        if (((i - from) & c->mask) < ((i - gap) & c->mask))
            continue;
        c->slots[gap] = c->slots[i];
        gap = i;
    }
    c->slots[gap] = (struct fit_count){0};
}

void fit_counts_add(struct fit_counts *c, const void *key, int64_t delta) {
    if (!delta)
        return;
    if (!c->slots)
        resize(c, SLOTS_MIN);
    struct fit_count *s = slot(c, key);
    if (!s->key) {
        if (c->len >= (c->mask + 1) / 4 * 3) {
            resize(c, (c->mask + 1) * 2);
            s = slot(c, key);
        }
        s->key = key;
        c->len++;
    }
    s->n += delta;
    if (s->n)
        return;
    close_gap(c, (uint32_t)(s - c->slots));
    if (!--c->len)
        fit_counts_done(c);
}

int64_t fit_counts_get(const struct fit_counts *c, const void *key) {
    return c->slots ? slot(c, key)->n : 0;
}

const struct fit_count *fit_counts_next(const struct fit_counts *c, uint32_t *i) {
    for (uint32_t n = c->slots ? c->mask + 1 : 0; *i < n;) {
        const struct fit_count *s = &c->slots[(*i)++];
        if (s->key)
            return s;
    }
    return NULL;
}
