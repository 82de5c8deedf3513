/* For the tests of structural*.c and crd*.c: JSON with single quotes, schemas compiled in a line,
 * errors as text. */
#ifndef UNIT_SIM_API_STRUCTURAL_TEST_H
#define UNIT_SIM_API_STRUCTURAL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/api/structural_internal.h"

/* A value from text in which ' stands for " (and ` for '). */
static inline json_t *J(const char *text) {
    _cleanup_free_ char *json = xstrdup(text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c == '`' ? '\'' : *c;
    json_error_t why;
    json_t *v = json_loads(json, JSON_DECODE_ANY, &why);
    if (!v)
        fail_msg("%s: %s", why.text, json);
    return v;
}

static inline void assert_json_(const json_t *v, const char *wanted, const char *file, int line) {
    _cleanup_json_ json_t *w = J(wanted);
    if (json_equal(v, w))
        return;
    _cleanup_free_ char *seen = json_dumps(v, JSON_ENCODE_ANY | JSON_SORT_KEYS);
    print_error("seen:   %s\nwanted: %s\n", seen ? seen : "nothing", wanted);
    _fail(file, line);
}
#define assert_json(v, wanted) assert_json_((v), (wanted), __FILE__, __LINE__)

/* One line an error, "field: body", in order; empties the list. */
static inline char *errors_take(struct field_errors *e) {
    struct str out = STR_INIT;
    for (size_t i = 0; i < e->v.len; i++)
        str_addf(&out, "%s%s: %s", i ? "\n" : "", e->v.p[i].field, e->v.p[i].body);
    field_errors_done(e);
    return str_take(&out);
}

static inline void assert_errors_(struct field_errors *e, const char *wanted, const char *file,
                                  int line) {
    _cleanup_free_ char *seen = errors_take(e);
    if (streq(seen, wanted))
        return;
    print_error("seen:\n%s\nwanted:\n%s\n", seen, wanted);
    _fail(file, line);
}
#define assert_errors(e, wanted) assert_errors_((e), (wanted), __FILE__, __LINE__)

/* A schema that must be good. */
static inline struct structural *compile(const char *text) {
    struct field_errors e = {0};
    _cleanup_json_ json_t *schema = J(text);
    struct structural *s = structural_compile(schema, "schema", false, &e);
    if (!s) {
        _cleanup_free_ char *why = errors_take(&e);
        fail_msg("%s", why);
    }
    return s;
}

/* One for the spec of an object. */
static inline struct structural *compile_spec(const char *text) {
    _cleanup_free_ char *whole = xasprintf("{'type':'object','properties':{'spec':%s}}", text);
    return compile(whole);
}

static inline void structural_cleanup_(struct structural **s) {
    structural_free(*s);
}
#define _cleanup_structural_ __attribute__((cleanup(structural_cleanup_)))

/* Notes, one a line. */
static inline void assert_notes_(struct schema_notes *n, const char *wanted, const char *file,
                                 int line) {
    _cleanup_str_ struct str seen = STR_INIT;
    for (size_t i = 0; i < n->texts.len; i++)
        str_addf(&seen, "%s%s", i ? "\n" : "", n->texts.p[i]);
    schema_notes_done(n);
    *n = (struct schema_notes){0};
    if (streq(str_get(&seen), wanted))
        return;
    print_error("seen:\n%s\nwanted:\n%s\n", str_get(&seen), wanted);
    _fail(file, line);
}
#define assert_notes(n, wanted) assert_notes_((n), (wanted), __FILE__, __LINE__)

#endif
