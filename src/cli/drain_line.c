/* Lines that fit a screen. */
#include "cli/drain_line.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Bytes that a column may take: a letter with its accents. More is an attack on the terminal. */
enum { COLUMN_BYTES = 16 };

static size_t room_of(const struct screen *s) {
    return s->columns > 1 ? (size_t)s->columns - 1 : 1;
}

struct line line_begin(struct str *out, const struct screen *s) {
    return (struct line){.out = out, .s = s};
}

void line_end(struct line *l) {
    str_addc(l->out, '\n');
}

void line_to(struct line *l, size_t column) {
    if (column > l->width + l->blanks)
        l->blanks = column - l->width;
}

void line_skip(struct line *l, size_t n) {
    l->blanks += n;
}

size_t line_room(const struct line *l) {
    size_t at = l->width + l->blanks, room = room_of(l->s);
    return l->full || at >= room ? 0 : room - at;
}

const char *line_ellipsis(const struct screen *s) {
    return s->utf8 ? "\u2026" : "...";
}

/* Appends what fits into `room` columns of text that is printable; what is cut off is shown. */
static void add_clipped(struct str *out, const char *text, size_t room, const struct screen *s) {
    if (utf8_width(text) <= room && strlen(text) <= room * COLUMN_BYTES) {
        str_add(out, text);
        return;
    }
    size_t mark = utf8_width(line_ellipsis(s)), used = 0, n = strlen(text);
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len(text + i, n - i);
        char one[5] = {0};
        memcpy(one, text + i, len ? len : 1);
        size_t w = utf8_width(one);
        if (used + w + mark > room || i > room * COLUMN_BYTES)
            break;
        str_add(out, one);
        used += w;
        i += len ? len : 1;
    }
    str_addn(out, line_ellipsis(s), mark <= room ? strlen(line_ellipsis(s)) : 0);
}

void line_put_max(struct line *l, enum style style, const char *text, size_t max) {
    size_t room = line_room(l);
    if (!room || !*text)
        return;
    if (max && max < room)
        room = max;
    _cleanup_str_ struct str clean = STR_INIT, shown = STR_INIT;
    utf8_printable(&clean, text);
    add_clipped(&shown, str_get(&clean), room, l->s);
    l->full = !max && shown.len < clean.len;
    size_t after = 0; /* blanks at its end */
    while (after < shown.len && shown.p[shown.len - 1 - after] == ' ')
        after++;
    if (after == shown.len) {
        l->blanks += after;
        return;
    }
    shown.len -= after;
    shown.p[shown.len] = 0;
    bool on = l->s->color && style != STYLE_NONE;
    str_addf(l->out, "%*s%s%s%s", (int)l->blanks, "", on ? term_sgr(style) : "", str_get(&shown),
             on ? SGR_RESET : "");
    l->width += l->blanks + utf8_width(str_get(&shown));
    l->blanks = after;
}

void line_put(struct line *l, enum style style, const char *text) {
    line_put_max(l, style, text, 0);
}

void line_putf(struct line *l, enum style style, const char *fmt, ...) {
    _cleanup_str_ struct str text = STR_INIT;
    va_list ap;
    va_start(ap, fmt);
    str_addvf(&text, fmt, ap);
    va_end(ap);
    line_put(l, style, str_get(&text));
}

size_t line_fill(struct line *l, enum style style, const char *text, size_t indent, size_t lines) {
    _cleanup_str_ struct str rest = STR_INIT;
    utf8_printable(&rest, text);
    const char *p = str_get(&rest);
    size_t begun = 0;
    while (*(p += strspn(p, " "))) {
        size_t at = l->width + l->blanks, room = line_room(l);
        /* As many words as fit; one that does not fit alone is cut, wherever it is. */
        size_t take = 0;
        for (size_t i = 0;; i++) {
            if (p[i] && p[i] != ' ')
                continue;
            _cleanup_free_ char *piece = xstrndup(p, i);
            if (utf8_width(piece) > room)
                break;
            take = i;
            if (!p[i])
                break;
        }
        if (begun + 1 >= lines || (!take && at <= indent)) {
            line_put(l, style, p);
            break;
        }
        _cleanup_free_ char *piece = xstrndup(p, take);
        line_put(l, style, piece);
        p += take;
        if (p[strspn(p, " ")]) {
            line_end(l);
            *l = line_begin(l->out, l->s);
            line_to(l, indent);
            begun++;
        }
    }
    return begun;
}

size_t line_rows(const char *text, int columns) {
    size_t n = 0, wide = columns > 0 ? (size_t)columns : 1;
    _cleanup_str_ struct str line = STR_INIT;
    for (const char *p = text; *p; p++) {
        if (*p == '\033') { /* ours are ESC [ ... letter, and take no room */
            while (p[1] && *p != 'm' && *p != 'K')
                p++;
        } else if (*p == '\n') {
            size_t w = utf8_width(str_get(&line));
            n += w ? (w + wide - 1) / wide : 1;
            str_reset(&line);
        } else {
            str_addc(&line, *p);
        }
    }
    return n;
}
