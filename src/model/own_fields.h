/* The one description of Slipway's own custom resources: every field with its type, its meaning,
 * its default and what it may hold; rules that need more than a number are in model/own_rules.h.
 * The definitions for the API server (model/own_crd.h), the page docs/resources.md, the defaults
 * and the checks of those who read the objects (model/own_read.h) are made from it.
 *
 * Tables end with a row of zeros. */
#ifndef MODEL_OWN_FIELDS_H
#define MODEL_OWN_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/own.h"
#include "model/own_rules.h"

enum own_type {
    OWN_OBJECT,
    OWN_LIST,
    OWN_STR,
    OWN_INT,  /* 32 bits */
    OWN_LONG, /* 64 bits */
    OWN_BOOL,
    OWN_TIME,    /* a point in time */
    OWN_COUNT,   /* a number or a text, which is a percentage */
    OWN_SECONDS, /* a number of seconds or a text, which is a duration */
    OWN_LABELS,  /* texts by keys */
};

struct own_field {
    const char *name;
    enum own_type type;
    bool required;
    bool fixed;               /* cannot be changed once it is made */
    const char *meaning;      /* sentences */
    const char *initial;      /* the default, as JSON; NULL: none */
    int64_t min, max;         /* of numbers, when min < max; of texts and lists: lengths, 0: any */
    const char *const *words; /* all that it may be; of numbers, too; NULL-terminated */
    const char *pattern;      /* where there are too many of them for a rule */
    const char *key;          /* of a list of objects: the field that no two have the same of */
    bool set;                 /* of a list: nothing twice */
    const struct own_field *fields; /* of objects; NULL: it has none */
    const struct own_field *item;   /* of lists: one row, without a name */
    const struct own_rule *rules;
};

struct own_column {
    const char *name, *type, *path, *meaning;
    bool wide; /* only with -o wide */
};

struct own_resource {
    const struct kind *kind;
    const char *singular, *short_name;
    const char *meaning;
    const char *example;            /* YAML, the smallest that makes sense */
    const struct own_field *fields; /* spec and status */
    const struct own_rule *rules;   /* about the whole object: metadata.name */
    const struct own_column *columns;
};

extern const struct own_resource own_resources[]; /* one for each of own_kinds, in their order */

/* NULL when it is none of ours. */
const struct own_resource *own_resource(const struct kind *kind);

#endif
