/* The pods of a drain: found, watched, gone. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/drain_internal.h"
#include "engine/podrole.h"

enum {
    GRACE_MOST = 1000000000, /* seconds: the server takes any number, and it is multiplied */
    BOUND_LATE = 5,     /* seconds after the cordon in which a scheduler may still not know of it */
    STOPPED_AFTER = 10, /* seconds after it has stopped, for whoever set a finalizer */
    UNSEEN_AFTER = 30,  /* seconds after which an accepted eviction must show */
    RETURN_WITHIN = 3,  /* seconds in which a pod that tolerates the cordon is put back, if it is */
    ANSWER_WITHIN = 10, /* seconds in which a server answers */
};

/* --- entries --- */

void drain_pod_free(struct dpod *p) {
    free((char *)p->pub.ns);
    free((char *)p->pub.name);
    free((char *)p->pub.uid);
    free((char *)p->pub.owner);
    free((char *)p->pub.why);
    free((char *)p->pub.error);
    free((char *)p->pub.blocker.object);
    free((char *)p->pub.blocker.message);
    for (size_t i = 0; i < p->claims.len; i++)
        free(p->claims.p[i]);
    vec_done(&p->claims);
    free(p->owner_uid);
    free(p->budget);
    free(p->budget_version);
    free(p);
}

static struct dpod *pod_find(const struct drain *d, const char *uid) {
    return htab_find(&d->pods, hash_bytes(uid, strlen(uid)), uid);
}

/* In the order of namespaces and names. */
static void pod_insert(struct dnode *n, struct dpod *p) {
    size_t i = n->pods.len;
    vec_push(&n->pods);
    for (; i > 0; i--) {
        struct drain_pod *q = &n->pods.p[i - 1]->pub;
        int c = strcmp(q->ns, p->pub.ns);
        if (c < 0 || (c == 0 && strcmp(q->name, p->pub.name) <= 0))
            break;
        n->pods.p[i] = n->pods.p[i - 1];
    }
    n->pods.p[i] = p;
    n->pub.pods = (struct drain_pod *const *)n->pods.p;
    n->pub.n_pods = n->pods.len;
}

static struct downer *note_owner(struct drain *d, struct dnode *n, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    if (!o || !o->uid || !o->name)
        return NULL;
    struct downer *found = drain_owner(n, o->uid);
    if (found)
        return found;
    found = vec_push(&n->owners);
    *found = (struct downer){.api_version = xstrdup(strna(o->api_version)),
                             .kind = xstrdup(strna(o->kind)),
                             .ns = xstrdup(strna(pod->meta.ns)),
                             .name = xstrdup(o->name),
                             .uid = xstrdup(o->uid)};
    drain_owner_comes(d, found);
    return found;
}

/* Its owner has a pod less, whoever made it go; counted once. */
static struct downer *owner_loses(struct drain *d, struct dpod *p) {
    struct downer *o = drain_owner(p->node, p->owner_uid);
    if (o && !p->lost) {
        o->evicted++;
        drain_owner_loses(d, o);
    }
    p->lost = true;
    return o;
}

/* What ties it to its node: its successor would be tied to it as well. */
static void note_home(struct dpod *p, const struct pod *pod) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    p->one_node = pod_wants_one_node(pod);
    for (size_t i = 0; i < list_len(v); i++)
        if (v[i].claim && !str_empty(v[i].claim->claim))
            *vec_push(&p->claims) = xstrdup(v[i].claim->claim);
}

static bool goes(const struct dpod *p) {
    return p->pub.state != DRAIN_POD_STAYS;
}

/* --- what comes --- */

/* Pods that came after the cordon: how, and whether it is any use to evict them. */
static void judge_late(struct drain *d, struct dpod *p, const struct pod *pod, enum known pinned) {
    struct dnode *n = p->node;
    struct downer *o = note_owner(d, n, pod);
    bool tolerates = pod_tolerates_cordon(pod);
    /* What we hear of late may have been there for long: its own time counts. Right after the
     * cordon a scheduler may not have known of it. */
    bool tolerated = tolerates && pod->meta.created == n->cordoned_at; /* to the second */
    bool after = !n->cordoned_at || pod->meta.created > n->cordoned_at || tolerated;
    bool settled = n->cordoned_at && pod->meta.created > n->cordoned_at + SEC(BOUND_LATE);
    bool again = o && o->evicted && after;
    if (again)
        o->came_back++;
    if (!tolerates && pinned == KNOWN_NEVER)
        p->pinned = o && (settled || (again && o->came_back > 1));
    else if (!p->pinned)
        p->returns = p->pinned = o && o->came_back > RETURNS_MAX;
    p->pub.late = true;
    _cleanup_free_ char *text =
        xasprintf("%s: %s", again ? "came back to the cordoned node" : "came to the cordoned node",
                  tolerates                      ? "it tolerates node.kubernetes.io/unschedulable"
                  : p->pinned || (!o && settled) ? "it names the node in spec.nodeName"
                  : settled                      ? "something else than a scheduler put it there"
                            : "it was on its way there before the cordon was known");
    drain_tell(d, NOTE_POD_LATE, n, p, text);
}

static void adopt(struct drain *d, struct dnode *n, const struct pod *pod) {
    struct filter f = filter_pod(&d->opts, d->cluster, drain_server_now(d), pod);
    bool late = n->pub.phase > DRAIN_CHECKING;
    enum known pinned = KNOWN_NEVER;
    struct rule_verdict rule;
    rules_apply(d->opts.rules, pod, &rule);
    /* What a rule leaves alone needs no flag. */
    bool skip = rule.action == RULE_SKIP && f.verdict != FILTER_STAYS;
    if (skip)
        f = (struct filter){.verdict = FILTER_STAYS};
    if (f.verdict == FILTER_GO)
        pinned = filter_pinned(d->cluster, pod, n->pub.name, late);
    if (f.verdict == FILTER_UNKNOWN || pinned == KNOWN_NOT_YET)
        return; /* looked at again when it is known */
    struct dpod *p = xnew(struct dpod);
    const struct owner *o = meta_controller(&pod->meta);
    p->node = n;
    p->pub.ns = xstrdup(strna(pod->meta.ns));
    p->pub.name = xstrdup(pod->meta.name);
    p->pub.uid = xstrdup(strna(pod->meta.uid));
    p->pub.owner = o ? xasprintf("%s/%s", strna(o->kind), strna(o->name)) : xstrdup("");
    p->owner_uid = o && o->uid ? xstrdup(o->uid) : NULL;
    p->pub.why = f.why ? xstrdup(f.why) : NULL;
    p->pub.code = f.code;
    p->pub.state = f.verdict == FILTER_STAYS     ? DRAIN_POD_STAYS
                   : f.verdict == FILTER_REFUSED ? DRAIN_POD_REFUSED
                                                 : DRAIN_POD_QUEUED;
    p->grace = pod->spec ? pod->spec->grace : 0;
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++)
        n->had_volumes |= pod->spec->volumes[i].claim || pod->spec->volumes[i].ephemeral;
    p->how = d->opts.disable_eviction ? BY_DELETION : BY_EVICTION;
    p->here = true;
    p->pinned = pinned == KNOWN_THERE;
    p->rule = rule;
    p->forbidden = f.verdict == FILTER_REFUSED && f.code == BLOCKER_FORBIDDEN;
    p->tolerates = o && pod_tolerates_cordon(pod);
    if (d->opts.wait_rescheduled)
        note_home(p, pod);
    if (skip)
        p->pub.why = xasprintf("skipping Pods by rule %s", rule.name);
    if (p->pub.state == DRAIN_POD_STAYS)
        n->pub.stays++;
    else
        n->pub.total++;
    pod_insert(n, p);
    htab_insert(&d->pods, p);
    if (late && goes(p))
        judge_late(d, p, pod, pinned);
    if (goes(p))
        note_owner(d, n, pod);
    if (late && p->pub.state == DRAIN_POD_REFUSED) {
        _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
        drain_pod_block(d, p, f.code, "Pod", name, "came during the drain: %s", strna(f.why));
    }
}

/* --- what goes --- */

void drain_pod_needs_none(struct drain *d, struct dpod *p) {
    if (!d->surge || p->surge_told)
        return;
    p->surge_told = true;
    d->surge_stirred |= surge_left(d->surge, p->pub.uid, d->now, d->out);
}

/* Whoever has an interest in it: it is not here any more. */
static void tell_owner(struct drain *d, struct dpod *p) {
    struct downer *o = owner_loses(d, p);
    if (o)
        drain_owner_left(d, o);
    drain_pod_needs_none(d, p);
}

static void gone(struct drain *d, struct dpod *p) {
    struct dnode *n = p->node;
    bool counted = goes(p);
    drain_pod_unblock(d, p);
    if (p->pub.state == DRAIN_POD_LEAVING)
        n->pub.leaving--;
    if (p->pub.state == DRAIN_POD_FAILED)
        n->pub.failed--;
    if (p->pub.state == DRAIN_POD_STAYS)
        n->pub.stays--;
    p->pub.state = DRAIN_POD_GONE;
    p->pub.gone = d->now.wall;
    if (!counted)
        return;
    n->pub.gone++;
    if (p->tolerates && !p->finished)
        n->may_return = d->now.mono + SEC(RETURN_WITHIN);
    tell_owner(d, p);
    drain_tell(d, NOTE_POD_GONE, n, p, NULL);
}

/* Told once, also of a pod that leaves without having been asked. */
void drain_pod_tell_try(struct drain *d, struct dpod *p) {
    if (!p->pub.first_try)
        p->pub.first_try = d->now.wall;
    if (p->told)
        return;
    p->told = true;
    drain_tell(d, p->how == BY_EVICTION ? NOTE_POD_EVICTING : NOTE_POD_DELETING, p->node, p, NULL);
}

void drain_pod_stays(struct drain *d, struct dpod *p) {
    drain_pod_unblock(d, p);
    p->pub.state = DRAIN_POD_STAYS;
    p->node->pub.total--;
    p->node->pub.stays++;
    p->node->dirty = true;
    free((char *)p->pub.why);
    p->pub.why = xasprintf("skipping Pods by rule %s", p->rule.name);
}

void drain_pod_leaves(struct drain *d, struct dpod *p) {
    if (p->pub.state == DRAIN_POD_LEAVING)
        return;
    drain_pod_tell_try(d, p);
    /* What was not asked to go until now has its time from here. */
    if (p->waited || !p->first) {
        p->waited = false;
        p->first = d->now.mono;
        p->pub.first_try = d->now.wall;
    }
    owner_loses(d, p);
    p->pub.state = DRAIN_POD_LEAVING;
    p->node->pub.leaving++;
    p->tries = 0;
    drain_pod_unblock(d, p);
}

/* --- those that are on their way --- */

static bool unreachable(const struct drain *d, const struct dnode *n) {
    const struct node *node = cluster_node(d->cluster, n->pub.name);
    const struct node_condition *c = node ? node_condition_find(node->conditions, "Ready") : NULL;
    return c && str_same(c->c.status, "Unknown");
}

/* It is not tried again; the rest of the node goes on. Takes over the text. */
void drain_pod_give_up(struct drain *d, struct dpod *p, char *text) {
    if (p->pub.state == DRAIN_POD_LEAVING)
        p->node->pub.leaving--;
    drain_pod_unblock(d, p);
    free((char *)p->pub.error);
    p->pub.error = text;
    p->pub.state = DRAIN_POD_FAILED;
    p->node->pub.failed++;
    p->node->dirty = true;
    drain_tell(d, NOTE_POD_FAILED, p->node, p, p->pub.error);
}

bool drain_pod_past_deadline(struct drain *d, struct dpod *p) {
    char limit[TIMEFMT_LEN];
    if (!p->rule.deadline || !p->first)
        return false;
    if (d->now.mono - p->first < p->rule.deadline) {
        drain_wake(d, p->first + p->rule.deadline);
        return false;
    }
    p->outlasted = p->pub.blocked;
    drain_pod_give_up(d, p,
                      xasprintf("the deadline of rule %s, %s, has passed%s%s", p->rule.name,
                                duration_format_limit(p->rule.deadline, limit),
                                p->pub.blocked ? ": " : "",
                                p->pub.blocked ? p->pub.blocker.message : ""));
    return true;
}

/* When it has to be called stuck, monotonic: at once when nobody can tell how it is. */
static int64_t stuck_at(struct drain *d, struct dpod *p, const struct pod *pod) {
    if (unreachable(d, p->node))
        return d->now.mono;
    if (!pod_finished(pod))
        p->stopped_at = 0;
    else if (!p->stopped_at)
        p->stopped_at = d->now.mono;
    /* Its grace period ends at meta.deleted, by the server's clock. */
    int64_t due = d->now.mono + pod->meta.deleted + SEC(POD_STUCK_AFTER) - drain_server_now(d);
    if (p->stopped_at && pod->meta.finalizers)
        due = MIN_OF(due, p->stopped_at + SEC(STOPPED_AFTER));
    return due;
}

static void say_stuck(struct drain *d, struct dpod *p, const struct pod *pod) {
    struct dnode *n = p->node;
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    int64_t due = stuck_at(d, p, pod);
    if (d->now.mono < due) {
        drain_wake(d, due);
        drain_pod_unblock(d, p);
        return;
    }
    int64_t grace = pod->meta.deletion_grace == ABSENT64 ? 0 : pod->meta.deletion_grace;
    grace = MIN_OF(grace, (int64_t)GRACE_MOST);
    p->since = MIN_OF(pod->meta.deleted - SEC(grace) - d->skew, d->now.wall);
    if (unreachable(d, n))
        drain_pod_block(d, p, BLOCKER_NODE_UNREACHABLE, "Node", n->pub.name,
                        "the node does not answer: whether pod %s has stopped cannot be known",
                        name);
    else if (pod->meta.finalizers && pod_finished(pod))
        drain_pod_block(d, p, BLOCKER_FINALIZER_STUCK, "Pod", name,
                        "it has stopped, but the finalizer %s keeps it", pod->meta.finalizers[0]);
    else if (pod->meta.finalizers)
        drain_pod_block(d, p, BLOCKER_FINALIZER_STUCK, "Pod", name,
                        "its grace period is over; it has the finalizer %s",
                        pod->meta.finalizers[0]);
    else
        drain_pod_block(d, p, BLOCKER_TERMINATING_STUCK, "Pod", name,
                        "its grace period is over and it still terminates");
    p->since = 0;
}

/* A pod that terminates: is it stuck, and do we still wait for it? */
static void watch_leaving(struct drain *d, struct dpod *p, const struct pod *pod) {
    struct dnode *n = p->node;
    if (d->opts.skip_wait > 0 && pod->meta.deleted) {
        int64_t left = pod->meta.deleted + SEC(d->opts.skip_wait) - drain_server_now(d);
        if (left < 0) {
            p->pub.skipped_wait = true;
            drain_tell(d, NOTE_POD_SKIPPED_WAIT, n, p, NULL);
            drain_pod_unblock(d, p);
            n->pub.leaving--;
            p->pub.state = DRAIN_POD_GONE;
            n->pub.gone++;
            tell_owner(d, p);
            return;
        }
        drain_wake(d, d->now.mono + left + 1);
    }
    if (!pod->meta.deleted) {
        /* Accepted, and nothing to be seen of it: it is asked again. */
        int64_t due = p->accepted + SEC(UNSEEN_AFTER);
        if (d->now.mono < due) {
            drain_wake(d, due);
            return;
        }
        n->pub.leaving--;
        p->pub.state = DRAIN_POD_QUEUED;
        p->accepted = 0;
        return;
    }
    drain_pod_needs_none(d, p);
    int64_t force_at = p->rule.force_after >= 0 && p->first ? p->first + p->rule.force_after : 0;
    if (force_at && d->now.mono < force_at)
        drain_wake(d, force_at);
    if (!p->action && drain_pod_past_deadline(d, p))
        return;
    bool again = p->force_again && p->not_before <= d->now.mono;
    int64_t quiet = MAX_OF(d->throttled, p->asked_for); /* the server wants to be left alone */
    if (p->force_again)
        drain_wake(d, p->not_before);
    drain_wake(d, quiet);
    if (force_at && quiet <= d->now.mono && d->now.mono >= force_at && !p->action &&
        (p->how != BY_FORCE || again)) {
        drain_pod_force(d, p);
        return;
    }
    say_stuck(d, p, pod);
}

/* A late pod that was refused may have finished since: then it can go. */
static void refused_again(struct drain *d, struct dpod *p, const struct pod *pod) {
    if (filter_pod(&d->opts, d->cluster, drain_server_now(d), pod).verdict != FILTER_GO)
        return;
    drain_pod_unblock(d, p);
    p->forbidden = false;
    p->pub.state = DRAIN_POD_QUEUED;
}

/* Nobody waits silently for a server that does not answer. */
static void watch_sent(struct drain *d, struct dpod *p) {
    int64_t due = p->sent_at + SEC(ANSWER_WITHIN);
    if (p->pub.blocked)
        return; /* what it waited for before is said */
    if (d->now.mono < due) {
        drain_wake(d, due);
        return;
    }
    drain_pod_block(d, p, BLOCKER_SERVER_TROUBLE, "", "the API server",
                    "it has not answered for %d s", ANSWER_WITHIN);
}

static void update(struct drain *d, struct dpod *p, const struct pod *pod) {
    p->finished = pod_finished(pod);
    switch (p->pub.state) {
    case DRAIN_POD_STAYS:
    case DRAIN_POD_GONE:
    case DRAIN_POD_FAILED:
        return;
    case DRAIN_POD_REFUSED:
        refused_again(d, p, pod);
        return;
    case DRAIN_POD_QUEUED:
    case DRAIN_POD_BLOCKED:
        /* Somebody else deleted it, or our eviction whose answer was lost did. */
        if (!pod->meta.deleted || p->action)
            return;
        drain_pod_leaves(d, p);
        break;
    case DRAIN_POD_SENT:
        watch_sent(d, p);
        return;
    case DRAIN_POD_LEAVING:
        break;
    }
    watch_leaving(d, p, pod);
}

void drain_pods_look(struct drain *d, struct dnode *n) {
    for (size_t i = 0; i < n->pods.len; i++)
        n->pods.p[i]->here = false;
    size_t count;
    const struct pod *const *list = cluster_pods_on(d->cluster, n->pub.name, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pod *pod = list[i];
        if (!pod->meta.uid || !filter_selects(&d->opts, pod))
            continue;
        struct dpod *p = pod_find(d, pod->meta.uid);
        if (!p)
            adopt(d, n, pod);
        else
            p->here = true;
    }
    for (size_t i = 0; i < n->pods.len; i++) {
        struct dpod *p = n->pods.p[i];
        const struct object *obj = store_get(d->cluster->pods, p->pub.ns, p->pub.name);
        if (!p->here && p->pub.state != DRAIN_POD_GONE)
            gone(d, p);
        else if (p->here && obj && n->pub.phase == DRAIN_EVICTING)
            update(d, p, (const struct pod *)obj);
    }
}
