/* What a compiled JSONPath template is made of: between its parser and its evaluator. */
#ifndef CLI_JSONPATH_INTERNAL_H
#define CLI_JSONPATH_INTERNAL_H

#include <stdbool.h>

enum step_kind {
    STEP_FIELD,
    STEP_INDEX,
    STEP_SLICE,
    STEP_ALL,     /* every element, every member */
    STEP_DESCEND, /* itself and everything below */
    STEP_UNION,   /* of the alternatives */
    STEP_FILTER,
};

enum filter_op { FILTER_EXISTS, FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE };

struct step;

/* A side of a comparison: a path, or a literal. */
struct operand {
    const struct step *path;
    bool is_path, from_root;
    enum { LITERAL_TEXT, LITERAL_NUMBER, LITERAL_BOOL, LITERAL_NULL } kind;
    const char *text;
    double number;
};

struct step {
    const struct step *next;
    enum step_kind kind;
    const char *name;
    int from, to, by;
    bool has_from, has_to;
    const struct step *alternatives; /* of a union; each is a path of one step */
    const struct step *sibling;      /* the next alternative */
    enum filter_op op;
    struct operand left, right;
};

struct jsonpath {
    const struct jsonpath *next;
    enum { PART_TEXT, PART_PATH, PART_RANGE } kind;
    const char *text;
    const struct step *path;
    bool from_root;              /* the path begins with $ */
    const struct jsonpath *body; /* of a range */
};

#endif
