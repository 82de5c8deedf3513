/* Running text for people: filled lines, and the small markup of verbs and topics.
 *
 * Markup: {prog} is the name the program was called by; paragraphs are separated by an empty line;
 * lines that begin with a blank stay as they are. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { TEXT_WIDTH = 80 };

/* Appends with {prog} replaced. */
void text_expand(struct str *out, const char *text, const char *prog);
/* Appends the words of `text` so that no line is wider than TEXT_WIDTH, unless a single word is.
 * The current line has `column` columns already; further ones are indented by `indent`. Ends with a
 * newline. */
void text_fill(struct str *out, const char *text, size_t column, size_t indent);
/* The same in lines of `width`. What begins after the first words of a line, in which `column` is
 * beyond `indent`, begins a new one when its first word does not fit. */
void text_fill_to(struct str *out, const char *text, size_t column, size_t indent, size_t width);
/* How wide text is: on a terminal no wider than that, elsewhere (`tty` is false) and on wide ones
 * TEXT_WIDTH. */
size_t text_width(bool tty, int columns);
/* Appends a shell command of several words, indented. Where it is wider than `width` it is broken
 * between words, never within quotes; the backslashes keep it one command. */
void text_command(struct str *out, const char *command, size_t indent, size_t width);
/* Appends the paragraphs of `text`, filled and indented, {prog} replaced. */
void text_add(struct str *out, const char *text, const char *prog, size_t indent);

/* The next block of markup: a paragraph, or lines that stay as they are. Returns false at the end.
 * `*text` is moved on; the block is in `block`, its lines separated by newlines. */
bool text_block(const char **text, struct str *block, bool *literal);

#endif
