/* An arena: blocks that double up to a limit, filled from the front. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    BLOCK_FIRST = 4096 - 64, /* with malloc's header it stays below a page */
    BLOCK_MAX = 1 << 20,
};

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(max_align_t) char data[];
};

static size_t align_up(size_t n) {
    return (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

void *arena_alloc(struct arena *a, size_t size) {
    /* The limit is out of memory all the same, and keeps the sums below from overflowing. */
    size_t need = align_up(MIN_OF(MAX_OF(size, (size_t)1), (size_t)PTRDIFF_MAX / 2));
    if (!a->head || a->head->size - a->used < need) {
        size_t block = a->head ? MIN_OF(a->head->size * 2, (size_t)BLOCK_MAX) : (size_t)BLOCK_FIRST;
        block = align_up(MAX_OF(block, need));
        struct arena_block *b = xmalloc(sizeof *b + block);
        b->next = a->head;
        b->size = block;
        a->head = b;
        a->used = 0;
    }
    char *p = a->head->data + a->used;
    a->used += need;
    memset(p, 0, need);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len) {
    char *p = arena_alloc(a, len + 1);
    if (len)
        memcpy(p, s, len);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *s = xvasprintf(fmt, ap);
    va_end(ap);
    return arena_strndup(a, s, strlen(s));
}

void arena_reset(struct arena *a) {
    while (a->head && a->head->next) {
        struct arena_block *b = a->head;
        a->head = b->next;
        free(b);
    }
    a->used = 0;
}

void arena_done(struct arena *a) {
    if (!a)
        return;
    arena_reset(a);
    free(a->head);
    *a = ARENA_INIT;
}
