/* What the simulator makes of CustomResourceDefinitions and of custom resources, for comparison
 * with the real server (test_structural.py).
 *
 * Reads one request a line from standard input and answers each with a line:
 *
 *     {"op": "define", "value": CRD, "old": CRD?}      the last good one is kept for the others
 *     {"op": "create", "version": "v1", "value": OBJECT}
 *     {"op": "update", "version": "v1", "sub": "status"?, "value": OBJECT, "old": OBJECT}
 *     {"op": "path", "path": ".spec.a", "value": OBJECT}
 *
 * Answers: {"error": what decoding said}, or {"errors": [{"field", "reason", "message"}], "object",
 * "notes": ["unknown field ..."], "warnings"}; of a path {"found"}, without it when there is none.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "sim/api/crd.h"
#include "sim/api/simple_path.h"

static json_t *texts_of(struct schema_notes *notes) {
    json_t *list = json_array();
    for (size_t i = 0; i < notes->texts.len; i++)
        json_array_append_new(list, json_string_nocheck(notes->texts.p[i]));
    schema_notes_done(notes);
    return list;
}

static json_t *errors_of(struct field_errors *e) {
    json_t *list = json_array();
    for (size_t i = 0; i < e->v.len; i++) {
        const struct field_error *f = &e->v.p[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "field", f->field, "reason",
                                              field_error_reason(f->type), "message", f->body));
    }
    field_errors_done(e);
    return list;
}

static json_t *failed(struct err *err) {
    return json_pack("{s:s}", "error", err_msg(err));
}

static json_t *answer(struct field_errors *e, json_t *object, struct schema_notes *notes,
                      struct schema_notes *warnings) {
    return json_pack("{s:o, s:o, s:o, s:o}", "errors", errors_of(e), "object", object, "notes",
                     texts_of(notes), "warnings", texts_of(warnings));
}

static json_t *define(const json_t *request, struct crd **kept) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0}, warnings = {0};
    struct field_errors e = {0};
    const struct schema *schema =
        schema_find("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    const json_t *old = json_object_get(request, "old");
    json_t *crd = NULL;
    if (schema_canonical(schema, json_object_get(request, "value"), &crd, &notes, &err)) {
        schema_notes_done(&notes);
        return failed(&err);
    }
    crd_default(crd);
    if (old) {
        crd_prepare_update(crd, old);
        crd_validate_update(crd, old, &e);
    } else {
        crd_prepare_create(crd);
        crd_validate_create(crd, &e);
    }
    crd_warnings(crd, old, &warnings);
    if (!e.v.len) {
        struct crd *next;
        struct field_errors again = {0};
        crd_store(crd);
        crd_settle(crd, NULL, 0, 0);
        if (crd_accept(crd, &next, &again) == 0) {
            crd_free(*kept);
            *kept = next;
        }
        field_errors_done(&again);
    }
    return answer(&e, crd, &notes, &warnings);
}

static json_t *write_object(const json_t *request, const struct crd *crd, bool update) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0}, warnings = {0};
    struct field_errors e = {0};
    const struct crd_version *v =
        crd ? crd_version(crd, json_string_value(json_object_get(request, "version"))) : NULL;
    const json_t *old = json_object_get(request, "old");
    enum crd_part part = json_object_get(request, "sub") ? CRD_STATUS : CRD_MAIN;
    json_t *obj = NULL;
    if (!v)
        return json_pack("{s:s}", "error", "no such version was defined");
    if (crd_decode(v, json_object_get(request, "value"), &obj, &notes, &err)) {
        schema_notes_done(&notes);
        return failed(&err);
    }
    if (update) {
        crd_object_prepare_update(v, part, obj, old);
        crd_object_validate_update(v, part, obj, old, &e);
    } else {
        crd_object_prepare_create(v, obj);
        crd_object_validate_create(v, obj, &e);
    }
    crd_object_warnings(obj, old, &warnings);
    crd_object_settle(obj);
    return answer(&e, obj, &notes, &warnings);
}

static json_t *follow(const json_t *request) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct simple_path *p;
    if (simple_path_compile(json_string_value(json_object_get(request, "path")), &p, &err))
        return failed(&err);
    const json_t *found = simple_path_find(p, json_object_get(request, "value"));
    json_t *out = json_object();
    if (found)
        json_object_set_new(out, "found", json_deep_copy(found));
    simple_path_free(p);
    return out;
}

int main(void) {
    struct crd *crd = NULL;
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        json_error_t why;
        _cleanup_json_ json_t *request = json_loads(line, 0, &why), *reply = NULL;
        const char *op = json_str(request, "op");
        if (!op) {
            fprintf(stderr, "probe_structural: a line that is no request: %s\n", why.text);
            return 64;
        }
        if (streq(op, "define"))
            reply = define(request, &crd);
        else if (streq(op, "path"))
            reply = follow(request);
        else
            reply = write_object(request, crd, streq(op, "update"));
        json_dumpf(reply, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
        putchar('\n');
        fflush(stdout);
    }
    crd_free(crd);
    free(line);
    return 0;
}
