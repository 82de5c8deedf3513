/* Whole files, read or written at once. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/timefmt.h"

/* Reads a file (or pipe: `--kubeconfig <(...)` works) of at most `max` bytes into a new buffer with
 * a NUL after its last byte. What is not handed out is wiped, since this reads keys and tokens; the
 * caller wipes what it got (mem_wipe, secret_free). The message is "PATH: why". -EFBIG when it is
 * longer. What is no regular file must come to its end within FILE_WAIT (-EINVAL), because a FIFO
 * that nobody writes to never does. */
int file_read(const char *path, size_t max, char **out, size_t *len, struct err *err);
/* Enough for a program behind <(...) that asks a vault. */
#define FILE_WAIT SEC(10)
/* The same with another limit. */
int file_read_within(const char *path, size_t max, int64_t wait, char **out, size_t *len,
                     struct err *err);

/* Writes a whole file: a new one beside it takes its place when everything is on the disk, so that
 * nobody ever reads half of it, and an old one is not lost when the disk is full. What is no
 * regular file (a FIFO, a device, /dev/stdout) is written to as it is, and a symbolic link stays
 * one. The message is "PATH: why". */
int file_write(const char *path, const char *text, size_t len, struct err *err);

/* The same for what does not come at once:
 *
 *     file_new_open(&f, path, 0600, FILE_WAIT, err) || file_new_spool(&f, "/tmp", err)
 *     write to f.fd, or truncate it; then file_new_commit(&f, err); always file_new_done(&f).
 */
struct file_new {
    int fd;  /* the new file; -1 where there is none: */
    int out; /* what is written to as it is, else -1 */
    const char *path;
    char *place, *temp;
};
/* A FIFO must have a reader within `wait` (-ENXIO). */
int file_new_open(struct file_new *f, const char *path, mode_t mode, int64_t wait, struct err *err);
/* Sees to it that there is an `fd`, if need be that of a file without a name in `directory`, of
 * which `out` gets a copy in the end. */
int file_new_spool(struct file_new *f, const char *directory, struct err *err);
int file_new_commit(struct file_new *f, struct err *err);
void file_new_done(struct file_new *f);

/* Where a path leads that may be a symbolic link, also one to a file that is not there yet:
 * whoever made the link wants to keep it. A link in /proc, which leads to what its text does not
 * name, stays as it is. NULL: round in circles. */
char *file_follow(const char *path);

/* 0 when it can be opened for reading and is no directory. */
int file_check(const char *path, struct err *err);

/* Wipes and frees a NUL-terminated string; takes NULL. */
void secret_free(char *s);
/* Wipes and frees *s and sets it to NULL, for _cleanup_secret_. */
void secret_clear(char **s);
#define _cleanup_secret_ __attribute__((cleanup(secret_clear)))

#endif
