/* Writing protobuf into a struct str: tags, numbers, strings, and messages whose length is known
 * only at their end.
 *
 *     size_t at = wire_open(out, 2);
 *     wire_text(out, 1, VIEW("name"));
 *     wire_close(out, at);
 *
 * The NUL that ends a struct str is kept by what adds bytes here; all of it is inline, since an
 * object is made of hundreds of such pieces. */
#ifndef SIM_SCHEMA_WIRE_H
#define SIM_SCHEMA_WIRE_H

#include <stdint.h>

#include "base/str.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

enum { WIRE_VARINT_MOST = 10 };

/* Room for `n` more bytes, to be written from the end on. */
static inline char *wire_room(struct str *out, size_t n) {
    if (out->cap - out->len <= n)
        str_reserve(out, n);
    return out->p + out->len;
}

static inline void wire_end(struct str *out, char *end) {
    *end = '\0';
    out->len = (size_t)(end - out->p);
}

static inline char *wire_put(char *p, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        *p++ = (char)(v | 0x80);
    *p++ = (char)v;
    return p;
}

static inline char *wire_put_tag(char *p, uint32_t number, enum wire_type type) {
    return wire_put(p, (uint64_t)number << 3 | type);
}

static inline void wire_number(struct str *out, uint32_t number, uint64_t v) {
    char *p = wire_room(out, 2 * WIRE_VARINT_MOST);
    wire_end(out, wire_put(wire_put_tag(p, number, WIRE_VARINT), v));
}

static inline void wire_text(struct str *out, uint32_t number, struct view v) {
    char *p = wire_room(out, 2 * WIRE_VARINT_MOST + v.len);
    p = wire_put(wire_put_tag(p, number, WIRE_LEN), v.len);
    if (v.len)
        memcpy(p, v.p, v.len);
    wire_end(out, p + v.len);
}

/* A message begins; returns where, for wire_close(). */
static inline size_t wire_open(struct str *out, uint32_t number) {
    char *p = wire_put_tag(wire_room(out, WIRE_VARINT_MOST + 1), number, WIRE_LEN);
    wire_end(out, p + 1);
    return out->len;
}

/* Fills in the length. One byte was left for it, which is enough for nearly all. */
static inline void wire_close(struct str *out, size_t at) {
    size_t len = out->len - at;
    if (len < 0x80) {
        out->p[at - 1] = (char)len;
        return;
    }
    char bytes[WIRE_VARINT_MOST];
    size_t n = (size_t)(wire_put(bytes, len) - bytes);
    wire_room(out, n);
    memmove(out->p + at - 1 + n, out->p + at, len);
    memcpy(out->p + at - 1, bytes, n);
    wire_end(out, out->p + at - 1 + n + len);
}

#endif
