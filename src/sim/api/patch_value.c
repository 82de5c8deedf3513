/* Copies of values, their members in order, and how deep they are. jansson's own deep copy looks
 * for loops, which values that were read do not have; without that it is several times faster, and
 * patches copy a lot. */
#include "sim/api/patch_internal.h"

static json_t *copy_object(const json_t *v, bool nulls) {
    json_t *copy = json_object(), *child;
    const char *key;
    size_t len;
    json_object_keylen_foreach(iterable(v), key, len, child) {
        if (nulls || !json_is_null(child))
            json_object_setn_new_nocheck(copy, key, len,
                                         nulls ? value_copy(child) : value_copy_pruned(child));
    }
    return copy;
}

static json_t *copy_array(const json_t *v, bool nulls) {
    json_t *copy = json_array(), *child;
    size_t i;
    json_array_foreach(v, i, child)
        json_array_append_new(copy, nulls ? value_copy(child) : value_copy_pruned(child));
    return copy;
}

static json_t *copy_any(const json_t *v, bool nulls) {
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return copy_object(v, nulls);
    case JSON_ARRAY:
        return copy_array(v, nulls);
    case JSON_STRING:
        return json_stringn_nocheck(json_string_value(v), json_string_length(v));
    case JSON_INTEGER:
        return json_integer(json_integer_value(v));
    case JSON_REAL:
        return json_real(json_real_value(v));
    default:
        return iterable(v); /* there is but one of true, false and null */
    }
}

json_t *value_copy(const json_t *v) {
    return copy_any(v, true);
}

json_t *value_copy_pruned(const json_t *v) {
    return copy_any(v, false);
}

struct named {
    const char *key;
    size_t len;
    json_t *value;
};

static int by_name(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int order = memcmp(x->key, y->key, MIN_OF(x->len, y->len));
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

void value_sort(json_t *object) {
    size_t n = json_object_size(object), i = 0;
    bool sorted = true;
    _cleanup_free_ struct named *names = xcalloc(n ? n : 1, sizeof *names);
    struct named *one;
    const char *key;
    size_t len;
    json_t *value;
    json_object_keylen_foreach(object, key, len, value) {
        one = &names[i++];
        *one = (struct named){key, len, value};
        sorted = sorted && (i == 1 || by_name(one - 1, one) < 0);
    }
    if (sorted)
        return;
    qsort(names, n, sizeof *names, by_name);
    _cleanup_json_ json_t *ordered = json_object();
    for (i = 0; i < n; i++)
        json_object_setn_nocheck(ordered, names[i].key, names[i].len, names[i].value);
    json_object_clear(object);
    json_object_keylen_foreach(ordered, key, len, value)
        json_object_setn_nocheck(object, key, len, value);
}

void value_sort_all(json_t *v) {
    const char *key;
    json_t *child;
    size_t i;
    if (json_is_object(v)) {
        value_sort(v);
        json_object_foreach(v, key, child) value_sort_all(child);
    } else {
        json_array_foreach(v, i, child) value_sort_all(child);
    }
}

size_t value_depth(const json_t *v) {
    size_t deepest = 0, below, i;
    const char *key;
    json_t *child;
    if (json_is_object(v)) {
        json_object_foreach(iterable(v), key, child) {
            below = value_depth(child); /* once: MAX_OF() is a macro */
            deepest = MAX_OF(deepest, below);
        }
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, child) {
            below = value_depth(child);
            deepest = MAX_OF(deepest, below);
        }
    }
    return deepest + 1;
}
