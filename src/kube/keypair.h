/* Does a private key belong to a certificate? Asked before a pair is used, because what OpenSSL
 * says in the middle of a handshake helps nobody, and because pairs on disk are replaced one file
 * after the other. */
#ifndef KUBE_KEYPAIR_H
#define KUBE_KEYPAIR_H

#include <openssl/asn1.h>
#include <stdint.h>

#include "base/err.h"

/* Both NUL-terminated PEM; of a chain the first certificate counts. Encrypted keys are refused,
 * since there is nobody to ask for the passphrase. *not_after (may be NULL) becomes the end of the
 * certificate's validity in microseconds since 1970. */
int keypair_check(const char *cert_pem, const char *key_pem, int64_t *not_after, struct err *err);

/* For others who read certificates. */

/* A pem_password_cb that has none and does not ask on the terminal, as OpenSSL would do. *asked (a
 * bool) becomes true: something is encrypted. */
int keypair_no_passphrase(char *buf, int size, int rwflag, void *asked);
/* In microseconds since 1970; 0 when there is none or it is not valid. */
int64_t keypair_time(const ASN1_TIME *t);

#endif
