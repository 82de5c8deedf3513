/* Whole files, read at once. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int open_plain(const char *path, struct stat *st, struct err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    int code = fstat(fd, st) < 0 ? errno : S_ISDIR(st->st_mode) ? EISDIR : 0;
    if (code) {
        close(fd);
        return err_errno(err, code, "%s", path);
    }
    return fd;
}

int file_read(const char *path, size_t max, char **out, size_t *len, struct err *err) {
    struct stat st;
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
        ssize_t r = read(fd, buf + n, cap - n);
        if (r < 0 && errno == EINTR)
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
        if (code == EFBIG)
            return err_set(err, EFBIG, "%s: longer than the %zu bytes that are accepted", path,
                           max);
        return err_errno(err, code, "%s", path);
    }
    buf[n] = '\0';
    *out = buf;
    *len = n;
    return 0;
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
