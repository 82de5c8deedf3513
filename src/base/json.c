/* Small additions to jansson. */
#include "base/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *json_type_words(const json_t *v) {
    if (!v)
        return "nothing";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "a mapping";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

const char *json_str(const json_t *obj, const char *key) {
    return json_string_value(json_object_get(obj, key));
}

const char *json_real_text(double v, char buf[static JSON_REAL_TEXT]) {
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(buf, JSON_REAL_TEXT, "%.*g", precision, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    if (!strpbrk(buf, ".e"))
        memcpy(buf + strlen(buf), ".0", sizeof ".0"); /* 17 digits and a sign are all there is */
    return buf;
}

static void add_scalar(const json_t *v, struct str *out) {
    char *text = json_dumps(v, JSON_ENCODE_ANY);
    str_add(out, strna(text));
    free(text);
}

static void add_key(const char *key, struct str *out) {
    json_t *name = json_string(key);
    add_scalar(name, out);
    str_addc(out, ':');
    json_decref(name);
}

/* Recursion is as deep as the document, which jansson has limited. */
void json_add_text(const json_t *v, struct str *out) {
    char real[JSON_REAL_TEXT];
    const char *key;
    json_t *child;
    size_t i = 0;
    if (json_is_object(v)) {
        str_addc(out, '{');
        json_object_foreach((json_t *)(uintptr_t)v, key, child) {
            str_add(out, i++ ? "," : "");
            add_key(key, out);
            json_add_text(child, out);
        }
        str_addc(out, '}');
    } else if (json_is_array(v)) {
        str_addc(out, '[');
        json_array_foreach(v, i, child) {
            str_add(out, i ? "," : "");
            json_add_text(child, out);
        }
        str_addc(out, ']');
    } else if (json_is_real(v)) {
        str_add(out, json_real_text(json_real_value(v), real));
    } else {
        add_scalar(v, out);
    }
}

static void wipe_strings(json_t *v) {
    const char *key;
    json_t *child;
    size_t i;
    if (json_is_string(v)) {
        /* jansson hands out its own heap copy; const only says who may change it. */
        mem_wipe((char *)(uintptr_t)json_string_value(v), json_string_length(v));
    } else if (json_is_object(v)) {
        json_object_foreach(v, key, child) wipe_strings(child);
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, child) wipe_strings(child);
    }
}

void json_wipe(json_t *v) {
    wipe_strings(v);
    json_decref(v);
}
