/* Lines in a file, compressed or not. */
#include "cli/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/timefmt.h"

enum {
    CHUNK = 256 << 10,
    LEVEL = 1,       /* five times faster than the default, for a tenth more bytes */
    GZIP = 15 + 16,  /* zlib's word for the largest window and a gzip header */
    HEAD_MAX = 4096, /* bytes of the first line */
};

/* --- writing --- */

struct snapshot_writer {
    int fd;
    bool gzip, begun;
    z_stream z;
    struct str out; /* not written yet */
    uint64_t bytes, mark;
};

struct snapshot_writer *snapshot_writer_new(int fd, bool gzip) {
    struct snapshot_writer *w = xnew(struct snapshot_writer);
    w->fd = fd;
    w->gzip = gzip;
    return w;
}

static int flush(struct snapshot_writer *w, struct err *err) {
    size_t done = 0;
    while (done < w->out.len) {
        ssize_t n = write(w->fd, w->out.p + done, w->out.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, errno, "it cannot be written: %s", strerror(errno));
        done += (size_t)n;
    }
    w->bytes += done;
    str_reset(&w->out);
    return 0;
}

/* Compresses until there is nothing left to do. */
static int pump(struct snapshot_writer *w, int how, struct err *err) {
    int rc;
    do {
        str_reserve(&w->out, CHUNK);
        w->z.next_out = (unsigned char *)w->out.p + w->out.len;
        w->z.avail_out = CHUNK;
        rc = deflate(&w->z, how);
        w->out.len += CHUNK - w->z.avail_out;
        if (w->out.len >= CHUNK && flush(w, err))
            return -EIO;
    } while (w->z.avail_in || (how == Z_FINISH && rc != Z_STREAM_END));
    return 0;
}

static int add(struct snapshot_writer *w, const char *p, size_t len, struct err *err) {
    if (!w->gzip) {
        str_addn(&w->out, p, len);
        return w->out.len >= CHUNK ? flush(w, err) : 0;
    }
    if (!w->begun && deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ENOMEM, "it cannot be compressed: there is no memory for it");
    w->begun = true;
    w->z.next_in = (unsigned char *)p;
    w->z.avail_in = (unsigned)len;
    return pump(w, Z_NO_FLUSH, err);
}

int snapshot_writer_line(struct snapshot_writer *w, const char *line, size_t len, struct err *err) {
    int rc = add(w, line, len, err);
    return rc ? rc : add(w, "\n", 1, err);
}

/* A gzip file may consist of several members: each place to come back to begins one. */
static int settle(struct snapshot_writer *w, struct err *err) {
    int rc = w->begun ? pump(w, Z_FINISH, err) : 0;
    if (w->begun)
        deflateEnd(&w->z);
    w->begun = false;
    w->z = (z_stream){0};
    return rc ? rc : flush(w, err);
}

int snapshot_writer_mark(struct snapshot_writer *w, struct err *err) {
    int rc = settle(w, err);
    w->mark = w->bytes;
    return rc;
}

int snapshot_writer_back(struct snapshot_writer *w, struct err *err) {
    int rc = settle(w, err);
    if (!rc && (ftruncate(w->fd, (off_t)w->mark) || lseek(w->fd, (off_t)w->mark, SEEK_SET) < 0))
        rc = err_set(err, errno, "it cannot be written: %s", strerror(errno));
    w->bytes = w->mark;
    return rc;
}

uint64_t snapshot_writer_bytes(const struct snapshot_writer *w) {
    return w->bytes;
}

int snapshot_writer_end(struct snapshot_writer *w, struct err *err) {
    return settle(w, err);
}

void snapshot_writer_free(struct snapshot_writer *w) {
    if (!w)
        return;
    if (w->begun)
        deflateEnd(&w->z);
    str_done(&w->out);
    (void)close(w->fd);
    free(w);
}

/* --- reading --- */

struct snapshot_reader {
    gzFile file; /* reads plain files as they are */
    char *name;
    struct str buf; /* what was read, from `at` on not taken yet */
    size_t at;
    uint64_t bytes, line;
    struct snapshot_head head;
    json_t *tail;
};

int snapshot_reader_fail(const struct snapshot_reader *r, struct err *err, const char *why) {
    return err_set(err, EINVAL, "%s:%llu: %s", r->name, (unsigned long long)r->line, why);
}

static int fill(struct snapshot_reader *r, bool *end, struct err *err) {
    str_drop(&r->buf, r->at);
    r->at = 0;
    if (r->buf.len > SNAPSHOT_LINE_MAX)
        return snapshot_reader_fail(r, err, "the line is longer than any object");
    str_reserve(&r->buf, CHUNK);
    int n = gzread(r->file, r->buf.p + r->buf.len, CHUNK), number = 0;
    const char *why = n <= 0 ? gzerror(r->file, &number) : "";
    if (n < 0 && number == Z_ERRNO)
        return err_set(err, errno, "%s: %s", r->name, strerror(errno));
    if (n < 0 || number == Z_BUF_ERROR) /* the latter: the end, but not of a compressed file */
        return err_set(err, EINVAL, "%s: the compressed data is damaged or cut off: %s", r->name,
                       why);
    *end = n == 0;
    r->buf.len += (size_t)n;
    r->buf.p[r->buf.len] = '\0';
    r->bytes += (uint64_t)n;
    if (r->bytes > SNAPSHOT_MAX)
        return err_set(err, EFBIG, "%s is longer than %llu GiB when it is unpacked", r->name,
                       (unsigned long long)(SNAPSHOT_MAX >> 30));
    return 0;
}

/* A line without its end, 1; 0 at the end of the file. */
static int take_line(struct snapshot_reader *r, struct view *line, struct err *err) {
    size_t seen = 0;
    for (;;) {
        const char *p = str_get(&r->buf) + r->at;
        const char *nl = memchr(p + seen, '\n', r->buf.len - r->at - seen);
        if (nl) {
            *line = (struct view){p, (size_t)(nl - p)};
            r->at += line->len + 1;
            r->line++;
            return 1;
        }
        seen = r->buf.len - r->at;
        bool end = false;
        int rc = fill(r, &end, err);
        if (rc)
            return rc;
        if (end && seen) {
            r->line++;
            return snapshot_reader_fail(r, err, "the file is cut off in the middle of a line");
        }
        if (end)
            return 0;
    }
}

static const struct view own = VIEW("{\"slipway\":");

static json_t *parse(struct view line) {
    return json_loadb(line.p, line.len, JSON_REJECT_DUPLICATES, NULL);
}

static int read_head(struct snapshot_reader *r, struct err *err) {
    struct view line;
    int rc = take_line(r, &line, err);
    _cleanup_json_ json_t *v = rc == 1 && line.len < HEAD_MAX ? parse(line) : NULL;
    if (rc < 0)
        return rc;
    const json_t *version = json_object_get(v, "v");
    const char *taken = json_str(v, "taken");
    if (!str_same(json_str(v, "slipway"), "snapshot") || !json_is_integer(version))
        return err_set(err, EINVAL, "%s is no snapshot: its first line does not say so", r->name);
    if (json_integer_value(version) > SNAPSHOT_VERSION)
        return err_set(
            err, EINVAL,
            "%s was written by a newer slipway: it is in format %lld, and this one reads "
            "%d; use the newer one",
            r->name, (long long)json_integer_value(version), SNAPSHOT_VERSION);
    if (!taken || !time_parse(taken, strlen(taken), &r->head.taken) || r->head.taken <= 0)
        return snapshot_reader_fail(r, err, "\"taken\" is no time");
    (void)snprintf(r->head.server, sizeof r->head.server, "%s", strna(json_str(v, "server")));
    return 0;
}

int snapshot_reader_adopt(int fd, const char *name, struct snapshot_reader **out, struct err *err) {
    struct snapshot_reader *r = xnew(struct snapshot_reader);
    int rc = 0;
    r->name = xstrdup(name);
    if (lseek(fd, 0, SEEK_SET) < 0 || !(r->file = gzdopen(fd, "rb"))) {
        rc = err_set(err, errno ? errno : ENOMEM, "%s: %s", name, strerror(errno ? errno : ENOMEM));
        (void)close(fd);
    }
    if (!rc)
        rc = read_head(r, err);
    if (rc) {
        snapshot_reader_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

int snapshot_reader_open(const char *path, struct snapshot_reader **out, struct err *err) {
    /* A FIFO that nobody writes to would be waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return err_set(err, errno == ENOENT || errno == EACCES ? EINVAL : errno, "%s: %s", path,
                       strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        (void)close(fd);
        return err_set(err, EINVAL, "%s is no regular file: it is read more than once", path);
    }
    return snapshot_reader_adopt(fd, path, out, err);
}

void snapshot_reader_free(struct snapshot_reader *r) {
    if (!r)
        return;
    if (r->file)
        (void)gzclose(r->file);
    json_decref(r->tail);
    str_done(&r->buf);
    free(r->name);
    free(r);
}

const struct snapshot_head *snapshot_reader_head(const struct snapshot_reader *r) {
    return &r->head;
}

/* The line that says that nothing is missing; there must be none after it. */
static int read_tail(struct snapshot_reader *r, struct view line, struct err *err) {
    json_t *v = parse(line);
    if (!str_same(json_str(v, "slipway"), "end")) {
        json_decref(v);
        return snapshot_reader_fail(r, err, "this is neither an object nor the last line");
    }
    json_decref(r->tail);
    r->tail = v;
    int rc = take_line(r, &line, err);
    return rc == 1 ? snapshot_reader_fail(r, err, "there is more after the last line") : rc;
}

int snapshot_reader_next(struct snapshot_reader *r, struct view *line, struct err *err) {
    int rc = take_line(r, line, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, EINVAL,
                       "%s is not whole: its last line is missing; take the snapshot again",
                       r->name);
    if (line->len >= own.len && !memcmp(line->p, own.p, own.len))
        return read_tail(r, *line, err);
    return 1;
}

int snapshot_reader_again(struct snapshot_reader *r, struct err *err) {
    r->buf.len = r->at = 0;
    r->bytes = r->line = 0;
    if (gzrewind(r->file))
        return err_set(err, EIO, "%s cannot be read again", r->name);
    return read_head(r, err);
}

const json_t *snapshot_reader_tail(const struct snapshot_reader *r) {
    return r->tail;
}
