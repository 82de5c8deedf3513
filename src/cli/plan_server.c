/* What the API server says about each eviction of a plan. */
#include "cli/plan_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum { AT_ONCE = 16 }; /* dry runs under way */

enum plan_verdict plan_server_verdict(enum plan_verdict planned, enum kube_outcome outcome,
                                      enum blocker_code *code) {
    switch (outcome) {
    case KUBE_OK:
    case KUBE_NOT_FOUND: /* gone, or another one since */
    case KUBE_CONFLICT:
        return PLAN_VERDICTS;
    case KUBE_PDB_NO_BUDGET:
    case KUBE_PDB_NOT_OBSERVED:
        *code = BLOCKER_PDB_NO_BUDGET;
        return planned == PLAN_GOES ? PLAN_WAITS : PLAN_VERDICTS;
    case KUBE_NOT_YET: /* a webhook that moves it by itself */
        *code = BLOCKER_EVICTION_IN_PROGRESS;
        return PLAN_UNSURE;
    case KUBE_NS_TERMINATING:
        *code = BLOCKER_NAMESPACE_TERMINATING;
        return PLAN_UNSURE;
    case KUBE_PDB_MULTIPLE:
        *code = BLOCKER_MULTIPLE_PDBS;
        return PLAN_NEVER;
    case KUBE_PDB_BROKEN:
        *code = BLOCKER_PDB_BROKEN;
        return PLAN_NEVER;
    case KUBE_DENIED:
        *code = BLOCKER_ADMISSION_DENIED;
        return PLAN_NEVER;
    case KUBE_FORBIDDEN:
    case KUBE_UNAUTHORIZED:
        *code = BLOCKER_FORBIDDEN;
        return PLAN_NEVER;
    default:
        *code = BLOCKER_SERVER_TROUBLE;
        return PLAN_UNSURE;
    }
}

struct asked {
    struct asking *asking;
    struct plan_node *node;
    struct plan_pod *pod;
};

struct asking {
    struct session *s;
    const struct drain_opts *opts;
    struct plan *plan;
    struct arena *arena;
    VEC(struct asked) all;
    size_t next, under_way, answered;
    enum kube_outcome last; /* that was no answer */
    char *message;
};

static void ask_more(struct asking *a);

static void on_reply(void *arg, struct kube_reply *reply) {
    struct asked *q = arg;
    struct asking *a = q->asking;
    enum blocker_code code = BLOCKER_SERVER_TROUBLE;
    enum plan_verdict v = plan_server_verdict(q->pod->verdict, reply->outcome, &code);
    a->under_way--;
    if (kube_outcome_silent(reply->outcome) || reply->outcome == KUBE_NO_CREDENTIALS) {
        a->last = reply->outcome;
        str_replace(&a->message, reply->message);
    } else {
        a->answered++;
    }
    if (v != PLAN_VERDICTS) {
        const struct meta *m = &q->pod->pod->meta;
        const char *text = reply->cause ? reply->cause : reply->message;
        plan_correct(a->plan, q->node, q->pod, v,
                     (struct plan_blocker){
                         code, arena_printf(a->arena, "%s/%s", strna(m->ns), strna(m->name)),
                         arena_strndup(a->arena, text, strlen(text)), "", false, NULL});
    }
    ask_more(a);
}

static void ask_more(struct asking *a) {
    for (; a->under_way < AT_ONCE && a->next < a->all.len; a->next++) {
        struct asked *q = &a->all.p[a->next];
        const struct meta *m = &q->pod->pod->meta;
        struct kube_write w = {.kind = &kind_pod, .ns = m->ns, .name = m->name, .dry_run = true};
        a->under_way++;
        kube_evict(&a->s->conn.client, &w, strna(m->uid), a->opts->grace, on_reply, q);
    }
    if (!a->under_way)
        loop_stop(a->s->loop);
}

/* What is refused without asking, or leaves already, need not be asked about. */
static bool is_asked(const struct plan_pod *p) {
    return p->verdict != PLAN_STAYS && p->verdict != PLAN_NEVER && p->verdict != PLAN_UNSURE &&
           !p->pod->meta.deleted;
}

int plan_ask_server(struct session *s, const struct drain_opts *opts, struct plan *plan,
                    struct arena *arena) {
    struct asking a = {.s = s, .opts = opts, .plan = plan, .arena = arena, .all = VEC_INIT};
    int rc = 0;
    if (opts->disable_eviction)
        return 0; /* nothing is evicted */
    for (size_t i = 0; i < plan->n; i++)
        for (size_t k = 0; k < plan->nodes[i].n_pods; k++)
            if (is_asked(&plan->nodes[i].pods[k]))
                *vec_push(&a.all) = (struct asked){&a, &plan->nodes[i], &plan->nodes[i].pods[k]};
    if (a.all.len) {
        ask_more(&a);
        while (a.under_way || a.next < a.all.len)
            session_wait(s);
    }
    if (a.all.len && !a.answered)
        rc = session_fail(s, "ask the server about evictions", a.last, strna(a.message));
    free(a.message);
    vec_done(&a.all);
    return rc;
}
