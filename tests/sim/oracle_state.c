/* The oracle on what a drain says of itself. */
#include "oracle_state.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/timefmt.h"

/* How long anything may wait without saying why. Pauses of the drain's own last up to 45 s. */
#define SILENT SEC(70)
/* What the process has not been told for so long, it cannot wait for knowingly. */
#define DEAF SEC(10)

/* Since when something is not explained. */
struct quiet {
    char key[64]; /* UID of a pod, name of a node */
    int64_t since;
    bool seen, told;
};

struct oracle_state {
    struct oracle *oracle;
    const struct plan *plan;
    struct chaos *chaos;
    VEC(struct quiet) quiet;
    VEC(const struct drain_node *) ended; /* judged already */
};

struct oracle_state *oracle_state_new(struct oracle *o, const struct plan *plan,
                                      struct chaos *chaos) {
    struct oracle_state *s = xnew(struct oracle_state);
    *s = (struct oracle_state){.oracle = o, .plan = plan, .chaos = chaos};
    return s;
}

void oracle_state_reset(struct oracle_state *s) {
    s->quiet.len = 0;
    s->ended.len = 0;
}

void oracle_state_free(struct oracle_state *s) {
    if (!s)
        return;
    vec_done(&s->quiet);
    vec_done(&s->ended);
    free(s);
}

/* --- waiting --- */

static void explain(struct oracle_state *s, const char *key, bool explained, const char *node,
                    const char *pod, const char *state) {
    struct quiet *q = NULL;
    for (size_t i = 0; i < s->quiet.len && !q; i++)
        if (streq(s->quiet.p[i].key, key))
            q = &s->quiet.p[i];
    if (explained) {
        if (q)
            q->since = 0;
        return;
    }
    if (!q) {
        q = vec_push(&s->quiet);
        *q = (struct quiet){0};
        (void)snprintf(q->key, sizeof q->key, "%s", key);
    }
    int64_t now = oracle_now(s->oracle);
    if (!q->since)
        q->since = now;
    if (now - q->since > SILENT && !q->told) {
        q->told = true;
        oracle_blame(s->oracle, 5, "node %s%s%s has been %s for %.0f s without saying why", node,
                     pod ? ", pod " : "", pod ? pod : "", state, (double)(now - q->since) / 1e6);
    }
}

static void check_blocker(struct oracle_state *s, const struct drain_blocker *b,
                          const char *whose) {
    int64_t now = oracle_now(s->oracle);
    if (b->code >= BLOCKER_CODES || !b->since || b->since > now + SEC(1) || str_empty(b->message) ||
        !b->kind || !b->object)
        oracle_blame(s->oracle, 5, "the blocker of %s is not complete: code %d, message '%s'",
                     whose, (int)b->code, strna(b->message));
}

static bool deaf(const struct oracle_state *s, const char *resource, const char *node) {
    return chaos_known(s->chaos, resource, node) < oracle_now(s->oracle) - DEAF;
}

static const struct oracle_pod *world_pod(const struct oracle_state *s, const char *uid) {
    size_t n;
    const struct oracle_pod *const *list = oracle_pods(s->oracle, &n);
    for (size_t i = 0; i < n; i++)
        if (streq(list[i]->uid, uid))
            return list[i];
    return NULL;
}

static void look_at_pod(struct oracle_state *s, const struct drain_node *n,
                        const struct drain_pod *p, bool lower_open) {
    static const char *const words[] = {"staying", "queued", "blocked", "sent",
                                        "leaving", "gone",   "refused", "failed"};
    int64_t now = oracle_now(s->oracle);
    bool explained = true;
    if (p->blocked)
        check_blocker(s, &p->blocker, p->name);
    const struct oracle_pod *w = world_pod(s, p->uid);
    switch (p->state) {
    case DRAIN_POD_STAYS:
    case DRAIN_POD_GONE:
        break;
    case DRAIN_POD_QUEUED: /* for its order, the rate or a short pause */
        explained = lower_open || p->blocked;
        break;
    case DRAIN_POD_BLOCKED:
        explained = p->blocked;
        break;
    case DRAIN_POD_SENT:
        explained = chaos_pending(s->chaos, CHAOS_EVICT, p->ns, p->name) ||
                    chaos_pending(s->chaos, CHAOS_DELETE_POD, p->ns, p->name);
        break;
    case DRAIN_POD_LEAVING: {
        /* The deletion's time is that of the end of the grace period; it can move when a kubelet
         * comes back and deletes for good what a finalizer keeps. */
        int64_t end = w && record_as(pod, w->last)->meta.deleted
                          ? record_as(pod, w->last)->meta.deleted
                          : p->accepted;
        explained = p->blocked || now < end + SILENT || deaf(s, "pods", n->name);
        break;
    }
    case DRAIN_POD_REFUSED:
        explained = p->blocked;
        break;
    case DRAIN_POD_FAILED:
        explained = !str_empty(p->error);
        break;
    }
    if (!explained && deaf(s, "pods", n->name) && p->state != DRAIN_POD_SENT)
        explained = true;
    explain(s, p->uid, explained, n->name, p->name, words[p->state]);
}

static bool is_open(const struct drain_pod *p) {
    return p->state == DRAIN_POD_QUEUED || p->state == DRAIN_POD_BLOCKED ||
           p->state == DRAIN_POD_SENT || p->state == DRAIN_POD_LEAVING;
}

/* Whatever is on the node and has to go is among the drain's pods, also what came late; one that
 * was told to stop only waits for answers. */
static void look_for_forgotten(struct oracle_state *s, const struct drain_node *n) {
    if (oracle_stopped(s->oracle))
        return;
    size_t count;
    const struct oracle_pod *const *list = oracle_pods(s->oracle, &count);
    int64_t known = oracle_known_pods(s->oracle, n->name);
    for (size_t i = 0; i < count; i++) {
        const struct oracle_pod *p = list[i];
        const struct pod *pod = record_as(pod, p->last);
        const struct owner *owner = meta_controller(&pod->meta);
        /* What creates it may be read first, and that may fail for a while. */
        bool read =
            owner && (str_same(owner->kind, "ReplicaSet") || str_same(owner->kind, "StatefulSet"));
        int64_t grace = read && !drain_ended(n->phase) ? SEC(60) : SEC(2);
        if (p->gone || p->deleted || !p->bound || p->bound > known - grace ||
            !str_same(pod->node_name, n->name) ||
            (owner && str_same(owner->kind, "DaemonSet")) || /* it is looked up first */
            oracle_fate(s->oracle, pod) == FATE_STAYS)
            continue;
        bool found = false;
        for (size_t k = 0; k < n->n_pods; k++)
            found |= n->pods[k]->state != DRAIN_POD_STAYS && streq(n->pods[k]->uid, p->uid);
        if (!found)
            oracle_blame(s->oracle, 5, "%s/%s is on node %s, has to go, and is forgotten", p->ns,
                         p->name, n->name);
    }
}

static void look_at_node(struct oracle_state *s, const struct drain_node *n) {
    bool explained = n->blocked, open = false, refused = false;
    if (n->blocked)
        check_blocker(s, &n->blocker, n->name);
    bool writes = chaos_pending(s->chaos, CHAOS_PATCH_NODE, NULL, n->name);
    bool reads = chaos_pending(s->chaos, CHAOS_GET, NULL, NULL) ||
                 chaos_pending(s->chaos, CHAOS_LIST, NULL, NULL);
    bool is_deaf = deaf(s, "nodes", n->name) || deaf(s, "pods", n->name);
    switch (n->phase) {
    case DRAIN_WAITING:
        break;
    case DRAIN_CORDONING:
    case DRAIN_UNDOING:
        explained |= writes || is_deaf;
        break;
    case DRAIN_CHECKING:
    case DRAIN_DETACHING:
    case DRAIN_RETURNING:
        explained |= reads || is_deaf;
        break;
    case DRAIN_EVICTING:
        for (size_t i = 0; i < n->n_pods; i++) {
            open |= is_open(n->pods[i]);
            refused |= n->pods[i]->state == DRAIN_POD_REFUSED;
        }
        explained |= open || refused || reads || is_deaf;
        /* Of pods with an order only the first ones are asked; which is which the rules know. */
        for (size_t i = 0; i < n->n_pods; i++)
            look_at_pod(s, n, n->pods[i], s->plan->rules.len && open);
        look_for_forgotten(s, n);
        break;
    default:
        return;
    }
    explain(s, n->name, explained, n->name, NULL, drain_phase_word(n->phase));
    int64_t now = oracle_now(s->oracle);
    /* The answer of a write is waited for, so that what is said at the end is true. */
    if (s->plan->timeout && !writes && !oracle_stopped(s->oracle) && n->phase != DRAIN_WAITING &&
        n->phase != DRAIN_UNDOING && (!n->deadline || now > n->deadline + SEC(2)))
        oracle_blame(s->oracle, 5, "node %s is %s %s its deadline", n->name,
                     drain_phase_word(n->phase), n->deadline ? "after" : "without");
}

/* --- the end --- */

/* There is a reason to refuse the node, or was a moment ago. */
static bool may_refuse(const struct oracle_state *s, const char *node) {
    size_t n;
    const struct oracle_pod *const *list = oracle_pods(s->oracle, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pod *pod = record_as(pod, list[i]->last);
        if (str_same(pod->node_name, node) && oracle_needs_flag(s->oracle, pod) &&
            (!list[i]->gone || list[i]->gone > oracle_begun(s->oracle)))
            return true;
    }
    return false;
}

/* A node that is said to be empty: is it? */
static void check_empty(struct oracle_state *s, const char *node) {
    size_t n;
    const struct oracle_pod *const *list = oracle_pods(s->oracle, &n);
    int64_t known = oracle_known_pods(s->oracle, node);
    bool claims = false;
    for (size_t i = 0; i < n; i++) {
        const struct oracle_pod *p = list[i];
        const struct pod *pod = record_as(pod, p->last);
        if (p->gone || !str_same(pod->node_name, node))
            continue;
        for (size_t k = 0; pod->spec && k < list_len(pod->spec->volumes); k++)
            claims |= pod->spec->volumes[k].claim || pod->spec->volumes[k].ephemeral;
        if (oracle_fate(s->oracle, pod) == FATE_STAYS || !p->bound || p->bound >= known ||
            (s->plan->skip_wait && p->deleted))
            continue;
        oracle_blame(s->oracle, 4, "node %s is said to be drained, and %s/%s is there", node, p->ns,
                     p->name);
    }
    const char *va =
        oracle_attachment(s->oracle, node, chaos_known(s->chaos, "volumeattachments", ""));
    if (va && !claims && !s->plan->detach_timeout && !s->plan->no_watch && !s->plan->skip_wait)
        oracle_blame(s->oracle, 4, "node %s is said to be drained, and %s is still attached", node,
                     va);
}

static bool any_deadline(const struct plan *plan) {
    for (size_t i = 0; i < plan->rules.len; i++)
        if (plan->rules.p[i].deadline)
            return true;
    return false;
}

static void judge_end(struct oracle_state *s, const struct drain_node *n) {
    const struct plan *p = s->plan;
    struct oracle *o = s->oracle;
    const char *word = drain_phase_word(n->phase);
    bool justified = true;
    switch (n->phase) {
    case DRAIN_DONE:
        /* One that was uncordoned in the same breath may have pods again. */
        if (!p->dry_run && !p->uncordon_when_done)
            check_empty(s, n->name);
        break;
    case DRAIN_REFUSED:
        justified = may_refuse(s, n->name);
        break;
    case DRAIN_TIMED_OUT:
        justified = p->timeout || p->dry_run;
        break;
    case DRAIN_FAILED:
        justified = oracle_lifted(o, n->name) || oracle_foreign_record(o, n->name) ||
                    !oracle_node_exists(o, n->name) || any_deadline(p);
        break;
    case DRAIN_STOPPED:
        justified = oracle_stopped(o);
        break;
    default:
        break;
    }
    if (!justified)
        oracle_blame(o, 5, "node %s ended as %s, and nothing is to be seen that makes it so: %s",
                     n->name, word, strna(n->error));
    if (n->phase != DRAIN_DONE && str_empty(n->error))
        oracle_blame(o, 5, "node %s ended as %s without a word", n->name, word);
}

void oracle_state_look(struct oracle_state *s, const struct drain *d) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(d, &n);
    for (size_t i = 0; i < n; i++) {
        if (!drain_ended(nodes[i]->phase)) {
            look_at_node(s, nodes[i]);
            continue;
        }
        bool again = false;
        for (size_t k = 0; k < s->ended.len; k++)
            again |= s->ended.p[k] == nodes[i];
        if (!again) {
            *vec_push(&s->ended) = nodes[i];
            judge_end(s, nodes[i]);
        }
    }
}

void oracle_state_end(struct oracle_state *s, const struct drain *d, bool calm) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(d, &n);
    oracle_state_look(s, d);
    if (calm && !s->plan->dry_run)
        oracle_end_counts(s->oracle);
    if (calm && !s->plan->dry_run)
        oracle_end_marks(s->oracle);
    for (size_t i = 0; i < n; i++) {
        const struct drain_node *x = nodes[i];
        if (calm && x->phase == DRAIN_DONE && s->plan->keep_record && !s->plan->dry_run &&
            !oracle_lifted(s->oracle, x->name) && !oracle_overwritten(s->oracle, x->name) &&
            (!oracle_condition(s->oracle, x->name, "Drained",
                               oracle_cordoned(s->oracle, x->name)) ||
             !oracle_condition(s->oracle, x->name, "DrainInProgress", false)))
            oracle_blame(s->oracle, 4, "node %s is drained and not marked so", x->name);
        /* With nothing in its way it must have been emptied, whatever the network did. */
        /* (A dry run has to take what the server says at that moment for an answer.) */
        bool now = s->plan->dry_run && x->error && strstr(x->error, "would be refused now");
        if (s->plan->benign && !s->plan->timeout && !now && x->phase != DRAIN_DONE &&
            x->phase != DRAIN_REFUSED && x->phase != DRAIN_STOPPED)
            oracle_blame(s->oracle, 4, "node %s could be drained, and is %s: %s", x->name,
                         drain_phase_word(x->phase), strna(x->error));
    }
}
