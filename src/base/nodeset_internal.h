/* What the files of base/nodeset share: numbers as ranks, and the trees of intervals.
 *
 * A string of digits has a rank: its place among all strings of digits, shorter ones first and
 * equally long ones by value. 0 to 9 have the ranks 0 to 9, 00 to 99 have 10 to 109, 000 has 110.
 * So w1, w01 and w001 differ, order is right, and a range with zeros in front is one interval; one
 * without is an interval for each number of digits.
 *
 * An axis is a set of tuples of ranks, as spans: first ranks from lo to hi, each followed by the
 * tuples of `below`. Spans are sorted, do not overlap, and two that touch differ in what is below:
 * equal sets are equal trees. No axis is empty: the empty set is NULL. The tuples of length 0 are
 * one set, AXIS_END, which is below all last levels, and is all there is of a name without digits.
 * Axes never change once made, and are shared. */
#ifndef BASE_NODESET_INTERNAL_H
#define BASE_NODESET_INTERNAL_H

#include "base/nodeset.h"
#include "base/vec.h"

enum {
    PLACEHOLDER = '\1', /* a number's place in a pattern; sorts before all characters of names */
    DIMENSIONS_MAX = (NODESET_NAME_MAX + 1) / 2, /* something must stand between two numbers */
};

/* Spans that are looked at in the course of one text or one sum. A union of a million names takes
 * a fifth of it; all of it is a few seconds. */
#define NODESET_STEPS_MAX UINT64_C(100000000)

struct axis;

struct span {
    uint64_t lo, hi;
    const struct axis *below;
};

struct axis {
    unsigned refs;
    uint32_t n;
    uint64_t hash;
    uint64_t count;  /* tuples; saturates */
    uint64_t pieces; /* paths from here to the end: what a walk through all spans takes */
    struct span spans[];
};

extern const struct axis axis_end;
#define AXIS_END (&axis_end)

struct range {
    uint64_t lo, hi; /* ranks */
};

/* The rank of a number of `digits` digits (1 to NODESET_DIGITS_MAX). */
uint64_t rank_of(unsigned digits, uint64_t value);
/* The digits and the value of a rank. */
unsigned rank_digits(uint64_t rank, uint64_t *value);
extern const uint64_t powers_of_ten[NODESET_DIGITS_MAX + 1];

/* A reference of one's own; NULL and AXIS_END are nobody's. */
const struct axis *axis_ref(const struct axis *a);
void axis_unref(const struct axis *a);
/* The ranges, in any order and overlapping or not, each followed by `below`, whose reference is
 * taken. Sorts the ranges. NULL for none. */
const struct axis *axis_from_ranges(struct range *ranges, size_t n, const struct axis *below);
bool axis_equal(const struct axis *a, const struct axis *b);
/* The span that has the rank, or NULL. */
const struct span *axis_find(const struct axis *a, uint64_t rank);
/* a op b, either may be NULL, both from one pattern. -EFBIG when it becomes too complicated; *steps
 * counts the work, of all calls together, and is limited too. */
int axis_combine(enum nodeset_op op, const struct axis *a, const struct axis *b, uint64_t *steps,
                 const struct axis **out);

/* The text of a name with its numbers replaced, shared. */
struct pattern {
    unsigned refs;
    unsigned dimensions;
    char text[];
};

struct nodeset_part {
    struct pattern *pattern;
    const struct axis *axis;
};

/* Is it one of the characters of names? */
bool nodeset_name_char(char c);
/* A set of one part, into `out`; takes the reference to `axis` (NULL: the set is empty). */
void nodeset_from_part(const char *pattern, unsigned dimensions, const struct axis *axis,
                       struct nodeset *out);
/* nodeset_combine() with the steps of several calls counted together; err is not filled. */
int nodeset_merge(struct nodeset *s, enum nodeset_op op, const struct nodeset *other,
                  uint64_t *steps);
/* The error of what is too complicated. */
int nodeset_too_complicated(struct err *err);

#endif
