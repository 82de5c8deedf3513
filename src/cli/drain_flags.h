/* The flags of `drain`: those of kubectl drain, by name, meaning and default (but for
 * --ignore-daemonsets, which is on), and ours. */
#ifndef CLI_DRAIN_FLAGS_H
#define CLI_DRAIN_FLAGS_H

#include "cli/drain_view.h"
#include "cli/groups.h"
#include "cli/target.h"
#include "engine/drain.h"

struct drain_flags {
    struct connection_opts connection;
    struct target_opts target;
    /* kubectl's */
    bool force, ignore_daemonsets, delete_emptydir, disable_eviction;
    int grace, skip_wait, chunk;
    int64_t timeout;
    const char *pod_selector;
    /* ours */
    int parallel, max_zones;
    struct limit max_unavailable;
    double rate;
    const char *rules, *history;
    unsigned skip_checks; /* as in struct drain_opts */
    bool surge, wait_rescheduled, uncordon_on_abort, uncordon, json;
    bool in_order, avoid_next;
    int64_t detach_timeout;
    const struct drain_foreseen *foreseen; /* as in struct drain_opts: of a plan */
    size_t n_foreseen;
    int progress; /* enum progress and one; 0: not given */
};

/* Of an option: evictions a second, a double. */
int drain_rate_parse(const char *text, struct arena *arena, void *field, struct err *err);

/* The names that --skip-check takes, up to NULL: those of the checks, and "all". */
extern const char *const drain_check_words[];

/* All fill a struct drain_flags. What a drain is to be like; where what is seen is kept; what is
 * shown while it goes on. */
extern const struct option_group drain_kubectl_options, drain_own_options, drain_history_options,
    drain_progress_options;

/* What is shown while it goes on. PROGRESS_AUTO stands for what kubectl shows: nothing but lines,
 * when there is no flag and standard error is no terminal, for scripts read it. */
enum progress drain_flags_progress(const struct drain_flags *f, const struct term *err, bool quiet,
                                   int verbose, char *(*env)(const char *name));

#endif
