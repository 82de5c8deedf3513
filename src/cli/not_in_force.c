/* Policies that the controller does not obey. */
#include "cli/not_in_force.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/own_status.h"
#include "engine/policy_status.h"

/* Of two that have the same node: the others of its nodes are served. */
#define SHARED "NodesShared"

enum { NEW_S = 60 }; /* a Policy has its finalizer by then, where a controller can write it */

#define UNGUARDED "NoFinalizer"

static const char *install_again(const char *prog, struct arena *arena) {
    return arena_printf(arena,
                        "look at '%s locks' and the controller's log, and apply the manifests "
                        "of this version again ('%s install --dry-run=client -o yaml', or "
                        "kubernetes/deployment.yaml)",
                        prog, prog);
}

/* What it says itself; false: nothing of the kind, or of a spec that was changed since. */
static bool says(const struct policy *p, const char *prog, struct arena *arena,
                 struct idle_policy *out) {
    for (size_t i = 0; i < list_len(p->conditions); i++) {
        const struct condition *c = &p->conditions[i].c;
        if (!str_same(c->type, "Ready") || !str_same(c->status, "False") ||
            p->conditions[i].generation != p->meta.generation)
            continue;
        out->reason = strna(c->reason);
        out->message = strna(c->message);
        out->hint = str_same(c->reason, SHARED)
                        ? "change the node selectors so that each node has one Policy"
                    : str_same(c->reason, UNGUARDED) ? install_again(prog, arena)
                                                     : "mend what is named";
        return true;
    }
    return false;
}

static bool is_unguarded(const struct policy *p, const char *prog, int64_t now, struct arena *arena,
                         struct idle_policy *out) {
    if (own_has_finalizer(&p->meta, POLICY_FINALIZER) || p->meta.created + SEC(NEW_S) > now)
        return false;
    out->reason = UNGUARDED;
    out->message = "it has no finalizer " POLICY_FINALIZER ", which the controller writes first: "
                   "either none runs, or its account may not write to Policies";
    out->hint = install_again(prog, arena);
    return true;
}

void not_in_force_take(const struct store *policies, const char *prog, int64_t now,
                       struct arena *arena, struct idle_policies *out) {
    size_t n = 0;
    _cleanup_free_ const struct object **all = store_sorted(policies, &n);
    struct idle_policy *rows = arena_alloc(arena, (n + 1) * sizeof *rows);
    *out = (struct idle_policies){.rows = rows};
    for (size_t i = 0; i < n; i++) {
        const struct policy *p = (const struct policy *)all[i];
        struct idle_policy *row = &rows[out->n];
        *row = (struct idle_policy){.name = p->meta.name};
        if (!p->meta.deleted &&
            (says(p, prog, arena, row) || is_unguarded(p, prog, now, arena, row)))
            out->n++;
    }
}

void not_in_force_text(const struct idle_policy *p, struct str *out) {
    str_addf(out, "Policy %s is not in force%s: %s; %s", p->name,
             streq(p->reason, SHARED) ? " for all of its nodes" : ", and nobody gets a slot of it",
             p->message, p->hint);
}

void not_in_force_write(struct jsonw *w, const struct idle_policies *all) {
    jsonw_kbegin(w, "notInForce", '[');
    for (size_t i = 0; i < all->n; i++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "name", all->rows[i].name);
        jsonw_kstr(w, "reason", all->rows[i].reason);
        jsonw_kstr(w, "message", all->rows[i].message);
        jsonw_kstr(w, "hint", all->rows[i].hint);
        jsonw_end(w);
    }
    jsonw_end(w);
}
