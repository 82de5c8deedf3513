/* Commands to copy. */
#include "cli/again.h"

#include <string.h>

#include "base/mem.h"
#include "base/shell.h"

enum { RULES = sizeof "--rules" - 1 };

/* Underscores are taken for dashes in names of flags. */
static bool is_flag(const char *flag, const char *word, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (flag[i] != word[i] && !(flag[i] == '-' && word[i] == '_'))
            return false;
    return !flag[len];
}

static bool is_secret(const char *name, size_t len) {
    return (len == 7 && !strncmp(name, "--token", 7)) ||
           (len == 10 && !strncmp(name, "--password", 10));
}

/* The word, or "..." in place of a secret. `after`: it is the value of a flag that is one. */
static void add_shown(struct str *out, const char *word, bool after) {
    size_t name = strcspn(word, "=");
    str_addc(out, ' ');
    if (after)
        str_add(out, "...");
    else if (word[name] && is_secret(word, name))
        str_addf(out, "%.*s=...", (int)name, word);
    else
        shell_add(out, word);
}

/* The end of the line is one of a word, too. */
static const char *next_word(const char *word, const char *end) {
    const char *nul = memchr(word, '\0', (size_t)(end - word));
    return nul ? nul + 1 : end;
}

/* Where rules came from that cannot be read a second time; NULL: they can. */
static const char *stream_of(const char *path) {
    if (streq(path, "-") || streq(path, "/dev/stdin"))
        return "standard input";
    return str_starts(path, "/dev/fd/") || str_starts(path, "/proc/self/fd/") ? "a pipe" : NULL;
}

void again_command(const char *prog, const char *line, size_t len, struct str *out) {
    const char *end = line + len;
    bool secret = false, rules = false, names = false;
    const char *stream = NULL, *from;
    str_add(out, prog);
    for (const char *w = next_word(line, end); w < end; w = next_word(w, end)) {
        if (rules && (from = stream_of(w))) {
            str_add(out, " FILE");
            stream = from;
        } else if (!names && !secret && is_flag("--rules", w, RULES) && w[RULES] == '=' &&
                   (from = stream_of(w + RULES + 1))) {
            str_addf(out, " %.*s=FILE", (int)RULES, w);
            stream = from;
        } else {
            add_shown(out, w, secret);
        }
        bool value = secret || rules;
        names = names || (!value && streq(w, "--"));
        secret = !value && !names && is_secret(w, strlen(w));
        rules = !value && !names && streq(w, "--rules");
    }
    /* What it has done itself is a change to what the plan rests on. */
    if (len && streq(next_word(line, end) < end ? next_word(line, end) : "", "apply"))
        str_add(out, " --anyway");
    if (stream)
        str_addf(out, "  # the rules came from %s: save them in FILE", stream);
}

/* Flags that drain and uncordon have in common and that decide what is touched. */
static const char *const with_value[] = {
    "--kubeconfig",
    "--context",
    "--cluster",
    "--user",
    "-s",
    "--server",
    "--token",
    "--as",
    "--as-group",
    "--as-uid",
    "--as-user-extra",
    "--certificate-authority",
    "--client-key",
    "--tls-server-name",
    "--username",
    "--password",
    "--client-certificate",
    "--proxy-url",
    "--holder",
};

static bool is_kept(const char *word, bool *value) {
    size_t name = strcspn(word, "=");
    *value = false;
    if (is_flag("--insecure-skip-tls-verify", word, name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(with_value); i++)
        if (is_flag(with_value[i], word, name)) {
            *value = !word[name];
            return true;
        }
    return str_starts(word, "-s"); /* with its value behind it */
}

void again_uncordon(const char *prog, const char *line, size_t len, struct str *out) {
    const char *end = line + len;
    bool value;
    str_addf(out, "%s uncordon", prog);
    for (const char *w = next_word(line, end); w < end; w = next_word(w, end)) {
        if (streq(w, "--"))
            return; /* names from here on */
        if (!is_kept(w, &value))
            continue;
        add_shown(out, w, false);
        const char *arg = next_word(w, end);
        if (!value || arg >= end)
            continue;
        add_shown(out, arg, is_secret(w, strlen(w)));
        w = arg;
    }
}
