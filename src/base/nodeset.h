/* Node sets: many names written as few.
 *
 *     w[001-040]!w007                      forty nodes but one
 *     x[3000-3001]c0s[0-31]b[0-1]          several ranges in a name
 *     (a[1-9],b[1-9])&@zone:a              operators, parentheses, groups
 *
 * The grammar is ClusterShell's (1.9), with parentheses added:
 *
 *     set     = term { ("," | "!" | "&" | "^") term }     union, difference, intersection, either
 *                                                         but not both: from left to right, none
 *                                                         binds stronger
 *     term    = pattern | "@" [source ":"] group | "@" [source ":"] "*" | "(" set ")"
 *     pattern = { character | "[" range { "," range } "]" }
 *     range   = number [ "-" number [ "/" step ] ]
 *
 * Zeros in front count: w1, w01 and w001 are three nodes, and [08-11] is 08, 09, 10, 11. Digits
 * beside a bracket belong to its numbers: n-00[00-99] is n-[0000-0099]. A text without brackets and
 * operators is a name, taken literally. Blanks around names, operators and numbers do not count.
 *
 * Inside, a name is a pattern and the numbers in it, and a set is, for each pattern, a tree of
 * intervals: one level for each number of the pattern. Nothing is expanded unless asked for, so
 * that n[0-999999999] is as small as n[0-9]. Equal sets have equal trees. What the trees may grow
 * to is limited (NODESET_PIECES_MAX, and a bound on the work of one call): a text of a few lines
 * can describe a set of a million pieces, and then there is an error (-EFBIG).
 *
 * Order, of iteration and of text, is by pattern, then by number, fewer digits first: a, a9, a09,
 * a10, b1. */
#ifndef BASE_NODESET_H
#define BASE_NODESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
    NODESET_EXPAND_MAX = 1000000, /* names that nodeset_expand() makes at most */
    /* Intervals at most. A set that may be expanded has no more names than this, so that it is
     * never too complicated. */
    NODESET_PIECES_MAX = NODESET_EXPAND_MAX,
    NODESET_NAME_MAX = 253,   /* of a DNS subdomain, which a node's name is */
    NODESET_DIGITS_MAX = 18,  /* of a number in a range; longer ones in names are text */
    NODESET_NESTED_MAX = 64,  /* parentheses in parentheses */
    NODESET_GROUPS_MAX = 1000 /* that one term such as @rack[1-9] names */
};

struct nodeset_part;

struct nodeset {
    struct nodeset_part *parts; /* one for each pattern, sorted */
    size_t n;
};

#define NODESET_INIT      ((struct nodeset){0})
#define _cleanup_nodeset_ __attribute__((cleanup(nodeset_done)))

/* Leaves the empty set. */
void nodeset_done(struct nodeset *s);

/* Adds the nodes of a group to `out`, which is empty at first. `source` is NULL when none was
 * written, `group` is "*" for all nodes. Fails with -ENOENT when there is no such group. */
typedef int nodeset_groups_fn(void *arg, const char *source, const char *group, struct nodeset *out,
                              struct err *err);

/* What the text says, into `out`, which is untouched on failure (and holds no set before). An empty
 * text is the empty set, and so may be the result of operators: whoever needs nodes checks. With
 * `groups` NULL a group is an error. The message of an error quotes the text and says the column,
 * which counts bytes from 1. */
int nodeset_parse(const char *text, nodeset_groups_fn *groups, void *arg, struct nodeset *out,
                  struct err *err);

/* Whether it can be in a set: letters, digits and "-._:/=+~", at most NODESET_NAME_MAX of them. All
 * names of nodes are such. */
bool nodeset_valid_name(const char *name);
/* Adds one name, taken literally. -EINVAL when it is not valid. For many use a nodeset_sum. */
int nodeset_add(struct nodeset *s, const char *name, struct err *err);
void nodeset_copy(const struct nodeset *from, struct nodeset *to); /* `to` holds no set before */

bool nodeset_contains(const struct nodeset *s, const char *name);
/* How many names; UINT64_MAX when there are that many or more. */
uint64_t nodeset_count(const struct nodeset *s);
bool nodeset_equal(const struct nodeset *a, const struct nodeset *b);
static inline bool nodeset_empty(const struct nodeset *s) {
    return !s->n;
}

enum nodeset_op {
    NODESET_UNION,
    NODESET_DIFFERENCE,
    NODESET_INTERSECTION,
    NODESET_XOR,
};
/* s = s op other. On failure (-EFBIG: too complicated) `s` is as it was. */
int nodeset_combine(struct nodeset *s, enum nodeset_op op, const struct nodeset *other,
                    struct err *err);
static inline int nodeset_union(struct nodeset *s, const struct nodeset *other, struct err *err) {
    return nodeset_combine(s, NODESET_UNION, other, err);
}
static inline int nodeset_difference(struct nodeset *s, const struct nodeset *other,
                                     struct err *err) {
    return nodeset_combine(s, NODESET_DIFFERENCE, other, err);
}
static inline int nodeset_intersection(struct nodeset *s, const struct nodeset *other,
                                       struct err *err) {
    return nodeset_combine(s, NODESET_INTERSECTION, other, err);
}
static inline int nodeset_xor(struct nodeset *s, const struct nodeset *other, struct err *err) {
    return nodeset_combine(s, NODESET_XOR, other, err);
}

/* The union of many sets: n of them take n log n steps, where a union after the other takes n * n.
 * NODESET_SUM_INIT, nodeset_sum_add() as often as needed, nodeset_sum_take(). */
struct nodeset_sum {
    struct nodeset levels[48]; /* level i holds the union of 2^i of them, or nothing */
    uint64_t n;                /* how many were added: its bits say which levels are full */
    uint64_t steps;            /* of work that were taken since it began; limited */
};
#define NODESET_SUM_INIT      ((struct nodeset_sum){0})
#define _cleanup_nodeset_sum_ __attribute__((cleanup(nodeset_sum_done)))
void nodeset_sum_done(struct nodeset_sum *sum);
/* Takes the set away from `s`, also on failure, which is as nodeset_combine()'s. */
int nodeset_sum_add(struct nodeset_sum *sum, struct nodeset *s, struct err *err);
/* The union, into `out`, which holds no set before; the sum is empty afterwards, also on failure.
 */
int nodeset_sum_take(struct nodeset_sum *sum, struct nodeset *out, struct err *err);

/* The names in order: `while ((name = nodeset_next(&it)))`. The set must not change meanwhile. A
 * name lives until the next call. Ask nodeset_count() first: there may be 10^18. */
struct nodeset_iter {
    const struct nodeset *set;
    size_t part; /* the next one to begin */
    struct nodeset_level *levels;
    size_t n_levels; /* of the part that is gone through; 0: none */
    char name[NODESET_NAME_MAX + 1];
};
struct nodeset_iter nodeset_iter(const struct nodeset *s);
const char *nodeset_next(struct nodeset_iter *it);
void nodeset_iter_done(struct nodeset_iter *it);
#define _cleanup_nodeset_iter_ __attribute__((cleanup(nodeset_iter_done)))

/* All names in order, in one piece of memory to be freed with free(); *n is how many, and the array
 * ends with NULL. -EFBIG when there are more than NODESET_EXPAND_MAX. */
int nodeset_expand(const struct nodeset *s, char ***names, size_t *n, struct err *err);

/* Appends the set as text, "w[001-006,008-040],x1"; nothing for the empty set. The text parses to
 * the same set. Numbers that are the same in all names stay outside of brackets; where several
 * vary, names are put together as long as that is exact. */
void nodeset_print(const struct nodeset *s, struct str *out);
/* Appends any list of names as folded text, each once. Names that cannot be in a set come last, one
 * by one, made printable. */
void nodeset_fold(const char *const *names, size_t n, struct str *out);

#endif
