/* For the tests of patches: JSON in single quotes, and what a patch has to give. */
#ifndef TESTS_PATCH_CHECK_H
#define TESTS_PATCH_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/api/patch_internal.h" /* before cmocka, which has a fail() of its own */

#include <cmocka.h>

static inline json_t *js(const char *text) {
    _cleanup_free_ char *copy = xstrdup(text);
    json_error_t error;
    for (char *p = copy; (p = strchr(p, '\''));)
        *p = '"';
    json_t *v = json_loads(copy, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!v)
        fail_msg("%s: %s", error.text, text);
    return v;
}

static inline void assert_json(const json_t *found, const char *expected) {
    _cleanup_json_ json_t *want = js(expected);
    if (json_equal(found, want))
        return;
    char *text = json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY);
    fail_msg("%s instead of %s", text, expected);
}

static inline void check_schema(struct patch *patch) {
    if (patch->kind == PATCH_STRATEGIC && !patch->schema)
        patch->schema = schema_find("", "v1", "Pod");
}

/* The patch gives this object, and leaves its inputs alone. */
static inline void patch_gives(struct patch patch, const char *current, const char *body,
                               const char *expected) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err why = ERR_INIT;
    _cleanup_json_ json_t *live = js(current), *with = js(body), *out = NULL;
    patch.body = with;
    check_schema(&patch);
    if (patch_apply(&patch, live, &out, NULL, &failure, &why))
        fail_msg("%s: %d %s: %s", body, failure.code, failure.message, err_msg(&why));
    assert_json(out, expected);
    assert_int_equal(failure.code, 0);
    /* what is done to the result is not done to the inputs */
    json_object_clear(out);
    assert_json(live, current);
    assert_json(with, body);
}

/* The patch is refused, with this error behind the answer. */
static inline void patch_refused(struct patch patch, const char *current, const char *body,
                                 int code, const char *why) {
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *live = js(current), *with = js(body), *out = NULL;
    patch.body = with;
    check_schema(&patch);
    assert_int_equal(patch_apply(&patch, live, &out, NULL, &failure, &err), -1);
    assert_string_equal(err_msg(&err), why);
    assert_int_equal(failure.code, code);
    assert_null(out);
    assert_json(live, current);
    assert_json(with, body);
}

#endif
