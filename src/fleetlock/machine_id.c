/* Machine ids, and what is derived from them. */
#include "fleetlock/machine_id.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Dashes stand where a UUID has them, all four or none. */
static bool dash_at(unsigned digits) {
    return digits == 8 || digits == 12 || digits == 16 || digits == 20;
}

bool machine_id_parse(const char *text, struct machine_id *out) {
    unsigned digits = 0, dashes = 0;
    *out = (struct machine_id){0};
    for (const char *p = text; *p; p++) {
        int d = digit(*p);
        if (*p == '-' && dash_at(digits) && p[1] != '-') {
            dashes++;
            continue;
        }
        if (d < 0 || digits == 32)
            return false;
        out->bytes[digits / 2] = (uint8_t)(out->bytes[digits / 2] << 4 | d);
        digits++;
    }
    return digits == 32 && (dashes == 0 || dashes == 4);
}

void machine_id_format(const struct machine_id *id, char out[static MACHINE_ID_TEXT]) {
    static const char hex[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++) {
        out[2 * i] = hex[id->bytes[i] >> 4];
        out[2 * i + 1] = hex[id->bytes[i] & 15];
    }
    out[32] = '\0';
}

void machine_id_derive(const struct machine_id *machine, const struct machine_id *app,
                       struct machine_id *out) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (!HMAC(EVP_sha256(), machine->bytes, sizeof machine->bytes, app->bytes, sizeof app->bytes,
              digest, NULL))
        abort(); /* no memory: nothing else can go wrong with it */
    memcpy(out->bytes, digest, sizeof out->bytes);
    out->bytes[6] = (uint8_t)((out->bytes[6] & 0x0f) | 0x40); /* a UUID of version 4 */
    out->bytes[8] = (uint8_t)((out->bytes[8] & 0x3f) | 0x80);
}
