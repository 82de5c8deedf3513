/* Is a schema structural? (apiextensions-apiserver pkg/apiserver/schema: validation.go,
 * complete.go.) A structural schema says what every value is outside of allOf, anyOf, oneOf and
 * not, so that what is unknown can be told from what is known; within those only values may be
 * restricted. */
#include <errno.h>

#include "sim/api/structural_internal.h"

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

struct check {
    struct structural *s;
    struct field_errors *e;
};

static void forbidden(const struct check *c, const struct spath *path, const char *key,
                      const char *why) {
    spath_error(c->e, FIELD_FORBIDDEN, SPATH_CHILD(path, key), NULL, "%s", why);
}

static void required(const struct check *c, const struct spath *path, const char *key,
                     const char *why) {
    spath_error(c->e, FIELD_REQUIRED, SPATH_CHILD(path, key), NULL, "%s", why);
}

static void bad_type(const struct check *c, const struct spath *path, const char *type,
                     const char *why) {
    _cleanup_json_ json_t *value = json_string(type);
    spath_error(c->e, FIELD_INVALID, SPATH_CHILD(path, "type"), value, "%s", why);
}

/* --- values --- */

/* {"type": ...} and nothing else that the server keeps of a clause. */
static bool says_type_alone(const struct snode *n, const char *type) {
    size_t keywords = json_object_size(n->json) - (n->has_additional && !n->allows_additional);
    return keywords == 1 && streq(n->type, type);
}

/* [{"type": "integer"}, {"type": "string"}], which says what an int-or-string is and is therefore
 * let pass. */
static bool is_int_or_string(const struct snodes *any_of) {
    return any_of->len == 2 && says_type_alone(any_of->p[0], "integer") &&
           says_type_alone(any_of->p[1], "string");
}

static bool is_all_of_int_or_string(const struct snode *n) {
    return n->all_of.len && is_int_or_string(&n->all_of.p[0]->any_of);
}

static void check_clause(const struct check *c, struct snode *n, bool skip_any_of,
                         const struct spath *path);

static void check_pattern(const struct check *c, struct snode *n, const struct spath *path) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (!n->pattern)
        return;
    if (pattern_compile(n->pattern, &n->matcher, &err)) {
        _cleanup_json_ json_t *value = json_string_nocheck(n->pattern);
        spath_error(c->e, FIELD_INVALID, SPATH_CHILD(path, "pattern"), value,
                    "must be a valid regular expression, but isn't: %s", err_msg(&err));
        return;
    }
    *vec_push(&c->s->patterns) = n->matcher;
}

static void check_values(const struct check *c, struct snode *n, bool skip_any_of,
                         bool skip_all_of_any_of, const struct spath *path) {
    const struct spath *any_of = SPATH_CHILD(path, "anyOf"), *all_of = SPATH_CHILD(path, "allOf"),
                       *one_of = SPATH_CHILD(path, "oneOf");
    for (size_t i = 0; i < n->any_of.len && !skip_any_of; i++)
        check_clause(c, n->any_of.p[i], false, SPATH_AT(any_of, i));
    for (size_t i = 0; i < n->all_of.len; i++)
        check_clause(c, n->all_of.p[i], skip_all_of_any_of && i == 0, SPATH_AT(all_of, i));
    for (size_t i = 0; i < n->one_of.len; i++)
        check_clause(c, n->one_of.p[i], false, SPATH_AT(one_of, i));
    if (n->not_of)
        check_clause(c, n->not_of, false, SPATH_CHILD(path, "not"));
    check_pattern(c, n, path);
}

/* A clause of allOf and the like, or what is within one. */
static void check_clause(const struct check *c, struct snode *n, bool skip_any_of,
                         const struct spath *path) {
    check_values(c, n, skip_any_of, false, path);
    if (n->items)
        check_clause(c, n->items, false, SPATH_CHILD(path, "items"));
    const struct spath *properties = SPATH_CHILD(path, "properties");
    for (size_t i = 0; i < n->n_properties; i++)
        check_clause(c, n->properties[i].node, false,
                     SPATH_KEYED(properties, n->properties[i].name));

    if (*n->type)
        forbidden(c, path, "type", "must be empty to be structural");
    if (n->has_additional && n->allows_additional)
        forbidden(c, path, "additionalProperties", "must be undefined to be structural");
    if (n->fallback)
        forbidden(c, path, "default", "must be undefined to be structural");
    if (kw_text(n->json, "title"))
        forbidden(c, path, "title", "must be empty to be structural");
    if (kw_text(n->json, "description"))
        forbidden(c, path, "description", "must be empty to be structural");
    if (n->nullable)
        forbidden(c, path, "nullable", "must be false to be structural");
    if (n->preserves)
        forbidden(c, path, "x-kubernetes-preserve-unknown-fields",
                  "must be false to be structural");
    if (n->embedded)
        forbidden(c, path, "x-kubernetes-embedded-resource", "must be false to be structural");
    if (n->int_or_string)
        forbidden(c, path, "x-kubernetes-int-or-string", "must be false to be structural");
    if (n->map_keys)
        forbidden(c, path, "x-kubernetes-list-map-keys", "must be empty to be structural");
    if (n->list_type)
        forbidden(c, path, "x-kubernetes-list-type", "must be undefined to be structural");
    if (n->map_type)
        forbidden(c, path, "x-kubernetes-map-type", "must be undefined to be structural");
    if (n->has_rules)
        forbidden(c, path, "x-kubernetes-validations", "must be empty to be structural");
    if (snode_property(n, "metadata"))
        spath_error(c->e, FIELD_FORBIDDEN, SPATH_KEYED(properties, "metadata"), NULL,
                    "must not be specified in a nested context");
}

/* --- structure --- */

/* metadata at the root is known to the server: only names can be restricted. */
static bool only_names(const struct snode *metadata) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)metadata->json, key,
                        v) if (!streq(key, "type") && !streq(key, "default") &&
                               !streq(key, "properties")) return false;
    size_t names = (snode_property(metadata, "name") ? 1 : 0) +
                   (snode_property(metadata, "generateName") ? 1 : 0);
    return metadata->n_properties == names;
}

static void check_metadata(const struct check *c, const struct snode *n, enum level level,
                           const struct spath *path) {
    const struct spath *properties = SPATH_CHILD(path, "properties");
    bool known = level == LEVEL_ROOT || n->embedded;
    static const char *const texts[] = {"kind", "apiVersion"};
    for (size_t i = 0; i < ARRAY_LEN(texts) && known; i++) {
        const struct snode *text = snode_property(n, texts[i]);
        if (text && !streq(text->type, "string"))
            bad_type(c, SPATH_KEYED(properties, texts[i]), text->type, "must be string");
    }
    const struct snode *metadata = snode_property(n, "metadata");
    if (!metadata)
        return;
    const struct spath *at = SPATH_KEYED(properties, "metadata");
    if (known && !streq(metadata->type, "object"))
        bad_type(c, at, metadata->type, "must be object");
    if (level == LEVEL_ROOT && !only_names(metadata))
        spath_error(c->e, FIELD_FORBIDDEN, at, NULL,
                    "must not specify anything other than name and generateName, but metadata is "
                    "implicitly specified");
}

static void check_type(const struct check *c, const struct snode *n, enum level level,
                       const struct spath *path) {
    static const char *const where[] = {
        [LEVEL_ROOT] = "must not be empty at the root",
        [LEVEL_ITEM] = "must not be empty for specified array items",
        [LEVEL_FIELD] = "must not be empty for specified object fields",
    };
    static const char embedded[] = "must be object if x-kubernetes-embedded-resource is true";
    if (n->embedded && !*n->type)
        required(c, path, "type", embedded);
    else if (n->embedded && !streq(n->type, "object"))
        bad_type(c, path, n->type, embedded);
    else if (!*n->type && !n->int_or_string && !n->preserves)
        required(c, path, "type", where[level]);
    if (n->embedded && n->has_additional)
        forbidden(c, path, "additionalProperties",
                  "must not be used if x-kubernetes-embedded-resource is set");
    if (level == LEVEL_ROOT && *n->type && !streq(n->type, "object"))
        bad_type(c, path, n->type, "must be object at the root");
}

static void check_structure(const struct check *c, struct snode *n, enum level level,
                            const struct spath *path) {
    if (streq(n->type, "array") && !n->items)
        required(c, path, "items", "must be specified");
    if (n->items)
        check_structure(c, n->items, LEVEL_ITEM, SPATH_CHILD(path, "items"));
    const struct spath *properties = SPATH_CHILD(path, "properties");
    for (size_t i = 0; i < n->n_properties; i++)
        check_structure(c, n->properties[i].node, LEVEL_FIELD,
                        SPATH_KEYED(properties, n->properties[i].name));
    if (n->has_additional && level == LEVEL_ROOT)
        forbidden(c, path, "additionalProperties", "must not be used at the root");
    if (n->additional)
        check_structure(c, n->additional, LEVEL_FIELD, SPATH_CHILD(path, "additionalProperties"));

    _cleanup_json_ json_t *yes = json_true();
    if (n->int_or_string && n->preserves)
        spath_error(c->e, FIELD_INVALID, SPATH_CHILD(path, "x-kubernetes-preserve-unknown-fields"),
                    yes, "must be false if x-kubernetes-int-or-string is true");
    if (n->int_or_string && n->embedded)
        spath_error(c->e, FIELD_INVALID, SPATH_CHILD(path, "x-kubernetes-embedded-resource"), yes,
                    "must be false if x-kubernetes-int-or-string is true");
    check_values(c, n, is_int_or_string(&n->any_of), is_all_of_int_or_string(n), path);
    check_type(c, n, level, path);
    check_metadata(c, n, level, path);
    if (n->embedded && !n->preserves && !n->n_properties)
        required(c, path, "properties",
                 "must not be empty if x-kubernetes-embedded-resource is true without "
                 "x-kubernetes-preserve-unknown-fields");
}

/* --- completeness: what is restricted must be there --- */

static void missing(const struct check *c, const struct spath *structure,
                    const struct spath *values) {
    _cleanup_str_ struct str where = STR_INIT;
    spath_print(&where, values);
    spath_error(c->e, FIELD_REQUIRED, structure, NULL, "because it is defined in %s",
                str_get(&where));
}

static void check_complete_clause(const struct check *c, const struct snode *v,
                                  const struct snode *s, const struct spath *s_path,
                                  const struct spath *v_path);

static void check_complete(const struct check *c, const struct snode *v, const struct snode *s,
                           const struct spath *s_path, const struct spath *v_path) {
    const struct spath *all_of = SPATH_CHILD(v_path, "allOf"),
                       *any_of = SPATH_CHILD(v_path, "anyOf"),
                       *one_of = SPATH_CHILD(v_path, "oneOf");
    if (v->not_of)
        check_complete_clause(c, v->not_of, s, s_path, SPATH_CHILD(v_path, "not"));
    for (size_t i = 0; i < v->all_of.len; i++)
        check_complete_clause(c, v->all_of.p[i], s, s_path, SPATH_AT(all_of, i));
    for (size_t i = 0; i < v->any_of.len; i++)
        check_complete_clause(c, v->any_of.p[i], s, s_path, SPATH_AT(any_of, i));
    for (size_t i = 0; i < v->one_of.len; i++)
        check_complete_clause(c, v->one_of.p[i], s, s_path, SPATH_AT(one_of, i));
}

static void check_complete_clause(const struct check *c, const struct snode *v,
                                  const struct snode *s, const struct spath *s_path,
                                  const struct spath *v_path) {
    if (!s) {
        missing(c, s_path, v_path);
        return;
    }
    check_complete(c, v, s, s_path, v_path);
    if (v->items)
        check_complete_clause(c, v->items, s->items, SPATH_CHILD(s_path, "items"),
                              SPATH_CHILD(v_path, "items"));
    const struct spath *s_properties = SPATH_CHILD(s_path, "properties"),
                       *v_properties = SPATH_CHILD(v_path, "properties");
    for (size_t i = 0; i < v->n_properties; i++) {
        const char *name = v->properties[i].name;
        check_complete_clause(c, v->properties[i].node, snode_property(s, name),
                              SPATH_KEYED(s_properties, name), SPATH_KEYED(v_properties, name));
    }
}

/* --- the whole --- */

static int compare_errors(const void *a, const void *b) {
    const struct field_error *x = a, *y = b;
    _cleanup_str_ struct str xs = STR_INIT, ys = STR_INIT;
    str_addf(&xs, "%s: %s", x->field, x->body);
    str_addf(&ys, "%s: %s", y->field, y->body);
    return strcmp(str_get(&xs), str_get(&ys));
}

void structural_check(struct structural *s, const struct spath *path, struct field_errors *e) {
    struct check c = {s, e};
    size_t before = e->v.len;
    check_structure(&c, s->root, LEVEL_ROOT, path);
    check_complete(&c, s->root, s->root, path, path);
    if (e->v.len > before)
        qsort(e->v.p + before, e->v.len - before, sizeof *e->v.p, compare_errors);
}
