/* The flight recorder: keeps what comes into the core (controller/core.h), and what comes of it, in
 * a file (controller/tape.h), from which `slipway replay` runs it again.
 *
 * The file has a limit. When half of it is reached, the file becomes FILE.1, the one before is
 * gone, and a new one begins: with the stores as they are, also those of the checks, and with a
 * core that has been restarted (core_restart()). A restart is always right, since the truth is in
 * the cluster; what the engine knows beyond that could not be written down exactly, and a replay
 * that begins without it would not go the same way. It is done when nobody holds a slot, or when
 * there is no more room; but not before as much has happened as it takes to write down how
 * everything was, nor within seconds, since a restart makes lines of its own.
 *
 * What is recorded is written now and then, not at once. When it cannot be written, recording ends,
 * which is said once; the controller goes on. */
#ifndef CONTROLLER_RECORDER_H
#define CONTROLLER_RECORDER_H

#include "base/log.h"
#include "controller/core.h"
#include "net/loop.h"

struct recorder;

struct recorder_opts {
    const char *path;
    int64_t max; /* bytes of both files together */
    const char *build, *identity, *ns;
    uint64_t seed;
    bool no_commands, no_hooks; /* of the core */
    double rate;                /* the same */
    struct loop *loop;
    const struct log *log;
    /* Has the core told again of what the checks go by (core_check_store(), core_check_input()),
     * and that it has changed if the engine was told so. Called where a file begins, when the core
     * decides nothing; NULL: nobody asks them. */
    void (*retell)(void *arg);
    void *arg;
};

/* What was there before becomes FILE.1. The core must outlive it, and its pool. */
int recorder_new(struct core *core, const struct recorder_opts *opts, struct recorder **out,
                 struct err *err);
void recorder_free(struct recorder *r);
/* Whether the core is to be restarted, when nothing is under way in it. False of a NULL. */
bool recorder_wants_restart(const struct recorder *r);

#endif
