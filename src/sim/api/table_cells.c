/* Cells that kinds have in common. */
#include "base/mem.h"
#include "base/vec.h"
#include "model/selector.h"
#include "sim/api/human.h"
#include "sim/api/table_internal.h"

const json_t *json_at(const json_t *object, const char *path) {
    for (;;) {
        size_t len = strcspn(path, ".");
        object = json_object_getn(object, path, len);
        if (!object || !path[len])
            return object;
        path += len + 1;
    }
}

const char *json_text(const json_t *value) {
    return strna(json_string_value(value));
}

int compare_strings(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void cell_sorted(struct api_row *row, const char **list, size_t n, bool unique, const char *none) {
    if (n)
        qsort(list, n, sizeof *list, compare_strings);
    str_reset(&row->text);
    for (size_t i = 0; i < n; i++) {
        if (unique && i && streq(list[i - 1], list[i]))
            continue;
        if (i)
            str_addc(&row->text, ',');
        str_add(&row->text, list[i]);
    }
    jsonw_str(row->w, row->text.len ? str_get(&row->text) : none);
}

static void write_string(struct api_row *row, const json_t *value, const char *otherwise) {
    if (json_is_string(value))
        jsonw_strn(row->w, json_string_value(value), json_string_length(value));
    else
        jsonw_str(row->w, otherwise);
}

void cell_name(struct api_row *row, const void *unused) {
    (void)unused;
    write_string(row, json_object_get(row->meta, "name"), "");
}

void cell_age(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN];
    jsonw_str(row->w, human_since(row->now, json_object_get(row->meta, "creationTimestamp"), buf));
}

void cell_string(struct api_row *row, const void *path) {
    write_string(row, json_at(row->object, path), "");
}

void cell_string_none(struct api_row *row, const void *path) {
    const json_t *value = json_at(row->object, path);
    write_string(row, json_string_length(value) ? value : NULL, "<none>");
}

void cell_string_unset(struct api_row *row, const void *path) {
    write_string(row, json_at(row->object, path), "<unset>");
}

void cell_int(struct api_row *row, const void *path) {
    jsonw_int(row->w, json_integer_value(json_at(row->object, path)));
}

void cell_bool(struct api_row *row, const void *path) {
    jsonw_bool(row->w, json_is_true(json_at(row->object, path)));
}

void cell_count(struct api_row *row, const void *path) {
    const json_t *value = json_at(row->object, path);
    jsonw_int(row->w, (int64_t)(json_array_size(value) + json_object_size(value)));
}

void cell_labels(struct api_row *row, const void *path) {
    VEC(const char *) pairs = VEC_INIT;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json_at(row->object, path), key, value) {
        *vec_push(&pairs) = xasprintf("%s=%s", key, json_text(value));
    }
    cell_sorted(row, pairs.p, pairs.len, false, "<none>");
    for (size_t i = 0; i < pairs.len; i++)
        free((char *)pairs.p[i]);
    vec_done(&pairs);
}

static void write_each(struct api_row *row, const json_t *list, const char *key) {
    size_t i;
    json_t *value;
    str_reset(&row->text);
    json_array_foreach(list, i, value) {
        if (i)
            str_addc(&row->text, ',');
        str_add(&row->text, json_text_of(value, key));
    }
    jsonw_str(row->w, str_get(&row->text));
}

void cell_containers(struct api_row *row, const void *unused) {
    (void)unused;
    write_each(row, json_at(row->spec, "template.spec.containers"), "name");
}

void cell_images(struct api_row *row, const void *unused) {
    (void)unused;
    write_each(row, json_at(row->spec, "template.spec.containers"), "image");
}

/* --- selectors --- */

struct term {
    const char *key;
    const char *op;       /* as an expression has it; NULL for a label, which comes before those */
    const json_t *values; /* a label: the value */
    size_t index;
};

static int compare_terms(const void *a, const void *b) {
    const struct term *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool is_word(const struct term *t, const char *word) {
    return t->op && streq(t->op, word);
}

static bool takes_values(const struct term *t) {
    return is_word(t, "In") || is_word(t, "NotIn");
}

static bool valid_term(const struct term *t) {
    size_t i;
    json_t *value;
    if (label_key_problem(view_of(t->key)))
        return false;
    if (!t->op)
        return json_is_string(t->values) && !label_value_problem(view_of(json_text(t->values)));
    if (!takes_values(t))
        return (is_word(t, "Exists") || is_word(t, "DoesNotExist")) && !json_array_size(t->values);
    if (!json_array_size(t->values))
        return false;
    json_array_foreach(t->values, i, value) {
        if (!json_is_string(value) || label_value_problem(view_of(json_text(value))))
            return false;
    }
    return true;
}

static void add_values(struct str *out, const json_t *values) {
    size_t i, n = json_array_size(values);
    json_t *value;
    const char **sorted = xcalloc(n, sizeof *sorted);
    json_array_foreach(values, i, value) {
        sorted[i] = json_text(value);
    }
    qsort(sorted, n, sizeof *sorted, compare_strings);
    for (i = 0; i < n; i++) {
        if (i)
            str_addc(out, ',');
        str_add(out, sorted[i]);
    }
    free(sorted);
}

static void add_term(struct str *out, const struct term *t) {
    if (is_word(t, "DoesNotExist"))
        str_addc(out, '!');
    str_add(out, t->key);
    if (!t->op) {
        str_addc(out, '=');
        str_add(out, json_text(t->values));
    } else if (takes_values(t)) {
        str_add(out, is_word(t, "In") ? " in (" : " notin (");
        add_values(out, t->values);
        str_addc(out, ')');
    }
}

bool label_selector_text(const json_t *selector, struct str *out) {
    VEC(struct term) terms = VEC_INIT;
    const char *key;
    json_t *value;
    size_t i;
    bool valid = true;
    json_object_foreach(json_object_get(selector, "matchLabels"), key, value) {
        size_t at = terms.len;
        *vec_push(&terms) = (struct term){key, NULL, value, at};
    }
    json_array_foreach(json_object_get(selector, "matchExpressions"), i, value) {
        size_t at = terms.len;
        *vec_push(&terms) =
            (struct term){json_text_of(value, "key"), json_text_of(value, "operator"),
                          json_object_get(value, "values"), at};
    }
    if (terms.len)
        qsort(terms.p, terms.len, sizeof *terms.p, compare_terms);
    for (i = 0; i < terms.len && valid; i++)
        valid = valid_term(&terms.p[i]);
    for (i = 0; i < terms.len && valid; i++) {
        if (i)
            str_addc(out, ',');
        add_term(out, &terms.p[i]);
    }
    vec_done(&terms);
    return valid;
}

void cell_selector(struct api_row *row, const void *words) {
    const struct selector_words *w = words;
    str_reset(&row->text);
    if (!label_selector_text(json_object_get(row->spec, "selector"), &row->text))
        jsonw_str(row->w, w->invalid);
    else
        jsonw_str(row->w, row->text.len ? str_get(&row->text) : w->empty);
}
