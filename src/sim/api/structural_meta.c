/* apiVersion, kind and metadata of resources, the custom ones and those embedded in them
 * (apiextensions-apiserver pkg/apiserver/schema/objectmeta). */
#include <ctype.h>
#include <errno.h>

#include "sim/api/strategy_kinds.h"
#include "sim/api/structural_internal.h"

/* The shape of metadata: that of any built-in kind. */
static const struct schema *meta_schema(void) {
    const struct schema_field *f =
        schema_field(schema_find("", "v1", "ConfigMap"), "metadata", strlen("metadata"));
    return f->of;
}

int structural_meta(const json_t *metadata, const struct spath *path, json_t **out,
                    struct schema_notes *notes, struct err *err) {
    struct schema_notes found = {0};
    int rc = schema_canonical(meta_schema(), metadata, out, notes ? &found : NULL, err);
    for (size_t i = 0; i < found.texts.len; i++) {
        /* `unknown field "x"` becomes `unknown field "spec.template.metadata.x"`; what else is
         * noted stays. */
        static const char words[] = "unknown field \"";
        const char *text = found.texts.p[i];
        struct str longer = STR_INIT;
        if (str_starts(text, words)) {
            str_add(&longer, words);
            spath_print(&longer, path);
            str_addf(&longer, ".%s", text + strlen(words));
        } else {
            str_add(&longer, text);
        }
        *vec_push(&notes->texts) = str_take(&longer);
    }
    schema_notes_done(&found);
    if (rc)
        return rc;
    if (json_is_null(json_object_get(*out, "creationTimestamp")))
        json_object_del(*out, "creationTimestamp");
    return 0;
}

/* --- on decoding --- */

static int coerce_resource(json_t *obj, const struct spath *path, struct schema_notes *notes,
                           struct field_errors *e) {
    static const char *const texts[] = {"apiVersion", "kind"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const json_t *v = json_object_get(obj, texts[i]);
        if (v && !json_is_string(v)) {
            spath_error(e, FIELD_INVALID, SPATH_CHILD(path, texts[i]), v, "must be a string");
            return -EINVAL;
        }
    }
    const json_t *metadata = json_object_get(obj, "metadata");
    if (!metadata)
        return 0;
    _cleanup_err_ struct err err = ERR_INIT;
    const struct spath *at = SPATH_CHILD(path, "metadata");
    json_t *canonical;
    if (structural_meta(metadata, at, &canonical, notes, &err)) {
        spath_error(e, FIELD_INVALID, at, metadata, "%s", err_msg(&err));
        return -EINVAL;
    }
    json_object_set_new(obj, "metadata", canonical);
    return 0;
}

int snode_coerce(const struct snode *n, json_t *value, bool root, const struct spath *path,
                 struct schema_notes *notes, struct field_errors *e) {
    int rc = 0;
    if (!n)
        return 0;
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value) && !rc; i++)
            rc = snode_coerce(n->items, json_array_get(value, i), n->items && n->items->embedded,
                              SPATH_AT(path, i), notes, e);
        return rc;
    }
    if (json_is_object(value) && (root || n->embedded))
        rc = coerce_resource(value, path, notes, e);
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member) {
        const struct snode *property = snode_property(n, key);
        if (rc)
            break;
        if (property)
            rc = snode_coerce(property, member, property->embedded, SPATH_CHILD(path, key), notes,
                              e);
        else if (n->additional)
            rc = snode_coerce(n->additional, member, n->additional->embedded,
                              SPATH_KEYED(path, key), notes, e);
    }
    return rc;
}

int structural_coerce(const struct structural *s, json_t *obj, struct schema_notes *notes,
                      struct err *err) {
    struct field_errors e = {0};
    int rc = snode_coerce(s->root, obj, false, NULL, notes, &e);
    if (rc) {
        _cleanup_str_ struct str text = STR_INIT;
        field_errors_text(&e, &text);
        rc = err_set(err, EINVAL, "%s", str_get(&text));
    }
    field_errors_done(&e);
    return rc;
}

/* --- before storing --- */

static void bad_text(struct field_errors *e, const struct spath *path, const char *key,
                     const json_t *value, const char *why) {
    spath_error(e, FIELD_INVALID, SPATH_CHILD(path, key), value, "%s", why);
}

static void check_version(const json_t *value, const struct spath *path, struct field_errors *e) {
    const char *text = json_string_value(value);
    if (!text)
        bad_text(e, path, "apiVersion", value, "must be a string");
    else if (!*text)
        bad_text(e, path, "apiVersion", value, "must not be empty");
    else if (strchr(text, '/') != strrchr(text, '/'))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "apiVersion"), value,
                    "unexpected GroupVersion string: %s", text);
}

static void check_kind(const json_t *value, const struct spath *path, struct field_errors *e) {
    const char *text = json_string_value(value);
    if (!text) {
        bad_text(e, path, "kind", value, "must be a string");
        return;
    }
    if (!*text) {
        bad_text(e, path, "kind", value, "must not be empty");
        return;
    }
    _cleanup_problems_ struct problems problems = PROBLEMS_INIT;
    _cleanup_free_ char *lower = xstrdup(text);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    name_dns1035_label(lower, &problems);
    if (!problems.v.len)
        return;
    _cleanup_free_ char *all = problems_join(&problems, ",");
    spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "kind"), value,
                "may have mixed case, but should otherwise match: %s", all);
}

/* Where we are, in the words of strategy_walk.h; ends by checking. */
struct meta_check {
    const json_t *metadata;
    struct field_errors *e;
};

static void check_meta_at(const struct meta_check *c, const struct at *up) {
    _cleanup_json_ json_t *named = json_copy((json_t *)c->metadata);
    if (str_empty(json_str(named, "name")))
        json_object_set_new(named, "name", json_string("fakename"));
    struct at meta = at_named(up, "metadata", named);
    check_meta_generic(c->e, &meta, !str_empty(json_str(named, "namespace")), name_path_segment,
                       name_path_segment_prefix);
}

/* From the innermost step outwards, then back: each step's place refers to the one above it. */
static void descend(const struct meta_check *c, const struct spath **steps, size_t n,
                    const struct at *up) {
    if (!n) {
        check_meta_at(c, up);
        return;
    }
    const struct spath *step = steps[n - 1];
    struct at at = {.up = up,
                    .key = step->kind == SPATH_INDEX ? NULL : step->name,
                    .index = step->index,
                    .bracket = step->kind == SPATH_KEY};
    descend(c, steps, n - 1, &at);
}

static void check_metadata(const json_t *metadata, const struct spath *path,
                           struct field_errors *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *canonical = NULL;
    if (structural_meta(metadata, path, &canonical, NULL, &err)) {
        bad_text(e, path, "metadata", metadata, err_msg(&err));
        return;
    }
    VEC(const struct spath *) steps = VEC_INIT;
    for (const struct spath *p = path; p; p = p->up)
        *vec_push(&steps) = p;
    struct at root = at_root(NULL);
    descend(&(struct meta_check){canonical, e}, steps.p, steps.len, &root);
    vec_done(&steps);
}

static void check_resource(const json_t *obj, const struct spath *path, struct field_errors *e) {
    const json_t *version = json_object_get(obj, "apiVersion"),
                 *kind = json_object_get(obj, "kind");
    const json_t *metadata = json_object_get(obj, "metadata");
    if (version)
        check_version(version, path, e);
    else
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "apiVersion"), NULL, "%s", "");
    if (kind)
        check_kind(kind, path, e);
    else
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "kind"), NULL, "%s", "");
    if (metadata)
        check_metadata(metadata, path, e);
}

void snode_check_meta(const struct snode *n, const json_t *value, bool root,
                      const struct spath *path, struct field_errors *e) {
    if (!n)
        return;
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value) && n->items; i++)
            snode_check_meta(n->items, json_array_get(value, i), false, SPATH_AT(path, i), e);
        return;
    }
    if (json_is_object(value) && (root || n->embedded))
        check_resource(value, path, e);
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member) {
        const struct snode *property = snode_property(n, key);
        if (property)
            snode_check_meta(property, member, false, SPATH_CHILD(path, key), e);
        else if (n->additional)
            snode_check_meta(n->additional, member, false, SPATH_KEYED(path, key), e);
    }
}

void structural_validate_embedded(const struct structural *s, const json_t *obj,
                                  struct field_errors *e) {
    snode_check_meta(s->root, obj, false, NULL, e);
}
