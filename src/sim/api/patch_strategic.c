/* Strategic merge patches: mappings merge member by member, lists by the merge key that the type of
 * their field names, and directives in the patch ("$patch", "$retainKeys", "$setElementOrder/...",
 * "$deleteFromPrimitiveList/...") say what merging cannot. After StrategicMergeMapPatch() of
 * apimachinery, step by step, because what it does with a patch that makes little sense is the
 * answer that clients get.
 *
 * The original walks through the patch in the random order of Go's maps; this one takes the members
 * as they were written. It matters where a patch contradicts itself, or has two mistakes.
 *
 * Everything here works on copies and changes them, as the original does. */
#include "sim/api/patch_internal.h"

#define DIRECTIVE   "$patch"
#define RETAIN_KEYS "$retainKeys"
#define SET_ORDER   "$setElementOrder"
#define DELETE_FROM "$deleteFromPrimitiveList"

static int merge_mapping(json_t *live, json_t *patch, struct place at, json_t **out,
                         struct err *err);

static bool says(const json_t *directive, const char *word) {
    return json_is_string(directive) && streq(json_string_value(directive), word);
}

static int fail_directive(const json_t *directive, const json_t *patch, struct err *err) {
    _cleanup_str_ struct str what = STR_INIT, where = STR_INIT;
    words_string(&what, directive);
    words_value(&where, patch);
    return err_set(err, PATCH_BROKEN, "unknown patch type: %s in map: %s", str_get(&what),
                   str_get(&where));
}

/* "$setElementOrder/containers" -> "containers". */
static int field_of(const char *key, const char *prefix, const char **field, struct err *err) {
    size_t len = strlen(prefix);
    if (!str_starts(key, prefix) || key[len] != '/')
        return err_set(err, PATCH_MALFORMED, "invalid patch format of %s",
                       streq(prefix, SET_ORDER) ? "setElementOrder list" : "primitive list");
    *field = key + len + 1;
    return 0;
}

/* ---- what the patch brings and the object does not have ---- */

/* Takes out everything that carries a "$patch"; false: it does so itself. */
static bool drop_directives(json_t *v) {
    const char *key;
    json_t *child;
    void *next;
    if (json_is_object(v)) {
        if (json_object_get(v, DIRECTIVE))
            return false;
        json_object_foreach_safe(v, next, key, child) {
            if (!drop_directives(child))
                json_object_del(v, key);
        }
    }
    size_t n = 0, len = json_array_size(v);
    for (size_t i = 0; i < len; i++) {
        child = json_array_get(v, i);
        if (drop_directives(child))
            json_array_set(v, n++, child);
    }
    for (; len > n; len--)
        json_array_remove(v, len - 1);
    return true;
}

static void drop_nulls(json_t *v) {
    const char *key;
    json_t *child;
    void *next;
    size_t i;
    if (json_is_object(v)) {
        json_object_foreach_safe(v, next, key, child) {
            if (json_is_null(child))
                json_object_del(v, key);
            else
                drop_nulls(child);
        }
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, child) drop_nulls(child);
    }
}

static void take_over(json_t *live, const char *key, json_t *value) {
    drop_nulls(value);
    if (drop_directives(value))
        json_object_set_nocheck(live, key, value);
    else
        json_object_del(live, key);
}

/* ---- lists ---- */

/* Deletes from `live` what the patch wants deleted, and leaves in `plain` the items of the patch
 * that are to be merged. `replaced`: they are to be the whole list. */
static int obey_directives(json_t *live, const json_t *patch, const char *merge_key, json_t *plain,
                           bool *replaced, struct err *err) {
    _cleanup_json_ json_t *doomed = json_array();
    struct list_index index;
    json_t *item;
    size_t i, n = 0;
    long found;
    int rc = 0;
    list_index_init(&index, live, merge_key);
    json_array_foreach(patch, i, item) {
        const json_t *directive = json_object_get(item, DIRECTIVE);
        if (!directive) {
            json_array_append(plain, item);
        } else if (says(directive, "delete")) {
            json_t *value = json_object_get(item, merge_key);
            rc = value ? list_index_find(&index, value, &found, err)
                       : fail_no_merge_key(item, merge_key, err);
            if (!rc)
                json_array_append(doomed, item);
        } else if (says(directive, "replace")) {
            *replaced = true;
        } else if (says(directive, "merge")) {
            rc = err_set(err, PATCH_BROKEN, "merging lists cannot yet be specified in the patch");
        } else {
            rc = fail_directive(directive, item, err);
        }
        if (rc)
            break;
    }
    list_index_done(&index);
    if (rc || !json_array_size(doomed))
        return rc;
    size_t len = json_array_size(live);
    list_index_init(&index, doomed, merge_key);
    for (i = 0; i < len && !rc; i++) {
        item = json_array_get(live, i);
        const json_t *value = json_object_get(item, merge_key);
        found = -1;
        /* a container was compared with those of the list above, and there was none */
        if (value && !json_is_object(value) && !json_is_array(value))
            rc = list_index_find(&index, value, &found, err);
        if (!rc && found < 0)
            json_array_set(live, n++, item);
    }
    for (; !rc && len > n; len--)
        json_array_remove(live, len - 1);
    list_index_done(&index);
    return rc;
}

/* Merges each item of the patch into the one with the same key, or appends it. */
static int merge_items(const json_t *live, const json_t *patch, const char *merge_key,
                       struct place at, json_t **out, struct err *err) {
    _cleanup_json_ json_t *merged = json_copy(iterable(live));
    struct list_index index;
    json_t *item;
    size_t i;
    int rc = 0;
    list_index_init(&index, live, merge_key);
    json_array_foreach(patch, i, item) {
        const json_t *value = json_object_get(item, merge_key);
        long found = -1;
        rc = value ? list_index_find(&index, value, &found, err)
                   : fail_no_merge_key(item, merge_key, err);
        if (rc)
            break;
        if (found < 0) {
            list_index_add(&index, item);
            json_array_append(merged, item);
            continue;
        }
        json_t *both = NULL;
        rc = merge_mapping(json_array_get(merged, (size_t)found), item, at, &both, err);
        if (rc)
            break;
        json_array_set_new(merged, (size_t)found, both);
    }
    list_index_done(&index);
    if (!rc)
        *out = TAKE_PTR(merged);
    return rc;
}

/* What is in either list, each once. (With one twice in the live list, which is none of a server's,
 * the order that the original gives depends on the capacity of a slice.) */
static json_t *unite_scalars(const json_t *live, const json_t *patch) {
    const json_t *lists[] = {live, patch};
    json_t *all = json_array(), *item;
    struct list_index index;
    size_t i;
    list_index_init(&index, NULL, "");
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        json_array_foreach(lists[l], i, item) {
            long found = -1;
            list_index_find(&index, item, &found, NULL);
            if (found < 0) {
                list_index_add(&index, item);
                json_array_append(all, item);
            }
        }
    }
    list_index_done(&index);
    return all;
}

static json_t *delete_scalars(const json_t *live, const json_t *doomed) {
    json_t *left = json_array(), *item;
    struct list_index index;
    size_t i;
    list_index_init(&index, doomed, "");
    json_array_foreach(live, i, item) {
        long found = -1;
        list_index_find(&index, item, &found, NULL);
        if (found < 0)
            json_array_append(left, item);
    }
    list_index_done(&index);
    return left;
}

/* What the original's slice of the live list holds once the patch has been merged: items are
 * deleted in place, so new ones take their room. They count as live ones for $setElementOrder then.
 */
static json_t *held_after(const json_t *merged, size_t room) {
    json_t *held = json_copy(iterable(merged));
    while (json_array_size(held) > room)
        json_array_remove(held, json_array_size(held) - 1);
    return held;
}

/* `deletes`: the patch is a list of $deleteFromPrimitiveList. `held` (may be NULL): held_after().
 */
static int merge_lists(json_t *live, json_t *patch, struct place at, const char *merge_key,
                       bool deletes, json_t **out, json_t **held, struct err *err) {
    _cleanup_json_ json_t *merged = NULL, *plain = NULL, *inside = NULL, *others = NULL;
    const json_t *item;
    int rc;
    if (!json_array_size(live) && !json_array_size(patch)) {
        *out = json_incref(live);
        return 0;
    }
    rc = list_type(live, patch, &item, err);
    if (rc)
        return rc;
    bool mappings = json_is_object(item);
    if (!mappings) {
        if (deletes) {
            *out = delete_scalars(live, patch);
            return 0;
        }
        plain = json_incref(patch);
        merged = unite_scalars(live, patch);
    } else {
        bool replaced = false;
        if (!*merge_key)
            return err_set(err, PATCH_BROKEN, "cannot merge lists without merge key for %s",
                           at.kind);
        size_t room = json_array_size(live);
        plain = json_array();
        rc = obey_directives(live, patch, merge_key, plain, &replaced, err);
        if (rc)
            return rc;
        if (replaced) {
            /* they take the place of the list, and nothing is merged into that */
            live = merged = TAKE_PTR(plain);
        } else {
            rc = merge_items(live, plain, merge_key, at, &merged, err);
            if (rc)
                return rc;
            if (held) {
                json_decref(*held);
                *held = held_after(merged, room);
            }
        }
    }
    rc = list_split(merged, plain, merge_key, &inside, &others, err);
    if (!rc)
        rc = list_arrange(inside, others, plain, live, merge_key, mappings, out, err);
    return rc;
}

static int merge_list_field(json_t *live, json_t *patch, struct place at,
                            const struct strategy *strategy, bool deletes, json_t **out,
                            json_t **held, struct err *err) {
    if (strategy->merge || deletes)
        return merge_lists(live, patch, at, strategy->merge_key, deletes, out, held, err);
    *out = json_incref(patch);
    return 0;
}

/* ---- directives of a mapping ---- */

/* Only what $retainKeys lists stays; the patch may not bring anything else. */
static int retain_keys(json_t *live, json_t *patch, struct err *err) {
    _cleanup_json_ json_t *list = json_incref(json_object_get(patch, RETAIN_KEYS));
    _cleanup_json_ json_t *kept = json_object();
    const char *key;
    json_t *value;
    void *next;
    size_t i;
    if (!list)
        return 0;
    json_object_del(patch, RETAIN_KEYS);
    if (!json_is_array(list))
        return err_set(err, PATCH_MALFORMED, "invalid patch format of retainKeys");
    json_array_foreach(list, i, value) {
        if (json_is_object(value) || json_is_array(value))
            return err_set(err, PATCH_CRASH, "runtime error: hash of unhashable type %s",
                           words_type(value));
        if (json_is_string(value))
            json_object_setn_new_nocheck(kept, json_string_value(value), json_string_length(value),
                                         json_true());
    }
    json_object_foreach(patch, key, value) {
        if (!json_is_null(value) && !str_starts(key, DELETE_FROM) && !str_starts(key, SET_ORDER) &&
            !json_object_get(kept, key))
            return err_set(err, PATCH_MALFORMED, "invalid patch format of retainKeys");
    }
    json_object_foreach_safe(live, next, key, value) {
        if (!json_object_get(kept, key))
            json_object_del(live, key);
    }
    return 0;
}

/* The items of the patch stand in the order of $setElementOrder, and all are in it. */
static int check_order(const json_t *patch, const json_t *order, const char *merge_key,
                       struct err *err) {
    _cleanup_json_ json_t *plain = json_array();
    size_t i, at = 0, seen = 0;
    json_t *item;
    if (!json_array_size(order) || !json_array_size(patch))
        return 0;
    json_array_foreach(patch, i, item) {
        if (*merge_key && !json_is_object(item))
            return fail_type(TYPE_MAPPING, item, err);
        if (!*merge_key || !says(json_object_get(item, DIRECTIVE), "delete"))
            json_array_append(plain, item);
    }
    while (at < json_array_size(plain) && seen < json_array_size(order)) {
        bool same = false;
        item = json_array_get(plain, at);
        if (json_object_get(item, DIRECTIVE)) {
            at++;
            continue;
        }
        int rc = list_same_item(item, json_array_get(order, seen), merge_key, &same, err);
        if (rc)
            return rc;
        at += same;
        seen++;
    }
    if (at < json_array_size(plain) && seen >= json_array_size(order)) {
        _cleanup_str_ struct str ours = STR_INIT, theirs = STR_INIT;
        words_value(&ours, patch);
        words_value(&theirs, order);
        return err_set(err, PATCH_BROKEN,
                       "The order in patch list:\n%s\n doesn't match " SET_ORDER " list:\n%s\n",
                       str_get(&ours), str_get(&theirs));
    }
    return 0;
}

/* Merges the list that a $setElementOrder is about, puts it into the order asked for, and takes
 * both out of the patch. */
static int set_order(json_t *live, json_t *patch, const char *key, struct place at,
                     struct err *err) {
    _cleanup_json_ json_t *order = json_incref(json_object_get(patch, key));
    _cleanup_json_ json_t *merged = NULL, *inside = NULL, *others = NULL;
    _cleanup_json_ json_t *before = NULL, *asked = NULL, *held = NULL;
    struct strategy strategy;
    struct place items;
    const json_t *item;
    const char *field;
    json_t *done = NULL;
    json_object_del(patch, key);
    if (!json_is_array(order))
        return fail_type(TYPE_LIST, order, err);
    int rc = field_of(key, SET_ORDER, &field, err);
    if (rc)
        return rc;
    json_t *ours = json_object_get(live, field);
    _cleanup_json_ json_t *theirs = json_incref(json_object_get(patch, field));
    if (ours && !json_is_array(ours))
        return fail_type(TYPE_LIST, ours, err);
    if (theirs && !json_is_array(theirs))
        return fail_type(TYPE_LIST, theirs, err);
    rc = place_items(at, field, &items, &strategy, err);
    if (!rc)
        rc = check_order(theirs, order, strategy.merge_key, err);
    if (rc || (!ours && !theirs))
        return rc;
    before = json_copy(ours); /* merging deletes from both */
    asked = json_copy(theirs);
    held = json_copy(ours);
    if (!theirs) {
        merged = json_incref(ours);
    } else if (!ours) {
        drop_directives(theirs);
        merged = json_incref(theirs);
    } else {
        rc = merge_list_field(ours, theirs, items, &strategy, false, &merged, &held, err);
        if (rc)
            return rc;
    }
    rc = list_split(merged, order, strategy.merge_key, &inside, &others, err);
    if (!rc)
        rc = list_type(before, asked, &item, err);
    if (!rc)
        rc = list_arrange(inside, others, order, held, strategy.merge_key, json_is_object(item),
                          &done, err);
    if (rc)
        return rc;
    json_object_set_new_nocheck(live, field, done);
    json_object_del(patch, field);
    return 0;
}

static int set_orders(json_t *live, json_t *patch, struct place at, struct err *err) {
    const char *key;
    json_t *value;
    bool any;
    /* The patch loses members meanwhile: from the start after each. */
    do {
        any = false;
        json_object_foreach(patch, key, value) {
            if (str_starts(key, SET_ORDER)) {
                _cleanup_free_ char *copy = xstrdup(key);
                int rc = set_order(live, patch, copy, at, err);
                if (rc)
                    return rc;
                any = true;
                break;
            }
        }
    } while (any);
    return 0;
}

/* ---- mappings ---- */

static bool same_type(const json_t *a, const json_t *b) {
    return streq(words_type(a), words_type(b));
}

static int merge_member(json_t *live, const char *key, json_t *theirs, struct place at,
                        struct err *err) {
    const char *field = key;
    bool deletes = str_starts(key, DELETE_FROM);
    json_t *both = NULL;
    struct place below;
    struct strategy strategy;
    int rc = 0;
    if (deletes) {
        rc = field_of(key, DELETE_FROM, &field, err);
        if (rc)
            return rc;
        if (!*field)
            field = key;
    }
    if (json_is_null(theirs)) {
        json_object_del(live, field);
        return 0;
    }
    json_t *ours = json_object_get(live, field);
    if (!ours || !same_type(ours, theirs)) {
        if (!deletes)
            take_over(live, field, theirs);
        return 0;
    }
    if (json_is_object(ours)) {
        rc = place_field(at, field, &below, &strategy, err);
        if (rc)
            return rc;
        if (strategy.replace)
            both = json_incref(theirs);
        else
            rc = merge_mapping(ours, theirs, below, &both, err);
    } else if (json_is_array(ours)) {
        rc = place_items(at, field, &below, &strategy, err);
        if (!rc)
            rc = merge_list_field(ours, theirs, below, &strategy, deletes, &both, NULL, err);
    } else {
        both = json_incref(theirs);
    }
    if (!rc)
        json_object_set_new_nocheck(live, field, both);
    return rc;
}

static int merge_mapping(json_t *live, json_t *patch, struct place at, json_t **out,
                         struct err *err) {
    const json_t *directive = json_object_get(patch, DIRECTIVE);
    const char *key;
    json_t *value;
    if (says(directive, "replace")) {
        json_object_del(patch, DIRECTIVE);
        *out = json_incref(patch);
        return 0;
    }
    if (says(directive, "delete")) {
        *out = json_object();
        return 0;
    }
    if (directive)
        return fail_directive(directive, patch, err);
    int rc = retain_keys(live, patch, err);
    if (!rc)
        rc = set_orders(live, patch, at, err);
    if (rc)
        return rc;
    json_object_foreach(patch, key, value) {
        rc = merge_member(live, key, value, at, err);
        if (rc)
            return rc;
    }
    *out = json_incref(live);
    return 0;
}

int patch_strategic(const struct patch *patch, const json_t *current, json_t **out,
                    struct err *err) {
    _cleanup_json_ json_t *live = value_copy(current);
    _cleanup_json_ json_t *body = value_copy(patch->body);
    if (json_is_null(body)) { /* an empty map of Go's */
        *out = TAKE_PTR(live);
        return 0;
    }
    if (!json_is_object(body))
        return err_set(err, PATCH_MALFORMED, "json: cannot unmarshal %s into Go value of type %s",
                       words_json(body), TYPE_MAPPING);
    return merge_mapping(live, body, place_root(patch->schema), out, err);
}
