/* From libyaml's events to JSON values. go-yaml is a translation of libyaml, so what both of them
 * find wrong they say with the same words. */
#include "sim/api/body_yaml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sim/schema/goquote.h"

/* go-yaml goes down 10,000 levels; our own values are not made for that. */
enum { DEPTH = 500 };

/* go-yaml's allowedAliasRatio(): how much of a document may come out of aliases. */
enum { FEW_NODES = 400000, MANY_NODES = 4000000 };

#define TAG(name) "tag:yaml.org,2002:" name

struct anchor {
    char *name;
    json_t *value; /* NULL: it is being read */
    size_t nodes;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    VEC(struct anchor) anchors;
    size_t nodes, aliased; /* values made; those of them that aliases made */
    unsigned depth;
    struct str doubled;
    struct err *err;
};

static int read_node(struct reader *r, json_t **out);

/* --- events --- */

static int syntax_error(struct reader *r) {
    const yaml_parser_t *p = &r->parser;
    size_t line = 0;
    if (p->problem_mark.line)
        line = p->problem_mark.line + (p->error == YAML_SCANNER_ERROR);
    else if (p->context_mark.line)
        line = p->context_mark.line;
    const char *what = p->problem ? p->problem : "unknown problem parsing YAML content";
    return line ? err_set(r->err, EINVAL, "yaml: line %zu: %s", line, what)
                : err_set(r->err, EINVAL, "yaml: %s", what);
}

static int next_event(struct reader *r) {
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = false;
    if (!yaml_parser_parse(&r->parser, &r->event))
        return syntax_error(r);
    r->has_event = true;
    return 0;
}

/* --- anchors --- */

static struct anchor *find_anchor(struct reader *r, const char *name) {
    for (size_t i = r->anchors.len; i-- > 0;)
        if (streq(r->anchors.p[i].name, name))
            return &r->anchors.p[i];
    return NULL;
}

static int check_aliasing(struct reader *r) {
    double share = r->nodes <= FEW_NODES ? 0.99
                   : r->nodes >= MANY_NODES
                       ? 0.10
                       : 0.99 - 0.89 * (double)(r->nodes - FEW_NODES) / (MANY_NODES - FEW_NODES);
    if (r->aliased > 100 && r->nodes > 1000 && (double)r->aliased / (double)r->nodes > share)
        return err_set(r->err, EINVAL, "yaml: document contains excessive aliasing");
    return 0;
}

static int read_alias(struct reader *r, json_t **out) {
    const char *name = (const char *)r->event.data.alias.anchor;
    const struct anchor *a = find_anchor(r, name);
    if (!a)
        return err_set(r->err, EINVAL, "yaml: unknown anchor '%s' referenced", name);
    if (!a->value)
        return err_set(r->err, EINVAL, "yaml: anchor '%s' value contains itself", name);
    r->nodes += a->nodes;
    r->aliased += a->nodes;
    int rc = check_aliasing(r);
    if (!rc)
        *out = json_deep_copy(a->value);
    return rc;
}

/* --- scalars --- */

static const char *const true_words[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                         "True", "TRUE", "on",  "On",  "ON"};
static const char *const false_words[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                          "False", "FALSE", "off", "Off", "OFF"};
static const char *const null_words[] = {"", "~", "null", "Null", "NULL"};
static const char *const nan_words[] = {".nan", ".NaN", ".NAN"};
static const char *const inf_words[] = {".inf", ".Inf", ".INF"};

#define ONE_OF(text, words) is_one_of(text, words, ARRAY_LEN(words))
static bool is_one_of(const char *text, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (streq(text, words[i]))
            return true;
    return false;
}

/* As strconv.ParseInt(text, 0, 64): prefixes 0x, 0o, 0b and 0 tell the base. */
static bool whole_number(const char *text, json_int_t *out) {
    const char *p = text + (*text == '-' || *text == '+');
    int base = 10;
    if (p[0] == '0' && p[1]) {
        char c = (char)(p[1] | 0x20);
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        p += c == 'x' || c == 'b' || c == 'o' ? 2 : 1;
    }
    if (!*p || *p == '-' || *p == '+' || *p == ' ')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(p, &end, base);
    bool negative = *text == '-';
    if (*end || errno || v > (unsigned long long)INT64_MAX + negative)
        return false;
    *out = negative ? (json_int_t)(0 - v) : (json_int_t)v;
    return true;
}

/* go-yaml's yamlStyleFloat: digits, a point among or before them, an exponent. */
static bool looks_like_float(const char *p) {
    p += *p == '-' || *p == '+';
    size_t whole = strspn(p, "0123456789"), part = 0;
    p += whole;
    if (*p == '.')
        p += 1 + (part = strspn(p + 1, "0123456789"));
    if (!whole && !part)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        size_t n = strspn(p, "0123456789");
        if (!n)
            return false;
        p += n;
    }
    return !*p;
}

/* What a plain word means; a text if nothing else. -EINVAL for what JSON has no word for. */
static int resolve(struct reader *r, const char *text, size_t len, json_t **out) {
    *out = NULL;
    if (strlen(text) != len) {
        *out = json_stringn(text, len);
        return 0;
    }
    const char *unsigned_text = text + (*text == '-' || *text == '+');
    if (ONE_OF(text, true_words))
        *out = json_true();
    else if (ONE_OF(text, false_words))
        *out = json_false();
    else if (ONE_OF(text, null_words))
        *out = json_null();
    else if (ONE_OF(text, nan_words))
        return err_set(r->err, EINVAL, "json: unsupported value: NaN");
    else if (ONE_OF(unsigned_text, inf_words))
        return err_set(r->err, EINVAL, "json: unsupported value: %cInf", *text == '-' ? '-' : '+');
    if (*out)
        return 0;
    if (strchr("+-.0123456789", *text)) {
        _cleanup_free_ char *plain = xmalloc(len + 1);
        size_t n = 0;
        for (size_t i = 0; i < len; i++)
            if (text[i] != '_')
                plain[n++] = text[i];
        plain[n] = '\0';
        json_int_t number;
        if (*text != '.' && whole_number(plain, &number)) {
            *out = json_integer(number);
            return 0;
        }
        double v = looks_like_float(plain) ? strtod(plain, NULL) : HUGE_VAL;
        if (isfinite(v)) /* Go writes one without a fraction as a whole number */
            *out = v == floor(v) && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v);
    }
    if (!*out)
        *out = json_stringn(text, len);
    return 0;
}

static int read_binary(struct reader *r, const char *text, size_t len, json_t **out) {
    _cleanup_free_ char *bytes = NULL;
    size_t n = 0;
    if (!base64_decode(text, len, &bytes, &n))
        return err_set(r->err, EINVAL, "yaml: !!binary value contains invalid base64 data");
    *out = json_stringn(strna(bytes), n);
    if (!*out) /* Go's encoder of JSON has no other bytes */
        *out = json_string("\xef\xbf\xbd");
    return 0;
}

static int read_scalar(struct reader *r, json_t **out) {
    const char *text = (const char *)r->event.data.scalar.value;
    const char *tag = (const char *)r->event.data.scalar.tag;
    size_t len = r->event.data.scalar.length;
    bool plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (tag && streq(tag, TAG("binary")))
        return read_binary(r, text, len, out);
    if (tag ? streq(tag, TAG("int")) || streq(tag, TAG("float")) || streq(tag, TAG("bool")) ||
                  streq(tag, TAG("null"))
            : plain)
        return resolve(r, text, len, out);
    *out = json_stringn(text, len);
    return *out ? 0 : err_set(r->err, EINVAL, "yaml: invalid UTF-8");
}

/* --- collections --- */

static int read_list(struct reader *r, json_t **out) {
    json_t *list = json_array();
    int rc;
    while (!(rc = next_event(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        json_t *item = NULL;
        rc = read_node(r, &item);
        if (rc)
            break;
        json_array_append_new(list, item);
    }
    if (rc) {
        json_decref(list);
        return rc;
    }
    *out = list;
    return 0;
}

/* A key as JSON has it: a text. */
static int key_text(struct reader *r, const json_t *key, struct str *out) {
    switch (json_typeof(key)) {
    case JSON_STRING:
        str_addn(out, json_string_value(key), json_string_length(key));
        return 0;
    case JSON_INTEGER:
        str_addf(out, "%lld", (long long)json_integer_value(key));
        return 0;
    case JSON_REAL:
        str_addf(out, "%g", json_real_value(key));
        return 0;
    case JSON_TRUE:
    case JSON_FALSE:
        str_add(out, json_is_true(key) ? "true" : "false");
        return 0;
    case JSON_NULL:
        return err_set(r->err, EINVAL, "unsupported map key of type: %%!s(<nil>), key: <nil>");
    default:
        return err_set(r->err, EINVAL, "yaml: invalid map key");
    }
}

/* What "<<" names: a map, or a list of maps of which the first counts most. It takes the place of
 * what stands before it. */
static int merge(struct reader *r, json_t *into, const json_t *from) {
    if (json_is_object(from)) {
        json_object_update(into, (json_t *)from);
        return 0;
    }
    for (size_t i = json_array_size(from); i-- > 0;)
        if (json_is_object(json_array_get(from, i)))
            json_object_update(into, json_array_get(from, i));
    return json_is_array(from)
               ? 0
               : err_set(r->err, EINVAL,
                         "yaml: map merge requires map or sequence of maps as the value");
}

static void note_doubled(struct reader *r, size_t line, const struct str *key) {
    str_addf(&r->doubled, "%s\n  line %zu: key ",
             r->doubled.len ? "" : "yaml: unmarshal errors:", line);
    goquote(&r->doubled, str_get(key), key->len);
    str_add(&r->doubled, " already set in map");
}

/* One pair; the event is the key's. */
static int read_pair(struct reader *r, json_t *map) {
    _cleanup_json_ json_t *key = NULL, *value = NULL;
    _cleanup_str_ struct str name = STR_INIT;
    bool plain = r->event.type == YAML_SCALAR_EVENT && !r->event.data.scalar.tag &&
                 r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    size_t line = r->event.start_mark.line + 1;
    int rc = read_node(r, &key);
    if (!rc)
        rc = key_text(r, key, &name);
    if (!rc)
        rc = next_event(r);
    if (!rc)
        rc = read_node(r, &value);
    if (rc)
        return rc;
    if (plain && streq(str_get(&name), "<<"))
        return merge(r, map, value);
    if (json_object_getn(map, str_get(&name), name.len))
        note_doubled(r, line, &name);
    json_object_setn_new(map, str_get(&name), name.len, TAKE_PTR(value));
    return 0;
}

static int read_map(struct reader *r, json_t **out) {
    json_t *map = json_object();
    int rc;
    while (!(rc = next_event(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        rc = read_pair(r, map);
        if (rc)
            break;
    }
    if (rc) {
        json_decref(map);
        return rc;
    }
    *out = map;
    return 0;
}

/* --- any node --- */

static const char *anchor_of(const yaml_event_t *e) {
    return (const char *)(e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
                          : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
                                                                 : e->data.mapping_start.anchor);
}

/* The event is its first. */
static int read_node(struct reader *r, json_t **out) {
    if (r->event.type == YAML_ALIAS_EVENT)
        return read_alias(r, out);
    if (++r->depth > DEPTH)
        return err_set(r->err, EINVAL, "yaml: line %zu: exceeded max depth of 10000",
                       r->event.start_mark.line + 1);
    size_t before = r->nodes++, number = r->anchors.len;
    bool anchored = anchor_of(&r->event) != NULL;
    if (anchored)
        *vec_push(&r->anchors) = (struct anchor){.name = xstrdup(anchor_of(&r->event))};
    int rc = r->event.type == YAML_SCALAR_EVENT           ? read_scalar(r, out)
             : r->event.type == YAML_SEQUENCE_START_EVENT ? read_list(r, out)
                                                          : read_map(r, out);
    if (!rc && anchored) {
        struct anchor *a = &r->anchors.p[number];
        a->value = json_incref(*out);
        a->nodes = r->nodes - before;
    }
    r->depth--;
    return rc;
}

static int read_document(struct reader *r, json_t **out) {
    int rc = next_event(r); /* the stream begins */
    if (!rc)
        rc = next_event(r);
    if (rc)
        return rc;
    if (r->event.type == YAML_STREAM_END_EVENT) {
        *out = json_null();
        return 0;
    }
    rc = next_event(r);
    if (!rc)
        rc = read_node(r, out);
    return rc;
}

int body_yaml(struct view text, struct schema_notes *notes, json_t **out, struct err *err) {
    struct reader r = {.err = err};
    json_t *v = NULL;
    if (!yaml_parser_initialize(&r.parser))
        abort(); /* no memory ends the process as everywhere */
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)strna(text.p), text.len);
    int rc = read_document(&r, &v);
    if (!rc && r.doubled.len)
        *vec_push(&notes->texts) = str_take(&r.doubled);
    if (!rc)
        *out = v;
    str_done(&r.doubled);
    for (size_t i = 0; i < r.anchors.len; i++) {
        free(r.anchors.p[i].name);
        json_decref(r.anchors.p[i].value);
    }
    vec_done(&r.anchors);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return rc;
}
