/* What the two files of the drain rules share: rules_parse.c fills it, rules.c asks it. */
#ifndef ENGINE_RULES_INTERNAL_H
#define ENGINE_RULES_INTERNAL_H

#include "base/vec.h"
#include "engine/rules.h"

enum rule_marks { MARKS_AS_FILE, MARKS_HONOUR, MARKS_IGNORE };

/* Every part of the match that is there must hold. */
struct rule {
    char *name;
    char **namespaces; /* globs; NULL: any */
    char **owners;     /* kinds, RULES_BARE among them; NULL: any */
    bool has_labels;
    struct label_selector labels; /* in the rules' pool */
    int64_t min_priority, max_priority;
    enum rule_marks marks;
    struct rule_verdict says; /* its name is the rule's */
};

struct rules {
    struct pool *pool; /* what selectors are made of */
    bool honour;       /* marks, where the rule does not say */
    VEC(struct rule) list;
};

/* The owner of pods that have none. */
#define RULES_BARE "Bare"

/* What is said of a pod that no rule matches. */
extern const struct rule_verdict rules_nothing_said;

/* `*` is any number of characters, `?` is one. */
bool rules_glob(const char *pattern, const char *text);

#endif
