/* What the parts of base/yaml share. */
#ifndef BASE_YAML_INTERNAL_H
#define BASE_YAML_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/htab.h"
#include "base/vec.h"
#include "base/yaml.h"

/* Where the member `key` of an object (or, key NULL, element `index` of a list) stands. jansson's
 * true, false and null are shared by everybody, so a place belongs to the parent, not the value. */
struct yaml_place {
    const json_t *parent;
    const char *key;
    size_t index;
    uint32_t hash;
    struct yaml_pos key_pos, value_pos;
};

struct yaml_doc {
    char *name;
    json_t *root;
    struct yaml_pos pos;
    bool empty;         /* nothing but comments */
    struct arena arena; /* the places */
    struct htab places; /* of struct yaml_place, by parent and key */
    VEC(json_t *)
    parked; /* mappings that were merged away: kept alive, because a new value at the
             * same address would inherit their places */
};

/* An empty one, at 1:1; its root is still to be set. */
struct yaml_doc *yaml_doc_new(const char *name);

/* `key` NULL: element `index` of a list. Each place is added once. */
void yaml_place_add(struct yaml_doc *doc, const json_t *parent, const char *key, size_t index,
                    struct yaml_pos key_pos, struct yaml_pos value_pos);
/* Never NULL: what is not known stands in line 0. */
const struct yaml_place *yaml_place_find(const struct yaml_doc *doc, const json_t *parent,
                                         const char *key, size_t index);

/* yaml_err() for those who have only a name. */
int yaml_verr(const char *name, struct yaml_pos pos, struct err *err, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));

#endif
