/* Who is out of service without a slot of the policy. */
#include "engine/census.h"

#include <stdlib.h>
#include <string.h>

/* --- those that are out for another policy --- */

/* After `prefix`; NULL: it begins with something else. */
static const char *after(const char *text, const char *prefix) {
    return text && str_starts(text, prefix) ? text + strlen(prefix) : NULL;
}

bool census_is_own_id(const char *ns, const char *policy, const char *id) {
    const char *rest = after(id, "slot:");
    const char *name = rest && strchr(rest, '/') ? after(after(rest, ns), "/") : rest;
    const char *end = after(name, policy);
    return end && *end == ':';
}

/* Of few nodes it is worth to be read. */
bool census_cordon(const struct node *node, struct arena *arena, struct cordon *out) {
    const char *record = map_get(node->meta.annotations, CORDON_ANNOTATION);
    if (!node->unschedulable || !record || !strstr(record, "slot:"))
        return false;
    cordon_of(node, arena, out);
    return true;
}

static bool is_cordoned_elsewhere(const struct census_world *w, const struct node *node) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    if (!census_cordon(node, &arena, &c))
        return false;
    for (size_t i = 0; i < c.n_holders; i++)
        if (str_starts(c.holders[i].id, "slot:") &&
            !census_is_own_id(w->ns, w->policy, c.holders[i].id))
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

bool census_holds_elsewhere(const struct census_world *w, const char *node) {
    return w->n_elsewhere &&
           bsearch(&node, w->elsewhere, w->n_elsewhere, sizeof *w->elsewhere, by_name);
}

/* --- counting --- */

enum census_as census_as(const struct census_world *w, const struct node *node) {
    if (census_holds_elsewhere(w, node->meta.name) || is_cordoned_elsewhere(w, node))
        return CENSUS_ELSEWHERE;
    return node_is_ready(node) ? CENSUS_IN : CENSUS_DOWN;
}

size_t census_limit(const struct limit *max, size_t members) {
    if (!max->percent)
        return max->value;
    size_t share = members * max->value / 100;
    return share || !max->value ? share : 1;
}
