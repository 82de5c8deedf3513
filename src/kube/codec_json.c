/* The JSON decoder: recursive descent over contiguous text, straight into structs.
 *
 * As lenient as Go's encoding/json where the API server's clients rely on it (null is absent, a
 * lone surrogate becomes U+FFFD, the last of duplicate keys wins) and strict otherwise. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "kube/codec.h"
#include "model/quantity.h"

struct reader {
    struct codec *c;
    const char *start, *p, *end;
    int depth;
    void *root;
    struct err *err;
    const struct field *path[CODEC_DEPTH + 1]; /* whose value is being read, by depth */
};

#define TOO_MUCH "more list elements than any object has"

/* Where it is, so that whoever wrote the object knows where to look. */
static void note_path(const struct reader *r) {
    struct str *out = &r->c->where;
    for (int i = 1; i <= MIN_OF(r->depth, (int)CODEC_DEPTH) && r->path[i]; i++)
        str_addf(out, "%s%s", out->len ? "." : "", r->path[i]->json);
}

static int fail(struct reader *r, const char *what) {
    if (!r->c->where.len)
        note_path(r);
    return err_set(r->err, EBADMSG, "bad JSON at byte %zu: %s", (size_t)(r->p - r->start), what);
}

/* It is JSON, but not what belongs there. */
static int fail_odd(struct reader *r, const char *what) {
    if (!r->c->where.len)
        note_path(r);
    return err_set(r->err, EBADMSG, "%s", what);
}

static void skip_space(struct reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
}

static int expect(struct reader *r, char c) {
    skip_space(r);
    if (r->p == r->end || *r->p != c)
        return fail(r, r->p == r->end ? "it ends too early" : "unexpected character");
    r->p++;
    return 0;
}

static bool peek(struct reader *r, char c) {
    skip_space(r);
    return r->p < r->end && *r->p == c;
}

static int hex4(struct reader *r, uint32_t *out) {
    uint32_t v = 0;
    if (r->end - r->p < 4)
        return fail(r, "unfinished \\u escape");
    for (int i = 0; i < 4; i++) {
        char c = *r->p++;
        uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 16;
        if (d == 16)
            return fail(r, "bad \\u escape");
        v = v << 4 | d;
    }
    *out = v;
    return 0;
}

static void add_utf8(struct str *s, uint32_t c) {
    char b[4];
    if (c < 0x80) {
        str_addc(s, (char)c);
    } else if (c < 0x800) {
        b[0] = (char)(0xc0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3f));
        str_addn(s, b, 2);
    } else if (c < 0x10000) {
        b[0] = (char)(0xe0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3f));
        b[2] = (char)(0x80 | (c & 0x3f));
        str_addn(s, b, 3);
    } else {
        b[0] = (char)(0xf0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3f));
        b[2] = (char)(0x80 | (c >> 6 & 0x3f));
        b[3] = (char)(0x80 | (c & 0x3f));
        str_addn(s, b, 4);
    }
}

static int read_unicode(struct reader *r, struct str *out) {
    uint32_t c = 0, low = 0;
    int rc = hex4(r, &c);
    if (rc)
        return rc;
    if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        const char *before = r->p;
        r->p += 2;
        if ((rc = hex4(r, &low)))
            return rc;
        if (low >= 0xdc00 && low < 0xe000) {
            add_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
            return 0;
        }
        r->p = before;
    }
    if (c >= 0xd800 && c < 0xe000)
        str_add(out, UTF8_REPLACEMENT);
    else
        add_utf8(out, c);
    return 0;
}

static int read_escape(struct reader *r, struct str *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->p == r->end)
        return fail(r, "unfinished string");
    char c = *r->p++;
    if (c == 'u')
        return read_unicode(r, out);
    const char *at = c ? strchr(from, c) : NULL;
    if (!at)
        return fail(r, "bad escape in a string");
    str_addc(out, to[at - from]);
    return 0;
}

/* Up to the quote, backslash or control character that ends a run of plain bytes. */
static const char *plain_end(const char *p, const char *end) {
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

/* The view is into the text, or into c->text when there were escapes: valid until the next string.
 */
static int read_string(struct reader *r, struct view *out) {
    int rc = expect(r, '"');
    if (rc)
        return rc;
    const char *begin = r->p;
    r->p = plain_end(r->p, r->end);
    if (r->p < r->end && *r->p == '"') {
        *out = (struct view){begin, (size_t)(r->p++ - begin)};
        return 0;
    }
    struct str *text = &r->c->text;
    str_reset(text);
    for (;;) {
        str_addn(text, begin, (size_t)(r->p - begin));
        if (r->p == r->end || (unsigned char)*r->p < 0x20)
            return fail(r, r->p == r->end ? "unfinished string" : "control character in a string");
        if (*r->p++ == '"')
            break;
        if ((rc = read_escape(r, text)))
            return rc;
        begin = r->p;
        r->p = plain_end(r->p, r->end);
    }
    *out = (struct view){str_get(text), text->len};
    return 0;
}

static int skip_string(struct reader *r) {
    r->p++;
    for (;;) {
        r->p = plain_end(r->p, r->end);
        if (r->p == r->end || (unsigned char)*r->p < 0x20)
            return fail(r, r->p == r->end ? "unfinished string" : "control character in a string");
        if (*r->p++ == '"')
            return 0;
        if (r->p == r->end)
            return fail(r, "unfinished string");
        r->p++;
    }
}

static bool literal(struct reader *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}

/* What a value is by its first character. */
enum shape { SHAPE_ANY, SHAPE_STRING, SHAPE_NUMBER, SHAPE_BOOL, SHAPE_OBJECT, SHAPE_LIST };
static const char *const shape_names[] = {
    [SHAPE_STRING] = "a string",  [SHAPE_NUMBER] = "a number", [SHAPE_BOOL] = "true or false",
    [SHAPE_OBJECT] = "an object", [SHAPE_LIST] = "a list",
};

static enum shape shape_of(struct reader *r) {
    struct reader ahead = *r;
    switch (*r->p) {
    case '"':
        return SHAPE_STRING;
    case '{':
        return SHAPE_OBJECT;
    case '[':
        return SHAPE_LIST;
    case 't':
    case 'f':
        return literal(&ahead, "true") || literal(&ahead, "false") ? SHAPE_BOOL : SHAPE_ANY;
    default:
        return (*r->p >= '0' && *r->p <= '9') || *r->p == '-' ? SHAPE_NUMBER : SHAPE_ANY;
    }
}

/* Fails when another shape of value is there; what is no JSON at all is left to whoever reads it.
 */
static int expect_shape(struct reader *r, enum shape wanted) {
    skip_space(r);
    enum shape found = wanted == SHAPE_ANY || r->p == r->end ? wanted : shape_of(r);
    if (found == wanted || found == SHAPE_ANY)
        return 0;
    char what[64];
    (void)snprintf(what, sizeof what, "expected %s, found %s", shape_names[wanted],
                   shape_names[found]);
    return fail_odd(r, what);
}

/* The same for what may be a string or a number. */
static int expect_scalar(struct reader *r, const char *else_what) {
    skip_space(r);
    enum shape found = r->p == r->end ? SHAPE_ANY : shape_of(r);
    bool good = found == SHAPE_ANY || found == SHAPE_STRING || found == SHAPE_NUMBER;
    return good ? 0 : fail_odd(r, else_what);
}

/* The text of a number; its grammar is RFC 8259's. */
static int read_number(struct reader *r, struct view *out) {
    skip_space(r);
    const char *b = r->p, *p = b, *e = r->end;
    if (p < e && *p == '-')
        p++;
    const char *digits = p;
    while (p < e && *p >= '0' && *p <= '9')
        p++;
    bool ok = p > digits && (*digits != '0' || p == digits + 1);
    if (ok && p < e && *p == '.') {
        const char *frac = ++p;
        while (p < e && *p >= '0' && *p <= '9')
            p++;
        ok = p > frac;
    }
    if (ok && p < e && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < e && (*p == '+' || *p == '-'))
            p++;
        const char *exp = p;
        while (p < e && *p >= '0' && *p <= '9')
            p++;
        ok = p > exp;
    }
    if (!ok)
        return fail(r, "expected a number");
    *out = (struct view){b, (size_t)(p - b)};
    r->p = p;
    return 0;
}

/* Skips one value without recursion; `depth` bounds what hostile nesting costs: nothing but a bit
 * each. */
static int skip_value(struct reader *r) {
    enum { MAX = 512 };
    uint64_t objects[MAX / 64] = {0}; /* bit set: this level is an object */
    int level = 0, rc;
    struct view number;
    for (;;) {
        skip_space(r);
        if (r->p == r->end)
            return fail(r, "it ends too early");
        bool opened = false;
        if (*r->p == '{' || *r->p == '[') {
            if (level == MAX)
                return fail(r, "nested too deeply");
            bool object = *r->p++ == '{';
            uint64_t bit = UINT64_C(1) << (level % 64);
            objects[level / 64] = object ? objects[level / 64] | bit : objects[level / 64] & ~bit;
            level++;
            opened = true;
        } else if (*r->p == '"') {
            if ((rc = skip_string(r)))
                return rc;
        } else if (!literal(r, "true") && !literal(r, "false") && !literal(r, "null")) {
            if ((rc = read_number(r, &number)))
                return rc;
        }
        /* What may follow: closings, then a comma, and in objects a key. */
        for (;;) {
            if (!level)
                return 0;
            bool object = objects[(level - 1) / 64] >> ((level - 1) % 64) & 1;
            if (peek(r, object ? '}' : ']')) {
                r->p++;
                level--;
                opened = false;
                continue;
            }
            if (!opened && (rc = expect(r, ',')))
                return rc;
            if (object) {
                if (!peek(r, '"'))
                    return fail(r, "expected a key");
                if ((rc = skip_string(r)) || (rc = expect(r, ':')))
                    return rc;
            }
            break;
        }
    }
}

static bool read_null(struct reader *r) {
    skip_space(r);
    return r->p < r->end && *r->p == 'n' && literal(r, "null");
}

static int read_int(struct reader *r, int64_t min, int64_t max, int64_t *out) {
    struct view text;
    int rc = read_number(r, &text);
    if (rc)
        return rc;
    bool negative = text.p[0] == '-';
    uint64_t v = 0;
    for (size_t i = negative; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return fail_odd(r, "expected a whole number");
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text.p[i] - '0'), &v))
            return fail_odd(r, "number out of range");
    }
    if (v > (uint64_t)INT64_MAX + negative)
        return fail_odd(r, "number out of range");
    int64_t n = negative ? (int64_t)(0 - v) : (int64_t)v;
    if (n < min || n > max)
        return fail_odd(r, "number out of range");
    *out = n;
    return 0;
}

static int read_time(struct reader *r, bool micro, int64_t *out) {
    struct view text;
    int rc = read_string(r, &text);
    if (rc)
        return rc;
    int64_t t = 0;
    if (text.len && !time_parse(text.p, text.len, &t))
        return fail_odd(r, "expected a time");
    if (t < CODEC_TIME_MIN * USEC_PER_SEC || t > CODEC_TIME_MAX * USEC_PER_SEC + USEC_PER_SEC - 1)
        return fail_odd(r, "time out of range");
    /* Kubernetes' Time has whole seconds. */
    if (!micro)
        t -= (t % USEC_PER_SEC + USEC_PER_SEC) % USEC_PER_SEC;
    *out = t;
    return 0;
}

static int read_quantity(struct reader *r, int64_t *out) {
    struct view text;
    int rc = expect_scalar(r, "expected a quantity");
    if (!rc)
        rc = peek(r, '"') ? read_string(r, &text) : read_number(r, &text);
    if (rc)
        return rc;
    *out = 0;
    if (text.len && !quantity_parse(text.p, text.len, out))
        return fail_odd(r, "expected a quantity");
    return 0;
}

static int read_message(struct reader *r, const struct type *type, void *obj);

static int read_list(struct reader *r, const struct type *type, struct codec_list *list) {
    int rc = expect(r, '[');
    if (rc)
        return rc;
    if (peek(r, ']')) {
        r->p++;
        return 0;
    }
    for (;;) {
        if (type == &type_strs) {
            struct view text = {0};
            if (!read_null(r) &&
                ((rc = expect_shape(r, SHAPE_STRING)) || (rc = read_string(r, &text))))
                return rc;
            const char **item = codec_list_add(r->c, list);
            if (!item)
                return fail_odd(r, TOO_MUCH);
            *item = codec_str(r->c, text);
        } else if (type == &type_ints) {
            int64_t n = 0;
            if (!read_null(r) && ((rc = expect_shape(r, SHAPE_NUMBER)) ||
                                  (rc = read_int(r, INT32_MIN, INT32_MAX, &n))))
                return rc;
            int32_t *item = codec_list_add(r->c, list);
            if (!item)
                return fail_odd(r, TOO_MUCH);
            *item = (int32_t)n;
        } else {
            void *item = codec_list_add(r->c, list);
            if (!item)
                return fail_odd(r, TOO_MUCH);
            type_init(type, item, NULL);
            if (!read_null(r) &&
                ((rc = expect_shape(r, SHAPE_OBJECT)) || (rc = read_message(r, type, item))))
                return rc;
            if (type->keep && !type->keep(item)) {
                type_release(type, r->c->pool, item, NULL);
                codec_list_pop(list);
            }
        }
        if (peek(r, ']')) {
            r->p++;
            return 0;
        }
        if ((rc = expect(r, ',')))
            return rc;
    }
}

static int read_pair_value(struct reader *r, const struct type *type, void *pair) {
    struct view text = {0};
    int rc = 0;
    if (read_null(r))
        return 0;
    if (type == &type_pair_qty)
        return read_quantity(r, &((struct pair_qty *)pair)->milli);
    if ((rc = expect_shape(r, SHAPE_STRING)))
        return rc;
    if (type == &type_pair_time)
        return read_time(r, false, &((struct pair_time *)pair)->time);
    if (!(rc = read_string(r, &text)))
        ((struct pair *)pair)->value = codec_str(r->c, text);
    return rc;
}

static int read_map(struct reader *r, const struct field *f, const struct type *type,
                    struct codec_list *list) {
    int rc = expect(r, '{');
    if (rc)
        return rc;
    if (peek(r, '}')) {
        r->p++;
        return 0;
    }
    for (;;) {
        struct view key;
        if ((rc = read_string(r, &key)))
            return rc;
        void *pair = codec_list_add(r->c, list);
        if (!pair)
            return fail_odd(r, TOO_MUCH);
        *(const char **)pair = codec_str(r->c, key);
        if ((rc = expect(r, ':')) || (rc = read_pair_value(r, type, pair)))
            return rc;
        if (f->keep_key && !f->keep_key(strna(*(const char **)pair))) {
            type_drop(r->c->pool, type, pair, list->size);
            codec_list_pop(list);
        }
        if (peek(r, '}')) {
            r->p++;
            return 0;
        }
        if ((rc = expect(r, ',')))
            return rc;
    }
}

/* Lists and maps: read, then made a pool entry. */
static int read_collection(struct reader *r, const struct field *f, void *m) {
    const struct type *type = field_element(f);
    struct codec_list list = {.size = type->size};
    bool map = type == &type_pair || type == &type_pair_qty || type == &type_pair_time;
    int rc = map ? read_map(r, f, type, &list) : read_list(r, type, &list);
    if (rc) {
        codec_abandon(r->c, type, &list);
        return rc;
    }
    codec_set(r->c, m, codec_finish(r->c, type, &list));
    return 0;
}

static int read_ptr(struct reader *r, const struct field *f, void *m) {
    struct codec_list one = {.size = f->type->size};
    void *obj = codec_list_add(r->c, &one);
    if (!obj)
        return fail_odd(r, TOO_MUCH);
    type_init(f->type, obj, NULL);
    int rc = read_message(r, f->type, obj);
    if (rc) {
        type_release(f->type, r->c->pool, obj, NULL);
        return rc;
    }
    codec_set(r->c, m, codec_finish(r->c, f->type, &one));
    return 0;
}

static int read_intstr(struct reader *r, struct intstr *out) {
    struct view text;
    int64_t n = 0;
    int rc = expect_scalar(r, "expected a number or a string");
    if (rc)
        return rc;
    bool is_str = peek(r, '"');
    if (is_str) {
        if ((rc = read_string(r, &text)))
            return rc;
        codec_set(r->c, &out->str, codec_str(r->c, text));
    } else {
        if ((rc = read_int(r, INT32_MIN, INT32_MAX, &n)))
            return rc;
        codec_set(r->c, &out->str, NULL);
    }
    out->val = (int32_t)n;
    out->is_str = is_str;
    out->set = 1;
    return 0;
}

static int read_bool(struct reader *r, bool *out) {
    skip_space(r);
    if (literal(r, "true"))
        *out = true;
    else if (literal(r, "false"))
        *out = false;
    else
        return fail(r, "expected true or false");
    return 0;
}

static int read_opt_bool(struct reader *r, int8_t *out) {
    bool b = false;
    int rc = read_bool(r, &b);
    if (!rc)
        *out = b;
    return rc;
}

/* The text of an object, checked for its form and kept for those who know what is in it. */
static int read_raw(struct reader *r, void *m) {
    if (!peek(r, '{'))
        return fail(r, "expected an object");
    const char *begin = r->p;
    int rc = skip_value(r);
    if (!rc)
        codec_set(r->c, m, codec_str(r->c, (struct view){begin, (size_t)(r->p - begin)}));
    return rc;
}

static const enum shape field_shapes[] = {
    [FIELD_STR] = SHAPE_STRING,     [FIELD_BOOL] = SHAPE_BOOL,
    [FIELD_OPT_BOOL] = SHAPE_BOOL,  [FIELD_JSON] = SHAPE_OBJECT,
    [FIELD_I32] = SHAPE_NUMBER,     [FIELD_OPT_I32] = SHAPE_NUMBER,
    [FIELD_I64] = SHAPE_NUMBER,     [FIELD_OPT_I64] = SHAPE_NUMBER,
    [FIELD_TIME] = SHAPE_STRING,    [FIELD_MICROTIME] = SHAPE_STRING,
    [FIELD_INTSTR] = SHAPE_ANY,     [FIELD_PRESENT] = SHAPE_OBJECT,
    [FIELD_MSG] = SHAPE_OBJECT,     [FIELD_PTR] = SHAPE_OBJECT,
    [FIELD_LIST] = SHAPE_LIST,      [FIELD_STRS] = SHAPE_LIST,
    [FIELD_INTS] = SHAPE_LIST,      [FIELD_MAP] = SHAPE_OBJECT,
    [FIELD_MAP_QTY] = SHAPE_OBJECT, [FIELD_MAP_TIME] = SHAPE_OBJECT,
};

static int read_field(struct reader *r, const struct field *f, void *m) {
    struct view text;
    int64_t n;
    int rc;
    if (read_null(r))
        return 0;
    if ((rc = expect_shape(r, field_shapes[f->kind])))
        return rc;
    switch ((enum field_kind)f->kind) {
    case FIELD_STR:
        if (!(rc = read_string(r, &text)))
            codec_set(r->c, m, codec_str(r->c, text));
        return rc;
    case FIELD_BOOL:
        return read_bool(r, m);
    case FIELD_OPT_BOOL:
        return read_opt_bool(r, m);
    case FIELD_JSON:
        return read_raw(r, m);
    case FIELD_I32:
    case FIELD_OPT_I32:
        if (!(rc = read_int(r, INT32_MIN, INT32_MAX, &n)))
            *(int32_t *)m = (int32_t)n;
        return rc;
    case FIELD_I64:
    case FIELD_OPT_I64:
        if (!(rc = read_int(r, INT64_MIN, INT64_MAX, &n)))
            *(int64_t *)m = n;
        return rc;
    case FIELD_TIME:
    case FIELD_MICROTIME:
        return read_time(r, f->kind == FIELD_MICROTIME, m);
    case FIELD_INTSTR:
        return read_intstr(r, m);
    case FIELD_PRESENT:
        if (!peek(r, '{'))
            return fail(r, "expected an object");
        *(bool *)m = true;
        return skip_value(r);
    case FIELD_MSG:
        return read_message(r, f->type, m);
    case FIELD_PTR:
        return read_ptr(r, f, m);
    case FIELD_LIST:
    case FIELD_STRS:
    case FIELD_INTS:
    case FIELD_MAP:
    case FIELD_MAP_QTY:
    case FIELD_MAP_TIME:
        return read_collection(r, f, m);
    }
    return fail(r, "field of unknown kind");
}

/* The field for a key, and where its member is; a message without a key of its own is searched too.
 */
static const struct field *find_field(const struct type *type, struct view key, char *obj,
                                      void *root, void **m) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (!f->json) {
            const struct field *in = NULL;
            if (f->kind == FIELD_MSG)
                in = find_field(f->type, key, obj + f->off, root, m);
            if (in)
                return in;
            continue;
        }
        if (f->json[0] == key.p[0] && strlen(f->json) == key.len &&
            !memcmp(f->json, key.p, key.len)) {
            *m = (f->flags & FIELD_OF_ROOT ? (char *)root : obj) + f->off;
            return f;
        }
    }
    return NULL;
}

static int read_message(struct reader *r, const struct type *type, void *obj) {
    int rc = expect(r, '{');
    if (rc)
        return rc;
    if (++r->depth > CODEC_DEPTH)
        return fail(r, "nested too deeply");
    if (peek(r, '}')) {
        r->p++;
        r->depth--;
        return 0;
    }
    for (;;) {
        struct view key;
        void *m = NULL;
        if ((rc = read_string(r, &key)))
            return rc;
        const struct field *f = key.len ? find_field(type, key, obj, r->root, &m) : NULL;
        if ((rc = expect(r, ':')))
            return rc;
        r->path[r->depth] = f;
        if ((rc = f ? read_field(r, f, m) : skip_value(r)))
            return rc;
        r->path[r->depth] = NULL;
        if (peek(r, '}')) {
            r->p++;
            r->depth--;
            return 0;
        }
        if ((rc = expect(r, ',')))
            return rc;
    }
}

int codec_json(struct codec *c, const struct type *type, struct view text, void *obj,
               struct err *err) {
    struct reader r = {c, text.p, text.p, text.p + text.len, 0, obj, err, {0}};
    arena_reset(&c->scratch);
    str_reset(&c->where);
    c->room = CODEC_ROOM;
    type_init(type, obj, obj);
    int rc = read_message(&r, type, obj);
    if (!rc) {
        skip_space(&r);
        if (r.p != r.end)
            rc = fail(&r, "something follows the object");
    }
    if (rc) {
        type_release(type, c->pool, obj, obj);
        memset(obj, 0, type->size);
    }
    return rc;
}

int codec_json_member(struct codec *c, const struct type *type, struct view key, struct view text,
                      void *obj, struct err *err) {
    struct reader r = {c, text.p, text.p, text.p + text.len, 0, obj, err, {0}};
    void *m = NULL;
    const struct field *f = find_field(type, key, obj, obj, &m);
    if (!f)
        return 0;
    if (f->kind != FIELD_MSG)
        return err_set(err, ENOENT, "this member cannot be read alone");
    arena_reset(&c->scratch);
    c->room = CODEC_ROOM;
    type_clear(f->type, c->pool, m, obj);
    int rc = read_message(&r, f->type, m);
    if (!rc && r.p != r.end)
        rc = fail(&r, "something follows the object");
    if (rc) {
        type_release(type, c->pool, obj, obj);
        memset(obj, 0, type->size);
    }
    return rc;
}

int codec_json_find(struct codec *c, struct view text, const struct view *keys, size_t n,
                    struct view *values, struct err *err) {
    struct reader r = {c, text.p, text.p, text.p + text.len, 0, NULL, err, {0}};
    size_t left = n;
    for (size_t i = 0; i < n; i++)
        values[i] = (struct view){NULL, 0};
    int rc = expect(&r, '{');
    if (rc)
        return rc;
    if (peek(&r, '}'))
        return 0;
    while (left) {
        struct view key;
        if ((rc = read_string(&r, &key)))
            return rc;
        size_t i = 0;
        while (i < n && !view_eq(key, keys[i]))
            i++;
        if ((rc = expect(&r, ':')))
            return rc;
        skip_space(&r);
        const char *begin = r.p;
        if ((rc = skip_value(&r)))
            return rc;
        if (i < n) {
            left -= !values[i].p;
            values[i] = (struct view){begin, (size_t)(r.p - begin)};
        }
        if (peek(&r, '}'))
            return 0;
        if ((rc = expect(&r, ',')))
            return rc;
    }
    return 0;
}

bool codec_json_next(struct codec *c, struct view *list, struct view *item) {
    if (!list->len) /* there may be no pointer either */
        return false;
    struct reader r = {c, list->p, list->p, list->p + list->len, 0, NULL, NULL, {0}};
    skip_space(&r);
    if (r.p == r.end || (*r.p != '[' && *r.p != ','))
        return false;
    r.p++;
    skip_space(&r);
    const char *begin = r.p;
    if (peek(&r, ']') || skip_value(&r))
        return false;
    *item = (struct view){begin, (size_t)(r.p - begin)};
    *list = (struct view){r.p, (size_t)(r.end - r.p)};
    return true;
}
