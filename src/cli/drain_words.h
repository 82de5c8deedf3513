/* What people are told about a drain: where a node stands, and the words for what happened. All
 * ways of showing a drain (a block on a terminal, plain lines, events, the summary) take them from
 * here. Pure. Texts are raw, unless said: whoever shows them makes them printable or quotes
 * them. */
#ifndef CLI_DRAIN_WORDS_H
#define CLI_DRAIN_WORDS_H

#include "base/log.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/drain.h"

/* The worst first. */
enum drain_standing {
    STANDING_FAILED,  /* ended, not drained: failed, refused or timed out */
    STANDING_BLOCKED, /* does not get on: see drain_standing() */
    STANDING_ACTIVE,
    STANDING_WAITING, /* has not begun */
    STANDING_STOPPED, /* told to stop */
    STANDING_DONE,
    STANDINGS,
};

/* Pods that wait for each other under a budget are the normal case and no reason for alarm. A node
 * is blocked when somebody must do something about one of its blockers, or when none of its pods
 * has moved for a while. `now`: wall clock. */
enum drain_standing drain_standing(const struct drain_node *n, int64_t now);

/* How many nodes stand how. */
struct drain_counts {
    unsigned of[STANDINGS];
    unsigned total;
};
struct drain_counts drain_count(const struct drain_node *const *nodes, size_t n, int64_t now);

/* Pods that shall go and are not gone. */
unsigned drain_pods_left(const struct drain_node *n);

/* How much a note matters, and what it says about its node. */
enum log_level drain_note_level(const struct drain_note *note);
void drain_note_text(const struct drain_note *note, struct str *out);
/* What happens to every pod: shown only to those who want to know more. */
bool drain_note_is_detail(const struct drain_note *note);
/* "PDBNoBudget web/frontend: needs 3 healthy pods, has 2 of 3". */
void drain_blocker_text(const struct drain_blocker *b, struct str *out);

/* "error", "warn", "info". */
const char *level_word(enum log_level level);

/* A time that is running, to the second while it is short: "45s", "3m02s", "1h20m", "2d04h". */
const char *time_running(int64_t usec, char buf[static TIMEFMT_LEN]);

/* The names of nodes as one node set: "w[1-3],x7". Printable. */
void drain_fold(const struct drain_node *const *nodes, size_t n, struct str *out);

#endif
