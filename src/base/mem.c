/* Allocation that does not fail. */
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void out_of_memory(void) {
    static const char msg[] = "slipway: out of memory\n";
    ssize_t n = write(STDERR_FILENO, msg, sizeof msg - 1);
    (void)n;
    _exit(1);
}

void *xmalloc(size_t size) {
    void *p = malloc(size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xcalloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        out_of_memory();
    p = realloc(p, total ? total : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *xstrdup(const char *s) {
    return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t len) {
    char *p = xmalloc(len + 1);
    if (len)
        memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

void *xmemdup(const void *p, size_t len) {
    void *copy = xmalloc(len);
    if (len)
        memcpy(copy, p, len);
    return copy;
}

char *xvasprintf(const char *fmt, va_list ap) {
    char *p;
    if (vasprintf(&p, fmt, ap) < 0)
        out_of_memory();
    return p;
}

char *xasprintf(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *p = xvasprintf(fmt, ap);
    va_end(ap);
    return p;
}

void str_replace(char **dst, const char *s) {
    char *copy = s ? xstrdup(s) : NULL;
    free(*dst);
    *dst = copy;
}

void mem_wipe(void *p, size_t len) {
    if (p)
        explicit_bzero(p, len);
}
