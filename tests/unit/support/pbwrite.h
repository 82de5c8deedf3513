/* For tests: writes protobuf by hand. Knows the wire format and nothing of any table, so that what
 * the decoders say can be compared with what was really written.
 *
 *     size_t at = pb_open(&s, 2);   (field 2, a message)
 *     pb_text(&s, 1, "name");
 *     pb_close(&s, at); */
#ifndef SUPPORT_PBWRITE_H
#define SUPPORT_PBWRITE_H

#include <stdint.h>

#include "base/str.h"

static inline void pb_varint(struct str *s, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        str_addc(s, (char)(v | 0x80));
    str_addc(s, (char)v);
}

/* wire: 0 varint, 1 eight bytes, 2 length, 5 four bytes. */
static inline void pb_tag(struct str *s, uint32_t number, unsigned wire) {
    pb_varint(s, (uint64_t)number << 3 | wire);
}

static inline void pb_num(struct str *s, uint32_t number, int64_t v) {
    pb_tag(s, number, 0);
    pb_varint(s, (uint64_t)v);
}

static inline void pb_bytes(struct str *s, uint32_t number, const void *p, size_t len) {
    pb_tag(s, number, 2);
    pb_varint(s, len);
    str_addn(s, p, len);
}

static inline void pb_text(struct str *s, uint32_t number, const char *text) {
    pb_bytes(s, number, text, strlen(text));
}

static inline size_t pb_open(struct str *s, uint32_t number) {
    pb_tag(s, number, 2);
    return s->len;
}

/* Puts the length in front of what was written since. */
static inline void pb_close(struct str *s, size_t at) {
    struct str inside = STR_INIT;
    str_addn(&inside, str_get(s) + at, s->len - at);
    s->len = at;
    pb_varint(s, inside.len);
    str_addn(s, str_get(&inside), inside.len);
    str_done(&inside);
}

static inline void pb_time(struct str *s, uint32_t number, int64_t seconds, int64_t nanos) {
    size_t at = pb_open(s, number);
    pb_num(s, 1, seconds);
    pb_num(s, 2, nanos);
    pb_close(s, at);
}

/* An entry of a map of strings. */
static inline void pb_pair(struct str *s, uint32_t number, const char *key, const char *value) {
    size_t at = pb_open(s, number);
    pb_text(s, 1, key);
    pb_text(s, 2, value);
    pb_close(s, at);
}

/* An entry of a map of quantities: the value is a message with the text in field 1. */
static inline void pb_pair_qty(struct str *s, uint32_t number, const char *key, const char *value) {
    size_t at = pb_open(s, number);
    pb_text(s, 1, key);
    size_t in = pb_open(s, 2);
    pb_text(s, 1, value);
    pb_close(s, in);
    pb_close(s, at);
}

/* --- what the API server puts around messages --- */

/* The magic bytes and a runtime.Unknown. */
static inline void pb_envelope(struct str *s, const char *version, const char *kind,
                               const struct str *message) {
    str_addn(s, "k8s\0", 4);
    size_t at = pb_open(s, 1);
    pb_text(s, 1, version);
    pb_text(s, 2, kind);
    pb_close(s, at);
    pb_bytes(s, 2, str_get(message), message->len);
    pb_text(s, 3, "");
    pb_text(s, 4, "");
}

/* A frame of a watch: length, WatchEvent, RawExtension, envelope. */
static inline void pb_event(struct str *s, const char *type, const struct str *envelope) {
    struct str event = STR_INIT;
    pb_text(&event, 1, type);
    size_t at = pb_open(&event, 2);
    pb_bytes(&event, 1, str_get(envelope), envelope->len);
    pb_close(&event, at);
    for (int shift = 24; shift >= 0; shift -= 8)
        str_addc(s, (char)(event.len >> shift));
    str_addn(s, str_get(&event), event.len);
    str_done(&event);
}

#endif
