/* An arena: allocations that all end together.
 *
 * Lifetimes first: one arena per request, per decoded object or per loop turn. Memory is handed out
 * from blocks; arena_reset() keeps the first block, so that a reused arena stops allocating.
 * Nothing in an arena is freed alone. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block, the one that is filled */
    size_t used;              /* bytes used of head */
};

#define ARENA_INIT      ((struct arena){0})
#define _cleanup_arena_ __attribute__((cleanup(arena_done)))

/* Zeroed, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t len) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
void arena_reset(struct arena *a);
void arena_done(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
