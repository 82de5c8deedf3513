/* What the files of the surge share. See engine/surge.h for what it is. */
#ifndef ENGINE_SURGE_INTERNAL_H
#define ENGINE_SURGE_INTERNAL_H

#include "base/htab.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/surge.h"
#include "engine/surge_record.h"

/* How often a Deployment that is not watched is read again, at the longest. */
#define POLL_MAX SEC(5)
/* What the server has refused is tried again in case somebody grants it. */
#define REFUSED_MAX SEC(60)

enum sent { SENT_READ, SENT_RAISE, SENT_LOWER };

/* A Deployment. It stays when nothing is to be done about it, so that what is known of it does. */
struct lift {
    char *ns, *name;
    uint32_t name_hash, pod_hash;
    struct deployment *seen; /* the newest that is known; NULL: it is gone */
    struct arena arena;      /* of the record */
    enum surge_mark mark;
    struct surge_record record;
    char *pod, *node; /* whose surge this is; NULL: at rest */
    char *uid;        /* of the Deployment, then */
    bool up;          /* it shall have one more */
    bool began;       /* our marks were seen on it */
    bool blind;       /* a write may have been carried out: it must be read */
    uint64_t action;  /* under way; 0: none */
    enum sent sent;
    int64_t due;            /* of the next write, or of the read when blind */
    int64_t poll, delay;    /* the next look whether it is available */
    int64_t linger;         /* not lowered before, ... */
    int32_t level;          /* ... unless fewer than this are available */
    int64_t rest, rest_for; /* not raised before */
    unsigned failures, conflicts;
    int64_t backoff;
    bool refused;
    char *why;
};

struct surge {
    struct cluster *cluster;
    char *by;
    uint64_t *ids;
    VEC(struct lift *) lifts;
    struct htab by_name, by_pod;
    bool aborted;
    int64_t wake;  /* somebody waits for a time that no lift knows */
    int64_t asked; /* when what could not be read was last asked for again */
    struct str text;
};

/* --- surge.c --- */

/* The one in hand for this pod, or NULL; the one of this name, made when there is none. */
struct lift *surge_of_pod(const struct surge *s, const char *uid);
struct lift *surge_of_name(struct surge *s, const char *ns, const char *name);

/* Older news than what is known are none. */
void surge_see(struct surge *s, struct lift *l, const struct object *obj);
/* Has it our marks? When they are there, but say nothing any more, we remember. */
bool surge_ours(const struct lift *l);
/* What it has while it is up. */
int32_t surge_raised_count(const struct lift *l);

/* The Deployment is taken in hand for this pod. */
void surge_start(struct surge *s, struct lift *l, const char *pod, const char *node, bool up,
                 struct now now);
/* A record that nobody here has in hand. Its pod is looked for on its node, if the node is one of
 * those whose pods are known; else somebody else may be at work there. */
void surge_take_over(struct surge *s, struct lift *l, struct now now);
/* Does what is to be done now. `out` may be NULL: then it is done the next time. */
void surge_settle(struct surge *s, struct lift *l, struct now now, struct actions *out);

#endif
