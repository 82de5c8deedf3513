/* Pods are asked to go: when their order, rule, budget and the rate allow it; and what comes of
 * it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/budget.h"
#include "engine/drain_internal.h"
#include "engine/guard.h"
#include "engine/podrole.h"

enum {
    RETRY_MS = 500, /* after trouble with the server */
    RETRY_MAX = 30,
    WEBHOOK_RETRY = 2, /* while a webhook works on it */
    DENIED_RETRY = 10, /* after a refusal that only somebody else can end */
    DENIED_MAX = 120,
    DRY_RUN_PATIENCE = 3, /* tries of a dry run that a webhook asks to wait */
    CONTRADICTIONS = 2,   /* times that the server may say gone and the watch not, unsaid */
    BLIND_RETRY = 2,      /* after a refusal of a budget that we may not read */
    ASKING_MAX = 64,      /* requests for pods under way */
};

/* --- asking them to go --- */

/* By the clock: what the rule makes of it by now. */
static enum how how_now(struct drain *d, struct dpod *p) {
    int64_t waited = d->now.mono - p->first;
    if (p->rule.force_after >= 0) {
        if (waited >= p->rule.force_after)
            return BY_FORCE;
        drain_wake(d, p->first + p->rule.force_after);
    }
    if (p->rule.delete_after >= 0) {
        if (waited >= p->rule.delete_after)
            return BY_DELETION;
        drain_wake(d, p->first + p->rule.delete_after);
    }
    return d->opts.disable_eviction ? BY_DELETION : BY_EVICTION;
}

/* The bucket: one token a request. */
static bool take_token(struct drain *d) {
    int64_t next;
    /* What is decided is sent at once, never queued: somebody may stop us. An answer wakes us. */
    if (d->asking >= ASKING_MAX)
        return false;
    if (tokens_take(d->tokens, d->now.mono, &next))
        return true;
    drain_wake(d, next);
    return false;
}

static bool has_ended(const struct drain *d, const struct dpod *p) {
    const struct pod *pod = (const struct pod *)store_get(d->cluster->pods, p->pub.ns, p->pub.name);
    return pod && pod_finished(pod);
}

static void send(struct drain *d, struct dpod *p) {
    int64_t grace = p->how == BY_FORCE ? 0 : p->rule.grace >= 0 ? p->rule.grace : d->opts.grace;
    p->action =
        drain_request(d,
                      &(struct action){.verb = p->how == BY_EVICTION ? ACTION_EVICT : ACTION_DELETE,
                                       .kind = &kind_pod,
                                       .ns = p->pub.ns,
                                       .name = p->pub.name,
                                       .uid = p->pub.uid,
                                       .node = p->node->pub.name,
                                       .grace = grace,
                                       .dry_run = d->opts.dry_run == DRY_RUN_SERVER},
                      p->node, p, NULL);
    p->pub.deleted = p->how != BY_EVICTION;
    p->pub.odd |= has_ended(d, p) || (grace >= 0 && grace < p->grace);
    p->asked = true;
    p->sent_at = d->now.mono;
    p->pub.blocker.attempts++;
    if (p->pub.state != DRAIN_POD_LEAVING)
        p->pub.state = DRAIN_POD_SENT;
}

void drain_pod_force(struct drain *d, struct dpod *p) {
    if (!take_token(d))
        return; /* it is looked at again when there is one */
    if (p->how != BY_FORCE)
        drain_tell(d, NOTE_ESCALATED, p->node, p, "deleted by force: its rule says so");
    p->how = BY_FORCE;
    p->force_again = false;
    drain_pod_tell_try(d, p);
    send(d, p);
}

static void block_pinned(struct drain *d, struct dpod *p, const struct pod *pod) {
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    const char *owner = p->pub.owner;
    if (p->returns)
        drain_pod_block(d, p, BLOCKER_RETURNS, "Pod", name,
                        "it has been put back here %d times: %s", RETURNS_MAX,
                        pod_tolerates_cordon(pod) ? "it tolerates node.kubernetes.io/unschedulable"
                                                  : "not by a scheduler that minds the cordon");
    else if (str_starts(owner, "StatefulSet/"))
        drain_pod_block(d, p, BLOCKER_PINNED, "Pod", name,
                        "%s declares spec.nodeName %s: deleting the pod is not enough, the "
                        "StatefulSet must be deleted",
                        owner, p->node->pub.name);
    else
        drain_pod_block(d, p, BLOCKER_PINNED, "Pod", name,
                        "%s declares spec.nodeName %s: it is put back here however often it goes",
                        owner, p->node->pub.name);
}

static void block_by_budgets(struct drain *d, struct dpod *p, const struct pod *pod) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(d->cluster->pdbs, pod, &n);
    _cleanup_free_ char *self = drain_full_name(p->pub.ns, p->pub.name);
    _cleanup_str_ struct str words = STR_INIT;
    for (size_t i = 0; i < n; i++)
        str_addf(&words, "%s%s", i ? " and " : "", pdbs[i]->meta.name);
    drain_pod_block(d, p, BLOCKER_MULTIPLE_PDBS, "Pod", self, "the budgets %s both select it",
                    str_get(&words));
}

static void block_by_budget(struct drain *d, struct dpod *p, const struct pod *pod,
                            const struct budget_say *say) {
    if (say->code == BLOCKER_MULTIPLE_PDBS) {
        block_by_budgets(d, p, pod);
        return;
    }
    if (say->guard) {
        _cleanup_free_ char *budget = drain_full_name(say->pdb->meta.ns, say->pdb->meta.name);
        drain_pod_block(d, p, say->code, "PodDisruptionBudget", budget, "%s", say->guard->words);
        return;
    }
    const struct explained *e = drain_explain(d, say->pdb, say->code == BLOCKER_PDB_NO_BUDGET);
    /* Most pods that wait wait for the same as a moment ago. */
    if (p->pub.blocked && p->pub.blocker.code == say->code && p->explained == e &&
        p->explained_serial == e->serial)
        return;
    p->explained = e;
    p->explained_serial = e->serial;
    _cleanup_free_ char *name = drain_full_name(say->pdb->meta.ns, say->pdb->meta.name);
    /* The seed's other stuck case, and the one that crash loops make. */
    bool bare = !meta_controller(&pod->meta);
    bool sick = !pod_ready(pod) && !str_same(say->pdb->unhealthy_policy, "AlwaysAllow");
    drain_pod_block(d, p, say->code, "PodDisruptionBudget", name, "%s%s%s", e->words,
                    bare ? "; nothing brings the pod back: delete it to continue" : "",
                    sick ? "; the pod itself is not ready: unhealthyPodEvictionPolicy AlwaysAllow "
                           "in the budget would let it go"
                         : "");
}

void drain_evict_judge(struct drain *d, struct dpod *p, const struct pod *pod) {
    struct budget_say say = drain_budget(d, pod);
    if (!say.go && say.pdb)
        block_by_budget(d, p, pod, &say);
}

/* Whether it may be asked to go now; blocks it when not. */
static bool may_go(struct drain *d, struct dpod *p, const struct pod *pod, struct budget_say *say) {
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    *say = (struct budget_say){.go = true};
    rules_apply(d->opts.rules, pod, &p->rule);
    if (!p->first) {
        p->first = d->now.mono;
        p->pub.first_try = d->now.wall;
    }
    if (p->rule.action == RULE_SKIP) { /* by a label that came during the drain */
        drain_pod_stays(d, p);
        return false;
    }
    if (p->rule.action == RULE_HOLD) {
        p->waited = true;
        drain_pod_block(d, p, BLOCKER_DO_NOT_DISRUPT, "Pod", name, "it is marked %s", p->rule.name);
        return false;
    }
    if (p->rule.action == RULE_WAIT && !p->finished) {
        p->waited = true;
        drain_pod_block(d, p, BLOCKER_JOB_RUNNING, "Pod", name, "it shall finish by itself (%s)",
                        p->rule.name);
        return false;
    }
    if (p->pinned && !p->finished) {
        p->waited = true;
        block_pinned(d, p, pod);
        return false;
    }
    /* What a rule makes of it counts from here: until now it was not its turn. */
    if (p->waited) {
        p->waited = false;
        p->first = d->now.mono;
        p->pub.first_try = d->now.wall;
    }
    p->how = how_now(d, p);
    if (p->how != BY_EVICTION)
        return true;
    const char *text = NULL;
    enum surge_state surge = SURGE_NONE;
    if (d->surge && !d->stopped)
        surge = surge_ask(d->surge, pod, p->node->pub.name, d->now, d->out, &text);
    if (surge == SURGE_WAIT) {
        p->node->surging = true;
        drain_pod_block(d, p, BLOCKER_SURGE_PENDING, "Pod", name, "%s", strna(text));
        return false;
    }
    if (surge == SURGE_GO && p->pub.blocked && p->pub.blocker.code == BLOCKER_SURGE_PENDING) {
        drain_tell(d, NOTE_SURGE, p->node, p, "a second replica is available: it can go");
        drain_pod_unblock(d, p);
        p->pub.state = DRAIN_POD_QUEUED;
    }
    if (d->opts.dry_run == DRY_RUN_SERVER)
        return true; /* the server shall say it */
    *say = drain_budget(d, pod);
    if (say->go)
        return true;
    /* kubectl says so before it is refused; so do we before we have asked. */
    drain_pod_tell_try(d, p);
    if (say->probe != INT64_MAX)
        drain_wake(d, say->probe);
    drain_budget_wait(d, p->node, pod);
    block_by_budget(d, p, pod, say);
    return false;
}

/* Returns false when nothing more can be sent for the moment. */
static bool ask_to_go(struct drain *d, struct dpod *p) {
    const struct pod *pod = (const struct pod *)store_get(d->cluster->pods, p->pub.ns, p->pub.name);
    struct budget_say say;
    if (!pod || !str_same(pod->meta.uid, p->pub.uid) || drain_pod_past_deadline(d, p))
        return true;
    if (p->asked_for > d->now.mono) {
        drain_wake(d, p->asked_for);
        return true;
    }
    /* What a rule makes of it by now does not wait for a pause that was meant for evictions. */
    if (p->not_before > d->now.mono && (!p->first || how_now(d, p) == p->how)) {
        drain_wake(d, p->not_before);
        drain_budget_wait(d, p->node, pod);
        return true;
    }
    enum how before = p->how;
    bool tried = p->told;
    if (!may_go(d, p, pod, &say)) {
        if (p->pub.state != DRAIN_POD_STAYS)
            p->pub.state = DRAIN_POD_BLOCKED;
        return true;
    }
    if (!take_token(d)) {
        p->how = before;
        if (p->pub.state != DRAIN_POD_BLOCKED)
            p->pub.state = DRAIN_POD_QUEUED;
        return false;
    }
    if (tried && before != p->how)
        drain_tell(d, NOTE_ESCALATED, p->node, p,
                   p->how == BY_FORCE ? "deleted by force: its rule says so"
                                      : "deleted instead of evicted: its rule says so");
    if (p->how == BY_EVICTION && say.pdb && say.counted)
        drain_budget_asked(d, p, say.pdb);
    drain_pod_tell_try(d, p);
    send(d, p);
    return true;
}

/* A dry run asks once, but for answers that say nothing about the pod. */
bool drain_pod_answered(const struct drain *d, const struct dpod *p) {
    enum blocker_code code = p->pub.blocker.code;
    if (d->opts.dry_run != DRY_RUN_SERVER || p->pub.state != DRAIN_POD_BLOCKED)
        return false;
    if (!p->asked) /* nobody would ask */
        return code == BLOCKER_DO_NOT_DISRUPT || code == BLOCKER_JOB_RUNNING ||
               code == BLOCKER_PINNED || code == BLOCKER_RETURNS;
    if (code == BLOCKER_EVICTION_IN_PROGRESS)
        return p->told_to_wait > DRY_RUN_PATIENCE;
    return code != BLOCKER_SERVER_TROUBLE && code != BLOCKER_RATE_LIMITED;
}

static bool is_candidate(const struct drain *d, const struct dpod *p) {
    if (p->action || !p->here)
        return false;
    if (drain_pod_answered(d, p))
        return false;
    return p->pub.state == DRAIN_POD_QUEUED || p->pub.state == DRAIN_POD_BLOCKED;
}

/* The lowest order of which pods are still there: higher ones wait, whatever these wait for, and
 * are not begun at all when these have failed. */
static int32_t order_now(const struct drain *d, const struct dnode *n) {
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct dpod *p = n->pods.p[i];
        bool open = p->pub.state == DRAIN_POD_QUEUED || p->pub.state == DRAIN_POD_BLOCKED ||
                    p->pub.state == DRAIN_POD_SENT || p->pub.state == DRAIN_POD_LEAVING ||
                    p->pub.state == DRAIN_POD_FAILED;
        if (open && !drain_pod_answered(d, p))
            lowest = MIN_OF(lowest, p->rule.order);
    }
    return lowest;
}

static int by_grace(const void *a, const void *b) {
    const struct dpod *x = *(struct dpod *const *)a, *y = *(struct dpod *const *)b;
    if (x->grace != y->grace)
        return x->grace > y->grace ? -1 : 1;
    int c = strcmp(x->pub.ns, y->pub.ns);
    return c ? c : strcmp(x->pub.name, y->pub.name);
}

/* The pods of a node whose turn it is. False when nothing more can be sent for the moment. */
static bool act_on(struct drain *d, struct dnode *n) {
    VEC(struct dpod *) turn = VEC_INIT;
    int32_t order = order_now(d, n);
    bool more = true;
    n->waits.len = 0;
    n->surging = false;
    for (size_t i = 0; i < n->pods.len; i++)
        if (is_candidate(d, n->pods.p[i]) && n->pods.p[i]->rule.order <= order)
            *vec_push(&turn) = n->pods.p[i];
    /* Those that take longest to stop begin first. */
    if (turn.len)
        qsort(turn.p, turn.len, sizeof *turn.p, by_grace);
    for (size_t i = 0; more && i < turn.len; i++) {
        enum drain_pod_state before = turn.p[i]->pub.state;
        more = ask_to_go(d, turn.p[i]);
        n->dirty |= turn.p[i]->pub.state != before;
    }
    vec_done(&turn);
    return more;
}

void drain_pods_act(struct drain *d) {
    bool more = true;
    if (d->stopped)
        return;
    if (d->throttled > d->now.mono) {
        drain_wake(d, d->throttled);
        return;
    }
    for (size_t i = 0; more && i < d->nodes.len; i++) {
        struct dnode *n = d->nodes.p[i];
        if (!n->act || n->dropped)
            continue;
        if (n->pub.phase == DRAIN_EVICTING && (n->held || d->opts.dry_run)) {
            uint64_t misses = d->cluster->misses;
            d->at = n;
            more = act_on(d, n);
            d->at = NULL;
            n->unread |= misses != d->cluster->misses; /* owners of its pods */
            n->touched = true;
        }
        n->act = !more; /* those after it have not been looked at, either */
    }
}

/* --- answers --- */

static void fail(struct drain *d, struct dpod *p, const struct answer *a) {
    if (a->outcome == KUBE_FORBIDDEN || a->outcome == KUBE_UNAUTHORIZED ||
        a->outcome == KUBE_NO_CREDENTIALS)
        p->node->pub.access = true;
    drain_pod_give_up(d, p, xstrdup(a->message));
}

/* Tried again later; the blocker says why. */
static void later(struct drain *d, struct dpod *p, const struct answer *a, enum blocker_code code,
                  int64_t first, int64_t max) {
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    p->not_before = d->now.mono + drain_pause(d, a, ++p->tries, first, max);
    p->pub.state = DRAIN_POD_BLOCKED;
    drain_pod_block(d, p, code, "Pod", name, "%s", a->message);
}

static void refused_by_budget(struct drain *d, struct dpod *p, const struct answer *a) {
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    const struct pod *pod = (const struct pod *)store_get(d->cluster->pods, p->pub.ns, p->pub.name);
    struct budget_say say = {.go = true};
    if (drain_wish(a))
        p->not_before = d->now.mono + drain_wish(a);
    if (!d->cluster->budgets_known) {
        int64_t delay = drain_backoff(d, ++p->tries, SEC(BLIND_RETRY), SEC(RETRY_MAX));
        p->not_before = MAX_OF(p->not_before, d->now.mono + delay);
    }
    p->pub.state = DRAIN_POD_BLOCKED;
    if (pod && d->cluster->budgets_known)
        say = drain_budget(d, pod);
    if (!say.go && say.pdb) {
        block_by_budget(d, p, pod, &say);
        return;
    }
    /* What we see of the budget would allow it: its status is on its way to us. */
    if (d->cluster->budgets_known && p->not_before <= d->now.mono)
        p->not_before = d->now.mono + drain_backoff(d, ++p->tries, MSEC(RETRY_MS), SEC(RETRY_MAX));
    drain_pod_block(d, p, BLOCKER_PDB_NO_BUDGET, "Pod", name, "%s",
                    a->cause ? a->cause : a->message);
}

static void throttle(struct drain *d, struct dpod *p, const struct answer *a) {
    int64_t wish = drain_wish(a);
    int64_t delay = wish ? wish : drain_backoff(d, ++p->tries, SEC(1), SEC(RETRY_MAX));
    d->throttled = MAX_OF(d->throttled, d->now.mono + delay);
    p->pub.state = DRAIN_POD_BLOCKED;
    drain_pod_block(d, p, BLOCKER_RATE_LIMITED, "", "the API server", "%s", a->message);
}

static void accepted(struct drain *d, struct dpod *p) {
    p->accepted = d->now.mono;
    p->pub.accepted = d->now.wall;
    p->pub.answer = d->now.mono - p->sent_at;
    drain_pod_leaves(d, p);
    if (d->opts.dry_run == DRY_RUN_SERVER) {
        p->node->pub.leaving--;
        p->pub.state = DRAIN_POD_GONE;
        p->node->pub.gone++;
    }
}

/* The last step of an escalation: the deletion of a pod that terminates already. */
static void forced(struct drain *d, struct dpod *p, const struct answer *a) {
    if (a->outcome == KUBE_OK || a->outcome == KUBE_NOT_FOUND || a->outcome == KUBE_CONFLICT)
        return; /* the store will tell */
    bool again = a->outcome == KUBE_UNAUTHORIZED && ++p->unauthorized < UNAUTHORIZED_MAX;
    if (!again && !kube_outcome_row(a->outcome)->retry) {
        _cleanup_free_ char *text = xasprintf("cannot be deleted by force: %s", a->message);
        drain_tell(d, NOTE_REMARK, p->node, p, text);
        return;
    }
    p->not_before = d->now.mono + drain_pause(d, a, ++p->tries, MSEC(RETRY_MS), SEC(RETRY_MAX));
    p->force_again = true;
}

static void block_contradiction(struct drain *d, struct dpod *p) {
    _cleanup_free_ char *name = drain_full_name(p->pub.ns, p->pub.name);
    p->pub.state = DRAIN_POD_BLOCKED;
    drain_pod_block(d, p, BLOCKER_SERVER_TROUBLE, "Pod", name,
                    "the server says that it is gone; the watch has not shown it yet");
}

void drain_pod_answer(struct drain *d, struct dpod *p, const struct answer *a) {
    bool refused = a->outcome == KUBE_PDB_NO_BUDGET || a->outcome == KUBE_PDB_NOT_OBSERVED;
    bool was_leaving = p->pub.state == DRAIN_POD_LEAVING;
    p->action = 0;
    if (drain_wish(a))
        p->asked_for = d->now.mono + drain_wish(a);
    if (a->outcome != KUBE_UNAUTHORIZED)
        p->unauthorized = 0;
    p->told_to_wait = a->outcome == KUBE_NOT_YET ? p->told_to_wait + 1 : 0;
    drain_budget_answered(d, p, a->outcome == KUBE_OK, refused);
    if (p->pub.state == DRAIN_POD_GONE || p->pub.state == DRAIN_POD_FAILED)
        return;
    if (was_leaving) {
        forced(d, p, a);
        return;
    }
    switch (a->outcome) {
    case KUBE_OK:
        accepted(d, p);
        break;
    case KUBE_NOT_FOUND:
    case KUBE_CONFLICT:
        /* Gone, or another pod has its name: the store will tell. If it does not, we ask again. */
        p->pub.state = DRAIN_POD_QUEUED;
        p->not_before = d->now.mono + drain_backoff(d, ++p->tries, MSEC(RETRY_MS), SEC(RETRY_MAX));
        if (p->tries > CONTRADICTIONS)
            block_contradiction(d, p);
        break;
    case KUBE_PDB_NO_BUDGET:
    case KUBE_PDB_NOT_OBSERVED:
        refused_by_budget(d, p, a);
        break;
    case KUBE_PDB_MULTIPLE:
        later(d, p, a, BLOCKER_MULTIPLE_PDBS, SEC(DENIED_RETRY), SEC(DENIED_MAX));
        break;
    case KUBE_PDB_BROKEN:
        later(d, p, a, BLOCKER_PDB_BROKEN, SEC(DENIED_RETRY), SEC(DENIED_MAX));
        break;
    case KUBE_NOT_YET:
        later(d, p, a, BLOCKER_EVICTION_IN_PROGRESS, SEC(WEBHOOK_RETRY), SEC(RETRY_MAX));
        break;
    case KUBE_DENIED:
        later(d, p, a, BLOCKER_ADMISSION_DENIED, SEC(DENIED_RETRY), SEC(DENIED_MAX));
        break;
    case KUBE_NS_TERMINATING:
        later(d, p, a, BLOCKER_NAMESPACE_TERMINATING, SEC(WEBHOOK_RETRY), SEC(RETRY_MAX));
        break;
    case KUBE_THROTTLED:
        throttle(d, p, a);
        break;
    case KUBE_TIMED_OUT:
    case KUBE_SERVER_ERROR:
    case KUBE_UNREACHABLE:
    case KUBE_UNKNOWN:
    case KUBE_TOO_NEW:
    case KUBE_EXPIRED:
        later(d, p, a, BLOCKER_SERVER_TROUBLE, MSEC(RETRY_MS), SEC(RETRY_MAX));
        break;
    case KUBE_UNAUTHORIZED: /* a token that is being replaced, or none that will ever do */
        if (++p->unauthorized < UNAUTHORIZED_MAX)
            later(d, p, a, BLOCKER_SERVER_TROUBLE, SEC(WEBHOOK_RETRY), SEC(RETRY_MAX));
        else
            fail(d, p, a);
        break;
    case KUBE_EXISTS:
    case KUBE_INVALID:
    case KUBE_UNSUPPORTED:
    case KUBE_FORBIDDEN:
    case KUBE_NOT_KUBERNETES:
    case KUBE_NO_CREDENTIALS:
        fail(d, p, a);
        break;
    }
}
