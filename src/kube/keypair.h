/* Does a private key belong to a certificate? Asked before a pair is used, because what OpenSSL
 * says in the middle of a handshake helps nobody, and because pairs on disk are replaced one file
 * after the other. */
#ifndef KUBE_KEYPAIR_H
#define KUBE_KEYPAIR_H

#include <stdint.h>

#include "base/err.h"

/* Both NUL-terminated PEM; of a chain the first certificate counts. Encrypted keys are refused,
 * since there is nobody to ask for the passphrase. *not_after (may be NULL) becomes the end of the
 * certificate's validity in microseconds since 1970. */
int keypair_check(const char *cert_pem, const char *key_pem, int64_t *not_after, struct err *err);

#endif
