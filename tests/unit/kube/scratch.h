/* A directory of the test's own, for tests that need files: scratch_put("config", text). */
#ifndef TESTS_KUBE_SCRATCH_H
#define TESTS_KUBE_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct scratch {
    char dir[64];
};

static inline int scratch_setup(void **state) {
    struct scratch *s = xnew(struct scratch);
    snprintf(s->dir, sizeof s->dir, "/tmp/slipway-test-XXXXXX");
    *state = s;
    return mkdtemp(s->dir) ? 0 : -1;
}

static inline int scratch_remove_(const char *path, const struct stat *st, int flag,
                                  struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline int scratch_teardown(void **state) {
    struct scratch *s = *state;
    int ret = nftw(s->dir, scratch_remove_, 8, FTW_DEPTH | FTW_PHYS);
    free(s);
    return ret;
}

/* The path of a file below the directory; good until the next but seven. */
static inline const char *scratch_path(void **state, const char *name) {
    static char paths[8][256];
    static unsigned next;
    char *p = paths[next++ % 8];
    snprintf(p, sizeof paths[0], "%s/%s", ((struct scratch *)*state)->dir, name);
    return p;
}

/* Writes it as a new file under the name, as those do that rotate files. */
static inline const char *scratch_put(void **state, const char *name, const char *text) {
    const char *path = scratch_path(state, name);
    char tmp[300];
    snprintf(tmp, sizeof tmp, "%s.new", path);
    FILE *f = fopen(tmp, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) || rename(tmp, path))
        abort();
    return path;
}

static inline const char *scratch_script(void **state, const char *name, const char *text) {
    const char *path = scratch_put(state, name, text);
    if (chmod(path, 0755))
        abort();
    return path;
}

static inline const char *scratch_mkdir(void **state, const char *name) {
    const char *path = scratch_path(state, name);
    if (mkdir(path, 0755))
        abort();
    return path;
}

/* `text` with every "DIR" replaced by the directory, so that messages can be compared whole. */
static inline const char *scratch_expand(void **state, const char *text) {
    static char buf[4096];
    const char *dir = ((struct scratch *)*state)->dir;
    size_t n = 0;
    for (const char *p = text; *p && n + 80 < sizeof buf;) {
        if (strncmp(p, "DIR", 3) == 0) {
            n += (size_t)snprintf(buf + n, sizeof buf - n, "%s", dir);
            p += 3;
        } else {
            buf[n++] = *p++;
        }
    }
    buf[n] = '\0';
    return buf;
}

#endif
