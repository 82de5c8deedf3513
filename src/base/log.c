/* Log lines. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "base/utf8.h"

static const char *const level_names[] = {"error", "warning", "info", "debug", "trace"};

static void add_text(const struct log *log, enum log_level level, const char *text,
                     struct str *line) {
    char when[TIMEFMT_LEN];
    if (log->timestamps && log->now)
        str_addf(line, "%s ", time_format(log->now(log->now_arg), false, when));
    str_addf(line, "%s: ", level_names[level]);
    utf8_printable(line, text);
}

static void add_json(const struct log *log, enum log_level level, const struct log_field *fields,
                     size_t n, const char *text, struct str *line) {
    char when[TIMEFMT_LEN];
    struct jsonw w;
    jsonw_init(&w, line, false);
    jsonw_begin(&w, '{');
    if (log->now)
        jsonw_kstr(&w, "ts", time_format(log->now(log->now_arg), true, when));
    jsonw_kstr(&w, "level", level_names[level]);
    jsonw_kstr(&w, "msg", text);
    for (size_t i = 0; i < n; i++)
        jsonw_kopt(&w, fields[i].key, fields[i].value);
    jsonw_end(&w);
}

__attribute__((format(printf, 5, 0))) static void add_line(const struct log *log,
                                                           enum log_level level,
                                                           const struct log_field *fields, size_t n,
                                                           const char *fmt, va_list ap) {
    _cleanup_str_ struct str line = STR_INIT;
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    if (log->json)
        add_json(log, level, fields, n, text, &line);
    else
        add_text(log, level, text, &line);
    str_addc(&line, '\n');
    /* A log that cannot be written is no reason to fail. */
    ssize_t written = write(log->fd, line.p, line.len);
    (void)written;
}

void log_at(const struct log *log, enum log_level level, const char *fmt, ...) {
    if (!log_enabled(log, level))
        return;
    va_list ap;
    va_start(ap, fmt);
    add_line(log, level, NULL, 0, fmt, ap);
    va_end(ap);
}

void log_fields(const struct log *log, enum log_level level, const struct log_field *fields,
                size_t n, const char *fmt, ...) {
    if (!log_enabled(log, level))
        return;
    va_list ap;
    va_start(ap, fmt);
    add_line(log, level, fields, n, fmt, ap);
    va_end(ap);
}
