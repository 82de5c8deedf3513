/* Merge patches: RFC 7386 as evanphx/json-patch has it.
 *
 * It differs in three things. Members that are null are dropped from mappings inside a list too,
 * when the list takes the place of something that was no mapping. The body has to be a mapping;
 * under fieldValidation=Ignore it may be a list, which then is the result. And the members of all
 * mappings that it has looked into are in the order of their names afterwards. */
#include "sim/api/patch_internal.h"

/* What the patch brings: the library takes it apart to look for nulls. */
static json_t *brought(const json_t *v) {
    json_t *copy = value_copy_pruned(v);
    value_sort_all(copy);
    return copy;
}

static void merge(json_t *into, const json_t *patch) {
    const char *key;
    json_t *theirs;
    json_object_foreach(iterable(patch), key, theirs) {
        json_t *ours = json_object_get(into, key);
        if (json_is_null(theirs))
            json_object_del(into, key);
        else if (!json_is_object(ours))
            json_object_set_new_nocheck(into, key, brought(theirs));
        else if (!json_is_object(theirs))
            json_object_set_new_nocheck(into, key, value_copy(theirs));
        else
            merge(ours, theirs);
    }
    value_sort(into);
}

int patch_merge(const struct patch *patch, const json_t *current, json_t **out, struct err *err) {
    const json_t *body = patch->body;
    if (!patch->unchecked && !json_is_object(body) && !json_is_null(body))
        return err_set(err, PATCH_MALFORMED,
                       "error decoding patch: json: cannot unmarshal %s into Go value of type %s",
                       words_json(body), TYPE_MAPPING);
    if (!json_is_object(body) && !json_is_array(body))
        return err_set(err, PATCH_MALFORMED, "Invalid JSON Patch");
    if (json_is_array(body) || !json_is_object(current)) {
        *out = brought(body);
        return 0;
    }
    *out = value_copy(current);
    merge(*out, body);
    return 0;
}
