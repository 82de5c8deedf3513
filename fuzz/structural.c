/* Custom resources: schemas, definitions, objects, and the small languages in them.
 *
 * The first line of an input says what the rest is:
 *
 *     schema    two lines of JSON or more: a schema; objects, each of which replaces the one before
 *     crd       JSON: a definition, and objects of its first version in the lines that follow
 *     pattern   a line with a pattern; a text
 *     path      a line with a path; JSON to follow it in
 *     format    a line with the name of a format; a text
 *
 * Promises: what is refused is refused with words; pruning and defaulting twice is doing it once;
 * the same question gets the same answer; an accepted schema serves any object. */
#include "sim/api/crd.h"
#include "sim/api/simple_path.h"
#include "sim/api/structural_internal.h"

#include "fuzz.h"

/* Takes the first line off. */
static char *next_line(struct view *v) {
    const char *end = v->len ? memchr(v->p, '\n', v->len) : NULL;
    size_t len = end ? (size_t)(end - v->p) : v->len;
    char *line = xstrndup(v->p, len);
    len += end != NULL;
    v->p += len;
    v->len -= len;
    return line;
}

static json_t *next_json(struct view *v) {
    _cleanup_free_ char *line = next_line(v);
    return json_loads(line, JSON_DECODE_ANY, NULL);
}

static void check_words(struct field_errors *e) {
    FUZZ_CHECK(e->v.len <= STRUCTURAL_MAX_ERRORS + 100);
    for (size_t i = 0; i < e->v.len && i < 20; i++)
        FUZZ_CHECK(*e->v.p[i].field && *e->v.p[i].body);
    field_errors_done(e);
}

/* Twice the same number of errors. */
static void check_verdict(const struct structural *s, const json_t *obj, const json_t *old) {
    struct field_errors first = {0}, second = {0};
    structural_validate(s, obj, old, &first);
    structural_validate(s, obj, old, &second);
    FUZZ_CHECK(first.v.len == second.v.len);
    structural_validate_status(s, obj, old, &first);
    structural_validate_embedded(s, obj, &first);
    structural_validate_lists(s, obj, old, &first);
    structural_note_rules(s, 0, &first);
    check_words(&first);
    check_words(&second);
}

static void check_object(const struct structural *s, json_t *obj, const json_t *old) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0};
    structural_prune(s, obj, &notes);
    _cleanup_json_ json_t *pruned = json_deep_copy(obj);
    structural_prune(s, obj, NULL);
    FUZZ_CHECK(json_equal(pruned, obj));
    int rc = structural_coerce(s, obj, &notes, &err);
    FUZZ_CHECK(rc == 0 || *err_msg(&err));
    schema_notes_done(&notes);
    structural_default(s, obj);
    _cleanup_json_ json_t *filled = json_deep_copy(obj);
    structural_default(s, obj);
    FUZZ_CHECK(json_equal(filled, obj));
    check_verdict(s, obj, old);
}

static void fuzz_schema(struct view v) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = next_json(&v), *old = NULL;
    if (!json_is_object(schema))
        return;
    struct structural *s = structural_compile(schema, "schema", false, &e);
    FUZZ_CHECK(!s == (e.v.len > 0));
    check_words(&e);
    struct structural_formats formats = {0};
    structural_unknown_formats(schema, &formats);
    vec_done(&formats.v);
    for (int i = 0; s && v.len && i < 4; i++) {
        json_t *obj = next_json(&v);
        if (!json_is_object(obj)) {
            json_decref(obj);
            break;
        }
        check_object(s, obj, old);
        json_decref(old);
        old = obj;
    }
    structural_free(s);
}

static void serve(const struct crd_version *v, const json_t *raw, json_t **old) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0};
    struct field_errors e = {0};
    json_t *obj = NULL;
    int rc = crd_decode(v, raw, &obj, &notes, &err);
    FUZZ_CHECK(!rc == (obj != NULL));
    FUZZ_CHECK(!rc || *err_msg(&err));
    if (obj && *old) {
        crd_object_prepare_update(v, CRD_MAIN, obj, *old);
        crd_object_validate_update(v, CRD_MAIN, obj, *old, &e);
        _cleanup_json_ json_t *status = json_deep_copy(obj);
        crd_object_prepare_update(v, CRD_STATUS, status, *old);
        crd_object_validate_update(v, CRD_STATUS, status, *old, &e);
    } else if (obj) {
        crd_object_prepare_create(v, obj);
        crd_object_validate_create(v, obj, &e);
    }
    check_words(&e);
    if (obj) {
        struct crd_scale scale;
        crd_object_warnings(obj, *old, &notes);
        if (v->has_scale && !crd_object_scale(v, obj, &scale, NULL))
            crd_object_set_replicas(v, obj, scale.replicas, NULL);
        crd_object_settle(obj);
        json_decref(*old);
        *old = obj;
    }
    schema_notes_done(&notes);
}

static void fuzz_crd(struct view v) {
    _cleanup_json_ json_t *raw = next_json(&v), *json = NULL, *old = NULL;
    const struct schema *shape =
        schema_find("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    if (!json_is_object(raw) || schema_canonical(shape, raw, &json, NULL, NULL))
        return;
    struct field_errors e = {0};
    struct schema_notes notes = {0};
    struct crd *crd = NULL;
    crd_default(json);
    crd_prepare_create(json);
    crd_validate_create(json, &e);
    size_t wrong = e.v.len;
    check_words(&e);
    crd_warnings(json, NULL, &notes);
    schema_notes_done(&notes);
    crd_store(json);
    crd_settle(json, (const json_t *const *)&json, 1, 1);
    crd_settle(json, NULL, 0, 1);
    int rc = crd_accept(json, &crd, &e);
    FUZZ_CHECK(wrong || !rc); /* what is valid is accepted */
    FUZZ_CHECK(!rc == (crd != NULL) && !rc == (e.v.len == 0));
    check_words(&e);
    for (int i = 0; crd && crd->n_versions && v.len && i < 4; i++) {
        _cleanup_json_ json_t *obj = next_json(&v);
        if (obj)
            serve(&crd->versions[0], obj, &old);
    }
    crd_free(crd);
}

static void fuzz_pattern(struct view v) {
    _cleanup_free_ char *text = next_line(&v);
    _cleanup_err_ struct err err = ERR_INIT;
    struct pattern *p = NULL;
    int rc = pattern_compile(text, &p, &err);
    FUZZ_CHECK(!rc == (p != NULL));
    FUZZ_CHECK(!rc || str_starts(err_msg(&err), "error parsing regexp: "));
    if (!p)
        return;
    FUZZ_CHECK(pattern_match(p, v) == pattern_match(p, v));
    pattern_free(p);
}

static void fuzz_path(struct view v) {
    _cleanup_free_ char *text = next_line(&v);
    _cleanup_json_ json_t *obj = next_json(&v);
    _cleanup_err_ struct err err = ERR_INIT;
    struct simple_path *p = NULL;
    int rc = simple_path_compile(text, &p, &err);
    FUZZ_CHECK(!rc == (p != NULL));
    FUZZ_CHECK(!rc || *err_msg(&err));
    if (p && obj)
        FUZZ_CHECK(simple_path_find(p, obj) == simple_path_find(p, obj));
    simple_path_free(p);
}

static void fuzz_format(struct view v) {
    _cleanup_free_ char *name = next_line(&v);
    _cleanup_free_ char *text = xstrndup(v.p, v.len);
    bool match = format_matches(name, text, strlen(text));
    FUZZ_CHECK(match || format_known(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct {
        const char *name;
        void (*fuzz)(struct view);
    } modes[] = {{"schema", fuzz_schema},
                 {"crd", fuzz_crd},
                 {"pattern", fuzz_pattern},
                 {"path", fuzz_path},
                 {"format", fuzz_format}};
    char line[64];
    struct view body;
    fuzz_split(data, size, line, &body);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (streq(line, modes[i].name))
            modes[i].fuzz(body);
    return 0;
}
