/* The connections of a server by the address of their client. */
#include "net/server_crowd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct crowd_group {
    uint32_t hash;
    unsigned len;
    TAILQ_HEAD(, crowd_member) members; /* the oldest first */
    char *address;
};

static uint32_t group_hash(const void *entry) {
    return ((const struct crowd_group *)entry)->hash;
}

static bool group_equal(const void *entry, const void *key) {
    const struct view *address = key;
    const char *ours = ((const struct crowd_group *)entry)->address;
    return strlen(ours) == address->len && memcmp(ours, address->p, address->len) == 0;
}

static const struct htab_ops ops = {group_hash, group_equal};

void crowd_init(struct crowd *c) {
    htab_init(&c->groups, &ops);
    c->seed = hash_seed();
}

void crowd_done(struct crowd *c) {
    htab_done(&c->groups);
}

static struct view address_of(const char *peer) {
    const char *port = strrchr(peer, ':');
    return (struct view){peer, port ? (size_t)(port - peer) : strlen(peer)};
}

void crowd_join(struct crowd *c, struct crowd_member *m, const char *peer) {
    struct view address = address_of(peer);
    uint32_t hash = hash_more(c->seed, address.p, address.len);
    struct crowd_group *g = htab_find(&c->groups, hash, &address);
    if (!g) {
        g = xnew(struct crowd_group);
        g->hash = hash;
        g->address = xstrndup(address.p, address.len);
        TAILQ_INIT(&g->members);
        htab_insert(&c->groups, g);
    }
    g->len++;
    m->group = g;
    TAILQ_INSERT_TAIL(&g->members, m, link);
}

void crowd_leave(struct crowd *c, struct crowd_member *m) {
    struct crowd_group *g = m->group;
    struct view address = {g->address, strlen(g->address)};
    TAILQ_REMOVE(&g->members, m, link);
    m->group = NULL;
    if (--g->len)
        return;
    htab_remove(&c->groups, g->hash, &address);
    free(g->address);
    free(g);
}

struct crowd_member *crowd_pick(const struct crowd *c,
                                bool (*could)(const struct crowd_member *m)) {
    struct crowd_member *found = NULL;
    const struct crowd_group *g;
    for (uint32_t i = 0; (g = htab_next(&c->groups, &i));) {
        struct crowd_member *m;
        if (found && g->len <= found->group->len)
            continue;
        TAILQ_FOREACH(m, &g->members, link)
        if (could(m)) {
            found = m;
            break;
        }
    }
    return found;
}
