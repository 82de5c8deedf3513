/* Whether a pod may be evicted, and what is said when it may not. */
#include <string.h>

#include "engine/podrole.h"
#include "engine/surge_internal.h"

/* A pod that has not been Ready for so long serves nobody: nothing is lost by evicting it. */
#define LOST_AFTER SEC(10)

__attribute__((format(printf, 2, 3))) static enum surge_state wait_for(struct surge *s,
                                                                       const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    str_addvf(&s->text, fmt, ap);
    va_end(ap);
    return SURGE_WAIT;
}

static void wake(struct surge *s, int64_t at) {
    s->wake = MIN_OF(s->wake, at);
}

/* Asks for something again after a while. Several that are asked about in one step go together. */
static void ask_again(struct surge *s, const struct kind *kind, const char *ns, const char *name,
                      int64_t every, struct now now) {
    if (s->asked == INT64_MIN)
        s->asked = now.mono - 1; /* it has just been read for the first time */
    if (now.mono == s->asked || now.mono >= s->asked + every) {
        s->asked = now.mono;
        cluster_refresh(s->cluster, kind, ns, name);
    }
    wake(s, s->asked + every);
}

/* Not Ready for so long that nobody can miss it. */
static bool lost(struct surge *s, const struct pod *pod, struct now now) {
    const struct condition *ready = condition_find(pod->conditions, "Ready");
    if (pod_ready(pod))
        return false;
    int64_t since = ready && ready->changed ? ready->changed : pod->meta.created;
    if (now.wall - since >= LOST_AFTER)
        return true;
    /* By a clock that is behind the server's this would be long. */
    wake(s, now.mono + MIN_OF(since + LOST_AFTER - now.wall, LOST_AFTER));
    return false;
}

/* A Deployment that is in hand for this pod. */
static enum surge_state report(struct surge *s, const struct lift *l, const struct pod *pod,
                               struct now now) {
    const struct deployment *d = l->seen;
    bool mine = surge_ours(l);
    if (l->why && l->failures) {
        const char *what =
            !l->up ? "does not get its count back" : "cannot be raised to 2 replicas";
        if (mine && l->up)
            what = "cannot be read";
        return wait_for(s, "Deployment %s/%s %s: %s%s", l->ns, l->name, what, l->why,
                        l->refused ? "; permit get and patch of deployments, or drain without "
                                     "--surge"
                                   : "");
    }
    if (!l->up)
        return wait_for(s, "Deployment %s/%s is getting its count back", l->ns, l->name);
    if (!mine || l->blind)
        return wait_for(s, "Deployment %s/%s has one replica and is being raised to 2", l->ns,
                        l->name);
    int32_t need = surge_raised_count(l) - (lost(s, pod, now) ? 1 : 0);
    if (d->observed_generation < d->meta.generation)
        return wait_for(s,
                        "Deployment %s/%s was raised to %d replicas; its controller has not seen "
                        "that yet",
                        l->ns, l->name, surge_raised_count(l));
    if (d->available >= need)
        return SURGE_GO;
    /* Why there is no pod, a quota for instance. */
    const struct condition *fail = condition_find(d->conditions, "ReplicaFailure");
    bool told = fail && str_same(fail->status, "True") && !str_empty(fail->message);
    return wait_for(s, "Deployment %s/%s was raised to %d replicas and has %d of %d available%s%s",
                    l->ns, l->name, surge_raised_count(l), d->available, need, told ? ": " : "",
                    told ? fail->message : "");
}

static bool in_apps(const struct owner *owner, const char *kind) {
    return owner && str_same(owner->kind, kind) && str_starts(strna(owner->api_version), "apps/");
}

/* The owner `o`; SURGE_GO with `*out`, SURGE_NONE when it does not exist any more. */
static enum surge_state look_up(struct surge *s, const struct kind *kind, const char *ns,
                                const struct owner *o, struct now now, const struct object **out) {
    const struct lookup *l = cluster_look(s->cluster, kind, ns, strna(o->name));
    switch (l->known) {
    case KNOWN_NOT_YET:
        return wait_for(s, "%s %s/%s is being read", kind->name, ns, strna(o->name));
    case KNOWN_NEVER:
        ask_again(s, kind, ns, strna(o->name), REFUSED_MAX / 2, now);
        return wait_for(s,
                        "whether the pod is the only one of a Deployment cannot be known, %s "
                        "%s/%s cannot be read: %s; permit get of %s, or drain without --surge",
                        kind->name, ns, strna(o->name), strna(l->why), kind->resource);
    case KNOWN_GONE:
        return SURGE_NONE;
    case KNOWN_THERE:
        break;
    }
    *out = l->obj;
    return str_same(l->obj->meta.uid, o->uid) ? SURGE_GO : SURGE_NONE;
}

/* The Deployment of the pod. */
static enum surge_state find_deployment(struct surge *s, const struct pod *pod, struct now now,
                                        struct lift **out) {
    const struct owner *o = meta_controller(&pod->meta);
    const char *ns = strna(pod->meta.ns);
    const struct object *obj = NULL;
    if (!in_apps(o, "ReplicaSet"))
        return SURGE_NONE;
    enum surge_state state = look_up(s, &kind_replica_set, ns, o, now, &obj);
    if (state != SURGE_GO)
        return state;
    o = meta_controller(&obj->meta);
    if (!in_apps(o, "Deployment"))
        return SURGE_NONE;
    state = look_up(s, &kind_deployment, ns, o, now, &obj);
    if (state != SURGE_GO)
        return state;
    struct lift *l = surge_of_name(s, ns, o->name);
    surge_see(s, l, obj);
    /* What we know of it may be newer. */
    if (!str_same(l->seen->meta.uid, o->uid) || l->seen->meta.deleted)
        return SURGE_NONE;
    *out = l;
    return SURGE_GO;
}

/* A Deployment with the marks of somebody who is not known here. */
static enum surge_state leave_alone(struct surge *s, const struct lift *l, struct now now) {
    ask_again(s, &kind_deployment, l->ns, l->name, POLL_MAX, now);
    if (l->mark == SURGE_STRANGE)
        return wait_for(s,
                        "Deployment %s/%s has an annotation " SURGE_MARK
                        " that cannot be used: %s; set its count and remove the annotation and "
                        "the label of that name, or drain without --surge",
                        l->ns, l->name, l->record.problem);
    return wait_for(s,
                    "%s has raised Deployment %s/%s for its pod on node %s; if nobody drains that "
                    "node any more, set its count to %d and remove its label " SURGE_MARK,
                    *l->record.by ? l->record.by : "somebody", l->ns, l->name, l->record.node,
                    l->record.replicas);
}

static enum surge_state ask(struct surge *s, const struct pod *pod, const char *node,
                            struct now now, struct actions *out) {
    const char *uid = strna(pod->meta.uid);
    struct lift *l = surge_of_pod(s, uid);
    if (l) {
        surge_settle(s, l, now, out);
        if (l->pod)
            return report(s, l, pod, now);
    }
    if (pod->meta.deleted || pod_finished(pod))
        return SURGE_NONE;
    if (s->aborted)
        return wait_for(s, "nothing is raised any more");
    enum surge_state state = find_deployment(s, pod, now, &l);
    if (state != SURGE_GO)
        return state;
    /* What another holder has raised for another pod is his: his drain may be at work. */
    if (l->mark == SURGE_MARKED && (str_same(l->record.by, s->by) || str_same(l->record.pod, uid)))
        surge_take_over(s, l, now);
    if (l->pod && !streq(l->pod, uid))
        return wait_for(s,
                        "Deployment %s/%s is at work for its pod on node %s; this one comes next",
                        l->ns, l->name, l->node);
    if (!l->pod && (l->mark == SURGE_MARKED || l->mark == SURGE_STRANGE))
        return leave_alone(s, l, now);
    if (!l->pod) {
        if (!surge_may_raise(l->seen) || lost(s, pod, now))
            return SURGE_NONE;
        if (now.mono < l->rest) {
            wake(s, l->rest);
            return wait_for(s,
                            "somebody else sets the count of Deployment %s/%s back to 1 (an "
                            "autoscaler?): raise it by hand, or drain without --surge",
                            l->ns, l->name);
        }
        surge_start(s, l, uid, node, true, now);
        surge_settle(s, l, now, out);
    }
    return l->pod ? report(s, l, pod, now) : SURGE_NONE;
}

enum surge_state surge_ask(struct surge *s, const struct pod *pod, const char *node, struct now now,
                           struct actions *out, const char **text) {
    str_reset(&s->text);
    enum surge_state state = ask(s, pod, node, now, out);
    *text = str_get(&s->text);
    return state;
}
