/* Is a CustomResourceDefinition valid? (apiextensions-apiserver pkg/apis/apiextensions/validation)
 */
#include <ctype.h>

#include "base/utf8.h"
#include "sim/api/crd_internal.h"
#include "sim/api/names.h"
#include "sim/api/strategy_kinds.h"

#define SPEC SPATH_CHILD(NULL, "spec")

static void required(struct field_errors *e, const struct spath *path, const char *why) {
    spath_error(e, FIELD_REQUIRED, path, NULL, "%s", why);
}

static void invalid(struct field_errors *e, const struct spath *path, const char *text,
                    const char *why) {
    _cleanup_json_ json_t *value = json_string_nocheck(strna(text));
    spath_error(e, FIELD_INVALID, path, value, "%s", why);
}

/* The same for what is a pointer to text in Go: it is printed as JSON. */
static void invalid_pointer(struct field_errors *e, const struct spath *path, const char *text,
                            const char *why) {
    _cleanup_json_ json_t *value = json_string_nocheck(text);
    _cleanup_str_ struct str shown = STR_INIT;
    structural_show_json(&shown, value);
    spath_error_shown(e, FIELD_INVALID, path, str_get(&shown), "%s", why);
}

/* One error for all that a rule finds. */
static void check_text(struct field_errors *e, const struct spath *path, const char *text,
                       name_rule *rule, const char *before) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    rule(text, &p);
    if (!p.v.len)
        return;
    _cleanup_free_ char *all = problems_join(&p, ","), *why = xasprintf("%s%s", before, all);
    invalid(e, path, text, why);
}

/* --- names --- */

static void check_any_case(struct field_errors *e, const struct spath *path, const char *text) {
    _cleanup_free_ char *lower = xstrdup(text);
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    name_dns1035_label(lower, &p);
    if (!*text || !p.v.len)
        return;
    _cleanup_free_ char *all = problems_join(&p, ",");
    _cleanup_free_ char *why =
        xasprintf("may have mixed case, but should otherwise match: %s", all);
    invalid(e, path, text, why);
}

static void check_list(struct field_errors *e, const struct spath *path, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++)
        check_text(e, SPATH_AT(path, i), strna(json_string_value(json_array_get(list, i))),
                   name_dns1035_label, "");
}

static void check_names(struct field_errors *e, const struct spath *path, const json_t *names) {
    const char *plural = kw_text(names, "plural"), *singular = kw_text(names, "singular");
    const char *kind = strna(json_str(names, "kind")), *list = strna(json_str(names, "listKind"));
    if (plural)
        check_text(e, SPATH_CHILD(path, "plural"), plural, name_dns1035_label, "");
    if (singular)
        check_text(e, SPATH_CHILD(path, "singular"), singular, name_dns1035_label, "");
    check_any_case(e, SPATH_CHILD(path, "kind"), kind);
    check_any_case(e, SPATH_CHILD(path, "listKind"), list);
    check_list(e, SPATH_CHILD(path, "shortNames"), kw_list(names, "shortNames"));
    if (*kind && streq(kind, list))
        invalid(e, SPATH_CHILD(path, "listKind"), list, "kind and listKind may not be the same");
    check_list(e, SPATH_CHILD(path, "categories"), kw_list(names, "categories"));
}

static void check_names_there(struct field_errors *e, const json_t *names) {
    static const char *const keys[] = {"plural", "singular", "kind", "listKind"};
    const struct spath *path = SPATH_CHILD(SPEC, "names");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!kw_text(names, keys[i]))
            required(e, SPATH_CHILD(path, keys[i]), "");
}

/* --- subresources, columns, selectable fields --- */

static void check_replicas_path(struct field_errors *e, const json_t *scale, const char *key,
                                const char *under, const struct spath *path) {
    _cleanup_free_ char *name = xasprintf("scale.%s", key);
    const struct spath *at = SPATH_CHILD(path, name);
    const char *text = kw_text(scale, key);
    if (!text) {
        required(e, at, "");
    } else if (*text != '.') {
        invalid(e, at, text, "must be a simple json path starting with .");
    } else if (!str_starts(text, under)) {
        _cleanup_free_ char *why =
            xasprintf("should be a json path under %.*s", (int)strlen(under) - 1, under);
        invalid(e, at, text, why);
    }
}

static void check_subresources(struct field_errors *e, const json_t *subresources,
                               const struct spath *path) {
    const json_t *scale = kw_value(subresources, "scale");
    const char *selector = kw_text(scale, "labelSelectorPath");
    if (!scale)
        return;
    check_replicas_path(e, scale, "specReplicasPath", ".spec.", path);
    check_replicas_path(e, scale, "statusReplicasPath", ".status.", path);
    const struct spath *at = SPATH_CHILD(path, "scale.labelSelectorPath");
    if (selector && *selector != '.')
        invalid(e, at, selector, "must be a simple json path starting with .");
    else if (selector && !str_starts(selector, ".spec.") && !str_starts(selector, ".status."))
        invalid_pointer(e, at, selector, "should be a json path under either .spec or .status");
}

static bool one_of(const char *text, const char *list) {
    size_t len = strlen(text);
    for (const char *s = list; s; s = strchr(s, ','), s = s ? s + 1 : NULL)
        if (!strncmp(s, text, len) && (s[len] == ',' || !s[len]))
            return true;
    return false;
}

static void check_column(struct field_errors *e, const json_t *column, const struct spath *path) {
    static const char types[] = "boolean,date,integer,number,string";
    static const char formats[] = "byte,date,date-time,double,float,int32,int64,password";
    const char *type = kw_text(column, "type"), *format = kw_text(column, "format");
    const char *json_path = kw_text(column, "jsonPath");
    _cleanup_free_ char *bad_type = xasprintf("must be one of %s", types);
    _cleanup_free_ char *bad_format = xasprintf("must be one of %s", formats);
    if (!kw_text(column, "name"))
        required(e, SPATH_CHILD(path, "name"), "");
    if (!type)
        required(e, SPATH_CHILD(path, "type"), bad_type);
    else if (!one_of(type, types))
        invalid(e, SPATH_CHILD(path, "type"), type, bad_type);
    if (format && !one_of(format, formats))
        invalid(e, SPATH_CHILD(path, "format"), format, bad_format);
    if (!json_path)
        required(e, SPATH_CHILD(path, "JSONPath"), "");
    else if (*json_path != '.')
        invalid(e, SPATH_CHILD(path, "JSONPath"), json_path,
                "must be a simple json path starting with .");
}

static void check_columns(struct field_errors *e, const json_t *columns, const struct spath *path) {
    const struct spath *at = SPATH_CHILD(path, "additionalPrinterColumns");
    for (size_t i = 0; i < json_array_size(columns); i++)
        check_column(e, json_array_get(columns, i), SPATH_AT(at, i));
}

#define MAX_SELECTABLE 8

/* Adds the path's name to `seen` unless it is there. */
static void check_selectable_field(struct field_errors *e, const json_t *field,
                                   const struct structural *s, const struct spath *path,
                                   json_t *seen) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *name = NULL;
    const char *text = kw_text(field, "jsonPath"), *type;
    if (!text) {
        required(e, path, "");
        return;
    }
    if (structural_find(s, text, false, &type, &name, &err)) {
        _cleanup_free_ char *why = xasprintf("is an invalid path: %s", err_msg(&err));
        invalid(e, path, text, why);
        return;
    }
    if (streq(name, "metadata") || str_starts(name, "metadata.") || str_starts(name, "metadata["))
        invalid(e, path, text, "must not point to fields in metadata");
    if (!streq(type, "string") && !streq(type, "boolean") && !streq(type, "integer"))
        invalid(e, path, text,
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed.");
    if (json_object_get(seen, name)) {
        _cleanup_json_ json_t *value = json_string_nocheck(text);
        spath_error(e, FIELD_DUPLICATE, path, value, "%s", "");
    } else {
        json_object_set_new_nocheck(seen, name, json_true());
    }
}

/* `schema` stands beside the fields, or is NULL. */
static void check_selectable(struct field_errors *e, const json_t *fields, const json_t *schema,
                             const char *no_schema, const struct spath *path) {
    const struct spath *at = SPATH_CHILD(path, "selectableFields");
    if (!json_array_size(fields))
        return;
    if (!schema) {
        invalid(e, at, "", no_schema);
        return;
    }
    struct structural *s = structural_build(schema, NULL);
    _cleanup_json_ json_t *seen = json_object();
    for (size_t i = 0; i < json_array_size(fields) && s; i++)
        check_selectable_field(e, json_array_get(fields, i), s,
                               SPATH_CHILD(SPATH_AT(at, i), "jsonPath"), seen);
    structural_free(s);
    _cleanup_json_ json_t *count = json_integer((json_int_t)json_object_size(seen));
    if (json_object_size(seen) > MAX_SELECTABLE)
        spath_error(e, FIELD_TOO_MANY, at, count, "must have at most %d items", MAX_SELECTABLE);
}

/* --- versions --- */

/* As Go's unicode.IsPrint(). */
static bool is_print(uint32_t c) {
    return c == ' ' || rune_in(c, 'L') || rune_in(c, 'M') || rune_in(c, 'N') || rune_in(c, 'P') ||
           rune_in(c, 'S');
}

static void check_deprecation(struct field_errors *e, const json_t *version,
                              const struct spath *path) {
    const char *words = json_str(version, "deprecationWarning");
    const struct spath *at = SPATH_CHILD(path, "deprecationWarning");
    if (!words)
        return;
    if (!kw_flag(version, "deprecated")) {
        invalid_pointer(e, at, words, "can only be set for deprecated versions");
        return;
    }
    if (strlen(words) > 256)
        invalid_pointer(e, at, words, "must be <= 256 characters long");
    if (!*words)
        invalid_pointer(e, at, words, "must not be an empty string");
    for (size_t i = 0, n; words[i]; i += n) {
        n = utf8_len(words + i, strlen(words + i));
        if (n && is_print(utf8_decode(words + i, n)))
            continue;
        _cleanup_free_ char *why = xasprintf("must only contain printable UTF-8 characters; "
                                             "non-printable character found at index %zu",
                                             i);
        invalid_pointer(e, at, words, why);
        break;
    }
}

static bool has_status(const json_t *subresources) {
    return kw_value(subresources, "status") != NULL;
}

/* Compiles the schema of a piece; the caller owns the result. */
static struct structural *check_schema(struct field_errors *e, const json_t *piece, bool status,
                                       bool stored, const struct spath *path) {
    const json_t *schema = crd_schema(piece);
    if (!schema)
        return NULL;
    _cleanup_str_ struct str where = STR_INIT;
    spath_print(&where, SPATH_CHILD(path, "openAPIV3Schema"));
    return stored ? structural_compile_stored(schema, str_get(&where), status, e)
                  : structural_compile(schema, str_get(&where), status, e);
}

static void check_version(struct field_errors *e, const struct crd_view *v, size_t i, bool stored,
                          struct structural **out) {
    const json_t *version = json_array_get(v->versions, i);
    const struct spath *path = SPATH_AT(SPATH_CHILD(SPEC, "versions"), i);
    const json_t *subresources = crd_of_version(v, i, PIECE_SUBRESOURCES);
    const json_t *schema = crd_of_version(v, i, PIECE_SCHEMA);
    check_text(e, SPATH_CHILD(path, "name"), strna(json_str(version, "name")), name_dns1035_label,
               "");
    check_deprecation(e, version, path);
    *out = check_schema(e, schema, has_status(crd_piece(v, i, PIECE_SUBRESOURCES)), stored,
                        SPATH_CHILD(path, "schema"));
    check_subresources(e, subresources, SPATH_CHILD(path, "subresources"));
    check_columns(e, crd_of_version(v, i, PIECE_COLUMNS), path);
    check_selectable(e, crd_of_version(v, i, PIECE_SELECTABLE), crd_schema(schema),
                     "may only be set when `version.schema.openAPIV3Schema` is not included", path);
}

static void check_versions_together(struct field_errors *e, const struct crd_view *v) {
    size_t n = json_array_size(v->versions), storage = 0;
    bool unique = true;
    for (size_t i = 0; i < n; i++) {
        const json_t *version = json_array_get(v->versions, i);
        storage += kw_flag(version, "storage");
        for (size_t k = 0; k < i && unique; k++)
            unique = !str_same(json_str(version, "name"),
                               json_str(json_array_get(v->versions, k), "name"));
    }
    _cleanup_str_ struct str shown = STR_INIT;
    if (!unique || storage != 1)
        crd_dump_versions(&shown, v);
    const struct spath *path = SPATH_CHILD(SPEC, "versions");
    if (!unique)
        spath_error_shown(e, FIELD_INVALID, path, str_get(&shown),
                          "must contain unique version names");
    if (storage != 1)
        spath_error_shown(e, FIELD_INVALID, path, str_get(&shown),
                          "must have exactly one version marked as storage version");
    if (n && !str_empty(json_str(json_array_get(v->versions, 0), "name")))
        check_text(e, SPATH_CHILD(SPEC, "version"),
                   json_str(json_array_get(v->versions, 0), "name"), name_dns1035_label, "");
}

/* --- the rest of the spec --- */

static void check_group(struct field_errors *e, const json_t *spec) {
    const char *group = kw_text(spec, "group");
    const struct spath *path = SPATH_CHILD(SPEC, "group");
    if (!group)
        required(e, path, "");
    else if (!name_ok(name_dns1123_subdomain, group))
        check_text(e, path, group, name_dns1123_subdomain, "");
    else if (!strchr(group, '.'))
        invalid(e, path, group, "should be a domain with at least one dot");
}

static void check_one_of_texts(struct field_errors *e, const struct spath *path, const char *text,
                               const char *a, const char *b) {
    if (str_empty(text)) {
        required(e, path, "");
    } else if (!streq(text, a) && !streq(text, b)) {
        _cleanup_json_ json_t *value = json_string_nocheck(text);
        spath_error(e, FIELD_NOT_SUPPORTED, path, value, "supported values: \"%s\", \"%s\"", a, b);
    }
}

static void check_conversion(struct field_errors *e, const json_t *spec) {
    const json_t *conversion = kw_value(spec, "conversion");
    const json_t *webhook = kw_value(conversion, "webhook");
    const char *strategy = json_str(conversion, "strategy");
    const struct spath *path = SPATH_CHILD(SPEC, "conversion");
    if (!conversion)
        return;
    check_one_of_texts(e, SPATH_CHILD(path, "strategy"), strategy, "None", "Webhook");
    if (strategy && streq(strategy, "Webhook")) {
        invalid(e, SPATH_CHILD(path, "strategy"), strategy,
                "this simulated server calls no webhooks: use None, with which versions differ by "
                "apiVersion alone");
        return;
    }
    static const char why[] = "should not be set when strategy is not set to Webhook";
    if (kw_value(webhook, "clientConfig"))
        spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(path, "webhookClientConfig"), NULL, "%s", why);
    if (kw_list(webhook, "conversionReviewVersions"))
        spath_error(e, FIELD_FORBIDDEN, SPATH_CHILD(path, "conversionReviewVersions"), NULL, "%s",
                    why);
}

static bool has_defaults(const json_t *schema) {
    if (!json_is_object(schema) && !json_is_array(schema))
        return false;
    const char *key;
    json_t *v;
    bool any = json_is_object(schema) && kw_value(schema, "default");
    for (size_t i = 0; i < json_array_size(schema) && !any; i++)
        any = has_defaults(json_array_get(schema, i));
    json_object_foreach((json_t *)schema, key, v) {
        if (any)
            break;
        /* A keyword's value, or a map of schemas. */
        if (!streq(key, "default") && !streq(key, "enum") && !streq(key, "example"))
            any = has_defaults(v);
    }
    return any;
}

static void check_schemas_there(struct field_errors *e, const struct crd_view *v) {
    const struct spath *versions = SPATH_CHILD(SPEC, "versions");
    bool defaults = false;
    for (size_t i = 0; i < json_array_size(v->versions); i++) {
        const json_t *schema = crd_schema(crd_piece(v, i, PIECE_SCHEMA));
        defaults |= has_defaults(schema);
        if (!schema)
            required(e,
                     SPATH_CHILD(SPATH_CHILD(SPATH_AT(versions, i), "schema"), "openAPIV3Schema"),
                     "");
    }
    const json_t *preserve = kw_value(v->spec, "preserveUnknownFields");
    if (defaults && json_is_true(preserve))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(SPEC, "preserveUnknownFields"), preserve,
                    "must be false in order to use defaults in the schema");
}

static void check_spec(struct field_errors *e, const struct crd_view *v, bool stored,
                       struct structural **out) {
    check_group(e, v->spec);
    check_one_of_texts(e, SPATH_CHILD(SPEC, "scope"), json_str(v->spec, "scope"), "Cluster",
                       "Namespaced");
    check_schemas_there(e, v);
    bool any_status = false;
    for (size_t i = 0; i < json_array_size(v->versions); i++) {
        any_status |= has_status(crd_piece(v, i, PIECE_SUBRESOURCES));
        check_version(e, v, i, stored, &out[i]);
    }
    check_versions_together(e, v);
    check_names_there(e, v->names);
    check_names(e, SPATH_CHILD(SPEC, "names"), v->names);

    /* What all versions share: one schema, compiled once for each. */
    const json_t *schema = crd_shared(v, PIECE_SCHEMA);
    if (crd_schema(schema)) {
        const struct spath *path = SPATH_CHILD(SPEC, "validation");
        struct field_errors again = {0};
        for (size_t i = 0; i < json_array_size(v->versions); i++)
            out[i] = check_schema(i ? &again : e, schema, any_status, stored, path);
        field_errors_done(&again);
    }
    check_subresources(e, crd_shared(v, PIECE_SUBRESOURCES), SPATH_CHILD(SPEC, "subresources"));
    check_columns(e, crd_shared(v, PIECE_COLUMNS), SPEC);
    check_selectable(e, crd_shared(v, PIECE_SELECTABLE), crd_schema(schema),
                     "may only be set when validations.schema is included", SPEC);
    check_conversion(e, v->spec);
}

/* --- the whole --- */

static void check_stored_versions(struct field_errors *e, const json_t *crd,
                                  const struct crd_view *v) {
    const json_t *stored = json_object_get(json_object_get(crd, "status"), "storedVersions");
    const struct spath *path = SPATH_CHILD(SPATH_CHILD(NULL, "status"), "storedVersions");
    if (!json_array_size(stored)) {
        _cleanup_json_ json_t *null = json_null();
        spath_error(e, FIELD_INVALID, path, null, "must have at least one stored version");
        return;
    }
    for (size_t k = 0; k < json_array_size(v->versions); k++) {
        const json_t *version = json_array_get(v->versions, k);
        const char *name = strna(json_str(version, "name"));
        bool found = false;
        for (size_t i = 0; i < json_array_size(stored); i++)
            found |= str_same(json_string_value(json_array_get(stored, i)), name);
        if (kw_flag(version, "storage") && !found)
            spath_error(e, FIELD_INVALID, path, stored, "must have the storage version %s", name);
    }
    for (size_t i = 0; i < json_array_size(stored); i++) {
        const char *name = strna(json_string_value(json_array_get(stored, i)));
        bool found = false;
        for (size_t k = 0; k < json_array_size(v->versions); k++)
            found |= str_same(json_str(json_array_get(v->versions, k), "name"), name);
        if (!found)
            spath_error(e, FIELD_INVALID, SPATH_AT(path, i), json_array_get(stored, i),
                        "missing from spec.versions; %s was previously a storage version, and must "
                        "remain in spec.versions until a storage migration ensures no data remains "
                        "persisted in %s and removes %s from status.storedVersions",
                        name, name, name);
    }
}

static void check_approval(struct field_errors *e, const json_t *crd, const json_t *old) {
    _cleanup_str_ struct str reason = STR_INIT, unused = STR_INIT;
    enum crd_approval now = crd_approval(crd, &reason);
    const struct spath *path =
        SPATH_KEYED(SPATH_CHILD(SPATH_CHILD(NULL, "metadata"), "annotations"), CRD_APPROVED);
    if (old && crd_approval(old, &unused) == now)
        return;
    if (now == APPROVAL_INVALID)
        invalid(e, path, meta_annotation(crd, CRD_APPROVED), str_get(&reason));
    else if (now == APPROVAL_MISSING)
        required(e, path, str_get(&reason));
}

static void check_own_name(struct field_errors *e, const json_t *crd, const struct crd_view *v) {
    const char *name = strna(json_str(json_object_get(crd, "metadata"), "name"));
    _cleanup_free_ char *wanted =
        xasprintf("%s.%s", strna(json_str(v->names, "plural")), strna(json_str(v->spec, "group")));
    if (*name && !streq(name, wanted))
        invalid(e, SPATH_CHILD(SPATH_CHILD(NULL, "metadata"), "name"), name,
                "must be spec.names.plural+\".\"+spec.group");
}

static void check_same(struct field_errors *e, const json_t *now, const json_t *before,
                       const char *key, const struct spath *path) {
    if (!str_same(json_str(now, key), json_str(before, key)))
        invalid(e, SPATH_CHILD(path, key), json_str(now, key), "field is immutable");
}

/* Scope and kind are where objects are stored; before there are any they can change. */
static void check_unchanged(struct field_errors *e, const json_t *crd, const json_t *old) {
    const json_t *spec = json_object_get(crd, "spec"), *names = json_object_get(spec, "names");
    const json_t *old_spec = json_object_get(old, "spec");
    const json_t *old_names = json_object_get(old_spec, "names");
    if (crd_condition(old, "Established")) {
        check_same(e, spec, old_spec, "scope", SPEC);
        check_same(e, names, old_names, "kind", SPATH_CHILD(SPEC, "names"));
    }
    check_same(e, spec, old_spec, "group", SPEC);
    check_same(e, names, old_names, "plural", SPATH_CHILD(SPEC, "names"));
}

static void check_status(struct field_errors *e, const json_t *crd) {
    check_names(e, SPATH_CHILD(SPATH_CHILD(NULL, "status"), "acceptedNames"),
                json_object_get(json_object_get(crd, "status"), "acceptedNames"));
}

static void check_meta_of(struct field_errors *e, const json_t *crd, const json_t *old) {
    struct at root = at_root(crd), meta = at_child(&root, "metadata");
    if (old)
        check_meta_update_generic(e, &meta, json_object_get(old, "metadata"));
    else
        check_meta_generic(e, &meta, false, name_dns1123_subdomain, NULL);
}

void crd_check(const json_t *crd, const json_t *old, bool stored, struct structural **out,
               struct field_errors *e) {
    struct crd_view v = crd_view(crd);
    if (!old)
        check_own_name(e, crd, &v);
    check_meta_of(e, crd, old);
    check_spec(e, &v, stored, out);
    if (old)
        check_unchanged(e, crd, old);
    check_status(e, crd);
    check_stored_versions(e, crd, &v);
    check_approval(e, crd, old);
    const json_t *preserve = kw_value(v.spec, "preserveUnknownFields");
    if (json_is_true(preserve))
        spath_error(e, FIELD_INVALID, SPATH_CHILD(SPEC, "preserveUnknownFields"), preserve,
                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                    "spec.versions[*].schema instead");
}

static void check_alone(const json_t *crd, const json_t *old, struct field_errors *e) {
    size_t n = json_array_size(json_object_get(json_object_get(crd, "spec"), "versions"));
    struct structural **schemas = xcalloc(n + 1, sizeof *schemas);
    crd_check(crd, old, false, schemas, e);
    for (size_t i = 0; i < n; i++)
        structural_free(schemas[i]);
    free(schemas);
}

void crd_validate_create(const json_t *crd, struct field_errors *e) {
    check_alone(crd, NULL, e);
}

void crd_validate_update(const json_t *crd, const json_t *old, struct field_errors *e) {
    check_alone(crd, old, e);
}

void crd_validate_status(const json_t *crd, const json_t *old, struct field_errors *e) {
    check_meta_of(e, crd, old);
    check_status(e, crd);
}
