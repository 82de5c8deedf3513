/* Plays a recording (controller/tape.h) again: the same inputs, in the same order and at the same
 * times, through the same core (controller/core.h), with no cluster. What comes of them is compared
 * with what came of them then.
 *
 *     replay_new() -> { replay_next() } -> replay_free()
 *
 * A file may end anywhere, since whoever wrote it may have been killed: a last line without an end
 * is left out, and of what came last nothing is missed. */
#ifndef CONTROLLER_REPLAY_H
#define CONTROLLER_REPLAY_H

#include "base/str.h"
#include "controller/tape.h"

struct replay;

struct replay_opts {
    /* Something came of an input, as it did then or not; the line is the recording's, but for its
     * end: where in the file the input is. Valid during the call. */
    void (*out)(void *arg, const struct tape_line *line, struct now now, size_t at);
    /* What came then and does not now, or the other way round: one of both, or both, as text. */
    void (*differs)(void *arg, const char *then, const char *now, size_t at);
    void *arg;
};

/* The text must outlive it. */
int replay_new(struct view text, const struct replay_opts *opts, struct replay **out,
               struct err *err);
void replay_free(struct replay *r);

const struct tape_head *replay_head(const struct replay *r);
/* Plays the next input: 1, 0 at the end, or an error that names the line. */
int replay_next(struct replay *r, struct err *err);
/* As it is after what was played last. */
struct core *replay_core(struct replay *r);
struct now replay_now(const struct replay *r);
/* The last line had no end. */
bool replay_is_torn(const struct replay *r);
/* How many inputs were played. */
size_t replay_inputs(const struct replay *r);

#endif
