/* Sets of characters, as patterns have them between brackets.
 *
 * A set is a list of ranges. While it is being made they may overlap in any order; runes_tidy()
 * sorts and merges them, and only a tidy set is negated or asked. The data (categories, scripts,
 * case) is Unicode's as Go has it, since it is Go that the real server matches with. */
#ifndef SIM_API_STRUCTURAL_RUNES_H
#define SIM_API_STRUCTURAL_RUNES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define RUNE_MAX UINT32_C(0x10ffff)

struct rune_range {
    uint32_t lo, hi; /* inclusive */
};

struct runes {
    struct rune_range *p;
    size_t len, cap;
};

#define RUNES_INIT      ((struct runes){0})
#define _cleanup_runes_ __attribute__((cleanup(runes_done)))

void runes_add(struct runes *set, uint32_t lo, uint32_t hi);
void runes_add_set(struct runes *set, const struct runes *other);
/* A category ("L", "Lu", "Uppercase_Letter"), a script ("Greek"), "Any", "ASCII" or "Assigned";
 * false when there is none of that name. Case, blanks, dashes and underscores do not matter. */
bool runes_add_named(struct runes *set, struct view name);
/* Adds what differs from a member by case alone. The set must be tidy, and is not afterwards. */
void runes_fold(struct runes *set);
void runes_tidy(struct runes *set);
void runes_negate(struct runes *set);
/* Is it in the category of this letter ('L': all letters)? */
bool rune_in(uint32_t rune, char category);
bool runes_has(const struct runes *set, uint32_t rune);
void runes_done(struct runes *set);

#endif
