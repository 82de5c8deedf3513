/* Defaults: filling them in, and whether a schema's defaults are good values
 * (apiextensions-apiserver pkg/apiserver/schema/defaulting). */
#include "sim/api/structural_internal.h"

/* --- filling in --- */

/* A null that may not be there. */
static bool is_hole(const json_t *value, const struct snode *n) {
    return json_is_null(value) && n && !n->nullable;
}

static json_t *fallback_of(const struct snode *n) {
    return n->fallback ? json_deep_copy(n->fallback) : json_null();
}

static void fill(const struct snode *n, json_t *value);

static void fill_object(const struct snode *n, json_t *value) {
    for (size_t i = 0; i < n->n_properties; i++) {
        const struct sproperty *p = &n->properties[i];
        const json_t *member = json_object_get(value, p->name);
        if (p->node->fallback && (!member || is_hole(member, p->node)))
            json_object_set_new_nocheck(value, p->name, fallback_of(p->node));
    }
    void *next;
    const char *key;
    json_t *member;
    json_object_foreach_safe(value, next, key, member) {
        const struct snode *property = snode_property(n, key);
        if (property) {
            fill(property, member);
        } else if (n->additional) {
            if (is_hole(member, n->additional)) {
                json_object_set_new_nocheck(value, key, fallback_of(n->additional));
                member = json_object_get(value, key);
            }
            fill(n->additional, member);
        }
    }
}

static void fill(const struct snode *n, json_t *value) {
    if (json_is_object(value)) {
        fill_object(n, value);
    } else if (json_is_array(value) && n->items) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (is_hole(json_array_get(value, i), n->items))
                json_array_set_new(value, i, fallback_of(n->items));
            fill(n->items, json_array_get(value, i));
        }
    }
}

void structural_default(const struct structural *s, json_t *obj) {
    fill(s->root, obj);
}

/* --- are they good? --- */

/* The way from a resource's root to the schema that is looked at, to wrap a default in. */
struct trail {
    const struct trail *up;
    const char *key; /* NULL: an element of a list */
};

/* {"metadata": {"labels": <value>}} for the trail metadata, labels. Takes the value over. */
static json_t *surround(const struct trail *trail, json_t *value) {
    for (; trail; trail = trail->up) {
        json_t *around = trail->key ? json_object() : json_array();
        if (trail->key)
            json_object_set_new_nocheck(around, trail->key, value);
        else
            json_array_append_new(around, value);
        value = around;
    }
    if (!json_object_get(value, "kind"))
        json_object_set_new(value, "kind", json_string("Validation"));
    if (!json_object_get(value, "apiVersion"))
        json_object_set_new(value, "apiVersion", json_string("validation/v1"));
    return value;
}

/* A default within metadata: it must make metadata that are valid as a whole. */
static void check_in_meta(const struct snode *n, const struct snode *root,
                          const struct trail *trail, const struct spath *path,
                          struct field_errors *e) {
    _cleanup_json_ json_t *obj = surround(trail, json_deep_copy(n->fallback));
    struct field_errors wrong = {0};
    if (snode_coerce(root, obj, true, NULL, NULL, &wrong) == 0)
        snode_check_meta(root, obj, true, NULL, &wrong);
    if (wrong.v.len) {
        _cleanup_str_ struct str text = STR_INIT;
        field_errors_text(&wrong, &text);
        spath_error(e, FIELD_INVALID, path, n->fallback, "must result in valid metadata: %s",
                    str_get(&text));
    } else {
        snode_validate_default(n, n->fallback, path, e);
    }
    field_errors_done(&wrong);
}

/* Metadata in it come out in canonical form, and are filled in so. */
static int coerce_default(struct snode *n, bool embedded, const struct spath *path,
                          struct field_errors *e) {
    _cleanup_json_ json_t *value = json_deep_copy(n->fallback);
    int rc = snode_coerce(n, value, embedded, path, NULL, e);
    if (rc)
        return rc;
    json_object_set((json_t *)n->json, "default", value);
    n->fallback = value;
    return 0;
}

static void check_default(struct snode *n, bool embedded, const struct spath *path,
                          struct field_errors *e) {
    _cleanup_json_ json_t *value = json_deep_copy(n->fallback);
    snode_prune(n, embedded, value, NULL);
    if (!json_equal(value, n->fallback))
        spath_error(e, FIELD_INVALID, path, n->fallback, "must not have unknown fields");
    size_t before = e->v.len;
    if (coerce_default(n, embedded, path, e))
        return;
    snode_check_meta(n, n->fallback, embedded, path, e);
    if (e->v.len == before)
        snode_validate_default(n, n->fallback, path, e);
}

static bool is_meta(const char *key) {
    return streq(key, "apiVersion") || streq(key, "kind") || streq(key, "metadata");
}

/* Where a schema stands: `root` is the resource that it belongs to, embedded or the custom resource
 * itself, and `trail` the way from there. */
struct place {
    const struct snode *root;
    const struct trail *trail;
    bool in_meta;
};

static void check(struct snode *n, bool embedded, struct place at, bool judge,
                  const struct spath *path, struct field_errors *e) {
    const struct spath *here = SPATH_CHILD(path, "default");
    if (embedded)
        at = (struct place){n, NULL, false};
    if (n->fallback && !judge) {
        struct field_errors ignored = {0};
        coerce_default(n, embedded, here, &ignored);
        field_errors_done(&ignored);
    } else if (n->fallback && at.in_meta) {
        check_in_meta(n, at.root, at.trail, here, e);
    } else if (n->fallback) {
        check_default(n, embedded, here, e);
    }
    /* In additionalProperties there are none. */
    if (n->items)
        check(n->items, n->items->embedded,
              (struct place){at.root, &(struct trail){at.trail, NULL}, at.in_meta}, judge,
              SPATH_CHILD(path, "items"), e);
    const struct spath *properties = SPATH_CHILD(path, "properties");
    for (size_t i = 0; i < n->n_properties; i++) {
        const struct sproperty *p = &n->properties[i];
        struct trail step = {at.trail, p->name};
        check(p->node, p->node->embedded,
              (struct place){at.root, &step, at.in_meta || (embedded && is_meta(p->name))}, judge,
              SPATH_KEYED(properties, p->name), e);
    }
}

void structural_check_defaults(struct structural *s, bool judge, const struct spath *path,
                               struct field_errors *e) {
    check(s->root, true, (struct place){s->root, NULL, false}, judge, path, e);
}
