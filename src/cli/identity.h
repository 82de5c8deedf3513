/* Who cordons: the name under which this program holds nodes cordoned (engine/cordon.h).
 *
 * The id, "cli/alice", is what counts: the same person holds a node once, however often and from
 * whatever machine it is taken, and can let it go again. root, and a user id without a name, are no
 * persons: every machine and every container has one, and each would lift what another holds. Their
 * id has the machine in it, "cli/root@bastion": the same root on the same machine, after a crash
 * for instance, is still the same holder. `by`, "alice@laptop", is for people. Both are only names;
 * nobody is kept from using another one with --holder. */
#ifndef CLI_IDENTITY_H
#define CLI_IDENTITY_H

#include "base/arena.h"
#include "base/err.h"

enum {
    IDENTITY_MAX = 253,     /* bytes of an id: as long as names of Kubernetes may be */
    IDENTITY_REASON = 1024, /* bytes of a reason: the record of 100 holders stays below 256 KiB */
};

struct identity {
    const char *id, *by;
};

/* What is known of the user and the machine; each may be NULL. */
struct identity_facts {
    const char *sudo_user; /* $SUDO_USER: who it is behind root */
    const char *account;   /* the passwd entry of the real user id */
    unsigned long uid;
    const char *host;
};

/* From these facts; `holder` (or NULL) replaces the id. Texts live in the arena. */
int identity_make(const struct identity_facts *facts, const char *holder, struct arena *arena,
                  struct identity *out, struct err *err);
/* From those of this process; `env` is getenv() outside of tests. */
int identity_get(char *(*env)(const char *name), const char *holder, struct arena *arena,
                 struct identity *out, struct err *err);

/* A reason for the record: NULL is fine. -EINVAL when it is too long or cannot be shown. */
int identity_check_reason(const char *reason, struct err *err);

#endif
