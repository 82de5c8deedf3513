/* Sets of characters for patterns. */
#include "sim/api/structural_runes.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/vec.h"
#include "sim/api/structural_runes_data.h"

void runes_add(struct runes *set, uint32_t lo, uint32_t hi) {
    /* What is added in order stays short without sorting. */
    if (set->len) {
        struct rune_range *last = &set->p[set->len - 1];
        if (lo >= last->lo && lo <= last->hi + 1) {
            last->hi = MAX_OF(last->hi, hi);
            return;
        }
    }
    *vec_push(set) = (struct rune_range){lo, hi};
}

void runes_add_set(struct runes *set, const struct runes *other) {
    for (size_t i = 0; i < other->len; i++)
        runes_add(set, other->p[i].lo, other->p[i].hi);
}

/* --- by name --- */

/* Those runs whose value `wanted` has. */
static void add_runs(struct runes *set, const uint32_t *runs, size_t n, const bool *wanted) {
    for (size_t i = 0; i < n; i++)
        if (wanted[runs[i] & 0xff])
            runes_add(set, runs[i] >> 8, i + 1 < n ? (runs[i + 1] >> 8) - 1 : RUNE_MAX);
}

/* "L" stands for "Lu", "Ll" and so on; "LC" for those with case. */
static bool in_category(const char *category, const char *name) {
    if (streq(name, "lc"))
        return streq(category, "Lu") || streq(category, "Ll") || streq(category, "Lt");
    return tolower(category[0]) == name[0] && (!name[1] || (category[1] == name[1] && !name[2]));
}

static bool add_category(struct runes *set, const char *name) {
    bool wanted[256] = {false}, any = false;
    if (!*name)
        return false;
    for (size_t i = 0; rune_categories[i]; i++)
        any |= wanted[i] = in_category(rune_categories[i], name);
    if (any)
        add_runs(set, rune_category_runs, rune_category_n_runs, wanted);
    return any;
}

static bool add_script(struct runes *set, const char *name) {
    bool wanted[256] = {false};
    for (size_t i = 0; rune_scripts[i]; i++) {
        if (!*rune_scripts[i] || strcasecmp(rune_scripts[i], name) != 0)
            continue;
        wanted[i] = true;
        add_runs(set, rune_script_runs, rune_script_n_runs, wanted);
        return true;
    }
    return false;
}

static void add_assigned(struct runes *set) {
    bool wanted[256] = {false};
    for (size_t i = 0; rune_categories[i]; i++)
        wanted[i] = !streq(rune_categories[i], "Cn");
    add_runs(set, rune_category_runs, rune_category_n_runs, wanted);
}

bool runes_add_named(struct runes *set, struct view given) {
    char name[32] = ""; /* longer than any that there is */
    size_t len = 0;
    for (size_t i = 0; i < given.len; i++) {
        unsigned char c = (unsigned char)given.p[i];
        if (c == '_' || c == '-' || c == ' ')
            continue;
        if (len == sizeof name - 1 || !c || c >= 0x80)
            return false;
        name[len++] = (char)tolower(c);
    }
    if (streq(name, "any")) {
        runes_add(set, 0, RUNE_MAX);
        return true;
    }
    if (streq(name, "ascii")) {
        runes_add(set, 0, 0x7f);
        return true;
    }
    if (streq(name, "assigned")) {
        add_assigned(set);
        return true;
    }
    if (add_category(set, name) || add_script(set, name))
        return true;
    for (size_t i = 0; rune_aliases[i].name; i++) {
        if (!streq(rune_aliases[i].name, name))
            continue;
        char category[3] = {(char)tolower((unsigned char)rune_aliases[i].category[0]),
                            (char)tolower((unsigned char)rune_aliases[i].category[1]), 0};
        return add_category(set, category);
    }
    return false;
}

bool rune_in(uint32_t rune, char category) {
    size_t lo = 0, hi = rune_category_n_runs;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (rune_category_runs[mid] >> 8 <= rune)
            lo = mid;
        else
            hi = mid;
    }
    return rune_categories[rune_category_runs[lo] & 0xff][0] == category;
}

/* --- case --- */

void runes_fold(struct runes *set) {
    struct runes more = RUNES_INIT;
    uint32_t highest = set->len ? set->p[set->len - 1].hi : 0;
    /* Both tables begin with the lowest. */
    for (size_t i = 0; i < rune_n_pairs && rune_pairs[i].lo <= highest; i++) {
        const struct rune_pairs *p = &rune_pairs[i];
        for (uint32_t c = p->lo; c <= p->last; c += p->step) {
            if (runes_has(set, c))
                runes_add(&more, c + p->distance, c + p->distance);
            if (runes_has(set, c + p->distance))
                runes_add(&more, c, c);
        }
    }
    /* The longest circle has four members: what is in it is found from any of them. */
    for (size_t i = 0; i < rune_n_nexts && rune_nexts[i].rune <= highest; i++) {
        uint32_t c = rune_nexts[i].rune;
        if (!runes_has(set, c))
            continue;
        for (uint32_t other = rune_nexts[i].next; other != c;) {
            runes_add(&more, other, other);
            size_t at = 0;
            while (rune_nexts[at].rune != other)
                at++;
            other = rune_nexts[at].next;
        }
    }
    runes_add_set(set, &more);
    runes_done(&more);
}

/* --- order --- */

static int compare(const void *a, const void *b) {
    const struct rune_range *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

void runes_tidy(struct runes *set) {
    if (set->len < 2)
        return;
    qsort(set->p, set->len, sizeof *set->p, compare);
    size_t n = 1;
    for (size_t i = 1; i < set->len; i++) {
        struct rune_range *last = &set->p[n - 1], next = set->p[i];
        if (next.lo <= last->hi + 1)
            last->hi = MAX_OF(last->hi, next.hi);
        else
            set->p[n++] = next;
    }
    set->len = n;
}

void runes_negate(struct runes *set) {
    struct runes out = RUNES_INIT;
    uint32_t from = 0;
    for (size_t i = 0; i < set->len; i++) {
        if (set->p[i].lo > from)
            runes_add(&out, from, set->p[i].lo - 1);
        from = set->p[i].hi + 1;
    }
    if (from <= RUNE_MAX)
        runes_add(&out, from, RUNE_MAX);
    runes_done(set);
    *set = out;
}

bool runes_has(const struct runes *set, uint32_t rune) {
    size_t lo = 0, hi = set->len;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rune < set->p[mid].lo)
            hi = mid;
        else if (rune > set->p[mid].hi)
            lo = mid + 1;
        else
            return true;
    }
    return false;
}

void runes_done(struct runes *set) {
    vec_done(set);
}
