/* What the API's validation says of a schema in a CustomResourceDefinition, keyword by keyword,
 * whether or not it is structural (apiextensions-apiserver pkg/apis/apiextensions/validation:
 * ValidateCustomResourceDefinitionOpenAPISchema). */
#include "sim/api/structural_internal.h"

/* What is known from further up. */
struct context {
    bool inside_meta;        /* in the schema of apiVersion, kind or metadata of a resource */
    const char *no_defaults; /* why there may be none; NULL: there may */
};

static void forbidden(struct field_errors *e, const struct spath *path, const char *key,
                      const char *why) {
    spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(path, key), NULL, "%s", why);
}

static void invalid_text(struct field_errors *e, const struct spath *path, const char *key,
                         const char *text, const char *why) {
    _cleanup_json_ json_t *value = json_string_nocheck(strna(text));
    spath_error(e, FIELD_INVALID, SPATH_CHILD(path, key), value, "%s", why);
}

static void unsupported(struct field_errors *e, const struct spath *path, const char *key,
                        const char *text, const char *values) {
    _cleanup_json_ json_t *value = json_string_nocheck(text);
    spath_error(e, FIELD_NOT_SUPPORTED, SPATH_CHILD(path, key), value, "supported values: %s",
                values);
}

/* --- one schema's own keywords --- */

static void check_keywords(const json_t *schema, const struct spath *path,
                           const struct context *ctx, struct field_errors *e) {
    const char *type = kw_text(schema, "type");
    if (type && !stype_of(type))
        unsupported(e, path, "type", type,
                    "\"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
    if (kw_value(schema, "default") && ctx->no_defaults)
        spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(path, "default"), NULL, "must not be set %s",
                    ctx->no_defaults);
    if (kw_text(schema, "id"))
        forbidden(e, path, "id", "id is not supported");
    if (kw_value(schema, "additionalItems"))
        forbidden(e, path, "additionalItems", "additionalItems is not supported");
    if (kw_map(schema, "patternProperties"))
        forbidden(e, path, "patternProperties", "patternProperties is not supported");
    if (kw_map(schema, "definitions"))
        forbidden(e, path, "definitions", "definitions is not supported");
    if (kw_value(schema, "dependencies"))
        forbidden(e, path, "dependencies", "dependencies is not supported");
    if (kw_value(schema, "$ref"))
        forbidden(e, path, "$ref", "$ref is not supported");
    if (type && streq(type, "null"))
        forbidden(e, path, "type", "type cannot be set to null, use nullable as an alternative");
    if (kw_list(schema, "items"))
        forbidden(e, path, "items", "items must be a schema object and not an array");
    if (ctx->inside_meta && kw_flag(schema, "x-kubernetes-embedded-resource"))
        forbidden(e, path, "x-kubernetes-embedded-resource",
                  "must not be used inside of resource meta");
    if (kw_flag(schema, "uniqueItems"))
        forbidden(e, path, "uniqueItems",
                  "uniqueItems cannot be set to true since the runtime complexity becomes "
                  "quadratic");
}

/* An extension that only makes sense for one type. */
static bool check_extension_type(const json_t *schema, const struct spath *path,
                                 const char *extension, const char *wanted,
                                 struct field_errors *e) {
    const char *type = kw_text(schema, "type");
    if (!kw_value(schema, extension) || (type && streq(type, wanted)))
        return true;
    _cleanup_free_ char *why = xasprintf("must be %s if %s is specified", wanted, extension);
    if (type)
        invalid_text(e, path, "type", type, why);
    else
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "type"), NULL, "%s", why);
    return false;
}

/* --- lists --- */

/* The items of a set are compared as a whole, so nothing may merge them by parts. */
static void check_set_items(const json_t *items, const struct spath *path, struct field_errors *e) {
    static const char why[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const char *type = strna(kw_text(items, "type"));
    const json_t *list_type = kw_value(items, "x-kubernetes-list-type");
    const char *map_type = json_str(items, "x-kubernetes-map-type");
    const struct spath *at = SPATH_CHILD(path, "items");
    _cleanup_json_ json_t *null = json_null();
    if (streq(type, "array") && list_type && !streq(strna(json_string_value(list_type)), "atomic"))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(at, "x-kubernetes-list-type"), list_type, "%s",
                    why);
    /* The server shows the list type here, too. */
    if (streq(type, "object") && (!map_type || !streq(map_type, "atomic")))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(at, "x-kubernetes-map-type"),
                    list_type ? list_type : null, "%s", why);
}

static void check_map_keys(const json_t *schema, const json_t *keys, const struct spath *path,
                           struct field_errors *e) {
    const json_t *items = kw_items(schema), *properties = kw_map(items, "properties");
    const struct spath *at = SPATH_CHILD(SPATH_CHILD(path, "items"), "properties");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = strna(json_string_value(json_array_get(keys, i)));
        const json_t *property = json_object_get(properties, key);
        const char *type = strna(kw_text(property, "type"));
        if (!property)
            spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "x-kubernetes-list-map-keys"), keys,
                        "entries must all be names of item properties");
        else if (streq(type, "array") || streq(type, "object"))
            invalid_text(e, SPATH_KEYED(at, key), "type", kw_text(items, "type"),
                         "must be a scalar type if parent array's x-kubernetes-list-type is map");
        bool twice = false;
        for (size_t k = 0; k < i; k++)
            twice |= streq(strna(json_string_value(json_array_get(keys, k))), key);
        if (twice)
            spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "x-kubernetes-list-map-keys"), keys,
                        "must not contain duplicate entries");
    }
}

static void check_map_list(const json_t *schema, const struct spath *path, struct field_errors *e) {
    const json_t *keys = kw_list(schema, "x-kubernetes-list-map-keys");
    const json_t *items = kw_items(schema);
    const char *type = strna(kw_text(items, "type"));
    if (!keys)
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "x-kubernetes-list-map-keys"), NULL,
                    "must not be empty if x-kubernetes-list-type is map");
    if (!kw_value(schema, "items")) {
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "items"), NULL,
                    "must have a schema if x-kubernetes-list-type is map");
    } else if (!items) {
        _cleanup_str_ struct str shown = STR_INIT;
        structural_dump_items(&shown, json_object_get(schema, "items"));
        spath_error_shown(e, FIELD_INVALID, SPATH_CHILD(path, "items"), str_get(&shown),
                          "must only have a single schema if x-kubernetes-list-type is map");
    } else if (!streq(type, "object")) {
        invalid_text(e, SPATH_CHILD(path, "items"), "type", type,
                     "must be object if parent array's x-kubernetes-list-type is map");
    } else {
        check_map_keys(schema, keys, path, e);
    }
}

/* Items of sets and maps cannot be null, and the keys of maps are always there. */
static void check_items_there(const json_t *schema, const char *list_type, const struct spath *path,
                              struct field_errors *e) {
    const json_t *items = kw_items(schema), *required = kw_list(items, "required");
    const json_t *properties = kw_map(items, "properties");
    const json_t *keys = kw_list(schema, "x-kubernetes-list-map-keys");
    const struct spath *at = SPATH_CHILD(path, "items");
    if (!items || (!streq(list_type, "set") && !streq(list_type, "map")))
        return;
    if (kw_flag(items, "nullable"))
        spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(at, "nullable"), NULL,
                    "cannot be nullable when x-kubernetes-list-type is %s", list_type);
    if (!streq(list_type, "map"))
        return;
    at = SPATH_CHILD(at, "properties");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = strna(json_string_value(json_array_get(keys, i)));
        const json_t *property = json_object_get(properties, key);
        bool is_required = false;
        for (size_t k = 0; k < json_array_size(required); k++)
            is_required |= streq(strna(json_string_value(json_array_get(required, k))), key);
        if (!property)
            continue;
        if (!is_required && !kw_value(property, "default"))
            spath_error(e, FIELD_REQUIRED, SPATH_CHILD(SPATH_KEYED(at, key), "default"), NULL,
                        "this property is in x-kubernetes-list-map-keys, so it must have a default "
                        "or be a required property");
        if (kw_flag(property, "nullable"))
            spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(SPATH_KEYED(at, key), "nullable"), NULL,
                        "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
}

static void check_list_type(const json_t *schema, const struct spath *path,
                            struct field_errors *e) {
    static const char key[] = "x-kubernetes-list-type";
    const char *type = json_str(schema, key);
    bool good = check_extension_type(schema, path, key, "array", e);
    if (good && type && streq(type, "set") && kw_items(schema))
        check_set_items(kw_items(schema), path, e);
    if (type && !streq(type, "atomic") && !streq(type, "set") && !streq(type, "map"))
        unsupported(e, path, key, type, "\"atomic\", \"set\", \"map\"");
    if (kw_list(schema, "x-kubernetes-list-map-keys")) {
        static const char why[] = "must be map if x-kubernetes-list-map-keys is non-empty";
        if (!type)
            spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, key), NULL, "%s", why);
        else if (!streq(type, "map"))
            invalid_text(e, path, key, type, why);
    }
    if (type && streq(type, "map"))
        check_map_list(schema, path, e);
    if (type)
        check_items_there(schema, type, path, e);
}

/* --- CEL rules: their form --- */

static bool is_blank(char c) {
    return c && strchr(" \t\n\v\f\r", c);
}

/* As Go's strings.TrimSpace() sees blanks: Unicode's too, of which only a few exist. */
static struct view trimmed(const char *text) {
    static const char *const blanks[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
                                         "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
                                         "\xe2\x81\x9f", "\xe3\x80\x80"};
    struct view v = view_of(strna(text));
    for (size_t before = v.len + 1; before != v.len;) {
        before = v.len;
        while (v.len && is_blank(v.p[0]))
            v.p++, v.len--;
        while (v.len && is_blank(v.p[v.len - 1]))
            v.len--;
        for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
            size_t n = strlen(blanks[i]);
            if (v.len >= n && !memcmp(v.p, blanks[i], n))
                v.p += n, v.len -= n;
            if (v.len >= n && !memcmp(v.p + v.len - n, blanks[i], n))
                v.len -= n;
        }
        /* U+2000 to U+200A */
        if (v.len >= 3 && !memcmp(v.p, "\xe2\x80", 2) && (unsigned char)v.p[2] - 0x80u <= 10)
            v.p += 3, v.len -= 3;
        if (v.len >= 3 && !memcmp(v.p + v.len - 3, "\xe2\x80", 2) &&
            (unsigned char)v.p[v.len - 1] - 0x80u <= 10)
            v.len -= 3;
    }
    return v;
}

static bool has_newline(struct view v) {
    return v.len && (memchr(v.p, '\n', v.len) || memchr(v.p, '\r', v.len));
}

static void check_rule_field(const json_t *schema, const char *field_path, const struct spath *path,
                             struct field_errors *e) {
    if (!trimmed(field_path).len)
        invalid_text(e, path, "fieldPath", field_path, "must be non-empty if specified");
    if (has_newline(view_of(field_path)))
        invalid_text(e, path, "fieldPath", field_path, "must not contain line breaks");
    struct structural *s = structural_build(schema, NULL);
    const char *type;
    char *name = NULL;
    if (s && structural_find(s, field_path, true, &type, &name, NULL))
        invalid_text(e, path, "fieldPath", field_path, "must be a valid path");
    free(name);
    structural_free(s);
}

static void check_rule(const json_t *schema, const json_t *rule, const struct spath *path,
                       struct field_errors *e) {
    const char *message = json_str(rule, "message"), *reason = json_str(rule, "reason");
    const char *expression = kw_text(rule, "messageExpression");
    const char *field_path = kw_text(rule, "fieldPath");
    struct view text = trimmed(json_str(rule, "rule")), words = trimmed(message);
    if (!text.len)
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "rule"), NULL, "rule is not specified");
    else if (!str_empty(message) && !words.len)
        invalid_text(e, path, "message", message, "must be non-empty if specified");
    else if (has_newline(words))
        invalid_text(e, path, "message", message, "must not contain line breaks");
    else if (has_newline(text) && !words.len)
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "message"), NULL,
                    "message must be specified if rule contains line breaks");
    if (expression && !trimmed(expression).len)
        spath_error(e, FIELD_REQUIRED, SPATH_CHILD(path, "messageExpression"), NULL,
                    "messageExpression must be non-empty if specified");
    if (reason && !streq(reason, "FieldValueRequired") && !streq(reason, "FieldValueForbidden") &&
        !streq(reason, "FieldValueInvalid") && !streq(reason, "FieldValueDuplicate"))
        unsupported(e, path, "reason", reason,
                    "\"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
                    "\"FieldValueRequired\"");
    if (field_path)
        check_rule_field(schema, field_path, path, e);
}

/* --- the walk --- */

static void check(const json_t *schema, const struct spath *path, bool root,
                  const struct context *ctx, struct field_errors *e);

static void check_list(const json_t *schema, const char *key, const struct spath *path,
                       const struct context *ctx, struct field_errors *e) {
    const json_t *list = kw_list(schema, key);
    const struct spath *at = SPATH_CHILD(path, key);
    for (size_t i = 0; i < json_array_size(list); i++)
        check(json_array_get(list, i), SPATH_AT(at, i), false, ctx, e);
}

static void check_additional(const json_t *schema, const struct spath *path,
                             const struct context *ctx, struct field_errors *e) {
    const json_t *additional = kw_value(schema, "additionalProperties");
    if (!additional)
        return;
    if (kw_map(schema, "properties") && !json_is_true(additional))
        forbidden(e, path, "additionalProperties",
                  "additionalProperties and properties are mutual exclusive");
    struct context sub = *ctx;
    if (ctx->inside_meta)
        sub.no_defaults = "inside additionalProperties applying to object metadata";
    check(additional, SPATH_CHILD(path, "additionalProperties"), false, &sub, e);
}

static void check_properties(const json_t *schema, const struct spath *path, bool root,
                             const struct context *ctx, struct field_errors *e) {
    const struct spath *at = SPATH_CHILD(path, "properties");
    bool resource = root || kw_flag(schema, "x-kubernetes-embedded-resource");
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)kw_map(schema, "properties"), name, property) {
        struct context sub = *ctx;
        _cleanup_free_ char *why = NULL;
        if (resource &&
            (streq(name, "metadata") || streq(name, "kind") || streq(name, "apiVersion"))) {
            sub.inside_meta = true;
            if (root) {
                why = xasprintf("in top-level %s", name);
                sub.no_defaults = why;
            }
        }
        check(property, SPATH_KEYED(at, name), false, &sub, e);
    }
}

/* What is refused anyhow is looked into all the same. */
static void check_refused(const json_t *schema, const struct spath *path, const struct context *ctx,
                          struct field_errors *e) {
    const struct spath *definitions = SPATH_CHILD(path, "definitions"),
                       *dependencies = SPATH_CHILD(path, "dependencies");
    const char *name;
    json_t *sub;
    json_object_foreach((json_t *)kw_map(schema, "definitions"), name, sub)
        check(sub, SPATH_KEYED(definitions, name), false, ctx, e);
    json_object_foreach((json_t *)kw_map(schema, "dependencies"), name, sub)
        check(sub, SPATH_KEYED(dependencies, name), false, ctx, e);
    check_list(schema, "items", path, ctx, e);
}

static void check(const json_t *schema, const struct spath *path, bool root,
                  const struct context *ctx, struct field_errors *e) {
    if (!json_is_object(schema))
        return;
    check_keywords(schema, path, ctx, e);
    check_additional(schema, path, ctx, e);
    check_properties(schema, path, root, ctx, e);
    check(json_object_get(schema, "not"), SPATH_CHILD(path, "not"), false, ctx, e);
    check_list(schema, "allOf", path, ctx, e);
    check_list(schema, "oneOf", path, ctx, e);
    check_list(schema, "anyOf", path, ctx, e);
    check(kw_items(schema), SPATH_CHILD(path, "items"), false, ctx, e);
    check_refused(schema, path, ctx, e);

    const json_t *preserve = kw_value(schema, "x-kubernetes-preserve-unknown-fields");
    if (json_is_false(preserve))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(path, "x-kubernetes-preserve-unknown-fields"),
                    preserve, "must be true or undefined");
    const char *map_type = json_str(schema, "x-kubernetes-map-type");
    check_extension_type(schema, path, "x-kubernetes-map-type", "object", e);
    if (map_type && !streq(map_type, "atomic") && !streq(map_type, "granular"))
        unsupported(e, path, "x-kubernetes-map-type", map_type, "\"atomic\", \"granular\"");
    check_list_type(schema, path, e);
    const json_t *rules = kw_list(schema, "x-kubernetes-validations");
    const struct spath *at = SPATH_CHILD(path, "x-kubernetes-validations");
    for (size_t i = 0; i < json_array_size(rules); i++)
        check_rule(schema, json_array_get(rules, i), SPATH_AT(at, i), e);
}

void structural_check_openapi(const json_t *schema, const struct spath *path,
                              struct field_errors *e) {
    check(schema, path, true, &(struct context){false, NULL}, e);
}
