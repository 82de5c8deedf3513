/* Writes down how the Policies stand. */
#include "controller/standing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "engine/own_status.h"
#include "engine/policy_status.h"
#include "model/version.h"

/* After a write that the server has refused, or not answered; microseconds. */
#define PAUSE (INT64_C(60) * 1000000)

/* Of one Policy. */
struct stand {
    char *name, *uid;
    char *version; /* that we have written last */
    uint64_t action;
    bool finalizer;                    /* that is what is being written, not the status */
    char *refused;                     /* why the finalizer could not be written, the last time */
    int64_t not_before[2], warn_at[2]; /* monotonic, of the status and of the finalizer */
    char *shared;                      /* which of its nodes another one has, as it was said */
    int64_t unread;                    /* generation of which was said that it cannot be read */
};

struct standing {
    struct standing_opts opts;
    VEC(struct stand *) list;
    int64_t next, looked; /* monotonic */
};

struct standing *standing_new(const struct standing_opts *opts) {
    struct standing *s = xnew(struct standing);
    s->opts = *opts;
    s->looked = INT64_MIN / 2;
    return s;
}

static void stand_free(struct stand *one) {
    free(one->name);
    free(one->uid);
    free(one->version);
    free(one->refused);
    free(one->shared);
    free(one);
}

void standing_free(struct standing *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->list.len; i++)
        stand_free(s->list.p[i]);
    vec_done(&s->list);
    free(s);
}

/* Another object of the same name is another one. */
static struct stand *stand_of(struct standing *s, const struct policy *p) {
    for (size_t i = 0; i < s->list.len; i++)
        if (streq(s->list.p[i]->name, p->meta.name) && str_same(s->list.p[i]->uid, p->meta.uid))
            return s->list.p[i];
    struct stand *one = xnew(struct stand);
    one->name = xstrdup(p->meta.name);
    one->uid = xstrdup(strna(p->meta.uid));
    *vec_push(&s->list) = one;
    return one;
}

static void forget_gone(struct standing *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->list.len; i++) {
        struct stand *one = s->list.p[i];
        const struct object *obj = store_get(s->opts.policy_store, NULL, one->name);
        if (one->action || (obj && str_same(obj->meta.uid, one->uid)))
            s->list.p[kept++] = one;
        else
            stand_free(one);
    }
    s->list.len = kept;
}

static size_t count_nodes(const struct standing *s, const struct policy_rules *rules) {
    const struct object *obj;
    size_t n = 0;
    for (uint32_t i = 0; (obj = store_next(s->opts.cluster->nodes, &i));)
        n += policy_has_node(rules, (const struct node *)obj);
    return n;
}

static void send(struct standing *s, struct stand *one, bool finalizer, const struct str *body,
                 struct actions *out) {
    one->finalizer = finalizer;
    one->action = actions_add(out, s->opts.ids,
                              &(struct action){.verb = ACTION_PATCH,
                                               .kind = &kind_policy,
                                               .name = one->name,
                                               .subresource = finalizer ? NULL : "status",
                                               .body = str_get(body),
                                               .grace = -1});
}

/* Once, until it is another matter. */
static void say_shared(const struct standing *s, struct stand *one, const char *shared) {
    if (shared && !str_same(shared, one->shared))
        log_warn(s->opts.log, "policy %s: %s", one->name, shared);
    str_replace(&one->shared, shared);
}

/* The finalizer first: it is what keeps the Policy. */
static void look_at(struct standing *s, const struct policy_kept *kept, const struct policy *p,
                    struct now now, struct actions *out) {
    struct stand *one = stand_of(s, p);
    _cleanup_str_ struct str body = STR_INIT;
    policies_finalizer_refused(s->opts.policies, one->name, one->refused); /* it may be kept anew */
    if (one->action || version_compare(p->meta.version, one->version) < 0)
        return;
    _cleanup_free_ char *shared = p->meta.deleted ? NULL : policies_shared(s->opts.policies, kept);
    bool guarded = p->meta.deleted || own_has_finalizer(&p->meta, POLICY_FINALIZER);
    _cleanup_free_ char *unguarded =
        !guarded && one->refused
            ? xasprintf("its finalizer, without which nobody gets a slot, cannot be written: %s",
                        one->refused)
            : NULL;
    struct policy_seen seen = {.problem = kept->problem, .unguarded = unguarded, .shared = shared};
    say_shared(s, one, shared);
    if (kept->keeper) {
        seen.slots = keeper_slots(kept->keeper);
        seen.limit = keeper_limit(kept->keeper);
        seen.nodes = count_nodes(s, kept->rules);
    }
    bool finalizer = policy_finalizer_patch(p, &seen, &body);
    if (unguarded && finalizer && one->not_before[true] > now.mono) {
        s->next = MIN_OF(s->next, one->not_before[true]);
        finalizer = false; /* until it is tried again, its status says why */
        str_reset(&body);
    }
    if (!finalizer && !policy_status_patch(p, &seen, now.wall, &body))
        return;
    /* What its status says may be what cannot be read: it is not written again and again. */
    if (p->unread && one->unread == p->meta.generation)
        return;
    if (one->not_before[finalizer] > now.mono)
        s->next = MIN_OF(s->next, one->not_before[finalizer]);
    else {
        one->unread = p->unread ? p->meta.generation : 0;
        send(s, one, finalizer, &body, out);
    }
}

void standing_poke(struct standing *s) {
    s->next = MIN_OF(s->next, s->looked + STANDING_EVERY);
}

void standing_step(struct standing *s, struct now now, struct actions *out) {
    s->next = INT64_MAX;
    s->looked = now.mono;
    forget_gone(s);
    for (size_t i = 0; i < policies_len(s->opts.policies); i++) {
        const struct policy_kept *kept = policies_at(s->opts.policies, i);
        const struct object *obj = store_get(s->opts.policy_store, NULL, kept->name);
        if (obj)
            look_at(s, kept, (const struct policy *)obj, now, out);
    }
}

static void written(struct stand *one, const struct object *obj) {
    str_replace(&one->version, obj->meta.version);
    one->warn_at[one->finalizer] = 0;
    if (one->finalizer)
        mem_clear(&one->refused);
}

static void refused(const struct standing *s, struct stand *one, const char *why, struct now now) {
    one->not_before[one->finalizer] = now.mono + PAUSE;
    if (one->finalizer)
        str_replace(&one->refused, why);
    if (one->warn_at[one->finalizer] > now.mono)
        return;
    one->warn_at[one->finalizer] = now.mono + STANDING_WARN;
    if (one->finalizer)
        log_warn(s->opts.log,
                 "the finalizer of policy %s cannot be written, and nobody gets a slot of it: %s",
                 one->name, why);
    else
        log_warn(s->opts.log, "the status of policy %s cannot be written: %s", one->name, why);
}

bool standing_answer(struct standing *s, uint64_t action, const struct answer *a, struct now now) {
    for (size_t i = 0; i < s->list.len; i++) {
        struct stand *one = s->list.p[i];
        if (one->action != action)
            continue;
        one->action = 0;
        if (a->outcome == KUBE_CONFLICT)
            one->unread = 0; /* nothing was said */
        if (a->outcome == KUBE_OK && a->obj)
            written(one, a->obj);
        else if (a->outcome != KUBE_CONFLICT && a->outcome != KUBE_NOT_FOUND)
            refused(s, one, a->message, now);
        policies_finalizer_refused(s->opts.policies, one->name, one->refused);
        standing_poke(s);
        return true;
    }
    return false;
}

int64_t standing_next(const struct standing *s) {
    return s->next;
}
