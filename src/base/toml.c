/* TOML, as far as it is needed. */
#include "base/toml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 16 }; /* of arrays, and of dotted keys */

struct reader {
    const char *name, *p;
    unsigned line, depth;
    struct err *err;
    const struct toml_judge *judge;
    const char *begin; /* of the line of the item under way */
    struct str table;  /* path of the table that keys are in */
};

static int wrong(struct reader *r, const char *why) {
    return err_set(r->err, EINVAL, "%s:%u: %s", r->name, r->line, why);
}

static void skip_blanks(struct reader *r) {
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
}

static void skip_comment(struct reader *r) {
    if (*r->p == '#')
        r->p += strcspn(r->p, "\n");
}

/* Blanks, comments and line breaks. */
static void skip_lines(struct reader *r) {
    for (;;) {
        skip_blanks(r);
        skip_comment(r);
        if (*r->p == '\r' && r->p[1] == '\n')
            r->p++;
        if (*r->p != '\n')
            return;
        r->line++;
        r->p++;
    }
}

static int end_line(struct reader *r) {
    skip_blanks(r);
    skip_comment(r);
    if (*r->p == '\r' && r->p[1] == '\n')
        r->p++;
    return !*r->p || *r->p == '\n' ? 0 : wrong(r, "something follows where the line should end");
}

/* --- values --- */

static int read_escape(struct reader *r, struct str *out) {
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    const char *found = *r->p ? strchr(from, *r->p) : NULL;
    if (!found)
        return wrong(r, "an escape in a string that is not known here");
    str_addc(out, to[found - from]);
    r->p++;
    return 0;
}

static int read_string(struct reader *r, struct str *out) {
    char quote = *r->p;
    if (r->p[1] == quote && r->p[2] == quote)
        return wrong(r, "strings of several lines are not read here");
    for (r->p++; *r->p != quote;) {
        if (!*r->p || *r->p == '\n')
            return wrong(r, "a string does not end");
        if (quote == '"' && *r->p == '\\') {
            r->p++;
            if (read_escape(r, out))
                return -EINVAL;
            continue;
        }
        str_addc(out, *r->p++);
    }
    r->p++;
    return 0;
}

static int read_value(struct reader *r, json_t **out);

static int read_array(struct reader *r, json_t **out) {
    _cleanup_json_ json_t *list = json_array();
    if (++r->depth > DEPTH_MAX)
        return wrong(r, "arrays in arrays in arrays: too many");
    r->p++;
    for (;;) {
        json_t *one;
        skip_lines(r);
        if (*r->p == ']')
            break;
        if (read_value(r, &one))
            return -EINVAL;
        json_array_append_new(list, one);
        skip_lines(r);
        if (*r->p == ',')
            r->p++;
        else if (*r->p != ']')
            return wrong(r, "an array does not end");
    }
    r->p++;
    r->depth--;
    *out = json_incref(list);
    return 0;
}

static int read_number(struct reader *r, json_t **out) {
    _cleanup_str_ struct str digits = STR_INIT;
    size_t len = strcspn(r->p, " \t\r\n,]#");
    char *end;
    for (size_t i = 0; i < len; i++)
        if (r->p[i] != '_')
            str_addc(&digits, r->p[i]);
    const char *text = str_get(&digits);
    const char *first = text + (*text == '-' || *text == '+');
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*first) || *end || errno)
        return wrong(r,
                     "a value that is neither a string, a number without a fraction, true, false "
                     "nor an array of these");
    r->p += len;
    *out = json_integer(n);
    return 0;
}

static int read_value(struct reader *r, json_t **out) {
    if (*r->p == '"' || *r->p == '\'') {
        _cleanup_str_ struct str text = STR_INIT;
        if (read_string(r, &text))
            return -EINVAL;
        *out = json_stringn(str_get(&text), text.len);
        return *out ? 0 : wrong(r, "a string is no UTF-8");
    }
    if (*r->p == '[')
        return read_array(r, out);
    for (int is = 0; is < 2; is++) {
        const char *word = is ? "true" : "false";
        size_t len = strlen(word);
        if (!strncmp(r->p, word, len) && strchr(" \t\r\n,]#", r->p[len])) {
            r->p += len;
            *out = json_boolean(is);
            return 0;
        }
    }
    return read_number(r, out);
}

/* --- keys and tables --- */

static bool is_key(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int read_key(struct reader *r, struct str *out) {
    skip_blanks(r);
    if (*r->p == '"' || *r->p == '\'') {
        if (read_string(r, out))
            return -EINVAL;
    } else {
        while (is_key(*r->p))
            str_addc(out, *r->p++);
    }
    skip_blanks(r);
    if (!utf8_valid(str_get(out), out->len))
        return wrong(r, "a key is no UTF-8");
    return out->len ? 0 : wrong(r, "a key is missing");
}

/* The table of that name in it, made if need be; of an array of tables the last one. */
static json_t *table_in(json_t *in, const char *key) {
    json_t *found = json_object_get(in, key);
    if (!found) {
        found = json_object();
        json_object_set_new(in, key, found);
    }
    if (json_is_array(found))
        found = json_array_get(found, json_array_size(found) - 1);
    return json_is_object(found) ? found : NULL;
}

/* "a.b.c": the table of all but the last, whose name is left in `last`; all of it is added to
 * `path`. */
static int read_path(struct reader *r, json_t **table, struct str *last, struct str *path) {
    for (unsigned depth = 0;; depth++) {
        str_reset(last);
        if (read_key(r, last))
            return -EINVAL;
        str_addf(path, "%s%s", path->len ? "." : "", str_get(last));
        if (*r->p != '.')
            return 0;
        r->p++;
        *table = depth < DEPTH_MAX ? table_in(*table, str_get(last)) : NULL;
        if (!*table)
            return wrong(r, "a key that is a value already cannot be a table");
    }
}

/* Not a value that is an array: that has an end. */
static bool is_tables(const json_t *v) {
    return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

/* `line`, `key` and `value`: where the item is. */
static int judge(const struct reader *r, unsigned line, const char *key, const char *value,
                 const struct toml_item *item) {
    _cleanup_str_ struct str why = STR_INIT;
    bool of_value = false;
    if (!r->judge || r->judge->good(r->judge->arg, item, &why, &of_value))
        return 0;
    const char *at = of_value ? value : key;
    return err_set(r->err, EINVAL, "%s:%u:%u: %s", r->name, line, (unsigned)(at - r->begin) + 1,
                   str_get(&why));
}

static int read_header(struct reader *r, json_t *root, json_t **table) {
    _cleanup_str_ struct str key = STR_INIT;
    bool many = r->p[1] == '[';
    json_t *in = root;
    r->p += 1 + many;
    skip_blanks(r);
    const char *at = r->p;
    str_reset(&r->table);
    if (read_path(r, &in, &key, &r->table))
        return -EINVAL;
    if (*r->p != ']' || (many && r->p[1] != ']'))
        return wrong(r, "the name of a table does not end");
    r->p += 1 + many;
    if (judge(r, r->line, at, at, &(struct toml_item){.path = str_get(&r->table), .many = many}))
        return -EINVAL;
    json_t *list = json_object_get(in, str_get(&key));
    if (many && list && !is_tables(list))
        return wrong(r, "something of this name is there already, and is no array of tables");
    if (many && !list) {
        list = json_array();
        json_object_set_new(in, str_get(&key), list);
    }
    if (many)
        json_array_append_new(list, json_object());
    *table = table_in(in, str_get(&key));
    return *table ? end_line(r) : wrong(r, "a value of this name is there already");
}

static int read_pair(struct reader *r, json_t *table) {
    _cleanup_str_ struct str key = STR_INIT, path = STR_INIT;
    json_t *value;
    const char *at = r->p;
    unsigned line = r->line; /* a value may have several */
    str_addn(&path, str_get(&r->table), r->table.len);
    if (read_path(r, &table, &key, &path))
        return -EINVAL;
    if (*r->p != '=')
        return wrong(r, "a key and no =");
    r->p++;
    skip_blanks(r);
    if (json_object_get(table, str_get(&key)))
        return wrong(r, "this key has a value already");
    const char *value_at = r->p;
    if (read_value(r, &value))
        return -EINVAL;
    json_object_set_new(table, str_get(&key), value);
    int rc = judge(r, line, at, value_at, &(struct toml_item){str_get(&path), value, false});
    return rc ? rc : end_line(r);
}

int toml_load(const char *name, const char *text, const struct toml_judge *judge, json_t **out,
              struct err *err) {
    struct reader r = {.name = name, .p = text, .line = 1, .err = err, .judge = judge};
    _cleanup_json_ json_t *root = json_object();
    json_t *table = root;
    int rc = 0;
    while (!rc) {
        skip_lines(&r);
        if (!*r.p)
            break;
        for (r.begin = r.p; r.begin > text && r.begin[-1] != '\n';)
            r.begin--;
        rc = *r.p == '[' ? read_header(&r, root, &table) : read_pair(&r, table);
    }
    str_done(&r.table);
    if (!rc)
        *out = json_incref(root);
    return rc;
}
