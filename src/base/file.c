/* Whole files, read or written at once. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

static int write_plain(const char *path, const char *text, size_t len, struct err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int code = fd < 0 ? errno : write_all(fd, text, len);
    if (fd >= 0)
        close(fd);
    return code ? err_errno(err, code, "%s", path) : 0;
}

int file_write(const char *path, const char *text, size_t len, struct err *err) {
    struct stat st;
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return write_plain(path, text, len, err);
    _cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    mode_t mask = umask(0);
    umask(mask);
    int code = write_all(fd, text, len);
    if (!code && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
        code = errno;
    if (close(fd) && !code)
        code = errno;
    if (!code && rename(temporary, path))
        code = errno;
    if (code)
        unlink(temporary);
    return code ? err_errno(err, code, "%s", path) : 0;
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
