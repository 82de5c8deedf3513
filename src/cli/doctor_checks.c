/* What the checks say to a drain of each node by itself. */
#include "cli/doctor_checks.h"

#include "base/mem.h"
#include "base/str.h"
#include "cli/finding_json.h"

/* As `why` has it (engine/why_checks.c). */
static bool stands_in_the_way(const struct check_finding *f) {
    return f->verdict != CHECK_PASS && f->when & (CHECK_CORDON | CHECK_OPERATION);
}

bool doctor_check_blocks(const struct doctor_check *c) {
    return c->finding->when & CHECK_CORDON || c->finding->verdict == CHECK_WAIT;
}

bool doctor_check_ends(const struct doctor_check *c) {
    return !(c->finding->when & CHECK_CORDON);
}

static const char *quiet_ones(const struct checks *found, const struct doctor_checks *out,
                              struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < n_checks; i++) {
        bool told = found->states[i].presence != CHECK_INSTALLED;
        for (size_t k = 0; k < out->n; k++)
            told |= out->list[k].finding->check == &checks_table[i];
        if (!told)
            str_addf(&text, "%s%s", text.len ? ", " : "", checks_table[i].title);
    }
    return arena_strndup(arena, str_get(&text), text.len);
}

void doctor_checks_fold(const struct checks *found, struct arena *arena,
                        struct doctor_checks *out) {
    struct doctor_check *list = arena_alloc(arena, (found->n + 1) * sizeof *list);
    bool *told = arena_alloc(arena, found->n + 1);
    *out = (struct doctor_checks){.list = list};
    for (size_t i = 0; i < found->n; i++) {
        const struct check_finding *f = &found->list[i];
        if (told[i] || !stands_in_the_way(f))
            continue;
        size_t n = 0;
        for (size_t k = i; k < found->n; k++)
            n += finding_same(f, &found->list[k]);
        const char **nodes = arena_alloc(arena, n * sizeof *nodes);
        n = 0;
        for (size_t k = i; k < found->n; k++)
            if (finding_same(f, &found->list[k])) {
                told[k] = true;
                nodes[n++] = found->list[k].node;
            }
        list[out->n++] = (struct doctor_check){f, nodes, n};
    }
    out->quiet = quiet_ones(found, out, arena);
}
