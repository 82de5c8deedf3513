/* What a plain scalar means: the core schema of YAML 1.2 (section 10.3.2 of its specification). */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include <jansson.h>

enum yaml_scalar {
    YAML_SCALAR_NULL,
    YAML_SCALAR_TRUE,
    YAML_SCALAR_FALSE,
    YAML_SCALAR_INT,
    YAML_SCALAR_FLOAT, /* also .inf and .nan */
    YAML_SCALAR_STR,
};

enum yaml_scalar yaml_scalar_kind(const char *s);

/* The value of an INT or FLOAT; NULL when it fits neither int64 nor a finite double. */
json_t *yaml_scalar_number(const char *s);

#endif
