/* The file of a snapshot: lines of JSON, plain or compressed by gzip. docs/rehearse.md describes it
 * for other programs.
 *
 *     {"slipway":"snapshot","v":1,"taken":"2026-11-15T08:00:00Z","server":"v1.36.3"}
 *     {"apiVersion":"v1","kind":"Node","metadata":{...},...}        an object a line
 *     ...
 *     {"slipway":"end","objects":{"Node":3,"Pod":41},"unread":[{"resource":"jobs.batch","why":"..."}]}
 *
 * The last line says that nothing is missing. A file of a newer version is refused. Whatever is
 * read is bounded: lines, and the sum of them, since a small file may be a long one compressed. */
#ifndef CLI_SNAPSHOT_FILE_H
#define CLI_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum {
    SNAPSHOT_VERSION = 1,
    SNAPSHOT_LINE_MAX = 8 << 20, /* etcd takes 1.5 MiB for an object, in fewer bytes than JSON */
};
#define SNAPSHOT_MAX (UINT64_C(16) << 30) /* bytes, uncompressed */

/* --- writing --- */

struct snapshot_writer;

/* Takes the descriptor, which must be one of a file. */
struct snapshot_writer *snapshot_writer_new(int fd, bool gzip);
/* Everything is written when it returns 0; else it says why not. Closes nothing. */
int snapshot_writer_end(struct snapshot_writer *w, struct err *err);
void snapshot_writer_free(struct snapshot_writer *w); /* closes the file; takes NULL */

int snapshot_writer_line(struct snapshot_writer *w, const char *line, size_t len, struct err *err);
/* A place to come back to: what was written since can be taken back. */
int snapshot_writer_mark(struct snapshot_writer *w, struct err *err);
int snapshot_writer_back(struct snapshot_writer *w, struct err *err);
uint64_t snapshot_writer_bytes(const struct snapshot_writer *w); /* of the file, so far */

/* --- reading --- */

struct snapshot_head {
    int64_t taken;   /* by the server's clock, microseconds */
    char server[64]; /* its version, "" when not known */
};

struct snapshot_reader;

/* Opens a file and reads its first line. `name` is what messages call it. */
int snapshot_reader_open(const char *path, struct snapshot_reader **out, struct err *err);
/* The same of a descriptor, which is taken, from its beginning. */
int snapshot_reader_adopt(int fd, const char *name, struct snapshot_reader **out, struct err *err);
void snapshot_reader_free(struct snapshot_reader *r); /* takes NULL */
const struct snapshot_head *snapshot_reader_head(const struct snapshot_reader *r);

/* The next object: 1, its text being valid until the next call; 0 at the end; or an error that
 * names file and line. */
int snapshot_reader_next(struct snapshot_reader *r, struct view *line, struct err *err);
/* Begins again with the first object. */
int snapshot_reader_again(struct snapshot_reader *r, struct err *err);
/* "FILE:LINE: why" about the line that was read last. */
int snapshot_reader_fail(const struct snapshot_reader *r, struct err *err, const char *why);
/* After the end: the last line; NULL before. */
const json_t *snapshot_reader_tail(const struct snapshot_reader *r);

#endif
