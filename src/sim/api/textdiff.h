/* A unified diff of two texts, line by line with three lines of context, and the same choice of
 * what is common as Python's difflib makes (Ratcliff and Obershelp: the longest common run, then
 * left and right of it; lines that are too frequent are no anchors). Kubernetes shows what changed
 * in an object this way, through a port of that module to Go. */
#ifndef SIM_API_TEXTDIFF_H
#define SIM_API_TEXTDIFF_H

#include "base/str.h"

/* Appends nothing when the texts are equal, or when one has more than `max_lines` lines. A last
 * line without a newline gets one. */
void text_diff(const char *a, const char *b, size_t max_lines, struct str *out);

#endif
