/* The connections of a server by the address of their client, so that when there is no place left
 * it is the address with the most of them that gives one up: no single one can keep the others out,
 * however slowly it talks. A fixed number for each would not do, since a whole fleet may come from
 * one address. */
#ifndef NET_SERVER_CROWD_H
#define NET_SERVER_CROWD_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/htab.h"

/* One connection; embedded. All zero: it is in no crowd. */
struct crowd_member {
    TAILQ_ENTRY(crowd_member) link;
    struct crowd_group *group;
};

struct crowd {
    struct htab groups;
    uint32_t seed;
};

void crowd_init(struct crowd *c);
/* Nobody is left in it. */
void crowd_done(struct crowd *c);

/* `peer` is "10.0.0.7:4711" or "[::1]:4711": without the port it is the address. */
void crowd_join(struct crowd *c, struct crowd_member *m, const char *peer);
void crowd_leave(struct crowd *c, struct crowd_member *m);

/* Of the addresses that have one that could go, the one with the most connections: the first of
 * them that came and could go. NULL: there is none. */
struct crowd_member *crowd_pick(const struct crowd *c, bool (*could)(const struct crowd_member *m));

#endif
