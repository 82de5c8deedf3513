/* A survey in a few lines: equal things are put together over nodes, the worst first. Pure. */
#ifndef ENGINE_SURVEY_SUM_H
#define ENGINE_SURVEY_SUM_H

#include "engine/survey.h"

struct survey_names {
    const char **p; /* in the order of the survey: sorted */
    size_t len;
};

/* The same reason on several nodes. */
struct survey_sum_blocker {
    enum blocker_code code;
    enum severity severity;
    const char *object, *message;
    unsigned pods;
    int64_t since; /* the earliest; 0: not known */
    struct survey_names nodes;
};

/* The nodes of one holder that are being drained, or are drained. */
struct survey_sum_wave {
    const char *holder; /* as cordon_text() says it */
    struct survey_names nodes;
    unsigned phases[NODE_PHASES];
    unsigned pods_left;
    int64_t since; /* the earliest; 0: not known */
};

/* Nodes that look alike. */
struct survey_sum_nodes {
    enum node_ready ready;
    const char *reason; /* why they are not ready; "" */
    enum node_phase phase;
    bool deleting;
    unsigned pods, moves; /* of all */
    int64_t since;        /* of the phase: the earliest; 0: not known */
    struct survey_names nodes;
};

/* Who keeps nodes cordoned. */
struct survey_sum_lock {
    const char *holder;
    int64_t since; /* the earliest; 0: not known */
    struct survey_names nodes;
};

/* What a drain that was killed may have left behind. Nothing tells whether its process still runs:
 * whoever looks has to know. */
enum survey_left {
    LEFT_MARK,  /* the mark of nodes to come (engine/next_mark.h), and no drain seems to be at work
                 */
    LEFT_DRAIN, /* nodes that are being drained, of whose drain nothing was heard for long */
};
struct survey_sum_left {
    enum survey_left what;
    const char *holder; /* of LEFT_DRAIN; "" */
    int64_t since;      /* of LEFT_DRAIN: heard of for the last time */
    struct survey_names nodes;
};

struct survey_sum {
    size_t n; /* nodes in all */
    unsigned phases[NODE_PHASES], unready;
    unsigned pods_left; /* on nodes that are being drained */
    struct survey_names draining, reboot;
    /* While nodes are being drained only of these. */
    const struct survey_sum_blocker *blockers, *gates; /* gates: what checks of storage, databases
                                                          and quorums have told a drain */
    size_t n_blockers, n_gates;
    const struct survey_sum_wave *waves;
    size_t n_waves;
    const struct survey_sum_nodes *nodes; /* not those that are idle and Ready */
    size_t n_nodes;
    const struct survey_sum_lock *locks;
    size_t n_locks;
    const struct survey_sum_left *left;
    size_t n_left;
};

/* Everything lives in the arena, or in the survey's. */
void survey_sum(const struct survey *s, struct arena *arena, struct survey_sum *out);

#endif
