/* Documents, and where everything in them stands. */
#include "base/yaml.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/yaml_internal.h"

/* --- the table of places --- */

static uint32_t place_hash_of(const json_t *parent, const char *key, size_t index) {
    uint32_t h = hash_bytes(&parent, sizeof parent);
    return key ? hash_more(h, key, strlen(key)) : hash_more(h, &index, sizeof index);
}

static uint32_t place_hash(const void *entry) {
    return ((const struct yaml_place *)entry)->hash;
}

static bool place_equal(const void *entry, const void *key) {
    const struct yaml_place *a = entry, *b = key;
    if (a->parent != b->parent || !a->key != !b->key)
        return false;
    return a->key ? streq(a->key, b->key) : a->index == b->index;
}

static const struct htab_ops place_ops = {place_hash, place_equal};

void yaml_place_add(struct yaml_doc *doc, const json_t *parent, const char *key, size_t index,
                    struct yaml_pos key_pos, struct yaml_pos value_pos) {
    struct yaml_place *p = arena_new(&doc->arena, struct yaml_place);
    *p = (struct yaml_place){
        .parent = parent,
        .key = key ? arena_strndup(&doc->arena, key, strlen(key)) : NULL,
        .index = index,
        .hash = place_hash_of(parent, key, index),
        .key_pos = key_pos,
        .value_pos = value_pos,
    };
    htab_insert(&doc->places, p);
}

const struct yaml_place *yaml_place_find(const struct yaml_doc *doc, const json_t *parent,
                                         const char *key, size_t index) {
    static const struct yaml_place nowhere;
    struct yaml_place want = {.parent = parent, .key = key, .index = index};
    const struct yaml_place *p = htab_find(&doc->places, place_hash_of(parent, key, index), &want);
    return p ? p : &nowhere;
}

struct yaml_pos yaml_root_pos(const struct yaml_doc *doc) {
    return doc->pos;
}

struct yaml_pos yaml_key_pos(const struct yaml_doc *doc, const json_t *obj, const char *key) {
    return yaml_place_find(doc, obj, key, 0)->key_pos;
}

struct yaml_pos yaml_value_pos(const struct yaml_doc *doc, const json_t *obj, const char *key) {
    return yaml_place_find(doc, obj, key, 0)->value_pos;
}

struct yaml_pos yaml_item_pos(const struct yaml_doc *doc, const json_t *list, size_t i) {
    return yaml_place_find(doc, list, NULL, i)->value_pos;
}

/* --- documents --- */

struct yaml_doc *yaml_doc_new(const char *name) {
    struct yaml_doc *doc = xnew(struct yaml_doc);
    doc->name = xstrdup(name);
    doc->pos = (struct yaml_pos){1, 1};
    htab_init(&doc->places, &place_ops);
    return doc;
}

void yaml_doc_free(struct yaml_doc *doc) {
    if (!doc)
        return;
    for (size_t i = 0; i < doc->parked.len; i++)
        json_wipe(doc->parked.p[i]);
    vec_done(&doc->parked);
    json_wipe(doc->root);
    htab_done(&doc->places);
    arena_done(&doc->arena);
    free(doc->name);
    free(doc);
}

void yaml_docs_done(struct yaml_docs *docs) {
    for (size_t i = 0; i < docs->len; i++)
        yaml_doc_free(docs->p[i]);
    free(docs->p);
    *docs = (struct yaml_docs){0};
}

const json_t *yaml_root(const struct yaml_doc *doc) {
    return doc->root;
}

int yaml_verr(const char *name, struct yaml_pos pos, struct err *err, const char *fmt, va_list ap) {
    if (!err)
        return -EINVAL;
    char *what = xvasprintf(fmt, ap);
    if (pos.line)
        err_set(err, EINVAL, "%s:%u:%u: %s", name, pos.line, pos.col, what);
    else
        err_set(err, EINVAL, "%s: %s", name, what);
    free(what);
    return -EINVAL;
}

int yaml_err(const struct yaml_doc *doc, struct yaml_pos pos, struct err *err, const char *fmt,
             ...) {
    va_list ap;
    va_start(ap, fmt);
    yaml_verr(doc->name, pos, err, fmt, ap);
    va_end(ap);
    return -EINVAL;
}
