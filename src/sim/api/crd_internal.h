/* Between the files crd*.c. */
#ifndef SIM_API_CRD_INTERNAL_H
#define SIM_API_CRD_INTERNAL_H

#include "sim/api/crd.h"
#include "sim/api/structural_internal.h"

/* A definition as the server holds it inside: what all versions have the same stands once, above
 * them, and error paths say so ("spec.validation" instead of "spec.versions[0].schema"). */
enum crd_piece { PIECE_SCHEMA, PIECE_SUBRESOURCES, PIECE_COLUMNS, PIECE_SELECTABLE, N_PIECES };

struct crd_view {
    const json_t *spec, *names, *versions;
    bool shared[N_PIECES]; /* does it stand above the versions? */
};

struct crd_view crd_view(const json_t *crd);
/* The piece above the versions, or of a version; NULL when it is not there. */
const json_t *crd_shared(const struct crd_view *v, enum crd_piece piece);
const json_t *crd_of_version(const struct crd_view *v, size_t i, enum crd_piece piece);
/* Wherever it stands. */
const json_t *crd_piece(const struct crd_view *v, size_t i, enum crd_piece piece);

/* The schema within a piece of that kind, or NULL. */
const json_t *crd_schema(const json_t *piece);

/* crd_check.c: fills `out` with the compiled schemas, one per version. What is `stored` was judged
 * before, its defaults are not judged again. */
void crd_check(const json_t *crd, const json_t *old, bool stored, struct structural **out,
               struct field_errors *e);
/* crd_dump.c: the versions as Go prints them, for the errors that show them all. */
void crd_dump_versions(struct str *out, const struct crd_view *v);
/* crd_status.c: what an annotation says about a definition in a group of the Kubernetes project's
 * own. */
enum crd_approval {
    APPROVAL_NONE_NEEDED,
    APPROVAL_INVALID,
    APPROVED,
    APPROVAL_BYPASSED,
    APPROVAL_MISSING
};
enum crd_approval crd_approval(const json_t *crd, struct str *reason);
#define CRD_APPROVED "api-approved.kubernetes.io"

#endif
