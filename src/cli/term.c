/* Terminals: decisions and output. */
#include "cli/term.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/pager.h"

enum {
    DEFAULT_COLUMNS = 80,
    DEFAULT_ROWS = 24,
    MAX_COLUMNS = 10000,   /* a wider terminal is a typing error */
    STUCK_MS = 500,        /* that a reader may take when we shall end */
    FLUSH_BYTES = 1 << 16, /* a pipe's buffer: more need not be kept for one that is no terminal */
};

void term_env_get(struct term_env *env, char *(*get)(const char *name)) {
    const char *pager = get("SLIPWAY_PAGER");
    *env = (struct term_env){
        .no_color = get("NO_COLOR"),
        .clicolor_force = get("CLICOLOR_FORCE"),
        .force_color = get("FORCE_COLOR"),
        .term = get("TERM"),
        .force_tty = get("SLIPWAY_FORCE_TTY"),
        .columns = get("COLUMNS"),
        .pager = pager ? pager : get("PAGER"),
        .codeset = nl_langinfo(CODESET),
    };
}

bool term_wants_color(enum color_when when, const struct term_env *env, bool tty) {
    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    if (!str_empty(env->no_color))
        return false;
    if (!str_empty(env->clicolor_force) || !str_empty(env->force_color))
        return true;
    return tty && !str_same(env->term, "dumb");
}

/* A positive number that can be a width; 0 when it is none. */
static int number(const char *s) {
    char *end;
    if (str_empty(s))
        return 0;
    long v = strtol(s, &end, 10);
    return *end || v < 1 || v > MAX_COLUMNS ? 0 : (int)v;
}

int term_columns(const struct term_env *env, int found) {
    int forced = number(env->force_tty), set = number(env->columns);
    /* SLIPWAY_FORCE_TTY=1 says "yes", not "one column wide". */
    return forced > 1 ? forced : set ? set : found > 0 ? found : DEFAULT_COLUMNS;
}

bool term_is_utf8(const struct term_env *env) {
    return env->codeset &&
           (!strcasecmp(env->codeset, "UTF-8") || !strcasecmp(env->codeset, "utf8"));
}

const char *term_pager(const struct term_env *env) {
    if (!env->pager)
        return "less";
    return !*env->pager || streq(env->pager, "cat") ? NULL : env->pager;
}

const char *term_sgr(enum style style) {
    static const char *const codes[] = {
        [STYLE_NONE] = "",         [STYLE_BOLD] = "\033[1m",     [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m",   [STYLE_YELLOW] = "\033[33m",
        [STYLE_BLUE] = "\033[34m", [STYLE_MAGENTA] = "\033[35m", [STYLE_CYAN] = "\033[36m",
    };
    return codes[style];
}

const char *term_glyph(enum glyph glyph, bool utf8) {
    static const char *const glyphs[][2] = {
        [GLYPH_NONE] = {"-", "\u2013"},  [GLYPH_OK] = {"ok", "\u2713"},
        [GLYPH_BUSY] = {"..", "\u25cf"}, [GLYPH_WARN] = {"!", "!"},
        [GLYPH_BAD] = {"x", "\u2717"},
    };
    return glyphs[glyph][utf8];
}

void term_open(struct term *t, int fd, enum color_when when, const struct term_env *env) {
    struct winsize size = {0};
    bool real = isatty(fd);
    if (real)
        ioctl(fd, TIOCGWINSZ, &size);
    bool tty = real || !str_empty(env->force_tty);
    *t = (struct term){
        .fd = fd,
        .tty = tty,
        .color = term_wants_color(when, env, tty),
        .utf8 = term_is_utf8(env),
        .columns = term_columns(env, size.ws_col),
        .rows = size.ws_row ? size.ws_row : DEFAULT_ROWS,
        .pager = real ? term_pager(env) : NULL,
    };
}

/* Somebody wants us to end, and nobody reads what we write. */
static bool is_stuck(const struct term *t) {
    struct pollfd fd = {.fd = t->fd, .events = POLLOUT};
    return t->interrupted && *t->interrupted && poll(&fd, 1, STUCK_MS) <= 0;
}

static void write_all(struct term *t, const char *p, size_t len) {
    while (len && !t->error) {
        if (is_stuck(t)) {
            t->error = EINTR;
            return;
        }
        ssize_t n = write(t->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            t->error = errno;
            return;
        }
        p += n;
        len -= (size_t)n;
    }
}

static size_t count_lines(const struct str *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->len; i++)
        n += s->p[i] == '\n';
    return n;
}

void term_flush(struct term *t) {
    if (!t->buf.len)
        return;
    /* One row is the shell's next prompt. */
    bool is_long = t->pager && count_lines(&t->buf) >= (size_t)t->rows;
    if (t->error || !is_long || pager_show(t->pager, t->buf.p, t->buf.len))
        write_all(t, t->buf.p, t->buf.len);
    str_reset(&t->buf);
}

/* A terminal's text waits until it is known whether it is long. */
static void flush_some(struct term *t) {
    if (!t->pager && t->buf.len >= FLUSH_BYTES)
        term_flush(t);
}

void term_printf(struct term *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    str_addvf(&t->buf, fmt, ap);
    va_end(ap);
    flush_some(t);
}

void term_text(struct term *t, const char *s) {
    utf8_printable(&t->buf, s);
    flush_some(t);
}

void term_styled(struct term *t, enum style style, const char *s) {
    bool on = t->color && style != STYLE_NONE;
    str_add(&t->buf, on ? term_sgr(style) : "");
    utf8_printable(&t->buf, s);
    str_add(&t->buf, on ? SGR_RESET : "");
}

int term_close(struct term *t, struct err *err) {
    term_flush(t);
    str_done(&t->buf);
    /* Some file systems report a full disk only now. Standard error is still needed. */
    if (t->fd != STDERR_FILENO && close(t->fd) && errno != EINTR && !t->error)
        t->error = errno;
    const char *name = t->fd == STDERR_FILENO ? "standard error" : "standard output";
    return t->error ? err_errno(err, t->error, "cannot write to %s", name) : 0;
}
