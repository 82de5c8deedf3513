/* The lines of a recording: what came into the core (controller/core.h) and what came of it, one
 * JSON object each, in order. The first is the beginning: what the core was made with; then the
 * stores are told, as they were then.
 *
 *     {"in":"step","mono":12345,"wall":1794729600000000}
 *     {"out":"note","node":"w1","from":"Pending","to":"Draining","reason":"SlotTaken",...}
 *     {"in":"read","outcome":"failed","message":"forbidden","source":"ceph-pods"}
 *
 * Of objects there is what Slipway keeps of them at all, so no environment, no commands and no
 * Secrets; and of that not what is nobody's business: machine ids, addresses, annotations that
 * nothing is decided by, and what a Maintenance has run or called. */
#ifndef CONTROLLER_TAPE_H
#define CONTROLLER_TAPE_H

#include "controller/core.h"
#include "kube/codec.h"

/* With 1.1 came what the checks go by, with 1.2 whether the picture of the cluster may be old; the
 * older ones are read as well, and have none of it. */
#define TAPE_FORMAT       "slipway.record/1.3"
#define TAPE_FORMAT_FIRST "slipway.record/1.0"

/* A line, but for its object. Texts are entries of the pool, or whoever's who prints it. */
struct tape_line {
    const char *in, *out; /* one of both */
    /* of the beginning */
    const char *format, *build, *identity, *seed, *rate;
    int64_t actions;
    /* of the others */
    int64_t mono, wall, id;
    const char *kind, *part, *ns, *name, *version;
    const char *question, *outcome, *message, *cause;
    const char *verb, *uid, *subresource, *body;
    const char *policy, *node, *maintenance, *by, *operation, *reason, *text, *from, *to;
    int32_t code, fence;
    int64_t retry_after, grace, date, since; /* the first two: or ABSENT64 */
    bool yes, warning, strategic, dry_run, minor;
    const char *source; /* of a check: which of its stores is meant, none of the core's */
};
extern const struct type type_tape_line;

/* What the recording begins with. */
struct tape_head {
    const char *build, *identity, *ns;
    uint64_t seed, actions;
    bool no_commands, no_hooks; /* see struct core_opts */
    double rate;                /* the same; one that says none had none */
    bool unchecked;             /* what the checks went by is not in it; read only */
};
void tape_write_head(struct str *out, const struct tape_head *head);
/* Adds a line for the event, with its end; nothing for the beginning. */
void tape_write(struct str *out, const struct core_event *e);

/* --- reading --- */

struct tape_read {
    struct tape_line line;
    enum core_what what;
    struct view object; /* its text, empty when there is none */
};
/* The line must be all zero, and is to be released. -EINVAL: it is none, or makes no sense. */
int tape_read(struct codec *codec, struct view text, struct tape_read *out, struct err *err);
void tape_release(struct codec *codec, struct tape_read *r);
bool tape_is_input(enum core_what what);
int tape_head(const struct tape_read *r, struct tape_head *out, struct err *err);
/* As this program would have written it. */
void tape_print(struct str *out, const struct tape_line *line);

/* The words that lines have for what is an enum elsewhere; -1: there is no such word. */
int tape_store_op(const struct tape_read *r);
int tape_outcome(const char *word);
int tape_question(const char *word);
int tape_check_source(const char *word);
int tape_check_read(const char *word);

#endif
