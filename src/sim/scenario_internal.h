/* A scenario as it was read: for scenario.c, which reads it, and scenario_play.c, which makes a
 * cluster of it. */
#ifndef SIM_SCENARIO_INTERNAL_H
#define SIM_SCENARIO_INTERNAL_H

#include "base/yamlread.h"
#include "sim/fleet/machine.h"
#include "sim/scenario.h"

struct node_group {
    char *name, *region, *memory, *storage;
    int64_t count, cpu, pods;
    char **zones, **roles;
    bool main, unschedulable;
    const json_t *labels, *annotations, *taints, *static_pods;
    /* What the name says: PREFIX, a number of so many digits, SUFFIX. */
    size_t prefix;
    int digits;
    int64_t first;
    const char *suffix;
};

struct machine_deed {
    const char *name;
    void (*fn)(struct machine *m);
};

struct delete_event {
    char *version, *kind, *ns, *name;
};

struct scenario_event {
    struct scenario *scenario;
    struct alarm alarm;
    int64_t after, every; /* every 0: once */
    struct yaml_pos pos;
    char *node, *what, *after_text, *every_text;
    const struct machine_deed *deed; /* one of three: this, */
    const json_t *delete_map;        /* this (the fields are in `gone`), */
    const json_t *apply;             /* or this */
    struct delete_event gone;
};

struct scenario {
    struct yaml_doc *doc;
    char *description, *settle_text;
    int64_t settle;
    char **tries;
    const json_t *nodes, *objects, *events;
    VEC(struct node_group) groups;
    VEC(struct scenario_event) list;
    struct sim *sim;
    scenario_trouble_fn *trouble;
    void *trouble_arg;
};

/* The group that --nodes is about; NULL when there is none. */
const struct node_group *scenario_main_group(const struct scenario *s);

/* How many of an object its "copies" ask for when there are so many nodes; 1 without. -EINVAL. */
int scenario_copies(const struct scenario *s, const json_t *object, size_t nodes, int64_t *out,
                    struct err *err);

#endif
