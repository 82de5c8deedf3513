/* A pattern's tree, and its parser's state: between the parser (structural_pattern.c, with sets of
 * characters in structural_pattern_class.c) and what runs it (structural_pattern_match.c). */
#ifndef SIM_API_STRUCTURAL_PATTERN_INTERNAL_H
#define SIM_API_STRUCTURAL_PATTERN_INTERNAL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "sim/api/structural_runes.h"

enum pnode_kind {
    PNODE_EMPTY,
    PNODE_SET,    /* one character of a set */
    PNODE_ASSERT, /* a place between two characters */
    PNODE_CAT,
    PNODE_ALT,
    PNODE_REPEAT,
};

enum passert {
    PASSERT_BEGIN_TEXT,
    PASSERT_END_TEXT,
    PASSERT_BEGIN_LINE,
    PASSERT_END_LINE,
    PASSERT_WORD,
    PASSERT_NO_WORD,
};

struct pnode {
    enum pnode_kind kind;
    enum passert assertion;
    size_t set;               /* of PNODE_SET: an index */
    int min, max;             /* of PNODE_REPEAT; max is -1 for no limit */
    struct pnode *sub, *next; /* the first child; the next child of the same parent */
    uint64_t size;            /* instructions */
    uint64_t copies;          /* of the innermost thing, by counted repetitions within */
    int height;
};

typedef VEC(struct runes) runes_list;

/* The program for a tree; takes the sets over. */
struct pattern *pattern_build(const struct pnode *tree, runes_list *sets);

/* Reading a pattern. */
enum { PATTERN_FOLD = 1, PATTERN_DOT_NL = 2, PATTERN_MULTI_LINE = 4, PATTERN_UNGREEDY = 8 };

struct parser {
    const char *text, *at, *end;
    unsigned flags;
    int depth;
    struct arena arena;
    runes_list sets;
    size_t ranges;
    struct err *err;
};

/* The tokens of an error are cut out of the pattern. */
int parser_refuse(struct parser *p, const char *why, const char *from, const char *to);
/* The next character; at the end U+FFFD and no step, as Go decodes nothing. */
int parser_rune(struct parser *p, uint32_t *rune);
/* A character written with a backslash. */
int parser_escape(struct parser *p, uint32_t *rune);
/* \d, \pL and the like: adds to the set; 1 when there was one. */
int parser_named_set(struct parser *p, struct runes *set);
/* At a bracket: all of it, tidy. */
int parser_class(struct parser *p, struct runes *set);

static inline bool parser_more(const struct parser *p) {
    return p->at < p->end;
}
static inline bool parser_at(const struct parser *p, char c) {
    return parser_more(p) && *p->at == c;
}

#endif
