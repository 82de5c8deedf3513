/* Patches: which kind does it, and what the server answers when it cannot be done. */
#include "sim/api/patch.h"

#include "sim/api/patch_internal.h"

/* The words of the panic handler of the real server. */
#define PANIC "This request caused apiserver to panic. Look in the logs for details."

/* What apiserver's handlers make of an error (interpretStrategicMergePatchError, applyJSPatch). */
static int answer(struct failure *failure, const struct err *err) {
    switch (err->code) {
    case PATCH_MALFORMED:
        return fail_bad_request(failure, "%s", err_msg(err));
    case PATCH_TOO_LARGE:
        return fail(failure, 413, "RequestEntityTooLarge", "%s", err_msg(err));
    case PATCH_UNFIT:
        fail(failure, 422, "Invalid",
             "the server rejected our request due to an error in our request");
        failure->details = true; /* and nothing in them */
        return -1;
    case PATCH_CRASH:
        return fail(failure, 500, "", PANIC);
    default:
        return fail(failure, 500, "", "%s", err_msg(err));
    }
}

int patch_apply(const struct patch *patch, const json_t *current, json_t **out,
                struct schema_notes *notes, struct failure *failure, struct err *why) {
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = 0;
    switch (patch->kind) {
    case PATCH_JSON:
        rc = patch_json(patch, current, out, notes, &err);
        break;
    case PATCH_MERGE:
        rc = patch_merge(patch, current, out, &err);
        break;
    case PATCH_STRATEGIC:
        rc = patch_strategic(patch, current, out, &err);
        break;
    }
    if (!rc)
        return 0;
    answer(failure, &err);
    err_move(why, &err);
    return -1;
}
