/* The schemas of an OpenAPI document, out of the table. */
#include "sim/schema/openapi_schema.h"

#include "sim/schema/schema_table.h"
#include "sim/schema/text.h"

#define META    "io.k8s.apimachinery.pkg.apis.meta.v1."
#define RUNTIME "io.k8s.apimachinery.pkg.runtime."
#define CRD     "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/* Types that are not in the table: what they look like. */
static const struct small {
    const char *name, *json;
} smalls[] = {
    {"io.k8s.apimachinery.pkg.api.resource.Quantity",
     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"},
    {"io.k8s.apimachinery.pkg.util.intstr.IntOrString",
     "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"},
    {META "Time", "{\"format\":\"date-time\",\"type\":\"string\"}"},
    {META "MicroTime", "{\"format\":\"date-time\",\"type\":\"string\"}"},
    {META "FieldsV1", "{\"type\":\"object\"}"},
    {META "Patch", "{\"type\":\"object\"}"},
    {RUNTIME "RawExtension", "{\"type\":\"object\"}"},
    {CRD "JSON", "{}"},
    {CRD "JSONSchemaPropsOrBool", "{}"},
    {CRD "JSONSchemaPropsOrArray", "{}"},
    {CRD "JSONSchemaPropsOrStringArray", "{}"},
};

/* --- names --- */

/* "dev.slipway.v1alpha1.Policy": as the server names the types of custom resources. */
static void add_reversed(struct str *out, const char *group) {
    const char *end = group + strlen(group);
    while (end > group) {
        const char *start = end;
        while (start > group && start[-1] != '.')
            start--;
        str_addn(out, start, (size_t)(end - start));
        str_addc(out, '.');
        end = start > group ? start - 1 : start;
    }
}

char *openapi_type_name(const struct openapi_resource *r) {
    const struct schema *s = r->custom ? NULL : schema_find(r->group, r->version, r->kind);
    struct str name = STR_INIT;
    if (s)
        return xstrdup(s->name);
    add_reversed(&name, r->group);
    str_addf(&name, "%s.%s", r->version, r->kind);
    return str_take(&name);
}

char *openapi_list_name(const struct openapi_resource *r) {
    _cleanup_free_ char *name = openapi_type_name(r);
    return xasprintf("%sList", name);
}

void openapi_gvk(struct jsonw *w, const char *group, const char *version, const char *kind) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "group", group);
    jsonw_kstr(w, "kind", kind);
    jsonw_kstr(w, "version", version);
    jsonw_end(w);
}

void openapi_ref(struct jsonw *w, const char *name) {
    _cleanup_free_ char *path = xasprintf("#/components/schemas/%s", name);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "$ref", path);
    jsonw_end(w);
}

static const char *raw_name(const struct schema_field *f) {
    return strstr(f->go, "FieldsV1")  ? META "FieldsV1"
           : strstr(f->go, "v1.JSON") ? CRD "JSON"
                                      : RUNTIME "RawExtension";
}

/* The type that a field refers to, or NULL when it is a plain one. */
static const char *referred(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_OBJECT:
        return f->of->name;
    case SCHEMA_TIME:
        return META "Time";
    case SCHEMA_MICROTIME:
        return META "MicroTime";
    case SCHEMA_QUANTITY:
        return "io.k8s.apimachinery.pkg.api.resource.Quantity";
    case SCHEMA_INTSTR:
        return "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
    case SCHEMA_RAW:
        return raw_name(f);
    case SCHEMA_OR_BOOL:
        return CRD "JSONSchemaPropsOrBool";
    case SCHEMA_OR_LIST:
        return CRD "JSONSchemaPropsOrArray";
    case SCHEMA_OR_STRINGS:
        return CRD "JSONSchemaPropsOrStringArray";
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_DOUBLE:
    case SCHEMA_BYTES:
    case SCHEMA_STRINGS:
        break;
    }
    return NULL;
}

/* --- one schema --- */

static void write_plain(struct jsonw *w, const struct schema_field *f, bool with_default) {
    static const struct {
        const char *type, *format, *zero;
    } plains[] = {
        [SCHEMA_STRING] = {"string", NULL, "\"\""},   [SCHEMA_BOOL] = {"boolean", NULL, "false"},
        [SCHEMA_INT32] = {"integer", "int32", "0"},   [SCHEMA_INT64] = {"integer", "int64", "0"},
        [SCHEMA_DOUBLE] = {"number", "double", NULL}, [SCHEMA_BYTES] = {"string", "byte", NULL},
    };
    if (f->kind == SCHEMA_STRINGS) {
        jsonw_kstr(w, "type", "array");
        jsonw_key(w, "items");
        jsonw_raw(w, "{\"default\":\"\",\"type\":\"string\"}");
        return;
    }
    jsonw_kopt(w, "format", plains[f->kind].format);
    jsonw_kstr(w, "type", plains[f->kind].type);
    if (with_default && plains[f->kind].zero) {
        jsonw_key(w, "default");
        jsonw_raw(w, plains[f->kind].zero);
    }
}

/* The members of a value's schema. What has a decoder of its own has no default. */
static void write_value(struct jsonw *w, const struct schema_field *f, bool with_default) {
    const char *name = referred(f);
    if (!name) {
        write_plain(w, f, with_default);
        return;
    }
    jsonw_kbegin(w, "allOf", '[');
    openapi_ref(w, name);
    jsonw_end(w);
    if (with_default && f->kind == SCHEMA_OBJECT) {
        jsonw_key(w, "default");
        jsonw_raw(w, "{}");
    }
}

static void write_patch_rules(struct jsonw *w, const struct schema_field *f) {
    const char *strategy = NULL;
    if (f->flags & SCHEMA_MERGE)
        strategy = f->flags & SCHEMA_RETAIN_KEYS ? "merge,retainKeys" : "merge";
    else if (f->flags & SCHEMA_RETAIN_KEYS)
        strategy = "retainKeys";
    else if (f->flags & SCHEMA_REPLACE)
        strategy = "replace";
    jsonw_kopt(w, "x-kubernetes-patch-merge-key", f->merge_key);
    jsonw_kopt(w, "x-kubernetes-patch-strategy", strategy);
}

static void write_property(struct jsonw *w, const struct schema_field *f) {
    jsonw_kbegin(w, f->json, '{');
    if (f->flags & (SCHEMA_LIST | SCHEMA_MAP)) {
        jsonw_kstr(w, "type", f->flags & SCHEMA_LIST ? "array" : "object");
        jsonw_kbegin(w, f->flags & SCHEMA_LIST ? "items" : "additionalProperties", '{');
        write_value(w, f, true);
        jsonw_end(w);
    } else {
        bool is_object = f->kind == SCHEMA_OBJECT;
        write_value(w, f,
                    !(f->flags & SCHEMA_POINTER) && (is_object || !(f->flags & SCHEMA_OMITEMPTY)));
    }
    write_patch_rules(w, f);
    jsonw_end(w);
}

static void write_properties(struct jsonw *w, const struct schema *s) {
    for (size_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].flags & SCHEMA_INLINE)
            write_properties(w, s->fields[i].of);
        else
            write_property(w, &s->fields[i]);
}

static size_t write_required(struct jsonw *w, const struct schema *s, size_t before) {
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->flags & SCHEMA_INLINE) {
            before = write_required(w, f->of, before);
        } else if (f->flags & SCHEMA_REQUIRED) {
            if (!before++)
                jsonw_kbegin(w, "required", '[');
            jsonw_str(w, f->json);
        }
    }
    return before;
}

static void write_members(struct jsonw *w, const struct schema *s) {
    jsonw_kstr(w, "type", "object");
    if (s->n_fields) {
        jsonw_kbegin(w, "properties", '{');
        write_properties(w, s);
        jsonw_end(w);
    }
    if (write_required(w, s, 0))
        jsonw_end(w);
}

/* --- all that a document needs --- */

struct gatherer {
    bool *wanted; /* by place in schema_all */
    bool smalls[ARRAY_LEN(smalls)];
};

static void want_small(struct gatherer *g, const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(smalls); i++)
        if (streq(smalls[i].name, name))
            g->smalls[i] = true;
}

static void want(struct gatherer *g, const struct schema *s);

/* The fields of an inlined object are the holder's own. */
static void want_fields(struct gatherer *g, const struct schema *s) {
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        const char *name = referred(f);
        if (f->flags & SCHEMA_INLINE)
            want_fields(g, f->of);
        else if (f->kind == SCHEMA_OBJECT)
            want(g, f->of);
        else if (name)
            want_small(g, name);
    }
}

static void want(struct gatherer *g, const struct schema *s) {
    bool *wanted = &g->wanted[s - schema_all];
    if (*wanted)
        return;
    *wanted = true;
    want_fields(g, s);
}

static const struct schema *field_type(const struct schema *s, const char *key) {
    return schema_field(s, key, strlen(key))->of;
}

/* Of which kinds a type is; that of deletions is of every group and version. */
static void write_kinds(struct jsonw *w, const struct schema *s,
                        const struct openapi_resource *resource) {
    bool any = false;
    for (size_t i = 0; i < schema_n_roots; i++) {
        const struct schema_root *r = &schema_roots[i];
        if (r->schema != s || streq(r->group, "meta.k8s.io"))
            continue;
        if (!any)
            jsonw_kbegin(w, "x-kubernetes-group-version-kind", '[');
        any = true;
        openapi_gvk(w, r->group, r->version, r->kind);
    }
    if (!any)
        return;
    if (s == schema_find("", "v1", "DeleteOptions") &&
        (*resource->group || !streq(resource->version, "v1")))
        openapi_gvk(w, resource->group, resource->version, "DeleteOptions");
    jsonw_end(w);
}

static void write_list(struct jsonw *w, const struct openapi_resource *r) {
    _cleanup_free_ char *name = openapi_list_name(r), *of = openapi_type_name(r);
    _cleanup_free_ char *kind = xasprintf("%sList", r->kind);
    jsonw_kbegin(w, name, '{');
    jsonw_kstr(w, "type", "object");
    jsonw_kbegin(w, "properties", '{');
    jsonw_key(w, "apiVersion");
    jsonw_raw(w, "{\"type\":\"string\"}");
    jsonw_kbegin(w, "items", '{');
    jsonw_kstr(w, "type", "array");
    jsonw_kbegin(w, "items", '{');
    jsonw_kbegin(w, "allOf", '[');
    openapi_ref(w, of);
    jsonw_end(w);
    jsonw_key(w, "default");
    jsonw_raw(w, "{}");
    jsonw_end(w);
    jsonw_end(w);
    jsonw_key(w, "kind");
    jsonw_raw(w, "{\"type\":\"string\"}");
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kbegin(w, "allOf", '[');
    openapi_ref(w, META "ListMeta");
    jsonw_end(w);
    jsonw_key(w, "default");
    jsonw_raw(w, "{}");
    jsonw_end(w);
    jsonw_end(w);
    jsonw_key(w, "required");
    jsonw_raw(w, "[\"items\"]");
    jsonw_kbegin(w, "x-kubernetes-group-version-kind", '[');
    openapi_gvk(w, r->group, r->version, kind);
    jsonw_end(w);
    jsonw_end(w);
}

/* What a CustomResourceDefinition says, and the members that every object has. */
static void write_custom(struct jsonw *w, const struct openapi_resource *r) {
    _cleanup_free_ char *name = openapi_type_name(r);
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_json_ json_t *schema = json_is_object(r->custom) ? json_deep_copy(r->custom) : NULL;
    if (!schema)
        schema = json_object();
    json_t *properties = json_object_get(schema, "properties");
    if (!json_is_object(properties)) {
        properties = json_object();
        json_object_set_new(schema, "properties", properties);
    }
    json_object_set_new(schema, "type", json_string("object"));
    json_object_set_new(properties, "apiVersion", json_pack("{s:s}", "type", "string"));
    json_object_set_new(properties, "kind", json_pack("{s:s}", "type", "string"));
    json_object_set_new(
        properties, "metadata",
        json_pack("{s:[{s:s}]}", "allOf", "$ref", "#/components/schemas/" META "ObjectMeta"));
    json_object_set_new(
        schema, "x-kubernetes-group-version-kind",
        json_pack("[{s:s,s:s,s:s}]", "group", r->group, "kind", r->kind, "version", r->version));
    text_value(schema, &text);
    jsonw_key(w, name);
    jsonw_raw(w, str_get(&text));
}

/* What the operations of a resource refer to beside its type. */
static void want_operands(struct gatherer *g, const struct openapi_resource *r) {
    if (r->verbs & (OPENAPI_DELETE | OPENAPI_DELETE_COLLECTION)) {
        want(g, schema_find("", "v1", "Status"));
        want(g, schema_find("", "v1", "DeleteOptions"));
    }
    if (r->verbs & OPENAPI_LIST)
        want(g, field_type(schema_find("", "v1", "Status"), "metadata")); /* ListMeta */
    if (r->verbs & OPENAPI_PATCH || r->has_scale)
        want_small(g, META "Patch");
    if (r->has_scale)
        want(g, schema_find("autoscaling", "v1", "Scale"));
    want(g, field_type(schema_find("", "v1", "Namespace"), "metadata")); /* ObjectMeta */
}

void openapi_schemas(struct jsonw *w, const struct openapi_resource *const *resources, size_t n) {
    struct gatherer g = {.wanted = xcalloc(schema_n_all, sizeof(bool))};
    jsonw_begin(w, '{');
    for (size_t i = 0; i < n; i++) {
        const struct openapi_resource *r = resources[i];
        const struct schema *s = schema_find(r->group, r->version, r->kind);
        want_operands(&g, r);
        if (!r->custom && s)
            want(&g, s);
        else
            write_custom(w, r);
        if (r->verbs & OPENAPI_LIST)
            write_list(w, r);
    }
    for (size_t i = 0; i < schema_n_all; i++) {
        if (!g.wanted[i])
            continue;
        jsonw_kbegin(w, schema_all[i].name, '{');
        write_members(w, &schema_all[i]);
        write_kinds(w, &schema_all[i], resources[0]);
        jsonw_end(w);
    }
    for (size_t i = 0; i < ARRAY_LEN(smalls); i++)
        if (g.smalls[i]) {
            jsonw_key(w, smalls[i].name);
            jsonw_raw(w, smalls[i].json);
        }
    jsonw_end(w);
    free(g.wanted);
}
