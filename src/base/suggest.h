/* "Did you mean ...?": the valid word nearest to a mistyped one.
 *
 * Nearness is the number of letters that must be inserted, removed, replaced or swapped with their
 * neighbour (Damerau-Levenshtein, each letter touched once). Upper and lower case count as equal,
 * and '-' and '_' do not count at all, because `tokenfile`, `token_file` and `token-file` are the
 * commonest mistakes in a file where both spellings occur. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#include "base/str.h"

enum {
    SUGGEST_MAX = 2,   /* a word further away than this is no misspelling */
    SUGGEST_WORD = 96, /* longer words are not compared: the farthest distance */
};

/* Between 0 (equal but for case and dashes) and SUGGEST_WORD. */
size_t suggest_distance(const char *a, const char *b);

/* The nearest of `words` that is at most SUGGEST_MAX away and has at least one letter in common
 * with `word`; the first one among equals; NULL when nothing is near. */
const char *suggest_nearest(const char *word, const char *const *words, size_t n);

/* Appends `"a", "b" and 7 more`: the words that there are, the nearest to `word` first (`word` may
 * be NULL: in the given order), for errors that must say what would have been valid. Words are made
 * printable. "none" when there are none. */
void suggest_list(struct str *out, const char *word, const char *const *words, size_t n);

#endif
