/* The protobuf decoder: tags and lengths, straight into structs.
 *
 * Kubernetes' messages are proto2 made by gogo: numbers are plain varints, times and quantities are
 * small messages, maps are repeated pairs. A repeated field is read in one go at its first element:
 * its later elements are looked for from there on, which keeps lists contiguous without a second
 * representation. */
#include <errno.h>
#include <string.h>

#include "base/timefmt.h"
#include "kube/codec.h"
#include "model/quantity.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

/* One field of a message: its number, and its value as a number or as bytes. */
struct item {
    uint32_t number;
    enum wire wire;
    uint64_t value;
    struct view bytes;
};

struct reader {
    struct codec *c;
    void *root;
    int depth;
    struct err *err;
};

#define TOO_MUCH "more list elements than any object has"

static int fail(struct reader *r, const char *what) {
    return err_set(r->err, EBADMSG, "bad protobuf: %s", what);
}

static bool read_long_varint(struct view *in, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!in->len)
            return false;
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

/* Nearly all tags and lengths are one byte long. */
static inline bool read_varint(struct view *in, uint64_t *out) {
    if (in->len && !(*in->p & 0x80)) {
        *out = (unsigned char)*in->p++;
        in->len--;
        return true;
    }
    return read_long_varint(in, out);
}

static int next_item(struct reader *r, struct view *in, struct item *it) {
    uint64_t tag, n;
    if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return fail(r, "broken tag");
    it->number = (uint32_t)(tag >> 3);
    it->wire = (enum wire)(tag & 7);
    it->bytes = (struct view){NULL, 0};
    it->value = 0;
    switch (it->wire) {
    case WIRE_VARINT:
        return read_varint(in, &it->value) ? 0 : fail(r, "broken number");
    case WIRE_LEN:
        if (!read_varint(in, &n))
            return fail(r, "broken length");
        break;
    case WIRE_64:
        n = 8;
        break;
    case WIRE_32:
        n = 4;
        break;
    default:
        return fail(r, "unknown wire type");
    }
    if (n > in->len)
        return fail(r, "it ends too early");
    it->bytes = (struct view){in->p, (size_t)n};
    in->p += n;
    in->len -= (size_t)n;
    return 0;
}

/* --- messages that become plain values --- */

static int read_time(struct reader *r, struct view in, bool micro, int64_t *out) {
    int64_t seconds = 0, nanos = 0;
    bool any = in.len > 0;
    while (in.len) {
        struct item it;
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number == 1 && it.wire == WIRE_VARINT)
            seconds = (int64_t)it.value;
        else if (it.number == 2 && it.wire == WIRE_VARINT)
            nanos = (int32_t)it.value;
    }
    /* Go's zero time has no fields at all. */
    if (seconds < CODEC_TIME_MIN || seconds > CODEC_TIME_MAX || nanos < 0 || nanos > 999999999)
        return fail(r, "time out of range");
    *out = any ? seconds * USEC_PER_SEC + (micro ? nanos / 1000 : 0) : 0;
    return 0;
}

static int read_quantity(struct reader *r, struct view in, int64_t *out) {
    *out = 0;
    while (in.len) {
        struct item it;
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number != 1 || it.wire != WIRE_LEN)
            continue;
        *out = 0;
        if (it.bytes.len && !quantity_parse(it.bytes.p, it.bytes.len, out))
            return fail(r, "broken quantity");
    }
    return 0;
}

static int read_intstr(struct reader *r, struct view in, struct intstr *out) {
    int64_t type = 0, val = 0;
    struct view text = {0};
    while (in.len) {
        struct item it;
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (it.number == 1 && it.wire == WIRE_VARINT)
            type = (int64_t)it.value;
        else if (it.number == 2 && it.wire == WIRE_VARINT)
            val = (int32_t)it.value;
        else if (it.number == 3 && it.wire == WIRE_LEN)
            text = it.bytes;
    }
    out->set = 1;
    out->is_str = type == 1;
    out->val = out->is_str ? 0 : (int32_t)val;
    codec_set(r->c, &out->str, out->is_str ? codec_str(r->c, text) : NULL);
    return 0;
}

/* --- lists and maps --- */

static enum wire wire_of(enum field_kind kind) {
    bool number = kind == FIELD_BOOL || kind == FIELD_OPT_BOOL || kind == FIELD_I32 ||
                  kind == FIELD_I64 || kind == FIELD_OPT_I32 || kind == FIELD_OPT_I64 ||
                  kind == FIELD_INTS;
    return number ? WIRE_VARINT : WIRE_LEN;
}

static int read_message(struct reader *r, const struct type *type, struct view in, void *obj);

static int read_element(struct reader *r, const struct type *type, struct view in,
                        struct codec_list *list) {
    void *item = codec_list_add(r->c, list);
    if (!item)
        return fail(r, TOO_MUCH);
    type_init(type, item, NULL);
    int rc = read_message(r, type, in, item);
    if (!rc && type->keep && !type->keep(item)) {
        type_release(type, r->c->pool, item, NULL);
        codec_list_pop(list);
    }
    return rc;
}

static int read_str_element(struct reader *r, struct view in, struct codec_list *list) {
    const char **item = codec_list_add(r->c, list);
    if (!item)
        return fail(r, TOO_MUCH);
    *item = codec_str(r->c, in);
    return 0;
}

static int read_pair(struct reader *r, const struct field *f, const struct type *type,
                     struct view in, struct codec_list *list) {
    struct view key = {0}, value = {0};
    int rc;
    while (in.len) {
        struct item it;
        if ((rc = next_item(r, &in, &it)))
            return rc;
        if (it.number == 1 && it.wire == WIRE_LEN)
            key = it.bytes;
        else if (it.number == 2 && it.wire == WIRE_LEN)
            value = it.bytes;
    }
    void *pair = codec_list_add(r->c, list);
    if (!pair)
        return fail(r, TOO_MUCH);
    const char **name = pair;
    *name = codec_str(r->c, key);
    if (f->keep_key && !f->keep_key(strna(*name))) {
        pool_unref(r->c->pool, *name);
        codec_list_pop(list);
        return 0;
    }
    if (type == &type_pair_qty)
        return read_quantity(r, value, &((struct pair_qty *)pair)->milli);
    if (type == &type_pair_time)
        return read_time(r, value, false, &((struct pair_time *)pair)->time);
    ((struct pair *)pair)->value = codec_str(r->c, value);
    return 0;
}

/* Of a list that is not packed: one number each, as the API server writes them. */
static int read_int_element(struct reader *r, uint64_t value, struct codec_list *list) {
    int32_t *item = codec_list_add(r->c, list);
    if (!item)
        return fail(r, TOO_MUCH);
    *item = (int32_t)value;
    return 0;
}

/* Reads all elements of a repeated field: the first one is `first`, the others are in `rest`. */
static int read_repeated(struct reader *r, const struct field *f, const struct item *first,
                         struct view rest, void *m) {
    const struct type *type = field_element(f);
    struct codec_list list = {.size = type->size};
    struct item it = *first;
    int rc = 0;
    for (;;) {
        if (it.number == f->pb && it.wire != wire_of(f->kind))
            rc = fail(r, "field of the wrong wire type");
        else if (it.number != f->pb)
            rc = 0;
        else if (f->kind == FIELD_STRS)
            rc = read_str_element(r, it.bytes, &list);
        else if (f->kind == FIELD_INTS)
            rc = read_int_element(r, it.value, &list);
        else if (f->kind == FIELD_LIST)
            rc = read_element(r, type, it.bytes, &list);
        else
            rc = read_pair(r, f, type, it.bytes, &list);
        if (rc || !rest.len)
            break;
        if ((rc = next_item(r, &rest, &it)))
            break;
    }
    if (rc) {
        codec_abandon(r->c, type, &list);
        return rc;
    }
    codec_set(r->c, m, codec_finish(r->c, type, &list));
    return 0;
}

/* --- messages --- */

static int read_ptr(struct reader *r, const struct field *f, struct view in, void *m) {
    struct codec_list one = {.size = f->type->size};
    void *obj = codec_list_add(r->c, &one);
    if (!obj)
        return fail(r, TOO_MUCH);
    type_init(f->type, obj, NULL);
    int rc = read_message(r, f->type, in, obj);
    if (rc) {
        type_release(f->type, r->c->pool, obj, NULL);
        return rc;
    }
    codec_set(r->c, m, codec_finish(r->c, f->type, &one));
    return 0;
}

static int read_field(struct reader *r, const struct field *f, const struct item *it,
                      struct view rest, void *m) {
    if (it->wire != wire_of(f->kind))
        return fail(r, "field of the wrong wire type");
    switch ((enum field_kind)f->kind) {
    case FIELD_STR:
        codec_set(r->c, m, codec_str(r->c, it->bytes));
        return 0;
    case FIELD_BOOL:
        *(bool *)m = it->value != 0;
        return 0;
    case FIELD_OPT_BOOL:
        *(int8_t *)m = it->value != 0;
        return 0;
    case FIELD_JSON:
        return fail(r, "what is kept as JSON has no protobuf");
    case FIELD_I32:
    case FIELD_OPT_I32:
        *(int32_t *)m = (int32_t)it->value;
        return 0;
    case FIELD_I64:
    case FIELD_OPT_I64:
        *(int64_t *)m = (int64_t)it->value;
        return 0;
    case FIELD_TIME:
    case FIELD_MICROTIME:
        return read_time(r, it->bytes, f->kind == FIELD_MICROTIME, m);
    case FIELD_INTSTR:
        return read_intstr(r, it->bytes, m);
    case FIELD_PRESENT:
        *(bool *)m = true;
        return 0;
    case FIELD_MSG:
        return read_message(r, f->type, it->bytes, m);
    case FIELD_PTR:
        return read_ptr(r, f, it->bytes, m);
    case FIELD_LIST:
    case FIELD_STRS:
    case FIELD_INTS:
    case FIELD_MAP:
    case FIELD_MAP_QTY:
    case FIELD_MAP_TIME:
        return read_repeated(r, f, it, rest, m);
    }
    return fail(r, "field of unknown kind");
}

static bool is_repeated(enum field_kind kind) {
    return kind >= FIELD_LIST;
}

static int read_message(struct reader *r, const struct type *type, struct view in, void *obj) {
    /* Encoders write fields in ascending order: the cursor finds each at once, and starts over when
     * one goes back. */
    uint16_t cursor = 0;
    uint64_t seen = 0;
    if (++r->depth > CODEC_DEPTH)
        return fail(r, "nested too deeply");
    while (in.len) {
        struct item it;
        int rc = next_item(r, &in, &it);
        if (rc)
            return rc;
        if (cursor == type->n_fields || type->fields[cursor].pb > it.number)
            cursor = 0;
        while (cursor < type->n_fields && type->fields[cursor].pb < it.number)
            cursor++;
        if (cursor == type->n_fields || type->fields[cursor].pb != it.number)
            continue;
        const struct field *f = &type->fields[cursor];
        if (is_repeated(f->kind)) {
            if (seen & UINT64_C(1) << cursor)
                continue;
            seen |= UINT64_C(1) << cursor;
        }
        void *m = (f->flags & FIELD_OF_ROOT ? (char *)r->root : (char *)obj) + f->off;
        if ((rc = read_field(r, f, &it, in, m)))
            return rc;
    }
    r->depth--;
    return 0;
}

int codec_pb(struct codec *c, const struct type *type, struct view message, void *obj,
             struct err *err) {
    struct reader r = {c, obj, 0, err};
    arena_reset(&c->scratch);
    c->room = CODEC_ROOM;
    type_init(type, obj, obj);
    int rc = read_message(&r, type, message, obj);
    if (rc) {
        type_release(type, c->pool, obj, obj);
        memset(obj, 0, type->size);
    }
    return rc;
}
