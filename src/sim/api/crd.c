/* CustomResourceDefinitions: defaults, what is the server's to write, and the compiled form. */
#include "sim/api/crd.h"

#include <ctype.h>
#include <errno.h>

#include "sim/api/crd_internal.h"
#include "sim/api/strategy_walk.h"
#include "sim/schema/goquote.h"

/* --- as the server sees it --- */

static const char *const piece_keys[N_PIECES] = {
    [PIECE_SCHEMA] = "schema",
    [PIECE_SUBRESOURCES] = "subresources",
    [PIECE_COLUMNS] = "additionalPrinterColumns",
    [PIECE_SELECTABLE] = "selectableFields",
};

static bool same(const json_t *a, const json_t *b) {
    return a == b || (a && b && json_equal(a, b));
}

struct crd_view crd_view(const json_t *crd) {
    const json_t *spec = json_object_get(crd, "spec");
    struct crd_view v = {
        spec, json_object_get(spec, "names"), json_object_get(spec, "versions"), {0}};
    for (enum crd_piece p = 0; p < N_PIECES && json_array_size(v.versions); p++) {
        const json_t *first = kw_value(json_array_get(v.versions, 0), piece_keys[p]);
        v.shared[p] = true;
        for (size_t i = 1; i < json_array_size(v.versions); i++)
            v.shared[p] &= same(first, kw_value(json_array_get(v.versions, i), piece_keys[p]));
    }
    return v;
}

const json_t *crd_piece(const struct crd_view *v, size_t i, enum crd_piece piece) {
    return kw_value(json_array_get(v->versions, i), piece_keys[piece]);
}

const json_t *crd_shared(const struct crd_view *v, enum crd_piece piece) {
    return v->shared[piece] ? crd_piece(v, 0, piece) : NULL;
}

const json_t *crd_of_version(const struct crd_view *v, size_t i, enum crd_piece piece) {
    return v->shared[piece] ? NULL : crd_piece(v, i, piece);
}

const json_t *crd_schema(const json_t *piece) {
    const json_t *schema = kw_value(piece, "openAPIV3Schema");
    return json_is_object(schema) ? schema : NULL;
}

/* --- writing --- */

static char *lower(const char *text) {
    char *out = xstrdup(text);
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return out;
}

/* Not stored yet: the version that new objects are stored in. */
static void add_stored_version(json_t *crd) {
    const json_t *versions = json_object_get(json_object_get(crd, "spec"), "versions");
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const json_t *version = json_array_get(versions, i);
        if (!kw_flag(version, "storage"))
            continue;
        json_t *stored = array_at(object_at(crd, "status"), "storedVersions");
        const json_t *name = json_object_get(version, "name");
        for (size_t k = 0; k < json_array_size(stored); k++)
            if (json_equal(json_array_get(stored, k), name))
                return;
        json_array_append_new(stored, json_deep_copy(name));
        return;
    }
}

void crd_default(json_t *crd) {
    json_t *spec = json_object_get(crd, "spec"), *names = json_object_get(spec, "names");
    const char *kind = strna(json_str(names, "kind"));
    if (json_is_object(names)) {
        _cleanup_free_ char *singular = lower(kind), *list = xasprintf("%sList", kind);
        if (!kw_text(names, "singular") && *kind)
            json_object_set_new(names, "singular", json_string_nocheck(singular));
        if (!kw_text(names, "listKind") && *kind)
            json_object_set_new(names, "listKind", json_string_nocheck(list));
    }
    if (json_is_object(spec) && !kw_value(spec, "conversion"))
        json_object_set_new(spec, "conversion", json_pack("{s:s}", "strategy", "None"));
    if (!kw_list(json_object_get(crd, "status"), "storedVersions"))
        add_stored_version(crd);
}

/* A status that nobody has looked at; the names are there, empty. */
static json_t *empty_status(void) {
    return json_pack("{s:n, s:{s:s, s:s}, s:[]}", "conditions", "acceptedNames", "plural", "",
                     "kind", "", "storedVersions");
}

void crd_prepare_create(json_t *crd) {
    json_object_set_new(crd, "status", empty_status());
    set_int(object_at(crd, "metadata"), "generation", 1);
    add_stored_version(crd);
}

static int64_t generation_of(const json_t *crd) {
    return json_integer_value(json_object_get(json_object_get(crd, "metadata"), "generation"));
}

void crd_prepare_update(json_t *crd, const json_t *old) {
    json_t *status = json_deep_copy(json_object_get(old, "status"));
    json_object_set_new(crd, "status", status ? status : empty_status());
    bool changed = !same(json_object_get(crd, "spec"), json_object_get(old, "spec"));
    set_int(object_at(crd, "metadata"), "generation", generation_of(old) + changed);
    add_stored_version(crd);
}

void crd_prepare_status(json_t *crd, const json_t *old) {
    json_object_set_new(crd, "spec", json_deep_copy(json_object_get(old, "spec")));
}

/* --- warnings --- */

static void unknown_formats(const json_t *crd, struct structural_formats *out) {
    struct crd_view v = crd_view(crd);
    const json_t *shared = crd_schema(crd_shared(&v, PIECE_SCHEMA));
    if (shared)
        structural_unknown_formats(shared, out);
    for (size_t i = 0; i < json_array_size(v.versions); i++) {
        const json_t *schema = crd_schema(crd_of_version(&v, i, PIECE_SCHEMA));
        if (schema)
            structural_unknown_formats(schema, out);
    }
}

void crd_warnings(const json_t *crd, const json_t *old, struct schema_notes *out) {
    struct structural_formats now = {0}, before = {0};
    unknown_formats(crd, &now);
    if (old)
        unknown_formats(old, &before);
    for (size_t i = 0; i < now.v.len && i < STRUCTURAL_MAX_ERRORS; i++) {
        bool known = false;
        for (size_t k = 0; k < before.v.len && !known; k++)
            known = streq(before.v.p[k], now.v.p[i]);
        if (known)
            continue;
        struct str text = STR_INIT;
        str_add(&text, "unrecognized format ");
        goquote(&text, now.v.p[i], strlen(now.v.p[i]));
        *vec_push(&out->texts) = str_take(&text);
    }
    vec_done(&now.v);
    vec_done(&before.v);
}

/* --- versions by age --- */

/* "v2beta3" -> 2, 1, 3; false for other forms. */
static bool parse_version(const char *s, long *major, int *stage, long *minor) {
    char *end;
    if (*s++ != 'v' || !isdigit((unsigned char)*s))
        return false;
    *major = strtol(s, &end, 10);
    *minor = 0;
    *stage = 2;
    if (!*end)
        return true;
    *stage = str_starts(end, "beta");
    if (!*stage && !str_starts(end, "alpha"))
        return false;
    end += *stage ? 4 : 5;
    if (!isdigit((unsigned char)*end))
        return false;
    *minor = strtol(end, &end, 10);
    return !*end;
}

int crd_compare_versions(const char *a, const char *b) {
    long a_major, b_major, a_minor, b_minor;
    int a_stage, b_stage;
    bool a_good = parse_version(a, &a_major, &a_stage, &a_minor);
    bool b_good = parse_version(b, &b_major, &b_stage, &b_minor);
    if (!a_good || !b_good)
        return a_good ? 1 : b_good ? -1 : strcmp(b, a);
    if (a_stage != b_stage)
        return a_stage - b_stage;
    if (a_major != b_major)
        return a_major < b_major ? -1 : 1;
    return a_minor < b_minor ? -1 : a_minor > b_minor;
}

/* What users of a deprecated version are told: the definition's words, or where to go. */
static char *deprecation_of(const struct crd *crd, const json_t *versions, const json_t *version) {
    const char *words = json_str(version, "deprecationWarning");
    const char *name = strna(json_str(version, "name")), *best = NULL;
    if (!kw_flag(version, "deprecated"))
        return NULL;
    if (words)
        return xstrdup(words);
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const json_t *other = json_array_get(versions, i);
        const char *other_name = strna(json_str(other, "name"));
        if (kw_flag(other, "served") && !kw_flag(other, "deprecated") &&
            crd_compare_versions(name, other_name) < 0 &&
            (!best || crd_compare_versions(other_name, best) > 0))
            best = other_name;
    }
    struct str text = STR_INIT;
    str_addf(&text, "%s/%s %s is deprecated", crd->group, name, crd->kind);
    if (best)
        str_addf(&text, "; use %s/%s %s", crd->group, best, crd->kind);
    return str_take(&text);
}

/* --- the compiled form --- */

/* The strings of a list, or those of its members under a key; NULL-terminated, NULL for none. */
static const char *const *strings(const json_t *list, const char *key) {
    size_t n = json_array_size(list);
    if (!n)
        return NULL;
    const char **out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        out[i] = strna(key ? json_str(v, key) : json_string_value(v));
    }
    return out;
}

static void fill_version(struct crd *crd, const struct crd_view *v, size_t i,
                         struct structural *schema) {
    const json_t *version = json_array_get(v->versions, i);
    const json_t *parts = crd_piece(v, i, PIECE_SUBRESOURCES), *scale = kw_value(parts, "scale");
    crd->versions[i] = (struct crd_version){
        .crd = crd,
        .name = strna(json_str(version, "name")),
        .served = kw_flag(version, "served"),
        .storage = kw_flag(version, "storage"),
        .deprecation = deprecation_of(crd, v->versions, version),
        .schema = schema,
        .has_status = kw_value(parts, "status") != NULL,
        .has_scale = scale != NULL,
        .spec_replicas = json_str(scale, "specReplicasPath"),
        .status_replicas = json_str(scale, "statusReplicasPath"),
        .label_selector = kw_text(scale, "labelSelectorPath"),
        .columns = kw_list(version, "additionalPrinterColumns"),
        .selectable = strings(crd_piece(v, i, PIECE_SELECTABLE), "jsonPath"),
    };
}

int crd_accept(const json_t *definition, struct crd **out, struct field_errors *e) {
    size_t n = json_array_size(json_object_get(json_object_get(definition, "spec"), "versions"));
    size_t before = e->v.len;
    struct structural **schemas = xcalloc(n + 1, sizeof *schemas);
    crd_check(definition, NULL, true, schemas, e);
    if (e->v.len > before) {
        for (size_t i = 0; i < n; i++)
            structural_free(schemas[i]);
        free(schemas);
        return -EINVAL;
    }
    struct crd *crd = xnew(struct crd);
    crd->json = json_deep_copy(definition);
    struct crd_view v = crd_view(crd->json);
    const json_t *accepted = json_object_get(json_object_get(crd->json, "status"), "acceptedNames");
    const json_t *names =
        kw_text(accepted, "plural") && kw_text(accepted, "kind") ? accepted : v.names;
    crd->name = strna(json_str(json_object_get(crd->json, "metadata"), "name"));
    crd->group = strna(json_str(v.spec, "group"));
    crd->plural = strna(json_str(names, "plural"));
    crd->singular = strna(json_str(names, "singular"));
    crd->kind = strna(json_str(names, "kind"));
    crd->list_kind = strna(json_str(names, "listKind"));
    crd->short_names = strings(kw_list(names, "shortNames"), NULL);
    crd->categories = strings(kw_list(names, "categories"), NULL);
    crd->namespaced = streq(strna(json_str(v.spec, "scope")), "Namespaced");
    crd->n_versions = n;
    crd->versions = xcalloc(n + 1, sizeof *crd->versions);
    for (size_t i = 0; i < n; i++)
        fill_version(crd, &v, i, schemas[i]);
    free(schemas);
    *out = crd;
    return 0;
}

void crd_free(struct crd *crd) {
    if (!crd)
        return;
    for (size_t i = 0; i < crd->n_versions; i++) {
        structural_free(crd->versions[i].schema);
        free((void *)crd->versions[i].deprecation);
        free((void *)crd->versions[i].selectable);
    }
    free(crd->versions);
    free((void *)crd->short_names);
    free((void *)crd->categories);
    json_decref(crd->json);
    free(crd);
}

const struct crd_version *crd_version(const struct crd *crd, const char *name) {
    for (size_t i = 0; i < crd->n_versions; i++)
        if (streq(crd->versions[i].name, name))
            return &crd->versions[i];
    return NULL;
}
