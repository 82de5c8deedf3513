/* Running text for people. */
#include "cli/text.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

void text_expand(struct str *out, const char *text, const char *prog) {
    static const char mark[] = "{prog}";
    for (const char *hit; (hit = strstr(text, mark)); text = hit + strlen(mark)) {
        str_addn(out, text, (size_t)(hit - text));
        str_add(out, prog);
    }
    str_add(out, text);
}

static void blanks(struct str *out, size_t n) {
    while (n--)
        str_addc(out, ' ');
}

size_t text_width(bool tty, int columns) {
    enum { LEAST = 20 }; /* with less, indents alone would fill it */
    return tty ? (size_t)MIN_OF(MAX_OF(columns, (int)LEAST), (int)TEXT_WIDTH) : TEXT_WIDTH;
}

/* How far a line is indented that begins with a word of `wide` columns: less where it would not fit
 * otherwise. */
static size_t indent_for(size_t wide, size_t indent, size_t width) {
    return wide + indent <= width || wide > width ? indent : width - wide;
}

/* Of a line that was only indented so far nothing is left. */
static void break_line(struct str *out, size_t indent) {
    while (out->len && out->p[out->len - 1] == ' ')
        out->p[--out->len] = '\0';
    if (out->len && out->p[out->len - 1] != '\n')
        str_addc(out, '\n');
    blanks(out, indent);
}

void text_fill_to(struct str *out, const char *text, size_t column, size_t indent, size_t width) {
    _cleanup_str_ struct str word = STR_INIT;
    bool fresh = true; /* no word on this line yet */
    for (;;) {
        text += strspn(text, " \n");
        size_t len = strcspn(text, " \n");
        if (!len)
            break;
        str_reset(&word);
        str_addn(&word, text, len);
        text += len;
        size_t wide = utf8_width(str_get(&word));
        size_t in = indent_for(wide, indent, width);
        if (column + !fresh + wide > width && (!fresh || column > in)) {
            break_line(out, in);
            column = in;
            fresh = true;
        }
        if (!fresh) {
            str_addc(out, ' ');
            column++;
        }
        str_addn(out, word.p, word.len);
        column += wide;
        fresh = false;
    }
    str_addc(out, '\n');
}

void text_fill(struct str *out, const char *text, size_t column, size_t indent) {
    text_fill_to(out, text, column, indent, TEXT_WIDTH);
}

/* The length of the word at `p`, with what is in quotes in it. */
static size_t shell_word(const char *p) {
    size_t n = 0;
    bool quoted = false;
    for (; p[n] && (quoted || p[n] != ' '); n++)
        quoted ^= p[n] == '\'';
    return n;
}

void text_command(struct str *out, const char *command, size_t indent, size_t width) {
    size_t column = indent;
    bool first = true;
    blanks(out, indent);
    for (const char *p = command; *p;) {
        size_t len = shell_word(p);
        bool last = !p[len];
        /* Two columns for " \" unless nothing follows. */
        size_t end = last ? 0 : 2;
        if (!first && column + 1 + len + end > width) {
            column = indent_for(len + end, indent + 2, width);
            str_add(out, " \\\n");
            blanks(out, column);
        } else if (!first) {
            str_addc(out, ' ');
            column++;
        }
        str_addn(out, p, len);
        column += len;
        first = false;
        p += len;
        p += strspn(p, " ");
    }
    str_addc(out, '\n');
}

bool text_block(const char **text, struct str *block, bool *literal) {
    const char *p = *text;
    p += strspn(p, "\n");
    str_reset(block);
    *literal = *p == ' ';
    while (*p && *p != '\n') {
        size_t len = strcspn(p, "\n");
        if ((*p == ' ') != *literal)
            break;
        if (block->len)
            str_addc(block, '\n');
        str_addn(block, p, len);
        p += len;
        p += *p == '\n';
    }
    *text = p;
    return block->len > 0;
}

static void add_literal(struct str *out, const char *block, size_t indent) {
    while (*block) {
        size_t len = strcspn(block, "\n");
        blanks(out, indent);
        str_addn(out, block, len);
        str_addc(out, '\n');
        block += len;
        block += *block == '\n';
    }
}

void text_add(struct str *out, const char *text, const char *prog, size_t indent) {
    _cleanup_str_ struct str block = STR_INIT, expanded = STR_INIT;
    text_expand(&expanded, text, prog);
    const char *p = str_get(&expanded);
    bool literal, first = true;
    while (text_block(&p, &block, &literal)) {
        if (!first)
            str_addc(out, '\n');
        first = false;
        if (literal) {
            add_literal(out, str_get(&block), indent);
        } else {
            blanks(out, indent);
            text_fill(out, str_get(&block), indent, indent);
        }
    }
}
