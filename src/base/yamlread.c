/* Reads a mapping of a YAML document into a C struct by a table of its keys. */
#include "base/yamlread.h"

#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/utf8.h"

static const char *const type_words[] = {
    [YAML_T_STR] = "a string",       [YAML_T_BOOL] = "true or false",
    [YAML_T_INT] = "a whole number", [YAML_T_STRS] = "a list of strings",
    [YAML_T_OBJECT] = "a mapping",   [YAML_T_LIST] = "a list",
};

void yaml_strs_free(char **strs) {
    for (char **s = strs; s && *s; s++)
        free(*s);
    free(strs);
}

int yaml_bad_word(const struct yaml_doc *doc, struct yaml_pos pos, const char *what,
                  const char *word, const char *const *words, size_t n, struct err *err) {
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT;
    utf8_printable(&shown, word);
    const char *near = suggest_nearest(word, words, n);
    if (near)
        return yaml_err(doc, pos, err, "\"%s\" is no valid %s; did you mean \"%s\"?",
                        str_get(&shown), what, near);
    suggest_list(&list, NULL, words, n);
    return yaml_err(doc, pos, err, "\"%s\" is no valid %s; valid: %s", str_get(&shown), what,
                    str_get(&list));
}

static int unknown_key(const struct yaml_doc *doc, const json_t *obj, const char *key,
                       const char *what, const struct yaml_field *fields, size_t n,
                       struct err *err) {
    _cleanup_str_ struct str shown = STR_INIT, list = STR_INIT;
    const char **words = xcalloc(n, sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i] = fields[i].key;
    utf8_printable(&shown, key);
    struct yaml_pos pos = yaml_key_pos(doc, obj, key);
    const char *near = suggest_nearest(key, words, n);
    if (near) {
        yaml_err(doc, pos, err, "unknown key \"%s\" in %s; did you mean \"%s\"?", str_get(&shown),
                 what, near);
    } else {
        suggest_list(&list, NULL, words, n);
        yaml_err(doc, pos, err, "unknown key \"%s\" in %s; valid keys: %s", str_get(&shown), what,
                 str_get(&list));
    }
    free(words);
    return -EINVAL;
}

/* "must be a string, not a number"; scalars where a string is wanted are nearly always missing
 * quotes. */
static int wrong_type(const struct yaml_doc *doc, struct yaml_pos pos, const char *what,
                      const char *key, enum yaml_type type, const json_t *value, struct err *err) {
    bool scalar = json_is_number(value) || json_is_boolean(value);
    if (type == YAML_T_BOOL && json_is_string(value)) {
        /* Quotes are the mistake only around these two; "yes" and "on" are none of YAML 1.2's. */
        const char *s = json_string_value(value);
        bool quoted = streq(s, "true") || streq(s, "false");
        return yaml_err(doc, pos, err,
                        quoted ? "%s: %s must be true or false, without quotes"
                               : "%s: %s must be written as true or false",
                        what, key);
    }
    return yaml_err(doc, pos, err, "%s: %s must be %s, not %s%s", what, key, type_words[type],
                    json_type_words(value),
                    type == YAML_T_STR && scalar ? ": put it in quotes" : "");
}

static int read_strs(const struct yaml_doc *doc, const json_t *list, const char *what,
                     const char *key, char ***out, struct err *err) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (!json_is_string(item)) {
            _cleanup_free_ char *element = xasprintf("%s[%zu]", key, i);
            return wrong_type(doc, yaml_item_pos(doc, list, i), what, element, YAML_T_STR, item,
                              err);
        }
    }
    char **strs = xcalloc(json_array_size(list) + 1, sizeof *strs);
    json_array_foreach(list, i, item) strs[i] = xstrdup(json_string_value(item));
    yaml_strs_free(*out);
    *out = strs;
    return 0;
}

static int read_field(const struct yaml_doc *doc, const json_t *obj, const struct yaml_field *f,
                      const char *what, const json_t *value, char *out, struct err *err) {
    struct yaml_pos pos = yaml_value_pos(doc, obj, f->key);
    void *member = out + f->offset;
    bool fits = true;
    switch (f->type) {
    case YAML_T_STR:
        fits = json_is_string(value);
        if (fits)
            str_replace(member, json_string_value(value));
        break;
    case YAML_T_BOOL:
        fits = json_is_boolean(value);
        if (fits)
            *(bool *)member = json_is_true(value);
        break;
    case YAML_T_INT: {
        fits = json_is_integer(value);
        int64_t v = json_integer_value(value);
        if (fits && f->min < f->max && (v < f->min || v > f->max))
            return yaml_err(doc, pos, err,
                            "%s: %s must be between %" PRId64 " and %" PRId64 ", not %" PRId64,
                            what, f->key, f->min, f->max, v);
        if (fits)
            *(int64_t *)member = v;
        break;
    }
    case YAML_T_STRS:
        if (json_is_array(value))
            return read_strs(doc, value, what, f->key, member, err);
        fits = false;
        break;
    case YAML_T_OBJECT:
    case YAML_T_LIST:
        fits = f->type == YAML_T_LIST ? json_is_array(value) : json_is_object(value);
        if (fits)
            *(const json_t **)member = value;
        break;
    case YAML_T_ANY:
        *(const json_t **)member = value;
        break;
    case YAML_T_IGNORE:
        break;
    }
    return fits ? 0 : wrong_type(doc, pos, what, f->key, f->type, value, err);
}

int yaml_read(const struct yaml_doc *doc, const json_t *obj, struct yaml_pos pos, const char *what,
              const struct yaml_field *fields, size_t n, void *out, struct err *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(obj) && !json_is_null(obj))
        return yaml_err(doc, pos, err, "%s must be a mapping, not %s", what, json_type_words(obj));
    /* In the order of the file, so that the first mistake is the one that is reported. */
    json_object_foreach((json_t *)(uintptr_t)obj, key, value) {
        const struct yaml_field *f = fields;
        while (f < fields + n && !streq(f->key, key))
            f++;
        if (f == fields + n)
            return unknown_key(doc, obj, key, what, fields, n, err);
        if (json_is_null(value))
            continue;
        int ret = read_field(doc, obj, f, what, value, out, err);
        if (ret < 0)
            return ret;
    }
    for (const struct yaml_field *f = fields; f < fields + n; f++) {
        const json_t *v = json_object_get(obj, f->key);
        if (f->required && (!v || json_is_null(v)))
            return yaml_err(doc, pos, err, "%s: %s is missing", what, f->key);
    }
    return 0;
}
