/* Surges: a second pod before the only one is evicted.
 *
 * What is to be done about a Deployment follows from two things alone: whether it shall be up, and
 * the newest state of it that is known (surge_settle()). Whatever was written before, by this
 * process or by one that is gone, stands in that state; after a write whose end is not known it is
 * read before anything is decided. */
#include "engine/surge_internal.h"

#include <string.h>

#include "engine/surge_list.h"
#include "model/version.h"

/* The first time that a Deployment that is not watched is read again; each wait is twice as long.
 */
#define POLL_FIRST MSEC(500)
/* Conflicts that are answered at once: the controller writes the status now and then. */
enum { CONFLICTS_FREE = 3 };
/* After somebody else has undone a raise. */
#define REST_FIRST SEC(5)
#define REST_MAX   SEC(60)
/* The count is lowered when the ReplicaSet's controller has seen that the pod leaves, which shows
 * in the number of available pods. Lowered before, it would remove the younger of two healthy pods:
 * the new one. So long at most, for the number may never have been seen to fall. */
#define LINGER_MAX SEC(2)

/* --- the tables --- */

struct lift_name {
    const char *ns, *name;
};

/* Names are chosen by others, and records may name any pod: the hashes begin with the pool's seed.
 */
static uint32_t hash_name(const struct surge *s, const char *ns, const char *name) {
    return hash_more(hash_more(pool_seed(s->cluster->pool), name, strlen(name)), ns, strlen(ns));
}

static uint32_t hash_pod(const struct surge *s, const char *uid) {
    return hash_more(pool_seed(s->cluster->pool), uid, strlen(uid));
}

static uint32_t lift_hash(const void *entry) {
    return ((const struct lift *)entry)->name_hash;
}

static bool lift_equal(const void *entry, const void *key_) {
    const struct lift *l = entry;
    const struct lift_name *key = key_;
    return streq(l->name, key->name) && streq(l->ns, key->ns);
}

static uint32_t pod_hash(const void *entry) {
    return ((const struct lift *)entry)->pod_hash;
}

static bool pod_equal(const void *entry, const void *key) {
    return streq(((const struct lift *)entry)->pod, key);
}

static const struct htab_ops name_ops = {lift_hash, lift_equal};
static const struct htab_ops pod_ops = {pod_hash, pod_equal};

struct lift *surge_of_pod(const struct surge *s, const char *uid) {
    return uid ? htab_find(&s->by_pod, hash_pod(s, uid), uid) : NULL;
}

struct lift *surge_of_name(struct surge *s, const char *ns, const char *name) {
    struct lift_name key = {ns, name};
    uint32_t hash = hash_name(s, ns, name);
    struct lift *l = htab_find(&s->by_name, hash, &key);
    if (l)
        return l;
    l = xnew(struct lift);
    l->ns = xstrdup(ns);
    l->name = xstrdup(name);
    l->name_hash = hash;
    htab_insert(&s->by_name, l);
    *vec_push(&s->lifts) = l;
    return l;
}

/* --- life --- */

struct surge *surge_new(struct cluster *cluster, const char *by, uint64_t *ids) {
    struct surge *s = xnew(struct surge);
    s->cluster = cluster;
    s->by = xstrdup(strna(by));
    s->ids = ids;
    s->wake = INT64_MAX;
    s->asked = INT64_MIN;
    htab_init(&s->by_name, &name_ops);
    htab_init(&s->by_pod, &pod_ops);
    return s;
}

static void drop_seen(struct surge *s, struct lift *l) {
    object_free(&kind_deployment, s->cluster->pool, (struct object *)l->seen);
    l->seen = NULL;
    l->mark = SURGE_UNMARKED;
}

void surge_free(struct surge *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->lifts.len; i++) {
        struct lift *l = s->lifts.p[i];
        drop_seen(s, l);
        arena_done(&l->arena);
        free(l->ns);
        free(l->name);
        free(l->uid);
        free(l->pod);
        free(l->node);
        free(l->why);
        free(l);
    }
    vec_done(&s->lifts);
    htab_done(&s->by_name);
    htab_done(&s->by_pod);
    str_done(&s->text);
    free(s->by);
    free(s);
}

/* Nothing is wrong with it any more. */
static void calm(struct lift *l) {
    l->failures = l->conflicts = 0;
    l->backoff = 0;
    l->refused = false;
    mem_clear(&l->why);
}

void surge_start(struct surge *s, struct lift *l, const char *pod, const char *node, bool up,
                 struct now now) {
    str_replace(&l->uid, strna(l->seen->meta.uid));
    str_replace(&l->pod, pod);
    str_replace(&l->node, node);
    l->pod_hash = hash_pod(s, pod);
    htab_insert(&s->by_pod, l);
    l->up = up;
    l->began = l->mark == SURGE_MARKED;
    l->due = now.mono;
    l->delay = POLL_FIRST;
    l->poll = now.mono + l->delay;
    calm(l);
}

/* Nothing is to be done about it any more. */
static void end(struct surge *s, struct lift *l) {
    htab_remove(&s->by_pod, l->pod_hash, l->pod);
    mem_clear(&l->uid);
    mem_clear(&l->pod);
    mem_clear(&l->node);
    l->up = l->began = l->blind = false;
    calm(l);
}

static void go_back(struct lift *l, struct now now, int64_t linger) {
    l->up = false;
    l->linger = now.mono + linger;
    l->level = l->seen ? l->seen->available : 0;
    l->delay = POLL_FIRST;
    l->poll = now.mono + l->delay;
}

/* --- what is known --- */

bool surge_ours(const struct lift *l) {
    return l->pod && ((l->mark == SURGE_MARKED && streq(l->record.pod, l->pod)) ||
                      (l->mark == SURGE_BARE && l->began));
}

int32_t surge_raised_count(const struct lift *l) {
    return (l->mark == SURGE_MARKED ? l->record.replicas : 1) + 1;
}

void surge_see(struct surge *s, struct lift *l, const struct object *obj) {
    if (l->seen && version_compare(obj->meta.version, l->seen->meta.version) <= 0)
        return;
    drop_seen(s, l);
    l->seen = (struct deployment *)object_copy(&kind_deployment, obj);
    arena_reset(&l->arena);
    l->mark = surge_record_of(l->seen, &l->arena, &l->record);
    l->began = l->began || (l->mark == SURGE_MARKED && surge_ours(l));
}

static void gone(struct surge *s, struct lift *l) {
    drop_seen(s, l);
    if (l->pod)
        end(s, l);
}

/* Takes over what the store has. */
static void absorb(struct surge *s, struct lift *l) {
    if (!s->cluster->owners_watched)
        return;
    const struct object *obj = store_get(s->cluster->deployments, l->ns, l->name);
    if (obj)
        surge_see(s, l, obj);
    else if (!l->action && !l->blind)
        gone(s, l);
}

/* --- requests --- */

static void send(struct surge *s, struct lift *l, enum sent what, const char *body,
                 struct actions *out) {
    l->sent = what;
    l->action = actions_add(out, s->ids,
                            &(struct action){.verb = body ? ACTION_PATCH : ACTION_READ,
                                             .kind = &kind_deployment,
                                             .ns = l->ns,
                                             .name = l->name,
                                             .grace = -1,
                                             .body = body});
}

static void raise_it(struct surge *s, struct lift *l, struct actions *out) {
    _cleanup_str_ struct str patch = STR_INIT;
    struct surge_record rec = {.pod = l->pod, .node = l->node, .by = s->by};
    surge_patch_raise(l->seen, &rec, &patch);
    send(s, l, SENT_RAISE, str_get(&patch), out);
}

/* A count that somebody else has set since stays. */
static void lower_it(struct surge *s, struct lift *l, struct actions *out) {
    _cleanup_str_ struct str patch = STR_INIT;
    int32_t up = surge_raised_count(l);
    surge_patch_lower(l->seen, surge_replicas(l->seen) == up ? up - 1 : -1, &patch);
    send(s, l, SENT_LOWER, str_get(&patch), out);
}

/* --- decisions --- */

/* The controller has seen that the pod leaves, or has had the time to. */
static bool may_lower(const struct lift *l, struct now now) {
    return now.mono >= l->linger || l->seen->available < l->level ||
           surge_replicas(l->seen) != surge_raised_count(l);
}

static void look(struct surge *s, struct lift *l, struct now now, struct actions *out) {
    if (!s->cluster->owners_watched && now.mono >= l->poll)
        send(s, l, SENT_READ, NULL, out);
}

void surge_settle(struct surge *s, struct lift *l, struct now now, struct actions *out) {
    absorb(s, l);
    if (!l->pod || l->action || !out)
        return;
    if (l->blind) {
        if (now.mono >= l->due)
            send(s, l, SENT_READ, NULL, out);
        return;
    }
    if (l->seen->meta.deleted) {
        end(s, l); /* its pods go in any case */
        return;
    }
    if (l->up && !str_same(l->seen->meta.uid, l->uid))
        go_back(l, now, 0); /* another one of that name: not the pod's */
    bool mine = surge_ours(l);
    if (l->up && mine && surge_replicas(l->seen) != surge_raised_count(l)) {
        /* Somebody else has the last word about the count, an autoscaler for instance. */
        l->rest_for = l->rest_for ? MIN_OF(l->rest_for * 2, REST_MAX) : REST_FIRST;
        l->rest = now.mono + l->rest_for;
        go_back(l, now, 0);
    }
    if (!mine && (!l->up || l->mark == SURGE_MARKED || l->mark == SURGE_STRANGE ||
                  !surge_may_raise(l->seen))) {
        end(s, l);
    } else if (mine && (l->up || !may_lower(l, now))) {
        look(s, l, now, out);
    } else if (now.mono >= l->due) {
        mine ? lower_it(s, l, out) : raise_it(s, l, out);
    }
}

void surge_take_over(struct surge *s, struct lift *l, struct now now) {
    if (l->mark != SURGE_MARKED || l->pod || !cluster_node(s->cluster, l->record.node) ||
        surge_of_pod(s, l->record.pod))
        return;
    size_t n;
    bool here = false;
    const struct pod *const *pods = cluster_pods_on(s->cluster, l->record.node, &n);
    for (size_t i = 0; i < n && !here; i++)
        here = str_same(pods[i]->meta.uid, l->record.pod) && str_same(pods[i]->meta.ns, l->ns) &&
               !pods[i]->meta.deleted;
    surge_start(s, l, l->record.pod, l->record.node, here && !s->aborted, now);
    if (!l->up)
        go_back(l, now, LINGER_MAX);
}

/* --- answers --- */

static int64_t double_up(int64_t delay, int64_t max) {
    return delay ? MIN_OF(delay * 2, max) : POLL_FIRST;
}

static void failed(struct lift *l, const char *why, bool retry, int64_t wish, struct now now) {
    l->refused = !retry;
    l->backoff = double_up(l->backoff, retry ? POLL_MAX : REFUSED_MAX);
    l->failures++;
    l->due = now.mono + MAX_OF(l->backoff, SEC(MIN_OF(MAX_OF(wish, 0), REFUSED_MAX / SEC(1))));
    l->poll = MAX_OF(l->poll, l->due);
    str_replace(&l->why, why);
}

static void failed_by(struct lift *l, const struct answer *a, struct now now) {
    failed(l, a->message, kube_outcome_row(a->outcome)->retry, a->retry_after, now);
}

/* It is as it shall be. */
static bool as_wanted(const struct lift *l) {
    return l->up == surge_ours(l);
}

static void answer_read(struct surge *s, struct lift *l, const struct answer *a, struct now now) {
    if (a->outcome != KUBE_OK) {
        failed_by(l, a, now);
        return;
    }
    if (!a->obj) {
        failed(l, "the answer has no Deployment in it", true, 0, now);
        return;
    }
    surge_see(s, l, a->obj);
    /* That it can be read does not mean that it can be written. */
    if (!l->blind || as_wanted(l))
        calm(l);
    l->blind = false;
    l->due = now.mono;
    l->delay = double_up(l->delay, POLL_MAX);
    l->poll = now.mono + l->delay;
}

static void answer_write(struct surge *s, struct lift *l, const struct answer *a, struct now now) {
    l->due = now.mono;
    l->blind = a->outcome != KUBE_OK || !a->obj;
    if (a->outcome == KUBE_OK) {
        l->delay = POLL_FIRST;
        l->poll = now.mono + l->delay;
        if (a->obj)
            surge_see(s, l, a->obj);
        else
            l->due = l->poll;
        if (a->obj && surge_ours(l) != (l->sent == SENT_RAISE))
            failed(l, "the server took the change and did not keep it (a webhook?)", true, 0, now);
        else
            calm(l);
    } else if (a->outcome != KUBE_CONFLICT) {
        failed_by(l, a, now);
    } else if (++l->conflicts > CONFLICTS_FREE) {
        failed(l, a->message, true, 0, now);
    }
}

bool surge_answer(struct surge *s, uint64_t action, const struct answer *a, struct now now) {
    for (size_t i = 0; i < s->lifts.len; i++) {
        struct lift *l = s->lifts.p[i];
        if (!action || l->action != action)
            continue;
        l->action = 0;
        if (a->outcome == KUBE_NOT_FOUND)
            gone(s, l);
        else if (l->sent == SENT_READ)
            answer_read(s, l, a, now);
        else
            answer_write(s, l, a, now);
        return true;
    }
    return false;
}

/* --- the rest --- */

bool surge_left(struct surge *s, const char *pod_uid, struct now now, struct actions *out) {
    struct lift *l = surge_of_pod(s, pod_uid);
    if (!l || !l->up)
        return false;
    go_back(l, now, LINGER_MAX);
    surge_settle(s, l, now, out);
    return !l->pod;
}

void surge_abort(struct surge *s, struct now now, struct actions *out) {
    s->aborted = true;
    for (size_t i = 0; i < s->lifts.len; i++) {
        struct lift *l = s->lifts.p[i];
        if (l->pod && l->up)
            go_back(l, now, LINGER_MAX);
        surge_settle(s, l, now, out);
    }
}

void surge_resume(struct surge *s, const struct deployment *d, struct now now,
                  struct actions *out) {
    struct lift *l = surge_of_name(s, strna(d->meta.ns), strna(d->meta.name));
    surge_see(s, l, (const struct object *)d);
    surge_take_over(s, l, now);
    surge_settle(s, l, now, out);
}

void surge_step(struct surge *s, struct now now, struct actions *out) {
    if (now.mono >= s->wake)
        s->wake = INT64_MAX;
    for (size_t i = 0; i < s->lifts.len; i++)
        if (s->lifts.p[i]->pod)
            surge_settle(s, s->lifts.p[i], now, out);
}

int64_t surge_next(const struct surge *s) {
    int64_t next = s->wake;
    for (size_t i = 0; i < s->lifts.len; i++) {
        const struct lift *l = s->lifts.p[i];
        if (!l->pod || l->action)
            continue;
        int64_t poll = s->cluster->owners_watched ? INT64_MAX : l->poll;
        int64_t at = l->due;
        if (!l->blind && surge_ours(l) && l->up)
            at = poll;
        else if (!l->blind && surge_ours(l) && l->seen->available >= l->level &&
                 surge_replicas(l->seen) == surge_raised_count(l))
            at = MAX_OF(l->due, MIN_OF(l->linger, poll));
        next = MIN_OF(next, at);
    }
    return next;
}

bool surge_over(const struct surge *s) {
    for (size_t i = 0; i < s->lifts.len; i++)
        if (s->lifts.p[i]->pod)
            return false;
    return true;
}

bool surge_list(const struct surge *s, size_t *i, struct surge_item *out) {
    while (*i < s->lifts.len) {
        const struct lift *l = s->lifts.p[(*i)++];
        if (!l->pod)
            continue;
        *out = (struct surge_item){
            .ns = l->ns,
            .name = l->name,
            .node = l->node,
            .raised = surge_ours(l) && surge_replicas(l->seen) == surge_raised_count(l),
            .going_back = !l->up,
            .why = strna(l->why),
            .refused = l->refused,
        };
        return true;
    }
    return false;
}
