/* Go's JSON. */
#include "sim/api/gotext.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>

static void add_string(struct str *out, const char *text) {
    str_addc(out, '"');
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            str_addf(out, "\\%c", c);
        } else if (c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t') {
            str_addf(out, "\\%c", "btn?fr"[c - '\b']);
        } else if (c < 0x20 || c == '<' || c == '>' || c == '&') {
            str_addf(out, "\\u%04x", c);
        } else if (str_starts(p, "\xe2\x80\xa8") || str_starts(p, "\xe2\x80\xa9")) {
            str_addf(out, "\\u202%c", (unsigned char)p[2] == 0xa8 ? '8' : '9');
            p += 2;
        } else {
            str_addc(out, *p);
        }
    }
    str_addc(out, '"');
}

/* The shortest text that reads back as the same number. */
static void add_real(struct str *out, double d) {
    char buf[40];
    if (fabs(d) < 1e15 && d == (double)(int64_t)d) {
        str_addf(out, "%" PRId64, (int64_t)d);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, d);
        if (strtod(buf, NULL) == d)
            break;
    }
    str_add(out, buf);
}

static void new_line(struct str *out, int level) {
    if (level < 0)
        return;
    str_addc(out, '\n');
    for (int i = 0; i < level; i++)
        str_addc(out, ' ');
}

/* `level` is that of the members of what is printed; negative: all in one line. */
static void add_value(struct str *out, const json_t *value, int level) {
    int inner = level < 0 ? level : level + 1, outer = level < 0 ? level : level - 1;
    const char *key;
    json_t *member;
    size_t i = 0;
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        str_addc(out, '{');
        json_object_foreach((json_t *)value, key, member) {
            if (i++)
                str_addc(out, ',');
            new_line(out, level);
            add_string(out, key);
            str_add(out, level < 0 ? ":" : ": ");
            add_value(out, member, inner);
        }
        if (i)
            new_line(out, outer);
        str_addc(out, '}');
        return;
    case JSON_ARRAY:
        str_addc(out, '[');
        json_array_foreach(value, i, member) {
            if (i)
                str_addc(out, ',');
            new_line(out, level);
            add_value(out, member, inner);
        }
        if (i)
            new_line(out, outer);
        str_addc(out, ']');
        return;
    case JSON_STRING:
        add_string(out, json_string_value(value));
        return;
    case JSON_INTEGER:
        str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return;
    case JSON_REAL:
        add_real(out, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        str_add(out, json_is_true(value) ? "true" : "false");
        return;
    case JSON_NULL:
        str_add(out, "null");
        return;
    }
}

void go_json(struct str *out, const json_t *value) {
    add_value(out, value, -1);
}

void go_json_pretty(struct str *out, const json_t *value) {
    add_value(out, value, 1);
}

static int by_key(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *go_sorted(const json_t *map) {
    size_t n = json_object_size(map), i = 0;
    const char **keys = xcalloc(n ? n : 1, sizeof *keys), *key;
    json_t *value, *out = json_object();
    json_object_foreach((json_t *)map, key, value) keys[i++] = key;
    qsort(keys, n, sizeof *keys, by_key);
    for (i = 0; i < n; i++)
        json_object_set(out, keys[i], json_object_get(map, keys[i]));
    free(keys);
    return out;
}
