/* OpenAPI v3 documents: the index, and the operations of a group and version. */
#include "sim/schema/openapi.h"

#include <inttypes.h>

#include "sim/schema/openapi_schema.h"

/* --- parameters --- */

struct parameter {
    const char *name, *type;
};

/* Those of the verbs, as the real server lists them. */
static const struct parameter listing[] = {
    {"allowWatchBookmarks", "boolean"},
    {"continue", "string"},
    {"fieldSelector", "string"},
    {"labelSelector", "string"},
    {"limit", "integer"},
    {"resourceVersion", "string"},
    {"resourceVersionMatch", "string"},
    {"sendInitialEvents", "boolean"},
    {"timeoutSeconds", "integer"},
    {"watch", "boolean"},
};
static const struct parameter writing[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
static const struct parameter deleting[] = {
    {"dryRun", "string"},
    {"gracePeriodSeconds", "integer"},
    {"orphanDependents", "boolean"},
    {"propagationPolicy", "string"},
};
static const struct parameter deleting_many[] = {
    {"continue", "string"},          {"dryRun", "string"},
    {"fieldSelector", "string"},     {"gracePeriodSeconds", "integer"},
    {"labelSelector", "string"},     {"limit", "integer"},
    {"orphanDependents", "boolean"}, {"propagationPolicy", "string"},
    {"resourceVersion", "string"},
};

static void write_parameter(struct jsonw *w, const char *name, const char *in, const char *type) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "in", in);
    jsonw_kstr(w, "name", name);
    if (streq(in, "path"))
        jsonw_kbool(w, "required", true);
    jsonw_kbegin(w, "schema", '{');
    jsonw_kstr(w, "type", type);
    jsonw_kbool(w, "uniqueItems", true);
    jsonw_end(w);
    jsonw_end(w);
}

/* --- operations --- */

static const struct operation {
    unsigned verb;
    const char *method, *action;
    bool named; /* on one object */
    const struct parameter *parameters;
    size_t n_parameters;
} operations[] = {
    {OPENAPI_LIST, "get", "list", false, listing, ARRAY_LEN(listing)},
    {OPENAPI_CREATE, "post", "post", false, writing, ARRAY_LEN(writing)},
    {OPENAPI_DELETE_COLLECTION, "delete", "deletecollection", false, deleting_many,
     ARRAY_LEN(deleting_many)},
    {OPENAPI_GET, "get", "get", true, NULL, 0},
    {OPENAPI_UPDATE, "put", "put", true, writing, ARRAY_LEN(writing)},
    {OPENAPI_PATCH, "patch", "patch", true, writing, ARRAY_LEN(writing)},
    {OPENAPI_DELETE, "delete", "delete", true, deleting, ARRAY_LEN(deleting)},
};

/* What an operation is about: the resource's kind, or that of a subresource. */
struct subject {
    const char *group, *version, *kind;
    const char *type, *list; /* names in the schemas */
    bool custom;
};

static void write_content(struct jsonw *w, const char *media, const char *type) {
    jsonw_kbegin(w, media, '{');
    jsonw_key(w, "schema");
    openapi_ref(w, type);
    jsonw_end(w);
}

static void write_body(struct jsonw *w, const struct operation *o, const struct subject *s) {
    static const char patch[] = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
    bool deletes = o->verb & (OPENAPI_DELETE | OPENAPI_DELETE_COLLECTION);
    if (streq(o->method, "get"))
        return;
    jsonw_kbegin(w, "requestBody", '{');
    jsonw_kbegin(w, "content", '{');
    if (o->verb == OPENAPI_PATCH) {
        write_content(w, "application/json-patch+json", patch);
        write_content(w, "application/merge-patch+json", patch);
        if (!s->custom)
            write_content(w, "application/strategic-merge-patch+json", patch);
    } else {
        write_content(w, "application/json",
                      deletes ? "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions" : s->type);
    }
    jsonw_end(w);
    if (!deletes)
        jsonw_kbool(w, "required", true);
    jsonw_end(w);
}

static void write_operation(struct jsonw *w, const struct operation *o, const struct subject *s) {
    bool deletes = o->verb & (OPENAPI_DELETE | OPENAPI_DELETE_COLLECTION);
    jsonw_kbegin(w, o->method, '{');
    if (o->n_parameters) {
        jsonw_kbegin(w, "parameters", '[');
        for (size_t i = 0; i < o->n_parameters; i++)
            write_parameter(w, o->parameters[i].name, "query", o->parameters[i].type);
        jsonw_end(w);
    }
    write_body(w, o, s);
    jsonw_kbegin(w, "responses", '{');
    jsonw_kbegin(w, "200", '{');
    jsonw_kbegin(w, "content", '{');
    write_content(w, "application/json",
                  o->verb == OPENAPI_LIST ? s->list
                  : deletes               ? "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
                                          : s->type);
    jsonw_end(w);
    jsonw_kstr(w, "description", "OK");
    jsonw_end(w);
    jsonw_end(w);
    jsonw_kstr(w, "x-kubernetes-action", o->action);
    jsonw_key(w, "x-kubernetes-group-version-kind");
    openapi_gvk(w, s->group, s->version, s->kind);
    jsonw_end(w);
}

/* A path with those of its operations that are among the verbs. */
static void write_path(struct jsonw *w, const char *path, unsigned verbs, bool named,
                       const struct subject *s) {
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        any = any || (operations[i].named == named && operations[i].verb & verbs);
    if (!any)
        return;
    jsonw_kbegin(w, path, '{');
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        if (operations[i].named == named && operations[i].verb & verbs)
            write_operation(w, &operations[i], s);
    jsonw_kbegin(w, "parameters", '[');
    if (named)
        write_parameter(w, "name", "path", "string");
    if (strstr(path, "{namespace}"))
        write_parameter(w, "namespace", "path", "string");
    write_parameter(w, "pretty", "query", "string");
    jsonw_end(w);
    jsonw_end(w);
}

static void write_resource(struct jsonw *w, const struct openapi_resource *r) {
    static const unsigned of_part = OPENAPI_GET | OPENAPI_UPDATE | OPENAPI_PATCH;
    _cleanup_free_ char *type = openapi_type_name(r), *list = openapi_list_name(r);
    _cleanup_free_ char *root = *r->group ? xasprintf("/apis/%s/%s", r->group, r->version)
                                          : xasprintf("/api/%s", r->version);
    _cleanup_free_ char *everywhere = xasprintf("%s/%s", root, r->plural);
    _cleanup_free_ char *many = r->namespaced
                                    ? xasprintf("%s/namespaces/{namespace}/%s", root, r->plural)
                                    : xstrdup(everywhere);
    _cleanup_free_ char *one = xasprintf("%s/{name}", many);
    _cleanup_free_ char *status = xasprintf("%s/status", one), *scale = xasprintf("%s/scale", one);
    struct subject self = {r->group, r->version, r->kind, type, list, r->custom};
    struct subject scaled = {"autoscaling", "v1",     "Scale", "io.k8s.api.autoscaling.v1.Scale",
                             NULL,          r->custom};
    write_path(w, many, r->verbs, false, &self);
    write_path(w, one, r->verbs, true, &self);
    if (r->has_status)
        write_path(w, status, r->verbs & of_part, true, &self);
    if (r->has_scale)
        write_path(w, scale, of_part, true, &scaled);
    if (r->namespaced)
        write_path(w, everywhere, r->verbs & OPENAPI_LIST, false, &self);
}

/* --- documents --- */

bool openapi_document(const char *group, const char *version,
                      const struct openapi_resource *resources, size_t n, struct str *out) {
    _cleanup_free_ const struct openapi_resource **found = xcalloc(n + 1, sizeof *found);
    struct jsonw w;
    size_t n_found = 0;
    for (size_t i = 0; i < n; i++)
        if (streq(resources[i].group, group) && streq(resources[i].version, version))
            found[n_found++] = &resources[i];
    if (!n_found)
        return false;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "openapi", "3.0.0");
    jsonw_key(&w, "info");
    jsonw_raw(&w, "{\"title\":\"Kubernetes\",\"version\":\"unversioned\"}");
    jsonw_kbegin(&w, "paths", '{');
    for (size_t i = 0; i < n_found; i++)
        write_resource(&w, found[i]);
    jsonw_end(&w);
    jsonw_kbegin(&w, "components", '{');
    jsonw_key(&w, "schemas");
    openapi_schemas(&w, found, n_found);
    jsonw_end(&w);
    jsonw_end(&w);
    return true;
}

/* FNV-1a: clients only ask whether it is still the same. */
static uint64_t hash(const struct str *s) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s->len; i++)
        h = (h ^ (unsigned char)s->p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static bool is_first(const struct openapi_resource *resources, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (streq(resources[j].group, resources[i].group) &&
            streq(resources[j].version, resources[i].version))
            return false;
    return true;
}

void openapi_index(const struct openapi_resource *resources, size_t n, struct str *out) {
    struct jsonw w;
    _cleanup_str_ struct str document = STR_INIT;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kbegin(&w, "paths", '{');
    for (size_t i = 0; i < n; i++) {
        const struct openapi_resource *r = &resources[i];
        if (!is_first(resources, i))
            continue;
        str_reset(&document);
        openapi_document(r->group, r->version, resources, n, &document);
        _cleanup_free_ char *path = *r->group ? xasprintf("apis/%s/%s", r->group, r->version)
                                              : xasprintf("api/%s", r->version);
        _cleanup_free_ char *url =
            xasprintf("/openapi/v3/%s?hash=%016" PRIX64, path, hash(&document));
        jsonw_kbegin(&w, path, '{');
        jsonw_kstr(&w, "serverRelativeURL", url);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
}
