/* The columns of custom resources: the table convertor of apiextensions-apiserver. A path leads to
 * a value, and the column's type says how it is shown; what does not fit the type is null. */
#include <math.h>
#include <stdio.h>

#include "sim/api/gotext.h"
#include "sim/api/human.h"
#include "sim/api/table_internal.h"

struct custom_column {
    const struct api_table_paths *paths;
    void *path;
    char *description; /* of one that brings none */
};

/* The kind comes first, so that a pointer to it is one to the whole. */
struct custom_kind {
    struct api_table_kind kind;
    json_t *definition;           /* owns the strings */
    struct api_column *columns;   /* the name, then one for each of: */
    struct custom_column *custom; /* n_columns - 1 */
};

/* --- as Go prints --- */

enum { DIGITS = 17 }; /* tell any double from all others */

/* The shortest digits that are read back as `v`, and where the point stands after them: 0.00123 is
 * "123" and -2. */
static int shortest(double v, char digits[static DIGITS + 1]) {
    char text[DIGITS + 16];
    int precision = 0;
    do
        snprintf(text, sizeof text, "%.*e", precision, fabs(v));
    while (strtod(text, NULL) != fabs(v) && ++precision < DIGITS);
    size_t n = 0;
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return *p ? (int)strtol(p + 1, NULL, 10) + 1 : 1;
}

/* With an exponent fmt's %v writes what is less than 1e-4 or not less than 1e6 (strconv's shortest
 * 'g'); encoding/json what is less than 1e-6 or not less than 1e21, and only that without a zero in
 * front of a small negative exponent. */
static void add_float(struct str *out, double v, bool json) {
    char digits[DIGITS + 1] = "0";
    int point = shortest(v, digits), n = (int)strlen(digits), exponent = point - 1;
    if (signbit(v))
        str_addc(out, '-');
    if (json ? exponent < -6 || exponent >= 21 : exponent < -4 || exponent >= 6) {
        bool one_digit = json && exponent < 0 && exponent > -10;
        str_addc(out, digits[0]);
        if (n > 1)
            str_addf(out, ".%s", digits + 1);
        str_addf(out, one_digit ? "e%c%d" : "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (point <= 0)
        str_add(out, "0.");
    for (int i = point; i < 0; i++)
        str_addc(out, '0');
    for (int i = 0; i < n || i < point; i++) {
        if (i == point && i > 0)
            str_addc(out, '.');
        str_addc(out, i < n ? digits[i] : '0');
    }
}

/* encoding/json's Marshal: what go_json() prints, but with sorted keys and Go's numbers. */
static void add_json(struct str *out, const json_t *value) {
    size_t i = 0, n = json_object_size(value);
    json_t *member;
    if (json_is_object(value)) {
        const char **keys = xcalloc(n + 1, sizeof *keys), *key;
        json_object_foreach((json_t *)value, key, member) {
            keys[i++] = key;
        }
        qsort(keys, n, sizeof *keys, compare_strings);
        for (i = 0; i < n; i++) {
            str_addc(out, i ? ',' : '{');
            _cleanup_json_ json_t *name = json_string(keys[i]);
            go_json(out, name);
            str_addc(out, ':');
            add_json(out, json_object_get(value, keys[i]));
        }
        str_add(out, n ? "}" : "{}");
        free(keys);
    } else if (json_is_array(value)) {
        str_addc(out, '[');
        json_array_foreach(value, i, member) {
            if (i)
                str_addc(out, ',');
            add_json(out, member);
        }
        str_addc(out, ']');
    } else if (json_is_real(value)) {
        add_float(out, json_real_value(value), true);
    } else {
        go_json(out, value);
    }
}

/* As jsonpath's PrintResults: maps and lists as JSON, the rest as fmt.Print. */
static void add_text(struct str *out, const json_t *value) {
    if (json_is_object(value) || json_is_array(value))
        add_json(out, value);
    else if (json_is_string(value))
        str_addn(out, json_string_value(value), json_string_length(value));
    else if (json_is_real(value))
        add_float(out, json_real_value(value), false);
    else if (json_is_null(value))
        str_add(out, "<no value>");
    else
        go_json(out, value);
}

/* --- cells --- */

/* A conversion that does not fit gives this on the machines that the server runs on. */
static int64_t truncated(double v) {
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

/* time.Parse takes no small letters and no leap second; base/timefmt.h takes both. */
static bool is_go_time(const char *s) {
    size_t n = strlen(s);
    return n >= 20 && s[10] == 'T' && s[n - 1] != 'z' && strncmp(s + 17, "60", 2) != 0;
}

/* What the path leads to; NULL when it leads nowhere. */
static const json_t *find(const struct api_row *row, const struct custom_column *c) {
    return c->paths->find(c->path, row->object);
}

static void cell_text(struct api_row *row, const void *column) {
    const json_t *value = find(row, column);
    if (!value) {
        jsonw_null(row->w);
        return;
    }
    str_reset(&row->text);
    add_text(&row->text, value);
    jsonw_strn(row->w, str_get(&row->text), row->text.len);
}

static void cell_integer(struct api_row *row, const void *column) {
    const json_t *value = find(row, column);
    if (json_is_integer(value))
        jsonw_int(row->w, json_integer_value(value));
    else if (json_is_real(value))
        jsonw_int(row->w, truncated(json_real_value(value)));
    else
        jsonw_null(row->w);
}

static void cell_number(struct api_row *row, const void *column) {
    const json_t *value = find(row, column);
    if (!json_is_number(value)) {
        jsonw_null(row->w);
        return;
    }
    str_reset(&row->text);
    add_float(&row->text, json_number_value(value), true);
    jsonw_raw(row->w, str_get(&row->text));
}

static void cell_boolean(struct api_row *row, const void *column) {
    const json_t *value = find(row, column);
    if (json_is_boolean(value))
        jsonw_bool(row->w, json_is_true(value));
    else
        jsonw_null(row->w);
}

static void cell_date(struct api_row *row, const void *column) {
    char buf[TIMEFMT_LEN];
    int64_t t;
    const json_t *value = find(row, column);
    const char *text = json_text(value);
    if (!json_is_string(value))
        jsonw_null(row->w);
    else if (!*text || streq(text, "null"))
        jsonw_str(row->w, "<unknown>");
    else if (!is_go_time(text) || !time_parse(text, strlen(text), &t))
        jsonw_str(row->w, "<invalid>");
    else
        jsonw_str(row->w, human_since(row->now, value, buf));
}

static void cell_nothing(struct api_row *row, const void *unused) {
    (void)unused;
    jsonw_null(row->w);
}

static void (*cell_of(const char *type))(struct api_row *, const void *) {
    static const struct {
        const char *type;
        void (*cell)(struct api_row *, const void *);
    } types[] = {
        {"string", cell_text},     {"integer", cell_integer}, {"number", cell_number},
        {"boolean", cell_boolean}, {"date", cell_date},
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (streq(types[i].type, type))
            return types[i].cell;
    return cell_nothing;
}

/* --- the kind --- */

struct api_table_kind *api_table_custom(const json_t *columns,
                                        const struct api_table_paths *paths) {
    struct custom_kind *k = xnew(struct custom_kind);
    k->definition = json_array_size(columns)
                        ? json_deep_copy(columns)
                        : json_pack("[{s:s, s:s, s:s}]", "name", "Age", "type", "date", "jsonPath",
                                    ".metadata.creationTimestamp");
    size_t i, n = json_array_size(k->definition);
    json_t *d;
    k->columns = xcalloc(n + 1, sizeof *k->columns);
    k->custom = xcalloc(n, sizeof *k->custom);
    k->columns[0] = (struct api_column)COLUMN_NAME;
    k->kind = (struct api_table_kind){.columns = k->columns, .n_columns = 1};
    json_array_foreach(k->definition, i, d) {
        const char *path = json_text_of(d, "jsonPath"), *type = json_text_of(d, "type");
        struct custom_column *c = &k->custom[i];
        if (!(c->path = paths->compile(path)))
            break;
        c->paths = paths;
        c->description =
            xasprintf("Custom resource definition column (in JSONPath format): %s", path);
        const char *description = json_text_of(d, "description");
        k->columns[i + 1] = (struct api_column){
            .name = json_text_of(d, "name"),
            .type = type,
            .format = json_text_of(d, "format"),
            .priority = (int)json_integer_value(json_object_get(d, "priority")),
            .cell = cell_of(type),
            .arg = c,
            .description = *description ? description : c->description,
        };
        k->kind.n_columns = i + 2;
    }
    return &k->kind;
}

struct api_table_kind *api_table_custom_scale(const struct api_table_paths *paths) {
    _cleanup_json_ json_t *columns =
        json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}, {s:s, s:s, s:s}]", /* */
                  "name", "Desired", "type", "integer", "description", "Number of desired replicas",
                  "jsonPath", ".spec.replicas", /* */
                  "name", "Available", "type", "integer", "description",
                  "Number of actual replicas", "jsonPath", ".status.replicas", /* */
                  "name", "Age", "type", "date", "jsonPath", ".metadata.creationTimestamp");
    return api_table_custom(columns, paths);
}

void api_table_kind_free(struct api_table_kind *kind) {
    struct custom_kind *k = (struct custom_kind *)kind;
    if (!k)
        return;
    for (size_t i = 0; i + 1 < k->kind.n_columns; i++) {
        k->custom[i].paths->free(k->custom[i].path);
        free(k->custom[i].description);
    }
    json_decref(k->definition);
    free(k->columns);
    free(k->custom);
    free(k);
}
