/* YAML, read into jansson values that remember where they stood. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "base/yaml_internal.h"
#include "base/yaml_scalar.h"

/* --- reading --- */

struct anchor {
    char *name;
    json_t *value; /* a reference of our own */
};

struct reader {
    const char *name, *text;
    size_t len;
    yaml_parser_t parser;
    struct yaml_doc *doc; /* being filled */
    VEC(struct anchor) anchors;
    size_t nodes, copies; /* of the whole stream */
    struct err *err;
};

static struct yaml_pos pos_of(yaml_mark_t m) {
    return (struct yaml_pos){(unsigned)MIN_OF(m.line, UINT_MAX - 1) + 1,
                             (unsigned)MIN_OF(m.column, UINT_MAX - 1) + 1};
}

static int fail(struct reader *r, struct yaml_pos pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct reader *r, struct yaml_pos pos, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    yaml_verr(r->name, pos, r->err, fmt, ap);
    va_end(ap);
    return -EINVAL;
}

/* The place of a byte, for errors below the level of characters. */
static struct yaml_pos pos_of_offset(const struct reader *r, size_t offset) {
    struct yaml_pos pos = {1, 1};
    for (size_t i = 0; i < offset && i < r->len; i++) {
        if (r->text[i] == '\n')
            pos = (struct yaml_pos){pos.line + 1, 1};
        else if ((r->text[i] & 0xc0) != 0x80)
            pos.col++;
    }
    return pos;
}

/* The byte at a place, NUL when there is none. */
static char char_at(const struct reader *r, struct yaml_pos want) {
    struct yaml_pos pos = {1, 1};
    for (size_t i = 0; i < r->len; i++) {
        bool starts = (r->text[i] & 0xc0) != 0x80;
        if (starts && pos.line == want.line && pos.col == want.col)
            return r->text[i];
        if (r->text[i] == '\n')
            pos = (struct yaml_pos){pos.line + 1, 1};
        else if (starts)
            pos.col++;
    }
    return '\0';
}

/* libyaml names what it found; this adds what usually causes it. */
static int syntax_error(struct reader *r) {
    yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "syntax error";
    if (p->error == YAML_MEMORY_ERROR)
        return err_set(r->err, ENOMEM, "%s: out of memory", r->name);
    if (p->error == YAML_READER_ERROR)
        return fail(r, pos_of_offset(r, p->problem_offset), "%s", problem);
    struct yaml_pos pos = pos_of(p->problem_mark);
    if (char_at(r, pos) == '\t')
        return fail(r, pos, "a tab cannot be used for indentation: use blanks");
    if (p->context && p->context_mark.line != p->problem_mark.line)
        return fail(r, pos, "%s (%s that begins in line %zu)", problem, p->context,
                    p->context_mark.line + 1);
    if (p->context)
        return fail(r, pos, "%s (%s)", problem, p->context);
    return fail(r, pos, "%s", problem);
}

static int next(struct reader *r, yaml_event_t *ev) {
    return yaml_parser_parse(&r->parser, ev) ? 0 : syntax_error(r);
}

static int count(struct reader *r, struct yaml_pos pos, bool copy) {
    if (++r->nodes > YAML_MAX_NODES)
        return fail(r, pos, "more than %d values: too much for one file", YAML_MAX_NODES);
    if (copy && ++r->copies > YAML_MAX_COPIES)
        return fail(r, pos, "aliases expand to more than %d values", YAML_MAX_COPIES);
    return 0;
}

/* --- scalars --- */

static int bad_tag(struct reader *r, const char *tag, struct yaml_pos pos, const char *why) {
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, tag);
    return fail(r, pos, "the tag \"%s\" %s", str_get(&shown), why);
}

static int read_scalar(struct reader *r, const yaml_event_t *ev, json_t **out) {
    static const struct {
        const char *tag;
        unsigned kinds; /* the kinds that it accepts, as bits */
    } tags[] = {
        {YAML_NULL_TAG, 1 << YAML_SCALAR_NULL},
        {YAML_BOOL_TAG, 1 << YAML_SCALAR_TRUE | 1 << YAML_SCALAR_FALSE},
        {YAML_INT_TAG, 1 << YAML_SCALAR_INT},
        {YAML_FLOAT_TAG, 1 << YAML_SCALAR_INT | 1 << YAML_SCALAR_FLOAT},
    };
    const char *s = (const char *)ev->data.scalar.value;
    const char *tag = (const char *)ev->data.scalar.tag;
    size_t len = ev->data.scalar.length;
    struct yaml_pos pos = pos_of(ev->start_mark);
    if (memchr(s, '\0', len))
        return fail(r, pos, "a string with a NUL character");
    enum yaml_scalar kind = YAML_SCALAR_STR;
    if (tag && !streq(tag, "!") && !streq(tag, YAML_STR_TAG)) {
        size_t i = 0;
        while (i < ARRAY_LEN(tags) && !streq(tag, tags[i].tag))
            i++;
        if (i == ARRAY_LEN(tags))
            return bad_tag(r, tag, pos, "is not supported here");
        kind = yaml_scalar_kind(s);
        if (!(tags[i].kinds & 1u << kind))
            return bad_tag(r, tag, pos, "does not fit the value");
    } else if (!tag && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        kind = yaml_scalar_kind(s);
    }
    switch (kind) {
    case YAML_SCALAR_NULL:
        *out = json_null();
        return 0;
    case YAML_SCALAR_TRUE:
    case YAML_SCALAR_FALSE:
        *out = json_boolean(kind == YAML_SCALAR_TRUE);
        return 0;
    case YAML_SCALAR_INT:
    case YAML_SCALAR_FLOAT:
        *out = yaml_scalar_number(s);
        return *out ? 0
                    : fail(r, pos,
                           "%.40s cannot be used as a number: put it in quotes if it is a text", s);
    case YAML_SCALAR_STR:
        break;
    }
    *out = json_stringn_nocheck(s, len);
    return 0;
}

/* --- anchors --- */

static int anchor_set(struct reader *r, const yaml_char_t *name, struct yaml_pos pos,
                      json_t *value) {
    if (!name)
        return 0;
    struct anchor *a = NULL;
    /* A later anchor of the same name takes its place. */
    for (size_t i = 0; i < r->anchors.len; i++)
        if (streq(r->anchors.p[i].name, (const char *)name))
            a = &r->anchors.p[i];
    if (!a && r->anchors.len == YAML_MAX_ANCHORS)
        return fail(r, pos, "more than %d anchors", YAML_MAX_ANCHORS);
    if (!a) {
        a = vec_push(&r->anchors);
        *a = (struct anchor){.name = xstrdup((const char *)name)};
    }
    json_decref(a->value);
    a->value = json_incref(value);
    return 0;
}

static void anchors_clear(struct reader *r) {
    for (size_t i = 0; i < r->anchors.len; i++) {
        json_decref(r->anchors.p[i].value);
        free(r->anchors.p[i].name);
    }
    r->anchors.len = 0;
}

/* A copy of a value of this document, with its places. */
static int copy_value(struct reader *r, const json_t *from, struct yaml_pos pos, int depth,
                      json_t **out) {
    const char *key;
    json_t *child, *copy = NULL;
    size_t i;
    int ret = count(r, pos, true);
    if (ret < 0)
        return ret;
    if (depth > YAML_MAX_DEPTH)
        return fail(r, pos, "nested deeper than %d levels", YAML_MAX_DEPTH);
    if (json_is_object(from)) {
        json_t *obj = json_object();
        json_object_foreach((json_t *)(uintptr_t)from, key, child) {
            const struct yaml_place *p = yaml_place_find(r->doc, from, key, 0);
            ret = copy_value(r, child, pos, depth + 1, &copy);
            if (ret < 0) {
                *vec_push(&r->doc->parked) = obj;
                return ret;
            }
            json_object_set_new_nocheck(obj, key, copy);
            yaml_place_add(r->doc, obj, key, 0, p->key_pos, p->value_pos);
        }
        *out = obj;
    } else if (json_is_array(from)) {
        json_t *list = json_array();
        json_array_foreach(from, i, child) {
            const struct yaml_place *p = yaml_place_find(r->doc, from, NULL, i);
            ret = copy_value(r, child, pos, depth + 1, &copy);
            if (ret < 0) {
                *vec_push(&r->doc->parked) = list;
                return ret;
            }
            json_array_append_new(list, copy);
            yaml_place_add(r->doc, list, NULL, i, p->key_pos, p->value_pos);
        }
        *out = list;
    } else {
        *out = json_copy((json_t *)(uintptr_t)from);
    }
    return 0;
}

static int read_alias(struct reader *r, const yaml_event_t *ev, int depth, json_t **out) {
    const char *name = (const char *)ev->data.alias.anchor;
    struct yaml_pos pos = pos_of(ev->start_mark);
    for (size_t i = 0; i < r->anchors.len; i++)
        if (streq(r->anchors.p[i].name, name))
            return copy_value(r, r->anchors.p[i].value, pos, depth, out);
    return fail(r, pos, "the alias *%s has no anchor &%s before it", name, name);
}

/* --- collections --- */

static int read_node(struct reader *r, const yaml_event_t *ev, int depth, json_t **out);

static int read_sequence(struct reader *r, int depth, json_t *list) {
    for (size_t i = 0;; i++) {
        yaml_event_t ev;
        json_t *item = NULL;
        int ret = next(r, &ev);
        if (ret < 0)
            return ret;
        bool end = ev.type == YAML_SEQUENCE_END_EVENT;
        if (!end)
            ret = read_node(r, &ev, depth, &item);
        struct yaml_pos pos = pos_of(ev.start_mark);
        yaml_event_delete(&ev);
        if (end || ret < 0)
            return ret;
        json_array_append_new(list, item);
        yaml_place_add(r->doc, list, NULL, i, pos, pos);
    }
}

/* Takes over the members of `from` that `obj` does not have yet, with their places. */
static void merge_members(struct reader *r, json_t *obj, json_t *from) {
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value) {
        if (json_object_get(obj, key))
            continue;
        const struct yaml_place *p = yaml_place_find(r->doc, from, key, 0);
        json_object_set_nocheck(obj, key, value);
        yaml_place_add(r->doc, obj, key, 0, p->key_pos, p->value_pos);
    }
}

static int merge_value(struct reader *r, json_t *obj, json_t *from, struct yaml_pos pos) {
    size_t i;
    json_t *item;
    if (json_is_object(from)) {
        merge_members(r, obj, from);
        return 0;
    }
    if (!json_is_array(from))
        return fail(r, pos, "\"<<\" needs a mapping or a list of mappings");
    json_array_foreach(from, i, item) {
        if (!json_is_object(item))
            return fail(r, yaml_item_pos(r->doc, from, i),
                        "\"<<\" needs a mapping or a list of mappings");
        merge_members(r, obj, item);
    }
    return 0;
}

static int check_key(struct reader *r, const yaml_event_t *ev, const json_t *obj, bool merge,
                     bool merged) {
    struct yaml_pos pos = pos_of(ev->start_mark);
    if (ev->type != YAML_SCALAR_EVENT)
        return fail(r, pos, "a key must be a plain or quoted word");
    const char *key = (const char *)ev->data.scalar.value;
    if (memchr(key, '\0', ev->data.scalar.length))
        return fail(r, pos, "a key with a NUL character");
    if (ev->data.scalar.tag && !streq((const char *)ev->data.scalar.tag, YAML_STR_TAG) &&
        !streq((const char *)ev->data.scalar.tag, "!"))
        return bad_tag(r, (const char *)ev->data.scalar.tag, pos, "is not supported for keys");
    if (!*key && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return fail(r, pos, "a key is missing before the \":\"");
    if (merge ? merged : json_object_get(obj, key) != NULL) {
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, key);
        unsigned first = merge ? 0 : yaml_key_pos(r->doc, obj, key).line;
        if (first)
            return fail(r, pos, "the key \"%s\" stands here a second time (first in line %u)",
                        str_get(&shown), first);
        return fail(r, pos, "the key \"%s\" stands here a second time", str_get(&shown));
    }
    return 0;
}

static int read_member(struct reader *r, const yaml_event_t *key_ev, int depth, json_t *obj,
                       json_t **merge, struct yaml_pos *merge_pos) {
    const char *key = (const char *)key_ev->data.scalar.value;
    bool is_merge = key_ev->type == YAML_SCALAR_EVENT && streq(key, "<<") &&
                    key_ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    int ret = check_key(r, key_ev, obj, is_merge, *merge != NULL);
    if (ret < 0)
        return ret;
    yaml_event_t ev;
    json_t *value = NULL;
    ret = next(r, &ev);
    if (ret < 0)
        return ret;
    ret = read_node(r, &ev, depth, &value);
    struct yaml_pos pos = pos_of(ev.start_mark);
    yaml_event_delete(&ev);
    if (ret < 0)
        return ret;
    if (is_merge) {
        *merge = value;
        *merge_pos = pos;
        *vec_push(&r->doc->parked) = value;
        return 0;
    }
    json_object_set_new_nocheck(obj, key, value);
    yaml_place_add(r->doc, obj, key, 0, pos_of(key_ev->start_mark), pos);
    return 0;
}

static int read_mapping(struct reader *r, int depth, json_t *obj) {
    json_t *merge = NULL; /* owned by doc->parked */
    struct yaml_pos merge_pos = {0};
    for (;;) {
        yaml_event_t ev;
        int ret = next(r, &ev);
        if (ret < 0)
            return ret;
        bool end = ev.type == YAML_MAPPING_END_EVENT;
        if (!end)
            ret = read_member(r, &ev, depth, obj, &merge, &merge_pos);
        yaml_event_delete(&ev);
        if (ret < 0)
            return ret;
        if (end)
            return merge ? merge_value(r, obj, merge, merge_pos) : 0;
    }
}

/* Reads the node that begins with `ev`. A collection that fails half-way is parked, because places
 * refer to it. */
static int read_node(struct reader *r, const yaml_event_t *ev, int depth, json_t **out) {
    struct yaml_pos pos = pos_of(ev->start_mark);
    int ret = count(r, pos, false);
    if (ret < 0)
        return ret;
    if (depth > YAML_MAX_DEPTH)
        return fail(r, pos, "nested deeper than %d levels", YAML_MAX_DEPTH);
    json_t *value = NULL;
    const yaml_char_t *anchor = NULL;
    const char *tag = NULL, *own_tag = NULL;
    switch (ev->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(r, ev, depth, out);
    case YAML_SCALAR_EVENT:
        anchor = ev->data.scalar.anchor;
        ret = read_scalar(r, ev, &value);
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = ev->data.sequence_start.anchor;
        tag = (const char *)ev->data.sequence_start.tag;
        own_tag = YAML_SEQ_TAG;
        value = json_array();
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = ev->data.mapping_start.anchor;
        tag = (const char *)ev->data.mapping_start.tag;
        own_tag = YAML_MAP_TAG;
        value = json_object();
        break;
    default:
        return fail(r, pos, "a value is missing");
    }
    if (ret >= 0 && tag && !streq(tag, own_tag))
        ret = bad_tag(r, tag, pos, "is not supported here");
    if (ret >= 0 && json_is_array(value))
        ret = read_sequence(r, depth + 1, value);
    else if (ret >= 0 && json_is_object(value))
        ret = read_mapping(r, depth + 1, value);
    if (ret >= 0)
        ret = anchor_set(r, anchor, pos, value);
    if (ret < 0) {
        if (value)
            *vec_push(&r->doc->parked) = value;
        return ret;
    }
    *out = value;
    return 0;
}

/* --- streams --- */

/* Reads the next document into *out; NULL at the end of the stream. */
static int read_document(struct reader *r, struct yaml_doc **out) {
    yaml_event_t ev;
    int ret = next(r, &ev);
    if (ret < 0)
        return ret;
    bool end = ev.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&ev);
    if (end) {
        *out = NULL;
        return 0;
    }
    struct yaml_doc *doc = yaml_doc_new(r->name);
    r->doc = doc;
    ret = next(r, &ev);
    if (ret >= 0) {
        doc->pos = pos_of(ev.start_mark);
        doc->empty = ev.type == YAML_SCALAR_EVENT && !ev.data.scalar.length &&
                     ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        ret = read_node(r, &ev, 1, &doc->root);
        yaml_event_delete(&ev);
    }
    if (ret >= 0) {
        ret = next(r, &ev); /* the end of the document */
        if (ret >= 0)
            yaml_event_delete(&ev);
    }
    anchors_clear(r);
    r->doc = NULL;
    if (ret < 0) {
        yaml_doc_free(doc);
        return ret;
    }
    *out = doc;
    return 0;
}

/* Reads the whole stream, documents that are not empty only. */
static int read_stream(struct reader *r, bool one, struct yaml_docs *out) {
    VEC(struct yaml_doc *) docs = VEC_INIT;
    yaml_event_t ev;
    int ret = next(r, &ev); /* the start of the stream */
    if (ret >= 0)
        yaml_event_delete(&ev);
    while (ret >= 0) {
        struct yaml_doc *doc;
        ret = read_document(r, &doc);
        if (ret < 0 || !doc)
            break;
        if (doc->empty) {
            yaml_doc_free(doc);
            continue;
        }
        *vec_push(&docs) = doc;
        if (one && docs.len > 1)
            ret = fail(r, doc->pos, "a second document begins here: only one is expected");
    }
    *out = (struct yaml_docs){docs.p, docs.len};
    if (ret < 0)
        yaml_docs_done(out);
    return ret;
}

static int load(const char *name, const char *text, size_t len, bool one, struct yaml_docs *out,
                struct err *err) {
    struct reader r = {.name = name, .text = text, .len = len, .err = err};
    if (len > YAML_MAX_BYTES)
        return err_set(err, EFBIG, "%s: longer than the %d bytes that are accepted", name,
                       YAML_MAX_BYTES);
    if (!yaml_parser_initialize(&r.parser))
        return err_set(err, ENOMEM, "%s: out of memory", name);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    struct yaml_docs docs = {0};
    int ret = read_stream(&r, one, &docs);
    vec_done(&r.anchors);
    yaml_parser_delete(&r.parser);
    if (ret < 0)
        return ret;
    *out = docs;
    return 0;
}

int yaml_load_all(const char *name, const char *text, size_t len, struct yaml_docs *out,
                  struct err *err) {
    return load(name, text, len, false, out, err);
}

int yaml_load(const char *name, const char *text, size_t len, struct yaml_doc **out,
              struct err *err) {
    struct yaml_docs docs;
    int ret = load(name, text, len, true, &docs, err);
    if (ret < 0)
        return ret;
    if (docs.len) {
        *out = docs.p[0];
    } else {
        *out = yaml_doc_new(name);
        (*out)->root = json_null();
    }
    free(docs.p);
    return 0;
}

int yaml_load_file(const char *path, struct yaml_doc **out, struct err *err) {
    char *text;
    size_t len;
    int ret = file_read(path, YAML_MAX_BYTES, &text, &len, err);
    if (ret < 0)
        return ret;
    ret = yaml_load(path, text, len, out, err);
    mem_wipe(text, len);
    free(text);
    return ret;
}
