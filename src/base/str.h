/* A growing byte string, and views into strings.
 *
 * Invariants of struct str: `p` is NULL or holds `len` bytes and a terminating NUL; `cap` counts
 * the NUL. str_get() is therefore always a C string, even before anything was added. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    char *p;
    size_t len, cap;
};

#define STR_INIT      ((struct str){0})
#define _cleanup_str_ __attribute__((cleanup(str_done)))

/* Life cycle. */
void str_done(struct str *s);
/* Hands the bytes over to the caller (never NULL) and leaves `s` empty. */
char *str_take(struct str *s) __attribute__((returns_nonnull));
/* Keeps the memory. */
void str_reset(struct str *s);
/* Contents. */
static inline const char *str_get(const struct str *s) {
    return s->p ? s->p : "";
}
/* Adding. */
void str_reserve(struct str *s, size_t more);
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const void *bytes, size_t len);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addvf(struct str *s, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0), nonnull(2)));
/* Percent-encodes everything but RFC 3986's unreserved characters. */
void str_add_url(struct str *s, const char *text);
/* Removes the first n bytes. */
void str_drop(struct str *s, size_t n);

/* Bytes that belong to somebody else. */
struct view {
    const char *p;
    size_t len;
};

#define VIEW(literal) ((struct view){(literal), sizeof(literal) - 1})

static inline struct view view_of(const char *s) {
    return (struct view){s, s ? strlen(s) : 0};
}
static inline bool view_eq(struct view a, struct view b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool streq(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}
/* NULL is the empty string. */
static inline const char *strna(const char *s) {
    return s ? s : "";
}
static inline bool str_empty(const char *s) {
    return !s || !*s;
}
/* Equal, where NULL is the empty string. */
static inline bool str_same(const char *a, const char *b) {
    return a == b || streq(strna(a), strna(b));
}
static inline bool str_starts(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}
bool str_ends(const char *s, const char *suffix);

#endif
