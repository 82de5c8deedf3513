/* Running text for people. */
#include "cli/text.h"

#include <string.h>

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

void text_fill(struct str *out, const char *text, size_t column, size_t indent) {
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
        size_t width = utf8_width(str_get(&word));
        if (!fresh && column + 1 + width > TEXT_WIDTH) {
            str_addc(out, '\n');
            blanks(out, indent);
            column = indent;
            fresh = true;
        }
        if (!fresh) {
            str_addc(out, ' ');
            column++;
        }
        str_addn(out, word.p, word.len);
        column += width;
        fresh = false;
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
