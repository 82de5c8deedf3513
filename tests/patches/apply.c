/* Applies patches with src/sim/api/patch.h, for test_patches.py: reads the cases that the judge
 * (judge/main.go) reads, one a line, and prints an outcome for each, one a line. */
#include "sim/api/patch.h"

#include <stdio.h>

static const struct {
    const char *name, *group;
} types[] = {
    {"ConfigMap", ""},      {"Namespace", ""},
    {"Node", ""},           {"Pod", ""},
    {"Service", ""},        {"PersistentVolumeClaim", ""},
    {"ServiceAccount", ""}, {"DaemonSet", "apps"},
    {"Deployment", "apps"}, {"StatefulSet", "apps"},
    {"Job", "batch"},       {"PodDisruptionBudget", "policy"},
};

static const struct schema *schema_of(const char *type) {
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_same(type, types[i].name))
            return schema_find(types[i].group, "v1", types[i].name);
    }
    return NULL;
}

static bool kind_of(const char *name, enum patch_kind *kind) {
    static const char *const names[] = {
        [PATCH_JSON] = "json", [PATCH_MERGE] = "merge", [PATCH_STRATEGIC] = "strategic"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_same(name, names[i])) {
            *kind = (enum patch_kind)i;
            return true;
        }
    }
    return false;
}

/* NULL when the case makes no sense. */
static json_t *outcome_of(const json_t *test) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err why = ERR_INIT;
    struct schema_notes notes = {0};
    json_t *out = NULL, *current = json_object_get(test, "current");
    const char *text = strna(json_str(test, "patch"));
    _cleanup_json_ json_t *body = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    struct patch patch = {
        .unchecked = json_is_true(json_object_get(test, "unchecked")),
        .schema = schema_of(json_str(test, "type")),
        .body = body,
        .text = view_of(text),
    };
    if (!kind_of(json_str(test, "kind"), &patch.kind) || !current || !body ||
        (patch.kind == PATCH_STRATEGIC && !patch.schema))
        return NULL;
    _cleanup_json_ json_t *before = json_pack("[O,O]", current, body);
    _cleanup_json_ json_t *copy = json_deep_copy(before);
    int rc = patch_apply(&patch, current, &out, &notes, &failure, &why);
    json_t *outcome = json_object();
    if (!json_equal(before, copy)) {
        json_object_set_new(outcome, "broken", json_string("an input was changed"));
        json_decref(out);
    } else if (rc) {
        json_object_set_new(outcome, "code", json_integer(failure.code));
        json_object_set_new(outcome, "reason", json_string(failure.reason));
        json_object_set_new(outcome, "message", json_string(failure.message));
        json_object_set_new(outcome, "why", json_string(err_msg(&why)));
    } else {
        json_t *texts = json_array();
        for (size_t i = 0; i < notes.texts.len; i++)
            json_array_append_new(texts, json_string(notes.texts.p[i]));
        json_object_set_new(outcome, "ok", out);
        json_object_set_new(outcome, "notes", texts);
    }
    schema_notes_done(&notes);
    return outcome;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int rc = 0;
    while (!rc && (len = getline(&line, &room, stdin)) >= 0) {
        json_error_t error;
        _cleanup_json_ json_t *test = json_loadb(line, (size_t)len, JSON_ALLOW_NUL, &error);
        _cleanup_json_ json_t *outcome = test ? outcome_of(test) : NULL;
        if (outcome) {
            json_dumpf(outcome, stdout, JSON_COMPACT);
            putchar('\n');
        } else {
            fprintf(stderr, "not a case: %s: %s\n", test ? "see judge/main.go" : error.text, line);
            rc = 1;
        }
    }
    free(line);
    return rc;
}
