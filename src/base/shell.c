/* Words for a shell. */
#include "base/shell.h"

#include <string.h>

static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,@%+";
    return *word && !word[strspn(word, plain)];
}

void shell_add(struct str *out, const char *word) {
    if (is_plain(word)) {
        str_add(out, word);
        return;
    }
    str_addc(out, '\'');
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            str_add(out, "'\\''");
        else
            str_addc(out, *p);
    str_addc(out, '\'');
}

const char *shell_word(struct arena *arena, const char *word) {
    _cleanup_str_ struct str out = STR_INIT;
    shell_add(&out, word);
    return arena_strndup(arena, str_get(&out), out.len);
}
