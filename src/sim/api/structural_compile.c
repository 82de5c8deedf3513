/* Compiling a schema: every check in the server's order, and what is left of it. */
#include <errno.h>

#include "sim/api/structural_internal.h"

/* What may stand at the root beside a status subresource, whose schema is cut out of it; by Go's
 * names and in its order, as the error lists them. */
static const struct {
    const char *go, *json;
} root_keywords[] = {
    {"Description", "description"},
    {"Type", "type"},
    {"Format", "format"},
    {"Title", "title"},
    {"Maximum", "maximum"},
    {"ExclusiveMaximum", "exclusiveMaximum"},
    {"Minimum", "minimum"},
    {"ExclusiveMinimum", "exclusiveMinimum"},
    {"MaxLength", "maxLength"},
    {"MinLength", "minLength"},
    {"Pattern", "pattern"},
    {"MaxItems", "maxItems"},
    {"MinItems", "minItems"},
    {"UniqueItems", "uniqueItems"},
    {"MultipleOf", "multipleOf"},
    {"Required", "required"},
    {"Items", "items"},
    {"Properties", "properties"},
    {"ExternalDocs", "externalDocs"},
    {"Example", "example"},
    {"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"},
    {"XValidations", "x-kubernetes-validations"},
};

static bool allowed_at_root(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(root_keywords); i++)
        if (streq(root_keywords[i].json, key))
            return true;
    return false;
}

/* Go looks at one field after the other and stops at the first that is wrong. */
static void check_root(const json_t *schema, const struct spath *path, struct field_errors *e) {
    const json_t *type = kw_value(schema, "type");
    /* Before "type" come these, none of which is allowed. */
    bool early = kw_text(schema, "id") || kw_text(schema, "$schema") || kw_value(schema, "$ref");
    if (!early && kw_text(schema, "type") && !streq(kw_text(schema, "type"), "object")) {
        spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "type"), type,
                    "only \"object\" is allowed as the type at the root of the schema if the "
                    "status subresource is enabled");
        return;
    }
    const char *key;
    json_t *v;
    bool bad = false;
    json_object_foreach((json_t *)schema, key, v) bad |= !json_is_null(v) && !allowed_at_root(key);
    if (!bad)
        return;
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT;
    structural_dump(&shown, schema);
    for (size_t i = 0; i < ARRAY_LEN(root_keywords); i++)
        str_addf(&list, "%s%s", i ? " " : "", root_keywords[i].go);
    spath_error_shown(e, FIELD_INVALID, path, str_get(&shown),
                      "only [%s] fields are allowed at the root of the schema if the status "
                      "subresource is enabled",
                      str_get(&list));
}

static struct structural *compile(const json_t *schema, const char *where, bool has_status,
                                  bool judge, struct field_errors *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    const struct spath *path = SPATH_CHILD(NULL, where);
    size_t before = e->v.len;
    if (has_status)
        check_root(schema, path, e);
    if (kw_flag(schema, "nullable"))
        spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(path, "nullable"), NULL,
                    "nullable cannot be true at the root");
    struct structural *s = structural_build(schema, &err);
    if (s) {
        size_t sound = e->v.len;
        structural_check(s, path, e);
        if (e->v.len == sound)
            structural_check_defaults(s, judge, path, e);
    }
    structural_check_openapi(schema, path, e);
    /* What cannot be built at all has been complained about by now, most likely. */
    if (!s && e->v.len == before) {
        _cleanup_json_ json_t *nothing = json_string("");
        spath_error(e, FIELD_INVALID, path, nothing, "%s", err_msg(&err));
    }
    if (e->v.len > before) {
        structural_free(s);
        return NULL;
    }
    return s;
}

struct structural *structural_compile(const json_t *schema, const char *path, bool has_status,
                                      struct field_errors *e) {
    return compile(schema, path, has_status, true, e);
}

struct structural *structural_compile_stored(const json_t *schema, const char *path,
                                             bool has_status, struct field_errors *e) {
    return compile(schema, path, has_status, false, e);
}

/* --- formats that mean nothing --- */

static void find_formats(const json_t *schema, struct structural_formats *out);

static void find_in_list(const json_t *list, struct structural_formats *out) {
    for (size_t i = 0; i < json_array_size(list); i++)
        find_formats(json_array_get(list, i), out);
}

static void find_in_map(const json_t *map, struct structural_formats *out) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)map, key, v) find_formats(v, out);
}

static void find_formats(const json_t *schema, struct structural_formats *out) {
    if (!json_is_object(schema))
        return;
    const char *format = kw_text(schema, "format");
    if (format && !format_useful(strna(kw_text(schema, "type")), format))
        *vec_push(&out->v) = format;
    find_formats(kw_items(schema), out);
    find_in_list(kw_list(schema, "allOf"), out);
    find_in_list(kw_list(schema, "anyOf"), out);
    find_in_list(kw_list(schema, "oneOf"), out);
    find_formats(json_object_get(schema, "not"), out);
    find_in_map(kw_map(schema, "properties"), out);
    find_formats(json_object_get(schema, "additionalProperties"), out);
}

void structural_unknown_formats(const json_t *schema, struct structural_formats *out) {
    find_formats(schema, out);
}
