/* Whole files, read or written at once. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

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
 * regular file (/dev/stdout) is written to as it is. The message is "PATH: why". */
int file_write(const char *path, const char *text, size_t len, struct err *err);

/* 0 when it can be opened for reading and is no directory. */
int file_check(const char *path, struct err *err);

/* Wipes and frees a NUL-terminated string; takes NULL. */
void secret_free(char *s);
/* Wipes and frees *s and sets it to NULL, for _cleanup_secret_. */
void secret_clear(char **s);
#define _cleanup_secret_ __attribute__((cleanup(secret_clear)))

#endif
