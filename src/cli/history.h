/* What earlier drains have seen of pods, for rehearsals: a file to which drain adds a line of JSON
 * for each pod that went and for each that came (docs/rehearse.md).
 *
 *     {"v":1,"time":"2026-11-15T08:00:00Z","drain":"8c1f","workload":"shop/Deployment/web",
 *      "pod":"web-6c9d-x2x","node":"w1","stop":12.400,"answer":0.031,"turn":0.212}
 *     {"v":1,...,"pod":"web-6c9d-b7k","node":"w2","up":3.214,"place":0.087}
 *
 * `workload` is what model/workload.h calls it; `stop` the seconds from the moment at which the
 * server accepted the eviction (or deletion) until the pod was gone; `up` the seconds from the
 * moment at which a pod had a node until it was ready. A line has at least one of the two.
 * `answer`, `turn`, `place` and `begin` are what the control plane took (cli/lags.h), `drain` tells
 * one drain's lines from another's; older files have none of the five. Members that are not known
 * are left alone; a line of a newer version is refused. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "base/err.h"
#include "cli/cli.h"
#include "cli/lags.h"
#include "engine/drain.h"
#include "exec/starts.h"
#include "sim/fleet/habits.h"

enum {
    HISTORY_VERSION = 1,
    HISTORY_MAX = 256 << 20, /* bytes of a file: two million pods */
};

struct history_seen {
    size_t observations; /* stops and starts */
    size_t ups;          /* starts alone */
    size_t cut;          /* lines that are whole JSON no more */
};

/* Reads all of it; `lags` may be NULL. What a drain that was killed has left in the middle of a
 * line does not count, unless there is nothing else. -EINVAL with "FILE:LINE: why". */
int history_read(const char *path, struct habits *to, struct lags *lags, struct history_seen *seen,
                 struct err *err);

/* For a verb: FILE of its --history, NULL when there is none. 0, or the exit code after having said
 * what is wrong with it. */
int history_load(struct cli *cli, const char *path, struct habits *to, struct lags *lags,
                 struct history_seen *seen);

struct history_ready {
    char *workload;
    int64_t time; /* wall clock */
};
/* What a drain that writes one knows of itself. */
struct history_log {
    const char *drain;                 /* a word that no other drain has */
    int64_t started;                   /* wall clock: of the program; 0: not known */
    int64_t asked;                     /* wall clock: when the first that is gone was; 0 */
    bool begun;                        /* how long it took to begin was told, or is not to be */
    VEC(struct history_ready) readies; /* pods that have started, in the order of time */
};
void history_log_done(struct history_log *log);

/* A node waits before its evictions: for a check, say. How long is not how long a drain takes to
 * begin. */
void history_waits(struct history_log *log, const struct drain_node *node,
                   const struct drain_blocker *blocker);
/* The line of a pod that is gone, with its end; nothing when the time it took is not known: it was
 * not asked to go, or went by itself; or says nothing about others (drain_pod.odd). */
void history_line(struct history_log *log, const struct drain_node *node,
                  const struct drain_pod *pod, int64_t now, struct str *out);
/* The line of a pod that has started. */
void history_start_line(struct history_log *log, const struct start_seen *start, int64_t now,
                        struct str *out);

#endif
