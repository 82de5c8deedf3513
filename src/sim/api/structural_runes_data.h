/* Unicode's data as the real server's patterns see it: written into structural_runes_data.c by
 * tools/unicode/unicode.go. Only structural_runes.c looks at it.
 *
 * Runs are sorted; an entry holds from its character (the upper 24 bits) to the next entry's, and
 * its value (the lower 8 bits) is an index into the names. */
#ifndef SIM_API_STRUCTURAL_RUNES_DATA_H
#define SIM_API_STRUCTURAL_RUNES_DATA_H

#include <stddef.h>
#include <stdint.h>

extern const char *const rune_categories[]; /* "Lu"; ends with NULL */
extern const uint32_t rune_category_runs[];
extern const size_t rune_category_n_runs;

extern const char *const rune_scripts[]; /* "Greek"; "" for those that Go finds by no name */
extern const uint32_t rune_script_runs[];
extern const size_t rune_script_n_runs;

/* Longer names of categories, lower case and without separators; ends with NULL. */
extern const struct rune_alias { const char *name, *category; } rune_aliases[];

/* Characters that are the same but for case. Pairs: every step-th character from lo to last, and
 * the one at that distance. What has more than one other form: the next one, in a circle. */
extern const struct rune_pairs { uint32_t lo, last, step, distance; } rune_pairs[];
extern const size_t rune_n_pairs;
extern const struct rune_next { uint32_t rune, next; } rune_nexts[];
extern const size_t rune_n_nexts;

#endif
