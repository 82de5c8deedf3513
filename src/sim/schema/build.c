/* Objects in canonical form out of the values of their fields. */
#include "sim/schema/build.h"

json_t *build_zero(const struct schema_field *f) {
    switch ((enum schema_kind)f->kind) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
        return json_string("");
    case SCHEMA_BOOL:
        return json_false();
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_DOUBLE:
    case SCHEMA_INTSTR:
        return json_integer(0);
    case SCHEMA_QUANTITY:
        return json_string("0");
    case SCHEMA_OBJECT:
        return build_object(f->of, NULL);
    case SCHEMA_OR_BOOL:
        return json_false();
    case SCHEMA_STRINGS:
        return json_array();
    case SCHEMA_TIME:
    case SCHEMA_MICROTIME:
    case SCHEMA_RAW:
    case SCHEMA_OR_LIST:
    case SCHEMA_OR_STRINGS:
        break;
    }
    return json_null();
}

static void add(json_t *object, const struct schema_field *f, json_t *value) {
    if (!value) {
        if (f->flags & SCHEMA_OMITEMPTY)
            return;
        value =
            f->flags & (SCHEMA_POINTER | SCHEMA_LIST | SCHEMA_MAP) ? json_null() : build_zero(f);
    }
    json_object_setn_new_nocheck(object, f->json, f->len, value);
}

static void add_all(json_t *object, const struct schema *s, json_t **values) {
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];
        if (f->flags & SCHEMA_INLINE)
            add_all(object, f->of, values ? values + f->at : NULL);
        else
            add(object, f, values ? values[f->at] : NULL);
    }
}

json_t *build_object(const struct schema *s, json_t **values) {
    json_t *object = json_object();
    add_all(object, s, values);
    return object;
}

void build_drop(const struct schema *s, json_t **values) {
    for (size_t i = 0; i < s->n_flat; i++)
        json_decref(values[i]);
}

struct key {
    const char *p;
    size_t len;
    json_t *value;
};

/* As Go sorts the keys of maps. */
static int by_bytes(const void *a, const void *b) {
    const struct key *x = a, *y = b;
    int order = memcmp(x->p, y->p, MIN_OF(x->len, y->len));
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static bool is_sorted(json_t *map) {
    struct key before = {"", 0, NULL};
    for (void *i = json_object_iter(map); i; i = json_object_iter_next(map, i)) {
        struct key key = {json_object_iter_key(i), json_object_iter_key_len(i), NULL};
        if (by_bytes(&before, &key) > 0)
            return false;
        before = key;
    }
    return true;
}

json_t *build_sorted(json_t *map) {
    if (is_sorted(map))
        return map;
    size_t n = 0;
    struct key *keys = xcalloc(json_object_size(map), sizeof *keys);
    for (void *i = json_object_iter(map); i; i = json_object_iter_next(map, i))
        keys[n++] = (struct key){json_object_iter_key(i), json_object_iter_key_len(i),
                                 json_object_iter_value(i)};
    qsort(keys, n, sizeof *keys, by_bytes);
    json_t *sorted = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_setn_nocheck(sorted, keys[i].p, keys[i].len, keys[i].value);
    free(keys);
    json_decref(map);
    return sorted;
}
