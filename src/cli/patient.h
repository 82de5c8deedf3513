/* One request after another, with patience for what passes: an overloaded or failing server, an
 * answer that was lost. For verbs that do a few things in a fixed order.
 *
 * A request is sent up to four times, or once where nothing depends on it (patient_try()), so it
 * must be safe to repeat: a read, a patch that has a resourceVersion (the second one then ends in a
 * conflict), a creation with a name of its own. What does not pass by itself (no permission, no
 * such object, a conflict, nobody there) is returned at once. What takes longer than five seconds
 * is told. */
#ifndef CLI_PATIENT_H
#define CLI_PATIENT_H

#include "cli/session.h"

struct patient {
    enum kube_outcome outcome;
    char *message;      /* one sentence: the server's, or why there is none */
    char *reason;       /* of the server's Status ("Forbidden", maybe ""); NULL: there was none */
    int code;           /* of HTTP, 0 when there was no answer */
    struct object *obj; /* of the kind that was asked for; take it by setting it to NULL */
    int64_t date;       /* the server's clock when it answered, 0 when unknown */
    bool lost;          /* an earlier try had no answer and may have been carried out */
};

/* Runs the loop; signals end the program. Nothing is reported. */
void patient_call(struct session *s, const struct kube_op_spec *spec, struct patient *out);
/* The same, and the first answer counts. */
void patient_try(struct session *s, const struct kube_op_spec *spec, struct patient *out);
/* Deletes the object that has that UID, and with it, in the background, what it owns.
 * KUBE_CONFLICT: another one has its name by now. */
void patient_delete(struct session *s, const struct kind *kind, const struct meta *meta,
                    bool dry_run, struct patient *out);
void patient_done(struct session *s, const struct kind *result, struct patient *p);

#endif
