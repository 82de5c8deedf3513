/* Reads what an answer of engine/why.h needs and nothing else: the engine asks for it piece by
 * piece, each round of questions is one round of requests that run at the same time.
 *
 *     struct why_reader r;
 *     why_reader_init(&r, &session);
 *     do why_node(&r.world, ...); while (!(rc = why_reader_read(&r)) && r.more);
 *     why_reader_done(&r);
 */
#ifndef CLI_WHY_READ_H
#define CLI_WHY_READ_H

#include "base/htab.h"
#include "cli/session.h"
#include "engine/why.h"

struct why_wanted;

struct why_reader {
    struct session *session;
    struct why_world world;        /* for the engine; its clock is the reader's */
    VEC(struct why_wanted *) list; /* all that was ever asked for */
    struct htab wanted;            /* the same, by what it is */
    uint32_t seed;                 /* of their hashes */
    size_t begun;                  /* those before are being read or were */
    unsigned pending;              /* requests without an answer */
    bool more;                     /* the last round has brought something new */
    unsigned requests;             /* so far */
};

void why_reader_init(struct why_reader *r, struct session *s);
void why_reader_done(struct why_reader *r);

/* Reads what was asked for since the last time. 0, or the exit code after having said why: when the
 * server is not there, or fails to list what there is no answer without (the pods of the target,
 * the budgets). What else cannot be read, and what may not be, is the engine's to name. */
int why_reader_read(struct why_reader *r);

/* --- for whoever looks for a target --- */

/* Whether there is such an object, or that it may not be read (KNOWN_NEVER: nothing is said). */
int why_reader_look(struct why_reader *r, const struct kind *kind, const char *ns, const char *name,
                    enum known *out);
/* Says why the object could not be read; returns the exit code. */
int why_reader_refuse(struct why_reader *r, const struct kind *kind, const char *ns,
                      const char *name);
/* The same of a name that may be that of a node or of a pod, at least one of which could not be
 * read. */
int why_reader_refuse_any(struct why_reader *r, const char *ns, const char *name);
/* Objects of that kind into a store; none, and nothing is said, when they may not be read. Both
 * selectors may be NULL. */
int why_reader_list(struct why_reader *r, const struct kind *kind, const char *ns,
                    const char *fields, struct store *into);

#endif
