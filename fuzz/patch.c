/* Patches: whatever they say, they leave their inputs alone, give the same result twice, which can
 * be printed and read again, or an answer with a status code and a reason.
 *
 * An input begins with a line that names the kind of patch, for strategic ones with the kind of the
 * object, and perhaps "unchecked": "json\n", "strategic Pod unchecked\n". The object is the second
 * line, the patch is the rest. */
#include "sim/api/patch.h"

#include "fuzz.h"

static bool read_head(char *line, struct patch *patch) {
    static const char *const names[] = {
        [PATCH_JSON] = "json", [PATCH_MERGE] = "merge", [PATCH_STRATEGIC] = "strategic"};
    static const char *const groups[] = {"", "apps", "batch", "policy", "coordination.k8s.io"};
    bool known = false;
    char *rest = line, *word;
    for (int n = 0; (word = strsep(&rest, " ")); n++) {
        if (streq(word, "unchecked"))
            patch->unchecked = true;
        for (size_t i = 0; !n && i < ARRAY_LEN(names); i++) {
            if (streq(word, names[i])) {
                patch->kind = (enum patch_kind)i;
                known = true;
            }
        }
        for (size_t i = 0; n && !patch->schema && i < ARRAY_LEN(groups); i++)
            patch->schema = schema_find(groups[i], "v1", word);
    }
    return known && (patch->kind != PATCH_STRATEGIC || patch->schema);
}

/* The result, or NULL and a good reason. */
static json_t *apply(const struct patch *patch, const json_t *current) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err why = ERR_INIT;
    struct schema_notes notes = {0};
    json_t *out = NULL;
    int rc = patch_apply(patch, current, &out, &notes, &failure, &why);
    schema_notes_done(&notes);
    if (!rc) {
        FUZZ_CHECK(json_is_object(out) || json_is_array(out));
        FUZZ_CHECK(!failure.code && !why.code);
        return out;
    }
    FUZZ_CHECK(rc < 0 && !out && why.code && *err_msg(&why));
    FUZZ_CHECK(failure.code == 400 || failure.code == 413 || failure.code == 422 ||
               failure.code == 500);
    FUZZ_CHECK(failure.reason && failure.message && *failure.message);
    return NULL;
}

static void check(const struct patch *patch, const json_t *current) {
    _cleanup_json_ json_t *object = json_deep_copy(current), *body = json_deep_copy(patch->body);
    json_t *out = apply(patch, current);
    _cleanup_json_ json_t *again = apply(patch, current);
    FUZZ_CHECK(!out == !again && (!out || json_equal(out, again)));
    if (out) {
        _cleanup_free_ char *text = json_dumps(out, JSON_COMPACT);
        FUZZ_CHECK(text);
        _cleanup_json_ json_t *read = json_loads(text, JSON_ALLOW_NUL, NULL);
        FUZZ_CHECK(read && json_equal(read, out));
        json_wipe(out); /* nothing of it is anybody else's */
    }
    FUZZ_CHECK(json_equal(object, current) && json_equal(body, patch->body));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    struct view rest;
    struct patch patch = {0};
    fuzz_split(data, size, line, &rest);
    const char *end = rest.len ? memchr(rest.p, '\n', rest.len) : NULL;
    if (!end || !read_head(line, &patch))
        return 0;
    size_t len = (size_t)(end - rest.p);
    patch.text = (struct view){end + 1, rest.len - len - 1};
    _cleanup_json_ json_t *current = json_loadb(rest.p, len, JSON_ALLOW_NUL, NULL);
    _cleanup_json_ json_t *body =
        json_loadb(patch.text.p, patch.text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    patch.body = body;
    if (json_is_object(current) && body)
        check(&patch, current);
    return 0;
}
