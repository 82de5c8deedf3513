/* Matching the parts of an object with those of the one it replaces. */
#include "sim/api/structural_ratchet.h"

struct item {
    uint32_t hash;
    const char *key;
    const json_t *value;
};

static uint32_t item_hash(const void *item) {
    return ((const struct item *)item)->hash;
}

static bool item_equal(const void *item, const void *key) {
    return streq(((const struct item *)item)->key, key);
}

static const struct htab_ops item_ops = {item_hash, item_equal};

/* All of an item's keys in one text; false when one is missing or no scalar. */
static bool key_text(const struct snode *list, const json_t *item, struct str *out) {
    if (!json_is_object(item))
        return false;
    for (size_t i = 0; i < json_array_size(list->map_keys); i++) {
        const char *name = strna(json_string_value(json_array_get(list->map_keys, i)));
        const json_t *v = json_object_get(item, name);
        if (json_is_boolean(v))
            str_add(out, json_is_true(v) ? "\x01t" : "\x01f");
        else if (json_is_integer(v))
            str_addf(out, "\x01%" JSON_INTEGER_FORMAT, json_integer_value(v));
        else if (json_is_real(v))
            str_addf(out, "\x01%a", json_real_value(v));
        else if (json_is_string(v))
            str_addf(out, "\x01\"%zu %s", json_string_length(v), json_string_value(v));
        else
            return false;
    }
    return true;
}

static bool is_map_list(const struct ratchet *r) {
    return r->schema->list_type && streq(r->schema->list_type, "map");
}

static void index_old(struct ratchet *r) {
    const struct snode *list = r->schema;
    r->indexed = true;
    r->seed = hash_seed();
    htab_init(&r->by_key, &item_ops);
    if (!streq(list->type, "array") || !list->map_keys)
        return;
    for (size_t i = 0; i < json_array_size(r->old); i++) {
        _cleanup_str_ struct str key = STR_INIT;
        const json_t *old = json_array_get(r->old, i);
        if (!key_text(list, old, &key))
            continue;
        uint32_t hash = hash_more(r->seed, str_get(&key), key.len);
        if (htab_find(&r->by_key, hash, str_get(&key)))
            continue;
        struct item *item = arena_new(&r->arena, struct item);
        *item = (struct item){hash, arena_strndup(&r->arena, str_get(&key), key.len), old};
        htab_insert(&r->by_key, item);
    }
}

bool ratchet_key(const struct ratchet *r, const char *name, struct ratchet *child) {
    const json_t *value = json_object_get(r->value, name), *old = json_object_get(r->old, name);
    const struct snode *schema = snode_member(r->schema, name);
    if (!value || !old || !schema)
        return false;
    *child = RATCHET(schema, value, old);
    return true;
}

bool ratchet_index(struct ratchet *r, size_t i, struct ratchet *child) {
    const json_t *value = json_array_get(r->value, i);
    if (!value || !json_is_array(r->old) || !is_map_list(r))
        return false;
    if (!r->indexed)
        index_old(r);
    _cleanup_str_ struct str key = STR_INIT;
    if (!key_text(r->schema, value, &key))
        return false;
    const struct item *item =
        htab_find(&r->by_key, hash_more(r->seed, str_get(&key), key.len), str_get(&key));
    if (!item || !r->schema->items)
        return false;
    *child = RATCHET(r->schema->items, value, item->value);
    return true;
}

static bool child_unchanged(struct ratchet *child) {
    bool same = ratchet_unchanged(child);
    ratchet_done(child);
    return same;
}

static bool list_unchanged(struct ratchet *r) {
    if (json_array_size(r->value) != json_array_size(r->old))
        return false;
    if (!is_map_list(r))
        return json_equal(r->value, r->old);
    for (size_t i = 0; i < json_array_size(r->value); i++) {
        struct ratchet child;
        if (!ratchet_index(r, i, &child) || !child_unchanged(&child))
            return false;
    }
    return true;
}

static bool object_unchanged(const struct ratchet *r) {
    if (json_object_size(r->value) != json_object_size(r->old))
        return false;
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)r->value, key, member) {
        struct ratchet child;
        if (!ratchet_key(r, key, &child) || !child_unchanged(&child))
            return false;
    }
    return true;
}

bool ratchet_unchanged(struct ratchet *r) {
    bool is_null = !r->value || json_is_null(r->value), was_null = !r->old || json_is_null(r->old);
    if (is_null || was_null)
        return is_null && was_null;
    if (json_is_array(r->value) && json_is_array(r->old))
        return list_unchanged(r);
    if (json_is_object(r->value) && json_is_object(r->old))
        return object_unchanged(r);
    return json_equal(r->value, r->old);
}

void ratchet_done(struct ratchet *r) {
    if (!r->indexed)
        return;
    htab_done(&r->by_key);
    arena_done(&r->arena);
    r->indexed = false;
}
