/* Making definitions of custom resources. */
#include "model/own_crd.h"

#include "base/mem.h"
#include "base/str.h"

/* --- rules --- */

static void add_rule(struct jsonw *w, const char *cel, const char *message, const char *path) {
    jsonw_begin(w, '{');
    jsonw_kopt(w, "fieldPath", path);
    jsonw_kstr(w, "message", message);
    jsonw_kstr(w, "rule", cel);
    jsonw_end(w);
}

/* Whether the server always has a value for it, so that a rule of its own sees every change. */
static bool always_there(const struct own_field *f) {
    return f->required || f->initial;
}

/* Adding or taking away an optional field is a change, too, and only the object around it sees
 * that. */
static void add_fixed(struct jsonw *w, const struct own_field *f) {
    _cleanup_str_ struct str cel = STR_INIT, message = STR_INIT, path = STR_INIT;
    str_addf(&message, "%s cannot be changed: delete this object and make another", f->name);
    str_addf(&path, ".%s", f->name);
    str_addf(&cel, "has(self.%s) == has(oldSelf.%s) && (!has(self.%s) || self.%s == oldSelf.%s)",
             f->name, f->name, f->name, f->name, f->name);
    add_rule(w, str_get(&cel), str_get(&message), str_get(&path));
}

static void add_fixed_here(struct jsonw *w, const struct own_field *f) {
    _cleanup_str_ struct str message = STR_INIT;
    str_addf(&message, "%s cannot be changed: delete this object and make another", f->name);
    add_rule(w, "self == oldSelf", str_get(&message), NULL);
}

static bool has_rules(const struct own_field *f) {
    for (const struct own_rule *r = f->rules; r && r->message; r++)
        if (r->cel)
            return true;
    for (const struct own_field *in = f->fields; in && in->name; in++)
        if (in->fixed && !always_there(in))
            return true;
    return f->fixed && always_there(f);
}

static void add_rules(struct jsonw *w, const struct own_field *f) {
    if (!has_rules(f))
        return;
    jsonw_kbegin(w, "x-kubernetes-validations", '[');
    for (const struct own_rule *r = f->rules; r && r->message; r++)
        if (r->cel)
            add_rule(w, r->cel, r->message, NULL);
    if (f->fixed && always_there(f))
        add_fixed_here(w, f);
    for (const struct own_field *in = f->fields; in && in->name; in++)
        if (in->fixed && !always_there(in))
            add_fixed(w, in);
    jsonw_end(w);
}

/* --- schemas --- */

static void add_schema(struct jsonw *w, const struct own_field *f);

static void add_words(struct jsonw *w, const struct own_field *f) {
    if (!f->words)
        return;
    jsonw_kbegin(w, "enum", '[');
    for (const char *const *word = f->words; *word; word++) {
        if (f->type == OWN_STR)
            jsonw_str(w, *word);
        else
            jsonw_raw(w, *word);
    }
    jsonw_end(w);
}

static void add_lengths(struct jsonw *w, const struct own_field *f, const char *min,
                        const char *max) {
    if (f->min)
        jsonw_kint(w, min, f->min);
    if (f->max)
        jsonw_kint(w, max, f->max);
}

static void add_bounds(struct jsonw *w, const struct own_field *f) {
    if (f->min < f->max) {
        jsonw_kint(w, "minimum", f->min);
        jsonw_kint(w, "maximum", f->max);
    }
}

static void add_object(struct jsonw *w, const struct own_field *f) {
    bool any = false;
    jsonw_kstr(w, "type", "object");
    if (!f->fields)
        return;
    for (const struct own_field *in = f->fields; in->name; in++)
        any = any || in->required;
    if (any) {
        jsonw_kbegin(w, "required", '[');
        for (const struct own_field *in = f->fields; in->name; in++)
            if (in->required)
                jsonw_str(w, in->name);
        jsonw_end(w);
    }
    jsonw_kbegin(w, "properties", '{');
    for (const struct own_field *in = f->fields; in->name; in++) {
        jsonw_key(w, in->name);
        add_schema(w, in);
    }
    jsonw_end(w);
}

static void add_list(struct jsonw *w, const struct own_field *f) {
    jsonw_kstr(w, "type", "array");
    add_lengths(w, f, "minItems", "maxItems");
    jsonw_kstr(w, "x-kubernetes-list-type", f->key ? "map" : f->set ? "set" : "atomic");
    if (f->key) {
        jsonw_kbegin(w, "x-kubernetes-list-map-keys", '[');
        jsonw_str(w, f->key);
        jsonw_end(w);
    }
    jsonw_key(w, "items");
    add_schema(w, f->item);
}

static void add_labels(struct jsonw *w) {
    jsonw_kstr(w, "type", "object");
    jsonw_kbegin(w, "additionalProperties", '{');
    jsonw_kstr(w, "type", "string");
    jsonw_end(w);
}

static void add_type(struct jsonw *w, const struct own_field *f) {
    switch (f->type) {
    case OWN_OBJECT:
        add_object(w, f);
        break;
    case OWN_LIST:
        add_list(w, f);
        break;
    case OWN_STR:
        jsonw_kstr(w, "type", "string");
        add_lengths(w, f, "minLength", "maxLength");
        break;
    case OWN_INT:
    case OWN_LONG:
        jsonw_kstr(w, "type", "integer");
        jsonw_kstr(w, "format", f->type == OWN_INT ? "int32" : "int64");
        add_bounds(w, f);
        break;
    case OWN_BOOL:
        jsonw_kstr(w, "type", "boolean");
        break;
    case OWN_TIME:
        jsonw_kstr(w, "type", "string");
        jsonw_kstr(w, "format", "date-time");
        break;
    case OWN_COUNT:
    case OWN_SECONDS:
        jsonw_kbool(w, "x-kubernetes-int-or-string", true);
        add_bounds(w, f);
        break;
    case OWN_LABELS:
        add_labels(w);
        break;
    }
}

static void add_schema(struct jsonw *w, const struct own_field *f) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "description", f->meaning);
    add_type(w, f);
    add_words(w, f);
    jsonw_kopt(w, "pattern", f->pattern);
    if (f->initial) {
        jsonw_key(w, "default");
        jsonw_raw(w, f->initial);
    }
    add_rules(w, f);
    jsonw_end(w);
}

/* What every object has; the server knows more about these than a schema may say. */
static void add_envelope(struct jsonw *w) {
    static const struct {
        const char *key, *type;
    } rows[] = {{"apiVersion", "string"}, {"kind", "string"}, {"metadata", "object"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        jsonw_kbegin(w, rows[i].key, '{');
        jsonw_kstr(w, "type", rows[i].type);
        jsonw_end(w);
    }
}

static void add_root(struct jsonw *w, const struct own_resource *r) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "description", r->meaning);
    jsonw_kstr(w, "type", "object");
    jsonw_kbegin(w, "required", '[');
    for (const struct own_field *f = r->fields; f->name; f++)
        if (f->required)
            jsonw_str(w, f->name);
    jsonw_end(w);
    jsonw_kbegin(w, "properties", '{');
    add_envelope(w);
    for (const struct own_field *f = r->fields; f->name; f++) {
        jsonw_key(w, f->name);
        add_schema(w, f);
    }
    jsonw_end(w);
    add_rules(w, &(struct own_field){.rules = r->rules});
    jsonw_end(w);
}

/* --- the object --- */

static void add_names(struct jsonw *w, const struct own_resource *r) {
    _cleanup_str_ struct str list = STR_INIT;
    str_addf(&list, "%sList", r->kind->name);
    jsonw_kbegin(w, "names", '{');
    jsonw_kbegin(w, "categories", '[');
    jsonw_str(w, OWN_CATEGORY);
    jsonw_end(w);
    jsonw_kstr(w, "kind", r->kind->name);
    jsonw_kstr(w, "listKind", str_get(&list));
    jsonw_kstr(w, "plural", r->kind->resource);
    jsonw_kbegin(w, "shortNames", '[');
    jsonw_str(w, r->short_name);
    jsonw_end(w);
    jsonw_kstr(w, "singular", r->singular);
    jsonw_end(w);
}

static void add_columns(struct jsonw *w, const struct own_resource *r) {
    jsonw_kbegin(w, "additionalPrinterColumns", '[');
    for (const struct own_column *c = r->columns; c->name; c++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "description", c->meaning);
        jsonw_kstr(w, "jsonPath", c->path);
        jsonw_kstr(w, "name", c->name);
        if (c->wide)
            jsonw_kint(w, "priority", 1);
        jsonw_kstr(w, "type", c->type);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void add_version(struct jsonw *w, const struct own_resource *r) {
    jsonw_begin(w, '{');
    add_columns(w, r);
    jsonw_kstr(w, "name", r->kind->version);
    jsonw_kbegin(w, "schema", '{');
    jsonw_key(w, "openAPIV3Schema");
    add_root(w, r);
    jsonw_end(w);
    jsonw_kbool(w, "served", true);
    jsonw_kbool(w, "storage", true);
    jsonw_kbegin(w, "subresources", '{');
    jsonw_kbegin(w, "status", '{');
    jsonw_end(w);
    jsonw_end(w);
    jsonw_end(w);
}

void own_crd(const struct own_resource *r, struct jsonw *w) {
    _cleanup_str_ struct str name = STR_INIT;
    str_addf(&name, "%s.%s", r->kind->resource, r->kind->group);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "apiVersion", "apiextensions.k8s.io/v1");
    jsonw_kstr(w, "kind", "CustomResourceDefinition");
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kbegin(w, "labels", '{');
    jsonw_kstr(w, "app.kubernetes.io/part-of", "slipway");
    jsonw_end(w);
    jsonw_kstr(w, "name", str_get(&name));
    jsonw_end(w);
    jsonw_kbegin(w, "spec", '{');
    jsonw_kstr(w, "group", r->kind->group);
    add_names(w, r);
    jsonw_kstr(w, "scope", r->kind->namespaced ? "Namespaced" : "Cluster");
    jsonw_kbegin(w, "versions", '[');
    add_version(w, r);
    jsonw_end(w);
    jsonw_end(w);
    jsonw_end(w);
}
