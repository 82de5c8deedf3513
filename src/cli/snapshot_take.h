/* Reads a live cluster once, for a snapshot: lists in pages, one kind after another, each page
 * stripped (cli/snapshot_strip.h) and written before the next is asked for. Nothing is written to
 * the cluster, and no more than a page is in memory. */
#ifndef CLI_SNAPSHOT_TAKE_H
#define CLI_SNAPSHOT_TAKE_H

#include "cli/session.h"
#include "cli/snapshot_file.h"

enum { SNAPSHOT_KINDS = 33 };

struct snapshot_kind {
    const char *version, *kind; /* "apps/v1", "Deployment" */
    const char *resource;       /* "deployments.apps", as people and RBAC name it */
    const char *path;
    bool needed; /* there is no snapshot without it */
    /* A custom resource that the checks of a drain read (engine/checks.h): where the server has it,
     * and of its objects only what they read. Else NULL. */
    const struct kind *custom;
    const char *fields; /* a selector; NULL: all */
};
/* In the order in which they are read and written: what a simulator needs first comes first. */
extern const struct snapshot_kind snapshot_kinds[SNAPSHOT_KINDS];

struct snapshot_taken {
    size_t counts[SNAPSHOT_KINDS]; /* objects written */
    bool absent[SNAPSHOT_KINDS];   /* a custom resource that the server does not have */
    const char
        *unread[SNAPSHOT_KINDS]; /* why a kind could not be read; NULL: it was. In cli->arena */
    int64_t time;                /* of the server, when it began */
};

/* Writes a whole snapshot. What may not be read is left out, told on standard error, and noted in
 * the file. Returns 0, or the exit code after having said why; the file is `name` in messages. */
int snapshot_take(struct session *s, struct snapshot_writer *w, const char *name,
                  struct snapshot_taken *out);

#endif
