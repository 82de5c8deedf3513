/* Credentials in files that somebody else replaces: a bearer token, and a certificate with its key.
 * Files are opened anew each time, because they are replaced by renaming or by swapping a symbolic
 * link. */
#ifndef KUBE_AUTH_FILES_H
#define KUBE_AUTH_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"
#include "kube/config.h"

/* Reads a token file; blanks around the token are cut off. *out is to be wiped. */
int auth_read_token(const char *path, char **out, struct err *err);

/* What tells one version of a file from another. */
struct auth_stamp {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec mtime, ctime;
    bool there;
};

/* A certificate and its key, each from a file or given. */
struct auth_pair {
    const struct kube_pem *cert, *key; /* where from */
    char *cert_pem, *key_pem;          /* the last good ones; NULL at first */
    struct auth_stamp cert_stamp, key_stamp;
    bool tried, bad; /* bad: what the stamps stand for cannot be used */
    struct err why;
};

void auth_pair_init(struct auth_pair *p, const struct kube_pem *cert, const struct kube_pem *key);
void auth_pair_done(struct auth_pair *p);
/* Reads the files if they have changed since (or are still bad, or `force`). Returns 1 when there
 * is a new pair, 0 when the last one stays, or an error, which leaves the last one in place too. */
int auth_pair_refresh(struct auth_pair *p, bool force, struct err *err);

#endif
