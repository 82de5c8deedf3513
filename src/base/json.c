/* Small additions to jansson. */
#include "base/json.h"

#include <stdint.h>

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
