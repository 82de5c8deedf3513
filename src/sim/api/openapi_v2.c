/* OpenAPI v2 out of OpenAPI v3, as JSON and as protobuf. */
#include "sim/api/openapi_v2.h"

#include "sim/schema/text.h"
#include "sim/schema/wire.h"

#define TYPE_JSON     "application/json"
#define TYPE_PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
/* What kubectl asks for; the answer has the name above all the same. */
#define TYPE_PROTOBUF_OLD "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

#define KINDS "x-kubernetes-group-version-kind"

/* --- from version 3 to version 2 --- */

static json_t *turn(const json_t *schema);

static json_t *reference(const char *to) {
    const char *name = strrchr(to, '/');
    return json_sprintf("#/definitions/%s", name ? name + 1 : to);
}

static json_t *turn_all(const json_t *schemas) {
    json_t *out = json_object(), *v;
    const char *key;
    json_object_foreach((json_t *)schemas, key, v) json_object_set_new(out, key, turn(v));
    return out;
}

static void forget(json_t *list, const char *word) {
    for (size_t i = json_array_size(list); i-- > 0;)
        if (str_same(json_string_value(json_array_get(list, i)), word))
            json_array_remove(list, i);
}

/* kubectl takes a type with items or properties for one that has no others, and wants items of
 * every array: the rules of apiextensions-apiserver, pkg/controller/openapi/v2. */
static void relax(json_t *out, const json_t *schema) {
    bool nullable = json_is_true(json_object_get(schema, "nullable"));
    bool open = json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
    if (nullable || open) {
        json_object_del(out, "items");
        json_object_del(out, "properties");
    }
    const char *type = json_str(out, "type");
    if (nullable || (open && str_same(type, "object")) ||
        (str_same(type, "array") && !json_object_get(out, "items")))
        json_object_del(out, "type");
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(schema, "properties"), key,
                        v) if (json_is_true(json_object_get(v, "nullable")))
        forget(json_object_get(out, "required"), key);
    if (json_is_true(
            json_object_get(json_object_get(schema, "additionalProperties"), "nullable")) ||
        json_array_size(json_object_get(out, "required")) == 0)
        json_object_del(out, "required");
}

/* An object inside of another has the members of every object. */
static void add_members(json_t *out) {
    json_t *properties = json_object_get(out, "properties");
    if (!properties)
        return;
    json_object_set_new(properties, "apiVersion", json_pack("{s:s}", "type", "string"));
    json_object_set_new(properties, "kind", json_pack("{s:s}", "type", "string"));
    json_object_set_new(properties, "metadata",
                        json_pack("{s:s}", "$ref",
                                  "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
}

static bool left_out(const char *key) {
    static const char *const keys[] = {"default", "allOf", "oneOf", "anyOf", "not", "nullable"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (streq(keys[i], key))
            return true;
    return false;
}

static json_t *turn(const json_t *schema) {
    if (!json_is_object(schema)) /* additionalProperties: true */
        return json_deep_copy(schema);
    json_t *out = json_object(), *v;
    const json_t *only = json_array_get(json_object_get(schema, "allOf"), 0);
    const char *ref = json_str(schema, "$ref"), *key;
    if (!ref)
        ref = json_str(only, "$ref");
    if (ref)
        json_object_set_new(out, "$ref", reference(ref));
    json_object_foreach((json_t *)schema, key, v) {
        if (left_out(key) || streq(key, "$ref"))
            continue;
        if (streq(key, "properties"))
            json_object_set_new(out, key, turn_all(v));
        else if (streq(key, "items") || streq(key, "additionalProperties"))
            json_object_set_new(out, key, turn(v));
        else
            json_object_set_new(out, key, json_deep_copy(v));
    }
    relax(out, schema);
    if (json_is_true(json_object_get(schema, "x-kubernetes-embedded-resource")))
        add_members(out);
    return out;
}

/* One that has a name. */
static json_t *define(const char *name, const json_t *schema) {
    json_t *out = turn(schema);
    if (str_ends(name, ".api.resource.Quantity") || str_ends(name, ".intstr.IntOrString"))
        json_object_set_new(out, "type", json_string("string"));
    /* A custom resource that may hold anything: nothing but that it is an object. */
    if (json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"))) {
        json_t *kinds = json_deep_copy(json_object_get(schema, KINDS));
        json_object_clear(out);
        json_object_set_new(out, "type", json_string("object"));
        json_object_set_new(out, KINDS, kinds);
    }
    return out;
}

/* The options of a deletion are of every group and version, each of whose documents tells one. */
static void add_kinds(json_t *had, const json_t *schema) {
    json_t *kinds = json_object_get(had, KINDS), *v;
    size_t i;
    json_array_foreach(json_object_get(schema, KINDS), i, v) {
        bool known = false;
        for (size_t k = 0; k < json_array_size(kinds) && !known; k++)
            known = json_equal(json_array_get(kinds, k), v);
        if (!known)
            json_array_append(kinds, v);
    }
}

static bool is_first(const struct openapi_resource *resources, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (streq(resources[j].group, resources[i].group) &&
            streq(resources[j].version, resources[i].version))
            return false;
    return true;
}

static json_t *definitions(const struct openapi_resource *resources, size_t n) {
    json_t *out = json_object();
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < n; i++) {
        if (!is_first(resources, i))
            continue;
        str_reset(&text);
        openapi_document(resources[i].group, resources[i].version, resources, n, &text);
        _cleanup_json_ json_t *document = json_loadb(text.p, text.len, 0, NULL);
        const json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
        const char *name;
        json_t *v;
        json_object_foreach((json_t *)schemas, name, v) {
            json_t *had = json_object_get(out, name);
            if (had)
                add_kinds(had, v);
            else
                json_object_set_new(out, name, define(name, v));
        }
    }
    return out;
}

/* --- protobuf --- */

/* Members of a schema that are plain values, with their numbers in gnostic's Schema. */
static const struct plain {
    const char *key;
    uint32_t number;
} plains[] = {
    {"$ref", 1},
    {"format", 2},
    {"title", 3},
    {"description", 4},
    {"multipleOf", 6},
    {"maximum", 7},
    {"exclusiveMaximum", 8},
    {"minimum", 9},
    {"exclusiveMinimum", 10},
    {"maxLength", 11},
    {"minLength", 12},
    {"pattern", 13},
    {"maxItems", 14},
    {"minItems", 15},
    {"uniqueItems", 16},
    {"maxProperties", 17},
    {"minProperties", 18},
};
enum {
    IS_REQUIRED = 19,
    IS_ENUM = 20,
    IS_ADDITIONAL = 21,
    IS_TYPE = 22,
    IS_ITEMS = 23,
    IS_PROPERTIES = 25,
    IS_EXTENSION = 31,
};

static void put_schema(struct str *out, uint32_t number, const json_t *schema);

static void put_text(struct str *out, uint32_t number, const char *text) {
    wire_text(out, number, view_of(text));
}

static void put_double(struct str *out, uint32_t number, double v) {
    char *p = wire_put_tag(wire_room(out, WIRE_VARINT_MOST + sizeof v), number, WIRE_64);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++)
        *p++ = (char)(bits >> (8 * i));
    wire_end(out, p);
}

/* Numbers are doubles up to the limits of values, and integers beyond, where lengths are. */
static void put_plain(struct str *out, const struct plain *field, const json_t *v) {
    if (json_is_string(v))
        put_text(out, field->number, json_string_value(v));
    else if (json_is_true(v))
        wire_number(out, field->number, 1);
    else if (json_is_number(v) && field->number <= 9)
        put_double(out, field->number, json_number_value(v));
    else if (json_is_integer(v))
        wire_number(out, field->number, (uint64_t)json_integer_value(v));
}

/* Anything, as YAML, of which JSON is a part. */
static void put_any(struct str *out, uint32_t number, const json_t *v) {
    _cleanup_str_ struct str text = STR_INIT;
    text_value(v, &text);
    str_addc(&text, '\n');
    size_t at = wire_open(out, number);
    wire_text(out, 2, (struct view){text.p, text.len});
    wire_close(out, at);
}

static void put_named(struct str *out, uint32_t number, const json_t *schemas) {
    size_t all = wire_open(out, number);
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)schemas, name, v) {
        size_t one = wire_open(out, 1);
        put_text(out, 1, name);
        put_schema(out, 2, v);
        wire_close(out, one);
    }
    wire_close(out, all);
}

/* A message whose only member is this schema. */
static void put_wrapped(struct str *out, uint32_t number, const json_t *schema) {
    size_t at = wire_open(out, number);
    if (json_is_boolean(schema))
        wire_number(out, 2, json_is_true(schema));
    else
        put_schema(out, 1, schema);
    wire_close(out, at);
}

static void put_extension(struct str *out, const char *name, const json_t *v) {
    size_t at = wire_open(out, IS_EXTENSION);
    put_text(out, 1, name);
    put_any(out, 2, v);
    wire_close(out, at);
}

static void put_schema(struct str *out, uint32_t number, const json_t *schema) {
    size_t at = wire_open(out, number), i;
    const char *key;
    json_t *v;
    for (i = 0; i < ARRAY_LEN(plains); i++)
        put_plain(out, &plains[i], json_object_get(schema, plains[i].key));
    json_array_foreach(json_object_get(schema, "required"), i, v)
        put_text(out, IS_REQUIRED, json_string_value(v));
    json_array_foreach(json_object_get(schema, "enum"), i, v) put_any(out, IS_ENUM, v);
    if ((v = json_object_get(schema, "additionalProperties")))
        put_wrapped(out, IS_ADDITIONAL, v);
    if (json_str(schema, "type")) {
        size_t type = wire_open(out, IS_TYPE);
        put_text(out, 1, json_str(schema, "type"));
        wire_close(out, type);
    }
    if ((v = json_object_get(schema, "items")))
        put_wrapped(out, IS_ITEMS, v);
    if ((v = json_object_get(schema, "properties")))
        put_named(out, IS_PROPERTIES, v);
    json_object_foreach((json_t *)schema, key, v) if (str_starts(key, "x-"))
        put_extension(out, key, v);
    wire_close(out, at);
}

/* --- the document --- */

const char *openapi_v2_negotiate(const char *accept) {
    if (str_empty(accept))
        return TYPE_JSON;
    while (*accept) {
        accept += strspn(accept, ", \t");
        size_t len = strcspn(accept, ",; \t");
        struct view type = {accept, len};
        if (view_eq(type, VIEW(TYPE_JSON)) || view_eq(type, VIEW("*/*")) ||
            view_eq(type, VIEW("application/*")))
            return TYPE_JSON;
        if (view_eq(type, VIEW(TYPE_PROTOBUF)) || view_eq(type, VIEW(TYPE_PROTOBUF_OLD)))
            return TYPE_PROTOBUF;
        accept += len;
        accept += strcspn(accept, ",");
    }
    return NULL;
}

void openapi_v2_document(const struct openapi_resource *resources, size_t n, const char *type,
                         struct str *out) {
    _cleanup_json_ json_t *all = definitions(resources, n);
    if (streq(type, TYPE_PROTOBUF)) {
        put_text(out, 1, "2.0");
        size_t at = wire_open(out, 2);
        put_text(out, 1, "Kubernetes");
        put_text(out, 2, "unversioned");
        wire_close(out, at);
        put_text(out, 8, ""); /* paths */
        put_named(out, 9, all);
        return;
    }
    str_add(out, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":"
                 "\"unversioned\"},\"paths\":{},\"definitions\":");
    text_value(all, out);
    str_addc(out, '}');
}
