/* The rules for names, keys and values in Kubernetes objects, with the words in which its API
 * server refuses them (k8s.io/apimachinery pkg/util/validation, pkg/api/validate/content).
 *
 * A rule appends what is wrong with a value; a value that is right adds nothing. Lengths are
 * counted in bytes, as there. (model/selector.h has the same rules for people who type selectors:
 * there one short reason is wanted, here every message of the server in its order.) */
#ifndef SIM_API_NAMES_H
#define SIM_API_NAMES_H

#include <stdbool.h>

#include "base/prng.h"
#include "base/vec.h"

/* Heap strings. */
struct problems {
    VEC(char *) v;
};

#define PROBLEMS_INIT      ((struct problems){0})
#define _cleanup_problems_ __attribute__((cleanup(problems_done)))

void problems_done(struct problems *p);
void problems_add(struct problems *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All in one; the caller frees it. */
char *problems_join(const struct problems *p, const char *between);

typedef void name_rule(const char *value, struct problems *out);

name_rule name_dns1123_label;
name_rule name_dns1123_subdomain;
name_rule name_dns1123_subdomain_underscore; /* search domains: "_ldap._tcp.example.com" */
name_rule name_dns1035_label;
name_rule name_label_key; /* a qualified name: "example.com/role", "role" */
name_rule name_label_value;
name_rule name_path_segment; /* what every object's name must be, whatever its kind */
name_rule name_path_segment_prefix;
name_rule name_port;
name_rule name_config_key; /* of ConfigMaps and Secrets */
name_rule name_env_var;
name_rule name_http_header;
name_rule name_percent; /* "25%" */

/* The same rule for a generateName: it may end in a dash. The server looks at the text with its
 * last two characters replaced by one, and so do we. */
void name_prefix(name_rule *rule, const char *base, struct problems *out);

bool name_ok(name_rule *rule, const char *value);

enum {
    NAME_GENERATED_SUFFIX = 5,
    NAME_GENERATED_BASE = 63 - NAME_GENERATED_SUFFIX, /* longer bases are cut: a name is a label */
};

/* `base` and five random characters; the caller frees it. */
char *name_generate(const char *base, struct prng *random);

#endif
