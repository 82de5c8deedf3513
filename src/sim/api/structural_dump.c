/* Schemas as Go prints its internal type: a few of the server's errors show the whole schema they
 * are about, and that type has no names for JSON, so every field appears under its Go name. */
#include "sim/api/gotext.h"
#include "sim/api/structural_internal.h"

enum field_kind {
    DUMP_TEXT,         /* "" when absent */
    DUMP_FLAG,         /* false when absent */
    DUMP_ANY,          /* null when absent, as all that follow */
    DUMP_TEXTS,        /* a list of strings */
    DUMP_SCHEMA,       /* one schema */
    DUMP_SCHEMAS,      /* a list */
    DUMP_MAP,          /* of schemas */
    DUMP_OR_BOOL,      /* a schema, or true or false */
    DUMP_OR_LIST,      /* a schema, or several */
    DUMP_DEPENDENCIES, /* a map of schemas or lists of names */
    DUMP_DOCS,
    DUMP_RULES,
};

static const struct field {
    const char *go, *json;
    enum field_kind kind;
} fields[] = {
    {"ID", "id", DUMP_TEXT},
    {"Schema", "$schema", DUMP_TEXT},
    {"Ref", "$ref", DUMP_ANY},
    {"Description", "description", DUMP_TEXT},
    {"Type", "type", DUMP_TEXT},
    {"Nullable", "nullable", DUMP_FLAG},
    {"Format", "format", DUMP_TEXT},
    {"Title", "title", DUMP_TEXT},
    {"Default", "default", DUMP_ANY},
    {"Maximum", "maximum", DUMP_ANY},
    {"ExclusiveMaximum", "exclusiveMaximum", DUMP_FLAG},
    {"Minimum", "minimum", DUMP_ANY},
    {"ExclusiveMinimum", "exclusiveMinimum", DUMP_FLAG},
    {"MaxLength", "maxLength", DUMP_ANY},
    {"MinLength", "minLength", DUMP_ANY},
    {"Pattern", "pattern", DUMP_TEXT},
    {"MaxItems", "maxItems", DUMP_ANY},
    {"MinItems", "minItems", DUMP_ANY},
    {"UniqueItems", "uniqueItems", DUMP_FLAG},
    {"MultipleOf", "multipleOf", DUMP_ANY},
    {"Enum", "enum", DUMP_ANY},
    {"MaxProperties", "maxProperties", DUMP_ANY},
    {"MinProperties", "minProperties", DUMP_ANY},
    {"Required", "required", DUMP_TEXTS},
    {"Items", "items", DUMP_OR_LIST},
    {"AllOf", "allOf", DUMP_SCHEMAS},
    {"OneOf", "oneOf", DUMP_SCHEMAS},
    {"AnyOf", "anyOf", DUMP_SCHEMAS},
    {"Not", "not", DUMP_SCHEMA},
    {"Properties", "properties", DUMP_MAP},
    {"AdditionalProperties", "additionalProperties", DUMP_OR_BOOL},
    {"PatternProperties", "patternProperties", DUMP_MAP},
    {"Dependencies", "dependencies", DUMP_DEPENDENCIES},
    {"AdditionalItems", "additionalItems", DUMP_OR_BOOL},
    {"Definitions", "definitions", DUMP_MAP},
    {"ExternalDocs", "externalDocs", DUMP_DOCS},
    {"Example", "example", DUMP_ANY},
    {"XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", DUMP_ANY},
    {"XEmbeddedResource", "x-kubernetes-embedded-resource", DUMP_FLAG},
    {"XIntOrString", "x-kubernetes-int-or-string", DUMP_FLAG},
    {"XListMapKeys", "x-kubernetes-list-map-keys", DUMP_TEXTS},
    {"XListType", "x-kubernetes-list-type", DUMP_ANY},
    {"XMapType", "x-kubernetes-map-type", DUMP_ANY},
    {"XValidations", "x-kubernetes-validations", DUMP_RULES},
};

static const struct field rule_fields[] = {
    {"Rule", "rule", DUMP_TEXT},
    {"Message", "message", DUMP_TEXT},
    {"MessageExpression", "messageExpression", DUMP_TEXT},
    {"Reason", "reason", DUMP_ANY},
    {"FieldPath", "fieldPath", DUMP_TEXT},
    {"OptionalOldSelf", "optionalOldSelf", DUMP_ANY},
};

static const struct field docs_fields[] = {
    {"Description", "description", DUMP_TEXT},
    {"URL", "url", DUMP_TEXT},
};

static void dump_object(struct str *out, const json_t *obj, const struct field *list, size_t n);

static void dump_text(struct str *out, const char *text) {
    _cleanup_json_ json_t *v = json_string_nocheck(text);
    go_json(out, v);
}

static void dump_schema(struct str *out, const json_t *schema) {
    if (json_is_object(schema))
        dump_object(out, schema, fields, ARRAY_LEN(fields));
    else
        str_add(out, "null");
}

static void dump_list(struct str *out, const json_t *list, const struct field *of, size_t n) {
    str_addc(out, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i)
            str_addc(out, ',');
        dump_object(out, json_array_get(list, i), of, n);
    }
    str_addc(out, ']');
}

static void dump_dependency(struct str *out, const json_t *v) {
    str_add(out, "{\"Schema\":");
    dump_schema(out, v);
    str_add(out, ",\"Property\":");
    go_json(out, json_is_array(v) ? v : NULL);
    str_addc(out, '}');
}

/* Canonical maps are in order already. */
static void dump_map(struct str *out, const json_t *map,
                     void (*dump)(struct str *, const json_t *)) {
    const char *key, *comma = "";
    json_t *v;
    str_addc(out, '{');
    json_object_foreach((json_t *)map, key, v) {
        str_add(out, comma);
        dump_text(out, key);
        str_addc(out, ':');
        dump(out, v);
        comma = ",";
    }
    str_addc(out, '}');
}

static void dump_value(struct str *out, const json_t *v, enum field_kind kind) {
    switch (kind) {
    case DUMP_TEXT:
        dump_text(out, strna(json_string_value(v)));
        return;
    case DUMP_FLAG:
        str_add(out, json_is_true(v) ? "true" : "false");
        return;
    default:
        break;
    }
    if (!v || json_is_null(v)) {
        str_add(out, "null");
        return;
    }
    switch (kind) {
    case DUMP_SCHEMA:
        dump_schema(out, v);
        break;
    case DUMP_SCHEMAS:
        dump_list(out, v, fields, ARRAY_LEN(fields));
        break;
    case DUMP_MAP:
        dump_map(out, v, dump_schema);
        break;
    case DUMP_DEPENDENCIES:
        dump_map(out, v, dump_dependency);
        break;
    case DUMP_OR_BOOL:
        str_addf(out, "{\"Allows\":%s,\"Schema\":", json_is_false(v) ? "false" : "true");
        dump_schema(out, v);
        str_addc(out, '}');
        break;
    case DUMP_OR_LIST:
        str_add(out, "{\"Schema\":");
        dump_schema(out, v);
        str_add(out, ",\"JSONSchemas\":");
        if (json_is_array(v))
            dump_list(out, v, fields, ARRAY_LEN(fields));
        else
            str_add(out, "null");
        str_addc(out, '}');
        break;
    case DUMP_DOCS:
        dump_object(out, v, docs_fields, ARRAY_LEN(docs_fields));
        break;
    case DUMP_RULES:
        dump_list(out, v, rule_fields, ARRAY_LEN(rule_fields));
        break;
    default:
        structural_show_json(out, v);
    }
}

static void dump_object(struct str *out, const json_t *obj, const struct field *list, size_t n) {
    str_addc(out, '{');
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "%s\"%s\":", i ? "," : "", list[i].go);
        dump_value(out, json_object_get(obj, list[i].json), list[i].kind);
    }
    str_addc(out, '}');
}

void structural_dump(struct str *out, const json_t *schema) {
    dump_schema(out, schema);
}

void structural_dump_items(struct str *out, const json_t *items) {
    dump_value(out, items, DUMP_OR_LIST);
}
