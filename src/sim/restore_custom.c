/* Custom resources of a copy, and the definitions that they need. Nobody acts on them here: there
 * is no operator in a copy. They are there to be read, by the checks of a drain. */
#include <errno.h>

#include "sim/api/custom.h"
#include "sim/api/rules.h"
#include "sim/restore_internal.h"

static int refuse(struct restore *r, json_t *obj, const struct failure *failure) {
    if (!r->refused++)
        str_replace(&r->refusal, strna(failure->message));
    json_decref(obj);
    return 0;
}

int restore_definition(struct restore *r, const json_t *raw, struct err *err) {
    struct api *a = r->fleet->api;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    json_t *obj = NULL;
    if (rules_decode(a, a->crds, raw, &obj, NULL, &failure))
        return err_set(err, EINVAL, "%s", strna(failure.message));
    if (definition_create(a, a->crds, obj, &failure))
        return refuse(r, obj, &failure);
    struct record *stored = restore_put(r, a->crds, obj, err);
    custom_settle(a);
    r->kept += stored != NULL;
    return stored ? 0 : -EINVAL;
}

/* As it was there, with its uid and its times. */
int restore_custom(struct restore *r, struct resource *res, const json_t *raw, struct err *err) {
    struct api *a = r->fleet->api;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    json_t *obj = NULL;
    if (rules_decode(a, res, raw, &obj, NULL, &failure))
        return err_set(err, EINVAL, "%s", strna(failure.message));
    int rc = restore_check_meta(res, obj, err);
    if (rc) {
        json_decref(obj);
        return rc;
    }
    _cleanup_json_ json_t *meta = json_deep_copy(meta_of(obj));
    if (custom_create(a, res, &obj, &failure))
        return refuse(r, obj, &failure);
    json_object_set(obj, "metadata", meta);
    struct record *stored = restore_put(r, res, obj, err);
    r->kept += stored != NULL;
    return stored ? 0 : -EINVAL;
}
