/* The status of a Policy. */
#include "engine/policy_status.h"

#include "base/mem.h"
#include "engine/own_status.h"

/* As numbers and words, to be compared with what is written. */
struct counts {
    size_t held, waiting, free;
};

static struct counts counts_of(const struct policy_seen *seen) {
    struct counts n = {.held = seen->slots->list.len, .waiting = seen->slots->waiting.len};
    n.free = seen->limit > n.held ? seen->limit - n.held : 0;
    return n;
}

static struct own_said ready_of(const struct policy *p, const struct policy_seen *seen) {
    if (seen->problem)
        return (struct own_said){"Ready", false, "Invalid", seen->problem};
    if (p->meta.deleted)
        return (struct own_said){"Ready", false, "Deleting",
                                 "it is being deleted: nobody gets a slot any more"};
    if (seen->unguarded)
        return (struct own_said){"Ready", false, "NoFinalizer", seen->unguarded};
    if (seen->shared)
        return (struct own_said){"Ready", false, "NodesShared", seen->shared};
    return (struct own_said){"Ready", true, "InForce", "it is obeyed"};
}

static bool says(const struct policy *p, const struct own_said *said) {
    for (size_t i = 0; i < list_len(p->conditions); i++) {
        const struct condition *c = &p->conditions[i].c;
        if (str_same(c->type, said->type))
            return str_same(c->status, said->is ? "True" : "False") &&
                   str_same(c->reason, said->reason) && str_same(c->message, said->message) &&
                   p->conditions[i].generation == p->meta.generation;
    }
    return false;
}

static bool same_holders(const struct policy *p, const struct slots *s) {
    size_t n = MIN_OF(s->list.len, (size_t)POLICY_HOLDERS);
    if (list_len(p->holders) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!streq(p->holders[i], s->list.p[i].node))
            return false;
    return true;
}

static bool is_written(const struct policy *p, const struct policy_seen *seen,
                       const struct own_said *ready) {
    if (p->observed_generation != p->meta.generation || !says(p, ready))
        return false;
    if (!seen->slots)
        return true;
    struct counts n = counts_of(seen);
    return p->nodes == (int32_t)seen->nodes && p->held == (int32_t)n.held &&
           p->waiting == (int32_t)n.waiting && p->free == (int32_t)n.free &&
           same_holders(p, seen->slots);
}

static void write_slots(struct jsonw *w, const struct policy_seen *seen) {
    struct counts n = counts_of(seen);
    jsonw_kint(w, "nodes", (int64_t)seen->nodes);
    jsonw_kint(w, "held", (int64_t)n.held);
    jsonw_kint(w, "waiting", (int64_t)n.waiting);
    jsonw_kint(w, "free", (int64_t)n.free);
    jsonw_kbegin(w, "holders", '[');
    for (size_t i = 0; i < n.held && i < POLICY_HOLDERS; i++)
        jsonw_str(w, seen->slots->list.p[i].node);
    jsonw_end(w);
}

bool policy_status_patch(const struct policy *p, const struct policy_seen *seen, int64_t now,
                         struct str *body) {
    struct own_said ready = ready_of(p, seen);
    struct jsonw w;
    if (is_written(p, seen, &ready))
        return false;
    own_patch_begin(&w, body, &p->meta);
    jsonw_end(&w);
    jsonw_kbegin(&w, "status", '{');
    jsonw_kint(&w, "observedGeneration", p->meta.generation);
    if (seen->slots)
        write_slots(&w, seen);
    jsonw_kbegin(&w, "conditions", '[');
    own_write_condition(&w, p->conditions, p->meta.generation, now, &ready);
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_end(&w);
    return true;
}

/* To one that is being deleted none can be added: it has to be there before the first slot is. */
bool policy_finalizer_patch(const struct policy *p, const struct policy_seen *seen,
                            struct str *body) {
    bool has = own_has_finalizer(&p->meta, POLICY_FINALIZER);
    bool ends = p->meta.deleted, wants = !ends;
    struct jsonw w;
    if (has == wants || seen->problem || (ends && (!seen->slots || seen->slots->list.len)))
        return false;
    own_patch_begin(&w, body, &p->meta);
    own_write_finalizers(&w, &p->meta, POLICY_FINALIZER, wants);
    jsonw_end(&w);
    jsonw_end(&w);
    return true;
}
