/* For tests of sim/schema: values and messages in short. */
#ifndef SCHEMA_TEST_H
#define SCHEMA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sim/schema/schema.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

static inline json_t *value_of(const char *text) {
    _cleanup_err_ struct err err = ERR_INIT;
    json_t *v = NULL;
    if (text_read(view_of(text), NULL, &v, &err))
        fail_msg("%s: %s", text, err_msg(&err));
    return v;
}

/* The text of a value, which is given back. A heap string. */
static inline char *text_of(json_t *v) {
    struct str out = STR_INIT;
    text_value(v, &out);
    json_decref(v);
    return str_take(&out);
}

/* A core kind, or "group/Kind". */
static inline const struct schema *kind(const char *name) {
    const char *slash = strchr(name, '/');
    _cleanup_free_ char *group = slash ? xstrndup(name, (size_t)(slash - name)) : xstrdup("");
    const struct schema *s = schema_find(group, "v1", slash ? slash + 1 : name);
    if (!s)
        fail_msg("no kind %s", name);
    return s;
}

/* The canonical text of an object, or "error: ...". A heap string. */
static inline char *canonical_text(const struct schema *s, const char *text,
                                   struct schema_notes *notes) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *in = value_of(text);
    json_t *out = NULL;
    if (schema_canonical(s, in, &out, notes, &err)) {
        assert_null(out);
        return xasprintf("error: %s", err_msg(&err));
    }
    return text_of(out);
}

#endif
