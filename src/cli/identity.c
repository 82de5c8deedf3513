/* Who cordons. */
#include "cli/identity.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

enum { PASSWD_MAX = 64 << 10 }; /* of an entry with all its texts; glibc suggests 1 KiB */

/* NULL, or what is wrong with a text that others will read on their terminals. */
static const char *problem(const char *s, size_t max) {
    size_t len = strlen(s), n;
    if (len > max)
        return "is too long";
    for (size_t i = 0; i < len; i += n) {
        n = utf8_len(s + i, len - i);
        if (!n)
            return "is not UTF-8";
        if (utf8_unsafe(utf8_decode(s + i, n)))
            return "has characters that cannot be shown";
    }
    return NULL;
}

/* Names come from the environment and from directories (LDAP): what is odd is passed over. */
static bool usable(const char *name) {
    return !str_empty(name) && !problem(name, IDENTITY_MAX / 2) && !strpbrk(name, " @/");
}

int identity_make(const struct identity_facts *facts, const char *holder, struct arena *arena,
                  struct identity *out, struct err *err) {
    const char *wrong = holder ? problem(holder, IDENTITY_MAX) : NULL;
    if (wrong)
        return err_set(err, EINVAL, "--holder \"%.*s\" %s: it may have %d bytes of printable text",
                       IDENTITY_MAX, holder, wrong, IDENTITY_MAX);
    bool sudo = usable(facts->sudo_user) && !streq(facts->sudo_user, "root");
    bool named = usable(facts->account);
    const char *user = sudo    ? facts->sudo_user
                       : named ? facts->account
                               : arena_printf(arena, "%lu", facts->uid);
    const char *host = usable(facts->host) ? facts->host : NULL;
    bool everywhere = !sudo && (!named || streq(user, "root"));
    if (!str_empty(holder))
        out->id = arena_strndup(arena, holder, strlen(holder));
    else if (everywhere && host)
        out->id = arena_printf(arena, "cli/%s@%s", user, host);
    else
        out->id = arena_printf(arena, "cli/%s", user);
    host = host ? host : "unknown";
    out->by = arena_printf(arena, "%s@%s", user, host);
    return 0;
}

int identity_get(char *(*env)(const char *name), const char *holder, struct arena *arena,
                 struct identity *out, struct err *err) {
    _cleanup_free_ char *room = xmalloc(PASSWD_MAX);
    char host[HOST_NAME_MAX + 1] = "";
    struct passwd entry, *found = NULL;
    if (getpwuid_r(getuid(), &entry, room, PASSWD_MAX, &found))
        found = NULL;
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    struct identity_facts facts = {.sudo_user = env("SUDO_USER"),
                                   .account = found ? found->pw_name : NULL,
                                   .uid = getuid(),
                                   .host = host};
    return identity_make(&facts, holder, arena, out, err);
}

int identity_check_reason(const char *reason, struct err *err) {
    const char *wrong = reason ? problem(reason, IDENTITY_REASON) : NULL;
    if (wrong)
        return err_set(err, EINVAL, "--reason %s: it may have %d bytes of printable text", wrong,
                       IDENTITY_REASON);
    return 0;
}
