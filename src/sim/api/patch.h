/* The three kinds of patch that the API server takes, applied to an object as it applies them.
 *
 * The judges are the server's own parts, oddities included: JSON patches (RFC 6902) and merge
 * patches (RFC 7386) are those of gopkg.in/evanphx/json-patch.v4, strategic merge patches those of
 * apimachinery's pkg/util/strategicpatch, and what becomes of a failure is in apiserver's
 * pkg/endpoints/handlers/patch.go. tests/patches compares all three with the originals. So, for
 * example, a JSON patch may "replace" a member that is not there, its indexes may be negative, and
 * a strategic patch whose list item lacks the merge key is answered with 500, not with 400.
 *
 * Pure: current object and patch in, new object out. The inputs are not changed, and the result
 * shares nothing with them that could be changed through it.
 *
 * Bounded, whoever wrote the patch: a JSON patch has at most PATCH_MAX_OPERATIONS operations, may
 * copy PATCH_MAX_COPIED bytes and shift PATCH_MAX_SHIFTED list items; no result is nested deeper
 * than what jansson reads (JSON_PARSER_MAX_DEPTH, 2,048; the real server stops at 10,000). Lists
 * are merged in n log n steps. Values are expected as jansson reads them.
 *
 * The real server's "test" compares texts, and those of the object are as Go's encoder writes them:
 * 1.50 is not 1.5 there, "\u00e9" is not "é", and "a<b" matches only when it is written "a\u003cb".
 * So it is here, when the text of the patch is known (`text`); what an operation before the test
 * has put into the object is compared by value. Two more differences remain. A null that an
 * operation has put there equals null, wherever the test looks from. And keys that appear twice are
 * the business of whoever reads the text. */
#ifndef SIM_API_PATCH_H
#define SIM_API_PATCH_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/failure.h"
#include "sim/schema/schema.h"

enum {
    PATCH_MAX_OPERATIONS = 10000,          /* maxJSONPatchOperations of the real server */
    PATCH_MAX_COPIED = 3 * 1024 * 1024,    /* its JSONPatchMaxCopyBytes */
    PATCH_MAX_SHIFTED = 128 * 1024 * 1024, /* ours: a gigabyte of memory, some 0.2 s */
};

enum patch_kind {
    PATCH_JSON,      /* application/json-patch+json */
    PATCH_MERGE,     /* application/merge-patch+json */
    PATCH_STRATEGIC, /* application/strategic-merge-patch+json */
};

struct patch {
    enum patch_kind kind;
    bool unchecked;              /* fieldValidation=Ignore: its body is read less strictly */
    const struct schema *schema; /* of the object; needed by PATCH_STRATEGIC, else not looked at */
    const json_t *body;
    struct view text; /* that `body` was read from; .p NULL: not known */
};

/* The patched object in `out`, not yet decoded into its type: it may hold unknown fields, wrong
 * types, nulls and left-over directives, and after a patch of the whole document even be a list.
 * `notes` (may be NULL) gets what the server warns of or, when strict, refuses: `json patch unknown
 * field "[0].foo"`.
 *
 * -1 when the patch cannot be applied: `failure` is the answer. The real server keeps the reason of
 * most failures for itself ("the server rejected our request due to an error in our request");
 * `why` (may be NULL) gets it, in the words of the libraries above. Where the real server's handler
 * crashes, which a client sees as a broken stream, the answer is a 500 with the message of the
 * server's panic handler. */
int patch_apply(const struct patch *patch, const json_t *current, json_t **out,
                struct schema_notes *notes, struct failure *failure, struct err *why);

#endif
