/* A pattern's tree: between its parser (structural_pattern.c) and what runs it
 * (structural_pattern_match.c). */
#ifndef SIM_API_STRUCTURAL_PATTERN_INTERNAL_H
#define SIM_API_STRUCTURAL_PATTERN_INTERNAL_H

#include <stdint.h>

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

#endif
