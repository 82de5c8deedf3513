/* Why a pod gets no node: the scheduler's own message, ours for the cluster as it is now, what is
 * missing on the node that is nearest to having room, and whether a cordon keeps it out. */
#include "base/timefmt.h"
#include "engine/fit_lack.h"
#include "engine/podrole.h"
#include "engine/why_internal.h"

/* Of the pods of one answer: each asks all nodes, 2 ms for 5,000. */
enum { ROOMS_LOOKED_AT = 4 };

/* "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: ...". */
const char *why_scheduler_text(struct making *m, const char *message) {
    const char *end = strstr(message, ". no new claims");
    if (!end)
        end = strstr(message, ". preemption:");
    size_t len = end ? (size_t)(end - message) : strlen(message);
    while (len && (message[len - 1] == '.' || message[len - 1] == ' '))
        len--;
    return arena_strndup(m->arena, message, len);
}

/* --- words --- */

static void tell(struct making *m, struct why_link *l, const char *text) {
    struct why_link *c = why_link_new(m, WHY_NO_CODE, "", "", text);
    c->severity = SEVERITY_INFO;
    why_link_cause(m, l, c);
}

static void tell_lack(struct making *m, struct why_link *l, struct why_link *helped,
                      const struct fit_lack *lack) {
    struct arena *a = m->arena;
    if (lack->fits)
        tell(m, l,
             arena_printf(a, "node %s has room for it now; the scheduler has not tried since",
                          lack->fits));
    if (lack->short_of && lack->lack.len) {
        tell(m, l,
             arena_printf(a, "%zu node%s too full; the nearest is %s: %s more would do",
                          lack->short_of, lack->short_of == 1 ? " is" : "s are", lack->nearest,
                          str_get(&lack->lack)));
        why_link_remedy(
            m, helped, WHY_RISK_LOW,
            arena_printf(a, "add a node, or free %s on %s", str_get(&lack->lack), lack->nearest),
            NULL, NULL);
    }
    if (!lack->cordoned)
        return;
    struct cordon cordon;
    const struct node *behind = (const struct node *)store_get(m->w->nodes, NULL, lack->behind);
    cordon_of(behind, a, &cordon);
    const char *more =
        lack->cordoned > 1 ? arena_printf(a, " (or %zu more)", lack->cordoned - 1) : "";
    tell(m, l,
         arena_printf(a, "node %s%s would take it if it were not cordoned", lack->behind, more));
    why_link_remedy(m, helped, WHY_RISK_LOW, "put a cordoned node back into service",
                    arena_printf(a, "slipway uncordon %s", why_shell(m, lack->behind)),
                    arena_printf(a, "cordoned by %s", cordon_text(&cordon, a)));
}

/* Claims that are not bound to a volume are beyond what we know: the scheduler's word must do. */
static bool can_judge(struct making *m, const struct pod *pod) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(v); i++) {
        if (v[i].ephemeral)
            return false;
        if (!v[i].claim)
            continue;
        const struct pvc *c = why_look(m, &kind_pvc, pod->meta.ns, v[i].claim->claim, NULL);
        const struct pv *pv = c ? why_look(m, &kind_pv, NULL, strna(c->volume_name), NULL) : NULL;
        if (!pv)
            return false;
        if (m->w->fit) {
            fit_put_claim(m->w->fit, c);
            fit_put_volume(m->w->fit, pv);
        }
    }
    return pod->spec != NULL;
}

/* That the node that is being drained would take it back is no news. */
static const char *drained(const struct making *m) {
    return m->node ? m->node->meta.name : NULL;
}

void why_add_room(struct making *m, struct why_link *l, struct why_link *helped,
                  const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodScheduled");
    const char *said = c ? why_scheduler_text(m, strna(c->message)) : "";
    bool gated = c && str_same(c->reason, "SchedulingGated"); /* no node can mend that */
    bool judge =
        !gated && can_judge(m, pod) && why_has(m, &(struct why_want){.what = WHY_WANT_ROOM});
    _cleanup_str_ struct str ours = STR_INIT, text = STR_INIT;
    struct fit *fit = m->w->fit;
    struct fit_lack lack;
    const char *now = "";
    str_add(&text, "Pending");
    if (!str_empty(said))
        str_addf(&text, ": %s", said);
    else if (c && !str_empty(c->reason))
        str_addf(&text, ": %s",
                 gated ? "it has scheduling gates that somebody must take off" : c->reason);
    l->text = why_text(m, &text);
    if (!judge || !fit || m->rooms++ >= ROOMS_LOOKED_AT)
        return;
    if (fit_explain(fit, pod, &ours))
        now = why_scheduler_text(m, str_get(&ours));
    /* The cluster has changed since the scheduler looked. */
    if (*now && !streq(now, said))
        tell(m, l, arena_printf(m->arena, "as the cluster is now: %s", now));
    fit_lack_of(fit, m->w->nodes, pod, drained(m), &lack);
    tell_lack(m, l, helped, &lack);
    fit_lack_done(&lack);
}

/* --- the pods of a node --- */

/* Only what comes back by itself looks for a place. */
static bool will_look(struct making *m, const struct pod *pod) {
    enum pod_role role = pod_role(pod);
    return role == POD_MOVES && !pod->meta.deleted && can_judge(m, pod);
}

/* As its successor will be. */
static struct pod unbound(const struct pod *pod) {
    struct pod copy = *pod;
    copy.node_name = NULL;
    copy.nominated = NULL;
    return copy;
}

/* All leave, and those that find a place take it; `why` is for the first that does not. */
static void move_out(struct fit *f, const struct pod *const *pods, size_t n, why_pods *homeless,
                     struct str *why) {
    for (size_t i = 0; i < n; i++)
        fit_remove_pod(f, pods[i]->meta.ns, pods[i]->meta.name);
    for (size_t i = 0; i < n; i++) {
        struct pod next = unbound(pods[i]);
        const char *node = fit_place(f, &next, 0);
        if (node) {
            fit_assume(f, &next, node);
            continue;
        }
        if (!homeless->len)
            fit_explain(f, &next, why);
        *vec_push(homeless) = pods[i];
    }
}

static void move_back(struct fit *f, const struct pod *const *pods, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fit_remove_pod(f, pods[i]->meta.ns, pods[i]->meta.name);
        fit_put_pod(f, pods[i]);
    }
}

static struct why_link *homeless_link(struct making *m, const why_pods *homeless,
                                      const struct str *why) {
    struct fit_lack lack;
    size_t n = homeless->len;
    struct why_link *l = why_link_new(
        m, WHY_NO_CODE, kind_pod.name, "",
        arena_printf(m->arena, "no room elsewhere: evicted, %s Pending: %s",
                     n == 1 ? "it stays" : "they stay", why_scheduler_text(m, str_get(why))));
    struct pod next = unbound(homeless->p[0]);
    fit_lack_of(m->w->fit, m->w->nodes, &next, drained(m), &lack);
    tell_lack(m, l, l, &lack);
    fit_lack_done(&lack);
    why_link_pods(m, l, homeless->p, n);
    l->blocks = true;
    return l;
}

unsigned why_look_for_room(struct making *m, const struct pod *const *pods, size_t n) {
    _cleanup_str_ struct str why = STR_INIT;
    why_pods going = VEC_INIT, homeless = VEC_INIT;
    struct node cordoned = *m->node;
    for (size_t i = 0; i < n; i++)
        if (will_look(m, pods[i]))
            *vec_push(&going) = pods[i];
    if (why_has(m, &(struct why_want){.what = WHY_WANT_ROOM}) && m->w->fit) {
        cordoned.unschedulable = true;
        fit_put_node(m->w->fit, &cordoned);
        move_out(m->w->fit, going.p, going.len, &homeless, &why);
        if (homeless.len)
            *vec_push(&m->links) = homeless_link(m, &homeless, &why);
        move_back(m->w->fit, going.p, going.len);
        fit_put_node(m->w->fit, m->node);
    }
    unsigned found = (unsigned)homeless.len;
    vec_done(&going);
    vec_done(&homeless);
    return found;
}
