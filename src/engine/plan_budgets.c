/* The budgets that a plan rests on: what each asks for, and how much of it the plan needs. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/budget.h"
#include "engine/plan_internal.h"
#include "model/selector.h"

/* A budget, and the times at which pods of the plan begin to be away and are back. */
struct used {
    const struct pdb *pdb;
    VEC(int64_t) away, back;
};

typedef VEC(struct used *) used_list;

static uint32_t used_hash(const void *entry) {
    const struct used *u = entry;
    return hash_bytes(&u->pdb, sizeof u->pdb);
}

static bool used_equal(const void *entry, const void *pdb) {
    return ((const struct used *)entry)->pdb == pdb;
}

static const struct htab_ops used_ops = {used_hash, used_equal};

static void add_pod(const struct planning *g, const struct plan_pod *p, struct htab *by_pdb,
                    used_list *all) {
    size_t n;
    const struct pdb *const *pdbs = pdbs_of_pod(g->in->cluster->pdbs, p->pod, &n);
    for (size_t i = 0; i < n; i++) {
        struct used *u = htab_find(by_pdb, hash_bytes(&pdbs[i], sizeof pdbs[i]), pdbs[i]);
        if (!u) {
            u = xnew(struct used);
            u->pdb = pdbs[i];
            htab_insert(by_pdb, u);
            *vec_push(all) = u;
        }
        if (p->evicted == PLAN_NO_TIME || (p->back >= 0 && p->back <= p->evicted))
            continue; /* with --surge its replacement is there before it goes */
        *vec_push(&u->away) = p->evicted;
        *vec_push(&u->back) = p->back == PLAN_NO_TIME ? INT64_MAX : p->back;
    }
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The most that are away at the same time. */
static int32_t most_away(struct used *u) {
    int32_t most = 0, now = 0;
    size_t back = 0;
    if (!u->away.len)
        return 0;
    qsort(u->away.p, u->away.len, sizeof *u->away.p, compare_times);
    qsort(u->back.p, u->back.len, sizeof *u->back.p, compare_times);
    for (size_t i = 0; i < u->away.len; i++) {
        for (; u->back.p[back] <= u->away.p[i]; back++)
            now--;
        now++;
        most = MAX_OF(most, now);
    }
    return most;
}

/* In normal form: the same selector has the same words, in whichever order it was written. */
static const char *selector_words(struct arena *arena, const struct label_selector *sel) {
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_selector_ struct selector normal = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    for (size_t i = 0; sel && i < list_len(sel->labels); i++)
        str_addf(&text, "%s%s=%s", i ? "," : "", strna(sel->labels[i].key),
                 strna(sel->labels[i].value));
    if (sel && list_len(sel->exprs)) {
        str_add(&text, text.len ? "," : "");
        requirements_print(&text, sel->exprs);
    }
    if (!selector_parse(str_get(&text), &normal, &err)) {
        str_reset(&text);
        requirements_print(&text, normal.list);
    }
    return arena_strndup(arena, str_get(&text), text.len);
}

void plan_budget_of(const struct pdb *pdb, struct arena *arena, struct plan_budget *out) {
    _cleanup_str_ struct str rule = STR_INIT;
    budget_rule(pdb, &rule);
    *out = (struct plan_budget){
        .name = arena_printf(arena, "%s/%s", strna(pdb->meta.ns), strna(pdb->meta.name)),
        .rule = arena_strndup(arena, str_get(&rule), rule.len),
        .selector = selector_words(arena, pdb->selector),
        .unhealthy = strna(pdb->unhealthy_policy),
        .spare = PLAN_NO_COUNT};
}

static void describe(struct planning *g, struct used *u, struct plan_budget *out) {
    int32_t away = most_away(u);
    /* None expected: its controller has not seen the pods yet. */
    int64_t spared = budget_spare(u->pdb, &g->budget_owners);
    plan_budget_of(u->pdb, g->arena, out);
    out->spare = spared == BUDGET_UNKNOWN ? PLAN_NO_COUNT : (int32_t)spared;
    /* What is not asked for, or deleted, is beyond it. */
    out->needs = MIN_OF(away, MAX_OF(out->spare, 0));
}

static int compare_budgets(const void *a, const void *b) {
    return strcmp(((const struct plan_budget *)a)->name, ((const struct plan_budget *)b)->name);
}

void plan_budgets(struct planning *g) {
    struct plan *out = g->out;
    struct htab by_pdb;
    used_list all = VEC_INIT;
    if (g->in->opts->disable_eviction || !g->in->cluster->budgets_known)
        return;
    htab_init(&by_pdb, &used_ops);
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->nodes[i].n_pods; k++)
            if (out->nodes[i].pods[k].verdict != PLAN_STAYS)
                add_pod(g, &out->nodes[i].pods[k], &by_pdb, &all);
    struct plan_budget *list = arena_alloc(g->arena, (all.len + 1) * sizeof *list);
    for (size_t i = 0; i < all.len; i++) {
        describe(g, all.p[i], &list[i]);
        vec_done(&all.p[i]->away);
        vec_done(&all.p[i]->back);
        free(all.p[i]);
    }
    qsort(list, all.len, sizeof *list, compare_budgets);
    out->budgets = list;
    out->n_budgets = all.len;
    vec_done(&all);
    htab_done(&by_pdb);
}
