/* TOML files of other programs: what is read can be written as TOML again and read as the same;
 * what is refused is refused with a line; and what airlock's are made of are Policies with names.
 */
#include "base/toml.h"

#include <string.h>

#include "base/json.h"
#include "cli/airlock.h"
#include "fuzz.h"

enum { DEPTH = 12 }; /* of tables; keys of more parts than the reader takes cannot be written */

static void write_string(const char *text, size_t len, struct str *out) {
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    str_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        const char *found = text[i] ? strchr(from, text[i]) : NULL;
        if (found)
            str_addc(out, '\\');
        str_addc(out, found ? to[found - from] : text[i]);
    }
    str_addc(out, '"');
}

static void write_value(const json_t *v, struct str *out) {
    size_t i;
    const json_t *one;
    if (json_is_string(v))
        write_string(json_string_value(v), json_string_length(v), out);
    else if (json_is_integer(v))
        str_addf(out, "%lld", (long long)json_integer_value(v));
    else if (json_is_boolean(v))
        str_add(out, json_is_true(v) ? "true" : "false");
    FUZZ_CHECK(!json_is_null(v) && !json_is_real(v) && !json_is_object(v));
    if (!json_is_array(v))
        return;
    str_addc(out, '[');
    json_array_foreach(v, i, one) {
        str_add(out, i ? ", " : "");
        write_value(one, out);
    }
    str_addc(out, ']');
}

static bool is_tables(const json_t *v) {
    return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

static bool write_table(const json_t *table, const char *path, unsigned depth, struct str *out);

static bool write_under(const json_t *table, const char *path, bool many, unsigned depth,
                        struct str *out) {
    str_addf(out, many ? "[[%s]]\n" : "[%s]\n", path);
    return write_table(table, path, depth + 1, out);
}

/* False: it is too deep to be written. */
static bool write_table(const json_t *table, const char *path, unsigned depth, struct str *out) {
    const char *key;
    json_t *v;
    const json_t *one;
    size_t i;
    if (depth > DEPTH)
        return false;
    json_object_foreach((json_t *)table, key, v) if (!json_is_object(v) && !is_tables(v)) {
        write_string(key, strlen(key), out);
        str_add(out, " = ");
        write_value(v, out);
        str_addc(out, '\n');
    }
    json_object_foreach((json_t *)table, key, v) {
        _cleanup_str_ struct str name = STR_INIT;
        str_addf(&name, "%s%s", path, *path ? "." : "");
        write_string(key, strlen(key), &name);
        if (json_is_object(v) && !write_under(v, str_get(&name), false, depth, out))
            return false;
        if (is_tables(v))
            json_array_foreach(
                v, i, one) if (!write_under(one, str_get(&name), true, depth, out)) return false;
    }
    return true;
}

static void check_again(const json_t *doc) {
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *again = NULL;
    if (!write_table(doc, "", 0, &text))
        return;
    if (toml_load("f", str_get(&text), NULL, &again, &err))
        fprintf(stderr, "%s in\n%s\n", err_msg(&err), str_get(&text));
    FUZZ_CHECK(again && json_equal(doc, again));
}

static void check_import(const char *text) {
    _cleanup_str_ struct str notes = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *list = NULL;
    int rc = airlock_import("f", text, &list, &notes, &err);
    if (rc) {
        FUZZ_CHECK(rc == -err.code && *err_msg(&err) && !list);
        return;
    }
    const json_t *one;
    size_t i;
    FUZZ_CHECK(json_array_size(list));
    json_array_foreach(list, i, one)
        FUZZ_CHECK(json_string_length(json_object_get(json_object_get(one, "metadata"), "name")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_free_ char *text = xstrndup((const char *)data, size);
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *doc = NULL;
    int rc = toml_load("f", text, NULL, &doc, &err);
    if (rc) {
        FUZZ_CHECK(rc == -err.code && !doc && str_starts(err_msg(&err), "f:"));
        FUZZ_CHECK(!strchr(err_msg(&err), '\n'));
    } else {
        FUZZ_CHECK(json_is_object(doc));
        check_again(doc);
    }
    check_import(text);
    return 0;
}
