/* -o: the formats of output. */
#include "cli/output.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/jsonpath.h"

const char *const output_words[] = {
    "wide", "json", "yaml", "name", "jsonpath=", "custom-columns=", NULL};

const char *const output_document_words[] = {"json", "yaml", "jsonpath=", NULL};
const char *const output_text_words[] = {"wide", "json", "yaml", "jsonpath=", NULL};

static const char *const names[] = {
    [OUTPUT_TABLE] = "table",
    [OUTPUT_WIDE] = "wide",
    [OUTPUT_NAME] = "name",
    [OUTPUT_JSON] = "json",
    [OUTPUT_YAML] = "yaml",
    [OUTPUT_JSONPATH] = "jsonpath",
    [OUTPUT_COLUMNS] = "custom-columns",
};

const char *output_name(enum output_kind kind) {
    return names[kind];
}

/* The comma that ends a column's path, not one inside of brackets or quotes. */
static size_t path_span(const char *s) {
    int depth = 0;
    char quote = 0;
    size_t i = 0;
    for (; s[i]; i++) {
        if (quote) {
            if (s[i] == quote)
                quote = 0;
        } else if (s[i] == '\'' || s[i] == '"') {
            quote = s[i];
        } else if (strchr("[({", s[i])) {
            depth++;
        } else if (strchr("])}", s[i])) {
            depth--;
        } else if (s[i] == ',' && depth <= 0) {
            break;
        }
    }
    return i;
}

static int parse_columns(const char *text, struct arena *arena, struct output_format *f,
                         struct err *err) {
    VEC(struct output_column) columns = VEC_INIT;
    int r = 0;
    do {
        size_t title = strcspn(text, ":,");
        if (!title || text[title] != ':') {
            r = err_set(err, EINVAL,
                        "custom-columns: \"%s\" must be TITLE:PATH, for example NAME:.name", text);
            break;
        }
        const char *path = text + title + 1;
        size_t len = path_span(path);
        struct output_column *c = vec_push(&columns);
        c->title = arena_strndup(arena, text, title);
        r = jsonpath_parse(arena_strndup(arena, path, len), arena, &c->path, err);
        if (r) {
            err_wrap(err, "custom-columns, column %s", c->title);
            break;
        }
        text = path + len;
    } while (*text++ == ',');
    if (!r) {
        f->kind = OUTPUT_COLUMNS;
        f->n_columns = columns.len;
        f->columns = arena_alloc(arena, columns.len * sizeof *f->columns);
        memcpy(f->columns, columns.p, columns.len * sizeof *f->columns);
    }
    vec_done(&columns);
    return r;
}

static int unknown(const char *text, struct err *err) {
    static const char *const known[] = {"wide", "name",     "json",
                                        "yaml", "jsonpath", "custom-columns"};
    _cleanup_free_ char *word = xstrndup(text, strcspn(text, "="));
    if (streq(word, "go-template") || streq(word, "template") || streq(word, "go-template-file") ||
        streq(word, "templatefile"))
        return err_set(err, EINVAL,
                       "format \"%s\" needs Go; use jsonpath=TEMPLATE, or json and a tool like jq",
                       word);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (streq(word, known[i]))
            return text[strlen(word)]
                       ? err_set(err, EINVAL, "format \"%s\" takes no value", word)
                       : err_set(err, EINVAL, "format \"%s\" needs a value: %s=%s", word, word,
                                 streq(word, "jsonpath") ? "'{.items[*].name}'" : "NAME:.name");
    const char *near = suggest_nearest(word, known, ARRAY_LEN(known));
    if (near)
        return err_set(err, EINVAL, "unknown format \"%s\" (did you mean \"%s\"?)", word, near);
    return err_set(err, EINVAL,
                   "unknown format \"%s\": use wide, name, json, yaml, jsonpath=TEMPLATE or "
                   "custom-columns=SPEC",
                   word);
}

int output_parse(const char *text, struct arena *arena, void *field, struct err *err) {
    struct output_format *f = field;
    struct output_format parsed = {.kind = OUTPUT_TABLE};
    int r = 0;
    if (str_starts(text, "jsonpath=")) {
        parsed.kind = OUTPUT_JSONPATH;
        r = jsonpath_parse(text + strlen("jsonpath="), arena, &parsed.path, err);
    } else if (str_starts(text, "custom-columns=")) {
        r = parse_columns(text + strlen("custom-columns="), arena, &parsed, err);
    } else if (*text) {
        enum output_kind kind = OUTPUT_WIDE;
        while (kind <= OUTPUT_YAML && !streq(text, names[kind]))
            kind++;
        if (kind > OUTPUT_YAML)
            return unknown(text, err);
        parsed.kind = kind;
    }
    if (!r)
        *f = parsed;
    return r;
}

static int parse_rowless(const char *text, bool wide, struct arena *arena, void *field,
                         struct err *err) {
    struct output_format f;
    int r = output_parse(text, arena, &f, err);
    if (r)
        return r;
    if (f.kind != OUTPUT_TABLE && !(wide && f.kind == OUTPUT_WIDE) &&
        (!output_is_document(&f) || f.kind == OUTPUT_COLUMNS))
        return err_set(err, EINVAL,
                       "format \"%s\" is for tables, and this is none: use %sjson, yaml or "
                       "jsonpath=TEMPLATE",
                       output_name(f.kind), wide ? "wide, " : "");
    *(struct output_format *)field = f;
    return 0;
}

int output_parse_document(const char *text, struct arena *arena, void *field, struct err *err) {
    return parse_rowless(text, false, arena, field, err);
}

int output_parse_text(const char *text, struct arena *arena, void *field, struct err *err) {
    return parse_rowless(text, true, arena, field, err);
}
