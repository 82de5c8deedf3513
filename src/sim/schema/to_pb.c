/* From the canonical text of an object to its protobuf message, in one pass.
 *
 * The members of an object come in the order of the table, so its fields are gone through once:
 * each is either the next member, or absent. gogo, which made Kubernetes' encoders, writes absent
 * fields too unless they are pointers, lists or maps, and it writes by number. Where the table's
 * order is another one, the pieces are put in order at the message's end. */
#include <errno.h>
#include <stdint.h>

#include "base/base64.h"
#include "sim/schema/build.h"
#include "sim/schema/escape.h"
#include "sim/schema/time_text.h"
#include "sim/schema/wire.h"

struct writer {
    const char *p, *end; /* what is left of the text */
    struct view key;     /* of the member whose value comes next; NULL when there is none */
    struct str *out;
    struct str spare; /* pieces that are put in order, strings that are unescaped */
    int depth;
    struct err *err;
};

/* --- reading --- */

static int broken(struct writer *w) {
    return err_set(w->err, EINVAL, "not the canonical text of an object, near \"%.*s\"",
                   (int)MIN_OF(w->end - w->p, (ptrdiff_t)40), w->p);
}

static bool at(const struct writer *w, char c) {
    return w->p < w->end && *w->p == c;
}

static bool take(struct writer *w, char c) {
    if (!at(w, c))
        return false;
    w->p++;
    return true;
}

static bool take_word(struct writer *w, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(w->end - w->p) < len || memcmp(w->p, word, len) != 0)
        return false;
    w->p += len;
    return true;
}

/* The bytes between the quotes; `escaped` when some are not themselves. */
static int raw_string(struct writer *w, struct view *out, bool *escaped) {
    if (!take(w, '"'))
        return broken(w);
    const char *start = w->p;
    *escaped = false;
    for (const char *p = start; p < w->end; p++) {
        if (*p == '"') {
            *out = (struct view){start, (size_t)(p - start)};
            w->p = p + 1;
            return 0;
        }
        if (*p == '\\') {
            *escaped = true;
            p++;
        }
    }
    return broken(w);
}

/* Valid until the next string. */
static int read_string(struct writer *w, struct view *out) {
    bool escaped;
    int rc = raw_string(w, out, &escaped);
    if (rc || !escaped)
        return rc;
    str_reset(&w->spare);
    if (!escape_undo(&w->spare, *out))
        return err_set(w->err, EINVAL, "not the canonical text of an object: a bad escape");
    *out = (struct view){str_get(&w->spare), w->spare.len};
    return 0;
}

static int read_int(struct writer *w, int64_t *out) {
    bool negative = take(w, '-');
    uint64_t v = 0;
    const char *start = w->p;
    for (; w->p < w->end && *w->p >= '0' && *w->p <= '9'; w->p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *w->p - '0', &v))
            return broken(w);
    if (w->p == start || v > (uint64_t)INT64_MAX + negative)
        return broken(w);
    *out = (int64_t)(negative ? -v : v);
    return 0;
}

static int read_bool(struct writer *w, bool *out) {
    *out = at(w, 't');
    return take_word(w, *out ? "true" : "false") ? 0 : broken(w);
}

static int read_double(struct writer *w, double *out) {
    char number[64];
    size_t n = 0;
    while (n < sizeof number - 1 && w->p + n < w->end && w->p[n] &&
           strchr("+-.eE0123456789", w->p[n]))
        n++;
    memcpy(number, w->p, n);
    number[n] = '\0';
    char *end;
    *out = strtod(number, &end);
    if (!n || *end)
        return broken(w);
    w->p += n;
    return 0;
}

/* Any value, as it stands. */
static int read_raw(struct writer *w, struct view *out) {
    const char *start = w->p;
    size_t depth = 0;
    do {
        struct view text;
        bool escaped;
        if (w->p == w->end)
            return broken(w);
        if (*w->p == '"') {
            if (raw_string(w, &text, &escaped))
                return -EINVAL;
        } else if (*w->p == '{' || *w->p == '[') {
            depth++;
            w->p++;
        } else if (*w->p == '}' || *w->p == ']' || *w->p == ',' || *w->p == ':') {
            bool closes = *w->p == '}' || *w->p == ']';
            if (!depth)
                return broken(w);
            depth -= closes;
            w->p++;
        } else {
            while (w->p < w->end && !strchr("\"{}[],:", *w->p ? *w->p : ','))
                w->p++;
            if (at(w, '\0'))
                return broken(w);
        }
    } while (depth);
    *out = (struct view){start, (size_t)(w->p - start)};
    return 0;
}

/* The key of the next member, behind an opening brace or a value. */
static int next_key(struct writer *w, bool first) {
    bool escaped;
    w->key = (struct view){0};
    if (take(w, '}'))
        return 0;
    if ((!first && !take(w, ',')) || raw_string(w, &w->key, &escaped) || escaped || !take(w, ':'))
        return broken(w);
    return 0;
}

/* --- writing --- */

static int put_body(struct writer *w, const struct schema *s);
static int put_fields(struct writer *w, const struct schema *s);

/* What is written of a field that is not there. */
static void put_zero(struct str *out, const struct schema_field *f);

static void put_zeros(struct str *out, const struct schema *s) {
    for (size_t i = 0; i < s->n_numbers; i++)
        put_zero(out, &s->fields[s->by_number[i]]);
}

static void put_zero(struct str *out, const struct schema_field *f) {
    size_t start;
    if (f->flags & (SCHEMA_POINTER | SCHEMA_LIST | SCHEMA_MAP) || !f->pb)
        return;
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
    case SCHEMA_RAW:
    case SCHEMA_STRINGS:
    case SCHEMA_OR_LIST:
    case SCHEMA_OR_STRINGS:
        wire_text(out, f->pb, (struct view){0});
        break;
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        wire_number(out, f->pb, 0);
        break;
    case SCHEMA_DOUBLE:
        start = out->len;
        wire_end(out, (char *)memset(wire_room(out, 20), 0, 20) + 20);
        wire_end(out, wire_put_tag(out->p + start, f->pb, WIRE_64) + 8);
        break;
    case SCHEMA_QUANTITY:
        wire_text(out, f->pb,
                  VIEW("\x0a\x01"
                       "0"));
        break;
    case SCHEMA_INTSTR:
        wire_text(out, f->pb, VIEW("\x08\0\x10\0\x1a\0"));
        break;
    case SCHEMA_OBJECT:
        start = wire_open(out, f->pb);
        put_zeros(out, f->of);
        wire_close(out, start);
        break;
    case SCHEMA_OR_BOOL:
        wire_text(out, f->pb, VIEW("\x08\0"));
        break;
    case SCHEMA_BYTES:
        break;
    }
}

static int put_time(struct writer *w, uint32_t number, bool micro) {
    struct view text;
    int64_t t;
    int rc = read_string(w, &text);
    if (rc || (rc = time_text_parse(text.p, text.len, micro, &t, w->err)))
        return rc;
    int64_t seconds = t / 1000000 - (t % 1000000 < 0), micros = t - seconds * 1000000;
    size_t start = wire_open(w->out, number);
    wire_number(w->out, 1, (uint64_t)seconds);
    wire_number(w->out, 2, (uint64_t)micros * 1000);
    wire_close(w->out, start);
    return 0;
}

static int put_intstr(struct writer *w, uint32_t number) {
    struct view text = {0};
    int64_t n = 0;
    bool is_string = at(w, '"');
    int rc = is_string ? read_string(w, &text) : read_int(w, &n);
    if (rc)
        return rc;
    size_t start = wire_open(w->out, number);
    wire_number(w->out, 1, is_string);
    wire_number(w->out, 2, (uint64_t)n);
    wire_text(w->out, 3, text);
    wire_close(w->out, start);
    return 0;
}

static int put_bytes(struct writer *w, uint32_t number) {
    _cleanup_free_ char *bytes = NULL;
    struct view text;
    size_t len;
    int rc = read_string(w, &text);
    if (rc)
        return rc;
    if (!base64_decode(text.p, text.len, &bytes, &len))
        return err_set(w->err, EINVAL, "not the canonical text of an object: bad base64");
    wire_text(w->out, number, (struct view){bytes, len});
    return 0;
}

static int put_double(struct writer *w, uint32_t number) {
    double v;
    uint64_t bits;
    int rc = read_double(w, &v);
    if (rc)
        return rc;
    memcpy(&bits, &v, sizeof bits);
    char *p = wire_put_tag(wire_room(w->out, WIRE_VARINT_MOST + 8), number, WIRE_64);
    for (int i = 0; i < 8; i++)
        *p++ = (char)(bits >> 8 * i);
    wire_end(w->out, p);
    return 0;
}

static int put_object(struct writer *w, uint32_t number, const struct schema *s) {
    size_t start = wire_open(w->out, number);
    int rc = put_body(w, s);
    wire_close(w->out, start);
    return rc;
}

/* The elements of a list: the reader is behind each opening bracket or comma when `put` is called.
 */
static int put_strings(struct writer *w, uint32_t number) {
    struct view text;
    int rc;
    if (!take(w, '['))
        return broken(w);
    if (take(w, ']'))
        return 0;
    do {
        if ((rc = read_string(w, &text)))
            return rc;
        wire_text(w->out, number, text);
    } while (take(w, ','));
    return take(w, ']') ? 0 : broken(w);
}

static int put_objects(struct writer *w, uint32_t number, const struct schema *s) {
    int rc;
    if (!take(w, '['))
        return broken(w);
    do {
        if ((rc = put_object(w, number, s)))
            return rc;
    } while (take(w, ','));
    return take(w, ']') ? 0 : broken(w);
}

/* A JSON schema or something else. */
static int put_or(struct writer *w, const struct schema_field *f, uint32_t number) {
    size_t start = wire_open(w->out, number);
    bool allows = true;
    int rc = 0;
    if (f->kind == SCHEMA_OR_BOOL) {
        if (!at(w, '{'))
            rc = read_bool(w, &allows);
        wire_number(w->out, 1, allows);
        if (!rc && at(w, '{'))
            rc = put_object(w, 2, f->of);
    } else if (at(w, '{')) {
        rc = put_object(w, 1, f->of);
    } else {
        rc = f->kind == SCHEMA_OR_LIST ? put_objects(w, 2, f->of) : put_strings(w, 2);
    }
    wire_close(w->out, start);
    return rc;
}

/* One value as field `number`: that of the field, or of a map's entry. */
static int put_element(struct writer *w, const struct schema_field *f, uint32_t number) {
    struct view text;
    int64_t n;
    bool yes;
    size_t start;
    int rc = 0;
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
        if (!(rc = read_string(w, &text)))
            wire_text(w->out, number, text);
        return rc;
    case SCHEMA_BOOL:
        if (!(rc = read_bool(w, &yes)))
            wire_number(w->out, number, yes);
        return rc;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        if (!(rc = read_int(w, &n)))
            wire_number(w->out, number, (uint64_t)n);
        return rc;
    case SCHEMA_DOUBLE:
        return put_double(w, number);
    case SCHEMA_BYTES:
        return put_bytes(w, number);
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
        return put_time(w, number, f->kind == SCHEMA_MICROTIME);
    case SCHEMA_QUANTITY:
    case SCHEMA_RAW:
        rc = f->kind == SCHEMA_RAW ? read_raw(w, &text) : read_string(w, &text);
        if (rc)
            return rc;
        start = wire_open(w->out, number);
        wire_text(w->out, 1, text);
        wire_close(w->out, start);
        return 0;
    case SCHEMA_INTSTR:
        return put_intstr(w, number);
    case SCHEMA_STRINGS:
        start = wire_open(w->out, number);
        rc = put_strings(w, 1);
        wire_close(w->out, start);
        return rc;
    case SCHEMA_OBJECT:
        return put_object(w, number, f->of);
    case SCHEMA_OR_BOOL:
    case SCHEMA_OR_LIST:
    case SCHEMA_OR_STRINGS:
        return put_or(w, f, number);
    }
    return broken(w);
}

/* Null as an element: the messages that can print so are empty. */
static int put_element_or_null(struct writer *w, const struct schema_field *f, uint32_t number) {
    if (!at(w, 'n'))
        return put_element(w, f, number);
    if (!take_word(w, "null"))
        return broken(w);
    wire_text(w->out, number, (struct view){0});
    return 0;
}

static int put_list(struct writer *w, const struct schema_field *f) {
    int rc;
    if (!take(w, '['))
        return broken(w);
    do {
        if ((rc = put_element_or_null(w, f, f->pb)))
            return rc;
    } while (take(w, ','));
    return take(w, ']') ? 0 : broken(w);
}

static int put_map(struct writer *w, const struct schema_field *f) {
    struct view key;
    int rc;
    if (!take(w, '{'))
        return broken(w);
    do {
        size_t start = wire_open(w->out, f->pb);
        if ((rc = read_string(w, &key)))
            return rc;
        wire_text(w->out, 1, key);
        if (!take(w, ':'))
            return broken(w);
        if ((rc = put_element_or_null(w, f, 2)))
            return rc;
        wire_close(w->out, start);
    } while (take(w, ','));
    return take(w, '}') ? 0 : broken(w);
}

/* A pointer that is null is not there, unless its type prints so: then null would not have been
 * printed for one that is not there. */
static int put_null(struct writer *w, const struct schema_field *f) {
    if (!take_word(w, "null"))
        return broken(w);
    if (f->flags & SCHEMA_POINTER && f->flags & SCHEMA_OMITEMPTY)
        wire_text(w->out, f->pb, (struct view){0});
    else
        put_zero(w->out, f);
    return 0;
}

static int put_value(struct writer *w, const struct schema_field *f) {
    struct view text;
    if (!f->pb)
        return read_raw(w, &text);
    if (at(w, 'n'))
        return put_null(w, f);
    if (f->flags & SCHEMA_LIST)
        return put_list(w, f);
    if (f->flags & SCHEMA_MAP)
        return put_map(w, f);
    return put_element(w, f, f->pb);
}

/* One field: the next member, or what is written when that is another one. */
static int put_field(struct writer *w, const struct schema_field *f) {
    if (f->flags & SCHEMA_INLINE) {
        size_t start = wire_open(w->out, f->pb ? f->pb : 1);
        int rc = put_fields(w, f->of);
        wire_close(w->out, start);
        return rc;
    }
    if (!w->key.p || w->key.len != f->len || memcmp(w->key.p, f->json, f->len) != 0) {
        put_zero(w->out, f);
        return 0;
    }
    int rc = put_value(w, f);
    return rc ? rc : next_key(w, false);
}

/* Puts the pieces in order: piece i of the fields ends where starts[i + 1] says. */
static void put_in_order(struct writer *w, const struct schema *s, const size_t *starts) {
    size_t first = starts[0], len = w->out->len - first;
    str_reset(&w->spare);
    char *to = wire_room(&w->spare, len);
    memcpy(to, w->out->p + first, len);
    char *p = w->out->p + first;
    for (size_t i = 0; i < s->n_numbers; i++) {
        size_t field = s->by_number[i], n = starts[field + 1] - starts[field];
        memcpy(p, to + (starts[field] - first), n);
        p += n;
    }
    wire_end(w->out, p);
}

/* All fields of a message, those of the inlined objects in theirs. */
static int put_fields(struct writer *w, const struct schema *s) {
    size_t starts[SCHEMA_MOST_KEYS + 1];
    uint32_t last = 0;
    bool ordered = true;
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        starts[i] = w->out->len;
        int rc = put_field(w, f);
        if (rc)
            return rc;
        /* Not in the message: kind and apiVersion. */
        if (!f->pb)
            wire_end(w->out, w->out->p + starts[i]);
        else if (f->pb < last)
            ordered = false;
        else
            last = f->pb;
    }
    starts[s->n_fields] = w->out->len;
    if (!ordered)
        put_in_order(w, s, starts);
    return 0;
}

static int put_body(struct writer *w, const struct schema *s) {
    struct view key = w->key;
    if (w->depth++ >= SCHEMA_DEPTH)
        return err_set(w->err, EINVAL, "an object of more than %d levels", SCHEMA_DEPTH);
    if (!take(w, '{'))
        return broken(w);
    int rc = next_key(w, true);
    if (!rc)
        rc = put_fields(w, s);
    if (!rc && w->key.p)
        rc = err_set(w->err, EINVAL, "not the canonical text of an object: \"%.*s\" in %s",
                     (int)MIN_OF(w->key.len, (size_t)40), w->key.p, s->name);
    w->key = key;
    w->depth--;
    return rc;
}

int schema_to_pb(const struct schema *s, struct view json, struct str *out, struct err *err) {
    struct writer w = {.p = json.p, .end = json.p + json.len, .out = out, .err = err};
    size_t before = out->len;
    wire_room(out, json.len);
    int rc = put_body(&w, s);
    if (!rc && w.p != w.end)
        rc = broken(&w);
    if (rc)
        wire_end(out, out->p + before);
    str_done(&w.spare);
    return rc;
}
