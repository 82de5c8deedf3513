/* For tests: pool entries out of literals. */
#ifndef SUPPORT_MAKE_H
#define SUPPORT_MAKE_H

#include <assert.h>
#include <stdarg.h>

#include "base/str.h"
#include "model/object.h"

enum { MAKE_MAX = 32 };

static inline const char *make_str(struct pool *pool, const char *s) {
    return pool_str(pool, strna(s), strlen(strna(s)));
}

/* make_strs(pool, "a", "b", NULL) */
__attribute__((sentinel)) static inline const char *const *make_strs(struct pool *pool, ...) {
    const char *items[MAKE_MAX], *s;
    size_t n = 0;
    va_list ap;
    va_start(ap, pool);
    while ((s = va_arg(ap, const char *))) {
        assert(n < MAKE_MAX);
        items[n++] = make_str(pool, s);
    }
    va_end(ap);
    return pool_blob(pool, &type_strs, items, n * sizeof items[0]);
}

/* make_map(pool, "key", "value", ..., NULL), keys ascending. */
__attribute__((sentinel)) static inline const struct pair *make_map(struct pool *pool, ...) {
    struct pair items[MAKE_MAX];
    const char *s;
    size_t n = 0;
    va_list ap;
    va_start(ap, pool);
    while ((s = va_arg(ap, const char *))) {
        assert(n < MAKE_MAX);
        items[n] = (struct pair){make_str(pool, s), make_str(pool, va_arg(ap, const char *))};
        assert(!n || strcmp(strna(items[n - 1].key), s) < 0);
        n++;
    }
    va_end(ap);
    return pool_blob(pool, &type_pair, items, n * sizeof items[0]);
}

#endif
