/* Commands that are printed to be pasted: names in them come from a cluster, or from whoever typed
 * them, and a shell must take each for one word. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include "base/arena.h"
#include "base/str.h"

/* Adds the word as it is, or in single quotes where a shell would see more in it. */
void shell_add(struct str *out, const char *word);
/* The same, in the arena. */
const char *shell_word(struct arena *arena, const char *word);

#endif
