/* Commands to copy: the one that was typed, and the one that undoes it in the same cluster. */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include <stddef.h>

#include "base/str.h"

/* `line`: the words, each with its NUL, as /proc/self/cmdline has them; the first is what the
 * program was called by. Secrets are left out: it is shown on the screen. Rules that came from
 * standard input or a pipe become a FILE that does not exist, with a remark as the shell takes it:
 * copied, it must not wait for them in silence. */
void again_command(const char *prog, const char *line, size_t len, struct str *out);
/* "slipway uncordon --context prod --holder canary": with the flags that say which cluster, as whom
 * and for which holder. The nodes come after it. */
void again_uncordon(const char *prog, const char *line, size_t len, struct str *out);

#endif
