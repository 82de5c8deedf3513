/* Objects of custom kinds on their way through the server (apiextensions-apiserver
 * pkg/registry/customresource; the decoder is in pkg/apiserver/customresource_handler.go). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "sim/api/crd_internal.h"
#include "sim/api/simple_path.h"
#include "sim/api/strategy_kinds.h"
#include "sim/schema/goquote.h"

/* --- decoding --- */

int crd_decode(const struct crd_version *v, const json_t *raw, json_t **out,
               struct schema_notes *notes, struct err *err) {
    static const char *const texts[] = {"kind", "apiVersion"};
    _cleanup_json_ json_t *obj = json_deep_copy(raw), *meta = NULL;
    if (!json_is_object(obj))
        return err_set(err, EINVAL, "an object is expected, not %s", json_type_words(raw));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const json_t *text = json_object_get(obj, texts[i]);
        if (text && !json_is_string(text))
            return err_set(err, EINVAL, ".%s accessor error: it must be a string", texts[i]);
    }
    const json_t *metadata = json_object_get(obj, "metadata");
    if (metadata) {
        int rc = structural_meta(metadata, SPATH_CHILD(NULL, "metadata"), &meta, notes, err);
        if (rc)
            return rc;
    }
    structural_prune(v->schema, obj, notes);
    int rc = structural_coerce(v->schema, obj, notes, err);
    if (rc)
        return rc;
    if (meta)
        json_object_set_new(obj, "metadata", TAKE_PTR(meta));
    structural_default(v->schema, obj);
    /* What is read back from storage goes the same way: nulls that a default brought in end there.
     */
    structural_prune(v->schema, obj, NULL);
    structural_default(v->schema, obj);
    *out = TAKE_PTR(obj);
    return 0;
}

/* --- preparing --- */

void crd_object_prepare_create(const struct crd_version *v, json_t *obj) {
    if (v->has_status)
        json_object_del(obj, "status");
    set_int(object_at(obj, "metadata"), "generation", 1);
}

/* But for metadata. Another apiVersion is another view of the same. */
static bool changed(const json_t *obj, const json_t *old) {
    static const char *const ignored[] = {"metadata", "apiVersion", "kind"};
    _cleanup_json_ json_t *a = json_copy((json_t *)obj), *b = json_copy((json_t *)old);
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
        json_object_del(a, ignored[i]);
        json_object_del(b, ignored[i]);
    }
    return !json_equal(a, b);
}

static void prepare_main(const struct crd_version *v, json_t *obj, const json_t *old) {
    if (v->has_status)
        copy_member(obj, old, "status");
    const json_t *old_meta = json_object_get(old, "metadata");
    int64_t generation = json_integer_value(json_object_get(old_meta, "generation"));
    set_int(object_at(obj, "metadata"), "generation", generation + changed(obj, old));
}

static void prepare_status(json_t *obj, const json_t *old) {
    _cleanup_json_ json_t *next = json_deep_copy(old);
    copy_member(next, obj, "status");
    copy_member(object_at(next, "metadata"), json_object_get(obj, "metadata"), "managedFields");
    copy_member(next, obj, "apiVersion");
    json_object_clear(obj);
    json_object_update(obj, next);
}

void crd_object_prepare_update(const struct crd_version *v, enum crd_part part, json_t *obj,
                               const json_t *old) {
    if (part == CRD_STATUS)
        prepare_status(obj, old);
    else
        prepare_main(v, obj, old);
}

/* --- values by path, as unstructured.Nested...() finds them --- */

/* %v of a value. */
static void print_value(struct str *out, const json_t *v) {
    const char *comma = "";
    if (json_is_string(v)) {
        str_add(out, json_string_value(v));
    } else if (json_is_real(v)) {
        structural_float(out, json_real_value(v));
    } else if (json_is_integer(v)) {
        str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    } else if (json_is_boolean(v)) {
        str_add(out, json_is_true(v) ? "true" : "false");
    } else if (json_is_array(v)) {
        str_addc(out, '[');
        for (size_t i = 0; i < json_array_size(v); i++, comma = " ") {
            str_add(out, comma);
            print_value(out, json_array_get(v, i));
        }
        str_addc(out, ']');
    } else if (json_is_object(v)) {
        _cleanup_json_ json_t *ordered = structural_sorted(v);
        const char *key;
        json_t *member;
        str_add(out, "map[");
        json_object_foreach(ordered, key, member) {
            str_addf(out, "%s%s:", comma, key);
            print_value(out, member);
            comma = " ";
        }
        str_addc(out, ']');
    } else {
        str_add(out, "<nil>");
    }
}

static const char *type_name(const json_t *v) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "map[string]interface {}";
    case JSON_ARRAY:
        return "[]interface {}";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "int64";
    case JSON_REAL:
        return "float64";
    case JSON_NULL:
        return "<nil>";
    default:
        return "bool";
    }
}

static int wrong_type(struct err *err, const char *path, size_t len, const json_t *v,
                      const char *wanted) {
    _cleanup_str_ struct str shown = STR_INIT;
    print_value(&shown, v);
    return err_set(err, EINVAL, ".%.*s accessor error: %s is of the type %s, expected %s", (int)len,
                   path, str_get(&shown), type_name(v), wanted);
}

/* The value at ".a.b", *out NULL when there is none. */
static int nested(const json_t *obj, const char *path, const json_t **out, struct err *err) {
    path += *path == '.';
    const json_t *v = obj;
    for (const char *at = path; at;) {
        const char *dot = strchrnul(at, '.');
        _cleanup_free_ char *name = xstrndup(at, (size_t)(dot - at));
        if (!v || json_is_null(v)) {
            v = NULL;
            break;
        }
        if (!json_is_object(v))
            return wrong_type(err, path, (size_t)(dot - path), v, "map[string]interface{}");
        v = json_object_get(v, name);
        at = *dot ? dot + 1 : NULL;
    }
    *out = v;
    return 0;
}

static int nested_int(const json_t *obj, const char *path, int64_t *out, bool *found,
                      struct err *err) {
    const json_t *v = NULL;
    int rc = nested(obj, path, &v, err);
    *out = 0;
    *found = !rc && v;
    if (rc || !v)
        return rc;
    path += *path == '.';
    if (!json_is_integer(v))
        return wrong_type(err, path, strlen(path), v, "int64");
    *out = json_integer_value(v);
    return 0;
}

static int nested_text(const json_t *obj, const char *path, const char **out, struct err *err) {
    const json_t *v = NULL;
    int rc = nested(obj, path, &v, err);
    *out = "";
    if (rc || !v)
        return rc;
    path += *path == '.';
    if (!json_is_string(v))
        return wrong_type(err, path, strlen(path), v, "string");
    *out = json_string_value(v);
    return 0;
}

/* --- scale --- */

int crd_object_scale(const struct crd_version *v, const json_t *obj, struct crd_scale *out,
                     struct err *err) {
    struct crd_scale s = {.selector = ""};
    bool found;
    int rc = nested_int(obj, v->spec_replicas, &s.replicas, &s.has_replicas, err);
    if (!rc)
        rc = nested_int(obj, v->status_replicas, &s.status_replicas, &found, err);
    if (!rc && v->label_selector)
        rc = nested_text(obj, v->label_selector, &s.selector, err);
    if (!rc)
        *out = s;
    return rc;
}

int crd_object_set_replicas(const struct crd_version *v, json_t *obj, int64_t replicas,
                            struct err *err) {
    const char *path = v->spec_replicas + (*v->spec_replicas == '.');
    for (const char *at = path;;) {
        const char *dot = strchrnul(at, '.');
        _cleanup_free_ char *name = xstrndup(at, (size_t)(dot - at));
        if (!*dot) {
            json_object_set_new_nocheck(obj, name, json_integer(replicas));
            return 0;
        }
        json_t *next = json_object_get(obj, name);
        if (!next) {
            next = json_object();
            json_object_set_new_nocheck(obj, name, next);
        }
        if (!json_is_object(next))
            return err_set(err, EINVAL,
                           "value cannot be set because .%.*s is not a map[string]interface{}",
                           (int)(dot - path), path);
        obj = next;
        at = dot + 1;
    }
}

static void check_replicas(const json_t *obj, const char *path, struct field_errors *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    int64_t n;
    bool found;
    int rc = nested_int(obj, path, &n, &found, &err);
    _cleanup_json_ json_t *value = json_integer(n);
    if (rc)
        field_error(e, FIELD_INVALID, path, value, "%s", err_msg(&err));
    else if (n < 0)
        field_error(e, FIELD_INVALID, path, value, "should be a non-negative integer");
    else if (n > INT32_MAX)
        field_error(e, FIELD_INVALID, path, value, "should be less than or equal to %" PRId32,
                    INT32_MAX);
}

static void check_scale_status(const struct crd_version *v, const json_t *obj,
                               struct field_errors *e) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *selector;
    if (!v->has_scale)
        return;
    check_replicas(obj, v->status_replicas, e);
    if (v->label_selector && nested_text(obj, v->label_selector, &selector, &err)) {
        _cleanup_json_ json_t *value = json_string("");
        field_error(e, FIELD_INVALID, v->label_selector, value, "%s", err_msg(&err));
    }
}

/* --- validating --- */

static bool check_type(const struct crd_version *v, const json_t *obj, struct field_errors *e) {
    _cleanup_free_ char *version = xasprintf("%s/%s", v->crd->group, v->name);
    const struct {
        const char *key, *wanted;
    } texts[] = {{"kind", v->crd->kind}, {"apiVersion", version}};
    bool good = true;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = strna(json_str(obj, texts[i].key));
        _cleanup_json_ json_t *value = json_string_nocheck(text);
        if (streq(text, texts[i].wanted))
            continue;
        field_error(e, FIELD_INVALID, texts[i].key, value, "must be %s", texts[i].wanted);
        good = false;
    }
    return good;
}

void crd_object_validate_create(const struct crd_version *v, const json_t *obj,
                                struct field_errors *e) {
    size_t before = e->v.len;
    if (check_type(v, obj, e)) {
        struct at root = at_root(obj), meta = at_child(&root, "metadata");
        check_meta_generic(e, &meta, v->crd->namespaced, name_dns1123_subdomain, NULL);
        structural_validate(v->schema, obj, NULL, e);
        if (v->has_scale)
            check_replicas(obj, v->spec_replicas, e);
        check_scale_status(v, obj, e);
    }
    structural_validate_embedded(v->schema, obj, e);
    structural_validate_lists(v->schema, obj, NULL, e);
    structural_note_rules(v->schema, before, e);
}

void crd_object_validate_update(const struct crd_version *v, enum crd_part part, const json_t *obj,
                                const json_t *old, struct field_errors *e) {
    size_t before = e->v.len;
    if (check_type(v, obj, e)) {
        struct at root = at_root(obj), meta = at_child(&root, "metadata");
        check_meta_update_generic(e, &meta, json_object_get(old, "metadata"));
        if (part == CRD_STATUS)
            structural_validate_status(v->schema, obj, old, e);
        else
            structural_validate(v->schema, obj, old, e);
        if (v->has_scale && part == CRD_MAIN)
            check_replicas(obj, v->spec_replicas, e);
        check_scale_status(v, obj, e);
    }
    if (part == CRD_MAIN)
        structural_validate_embedded(v->schema, obj, e);
    structural_validate_lists(v->schema, obj, old, e);
    structural_note_rules(v->schema, before, e);
}

/* --- warnings --- */

static void warn(struct schema_notes *out, const char *finalizer, const char *why) {
    struct str text = STR_INIT;
    str_add(&text, "metadata.finalizers: ");
    goquote(&text, finalizer, strlen(finalizer));
    str_addf(&text, ": %s", why);
    *vec_push(&out->texts) = str_take(&text);
}

static void warn_about(struct schema_notes *out, const char *finalizer) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_label_key(finalizer, &p);
    for (size_t i = 0; i < p.v.len; i++)
        warn(out, finalizer, p.v.p[i]);
    if (strchr(finalizer, '/') || streq(finalizer, "orphan") ||
        streq(finalizer, "foregroundDeletion") || streq(finalizer, "kubernetes"))
        return;
    warn(out, finalizer,
         strchr(finalizer, '.')
             ? "prefer a domain-qualified finalizer name including a path (/) to avoid accidental "
               "conflicts with other finalizer writers"
             : "prefer a domain-qualified finalizer name to avoid accidental conflicts with other "
               "finalizer writers");
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void crd_object_warnings(const json_t *obj, const json_t *old, struct schema_notes *out) {
    const json_t *now = json_object_get(json_object_get(obj, "metadata"), "finalizers");
    const json_t *before = json_object_get(json_object_get(old, "metadata"), "finalizers");
    VEC(const char *) added = VEC_INIT;
    for (size_t i = 0; i < json_array_size(now); i++) {
        const char *text = strna(json_string_value(json_array_get(now, i)));
        bool known = false;
        for (size_t k = 0; k < json_array_size(before); k++)
            known |= str_same(json_string_value(json_array_get(before, k)), text);
        for (size_t k = 0; k < added.len; k++)
            known |= streq(added.p[k], text);
        if (!known)
            *vec_push(&added) = text;
    }
    if (added.len)
        qsort(added.p, added.len, sizeof *added.p, compare_texts);
    for (size_t i = 0; i < added.len; i++)
        warn_about(out, added.p[i]);
    vec_done(&added);
}

/* --- storing, selecting --- */

static json_t *whole(const json_t *v) {
    double f = json_real_value(v);
    return json_is_real(v) && f == floor(f) && f >= -0x1p63 && f < 0x1p63
               ? json_integer((json_int_t)f)
               : NULL;
}

static void make_whole(json_t *v) {
    const char *key;
    json_t *member;
    for (size_t i = 0; i < json_array_size(v); i++) {
        json_t *n = whole(json_array_get(v, i));
        if (n)
            json_array_set_new(v, i, n);
        make_whole(json_array_get(v, i));
    }
    json_object_foreach(v, key, member) {
        json_t *n = whole(member);
        if (n)
            json_object_set_new_nocheck(v, key, n);
        else
            make_whole(member);
    }
}

void crd_store(json_t *crd) {
    make_whole(json_object_get(crd, "spec"));
}

void crd_object_settle(json_t *obj) {
    const char *key;
    json_t *member;
    make_whole(obj);
    json_object_foreach(obj, key, member) if (!streq(key, "metadata"))
        json_object_set_new_nocheck(obj, key, structural_sorted(member));
}

void crd_object_field(const json_t *obj, const char *path, struct str *out) {
    struct simple_path *p;
    if (simple_path_compile(path, &p, NULL))
        return;
    const json_t *v = simple_path_find(p, obj);
    if (v && !json_is_null(v))
        print_value(out, v);
    simple_path_free(p);
}
