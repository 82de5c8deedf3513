/* runtime.Unknown, taken apart. */
#include "sim/api/envelope.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum wire {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_END = 4,
    WIRE_32 = 5
};

enum { NESTED = 10000 }; /* groups in groups: as deep as Go's own decoder goes */

/* A message whose fields are all strings or messages: their names by number. */
struct form {
    const char *name;
    const char *fields[5];
};
static const struct form unknown = {"Unknown",
                                    {NULL, "TypeMeta", "Raw", "ContentEncoding", "ContentType"}};
static const struct form type_meta = {"TypeMeta", {NULL, "APIVersion", "Kind"}};

static bool fail_with(struct str *why, const char *text) {
    str_add(why, text);
    return false;
}

static bool cut_off(struct str *why) {
    return fail_with(why, "unexpected EOF");
}

static bool take_varint(struct view *m, uint64_t *out, struct str *why) {
    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!m->len)
            return cut_off(why);
        unsigned char c = (unsigned char)*m->p;
        m->p++;
        m->len--;
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    return fail_with(why, "proto: integer overflow");
}

static bool skip_bytes(struct view *m, uint64_t n, struct str *why) {
    if (n > m->len)
        return cut_off(why);
    m->p += n;
    m->len -= (size_t)n;
    return true;
}

/* The length of a string, and what is left behind it. */
static bool take_bytes(struct view *m, struct view *out, struct str *why) {
    uint64_t n;
    if (!take_varint(m, &n, why))
        return false;
    if (n > INT64_MAX) /* Go's int */
        return fail_with(why, "proto: negative length found during unmarshaling");
    *out = (struct view){m->p, (size_t)n};
    return skip_bytes(m, n, why);
}

/* The value of a field that nobody knows, groups with all that is in them. */
static bool skip_value(struct view *m, unsigned wire, struct str *why) {
    uint64_t number;
    struct view bytes;
    unsigned depth = 0;
    for (;;) {
        switch (wire) {
        case WIRE_VARINT:
            if (!take_varint(m, &number, why))
                return false;
            break;
        case WIRE_64:
        case WIRE_32:
            if (!skip_bytes(m, wire == WIRE_64 ? 8 : 4, why))
                return false;
            break;
        case WIRE_BYTES:
            if (!take_bytes(m, &bytes, why))
                return false;
            break;
        case WIRE_GROUP:
            if (++depth > NESTED)
                return fail_with(why, "proto: unexpected end of group");
            break;
        case WIRE_END:
            if (!depth)
                return fail_with(why, "proto: unexpected end of group");
            depth--;
            break;
        default:
            str_addf(why, "proto: illegal wireType %u", wire);
            return false;
        }
        if (!depth)
            return true;
        if (!take_varint(m, &number, why))
            return false;
        wire = number & 7;
    }
}

/* The fields that the form names, the last of each; false when it is malformed. */
static bool read_message(struct view m, const struct form *form, struct view out[5],
                         struct str *why) {
    while (m.len) {
        uint64_t key;
        if (!take_varint(&m, &key, why))
            return false;
        unsigned wire = key & 7;
        int32_t number = (int32_t)(key >> 3);
        if (wire == WIRE_END) {
            str_addf(why, "proto: %s: wiretype end group for non-group", form->name);
            return false;
        }
        if (number <= 0) {
            str_addf(why, "proto: %s: illegal tag %d (wire type %llu)", form->name, number,
                     (unsigned long long)key);
            return false;
        }
        const char *field = number < 5 ? form->fields[number] : NULL;
        if (field && wire != WIRE_BYTES) {
            str_addf(why, "proto: wrong wireType = %u for field %s", wire, field);
            return false;
        }
        if (field ? !take_bytes(&m, &out[number], why) : !skip_value(&m, wire, why))
            return false;
    }
    return true;
}

bool envelope_read(struct view body, struct envelope *out, struct str *why) {
    static const char magic[4] = "k8s";
    if (!body.len)
        return fail_with(why, "empty data");
    if (body.len < sizeof magic || memcmp(body.p, magic, sizeof magic) != 0)
        return fail_with(why, "provided data does not appear to be a protobuf message, expected "
                              "prefix [107 56 115 0]");
    if (body.len == sizeof magic)
        return fail_with(why, "empty body");
    struct view parts[5] = {0}, type[5] = {0};
    body.p += sizeof magic;
    body.len -= sizeof magic;
    if (!read_message(body, &unknown, parts, why) || !read_message(parts[1], &type_meta, type, why))
        return false;
    *out = (struct envelope){type[1], type[2], parts[2]};
    return true;
}
