/* What is wrong with a cluster's PodDisruptionBudgets. */
#include "engine/lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/budget.h"
#include "engine/podrole.h"

static void find_never(const struct store *budgets, struct pdbs *pdbs, struct arena *arena,
                       struct lint *out) {
    size_t n, found = 0;
    const struct object **sorted = store_sorted(budgets, &n);
    struct lint_budget *list = arena_alloc(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        const struct pdb *pdb = (const struct pdb *)sorted[i];
        enum budget_verdict verdict = budget_verdict(pdb);
        size_t pods;
        if (verdict != BUDGET_NEVER && verdict != BUDGET_FAILED)
            continue;
        free(pdbs_pods(pdbs, pdb, &pods));
        if (!pods) /* it holds nothing, however strict it is */
            continue;
        _cleanup_str_ struct str why = STR_INIT;
        budget_explain(pdb, &why);
        list[found++] =
            (struct lint_budget){pdb, arena_strndup(arena, str_get(&why), why.len), pods};
    }
    free(sorted);
    out->never = list;
    out->n_never = found;
    out->budgets = n;
}

/* Only pods that an eviction would ask a budget about. */
static bool is_asked(const struct pod *pod) {
    enum pod_role role = pod_role(pod);
    return (role == POD_MOVES || role == POD_BARE) && budget_is_asked(pod);
}

void lint_budgets(const struct store *pods, const struct store *budgets, struct pdbs *pdbs,
                  struct arena *arena, struct lint *out) {
    size_t n;
    *out = (struct lint){0};
    find_never(budgets, pdbs, arena, out);
    VEC(struct lint_overlap) overlaps = VEC_INIT;
    const struct object **sorted = store_sorted(pods, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pod *pod = (const struct pod *)sorted[i];
        size_t held, k = 0;
        const struct pdb *const *by = pdbs_of_pod(pdbs, pod, &held);
        if (held < 2 || !is_asked(pod))
            continue;
        while (k < overlaps.len && (overlaps.p[k].n_pdbs != held ||
                                    memcmp(overlaps.p[k].pdbs, by, held * sizeof *by) != 0))
            k++;
        if (k == overlaps.len)
            *vec_push(&overlaps) = (struct lint_overlap){by, held, pod, 0};
        overlaps.p[k].pods++;
    }
    free(sorted);
    struct lint_overlap *list = arena_alloc(arena, (overlaps.len + 1) * sizeof *list);
    if (overlaps.len)
        memcpy(list, overlaps.p, overlaps.len * sizeof *list);
    out->overlaps = list;
    out->n_overlaps = overlaps.len;
    vec_done(&overlaps);
}
