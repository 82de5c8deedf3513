/* Lists that are sets or maps: nothing in them may be there twice (apiextensions-apiserver
 * pkg/apiserver/schema/listtype). */
#include "base/htab.h"
#include "sim/api/gotext.h"
#include "sim/api/structural_internal.h"

/* --- what was seen --- */

struct seen {
    struct htab table;
    uint32_t seed; /* keys are chosen by whoever writes the object */
    struct arena arena;
};

struct entry {
    uint32_t hash;
    const char *text;
    bool twice;
};

static uint32_t entry_hash(const void *entry) {
    return ((const struct entry *)entry)->hash;
}

static bool entry_equal(const void *entry, const void *key) {
    return streq(((const struct entry *)entry)->text, key);
}

static const struct htab_ops entry_ops = {entry_hash, entry_equal};

static void seen_init(struct seen *s) {
    htab_init(&s->table, &entry_ops);
    s->seed = hash_seed();
    s->arena = ARENA_INIT;
}

static void seen_done(struct seen *s) {
    htab_done(&s->table);
    arena_done(&s->arena);
}

/* Is this the second of its kind? A third says nothing new. */
static bool seen_twice(struct seen *s, const char *text) {
    uint32_t hash = hash_more(s->seed, text, strlen(text));
    struct entry *e = htab_find(&s->table, hash, text);
    if (!e) {
        e = arena_new(&s->arena, struct entry);
        *e = (struct entry){hash, arena_strndup(&s->arena, text, strlen(text)), false};
        htab_insert(&s->table, e);
        return false;
    }
    bool again = !e->twice;
    e->twice = true;
    return again;
}

/* A text that is the same for values that Go finds equal: whole numbers and others are different
 * types there. Compound values are compared as JSON with their keys in order. */
static void identity(struct str *out, const json_t *value) {
    if (json_is_real(value)) {
        str_addf(out, "float %a", json_real_value(value) == 0 ? 0.0 : json_real_value(value));
    } else if (json_is_string(value)) {
        str_addf(out, "string %s", json_string_value(value));
    } else {
        str_addf(out, "%d ", json_typeof(value));
        structural_show(out, value);
    }
}

/* --- the checks --- */

static void check_set(const json_t *list, const struct spath *path, struct field_errors *e) {
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < json_array_size(list); i++) {
        _cleanup_str_ struct str text = STR_INIT;
        const json_t *item = json_array_get(list, i);
        identity(&text, item);
        if (seen_twice(&seen, str_get(&text)))
            spath_error(e, FIELD_DUPLICATE, SPATH_AT(path, i), item, "%s", "");
    }
    seen_done(&seen);
}

/* The members that make up an item's key. Null items have none. */
static json_t *key_of(const json_t *item, const json_t *keys) {
    json_t *key = json_object();
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *name = strna(json_string_value(json_array_get(keys, i)));
        json_t *member = json_object_get(item, name);
        if (member)
            json_object_set_nocheck(key, name, member);
    }
    return key;
}

static void check_map(const json_t *list, const json_t *keys, const struct spath *path,
                      struct field_errors *e) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (json_is_object(item) || json_is_null(item))
            continue;
        spath_error(e, FIELD_INVALID, SPATH_AT(path, i), item,
                    "must be an object for an array of list-type map");
        return;
    }
    struct seen seen;
    seen_init(&seen);
    bool single = json_array_size(keys) == 1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        _cleanup_str_ struct str text = STR_INIT;
        _cleanup_json_ json_t *key = key_of(json_array_get(list, i), keys);
        /* A single key is compared by itself, several as the text of an object. */
        void *member = json_object_iter(key);
        if (!single)
            identity(&text, key);
        else if (member)
            identity(&text, json_object_iter_value(member));
        else
            str_add(&text, "none");
        if (seen_twice(&seen, str_get(&text)))
            spath_error(e, FIELD_DUPLICATE, SPATH_AT(path, i), key, "%s", "");
    }
    seen_done(&seen);
}

static void check_list(const struct snode *n, const json_t *list, const struct spath *path,
                       struct field_errors *e) {
    if (n->list_type && streq(n->list_type, "set"))
        check_set(list, path, e);
    if (n->list_type && streq(n->list_type, "map"))
        check_map(list, n->map_keys, path, e);
    for (size_t i = 0; i < json_array_size(list) && n->items; i++)
        snode_check_lists(n->items, json_array_get(list, i), SPATH_AT(path, i), e);
}

void snode_check_lists(const struct snode *n, const json_t *value, const struct spath *path,
                       struct field_errors *e) {
    if (json_is_array(value)) {
        check_list(n, value, path, e);
        return;
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member) {
        const struct snode *property = snode_property(n, key);
        if (n->additional)
            snode_check_lists(n->additional, member, SPATH_KEYED(path, key), e);
        if (property)
            snode_check_lists(property, member, SPATH_CHILD(path, key), e);
    }
}

void structural_validate_lists(const struct structural *s, const json_t *obj, const json_t *old,
                               struct field_errors *e) {
    struct field_errors before = {0};
    if (old)
        snode_check_lists(s->root, old, NULL, &before);
    if (!before.v.len)
        snode_check_lists(s->root, obj, NULL, e);
    field_errors_done(&before);
}
