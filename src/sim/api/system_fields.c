/* The server's part of metadata. */
#include "sim/api/system_fields.h"

#include "sim/api/names.h"
#include "sim/api/registry.h"

void system_fields_create(struct world *w, json_t *obj) {
    static const char *const drop[] = {"deletionTimestamp", "deletionGracePeriodSeconds",
                                       "selfLink"};
    for (size_t i = 0; i < ARRAY_LEN(drop); i++)
        json_object_del(meta_of(obj), drop[i]);
    char uuid[UUID_LEN + 1];
    meta_set_str(obj, "uid", world_uuid(w, uuid));
    meta_set_time(obj, "creationTimestamp", w->clock.now);
    const char *base = meta_str(obj, "generateName");
    if (!str_empty(base) && str_empty(meta_str(obj, "name"))) {
        _cleanup_free_ char *name = name_generate(base, &w->random);
        meta_set_str(obj, "name", name);
    }
}

int system_fields_update(const struct resource *res, json_t *obj, const json_t *old,
                         bool unconditional, struct failure *f) {
    const char *group = res->info->group, *plural = res->info->plural;
    const char *version = meta_str(obj, "resourceVersion"),
               *current = strna(meta_str(old, "resourceVersion"));
    const char *name = strna(meta_str(old, "name"));
    if (str_empty(version) || streq(version, "0")) {
        if (!unconditional) {
            struct field_errors e = {0};
            json_t *zero = json_integer(0);
            field_error(&e, FIELD_INVALID, "metadata.resourceVersion", zero,
                        "must be specified for an update");
            fail_invalid(f, group, plural, name, &e);
            json_decref(zero);
            field_errors_done(&e);
            return -1;
        }
        meta_set_str(obj, "resourceVersion", current);
    } else if (!streq(version, current)) {
        return fail_conflict(f, group, plural, name,
                             "the object has been modified; please apply your changes to the "
                             "latest version and try again");
    }
    static const char *const keep[] = {"name", "namespace", "uid", "creationTimestamp"};
    for (size_t i = 0; i < ARRAY_LEN(keep); i++)
        if (str_empty(meta_str(obj, keep[i])) && meta_str(old, keep[i]))
            meta_set_str(obj, keep[i], meta_str(old, keep[i]));
    static const char *const deletion[] = {"deletionTimestamp", "deletionGracePeriodSeconds"};
    for (size_t i = 0; i < ARRAY_LEN(deletion); i++) {
        json_t *was = json_object_get(json_object_get(old, "metadata"), deletion[i]);
        if (was && !json_object_get(meta_of(obj), deletion[i]))
            json_object_set(meta_of(obj), deletion[i], was);
    }
    int64_t generation = meta_int(old, "generation", 0);
    if (generation)
        json_object_set_new(meta_of(obj), "generation", json_integer(generation));
    else
        json_object_del(meta_of(obj), "generation");
    json_object_del(meta_of(obj), "selfLink");
    return 0;
}
