/* The simulator's schema: whatever is read can be written, and what was written reads as the same.
 *
 * An input begins with a line that says what follows: "json Pod" or "json apps/Deployment" (an
 * object as JSON), "pb Pod" (a message), or "text" (any JSON). */
#include "sim/schema/schema.h"
#include "fuzz.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

static struct view all(const struct str *s) {
    return (struct view){str_get(s), s->len};
}

/* A value, or NULL; then there was an error with a message. */
static json_t *read_text(struct view text) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct schema_notes notes = {0};
    json_t *v = NULL;
    int rc = text_read(text, &notes, &v, &err);
    schema_notes_done(&notes);
    FUZZ_CHECK(rc ? !v && err.code == -rc && *err_msg(&err) : v != NULL);
    return v;
}

/* JSON into its canonical text; false when it is no object of that kind. */
static bool canonical(const struct schema *s, struct view text, struct str *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *v = read_text(text), *found = NULL;
    struct schema_notes notes = {0};
    if (!v)
        return false;
    int rc = schema_canonical(s, v, &found, &notes, &err);
    schema_notes_done(&notes);
    FUZZ_CHECK(rc ? !found && *err_msg(&err) : found != NULL);
    if (!rc)
        text_value(found, out);
    return !rc;
}

static bool from_pb(const struct schema *s, struct view message, struct str *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *found = NULL;
    int rc = schema_from_pb(s, message, &found, &err);
    FUZZ_CHECK(rc ? !found && *err_msg(&err) : found != NULL);
    if (!rc)
        text_value(found, out);
    return !rc;
}

/* Canonical text that came out of a message or of what was read twice: there and back again. */
static void round_trip(const struct schema *s, const struct str *text) {
    _cleanup_str_ struct str first = STR_INIT, back = STR_INIT, second = STR_INIT, again = STR_INIT;
    FUZZ_CHECK(!schema_to_pb(s, all(text), &first, NULL));
    FUZZ_CHECK(from_pb(s, all(&first), &back));
    FUZZ_CHECK(!schema_to_pb(s, all(&back), &second, NULL));
    FUZZ_CHECK(view_eq(all(&first), all(&second)));
    FUZZ_CHECK(canonical(s, all(&back), &again));
}

static void fuzz_json(const struct schema *s, struct view body) {
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT, third = STR_INIT;
    if (!canonical(s, body, &first))
        return;
    /* Once more, since a pointer to null is none when it is read, and -0.0 is -0 and then 0. */
    FUZZ_CHECK(canonical(s, all(&first), &second));
    FUZZ_CHECK(canonical(s, all(&second), &third));
    FUZZ_CHECK(view_eq(all(&second), all(&third)));
    _cleanup_str_ struct str message = STR_INIT, back = STR_INIT;
    FUZZ_CHECK(!schema_to_pb(s, all(&first), &message, NULL));
    FUZZ_CHECK(from_pb(s, all(&message), &back));
    round_trip(s, &second);
}

static void fuzz_text(struct view body) {
    _cleanup_json_ json_t *v = read_text(body);
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    if (!v)
        return;
    text_value(v, &first);
    _cleanup_json_ json_t *again = read_text(all(&first));
    FUZZ_CHECK(again);
    text_value(again, &second);
    _cleanup_json_ json_t *last = read_text(all(&second));
    FUZZ_CHECK(last && json_equal(again, last));
}

/* A message's text may have a -0 that it does not keep; so once through. */
static void fuzz_pb(const struct schema *s, struct view body) {
    _cleanup_str_ struct str first = STR_INIT, message = STR_INIT, second = STR_INIT;
    if (!from_pb(s, body, &first))
        return;
    FUZZ_CHECK(!schema_to_pb(s, all(&first), &message, NULL));
    FUZZ_CHECK(from_pb(s, all(&message), &second));
    round_trip(s, &second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    struct view body;
    fuzz_split(data, size, line, &body);
    if (streq(line, "text")) {
        fuzz_text(body);
        return 0;
    }
    char *name = strchr(line, ' ');
    if (!name)
        return 0;
    *name++ = '\0';
    char *slash = strchr(name, '/');
    if (slash)
        *slash = '\0';
    const struct schema *s = schema_find(slash ? name : "", "v1", slash ? slash + 1 : name);
    if (!s)
        return 0;
    if (streq(line, "json"))
        fuzz_json(s, body);
    else if (streq(line, "pb"))
        fuzz_pb(s, body);
    return 0;
}
