/* The machines behind the Nodes, and the kubelet on each: it registers its Node, renews its lease,
 * starts and stops the pods that are bound to it, and does neither while it is down.
 *
 * How long things take is said by annotations, of the pod or else of its Node, so that a scenario,
 * a test and a user with kubectl annotate all say it the same way. A value is a duration or a range
 * that one is drawn from: "2s-5s".
 *
 *     sim.slipway.dev/start    from binding to running: 500ms-2s
 *     sim.slipway.dev/ready    from running to ready: 0s-1s; "never"
 *     sim.slipway.dev/stop     from deletion to gone, never longer than the grace period: 200ms-2s;
 *                              "never" ignores the signal and takes the whole grace period;
 *                              "stuck" takes for ever
 *     sim.slipway.dev/run      until a container exits by itself; of pods that are not restarted
 *                              5s-20s, of others never
 *     sim.slipway.dev/exit     the exit code then: 0
 *     sim.slipway.dev/boot     of a Node: from going down to registering again: 20s-40s; "never"
 *     sim.slipway.dev/do       of a Node: what happens to its machine now: "reboot", "off" (until
 *                              "on"), "hang" (the kubelet stops, pods run on), "on"; the annotation
 *                              is taken away when it has happened
 *
 * A Node that somebody creates through the API has no machine, and so never becomes Ready, unless
 * it is annotated sim.slipway.dev/machine or, as for kwok, kwok.x-k8s.io/node=fake.
 *
 * A value that means nothing counts as none. In a scenario it is an error; an object that gets one
 * through the API gets a Warning Event, BadAnnotation from slipway-sim, too. */
#ifndef SIM_FLEET_MACHINE_H
#define SIM_FLEET_MACHINE_H

#include "sim/fleet/fleet.h"

#define SIM_ANNOTATION "sim.slipway.dev/"

enum machine_state {
    MACHINE_UP,
    MACHINE_DOWN, /* no power, or on its way up */
    MACHINE_HUNG, /* containers run, but nobody hears of them */
};

struct machine {
    struct machines *all;
    char *name;
    size_t number; /* in the order in which they came: of addresses */
    enum machine_state state;
    char boot_id[UUID_LEN + 1];
    bool registered;  /* its status was written since it came up */
    bool sick;        /* its kubelet works and is not ready: the status stays as it is */
    uint32_t next_ip; /* of its pods */
    struct alarm heartbeat, boot;
    size_t pods;                    /* workers */
    struct static_pod *static_pods; /* the files on its disk: sim/fleet/static_pods.h */
};

/* NULL when there is none of this name. */
struct machine *machine_find(struct fleet *f, const char *name);
size_t machine_count(const struct fleet *f);

/* What can happen to one. */
void machine_reboot(struct machine *m); /* down, and up again with another boot id */
void machine_off(struct machine *m);
void machine_on(struct machine *m);
void machine_hang(struct machine *m);

/* Puts the file of a static pod on its disk: static_pods_add(). */
bool machine_add_static_pod(struct machine *m, const json_t *pod, struct failure *failure);

/* A duration of this sort (the word behind the annotation's slash) for a pod: drawn from the pod's
 * annotation, else its Node's, else from [min, max]. INT64_MAX: never. `word` (may be NULL) gets a
 * value that is no duration. */
int64_t machine_delay(struct fleet *f, const struct pair *annotations,
                      const struct pair *node_annotations, const char *what, int64_t min,
                      int64_t max, const char **word);

/* -EINVAL and what it must be when an annotation of the simulator has a value that means nothing;
 * 0 for good ones and for the annotations of others. */
int machine_annotation_check(const char *key, const char *value, struct err *err);

#endif
