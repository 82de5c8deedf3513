/* From a protobuf message to the object in canonical form.
 *
 * As Kubernetes' decoders, which gogo made, read it: unknown numbers are skipped, of a number that
 * comes more than once the last one counts, lists and maps grow, and messages are merged. What they
 * refuse (a wrong wire type, a bad quantity) is refused. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "sim/schema/build.h"
#include "sim/schema/quantity_text.h"
#include "sim/schema/text_read.h"
#include "sim/schema/time_text.h"
#include "sim/schema/wire.h"

struct reader {
    int depth;
    size_t elements;
    struct err *err;
};

/* One field of a message: its number, and its value as a number or as bytes. */
struct item {
    uint32_t number;
    enum wire_type type;
    uint64_t value;
    struct view bytes;
};

static int fail(struct reader *r, const char *what) {
    return err_set(r->err, EBADMSG, "bad protobuf: %s", what);
}

static int fail_field(struct reader *r, const struct schema_field *f, const char *what) {
    return err_set(r->err, EBADMSG, "bad protobuf: field %s: %s", f->json, what);
}

/* --- the wire --- */

static bool read_varint(struct view *in, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && in->len; shift += 7) {
        unsigned char b = (unsigned char)*in->p++;
        in->len--;
        if (shift == 63 && b > 1)
            return false;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct view *in, uint64_t n, struct view *out) {
    if (n > in->len)
        return false;
    *out = (struct view){in->p, (size_t)n};
    in->p += n;
    in->len -= (size_t)n;
    return true;
}

static int next_item(struct reader *r, struct view *in, struct item *it) {
    uint64_t tag, n;
    if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return fail(r, "broken tag");
    *it = (struct item){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
    switch (it->type) {
    case WIRE_VARINT:
        return read_varint(in, &it->value) ? 0 : fail(r, "broken number");
    case WIRE_LEN:
        return read_varint(in, &n) && take_bytes(in, n, &it->bytes) ? 0 : fail(r, "broken length");
    case WIRE_64:
        return take_bytes(in, 8, &it->bytes) ? 0 : fail(r, "cut off");
    case WIRE_32:
        return take_bytes(in, 4, &it->bytes) ? 0 : fail(r, "cut off");
    }
    return fail(r, "unknown wire type");
}

/* --- small messages --- */

/* As Go's JSON: each bad byte is U+FFFD. A NUL stays what it is. */
static json_t *string_of(struct view v) {
    if (utf8_valid(v.p, v.len))
        return json_stringn_nocheck(v.p ? v.p : "", v.len);
    _cleanup_str_ struct str clean = STR_INIT;
    for (size_t i = 0; i < v.len;) {
        size_t n = utf8_len(v.p + i, v.len - i);
        if (n)
            str_addn(&clean, v.p + i, n);
        else
            str_add(&clean, UTF8_REPLACEMENT);
        i += n ? n : 1;
    }
    return json_stringn_nocheck(clean.p, clean.len);
}

/* The last string with this number in a message. */
static int find_bytes(struct reader *r, struct view in, uint32_t number, struct view *out,
                      bool *found) {
    struct item it = {0};
    int rc;
    *found = false;
    while (in.len) {
        if ((rc = next_item(r, &in, &it)))
            return rc;
        if (it.number != number)
            continue;
        if (it.type != WIRE_LEN)
            return fail(r, "wrong wire type");
        *out = it.bytes;
        *found = true;
    }
    return 0;
}

static int read_time(struct reader *r, const struct schema_field *f, struct view in, json_t **out) {
    char text[TIME_TEXT_LEN];
    bool micro = f->kind == SCHEMA_MICROTIME;
    int64_t seconds = 0;
    int32_t nanos = 0;
    bool pointer = f->flags & SCHEMA_POINTER;
    *out = pointer ? json_null() : NULL;
    if (!in.len)
        return 0;
    while (in.len) {
        struct item it = {0};
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number > 2)
            continue;
        if (it.type != WIRE_VARINT)
            return fail_field(r, f, "wrong wire type");
        if (it.number == 1)
            seconds = (int64_t)it.value;
        else
            nanos = (int32_t)it.value;
    }
    /* Far from overflowing, then exactly. */
    int64_t most = INT64_C(1) << 40;
    int64_t t = seconds > -most && seconds < most ? seconds * 1000000 : INT64_MAX;
    if (micro && t != INT64_MAX)
        t += nanos / 1000;
    if (!time_text_valid(t))
        return fail_field(r, f, "a time outside of the years 0 to 9999");
    if (t != TIME_TEXT_ZERO)
        *out = json_string_nocheck(time_text_format(t, micro, text));
    return 0;
}

static int read_quantity(struct reader *r, struct view in, json_t **out) {
    _cleanup_str_ struct str text = STR_INIT;
    struct view given;
    bool found;
    int rc = find_bytes(r, in, 1, &given, &found);
    if (rc)
        return rc;
    if (!found)
        str_addc(&text, '0');
    else if ((rc = quantity_text(given.p, given.len, &text, r->err)))
        return rc;
    *out = json_stringn_nocheck(text.p, text.len);
    return 0;
}

static int read_intstr(struct reader *r, const struct schema_field *f, struct view in,
                       json_t **out) {
    uint64_t type = 0, number = 0;
    struct view text = {0};
    while (in.len) {
        struct item it = {0};
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number > 3)
            continue;
        if (it.type != (it.number == 3 ? WIRE_LEN : WIRE_VARINT))
            return fail_field(r, f, "wrong wire type");
        if (it.number == 3)
            text = it.bytes;
        else
            *(it.number == 1 ? &type : &number) = it.value;
    }
    if (type > 1)
        return fail_field(r, f, "neither a number nor a string");
    *out = type ? string_of(text) : json_integer((int32_t)number);
    return 0;
}

static int read_raw(struct reader *r, const struct schema_field *f, struct view in, json_t **out) {
    struct view text = {0};
    bool found;
    int rc = find_bytes(r, in, 1, &text, &found);
    if (rc)
        return rc;
    if (!text.len) {
        *out = f->flags & (SCHEMA_POINTER | SCHEMA_LIST) ? json_null() : NULL;
        return 0;
    }
    *out = NULL;
    if (!text_read(text, NULL, out, NULL))
        return 0;
    return fail_field(r, f, "what should be JSON is not");
}

static int read_double(struct reader *r, const struct schema_field *f, struct view bytes,
                       json_t **out) {
    uint64_t bits = 0;
    double v;
    for (size_t i = 0; i < 8; i++)
        bits |= (uint64_t)(unsigned char)bytes.p[i] << 8 * i;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v))
        return fail_field(r, f, "not a number");
    if (v > -1e15 && v < 1e15 && v == (double)(json_int_t)v)
        *out = json_integer((json_int_t)v);
    else
        *out = json_real(v);
    return 0;
}

static int count_element(struct reader *r, const struct schema_field *f) {
    return r->elements++ < SCHEMA_MOST_ELEMENTS ? 0 : fail_field(r, f, SCHEMA_TOO_MUCH);
}

/* A list of strings in a message of its own; none is NULL. */
static int read_strings(struct reader *r, const struct schema_field *f, struct view in,
                        uint32_t number, json_t **out) {
    _cleanup_json_ json_t *list = json_array();
    while (in.len) {
        struct item it = {0};
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number != number)
            continue;
        if (it.type != WIRE_LEN)
            return fail_field(r, f, "wrong wire type");
        if ((rc = count_element(r, f)))
            return rc;
        json_array_append_new(list, string_of(it.bytes));
    }
    *out = json_array_size(list) ? TAKE_PTR(list) : NULL;
    return 0;
}

/* --- objects --- */

static int read_object(struct reader *r, const struct schema *s, struct view in, json_t **out);

static int read_objects(struct reader *r, const struct schema_field *f, struct view in,
                        uint32_t number, json_t **out) {
    _cleanup_json_ json_t *list = json_array();
    while (in.len) {
        struct item it = {0};
        json_t *one;
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number != number)
            continue;
        if (it.type != WIRE_LEN)
            return fail_field(r, f, "wrong wire type");
        if ((rc = count_element(r, f)) || (rc = read_object(r, f->of, it.bytes, &one)))
            return rc;
        json_array_append_new(list, one);
    }
    *out = json_array_size(list) ? TAKE_PTR(list) : NULL;
    return 0;
}

/* All occurrences of a number, one behind the other: read so they are merged. */
static int gather(struct reader *r, struct view in, uint32_t number, struct str *out) {
    struct item it = {0};
    int rc = 0;
    while (in.len && !(rc = next_item(r, &in, &it)))
        if (it.number == number && it.type == WIRE_LEN)
            str_addn(out, it.bytes.p, it.bytes.len);
    return rc;
}

/* A JSON schema or something else. */
static int read_or(struct reader *r, const struct schema_field *f, struct view in, json_t **out) {
    uint32_t of_schema = f->kind == SCHEMA_OR_BOOL ? 2 : 1;
    struct view last;
    bool found, allows = false;
    json_t *other = NULL;
    int rc = 0;
    if (f->kind == SCHEMA_OR_BOOL) {
        struct view rest = in;
        struct item it = {0};
        while (rest.len && !(rc = next_item(r, &rest, &it)))
            if (it.number == 1) {
                if (it.type != WIRE_VARINT)
                    return fail_field(r, f, "wrong wire type");
                allows = it.value;
            }
    } else {
        rc = f->kind == SCHEMA_OR_LIST ? read_objects(r, f, in, 2, &other)
                                       : read_strings(r, f, in, 2, &other);
    }
    if (!rc && other) {
        *out = other;
        return 0;
    }
    if (rc || (rc = find_bytes(r, in, of_schema, &last, &found)))
        return rc;
    if (found) {
        _cleanup_str_ struct str all = STR_INIT;
        rc = gather(r, in, of_schema, &all);
        return rc ? rc : read_object(r, f->of, (struct view){str_get(&all), all.len}, out);
    }
    *out = f->kind == SCHEMA_OR_BOOL ? json_boolean(allows) : json_null();
    return 0;
}

static enum wire_type type_of(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return WIRE_VARINT;
    case SCHEMA_DOUBLE:
        return WIRE_64;
    default:
        return WIRE_LEN;
    }
}

/* One value; it may be NULL for a zero value. */
static int read_element(struct reader *r, const struct schema_field *f, const struct item *it,
                        json_t **out) {
    bool keep = f->flags & SCHEMA_POINTER;
    json_int_t n;
    *out = NULL;
    if (it->type != type_of(f))
        return fail_field(r, f, "wrong wire type");
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
        *out = keep || it->bytes.len ? string_of(it->bytes) : NULL;
        return 0;
    case SCHEMA_BOOL:
        *out = keep || it->value ? json_boolean(it->value) : NULL;
        return 0;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        n = f->kind == SCHEMA_INT32 ? (int32_t)it->value : (int64_t)it->value;
        *out = keep || n ? json_integer(n) : NULL;
        return 0;
    case SCHEMA_DOUBLE:
        return read_double(r, f, it->bytes, out);
    case SCHEMA_BYTES:
        if (it->bytes.len) {
            _cleanup_str_ struct str text = STR_INIT;
            base64_encode(&text, it->bytes.p, it->bytes.len);
            *out = json_stringn_nocheck(text.p, text.len);
        }
        return 0;
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
        return read_time(r, f, it->bytes, out);
    case SCHEMA_QUANTITY:
        return read_quantity(r, it->bytes, out);
    case SCHEMA_INTSTR:
        return read_intstr(r, f, it->bytes, out);
    case SCHEMA_RAW:
        return read_raw(r, f, it->bytes, out);
    case SCHEMA_STRINGS:
        return read_strings(r, f, it->bytes, 1, out);
    case SCHEMA_OBJECT:
        return read_object(r, f->of, it->bytes, out);
    case SCHEMA_OR_BOOL:
    case SCHEMA_OR_LIST:
    case SCHEMA_OR_STRINGS:
        return read_or(r, f, it->bytes, out);
    }
    return fail_field(r, f, "of no kind");
}

/* An entry of a map: a message of a key and a value, either of which may be missing. */
static int read_entry(struct reader *r, const struct schema_field *f, struct view in,
                      json_t **slot) {
    _cleanup_json_ json_t *key = NULL, *value = NULL;
    struct item it = {0};
    int rc;
    while (in.len) {
        if ((rc = next_item(r, &in, &it)))
            return rc;
        if (it.number == 1) {
            if (it.type != WIRE_LEN)
                return fail_field(r, f, "wrong wire type");
            json_decref(key);
            key = string_of(it.bytes);
        } else if (it.number == 2) {
            json_decref(value);
            if ((rc = read_element(r, f, &it, &value)))
                return rc;
        }
    }
    if (!*slot)
        *slot = json_object();
    json_object_setn_new_nocheck(*slot, key ? json_string_value(key) : "",
                                 key ? json_string_length(key) : 0,
                                 value ? TAKE_PTR(value) : build_zero(f));
    return 0;
}

static int read_values(struct reader *r, const struct schema *s, struct view in, json_t **values);

static const struct schema_field *field_of(const struct schema *s, uint32_t number) {
    size_t low = 0, high = s->n_numbers;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct schema_field *f = &s->fields[s->by_number[mid]];
        if (f->pb == number)
            return f;
        if (number < f->pb)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static void drop(json_t **value) {
    json_decref(*value);
    *value = NULL;
}

/* A message of ours, in place of what there was. */
static int read_part(struct reader *r, const struct schema_field *f, struct view in,
                     json_t **values) {
    if (f->flags & SCHEMA_INLINE) {
        for (size_t i = 0; i < f->of->n_flat; i++)
            drop(&values[f->at + i]);
        return read_values(r, f->of, in, values + f->at);
    }
    drop(&values[f->at]);
    return read_object(r, f->of, in, &values[f->at]);
}

static bool is_part(const struct schema_field *f) {
    return f->kind == SCHEMA_OBJECT && !(f->flags & (SCHEMA_LIST | SCHEMA_MAP));
}

static int read_field(struct reader *r, const struct schema_field *f, const struct item *it,
                      json_t **slot) {
    json_t *one = NULL;
    int rc;
    if (f->flags & (SCHEMA_LIST | SCHEMA_MAP) && (rc = count_element(r, f)))
        return rc;
    if (f->flags & SCHEMA_MAP)
        return it->type == WIRE_LEN ? read_entry(r, f, it->bytes, slot)
                                    : fail_field(r, f, "wrong wire type");
    if ((rc = read_element(r, f, it, &one))) {
        json_decref(one);
        return rc;
    }
    if (f->flags & SCHEMA_LIST) {
        if (!*slot)
            *slot = json_array();
        json_array_append_new(*slot, one ? one : build_zero(f));
        return 0;
    }
    drop(slot);
    *slot = one;
    return 0;
}

/* The fields of a message, into the values at their places. */
static int read_values(struct reader *r, const struct schema *s, struct view in, json_t **values) {
    uint8_t seen[SCHEMA_MOST_KEYS] = {0}; /* 1: once, 2: merged, there is nothing left to read */
    struct view whole = in;
    struct item it = {0};
    int rc;
    while (in.len) {
        if ((rc = next_item(r, &in, &it)))
            return rc;
        const struct schema_field *f = field_of(s, it.number);
        if (!f)
            continue;
        if (!is_part(f)) {
            if ((rc = read_field(r, f, &it, &values[f->at])))
                return rc;
            continue;
        }
        if (it.type != WIRE_LEN)
            return fail_field(r, f, "wrong wire type");
        uint8_t *times = &seen[f - s->fields];
        _cleanup_str_ struct str all = STR_INIT;
        if (*times == 1) {
            if ((rc = gather(r, whole, it.number, &all)))
                return rc;
            it.bytes = (struct view){str_get(&all), all.len};
        }
        if (*times < 2 && (rc = read_part(r, f, it.bytes, values)))
            return rc;
        *times = (uint8_t)(*times ? 2 : 1);
    }
    return 0;
}

static void sort_maps(const struct schema *s, json_t **values) {
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->flags & SCHEMA_INLINE)
            sort_maps(f->of, values + f->at);
        else if (f->flags & SCHEMA_MAP && values[f->at])
            values[f->at] = build_sorted(values[f->at]);
    }
}

static int read_object(struct reader *r, const struct schema *s, struct view in, json_t **out) {
    json_t *values[SCHEMA_MOST_KEYS];
    if (r->depth >= SCHEMA_DEPTH)
        return fail(r, "more levels than any object has");
    memset(values, 0, s->n_flat * sizeof *values);
    r->depth++;
    int rc = read_values(r, s, in, values);
    r->depth--;
    if (rc) {
        build_drop(s, values);
        return rc;
    }
    sort_maps(s, values);
    *out = build_object(s, values);
    return 0;
}

int schema_from_pb(const struct schema *s, struct view message, json_t **out, struct err *err) {
    struct reader r = {.err = err};
    json_t *found;
    int rc = read_object(&r, s, message, &found);
    if (!rc)
        *out = found;
    return rc;
}
