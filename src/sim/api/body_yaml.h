/* YAML of requests, as Kubernetes' server reads it (sigs.k8s.io/yaml with its go-yaml), which is
 * not as our own files are read (base/yaml.h): YAML 1.1 with its words for true and false, octal
 * numbers, merge keys and binary values; the last of two equal keys counts; of several documents
 * the first; and what is wrong is said in its words. */
#ifndef SIM_API_BODY_YAML_H
#define SIM_API_BODY_YAML_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/schema/schema.h"

/* Any value; null for an empty text. Of keys that stand twice there is one note about all of them.
 * -EINVAL with the server's message. Nesting and aliases are bounded. */
int body_yaml(struct view text, struct schema_notes *notes, json_t **out, struct err *err);

#endif
