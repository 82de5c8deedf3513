/* Allocation that does not fail: out of memory ends the process with one line on standard error and
 * exit status 1. State lives in Kubernetes, so nothing is lost by it. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0), malloc, returns_nonnull));

#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

/* free() and clear: mem_clear(&p). */
#define mem_clear(pp)                                                                              \
    do {                                                                                           \
        free((void *)*(pp));                                                                       \
        *(pp) = NULL;                                                                              \
    } while (0)

/* Replaces an owned string by a copy of `s` (NULL clears). */
void str_replace(char **dst, const char *s);

/* Overwrites secrets before they are freed. */
void mem_wipe(void *p, size_t len);

static inline void cleanup_free_(void *pp) {
    free(*(void **)pp);
}
#define _cleanup_free_ __attribute__((cleanup(cleanup_free_)))

/* `return TAKE_PTR(p)`: hands a _cleanup_ pointer over to the caller. */
#define TAKE_PTR(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define MIN_OF(a, b)                    ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b)                    ((a) > (b) ? (a) : (b))

#endif
