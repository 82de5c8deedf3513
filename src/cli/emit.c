/* Prints a JSON document in some format. */
#include "cli/emit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/yaml_emit.h"
#include "cli/jsonpath.h"
#include "cli/table.h"

/* ---- terminal safety ---- */

/* Bytes of a character at `s` that a terminal must not get, 0 when it is harmless. Not for the
 * ASCII controls: line breaks are layout here, and JSON and YAML escape all others. */
static size_t unsafe_len(const char *s, size_t n, uint32_t *code) {
    size_t len = (unsigned char)*s < 0x80 ? 0 : utf8_len(s, n);
    if (!len)
        return 0;
    *code = utf8_decode(s, len);
    return utf8_unsafe(*code) ? len : 0;
}

static bool has_unsafe(const char *s, size_t n) {
    uint32_t code;
    for (size_t i = 0; i < n; i++)
        if (unsafe_len(s + i, n - i, &code))
            return true;
    return false;
}

/* Such characters occur only inside of strings, where \uXXXX means the same. */
static void add_safe_json(struct str *out, const char *json, size_t len) {
    size_t start = 0;
    for (size_t i = 0; i < len;) {
        uint32_t code = 0;
        size_t n = unsafe_len(json + i, len - i, &code);
        if (!n) {
            i++;
            continue;
        }
        str_addn(out, json + start, i - start);
        str_addf(out, "\\u%04x", code);
        start = i += n;
    }
    str_addn(out, json + start, len - start);
}

/* As utf8_printable(), but the line breaks and tabs of a template stay. */
static void add_printable_lines(struct str *out, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n\t");
        _cleanup_free_ char *piece = xstrndup(text, n);
        utf8_printable(out, piece);
        text += n;
        if (*text)
            str_addc(out, *text++);
    }
}

/* ---- YAML ---- */

int emit_yaml(const json_t *value, struct str *out, struct err *err) {
    size_t start = out->len;
    int r = yaml_emit(value, false, out, err);
    if (r || !has_unsafe(str_get(out) + start, out->len - start))
        return r;
    /* Once more with everything escaped that is not ASCII: libyaml has no finer choice. */
    out->len = start;
    return yaml_emit(value, true, out, err);
}

/* ---- custom-columns ---- */

static void add_column_row(const struct output_format *f, json_t *item, struct table *t) {
    table_row(t, NULL);
    for (size_t i = 0; i < f->n_columns; i++) {
        struct jsonpath_values values = VEC_INIT;
        _cleanup_str_ struct str text = STR_INIT;
        jsonpath_values(f->columns[i].path, item, &values);
        for (size_t v = 0; v < values.len; v++) {
            if (v)
                str_addc(&text, ',');
            jsonpath_print_value(values.p[v], &text);
        }
        table_str(t, str_get(&text));
        vec_done(&values);
    }
}

static void emit_columns(const struct output_format *f, json_t *doc, bool no_headers,
                         struct str *out) {
    struct table_column *columns = xcalloc(f->n_columns, sizeof *columns);
    for (size_t i = 0; i < f->n_columns; i++)
        columns[i].title = f->columns[i].title;
    _cleanup_table_ struct table *t = table_new(columns, f->n_columns);
    free(columns);
    json_t *items = json_object_get(doc, "items"), *item;
    size_t i;
    if (json_is_array(items))
        json_array_foreach(items, i, item) add_column_row(f, item, t);
    else
        add_column_row(f, doc, t);
    table_text(t, &(struct table_view){.no_headers = no_headers}, out);
}

/* ---- documents ---- */

static void emit_path(const struct output_format *f, json_t *doc, bool printable, struct str *out) {
    if (!printable) {
        jsonpath_print(f->path, doc, out);
        return;
    }
    _cleanup_str_ struct str raw = STR_INIT;
    jsonpath_print(f->path, doc, &raw);
    add_printable_lines(out, str_get(&raw));
}

int emit_document(const char *json, size_t len, const struct output_format *f, bool no_headers,
                  bool printable, struct str *out, struct err *err) {
    if (f->kind == OUTPUT_JSON) {
        add_safe_json(out, json, len);
        str_addc(out, '\n');
        return 0;
    }
    json_error_t problem;
    json_t *doc = json_loadb(json, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    if (!doc)
        return err_set(err, EIO, "the result is not valid JSON (line %d: %s)", problem.line,
                       problem.text);
    int r = 0;
    if (f->kind == OUTPUT_YAML)
        r = emit_yaml(doc, out, err);
    else if (f->kind == OUTPUT_COLUMNS)
        emit_columns(f, doc, no_headers, out);
    else
        emit_path(f, doc, printable, out);
    json_decref(doc);
    return r;
}
