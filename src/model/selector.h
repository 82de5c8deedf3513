/* Selectors: as objects carry them, as people type them after -l, and as node affinity writes them.
 * Semantics are those of k8s.io/apimachinery pkg/labels and component-helpers nodeaffinity.
 *
 * Everything is made of requirements (struct requirement): a key, an operator (In, NotIn, Exists,
 * DoesNotExist, Gt, Lt) and values. NotIn also holds where the label is missing, Gt and Lt only
 * where it is a whole number.
 *
 * What is invalid (an unknown operator, values where there may be none, a key that is no label key)
 * matches nothing, wherever it stands in the selector; the _check functions say what is wrong with
 * it. They return 0 or -EINVAL. */
#ifndef MODEL_SELECTOR_H
#define MODEL_SELECTOR_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "model/object.h"

/* --- one requirement, and lists of them: all must hold; the empty list holds for everything --- */

bool requirement_match(const struct requirement *r, const struct pair *labels);
int requirement_check(const struct requirement *r, struct err *err);
bool requirements_match(const struct requirement *list, const struct pair *labels);
/* As after -l: "a=b,c!=d,e in (x,y),f notin (x,y),g,!h,i>1,j<2". */
void requirements_print(struct str *out, const struct requirement *list);

/* --- the selectors of PDBs and workloads --- */

/* matchLabels and matchExpressions (without Gt and Lt). NULL selects nothing, an empty one selects
 * everything: so in policy/v1. */
bool selector_match(const struct label_selector *sel, const struct pair *labels);
int selector_check(const struct label_selector *sel, struct err *err);

/* Every pair of `want` is in `labels`: a pod's nodeSelector. Nothing is checked. */
bool labels_contain(const struct pair *labels, const struct pair *want);

/* --- what is typed after -l --- */

/* In normal form: sorted by key, values sorted, nothing twice; "a==b" and "a in (b)" are "a=b". The
 * text that requirements_print() makes of it is read back as the same. Match it with
 * requirements_match(s.list, labels). */
struct selector {
    struct pool *pool; /* owns what the list is made of */
    const struct requirement *list;
};

#define _cleanup_selector_ __attribute__((cleanup(selector_done)))

/* -EINVAL with a message that names the character. The empty text selects everything. */
int selector_parse(const char *text, struct selector *out, struct err *err);
void selector_done(struct selector *s);

/* --- node affinity --- */

/* Both the term's expressions (labels) and its fields (metadata.name, with In or NotIn of one
 * value) must hold. A term without either matches no node. */
bool node_term_match(const struct node_term *term, const struct meta *node);
int node_term_check(const struct node_term *term, struct err *err);
/* Any of its terms; an invalid term does not spoil the others. Without terms it matches no node. */
bool node_selector_match(const struct node_selector *sel, const struct meta *node);
int node_selector_check(const struct node_selector *sel, struct err *err);

/* --- what labels may look like --- */

/* NULL, or what is wrong with it: "its name is longer than 63 characters". */
const char *label_key_problem(struct view key);
const char *label_value_problem(struct view value);

#endif
