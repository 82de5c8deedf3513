/* How the tables of types (model/type.h) are written down: rows as macros, and the types that
 * tables of several files are made of. For the files that define kinds, nobody else. */
#ifndef MODEL_TABLE_H
#define MODEL_TABLE_H

#include "base/mem.h"
#include "model/type.h"

#define F(json_, pb_, kind_, st, member)                                                           \
    { .json = (json_), .pb = (pb_), .kind = FIELD_##kind_, .off = offsetof(struct st, member) }
#define FM(json_, pb_, kind_, st, member, type_)                                                   \
    {                                                                                              \
        .json = (json_), .pb = (pb_), .kind = FIELD_##kind_, .off = offsetof(struct st, member),   \
        .type = &(type_)                                                                           \
    }
/* A message whose fields lie directly in the struct of the message around it. */
#define FLAT(json_, pb_, type_)                                                                    \
    { .json = (json_), .pb = (pb_), .kind = FIELD_MSG, .type = &(type_) }
#define TYPE(var, name_, st, ...)                                                                  \
    static const struct field var##_fields[] = {__VA_ARGS__};                                      \
    static const struct type var = {                                                               \
        .name = (name_),                                                                           \
        .size = sizeof(struct st),                                                                 \
        .n_fields = ARRAY_LEN(var##_fields),                                                       \
        .fields = var##_fields,                                                                    \
    }
#define TYPE_KEEP(var, name_, st, keep_, ...)                                                      \
    static const struct field var##_fields[] = {__VA_ARGS__};                                      \
    static const struct type var = {                                                               \
        .name = (name_),                                                                           \
        .size = sizeof(struct st),                                                                 \
        .n_fields = ARRAY_LEN(var##_fields),                                                       \
        .fields = var##_fields,                                                                    \
        .keep = (keep_),                                                                           \
    }

/* ObjectMeta: a struct meta (model/object.h). */
extern const struct type type_meta;
/* LabelSelector: a struct label_selector. */
extern const struct type type_selector;

#endif
