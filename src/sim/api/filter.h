/* Which objects a list or a watch is about: namespace, name, label and field selector. */
#ifndef SIM_API_FILTER_H
#define SIM_API_FILTER_H

#include "base/arena.h"
#include "model/selector.h"
#include "sim/api/failure.h"
#include "sim/api/resource.h"
#include "sim/record.h"

struct field_term {
    const char *path, *value;
    bool differs; /* != */
};

struct filter {
    struct arena arena;
    const char *ns; /* NULL: all */
    struct selector labels;
    VEC(struct field_term) fields;
};

#define _cleanup_filter_ __attribute__((cleanup(filter_done)))
/* 400 with the server's words when a selector cannot be read or names a field that cannot be
 * selected by. Of custom resources, `selectable` are the declared fields (NULL-terminated, may be
 * NULL). */
int filter_init(struct filter *out, const struct resource_info *res, const char *ns,
                const char *labels, const char *fields, const char *const *selectable,
                struct failure *f);
/* The first of the two alone: whether the selectors can be read. */
int filter_check(const char *labels, const char *fields, struct failure *f);
void filter_done(struct filter *f);
bool filter_match(const struct filter *f, const struct record *r);
/* The name that the fields demand, or NULL: what a watch of one object is about. */
const char *filter_name(const struct filter *f);

#endif
