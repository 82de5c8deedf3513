/* What the files of a run of the soak of the controller share. */
#ifndef TESTS_SIM_FLEET_RUN_H
#define TESTS_SIM_FLEET_RUN_H

#include <jansson.h>

#include "base/prng.h"
#include "controller/controller.h"
#include "fleet_oracle.h"
#include "fleet_soak.h"
#include "sim/pace.h"

struct fleet_run;

/* A process of its own: its loop is stopped while it is frozen. */
struct fleet_replica {
    struct fleet_run *run;
    unsigned index, lives;
    struct chaos *chaos;
    struct loop *loop;
    struct kube_client client;
    struct controller *controller; /* NULL: it is dead */
    bool frozen;
    int64_t missed; /* microseconds that it was */
    struct log log;
    char identity[32];
    struct loop_timer *restart, *thaw; /* of the world's loop */
};

/* A FleetLock client on a node. */
enum client_state { CLIENT_RESTS, CLIENT_ASKS, CLIENT_GOES, CLIENT_REPORTS, CLIENT_DONE };
struct fleet_client {
    struct fleet_run *run;
    unsigned node;
    char name[16], boot[48];
    enum client_state state;
    unsigned rounds; /* still to go */
    unsigned again;  /* it was told to go, and asks so often again */
    uint64_t ticket; /* that it waits for; 0: none */
    bool no_boot;    /* the next time it is told to go it does not */
    int64_t silent;  /* asks nothing before that */
    struct loop_timer *timer;
};

/* Something that people have begun and will end, or are about to begin. */
struct fleet_chore {
    struct fleet_run *run;
    struct fleet_event event;
    bool begins;
    char name[32]; /* of what it is done to */
    struct loop_timer *timer;
};

struct fleet_run {
    const struct fleet_soak_options *opts;
    struct fleet_soak_result *result;
    struct fleet_plan plan;
    struct sim *sim;
    struct loop *loop;
    struct pace *pace;
    struct fleet_oracle *oracle;
    struct prng random;
    struct fleet_replica replicas[FLEET_REPLICAS];
    struct fleet_client clients[FLEET_NODES];
    VEC(struct fleet_chore *) chores;
    VEC(struct fleet_event) armed; /* they wait for their moment */
    char aim[32], aim_node[32];    /* the Maintenance and the node whose moment it is; "" */
    struct loop_timer *events, *quiet, *rounds;
    size_t next_event;
    unsigned maintenances, n_rollouts, late; /* that were made; pods that were bound */
    uint64_t tickets;
    int64_t begun;
    bool calm;
};

/* fleet_run.c */
void fleet_trace(const struct fleet_run *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Asks some replica; the number of the question, 0 when nobody is there. */
uint64_t fleet_ask(struct fleet_run *r, const char *node, bool steady);
void fleet_kill(struct fleet_replica *p);
void fleet_freeze(struct fleet_replica *p, int64_t lasts);

/* fleet_client.c */
void fleet_client_begin(struct fleet_run *r, unsigned node);
void fleet_client_answered(struct fleet_run *r, uint64_t ticket, enum fleetlock_kind kind);
bool fleet_clients_done(const struct fleet_run *r);

/* fleet_people.c */
#define MAINTENANCES "/apis/slipway.dev/v1alpha1/maintenances"
#define MAPS         "/api/v1/namespaces/" FLEET_NS "/configmaps"
/* A request of people, with ' for "; the status. */
int fleet_request(struct fleet_run *r, const char *method, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* NULL: there is none. */
json_t *fleet_get(struct fleet_run *r, const char *path);
void fleet_end_later(struct fleet_run *r, const struct fleet_event *e, const char *name);
void fleet_act(struct fleet_run *r, const struct fleet_event *e);
/* Something has come to be, of that node and that Maintenance (""): whoever has waited for it acts
 * right after it. */
void fleet_moment(struct fleet_run *r, const char *moment, const char *node,
                  const char *maintenance);
/* What they look after: halted maintenances, machines that are off. */
void fleet_people_round(struct fleet_run *r);
/* Something is still to be ended. */
bool fleet_people_busy(const struct fleet_run *r);
void fleet_people_done(struct fleet_run *r);

/* fleet_rollouts.c */
void fleet_rollouts_act(struct fleet_run *r, const struct fleet_event *e);
void fleet_rollouts_end(struct fleet_run *r, const struct fleet_event *e, const char *name);
/* The rollout that a Maintenance is of is deleted; false: it is of none. */
bool fleet_rollout_give_up(struct fleet_run *r, const json_t *maintenance);

#endif
