/* The audit log: who asked, what was decided, why, and which write came of it. JSON lines that are
 * only ever added to:
 *
 *     {"ts":"...","via":"slipway-0_1a2b","kind":"decision","actor":"fleetlock","action":"SlotTaken",
 *      "object":"nodes/w1","policy":"default","operation":"Reboot","slot":"slot:slipway-system/default:...",
 *      "before":"Queued","after":"Draining","reason":"holds a slot of policy default: ..."}
 *     {"ts":"...","via":"...","kind":"write","actor":"fleetlock","action":"evict",
 *      "object":"pods/shop/web-1","result":"ok","code":201}
 *     {"ts":"...","via":"...","kind":"answer","actor":"10.0.0.7:40112","action":"pre-reboot",
 *      "object":"nodes/w1","result":"ok"}
 *
 * docs/audit.md has every member. A file becomes FILE.1 when it has got its size, and is opened
 * anew by audit_reopen(), for those who move it away themselves. What cannot be written, since the
 * disk is full or nobody reads the pipe, is lost, and counted: it is said in the log, and, once
 * something can be written again, in a record of its own. Nothing else waits for it. */
#ifndef CONTROLLER_AUDIT_H
#define CONTROLLER_AUDIT_H

#include "base/err.h"
#include "base/log.h"
#include "controller/metrics.h"
#include "engine/action.h"
#include "engine/keeper.h"
#include "engine/rollout.h"
#include "model/own.h"
#include "net/loop.h"

struct audit;

#define AUDIT_STDOUT "-"
#define AUDIT_SIZE   (INT64_C(64) << 20) /* bytes: a month of a fleet of 1,000 nodes */

struct audit_opts {
    const char *path; /* or AUDIT_STDOUT */
    int64_t size;     /* bytes at which a file becomes FILE.1; 0: never */
    const char *via;  /* who writes: the identity of this replica */
    const struct loop *loop;
    const struct log *log;
    struct metrics *metrics; /* or NULL */
};

/* The error names the file. */
int audit_new(const struct audit_opts *opts, struct audit **out, struct err *err);
/* All take a NULL: nobody keeps one. */
void audit_free(struct audit *a);
void audit_reopen(struct audit *a);

/* Something was decided. */
void audit_note(struct audit *a, const struct keeper_note *note);
void audit_rollout(struct audit *a, const struct rollout_note *note);
/* A write of the engine's has ended; reads are left out, and so are Events and conditions. `actor`:
 * for whom, "" when not known. */
void audit_action(struct audit *a, const char *actor, const struct action *action,
                  const struct answer *answer);
/* An operation is begun, as the Maintenance says; that has ended, and how: that it was begun well
 * does not mean that it is done, which the node shows. */
void audit_operate(struct audit *a, const struct maintenance *m);
void audit_operated(struct audit *a, const char *maintenance, const char *failure);
/* A FleetLock client was told that it may go, or that its report was taken. */
void audit_answer(struct audit *a, const char *actor, const char *action, const char *node,
                  const char *text);

#endif
