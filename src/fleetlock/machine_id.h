/* Machine ids, and the ids that programs make of them.
 *
 * A FleetLock client does not tell its machine id but one that is derived from it, so that the real
 * one stays on the machine: sd_id128_get_machine_app_specific(), with an application's own id.
 * Zincati's is MACHINE_ID_ZINCATI. */
#ifndef FLEETLOCK_MACHINE_ID_H
#define FLEETLOCK_MACHINE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_ID_ZINCATI "de35106b6ec24688b63afddaa156679b"

enum { MACHINE_ID_TEXT = 33 };

struct machine_id {
    uint8_t bytes[16];
};

/* 32 hexadecimal digits in any case, with dashes (as a UUID has them) or without. */
bool machine_id_parse(const char *text, struct machine_id *out);
/* In lower case without dashes, and its NUL. */
void machine_id_format(const struct machine_id *id, char out[static MACHINE_ID_TEXT]);
/* The id that the application of id `app` has on that machine. */
void machine_id_derive(const struct machine_id *machine, const struct machine_id *app,
                       struct machine_id *out);

#endif
