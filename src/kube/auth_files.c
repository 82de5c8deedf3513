/* Credentials in files that somebody else replaces. */
#include "kube/auth_files.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/keypair.h"

enum {
    TOKEN_MAX = 64 << 10, /* API servers take headers of a few tens of KiB at most */
    PEM_MAX = 1 << 20,
};

int auth_read_token(const char *path, char **out, struct err *err) {
    _cleanup_secret_ char *text = NULL;
    size_t len;
    int ret = file_read(path, TOKEN_MAX, &text, &len, err);
    if (ret < 0) {
        err_wrap(err, "cannot read the token file");
        return ret;
    }
    const char *p = text, *end = text + len;
    while (p < end && isspace((unsigned char)*p))
        p++;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    if (p == end)
        return err_set(err, EINVAL, "the token file %s is empty", path);
    for (const char *c = p; c < end; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return err_set(err, EINVAL,
                           "the token file %s holds no token: there is a blank or a control "
                           "character in it",
                           path);
    *out = xstrndup(p, (size_t)(end - p));
    /* NULs in the file would hide bytes from the wiping. */
    mem_wipe(text, len);
    return 0;
}

static struct auth_stamp stamp_of(const struct kube_pem *pem) {
    struct stat st;
    if (pem->data || !pem->file || stat(pem->file, &st) < 0)
        return (struct auth_stamp){0};
    return (struct auth_stamp){
        .dev = st.st_dev,
        .ino = st.st_ino,
        .size = st.st_size,
        .mtime = st.st_mtim,
        .ctime = st.st_ctim,
        .there = true,
    };
}

static bool time_same(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool stamp_same(const struct auth_stamp *a, const struct auth_stamp *b) {
    return a->there == b->there && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           time_same(a->mtime, b->mtime) && time_same(a->ctime, b->ctime);
}

static int read_pem(const struct kube_pem *pem, char **out, struct err *err) {
    size_t len;
    if (pem->data) {
        *out = xstrdup(pem->data);
        return 0;
    }
    return file_read(pem->file, PEM_MAX, out, &len, err);
}

void auth_pair_init(struct auth_pair *p, const struct kube_pem *cert, const struct kube_pem *key) {
    *p = (struct auth_pair){.cert = cert, .key = key};
}

void auth_pair_done(struct auth_pair *p) {
    secret_clear(&p->cert_pem);
    secret_clear(&p->key_pem);
    err_done(&p->why);
}

static int read_pair(struct auth_pair *p, bool *changed, struct err *err) {
    _cleanup_secret_ char *cert = NULL, *key = NULL;
    int ret = read_pem(p->cert, &cert, err);
    if (ret >= 0)
        ret = read_pem(p->key, &key, err);
    if (ret >= 0)
        ret = keypair_check(cert, key, NULL, err);
    if (ret < 0)
        return ret;
    *changed = !p->cert_pem || !streq(cert, p->cert_pem) || !streq(key, p->key_pem);
    if (*changed) {
        secret_free(p->cert_pem);
        secret_free(p->key_pem);
        p->cert_pem = TAKE_PTR(cert);
        p->key_pem = TAKE_PTR(key);
    }
    return 0;
}

int auth_pair_refresh(struct auth_pair *p, bool force, struct err *err) {
    struct auth_stamp cert = stamp_of(p->cert), key = stamp_of(p->key);
    bool same = p->tried && stamp_same(&cert, &p->cert_stamp) && stamp_same(&key, &p->key_stamp);
    bool changed = false;
    if (same && !force)
        return p->bad ? err_set(err, p->why.code, "%s", err_msg(&p->why)) : 0;
    /* The stamps are older than what is read now: a change in between is seen the next time. */
    p->tried = true;
    p->cert_stamp = cert;
    p->key_stamp = key;
    err_done(&p->why);
    p->bad = read_pair(p, &changed, &p->why) < 0;
    if (p->bad)
        return err_set(err, p->why.code, "%s", err_msg(&p->why));
    return changed;
}
