/* From a user entry and the flags to credentials. */
#ifndef KUBE_CONFIG_USER_H
#define KUBE_CONFIG_USER_H

#include "kube/config.h"
#include "kube/config_file.h"

/* The command line itself says who we are: a user entry that is missing does not matter then. */
bool kube_flags_identify(const struct kube_config_flags *flags);

/* Fills the credentials and the impersonation of an empty `config`. `user` and
 * `cluster` may be NULL (`cluster` is asked for its extension for exec plugins). What contradicts
 * itself is refused as client-go refuses it; files must be readable. */
int kube_user_fill(const struct kubefile_user *user, const struct kubefile_cluster *cluster,
                   const struct kube_config_flags *flags, struct kube_config *config,
                   struct err *err);

/* Decodes base64 PEM of an entry's `key`. */
int kube_pem_decode(const struct kubefile_entry *e, const char *key, const char *text, char **out,
                    struct err *err);
/* Refuses text that would break out of an HTTP header. `flag` is named when there is no entry or it
 * has no such key. */
int kube_header_check(const struct kubefile_entry *e, const char *key, const char *flag,
                      const char *text, struct err *err);

#endif
