/* Which pods would not be made again if their node alone were drained. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/lint_internal.h"
#include "engine/podrole.h"
#include "engine/rules.h"

typedef VEC(const struct pod *) pods;

static void note_unmade(struct linting *l, const struct pod *pod, const struct remade *remade) {
    struct lint_owner owner;
    lint_owner_of(l, pod, &owner);
    struct bucket *b = lint_note(l, remade->end == REMAKE_JOB_FAILS ? LINT_JOB_FAILS : LINT_UNMADE,
                                 owner.key, pod, NULL, 0);
    lint_set_unmade(l, pod);
    if (b->remade)
        return;
    struct remade *kept = arena_new(l->arena, struct remade);
    *kept = *remade;
    b->remade = kept;
}

static bool goes(const struct linting *l, const struct pod *pod) {
    struct rule_verdict rule;
    if (pod_role(pod) != POD_MOVES || lint_terminating(l, pod))
        return false;
    rules_apply(l->rules, pod, &rule);
    return rule.action != RULE_SKIP;
}

static void look_at_node(struct linting *l, struct remake *r, const char *node, pods *list) {
    size_t n;
    const struct object *const *found =
        store_find(l->in->pods, l->in->pods_by_node, (struct store_key){node, NULL}, &n);
    list->len = 0;
    for (size_t i = 0; i < n; i++)
        if (goes(l, (const struct pod *)found[i]))
            *vec_push(list) = (const struct pod *)found[i];
    /* Who comes first decides who is one too many: the same each time. */
    if (list->len)
        qsort(list->p, list->len, sizeof list->p[0], pod_compare);
    remake_again(r);
    struct remade *said = xcalloc(list->len + 1, sizeof *said);
    for (size_t i = 0; i < list->len; i++)
        remake_judge(r, list->p[i], &said[i]);
    /* The one because of which others are not made again either is told first. */
    for (size_t i = 0; i < list->len; i++)
        if (said[i].end != REMAKE_WELL) {
            remake_judge_rest(r, list->p[i], &said[i]);
            note_unmade(l, list->p[i], &said[i]);
        }
    for (size_t i = 0; i < list->len; i++)
        if (said[i].end == REMAKE_WELL && remake_judge_rest(r, list->p[i], &said[i]))
            note_unmade(l, list->p[i], &said[i]);
    free(said);
}

void lint_look_at_remaking(struct linting *l) {
    const struct lint_input *in = l->in;
    struct remake_stores stores = {.jobs = in->jobs,
                                   .accounts = in->accounts,
                                   .replica_sets = in->replica_sets,
                                   .stateful_sets = in->stateful_sets};
    struct remake r = REMAKE_INIT(l->arena, remake_look, &stores);
    pods list = VEC_INIT;
    size_t n;
    if (!in->nodes)
        return;
    remake_quotas(&r, in->quotas, NULL);
    _cleanup_free_ const struct object **nodes = store_sorted(in->nodes, &n);
    for (size_t i = 0; i < n; i++)
        look_at_node(l, &r, nodes[i]->meta.name, &list);
    vec_done(&list);
    remake_done(&r);
}
