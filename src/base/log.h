/* Log lines to a file descriptor, at levels. There is no global logger: whoever logs is handed a
 * struct log. A NULL log is silent. Text from outside is made printable. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* Beside the sentence: what it is about, for machines. */
struct log_field {
    const char *key, *value; /* an empty value is left out */
};

struct log {
    enum log_level level; /* what is above is dropped */
    int fd;
    bool timestamps;
    bool json;                 /* each line is an object: ts, level, msg and the fields */
    int64_t (*now)(void *arg); /* wall clock in microseconds; NULL: no timestamps */
    void *now_arg;
};

void log_at(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with fields, which only lines of JSON show: the sentence says it, too. */
void log_fields(const struct log *log, enum log_level level, const struct log_field *fields,
                size_t n, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static inline bool log_enabled(const struct log *log, enum log_level level) {
    return log && level <= log->level;
}

#define log_error(log, ...) log_at((log), LOG_ERROR, __VA_ARGS__)
#define log_warn(log, ...)  log_at((log), LOG_WARN, __VA_ARGS__)
#define log_info(log, ...)  log_at((log), LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at((log), LOG_DEBUG, __VA_ARGS__)
#define log_trace(log, ...) log_at((log), LOG_TRACE, __VA_ARGS__)

#endif
