/* Whole files, read or written at once. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"

static int open_plain(const char *path, struct stat *st, struct err *err) {
    /* Opening a FIFO that nobody writes to would wait for ever. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    int code = fstat(fd, st) < 0 ? errno : S_ISDIR(st->st_mode) ? EISDIR : 0;
    if (code) {
        close(fd);
        return err_errno(err, code, "%s", path);
    }
    return fd;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

/* Until there is something to read, or the end. A FIFO that had no writer yet looks like its end to
 * read(), but not to poll(). */
static int await(int fd, int64_t until) {
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = MAX_OF(until - now(), 0);
        int n = poll(&p, 1, (int)((left + 999) / 1000));
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        if (!left)
            return ETIMEDOUT;
    }
}

static int read_err(const char *path, int code, size_t max, int64_t wait, struct err *err) {
    char limit[TIMEFMT_LEN];
    if (code == EFBIG)
        return err_set(err, EFBIG, "%s: longer than the %zu bytes that are accepted", path, max);
    if (code == ETIMEDOUT)
        return err_set(err, EINVAL,
                       "%s: it is no regular file, and what writes to it did not come to its end "
                       "within %s",
                       path, duration_format_limit(wait, limit));
    return err_errno(err, code, "%s", path);
}

int file_read(const char *path, size_t max, char **out, size_t *len, struct err *err) {
    return file_read_within(path, max, FILE_WAIT, out, len, err);
}

int file_read_within(const char *path, size_t max, int64_t wait, char **out, size_t *len,
                     struct err *err) {
    struct stat st;
    int64_t until = now() + wait;
    int fd = open_plain(path, &st, err);
    if (fd < 0)
        return fd;
    /* One byte more than may be there tells "exactly max" from "too long". A pipe says size 0. */
    size_t cap = st.st_size > 0 && (size_t)st.st_size < max ? (size_t)st.st_size + 1 : 4096, n = 0;
    cap = MIN_OF(cap, max + 1);
    char *buf = xmalloc(cap + 1);
    int code = 0;
    for (;;) {
        if (n == cap) {
            if (cap > max) {
                code = EFBIG;
                break;
            }
            /* Not realloc(): it may leave a copy behind. */
            size_t more = MIN_OF(cap * 2, max + 1);
            char *bigger = xmalloc(more + 1);
            memcpy(bigger, buf, n);
            mem_wipe(buf, n);
            free(buf);
            buf = bigger;
            cap = more;
        }
        if (!S_ISREG(st.st_mode) && (code = await(fd, until)))
            break;
        ssize_t r = read(fd, buf + n, cap - n);
        if (r < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (r < 0)
            code = errno;
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    close(fd);
    if (!code && n > max)
        code = EFBIG;
    if (code) {
        mem_wipe(buf, n);
        free(buf);
        return read_err(path, code, max, wait, err);
    }
    buf[n] = '\0';
    *out = buf;
    *len = n;
    return 0;
}

static int write_all(int fd, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

char *file_follow(const char *path) {
    enum { MAX_LINKS = 40 }; /* the kernel's own limit */
    struct stat proc, st;
    bool known = !stat("/proc/self/", &proc);
    _cleanup_free_ char *at = xstrdup(path);
    for (int i = 0; i < MAX_LINKS; i++) {
        char target[PATH_MAX];
        if (lstat(at, &st) || !S_ISLNK(st.st_mode) || (known && st.st_dev == proc.st_dev))
            return TAKE_PTR(at);
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0)
            return TAKE_PTR(at); /* what is wrong with it is found out when it is written */
        target[n] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        char *next = xasprintf("%.*s%s", slash ? (int)(slash - at + 1) : 0, at, target);
        free(at);
        at = next;
    }
    return NULL;
}

/* One of our own (/dev/stdout, /dev/fd/3) has a position, which a file that is opened anew has not.
 */
static int own_descriptor(const char *path, const struct stat *st) {
    const char *name = strrchr(path, '/');
    char *end = NULL;
    long number = name && name[1] ? strtol(name + 1, &end, 10) : -1;
    struct stat own;
    if (!end || *end || number < 0 || number > INT_MAX || fstat((int)number, &own) ||
        own.st_dev != st->st_dev || own.st_ino != st->st_ino)
        return -1;
    return fcntl((int)number, F_DUPFD_CLOEXEC, 3);
}

/* A FIFO that nobody reads from is waited for, as when one is read. */
static int open_as_it_is(const char *path, const struct stat *st, int64_t wait) {
    enum { LOOK_MS = 20 };
    int64_t until = now() + wait;
    for (;;) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0) {
            (void)fcntl(fd, F_SETFL, O_APPEND);
            return fd;
        }
        if (errno != ENXIO || !S_ISFIFO(st->st_mode) || now() >= until)
            return -1;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

/* A file without a name: whatever ends us, nothing of it is left. It gets one through /proc. Where
 * there is no such thing (NFS), one with a name of its own (*temp). */
static int open_nameless(const char *path, mode_t mode, char **temp) {
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory =
        slash ? xstrndup(path, (size_t)(slash - path + 1)) : xstrdup(".");
    *temp = NULL;
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd >= 0 && access("/proc/self/fd", X_OK)) {
        close(fd);
        fd = -1;
        errno = EOPNOTSUPP;
    }
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    mode_t mask = umask(0);
    umask(mask);
    *temp = xasprintf("%s.XXXXXX", path);
    fd = mkostemp(*temp, O_CLOEXEC);
    if (fd >= 0)
        (void)fchmod(fd, mode & ~mask);
    else
        mem_clear(temp);
    return fd;
}

int file_new_open(struct file_new *f, const char *path, mode_t mode, int64_t wait,
                  struct err *err) {
    struct stat st, link;
    *f = (struct file_new){.fd = -1, .out = -1, .path = path, .place = file_follow(path)};
    if (!f->place)
        return err_errno(err, ELOOP, "%s", path);
    bool there = !stat(f->place, &st);
    bool opened = there && !lstat(f->place, &link) && S_ISLNK(link.st_mode);
    if (there && S_ISDIR(st.st_mode))
        return err_errno(err, EISDIR, "%s", path);
    if (!there || (S_ISREG(st.st_mode) && !opened)) {
        f->fd = open_nameless(f->place, mode, &f->temp);
        return f->fd < 0 ? err_errno(err, errno, "%s", path) : 0;
    }
    f->out = opened ? own_descriptor(f->place, &st) : -1;
    if (f->out < 0)
        f->out = open_as_it_is(f->place, &st, wait);
    if (f->out < 0 && errno == ENXIO)
        return err_set(err, ENXIO, "%s: nobody reads from it", path);
    return f->out < 0 ? err_errno(err, errno, "%s", path) : 0;
}

int file_new_spool(struct file_new *f, const char *directory, struct err *err) {
    if (f->fd >= 0)
        return 0;
    _cleanup_free_ char *name = xasprintf("%s/slipway", directory), *temp = NULL;
    f->fd = open_nameless(name, 0600, &temp);
    if (f->fd < 0)
        return err_errno(err, errno, "%s", directory);
    if (temp)
        (void)unlink(temp);
    return 0;
}

static int copy(int from, int to) {
    enum { CHUNK = 64 << 10 };
    _cleanup_free_ char *buf = xmalloc(CHUNK);
    for (off_t at = 0;;) {
        ssize_t n = pread(from, buf, CHUNK, at);
        if (n < 0 && errno == EINTR)
            continue;
        int code = n < 0 ? errno : write_all(to, buf, (size_t)n);
        if (code || !n)
            return code;
        at += n;
    }
}

/* All of it is on the disk before it has its name, and that is taken at once from whatever had it.
 */
static int put_in_place(struct file_new *f) {
    if (fsync(f->fd))
        return errno;
    if (!f->temp) {
        _cleanup_free_ char *self = xasprintf("/proc/self/fd/%d", f->fd);
        _cleanup_free_ char *temp = xasprintf("%s.%d", f->place, (int)getpid());
        if (linkat(AT_FDCWD, self, AT_FDCWD, temp, AT_SYMLINK_FOLLOW))
            return errno;
        f->temp = TAKE_PTR(temp);
    }
    if (rename(f->temp, f->place))
        return errno;
    mem_clear(&f->temp);
    return 0;
}

int file_new_commit(struct file_new *f, struct err *err) {
    int code = f->out < 0 ? put_in_place(f) : f->fd >= 0 ? copy(f->fd, f->out) : 0;
    return code ? err_errno(err, code, "%s", f->path) : 0;
}

void file_new_done(struct file_new *f) {
    if (f->temp)
        (void)unlink(f->temp);
    if (f->fd >= 0)
        close(f->fd);
    if (f->out >= 0)
        close(f->out);
    free(f->temp);
    free(f->place);
}

int file_write(const char *path, const char *text, size_t len, struct err *err) {
    struct file_new f;
    int rc = file_new_open(&f, path, 0666, FILE_WAIT, err);
    int code = rc ? 0 : write_all(f.out >= 0 ? f.out : f.fd, text, len);
    if (code)
        rc = err_errno(err, code, "%s", path);
    if (!rc)
        rc = file_new_commit(&f, err);
    file_new_done(&f);
    return rc;
}

int file_check(const char *path, struct err *err) {
    struct stat st;
    int fd = open_plain(path, &st, err);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

void secret_free(char *s) {
    if (!s)
        return;
    mem_wipe(s, strlen(s));
    free(s);
}

void secret_clear(char **s) {
    secret_free(*s);
    *s = NULL;
}
